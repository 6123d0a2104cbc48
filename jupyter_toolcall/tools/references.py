"""Where a call's arguments name objects: told by the tool's JSON Schema alone.

An object parameter is a string whose pattern names its types: `^Potato#[1-9][0-9]*$`.
The pattern teaches the model, makes the person's form, and is all that is needed here,
so that tools of every source are treated alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Rename = Callable[[str], str]
Note = Callable[[str, str], str]
"""Takes the place of a name, and the name; returns what stands there instead."""
Schema = Mapping[str, Any]

_PATTERN = re.compile(r"\^(?:\(([\w|]+)\)|(\w+))#\[1-9\]\[0-9\]\*\$")
NAME = re.compile(r"[A-Za-z_]\w*#[1-9][0-9]*")


def pattern(kinds: tuple[str, ...]) -> str:
    """Return the pattern of a name of an object of one of these types."""
    head = kinds[0] if len(kinds) == 1 else f"({'|'.join(kinds)})"
    return f"^{head}#[1-9][0-9]*$"


def kinds_of(schema: Schema) -> tuple[str, ...]:
    """Return the types that a string schema names objects of; () where it names none."""
    found = _PATTERN.fullmatch(str(schema.get("pattern", "")))
    return tuple((found[1] or found[2]).split("|")) if found else ()


def rename(schema: Schema, value: Any, new: Rename) -> Any:
    """Return a value that fits `schema` with `new(name)` for each object's name in it."""
    return walk(schema, value, lambda _, name: new(name))


def references(schema: Schema, value: Any) -> Iterator[tuple[str, str]]:
    """Yield (place, name) for each object that a value names: ("plates.0", "Plate#1")."""
    found: list[tuple[str, str]] = []

    def note(place: str, name: str) -> str:
        found.append((place, name))
        return name

    walk(schema, value, note)
    return iter(found)


def walk(schema: Schema, value: Any, note: Note) -> Any:
    """Return a value with `note(place, name)` for each object's name in it."""
    return _walk(schema, value, schema.get("$defs", {}), (), note)


_Place = tuple[str, ...]


def _walk(schema: Any, value: Any, defs: Schema, place: _Place, note: Note) -> Any:
    if not isinstance(schema, Mapping):
        return value
    if "$ref" in schema:
        schema = defs.get(str(schema["$ref"]).rpartition("/")[2], {})
    match value:
        case str() if fits(schema, value):
            return note(".".join(place), value)
        case list() if schema.get("items") or schema.get("prefixItems"):
            return _items(schema, value, defs, place, note)
        case dict() if schema.get("properties") or schema.get("additionalProperties"):
            return {
                key: _walk(_property(schema, key), item, defs, (*place, key), note)
                for key, item in value.items()
            }
        case str() | list() | dict():
            return _branches(schema, value, defs, place, note)
    return value


def _branches(schema: Schema, value: Any, defs: Schema, place: _Place, note: Note) -> Any:
    """The first branch that finds a name has it: no name is renamed twice."""
    noted: list[str] = []

    def noting(at: str, name: str) -> str:
        noted.append(name)
        return note(at, name)

    for key in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(key, ()):
            found = _walk(branch, value, defs, place, noting)
            if noted:
                return found
    return value


def _items(schema: Schema, value: list[Any], defs: Schema, place: _Place, note: Note) -> Any:
    fixed = schema.get("prefixItems", ())
    return [
        _walk(
            fixed[index] if index < len(fixed) else schema.get("items"),
            item,
            defs,
            (*place, str(index)),
            note,
        )
        for index, item in enumerate(value)
    ]


def _property(schema: Schema, key: str) -> Any:
    return schema.get("properties", {}).get(key, schema.get("additionalProperties"))


def fits(schema: Schema, value: str) -> bool:
    """Return whether a text is a name, and of a type that the schema takes."""
    return NAME.fullmatch(value) is not None and value.partition("#")[0] in kinds_of(schema)
