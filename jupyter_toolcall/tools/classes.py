"""What a class holds that a program runs without naming it, and what stands behind its names."""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Iterator
from types import FunctionType
from typing import Any

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
