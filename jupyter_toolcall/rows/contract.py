"""What a person sees, as rows: the contract with the panel and the saved notebook.

Only frozen dataclasses live here. The panel's TypeScript types are generated from
them (`labextension/src/generated/contract.ts`). A row is known by its `id` in its
table; a later row with the same id takes its place. A field that is left out on the
wire has the default that stands here; but what a delta tells again of the session, of a
call or of an object is its id and what has changed. Every string is data from models, tools
and files: it is shown as text, never as markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

VERSION = 1

CallStatus = Literal[
    "proposed",
    "approved",
    "running",
    "succeeded",
    "failed",
    "rejected",
    "answered",
    "interrupted",
    "unknown",
]
Phase = Literal["ready", "thinking", "waiting", "running", "finished", "stopped", "failed"]
Role = Literal["input", "made", "pending", "output"]


@dataclass(frozen=True, slots=True)
class Preview:
    """A small picture of an object; every part is optional and size-capped."""

    caption: str = ""
    """At most about 24 characters, stands under the object's name in the graph."""
    text: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()
    cells: tuple[tuple[str, ...], ...] = ()
    image: str = ""
    """A `data:image/…;base64,` address, shown by <img> or <image> alone."""
    glyph: tuple[str, ...] = ()
    """Path data (`d` of <path>) for a 24 by 24 box, drawn in the ink of the theme."""
    html: str = ""
    """Markup of the object's own making: shown in a frame that runs and loads nothing."""
    more: bool = False
    """There is more to see: a live panel may ask for it (`ShowObject`)."""


@dataclass(frozen=True, slots=True)
class ObjectRow:
    """A node of the graph. `id` is unique over all branches, `name` in its branch only."""

    id: str
    name: str
    kind: str
    role: Role = "made"
    step: int = 0
    """The number of the call that made it; 0 for what the session began with."""
    call: str = ""
    """The id of that call's row."""
    column: float = 0
    """Place in the graph: columns go right, 150 units each; never changes once given."""
    lane: float = 0
    """Lanes go down, 122 units each; -1 is above the main line."""
    branch: str = ""
    """Empty on the branch that is shown; else the branch that it is on (drawn pale)."""
    used: bool = False
    """False: an input that no call has used yet; waits at the right."""
    saved: str = ""
    """The name of the output that it was saved as."""
    equals: str = ""
    """The name of an earlier object with the same content."""
    content: str = ""
    """The beginning of the content's digest: two objects of a kind with the same are alike."""
    description: str = ""
    note: str = ""
    """Such as: not reproducible; passed as it is, since it can't be copied."""
    outdated: str = ""
    """Why it would come out otherwise today, where it would."""
    preview: Preview = Preview()


@dataclass(frozen=True, slots=True)
class Use:
    """An argument of a call that names an object: an edge of the graph."""

    parameter: str
    object: str
    """The id of an ObjectRow."""
    receiver: bool = False
    """The edge of the main line; the others are drawn thin, with the parameter's name."""


@dataclass(frozen=True, slots=True)
class CallRow:
    """A step. `id` is unique over all branches."""

    id: str
    call: str
    """The call's id within its session: what commands name."""
    tool: str
    step: int
    turn: int
    status: CallStatus = "proposed"
    branch: str = ""
    memory: bool = False
    """Its result came from memory."""
    edited: bool = False
    stale: bool = False
    """The model may have decided it on something that has since changed."""
    outdated: str = ""
    """Why it would come out otherwise today, where it would."""
    notes: tuple[str, ...] = ()
    """What a person is told of its run: inputs that it changed, results that are not kept."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """As they run, or ran."""
    asked: Mapping[str, Any] | None = None
    """What the model asked for, where something else runs."""
    filled: tuple[str, ...] = ()
    """The arguments that the model left out and the scheme filled in."""
    uses: tuple[Use, ...] = ()
    object: str = ""
    """The id of the ObjectRow that it made, returned, or will make."""
    what: str = ""
    """One line: `Potato#1, sink Sink#1`. The object that it made is not in it."""
    result: str = ""
    """A scalar result, or what the model was told, as text; capped."""
    error: str = ""
    reason: str = ""
    ms: float = 0
    prints: str = ""
    why: str = ""
    """Why it waits: one sentence."""
    downstream: str = ""
    """What follows from it: one sentence."""
    bound: str = ""
    """The digest of exactly what will run; a decision must carry it."""
    column: float = 0
    """Where in the graph a call stands that came to nothing, such as one that failed."""
    lane: float = 0
    """0 for one that has no place: it used no object."""


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool, for the edit form and the card. `id` is its name."""

    id: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """JSON Schema. A string with the pattern `^Potato#[1-9][0-9]*$` names a Potato."""
    read_only: bool = False
    for_person: bool = False
    """A request to the person: it is answered or rejected, and never runs."""


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A part of the conversation: what the model was told, and what it said."""

    id: str
    turn: int
    """The request in which it was new (1, 2, …); a reply belongs to its own request."""
    role: Literal["system", "tools", "user", "session", "assistant", "call", "tool"]
    text: str = ""
    step: int = 0
    """The number of the call that it is about, 0 where it is about none."""
    stale: bool = False
    """It is of a reply to results that read otherwise now."""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """What a request to the model took. `id` is the reply's."""

    id: str
    turn: int
    model: str = ""
    input: int = 0
    """Tokens in, those from a cache too."""
    cached: int = 0
    output: int = 0
    cost: str = ""
    """`$0.0123`; "" where it is not known."""
    ms: float = 0
    attempts: tuple[str, ...] = ()
    """What was wrong with the requests before it that came to nothing."""


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


@dataclass(frozen=True, slots=True)
class Told:
    """What the model is told since its last reply: the result of a call, or other words."""

    text: str
    tool: str = ""
    """The call's tool; "" where it is about no call."""
    step: int = 0
    error: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """A call that the person has written in the model's place."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class YourTurn:
    """The person plays the model, and it is the model's turn: what a model would be sent."""

    turn: int
    prompt: str = ""
    """What was asked last."""
    told: tuple[Told, ...] = ()
    system: str = ""
    tools: tuple[str, ...] = ()
    """The ids of the tools that may be called, in the order of the request."""
    calls: tuple[Written, ...] = ()
    """What the person has written so far; it is kept nowhere else, and not recorded yet."""


@dataclass(frozen=True, slots=True)
class Mark:
    """An argument of a guess, and whether it was right."""

    name: str
    right: bool


@dataclass(frozen=True, slots=True)
class GuessRow:
    """A guess of what the model does next, beside what it did. In a saved notebook is none."""

    id: str
    turn: int
    says: str = ""
    """How it came out, in words."""
    guess: Written | None = None
    """None where it was skipped; without a tool: no call."""
    came: Written | None = None
    """The call that it is compared with; None where the model made none."""
    step: int = 0
    """The number of that call."""
    calls: int = 0
    """How many calls the reply has."""
    marks: tuple[Mark, ...] = ()
    tool: bool = False
    """The tool is right, or that there is none."""
    right: int = 0
    of: int = 0
    """Points, and how many there were to have."""


@dataclass(frozen=True, slots=True)
class Task:
    """An exercise that the session is for: the panel offers to check it."""

    title: str
    says: str = ""
    """What the last check came to, a line each; code stands between backticks."""
    passed: bool = False


@dataclass(frozen=True, slots=True)
class SessionRow:
    """The session itself. There is one, with id `session`."""

    id: str = "session"
    name: str = ""
    phase: Phase = "ready"
    says: str = ""
    """The status in words: `Waiting for you`."""
    detail: str = ""
    """A second line, where there is one: an error and its remedy."""
    model: str = ""
    scheme: str = ""
    turn: int = 0
    tokens: int = 0
    pending: tuple[str, ...] = ()
    """The ids of the call rows that wait for a decision, first the one to decide now."""
    text: str = ""
    """What the model has said last; grows while it streams."""
    ran: int = 0
    remembered: int = 0
    stepping: bool = False
    stops: tuple[str, ...] = ()
    """The tools with a breakpoint: their calls wait in any case."""
    verified: bool = True
    """False: this record was not written on this machine."""
    yours: YourTurn | None = None
    """Set while it is the model's turn, and the person is the model."""
    guess: YourTurn | None = None
    """Set while the person guesses what the model replies to this; nothing here tells it."""
    score: str = ""
    """What was guessed so far, in words."""
    task: Task | None = None


Row = (
    ObjectRow
    | CallRow
    | ToolRow
    | MessageRow
    | TurnRow
    | BranchRow
    | DifferenceRow
    | GuessRow
    | SessionRow
)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows to put, and the ids of rows to drop, table by table."""

    session: tuple[SessionRow, ...] = ()
    calls: tuple[CallRow, ...] = ()
    objects: tuple[ObjectRow, ...] = ()
    tools: tuple[ToolRow, ...] = ()
    messages: tuple[MessageRow, ...] = ()
    turns: tuple[TurnRow, ...] = ()
    branches: tuple[BranchRow, ...] = ()
    differences: tuple[DifferenceRow, ...] = ()
    guesses: tuple[GuessRow, ...] = ()
    drop: tuple[str, ...] = ()
    """`objects:ID` and the like."""


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

    A row of the session, a call or an object that was told before has its id and what is new.
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
class ApproveAll:
    """Approve this call and the others of its turn."""

    call: str
    bound: str
    type: Literal["approve_all"] = "approve_all"


@dataclass(frozen=True, slots=True)
class Edit:
    """Run other arguments in a call's place; one that has run is replayed from there."""

    call: str
    arguments: Mapping[str, Any]
    reason: str = ""
    bound: str = ""
    type: Literal["edit"] = "edit"


@dataclass(frozen=True, slots=True)
class Reject:
    call: str
    reason: str = ""
    bound: str = ""
    type: Literal["reject"] = "reject"


@dataclass(frozen=True, slots=True)
class Answer:
    """Give the result oneself: JSON, text, or the name of an object."""

    call: str
    result: Any
    reason: str = ""
    bound: str = ""
    type: Literal["answer"] = "answer"


@dataclass(frozen=True, slots=True)
class Draft:
    """The calls that the person has written so far in the model's place.

    What is new among them is checked as it would run, but with `anyway`; nothing is recorded.
    """

    calls: tuple[Written, ...]
    anyway: bool = False
    type: Literal["draft"] = "draft"


@dataclass(frozen=True, slots=True)
class Say:
    """Reply in the model's place: with words, with calls, or with both."""

    text: str = ""
    calls: tuple[Written, ...] = ()
    type: Literal["say"] = "say"


@dataclass(frozen=True, slots=True)
class Guess:
    """Guess what the model does next: a call of this tool, or with "" none."""

    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    type: Literal["guess"] = "guess"


@dataclass(frozen=True, slots=True)
class SkipGuess:
    """Go on without a guess; `rest`: without any more of them."""

    rest: bool = False
    type: Literal["skip_guess"] = "skip_guess"


@dataclass(frozen=True, slots=True)
class Check:
    """Check the exercise."""

    type: Literal["check"] = "check"


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
class Anew:
    """Ask the model anew in place of the reply of a turn, on a branch of its own."""

    turn: int
    type: Literal["anew"] = "anew"


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
    """Tell the rows of two branches, and how the values of their objects differ."""

    left: str
    right: str
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
class Tidy:
    """Lay the graph out anew."""

    type: Literal["tidy"] = "tidy"


Command = (
    Hello
    | Approve
    | ApproveAll
    | Edit
    | Reject
    | Answer
    | Draft
    | Say
    | Guess
    | SkipGuess
    | Check
    | Step
    | Run
    | Stop
    | Replay
    | Fork
    | Anew
    | Checkout
    | NameBranch
    | HideBranch
    | Compare
    | Tidy
    | ShowObject
    | Break
    | ShowRequest
    | Export
)
