"""The digest of a value's content: the parts of a value of any class, in a fixed order."""

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
from typing import Any

from ..core.digests import LENGTH
from ..core.interrupts import attempt

_HEAP_TYPE = 1 << 9
"""The flag of a class that a `class` statement made."""


SCALARS = (str, int, float, bool, bytes, complex, type(None))
SHORT = 1_000
"""A longer text is digested as bytes, and a longer list of scalars at once."""


def content_digest(value: object) -> str:
    """Return the digest of a value's content, or "" if it has none: it cannot be read.

    The digest is the same in every process, and the same for equal content of one class.
    """
    # Reading a value calls methods of its class, which may raise anything.
    digest, raised = attempt(_digest, value)
    return "" if raised or digest is None else digest


def _digest(value: object) -> str:
    try:
        return Digests().of(value).hex()[:LENGTH]
    except _HoldsItself:
        return Digests(numbered=True).of(value).hex()[:LENGTH]


def identity_digest(value: object) -> tuple[str, bool]:
    """Return a digest of a value that holds within this process, and whether all of it is read.

    A part that has no digest, such as a lock, stands for its identity. "" where nothing helps.
    """
    digests = Digests(numbered=True, opaque=[])
    whole, raised = attempt(digests.of, value)
    return ("", False) if raised or whole is None else (whole.hex()[:LENGTH], not digests.opaque)


class _HoldsItself(ValueError):
    """A value is a part of itself."""


@dataclass(frozen=True, slots=True)
class Digests:
    """The digests of the parts of one value, each computed once.

    In a value that holds itself, a part that comes again stands for its number (`numbered`).
    """

    numbered: bool = False
    known: dict[int, tuple[Any, bytes]] = field(default_factory=dict)
    """By id, with the part itself, so that no other part gets its id meanwhile."""
    opaque: list[Any] | None = None
    """The parts that cannot be read, where these stand for their identity; None: they raise."""

    def of(self, value: Any) -> bytes:
        """Return the digest of a part. Raises what reading it raises."""
        if type(value) in SCALARS:
            return _scalar(value)
        if id(value) not in self.known:
            number = b"again %d" % len(self.known) if self.numbered else b""
            self.known[id(value)] = value, number
            cls: Any = type(value)
            whole = hashlib.sha256(_class_name(cls))
            try:
                for part in _parts(value, self):
                    whole.update(part)
            except Exception:
                if self.opaque is None:
                    raise
                # A function may not be found under its name, but does not change.
                self.opaque.extend([] if cls is FunctionType else [value])
                whole.update(b"%d" % id(value))
            if not self.numbered:
                self.known[id(value)] = value, whole.digest()
            return whole.digest()
        digest = self.known[id(value)][1]
        if not digest:
            raise _HoldsItself("a value that holds itself is digested by numbers")
        return digest

    def unordered(self, parts: Iterable[tuple[Any, ...]]) -> list[bytes]:
        """Return the digests of parts without an order, in an order that is always the same."""
        if not self.numbered:
            return sorted(b"".join(map(self.of, part)) for part in parts)
        alone = Digests().of
        ordered = sorted(parts, key=lambda part: alone(part[0]))
        return [b"".join(map(self.of, part)) for part in ordered]


@functools.lru_cache(4096)
def _class_name(cls: Any) -> bytes:
    # pandas keeps texts in Arrow where pyarrow is installed: the same column has one digest.
    name = f"{cls.__module__}.{cls.__qualname__}".replace(".ArrowStringArray", ".StringArray")
    return f"{name}:".encode()


def _scalar(value: Any) -> bytes:
    if type(value) in (str, bytes) and len(value) > SHORT:
        data = value if type(value) is bytes else value.encode("utf-8", "surrogatepass")
        whole = hashlib.sha256(f"{type(value).__name__} ".encode())
        whole.update(data)
        return whole.digest()
    text = f"{type(value).__name__}:{value!r}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _parts(value: Any, digests: Digests) -> Iterable[bytes]:
    if type(value) in (list, tuple) and len(value) > SHORT and {*map(type, value)} <= {*SCALARS}:
        return (_pickle_digest(value),)
    cls: Any = type(value)
    return parts_of_class(cls)(value, digests)


def _pickle_digest(value: Any) -> bytes:
    """Return the digest of many scalars; pickling them is faster than a digest of each."""
    sink = _Sink()
    pickler = pickle.Pickler(sink, 5)
    pickler.fast = True
    pickler.dump(value)
    return sink.digest()


class _Sink:
    """A file that keeps nothing but the digest of what is written."""

    def __init__(self) -> None:
        whole = hashlib.sha256()
        self.write: Callable[[Any], object] = whole.update
        self.digest = whole.digest


# -- the parts of Python's own values ------------------------------------------------------

Parts = Callable[[Any, Digests], Iterable[bytes]]
"""From a value to the digests of its parts, in an order that is always the same.

Raises TypeError, ValueError and what pickling raises for a value without such parts.
"""


@functools.lru_cache(4096)
def parts_of_class(cls: type) -> Parts:
    """Return what reads the parts of the values of a class."""
    for base in cls.__mro__:
        root = base.__module__.partition(".")[0]
        if root in _LIBRARIES and (parts := _LIBRARY_PARTS.get(f"{root}.{base.__name__}")):
            return parts
    if cls in _KNOWN:
        return _KNOWN[cls]
    if issubclass(cls, enum.Enum):
        return lambda value, digests: (value.name.encode(),)
    if hasattr(cls, "__content__"):
        return lambda value, digests: (str(value.__content__()).encode(),)
    if issubclass(cls, type):
        return lambda value, digests: (f"{value.__module__}.{value.__qualname__}".encode(),)
    if hasattr(cls, "__pydantic_fields_set__"):
        return _model
    if dataclasses.is_dataclass(cls):
        return _dataclass
    if _has_attributes_only(cls) and cls not in copyreg.dispatch_table:
        return _attributes
    return _figure if hasattr(cls, "savefig") else _reduced


def _buffer(value: Any, digests: Digests) -> Iterator[bytes]:
    view = memoryview(value)
    yield digests.of([view.format, list(view.shape or ())])
    yield hashlib.sha256(view if view.c_contiguous else view.tobytes()).digest()


def _function(function: Any, digests: Digests) -> Iterable[bytes]:
    """A function is digested by its name, if that leads to it; a bound method by its value."""
    if not isinstance(getattr(function, "__self__", None), (ModuleType, type(None))):
        return _reduced(function, digests)
    module, name = function.__module__ or "builtins", function.__qualname__
    named: Any = sys.modules.get(module)
    for part in name.split("."):
        named = getattr(named, part, None)
    if named is not function:
        raise ValueError(f"{module}.{name} is another function")
    return (f"{module}.{name}".encode(),)


def _model(value: Any, digests: Digests) -> Iterator[bytes]:
    """A pydantic model is digested by its fields; which of them were set is no content."""
    state = value.__getstate__()
    yield digests.of(_stored(type(value), state["__dict__"]))
    yield digests.of([state["__pydantic_extra__"], state["__pydantic_private__"]])


def _dataclass(value: Any, digests: Digests) -> Iterator[bytes]:
    names = [field.name for field in dataclasses.fields(value)]
    for name in names:
        yield digests.of(getattr(value, name))
    more = {k: v for k, v in getattr(value, "__dict__", {}).items() if k not in names}
    if stored := _stored(type(value), more):
        yield digests.of(stored)


def _has_attributes_only(cls: type) -> bool:
    """Return whether a class is written in Python and has no pickling methods of its own."""
    methods = ("__reduce__", "__reduce_ex__", "__getstate__")
    return cls.__flags__ & _HEAP_TYPE != 0 and all(
        getattr(cls, name) is getattr(object, name) for name in methods
    )


def _attributes(value: Any, digests: Digests) -> Iterator[bytes]:
    """An instance of a subclass of list, str or int has its items or its value besides."""
    _, (_, *base), state, *more = value.__reduce_ex__(2)
    items, pairs = (*more, None, None)[:2]
    yield digests.of(_stored(type(value), state) if isinstance(state, dict) else state)
    if base or items is not None or pairs is not None:
        yield digests.of([base, list(items or ()), dict(pairs or ())])


def _stored(cls: type, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes without the values of cached properties."""
    cached = _cached_properties(cls)
    return {key: value for key, value in state.items() if key not in cached}


@functools.lru_cache(1024)
def _cached_properties(cls: type) -> frozenset[str]:
    members = (member for base in cls.__mro__ for member in vars(base).items())
    return frozenset(n for n, value in members if isinstance(value, functools.cached_property))


def _figure(value: Any, digests: Digests) -> Iterable[bytes]:
    """A figure is digested by its image: its pickle holds counters, and differs each time."""
    buffer = io.BytesIO()
    value.savefig(buffer, format="png", metadata={"Software": None})
    return (buffer.getvalue(),)


def _reduced(value: Any, digests: Digests) -> Iterator[bytes]:
    """Any other value is digested by what pickle would write."""
    reduce = copyreg.dispatch_table.get(type(value))
    reduced: Any = value.__reduce_ex__(5) if reduce is None else reduce(value)
    if isinstance(reduced, str):
        yield f"{getattr(value, '__module__', '')}.{reduced}".encode()
        return
    function, arguments, state, items, pairs, setter = (*reduced, *(None,) * 6)[:6]
    for part in (function, arguments, state, setter, list(items or ())):
        yield digests.of(part)
    pairs = list(pairs or ())
    yield digests.of(pairs if isinstance(value, OrderedDict) else dict(pairs))


_KNOWN: Mapping[type, Parts] = {
    **dict.fromkeys((list, tuple), lambda value, digests: map(digests.of, value)),
    **dict.fromkeys(
        (set, frozenset), lambda value, digests: digests.unordered((each,) for each in value)
    ),
    **dict.fromkeys((bytearray, memoryview, array, pickle.PickleBuffer), _buffer),
    **dict.fromkeys((FunctionType, BuiltinFunctionType), _function),
    dict: lambda value, digests: digests.unordered(value.items()),
}


# -- arrays and tables of libraries ---------------------------------------------------------


def _array(value: Any, digests: Digests) -> Iterator[bytes]:
    yield digests.of([value.dtype.str, repr(value.dtype), list(value.shape)])
    # The attributes that a subclass adds, such as a unit.
    yield digests.of(getattr(value, "__dict__", None) or {})
    try:
        yield hashlib.sha256(memoryview(value.ravel().view("u1"))).digest()
    # Its items are objects, or texts of any length.
    except (TypeError, ValueError):
        yield digests.of(value.tolist())


def _frame(value: Any) -> Iterator[Any]:
    more = {name: getattr(value, name, None) for name in value._metadata}
    yield from (value.columns, value.index, dict(value.attrs), more)
    yield from (value.iloc[:, n].array for n in range(value.shape[1]))


def _column(value: Any) -> tuple[Any, ...]:
    plain = value.dtype.kind in "biufc" and not value.isna().any()
    items = value.to_numpy() if plain else value.to_numpy(dtype=object).tolist()
    return str(value.dtype), items


def _numbers(value: Any) -> tuple[Any, ...]:
    """A column of numpy's own types: NaN is a number like others there."""
    items = value.to_numpy()
    return str(value.dtype), items if items.dtype.kind in "biufc" else items.tolist()


def _texts(value: Any) -> tuple[Any, ...]:
    """A column of texts: which are missing, how long the others are, and all of them in a row.

    These are the same from Arrow, which has them at hand, as from Python's texts.
    """
    missing = value.isna()
    numpy, known = sys.modules["numpy"], value[~missing] if missing.any() else value
    if type(value).__name__ == "ArrowStringArray":
        present = known.__arrow_array__().combine_chunks()
        _, offsets, data = present.buffers()
        width = "<i8" if "large" in str(present.type) else "<i4"
        ends = numpy.frombuffer(offsets, width)[present.offset :][: len(present) + 1]
        lengths = numpy.diff(ends).astype("<i8")
        joined = memoryview(data or b"")[ends[0] : ends[-1]] if len(lengths) else memoryview(b"")
    else:
        items = [text.encode("utf-8", "surrogatepass") for text in known.to_numpy(object)]
        lengths = numpy.fromiter(map(len, items), "<i8", len(items))
        joined = memoryview(b"".join(items))
    return str(value.dtype), missing, lengths, hashlib.sha256(joined).hexdigest()


def _times(value: Any) -> tuple[Any, ...]:
    return str(value.dtype), value.asi8


def _digests_of_parts(parts: Callable[[Any], Iterable[Any]]) -> Parts:
    return lambda value, digests: map(digests.of, parts(value))


_LIBRARY_PARTS: dict[str, Parts] = {
    "numpy.MaskedArray": _digests_of_parts(
        lambda v: (v.dtype.str, v.filled(v.fill_value).tolist(), v.mask.tolist())
    ),
    "numpy.ndarray": _array,
    "pandas.DataFrame": _digests_of_parts(_frame),
    "pandas.Series": _digests_of_parts(lambda v: (v.name, v.index, v.array, dict(v.attrs))),
    "pandas.MultiIndex": _digests_of_parts(
        lambda v: (list(v.names), *(v.get_level_values(n).array for n in range(v.nlevels)))
    ),
    "pandas.RangeIndex": _digests_of_parts(lambda v: (v.name, v.start, v.stop, v.step)),
    "pandas.Index": _digests_of_parts(lambda v: (v.name, v.array)),
    "pandas.Categorical": _digests_of_parts(lambda v: (v.codes, v.categories, v.ordered)),
    "pandas.DatetimeArray": _digests_of_parts(_times),
    "pandas.TimedeltaArray": _digests_of_parts(_times),
    "pandas.PeriodArray": _digests_of_parts(_times),
    "pandas.BaseStringArray": _digests_of_parts(_texts),
    "pandas.NumpyExtensionArray": _digests_of_parts(_numbers),
    "pandas.ExtensionArray": _digests_of_parts(_column),
}
_LIBRARIES = {name.partition(".")[0] for name in _LIBRARY_PARTS}
