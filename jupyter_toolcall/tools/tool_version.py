"""The version of a tool: one digest of its code, and of what of yours that reaches by name.

A function counts as it was compiled, which is its source without layout and comments: a worker has
no other. Functions, classes, modules and data of the notebook and of files that are not installed
are followed; of what is installed the name counts, and the version of its package. What code
changes while it runs is its state, and no part of it. `docs/explanation/immutable-objects.md`
states the limits.
"""

from __future__ import annotations

import dis
import functools
import importlib.metadata
import re
import sys
from collections import deque
from collections.abc import Callable, Mapping, Set
from itertools import chain
from types import CellType, CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

from ..core.digests import digest_text
from ..core.interrupts import attempt
from .value_digests import SCALARS, attributes_of, content_digest, functions_in, is_data, is_local

PYTHON = ".".join(map(str, sys.version_info[:2]))
"""Compiled code, and so the version of a tool, is another one in each of these."""
MAX_ITEMS = 10_000
"""Items of a container, or rows of a table: of more of them nobody made a constant."""
_CODE = (FunctionType, type, ModuleType)
_CONTAINERS = (list, tuple, dict, set, frozenset, deque, MappingProxyType)
_FIELDS = ["__dataclass_fields__", "__pydantic_fields__", "__attrs_attrs__", "_field_defaults"]
_FIELDS += ["__pydantic_decorators__", "_member_map_"]
"""Where a class has the defaults of its fields, its validators, and the members of an enum."""
_HOLDING = {"attr._make", "builtins", "collections", "dataclasses", "functools"}
_HOLDING |= {"pydantic.fields", "pydantic._internal._decorators"}
"""The modules of what holds functions, such as a property, a partial, a field or a validator."""
_HELD = ["__func__", "__self__", "__wrapped__", "func", "args", "keywords", "fget", "fset", "fdel"]
_HELD += ["default", "default_factory", "factory", "dispatcher"]
_HELD += ["validators", "field_validators", "root_validators", "model_validators"]
_MAKING = {"__init__", "__new__", "__post_init__", "__setstate__"}
"""The methods that give a new object its attributes."""
_SHOWING = {"__repr__", "__str__", "__format__", "__sizeof__", "__dir__"}
"""The methods that show a value: they count where code makes a text of a value."""

# -- the names in code ------------------------------------------------------------------------

_KINDS = {
    **dict.fromkeys(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"), "variables"),
    **dict.fromkeys(("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM"), "members"),
    **dict.fromkeys(("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF"), "state"),
    **dict.fromkeys(("STORE_ATTR", "DELETE_ATTR"), "assigned"),
    "IMPORT_NAME": "modules",
}
"""What the name in an instruction is."""
_TEXTS = {"str", "repr", "ascii", "format", "print", ".format", ".format_map"}
_FORMATS = {"FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC", "%", "%="}
"""The functions and methods, and the instructions and operators, that make a text of a value."""
_ITEMS = {"STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"}
FILLING = {*dir(list), *dir(dict), *dir(set), *dir(deque)}
FILLING -= {*dir(tuple), *dir(frozenset), *dir(MappingProxyType)}
"""The methods that change the container that they are called on."""


@functools.lru_cache(4_096)
def names_in(code: CodeType) -> Mapping[str, Set[str]]:
    """Return the names that code uses, with the functions in it, by kind.

    These are `variables`, `modules` that it imports, `members`, which stand behind a dot or are a
    text, and `state`, which it changes: of a container whose items it changes, the last name in
    front of these. Members have a dot.
    """
    names: dict[str, set[str]] = {kind: set() for kind in _KINDS.values()}
    names["members"].update(f".{part}" for part in code.co_consts if type(part) is str)
    last: dict[Any, str] = {}
    for step in dis.get_instructions(code):
        kind = _KINDS.get(step.opname, "")
        # All parts of `a.b[key].append` begin in the source where `a` does.
        begin = step.positions and step.positions[::2]
        if step.opname in _ITEMS or (kind == "members" and step.argval in FILLING):
            names["state"].add(last.get(begin, ""))
        if kind:
            last[begin] = f".{step.argval}" if kind in ("members", "assigned") else step.argval
            names[kind].add(last[begin])
        if {step.opname, step.argrepr} & _FORMATS or (kind and last[begin] in _TEXTS):
            names["members"].update(f".{name}" for name in _SHOWING)
    if "globals" in names["variables"]:
        names["variables"].update(name[1:] for name in names["members"])
    names["variables"].difference_update(code.co_freevars, code.co_cellvars)
    names["state"].update(names["assigned"] if code.co_name not in _MAKING else ())
    for inner in (part for part in code.co_consts if isinstance(part, CodeType)):
        for kind, inner_names in names_in(inner).items():
            names[kind] |= inner_names
    names["state"].difference_update(code.co_cellvars, {""})
    return names


# -- what a function reaches ------------------------------------------------------------------

_digest_of_code: Callable[[CodeType], str] = functools.lru_cache(4_096)(content_digest)


class _Reader:
    """Follows what a function, or a method of `owner`, reaches: each thing once."""

    def __init__(self, function: object, owner: type | None) -> None:
        function = getattr(function, "__func__", function)
        bare = getattr(function, "func", function)
        self._home, self._own = (getattr(bare, n, "") for n in ("__module__", "__qualname__"))
        self.texts = [("", "", _name(function))]
        """The title of a part, its name among the state, and its content."""
        self._names, self.state = set[str](), set[str]()
        self._holders = list[tuple[str, dict[str, Any]]]()
        """The members that no code has named so far, by the name in front of their dot."""
        self._seen = dict[int, Any]()
        """By id, with the value itself, so that no other gets its id meanwhile."""
        self._code, self._data = deque([("", function), ("", owner)]), deque[tuple[str, Any]]()
        """Data are read after the code, which says what of it is state."""
        while self._code or self._add_members() or self._data:
            # A value that cannot be read has no part.
            attempt(self._follow, *(self._code or self._data).popleft())

    def _add(self, name: str, value: object) -> None:
        (self._code if issubclass(type(value), _CODE) else self._data).append((name, value))

    def _hold(self, title: str, members: Mapping[str, object]) -> None:
        self._holders.append((title, {f".{name}": value for name, value in members.items()}))

    def _add_members(self) -> bool:
        """Add the members that code names by now, and return whether there is more to follow."""
        for title, members in self._holders:
            for name in sorted(self._names & members.keys()):
                self._add(f"{title}{name}", members.pop(name))
        return bool(self._code)

    def _follow(self, name: str, value: Any) -> None:
        """Read a value by the name that it has in code, such as `oil` or `Potato.rate`, or ""."""
        cls, state = type(value), "".join(name.rpartition(".")[1:])
        is_code, is_seen = issubclass(cls, _CODE), id(value) in self._seen
        if state in self.state and not is_code:
            return
        self._seen[id(value)] = value
        title = value.__qualname__ if issubclass(cls, (FunctionType, type)) else name
        title = "" if title == self._own else title
        if name or not is_code:
            # Which function a name stands for counts, besides what that does.
            text = f"{state}={self._content(name, value)}"
            self.texts.append((title, "" if is_code else state, text))
        if is_seen:
            return
        if issubclass(cls, FunctionType):
            self._function(title, value)
        elif issubclass(cls, type):
            self._class(title, value)
        elif issubclass(cls, ModuleType):
            members = vars(value)
            if not self._is_read(value.__name__):
                # Somebody may have put a function of theirs into it.
                functions = ((n, v) for n, v in members.items() if type(v) is FunctionType)
                members = {n: v for n, v in functions if self._is_followed(v.__module__)}
            self._hold(value.__name__, members)
        else:
            wrapped = {"__wrapped__"} & getattr(value, "__dict__", {}).keys()
            for held in _HELD if cls.__module__ in _HOLDING else wrapped:
                if hasattr(value, held):
                    self._add(name, getattr(value, held))
            if self._is_read(cls.__module__) or cls.__module__ == "types":
                self._add("", cls)
                self._hold(name, attributes_of(value))

    def _content(self, name: str, value: Any) -> str:
        """Return the content of data; of any other value the name. What it has is followed."""
        cls = type(value)
        if cls in SCALARS:
            return repr(value)
        if issubclass(cls, _CONTAINERS) and len(value) <= MAX_ITEMS:
            pairs = value.items() if issubclass(cls, (dict, MappingProxyType)) else [value]
            texts = [self._content(name, item) for part in pairs for item in part]
            return f"{_name(value)}{sorted(texts) if issubclass(cls, Set) else texts}"
        if id(value) not in self._seen:
            self._add(name, value)
        is_constant = not issubclass(cls, (*_CODE, *_CONTAINERS)) and is_data(value)
        is_small = is_constant and (attempt(len, value)[0] or 0) <= MAX_ITEMS
        return content_digest(value) if is_small else _name(value)

    def _function(self, title: str, function: FunctionType) -> None:
        code, space, names = function.__code__, function.__globals__, names_in(function.__code__)
        self.state |= names["state"]
        self._hold(title, vars(function))
        # What is installed may still hold functions of yours, as decorators do.
        held = function.__defaults__, function.__kwdefaults__, vars(function).get("__wrapped__")
        if any(part is not None for part in held):
            self._add(title, held)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            # A variable may have no value yet.
            if cell != CellType():
                self._add(name, cell.cell_contents)
        if self._is_read(space.get("__name__")):
            self.texts.append((title, "", _digest_of_code(code)))
            self._names |= names["members"]
            for name in sorted(names["variables"] & space.keys()):
                self._add(name, space[name])
            for name in sorted(names["modules"]):
                # It may not be imported yet.
                self._is_read(name)
                package = f"{space.get('__package__')}.{name}".rstrip(".")
                for full in sorted({name, name.partition(".")[0], package} & sys.modules.keys()):
                    self._add("", sys.modules[full])
            for annotation in (attempt(getattr, function, "__annotations__")[0] or {}).values():
                words = re.findall(r"[^\W\d]\w*", attempt(str, annotation)[0] or "")
                for named in (annotation, *map(space.get, words)):
                    if isinstance(named, type):
                        self._add("", named)

    def _class(self, title: str, cls: type) -> None:
        """Add what counts of a class beside the members that code names."""
        if not self._is_read(cls.__module__):
            return
        members = vars(cls)
        self.texts.append((title, "", str([base.__qualname__ for base in cls.__mro__])))
        self._hold(title, members)
        self._add(title, [members.get(key) for key in _FIELDS])
        for base in (type(cls), *cls.__mro__[1:]):
            self._add("", base)
        for name, member in members.items():
            for function in functions_in(member):
                code = getattr(function, "__code__", None)
                if isinstance(code, CodeType):
                    # Also a method that the tool does not call may change the state of an object.
                    self.state |= names_in(code)["state"]
                    # Operators run without a call by name. A dataclass generates some.
                    is_special = name[:2] == name[-2:] == "__" and name not in _SHOWING
                    if is_special and code.co_filename != "<string>":
                        self._add(f"{title}.{name}", member)

    def _is_followed(self, module: object) -> bool:
        return module == self._home or is_local(str(module))

    def _is_read(self, module: object) -> bool:
        """Return whether code of a module is read; of an installed one its package counts."""
        if self._is_followed(module):
            return True
        if package := _package(str(module).partition(".")[0]):
            self.texts.append((package, "", ""))
        return False


@functools.lru_cache(4_096)
def _package(name: str) -> str:
    """Return the name and the version of an installed package; "" for one of Python or ours."""
    if not name or name in sys.stdlib_module_names or name == __name__.partition(".")[0]:
        return ""
    version = importlib.metadata.version
    names = [name] if attempt(version, name)[0] else _distributions().get(name, ())
    return ", ".join(f"{other} {version(other)}" for other in sorted({*names}))


_distributions = functools.cache(importlib.metadata.packages_distributions)
"""Returns the names under which modules were installed, such as scikit-learn for sklearn. It reads
what is installed, in up to half a second: so once, and for a module of another name alone."""


def _name(value: object) -> str:
    """Return the name of a function, a class or a module; of any other value that of its class."""
    is_named = issubclass(type(value), (*_CODE, type(len)))
    named: Any = value if is_named else type(value)
    return f"{getattr(named, '__module__', '')}.{getattr(named, '__qualname__', named.__name__)}"


# -- versions -------------------------------------------------------------------------------


class Version:
    """The version of a tool: computed when first needed, and again once it is forgotten.

    `inner` are the versions that it is computed from.
    """

    def __init__(self, read: Callable[[], str], *inner: Callable[[], str]) -> None:
        self._read, self.inner, self.computed = read, inner, ""

    def __call__(self) -> str:
        self.computed = self.computed or self._read()
        return self.computed


def forget(version: Callable[[], str]) -> None:
    """Let a version be computed again, if it is one that is computed: code may have changed."""
    if isinstance(version, Version):
        version.computed = ""
        for inner in version.inner:
            forget(inner)


def version_of(function: object, owner: object = None, **others: object) -> Version:
    """Return the version of a function, or of a method of `owner`; `others` run beside it.

    It is the digest of all that these reach; of a built-in function, of its name.
    """
    parts = functools.partial(parts_of, function, owner, **others)
    return Version(lambda: digest_text("code", *chain.from_iterable(sorted(parts().items()))))


def parts_of(function: Any, owner: Any = None, **others: Any) -> Mapping[str, str]:
    """Return the digest of each part of a function by its name; "" is the function itself.

    So are those of the `others` that run beside it; they themselves have the name of their role.
    """
    contents: dict[str, set[str]] = {}
    for role, code in {"": function, **others}.items():
        reader = _Reader(code, None if role else owner)
        for title, name, text in reader.texts:
            if name not in reader.state:
                contents.setdefault(title or role, set()).add(text)
    return {name: digest_text("part", *sorted(texts))[:16] for name, texts in contents.items()}
