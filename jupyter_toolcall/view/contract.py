"""What a panel is told, a closed union, and what a notebook keeps: rows, table by table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..engine.hooks import ExtensionRow
from ..engine.person_model import Phase, Told, Written, YourTurn
from .contract_commands import (
    Anew,
    Answer,
    Approval,
    Approve,
    ApproveAll,
    BeginNew,
    Break,
    Checkout,
    Command,
    Compare,
    Draft,
    Edit,
    Export,
    Fork,
    Hello,
    HideBranch,
    KeepResult,
    NameBranch,
    Reject,
    Replay,
    Run,
    Say,
    ShowObject,
    ShowRequest,
    Step,
    Stop,
    Tidy,
)
from .contract_rows import (
    Aspect,
    BranchRow,
    CallRow,
    CallStatus,
    CellPair,
    ChangeRow,
    ComparisonRow,
    DifferenceRow,
    LinePair,
    MessageRole,
    MessageRow,
    ObjectPairRow,
    ObjectRole,
    ObjectRow,
    PairRow,
    PartRow,
    Preview,
    SessionRow,
    ToolRow,
    TurnRow,
    Use,
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


__all__ = [
    "VERSION",
    "Anew",
    "Answer",
    "Approval",
    "Approve",
    "ApproveAll",
    "Aspect",
    "BeginNew",
    "BranchRow",
    "Break",
    "CallRow",
    "CallStatus",
    "CellPair",
    "ChangeRow",
    "Checkout",
    "Command",
    "Compare",
    "ComparisonRow",
    "Delta",
    "DifferenceRow",
    "Displayed",
    "Draft",
    "Drop",
    "Edit",
    "Export",
    "Exported",
    "ExtensionRow",
    "Fork",
    "Hello",
    "HideBranch",
    "KeepResult",
    "LinePair",
    "MessageRole",
    "MessageRow",
    "NameBranch",
    "Notice",
    "ObjectPairRow",
    "ObjectRole",
    "ObjectRow",
    "PairRow",
    "PartRow",
    "Phase",
    "Preview",
    "Refused",
    "Reject",
    "Replay",
    "Row",
    "Rows",
    "Run",
    "Saved",
    "Say",
    "SessionRow",
    "ShowObject",
    "ShowRequest",
    "Shown",
    "Step",
    "Stop",
    "Tidy",
    "Told",
    "ToolRow",
    "TurnRow",
    "Use",
    "Whole",
    "Written",
    "YourTurn",
]
