"""Tools from a GraphQL schema: `from_graphql`.

Object types become kinds of objects, their fields tools (`Type_field`), and those of Query
and Mutation plain tools. `schema` is what both readers make, `introspection` and `sdl`;
`paths` are the objects, `arguments` what functions take, `tools` the functions, and `client`
speaks to the server.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path as File
from typing import Any

from ...errors import CallError, DefinitionError
from ...tools import Toolbox, nearest
from . import introspection, sdl
from .client import Endpoint, Server, nowhere, sender
from .client import endpoint as endpoint_at
from .paths import Path
from .schema import Schema, Type
from .tools import Function, World, functions, is_usual, tool_of

__all__ = ["from_graphql"]


def from_graphql(
    source: str | File | Mapping[str, Any],
    *,
    endpoint: str | None = None,
    headers: Mapping[str, str] | None = None,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
) -> Toolbox:
    """Return the tools of a GraphQL schema.

    `source` is a URL, which is asked for its schema, SDL as text, the path of a .graphql,
    .graphqls or .json file, or an introspection result. Requests go to `endpoint`; without
    one, tools can be looked at and chained, and sending is an error. `${NAME}` in a header
    is the environment's variable of that name. `include` and `exclude` are globs over the
    names of tools; what is left out by default is there where `include` names it in full.

    Raises DefinitionError, which names the place, for what cannot be read.
    """
    at = _endpoint(source, endpoint, headers or {})
    send = sender(at) if at else nowhere
    schema = _schema(source, at)
    place = at.place if at else "graphql"
    kinds = {each.name: _class(each, place) for each in schema.objects()}
    world = World(schema, kinds, Server(send), place)
    chosen = _chosen(functions(world), _globs(include), _globs(exclude))
    return Toolbox(*map(tool_of, chosen), types=kinds.values())


def _class(known: Type, place: str) -> type[Path]:
    """Return the class of a kind of object; it is another one at another server."""
    inside = {"__slots__": (), "__doc__": known.doc or None, "__module__": place}
    return type(known.name, (Path,), inside)


# -- what is given --------------------------------------------------------------------


def _is_url(source: object) -> bool:
    return isinstance(source, str) and source.lstrip().lower().startswith(("http://", "https://"))


def _endpoint(source: object, url: str | None, headers: Mapping[str, str]) -> Endpoint | None:
    """Return where requests go: a source that is a URL is asked for its schema, and for all."""
    where = url if url is not None else str(source).strip() if _is_url(source) else None
    return endpoint_at(where, headers) if where is not None else None


def _schema(source: Any, at: Endpoint | None) -> Schema:
    if _is_url(source) and at is not None:
        asked = endpoint_at(source.strip(), at.headers)
        try:
            return introspection.schema_from(introspection.asked(sender(asked)))
        except CallError as error:
            raise DefinitionError(f"{asked.place} did not tell its schema: {error}") from None
    if isinstance(source, Mapping):
        return introspection.schema_from(source)
    if isinstance(source, File) or (isinstance(source, str) and _names_file(source)):
        return _from_file(File(source))
    if not isinstance(source, str) or not source.strip():
        raise DefinitionError(
            f"{source!r:.60} is no schema; give a URL, SDL, an introspection result, or the path "
            "of a .graphql, .graphqls or .json file"
        )
    return _from_text(source)


def _names_file(source: str) -> bool:
    return "\n" not in source and source.endswith((".graphql", ".graphqls", ".gql", ".json"))


def _from_file(path: File) -> Schema:
    try:
        return _from_text(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(f"{path} cannot be read: {error}") from None
    except DefinitionError as error:
        raise DefinitionError(f"{path}: {error}") from None


def _from_text(text: str) -> Schema:
    if not text.lstrip().startswith("{"):
        return sdl.schema_from(text)
    try:
        data = json.loads(text)
    except ValueError as error:
        raise DefinitionError(f"the introspection result is no JSON: {error}") from None
    return introspection.schema_from(data)


# -- what is chosen -------------------------------------------------------------------


def _globs(globs: Iterable[str]) -> tuple[str, ...]:
    return (globs,) if isinstance(globs, str) else tuple(globs)


def _chosen(
    known: Iterator[Function], include: tuple[str, ...], exclude: tuple[str, ...]
) -> list[Function]:
    """Return the functions that globs choose. Raises DefinitionError for one that fits none."""
    if not include and not exclude:
        return [each for each in known if is_usual(each)]
    possible = list(known)
    names = [each.name for each in possible]
    for glob in (*include, *exclude):
        if not any(fnmatchcase(name, glob) for name in names):
            raise DefinitionError(f"no tool is named {glob!r}.{nearest(glob, names)}")
    return [
        each
        for each in possible
        if (each.name in include or (is_usual(each) and _fits(each.name, include or ("*",))))
        and not _fits(each.name, exclude)
    ]


def _fits(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)
