"""Cells, labels and names of columns: whether two are the same, and what is shown of them."""

from __future__ import annotations

import datetime
import math
import re
from typing import Any

from ..core.interface_text import t
from ..core.text import shortened_text
from ..tools.plain_data import describe
from .differences import CellPair

LONG = 60
PLAIN = (str, int, float, bool, bytes, type(None))
NUMBER = r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
"""The text of a number. `007` is none: as a number it loses its zeros, as a postal code does."""
EXACT = 2**53
"""Whole numbers below this one are exact as floats."""


def alike(a: object, b: object) -> bool:
    """Return whether two cells are the same; nothing is asked of classes that are not ours."""
    if type(a) is type(b) and type(a) in PLAIN:
        return bool(a == b) or (is_nothing(a) and is_nothing(b))
    a, b = _plain(a), _plain(b)
    if type(a) in PLAIN and type(b) in PLAIN:
        numbers = all(isinstance(value, (int, float)) for value in (a, b))
        same = (numbers or type(a) is type(b)) and bool(a == b)
        return same or (is_nothing(a) and is_nothing(b))
    return type(a) is type(b) and describe(a, 1_000) == describe(b, 1_000)


def reads_alike(a: object, b: object) -> bool:
    """Return whether two cells are the same, or one is the text of the other, which is a number,
    a bool or a date: `"4.50"` and `4.5`."""
    text, other = (a, _plain(b)) if type(a) is str else (b, _plain(a))
    if type(text) is str and text == (_date_text(other) or None):
        return True
    if type(text) is not str or type(other) not in (int, float, bool):
        return alike(a, b) or (is_nothing(a) and is_nothing(b))
    if type(other) is bool:
        return text.lower() == str(other).lower()
    if re.fullmatch(NUMBER, text) is None:
        return False
    return text == str(other) or (abs(other) < EXACT and float(text) == other)


def cell(
    rows: tuple[str, str], column: str, left: object, right: object, at: tuple[int, int] = (0, 0)
) -> CellPair:
    """Return a cell that differs; where both read alike, their types are added.

    `rows` are what its row is called on either side, `at` the row's numbers from 1.
    """
    texts = [cell_content(left), cell_content(right)]
    if texts[0] == texts[1]:
        texts = [f"{texts[0]} ({type(value).__name__})" for value in (left, right)]
    return CellPair(" | ".join(dict.fromkeys(rows)), column, texts[0], texts[1], *at)


def cell_content(value: object) -> str:
    """Return what is shown of the content of a cell, which may be empty."""
    return t("empty") if is_nothing(value) else cell_text(value)


def cell_text(value: object) -> str:
    """Return what is shown of a cell, a label or a name of a column."""
    text = value if type(value) is str else _date_text(value) or describe(_plain(value), LONG + 1)
    return shortened_text(text, LONG)


def _date_text(value: Any) -> str:
    """Return a date as ISO text, without the time at midnight; "" for any other value."""
    of_pandas = (type(value).__name__, type(value).__module__[:6]) == ("Timestamp", "pandas")
    if type(value) is datetime.date:
        return value.isoformat()
    if type(value) is not datetime.datetime and (not of_pandas or value.nanosecond):
        return ""
    return str(value).removesuffix(" 00:00:00")


def is_nothing(value: object) -> bool:
    """Return whether a cell is empty: None, NaN, or what pandas has for these."""
    if type(value).__name__ in ("NaTType", "NAType"):
        return True
    return value is None or (isinstance(value, float) and math.isnan(value))


def _plain(value: Any) -> Any:
    """A number of numpy is a number."""
    named = type(value).__module__ == "numpy" and getattr(value, "shape", None) == ()
    return value.item() if named else value
