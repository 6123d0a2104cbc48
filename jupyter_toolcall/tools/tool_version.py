"""The version of a tool: one digest of its function or class, and of what that reaches by name.

Code is followed into the notebook and into modules that are not installed packages; of a package
its version counts. Data that code reads counts by its content, except for what tools changed
themselves while they ran. `docs/explanation/immutable-objects.md` states the limits.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import hashlib
import marshal
import os
import re
import site
import sys
import sysconfig
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from importlib import metadata
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any, NamedTuple
from weakref import WeakSet

from ..core.digests import digest_text
from ..core.interrupts import attempt
from .value_copies import is_frozen
from .value_digests import SCALARS, content_digest

PYTHON = ".".join(map(str, sys.version_info[:2]))
"""Compiled code, and so the version of a tool, is another one in each of these."""

# -- one code object --------------------------------------------------------------------------

OPERATIONS = {
    **dict.fromkeys(("LOAD_GLOBAL", "LOAD_NAME"), "variables"),
    **dict.fromkeys(("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM"), "attributes"),
    **dict.fromkeys(("STORE_GLOBAL", "DELETE_GLOBAL"), "assigned"),
    **dict.fromkeys(("STORE_DEREF", "DELETE_DEREF"), "assigned"),
    "IMPORT_NAME": "modules",
}
"""What the name in an instruction is."""


FILLING = {
    *[
        "add",
        "append",
        "appendleft",
        "clear",
        "extend",
        "insert",
        "pop",
        "popleft",
        "remove",
        "setdefault",
        "update",
    ]
}
"""The methods that change a container in place."""


# Code objects are equal only where all of their content is.
@functools.lru_cache(4_096)
def code_names(code: CodeType) -> tuple[str, Mapping[str, tuple[str, ...]]]:
    """Return the digest of compiled code without its line numbers, and the names in it."""
    names: defaultdict[str, set[str]] = defaultdict(set)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            for kind, inner in code_names(constant)[1].items():
                names[kind].update(inner)
        # It may be a name for `getattr`.
        elif isinstance(constant, str) and constant.isidentifier():
            names["attributes"].add(constant)
    before = ""
    for instruction in dis.get_instructions(code):
        kind, name = OPERATIONS.get(instruction.opname, ""), instruction.argval
        if kind:
            names[kind].add(name)
        if kind == "attributes" and name in FILLING and before:
            names["filled"].add(before)
        before = name if instruction.opname in ("LOAD_GLOBAL", "LOAD_DEREF") else ""
    names["assigned"] -= {*code.co_cellvars}
    signature = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    content = code.co_code, code.co_exceptiontable, code.co_names, code.co_varnames
    text = digest_text("code", repr((signature, content)), _text(code.co_consts))
    return text, {kind: tuple(sorted(found)) for kind, found in names.items()}


def _text(constant: Any) -> str:
    match constant:
        case CodeType():
            return code_names(constant)[0]
        case tuple() | frozenset():
            texts = [*map(_text, constant)]
            # The order of a set is another one in each process.
            return f"{texts if isinstance(constant, tuple) else {'set': sorted(texts)}}"
    return repr(constant)


# -- modules and packages ---------------------------------------------------------------------

_OURS = __name__.partition(".")[0]


def is_local(module: str, home: str) -> bool:
    """Return whether a module is the notebook itself, or a file that is not installed.

    `home` is the module of the tool, which is followed even if it is installed.
    """
    root = module.partition(".")[0]
    if module == home or root == "__main__":
        return True
    if root == _OURS or root in sys.stdlib_module_names:
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    return isinstance(file, str) and not _is_installed(file)


@functools.lru_cache(1_024)
def _is_installed(file: str) -> bool:
    paths = [*sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages()]
    folders = (os.path.join(os.path.realpath(path), "") for path in paths if "lib" in path.lower())
    return os.path.realpath(file).startswith(tuple(folders))


@functools.cache
def package_version(root: str) -> str:
    """Return the version of an installed package, by the name of its module; "" without one."""
    if root == _OURS or root in sys.stdlib_module_names:
        return ""
    return attempt(metadata.version, root)[0] or ""


# -- data that code reads ---------------------------------------------------------------------

MAX_ITEMS = 10_000
"""A value of more items is data, and no constant of a program."""
CODE = (FunctionType, type, ModuleType)
MAPPINGS = (dict, MappingProxyType)
CONTAINERS = (*MAPPINGS, list, tuple, deque, set, frozenset)
HOLDERS = (
    *(*CONTAINERS, MethodType, property, classmethod, staticmethod, SimpleNamespace),
    *(functools.partial, functools.partialmethod, functools.singledispatchmethod),
    functools.cached_property,
)
"""The classes of Python whose values count by what they hold."""
DATA_MODULES = {*["builtins", "datetime", "decimal", "fractions", "pathlib", "re", "uuid"]}
"""The modules whose other values count by their content."""


class Snapshot:
    """The digest of a value's data as it is now, and the functions, classes and modules in it."""

    def __init__(self, value: Any, home: str) -> None:
        self.code: list[Any] = []
        self._home, self._size = home, 0
        self._outer: list[int] = []
        """The values around the one that is read, by id: a value may hold itself."""
        try:
            content = marshal.dumps(self._data(value), 2)
        # It cannot be read, changes meanwhile, or is too much: only its class counts.
        except Exception:
            content = type(value).__qualname__.encode()
        self.text = hashlib.sha256(content).hexdigest()

    def _data(self, value: Any) -> Any:
        cls = type(value)
        if cls in SCALARS:
            return value
        if issubclass(cls, CODE):
            self.code.append(value)
            return cls.__name__, value.__name__
        if cls is BuiltinFunctionType:
            return value.__module__, value.__qualname__
        if id(value) in self._outer:
            return "outer", self._outer.index(id(value))
        is_ours, attributes = is_local(cls.__module__, self._home), attributes_of(value)
        if is_ours:
            self.code.append(cls)
        elif "__wrapped__" in attributes:
            attributes = {"__wrapped__": attributes["__wrapped__"]}
        elif not issubclass(cls, HOLDERS) and cls.__module__ != "pydantic.fields":
            plain = cls.__module__ in DATA_MODULES or is_frozen(value)
            return cls.__qualname__, content_digest(value) if plain else ""
        items: Any = [content_digest(value)] if issubclass(cls, SCALARS) else ()
        if issubclass(cls, CONTAINERS):
            items = [*value.items()] if issubclass(cls, MAPPINGS) else value
        self._size += len(items) + len(attributes)
        if self._size > MAX_ITEMS:
            raise ValueError("it is data")
        self._outer.append(id(value))
        data = [*items] if {*map(type, items)} <= {*SCALARS} else [*map(self._data, items)]
        if issubclass(cls, (set, frozenset)):
            data = sorted(marshal.dumps(item, 2) for item in data)
        pairs = [(key, self._data(item)) for key, item in attributes.items()]
        self._outer.pop()
        return cls.__qualname__, data, pairs


@functools.lru_cache(1_024)
def _slots(cls: Any) -> tuple[str, ...]:
    members = (member for base in cls.__mro__ for member in vars(base).items())
    slots = (name for name, member in members if type(member) is MemberDescriptorType)
    # A class written in C has the sizes of its structure there.
    return tuple(name for name in slots if not name.endswith("offset__"))


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an instance, without the values of its cached properties."""
    cls: Any = type(value)
    cached = functools.cached_property
    slots = {name: getattr(value, name) for name in _slots(cls) if hasattr(value, name)}
    stored = {**getattr(value, "__dict__", {})}
    return slots | {k: v for k, v in stored.items() if type(getattr(cls, k, None)) is not cached}


class State:
    """A value that code reads and may change. `counted` is the digest that counts."""

    latest = counted = ""

    def __init__(self, value: Any, home: str) -> None:
        self.value, self.home = value, home

    def update(self) -> list[Any]:
        """Read the value again, and return the code that it leads to."""
        snapshot = Snapshot(self.value, self.home)
        # What changes while a tool runs is the state of the tools, and no change of them.
        if snapshot.text != self.latest and not (_running and self.latest):
            self.counted = snapshot.text
        self.latest = snapshot.text
        return snapshot.code


class _Run:
    """A run of a tool."""


_running: WeakSet[_Run] = WeakSet()
"""The runs now. One that an interrupt ends anywhere is gone with its frame."""
MAX_STATES = 2_000
_states: dict[tuple[int, str], State] = {}
"""By id of the value, which is kept so that no other gets its id, and by the tool's module."""


def state_of(value: Any, home: str) -> State:
    """Return the state of a value, the same one each time."""
    if (id(value), home) not in _states:
        while len(_states) >= MAX_STATES:
            del _states[next(iter(_states))]
        _states[id(value), home] = State(value, home)
    return _states[id(value), home]


@contextlib.contextmanager
def keeping_state() -> Iterator[None]:
    """Run a tool inside: the data that it changes leaves the versions of all tools as they are."""
    _update_states()
    run = _Run()
    _running.add(run)
    try:
        yield
    finally:
        _update_states()
        _running.discard(run)


def _update_states() -> None:
    for state in [*_states.values()]:
        state.update()


# -- what a function reaches ------------------------------------------------------------------


class Part(NamedTuple):
    """A piece of what a tool reaches, under the name that a person knows, and its content."""

    name: str
    text: str
    kind: str = "code"
    """`code`, `constant`, `container`, `object` or `package`."""


PLAIN_BASES = {"abc", "builtins", "enum", "typing"}
"""The modules whose classes call no method of a subclass but special ones."""
FIELDS = {"__pydantic_fields__", "_field_defaults", "_member_map_"}
"""What a class of pydantic, a named tuple and an enum have of their fields."""


class Reader:
    """Follows what a function reaches by name: each function, class and module once."""

    def __init__(self, function: Any, owner: type | None) -> None:
        self.home = getattr(getattr(function, "func", function), "__module__", None) or ""
        self.parts: list[Part] = []
        self._assigned: set[str] = set()
        self._filled: set[str] = set()
        self._attributes = {"__getattr__"}
        """What the code has behind a dot: members of these names count."""
        self._holders: list[tuple[Any, Set[str]]] = []
        """The modules and classes, with the members that count without being named."""
        self._seen: dict[Any, Any] = {}
        self._next: deque[tuple[str, Any]] = deque()
        self._in_data: deque[tuple[str, Any]] = deque()
        """What data leads to comes last: a tool may add to it while it runs."""
        is_function = isinstance(function, FunctionType)
        self._next.extend([("", function)] if is_function else [])
        if not is_function:
            self._value("", "", function)
        if owner is not None:
            self._next.append(("", owner))
        while self._next or self._add_members() or self._in_data:
            name, value = (self._next or self._in_data).popleft()
            if id(value) not in self._seen:
                self._seen[id(value)] = value
                self._follow(name, value)
        # A variable that the code assigns, and a container that it fills, are state.
        states = {
            *(
                (name, kind)
                for name in self._assigned
                for kind in ("constant", "container", "object")
            ),
            *((name, "container") for name in self._filled),
        }
        self.parts = [part for part in self.parts if (part.name, part.kind) not in states]

    def _follow(self, name: str, value: Any) -> None:
        if not isinstance(value, (ModuleType, type)):
            self._function(name, value)
        elif self._is_ours(value.__name__ if isinstance(value, ModuleType) else value.__module__):
            implicit = self._class(value) if isinstance(value, type) else set()
            self._holders.append((value, implicit))

    def _is_ours(self, module: str) -> bool:
        """Return whether a module is followed. The version of an installed package counts."""
        if is_local(module, self.home):
            return True
        root = module.partition(".")[0]
        if root not in self._seen:
            self._seen[root] = root
            if version := package_version(root):
                self.parts.append(Part(root, version, "package"))
        return False

    def _value(self, name: str, key: str, value: Any) -> None:
        """Add the value of a variable or an attribute `key`, which a person knows as `name`."""
        cls = type(value)
        if cls in SCALARS:
            self.parts.append(Part(name, f"{key}={value!r}", "constant"))
        elif issubclass(cls, CODE):
            self._next.append((getattr(value, "__qualname__", name), value))
        else:
            state = state_of(value, self.home)
            self._in_data.extend((getattr(v, "__qualname__", name), v) for v in state.update())
            kind = "container" if issubclass(cls, CONTAINERS) else "object"
            self.parts.append(Part(name, f"{key}={state.counted}", kind))

    def _function(self, name: str, function: FunctionType) -> None:
        space, code, held = function.__globals__, function.__code__, vars(function)
        module = space.get("__name__") or ""
        if self._is_ours(module):
            digest, names = code_names(code)
            self.parts.append(Part(name, digest))
            self._attributes.update(names.get("attributes", ()))
            self._assigned.update(names["assigned"])
            self._filled.update(names.get("filled", ()))
            for key, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
                # A variable may have no value yet.
                if cell != CellType():
                    self._value(key, key, cell.cell_contents)
            for key in names.get("variables", ()):
                if key in space:
                    self._value(key, key, space[key])
            defaults = {str(n): default for n, default in enumerate(function.__defaults__ or ())}
            for key, default in (defaults | (function.__kwdefaults__ or {})).items():
                self._value(name, key, default)
            for imported in names.get("modules", ()):
                for full in (imported, f"{space.get('__package__')}.{imported}"):
                    if full in sys.modules:
                        self._next.append(("", sys.modules[full]))
                    else:
                        self._is_ours(full)
            self._next.extend(("", cls) for cls in annotated_classes(function))
        else:
            self.parts.append(Part(name, f"{module}.{function.__qualname__}"))
            if "__wrapped__" not in held:
                return
        for key in sorted(held.keys() - {"__toolcall__"}):
            if key == "__wrapped__":
                self._next.append((name, held[key]))
            else:
                self._value(name, key, held[key])

    def _class(self, cls: type) -> Set[str]:
        """Add the bases of a class; return the members that run without being named."""
        bases = cls.__mro__
        self.parts.append(Part(cls.__qualname__, " ".join(base.__qualname__ for base in bases)))
        self._next.extend(("", base) for base in (type(cls), *bases[1:-1]) if base is not type)
        foreign = {base.__module__ for base in bases} - PLAIN_BASES
        # A class of a package may call any method of a subclass.
        is_called = not all(is_local(module, self.home) for module in foreign)
        methods = (
            key
            for key, member in vars(cls).items()
            if isinstance(member, (FunctionType, classmethod, staticmethod))
            and (is_called or key.startswith("__"))
            and not is_generated(cls, key, member)
        )
        return FIELDS.union(methods)

    def _add_members(self) -> bool:
        """Follow the members that the code names by now, and return whether there is more."""
        for holder, implicit in [*self._holders]:
            members, title = vars(holder), getattr(holder, "__qualname__", "")
            for key in sorted((self._attributes | implicit) & members.keys()):
                if (id(holder), key) not in self._seen:
                    self._seen[id(holder), key] = holder
                    name = title if key in FIELDS else f"{title}.{key}" if title else key
                    self._value(name, name, members[key])
        return bool(self._next)


def is_generated(cls: type, name: str, method: Any) -> bool:
    """Return whether a dataclass generated a method of fields that its `__init__` has too."""
    code = getattr(getattr(method, "__wrapped__", method), "__code__", None)
    is_text = getattr(code, "co_filename", "") == "<string>"
    return is_text and name != "__init__" and hasattr(cls, "__dataclass_fields__")


_WORD = re.compile(r"[A-Za-z_]\w*")


def annotated_classes(function: FunctionType) -> Iterator[type]:
    """Yield the classes that a function's annotations name."""
    try:
        annotations = function.__annotations__
    # They may be computed only now, and name something that does not exist.
    except Exception:
        return
    for annotation in annotations.values():
        words = _WORD.findall(annotation) if isinstance(annotation, str) else ()
        values = (function.__globals__.get(word) for word in words)
        yield from (value for value in (annotation, *values) if isinstance(value, type))


# -- versions ---------------------------------------------------------------------------------


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
        for version in self._inner:
            forget(version)


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
    """Return the digest of all that a function reaches; of a built-in one, of its name."""
    parts = Reader(function, owner).parts
    return digest_text("code", *(text for part in parts for text in part[:2]))


def parts_of(
    function: Callable[..., Any], owner: type | None = None, *, without: Collection[str] = ()
) -> Mapping[str, str]:
    """Return the digest of each part of a function by name; "" is the function itself.

    Parts whose kind is in `without` are left out.
    """
    contents: dict[str, list[str]] = {}
    for part in Reader(function, owner).parts:
        if part.kind not in without:
            contents.setdefault(part.name, []).append(part.text)
    return {name: digest_text("part", *texts)[:16] for name, texts in contents.items()}
