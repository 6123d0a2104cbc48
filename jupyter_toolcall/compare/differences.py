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


ARROW = "→"
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
        said = f"{difference.more:,} more {'differs' if difference.more == 1 else 'differ'}"
        yield name, Unknown(said)


def in_a_line(difference: Difference) -> str:
    """Return a difference as one line."""
    match difference:
        case Same():
            return "the same"
        case Numbers(left, right):
            return f"{left} {ARROW} {right}{_by(difference)}"
        case Texts(changed=changed):
            return f"{many(changed, 'line')} {'differs' if changed == 1 else 'differ'}"
        case Tables():
            return _table(difference)
        case Images(left, right, share):
            return _images(left, right, share)
        case Fields():
            return "; ".join(f"{name}: {in_a_line(part)}" for name, part in parts(difference))
        case Others(left, right):
            return f"{left or NONE} {ARROW} {right or NONE}"
        case Unknown(why):
            return why


def _by(numbers: Numbers) -> str:
    by = numbers.by
    return "" if by is None else f" ({by:+.6g})"


def _table(found: Tables) -> str:
    said = [f"{many(found.changed, 'cell')} {'differs' if found.changed == 1 else 'differ'}"]
    said = said if found.changed else []
    if found.left != found.right:
        said.append(f"{_shape(found.left)} {ARROW} {_shape(found.right)}")
    sides = zip(("left", "right"), found.columns, found.alone, strict=True)
    for side, columns, alone in sides:
        said += [f"only {side}: {', '.join(columns[:6])}{'…' * (len(columns) > 6)}"] * bool(columns)
        said += [f"{many(alone, 'row')} only {side}"] * bool(alone)
    return "; ".join(said)


def _shape(shape: tuple[int, int]) -> str:
    return f"{shape[0]:,} × {shape[1]:,}"


def _images(left: Picture, right: Picture, share: float | None) -> str:
    sizes = f"{left.width} × {left.height}", f"{right.width} × {right.height}"
    if sizes[0] != sizes[1]:
        return f"{sizes[0]} {ARROW} {sizes[1]} pixels"
    if share is None:
        return f"two images of {sizes[0]} pixels" if left.width else "two images"
    percent = f"{100 * share:.0f}" if share >= 0.01 else "less than 1" if share else "none"
    return f"about {percent} % of the pixels differ" if share else "the same pixels, other bytes"


def many(count: int, thing: str) -> str:
    """Return `1 cell`, `2 cells`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
