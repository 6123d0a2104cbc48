"""What panels and sessions send each other, and what a notebook keeps.

Notices, a closed union, bring rows to a panel, table by table. Commands, a closed union too, are
what a person asks for in a panel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..engine.hooks import ExtensionRow
from ..engine.person_model import Written
from .contract_rows import (
    BranchRow,
    CallRow,
    ComparisonRow,
    DifferenceRow,
    MessageRow,
    ObjectRow,
    Preview,
    SessionRow,
    ToolRow,
    TurnRow,
)

VERSION = 2
"""Of what panels are sent and notebooks keep. In version 1 a notebook's rows were no texts."""


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
    """What changed since the last message; after a gap in `number` the panel asks for all rows.

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

    rows: Mapping[str, list[str]]
    """The tables of `Rows`, each row as a JSON text."""
    journal: Mapping[str, Any]
    version: int = VERSION


# -- commands: what a person asks for in a panel ----------------------------------------------


@dataclass(frozen=True, slots=True)
class Hello:
    """A panel is here, and wants everything."""

    type: Literal["hello"] = "hello"


@dataclass(frozen=True, slots=True)
class Approve:
    call: str
    bound: str
    type: Literal["approve"] = "approve"


@dataclass(frozen=True, slots=True)
class Approval:
    """A call as it was shown: `bound` is its digest."""

    call: str
    bound: str


@dataclass(frozen=True, slots=True)
class ApproveAll:
    """Approve exactly these calls, which wait now; where one has changed, none is approved."""

    calls: tuple[Approval, ...]
    type: Literal["approve_all"] = "approve_all"


@dataclass(frozen=True, slots=True)
class KeepResult:
    """Keep the recorded result of a call that may have run; with `rest` all that follow too."""

    call: str
    bound: str
    rest: bool = False
    type: Literal["keep_result"] = "keep_result"


@dataclass(frozen=True, slots=True)
class BeginNew:
    """Ask the last prompt again on a branch of its own, with nothing of what is recorded."""

    type: Literal["begin_new"] = "begin_new"


@dataclass(frozen=True, slots=True)
class Edit:
    """Run other arguments in a call's place; one that has run is replayed from there."""

    call: str
    arguments: Mapping[str, Any]
    bound: str
    reason: str = ""
    type: Literal["edit"] = "edit"


@dataclass(frozen=True, slots=True)
class Reject:
    call: str
    bound: str
    reason: str = ""
    type: Literal["reject"] = "reject"


@dataclass(frozen=True, slots=True)
class Answer:
    """Give the result oneself: JSON, text, or the name of an object."""

    call: str
    result: Any
    bound: str
    reason: str = ""
    type: Literal["answer"] = "answer"


@dataclass(frozen=True, slots=True)
class Draft:
    """The calls that the person has written so far in the model's place.

    What is new among them is checked as it would run, but with `anyway`; nothing is recorded
    before the reply is sent: with `send` at once, and with `text`.
    """

    calls: tuple[Written, ...]
    anyway: bool = False
    send: bool = False
    text: str = ""
    type: Literal["draft"] = "draft"


@dataclass(frozen=True, slots=True)
class Say:
    """Reply in the model's place: with words, with calls, or with both."""

    text: str = ""
    calls: tuple[Written, ...] = ()
    type: Literal["say"] = "say"


@dataclass(frozen=True, slots=True)
class Step:
    type: Literal["step"] = "step"


@dataclass(frozen=True, slots=True)
class Run:
    type: Literal["run"] = "run"


@dataclass(frozen=True, slots=True)
class Stop:
    type: Literal["stop"] = "stop"


@dataclass(frozen=True, slots=True)
class Replay:
    call: str
    type: Literal["replay"] = "replay"


@dataclass(frozen=True, slots=True)
class Fork:
    call: str
    type: Literal["fork"] = "fork"


@dataclass(frozen=True, slots=True)
class AskAgain:
    """Ask the model again in place of the reply of a turn, on a branch of its own."""

    turn: int
    type: Literal["ask"] = "ask"


@dataclass(frozen=True, slots=True)
class Checkout:
    branch: str
    type: Literal["checkout"] = "checkout"


@dataclass(frozen=True, slots=True)
class NameBranch:
    """Call a branch so."""

    branch: str
    name: str
    type: Literal["name_branch"] = "name_branch"


@dataclass(frozen=True, slots=True)
class HideBranch:
    """Take a branch out of view, or with `hidden` false back into it. Nothing is deleted."""

    branch: str
    hidden: bool = True
    type: Literal["hide_branch"] = "hide_branch"


@dataclass(frozen=True, slots=True)
class Compare:
    """Tell how two branches differ, and tell it again as they grow, until `on` is false.

    Without their ids: those that are compared where a person has chosen none.
    """

    left: str = ""
    right: str = ""
    on: bool = True
    type: Literal["compare"] = "compare"


@dataclass(frozen=True, slots=True)
class Break:
    """Let all calls of a tool wait, or no longer."""

    tool: str
    on: bool = True
    type: Literal["break"] = "break"


@dataclass(frozen=True, slots=True)
class ShowRequest:
    """Show the request of a turn exactly as it goes to the model."""

    turn: int
    type: Literal["show_request"] = "show_request"


@dataclass(frozen=True, slots=True)
class Export:
    """Tell the session as a text of a format, such as `dot`."""

    to: str
    type: Literal["export"] = "export"


@dataclass(frozen=True, slots=True)
class ShowObject:
    """Tell an object as large as may be, by the id of its row."""

    object: str
    type: Literal["show_object"] = "show_object"


@dataclass(frozen=True, slots=True)
class ShowDifference:
    """Tell how two objects of a branch differ, by the ids of their rows."""

    left: str
    right: str
    type: Literal["show_difference"] = "show_difference"


@dataclass(frozen=True, slots=True)
class Tidy:
    """Lay the graph out again."""

    type: Literal["tidy"] = "tidy"


Command = (
    Hello
    | Approve
    | ApproveAll
    | KeepResult
    | BeginNew
    | Edit
    | Reject
    | Answer
    | Draft
    | Say
    | Step
    | Run
    | Stop
    | Replay
    | Fork
    | AskAgain
    | Checkout
    | NameBranch
    | HideBranch
    | Compare
    | Tidy
    | ShowObject
    | ShowDifference
    | Break
    | ShowRequest
    | Export
)
