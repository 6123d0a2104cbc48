"""Pieces of Python code, and what they need to run: names that a module has, or the module."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import inspect
import keyword
import math
import operator
import pathlib
import sys
import types
import unicodedata
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from ..core.interrupts import attempt, class_name
from ..core.recorded_data import FrozenDict, FrozenList
from ..tools.value_digests import content_digest, is_frozen, is_local

WIDE = 96
"""Characters of a line, also of a comment; a longer call has a line for each argument."""
INDENT = "    "


class Unwritable(Exception):
    """No code says it; the message says what it is, in a few words."""


@dataclass(frozen=True, slots=True)
class Need:
    """What code uses: a name that a module has, or the module itself (no name)."""

    module: str
    name: str = ""
    thing: Any = None
    """The very function or class, where it is at hand: its name may mean another one by now."""


@dataclass(frozen=True, slots=True)
class Code:
    """A piece of code, and what it needs."""

    text: str
    needs: frozenset[Need] = field(default_factory=frozenset)

    def then(self, text: str) -> Code:
        """Return this code with more text behind it."""
        return Code(self.text + text, self.needs)


def of_module(module: str, text: str, name: str = "") -> Code:
    """Return code that uses a module by its name, or what the module has under `name`."""
    return Code(text, frozenset({Need(module, name)}))


def joined(opened: str, parts: Iterable[Code], closed: str, between: str = ", ") -> Code:
    """Return parts in a row, with what is around and between them."""
    codes = list(parts)
    needs = frozenset(need for code in codes for need in code.needs)
    return Code(f"{opened}{between.join(code.text for code in codes)}{closed}", needs)


def call(
    head: Code,
    first: Iterable[Code] = (),
    named: Mapping[str, Code] | None = None,
    last: Iterable[Code] = (),
) -> Code:
    """Return the call of what `head` says: values in their order, and by name.

    A name that code cannot have as a keyword stands in a dict. A long call has a line for
    each argument.
    """
    parts = [*first, *_keywords(named or {}), *last]
    one = joined(f"{head.text}(", parts, ")")
    if len(one.text) > WIDE and parts:
        one = joined(f"{head.text}(\n{INDENT}", parts, ",\n)", f",\n{INDENT}")
    return Code(one.text, one.needs | head.needs)


def _keywords(named: Mapping[str, Code]) -> Iterable[Code]:
    odd = [(Code(repr(name)), code) for name, code in named.items() if not is_name(name)]
    yield from (joined(f"{name}=", [code], "") for name, code in named.items() if is_name(name))
    if odd:
        yield joined("**", [record(odd)], "")


def record(items: Iterable[tuple[Code, Code]]) -> Code:
    """Return a dict of keys and values."""
    return joined("{", (joined("", item, "", ": ") for item in items), "}")


def is_name(text: str) -> bool:
    """Return whether code can have a text as a name, and as no other one."""
    plain = unicodedata.normalize("NFKC", text) == text
    return plain and text.isidentifier() and not keyword.iskeyword(text)


MAIN = "__main__"
OURS = __name__.partition(".")[0]


def is_of_package(module: str | None) -> bool:
    """Return whether a module is a part of this package. Code of `exec` may have no module."""
    return str(module).partition(".")[0] == OURS


def reference(thing: Any) -> Code:
    """Return how code names a class or a function: as its definition does.

    What has no definition has the name of the variable that holds it. Raises Unwritable where
    there is none.
    """
    if isinstance(thing, functools.partial):
        named = {name: written(value) for name, value in thing.keywords.items()}
        parts = [reference(thing.func), *map(written, thing.args)]
        return call(of_module("functools", "functools.partial"), parts, named)
    if inspect.ismethod(thing):
        return reference(thing.__self__).then(f".{thing.__name__}")
    bare = inspect.unwrap(thing)
    if is_defined_by_you(bare):
        name = definition_name(bare)
        if "<lambda>" in name:
            raise Unwritable("a lambda, which has no name that a script can call")
        return Code(name, frozenset({Need(bare.__module__, name.partition(".")[0], thing)}))
    home = next(iter((*_homes(thing), *variables_of(bare))), None)
    if home is None:
        name = getattr(thing, "__qualname__", None) or type(thing).__name__
        raise Unwritable(f"{name}, which no module has under a name")
    module, name = home
    if module == "builtins":
        return Code(name)
    return of_module(module, name, name.partition(".")[0])


def is_defined_by_you(bare: object) -> bool:
    """Return whether a thing is a function or a class of the person's own code."""
    module = getattr(bare, "__module__", None)
    is_code = isinstance(bare, (type, types.FunctionType))
    return is_code and isinstance(module, str) and is_local(module)


def definition_name(bare: Any) -> str:
    """Return the name in the definition of a function, of a class, or of a function's code."""
    code = getattr(bare, "__code__", bare)
    name = bare.__qualname__ if isinstance(bare, type) else code.co_qualname
    return str(name).rpartition("<locals>.")[2]


def _homes(thing: object) -> Iterator[tuple[str, str]]:
    """Yield the modules that have a thing, the one nearest to the top of its package first."""
    home = module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or "<" in name:
        return
    parts = module.split(".")
    packages = [".".join(parts[: n + 1]) for n in range(len(parts))]
    for top in packages if "." not in name and module != MAIN else [module]:
        named = attempt(operator.attrgetter(name), sys.modules.get(top))[0]
        # A class that was defined again, as by a cell that ran twice, is found under its name.
        now = getattr(named, "__module__", None), getattr(named, "__qualname__", None)
        if named is thing or now == home:
            yield top, name


def variables_of(thing: object) -> Iterator[tuple[str, str]]:
    """Yield the variables of modules that hold a thing, such as an instance."""
    for module in dict.fromkeys((getattr(thing, "__module__", None), MAIN)):
        held = vars(sys.modules[module]) if module in sys.modules else {}
        yield from (
            (str(module), name)
            for name, value in list(held.items())
            if value is thing and not name.startswith("_")
        )


Holder = Callable[[Any], Code | None]
"""From a value to the variable that holds it; None where none does."""


DEEPEST, LONGEST = 40, 50_000
"""Levels of a value, and characters of a literal, that are written."""


LONG_INT = 1 << 4096
"""Python reads no decimal literal that is much longer."""


FUNCTIONS = (type, types.FunctionType, types.BuiltinFunctionType)


BY_REPR = (datetime.date, datetime.time, datetime.timedelta, datetime.timezone)
"""Types whose `repr` is code that uses their module."""


BY_TEXT = (
    *(decimal.Decimal, fractions.Fraction, uuid.UUID),
    *(type(pathlib.Path()), pathlib.PurePosixPath, pathlib.PureWindowsPath),
)
"""Types that are made of their text."""


def written(value: object, held: Holder = lambda value: None) -> Code:
    """Return a value as code. Raises Unwritable, which says what the value is."""
    code = _tried(value, lambda: _written(value, held, 0))
    if len(code.text) > LONGEST:
        raise Unwritable(f"{with_article(type(value).__name__)} of {len(code.text):,} characters")
    return code


def _tried(value: object, write: Callable[[], Code]) -> Code:
    """Return the code of a value. Raises Unwritable, also where the value's class raises."""

    def code_or_error() -> Code | Unwritable:
        try:
            return write()
        except Unwritable as error:
            return error

    code, raised = attempt(code_or_error)
    if code is None:
        raise Unwritable(f"{with_article(class_name(type(value)))} whose class raises {raised}")
    if isinstance(code, Unwritable):
        raise code
    return code


def _written(value: object, held: Holder, depth: int) -> Code:
    if depth > DEEPEST:
        raise Unwritable(f"a value that is nested deeper than {DEEPEST} levels")
    if (variable := held(value)) is not None:
        return variable
    if (plain := _scalar(value)) is not None:
        return plain

    def inner(part: object) -> Code:
        return _written(part, held, depth + 1)

    return _container(value, inner) or _instance(value, inner)


def _scalar(value: Any) -> Code | None:
    cls = type(value)
    if cls is str:
        return Code(quoted(value))
    if value is None or value is ... or cls in (bool, bytes):
        return Code(repr(value) if value is not ... else "...")
    if cls is int:
        return Code(repr(value) if abs(value) < LONG_INT else hex(value))
    if cls is float:
        return Code(repr(value) if math.isfinite(value) else f'float("{value}")')
    if cls is complex:
        parts = (_scalar(value.real), _scalar(value.imag))
        return joined("complex(", (part for part in parts if part), ")")
    zones = (types.NoneType, datetime.timezone)
    is_plain_time = cls is datetime.datetime and type(value.tzinfo) in zones
    if cls in BY_REPR or is_plain_time:
        return of_module("datetime", repr(value))
    if cls in BY_TEXT:
        module = cls.__module__.partition(".")[0]
        # A script may run on another system: there a path is of another class.
        name = "Path" if isinstance(value, pathlib.Path) else cls.__name__
        return of_module(module, f"{module}.{name}({str(value)!r})")
    if isinstance(value, FUNCTIONS):
        return reference(value)
    return None


def constant(value: object) -> Code:
    """Return a value that no call changes as code. Raises Unwritable."""
    return _tried(value, lambda: _constant(value))


def _constant(value: object) -> Code:
    if isinstance(value, types.ModuleType):
        return of_module(value.__name__, value.__name__)
    if isinstance(value, FUNCTIONS) or hasattr(value, "__wrapped__"):
        return reference(value)
    if _is_constant(value):
        return written(value)
    raise Unwritable(f"{with_article(type(value).__name__)} that cannot be written as code")


def _is_constant(value: Any) -> bool:
    """Return whether a value is plain data."""
    if type(value) in (list, dict, set, tuple):
        return all(map(_is_constant, [*value.items()] if isinstance(value, dict) else value))
    return is_frozen(value)


def quoted(text: str) -> str:
    """Return a text as a literal, in double quotes where it has no quotes of its own."""
    plain = repr(text)
    return plain if '"' in text or "'" in text else f'"{plain[1:-1]}"'


_PLAIN: dict[type, type] = {FrozenDict: dict, FrozenList: list}
"""The plain classes of recorded data."""


def _container(value: Any, inner: Callable[[Any], Code]) -> Code | None:
    cls = _PLAIN.get(type(value), type(value))
    if cls is list:
        return joined("[", map(inner, value), "]")
    if cls is tuple:
        return joined("(", map(inner, value), ",)" if len(value) == 1 else ")")
    if cls in (set, frozenset):
        parts = sorted(map(inner, value), key=lambda part: part.text)
        body = joined("{", parts, "}") if parts else Code("set()")
        return body if cls is set else call(Code("frozenset"), [body] if parts else [])
    if cls is dict:
        return record((inner(key), inner(item)) for key, item in value.items())
    return None


def _instance(value: object, inner: Callable[[Any], Code]) -> Code:
    cls = plain_class(type(value))
    if hasattr(value, "get_secret_value"):
        raise Unwritable("a secret")
    if isinstance(value, enum.Enum):
        return _member(value, reference(cls))
    head = reference(cls)
    if isinstance(value, tuple) and hasattr(cls, "_fields"):
        return call(head, named={name: inner(getattr(value, name)) for name in cls._fields})
    for arguments in _ways(value, cls):
        if _makes(cls, arguments, value):
            return call(head, named={key: inner(item) for key, item in arguments.items()})
    # Past its constructor, it is made of its attributes.
    if not is_attributes(cls):
        raise Unwritable(with_article(cls.__name__))
    return call(MADE, [head], {name: inner(item) for name, item in vars(value).items()})


def plain_class(cls: Any) -> Any:
    """A model that was made to take objects by name stands for the model that it was made of."""
    base = cls.__bases__[0] if issubclass(cls, BaseModel) else cls
    is_importable = next(_homes(cls), None) is not None
    return base if base.__name__ == cls.__name__ and not is_importable else cls


def _member(value: enum.Enum, head: Code) -> Code:
    named = type(value).__members__.get(value.name or "") is value
    if named:
        return head.then(f".{value.name}" if is_name(value.name) else f"[{value.name!r}]")
    plain = _scalar(value.value)
    if plain is None:
        raise Unwritable(f"{with_article(type(value).__name__)} without a name")
    return call(head, [plain])


def _ways(value: Any, cls: Any) -> Iterator[dict[str, Any]]:
    """Yield arguments with which a class may make a value."""
    if isinstance(value, BaseModel):
        fields = cls.model_fields
        values = {name: getattr(value, name) for name in fields if name in value.model_fields_set}
        values |= value.model_extra or {}
        yield {(fields[key].alias if key in fields else None) or key: values[key] for key in values}
        yield values
    elif dataclasses.is_dataclass(cls):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(cls) if f.init}
        default = {f.name: _default(f) for f in dataclasses.fields(cls)}
        yield {key: item for key, item in fields.items() if not _alike(item, default[key])}
        yield fields
    elif is_local(cls.__module__):
        held = {name.lstrip("_"): item for name, item in getattr(value, "__dict__", {}).items()}
        yield {}
        signature, _ = attempt(inspect.signature, cls)
        yield {name: held[name] for name in getattr(signature, "parameters", ()) if name in held}


def _default(field: dataclasses.Field[Any]) -> object:
    """Return what a field is where it is left out; each time a new list."""
    factory: Any = field.default_factory
    return factory() if factory in (list, dict, set, tuple) else field.default


def _makes(cls: Any, arguments: Mapping[str, Any], value: Any) -> bool:
    """Return whether a class makes an equal value of these arguments: it is tried."""
    # What a class says to arguments that are not its own is up to it.
    return bool(attempt(lambda: _alike(cls(**arguments), value))[0])


def _alike(one: object, other: object) -> bool:
    """Return whether two values are equal, as far as can be told."""
    content = content_digest(one)
    return content != "" and content == content_digest(other)


def is_attributes(cls: Any) -> bool:
    """Return whether instances are their attributes and nothing else."""
    ways = ("__reduce__", "__reduce_ex__", "__getstate__", "__new__")
    is_python = all(base is object or base.__flags__ & (1 << 9) for base in cls.__mro__)
    bare = all(getattr(cls, way) is getattr(object, way) for way in ways)
    return is_python and bare and not any(getattr(base, "__slots__", ()) for base in cls.__mro__)


MADE, FILL_IN, ITEMS = (Code(name) for name in ("_made", "_fill_in", "_items"))
"""The functions of a script that make an instance out of its attributes, stand for a value which
the script does not have, and read an asynchronous generator."""


HELPERS: Mapping[str, str] = {
    MADE.text: '''\
def _made(cls, /, **attributes):
    """Return an instance of a class with these attributes."""
    made = cls.__new__(cls)
    made.__dict__.update(attributes)
    return made
''',
    FILL_IN.text: '''\
def _fill_in(what):
    """Stop the script at a value that it does not have."""
    raise NotImplementedError(f"{what}; write the value in place of this _fill_in(...)")
''',
    ITEMS.text: '''\
async def _items(generator):
    """Return the items of an asynchronous generator as a list."""
    return [item async for item in generator]
''',
}
"""The functions that a script may need, by name."""


def placeholder(what: str) -> Code:
    """Return what raises where a value is missing; `what` says which value, and why."""
    return call(FILL_IN, [Code(quoted(what))])


def with_article(kind: str) -> str:
    """Return a type's name with its article: `a Potato`, `an Image`."""
    return f"{'an' if kind[:1] in 'AEIOUaeiou' else 'a'} {kind}"
