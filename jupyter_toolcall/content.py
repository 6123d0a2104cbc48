"""The content of a value: its digest, whether it can change, a copy, and its JSON.

Equal digests mean equal values; a value without a digest ("") is not reproducible.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import hashlib
import io
import math
import numbers
import pickle
from collections.abc import Iterator
from typing import Any, overload

from pydantic_core import PydanticSerializationError, to_jsonable_python

from .digest import LENGTH, encode

_MADE_HERE = 1 << 9
"""The flag of a class that a `class` statement made."""
LONGEST = 1_000_000
"""Characters of JSON of one result that are kept; of more only the beginning is."""
_SCALARS = (str, int, float, bool, bytes, complex, type(None))
_UNREADABLE = (
    pickle.PicklingError,
    TypeError,
    AttributeError,
    RecursionError,
    ValueError,
    NotImplementedError,
)


def content_digest(value: object) -> str:
    """Return the digest of a value, or "" where it cannot be taken."""
    try:
        return _digest(value, {}).hex()[:LENGTH]
    except _UNREADABLE:
        return ""


def _digest(value: Any, known: dict[int, tuple[Any, bytes]]) -> bytes:
    """Return a value's digest, made of those of its parts, each taken once."""
    if type(value) in _SCALARS:
        said = f"{type(value).__name__}:{value!r}"
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()
    found = known.get(id(value))
    if found is None:
        known[id(value)] = value, b""
        whole = hashlib.sha256(f"{type(value).__module__}.{type(value).__qualname__}:".encode())
        for part in _parts(value, known):
            whole.update(part)
        found = known[id(value)] = value, whole.digest()
    if not found[1]:
        raise ValueError("a value that holds itself has no digest")
    return found[1]


def _parts(value: Any, known: dict[int, tuple[Any, bytes]]) -> Iterator[bytes]:
    cls = type(value)
    if isinstance(value, enum.Enum):
        yield value.name.encode()
    elif hasattr(cls, "__content__"):
        yield str(value.__content__()).encode()
    elif cls in (list, tuple):
        yield from (_digest(item, known) for item in value)
    elif cls is dict:
        yield from sorted(_digest(key, known) + _digest(value[key], known) for key in value)
    elif cls in (set, frozenset):
        yield from sorted(_digest(item, known) for item in value)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield _digest(getattr(value, field.name), known)
    elif _is_plain(cls):
        yield _digest(value.__getstate__(), known)
        yield from (_digest(part, known) for part in _inherited(value))
    elif hasattr(cls, "savefig"):
        yield _picture(value)
    else:
        yield from _pickled(value)


def _is_plain(cls: type) -> bool:
    """Return whether instances are their attributes and nothing else."""
    ways = ("__reduce__", "__reduce_ex__", "__getstate__")
    return cls.__flags__ & _MADE_HERE != 0 and all(
        getattr(cls, way) is getattr(object, way) for way in ways
    )


def _inherited(value: Any) -> Iterator[Any]:
    """Yield what an instance is as the list, the text or the number that its class is one of."""
    if all(base is object or base.__flags__ & _MADE_HERE for base in type(value).__mro__):
        return
    _, (_, *given), _, *more = value.__reduce_ex__(2)
    items, pairs = (*more, None, None)[:2]
    yield from (given, list(items or ()), dict(pairs or ()))


def _picture(value: Any) -> bytes:
    """A figure is what it shows: its pickle holds counters, and differs each time."""
    buffer = io.BytesIO()
    value.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def _pickled(value: Any) -> Iterator[bytes]:
    buffers: list[pickle.PickleBuffer] = []
    yield pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    for buffer in buffers:
        yield hashlib.sha256(buffer.raw()).digest()


def is_frozen(value: object) -> bool:
    """Return whether a value can't change, so that it needs no copy.

    A class of ours whose values never change says with `__content__` what they are.
    """
    if isinstance(value, (*_SCALARS, enum.Enum)) or hasattr(type(value), "__content__"):
        return True
    if type(value) in (tuple, frozenset):
        return all(map(is_frozen, value))  # type: ignore[call-overload]
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
    """Return a value as JSON data; what has no JSON is described in words, and cut."""
    if value is None or type(value) is bool or (type(value) is int and abs(value) < 2**63):
        return value
    try:
        data = well_formed(to_jsonable_python(value, fallback=_plain))
        # What is not JSON even so would else fail when it is written down.
        text = encode(data)
    except (PydanticSerializationError, ValueError, RecursionError, UnicodeError, TypeError):
        return describe(value, 2000)
    if len(text) > LONGEST:
        return f"{text[:LONGEST]}… ({len(text):,} characters in all; the rest is left out)"
    return data


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
        case str() if not data.isascii():
            return data.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case float() if not math.isfinite(data):
            return {"inf": "Infinity", "-inf": "-Infinity"}.get(str(data), "NaN")
        case list():
            return [well_formed(item) for item in data]
        case dict():
            return {well_formed(key): well_formed(item) for key, item in data.items()}
    return data


def cut(text: str, limit: int) -> str:
    """Return a text; of a longer one its beginning, and how long it is."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"


def describe(value: object, limit: int) -> str:
    """Return a value's `repr`, cut; whatever its own class raises is told in its place."""
    try:
        text = well_formed(repr(value))
    except Exception as error:
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
