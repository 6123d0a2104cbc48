"""A tool definition, read: every mistake in it is found here, and its place is named."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from ...errors import DefinitionError
from .endpoint import Endpoint, read_endpoint
from .format import Text, plain_text
from .keys import known_keys, one_of, shallow, too_deep
from .schema import names_of, read_schema
from .transforms import Default, read_defaults

Type = Literal["action", "endpoint", "context"]
TYPES: tuple[str, ...] = get_args(Type)
CONTEXT = {"language": "language", "say": "say", "message": "say"}
"""For each argument of a context tool the variable of the session that it sets."""
PARAMETERS = "tool.function.parameters"
_KEYS = ("type", "tool", "endpoint", "defaults", "static_parameters", "result")
_LATER = ("context", "options", "response_display")
"""Keys of later versions: as null they say nothing, so they are passed over."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
_STATIC = ("name", "required", "type", "description", "default")
_STATIC_TYPES = {"string": str, "int": int, "boolean": bool, "data_source_list": list}


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool definition. `said` is what it was read from, in its plainest spelling."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    type: Type = "action"
    endpoint: Endpoint | None = None
    defaults: tuple[Default, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """`static_parameters`: arguments that are always these."""
    result: Any = None
    said: Mapping[str, Any] = field(default_factory=dict)


def read(source: Any) -> Definition:
    """Return the definition in a dict, a JSON text, or a .json file. Raises DefinitionError."""
    said = known_keys(_spelled(_one(_opened(source))), _KEYS, "")
    kind = one_of(said.get("type", "action"), TYPES, "type")
    function = _function(said.get("tool"))
    if (kind == "endpoint") != ("endpoint" in said):
        missing = "is missing; type 'endpoint' needs it" if kind == "endpoint" else "is only for"
        raise DefinitionError(
            f"endpoint: {missing}{'' if kind == 'endpoint' else ' endpoint tools'}"
        )
    if kind != "context" and "result" in said:
        raise DefinitionError("result: is only for context tools; others return what they do")
    return Definition(
        name=function["name"],
        description=function.get("description", ""),
        parameters=read_schema(function["parameters"], PARAMETERS),
        type=kind,  # type: ignore[arg-type]
        endpoint=read_endpoint(said["endpoint"]) if kind == "endpoint" else None,
        defaults=read_defaults(said.get("defaults", {})),
        fixed=_fixed(said.get("static_parameters", [])),
        result=read_result(said.get("result")),
        said=said,
    )


def _one(found: Any) -> Any:
    """What other services write around or inside a definition is told how to be one."""
    if isinstance(found, list) and found:
        raise DefinitionError(f"{found!r:.60} is a list; give its definitions one by one")
    if isinstance(found, dict) and "function" in found and "tool" not in found:
        raise DefinitionError('function: belongs into tool; write {"tool": {"function": {...}}}')
    return found


def _opened(source: Any) -> Any:
    """Return plain JSON data of our own, whatever it is given as."""
    place = "the definition"
    if isinstance(source, Path) or (
        isinstance(source, str) and not source.lstrip().startswith("{")
    ):
        path = Path(source).expanduser()
        if path.suffix != ".json":
            raise DefinitionError(f"{str(source)!r:.80} is neither a JSON object nor a .json file")
        try:
            source, place = path.read_text(encoding="utf-8"), f"{str(path)!r:.120}"
        except (OSError, UnicodeError) as error:
            raise DefinitionError(f"{str(path)!r:.120} cannot be read: {error}") from None
    try:
        text = source if isinstance(source, str) else json.dumps(source, allow_nan=False)
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except RecursionError:
        raise too_deep(place) from None
    except (TypeError, ValueError) as error:
        raise DefinitionError(f"{place} is no JSON: {error}") from None
    return shallow([found], place)[0]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(n for n in names if names.count(n) > 1)!r:.60} is twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _spelled(found: Any) -> Any:
    """What other writers name otherwise, or leave null."""
    if not isinstance(found, dict):
        return found
    renamed = {("static_parameters" if k == "staticParameters" else k): v for k, v in found.items()}
    return {k: v for k, v in renamed.items() if not (k in _LATER and v is None)}


def _function(tool: Any) -> dict[str, Any]:
    if tool is None:
        raise DefinitionError('tool: is missing; write {"function": {"name": ...}}')
    said = known_keys(tool, ("type", "function"), "tool")
    one_of(said.get("type", "function"), ("function",), "tool.type")
    if "function" not in said:
        raise DefinitionError("tool.function: is missing")
    function = known_keys(said["function"], ("name", "description", "parameters"), "tool.function")
    for key in ("name", "parameters"):
        if key not in function:
            raise DefinitionError(f"tool.function.{key}: is missing")
    name, description = function["name"], function.get("description", "")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DefinitionError(
            f"tool.function.name: {name!r:.60} is no name: letters, digits, _ and - alone"
        )
    if not isinstance(description, str):
        raise DefinitionError(f"tool.function.description: {description!r:.60} is no text")
    return function


def _fixed(found: Any) -> dict[str, Any]:
    if not isinstance(found, list):
        raise DefinitionError(f"static_parameters: {found!r:.60} is no list")
    fixed = {}
    for index, each in enumerate(found):
        place = f"static_parameters.{index}"
        said = known_keys(each, _STATIC, place)
        if not isinstance(said.get("name"), str) or not said["name"]:
            raise DefinitionError(f"{place}.name: is missing")
        kind = one_of(said.get("type"), tuple(_STATIC_TYPES), f"{place}.type")
        if "default" in said:
            fixed[said["name"]] = _typed(said["default"], kind, f"{place}.default")
        elif said.get("required"):
            raise DefinitionError(f"{place}.default: is missing, and {said['name']} is required")
    return fixed


def _typed(value: Any, kind: str, place: str) -> Any:
    if type(value) is not _STATIC_TYPES[kind]:
        raise DefinitionError(f"{place}: {value!r:.60} is no {kind}")
    return value


def read_result(found: Any) -> Any:
    """Return `result` with its texts read."""
    match found:
        case str():
            return plain_text(found, "result")
        case dict():
            return {key: read_result(value) for key, value in found.items()}
        case list():
            return [read_result(value) for value in found]
    return found


def texts_in(result: Any) -> Iterator[Text]:
    """Yield the texts of a result."""
    match result:
        case Text():
            yield result
        case dict():
            for value in result.values():
                yield from texts_in(value)
        case list():
            for value in result:
                yield from texts_in(value)


def known_names(made: Definition) -> tuple[str, ...]:
    """Return the arguments that a call may come to: said, fixed, or written by a default."""
    written = (d.key.partition(".")[0] for d in made.defaults if d.action != "remove")
    return tuple(dict.fromkeys((*names_of(made.parameters), *made.fixed, *written)))
