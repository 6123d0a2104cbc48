"""The JSON Schema of a definition's parameters: read, shown, and held against a call."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError

from ...errors import DefinitionError
from ...tools import nearest
from ...tools.tool import misfits

Schema = Mapping[str, Any]
_WORDS = ("properties", "$defs", "patternProperties")
"""What makes an object a schema, where it says no type."""
_META = Draft202012Validator({"$ref": "https://json-schema.org/draft/2020-12/schema"})
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_NAMING = (*_WORDS, "definitions", "dependentSchemas")
"""Words whose keys are names of the schema's own: none of those says anything by itself."""
_TRIED = 3
"""So many choices within choices are tried for what a value may spell."""
_BOTH = ("anyOf", "oneOf", "allOf", "$ref", "required", "additionalProperties")


def read_schema(found: Any, place: str) -> dict[str, Any]:
    """Return the schema that `parameters` are: a bare map of properties is wrapped into one.

    Raises DefinitionError, naming the place in it.
    """
    if not isinstance(found, Mapping):
        raise DefinitionError(f"{place}: {found!r:.60} is no JSON Schema, such as {{}}")
    schema = dict(found)
    if _is_schema(schema):
        _sound(schema, place, lambda path: path)
        return schema
    wrapped = {"type": "object", "properties": schema, "required": []}
    _sound(wrapped, place, lambda path: path[1:] if path[:1] == ["properties"] else path)
    return wrapped


def _is_schema(found: Schema) -> bool:
    """Every value of a bare map is a schema itself; those of a schema are not."""
    if not found or isinstance(found.get("type"), (str, list)):
        return True
    for word in _WORDS:
        inside = found.get(word)
        if isinstance(inside, Mapping) and all(map(_is_part, inside.values())):
            return True
    return any(not isinstance(value, Mapping) for value in found.values()) and any(
        word in found for word in _BOTH
    )


def _is_part(value: Any) -> bool:
    return isinstance(value, (Mapping, bool))


def _sound(schema: Schema, place: str, place_in: Callable[[list[str]], list[str]]) -> None:
    for error in sorted(_META.iter_errors(_plain(schema)), key=lambda e: len(e.instance_path)):
        path = place_in([str(part) for part in error.instance_path])
        raise DefinitionError(f"{'.'.join((place, *path))}: {_said(_deepest(error)):.200}")
    if schema.get("type", "object") != "object":
        raise DefinitionError(f"{place}.type: {schema['type']!r:.60}; arguments are an object")
    for steps, ref in _refs(schema, ()):
        if not ref.startswith("#") or _at(schema, ref) is None:
            where = ".".join((place, *place_in(list(steps))))
            raise DefinitionError(f"{where}: {ref!r:.80} leads to nothing in these parameters")
    try:
        _holding(_plain(schema))
    except ValidationError as error:
        where = ".".join((place, *place_in([str(part) for part in error.instance_path])))
        raise DefinitionError(f"{where}: {_line(error.message)}") from None


def _line(said: str) -> str:
    return " ".join(said.split())[:200]


def _holding(schema: Any) -> Draft202012Validator:
    """Return what holds values against a schema. What it refers to elsewhere is never fetched."""
    return Draft202012Validator(schema, retriever=_not_fetched)


def _not_fetched(address: str) -> Any:
    raise ValueError("nothing is fetched for a definition")


def _deepest(error: ValidationError) -> ValidationError:
    parts: list[list[ValidationError]] = getattr(error.kind, "context", [])
    within = [each for part in parts for each in part]
    return max(within, key=lambda e: len(e.instance_path)) if within else error


def _said(error: ValidationError) -> str:
    """Return what is wrong, with all that would be right."""
    if error.kind.name != "enum":
        return str(error.message)
    allowed = ", ".join(json.dumps(option) for option in error.kind.as_dict()["options"])
    return f"{json.dumps(error.instance)} is not one of {allowed}"


def _plain(schema: Any) -> Any:
    return json.loads(json.dumps(schema))


def _refs(
    part: Any, path: tuple[str, ...], names: bool = False
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each reference and where it stands; the keys of `names` are no words of a schema."""
    match part:
        case dict() | Mapping():
            for key, value in part.items():
                if key in ("$ref", "$dynamicRef") and isinstance(value, str) and not names:
                    yield (*path, key), value
                elif names or key not in ("default", "const", "enum", "examples"):
                    yield from _refs(value, (*path, str(key)), not names and key in _NAMING)
        case list():
            for index, value in enumerate(part):
                yield from _refs(value, (*path, str(index)))


def _at(schema: Schema, ref: str) -> Any:
    """Return the part of a schema that `#/...` names; None where there is none."""
    part: Any = schema
    for step in ref.removeprefix("#").removeprefix("/").split("/") if ref != "#" else ():
        key = step.replace("~1", "/").replace("~0", "~")
        part = part.get(key) if isinstance(part, Mapping) else None
    return part if isinstance(part, (Mapping, bool)) else None


def names_of(schema: Schema) -> tuple[str, ...]:
    """Return the parameters that a schema names."""
    return tuple(schema.get("properties", {}))


def is_open(schema: Schema) -> bool:
    """Return whether a schema takes arguments that it does not name."""
    return "properties" not in schema or any(
        schema.get(key, False) is not False for key in ("additionalProperties", "patternProperties")
    )


def property_of(schema: Schema, name: str) -> Schema:
    """Return the schema of one parameter; {} where it says nothing of it."""
    found = schema.get("properties", {}).get(name, {})
    return _resolved(found, schema) if isinstance(found, Mapping) else {}


def _resolved(part: Schema, whole: Schema) -> Schema:
    for _ in range(32):
        if "$ref" not in part:
            break
        found = _at(whole, str(part["$ref"]))
        part = found if isinstance(found, Mapping) else {}
    return part


def without(schema: Schema, hidden: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Any]:
    """Return a schema without some parameters, and with others not required."""
    gone = set(hidden)
    spared = gone | set(optional)
    kept = dict(schema)
    if gone & set(names_of(schema)):
        kept["properties"] = {k: v for k, v in schema["properties"].items() if k not in gone}
    if spared & set(schema.get("required", ())):
        kept["required"] = [name for name in schema["required"] if name not in spared]
    return kept


def freed(schema: Schema, names: Iterable[str]) -> dict[str, Any]:
    """Return a schema in which some parameters may be anything: we write them ourselves."""
    loose: dict[str, Schema] = {name: {} for name in names if name in names_of(schema)}
    return {**schema, "properties": {**schema["properties"], **loose}} if loose else dict(schema)


# -- a call's arguments -------------------------------------------------------------------


class Checker:
    """Holds arguments against one schema; nothing is fetched for it."""

    def __init__(self, title: str, schema: Schema, also: Iterable[str] = ()) -> None:
        self.title, self.schema = title, schema
        self.known = (*names_of(schema), *also)
        self._validator = _holding(_plain(schema))

    def __call__(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments, with texts for what they spell. Raises CallError."""
        found = _object(arguments, self.schema, self.schema)
        errors = self._validator.iter_errors(found)
        fields = dict(problem for error in errors for problem in _problems(error))
        if not is_open(self.schema):
            fields |= {key: self._unknown(key) for key in found if key not in self.known}
        if fields:
            raise misfits(self.title, fields)
        return found

    def _unknown(self, key: str) -> str:
        there = ", ".join(names_of(self.schema)) or "none"
        return f"there is no such argument; there are: {there}.{nearest(key, self.known)}"


def _problems(error: ValidationError) -> Iterator[tuple[str, str]]:
    path = [str(part) for part in error.instance_path]
    match error.kind.name:
        case "required":
            missing = error.kind.as_dict()["property"]
            yield ".".join((*path, missing)), "is missing"
        case "additionalProperties" if not path:
            return
        case _:
            yield ".".join(path) or "arguments", _said(error)[:200]


def coerced(value: Any, schema: Schema, whole: Schema, tried: tuple[Schema, ...] = ()) -> Any:
    """Return a value as what its schema takes, where it spells that: "7" is 7 to an integer.

    `tried` are the schemas that led here: one that leads back to itself says nothing more.
    """
    schema = _resolved(schema, whole)
    if len(tried) > _TRIED or any(other is schema for other in tried):
        return value
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if isinstance(branch, Mapping):
            found = coerced(value, branch, whole, (*tried, schema))
            if _fits(found, branch, whole):
                return found
    wanted = schema.get("type", ())
    types = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    value = _spelled(value, types)
    match value:
        case dict():
            return _object(value, schema, whole)
        case list() if isinstance(items := schema.get("items"), Mapping):
            return [coerced(item, items, whole) for item in value]
    return value


def _object(value: Mapping[str, Any], schema: Schema, whole: Schema) -> dict[str, Any]:
    parts = schema.get("properties", {})
    return {
        key: coerced(item, parts[key], whole) if isinstance(parts.get(key), Mapping) else item
        for key, item in value.items()
    }


def _fits(value: Any, branch: Schema, whole: Schema) -> bool:
    root = {key: whole[key] for key in ("$defs", "definitions") if key in whole}
    said = json.dumps({**root, **_resolved(branch, whole)}, sort_keys=True)
    try:
        return bool(_validator(said).is_valid(value))
    # What refers to other places of the whole is held against that alone.
    except ValidationError:
        return False


@functools.lru_cache(256)
def _validator(schema: str) -> Any:
    return _holding(json.loads(schema))


def _spelled(value: Any, types: tuple[str, ...]) -> Any:
    """Return what a text spells, and the text of a number, where only that is taken."""
    if isinstance(value, str) and "string" not in types:
        text = value.strip()
        number = _NUMBER.fullmatch(text) is not None and isfinite(float(text))
        if "integer" in types and number and re.fullmatch(r"-?\d+", text):
            return int(text)
        if "number" in types and number:
            return int(text) if text.lstrip("-").isdigit() else float(text)
        if "boolean" in types and text.lower() in ("true", "false"):
            return text.lower() == "true"
        return _parsed(value, types)
    if types == ("string",) and type(value) in (int, float):
        return json.dumps(value)
    return value


def _parsed(value: str, types: tuple[str, ...]) -> Any:
    """Return the list or object that a text is in JSON: models write them so at times."""
    try:
        found = json.loads(value) if {"array", "object"} & set(types) else None
    except (ValueError, RecursionError):
        return value
    fits = ("array" in types, list), ("object" in types, dict)
    return found if any(wanted and isinstance(found, kind) for wanted, kind in fits) else value
