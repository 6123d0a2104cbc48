"""What panels and sessions send each other, and what a notebook keeps.

Notices, a closed union, bring rows to a panel, table by table. Commands, a closed union too, are
what a person asks for in a panel.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, dataclass_transform

from pydantic import BeforeValidator

from ..core.json_data import from_exact
from ..engine.cursor import ExtensionRow
from ..engine.person_model import Written
from . import contract_rows as rows
from .contract_comparisons import ComparisonRow, DifferenceRow
from .contract_rows import Json, Row
from .graph_rows import GraphRow

VERSION = 3
"""Of what panels are sent and notebooks keep. In version 1 a notebook's rows were no texts; before
version 3 rows had places of their own, and there was no drawing."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Message:
    """Base of notices and commands: each subclass is a frozen dataclass.

    Its field `type`, which tells it from the others, is its name: `draw_graph` is `DrawGraph`.
    """

    type: str

    def __init_subclass__(cls) -> None:
        """Make a dataclass with a `type` of a subclass."""
        cls.type = re.sub("(?<=.)(?=[A-Z])", "_", cls.__name__).lower()
        cls.__annotations__["type"] = Literal[cls.type]
        dataclass(frozen=True)(cls)


class Drop(Row):
    """A row to drop."""

    table: Literal["objects", "branches", "comparisons"]
    id: str


class Rows(Row):
    """Rows to put, table by table, and rows to drop."""

    session: tuple[rows.SessionRow, ...] = ()
    calls: tuple[rows.CallRow, ...] = ()
    objects: tuple[rows.ObjectRow, ...] = ()
    tools: tuple[rows.ToolRow, ...] = ()
    messages: tuple[rows.MessageRow, ...] = ()
    turns: tuple[rows.TurnRow, ...] = ()
    branches: tuple[rows.BranchRow, ...] = ()
    comparisons: tuple[ComparisonRow, ...] = ()
    differences: tuple[DifferenceRow, ...] = ()
    graph: tuple[GraphRow, ...] = ()
    extensions: tuple[ExtensionRow, ...] = ()
    drop: tuple[Drop, ...] = ()


class Whole(Message):
    """Everything that there is to see: sent when a panel connects."""

    rows: Rows
    live: bool = True
    version: int = VERSION


class Delta(Message):
    """What changed since the last message; after a gap in `number` the panel asks for all rows.

    A row of the session, a call, an object or an extension that was sent before has its id and
    the fields that changed.
    """

    rows: Rows
    number: int


class Refused(Message):
    """A command was not carried out; `fields` says which arguments are wrong, and how."""

    command: str
    reason: str
    fields: Mapping[str, str] = field(default_factory=dict)


class Shown(Message):
    """The request of a turn, exactly as it goes to the model: JSON as text."""

    turn: int
    text: str


class Exported(Message):
    """The session as a text of a format that it can be exported to."""

    to: str
    text: str


class Displayed(Message):
    """An object as large as may be: what its row's preview had no room for."""

    object: str
    """The id of its row."""
    preview: rows.Preview


Notice = Whole | Delta | Refused | Shown | Exported | Displayed


class Saved(Row):
    """The notebook output (application/vnd.jupyter-toolcall.session+json)."""

    rows: Mapping[str, list[str]]
    """The tables of `Rows`, each row as a JSON text."""
    journal: Mapping[str, Any]
    version: int = VERSION


# -- commands: what a person asks for in a panel ----------------------------------------------


def _exact_call(data: Any) -> Any:
    """Return a call as a panel sent it, with the arguments that its marks stand for."""
    match data:
        case {"arguments": dict() as arguments}:
            return {**data, "arguments": {key: from_exact(arguments[key]) for key in arguments}}
    return data


WrittenCall = Annotated[Written, BeforeValidator(_exact_call)]


class Hello(Message):
    """A panel is here, and wants everything."""


class ShownCall(Row):
    """A call as it was shown: `bound` is its digest."""

    call: str
    bound: str


class Approve(Message, ShownCall):
    """Approve exactly this call; one whose outcome is unknown runs again."""


class ApproveAll(Message):
    """Approve exactly these calls, which wait now; where one has changed, none is approved."""

    calls: tuple[ShownCall, ...]


class KeepResult(Message, ShownCall):
    """Keep the recorded result of a call that may have run; with `rest` all that follow too."""

    rest: bool = False


class BeginNew(Message):
    """Ask the last prompt again on a branch of its own, with nothing of what is recorded."""


class Edit(Message, ShownCall):
    """Run a call with other arguments; one that has run is replayed from there.

    Where nothing changes, it approves a call that waits, runs one that failed with the tool as it
    is now, and does nothing to another one.
    """

    arguments: Mapping[str, Json]
    """Those that change, by name; the others stay as they are."""
    reason: str = ""
    left_out: tuple[str, ...] = ()
    """The names of those that are left out, so that the tool uses its defaults."""


class Reject(Message, ShownCall):
    """Do not run a call; the model gets the reason."""

    reason: str = ""


class Answer(Message, ShownCall):
    """Give the result oneself: JSON, text, or the name of an object."""

    result: Json
    reason: str = ""


class Draft(Message):
    """The calls that the person has written so far in the model's place.

    What is new among them is checked as it would run, but with `anyway`; nothing is recorded
    before the reply is sent: with `send` at once, and with `text`.
    """

    calls: tuple[WrittenCall, ...]
    anyway: bool = False
    send: bool = False
    text: str = ""


class Say(Message):
    """Reply in the model's place: with words, with calls, or with both."""

    text: str = ""
    calls: tuple[WrittenCall, ...] = ()


class Step(Message):
    """Run the next step, and pause."""


class Run(Message):
    """Run until a person has to decide."""


class Stop(Message):
    """Pause the run."""


class Replay(Message):
    call: str


class Fork(Message):
    call: str


class Ask(Message):
    """Ask the model again in place of the reply of a turn, on a branch of its own."""

    turn: int


class Checkout(Message):
    branch: str


class NameBranch(Message):
    """Call a branch so."""

    branch: str
    name: str


class HideBranch(Message):
    """Take a branch out of view, or with `hidden` false back into it. Nothing is deleted."""

    branch: str
    hidden: bool = True


class Compare(Message):
    """Tell how two branches differ, and tell it again as they grow, until `on` is false.

    Without their ids: those that are compared where a person has chosen none.
    """

    left: str = ""
    right: str = ""
    on: bool = True


class Break(Message):
    """Let all calls of a tool wait, or no longer."""

    tool: str
    on: bool = True


class ShowRequest(Message):
    """Show the request of a turn exactly as it goes to the model."""

    turn: int


class Export(Message):
    """Tell the session as a text of a format, such as `dot`."""

    to: str


class ShowObject(Message):
    """Tell an object as large as may be, by the id of its row."""

    object: str


class ShowDifference(Message):
    """Tell how two objects of a branch differ, by the ids of their rows."""

    left: str
    right: str


class DrawGraph(Message):
    """Draw the calls up to one, and what an object or a call came from."""

    until: int = 0
    """The number of the last call to draw; 0 is the newest."""
    selected: str = ""
    """The id of the row of an object or a call whose ancestors are drawn too."""


Decision = Approve | ApproveAll | KeepResult | Edit | Reject | Answer
Reply = Draft | Say
Control = Hello | BeginNew | Step | Run | Stop | Replay | Fork | Ask | Break
BranchCommand = Checkout | NameBranch | HideBranch
Look = Compare | DrawGraph | ShowObject | ShowDifference | ShowRequest | Export
"""The commands that ask to see something, and change nothing."""
Command = Decision | Reply | Control | BranchCommand | Look
