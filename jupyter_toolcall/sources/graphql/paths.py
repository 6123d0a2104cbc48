"""An object of a server: the path of the query that leads to it, and nothing else.

A value holds no client, no address and no header. It never changes, so it is compared and
copied as one thing; its `key` is a digest of the whole path, made from that of the path
before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...digest import digest_text, encode
from ...printable import printable

Value = Any
"""What stands in an argument: plain data, a tuple, or one of the records below."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
HEAD, TAIL, LONGEST = 3, 5, 60
"""So many steps of a path are shown, and characters of one argument."""


@dataclass(frozen=True, slots=True)
class Word:
    """The value of an enum."""

    name: str


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of an input object."""

    pairs: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Json:
    """A value of a scalar of the server's own that has no literal; it goes as a variable."""

    type: str
    text: str


class Step(NamedTuple):
    """One field on the way: its arguments, an item of its list, a type to narrow it to."""

    field: str
    arguments: tuple[tuple[str, Value], ...] = ()
    item: tuple[int, ...] = ()
    on: str = ""
    by_id: bool = False
    """Whether it finds an object by its id, which is its one argument."""


class Path:
    """The way to an object. Each type of a schema is a class below this one."""

    __slots__ = ("__weakref__", "before", "key", "step")
    before: Path | None
    step: Step
    key: str

    def __init__(self, before: Path | None, step: Step) -> None:
        said = written(_whole(step), lambda path: path.key, lambda value: value.text)
        put = object.__setattr__
        put(self, "before", before)
        put(self, "step", step)
        put(self, "key", digest_text("path", before.key if before else "", said))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{self} never changes: a call makes a new object")

    def __content__(self) -> str:
        """What it is, as content: whatever leads along one path is equal."""
        return self.key

    def __str__(self) -> str:
        shown = [_shown(step) for step in steps(self)]
        if len(shown) > HEAD + TAIL + 1:
            left_out = f"…{len(shown) - HEAD - TAIL} more…"
            shown = [*shown[:HEAD], left_out, *shown[-TAIL:]]
        return ".".join(shown)

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"text/plain": printable(str(self))}


def steps(path: Path | None) -> list[Step]:
    """Return the steps that lead to an object, the first one first."""
    found = []
    while path is not None:
        found.append(path.step)
        path = path.before
    return found[::-1]


def _whole(step: Step) -> Value:
    return (step.field, Fields(step.arguments), step.item, step.on)


def objects_in(values: Iterable[Value]) -> Iterator[Path]:
    """Yield the objects that stand in arguments, at any depth."""
    for value in values:
        match value:
            case Path():
                yield value
            case Fields(pairs):
                yield from objects_in(item for _, item in pairs)
            case tuple():
                yield from objects_in(value)


def known_id(path: Path) -> str | None:
    """Return the id that an object was found by, None where it was come to in another way."""
    return path.step.arguments[0][1] if path.step.by_id else None


def needed(step: Step) -> Iterator[Path]:
    """Yield the objects whose ids a step needs."""
    return objects_in(value for _, value in step.arguments)


def written(value: Value, name: Callable[[Path], str], variable: Callable[[Json], str]) -> str:
    """Return a value as GraphQL writes it; how objects and variables look is up to the caller."""
    match value:
        case Path():
            return name(value)
        case Json():
            return variable(value)
        case Word(word):
            return word
        case Fields(pairs):
            inner = (f"{key}: {written(item, name, variable)}" for key, item in pairs)
            return "{" + ", ".join(inner) + "}"
        case tuple():
            return "[" + ", ".join(written(item, name, variable) for item in value) + "]"
    return _ENCODER.encode(value)


# -- as a request ---------------------------------------------------------------------


class Query(NamedTuple):
    """A request: the text of a query, and its variables."""

    text: str
    variables: Mapping[str, Any]


def query(operation: str, way: Iterable[Step], selection: str, ids: Mapping[Path, str]) -> Query:
    """Return the request for what a way leads to; `ids` are those of the objects in it."""
    variables: dict[str, Json] = {}

    def variable(value: Json) -> str:
        name = f"$v{len(variables) + 1}"
        variables[name] = value
        return name

    def name(path: Path) -> str:
        return _ENCODER.encode(ids[path])

    opened, closed = "", 0
    for step in way:
        given = ", ".join(f"{key}: {written(v, name, variable)}" for key, v in step.arguments)
        opened += f" {{ {step.field}" + (f"({given})" if given else "")
        opened += f" {{ ... on {step.on}" if step.on else ""
        closed += 2 if step.on else 1
    text = f"{opened}{f' {selection}' if selection else ''}{' }' * closed}"
    declared = ", ".join(f"{key}: {value.type}" for key, value in variables.items())
    head = f"{operation}({declared})" if declared else operation.removeprefix("query")
    data = {key[1:]: json.loads(value.text) for key, value in variables.items()}
    return Query(f"{head}{text}".strip(), data)


# -- as a person reads it -------------------------------------------------------------


def _shown(step: Step) -> str:
    given = [written(value, _named, lambda v: v.text) for _, value in step.arguments]
    given = [text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…" for text in given]
    names = [name for name, _ in step.arguments]
    said = given[:1] + [f"{k}: {v}" for k, v in zip(names[1:], given[1:], strict=True)]
    index = "".join(f"[{at}]" for at in step.item)
    return _short_name(step) + (f"({', '.join(said)})" if said else "") + index


def _short_name(step: Step) -> str:
    """An object that was found by its id is shown by its type and that."""
    if not step.by_id:
        return step.field
    return step.on or step.field.removeprefix("load").removesuffix("FromID")


def _named(path: Path) -> str:
    """An object in an argument is shown by its fields alone: it has a tile of its own."""
    names = [_short_name(step) for step in steps(path)]
    return ".".join(names if len(names) <= 3 else [names[0], "…", names[-1]])


def json_value(data: Any, type_name: str) -> Value:
    """Return JSON data of a scalar of the server's own: as it is, or as a variable."""
    if isinstance(data, (dict, list)):
        return Json(type_name, encode(data))
    return data
