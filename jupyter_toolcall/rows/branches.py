"""What a person sees of branches, and of how two of them differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class BranchRow:
    """A branch: a head of the journal. `id` is the head's entry id."""

    id: str
    name: str
    current: bool = False
    hidden: bool = False
    """A person took it out of view: nothing else is told of it."""
    left: str = ""
    """The branch that it left: an id, or `current`; "" for the oldest."""
    shares: str = ""
    """The branch whose rows before `from_step` are its own too: an id, or `current`; "" on the
    branch that is shown, and where its rows are not told."""
    from_step: int = 0
    """The first step that it has rows of its own for."""
    calls: int = 0
    last: str = ""
    """The tool of its last call."""
    ran: int = 0
    remembered: int = 0
    ms: float = 0
    """In tools that ran on it."""
    tokens: int = 0
    """Of requests that were sent for it."""
    cost: str = ""
    """Theirs; "" where it is not known."""
    text: str = ""
    """What the model said last; not on the branch that is shown."""


@dataclass(frozen=True, slots=True)
class LinePair:
    """A line of two texts side by side; `sign` says which side has it, or whether it changed."""

    sign: Literal["same", "changed", "left", "right"] = "same"
    left: str = ""
    right: str = ""
    left_at: int = 0
    """The number of the line, from 1."""
    right_at: int = 0


@dataclass(frozen=True, slots=True)
class CellPair:
    """A cell in which two tables differ."""

    row: str
    column: str
    left: str = ""
    right: str = ""
    left_at: int = 0
    """The number of the row, from 1; 0 where it is not known."""
    right_at: int = 0


@dataclass(frozen=True, slots=True)
class PartRow:
    """A part of two values that differs: in words, or as texts, lines, cells, pictures."""

    name: str = ""
    """`lid.size`; "" for the whole value."""
    says: str = ""
    left: str | None = None
    right: str | None = None
    """The part in words, None where it is told otherwise, or is not there."""
    lines: tuple[LinePair, ...] = ()
    cells: tuple[CellPair, ...] = ()
    images: tuple[str, ...] = ()
    """Of the left and of the right: `data:image/…;base64,` addresses, or ""."""


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """How the values of two objects differ. `id` is their rows' ids: `LEFT RIGHT`."""

    id: str
    unknown: str = ""
    """Why nobody can tell, where that is so."""
    parts: tuple[PartRow, ...] = ()


Aspect = Literal["tool", "argument", "status", "result", "error", "prints", "reason", "text"]


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """Something in which two calls differ; `text` is what the model said last on two branches."""

    what: Aspect
    name: str = ""
    """The argument's."""
    left: tuple[int, ...] = ()
    """The numbers of the lines of a text that differ, from 1; none on both sides: all of it."""
    right: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ObjectPairRow:
    """Two objects side by side, by the ids of their rows; "" where there is none."""

    left: str = ""
    right: str = ""
    same: bool = False


@dataclass(frozen=True, slots=True)
class PairRow:
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


@dataclass(frozen=True, slots=True)
class ComparisonRow:
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
