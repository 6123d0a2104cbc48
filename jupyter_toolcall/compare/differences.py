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
    """How they differ, or whether, is not known; `why` says the reason."""

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
        yield name, Unknown(f"{difference.more:,} more {_differ(difference.more)}")


def in_a_line(difference: Difference) -> str:
    """Return a difference as one line."""
    match difference:
        case Same():
            return "the same"
        case Numbers(left, right, by=by):
            return f"{left} {ARROW} {right}" + ("" if by is None else f" ({by:+.6g})")
        case Texts(changed=changed):
            return f"{many(changed, 'line')} {_differ(changed)}"
        case Tables():
            return _table_line(difference)
        case Images():
            return _image_line(difference)
        case Fields():
            return "; ".join(f"{name}: {in_a_line(part)}" for name, part in parts(difference))
        case Others(left, right):
            return f"{left or NONE} {ARROW} {right or NONE}"
        case Unknown(why):
            return why


def _table_line(tables: Tables) -> str:
    phrases = []
    if tables.changed:
        phrases.append(f"{many(tables.changed, 'cell')} {_differ(tables.changed)}")
    if tables.left != tables.right:
        left, right = (f"{rows:,} × {columns:,}" for rows, columns in (tables.left, tables.right))
        phrases.append(f"{left} {ARROW} {right}")
    for side, columns, rows in zip(("left", "right"), tables.columns, tables.alone, strict=True):
        if columns:
            phrases.append(f"only {side}: {', '.join(columns[:6])}{'…' * (len(columns) > 6)}")
        if rows:
            phrases.append(f"{many(rows, 'row')} only {side}")
    return "; ".join(phrases)


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
