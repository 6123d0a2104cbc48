"""Comparisons and differences as they are seen from the other side."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

SWAPPED = (("left", "right"), ("left_at", "right_at"), ("filled", "emptied"))
"""The fields of the two sides."""
PAIRS = {"alone", "at", "cached", "columns", "lone", "ranges", "rows", "types"}
"""The fields that hold what is of the left and what is of the right, as a pair."""


def mirrored(fact: Any) -> Any:
    """Return a comparison, a difference, or a part of one, as it is seen from the other side."""
    if isinstance(fact, tuple):
        return tuple(map(mirrored, fact))
    if not (is_dataclass(fact) and type(fact).__module__.startswith("jupyter_toolcall.compare.")):
        return fact
    parts = {field.name: mirrored(getattr(fact, field.name)) for field in fields(fact)}
    for one, other in SWAPPED:
        if one in parts:
            parts[one], parts[other] = parts[other], parts[one]
    pairs = {name for name in PAIRS & parts.keys() if isinstance(parts[name], tuple)}
    parts |= {name: parts[name][::-1] for name in pairs}
    if "row" in parts:
        parts["row"] = " | ".join(reversed(parts["row"].split(" | ")))
    if parts.get("by") is not None:
        parts["by"] = -parts["by"]
    return replace(fact, **parts)  # type: ignore[type-var]
