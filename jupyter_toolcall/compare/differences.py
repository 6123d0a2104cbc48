"""How two values differ: a closed union of frozen facts, each readable from either side.

Every text in them is short and plain data; whoever shows one escapes it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from ..core.interface_text import joined, t, tn
from ..core.rows import Row, Text
from ..core.text import compared_numbers


@dataclass(frozen=True, slots=True)
class Same:
    """They are the same."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """Two numbers."""

    left: float
    right: float

    @property
    def by(self) -> float | None:
        """How much more the right one is; None where that is no number."""
        change = self.right - self.left
        return change if math.isfinite(change) else None


@dataclass(frozen=True, slots=True)
class Line:
    """A line on both sides, None where it is not there; `at` are its numbers, from 1."""

    left: str | None
    right: str | None
    at: tuple[int, int] = (0, 0)

    @property
    def same(self) -> bool:
        return self.left == self.right


@dataclass(frozen=True, slots=True)
class Texts:
    """Two texts, line by line: what differs, and what stands around it."""

    lines: tuple[Line, ...] = ()
    changed: int = 0
    """How many lines differ, those that are left out here too."""


class CellPair(Row):
    """A cell in which two tables differ."""

    row: str
    column: str
    left: Text = ""
    right: Text = ""
    left_at: int = 0
    """The number of the row, from 1; 0 where it is not known."""
    right_at: int = 0


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """How a column differs that two tables have, in the rows that both have."""

    name: str
    changed: int = 0
    """How many of its cells differ."""
    filled: int = 0
    """How many of these are empty on the left alone."""
    emptied: int = 0
    """How many of these are empty on the right alone."""
    by: float | None = None
    """How much more each number is on the right, where that is the same in all rows."""
    types: tuple[str, str] = ("", "")
    """The types of the column, where they differ."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Two tables, cell by cell."""

    left: tuple[int, int]
    """Rows and columns."""
    right: tuple[int, int]
    cells: tuple[CellPair, ...] = ()
    """Those of rows and columns that both have."""
    changed: int = 0
    """How many of those differ, those that are left out here too."""
    columns: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """The columns that one side alone has."""
    alone: tuple[int, int] = (0, 0)
    """How many rows one side alone has."""
    by_column: tuple[ColumnChange, ...] = ()
    """The columns that differ, of those that both have."""
    sample: int = 0
    """How many rows were compared of a large table; 0 where all were."""
    moved: tuple[str, ...] = ()
    """What stands in another order: `rows`, `columns`."""
    wide: int = 0
    """How many columns were compared of a wide table; 0 where all were."""
    lone: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """The positions of some of the rows that one side alone has."""
    unrelated: bool = False
    """No row of one is known to be a row of the other, as of a table and its groups."""
    groups: str = ""
    """The column of which the right one, if it is of groups, has a row for each value."""


@dataclass(frozen=True, slots=True)
class Arrays:
    """Two arrays, element by element."""

    left: tuple[int, ...]
    """The size in each dimension."""
    right: tuple[int, ...]
    types: tuple[str, str] = ("", "")
    """The types of the elements, where they differ."""
    changed: int = 0
    """How many elements differ of those that were compared."""
    compared: int = 0
    by: float | None = None
    """How much more each number is on the right, where that is the same for all."""
    ranges: tuple[tuple[float, ...], ...] = ()
    """The least, the mean and the greatest number of either side; () where there is none."""
    sample: bool = False
    """Only some elements were compared."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An image: its size, and a small copy as a `data:` address, "" where there is none."""

    width: int = 0
    height: int = 0
    address: str = ""


@dataclass(frozen=True, slots=True)
class Images:
    """Two images; `share` of their pixels differ, None where that is not known."""

    left: Picture
    right: Picture
    share: float | None = None
    where: Picture = Picture()
    """The pixels that differ, in red."""
    sample: int = 0
    """How many pixels were compared of a large image; 0 where all were."""


@dataclass(frozen=True, slots=True)
class Field:
    """A part of a value that has parts, and how it differs."""

    name: str
    difference: Difference


@dataclass(frozen=True, slots=True)
class Fields:
    """Two values of parts: the parts that differ, and how many others differ, or are the same."""

    fields: tuple[Field, ...] = ()
    more: int = 0
    same: int = 0


@dataclass(frozen=True, slots=True)
class Others:
    """Two values in words; None where there is none."""

    left: str | None
    right: str | None


@dataclass(frozen=True, slots=True)
class Unknown:
    """How they differ, or whether, is not known; `why` says the reason."""

    why: str


Difference = Same | Numbers | Texts | Tables | Arrays | Images | Fields | Others | Unknown


ARROW = "→"
SHOWN = 6
"""So many columns are named in one line."""
NONE = t("nothing")


def parts(difference: Difference, name: str = "") -> Iterator[tuple[str, Difference]]:
    """Yield the parts that have no parts of their own, each with its name: `cut.shape`."""
    if not isinstance(difference, Fields):
        yield name, difference
        return
    for field in difference.fields:
        inner = field.name if not name or field.name.startswith("[") else f".{field.name}"
        yield from parts(field.difference, f"{name}{inner}")
    if difference.more:
        yield name, Unknown(tn("%1 more differs", "%1 more differ", difference.more))


ROOM, MOST = 16_000, 80
"""Bytes of a difference as JSON, and so many lines, cells and parts, at most."""


def shortened(difference: Difference) -> Difference:
    """Return a difference with as many lines, cells, parts and pictures as there is room for."""
    most = MOST
    while len(json.dumps(asdict(difference))) > ROOM and most:
        most //= 2
        difference = _first(difference, most)
    return difference


def _first(difference: Difference, most: int) -> Difference:
    """Return a difference with the first lines, cells and parts alone, and without a picture of
    what differs."""
    match difference:
        case Texts(lines=lines):
            return replace(difference, lines=lines[:most])
        case Tables(cells=cells):
            return replace(difference, cells=cells[:most])
        case Images():
            return replace(difference, where=Picture())
        case Fields(fields=fields, more=hidden_count):
            kept = tuple(Field(part.name, _first(part.difference, most)) for part in fields[:most])
            return replace(difference, fields=kept, more=hidden_count + len(fields) - len(kept))
    return difference


SIDES = (t("only left"), t("only right"))
CHANGED = (t("removed"), t("added"))
HERE = (t("only here"), t("only here"))
"""What is said of what one side alone has: of two branches, of before and after a call, and where
it stands beside the other side. There the line leaves it out, and the two shapes."""


def in_a_line(difference: Difference, sides: tuple[str, str] = SIDES) -> str:
    """Return a difference as one line; `sides` are the words for what one side alone has."""
    match difference:
        case Same():
            return t("changed nothing") if sides == CHANGED else t("unchanged")
        case Numbers(left, right, by=by):
            return _arrow(f"{left}", f"{right}") + ("" if by is None else f" ({by:+.6g})")
        case Texts(changed=changed):
            return tn("%1 line differs", "%1 lines differ", changed)
        case Tables():
            return _table_line(difference, sides)
        case Arrays():
            return _array_line(difference)
        case Images():
            return _image_line(difference)
        case Fields():
            named = parts(difference)
            return joined("; ", (t("%1: %2", name, in_a_line(part, sides)) for name, part in named))
        case Others(left, right):
            return _arrow(left or NONE, right or NONE)
        case Unknown(why):
            return why


def _arrow(left: str, right: str) -> str:
    return joined(f" {ARROW} ", compared_numbers(left, right))


def alone(tables: Tables, sides: tuple[str, str]) -> list[str]:
    """Return in words what each of two tables alone has, "" for nothing: columns, and rows."""
    lines = list[str]()
    for side, columns, rows in zip(sides, tables.columns, tables.alone, strict=True):
        dots = "…" * (len(columns) > SHOWN)
        parts = [t("%1: %2", side, ", ".join(columns[:SHOWN]) + dots)] * bool(columns)
        lines.append(joined("; ", parts + [tn("%1 row %2", "%1 rows %2", rows, side)] * bool(rows)))
    return lines


def _table_line(tables: Tables, sides: tuple[str, str]) -> str:
    if sides is CHANGED and tables.groups:
        rows = tables.left[0], ARROW, tables.right[0]
        return t("%1 rows %2 %3, one for each %4", *rows, tables.groups)
    if sides is CHANGED and tables.unrelated:
        return t("a new table, %1", shape_text(tables.right))
    parts = [_column(column) for column in tables.by_column[:SHOWN]]
    if len(tables.by_column) > SHOWN:
        others = tables.by_column[SHOWN:]
        cells, count = sum(column.changed for column in others), len(others)
        text = tn(
            "%1 cell of %2 more columns differs", "%1 cells of %2 more columns differ", cells, count
        )
        parts.append(text)
    if sides is not HERE:
        if tables.left != tables.right:
            parts.append(_arrow(shape_text(tables.left), shape_text(tables.right)))
        parts += filter(None, alone(tables, sides))
    parts += [_REORDERED[what] for what in tables.moved]
    line = joined("; ", parts)
    if tables.wide:
        width = max(tables.left[1], tables.right[1])
        line = t("%1 (the first %2 of %3 columns)", line, tables.wide, width)
    return with_sample(line, tables)


def with_sample(line: str, tables: Tables) -> str:
    """Return a line about two tables, with how many of their rows were compared if not all."""
    if not tables.sample:
        return line
    height = max(tables.left[0], tables.right[0])
    return t("%1 (a sample of %2 of %3 rows)", line, tables.sample, height)


_REORDERED = {"rows": t("rows in another order"), "columns": t("columns in another order")}
"""What is said of what stands in another order."""


def _array_line(arrays: Arrays) -> str:
    """Return how arrays differ: `12 of 600 elements differ; mean 0.5 → 0.7`."""
    parts = []
    if arrays.left != arrays.right:
        parts.append(_arrow(shape_text(arrays.left), shape_text(arrays.right)))
    if any(arrays.types):
        parts.append(_arrow(*arrays.types))
    if arrays.by is not None:
        by = f"{arrays.by:+.6g}"
        parts.append(tn("%2 in all %1 element", "%2 in all %1 elements", arrays.compared, by))
    elif arrays.changed:
        elements = tn("%1 element", "%1 elements", arrays.compared)
        parts.append(tn("%1 of %2 differs", "%1 of %2 differ", arrays.changed, elements))
    ranges = zip(("min", "mean", "max"), *(arrays.ranges or ((), ())), strict=False)
    for name, left, right in ranges:
        if left != right:
            parts.append(_arrow(f"{name} {left:.6g}", f"{right:.6g}"))
    line = joined("; ", parts)
    return t("%1 (a sample)", line) if arrays.sample else line


def _column(column: ColumnChange) -> str:
    """Return how a column differs: `price: 9 cells filled`, `y: +97 in all 30 rows`."""
    parts = list[str]()
    if column.by is not None:
        parts.append(t("%1 in all %2 rows", f"{column.by:+.6g}", column.changed))
    elif column.changed:
        other = column.changed - column.filled - column.emptied
        filled = tn("%1 cell filled", "%1 cells filled", column.filled)
        emptied = tn("%1 cell emptied", "%1 cells emptied", column.emptied)
        parts += [filled] * bool(column.filled) + [emptied] * bool(column.emptied)
        parts += [tn("%1 cell changed", "%1 cells changed", other)] * bool(other)
    if any(column.types):
        parts.append(_arrow(*column.types))
    return t("%1: %2", column.name, joined(", ", parts))


def shape_text(shape: tuple[int, ...]) -> str:
    """Return the size of a table or an array: `60 × 3`."""
    return " × ".join(f"{size:,}" for size in shape) or t("one element")


def _image_line(images: Images) -> str:
    share = images.share
    left, right = (f"{image.width} × {image.height}" for image in (images.left, images.right))
    if left != right:
        return t("%1 pixels", _arrow(left, right))
    if share is None:
        return t("two images of %1 pixels", left) if images.left.width else t("two images")
    if not share:
        return t("the same pixels, other bytes")
    text = t("less than 1 % of the pixels differ")
    if share >= 0.01:
        text = t("about %1 % of the pixels differ", f"{100 * share:.0f}")
    return t("%1 (a sample of %2 pixels)", text, images.sample) if images.sample else text
