"""How two frames differ, column by column, in the rows that belong together.

Rows belong together by label, by a column that is a key, or by position. Of a large frame a
sample is compared: all of its cells would take seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.interface_text import joined, t
from ..core.interrupts import attempt
from .cells import cell, cell_text
from .differences import Cell, ColumnChange, Difference, Same, Tables, Unknown
from .frame_columns import Frame, PandasFrame, Unlike, frame_of
from .tables import CELLS, LABELS, WIDE, compared, grid_of, names_alone

LARGE, SAMPLE = 100_000, 10_000
"""Of a frame with more rows so many are compared, evenly spaced."""
READ, SLOW, CONVERTED = 1_000_000, 20, 2
"""Cells that are compared at most; one that is compared by itself counts as so many, and so does a
text beside a number."""
KEYS = 8
"""So many columns are tried as keys."""


def frames(left: Any, right: Any) -> Difference | None:
    """Return how two frames of one library differ; None for other values."""
    a, b = frame_of(left), frame_of(right)
    if a is None or b is None or type(a) is not type(b):
        return None
    pair = _paired_rows(a, b)
    if pair is None:
        return _without_pairs(a, b)
    result = _difference(pair, a, b)
    if not (pair.by_position and isinstance(result, Tables) and result.changed):
        return result
    # Rows that a call sorted stand elsewhere; a key tells where, if less differs so.
    moved = _paired_by_key(a, b, permuted=True)
    other = None if moved is None else _difference(moved, a, b)
    fewer = isinstance(other, Tables) and other.changed < result.changed
    return other if fewer and other is not None else result


@dataclass(frozen=True, slots=True)
class _PairedRows:
    """The rows that two frames have both, in one order, and what each has alone."""

    left: Frame
    right: Frame
    labels: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    alone: tuple[int, int] = (0, 0)
    in_place: bool = True
    """No row was left out, or moved."""
    moved: bool = False
    sample: int = 0
    by_position: bool = False


def _without_pairs(a: Frame, b: Frame) -> Difference:
    """Return how two frames differ whose rows have neither labels nor a key in common."""
    if max(a.height, b.height) > LARGE:
        columns = names_alone(a.names, b.names), names_alone(b.names, a.names)
        return Tables(a.shape, b.shape, columns=columns)
    grids = grid_of(a.value), grid_of(b.value)
    assert grids[0] is not None
    assert grids[1] is not None
    return compared(grids[0], grids[1])


# -- which rows belong together --------------------------------------------------------------


def _paired_rows(a: Frame, b: Frame) -> _PairedRows | None:
    """Return the rows of two frames in pairs; None where nothing tells them apart."""
    most = _most_rows(a, b)
    is_large = max(a.height, b.height) > most
    numbered = a.numbered and b.numbered
    if isinstance(a, PandasFrame) and isinstance(b, PandasFrame) and not numbered:
        labels = a.value.index, b.value.index
        if labels[0].is_unique and labels[1].is_unique:
            return _sampled(a, b, min(most, SAMPLE)) if is_large else _aligned(a, b)
    if a.height != b.height:
        return None if max(a.height, b.height) > LARGE else _paired_by_key(a, b)
    if not is_large:
        return _PairedRows(a, b, by_position=numbered)
    rows = _spaced(a.height, min(most, SAMPLE))
    return _numbered_rows(a, b, rows, rows)


def _numbered_rows(a: Frame, b: Frame, ours: Sequence[int], theirs: Sequence[int]) -> _PairedRows:
    labels = None if isinstance(a, PandasFrame) else ours
    pair = a.take(ours, labels), b.take(theirs, labels)
    return _PairedRows(*pair, in_place=False, sample=len(ours))


def _most_rows(a: Frame, b: Frame) -> int:
    """Return how many rows are compared one and all; of more a sample is."""
    columns = [
        {name: each.column(n) for n, name in enumerate(each.names[:WIDE])} for each in (a, b)
    ]
    cost = 0
    for frame, own, others in zip((a, b), columns, columns[::-1], strict=True):
        for name, column in own.items():
            converted = name in others and frame.converted(column, others[name])
            cost += SLOW if frame.is_slow(column) else CONVERTED if converted else 1
    return min(LARGE, 2 * READ // max(1, cost))


def _spaced(height: int, count: int) -> list[int]:
    """Return numbers of rows, evenly spaced, but not every nth row: what recurs every nth row
    would be all, or nothing, of the sample."""
    rows = range(0, height, max(1, -(-height // max(1, count))))
    return [min(row + number * 7919 % rows.step, height - 1) for number, row in enumerate(rows)]


def _aligned(a: PandasFrame, b: PandasFrame) -> _PairedRows:
    ours, theirs = a.value.index, b.value.index
    if ours.equals(theirs):
        return _PairedRows(a, b)
    shared = ours.isin(theirs), theirs.isin(ours)
    lone = ours[~shared[0]], theirs[~shared[1]]
    labels = tuple(map(cell_text, lone[0][:LABELS])), tuple(map(cell_text, lone[1][:LABELS]))
    one, other = a.value.loc[shared[0]], b.value.loc[shared[1]]
    moved = not one.index.equals(other.index)
    if moved:
        order, _ = attempt(one.index.argsort)
        if order is None:
            # Labels of several types have no order of their own.
            texts = [*map(cell_text, one.index)]
            order = sorted(range(len(one)), key=texts.__getitem__)
        one = one.iloc[order]
        other = other.iloc[other.index.get_indexer(one.index)]
    alone = len(lone[0]), len(lone[1])
    pair = PandasFrame(one), PandasFrame(other)
    return _PairedRows(*pair, labels, alone, in_place=False, moved=moved)


def _sampled(a: PandasFrame, b: PandasFrame, count: int) -> _PairedRows:
    """Return some of the rows that both have, evenly spaced."""
    chosen = _spaced(a.height, count)
    ours, theirs = a.value.index, b.value.index
    if a.height == b.height and ours.equals(theirs):
        return _numbered_rows(a, b, chosen, chosen)
    one = a.take(chosen)
    positions = theirs.get_indexer(one.value.index)
    matched = (positions >= 0).nonzero()[0]
    more, missing = a.height - b.height, len(chosen) - len(matched)
    partners = positions[matched]
    alone = (max(0, more), max(0, -more)) if more else (missing, missing)
    moved = bool((partners[1:] < partners[:-1]).any())
    pair = one.take(matched), b.take(partners)
    return _PairedRows(*pair, alone=alone, in_place=False, moved=moved, sample=len(chosen))


def _paired_by_key(a: Frame, b: Frame, permuted: bool = False) -> _PairedRows | None:
    """Return the rows in pairs by the first column of both that names them; None without one.

    `permuted`: only a column that names the same rows in another order.
    """
    names = a.names, b.names
    shared = [name for name in names[0] if name in names[1]]
    # The same key is chosen from either side.
    shared = shared if names[0] == names[1] else sorted(shared)
    tried = 0
    for name in shared:
        ours, theirs = (
            _key_values(each, each.names.index(name)) if tried < KEYS else None for each in (a, b)
        )
        if ours is None or theirs is None:
            continue
        tried += 1
        both = ours.keys() & theirs.keys()
        if permuted and len(both) == len(ours) == len(theirs) and [*ours] != [*theirs]:
            return _rows_of_keys(a, b, ours, theirs)
        if not permuted and 2 * len(both) > min(len(ours), len(theirs)):
            return _rows_of_keys(a, b, ours, theirs)
    return None


def _key_values(frame: Frame, number: int) -> dict[Any, int] | None:
    """Return the rows by the values of a column; None where it has other values than whole
    numbers or texts, or one twice."""
    column = frame.column(number)
    cells = frame.cells(column)
    if len({*map(type, cells)}) != 1 or type(cells[0]) not in (int, str):
        return None
    # Most columns that are no key are found out by their first cells.
    if len({*cells[:1_000]}) < min(1_000, len(cells)):
        return None
    rows = {value: row for row, value in enumerate(cells)}
    return rows if len(rows) == len(cells) else None


def _rows_of_keys(a: Frame, b: Frame, ours: dict[Any, int], theirs: dict[Any, int]) -> _PairedRows:
    lone = [key for key in ours if key not in theirs], [key for key in theirs if key not in ours]
    keys = [key for key in ours if key in theirs]
    moved = keys != [key for key in theirs if key in ours]
    keys = sorted(keys) if moved else keys
    one = a.take([ours[key] for key in keys], keys)
    other = b.take([theirs[key] for key in keys], keys)
    labels = tuple(map(cell_text, lone[0][:LABELS])), tuple(map(cell_text, lone[1][:LABELS]))
    alone = len(lone[0]), len(lone[1])
    return _PairedRows(one, other, labels, alone, in_place=False, moved=moved)


# -- what differs in them --------------------------------------------------------------------


def _difference(pair: _PairedRows, a: Frame, b: Frame) -> Difference:
    names = pair.left.names, pair.right.names
    both = set(names[1])
    shared = [name for name in names[0] if name in both]
    reordered = shared != [name for name in names[1] if name in {*shared}]
    shared = shared if names[0] == names[1] else sorted(shared)
    common = shared[:WIDE]
    places = [(names[0].index(name), names[1].index(name)) for name in common]
    columns = [(pair.left.column(i), pair.right.column(j)) for i, j in places]
    unlike = [pair.left.unlike(x, y) for x, y in columns]
    types = [(pair.left.type(x), pair.right.type(y)) for x, y in columns]
    changes = map(_column_change, common, types, unlike)
    result = Tables(
        a.shape,
        b.shape,
        _cells(pair, common, columns, unlike),
        sum(each.changed for each in unlike),
        (names_alone(*names), names_alone(*names[::-1])),
        pair.labels,
        pair.alone,
        tuple(change for change in changes if change is not None),
        pair.sample,
        tuple(["rows"] * pair.moved + ["columns"] * reordered),
        len(common) if len(common) < len(shared) else 0,
    )
    if result != replace(Tables(a.shape, a.shape), sample=result.sample, wide=result.wide):
        return result
    parts = [t("a sample of %1 of %2 rows", pair.sample, a.height)] * bool(pair.sample)
    parts += [t("the first %1 of %2 columns", result.wide, a.shape[1])] * bool(result.wide)
    return Unknown(t("no difference in %1", joined(", ", parts))) if parts else Same()


def _column_change(name: str, types: tuple[str, str], unlike: Unlike) -> ColumnChange | None:
    """Return how a column differs; None where it does not."""
    types = types if types[0] != types[1] else ("", "")
    if not (unlike.changed or any(types)):
        return None
    return ColumnChange(name, unlike.changed, unlike.filled, unlike.emptied, unlike.by, types)


def _cells(
    pair: _PairedRows,
    names: Sequence[str],
    columns: Sequence[tuple[Any, Any]],
    unlike: Sequence[Unlike],
) -> tuple[Cell, ...]:
    """Return the first cells that differ, from above."""
    numbered = ((row, number) for number, each in enumerate(unlike) for row in each.rows)
    first = sorted(numbered)[:CELLS]
    return tuple(
        cell(
            (pair.left.label(row),) * 2,
            names[number],
            pair.left.cell(columns[number][0], row),
            pair.right.cell(columns[number][1], row),
            (row + 1, row + 1) if pair.in_place else (0, 0),
        )
        for row, number in first
    )
