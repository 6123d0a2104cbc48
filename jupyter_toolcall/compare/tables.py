"""How two tables differ, cell by cell: records and columns of plain Python, frames, arrays."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..core.interface_text import t
from ..core.text import unique_names
from .cells import PLAIN, alike, cell, cell_text
from .differences import Cell, ColumnChange, Difference, Same, Tables, Unknown
from .frame_columns import frame_of
from .matching import Pair, pairs

ROWS, WIDE = 5_000, 200
"""So many rows and columns are compared."""
ALIGNED = 2_000
"""Up to so many rows are aligned by what stands in them."""
CELLS, LABELS = 60, 12
SMALL_ARRAY = 1_000
"""Elements of an array whose cells are shown."""
READ = 60_000
"""Cells that are compared one by one, which takes about a microsecond each."""


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


def grid_of(value: Any) -> Grid | None:
    """Return a table of plain Python, a frame or a small array as a grid; None for other values."""
    if _is_columns(value):
        names = [*map(cell_text, value)]
        rows = islice(zip(*value.values(), strict=True), _rows_read(len(names)))
        return _numbered(names, rows, len(next(iter(value.values()))))
    if _is_records(value):
        columns = [*dict.fromkeys(key for row in value[:ROWS] for key in row)][:WIDE]
        read = value[: _rows_read(len(columns))]
        cells = ([row.get(column, _NONE) for column in columns] for row in read)
        return _numbered([*map(cell_text, columns)], cells, len(value))
    if (frame := frame_of(value)) is not None:
        names = frame.names[:WIDE]
        head = frame.take(range(min(frame.height, _rows_read(len(names)))))
        lists = [head.cells(head.column(number)) for number in range(len(names))]
        return _numbered(names, zip(*lists, strict=True), frame.height)
    if isinstance(value, (list, tuple)) and len(value) > ROWS:
        return _numbered(["value"], ([each] for each in value[:ROWS]), len(value))
    return _array_grid(value)


def _array_grid(value: Any) -> Grid | None:
    """Return an array of one or two dimensions as a grid; None for a larger one."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray) or value.dtype.names:
        return None
    if value.ndim not in (1, 2) or value.size > SMALL_ARRAY or value.shape[-1] > WIDE * value.ndim:
        return None
    wide, rows = value.ndim == 2, value.tolist()
    names = [str(n) for n in range(value.shape[1] if wide else 1)]
    return _numbered(names, rows if wide else [[each] for each in rows], value.shape[0])


def _rows_read(width: int) -> int:
    return min(ROWS, max(100, READ // max(1, width)))


def _numbered(columns: Sequence[str], rows: Any, height: int) -> Grid:
    """Return a grid whose rows are called by their numbers."""
    rows = [Row(str(n), cells) for n, cells in enumerate(rows)]
    return Grid(tuple(unique_names(columns)), rows, height)


def _is_records(value: Any) -> bool:
    """A list of records: dictionaries with texts as keys."""
    return (
        isinstance(value, (list, tuple))
        and len(value) > 0
        and all(
            isinstance(row, dict) and all(type(key) is str for key in row) for row in value[:ROWS]
        )
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
    counts = Counter[str]()
    for left, right in _side_by_side(a, b, places):
        if left is None or right is None:
            side = 0 if right is None else 1
            lone[side].append((left or right or Row("", ())).label)
            continue
        unlike = [*_unlike(left, right, common, places)]
        counts.update(each.column for each in unlike)
        cells += unlike[: CELLS - len(cells)]
    columns = (names_alone(a.columns, b.columns), names_alone(b.columns, a.columns))
    if not (counts or any(columns) or any(lone)) and a.shape == b.shape:
        return _same(a)
    names = tuple(lone[0][:LABELS]), tuple(lone[1][:LABELS])
    unread = (a.height - len(a.rows)) - (b.height - len(b.rows))
    alone = len(lone[0]) + max(0, unread), len(lone[1]) + max(0, -unread)
    by_column = tuple(ColumnChange(name, counts[name]) for name in common if name in counts)
    changed = sum(counts.values())
    is_part = any(each.height > len(each.rows) for each in (a, b))
    read = max(len(a.rows), len(b.rows)) if is_part else 0
    return Tables(a.shape, b.shape, (*cells,), changed, columns, names, alone, by_column, read)


def _same(a: Grid) -> Difference:
    if a.height <= len(a.rows):
        return Same()
    return Unknown(t("the first %1 rows are the same; the rest was not compared", len(a.rows)))


def names_alone(names: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Return the names that the others do not have."""
    known = set(others)
    return tuple(name for name in names if name not in known)


def _side_by_side(a: Grid, b: Grid, places: list[list[int]]) -> Sequence[Pair[Row]]:
    """Return the rows as they belong together: by what stands in them, or by number.

    Where there are more rows on one side, and most differ, none belong together: they are of
    another table, such as one of groups.
    """
    if len(a.rows) == len(b.rows):
        return [*pairs(a.rows, b.rows, ())]
    keys = {
        id(row): "\0".join(cell_text(row.cells[n]) for n in where)
        for rows, where in zip((a.rows, b.rows), places, strict=True)
        for row in rows
    }
    is_short = max(len(a.rows), len(b.rows)) <= ALIGNED
    together = [*pairs(a.rows, b.rows, [lambda row: keys[id(row)]] if is_short else ())]
    same = sum(keys.get(id(left)) == keys.get(id(right)) for left, right in together)
    if 2 * same >= min(len(a.rows), len(b.rows)):
        return together
    return [*((row, None) for row in a.rows), *((None, row) for row in b.rows)]


def _unlike(left: Row, right: Row, names: Sequence[str], places: list[list[int]]) -> Iterator[Cell]:
    for name, i, j in zip(names, *places, strict=True):
        if not alike(left.cells[i], right.cells[j]):
            at = int(left.label) + 1, int(right.label) + 1
            yield cell((left.label, right.label), name, left.cells[i], right.cells[j], at)
