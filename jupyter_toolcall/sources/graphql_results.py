"""What a server returned, checked against the types of its schema (GraphQL specification, 6.4.3).

A custom scalar may be any JSON. A CallError names in one line the field, the value, and the type in
the schema.
"""

from __future__ import annotations

import json
import math
from typing import Any

from ..core.errors import CallError
from ..core.text import visible_text
from . import graphql_schema as gql
from .graphql_schema import BUILT_IN, AnyType, Schema

LONGEST = 60
"""Characters of a value that an error shows."""


def check_result(
    schema: Schema,
    ref: AnyType,
    data: Any,
    field: str,
    nulls: bool = False,
    names: tuple[str, ...] = (),
) -> None:
    """Raise CallError unless data fits a type.

    Objects are only checked for null, and for lists where the type has lists.

    Arguments:
        field: the field that returned the data, as `Type.field`.
        nulls: whether null may stand anywhere, since errors beside the data say why.
        names: the fields of an object, or of each in a list, that are checked too.
    """
    if misfit := _misfit(schema, ref, data, nulls, names):
        path, part, declared = misfit
        values = gql.enum_values(schema.types[gql.name_of(declared)])
        choices = f" ({', '.join(values[:12])}{', …' if len(values) > 12 else ''})"
        raise CallError(
            f"{field}{path}: the server answered {_shown(part)}, and the schema says {declared}"
            + (choices if values else "")
        )


Misfit = tuple[str, Any, AnyType]
"""The path to a part of the data, such as `[1]`, the part, and the type that it does not fit."""


def _misfit(
    schema: Schema, ref: AnyType, data: Any, nulls: bool, names: tuple[str, ...]
) -> Misfit | None:
    """Return the first part of data that does not fit a type; None if all of it fits."""
    if data is None:
        return ("", data, ref) if gql.is_required(ref) and not nulls else None
    inner, declared = gql.item_type(ref), schema.types[gql.name_of(ref)]
    if inner is None and not names:
        return None if _fits(declared, data) else ("", data, ref)
    if not isinstance(data, list if inner else dict):
        return "", data, ref
    whole: Any = data
    parts: list[tuple[str, Any, Any, tuple[str, ...]]]
    if inner is None:
        parts = [(f".{n}", declared.fields[n].type, whole.get(n), ()) for n in names]
    else:
        parts = [(f"[{index}]", inner, item, names) for index, item in enumerate(whole)]
    for step, type_, part, part_names in parts:
        if misfit := _misfit(schema, type_, part, nulls, part_names):
            path, *rest = misfit
            return f"{step}{path}", *rest
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
    return visible_text(json.dumps(data, ensure_ascii=False), LONGEST)
