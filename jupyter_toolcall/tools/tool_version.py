"""The version of a tool: a digest of its code, and of all code of yours that it calls.

Installed libraries are not followed; a notebook's own functions, classes and constants are.
"""

from __future__ import annotations

import dataclasses
import dis
import enum
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, TypeGuard, TypeVar

from ..core.digests import digest_text
from ..core.interrupts import attempt
from ..core.text import visible_text
from .value_copies import is_frozen
from .value_digests import content_digest, functions_in, is_local

PYTHON = ".".join(map(str, sys.version_info[:2]))
"""Compiled code, and so the version of a tool, is another one in each of these."""
PLAIN = (str, int, float, bool, bytes, type(None))


def pinned_change(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return what a server changed in the definition of a tool, with the texts around it.

    >>> pinned_change({"description": "Add."}, {"description": "Add, and mail it."})
    'its description was "Add.", and is "Add, and mail it."'
    """
    names = (name for name in dict.fromkeys((*before, *now)) if before.get(name) != now.get(name))
    texts = ((name, before.get(name, ""), now.get(name, "")) for name in names)
    return "; ".join(
        f"its {name} was {_around(was, text)}, and is {_around(text, was)}"
        for name, was, text in texts
    )


def _around(text: str, other: str) -> str:
    """Return the part of a text where it begins to differ from another one, in quotes."""
    pairs = enumerate(zip(text, other, strict=False))
    same = next((n for n, (one, another) in pairs if one != another), min(len(text), len(other)))
    begin = max(0, same - 40)
    part = visible_text(text[begin : same + 80], 140)
    return f'"{"…" * (begin > 0)}{part}{"…" * (same + 80 < len(text))}"' if text else "empty"


@functools.lru_cache(4_096)
def code_texts(code: CodeType) -> tuple[str, ...]:
    """Return the content of compiled code, without its line numbers."""
    texts = [code.co_code.hex(), repr((code.co_names, code.co_varnames))]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            texts += code_texts(constant)
        elif isinstance(constant, frozenset):
            texts.append(repr(sorted(map(repr, constant))))
        else:
            texts.append(repr(constant))
    return tuple(texts)


GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM")
IMPORTS = ("IMPORT_NAME",)


@functools.lru_cache(4_096)
def names_in(code: CodeType, operations: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that these operations of code, and of the functions in it, read."""
    own = [each.argval for each in dis.get_instructions(code) if each.opname in operations]
    inner = [names_in(each, operations) for each in code.co_consts if isinstance(each, CodeType)]
    return tuple(dict.fromkeys([*own, *(name for names in inner for name in names)]))


@functools.lru_cache(4_096)
def rebound_by(code: CodeType) -> frozenset[str]:
    """Return the names outside of a function that it assigns."""
    operations = ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF")
    own = {each.argval for each in dis.get_instructions(code) if each.opname in operations}
    inner = (rebound_by(each) for each in code.co_consts if isinstance(each, CodeType))
    return frozenset(own.union(*inner) - {*code.co_cellvars})


def is_plain(value: Any) -> bool:
    """Return whether a value is a constant whose `repr` is its content."""
    if isinstance(value, tuple):
        return all(map(is_plain, value))
    return isinstance(value, PLAIN)


def constant_text(value: Any) -> str:
    """Return a constant as text; for any other value its type."""
    return repr(value) if is_plain(value) else type(value).__qualname__


_WORD = re.compile(r"[A-Za-z_]\w*")
_SHOWING = frozenset({"__repr__", "__str__", "__format__", "__sizeof__", "__dir__"})
"""The methods that show a value, and do not change what a tool does."""


def defaults_of(cls: Any) -> Iterator[tuple[str, Any]]:
    """Yield the defaults of a class's fields, and the members of an enum."""
    if issubclass(cls, enum.Enum):
        yield from ((member.name, member.value) for member in cls)
        return
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    named = [(each.name, each) for each in fields]
    for name, each in [*named, *(getattr(cls, "__pydantic_fields__", None) or {}).items()]:
        yield name, each.default
        yield name, each.default_factory


def unnamed_methods(cls: type) -> Iterator[str]:
    """Yield the names of methods that run without a call by name: operators and validators."""
    for name, member in vars(cls).items():
        is_special = name.startswith("__") and name.endswith("__") and name not in _SHOWING
        # A dataclass generates methods, whose file is "<string>".
        written = isinstance(member, FunctionType) and member.__code__.co_filename != "<string>"
        if is_special and written:
            yield name
    decorators = getattr(cls, "__pydantic_decorators__", None)
    for kind in ("validators", "field_validators", "root_validators", "model_validators"):
        yield from getattr(decorators, kind, ())


def annotated(function: FunctionType) -> Iterator[type]:
    """Yield the classes that a function's annotations name."""
    try:
        annotations = function.__annotations__
    # They may be computed only now, and name something that does not exist.
    except Exception:
        return
    for annotation in annotations.values():
        words = _WORD.findall(annotation) if isinstance(annotation, str) else ()
        values = (function.__globals__.get(word) for word in words)
        yield from (each for each in (annotation, *values) if isinstance(each, type))


T = TypeVar("T")
MAX_ITEMS = 10_000
"""A container of more items is data, and no constant of a program."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the code that a tool runs: the function or constant, and its content."""

    name: str
    text: str
    constant: bool = False
    container: bool = False
    """Whether it is a container of the program, which a program may fill while it runs."""


def parts_in(function: Any, owner: type | None) -> list[Part]:
    """Return the parts of a function, or of a method of `owner`, in the order of its code."""
    reader = Reader(getattr(_bare(function), "__module__", "") or "")
    parts = [*reader.function(function, "", (owner,) if owner else ())]
    # A variable that the code assigns is state, and no constant.
    return [part for part in parts if not (part.constant and part.name in reader.rebound)]


def _bare(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__func__", function)


@dataclass
class Reader:
    """Follows all code that a function calls, each function and class once."""

    home: str
    """The module of the function, which is followed even if it is installed."""
    seen: set[Any] = field(default_factory=set)
    rebound: set[str] = field(default_factory=set)
    """The names that the code assigns while it runs."""

    def function(self, function: Any, name: str, owners: tuple[type, ...]) -> Iterator[Part]:
        """Yield the parts of a function; `owners` are the classes whose methods it may call."""
        while isinstance(function, functools.partial):
            yield from (Part(name, constant_text(each)) for each in function.args)
            named = sorted(function.keywords.items())
            yield from (Part(name, f"{key}={constant_text(each)}") for key, each in named)
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
        defaults = function.__defaults__
        texts = repr([*map(constant_text, defaults or ())])
        yield Part(name, constant_text(defaults) if is_plain(defaults) else texts)
        keywords = tuple(sorted((function.__kwdefaults__ or {}).items()))
        yield Part(name, constant_text(keywords))
        for key, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            yield from self.value(key, _cell_value(cell))
        for key in names_in(code, GLOBALS):
            yield from self.value(key, function.__globals__.get(key))
        for default in (*(defaults or ()), *dict(keywords).values()):
            yield from () if is_plain(default) else self.value(f"{name}()", default)
        yield from self._attributes(function, owners)
        yield from self._behind(function, name, owners)

    def _behind(self, function: Any, name: str, owners: tuple[type, ...]) -> Iterator[Part]:
        """Yield the parts of a decorated function, and of an object's `__call__`."""
        wrapped = getattr(function, "__wrapped__", None)
        if isinstance(wrapped, FunctionType):
            yield from self.function(wrapped, name, owners)
        elif not isinstance(function, FunctionType) and self._is_ours(type(function)):
            yield from self._of(type(function), ("__call__",))

    def _attributes(self, function: FunctionType, owners: tuple[type, ...]) -> Iterator[Part]:
        """Yield what the names after a dot may mean: in a class, in a module."""
        code = function.__code__
        names = names_in(code, ATTRIBUTES)
        near = [function.__globals__.get(name) for name in names_in(code, GLOBALS)]
        near += [sys.modules.get(name) for name in names_in(code, IMPORTS)]
        near += [_cell_value(cell) for cell in function.__closure__ or ()]
        for module in near:
            if _is_a(module, ModuleType) and is_local(module.__name__):
                for name in names:
                    yield from self.value(name, vars(module).get(name))
        classes = [each if _is_a(each, type) else type(each) for each in near]
        for cls in dict.fromkeys((*owners, *annotated(function), *classes)):
            if self._is_ours(cls):
                yield from self._of(cls, names)

    def value(self, name: str, value: Any) -> Iterator[Part]:
        """Yield the parts of the value of a name; a value that cannot be read has none."""
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
        """Yield what a class runs without a call by name: its defaults and its operators."""
        if not self._is_ours(cls) or cls in self.seen:
            return
        self.seen.add(cls)
        yield Part(cls.__qualname__, " ".join(base.__qualname__ for base in cls.__mro__))
        for name, default in defaults_of(cls):
            yield Part(cls.__qualname__, f"{name}={constant_text(default)}")
            if callable(default):
                yield from self.value(f"{cls.__qualname__}.{name}", default)
        yield from self._of(cls, unnamed_methods(cls))
        for base in cls.__mro__[1:]:
            yield from self._class(base)

    def _of(self, cls: type, names: Iterable[str]) -> Iterator[Part]:
        """Yield the parts of these members of a class."""
        for name in names:
            member = inspect.getattr_static(cls, name, None)
            if member is None or (cls, name) in self.seen:
                continue
            self.seen.add((cls, name))
            title = f"{cls.__qualname__}.{name}"
            if is_plain(member):
                yield Part(title, f"{title}={member!r}", constant=True)
            for function in functions_in(member):
                if self._is_ours(function):
                    yield from self.function(function, title, (cls,))

    def _container(self, name: str, value: Any) -> Iterator[Part]:
        """Yield a container as it was when first read: what is added while it is used is state."""
        items = [*value.values()] if isinstance(value, dict) else [*value]
        if len(items) <= MAX_ITEMS:
            yield Part(name, f"{name}={first_content(value)}", constant=True, container=True)
            for item in items:
                if callable(item):
                    yield from self.value(name, item)

    def _is_ours(self, value: Any) -> bool:
        bare = _bare(value)
        # A callable without a name is an object: its class counts.
        named = isinstance(bare, type) or hasattr(bare, "__name__")
        module = getattr(bare if named else type(bare), "__module__", None)
        return isinstance(module, str) and (module == self.home or is_local(module))


def _is_a(value: object, cls: type[T]) -> TypeGuard[T]:
    """Return what `isinstance` does, without reading `__class__` of the value."""
    return issubclass(type(value), cls)


def _cell_value(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


_FIRST: dict[int, tuple[Any, str]] = {}
"""The first content of containers, by id; each is kept, so that no other gets its id."""


def first_content(container: Any) -> str:
    """Return the content that a container had when it was first read in this kernel."""
    if id(container) not in _FIRST:
        while len(_FIRST) >= 1_000:
            del _FIRST[next(iter(_FIRST))]
        _FIRST[id(container)] = container, content_digest(container_data(container))
    return _FIRST[id(container)][1]


def container_data(value: Any) -> Any:
    """Return plain data; for any other value its type."""
    match value:
        case dict():
            return {constant_text(key): container_data(item) for key, item in value.items()}
        case list() | tuple():
            return [container_data(item) for item in value]
        case set() | frozenset():
            return {constant_text(item) for item in value}
    return constant_text(value)


class Version:
    """The version of a tool: computed when first needed, and again after `forget`.

    `inner` are the versions that it is computed from.
    """

    def __init__(self, read: Callable[[], str], *inner: Callable[[], str]) -> None:
        self._read, self._inner, self._known = read, inner, ""

    def __call__(self) -> str:
        self._known = self._known or self._read()
        return self._known

    def forget(self) -> None:
        """Compute it again the next time: a helper may have been defined again."""
        self._known = ""
        for each in self._inner:
            forget(each)


def forget(version: Callable[[], str]) -> None:
    """Let a version be computed again, if it is one that is computed."""
    if isinstance(version, Version):
        version.forget()


def version_of(function: Callable[..., Any], owner: type | None = None) -> Version:
    """Return the version of a function, or of a method of `owner`."""
    return Version(lambda: fingerprint(function, owner))


def version_with(
    resume: Callable[..., Any] | None, function: Callable[..., Any], owner: type | None = None
) -> Version:
    """Return the version of a tool's function, and of its `resume`, if it has one."""
    version = version_of(function, owner)
    if resume is None:
        return version
    after = version_of(resume)
    return Version(lambda: digest_text("resumable", version(), after()), version, after)


def fingerprint(function: Callable[..., Any], owner: type | None = None) -> str:
    """Return the digest of a function's parts; without Python code, that of its name."""
    return digest_text("code", *(part.text for part in parts_in(function, owner)))


def parts_of(
    function: Callable[..., Any], owner: type | None = None, *, containers: bool = True
) -> Mapping[str, str]:
    """Return the digest of each part of a function by name; "" is the function itself."""
    contents: dict[str, list[str]] = {}
    for part in parts_in(function, owner):
        if containers or not part.container:
            contents.setdefault(part.name, []).append(part.text)
    return {name: digest_text("part", *texts)[:16] for name, texts in contents.items()}
