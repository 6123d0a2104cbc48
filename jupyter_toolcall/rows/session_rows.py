"""What a person sees of a session: its calls, objects, tools and messages, a row for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# -- objects -----------------------------------------------------------------------------------

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


# -- calls and tools ---------------------------------------------------------------------------


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


@dataclass(frozen=True, slots=True)
class Use:
    """An argument of a call that names an object: an edge of the graph."""

    parameter: str
    object: str
    """The id of an ObjectRow."""
    receiver: bool = False
    """The edge of the main line; the others are drawn thin, with the parameter's name."""
    input: bool = False
    """The object is an input: no call made it."""


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
    saves: bool = False
    """It hands over what was asked for: `save`, where it is not a tool of the person's own."""
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
    again: bool = False
    """It was decided once, and is asked about again; `why` says why."""
    may_have_run: bool = False
    """It is recorded where this kernel cannot rely on it, so a person decides; `why` says why."""
    recorded: str = ""
    """The recorded result of such a call, where it can be kept."""
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


# -- messages ----------------------------------------------------------------------------------


MessageRole = Literal["system", "tools", "user", "session", "assistant", "call", "tool"]


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A part of the conversation: what the model was told, and what it said."""

    id: str
    turn: int
    """The request in which it was new (1, 2, …); a reply belongs to its own request."""
    role: MessageRole
    text: str = ""
    step: int = 0
    """The number of the call that it is about, 0 where it is about none."""
    size: int = 0
    """How many characters it has in the request; 0 where `text` is all of it."""
    stale: bool = False
    """It is of a reply to results that read otherwise now."""
    tool: str = ""
    """The name of the tool that a call's text begins with."""


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


# -- a person in the place of the model --------------------------------------------------------


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


# -- the session -------------------------------------------------------------------------------


Phase = Literal["ready", "thinking", "waiting", "running", "finished", "stopped", "failed"]


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
    """What the requests of the shown branch took, in and out; not those that it shares."""
    cost: str = ""
    """`$0.0123`; "" where it is not known."""
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


# -- extensions --------------------------------------------------------------------------------


# What an extension shows of a session: one row for each extension, a subclass of its own.
# `labextension/contract.py` writes the TypeScript types of the core's rows and of the
# extensions' rows together.


@dataclass(frozen=True, slots=True)
class ExtensionRow:
    """Base class of what an extension shows of a session. `id` is the extension's name."""

    id: str

    def saved(self) -> ExtensionRow | None:
        """Return what a notebook keeps of this row; None for nothing."""
        return self

    def offered_tools(self) -> tuple[str, ...]:
        """Return the names of the tools for which the panel shows forms."""
        return ()

    def invitation(self) -> str:
        """Return what running the cell is good for, shown where the session has no calls yet."""
        return ""
