"""What a person sees of branches, and of how the values on two of them differ."""

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
    same: bool = False
    unknown: str = ""
    """Why nobody can tell, where that is so."""
    parts: tuple[PartRow, ...] = ()
