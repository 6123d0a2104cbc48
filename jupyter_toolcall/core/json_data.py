"""Data as JSON that a browser and every JSON parser can read."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from .interface_text import on_wire

_DEFAULTS: dict[type, tuple[tuple[str, Any], ...]] = {}

ALWAYS = ("id", "type", "version", "number", "rows", "journal")


def sendable(text: str) -> str:
    """Return a text as Jupyter can send it: half of a character is U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def sendable_data(value: Any) -> Any:
    """Return a row, a notice or a part of one as JSON-ready data that Jupyter can send."""
    text = _ENCODER.encode(value)
    # Only an escape can stand for half of a character: most rows have none.
    return json.loads(sendable(_READABLE.encode(value)) if "\\ud" in text else text)


def json_data(value: Any) -> Any:
    """Return dataclasses, mappings and lists as JSON-ready data, with every text as it is."""
    return json.loads(_ENCODER.encode(value))


def changed_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that have not their defaults, or the items of a mapping.

    Texts of the interface are as a panel gets them.

    Raises TypeError for what is neither.
    """
    if isinstance(value, Mapping):
        return dict(value)
    return {
        name: on_wire(item)
        for name, default in _DEFAULTS.get(type(value)) or field_defaults(type(value))
        if (item := getattr(value, name)) is not default and item != default
    }


_ENCODER = json.JSONEncoder(default=changed_fields, check_circular=False)

_READABLE = json.JSONEncoder(default=changed_fields, check_circular=False, ensure_ascii=False)

_COMPACT = json.JSONEncoder(check_circular=False, ensure_ascii=False, separators=(",", ":"))


def json_texts(items: Iterable[Any]) -> list[str]:
    """Return each of some JSON-ready data as a JSON text without spaces."""
    return [_COMPACT.encode(item) for item in items]


def parsed_texts(items: Iterable[Any]) -> list[Any]:
    """Return each item as the data that it is the JSON text of; an item that is none as it is."""
    return [_parsed(item) for item in items]


def _parsed(item: Any) -> Any:
    if isinstance(item, str):
        with suppress(ValueError, RecursionError):
            return json.loads(item)
    return item


def field_defaults(cls: Any) -> tuple[tuple[str, Any], ...]:
    """Return the names and the defaults of a dataclass's fields. Raises TypeError for others."""
    if cls not in _DEFAULTS:
        defaults = {each.name: each.default for each in dataclasses.fields(cls)}
        for each in dataclasses.fields(cls):
            if each.default_factory is not dataclasses.MISSING:
                defaults[each.name] = each.default_factory()
        # No field has this default: it is always sent.
        always = {name: dataclasses.MISSING for name in ALWAYS if name in defaults}
        _DEFAULTS[cls] = tuple({**defaults, **always}.items())
    return _DEFAULTS[cls]


def at_path(value: Any, path: tuple[str, ...]) -> Any:
    """Return what a path leads to; None where it leads to nothing."""
    for step in path:
        match value:
            case Mapping() if step in value:
                value = value[step]
            case list() if step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            case _:
                return None
    return value


def replaced_at(value: Any, path: tuple[str, ...], part: Any) -> Any:
    """Return a value with another part where a path leads to."""
    if not path:
        return part
    first, remaining = path[0], path[1:]
    match value:
        case Mapping() if first in value:
            return {**value, first: replaced_at(value[first], remaining, part)}
        case list() if first.isdecimal() and int(first) < len(value):
            at = int(first)
            return [*value[:at], replaced_at(value[at], remaining, part), *value[at + 1 :]]
    return value
