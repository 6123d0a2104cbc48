"""What compiled code says: its bytes, the names that it speaks of, and those that it binds."""

from __future__ import annotations

import dataclasses
import dis
import enum
import functools
import inspect
import os
import re
import site
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, TypeGuard, TypeVar

from ..core.digests import digest_text
from ..core.interrupts import attempt
from .value_copies import is_frozen
from .value_digests import content_digest

PLAIN = (str, int, float, bool, bytes, type(None))


@functools.lru_cache(4_096)
def code_texts(code: CodeType) -> tuple[str, ...]:
    """Return what compiled code is, without its place in a file."""
    texts = [code.co_code.hex(), repr((code.co_names, code.co_varnames))]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            texts += code_texts(constant)
        elif isinstance(constant, frozenset):
            texts.append(repr(sorted(map(repr, constant))))
        else:
            texts.append(repr(constant))
    return tuple(texts)


@functools.lru_cache(4_096)
def names_in(code: CodeType) -> tuple[str, ...]:
    """Return the names of what is outside of a function, as its code speaks of it."""
    return _told(code, ("LOAD_GLOBAL", "LOAD_NAME"))


@functools.lru_cache(4_096)
def attributes_in(code: CodeType) -> tuple[str, ...]:
    """Return the names that code has behind a dot."""
    return _told(code, ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM"))


@functools.lru_cache(4_096)
def imported_by(code: CodeType) -> tuple[str, ...]:
    """Return the modules that code imports where it runs."""
    return _told(code, ("IMPORT_NAME",))


@functools.lru_cache(4_096)
def rebound_by(code: CodeType) -> frozenset[str]:
    """Return the names outside of a function that it binds anew."""
    ways = ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF")
    own = {each.argval for each in dis.get_instructions(code) if each.opname in ways}
    inner = (rebound_by(each) for each in code.co_consts if isinstance(each, CodeType))
    return frozenset(own.union(*inner) - {*code.co_cellvars})


def _told(code: CodeType, ways: tuple[str, ...]) -> tuple[str, ...]:
    own = [each.argval for each in dis.get_instructions(code) if each.opname in ways]
    inner = [_told(each, ways) for each in code.co_consts if isinstance(each, CodeType)]
    return tuple(dict.fromkeys([*own, *(name for names in inner for name in names)]))


def is_plain(value: Any) -> bool:
    """Return whether a value is a constant that its `repr` tells."""
    if isinstance(value, tuple):
        return all(map(is_plain, value))
    return isinstance(value, PLAIN)


def plainly(value: Any) -> str:
    """Return a constant as text; of anything else its type."""
    return repr(value) if is_plain(value) else type(value).__qualname__


_WORD = re.compile(r"[A-Za-z_]\w*")
_UNTOLD = frozenset({"__repr__", "__str__", "__format__", "__sizeof__", "__dir__"})
"""The methods that say how a value looks."""


def functions_in(made: Any) -> Iterator[Any]:
    """Yield the functions behind what a class has, such as a method or a property."""
    for name in ("__func__", "fget", "fset", "func"):
        inner = getattr(made, name, None)
        if callable(inner):
            yield inner
    if isinstance(made, FunctionType) or hasattr(made, "__wrapped__"):
        yield made


def defaults_of(cls: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a class fills in by itself, and the members of an enum."""
    if issubclass(cls, enum.Enum):
        yield from ((member.name, member.value) for member in cls)
    elif dataclasses.is_dataclass(cls):
        for each in dataclasses.fields(cls):
            yield each.name, each.default
            yield each.name, each.default_factory
    for name, each in (getattr(cls, "__pydantic_fields__", None) or {}).items():
        yield name, each.default
        yield name, each.default_factory


def unnamed(cls: type) -> Iterator[str]:
    """Yield the names of what somebody wrote that is called by no name of its own."""
    yield from (name for name, made in vars(cls).items() if _is_own(name, made))
    known = getattr(cls, "__pydantic_decorators__", None)
    for kind in ("validators", "field_validators", "root_validators", "model_validators"):
        yield from getattr(known, kind, ())


def _is_own(name: str, made: Any) -> bool:
    dunder = name.startswith("__") and name.endswith("__") and name not in _UNTOLD
    written = isinstance(made, FunctionType) and made.__code__.co_filename != "<string>"
    return dunder and written


def annotated(function: FunctionType) -> Iterator[type]:
    """Yield the classes that a function's annotations name."""
    try:
        annotations = function.__annotations__
    # They may be computed as late as now, and name what is not there.
    except Exception:
        return
    for said in annotations.values():
        if isinstance(said, type):
            yield said
        elif isinstance(said, str):
            found = (function.__globals__.get(word) for word in _WORD.findall(said))
            yield from (each for each in found if isinstance(each, type))


_OURS = __name__.partition(".")[0]


def is_local(module: str) -> bool:
    """Return whether a module is written here: the notebook itself, or a file beside it."""
    root = module.partition(".")[0]
    if root in ("__main__", _OURS) or root in sys.stdlib_module_names:
        return root == "__main__"
    file = getattr(sys.modules.get(module), "__file__", None)
    return isinstance(file, str) and _is_local(file)


@functools.lru_cache(1_024)
def _is_local(file: str) -> bool:
    return not os.path.realpath(file).startswith(_installed())


@functools.cache
def _installed() -> tuple[str, ...]:
    """Return the folders of what is installed."""
    found = [*sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages()]
    library = {os.path.join(os.path.realpath(each), "") for each in found if "lib" in each.lower()}
    return tuple(library)


T = TypeVar("T")
LARGE = 10_000
"""A container of so many items is data, and no constant of a program."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of what a function is made of: whose it is, and what it says."""

    name: str
    text: str
    constant: bool = False


def parts_in(function: Any, owner: type | None) -> list[Part]:
    """Return the parts of a function, or of what a class has, in the order of its code."""
    reader = Reader(getattr(_bare(function), "__module__", "") or "")
    found = [*reader.function(function, "", (owner,) if owner else ())]
    return [part for part in found if not (part.constant and part.name in reader.rebound)]


def _bare(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__func__", function)


@dataclass
class Reader:
    """Goes through all that a function is made of, each thing once."""

    home: str
    """The module of the function: all of it is followed."""
    seen: set[Any] = field(default_factory=set)
    rebound: set[str] = field(default_factory=set)
    """The names that the code binds anew while it runs."""

    def function(self, function: Any, name: str, owners: tuple[type, ...]) -> Iterator[Part]:
        """Yield the parts of a function; `owners` are the classes whose methods it may call."""
        while isinstance(function, functools.partial):
            yield from (Part(name, plainly(each)) for each in function.args)
            named = sorted(function.keywords.items())
            yield from (Part(name, f"{key}={plainly(each)}") for key, each in named)
            function = function.func
        function = getattr(function, "__func__", function)
        if not isinstance(function, FunctionType):
            module, own = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
            yield Part(name, f"{module}.{own}")
            yield from self._behind(function, name, owners)
        elif id(function) not in self.seen:
            self.seen.add(id(function))
            yield from self._python(function, name, owners)

    def _python(
        self, function: FunctionType, name: str, owners: tuple[type, ...]
    ) -> Iterator[Part]:
        code = function.__code__
        self.rebound |= rebound_by(code)
        yield from (Part(name, text) for text in code_texts(code))
        yield Part(name, _given(function.__defaults__))
        keywords = tuple(sorted((function.__kwdefaults__ or {}).items()))
        yield Part(name, plainly(keywords))
        for key, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            yield from self.value(key, _held(cell))
        names = names_in(code)
        for key in names:
            yield from self.value(key, function.__globals__.get(key))
        for default in (*(function.__defaults__ or ()), *dict(keywords).values()):
            yield from () if is_plain(default) else self.value(f"{name}()", default)
        yield from self._attributes(function, owners)
        yield from self._behind(function, name, owners)

    def _behind(self, function: Any, name: str, owners: tuple[type, ...]) -> Iterator[Part]:
        """Yield what is behind a decorator, and the call of an object that can be called."""
        wrapped = getattr(function, "__wrapped__", None)
        if isinstance(wrapped, FunctionType):
            yield from self.function(wrapped, name, owners)
        elif not isinstance(function, FunctionType) and self._is_ours(type(function)):
            yield from self._of(type(function), ("__call__",))

    def _attributes(self, function: FunctionType, owners: tuple[type, ...]) -> Iterator[Part]:
        """Yield what the names behind a dot may stand for: in a class, in a module."""
        names = attributes_in(function.__code__)
        near = [function.__globals__.get(name) for name in names_in(function.__code__)]
        near += [sys.modules.get(name) for name in imported_by(function.__code__)]
        near += [_held(cell) for cell in function.__closure__ or ()]
        for module in near:
            if _is_a(module, ModuleType) and is_local(module.__name__):
                for name in names:
                    yield from self.value(name, vars(module).get(name))
        classes = [each if _is_a(each, type) else type(each) for each in near]
        for cls in dict.fromkeys((*owners, *annotated(function), *classes)):
            if self._is_ours(cls):
                yield from self._of(cls, names)

    def value(self, name: str, value: Any) -> Iterator[Part]:
        """Yield the parts of what a name stands for; of what cannot be read there are none."""
        if value is not None:
            yield from attempt(lambda: [*self._value(name, value)])[0] or ()

    def _value(self, name: str, value: Any) -> Iterator[Part]:
        if isinstance(value, ModuleType):
            return
        if is_plain(value):
            yield Part(name, f"{name}={value!r}", constant=True)
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, (list, tuple, dict, set, frozenset)):
            yield from self._container(name, value)
        elif callable(value) and self._is_ours(value):
            yield from self.function(value, getattr(_bare(value), "__qualname__", name), ())
        elif is_frozen(value):
            yield Part(name, f"{name}={content_digest(value)}", constant=True)

    def _class(self, cls: type) -> Iterator[Part]:
        """Yield what a class does where nobody names it: how it is made, what operators do."""
        if not self._is_ours(cls) or cls in self.seen:
            return
        self.seen.add(cls)
        yield Part(cls.__qualname__, " ".join(base.__qualname__ for base in cls.__mro__))
        for name, default in defaults_of(cls):
            yield Part(cls.__qualname__, f"{name}={plainly(default)}")
            if callable(default):
                yield from self.value(f"{cls.__qualname__}.{name}", default)
        yield from self._of(cls, unnamed(cls))
        for base in cls.__mro__[1:]:
            yield from self._class(base)

    def _of(self, cls: type, names: Iterable[str]) -> Iterator[Part]:
        """Yield the parts of what a class has under these names."""
        for name in names:
            made = inspect.getattr_static(cls, name, None)
            if made is None or (cls, name) in self.seen:
                continue
            self.seen.add((cls, name))
            title = f"{cls.__qualname__}.{name}"
            if is_plain(made):
                yield Part(title, f"{title}={made!r}", constant=True)
            for function in functions_in(made):
                if self._is_ours(function):
                    yield from self.function(function, title, (cls,))

    def _container(self, name: str, value: Any) -> Iterator[Part]:
        """A table is what it was when first seen: what fills up while it is used is state."""
        items = [*value.values()] if isinstance(value, dict) else [*value]
        if len(items) <= LARGE:
            yield Part(name, f"{name}={_first(value)}", constant=True)
            for item in items:
                if callable(item):
                    yield from self.value(name, item)

    def _is_ours(self, thing: Any) -> bool:
        bare = _bare(thing)
        # What can be called and has no name is an object: it is its class that counts.
        named = isinstance(bare, type) or hasattr(bare, "__name__")
        module = getattr(bare if named else type(bare), "__module__", None)
        return isinstance(module, str) and (module == self.home or is_local(module))


def _is_a(value: object, cls: type[T]) -> TypeGuard[T]:
    """Return what `isinstance` does; nothing is asked of the value, such as its `__class__`."""
    return issubclass(type(value), cls)


def _given(defaults: tuple[Any, ...] | None) -> str:
    return plainly(defaults) if is_plain(defaults) else repr([*map(plainly, defaults or ())])


def _held(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


_FIRST: dict[int, tuple[Any, str]] = {}


def _first(container: Any) -> str:
    """Return the content that a container had when it was first seen in this kernel."""
    known = _FIRST.get(id(container))
    if known is None:
        while len(_FIRST) >= 1_000:
            del _FIRST[next(iter(_FIRST))]
        known = _FIRST[id(container)] = container, content_digest(_data(container))
    return known[1]


def _data(value: Any) -> Any:
    """Return plain data; of anything else its type."""
    match value:
        case dict():
            return {plainly(key): _data(item) for key, item in value.items()}
        case list() | tuple():
            return [_data(item) for item in value]
        case set() | frozenset():
            return {plainly(item) for item in value}
    return plainly(value)


class Version:
    """The version of a tool: read when first asked for, and again after it was forgotten."""

    def __init__(self, read: Callable[[], str], *inner: Callable[[], str]) -> None:
        self._read, self._inner, self._known = read, inner, ""

    def __call__(self) -> str:
        self._known = self._known or self._read()
        return self._known

    def forget(self) -> None:
        """Read it again the next time: a helper may have been defined anew."""
        self._known = ""
        for each in self._inner:
            forget(each)


def forget(version: Callable[[], str]) -> None:
    """Let a version be read again, where it is one that is read."""
    if isinstance(version, Version):
        version.forget()


def version_of(function: Callable[..., Any], owner: type | None = None) -> Version:
    """Return the version of a function, or of what a class has."""
    return Version(lambda: fingerprint(function, owner))


def fingerprint(function: Callable[..., Any], owner: type | None = None) -> str:
    """Return the version of a function; of what has no Python code, its name's digest."""
    return digest_text("code", *(part.text for part in parts_in(function, owner)))


def parts_of(function: Callable[..., Any], owner: type | None = None) -> Mapping[str, str]:
    """Return what a function is made of: the name of each part, "" for itself, and its digest."""
    found: dict[str, list[str]] = {}
    for part in parts_in(function, owner):
        found.setdefault(part.name, []).append(part.text)
    return {name: digest_text("part", *texts)[:16] for name, texts in found.items()}
