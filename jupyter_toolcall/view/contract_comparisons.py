"""What a person sees of two branches side by side, and of two values: a row for each."""

from __future__ import annotations

from typing import Literal

from .contract_rows import Row, Text


class LinePair(Row):
    """A line of two texts side by side; `sign` says which side has it, or whether it changed."""

    sign: Literal["same", "changed", "left", "right"] = "same"
    left: str = ""
    right: str = ""
    left_at: int = 0
    """The number of the line, from 1."""
    right_at: int = 0


class CellPair(Row):
    """A cell in which two tables differ."""

    row: str
    column: str
    left: str = ""
    right: str = ""
    left_at: int = 0
    """The number of the row, from 1; 0 where it is not known."""
    right_at: int = 0


class PartRow(Row):
    """A part of two values that differs: in words, or as texts, lines, cells, pictures."""

    name: str = ""
    """`lid.size`; "" for the whole value."""
    says: Text = ""
    left: str | None = None
    right: str | None = None
    """The part in words, None where it is told otherwise, or is not there."""
    lines: tuple[LinePair, ...] = ()
    cells: tuple[CellPair, ...] = ()
    images: tuple[str, ...] = ()
    """Of the left, of the right and of what differs: `data:image/…;base64,` addresses, or ""."""


class DifferenceRow(Row):
    """How the values of two objects differ. `id` is their rows' ids: `LEFT RIGHT`."""

    id: str
    unknown: Text = ""
    """Why nobody can tell, where that is so."""
    parts: tuple[PartRow, ...] = ()


Aspect = Literal["tool", "argument", "status", "result", "error", "prints", "reason", "text"]


class ChangeRow(Row):
    """Something in which two calls differ; `text` is what the model said last on two branches."""

    what: Aspect
    name: str = ""
    """The argument's."""
    left: tuple[int, ...] = ()
    """The numbers of the lines of a text that differ, from 1; none on both sides: all of it."""
    right: tuple[int, ...] = ()


class ObjectPairRow(Row):
    """Two objects side by side, by the ids of their rows; "" where there is none."""

    left: str = ""
    right: str = ""
    same: bool = False
    repeated: bool = False
    """An earlier pair of calls has the same two objects, which shows how they differ."""


class PairRow(Row):
    """Two calls side by side, by the ids of their rows; "" where there is none."""

    left: str = ""
    right: str = ""
    kind: Literal["shared", "same", "differs"] = "same"
    """`shared`: it is one call of both branches; `same`: the same was asked for, and came out."""
    changes: tuple[ChangeRow, ...] = ()
    made: Literal["", "same", "differ"] = ""
    """Each made one object, whose row has the id of the call's row: whether they are the same."""
    objects: tuple[ObjectPairRow, ...] = ()
    """What else they made, or saved; not told of a call that is shared."""


class ComparisonRow(Row):
    """Two branches, call by call."""

    id: str
    left: str = ""
    """The id of the branch on the left, `current` for the one that is shown."""
    right: str = ""
    unasked: bool = False
    """It is the one that is shown where a person has chosen no other."""
    same: bool = False
    """Nothing differs: no call, no input, and nothing that the model said last."""
    shared: int = 0
    """So many calls come before the pairs: the first ones of the branch that is shown, shared."""
    pairs: tuple[PairRow, ...] = ()
    text: ChangeRow | None = None
    """How what the model said last differs; None where it is the same."""
