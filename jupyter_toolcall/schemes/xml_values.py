"""A parameter's value as text, and back: a text is itself, all else is JSON.

What a text stands for is told by the parameter's schema alone. `written` and `value`
undo each other for every value that fits the schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..tools.arguments import parse_json

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_NAMES: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}
EVERY = frozenset(_NAMES.values())
TEXT = frozenset({"string"})
_WORDS: Mapping[str, bool] = {"true": True, "false": False}


def types(
    schema: Any, defs: Mapping[str, Any], seen: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Return the JSON types that a schema takes; "number" stands for integers too."""
    if not isinstance(schema, Mapping):
        return EVERY
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return EVERY if name in seen else types(defs.get(name), defs, seen | {name})
    if "type" in schema:
        said = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return frozenset("number" if each == "integer" else str(each) for each in said)
    if "const" in schema or "enum" in schema:
        return frozenset(_NAMES[type(each)] for each in schema.get("enum", [schema.get("const")]))
    one_of = (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
    some = frozenset[str]().union(*(types(part, defs, seen) for part in one_of)) or EVERY
    return some.intersection(*(types(part, defs, seen) for part in schema.get("allOf", ())))


def value(text: str, taken: frozenset[str]) -> Any:
    """Return what a text stands for where these types are taken.

    A text that is none of them is returned as it is: the tool says what is wrong with it.
    Raises ValueError where only JSON could have been meant, and it is none.
    """
    if taken == TEXT:
        return text
    word = text.strip().lower()
    if "string" not in taken:
        if "boolean" in taken and word in _WORDS:
            return _WORDS[word]
        if "null" in taken and word in ("", "null", "none"):
            return None
    try:
        data = parse_json(text)
    except ValueError as error:
        if taken & {"string", "number", "boolean"}:
            return text
        example = '["a", "b"]' if "array" in taken else '{"key": "value"}'
        raise ValueError(f"must be JSON, such as {example}. As it stands, {error}") from None
    return data if _NAMES[type(data)] in taken or "string" not in taken else text


def written(data: Any, taken: frozenset[str] = EVERY) -> str:
    """Return the text that stands for a value where these types are taken."""
    if isinstance(data, str) and same(_or_none(data, taken), data):
        return data
    return _ENCODER.encode(data)


def _or_none(text: str, taken: frozenset[str]) -> Any:
    try:
        return value(text, taken)
    except ValueError:
        return None


def same(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON: true is not 1."""
    return one == other and _ENCODER.encode(one) == _ENCODER.encode(other)


def says(text: str, data: Any) -> bool:
    """Return whether a text stands for a value, whatever its schema may be."""
    readings = (TEXT, EVERY, EVERY - TEXT)
    return any(same(_or_none(text, taken), data) for taken in readings)
