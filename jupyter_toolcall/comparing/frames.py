"""Two tables of pandas or of numpy. Neither is loaded for it: a value of theirs brings it.

What is alike is found column by column, at once; only what differs is looked at by cell.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .cells import alike, cell, cell_text
from .differences import Cell, Difference, Same, Tables
from .tables import CELLS, LABELS, ROWS, WIDE, Grid, numbered


def is_frame(value: Any) -> bool:
    """Return whether a value is a frame or a series of pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series))


def is_array(value: Any) -> bool:
    """Return whether a value is an array of numpy that has rows, or rows and columns."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray) and value.ndim in (1, 2)


def array_grid(value: Any) -> Grid:
    """Return an array as a grid."""
    rows, wide = value[:ROWS].tolist(), value.ndim == 2
    columns = [str(n) for n in range(value.shape[1] if wide else 1)]
    return numbered(columns, rows if wide else [[each] for each in rows], value.shape[0])


def frame_grid(value: Any) -> Grid:
    """Return a frame as a grid whose rows are called by their numbers."""
    shown = _framed(value).iloc[:ROWS, :WIDE]
    rows = shown.itertuples(index=False, name=None)
    return numbered([*map(cell_text, shown.columns)], rows, len(value))


def have_labels(left: Any, right: Any) -> bool:
    """Return whether the rows of two frames are told apart by their labels.

    Where both are numbered and one is longer, a row may have got another number.
    """
    if not (is_frame(left) and is_frame(right) and left.index.is_unique and right.index.is_unique):
        return False
    return len(left) == len(right) or not (_numbered(left.index) and _numbered(right.index))


def _numbered(index: Any) -> bool:
    """Whether rows are called by their numbers, and nobody chose that."""
    plain = isinstance(index, sys.modules["pandas"].RangeIndex)
    return plain and (index.start, index.step) == (0, 1)


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
            found: list[int] = (
                sys.modules["pandas"]
                .Series(unlike)
                .fillna(True)
                .to_numpy(dtype=bool)
                .nonzero()[0]
                .tolist()
            )
            return found
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
    found = ((row, number) for number, rows in enumerate(unlike) for row in rows[:CELLS])
    first = sorted(found)[:CELLS]
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
