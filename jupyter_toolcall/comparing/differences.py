"""How two values differ: a closed union of frozen facts, each readable from either side.

Every text in them is short and plain data; whoever shows one escapes it.
"""

from __future__ import annotations

import math
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
        found = self.right - self.left
        return found if math.isfinite(found) else None


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
    """Nobody knows here how they differ, or whether; this is why."""

    why: str


Difference = Same | Numbers | Texts | Tables | Images | Fields | Others | Unknown


def mirrored(difference: Difference) -> Difference:
    """Return a difference as it is seen from the other side."""
    match difference:
        case Numbers(left, right):
            return Numbers(right, left)
        case Texts(lines, changed):
            return Texts(tuple(Line(e.right, e.left, e.at[::-1]) for e in lines), changed)
        case Tables(left, right, cells, changed, columns, rows, alone):
            places = tuple(Cell(e.rows[::-1], e.column, e.right, e.left, e.at[::-1]) for e in cells)
            return Tables(
                right, left, places, changed, columns[::-1], rows[::-1], (alone[1], alone[0])
            )
        case Images(left, right, share):
            return Images(right, left, share)
        case Fields(fields, more, same):
            parts = tuple(Field(e.name, mirrored(e.difference)) for e in fields)
            return Fields(parts, more, same)
        case Others(left, right):
            return Others(right, left)
    return difference
