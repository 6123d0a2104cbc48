"""The text of a value for a model: a line for a plain input, or the content of an object."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import itertools
import numbers
import uuid
from collections.abc import Mapping
from typing import Any

from ..core.digests import readable_json
from ..core.interrupts import attempt
from ..core.secrets import Hide, is_named_secret
from .object_types import Kinds, kind_of
from .value_copies import describe, plain_data, well_formed

LINE = 400
"""Characters of a plain input that a model is shown where objects are listed."""
ITEMS = 100
"""Items of a list or a dict that are read for that line."""
ROWS = 20
"""Rows of a table that a question to the model shows."""
CONTENT = 10_000
"""Characters of an object's content that a question to the model shows."""
_BUILTIN = (str, int, float, bool, bytes, type(None), list, dict, tuple, set, frozenset)
_DATA = (
    *(enum.Enum, numbers.Number, uuid.UUID),
    *(datetime.date, datetime.time, datetime.timedelta),
)


def is_plain_input(value: object, kinds: Kinds) -> bool:
    """Return whether an input is plain data: a text, a number, a date, an enum, JSON data."""
    # A scalar of an array library has an empty shape.
    is_scalar = isinstance(value, _DATA) or getattr(value, "shape", None) == ()
    return (type(value) in _BUILTIN or is_scalar) and kind_of(value, kinds) is None


def shown_value(name: str, value: Any, hide: Hide) -> str:
    """Return a plain input as JSON in one line; a long one is cut, with its size.

    A text or bytes whose `name` is that of a secret, such as `api_key`, is not shown.
    """
    if is_named_secret(name) and isinstance(value, (str, bytes)):
        return f"not shown, since {name} is the name of a secret"
    match value:
        case str():
            text = hide(well_formed(value))
            return _cut(readable_json(text[:LINE]), len(text), "characters", len(text) > LINE)
        case bytes():
            return f"{len(value):,} bytes"
        case Mapping():
            head: Any = dict(itertools.islice(value.items(), ITEMS))
        case list() | tuple() | set() | frozenset():
            head = [*itertools.islice(value, ITEMS)]
        case _:
            return _cut(readable_json(hide(plain_data(value))), 0, "", False)
    text = readable_json(hide(plain_data(head)))
    return _cut(text, len(value), "items", len(value) > ITEMS)


def _cut(text: str, size: int, unit: str, is_part: bool) -> str:
    """Return a text of at most LINE characters, with the size if it is cut or `is_part`."""
    # Escapes make a text in quotes longer than its characters.
    limit = LINE if unit != "characters" else 2 * LINE
    if len(text) <= limit and not is_part:
        return text
    return f"{text[:limit]}… ({size:,} {unit} in all)" if size else f"{text[:limit]}…"


def content_text(value: Any, hide: Hide) -> str:
    """Return the content of an object: its fields, rows of a table, JSON data, or its `repr`."""
    # A value's own methods may raise anything.
    text, raised = attempt(_content, value)
    text = str(hide(well_formed(describe(value, CONTENT) if raised or text is None else text)))
    if len(text) <= CONTENT:
        return text
    return f"{text[:CONTENT]}… ({len(text):,} characters in all; the rest is left out)"


def _content(value: Any) -> str:
    if table := _table(value):
        return table
    if dataclasses.is_dataclass(value) or hasattr(type(value), "model_fields"):
        return readable_json(plain_data(value))
    if type(value) in _BUILTIN or isinstance(value, _DATA):
        return readable_json(plain_data(value))
    return describe(value, CONTENT)


def _table(value: Any) -> str:
    """Return the first rows of a table as CSV, and its size; "" for any other value."""
    shape: Any = getattr(value, "shape", ())
    if not hasattr(value, "columns") or len(shape) != 2:
        return ""
    if hasattr(value, "to_csv"):
        text = value.head(ROWS).to_csv(index=type(value.index).__name__ != "RangeIndex")
    elif hasattr(value, "write_csv"):
        text = value.head(ROWS).write_csv()
    elif hasattr(value, "to_pylist"):
        text = "\n".join(map(readable_json, map(plain_data, value.slice(0, ROWS).to_pylist())))
    else:
        return ""
    rows = f"the first {ROWS} of {shape[0]:,} rows" if shape[0] > ROWS else f"{shape[0]:,} rows"
    return f"{rows}, {shape[1]:,} columns:\n{text}"
