"""A value as code: literals, and the constructors of classes that code can name.

Data is carried as literals alone. What no literal says is refused, in words.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import inspect
import math
import pathlib
import types
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from ..core.interrupts import attempt, class_name
from ..tools.value_digests import content_digest
from .code import Code, Unwritable, call, is_found, is_name, is_yours, joined, of_module, reference
from .wording import one

Held = Callable[[Any], Code | None]
"""From a value to the variable that holds it; None where none does."""
DEEPEST, LONGEST = 40, 50_000
"""Levels of a value, and characters of a literal, that are written."""
LONG_INT = 1 << 4096
"""Python reads no decimal literal that is much longer."""
BY_REPR: Mapping[type, str] = {
    datetime.date: "datetime",
    datetime.time: "datetime",
    datetime.timedelta: "datetime",
    datetime.timezone: "datetime",
}
"""Types whose `repr` is code that uses this module."""
BY_TEXT: Mapping[type, tuple[str, str]] = {
    decimal.Decimal: ("decimal", "Decimal"),
    fractions.Fraction: ("fractions", "Fraction"),
    uuid.UUID: ("uuid", "UUID"),
    pathlib.PosixPath: ("pathlib", "Path"),
    pathlib.WindowsPath: ("pathlib", "Path"),
    pathlib.PurePosixPath: ("pathlib", "PurePosixPath"),
    pathlib.PureWindowsPath: ("pathlib", "PureWindowsPath"),
}
"""Types that are made of their text."""


def nobody(value: Any) -> None:
    """No variable holds a value."""


def written(value: Any, held: Held = nobody) -> Code:
    """Return a value as code. Raises Unwritable, which says what the value is."""
    code, raised = attempt(_tried, value, held)
    if code is None:
        raise Unwritable(f"{one(class_name(type(value)))} whose class raises {raised}")
    if isinstance(code, Unwritable):
        raise code
    if len(code.text) > LONGEST:
        raise Unwritable(f"{one(type(value).__name__)} of {len(code.text):,} characters")
    return code


def _tried(value: Any, held: Held) -> Code | Unwritable:
    try:
        return _written(value, held, 0)
    except Unwritable as error:
        return error


def _written(value: Any, held: Held, depth: int) -> Code:
    if depth > DEEPEST:
        raise Unwritable(f"a value that is nested deeper than {DEEPEST} levels")
    known = held(value)
    if known is not None:
        return known
    plain = _scalar(value)
    if plain is not None:
        return plain

    def inner(part: Any) -> Code:
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
    if cls in BY_REPR:
        return of_module(BY_REPR[cls], repr(value))
    if cls is datetime.datetime and type(value.tzinfo) in (types.NoneType, datetime.timezone):
        return of_module("datetime", repr(value))
    if cls in BY_TEXT:
        module, name = BY_TEXT[cls]
        return of_module(module, f"{module}.{name}({str(value)!r})")
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return reference(value)
    return None


def quoted(text: str) -> str:
    """Return a text as a literal, in double quotes where it has no quotes of its own."""
    plain = repr(text)
    return plain if '"' in text or "'" in text else f'"{plain[1:-1]}"'


def _container(value: Any, inner: Callable[[Any], Code]) -> Code | None:
    cls = type(value)
    if cls is list:
        return joined("[", map(inner, value), "]")
    if cls is tuple:
        return joined("(", map(inner, value), ",)" if len(value) == 1 else ")")
    if cls in (set, frozenset):
        parts = sorted(map(inner, value), key=lambda part: part.text)
        body = joined("{", parts, "}") if parts else Code("set()")
        return body if cls is set else call(Code("frozenset"), [body] if parts else [])
    if cls is dict:
        return joined("{", (_pair(inner(k), inner(v)) for k, v in value.items()), "}")
    return None


def _pair(key: Code, item: Code) -> Code:
    return joined("", (key, item), "", ": ")


# -- instances --------------------------------------------------------------------------


def _instance(value: Any, inner: Callable[[Any], Code]) -> Code:
    cls = known_class(type(value))
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
    return _by_attributes(value, cls, head, inner)


def known_class(cls: Any) -> Any:
    """A model that was made to take objects by name stands for the model that it was made of."""
    base = cls.__bases__[0] if issubclass(cls, BaseModel) else cls
    return base if base.__name__ == cls.__name__ and not is_found(cls) else cls


def _member(value: enum.Enum, head: Code) -> Code:
    named = type(value).__members__.get(value.name or "") is value
    if named:
        return head.then(f".{value.name}" if is_name(value.name) else f"[{value.name!r}]")
    plain = _scalar(value.value)
    if plain is None:
        raise Unwritable(f"{one(type(value).__name__)} without a name")
    return call(head, [plain])


def _ways(value: Any, cls: Any) -> Iterator[dict[str, Any]]:
    """Yield arguments with which a class may make a value."""
    if isinstance(value, BaseModel):
        fields = cls.model_fields
        given = {name: getattr(value, name) for name in fields if name in value.model_fields_set}
        given |= value.model_extra or {}
        yield {(fields[key].alias if key in fields else None) or key: given[key] for key in given}
        yield given
    elif dataclasses.is_dataclass(cls):
        known = {f.name: getattr(value, f.name) for f in dataclasses.fields(cls) if f.init}
        default = {f.name: _default(f) for f in dataclasses.fields(cls)}
        yield {key: item for key, item in known.items() if not _alike(item, default[key], 0)}
        yield known
    elif is_yours(cls.__module__):
        held = {name.lstrip("_"): item for name, item in getattr(value, "__dict__", {}).items()}
        yield {}
        yield {name: held[name] for name in _parameters(cls) if name in held}


def _parameters(cls: Any) -> list[str]:
    try:
        return list(inspect.signature(cls).parameters)
    except (TypeError, ValueError):
        return []


def _default(field: dataclasses.Field[Any]) -> Any:
    """Return what a field is where it is left out; a list is made anew."""
    made: Any = field.default_factory
    return made() if made in (list, dict, set, tuple) else field.default


def _makes(cls: Any, arguments: Mapping[str, Any], value: Any) -> bool:
    """Return whether a class makes an equal value of these arguments: it is tried."""
    # What a class says to arguments that are not its own is up to it.
    return bool(attempt(lambda: _alike(cls(**arguments), value, 0))[0])


def _alike(one: Any, other: Any, depth: int) -> bool:
    """Return whether two values are equal, as far as can be told."""
    if one is other:
        return True
    cls = known_class(type(one))
    if cls is not known_class(type(other)) or depth > DEEPEST:
        return False
    if cls in (list, tuple):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_alike(a, b, depth + 1) for a, b in pairs)
    if cls is dict:
        return one.keys() == other.keys() and all(_alike(one[k], other[k], depth + 1) for k in one)
    if isinstance(one, BaseModel) or is_attributes(cls):
        return _alike(vars(one), vars(other), depth + 1)
    content = content_digest(one)
    return content != "" and content == content_digest(other)


def is_attributes(cls: Any) -> bool:
    """Return whether instances are their attributes and nothing else."""
    ways = ("__reduce__", "__reduce_ex__", "__getstate__", "__new__")
    made = all(base is object or base.__flags__ & (1 << 9) for base in cls.__mro__)
    bare = all(getattr(cls, way) is getattr(object, way) for way in ways)
    return made and bare and not any(getattr(base, "__slots__", ()) for base in cls.__mro__)


def _by_attributes(value: Any, cls: Any, head: Code, inner: Callable[[Any], Code]) -> Code:
    """Return what makes a value out of its attributes, past its class's constructor."""
    if not is_attributes(cls):
        raise Unwritable(one(cls.__name__))
    return call(MADE, [head], {name: inner(item) for name, item in vars(value).items()})


MADE = Code("_made")
"""The function of a script that makes an instance out of its attributes."""
MADE_TEXT = '''\
def _made(cls, /, **attributes):
    """Return an instance of a class with these attributes."""
    made = cls.__new__(cls)
    made.__dict__.update(attributes)
    return made
'''
