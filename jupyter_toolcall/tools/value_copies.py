"""The content of a value: whether it can change, a copy, and its JSON.

Its digest is beside (`canonical`); a value without one ("") is not reproducible.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import enum
import json
import math
import numbers
import pickle
from typing import Any, overload

from pydantic_core import to_jsonable_python

from ..core.digests import encode
from ..core.interrupts import attempt, class_name
from .value_digests import SCALARS, content_digest

__all__ = ["content_digest", "cut", "describe", "is_frozen", "plain_data", "private", "well_formed"]

LONGEST = 1_000_000
"""Characters of JSON of one result that are kept; of more only the beginning is."""


def is_frozen(value: object) -> bool:
    """Return whether a value can't change, so that it needs no copy.

    A class of ours whose values never change says with `__content__` what they are.
    """
    cls = type(value)
    return cls in SCALARS or bool(attempt(_is_frozen, value, cls)[0])


def _is_frozen(value: Any, cls: Any) -> bool:
    if issubclass(cls, enum.Enum) or hasattr(cls, "__content__"):
        return True
    if cls in (tuple, frozenset):
        return all(map(is_frozen, value))
    if dataclasses.is_dataclass(cls):
        fixed = value.__dataclass_params__.frozen
        fields = dataclasses.fields(value)
        return bool(fixed) and all(is_frozen(getattr(value, field.name)) for field in fields)
    return False


def private(value: Any) -> tuple[Any, bool]:
    """Return a copy of a value that nobody else holds, and whether that was possible."""
    if is_frozen(value):
        return value, True
    # What copying raises is up to the value's own class.
    if attempt(_holds_objects, value)[0]:
        made, raised = attempt(_pickled, value)
        if not raised:
            return made, True
    made, raised = attempt(copy.deepcopy, value)
    return (value, False) if raised else (made, True)


def _pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value, protocol=5))


def _holds_objects(value: Any) -> bool:
    """Return whether a value is a pandas table with objects in its cells: a copy shares these."""
    if type(value).__module__.partition(".")[0] != "pandas":
        return False
    found = getattr(value, "dtypes", getattr(value, "dtype", ()))
    return any(str(each) == "object" for each in (found if hasattr(found, "items") else [found]))


def plain_data(value: object) -> Any:
    """Return a value as JSON data; what has no JSON is described in words, and cut."""
    if value is None or type(value) is bool or (type(value) is int and abs(value) < 2**63):
        return value
    found, _ = (_jsonable(value), "") if _is_ascii(value) else attempt(_jsonable, value)
    if found is None:
        return describe(value, 2000)
    data, text = found
    if len(text) > LONGEST:
        return f"{text[:LONGEST]}… ({len(text):,} characters in all; the rest is left out)"
    return data


def _is_ascii(value: object) -> bool:
    return type(value) is str and value.isascii()


def _jsonable(value: object) -> tuple[Any, str]:
    """Return a value as JSON data, and as text. Raises what its own methods raise."""
    data = well_formed(to_jsonable_python(value, fallback=_plain))
    # What is not JSON even so would else fail when it is written down.
    return data, encode(data)


def _plain(value: Any) -> Any:
    """A number of another library is a number; anything else is described."""
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        return value.item()
    match value:
        case numbers.Integral():
            return int(value)
        case numbers.Real():
            return float(value)
    return describe(value, 200)


@overload
def well_formed(data: str) -> str: ...
@overload
def well_formed(data: Any) -> Any: ...
def well_formed(data: Any) -> Any:
    """Return a text, or data, that is JSON and UTF-8: half of a character is U+FFFD."""
    match data:
        case str():
            # A text of a class of its own becomes a plain one: its methods may be anything.
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


def describe(value: object, limit: int) -> str:
    """Return a value's `repr`, cut; whatever its own class raises is told in its place."""
    found, raised = attempt(repr, value)
    name = class_name(type(value))
    text = f"<{name} whose repr raises {raised}>" if found is None else str.__str__(found)
    text = well_formed(text)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
