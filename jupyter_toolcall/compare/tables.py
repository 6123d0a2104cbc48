"""How two tables differ, cell by cell: records and columns of plain Python, frames, arrays."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..tools.value_copies import describe
from .differences import Cell, Difference, Same, Tables, Unknown
from .matching import Pair, pairs

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
    """Return a cell that differs; where both read alike, their types are added."""
    texts = [cell_text(left), cell_text(right)]
    if texts[0] == texts[1]:
        texts = [f"{texts[0]} ({type(value).__name__})" for value in (left, right)]
    return Cell(rows, column, texts[0], texts[1], at)


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


def grid_of(value: Any) -> Grid | None:
    """Return a table of plain Python, a frame or an array as a grid; None for other values."""
    numpy = sys.modules.get("numpy")
    if _is_columns(value):
        rows = islice(zip(*value.values(), strict=True), ROWS)
        return _numbered([*map(cell_text, value)], rows, len(next(iter(value.values()))))
    if _is_records(value):
        columns = [*dict.fromkeys(key for row in value[:ROWS] for key in row)][:WIDE]
        cells = ([row.get(column, _NONE) for column in columns] for row in value[:ROWS])
        return _numbered([*map(cell_text, columns)], cells, len(value))
    if _is_frame(value):
        read = _framed(value).iloc[:ROWS, :WIDE]
        rows = read.itertuples(index=False, name=None)
        return _numbered([*map(cell_text, read.columns)], rows, len(value))
    if numpy is not None and isinstance(value, numpy.ndarray) and value.ndim in (1, 2):
        rows, wide = value[:ROWS].tolist(), value.ndim == 2
        names = [str(n) for n in range(value.shape[1] if wide else 1)]
        return _numbered(names, rows if wide else [[each] for each in rows], value.shape[0])
    return None


def _numbered(columns: Sequence[str], rows: Any, height: int) -> Grid:
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


def _is_frame(value: Any) -> bool:
    """Return whether a value is a frame or a series of pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series))


def have_labels(left: Any, right: Any) -> bool:
    """Return whether the rows of two frames are told apart by their labels.

    Where both are numbered and one is longer, a row may have got another number.
    """
    if not (_is_frame(left) and _is_frame(right)):
        return False
    if not (left.index.is_unique and right.index.is_unique):
        return False
    return len(left) == len(right) or not all(
        isinstance(each.index, sys.modules["pandas"].RangeIndex)
        and (each.index.start, each.index.step) == (0, 1)
        for each in (left, right)
    )


def frames(left: Any, right: Any) -> Difference:
    """Return how two frames differ, row by label and column by name."""
    a, b = _framed(left), _framed(right)
    names = [*map(cell_text, a.columns)], [*map(cell_text, b.columns)]
    columns = (
        tuple(n for n in names[0] if n not in names[1]),
        tuple(n for n in names[1] if n not in names[0]),
    )
    common = [n for n in names[0] if n in names[1]]
    common = common if names[0] == names[1] else sorted(common)
    places = [(names[0].index(name), names[1].index(name)) for name in common]
    alone = a.index[~a.index.isin(b.index)], b.index[~b.index.isin(a.index)]
    one, other = _aligned(a, b)
    unlike = [_rows_that_differ(one.iloc[:, i], other.iloc[:, j]) for i, j in places]
    changed = sum(map(len, unlike))
    if not changed and not any(columns) and not any(map(len, alone)):
        return Same()
    cells = _cells(one, other, common, places, unlike, whole=one is a and other is b)
    labels = tuple(tuple(map(cell_text, each[:LABELS])) for each in alone)
    return Tables(
        a.shape,
        b.shape,
        cells,
        changed,
        columns,
        (labels[0], labels[1]),
        (len(alone[0]), len(alone[1])),
    )


def _framed(value: Any) -> Any:
    return value.to_frame() if isinstance(value, sys.modules["pandas"].Series) else value


def _aligned(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the rows that both have, in one order."""
    if a.index.equals(b.index):
        return a, b
    one, other = a.loc[a.index.isin(b.index)], b.loc[b.index.isin(a.index)]
    if one.index.equals(other.index):
        return one, other
    order = sorted(range(len(one)), key=lambda n: cell_text(one.index[n]))
    one = one.iloc[order]
    return one, other.reindex(one.index)


def _rows_that_differ(a: Any, b: Any) -> list[int]:
    """Return where two columns differ; values of no common kind are told apart one by one."""
    if "object" not in (str(a.dtype), str(b.dtype)):
        try:
            unlike = (a.array != b.array) & ~(a.isna().to_numpy() & b.isna().to_numpy())
            marks = sys.modules["pandas"].Series(unlike).fillna(True).to_numpy(dtype=bool)
            rows: list[int] = marks.nonzero()[0].tolist()
            return rows
        # Columns that can't be compared as a whole, such as times with and without a zone.
        except (TypeError, ValueError):
            pass
    return [n for n, (x, y) in enumerate(zip(a, b, strict=True)) if not alike(x, y)]


def _cells(
    one: Any,
    other: Any,
    names: Sequence[str],
    places: Sequence[tuple[int, int]],
    unlike: Sequence[Sequence[int]],
    whole: bool,
) -> tuple[Cell, ...]:
    """Return the first cells that differ, from above; `whole`: no row was left out or moved."""
    places_of_cells = ((row, n) for n, rows in enumerate(unlike) for row in rows[:CELLS])
    first = sorted(places_of_cells)[:CELLS]
    return tuple(
        cell(
            (cell_text(one.index[row]),) * 2,
            names[number],
            one.iat[row, places[number][0]],
            other.iat[row, places[number][1]],
            (row + 1, row + 1) if whole else (0, 0),
        )
        for row, number in first
    )
