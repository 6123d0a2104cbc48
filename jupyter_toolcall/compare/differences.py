"""How two values differ: a closed union of frozen facts, each readable from either side.

Every text in them is short and plain data; whoever shows one escapes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass


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
        more = self.right - self.left
        return more if math.isfinite(more) else None


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


@dataclass(frozen=True, slots=True)
class Cell:
    """A place in a table, and what stands there on either side."""

    rows: tuple[str, str]
    """What the row is called on the left, and on the right."""
    column: str
    left: str
    right: str
    at: tuple[int, int] = (0, 0)
    """The numbers of the row on the left and on the right, from 1; 0 where they are not known."""

    @property
    def row(self) -> str:
        return self.rows[0] if self.rows[0] == self.rows[1] else " | ".join(self.rows)


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
    cells: tuple[Cell, ...] = ()
    """Those of rows and columns that both have."""
    changed: int = 0
    """How many of those differ, those that are left out here too."""
    columns: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """The columns that one side alone has."""
    rows: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """Some of the rows that one side alone has, by their labels."""
    alone: tuple[int, int] = (0, 0)
    """How many rows one side alone has."""
    by_column: tuple[ColumnChange, ...] = ()
    """The columns that differ, of those that both have."""
    sample: int = 0
    """How many rows were compared of a large table; 0 where all were."""


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


Difference = Same | Numbers | Texts | Tables | Images | Fields | Others | Unknown


ARROW = "→"
SHOWN = 6
"""So many columns are named in one line."""
NONE = "nothing"


def parts(difference: Difference, name: str = "") -> Iterator[tuple[str, Difference]]:
    """Yield the parts that have no parts of their own, each with its name: `cut.shape`."""
    if not isinstance(difference, Fields):
        yield name, difference
        return
    for field in difference.fields:
        inner = field.name if not name or field.name.startswith("[") else f".{field.name}"
        yield from parts(field.difference, f"{name}{inner}")
    if difference.more:
        yield name, Unknown(f"{difference.more:,} more {_differ(difference.more)}")


SIDES = ("only left", "only right")
CHANGED = ("removed", "added")
"""What is said of what one side alone has: of two branches, and of before and after a call."""


def in_a_line(difference: Difference, sides: tuple[str, str] = SIDES) -> str:
    """Return a difference as one line; `sides` are the words for what one side alone has."""
    match difference:
        case Same():
            return "the same"
        case Numbers(left, right, by=by):
            return f"{left} {ARROW} {right}" + ("" if by is None else f" ({by:+.6g})")
        case Texts(changed=changed):
            return f"{many(changed, 'line')} {_differ(changed)}"
        case Tables():
            return _table_line(difference, sides)
        case Images():
            return _image_line(difference)
        case Fields():
            named = parts(difference)
            return "; ".join(f"{name}: {in_a_line(part, sides)}" for name, part in named)
        case Others(left, right):
            return f"{left or NONE} {ARROW} {right or NONE}"
        case Unknown(why):
            return why


def _table_line(tables: Tables, sides: tuple[str, str]) -> str:
    parts = [_column(each) for each in tables.by_column[:SHOWN]]
    if len(tables.by_column) > SHOWN:
        more_cells = sum(each.changed for each in tables.by_column[SHOWN:])
        parts.append(
            f"{many(more_cells, 'cell')} of {len(tables.by_column) - SHOWN} more columns differ"
        )
    if tables.left != tables.right:
        parts.append(f"{_shape(tables.left)} {ARROW} {_shape(tables.right)}")
    for side, columns, alone in zip(sides, tables.columns, tables.alone, strict=True):
        more = "…" * (len(columns) > SHOWN)
        parts += [f"{side}: {', '.join(columns[:SHOWN])}{more}"] * bool(columns)
        parts += [f"{many(alone, 'row')} {side}"] * bool(alone)
    line = "; ".join(parts)
    if not tables.sample:
        return line
    return (
        f"{line} (a sample of {tables.sample:,} of {max(tables.left[0], tables.right[0]):,} rows)"
    )


def _column(column: ColumnChange) -> str:
    """Return how a column differs: `price: 9 cells filled`, `y: +97 in all 30 rows`."""
    parts = []
    if column.by is not None:
        parts.append(f"{column.by:+.6g} in all {column.changed:,} rows")
    elif column.changed:
        other = column.changed - column.filled - column.emptied
        parts += [f"{many(column.filled, 'cell')} filled"] * bool(column.filled)
        parts += [f"{many(column.emptied, 'cell')} emptied"] * bool(column.emptied)
        parts += [f"{many(other, 'cell')} changed"] * bool(other)
    if any(column.types):
        parts.append(f"{column.types[0]} {ARROW} {column.types[1]}")
    return f"{column.name}: {', '.join(parts)}"


def _shape(shape: tuple[int, int]) -> str:
    return f"{shape[0]:,} × {shape[1]:,}"


def _image_line(images: Images) -> str:
    share = images.share
    left, right = (f"{each.width} × {each.height}" for each in (images.left, images.right))
    if left != right:
        return f"{left} {ARROW} {right} pixels"
    if share is None:
        return f"two images of {left} pixels" if images.left.width else "two images"
    percent = f"{100 * share:.0f}" if share >= 0.01 else "less than 1"
    return f"about {percent} % of the pixels differ" if share else "the same pixels, other bytes"


def _differ(count: int) -> str:
    return "differs" if count == 1 else "differ"


def many(count: int, thing: str) -> str:
    """Return `1 cell`, `2 cells`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
