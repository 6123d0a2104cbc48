"""How two tables differ, cell by cell: records and columns of plain Python, frames, arrays."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..core.interrupts import attempt
from ..tools.value_copies import describe
from .differences import Cell, ColumnChange, Difference, Same, Tables, Unknown
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
LARGE, SAMPLE = 100_000, 10_000
"""Of a frame with more rows so many are compared, evenly spaced."""


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
    counts: dict[str, int] = {}
    for left, right in _side_by_side(a, b, places):
        if left is None or right is None:
            side = 0 if right is None else 1
            lone[side].append((left or right or Row("", ())).label)
            continue
        unlike = [*_unlike(left, right, common, places)]
        for each in unlike:
            counts[each.column] = counts.get(each.column, 0) + 1
        cells += unlike[: CELLS - len(cells)]
    columns = (_but(a.columns, b.columns), _but(b.columns, a.columns))
    if not (counts or any(columns) or any(lone)) and a.shape == b.shape:
        return _same(a)
    names = tuple(lone[0][:LABELS]), tuple(lone[1][:LABELS])
    unread = (a.height - len(a.rows)) - (b.height - len(b.rows))
    alone = len(lone[0]) + max(0, unread), len(lone[1]) + max(0, -unread)
    by_column = tuple(ColumnChange(name, counts[name]) for name in common if name in counts)
    changed = sum(counts.values())
    return Tables(a.shape, b.shape, tuple(cells), changed, columns, names, alone, by_column)


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


def is_pair_of_frames(left: Any, right: Any) -> bool:
    """Return whether two values are frames or series of pandas."""
    return _is_frame(left) and _is_frame(right)


def frames(left: Any, right: Any) -> Difference:
    """Return how two frames differ, row by label, or by a column that is a key.

    Of a large frame a sample is compared: all of its cells would take seconds.
    """
    a, b = _framed(left), _framed(right)
    if not _has_labels(a, b):
        key = None if max(len(a), len(b)) > LARGE else _key(a, b)
        if key is None:
            return _grids(a, b)
        a, b = a.set_index(key, drop=False), b.set_index(key, drop=False)
    pair = _sampled(a, b) if max(len(a), len(b)) > LARGE else _aligned(a, b)
    names = [*map(cell_text, a.columns)], [*map(cell_text, b.columns)]
    common = [n for n in names[0] if n in names[1]]
    common = common if names[0] == names[1] else sorted(common)
    places = [(names[0].index(name), names[1].index(name)) for name in common]
    columns = [(pair.left.iloc[:, i], pair.right.iloc[:, j]) for i, j in places]
    unlike = [_rows_that_differ(x, y) for x, y in columns]
    changes = map(_column_change, common, columns, unlike)
    result = Tables(
        a.shape,
        b.shape,
        _cells(pair, common, places, unlike),
        sum(map(len, unlike)),
        (_but(*names), _but(*names[::-1])),
        pair.labels,
        pair.alone,
        tuple(change for change in changes if change is not None),
        pair.sample,
    )
    if result.by_column or any(result.columns) or any(result.alone):
        return result
    if pair.sample:
        return Unknown(f"no difference in a sample of {pair.sample:,} of {len(a):,} rows")
    return Same()


def _grids(left: Any, right: Any) -> Difference:
    """Return how two frames differ whose rows have no labels in common."""
    if max(len(left), len(right)) > LARGE:
        names = [*map(cell_text, left.columns)], [*map(cell_text, right.columns)]
        return Tables(left.shape, right.shape, columns=(_but(*names), _but(*names[::-1])))
    a, b = grid_of(left), grid_of(right)
    assert a is not None
    assert b is not None
    return compared(a, b)


def _framed(value: Any) -> Any:
    return value.to_frame() if isinstance(value, sys.modules["pandas"].Series) else value


def _has_labels(a: Any, b: Any) -> bool:
    """Return whether the rows of two frames are told apart by their labels.

    Where rows are only numbered and one frame is longer, a row may have got another number.
    """
    numbered = all(map(_is_numbered, (a.index, b.index)))
    return a.index.is_unique and b.index.is_unique and (len(a) == len(b) or not numbered)


def _key(a: Any, b: Any) -> Any:
    """Return the first column of both frames that names the rows; None where none does."""
    if not (a.columns.is_unique and b.columns.is_unique):
        return None
    shared = [column for column in a.columns if column in b.columns]
    if shared != [column for column in b.columns if column in a.columns]:
        # The same key is chosen from either side.
        shared.sort(key=str)
    return next((column for column in shared if _is_key(a[column], b[column])), None)


def _is_numbered(index: Any) -> bool:
    plain = isinstance(index, sys.modules["pandas"].RangeIndex)
    return plain and (index.start, index.step) == (0, 1)


def _is_key(a: Any, b: Any) -> bool:
    """Return whether a column names the rows: whole numbers or texts, each once, most in both."""
    if a.dtype.kind not in "iuOTU" or b.dtype.kind not in "iuOTU" or a.hasnans or b.hasnans:
        return False
    unique, _ = attempt(
        lambda: bool(a.is_unique and b.is_unique and 2 * a.isin(b).sum() > min(len(a), len(b)))
    )
    return bool(unique)


@dataclass(frozen=True, slots=True)
class _PairedRows:
    """The rows that two frames have both, in one order, and what each has alone."""

    left: Any
    right: Any
    labels: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    alone: tuple[int, int] = (0, 0)
    in_place: bool = True
    """No row was left out, or moved."""
    sample: int = 0


def _aligned(a: Any, b: Any) -> _PairedRows:
    if a.index.equals(b.index):
        return _PairedRows(a, b)
    shared = a.index.isin(b.index), b.index.isin(a.index)
    lone = a.index[~shared[0]], b.index[~shared[1]]
    labels = tuple(map(cell_text, lone[0][:LABELS])), tuple(map(cell_text, lone[1][:LABELS]))
    one, other = a.loc[shared[0]], b.loc[shared[1]]
    if not one.index.equals(other.index):
        one = one.iloc[sorted(range(len(one)), key=lambda n: cell_text(one.index[n]))]
        other = other.reindex(one.index)
    return _PairedRows(one, other, labels, (len(lone[0]), len(lone[1])), in_place=False)


def _sampled(a: Any, b: Any) -> _PairedRows:
    """Return some of the rows that both have, evenly spaced."""
    # Not every nth row: what recurs every nth row would be all, or nothing, of the sample.
    rows = range(0, len(a), -(-len(a) // SAMPLE))
    chosen = [min(row + number * 7919 % rows.step, len(a) - 1) for number, row in enumerate(rows)]
    one = a.iloc[chosen]
    if len(a) == len(b) and a.index.equals(b.index):
        return _PairedRows(one, b.iloc[chosen], in_place=False, sample=len(one))
    positions = b.index.get_indexer(one.index)
    one, other = one.loc[positions >= 0], b.iloc[positions[positions >= 0]]
    more = len(a) - len(b)
    alone = max(0, more), max(0, -more)
    return _PairedRows(one, other, alone=alone, in_place=False, sample=len(one))


def _column_change(name: str, columns: tuple[Any, Any], rows: list[int]) -> ColumnChange | None:
    """Return how a column differs in some of its rows; None where it does not."""
    a, b = columns
    types = str(a.dtype), str(b.dtype)
    if not rows:
        return None if types[0] == types[1] else ColumnChange(name, types=types)
    before, now = a.iloc[rows], b.iloc[rows]
    empty = before.isna().to_numpy(), now.isna().to_numpy()
    by = None
    if len(rows) == len(a) and a.dtype.kind in "iuf" and b.dtype.kind in "iuf":
        steps = now.to_numpy(dtype=float) - before.to_numpy(dtype=float)
        same = bool(abs(steps - steps[0]).max() <= 1e-9 * max(1.0, abs(steps[0])))
        by = float(steps[0]) if same else None
    return ColumnChange(
        name,
        len(rows),
        int((empty[0] & ~empty[1]).sum()),
        int((empty[1] & ~empty[0]).sum()),
        by,
        types if types[0] != types[1] else ("", ""),
    )


def _rows_that_differ(a: Any, b: Any) -> list[int]:
    """Return where two columns differ; values of no common kind are told apart one by one."""
    if "object" not in (str(a.dtype), str(b.dtype)):
        try:
            unlike = (a.array != b.array) & ~(a.isna().to_numpy() & b.isna().to_numpy())
            flags = sys.modules["pandas"].Series(unlike).fillna(True).to_numpy(dtype=bool)
            rows: list[int] = flags.nonzero()[0].tolist()
            return rows
        # Columns that can't be compared as a whole, such as times with and without a zone.
        except (TypeError, ValueError):
            pass
    return [n for n, (x, y) in enumerate(zip(a, b, strict=True)) if not alike(x, y)]


def _cells(
    pair: _PairedRows,
    names: Sequence[str],
    places: Sequence[tuple[int, int]],
    unlike: Sequence[Sequence[int]],
) -> tuple[Cell, ...]:
    """Return the first cells that differ, from above."""
    numbered = ((row, number) for number, rows in enumerate(unlike) for row in rows[:CELLS])
    return tuple(
        cell(
            (cell_text(pair.left.index[row]),) * 2,
            names[number],
            pair.left.iat[row, places[number][0]],
            pair.right.iat[row, places[number][1]],
            (row + 1, row + 1) if pair.in_place else (0, 0),
        )
        for row, number in sorted(numbered)[:CELLS]
    )
