"""What a panel is told, a closed union, and what a notebook keeps: rows, table by table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .branches import BranchRow, ComparisonRow, DifferenceRow
from .session_rows import (
    CallRow,
    ExtensionRow,
    MessageRow,
    ObjectRow,
    Preview,
    SessionRow,
    ToolRow,
    TurnRow,
)

VERSION = 1


Row = (
    ObjectRow
    | CallRow
    | ToolRow
    | MessageRow
    | TurnRow
    | BranchRow
    | ComparisonRow
    | DifferenceRow
    | ExtensionRow
    | SessionRow
)


@dataclass(frozen=True, slots=True)
class Drop:
    """A row to drop."""

    table: Literal["objects", "branches", "comparisons"]
    id: str


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows to put, table by table, and rows to drop."""

    session: tuple[SessionRow, ...] = ()
    calls: tuple[CallRow, ...] = ()
    objects: tuple[ObjectRow, ...] = ()
    tools: tuple[ToolRow, ...] = ()
    messages: tuple[MessageRow, ...] = ()
    turns: tuple[TurnRow, ...] = ()
    branches: tuple[BranchRow, ...] = ()
    comparisons: tuple[ComparisonRow, ...] = ()
    differences: tuple[DifferenceRow, ...] = ()
    extensions: tuple[ExtensionRow, ...] = ()
    drop: tuple[Drop, ...] = ()


@dataclass(frozen=True, slots=True)
class Whole:
    """Everything that there is to see: sent when a panel connects."""

    rows: Rows
    live: bool = True
    type: Literal["whole"] = "whole"
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class Delta:
    """What changed since the last message; `number` counts them, a gap asks anew.

    A row of the session, a call, an object or an extension that was sent before has its id and
    the fields that changed.
    """

    rows: Rows
    number: int
    type: Literal["delta"] = "delta"


@dataclass(frozen=True, slots=True)
class Refused:
    """A command was not carried out; `fields` says which arguments are wrong, and how."""

    command: str
    reason: str
    fields: Mapping[str, str] = field(default_factory=dict)
    type: Literal["refused"] = "refused"


@dataclass(frozen=True, slots=True)
class Shown:
    """The request of a turn, exactly as it goes to the model: JSON as text."""

    turn: int
    text: str
    type: Literal["shown"] = "shown"


@dataclass(frozen=True, slots=True)
class Exported:
    """The session as a text of a format that it can be exported to."""

    to: str
    text: str
    type: Literal["exported"] = "exported"


@dataclass(frozen=True, slots=True)
class Displayed:
    """An object as large as may be: what its row's preview had no room for."""

    object: str
    """The id of its row."""
    preview: Preview
    type: Literal["displayed"] = "displayed"


Notice = Whole | Delta | Refused | Shown | Exported | Displayed


@dataclass(frozen=True, slots=True)
class Saved:
    """The notebook output (application/vnd.jupyter-toolcall.session+json)."""

    rows: Rows
    journal: Mapping[str, Any]
    version: int = VERSION
