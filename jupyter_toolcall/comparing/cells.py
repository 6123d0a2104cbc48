"""A cell of a table: whether two are alike, and how one is shown."""

from __future__ import annotations

import math
from typing import Any

from ..content.value import describe
from .differences import Cell

LONG = 60
PLAIN = (str, int, float, bool, bytes, type(None))


def alike(a: Any, b: Any) -> bool:
    """Return whether two cells are the same; nothing is asked of classes that are not ours."""
    a, b = _plain(a), _plain(b)
    if type(a) in PLAIN and type(b) in PLAIN:
        numbers = all(isinstance(each, (int, float)) for each in (a, b))
        same = (numbers or type(a) is type(b)) and bool(a == b)
        return same or (_is_nothing(a) and _is_nothing(b))
    return type(a) is type(b) and describe(a, 1_000) == describe(b, 1_000)


def cell(
    rows: tuple[str, str], column: str, left: Any, right: Any, at: tuple[int, int] = (0, 0)
) -> Cell:
    """Return a cell that differs; where both read alike, their types are told too."""
    said = cell_text(left), cell_text(right)
    if said[0] == said[1]:
        said = (
            f"{said[0]} ({type(left).__name__})",
            f"{said[1]} ({type(right).__name__})",
        )
    return Cell(rows, column, *said, at)


def cell_text(value: Any) -> str:
    """Return what is shown of a cell, a label or a name of a column."""
    text = value if type(value) is str else describe(_plain(value), LONG + 1)
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _plain(value: Any) -> Any:
    """A number of numpy is a number."""
    named = type(value).__module__ == "numpy" and getattr(value, "shape", None) == ()
    return value.item() if named else value
