"""Rows as they travel: JSON-ready data in which what has its default is left out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

_DEFAULTS: dict[type, tuple[tuple[str, Any], ...]] = {}
ALWAYS = ("id", "type", "version", "number", "rows", "journal")


def packed(value: Any) -> Any:
    """Return a row, a notice or a part of one as JSON-ready data."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            name: packed(item)
            for name, default in _defaults(type(value))
            if (item := getattr(value, name)) != default or name in ALWAYS
        }
    if isinstance(value, Mapping):
        return {str(key): packed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [packed(item) for item in value]
    return value


def _defaults(cls: type) -> tuple[tuple[str, Any], ...]:
    if cls not in _DEFAULTS:
        _DEFAULTS[cls] = tuple((f.name, _default(f)) for f in dataclasses.fields(cls))
    return _DEFAULTS[cls]


def _default(field: Any) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default
