"""The digest of a value's content: the same for equal content, in any process.

Data of built-in containers are digested as pickle writes them; of any other value the parts are
read in a fixed order. The order of a dict or a list is content, that of a set or of attributes is
not. What a `cached_property` holds is none: it only spares a computation.
"""

from __future__ import annotations

import copyreg
import enum
import functools
import hashlib
import io
import os
import pickle
import site
import sys
import sysconfig
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, TypeVar

from ..core.digests import LENGTH
from ..core.interrupts import attempt
from .code_names import CodeNames, names_in

SCALARS = (str, int, float, bool, bytes, complex, type(None))
SHORT = 1_000
"""A longer text is digested as bytes."""
_MOST_PLAIN = 1 << 28
"""Bytes of plain data that are digested as one; data that share their parts can be endless."""
_STACK = 1 << 29
"""Bytes of the stack on which deeply nested values are read, and the calls that it holds."""
_DEEPEST = 100_000

T = TypeVar("T")


def content_digest(value: object) -> str:
    """Return the digest of a value's content, or "" if it has none: it cannot be read."""
    # Reading a value calls methods of its class, which may raise anything.
    digest, raised = attempt(_digest, value)
    if raised == "RecursionError":
        digest, raised = attempt(deeply, _digest, value)
    return "" if raised or digest is None else digest


def _digest(value: object) -> str:
    try:
        return Digests().of(value).hex()[:LENGTH]
    except _TooLarge:
        return Digests(plain=False).of(value).hex()[:LENGTH]
    except _HoldsItself:
        return Digests(numbered=True).of(value).hex()[:LENGTH]


def identity_digest(value: object) -> str:
    """Return a digest of a value that holds within this process; "" where nothing helps.

    A part that has no digest, such as a lock, stands for its identity.
    """
    whole, raised = attempt(Digests(numbered=True, by_identity=True).of, value)
    return "" if raised or whole is None else whole.hex()[:LENGTH]


def deeply(function: Callable[[Any], T], value: Any) -> T:
    """Return what a function makes of a value that is nested too deeply for this thread."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function(value))
        except BaseException as error:
            errors.append(error)

    # The size holds for threads that start later; the limit for all, which do not come near it.
    size, limit = threading.stack_size(_STACK), sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEEPEST))
    try:
        thread = threading.Thread(target=run, name="nested value", daemon=True)
        thread.start()
        threading.stack_size(size)
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if errors:
        raise errors[0]
    return results[0]


class _HoldsItself(ValueError):
    """A value is a part of itself."""


class _TooLarge(ValueError):
    """Plain data are larger than what is digested as one."""


@dataclass(frozen=True, slots=True)
class Digests:
    """The digests of the parts of one value, each computed once.

    In a value that holds itself, a part that comes again stands for its number (`numbered`).
    """

    numbered: bool = False
    plain: bool = True
    """Whether plain data are digested as one; in a value that holds itself they never are."""
    known: dict[int, tuple[Any, bytes]] = field(default_factory=dict)
    """By id, with the part itself, so that no other part gets its id meanwhile."""
    by_identity: bool = False
    """Whether a part that cannot be read stands for its identity; else it raises."""

    def of(self, value: Any) -> bytes:
        """Return the digest of a part. Raises what reading it raises."""
        cls: Any = type(value)
        if cls in SCALARS:
            return _scalar(value)
        if id(value) not in self.known:
            is_tried = self.plain and not self.numbered and cls in (list, dict, tuple)
            if is_tried and (data := _plain_digest(value)):
                self.known[id(value)] = value, data
                return data
            number = b"again %d" % len(self.known) if self.numbered else b""
            self.known[id(value)] = value, number
            whole = hashlib.sha256(_class_name(cls))
            try:
                for part in parts_of_class(cls)(value, self):
                    whole.update(part)
            except Exception:
                if not self.by_identity:
                    raise
                whole.update(b"%d" % id(value))
            if not self.numbered:
                self.known[id(value)] = value, whole.digest()
            return whole.digest()
        digest = self.known[id(value)][1]
        if not digest:
            raise _HoldsItself("a value that holds itself is digested by numbers")
        return digest

    def unordered(self, parts: Iterable[Any]) -> list[bytes]:
        """Return the digests of parts without an order, in an order that is always the same."""
        if not self.numbered:
            return sorted(map(self.of, parts))
        return [self.of(part) for part in sorted(parts, key=Digests().of)]

    def attributes(self, state: dict[str, Any]) -> Iterator[bytes]:
        """Yield the digests of attributes, by their names: their order is no content."""
        for name in sorted(state):
            yield name.encode("utf-8", "surrogatepass")
            yield self.of(state[name])


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


# -- data of built-in containers ------------------------------------------------------------


class _Sink:
    """A file that keeps nothing but the digest of what is written."""

    def __init__(self) -> None:
        self.whole, self.size = hashlib.sha256(), 0

    def write(self, data: Any) -> None:
        self.size += len(data)
        if self.size > _MOST_PLAIN:
            raise _TooLarge(f"more than {_MOST_PLAIN:,} bytes of plain data")
        self.whole.update(data)


class _OtherValue(Exception):
    """A value is neither a scalar nor a list, dict or tuple of plain data."""


class _PlainPickler(pickle.Pickler):
    """Writes plain data; raises _OtherValue at any other value."""

    def reducer_override(self, value: Any) -> Any:
        raise _OtherValue

    def persistent_id(self, value: Any) -> None:
        # Pickle writes these itself, but in the order of the hashes.
        if type(value) is set or type(value) is frozenset:
            raise _OtherValue


def _plain_digest(value: Any) -> bytes:
    """Return the digest of plain data, b"" of others. Raises _TooLarge.

    Without a memo, equal data are written alike, whether or not they share their parts.
    """
    sink = _Sink()
    # A question for each item takes longer than writing it; here the answer is known.
    is_flat = type(value) is not dict and {*map(type, value)} <= {*SCALARS}
    pickler = pickle.Pickler(sink, 5) if is_flat else _PlainPickler(sink, 5)
    pickler.fast = True
    try:
        pickler.dump(value)
    # Data that hold themselves, or are nested too deeply, are read part by part.
    except (_OtherValue, ValueError, RecursionError) as error:
        if isinstance(error, _TooLarge):
            raise
        return b""
    return sink.whole.digest()


# -- the parts of other values ---------------------------------------------------------------

Parts = Callable[[Any, Digests], Iterable[bytes]]
"""From a value to the digests of its parts, in an order that is always the same.

Raises TypeError, ValueError and what pickling raises for a value without such parts.
"""


@functools.lru_cache(4096)
def parts_of_class(cls: type) -> Parts:
    """Return what reads the parts of the values of a class."""
    for base in cls.__mro__:
        root = base.__module__.partition(".")[0]
        if root in _LIBRARIES and (parts := LIBRARY_PARTS.get(f"{root}.{base.__name__}")):
            return parts
    if cls in _KNOWN:
        return _KNOWN[cls]
    if issubclass(cls, enum.Enum):
        return lambda value, digests: map(digests.of, (value._name_, value._value_))
    if hasattr(cls, "__content__"):
        return lambda value, digests: (str(value.__content__()).encode(),)
    if issubclass(cls, type):
        return _class
    if hasattr(cls, "__pydantic_fields_set__"):
        return _model
    return _figure if hasattr(cls, "savefig") else _reduced


def is_local(module: str) -> bool:
    """Return whether a module is the notebook itself, or a file that is not installed."""
    root = module.partition(".")[0]
    if root in ("__main__", _OURS) or root in sys.stdlib_module_names:
        return root == "__main__"
    file = getattr(sys.modules.get(module), "__file__", None)
    return isinstance(file, str) and not _is_installed(file)


_OURS = __name__.partition(".")[0]


@functools.lru_cache(1_024)
def _is_installed(file: str) -> bool:
    paths = [*sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages()]
    folders = (os.path.join(os.path.realpath(path), "") for path in paths if "lib" in path.lower())
    return os.path.realpath(file).startswith(tuple(folders))


def _buffer(value: Any, digests: Digests) -> Iterator[bytes]:
    view = memoryview(value)
    yield digests.of([view.format, list(view.shape or ())])
    yield hashlib.sha256(view if view.c_contiguous else view.tobytes()).digest()


def _function(function: Any, digests: Digests) -> Iterable[bytes]:
    """A function is its code, its defaults and what it closes over; an installed one its name."""
    module, name = function.__module__ or "builtins", function.__qualname__
    if not is_local(module):
        named: Any = sys.modules.get(module)
        for part in name.split("."):
            named = getattr(named, part, None)
        if named is function:
            return (f"{module}.{name}".encode(),)
    state = function.__code__, function.__defaults__, function.__kwdefaults__
    return map(digests.of, (name, *state, function.__closure__, function.__dict__))


def _built_in(function: Any, digests: Digests) -> Iterable[bytes]:
    if isinstance(function.__self__, (ModuleType, type(None))):
        return (f"{function.__module__}.{function.__qualname__}".encode(),)
    return map(digests.of, (function.__self__, function.__name__))


def _code(code: CodeType, digests: Digests) -> Iterable[bytes]:
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    names = code.co_names, code.co_varnames, code.co_freevars
    # Of equal instructions the table says which of them a `try` holds.
    parts = code.co_code, code.co_exceptiontable, counts, *names, code.co_consts
    return map(digests.of, parts)


def _cell(cell: CellType, digests: Digests) -> Iterable[bytes]:
    try:
        contents = cell.cell_contents
    except ValueError:
        return (b"empty",)
    return (digests.of(contents),)


def _class(cls: Any, digests: Digests) -> Iterator[bytes]:
    """A class is its attributes and its bases; one of an installed package its name."""
    yield _class_name(cls)
    if is_local(cls.__module__):
        yield from map(digests.of, cls.__bases__)
        yield from digests.attributes(_members(cls))


_NO_CONTENT = frozenset(
    {"__module__", "__dict__", "__weakref__", "__doc__", "__firstlineno__", "__static_attributes__"}
)
"""What each class has of its own accord."""
WRAPPERS = (
    *(classmethod, staticmethod, property, functools.cached_property),
    *(functools.partialmethod, functools.singledispatchmethod),
)
"""What holds a function as a member of a class."""
_SLOTS = (MemberDescriptorType, GetSetDescriptorType)


def _members(cls: type, data: bool = False) -> dict[str, Any]:
    """Return the attributes of a class that are its content; with `data` without its methods."""
    members = dict[str, Any]()
    for name, value in vars(cls).items():
        kind = type(value)
        if name in _NO_CONTENT or name.startswith(("_abc_", "__pydantic")) or kind in _SLOTS:
            continue
        if data and (name[:2] == "__" or callable(value) or hasattr(kind, "__get__")):
            continue
        members[name] = [*functions_in(value)] if issubclass(kind, WRAPPERS) else value
    return members


def _class_data(cls: type) -> Iterator[bytes]:
    """Yield the digests of the constants that the values of a class of the notebook share.

    Its methods are the code of tools, and what these change is the state of a program.
    """
    for base in _local_bases(cls):
        for name, value in sorted(_members(base, data=True).items()):
            if name not in _changed_names(base) and (read := attempt(Digests().of, value)[0]):
                yield name.encode()
                yield read


@functools.lru_cache(1024)
def _changed_names(cls: type) -> frozenset[str]:
    """Return the attributes that a method of a class assigns, or whose items it may change."""
    names = (names for _, names in names_in_methods(cls))
    return frozenset[str]().union(*(changed.assigned | changed.filled for changed in names))


def names_in_methods(cls: type) -> Iterator[tuple[str, CodeNames]]:
    """Yield the name of each method and property of a class, and the names that its code uses."""
    for name, member in vars(cls).items():
        if issubclass(type(member), (FunctionType, *WRAPPERS)):
            for function in functions_in(member):
                if isinstance(function, FunctionType):
                    yield name, names_in(function.__code__)


def functions_in(member: Any) -> Iterator[Any]:
    """Yield the functions behind a member of a class, such as a method or a property."""
    for name in ("__func__", "fget", "fset", "func"):
        inner = getattr(member, name, None)
        if callable(inner):
            yield inner
    if isinstance(member, FunctionType) or hasattr(member, "__wrapped__"):
        yield member


@functools.lru_cache(4096)
def _local_bases(cls: type) -> tuple[type, ...]:
    """Return a class and its bases, without those of installed packages."""
    return tuple(base for base in cls.__mro__ if is_local(base.__module__))


def _model(value: Any, digests: Digests) -> Iterator[bytes]:
    """A pydantic model is digested by its fields; which of them were set is no content."""
    state = value.__getstate__()
    yield from digests.attributes(stored(type(value), state["__dict__"]))
    yield digests.of([state["__pydantic_extra__"], state["__pydantic_private__"]])
    yield from _class_data(type(value))


def stored(cls: type, state: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes without the values of cached properties."""
    cached = _cached_properties(cls)
    return {key: value for key, value in state.items() if key not in cached} if cached else state


@functools.lru_cache(1024)
def _cached_properties(cls: type) -> frozenset[str]:
    members = (member for base in cls.__mro__ for member in vars(base).items())
    return frozenset(n for n, value in members if isinstance(value, functools.cached_property))


def _figure(value: Any, digests: Digests) -> Iterator[bytes]:
    """A figure is digested by its image: its pickle holds counters, and differs each time."""
    buffer = io.BytesIO()
    value.savefig(buffer, format="png", metadata={"Software": None})
    yield buffer.getvalue()
    artists: list[Any] = getattr(value, "findobj", list)()
    yield digests.of([(a.get_gid(), a.get_url(), str(a.get_label())) for a in artists])


NEW_OBJECT = copyreg.__newobj__  # type: ignore[attr-defined]
"""What pickle makes an instance with; typeshed leaves it out."""


def _reduced(value: Any, digests: Digests) -> Iterator[bytes]:
    """Any other value is what pickle would write of it: how it is made, its state, its items."""
    cls: Any = type(value)
    if cls in copyreg.dispatch_table:
        reduced = copyreg.dispatch_table[cls](value)
    else:
        reduced = value.__reduce_ex__(5)
    if isinstance(reduced, str):
        yield f"{getattr(value, '__module__', '')}.{reduced}".encode()
        return
    function, arguments, state, items, pairs, setter = (*reduced, *(None,) * 6)[:6]
    # That is how an instance of most classes is made, whose name is in the digest.
    made = arguments if function is NEW_OBJECT else (function, *arguments)
    yield from (digests.of(part) for part in made if part is not cls)
    for part in state if type(state) is tuple else (state,):
        if type(part) is dict and all(type(name) is str for name in part):
            yield from digests.attributes(stored(cls, part))
        else:
            yield digests.of(part)
    for part in (setter, items and list(items), pairs and list(pairs)):
        yield b"-" if part is None else digests.of(part)
    yield from _class_data(cls)
    if _local_bases(cls):
        yield from _left_out(value, cls)


def _left_out(value: Any, cls: Any) -> Iterator[bytes]:
    """Yield the digests of attributes that the class of a value does not pickle."""
    own = ("__reduce__", "__reduce_ex__", "__getstate__")
    if all(getattr(cls, name) is getattr(object, name) for name in own):
        return
    state = getattr(value, "__dict__", {})
    for name, attribute in sorted(stored(cls, state).items()):
        yield name.encode()
        # Such as a lock, which is why the class leaves it out.
        yield attempt(Digests().of, attribute)[0] or b""


_KNOWN: dict[type, Parts] = {
    **dict.fromkeys((list, tuple), lambda value, digests: map(digests.of, value)),
    **dict.fromkeys((set, frozenset), lambda value, digests: digests.unordered(value)),
    **dict.fromkeys((bytearray, memoryview, array, pickle.PickleBuffer), _buffer),
    dict: lambda value, digests: (digests.of(part) for pair in value.items() for part in pair),
    FunctionType: _function,
    BuiltinFunctionType: _built_in,
    CodeType: _code,
    CellType: _cell,
    MethodType: lambda value, digests: map(digests.of, (value.__self__, value.__func__)),
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
    yield from (value.columns, value.index, dict(value.attrs), more, _flags(value))
    yield from (value.iloc[:, n].array for n in range(value.shape[1]))


def _flags(value: Any) -> bool:
    return bool(value.flags.allows_duplicate_labels)


def _column(value: Any) -> tuple[Any, ...]:
    plain = value.dtype.kind in "biufc" and not value.isna().any()
    return str(value.dtype), value.to_numpy() if plain else value.to_numpy(dtype=object).tolist()


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


def _source(backend: Any) -> tuple[str]:
    """Return which database a backend of Ibis reads. Raises TypeError for one in memory."""
    source = str(backend.db_identity)
    if source == str(type(backend)) or ":memory:" in source:
        raise TypeError("a database in memory has no name")
    return (source,)


def _digests_of_parts(parts: Callable[[Any], Iterable[Any]]) -> Parts:
    return lambda value, digests: map(digests.of, parts(value))


LIBRARY_PARTS: dict[str, Parts] = {
    "ibis.BaseBackend": _digests_of_parts(_source),
    "numpy.MaskedArray": _digests_of_parts(lambda v: (v.data, v.mask, v.fill_value)),
    "numpy.ndarray": _array,
    "pandas.DataFrame": _digests_of_parts(_frame),
    "pandas.Series": _digests_of_parts(
        lambda v: (v.name, v.index, v.array, dict(v.attrs), _flags(v))
    ),
    "pandas.MultiIndex": _digests_of_parts(
        lambda v: (list(v.names), *(v.get_level_values(n).array for n in range(v.nlevels)))
    ),
    "pandas.RangeIndex": _digests_of_parts(lambda v: (v.name, v.start, v.stop, v.step)),
    "pandas.Index": _digests_of_parts(lambda v: (v.name, v.array, str(getattr(v, "freq", None)))),
    "pandas.Categorical": _digests_of_parts(lambda v: (v.codes, v.categories, v.ordered)),
    "pandas.DatetimeArray": _digests_of_parts(_times),
    "pandas.TimedeltaArray": _digests_of_parts(_times),
    "pandas.PeriodArray": _digests_of_parts(_times),
    "pandas.BaseStringArray": _digests_of_parts(_texts),
    "pandas.NumpyExtensionArray": _digests_of_parts(_numbers),
    "pandas.ExtensionArray": _digests_of_parts(_column),
}
_LIBRARIES = {name.partition(".")[0] for name in LIBRARY_PARTS}
