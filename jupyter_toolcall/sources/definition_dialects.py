"""JSON Schemas as people and providers write them, read as draft 2020-12; and as models get them.

Read are the drafts from 3 on, OpenAPI's `nullable`, and the names of types of other languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from jsonschema_rs import Draft202012Validator

from ..core.interrupts import attempt
from ..core.json_data import at_path
from ..core.recorded_data import JsonDict

Schema = Mapping[str, Any]
Note = Callable[[str], object]
"""Takes what was read as what, in one line."""
_TYPES = {
    **{
        name: name for name in ("array", "boolean", "integer", "null", "number", "object", "string")
    },
    **dict.fromkeys(("dict", "dictionary", "map", "hashmap", "hashtable", "record"), "object"),
    **dict.fromkeys(("tuple", "list", "arraylist", "set", "queue", "stack"), "array"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(("int", "long", "short", "byte", "bigint"), "integer"),
    **{"bool": "boolean", "str": "string", "char": "string", "none": "null", "any": "", "": ""},
}
"""For each name of a type, in small letters, JSON Schema's; "" is any value."""
_GENERIC = re.compile(r"[<\[(].+[>\])]")
"""What a type holds, as in `list[str]`."""
_OLD = re.compile(r"json-schema\.org/(?:draft-0([3-7])|draft/(2019-09))")
_ONE = (
    *("items", "additionalProperties", "contains", "not", "if", "then", "else"),
    *("propertyNames", "unevaluatedItems", "unevaluatedProperties"),
)
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPS = (
    *("properties", "patternProperties", "$defs", "definitions"),
    *("dependentSchemas", "dependencies"),
)
"""The keywords that hold a schema, a list of schemas, and schemas by name."""
_PLACE = re.compile(r"#(?!/(?:\$defs|definitions)/[^/]+$)(?:/.*)?")
"""A reference to the whole schema, or to a place in it that is no definition: zod writes these."""
_OF_ROOT = ("$schema", "$id", "id", "$defs", "definitions")
_CHOICES = ("$ref", "allOf", "anyOf", "oneOf")
_ANNOTATIONS = ("title", "description", "default", "examples", "deprecated", "$defs", "definitions")


def mapped_schema(schema: object, change: Callable[[Schema], Schema]) -> Any:
    """Return a schema that was changed, and then each schema in it in the same way."""
    if not isinstance(schema, Mapping):
        return schema
    return {key: _mapped_part(key, part, change) for key, part in change(schema).items()}


def _mapped_part(key: str, part: object, change: Callable[[Schema], Schema]) -> object:
    if key in _MAPS and isinstance(part, Mapping):
        return {name: mapped_schema(inner, change) for name, inner in part.items()}
    if key in _LISTS and isinstance(part, list):
        return [mapped_schema(inner, change) for inner in part]
    return mapped_schema(part, change) if key in _ONE else part


# -- reading ------------------------------------------------------------------------------


def current_schema(schema: Schema, note: Note = lambda line: None) -> JsonDict:
    """Return a schema of any draft as one of draft 2020-12; `note` takes what was read as what.

    What is referred to by its place is made a definition, since it may move: `items` of another
    draft become `prefixItems`, and a provider takes no choice at the top.
    """
    draft = _OLD.search(str(schema.get("$schema", "")))
    if draft:
        note(f"$schema of draft {draft[1] or draft[2]} is read as draft 2020-12")
        schema = {key: part for key, part in schema.items() if key != "$schema"}
    names: dict[str, str] = {}
    definitions: JsonDict = {}

    def definition_of(ref: str) -> str:
        """Return the reference to a definition in place of one to a place."""
        for target in at_pointer(schema, unquote(ref[1:])) if _PLACE.fullmatch(ref) else ():
            if ref not in names and isinstance(target, Mapping):
                # Named before it is read: what is in it may refer to it, and to other places.
                name = f"place_{len(names)}"
                names[ref] = f"#/$defs/{name}"
                outside = _OF_ROOT if target is schema else ()
                inside = {key: part for key, part in target.items() if key not in outside}
                definitions[name] = mapped_schema(inside, change)
        return names.get(ref, ref)

    def change(part: Schema) -> Schema:
        written = dict(part)
        if draft and draft[1]:
            if isinstance(written.get("$ref"), str):
                # Up to draft 7 a reference stands alone: what is beside it does not count.
                written = {k: v for k, v in part.items() if k in ("$ref", "$defs", "definitions")}
            if isinstance(written.get("id"), str):
                written.setdefault("$id", written.pop("id"))
        for read in (_read_old_words, _read_required, _read_type, _read_bounds, _read_items):
            read(written, note)
        if isinstance(ref := written.get("$ref"), str):
            written["$ref"] = definition_of(ref)
        return _read_nullable(written, note)

    result: JsonDict = mapped_schema(schema, change)
    return {**result, "$defs": {**result.get("$defs", {}), **definitions}} if names else result


_OLD_WORDS = {"divisibleBy": "multipleOf", "disallow": "not", "extends": "allOf"}
_OLD_WORDS["$recursiveRef"] = "$ref"
"""For words of drafts 3 and 2019-09, the words of today."""


def _read_old_words(schema: JsonDict, note: Note) -> None:
    # It says that other schemas may extend this one: a definition is one schema.
    schema.pop("$recursiveAnchor", None)
    for old in _OLD_WORDS.keys() & schema:
        note(f"{old} is read as {_OLD_WORDS[old]}")
        part = schema.pop(old)
        listed = [part] if old == "extends" and not isinstance(part, list) else part
        schema.setdefault(_OLD_WORDS[old], {"type": part} if old == "disallow" else listed)
    if isinstance(parts := schema.get("dependencies"), Mapping):
        # In draft 3 one name needs no list.
        listed = {name: [part] if isinstance(part, str) else part for name, part in parts.items()}
        schema["dependencies"] = listed
    for word in ("$id", "id"):
        if re.match("#.", str(schema.get(word))):
            note(f"{word} of a part is read as $anchor")
            schema["$anchor"] = schema.pop(word)[1:]


def is_pattern(text: str) -> bool:
    """Return whether a text is a regular expression that can be checked here."""
    return not attempt(Draft202012Validator, {"pattern": text})[1]


def _read_type(schema: JsonDict, note: Note) -> None:
    written = schema.get("type")
    names = written if isinstance(written, list) else [written]
    if not names or not all(isinstance(name, str) for name in names):
        if isinstance(written, list) and all(isinstance(name, (str, Mapping)) for name in names):
            note("type with schemas is read as anyOf")
            del schema["type"]
            schema["anyOf"] = [{"type": name} if isinstance(name, str) else name for name in names]
        return
    read = {str(name): _TYPES.get(_GENERIC.sub("", str(name)).lower(), name) for name in names}
    for name, kind in read.items():
        if name != kind or not kind:
            note(f"type {name or 'without a name'} is read as {kind or 'any value'}")
    kinds = list(dict.fromkeys(read.values()))
    if "" in kinds:
        del schema["type"]
    elif kinds != names:
        schema["type"] = kinds if len(kinds) > 1 else kinds[0]


def _read_required(schema: JsonDict, note: Note) -> None:
    """Read `required: true` in a property as draft 3 does: its object requires it."""
    if isinstance(schema.get("required"), bool):
        del schema["required"]
    properties = schema.get("properties")
    parts = properties.items() if isinstance(properties, Mapping) else ()
    names = [k for k, part in parts if isinstance(part, Mapping) and part.get("required") is True]
    if names:
        note("required: true of a parameter is read as required of its object")
        written = schema.get("required")
        listed = written if isinstance(written, list) else []
        schema["required"] = [*listed, *(name for name in names if name not in listed)]


def _read_bounds(schema: JsonDict, note: Note) -> None:
    for word, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(schema.get(word), bool) and schema.pop(word) and limit in schema:
            note(f"{word}: true is read as {word}: the number of {limit}")
            schema[word] = schema.pop(limit)


def _read_items(schema: JsonDict, note: Note) -> None:
    # Where `items` is no list, it says nothing in any draft.
    others = [schema.pop("additionalItems")] if "additionalItems" in schema else []
    if isinstance(schema.get("items"), list):
        note("items as a list is read as prefixItems")
        first = schema.pop("items")
        schema |= {
            **({"prefixItems": first} if first else {}),
            **({"items": others[0]} if others else {}),
        }


def _read_nullable(schema: JsonDict, note: Note) -> Schema:
    """Read OpenAPI's `nullable` as null among the types, or beside the choices."""
    if not isinstance(schema.get("nullable"), bool) or not schema.pop("nullable"):
        return schema
    note("nullable: true is read as type null too")
    if any(word in schema for word in (*_CHOICES, "const")):
        outside = {key: part for key, part in schema.items() if key in _ANNOTATIONS}
        inside = {key: part for key, part in schema.items() if key not in _ANNOTATIONS}
        return {**outside, "anyOf": [inside, {"type": "null"}]}
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    if kinds := schema.get("type"):
        kinds = kinds if isinstance(kinds, list) else [kinds]
        schema["type"] = list(dict.fromkeys((*kinds, "null")))
    return schema


# -- what models get ----------------------------------------------------------------------

_DEPENDENT = ("dependentRequired", "dependentSchemas", "dependencies")
"""What holds, for the name of a property, where a call has it."""
_REFUSED = (*_CHOICES, "not", "enum", "const", "if", "then", "else")
"""What no provider takes at the top of a schema."""


def schema_for_models(schema: Schema) -> Schema:
    """Return a schema of arguments as every provider takes it.

    The check of a call goes by `schema` itself. OpenAI refuses an array without `items`.
    """

    def with_items(part: Schema) -> Schema:
        kinds = part.get("type", ())
        is_array = "array" in ([kinds] if isinstance(kinds, str) else kinds)
        return {**part, "items": {}} if is_array and "items" not in part else part

    result: Schema = mapped_schema(object_schema(schema), with_items)
    return result


def object_schema(schema: Schema) -> Schema:
    """Return a schema of an object that has no choice and no reference at its top.

    It has the properties of all choices, and requires what all of them require.
    """
    properties, required, choices = _members(schema, schema, ())
    is_same = properties.keys() == schema.get("properties", {}).keys()
    if is_same and not any(word in schema for word in _REFUSED):
        return schema
    result = {key: part for key, part in schema.items() if key not in _REFUSED}
    if len({names for names in choices if names}) > 1:
        hint = f"Give {', or '.join(' and '.join(names) for names in choices if names)}."
        result["description"] = f"{result.get('description', '')} {hint}".strip()
    named = {"properties": properties} if properties or "properties" in schema else {}
    return {**result, "type": "object", **named, "required": list(required)}


Members = tuple[JsonDict, dict[str, None], list[tuple[str, ...]]]
"""The properties of an object, those that are required, and what each choice requires."""


def _members(schema: object, root: Schema, refs: tuple[str, ...]) -> Members:
    if not isinstance(schema, Mapping):
        return {}, {}, []
    properties = dict(schema.get("properties", {}))
    required = dict.fromkeys(schema.get("required", ()))
    ref, targets = schema.get("$ref", ""), list[Any]()
    if ref.startswith("#") and ref not in refs:
        targets = list(at_pointer(root, unquote(ref[1:])))
    dependent = (part for word in _DEPENDENT for part in schema.get(word, {}).values())
    conditional = [schema[word] for word in ("then", "else") if word in schema]
    conditional += ({"required": part} if isinstance(part, list) else part for part in dependent)
    branches = {
        word: [_members(part, root, (*refs, ref)) for part in parts]
        for word, parts in (
            ("allOf", (*schema.get("allOf", ()), *targets)),
            ("anyOf", schema.get("anyOf", ())),
            ("oneOf", schema.get("oneOf", ())),
            ("then", conditional),
        )
    }
    inner = [branch for found in branches.values() for branch in found]
    for name, part in (item for branch in inner for item in branch[0].items()):
        described = properties.get(name) or part
        properties[name] = described if part in ({}, described) else {"anyOf": [described, part]}
    if properties or "properties" in schema:
        # What is required is a parameter too where nothing describes it: else no call would fit.
        names = (name for parts in (required, *(branch[1] for branch in inner)) for name in parts)
        properties = {**properties, **{name: {} for name in names if name not in properties}}
    for branch in branches["allOf"]:
        required |= branch[1]
    choices = [branch for word in ("anyOf", "oneOf") for branch in branches[word]]
    for word in ("anyOf", "oneOf"):
        shared = [set(branch[1]) for branch in branches[word]]
        required |= dict.fromkeys(sorted(set.intersection(*shared)) if shared else ())
    return properties, required, [tuple(names) for _, names, _ in choices]


def at_pointer(root: object, pointer: str) -> Iterator[object]:
    """Yield what a JSON pointer leads to, if anything."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    part = at_path(root, tuple(steps))
    yield from () if part is None else (part,)
