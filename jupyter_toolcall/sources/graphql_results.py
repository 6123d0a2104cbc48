"""What a server returned, checked against the types of its schema (GraphQL specification, 6.4.3).

A custom scalar may be any JSON. A CallError names in one line the field, the value, and the type in
the schema.
"""

from __future__ import annotations

import json
import math
from typing import Any

from ..core.errors import CallError
from ..core.text import printable, shortened_text
from . import graphql_schema as gql
from .graphql_schema import BUILT_IN, AnyType, Schema

LONGEST = 60
"""Characters of a value that an error shows."""


def check_result(schema: Schema, ref: AnyType, data: Any, field: str, nulls: bool = False) -> None:
    """Raise CallError unless data fits a type.

    Objects are only checked for null, and for lists where the type has lists.

    Arguments:
        field: the field that returned the data, as `Type.field`.
        nulls: whether null may stand anywhere, since errors beside the data say why.
    """
    if misfit := _misfit(schema, ref, data, nulls):
        path, part, declared = misfit
        values = gql.enum_values(schema.types[gql.name_of(declared)])
        choices = f" ({', '.join(values[:12])}{', …' if len(values) > 12 else ''})"
        raise CallError(
            f"{field}{path}: the server answered {_shown(part)}, and the schema says {declared}"
            + (choices if values else "")
        )


def check_fields(
    schema: Schema, ref: AnyType, data: Any, names: tuple[str, ...], field: str, nulls: bool = False
) -> None:
    """Raise CallError unless the fields of an object, or of each in a list, fit their types."""
    if isinstance(data, list):
        for index, item in enumerate(data):
            check_fields(schema, ref, item, names, f"{field}[{index}]", nulls)
    elif data is not None and not isinstance(data, dict):
        raise CallError(f"{field}: the server answered {_shown(data)}, and the schema says {ref}")
    elif data is not None:
        for name in names:
            declared = schema.types[gql.name_of(ref)].fields[name].type
            check_result(schema, declared, data.get(name), f"{field}.{name}", nulls)


Misfit = tuple[str, Any, AnyType]
"""The path to a part of the data, such as `[1]`, the part, and the type that it does not fit."""


def _misfit(schema: Schema, ref: AnyType, data: Any, nulls: bool) -> Misfit | None:
    """Return the first part of data that does not fit a type; None if all of it fits."""
    if data is None:
        return ("", data, ref) if gql.is_required(ref) and not nulls else None
    inner = gql.item_type(ref)
    if inner is None:
        return None if _fits(schema.types[gql.name_of(ref)], data) else ("", data, ref)
    if not isinstance(data, list):
        return "", data, ref
    for index, item in enumerate(data):
        if misfit := _misfit(schema, inner, item, nulls):
            path, part, declared = misfit
            return f"[{index}]{path}", part, declared
    return None


def _fits(declared: Any, data: Any) -> bool:
    """Return whether data that is not null fits a type that is no list."""
    if values := gql.enum_values(declared):
        return isinstance(data, str) and data in values
    if not gql.is_leaf(declared):
        return not isinstance(data, list)
    match declared.name, data:
        case "Boolean", bool():
            return True
        case _, bool() if declared.name in BUILT_IN:
            return False
        case ("String" | "ID", str()) | ("ID" | "Int", int()):
            return True
        case "Int", float():
            return data.is_integer()
        case "Float", int() | float():
            return math.isfinite(data)
    return declared.name not in BUILT_IN


def _shown(data: Any) -> str:
    text = printable(json.dumps(data, ensure_ascii=False))
    return shortened_text(text, LONGEST)
