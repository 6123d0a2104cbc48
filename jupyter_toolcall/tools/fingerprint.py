"""The version of a function: a digest of its code and of the helpers that it calls.

It is computed from compiled code, so comments and moving a cell change nothing, and it
follows the functions and plain constants of the same module that the code names, and
those that it closes over.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

from ..digest import digest_text

_PLAIN = (str, int, float, bool, bytes, type(None))


def fingerprint(function: Callable[..., Any]) -> str:
    """Return the version of a function; of what has no Python code, its name's digest."""
    return digest_text("code", *_parts(function, set()))


def _parts(function: Any, seen: set[int]) -> Iterator[str]:
    while isinstance(function, functools.partial):
        yield from map(_plainly, function.args)
        yield from (
            f"{key}={_plainly(function.keywords[key])}" for key in sorted(function.keywords)
        )
        function = function.func
    function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType):
        yield f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', '')}"
        return
    if id(function) in seen:
        return
    seen.add(id(function))
    yield from _code(function.__code__)
    yield _plainly(function.__defaults__)
    yield _plainly(tuple(sorted((function.__kwdefaults__ or {}).items())))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield from _value(name, _held(cell), function, seen)
    for name in _names(function.__code__):
        yield from _named(function, name, seen)


def _named(function: FunctionType, name: str, seen: set[int]) -> Iterator[str]:
    yield from _value(name, function.__globals__.get(name), function, seen)


def _value(name: str, value: Any, near: FunctionType, seen: set[int]) -> Iterator[str]:
    if isinstance(value, FunctionType) and value.__module__ == near.__module__:
        yield from _parts(value, seen)
    elif value is not None and _is_plain(value):
        yield f"{name}={value!r}"


def _held(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _code(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        elif isinstance(constant, frozenset):
            yield repr(sorted(map(repr, constant)))
        else:
            yield repr(constant)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)


def _plainly(value: Any) -> str:
    return repr(value) if _is_plain(value) else type(value).__qualname__
