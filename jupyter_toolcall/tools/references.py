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
    return _walk(schema, value, schema.get("$defs", {}), (), lambda _, name: new(name))


def references(schema: Schema, value: Any) -> Iterator[tuple[str, str]]:
    """Yield (place, name) for each object that a value names: ("plates.0", "Plate#1")."""
    found: list[tuple[str, str]] = []

    def note(place: tuple[str, ...], name: str) -> str:
        found.append((".".join(place), name))
        return name

    _walk(schema, value, schema.get("$defs", {}), (), note)
    return iter(found)


_Place = tuple[str, ...]
_Note = Callable[[_Place, str], str]


def _walk(schema: Any, value: Any, defs: Schema, place: _Place, note: _Note) -> Any:
    if not isinstance(schema, Mapping):
        return value
    if "$ref" in schema:
        schema = defs.get(str(schema["$ref"]).rpartition("/")[2], {})
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        value = _walk(branch, value, defs, place, note)
    match value:
        case str():
            return note(place, value) if fits(schema, value) else value
        case list():
            return _items(schema, value, defs, place, note)
        case dict():
            return {
                key: _walk(_property(schema, key), item, defs, (*place, key), note)
                for key, item in value.items()
            }
    return value


def _items(schema: Schema, value: list[Any], defs: Schema, place: _Place, note: _Note) -> Any:
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
