"""The content of a value: its digest, whether it can change, and a private copy.

Equal digests mean equal values; a value without a digest ("") is not reproducible.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import hashlib
import pickle
from collections.abc import Callable
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from .digest import LENGTH

_SCALARS = (str, int, float, bool, bytes, complex, type(None))


def content_digest(value: object) -> str:
    """Return the digest of a value, or "" where it cannot be taken."""
    known = hashlib.sha256()
    try:
        _feed(value, known.update, 0)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError, ValueError):
        return ""
    return known.hexdigest()[:LENGTH]


def _feed(value: Any, update: Callable[[Any], None], depth: int) -> None:
    """Give a value's canonical bytes, so that equal containers are equal bytes."""
    cls = type(value)
    if depth > 64:
        raise RecursionError
    update(f"<{cls.__module__}.{cls.__qualname__}".encode())
    if isinstance(value, enum.Enum):
        update(value.name.encode())
    elif cls in _SCALARS:
        update(repr(value).encode("utf-8", "surrogatepass"))
    elif cls in (list, tuple):
        for item in value:
            _feed(item, update, depth + 1)
    elif cls is dict:
        for key in sorted(value, key=repr):
            _feed(key, update, depth + 1)
            _feed(value[key], update, depth + 1)
    elif cls in (set, frozenset):
        for digest in sorted(content_digest(item) for item in value):
            update(digest.encode())
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            _feed(getattr(value, field.name), update, depth + 1)
    else:
        buffers: list[pickle.PickleBuffer] = []
        update(pickle.dumps(value, protocol=5, buffer_callback=buffers.append))
        for buffer in buffers:
            update(buffer.raw())
    update(b">")


def is_frozen(value: object) -> bool:
    """Return whether a value can't change, so that it needs no copy."""
    if isinstance(value, (*_SCALARS, enum.Enum)):
        return True
    if isinstance(value, (tuple, frozenset)):
        return all(map(is_frozen, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fixed = value.__dataclass_params__.frozen  # type: ignore[attr-defined]
        fields = dataclasses.fields(value)
        return fixed and all(is_frozen(getattr(value, field.name)) for field in fields)
    return False


def private(value: Any) -> tuple[Any, bool]:
    """Return a copy of a value that nobody else holds, and whether that was possible."""
    if is_frozen(value):
        return value, True
    try:
        return copy.deepcopy(value), True
    # What copying raises is up to the value's own class.
    except Exception:
        return value, False


def plain_data(value: object) -> Any:
    """Return a value as JSON-ready data; what has no JSON is described in words."""
    try:
        return to_jsonable_python(
            value, fallback=lambda other: describe(other, 200), inf_nan_mode="strings"
        )
    except (PydanticSerializationError, ValueError, RecursionError, UnicodeError):
        return describe(value, 2000)


def describe(value: object, limit: int) -> str:
    """Return a value's `repr`, cut; whatever its own class raises is told in its place."""
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
