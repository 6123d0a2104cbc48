"""The names of objects in the arguments of a call, by the tool's JSON Schema.

An object parameter is a string whose pattern names its types: `^Potato#[1-9][0-9]*$`.
The model, the form and this file read the pattern, so that tools of all sources are treated alike.
If a scheme lets the model name objects, the pattern takes such names too: `^(Potato#...|$NAME)$`.

In a parameter that takes a value, the name of an object that is plain data stands for its value.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from itertools import chain, repeat
from typing import Any

from ..core.json_data import nested
from ..core.state import NAME, OWN_NAME, kind_in

Path = tuple[str, ...]
"""The keys, and the positions in lists, of a value in the arguments."""
Schema = Mapping[str, Any]
Replacement = Callable[[Path, str], str]
"""Takes the path of an object's name, and the name; returns what replaces the name."""
Fits = Callable[[Schema, str], bool]
"""Takes a schema and a text; returns whether the text names an object."""

NAME_OR_TEXT = r"^(\w+#[1-9][0-9]*|.*)$"
"""The pattern of a string that is the name of an object of any type, or any other text."""
_PATTERN = re.compile(
    r"\^(?P<own>\()?(?:\(([\w|]+)\)|(\w+))#\[1-9\]\[0-9\]\*(?(own)\|\\\$\\w\+\))\$"
)


def pattern(kinds: tuple[str, ...]) -> str:
    """Return the pattern of a name of an object of one of these types."""
    head = kinds[0] if len(kinds) == 1 else f"({'|'.join(kinds)})"
    return f"^{head}#[1-9][0-9]*$"


def receiver_schema(kind: str, kinds: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of the argument that names the object to work on, of one of these types."""
    description = f"The {kind} to work on. If left out: the newest {kind}."
    return {"type": "string", "pattern": pattern(kinds), "description": description}


def kinds_of(schema: Schema) -> tuple[str, ...]:
    """Return the types whose objects a string schema takes; () if it takes none."""
    return _kinds(str(schema["pattern"])) if "pattern" in schema else ()


def kinds_in(schema: object) -> Iterator[str]:
    """Yield the types of the objects that a schema names, at any depth."""
    for part in nested(schema):
        match part:
            case {"pattern": str()}:
                yield from kinds_of(part)


@functools.lru_cache(1_000)
def _kinds(text: str) -> tuple[str, ...]:
    match = _PATTERN.fullmatch(text)
    return tuple((match[2] or match[3]).split("|")) if match else ()


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


def fits(schema: Schema, value: str) -> bool:
    """Return whether a text is the name of an object of a type that the schema takes."""
    if NAME.fullmatch(value) is None:
        return False
    return kind_in(value) in kinds_of(schema) or _takes_text(schema)


def fits_in(objects: Container[str], plain: Collection[str]) -> Fits:
    """Return a test whether a text names an object of a session.

    Arguments:
        objects: the names of all objects. In a parameter that takes any text, a text that only
            looks like a name is no name.
        plain: the names of the objects that are plain data. They stand for their values.
    """

    def fitting(schema: Schema, text: str) -> bool:
        if fits(schema, text):
            return text in objects or not _takes_text(schema)
        return text in plain and takes_values(schema)

    return fitting


def _takes_text(schema: Schema) -> bool:
    return schema.get("pattern") == NAME_OR_TEXT or any(map(_takes_text, schema.get("anyOf", ())))


def takes_values(schema: Schema) -> bool:
    """Return whether a schema takes a value other than null and names of objects."""
    if branches := [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
        return any(isinstance(branch, Mapping) and takes_values(branch) for branch in branches)
    return not kinds_of(schema) and schema.get("type") != "null"


def own_name_fits(schema: Schema, value: str) -> bool:
    """Return whether a text is a `$name`, where the schema takes an object."""
    return bool(kinds_of(schema) or _takes_text(schema)) and OWN_NAME.fullmatch(value) is not None


def references(schema: Schema, value: object, fitting: Fits = fits) -> Iterator[tuple[str, str]]:
    """Yield the path and the name of each object that a value names: ("plates.0", "Plate#1")."""
    return ((".".join(path), name) for path, name in named_paths(schema, value, fitting).items())


def named_paths(schema: Schema, value: object, fitting: Fits) -> dict[Path, str]:
    """Return the names of objects in a value, by their paths."""
    names: dict[Path, str] = {}
    replace_names(schema, value, lambda path, name: names.setdefault(path, name), fitting)
    return names


def fits_plain(plain: Collection[str]) -> Fits:
    """Return a test whether a text names plain data and the schema takes a value."""
    # Where an object is taken too, a name is resolved once: what its value says is no name.
    return lambda schema, text: text in plain and takes_values(schema) and not _takes_text(schema)


def replace_names(schema: Schema, value: object, new: Replacement, fitting: Fits = fits) -> Any:
    """Return a value with `new(path, name)` for each object's name in it.

    Arguments:
        schema: the JSON Schema of the value; its `$defs` are used.
        fitting: which texts are names.
    """

    def seek(part: Schema, path: Path, text: str) -> str | None:
        return new(path, text) if fitting(part, text) else None

    return _walk(schema, value, schema.get("$defs", {}), (), seek)


_BRANCHES = ("anyOf", "oneOf", "allOf")
_Seek = Callable[[Schema, Path, str], str | None]
"""Takes a schema, a path and a text; returns what replaces the text, None for no name."""


def _walk(
    schema: Any, value: Any, defs: Schema, path: Path, seek: _Seek, read: tuple[str, ...] = ()
) -> object:
    """`read` are the definitions that this value was held to: a choice may lead back to itself."""
    if not isinstance(value, (str, list, dict)):
        return value
    schema = schema if isinstance(schema, (dict, Mapping)) else {}
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        schema, read = {} if name in read else defs.get(name, {}), (*read, name)
    if isinstance(value, str) and (replaced := seek(schema, path, value)) is not None:
        return replaced
    match value:
        case str() if _takes_text(schema):
            return value
        case list() if _has_parts(schema, "array", "items", "prefixItems"):
            schemas = chain(schema.get("prefixItems", ()), repeat(schema.get("items")))
            return [
                _walk(part, item, defs, (*path, str(index)), seek)
                for index, (part, item) in enumerate(zip(schemas, value, strict=False))
            ]
        case dict() if _has_parts(schema, "object", "properties", "additionalProperties"):
            named, other = schema.get("properties", {}), schema.get("additionalProperties")
            return {
                key: _walk(named.get(key, other), item, defs, (*path, key), seek)
                for key, item in value.items()
            }
    return _branches(schema, value, defs, path, seek, read)


def _has_parts(schema: Schema, kind: str, *keys: str) -> bool:
    """Return whether a schema says what the parts of a value of this kind are, or leaves them open,
    so that they may be names of plain data."""
    is_other = schema.get("type", kind) != kind or "pattern" in schema
    is_open = not is_other and not any(map(schema.get, _BRANCHES))
    return is_open or any(map(schema.get, keys))


def _branches(
    schema: Schema, value: object, defs: Schema, path: Path, seek: _Seek, read: tuple[str, ...]
) -> object:
    """Return the value as the first branch with a name reads it: no name is replaced twice."""
    names: list[str] = []

    def seek_and_count(part: Schema, part_path: Path, text: str) -> str | None:
        replacement = seek(part, part_path, text)
        names.extend([text] if replacement is not None else [])
        return replacement

    for key in _BRANCHES:
        for branch in schema.get(key, ()):
            replaced = _walk(branch, value, defs, path, seek_and_count, read)
            if names:
                return replaced
    return value
