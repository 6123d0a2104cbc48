"""What a value of Python is made of, told in one order."""

from __future__ import annotations

import copyreg
import dataclasses
import enum
import functools
import hashlib
import io
import pickle
import sys
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Protocol

_MADE_HERE = 1 << 9
"""The flag of a class that is made while a program runs, as by a `class` statement."""


class Digesting(Protocol):
    """Takes the digests of parts."""

    def of(self, value: Any) -> bytes:
        """Return the digest of a part."""

    def unordered(self, parts: Iterable[tuple[Any, ...]]) -> list[bytes]:
        """Return the digests of parts that have no order, in one that they have everywhere."""


Parts = Callable[[Any, Digesting], Iterable[bytes]]
"""From a value to the digests of its parts, in one order.

Raises TypeError, ValueError and what pickling raises for what has no such parts.
"""


def of_python(cls: type) -> Parts:
    """Return what tells the parts of the values of a class."""
    known = _KNOWN.get(cls)
    if known is not None:
        return known
    if issubclass(cls, enum.Enum):
        return lambda value, digests: (value.name.encode(),)
    if hasattr(cls, "__content__"):
        return lambda value, digests: (str(value.__content__()).encode(),)
    if issubclass(cls, type):
        return lambda value, digests: (f"{value.__module__}.{value.__qualname__}".encode(),)
    if hasattr(cls, "__pydantic_fields_set__"):
        return _model
    if dataclasses.is_dataclass(cls):
        return _fields
    if _is_plain(cls) and cls not in copyreg.dispatch_table:
        return _attributes
    return _picture if hasattr(cls, "savefig") else _reduced


def _items(value: Any, digests: Digesting) -> Iterable[bytes]:
    return map(digests.of, value)


def _pairs(value: Any, digests: Digesting) -> Iterable[bytes]:
    return digests.unordered(value.items())


def _members(value: Any, digests: Digesting) -> Iterable[bytes]:
    return digests.unordered((member,) for member in value)


def _buffer(value: Any, digests: Digesting) -> Iterator[bytes]:
    view = memoryview(value)
    yield digests.of([view.format, list(view.shape or ())])
    yield hashlib.sha256(view if view.c_contiguous else view.tobytes()).digest()


def _function(function: Any, digests: Digesting) -> Iterable[bytes]:
    """A function is its name, where that leads to it; a method of a value is that value's."""
    if not isinstance(getattr(function, "__self__", None), (ModuleType, type(None))):
        return _reduced(function, digests)
    module, name = function.__module__ or "builtins", function.__qualname__
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not function:
        raise ValueError(f"{module}.{name} is another function")
    return (f"{module}.{name}".encode(),)


def _model(value: Any, digests: Digesting) -> Iterator[bytes]:
    """A pydantic model is its fields; which of them somebody has set is no content."""
    state = value.__getstate__()
    yield digests.of(_lasting(type(value), state["__dict__"]))
    yield digests.of([state["__pydantic_extra__"], state["__pydantic_private__"]])


def _fields(value: Any, digests: Digesting) -> Iterator[bytes]:
    names = [field.name for field in dataclasses.fields(value)]
    for name in names:
        yield digests.of(getattr(value, name))
    more = {k: v for k, v in getattr(value, "__dict__", {}).items() if k not in names}
    if lasting := _lasting(type(value), more):
        yield digests.of(lasting)


def _is_plain(cls: type) -> bool:
    """Return whether instances are their attributes, and what Python knows of them besides."""
    ways = ("__reduce__", "__reduce_ex__", "__getstate__")
    return cls.__flags__ & _MADE_HERE != 0 and all(
        getattr(cls, way) is getattr(object, way) for way in ways
    )


def _attributes(value: Any, digests: Digesting) -> Iterator[bytes]:
    """An instance of a list, a text or a number of one's own is that too."""
    _, (_, *given), state, *more = value.__reduce_ex__(2)
    items, pairs = (*more, None, None)[:2]
    yield digests.of(_lasting(type(value), state) if isinstance(state, dict) else state)
    if given or items is not None or pairs is not None:
        yield digests.of([given, list(items or ()), dict(pairs or ())])


def _lasting(cls: type, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes without those that only spare a computation."""
    spared = _spared(cls)
    return {key: value for key, value in state.items() if key not in spared}


@functools.lru_cache(1024)
def _spared(cls: type) -> frozenset[str]:
    named = ((name, made) for base in cls.__mro__ for name, made in vars(base).items())
    return frozenset(name for name, made in named if isinstance(made, functools.cached_property))


def _picture(value: Any, digests: Digesting) -> Iterable[bytes]:
    """A figure is what it shows: its pickle holds counters, and differs each time."""
    buffer = io.BytesIO()
    value.savefig(buffer, format="png", metadata={"Software": None})
    return (buffer.getvalue(),)


def _reduced(value: Any, digests: Digesting) -> Iterator[bytes]:
    """All else says itself what it is made of, to whoever would pickle it."""
    way = copyreg.dispatch_table.get(type(value))
    made: Any = way(value) if way is not None else value.__reduce_ex__(5)
    if isinstance(made, str):
        yield f"{getattr(value, '__module__', '')}.{made}".encode()
        return
    function, given, state, items, pairs, setter = (*made, *(None,) * 6)[:6]
    for part in (function, given, state, setter, list(items or ())):
        yield digests.of(part)
    pairs = list(pairs or ())
    yield digests.of(pairs if isinstance(value, OrderedDict) else dict(pairs))


_KNOWN: Mapping[type, Parts] = {
    **dict.fromkeys((list, tuple), _items),
    **dict.fromkeys((set, frozenset), _members),
    **dict.fromkeys((bytearray, memoryview, array, pickle.PickleBuffer), _buffer),
    **dict.fromkeys((FunctionType, BuiltinFunctionType), _function),
    dict: _pairs,
}
