"""The version of a tool: one digest of its code, and of what of yours that reaches by name.

Functions, classes, modules and data of the notebook and of files that are not installed are
followed; of what is installed the name counts. What the code changes while it runs is its state,
and no part of it. `docs/explanation/immutable-objects.md` states the limits.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

from ..core.digests import digest_text
from ..core.interrupts import attempt
from ..core.text import visible_text
from .code_names import CodeNames, names_in
from .value_digests import (
    LIBRARY_PARTS,
    WRAPPERS,
    attributes_of,
    content_digest,
    functions_in,
    is_frozen,
    is_local,
)

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


_digest_of_code: Callable[[CodeType], str] = functools.lru_cache(4_096)(content_digest)

# -- what a function reaches ------------------------------------------------------------------

_WORD = re.compile(r"[A-Za-z_]\w*")
_SHOWING = {"__repr__", "__str__", "__format__", "__sizeof__", "__dir__"}
"""The methods that show a value, and do not change what a tool does."""
_MAKING = {"__init__", "__new__", "__post_init__", "__setstate__"}
"""The methods that give a new object its attributes."""
_CODE = (FunctionType, type, ModuleType)
_CONTAINERS = (list, tuple, dict, set, frozenset, deque, MappingProxyType)
_DATA = {"datetime", "decimal", "fractions", "pathlib", "polars", "re", "uuid"}
"""The modules of data that count by their content."""
MAX_ITEMS = 10_000
"""Items of containers and rows of tables that are read for one tool. More of them are data, and no
constants of a program."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the code that a tool runs: a function or a constant, and its content."""

    name: str
    text: str
    is_data: bool = False
    """Whether it is a container or a table of the program, which may be filled while it runs."""


class Reader:
    """Follows what a function, or a method of `owner`, reaches: each function and class once."""

    def __init__(self, function: Any, owner: type | None) -> None:
        function = getattr(function, "__func__", function)
        bare = getattr(function, "func", function)
        self._home = bare.__module__ if isinstance(bare, FunctionType) else ""
        self.parts: list[Part] = []
        self._members, self._changed, self._filled = set[str](), set[str](), set[str]()
        self._holders: list[tuple[str, Any, Mapping[str, Any], Set[str]]] = []
        """What has members: its title, itself, its members, and which count without a name."""
        self._seen: dict[Any, Any] = {}
        """By id, with the value itself, so that no other gets its id meanwhile."""
        self._constants: list[tuple[str, str, Any]] = []
        self._code: deque[tuple[str, str, Any]] = deque()
        self._later: deque[tuple[str, str, Any]] = deque()
        """Data are read after the code, which says what of it is state."""
        self._items_left = MAX_ITEMS
        self._add("", "", function)
        if owner is not None:
            self._instances_of(owner)
        while self._code or self._add_members() or self._later:
            # A value that cannot be read has no part.
            attempt(self._follow, *(self._code or self._later).popleft())
        for title, name, value in self._constants:
            if name not in self._changed:
                self.parts.append(Part(title, f"{name}={value!r}"))

    def _add(self, title: str, name: str, value: Any) -> None:
        """Add what a name stands for: by the title that a person knows, and the name in code."""
        if not is_plain(value):
            queue = self._code if issubclass(type(value), _CODE) else self._later
            queue.append((title, name, value))
        elif name:
            self._constants.append((title, name, value))

    def _follow(self, title: str, name: str, value: Any) -> None:
        cls: Any = type(value)
        is_function, is_class = issubclass(cls, FunctionType), issubclass(cls, type)
        if is_function or is_class:
            title = title and value.__qualname__
            # Which function a name stands for counts, besides what that does.
            if name:
                self.parts.append(Part(title, f"{name}={value.__module__}.{value.__qualname__}"))
        elif name in self._changed and not issubclass(cls, ModuleType):
            return
        if id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if is_function:
            self._function(title, value)
        elif is_class:
            self._class(value)
        elif issubclass(cls, ModuleType):
            if self._is_ours(value.__name__):
                self._holders.append(("", value, vars(value), set()))
        elif cls in _CONTAINERS:
            self._container(title, name, value)
        else:
            self._object(title, name, value, cls)

    def _function(self, title: str, function: FunctionType) -> None:
        code, space, names = function.__code__, function.__globals__, names_in(function.__code__)
        is_ours = self._is_ours(space.get("__name__"))
        self._changed |= names.rebound | (set() if code.co_name in _MAKING else names.assigned)
        self._filled |= names.filled
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            # A variable may have no value yet.
            if cell != CellType():
                self._add(name, name, cell.cell_contents)
        members = {key: value for key, value in vars(function).items() if key[:2] != "__"}
        self._holders.append((title, function, members, set()))
        if "__wrapped__" in vars(function):
            self._code.append((title, "", vars(function)["__wrapped__"]))
        # What is installed may still hold functions of yours, as decorators do.
        defaults = {str(n): value for n, value in enumerate(function.__defaults__ or ())}
        defaults |= function.__kwdefaults__ or {}
        plain = {key: value for key, value in defaults.items() if is_plain(value)}
        text = f"{_digest_of_code(code)} {plain}" if is_ours else f"{space.get('__name__')}.{title}"
        self.parts.append(Part(title, text))
        for key in defaults.keys() - plain.keys():
            self._add(f"{title}()", key, defaults[key])
        if is_ours:
            self._members |= names.members
            for name in sorted(names.variables & space.keys()):
                self._add(name, name, space[name])
            for name in sorted(names.modules):
                for full in (name, name.partition(".")[0], f"{space.get('__package__')}.{name}"):
                    self._add("", "", sys.modules.get(full.rstrip(".")))
            for cls in annotated(function):
                self._instances_of(cls)

    def _class(self, cls: type) -> None:
        """Add what a class has beside what code names of it: bases, defaults, operators."""
        if self._is_ours(cls.__module__):
            title, bases = cls.__qualname__, cls.__mro__
            self.parts.append(Part(title, " ".join(base.__qualname__ for base in bases)))
            for name, default in defaults_of(cls):
                self._add(title, name, default)
            self._holders.append((title, cls, vars(cls), {*unnamed_methods(cls)}))
            for base in (type(cls), *bases[1:]):
                self._add("", "", base)

    def _instances_of(self, cls: type) -> None:
        """Add what code may run of an object of a class, which is made already."""
        for base in filter(lambda base: self._is_ours(base.__module__), cls.__mro__):
            unnamed = {*unnamed_methods(base)} - _MAKING
            # Also a method that the tool does not call may change the object's state.
            for name, names in names_in_methods(base):
                if name not in _MAKING:
                    self._changed |= names.assigned
                    self._filled |= names.filled
            self._holders.append((base.__qualname__, base, vars(base), unnamed))

    def _container(self, title: str, name: str, value: Any) -> None:
        is_state = name in self._filled
        if not (is_state or self._may_read(len(value))):
            return
        # What is added while a tool runs is state.
        text = first_content(value) if is_state else content_digest(container_data(value))
        self.parts.append(Part(title, f"{name}={text}", is_data=True))
        if not is_state:
            self._items(name, value)

    def _items(self, name: str, container: Any) -> None:
        for item in container.values() if hasattr(container, "values") else container:
            if type(item) in _CONTAINERS and id(item) not in self._seen:
                self._seen[id(item)] = item
                self._items(name, item)
            elif not is_plain(item):
                self._add(name, "", item)

    def _object(self, title: str, name: str, value: Any, cls: Any) -> None:
        """Add the functions behind an object, its class if it is yours, or its content."""
        root, inner = cls.__module__.partition(".")[0], dict[str, Any]()
        if "__wrapped__" in getattr(value, "__dict__", {}):
            inner = {"": value.__wrapped__}
        elif issubclass(cls, WRAPPERS):
            inner = {str(n): function for n, function in enumerate(functions_in(value))}
        elif issubclass(cls, functools.partial):
            inner = {"": value.func, **{str(n): v for n, v in enumerate(value.args)}}
            inner |= value.keywords
        elif issubclass(cls, MethodType):
            inner = {"": value.__func__, "self": value.__self__}
        for key, part in inner.items():
            self._add(title, key, part)
        is_ours = self._is_ours(cls.__module__) or cls is SimpleNamespace
        if is_ours:
            self._instances_of(cls)
        if any(f"{root}.{base.__name__}" in LIBRARY_PARTS for base in cls.__mro__):
            if name not in self._filled and self._may_read(attempt(len, value)[0] or 0):
                self.parts.append(Part(title, f"{name}={content_digest(value)}", is_data=True))
        elif issubclass(cls, PLAIN) or root in _DATA or is_frozen(value):
            self.parts.append(Part(title, f"{name}={content_digest(value)}"))
        elif is_ours:
            self._holders.append((title, value, attributes_of(value), set()))
        elif callable(value) and not inner:
            of = value if issubclass(cls, BuiltinFunctionType) else cls
            self.parts.append(Part(title, f"{of.__module__}.{of.__qualname__}"))

    def _add_members(self) -> bool:
        """Add the members that code names by now, and return whether there is more to follow."""
        for title, holder, members, unnamed in [*self._holders]:
            for name in sorted((self._members | unnamed) & members.keys()):
                if (id(holder), name) not in self._seen:
                    self._seen[id(holder), name] = holder
                    self._add(f"{title}.{name}".lstrip("."), name, members[name])
        return bool(self._code)

    def _may_read(self, items: int) -> bool:
        if items > self._items_left:
            return False
        self._items_left -= items
        return True

    def _is_ours(self, module: Any) -> bool:
        return type(module) is str and (module == self._home or is_local(module))


# -- constants and classes -------------------------------------------------------------------


def is_plain(value: Any) -> bool:
    """Return whether a value is a constant whose `repr` is its content."""
    return type(value) in PLAIN or (type(value) is tuple and all(map(is_plain, value)))


def constant_text(value: Any) -> str:
    """Return a constant as text; a function or class by its name; any other value by its type."""
    if issubclass(type(value), (FunctionType, type)):
        return f"{value.__module__}.{value.__qualname__}"
    return repr(value) if is_plain(value) else type(value).__qualname__


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


def names_in_methods(cls: type) -> Iterator[tuple[str, CodeNames]]:
    """Yield the name of each method and property of a class, and the names that its code uses."""
    for name, member in vars(cls).items():
        if issubclass(type(member), (FunctionType, *WRAPPERS)):
            for function in functions_in(member):
                if isinstance(function, FunctionType):
                    yield name, names_in(function.__code__)


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


# -- versions -------------------------------------------------------------------------------


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
    others: Mapping[str, Callable[..., Any]],
    function: Callable[..., Any],
    owner: type | None = None,
) -> Version:
    """Return the version of a tool's function, and of the `others` that run beside it, by role."""
    version = version_of(function, owner)
    if not others:
        return version
    versions = [*map(version_of, others.values())]
    return Version(
        lambda: digest_text(*others, version(), *(read() for read in versions)), version, *versions
    )


def fingerprint(function: Callable[..., Any], owner: type | None = None) -> str:
    """Return the digest of all that a function reaches; of a built-in one, of its name."""
    texts = {f"{part.name} {part.text}" for part in Reader(function, owner).parts}
    return digest_text("code", *sorted(texts))


def parts_of(
    function: Callable[..., Any], owner: type | None = None, *, with_data: bool = True
) -> Mapping[str, str]:
    """Return the digest of each part of a function by name; "" is the function itself."""
    contents: dict[str, set[str]] = {}
    for part in Reader(function, owner).parts:
        if with_data or not part.is_data:
            contents.setdefault(part.name, set()).add(part.text)
    return {name: digest_text("part", *sorted(texts))[:16] for name, texts in contents.items()}
