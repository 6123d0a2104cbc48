"""How two tables differ, column by column, in the rows that belong together.

A table is a frame of a library, records or columns of plain Python, or a small array. Its rows
belong to those of another one by label, by position, by a column that is a key, or by what stands
in them. Of a large table a sample is compared: all of its cells would take seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from ..core.interface_text import joined, t
from ..core.interrupts import attempt
from .cells import cell, cell_text
from .differences import CellPair, Difference, Same, Tables, Unknown
from .frame_columns import Frame, PandasFrame, Unlike, frame_of, unlike
from .matching import pairs

LARGE, SAMPLE = 100_000, 10_000
"""Of a table with more rows so many are compared, evenly spaced."""
READ, SLOW = 1_000_000, 20
"""Cells that are compared at most; one that is compared by itself counts as so many."""
KEYS, ALIGNED = 8, 60_000
"""So many columns are tried as keys. Rows are aligned by their texts up to so many cells."""
WIDE, CELLS, LABELS = 200, 60, 12
"""So many columns are compared, so many cells are kept, and so many rows are named."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """The rows that two tables have both, in one order, and those that each has alone."""

    tables: tuple[Frame, Frame]
    rows: tuple[Sequence[int], Sequence[int]]
    """The positions in either table, side by side."""
    names: tuple[Sequence[Any], Sequence[Any]]
    """What the rows of either table are called, by their positions."""
    lone: tuple[Sequence[int], Sequence[int]] = ((), ())
    """The first rows that one table alone has."""
    alone: tuple[int, int] = (0, 0)
    moved: bool = False
    sample: int = 0
    by_position: bool = False

    def name(self, side: int, row: int) -> str:
        return cell_text(self.names[side][row])


def tables(left: Any, right: Any) -> Difference | None:
    """Return how two tables differ; None for other values."""
    a, b = frame_of(left), frame_of(right)
    if a is None or b is None:
        return None
    pairing = _pairing(a, b)
    if pairing is None:
        columns = names_alone(a.names, b.names), names_alone(b.names, a.names)
        return Tables(a.shape, b.shape, columns=columns)
    result = _difference(pairing)
    if not (pairing.by_position and isinstance(result, Tables) and result.changed):
        return result
    # Rows that a call sorted stand elsewhere; a key tells where, if less differs so.
    moved = _by_key(a, b, permuted=True)
    other = None if moved is None else _difference(moved)
    fewer = isinstance(other, Tables) and other.changed < result.changed
    return other if fewer and other is not None else result


def names_alone(names: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Return the names that the others do not have."""
    other_names = set(others)
    return tuple(name for name in names if name not in other_names)


# -- which rows belong together --------------------------------------------------------------


def _pairing(a: Frame, b: Frame) -> Pairing | None:
    """Return the rows of two tables in pairs; None where nothing tells them apart."""
    most, height = _most_rows(a, b), max(a.height, b.height)
    is_large, numbered = height > most, a.numbered and b.numbered
    rows = _spaced(a.height, min(most, SAMPLE)) if is_large else range(a.height)
    sample = len(rows) if is_large else 0
    names = a.labels, b.labels
    is_same = a.height == b.height
    if isinstance(a, PandasFrame) and isinstance(b, PandasFrame) and not numbered:
        ours, theirs = a.labels, b.labels
        is_same = is_same and bool(ours.equals(theirs))
        if not is_same and ours.is_unique and theirs.is_unique:
            return _matched(a, b, rows, theirs.get_indexer(ours[rows]).tolist(), names)
        is_same = a.height == b.height
    if is_same:
        by_position = numbered and not is_large
        return Pairing((a, b), (rows, rows), names, sample=sample, by_position=by_position)
    return None if height > LARGE else _by_key(a, b) or _by_content(a, b)


def _most_rows(a: Frame, b: Frame) -> int:
    """Return how many rows are compared one and all; of more a sample is."""
    cost = 0
    for table in (a, b):
        head = table.take(range(0))
        columns = (head.column(number) for number in range(len(head.names[:WIDE])))
        cost += sum(SLOW if head.is_slow(column) else 1 for column in columns)
    return min(LARGE, 2 * READ // max(1, cost))


def _spaced(height: int, count: int) -> list[int]:
    """Return numbers of rows, evenly spaced, but not every nth row: what recurs every nth row
    would be all, or nothing, of the sample."""
    rows = range(0, height, max(1, -(-height // max(1, count))))
    return [min(row + number * 7919 % rows.step, height - 1) for number, row in enumerate(rows)]


def _matched(
    a: Frame,
    b: Frame,
    rows: Sequence[int],
    partners: Sequence[int],
    names: tuple[Sequence[Any], Sequence[Any]],
) -> Pairing:
    """Return rows of `a` with their `partners` in `b`, which are -1 where there is none."""
    both = [(row, partner) for row, partner in zip(rows, partners, strict=True) if partner >= 0]
    moved = any(one > other for (_, one), (_, other) in pairwise(both))
    if moved:
        # By name, the order is the same from either side. Names of several types have none.
        labels = _labels(names[0], [row for row, _ in both])
        order = attempt(_sorted, labels)[0] or _sorted([*map(cell_text, labels)])
        both = [both[n] for n in order]
    left, right = [row for row, _ in both], [row for _, row in both]
    if len(rows) < a.height:
        extra, missing = a.height - b.height, len(rows) - len(both)
        alone = (max(0, extra), max(0, -extra)) if extra else (missing, missing)
        return Pairing((a, b), (left, right), names, ((), ()), alone, moved, len(rows))
    lone = _others(a, left), _others(b, right)
    return Pairing((a, b), (left, right), names, lone, (len(lone[0]), len(lone[1])), moved)


def _labels(names: Any, rows: Sequence[int]) -> Sequence[Any]:
    # Of an index of pandas, one name at a time takes ten times as long.
    labels: Sequence[Any] = (
        names[rows].tolist() if hasattr(names, "tolist") else [names[row] for row in rows]
    )
    return labels


def _sorted(labels: Sequence[Any]) -> list[int]:
    return sorted(range(len(labels)), key=labels.__getitem__)


def _others(table: Frame, rows: Sequence[int]) -> list[int]:
    # No row is there twice.
    if len(rows) == table.height:
        return []
    paired = {*rows}
    return [row for row in range(table.height) if row not in paired]


def _by_key(a: Frame, b: Frame, permuted: bool = False) -> Pairing | None:
    """Return the rows in pairs by the first column of both that names them; None without one.

    `permuted`: only a column that names the same rows in another order.
    """
    if a.ordered or b.ordered:
        return None
    tried = 0
    for name in _shared(a.names, b.names):
        ours, theirs = (_keys(table, name) if tried < KEYS else {} for table in (a, b))
        if not ours or not theirs:
            continue
        tried += 1
        both = ours.keys() & theirs.keys()
        is_order = len(both) == len(ours) == len(theirs) and [*ours] != [*theirs]
        if is_order if permuted else 2 * len(both) > min(len(ours), len(theirs)):
            partners = [theirs.get(key, -1) for key in ours]
            return _matched(a, b, range(a.height), partners, ([*ours], [*theirs]))
    return None


def _keys(table: Frame, name: str) -> dict[Any, int]:
    """Return the rows by the values of a column; {} where it has other values than whole
    numbers or texts, or one twice."""
    cells = table.cells(table.column(table.names.index(name)))
    if len({*map(type, cells)}) != 1 or type(cells[0]) not in (int, str):
        return {}
    # Most columns that are no key are found out by their first cells.
    if len({*cells[:1_000]}) < min(1_000, len(cells)):
        return {}
    rows = {value: row for row, value in enumerate(cells)}
    return rows if len(rows) == len(cells) else {}


def _by_content(a: Frame, b: Frame) -> Pairing | None:
    """Return the rows in pairs by what stands in them; None for tables that are large for it.

    Where most of them differ, none belong together: they are of another table, such as one of
    groups.
    """
    shared = _shared(a.names, b.names)[:WIDE]
    if max(a.height, b.height) * max(1, len(shared)) > ALIGNED:
        return None
    texts = _row_texts(a, shared), _row_texts(b, shared)
    numbered = [*enumerate(texts[0])], [*enumerate(texts[1])]
    both = [
        (one[0], other[0])
        for one, other in pairs(*numbered, [lambda item: item[1]])
        if one is not None and other is not None
    ]
    same = sum(texts[0][row] == texts[1][partner] for row, partner in both)
    partners = dict(both) if 2 * same >= min(a.height, b.height) else {}
    rows = range(a.height)
    return _matched(a, b, rows, [partners.get(row, -1) for row in rows], (a.labels, b.labels))


def _row_texts(table: Frame, names: Sequence[str]) -> list[str]:
    columns = (table.cells(table.column(table.names.index(name))) for name in names)
    rows = zip(*columns, strict=True) if names else [()] * table.height
    return ["\0".join(map(cell_text, row)) for row in rows]


def _shared(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the columns of both, in an order that is the same from either side."""
    shared = [name for name in names if name in {*others}]
    return shared if names == others else sorted(shared)


# -- what differs in them --------------------------------------------------------------------


def _difference(pairing: Pairing) -> Difference:
    a, b = pairing.tables
    shared = _shared(a.names, b.names)
    common = shared[:WIDE]
    one, other = (
        # Where all rows stay in place, nothing is copied.
        table if isinstance(rows, range) else table.take(rows)
        for table, rows in zip(pairing.tables, pairing.rows, strict=True)
    )
    columns = [
        (one.column(a.names.index(name)), other.column(b.names.index(name))) for name in common
    ]
    changes = [unlike(one, x, other, y) for x, y in columns]
    by_column = (replace(c, name=name) for name, (_, c) in zip(common, changes, strict=True))
    reordered = sorted(shared, key=a.names.index) != sorted(shared, key=b.names.index)
    left, right = (tuple(rows[:LABELS]) for rows in pairing.lone)
    result = Tables(
        a.shape,
        b.shape,
        tuple(_cells(pairing, common, columns, changes, (one, other))),
        sum(change.changed for _, change in changes),
        (names_alone(a.names, b.names), names_alone(b.names, a.names)),
        (tuple(pairing.name(0, n) for n in left), tuple(pairing.name(1, n) for n in right)),
        pairing.alone,
        tuple(change for change in by_column if change.changed or any(change.types)),
        pairing.sample,
        tuple(["rows"] * pairing.moved + ["columns"] * reordered),
        len(common) if len(common) < len(shared) else 0,
        (left, right),
    )
    if result != replace(Tables(a.shape, a.shape), sample=result.sample, wide=result.wide):
        return result
    parts = [t("a sample of %1 of %2 rows", pairing.sample, a.height)] * bool(pairing.sample)
    parts += [t("the first %1 of %2 columns", result.wide, a.shape[1])] * bool(result.wide)
    return Unknown(t("no difference in %1", joined(", ", parts))) if parts else Same()


def _cells(
    pairing: Pairing,
    names: Sequence[str],
    columns: Sequence[tuple[Any, Any]],
    changes: Sequence[Unlike],
    tables: tuple[Frame, Frame],
) -> Iterator[CellPair]:
    """Yield the first cells that differ, from above."""
    numbered = ((n, number) for number, (rows, _) in enumerate(changes) for n in rows)
    for n, number in sorted(numbered)[:CELLS]:
        left, right = pairing.rows[0][n], pairing.rows[1][n]
        yield cell(
            (pairing.name(0, left), pairing.name(1, right)),
            names[number],
            tables[0].cell(columns[number][0], n),
            tables[1].cell(columns[number][1], n),
            (left + 1, right + 1),
        )
