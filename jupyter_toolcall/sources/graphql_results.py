"""What a server returned, checked against the types of its schema (GraphQL specification, 6.4.3).

A scalar of the server's own may be any JSON. Raises CallError, in one line: the field, what came,
and what the schema says.
"""

from __future__ import annotations

import json
import math
from typing import Any

from ..core.errors import CallError
from ..core.text import printable
from .graphql_schema import BUILT_IN, LEAVES, Ref, Schema, Type

LONGEST = 60
"""Characters that an error shows of what came."""


def check_result(schema: Schema, ref: Ref, data: Any, field: str) -> None:
    """Raise CallError unless data fits a type; `field` is where it comes from, as `Type.field`.

    Of objects only their number is checked, and whether one may be null.
    """
    if misfit := _misfit(schema, ref, data):
        path, part, declared = misfit
        values = schema.types[declared.name].values
        choices = f" ({', '.join(values[:12])}{', …' if len(values) > 12 else ''})"
        raise CallError(
            f"{field}{path}: the server answered {_shown(part)}, and the schema says {declared}"
            + (choices if values else "")
        )


def check_fields(schema: Schema, ref: Ref, data: Any, names: tuple[str, ...], field: str) -> None:
    """Raise CallError unless the fields of an object, or of each in a list, fit their types."""
    if isinstance(data, list):
        for index, item in enumerate(data):
            check_fields(schema, ref, item, names, f"{field}[{index}]")
    elif data is not None and not isinstance(data, dict):
        raise CallError(f"{field}: the server answered {_shown(data)}, and the schema says {ref}")
    elif data is not None:
        for name in names:
            of = schema.types[ref.name].fields[name]
            check_result(schema, of.type, data.get(name), f"{field}.{name}")


Misfit = tuple[str, Any, Ref]
"""Where a part of the data is, as `[1]`, what it is, and the type that it does not fit."""


def _misfit(schema: Schema, ref: Ref, data: Any) -> Misfit | None:
    """Return the first part of data that does not fit a type, None where all of it does."""
    if data is None:
        return ("", data, ref) if ref.required else None
    if ref.item is None:
        return None if _fits(schema.types[ref.name], data) else ("", data, ref)
    if not isinstance(data, list):
        return "", data, ref
    for index, item in enumerate(data):
        if misfit := _misfit(schema, ref.item, item):
            path, *others = misfit
            return f"[{index}]{path}", *others
    return None


def _fits(named: Type, data: Any) -> bool:
    """Return whether data that is not null fits a type by name."""
    if named.kind == "ENUM":
        return isinstance(data, str) and data in named.values
    if named.kind not in LEAVES:
        return not isinstance(data, list)
    match named.name, data:
        case "Boolean", bool():
            return True
        case _, bool() if named.name in BUILT_IN:
            return False
        case ("String" | "ID", str()) | ("ID" | "Int", int()):
            return True
        case "Int", float():
            return data.is_integer()
        case "Float", int() | float():
            return math.isfinite(data)
    return named.name not in BUILT_IN


def _shown(data: Any) -> str:
    text = printable(json.dumps(data, ensure_ascii=False))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
