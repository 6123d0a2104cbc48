"""The version of a function: a digest of its code and of all of yours that it is made of.

It is computed from compiled code, so comments and moving a cell change nothing. It follows
the functions, classes and constants that the code names, by whatever way: closed over, as a
default, behind a decorator, as a method of an object, in a module of the notebook's folder.
What the code itself rebinds is state, and no part of it.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CellType, FunctionType, ModuleType
from typing import Any

from ..content import content_digest, is_frozen
from ..digest import digest_text
from .compiled import (
    attributes_in,
    code_texts,
    imported_by,
    is_plain,
    names_in,
    plainly,
    rebound_by,
)
from .local import is_local

LARGE = 10_000
"""A container of so many items is data, and no constant of a program."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_UNTOLD = frozenset({"__repr__", "__str__", "__format__", "__sizeof__", "__dir__"})
"""The methods that say how a value looks."""


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
    return digest_text("code", *(part.text for part in _read(function, owner)))


def parts_of(function: Callable[..., Any], owner: type | None = None) -> Mapping[str, str]:
    """Return what a function is made of: the name of each part, "" for itself, and its digest."""
    found: dict[str, list[str]] = {}
    for part in _read(function, owner):
        found.setdefault(part.name, []).append(part.text)
    return {name: digest_text("part", *texts)[:16] for name, texts in found.items()}


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """A piece of what a function is made of: whose it is, and what it says."""

    name: str
    text: str
    constant: bool = False


def _read(function: Any, owner: type | None) -> list[Part]:
    reader = Reader(getattr(_bare(function), "__module__", "") or "")
    found = [*reader.function(function, "", (owner,) if owner else ())]
    return [part for part in found if not (part.constant and part.name in reader.rebound)]


def _bare(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__func__", function)


@dataclasses.dataclass
class Reader:
    """Goes through all that a function is made of, each thing once."""

    home: str
    """The module of the function: all of it is followed."""
    seen: set[Any] = dataclasses.field(default_factory=set)
    rebound: set[str] = dataclasses.field(default_factory=set)
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
            if isinstance(module, ModuleType) and is_local(module.__name__):
                for name in names:
                    yield from self.value(name, vars(module).get(name))
        classes = [each if isinstance(each, type) else type(each) for each in near]
        for cls in dict.fromkeys((*owners, *_annotated(function), *classes)):
            if self._is_ours(cls):
                yield from self._of(cls, names)

    def value(self, name: str, value: Any) -> Iterator[Part]:
        """Yield the parts of what a name stands for."""
        if value is None or isinstance(value, ModuleType):
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
        for name, default in _defaults(cls):
            yield Part(cls.__qualname__, f"{name}={plainly(default)}")
            if callable(default):
                yield from self.value(f"{cls.__qualname__}.{name}", default)
        own = [name for name, made in vars(cls).items() if _is_own(name, made)]
        yield from self._of(cls, (*own, *_validators(cls)))
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
            for function in _functions(made):
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


def _functions(made: Any) -> Iterator[Any]:
    """Yield the functions behind what a class has, such as a method or a property."""
    for name in ("__func__", "fget", "fset", "func"):
        inner = getattr(made, name, None)
        if callable(inner):
            yield inner
    if isinstance(made, FunctionType) or hasattr(made, "__wrapped__"):
        yield made


def _defaults(cls: Any) -> Iterator[tuple[str, Any]]:
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


def _is_own(name: str, made: Any) -> bool:
    """Return whether somebody wrote a method that is called by no name of its own."""
    dunder = name.startswith("__") and name.endswith("__") and name not in _UNTOLD
    written = isinstance(made, FunctionType) and made.__code__.co_filename != "<string>"
    return dunder and written


def _validators(cls: type) -> Iterator[str]:
    """Yield the names of what checks a pydantic model as it is made."""
    known = getattr(cls, "__pydantic_decorators__", None)
    for kind in ("validators", "field_validators", "root_validators", "model_validators"):
        yield from getattr(known, kind, ())


def _given(defaults: tuple[Any, ...] | None) -> str:
    return plainly(defaults) if is_plain(defaults) else repr([*map(plainly, defaults or ())])


def _annotated(function: FunctionType) -> Iterator[type]:
    """Yield the classes that a function's annotations name."""
    for said in function.__annotations__.values():
        if isinstance(said, type):
            yield said
        elif isinstance(said, str):
            found = (function.__globals__.get(word) for word in _WORD.findall(said))
            yield from (each for each in found if isinstance(each, type))


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
