"""How two tables differ, column by column, in the rows that belong together.

A table is a frame of a library, records or columns of plain Python, or a small array. Its rows
belong to those of another one by label, by position, by a column that is a key, or by what stands
in them. Of a large table a sample is compared: all of its cells would take seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse, islice, pairwise, takewhile
from typing import Any, Literal

from ..core.interface_text import joined, t
from ..core.interrupts import attempt
from .cells import cell, cell_text
from .differences import CellPair, Difference, Same, Tables, Unknown
from .frame_columns import Frame, PandasFrame, Unlike, frame_of, unlike

LARGE, SAMPLE = 100_000, 10_000
"""Of a table with more rows so many are compared, evenly spaced."""
READ, SLOW = 1_000_000, 20
"""Cells that are compared at most; one that is compared by itself counts as so many."""
KEYS, ALIGNED = 8, 60_000
"""So many columns are tried as keys. Rows are aligned by their texts up to so many cells."""
WIDE, CELLS, LABELS = 200, 60, 12
"""So many columns are compared, so many cells are kept, and so many rows are named."""


By = Literal["labels", "positions", "key", "content"]


@dataclass(frozen=True, slots=True)
class Pairing:
    """The rows that two tables have both, in one order, and those that each has alone."""

    tables: tuple[Frame, Frame]
    rows: tuple[Sequence[int], Sequence[int]]
    """The positions in either table, side by side."""
    lone: tuple[Sequence[int], Sequence[int]] = ((), ())
    """The first rows that one table alone has."""
    alone: tuple[int, int] = (0, 0)
    moved: bool = False
    sample: int = 0
    by: By = "content"
    """What the pairs go by."""

    def name(self, side: int, row: int) -> str:
        return self.tables[side].row_name(row)


def tables(left: object, right: object) -> Difference | None:
    """Return how two tables differ; None for other values.

    Of the ways to pair their rows that the tables are evidence for, the one by which least
    differs is taken. Without any, as of a table and its groups, no row is compared.
    """
    a, b = frame_of(left), frame_of(right)
    if a is None or b is None:
        return None
    columns = names_alone(a.names, b.names), names_alone(b.names, a.names)
    best = Tables(a.shape, b.shape, columns=columns, unrelated=True)
    for pairing in _pairings(a, b):
        result = _difference(pairing)
        if not isinstance(result, Tables):
            return result
        if _is_evident(pairing, result) and (best.unrelated or result.changed < best.changed):
            best = result
            if not best.changed:
                break
    return replace(best, groups=_group_column(a, b)) if best.unrelated else best


def _group_column(a: Frame, b: Frame) -> str:
    """Return the column of which a smaller table has one row for each value; "" for none."""
    common = b.names if b.height < a.height <= LARGE else []
    for number, name in enumerate(common):
        if a.names.count(name) == b.names.count(name) == 1:
            column = a.column(a.names.index(name))
            try:
                values, groups = set(a.cells(column)), set(b.cells(b.column(number)))
            except TypeError:
                # Lists have no hash, and nobody groups by them.
                continue
            # Groups leave out the rows whose cell is empty.
            left_out = values - groups
            is_whole = not left_out or (len(left_out) == 1 and a.empty(column) > 0)
            if is_whole and groups <= values and len(groups) == b.height:
                return name
    return ""


def names_alone(names: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Return the names that the others do not have."""
    return tuple(filterfalse({*others}.__contains__, names))


# -- which rows belong together --------------------------------------------------------------


def _pairings(a: Frame, b: Frame) -> Iterator[Pairing]:
    """Yield the ways to pair the rows of two tables, the surest and cheapest first."""
    most, height = _most_rows(a, b), max(a.height, b.height)
    is_large = height > most
    rows = _spaced(a.height, min(most, SAMPLE)) if is_large else range(a.height)
    sample = len(rows) if is_large else 0
    label_names = [_label_names(table) for table in (a, b)]
    is_same, same_height = True, a.height == b.height
    if isinstance(a, PandasFrame) and isinstance(b, PandasFrame):
        least = min(a.height, b.height)
        is_same = bool(a.labels[:least].equals(b.labels[:least]))
        # Numbers from 0 on are the labels of any table.
        are_labels = not is_same or (label_names[0] and not same_height)
        if (
            label_names[0] == label_names[1]
            and are_labels
            and a.labels.is_unique
            and b.labels.is_unique
        ):
            partners = b.labels.get_indexer(a.labels[rows]).tolist()
            yield _matched(a, b, rows, partners, a.labels, "labels")
    if same_height:
        by: By = "positions" if is_same or not any(label_names) else "content"
        yield Pairing((a, b), (rows, rows), sample=sample, by=by)
    if height <= LARGE and not (is_large and same_height):
        yield from filter(None, (_by_key(a, b), _by_content(a, b)))


def _is_evident(pairing: Pairing, result: Tables) -> bool:
    """Return whether the rows of a pairing are the same rows, by what stands in them.

    Rows by the same key or labels are, and those that stay in place where the columns stay, or
    most cells. Where rows went or came, a table of groups looks alike: by a key a part of the rows
    is the same where most cells are, and where what names the rows of one table names those
    of the other too. Cells of rows that are paired by their content alone never differ.
    """
    a, b = pairing.tables
    paired, same_columns = len(pairing.rows[0]), not any(result.columns)
    cells = paired * (result.wide or a.shape[1] - len(result.columns[0]))
    is_mostly_same = 2 * result.changed < cells
    if pairing.by == "content" and result.changed:
        return False
    if not any(result.alone):
        return pairing.by == "key" or same_columns or is_mostly_same
    kept = paired * a.height / (result.sample or a.height or 1)
    if pairing.by == "labels" and 2 * kept <= min(a.height, b.height):
        return False
    if not (result.changed or all(result.alone)) and (same_columns or pairing.by == "labels"):
        return True
    return is_mostly_same and _are_named_alike(*sorted((a, b), key=lambda table: table.height))


def _are_named_alike(small: Frame, large: Frame) -> bool:
    """Return whether what tells the rows of the small table apart, its labels or its first columns,
    tells those of the large one apart too: what names a group is in many rows of its table."""
    if label_names := _label_names(small):
        return label_names == _label_names(large) and bool(large.labels.is_unique)
    prefixes = (small.names[:count] for count in range(1, KEYS + 1))
    for names in takewhile({*large.names}.issuperset, prefixes):
        if len({*_row_texts(small, names)}) == small.height:
            return len({*_row_texts(large, names)}) == large.height
    return False


def _label_names(table: Frame) -> tuple[object, ...]:
    """Return what the labels of rows are called; () where they are numbers without a name."""
    labels = table.labels
    is_plain = isinstance(labels, range) or (labels.name is None and labels.dtype.kind in "iu")
    return () if is_plain else tuple(labels.names)


def _most_rows(a: Frame, b: Frame) -> int:
    """Return how many rows are compared one and all; of more a sample is."""
    heads = [(table.take(range(0)), len(table.names[:WIDE])) for table in (a, b)]
    slow = (head.is_slow(head.column(number)) for head, width in heads for number in range(width))
    cost = sum(SLOW if is_slow else 1 for is_slow in slow)
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
    names: Sequence[object],
    by: By = "content",
) -> Pairing:
    """Return rows of `a` with their `partners` in `b`, which are -1 where there is none; rows that
    moved in the order of their `names`."""
    both = [(row, partner) for row, partner in zip(rows, partners, strict=True) if partner >= 0]
    moved = any(one > other for (_, one), (_, other) in pairwise(both))
    if moved:
        # By name, the order is the same from either side. Names of several types have none.
        every = [*names]
        labels = [every[row] for row, _ in both]
        texts = zip(map(cell_text, labels), both, strict=True)
        ordered = attempt(sorted, zip(labels, both, strict=True))[0] or sorted(texts)
        both = [pair for _, pair in ordered]
    left, right = [row for row, _ in both], [row for _, row in both]
    if len(rows) < a.height:
        extra, missing = a.height - b.height, len(rows) - len(both)
        alone = (max(0, extra), max(0, -extra)) if extra else (missing, missing)
        return Pairing((a, b), (left, right), ((), ()), alone, moved, len(rows), by)
    lone = sorted({*range(a.height)} - {*left}), sorted({*range(b.height)} - {*right})
    return Pairing((a, b), (left, right), lone, (len(lone[0]), len(lone[1])), moved, by=by)


def _by_key(a: Frame, b: Frame) -> Pairing | None:
    """Return the rows in pairs by the first column of both that names them; None without one.

    Of two tables of one height it is a column that names the same rows in another order.
    """
    if a.ordered or b.ordered:
        return None
    keyed = ([_keys(table, name) for table in (a, b)] for name in _shared(a.names, b.names))
    for ours, theirs in islice(filter(all, keyed), KEYS):
        both = ours.keys() & theirs.keys()
        is_order = len(both) == a.height and [*ours] != [*theirs]
        if is_order if a.height == b.height else 2 * len(both) > min(a.height, b.height):
            partners = [theirs.get(key, -1) for key in ours]
            return _matched(a, b, range(a.height), partners, [*ours], "key")
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
    """Return the rows in pairs by what stands in them, if all rows of one table are in the other:
    in order, else in any. None for other tables, and for those that are large for it."""
    shared = _shared(a.names, b.names)[:WIDE]
    if not shared or max(a.height, b.height) * len(shared) > ALIGNED:
        return None
    small, large = sorted((_row_texts(a, shared), _row_texts(b, shared)), key=len)
    rows = iter(range(len(large)))
    found = [next((row for row in rows if large[row] == text), -1) for text in small]
    if -1 in found:
        places = dict[str, list[int]]()
        for row in reversed(range(len(large))):
            places.setdefault(large[row], []).append(row)
        found = [places[text].pop() if places.get(text) else -1 for text in small]
        if -1 in found or a.ordered or b.ordered:
            return None
    if a.height > b.height:
        partner_of = {row: partner for partner, row in enumerate(found)}
        found = [partner_of.get(row, -1) for row in range(a.height)]
    return _matched(a, b, range(a.height), found, a.labels)


def _row_texts(table: Frame, names: Sequence[str]) -> list[str]:
    columns = (table.cells(table.column(table.names.index(name))) for name in names)
    return ["\0".join(map(cell_text, row)) for row in zip(*columns, strict=True)]


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
    columns: Sequence[tuple[object, object]],
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
