"""A value as JSON data and as text, for the journal and for a model."""

from __future__ import annotations

import contextlib
import json
import math
import numbers
import os
from collections.abc import Callable
from typing import Any, overload

from pydantic_core import to_jsonable_python

from ..core.digests import encode
from ..core.interrupts import attempt, class_name
from ..core.json_data import mapped
from ..core.text import own_text, shortened_text
from .json_structure import without_objects
from .table_classes import cell_free_text, may_quote_cells, plan_text

SHORTENED = 2_000
"""Characters of a text that is too long to be recorded, or to be sent."""
LONGEST = 1_000_000
"""Characters of one result's JSON; of a longer one only the beginning is recorded."""


def plain_data(value: object) -> Any:
    """Return a value as JSON data; a value that has no JSON is described in words, and cut.

    A number that is missing (NaN) is null. Bytes are told by their size and their beginning; so
    are texts, where all of it is too long to be recorded.
    """
    if value is None or type(value) is bool or (type(value) is int and abs(value) < 2**63):
        return value
    if type(value) is str and value.isascii() and len(value) < LONGEST // 8:
        return value
    converted = attempt(_jsonable, value, True)[0]
    if converted is None:
        return described_for_model(value, 2000)
    data, text = converted
    if len(text) > LONGEST:
        data = short_texts(data)
        text = encode(data)
    if len(text) > LONGEST:
        return f"{text[:LONGEST]}… ({len(text):,} characters in all; the rest is left out)"
    return data


def uncut_data(value: object) -> Any:
    """Return a value as JSON data, however long; without JSON it is described in words."""
    read = attempt(_jsonable, value)[0]
    return described_for_model(value, 2000) if read is None else read[0]


def short_texts(data: object) -> Any:
    """Return JSON data in which each very long text is its beginning and its size."""
    return mapped(data, str, lambda text: cut(text, SHORTENED))


def _jsonable(value: object, nan_is_null: bool = False) -> tuple[object, str]:
    """Return a value as JSON data, and as JSON text. Raises what its own methods raise."""
    plain = to_jsonable_python(without_objects(value), fallback=_plain)
    data = well_formed(plain)
    # Encoding raises here, and not when the journal is written.
    text = encode(data)
    if nan_is_null and '"NaN"' in text:
        # As in a column of pandas.
        data = well_formed(mapped(plain, float, lambda n: None if math.isnan(n) else n))
        text = encode(data)
    return data, text


def _plain(value: Any) -> Any:
    """A number of another library is a number; anything else is described."""
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        return value.item()
    match value:
        case numbers.Integral():
            return int(value)
        case numbers.Real():
            return float(value)
        case os.PathLike():
            return os.fspath(value)
    return described_for_model(value, 200)


@overload
def well_formed(data: str) -> str: ...
@overload
def well_formed(data: object) -> Any: ...
def well_formed(data: object) -> Any:
    """Return a text, or JSON data, that UTF-8 can hold: half of a character becomes U+FFFD."""
    match data:
        case str():
            # A subclass of str may have methods of its own.
            data = str.__str__(data)
            if data.isascii():
                return data
            return data.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case float() if not math.isfinite(data):
            return {"inf": "Infinity", "-inf": "-Infinity"}.get(str(data), "NaN")
        case list() | dict():
            # A round trip in C is several times faster than a call for each value.
            with contextlib.suppress(TypeError, ValueError):
                text = encode(data)
                # Only an escape can stand for half of a character.
                if "\\ud" not in text:
                    return json.loads(text)
            if isinstance(data, list):
                return [well_formed(item) for item in data]
            return {well_formed(key): well_formed(item) for key, item in data.items()}
    return data


def cut(text: str, limit: int) -> str:
    """Return a text; of a longer one its beginning, and how long it is."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"


def described_for_model(value: object, limit: int) -> str:
    """Return what a model is told of a value without JSON: `own_text`, if that quotes no table."""
    text, raised = _text(value, own_text)
    # Walking through a value calls methods of classes that are not ours.
    if not raised and attempt(may_quote_cells, value) != (False, ""):
        text = cell_free_text(value)
    return shortened_text(text, limit)


def describe(value: object, limit: int) -> str:
    """Return a value's `repr`, cut, or what it raised."""
    return shortened_text(_text(value, repr)[0], limit)


def _text(value: object, read: Callable[[object], str]) -> tuple[str, str]:
    """Return what a value shows as a text, and the name of what it raised."""
    shown, raised = attempt(lambda: plan_text(value) or read(value))
    name = class_name(type(value))
    return well_formed(f"<{name} whose repr raises {raised}>" if shown is None else shown), raised
