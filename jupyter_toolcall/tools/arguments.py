"""The arguments of a call, before anything is made of them: JSON, and of sane size.

A model is any function, and a person writes Python, so that arguments may hold anything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..content.value import well_formed
from ..digest import encode
from ..errors import CallError
from ..events import Call

LONGEST = 1_000_000
"""Characters of one call's arguments."""
DEEPEST = 64
"""Levels of lists and objects in one call's arguments."""


def readable(arguments: object) -> dict[str, Any]:
    """Return arguments as JSON data. Raises CallError, which says what is not JSON."""
    if not isinstance(arguments, (dict, Mapping)):
        raise CallError('the arguments are not an object, such as {"name": "value"}')
    if _is_short_and_flat(arguments):
        return dict(arguments)
    data: dict[str, Any] = _plain(arguments, "", 0)
    try:
        size = len(encode(data))
    except ValueError:
        raise CallError("the arguments hold a number that is too long") from None
    if size > LONGEST:
        raise CallError(f"the arguments are longer than {LONGEST:,} characters ({size:,})")
    return data


def _is_short_and_flat(arguments: Mapping[Any, Any]) -> bool:
    """Return whether arguments are a few scalars, which need no further look."""
    for key, value in arguments.items():
        kind = type(value)
        if kind is str:
            plain = len(value) < 10_000 and value.isascii()
        elif kind is int:
            plain = -(1 << 63) < value < 1 << 63
        else:
            plain = value is None or kind is bool
        if not (plain and type(key) is str and len(key) < 100 and key.isascii()):
            return False
    return len(arguments) < 50


def _plain(value: Any, place: str, depth: int) -> Any:
    if depth > DEEPEST:
        raise CallError(f"the arguments are nested deeper than {DEEPEST} levels")
    match value:
        case None | bool() | int():
            return value
        case str():
            return _text(value, place)
        case float():
            if not math.isfinite(value):
                raise _refused(place, f"{value} is not JSON; give a finite number, or leave it out")
            return value
        case dict() | Mapping():
            return {_key(k, place): _plain(v, f"{place}.{k}", depth + 1) for k, v in value.items()}
        case list() | tuple():
            return [_plain(item, f"{place}.{i}", depth + 1) for i, item in enumerate(value)]
    kind = type(value).__name__
    raise _refused(place, f"a {kind} is not JSON; name an object instead, such as {kind}#1")


def _text(text: str, place: str) -> str:
    if not text.isascii() and well_formed(text) != text:
        raise _refused(place, "the text holds half of a Unicode character")
    return text


def _key(key: object, place: str) -> str:
    if not isinstance(key, str):
        raise _refused(place, f"the key {key!r:.60} is not a text; keys are texts in JSON")
    return _text(key, place)


def _refused(place: str, said: str) -> CallError:
    where = place.strip(".")[:80] or "arguments"
    return CallError(f"{where}: {said}", {where: said})


def sound(call: Call) -> Call:
    """Return a call that can be written down; where it can't be read, it is broken."""
    call_id, tool = _short(call.id), _short(call.tool)
    try:
        return Call(call_id, tool, readable(call.arguments), call.broken)
    except CallError as error:
        return Call(call_id, tool, {}, call.broken or str(error))


def _short(name: object) -> str:
    if type(name) is str and len(name) <= 200 and name.isascii():
        return name
    return well_formed(str(name)[:200])
