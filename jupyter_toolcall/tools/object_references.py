"""Where a call's arguments name objects: told by the tool's JSON Schema alone.

An object parameter is a string whose pattern names its types: `^Potato#[1-9][0-9]*$`.
The pattern teaches the model, makes the person's form, and is all that is needed here,
so that tools of every source are treated alike. Where a scheme lets the model name
objects itself, the pattern takes such a name too: `^(Potato#...|$NAME)$`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..core.object_names import NAME, OWN_NAME, kind_in

Path = tuple[str, ...]
"""The keys, and the positions in lists, that lead to a value."""
Rename = Callable[[str], str]
Note = Callable[[str, str], str]
"""Takes the argument that a name stands in (`plates.0`), and the name; returns what stands there
instead."""
NoteAt = Callable[[Path, str], str]
"""The same, with the path of the argument."""
Schema = Mapping[str, Any]
Fits = Callable[[Schema, str], bool]
"""Whether a text names an object where this schema stands."""

_PATTERN = re.compile(
    r"\^(?P<own>\()?(?:\(([\w|]+)\)|(\w+))#\[1-9\]\[0-9\]\*(?(own)\|\\\$\\w\+\))\$"
)


def pattern(kinds: tuple[str, ...]) -> str:
    """Return the pattern of a name of an object of one of these types."""
    head = kinds[0] if len(kinds) == 1 else f"({'|'.join(kinds)})"
    return f"^{head}#[1-9][0-9]*$"


def kinds_of(schema: Schema) -> tuple[str, ...]:
    """Return the types that a string schema names objects of; () where it names none."""
    return _kinds(str(schema["pattern"])) if "pattern" in schema else ()


def kinds_in(schema: Any) -> Iterator[str]:
    """Yield the types of the objects that a schema names, at any depth."""
    match schema:
        case {"pattern": str()}:
            yield from kinds_of(schema)
        case Mapping():
            for part in schema.values():
                yield from kinds_in(part)
        case list() | tuple():
            for part in schema:
                yield from kinds_in(part)


@functools.lru_cache(1_000)
def _kinds(text: str) -> tuple[str, ...]:
    found = _PATTERN.fullmatch(text)
    return tuple((found[2] or found[3]).split("|")) if found else ()


def takes_own_names(schema: Any) -> Any:
    """Return a schema whose object parameters, at any depth, take `$name` too."""
    match schema:
        case {"pattern": str()} if kinds := kinds_of(schema):
            return {**schema, "pattern": rf"^({pattern(kinds)[1:-1]}|\$\w+)$"}
        case Mapping():
            return {key: takes_own_names(part) for key, part in schema.items()}
        case list() | tuple():
            return [takes_own_names(part) for part in schema]
    return schema


def rename(schema: Schema, value: Any, new: Rename, fitting: Fits | None = None) -> Any:
    """Return a value that fits `schema` with `new(name)` for each object's name in it."""
    return walk(schema, value, lambda _, name: new(name), fitting)


def references(schema: Schema, value: Any) -> Iterator[tuple[str, str]]:
    """Yield (place, name) for each object that a value names: ("plates.0", "Plate#1")."""
    found: list[tuple[str, str]] = []

    def note(place: str, name: str) -> str:
        found.append((place, name))
        return name

    walk(schema, value, note)
    return iter(found)


def walk(schema: Schema, value: Any, note: Note, fitting: Fits | None = None) -> Any:
    """Return a value with `note(place, name)` for each object's name in it.

    `fitting` says what counts as one; without it, what `fits`.
    """
    return walk_paths(schema, value, lambda path, name: note(".".join(path), name), fitting)


def walk_paths(schema: Schema, value: Any, note: NoteAt, fitting: Fits | None = None) -> Any:
    """Return a value with `note(path, name)` for each object's name in it, as `walk` does."""
    counts = fitting or fits

    def seek(part: Schema, path: Path, text: str) -> str | None:
        return note(path, text) if counts(part, text) else None

    return _walk(schema, value, schema.get("$defs", {}), (), seek)


_Seek = Callable[[Schema, Path, str], str | None]
"""Returns what stands in the place of a text, None where it names no object there."""


def _walk(schema: Any, value: Any, defs: Schema, path: Path, seek: _Seek) -> Any:
    if not (isinstance(value, (str, list, dict)) and isinstance(schema, (dict, Mapping))):
        return value
    if "$ref" in schema:
        schema = defs.get(str(schema["$ref"]).rpartition("/")[2], {})
    match value:
        case str() if (found := seek(schema, path, value)) is not None:
            return found
        case list() if schema.get("items") or schema.get("prefixItems"):
            return _items(schema, value, defs, path, seek)
        case dict() if schema.get("properties") or schema.get("additionalProperties"):
            return {
                key: _walk(_property(schema, key), item, defs, (*path, key), seek)
                for key, item in value.items()
            }
    return _branches(schema, value, defs, path, seek)


def _branches(schema: Schema, value: Any, defs: Schema, path: Path, seek: _Seek) -> Any:
    """The first branch that finds a name has it: no name is renamed twice."""
    noted: list[str] = []

    def noting(part: Schema, at: Path, text: str) -> str | None:
        found = seek(part, at, text)
        noted.extend([text] if found is not None else [])
        return found

    for key in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(key, ()):
            found = _walk(branch, value, defs, path, noting)
            if noted:
                return found
    return value


def _items(schema: Schema, value: list[Any], defs: Schema, path: Path, seek: _Seek) -> Any:
    fixed = schema.get("prefixItems", ())
    return [
        _walk(
            fixed[index] if index < len(fixed) else schema.get("items"),
            item,
            defs,
            (*path, str(index)),
            seek,
        )
        for index, item in enumerate(value)
    ]


def _property(schema: Schema, key: str) -> Any:
    return schema.get("properties", {}).get(key, schema.get("additionalProperties"))


def fits(schema: Schema, value: str) -> bool:
    """Return whether a text is a name, and of a type that the schema takes."""
    kinds = kinds_of(schema)
    return bool(kinds) and NAME.fullmatch(value) is not None and kind_in(value) in kinds


def own_name_fits(schema: Schema, value: str) -> bool:
    """Return whether a text is a `$name`, where the schema takes an object."""
    return bool(kinds_of(schema)) and OWN_NAME.fullmatch(value) is not None
