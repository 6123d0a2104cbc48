"""Pieces of a grammar in GBNF, the notation of llama.cpp: texts that make other texts.

An expression here can stand in a sequence as it is. Nothing here knows of tools or of
schemas, and none of it allows white space that was not asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

DIGIT = "[0-9]"
MANY = 15
"""Digits of a whole number that has no bounds of its own."""
FRACTION = '"." [0-9]{1,6}'


def literal(text: str) -> str:
    """Return the expression for exactly this text."""
    return f'"{"".join(map(_escaped, text))}"' if text else '""'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    return char if char.isprintable() else code(char)


def code(char: str) -> str:
    """Return a character by its number."""
    number = ord(char)
    if number > 0xFFFF:
        return f"\\U{number:08X}"
    return f"\\u{number:04X}" if number > 0xFF else f"\\x{number:02X}"


def plain(value: Any) -> str:
    """Return the expression for one JSON value."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return literal(text)


def either(options: Iterable[str]) -> str:
    """Return the expression for one of these. There has to be one."""
    distinct = list(dict.fromkeys(options))
    return distinct[0] if len(distinct) == 1 else f"({' | '.join(distinct)})"


def times(expression: str, least: int, most: int) -> str:
    """Return the expression for so many in a row."""
    if (least, most) == (1, 1):
        return expression
    return f"({expression}){{{least}}}" if least == most else f"({expression}){{{least},{most}}}"


def listed(item: str, least: int, most: int) -> str:
    """Return the expression for a JSON list of so many items."""
    if most <= 0:
        return '"[]"'
    more = times(f'"," {item}', max(least - 1, 0), most - 1) if most > 1 else ""
    whole = f"{item} {more}".rstrip()
    return f'"[" {whole} "]"' if least > 0 else f'"[" ({whole})? "]"'


# -- numbers ---------------------------------------------------------------------------------


def integer(least: int | None = None, most: int | None = None) -> str | None:
    """Return the expression for an integer between bounds; None where there is none."""
    below = _natural(max(1, -most) if most is not None else 1, _minus(least))
    above = _natural(max(0, least or 0), most)
    return _signed(below, above)


def number(least: int | None = None, most: int | None = None) -> str | None:
    """Return the expression for a number between whole bounds; None where there is none."""
    below = _broken(max(0, -most) if most is not None else 0, _minus(least))
    above = _broken(max(0, least or 0), most)
    return _signed(below if least is None or least < 0 else None, above)


def _signed(below: str | None, above: str | None) -> str | None:
    parts = [f'"-" {below}'] if below else []
    return either([*parts, *([above] if above else [])]) if parts or above else None


def _broken(low: int, high: int | None) -> str | None:
    """Numbers from `low` to `high`: with a fraction below `high`, whole up to it."""
    if high is None:
        return f"{_natural(low, None)} ({FRACTION})?"
    inside, top = _natural(low, high - 1), _natural(max(low, high), high)
    parts = [*([f"{inside} ({FRACTION})?"] if inside else []), *([top] if top else [])]
    return either(parts) if parts else None


def _minus(bound: int | None) -> int | None:
    return -bound if bound is not None else None


def _natural(low: int, high: int | None) -> str | None:
    """Return the expression for a whole number from `low`, 0 or more, to `high`."""
    if high is None:
        longer = f"[1-9] {times(DIGIT, len(str(low)), max(MANY, len(str(low)) + 1))}"
        return either([_between(low, 10 ** len(str(low)) - 1), longer])
    return _between(low, high) if low <= high else None


def _between(low: int, high: int) -> str:
    lengths = range(len(str(low)), len(str(high)) + 1)
    starts = (max(low, 10 ** (length - 1) if length > 1 else 0) for length in lengths)
    ends = (min(high, 10**length - 1) for length in lengths)
    return either(_span(str(a), str(b)) for a, b in zip(starts, ends, strict=True))


def _span(low: str, high: str) -> str:
    """Return the expression for the numbers between two of one length."""
    first, last = int(low[0]), int(high[0])
    nines, zeros = "9" * len(low[1:]), "0" * len(low[1:])
    if first == last:
        return _digits(first, last, low[1:], high[1:])
    starts = [_digits(first, first, low[1:], nines)] if low[1:] != zeros else []
    ends = [_digits(last, last, zeros, high[1:])] if high[1:] != nines else []
    first, last = first + len(starts), last - len(ends)
    middle = [_digits(first, last, zeros, nines)] if first <= last else []
    return either([*starts, *middle, *ends])


def _digits(first: int, last: int, low: str, high: str) -> str:
    """Return the expression for a first digit, and what may follow each of these."""
    head = f'"{first}"' if first == last else f"[{first}-{last}]"
    if not low:
        return head
    free = int(low) == 0 and set(high) == {"9"}
    return f"{head} {times(DIGIT, len(low), len(low)) if free else _span(low, high)}"
