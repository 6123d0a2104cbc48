"""The digest of a value's content, which is what pickle reads of it.

A digest is the hash of what pickle writes of a value's parts in a canonical form, without the memo:
so equal content has one digest, whatever is shared inside, in any process. It does not follow
installed classes, functions and modules: these are named.
"""

from __future__ import annotations

import copyreg
import dis
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
import types
from array import array
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from ..core.digests import LENGTH, LONG, hash_bytes
from ..core.interrupts import attempt
from ..core.recorded_data import JsonDict
from .table_classes import TABLE_PARTS, Parts, library_elsewhere


class Content(NamedTuple):
    """What a value holds."""

    digest: str
    """The same for equal content; "" where reading the value raises."""
    is_whole: bool
    """Whether all of it can be read. A part that cannot stands for its identity, in this process
    alone."""


SCALARS = (str, int, float, bool, bytes, complex, type(None))
_READING = Content("", False)
"""The content of a part that is being read."""
_SCALARS, _SETS = frozenset(SCALARS), frozenset({set, frozenset})
_CONTAINERS = frozenset({list, tuple, dict, bytearray})
_LARGEST = 1 << 24
"""Bytes of a value that is written as a whole."""
_STACK = 1 << 29
"""Bytes of the stack on which deeply nested values are read, and the calls that it holds."""
_DEEPEST = 100_000

T = TypeVar("T")


def content_of(value: object) -> Content:
    """Return the content of a value. Raises nothing of what the value's own code raises."""
    content, raised = attempt(_content, value)
    if raised == "RecursionError":
        content, raised = attempt(deeply, _content, value)
    return Content("", False) if raised or content is None else content


def content_digest(value: object) -> str:
    """Return the digest of a value's content, or "" if not all of it can be read."""
    content = content_of(value)
    return content.digest if content.is_whole else ""


def _content(value: object) -> Content:
    for form in ("whole", "parts", "numbers"):
        # Of a value that is too large, or holds itself.
        with suppress(ValueError):
            return _Digester.content(value, form, {})
    raise ValueError("it cannot be read")


def deeply(function: Callable[[Any], T], value: object) -> T:
    """Return what a function makes of a value that is nested too deeply for this thread."""
    # The size holds for threads that start later; the limit for all, which do not come near it.
    size, limit = threading.stack_size(_STACK), sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEEPEST))
    try:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(function, value).result()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)


# -- the digest -----------------------------------------------------------------------------


class _Sink:
    """A file that keeps nothing but the hash of what is written."""

    def __init__(self, largest: float) -> None:
        self.hash, self.left = hashlib.sha256(), largest

    def write(self, data: Any) -> None:
        self.left -= len(data)
        if self.left < 0:
            raise ValueError("it is too large to be written as a whole")
        # What is shorter pickle writes together with what stands beside it, in parts that another
        # version of Python may cut elsewhere.
        self.hash.update(data if len(data) < LONG else hash_bytes(data))


class _Digester(pickle.Pickler):
    """Writes the parts of a value to a hash, in one of three forms.

    - `whole`: all of it, at once. Of parts that are shared there may be no end.
    - `parts`: in place of each part its digest, computed once.
    - `numbers`: in a value that holds itself, a part that comes again is a number.
    """

    def __init__(self, value: object, form: str, contents: dict[int, tuple[Any, Content]]) -> None:
        self._sink = _Sink(_LARGEST if form == "whole" else float("inf"))
        super().__init__(self._sink, 5)
        self._is_numbered, self._is_parted = form == "numbers", form == "parts"
        self.fast = not self._is_numbered
        self.is_whole = True
        self._value, self._form, self._contents = value, form, contents
        self._parts: dict[int, tuple[Any, list[Any]]] = {}
        """By id, with the part itself, so that no other gets its id meanwhile. A part is the same
        list each time: so pickle notices that a value holds itself."""

    @classmethod
    def content(cls, value: Any, form: str, contents: dict[int, tuple[Any, Content]]) -> Content:
        """Return the content of a value. Raises ValueError where the form does not fit.

        `contents` has those of parts, by id; of one that is being read it has none.
        """
        if id(value) in contents:
            return contents[id(value)][1]
        digester = cls(value, form, contents)
        # A question for each item takes longer than writing it, and here the answer is clear.
        is_flat = type(value) in (list, tuple) and {*map(type, value)} <= _SCALARS
        pickler = pickle.Pickler(digester._sink, 5) if is_flat else digester
        pickler.fast = digester.fast
        contents[id(value)] = value, _READING
        pickler.dump(value)
        content = Content(digester._sink.hash.hexdigest()[:LENGTH], digester.is_whole)
        contents[id(value)] = value, content
        return content

    def persistent_id(self, value: Any) -> object:
        """Return what is written in place of a value; None for a scalar or a built-in container."""
        cls: Any = type(value)
        if cls in _SCALARS:
            # The memo would tell two equal texts from one.
            return _fresh(value) if self._is_numbered else None
        if self._is_parted and value is not self._value:
            return self._digest(value)
        if cls in _CONTAINERS:
            return None
        if cls in _SETS:
            return cls.__name__, sorted(map(self._digest, value))
        if id(value) not in self._parts:
            parts, raised = attempt(_parts, value)
            if raised == "RecursionError" and sys.getrecursionlimit() < _DEEPEST:
                # Its own code may need a deeper stack.
                raise RecursionError
            if raised or parts is None:
                self.is_whole, parts = False, [_class_name(cls), id(value)]
            self._parts[id(value)] = value, parts
        return self._parts[id(value)][1]

    def _digest(self, part: object) -> str:
        content = _Digester.content(part, self._form, self._contents)
        if content is _READING:
            raise ValueError("it holds itself")
        self.is_whole = self.is_whole and content.is_whole
        return content.digest


def _fresh(value: object) -> object:
    """Return what stands for a text, or for bytes, and is never the same object."""
    if type(value) is str:
        return value.encode("utf-8", "surrogatepass")
    return value.hex() if type(value) is bytes else None


def _parts(value: object) -> list[Any]:
    cls: Any = type(value)
    return [_class_name(cls), *_parts_of_class(cls)(value)]


@functools.lru_cache(4096)
def _class_name(cls: Any) -> str:
    if not cls.__module__.startswith("pandas.") and cls.__module__ != "pandas":
        return f"{cls.__module__}.{cls.__qualname__}"
    # pandas keeps texts in Arrow where pyarrow is installed, and a range as what it counts: the
    # same column, or index, has one digest.
    return f"pandas.{cls.__qualname__}".replace("ArrowStringArray", "StringArray").replace(
        "RangeIndex", "Index"
    )


@functools.lru_cache(4096)
def _parts_of_class(cls: type) -> Parts:
    """Return what reads the parts of the values of a class."""
    for base in cls.__mro__:
        root = base.__module__.partition(".")[0]
        if root in _LIBRARIES and (parts := LIBRARY_PARTS.get(f"{root}.{base.__name__}")):
            # A class of the notebook adds attributes, of which the library's pickle knows nothing.
            return (lambda value: (*parts(value), beside(value))) if _local_bases(cls) else parts
    if cls in _BUILT_IN:
        return _BUILT_IN[cls]
    if issubclass(cls, enum.Enum):
        return _member
    if hasattr(cls, "__content__"):
        return lambda value: (str(value.__content__()),)
    if issubclass(cls, type):
        return _class
    return _figure if hasattr(cls, "savefig") else _instance


def reduced(value: object) -> Any:
    """Return what pickle makes a value of: a function, its arguments, the state, and the items."""
    cls: Any = type(value)
    # Once Dask is imported, the table pickles all errors otherwise: with their tracebacks.
    is_error = issubclass(cls, BaseException)
    reduce = None if is_error else copyreg.dispatch_table.get(cls)
    return reduce(value) if reduce else value.__reduce_ex__(5)


NEW_OBJECT = copyreg.__newobj__  # type: ignore[attr-defined]
"""What pickle makes an instance with; typeshed leaves it out."""


def _instance(value: Any) -> Iterator[Any]:
    cls: Any = type(value)
    if issubclass(cls, (set, frozenset)):
        # Pickle would write its items in the order of their hashes.
        yield from (frozenset(iter(value)), attributes_of(value))
        return
    parts = reduced(value)
    if isinstance(parts, str):
        yield f"{getattr(value, '__module__', '')}.{parts}"
        return
    function, arguments, state, items, pairs, setter = (*parts, *(None,) * 6)[:6]
    # The class is named already.
    yield [part for part in (function, *arguments) if part is not cls and part is not NEW_OBJECT]
    yield _canonical_state(value, state)
    yield [setter, items and list(items), pairs and list(pairs)]
    if issubclass(cls, BaseException):
        yield beside(value)
    if _local_bases(cls):
        yield from (_constants(cls), _left_out(value, cls, state))
        if assigned := _assigned_properties(value, cls):
            yield assigned


def _canonical_state(value: object, state: object) -> Any:
    """Return the attributes in the order of their names, without what only spares a computation.

    Which fields of a pydantic model were set is no content either. Of another state than the
    attributes, such as the items of a mapping, the order counts.
    """
    if type(state) is tuple:
        return [_canonical_state(value, part) for part in state]
    if type(state) is not dict or not {*map(type, state)} <= {str}:
        return state
    if not state:
        return None
    cls: Any = type(value)
    names = _slots(cls) | getattr(value, "__dict__", {}).keys()
    if not state.keys() <= names:
        return state
    cached = _cached_properties(cls)
    named = ((n, state[n]) for n in sorted(state) if n not in cached)
    # The copy of a root model of pydantic has slots such as `__pydantic_extra__` without a value.
    held = ((n, part) for n, part in named if part is not None or n[:2] != "__")
    return {n: _canonical_state(value, part) if n == "__dict__" else part for n, part in held}


@functools.lru_cache(1024)
def _slots(cls: Any) -> frozenset[str]:
    members = (item for base in cls.__mro__ for item in vars(base).items())
    return frozenset(name for name, member in members if isinstance(member, _SLOTS))


@functools.lru_cache(1024)
def _cached_properties(cls: type) -> frozenset[str]:
    members = (member for base in cls.__mro__ for member in vars(base).items())
    names = (n for n, member in members if isinstance(member, functools.cached_property))
    return frozenset((*names, "__pydantic_fields_set__", "_attrs_cached_hash"))


def _assigned_properties(value: Any, cls: Any) -> JsonDict:
    """Return the cached properties of a value that hold something else than they would compute.

    Texts and numbers alone: what is larger was loaded or is expensive, and computing it again at
    each reading would be felt.
    """
    state: JsonDict = getattr(value, "__dict__", {})
    held = sorted(_cached_properties(cls) & state.keys())
    names = [name for name in held if type(state[name]) in _SCALARS]

    def computed(name: str) -> Any:
        # What it reads of other cached properties is not computed again.
        bare = object.__new__(cls)
        bare.__dict__.update({key: part for key, part in state.items() if key != name})
        return getattr(bare, name)

    return {n: state[n] for n in names if repr(attempt(computed, n)[0]) != repr(state[n])}


def attributes_of(value: object) -> JsonDict:
    """Return the attributes of an object, in slots too, without what cached properties hold."""
    state = object.__getstate__(value)
    parts = state if type(state) is tuple else (state,)
    attributes = {name: part[name] for part in parts if part for name in part}
    canonical: JsonDict | None = _canonical_state(value, attributes)
    return canonical or {}


_HOOKS = frozenset({"__reduce__", "__reduce_ex__", "__getstate__"})
_reading = threading.local()


@functools.lru_cache(4096)
def pickled_by(cls: Any) -> object:
    """Return the class, or the base of it, that says how its values are pickled."""
    return next(base for base in cls.__mro__ if not _HOOKS.isdisjoint(vars(base)))


def _left_out(value: object, cls: object, state: object) -> JsonDict:
    """Return the attributes that a class of its own accord does not pickle, as far as readable."""
    # What is left out, such as a parent, may lead back to the value: it is read once.
    if pickled_by(cls) is object or getattr(_reading, "left_out", False):
        return {}
    parts = [part for part in (state if type(state) is tuple else (state,)) if type(part) is dict]
    pickled = {name for part in parts for name in (*part, *(part.get("__dict__") or ()))}
    attributes = attempt(attributes_of, value)[0] or {}
    left = {n: part for n, part in attributes.items() if n not in pickled and n[:2] != "__"}
    _reading.left_out = True
    try:
        # Such as a lock, which is why the class leaves it out.
        return {name: content_digest(part) for name, part in left.items()}
    finally:
        _reading.left_out = False


def beside(value: object) -> JsonDict:
    """Return the attributes that a value has beside what an installed base of its class pickles."""
    cls: Any = type(value)
    attributes = dict[str, Any]()
    if bases := _local_bases(cls):
        # A class of pandas that lists its own metadata loses the name of a Series.
        names = {"_name"}.union(*(assigned_names(base) | _slots(base) for base in bases))
        every = (attempt(attributes_of, value)[0] or {}).items()
        attributes = {n: part for n, part in every if n[0] != "_" or n in names}
    chain = ("__cause__", "__context__", "__suppress_context__")
    if isinstance(value, BaseException):
        attributes.update((name, getattr(value, name)) for name in chain)
    return attributes


def _figure(value: Any) -> Iterator[object]:
    """A figure is its image, and what its parts hold: its pickle holds counters, and differs."""
    buffer = io.BytesIO()
    value.savefig(buffer, format="png", metadata={"Software": None})
    yield buffer.getvalue()
    for artist in getattr(value, "findobj", list)():
        yield str(artist.get_label())
        yield [attempt(getattr(artist, name, str))[0] for name in _OF_ARTISTS]


_OF_ARTISTS = [f"get_{name}" for name in ("gid", "url", "visible", "picker")]
_OF_ARTISTS += [f"get_{name}" for name in ("xydata", "array", "offsets", "text", "xy")]


def _member(value: Any) -> Iterator[object]:
    """A member of an enum is its name, and what its class gave it, which may change."""
    yield from (value._name_, value._value_)
    for name, part in sorted(vars(value).items()):
        if name not in ("_name_", "_value_", "__objclass__", "_sort_order_"):
            yield from (name, part)


def _artist(value: Any) -> Iterator[object]:
    """A part of a figure, such as its axes, is the figure and which part of it."""
    if value.figure is None:
        yield from _instance(value)
    else:
        # That of a figure in a figure is the outermost.
        figure = value.figure.figure
        yield figure, [part is value for part in figure.findobj()].index(True)


# -- functions and classes ------------------------------------------------------------------


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


def _function(function: Any) -> Iterable[object]:
    """A function is its code, its defaults and what it closes over; an installed one its name."""
    module, name = function.__module__ or "builtins", function.__qualname__
    if not is_local(module):
        named: Any = sys.modules.get(module)
        for part in name.split("."):
            named = getattr(named, part, None)
        if named is function:
            return (f"{module}.{name}",)
    state = function.__code__, function.__defaults__, function.__kwdefaults__
    return (name, *state, function.__closure__, function.__dict__)


def _built_in_function(function: Any) -> Iterable[object]:
    if isinstance(function.__self__, (types.ModuleType, type(None))):
        return (f"{function.__module__}.{function.__qualname__}",)
    return (function.__self__, function.__name__)


def _code(code: types.CodeType) -> Iterable[object]:
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    names = code.co_names, code.co_varnames, code.co_freevars
    # Of equal instructions the table says which of them a `try` holds.
    return (code.co_code, code.co_exceptiontable, counts, *names, code.co_consts)


def _cell(cell: types.CellType) -> Iterable[Any]:
    return [attempt(getattr, cell, "cell_contents")[0]] if cell != types.CellType() else ()


def _class(cls: Any) -> Iterable[object]:
    """A class is its attributes and its bases; one of an installed package its name."""
    name = _class_name(cls)
    return (name, cls.__bases__, _members(cls)) if is_local(cls.__module__) else (name,)


_NO_CONTENT = frozenset(
    {"__module__", "__dict__", "__weakref__", "__doc__", "__firstlineno__", "__static_attributes__"}
)
"""What each class has of its own accord."""
_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)
WRAPPERS = (
    *(classmethod, staticmethod, property, functools.cached_property),
    *(functools.partialmethod, functools.singledispatchmethod),
)
"""What holds a function as a member of a class."""
_CODE = frozenset({types.FunctionType, *WRAPPERS, *_SLOTS})


def _members(cls: type) -> JsonDict:
    """Return the attributes of a class that are its content."""
    members = (item for item in sorted(vars(cls).items()) if item[0] not in _NO_CONTENT)
    return {
        name: value
        for name, value in members
        if not (name.startswith(("_abc_", "__pydantic")) or isinstance(value, _SLOTS))
    }


def _constants(cls: type) -> JsonDict:
    """Return the constants that the values of a class of the notebook share.

    What a method assigns, and what can change, is the state of a program.
    """
    return {
        name: value
        for base in _local_bases(cls)
        for name, value in sorted(vars(base).items())
        if name[:2] != "__" and type(value) not in _CODE and is_frozen(value)
        if name not in assigned_names(base)
    }


@functools.lru_cache(4096)
def _local_bases(cls: type) -> tuple[type, ...]:
    """Return a class and its bases, without those of installed packages."""
    return tuple(base for base in cls.__mro__ if is_local(base.__module__))


@functools.lru_cache(1024)
def assigned_names(cls: type) -> frozenset[str]:
    """Return the attributes that the methods of a class assign."""
    functions = (part for member in vars(cls).values() for part in functions_in(member))
    codes = (getattr(function, "__code__", None) for function in functions)
    steps = (step for code in codes if code for step in dis.get_instructions(code))
    return frozenset(s.argval for s in steps if s.opname in ("STORE_ATTR", "DELETE_ATTR"))


def functions_in(member: object) -> Iterator[Any]:
    """Yield the functions behind a member of a class, such as a method or a property."""
    for name in ("__func__", "fget", "fset", "func"):
        inner = getattr(member, name, None) if isinstance(member, WRAPPERS) else None
        if callable(inner):
            yield inner
    if isinstance(member, types.FunctionType) or hasattr(member, "__wrapped__"):
        yield member


def _buffer(value: Any) -> Iterable[object]:
    view = memoryview(value)
    return view.format, [*(view.shape or ())], view.tobytes()


_BUILT_IN: dict[type, Parts] = {
    **dict.fromkeys((memoryview, array, pickle.PickleBuffer), _buffer),
    types.FunctionType: _function,
    types.BuiltinFunctionType: _built_in_function,
    types.CodeType: _code,
    types.CellType: _cell,
    types.MethodType: lambda value: (value.__self__, value.__func__),
    **dict.fromkeys(WRAPPERS, functions_in),
    functools.partialmethod: lambda value: (value.func, value.args, value.keywords),
    functools.singledispatchmethod: lambda value: (value.func, {**value.dispatcher.registry}),
    type(functools.lru_cache(id)): lambda value: (value.__wrapped__, value.cache_parameters()),
    types.ModuleType: lambda value: () if is_local(value.__name__) else (value.__name__,),
}


LIBRARY_PARTS: dict[str, Parts] = {
    **TABLE_PARTS,
    "matplotlib.Figure": _figure,
    "matplotlib.Artist": _artist,
    # Its `uuid` is drawn by lot.
    "pandas.StylerRenderer": lambda v: ({**attributes_of(v), "uuid": ""},),
}
"""The parts of the classes of libraries whose pickle tells how a value lies in memory."""
_LIBRARIES = {name.partition(".")[0] for name in LIBRARY_PARTS}


_DATA = frozenset(
    {"argparse", "array", "collections", "datetime", "decimal", "fractions", "ipaddress"}
    | {"operator", "pathlib", "re", "string", "uuid", "zoneinfo", *_LIBRARIES}
)
"""The packages whose values are data, but for generators of random numbers."""


def is_data(value: object) -> bool:
    """Return whether a value counts by its content where code has it as a constant."""
    cls = type(value)
    roots = {base.__module__.partition(".")[0] for base in cls.__mro__}
    is_of_library = not roots.isdisjoint(_DATA) and "random" not in cls.__module__
    return is_of_library or issubclass(cls, (range, slice, bytearray, *SCALARS)) or is_frozen(value)


def is_frozen(value: object) -> bool:
    """Return whether a value cannot change, so that it needs no copy.

    A class whose values never change has a method `__content__`, which returns their content.
    """
    cls = type(value)
    return cls in SCALARS or bool(attempt(_is_frozen, value, cls)[0])


def _is_frozen(value: Any, cls: Any) -> bool:
    # A column can be assigned to a DataFrame of Dask.
    is_query = library_elsewhere(value) in ("duckdb", "ibis")
    if is_query or hasattr(cls, "__content__"):
        return True
    if issubclass(cls, enum.Enum):
        return all(map(is_frozen, _member(value)))
    if cls in (tuple, frozenset):
        return all(map(is_frozen, value))
    if not getattr(getattr(cls, "__dataclass_params__", None), "frozen", False):
        return False
    # Besides its fields it may have items, slots of a base, and other attributes.
    _, arguments, _, items, pairs = (*object.__reduce_ex__(value, 5), None, None)[:5]
    is_bare = len(arguments) == 1 and not items and not pairs
    return is_bare and all(map(is_frozen, attributes_of(value).values()))
