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
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Protocol

from ..core.digests import LENGTH
from ..core.interrupts import attempt

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


def of_library(cls: type) -> Parts | None:
    """Return what tells the parts of the arrays or tables of a class; None for any other class."""
    for base in cls.__mro__:
        root = base.__module__.partition(".")[0]
        found = _LIBRARY_PARTS.get(f"{root}.{base.__name__}") if root in _ROOTS else None
        if found is not None:
            return found
    return None


def _array(value: Any, digests: Digesting) -> Iterator[bytes]:
    yield digests.of([value.dtype.str, repr(value.dtype), list(value.shape)])
    # What a class of its own adds, such as a unit.
    yield digests.of(getattr(value, "__dict__", None) or {})
    try:
        yield hashlib.sha256(memoryview(value.ravel().view("u1"))).digest()
    # Its items are no bytes: they are objects, or texts of any length.
    except (TypeError, ValueError):
        yield digests.of(value.tolist())


def _masked(value: Any, digests: Digesting) -> Iterator[bytes]:
    filled = value.filled(value.fill_value).tolist()
    return map(digests.of, (value.dtype.str, filled, value.mask.tolist()))


def _frame(value: Any, digests: Digesting) -> Iterator[bytes]:
    more = {name: getattr(value, name, None) for name in value._metadata}
    for part in (value.columns, value.index, dict(value.attrs), more):
        yield digests.of(part)
    for n in range(value.shape[1]):
        yield digests.of(value.iloc[:, n].array)


def _series(value: Any, digests: Digesting) -> Iterator[bytes]:
    return map(digests.of, (value.name, value.index, value.array, dict(value.attrs)))


def _levels(value: Any, digests: Digesting) -> Iterator[bytes]:
    levels = (value.get_level_values(n).array for n in range(value.nlevels))
    return map(digests.of, (list(value.names), *levels))


def _range(value: Any, digests: Digesting) -> Iterator[bytes]:
    return map(digests.of, (value.name, value.start, value.stop, value.step))


def _index(value: Any, digests: Digesting) -> Iterator[bytes]:
    return map(digests.of, (value.name, value.array))


def _categories(value: Any, digests: Digesting) -> Iterator[bytes]:
    return map(digests.of, (value.codes, value.categories, value.ordered))


def _times(value: Any, digests: Digesting) -> Iterator[bytes]:
    return map(digests.of, (str(value.dtype), value.asi8))


def _column(value: Any, digests: Digesting) -> Iterator[bytes]:
    plain = value.dtype.kind in "biufc" and not value.isna().any()
    items = value.to_numpy() if plain else value.to_numpy(dtype=object).tolist()
    return map(digests.of, (str(value.dtype), items))


_LIBRARY_PARTS: dict[str, Parts] = {
    "numpy.MaskedArray": _masked,
    "numpy.ndarray": _array,
    "pandas.DataFrame": _frame,
    "pandas.Series": _series,
    "pandas.MultiIndex": _levels,
    "pandas.RangeIndex": _range,
    "pandas.Index": _index,
    "pandas.Categorical": _categories,
    "pandas.DatetimeArray": _times,
    "pandas.TimedeltaArray": _times,
    "pandas.PeriodArray": _times,
    "pandas.ExtensionArray": _column,
}
_ROOTS = {name.partition(".")[0] for name in _LIBRARY_PARTS}


SCALARS = (str, int, float, bool, bytes, complex, type(None))
SHORT = 1_000
"""A text is told as Python writes it up to so many characters, a list item by item."""


def content_digest(value: object) -> str:
    """Return the digest of a value, or "" where it cannot be taken."""
    # What reading a value raises is up to its own class.
    found, raised = attempt(_digest, value)
    return "" if raised or found is None else found


def _digest(value: object) -> str:
    try:
        return Digests().of(value).hex()[:LENGTH]
    except _HoldsItself:
        return Digests(by_place=True).of(value).hex()[:LENGTH]


class _HoldsItself(ValueError):
    """A value is a part of itself."""


@dataclass(frozen=True, slots=True)
class Digests:
    """The digests of the parts of one value, each taken once, however often it is shared.

    In a value that holds itself, what comes again is told by its place (`by_place`).
    """

    by_place: bool = False
    known: dict[int, tuple[Any, bytes]] = field(default_factory=dict)
    """By id, with the part itself, so that no other one gets its id meanwhile."""

    def of(self, value: Any) -> bytes:
        """Return the digest of a part. Raises what reading it raises."""
        if type(value) in SCALARS:
            return _scalar(value)
        found = self.known.get(id(value))
        if found is None:
            place = b"again %d" % len(self.known) if self.by_place else b""
            self.known[id(value)] = value, place
            whole = hashlib.sha256(f"{type(value).__module__}.{type(value).__qualname__}:".encode())
            for part in _parts(value, self):
                whole.update(part)
            made = whole.digest()
            if not self.by_place:
                self.known[id(value)] = value, made
            return made
        if not found[1]:
            raise _HoldsItself("a value that holds itself is told by places")
        return found[1]

    def unordered(self, parts: Iterable[tuple[Any, ...]]) -> list[bytes]:
        """Return the digests of parts that have no order, in one that they have everywhere."""
        if not self.by_place:
            return sorted(b"".join(map(self.of, part)) for part in parts)
        alone = Digests().of
        ordered = sorted(parts, key=lambda part: alone(part[0]))
        return [b"".join(map(self.of, part)) for part in ordered]


def _scalar(value: Any) -> bytes:
    if type(value) in (str, bytes) and len(value) > SHORT:
        data = value if type(value) is bytes else value.encode("utf-8", "surrogatepass")
        return hashlib.sha256(f"{type(value).__name__} ".encode() + data).digest()
    said = f"{type(value).__name__}:{value!r}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()


def _parts(value: Any, digests: Digests) -> Iterable[bytes]:
    if type(value) in (list, tuple) and len(value) > SHORT and {*map(type, value)} <= {*SCALARS}:
        return (_flat(value),)
    return _way(type(value))(value, digests)


def _way_of(cls: type) -> Parts:
    return of_library(cls) or of_python(cls)


_way: Callable[[type], Parts] = functools.lru_cache(4096)(_way_of)


def _flat(value: Any) -> bytes:
    """Many scalars at once: as they are pickled, each by itself."""
    into = _Sink()
    pickler = pickle.Pickler(into, 5)
    pickler.fast = True
    pickler.dump(value)
    return into.digest()


class _Sink:
    """A file of which nothing is kept but the digest."""

    def __init__(self) -> None:
        whole = hashlib.sha256()
        self.write: Callable[[Any], object] = whole.update
        self.digest = whole.digest
