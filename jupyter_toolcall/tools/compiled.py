"""What compiled code says: its bytes, the names that it speaks of, and those that it binds."""

from __future__ import annotations

import dis
import functools
from types import CodeType
from typing import Any

PLAIN = (str, int, float, bool, bytes, type(None))


@functools.lru_cache(4_096)
def code_texts(code: CodeType) -> tuple[str, ...]:
    """Return what compiled code is, without its place in a file."""
    texts = [code.co_code.hex(), repr((code.co_names, code.co_varnames))]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            texts += code_texts(constant)
        elif isinstance(constant, frozenset):
            texts.append(repr(sorted(map(repr, constant))))
        else:
            texts.append(repr(constant))
    return tuple(texts)


@functools.lru_cache(4_096)
def names_in(code: CodeType) -> tuple[str, ...]:
    """Return the names of what is outside of a function, as its code speaks of it."""
    return _told(code, ("LOAD_GLOBAL", "LOAD_NAME"))


@functools.lru_cache(4_096)
def attributes_in(code: CodeType) -> tuple[str, ...]:
    """Return the names that code has behind a dot."""
    return _told(code, ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM"))


@functools.lru_cache(4_096)
def imported_by(code: CodeType) -> tuple[str, ...]:
    """Return the modules that code imports where it runs."""
    return _told(code, ("IMPORT_NAME",))


@functools.lru_cache(4_096)
def rebound_by(code: CodeType) -> frozenset[str]:
    """Return the names outside of a function that it binds anew."""
    ways = ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF")
    own = {each.argval for each in dis.get_instructions(code) if each.opname in ways}
    inner = (rebound_by(each) for each in code.co_consts if isinstance(each, CodeType))
    return frozenset(own.union(*inner) - {*code.co_cellvars})


def _told(code: CodeType, ways: tuple[str, ...]) -> tuple[str, ...]:
    own = [each.argval for each in dis.get_instructions(code) if each.opname in ways]
    inner = [_told(each, ways) for each in code.co_consts if isinstance(each, CodeType)]
    return tuple(dict.fromkeys([*own, *(name for names in inner for name in names)]))


def is_plain(value: Any) -> bool:
    """Return whether a value is a constant that its `repr` tells."""
    if isinstance(value, tuple):
        return all(map(is_plain, value))
    return isinstance(value, PLAIN)


def plainly(value: Any) -> str:
    """Return a constant as text; of anything else its type."""
    return repr(value) if is_plain(value) else type(value).__qualname__
