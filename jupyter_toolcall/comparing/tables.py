"""Two tables in plain Python, cell by cell: lists of records, columns by name, rows of cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from .cells import PLAIN, alike, cell, cell_text
from .differences import Cell, Difference, Same, Tables, Unknown
from .matching import Pair, pairs

ROWS, WIDE = 5_000, 200
"""So many rows and columns are compared."""
ALIGNED = 2_000
"""Up to so many rows are aligned by what stands in them."""
CELLS, LABELS = 60, 12


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, and what it is called: its number, from 0."""

    label: str
    cells: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table as plain data; `height` counts the rows that are not here too."""

    columns: tuple[str, ...]
    rows: Sequence[Row]
    height: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.height, len(self.columns)


def is_table(value: Any) -> bool:
    """Return whether a value in plain Python is a table."""
    return _is_records(value) or _is_columns(value)


def grid(value: Any) -> Grid:
    """Return a table in plain Python as a grid."""
    if isinstance(value, Mapping):
        rows = islice(zip(*value.values(), strict=True), ROWS)
        return numbered([*map(cell_text, value)], rows, len(next(iter(value.values()))))
    columns = [*dict.fromkeys(key for row in value[:ROWS] for key in row)][:WIDE]
    cells = ([row.get(column, _NONE) for column in columns] for row in value[:ROWS])
    return numbered([*map(cell_text, columns)], cells, len(value))


def numbered(columns: Sequence[str], rows: Any, height: int) -> Grid:
    """Return a grid whose rows are called by their numbers."""
    return Grid(tuple(columns), [Row(str(n), cells) for n, cells in enumerate(rows)], height)


def _is_records(value: Any) -> bool:
    """A list of records: dictionaries with texts as keys."""
    return (
        isinstance(value, (list, tuple))
        and len(value) > 0
        and all(isinstance(row, dict) and all(type(key) is str for key in row) for row in value)
    )


def _is_columns(value: Any) -> bool:
    """Columns by name: lists of one length, that hold plain values."""
    columns = [*value.values()] if isinstance(value, dict) else []
    if not all(isinstance(column, (list, tuple)) and len(column) > 1 for column in columns):
        return False
    several = len(columns) > 1 and len({len(column) for column in columns}) == 1
    plain = all(type(each) in PLAIN for column in columns for each in column[:ROWS])
    return several and plain


class _Missing:
    """What stands where a record has no such key."""

    def __repr__(self) -> str:
        return "–"


_NONE = _Missing()


def compared(a: Grid, b: Grid) -> Difference:
    """Return how two grids differ."""
    both = [name for name in a.columns if name in set(b.columns)]
    common = both if a.columns == b.columns else sorted(both)
    places = [[each.columns.index(name) for name in common] for each in (a, b)]
    cells: list[Cell] = []
    lone: tuple[list[str], list[str]] = ([], [])
    changed = 0
    for left, right in _side_by_side(a, b, places):
        if left is None or right is None:
            side = 0 if right is None else 1
            lone[side].append((left or right or Row("", ())).label)
            continue
        unlike = [*_unlike(left, right, common, places)]
        changed += len(unlike)
        cells += unlike[: CELLS - len(cells)]
    columns = (_but(a.columns, b.columns), _but(b.columns, a.columns))
    if not (changed or any(columns) or any(lone)) and a.shape == b.shape:
        return _same(a)
    names = tuple(lone[0][:LABELS]), tuple(lone[1][:LABELS])
    unread = (a.height - len(a.rows)) - (b.height - len(b.rows))
    alone = len(lone[0]) + max(0, unread), len(lone[1]) + max(0, -unread)
    return Tables(a.shape, b.shape, tuple(cells), changed, columns, names, alone)


def _same(a: Grid) -> Difference:
    if a.height <= len(a.rows):
        return Same()
    return Unknown(f"the first {len(a.rows):,} rows are the same; the rest was not compared")


def _but(names: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    known = set(others)
    return tuple(name for name in names if name not in known)


def _side_by_side(a: Grid, b: Grid, places: list[list[int]]) -> Sequence[Pair[Row]]:
    """Return the rows as they belong together: by what stands in them, or by number."""
    if len(a.rows) == len(b.rows) or max(len(a.rows), len(b.rows)) > ALIGNED:
        return [*pairs(a.rows, b.rows, ())]
    keys = {
        id(row): "\0".join(cell_text(row.cells[n]) for n in where)
        for rows, where in zip((a.rows, b.rows), places, strict=True)
        for row in rows
    }
    return [*pairs(a.rows, b.rows, [lambda row: keys[id(row)]])]


def _unlike(left: Row, right: Row, names: Sequence[str], places: list[list[int]]) -> Iterator[Cell]:
    for name, i, j in zip(names, *places, strict=True):
        if not alike(left.cells[i], right.cells[j]):
            at = int(left.label) + 1, int(right.label) + 1
            yield cell((left.label, right.label), name, left.cells[i], right.cells[j], at)
