"""All that a function is made of: whatever is yours that its code names, by whatever way.

That is what it closes over, its defaults, what is behind its decorators, the methods of the
objects that it may meet, and the modules of the notebook's folder. What the code itself
rebinds is state, and no part of it.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import CellType, FunctionType, ModuleType
from typing import Any, TypeGuard, TypeVar

from ..content.value import content_digest, is_frozen
from ..interrupts import attempt
from .classes import annotated, defaults_of, functions_in, unnamed
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
