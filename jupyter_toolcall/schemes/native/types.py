"""A JSON Schema in a few words, as a model is told of a parameter's type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...tools.references import kinds_of
from .values import written

Schema = Mapping[str, Any]
_NAMES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "object": "object",
    "array": "list",
}
_LIMITS = (
    *("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "format"),
    *("minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems"),
)
DEEPEST = 12


def in_words(schema: Any, defs: Schema, spelled: set[str], depth: int = 0) -> str:
    """Return a type such as `list[str] | null`; what `spelled` has is named, and not said again.

    An object of fields is `Name{"field": type, "may_be_left_out"?: type}`.
    """
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return "any"

    def inner(part: Any) -> str:
        return in_words(part, defs, spelled, depth + 1)

    if "$ref" in schema:
        return _named(str(schema["$ref"]).rpartition("/")[2], defs, spelled, depth)
    for key, sign in (("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")):
        if schema.get(key):
            return sign.join(dict.fromkeys(inner(part) for part in schema[key]))
    if "enum" in schema or "const" in schema:
        return " | ".join(written(each) for each in schema.get("enum", [schema.get("const")]))
    said = schema.get("type", "object" if "properties" in schema else "")
    if isinstance(said, list):
        return " | ".join(inner({**schema, "type": each}) for each in said)
    if kinds_of(schema):
        return f"name such as {' or '.join(f'{kind}#1' for kind in kinds_of(schema))}"
    return _plain(schema, said, inner) + _limits(schema)


def _named(name: str, defs: Schema, spelled: set[str], depth: int) -> str:
    schema = defs.get(name, {})
    if "properties" not in schema:
        return name if name in spelled else in_words(schema, defs, spelled | {name}, depth + 1)
    if name in spelled:
        return name
    spelled.add(name)
    return f"{name}{in_words(schema, defs, spelled, depth + 1)}"


def _plain(schema: Schema, said: str, inner: Any) -> str:
    match said:
        case "array" if schema.get("prefixItems"):
            return f"[{', '.join(map(inner, schema['prefixItems']))}]"
        case "array" if schema.get("items"):
            return f"list[{inner(schema['items'])}]"
        case "object" if schema.get("properties"):
            needed = schema.get("required", ())
            fields = schema["properties"].items()
            return f"{{{', '.join(_field(k, k in needed, inner(v), v) for k, v in fields)}}}"
        case "object" if isinstance(schema.get("additionalProperties"), Mapping):
            return f"dict[str, {inner(schema['additionalProperties'])}]"
    return _NAMES.get(said, said or "any")


def _field(name: str, needed: bool, said: str, schema: Any) -> str:
    about = schema.get("description", "") if isinstance(schema, Mapping) else ""
    note = f" ({' '.join(about.split())})" if about else ""
    return f"{written(name, frozenset())}{'' if needed else '?'}: {said}{note}"


def _limits(schema: Schema) -> str:
    known = [f"{key} {written(schema[key])}" for key in _LIMITS if key in schema]
    return f" ({', '.join(known)})" if known else ""
