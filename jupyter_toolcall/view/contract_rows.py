"""What a person sees of a session: its calls, objects, tools and messages, a row for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, WithJsonSchema

from ..core.interface_text import from_wire
from ..engine.person_model import Phase, YourTurn

Text = Annotated[
    str,
    BeforeValidator(from_wire),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array"}]}),
]
"""A text, which may be an `InterfaceText`: that is sent as a list, and the panel translates it."""


# -- objects -----------------------------------------------------------------------------------

ObjectRole = Literal["input", "made", "pending", "output"]


@dataclass(frozen=True, slots=True)
class Preview:
    """A small picture of an object; every part is optional and size-capped."""

    caption: Text = ""
    """At most about 24 characters, stands under the object's name in the graph."""
    text: Text = ""
    fields: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()
    cells: tuple[tuple[str, ...], ...] = ()
    image: str = ""
    """A `data:image/…;base64,` address, shown by `<img>` or `<image>` alone."""
    glyph: tuple[str, ...] = ()
    """Path data (the attribute `d` of a path) for a 24 by 24 box, drawn in the ink of the theme."""
    html: str = ""
    """Markup of the object's own making: shown in a frame that runs and loads nothing."""
    more: bool = False
    """There is more to see: a live panel may ask for it (`ShowObject`)."""
    missing: Text = ""
    """The columns of a table that have empty cells, and how many: `price 9, city 5`."""
    large: Text = ""
    """How large its value is, where it is large: `1,200,000 cells`."""


@dataclass(frozen=True, slots=True)
class ObjectRow:
    """A node of the graph. `id` is unique over all branches, `name` in its branch only."""

    id: str
    name: str
    kind: str
    role: ObjectRole = "made"
    step: int = 0
    """The number of the call that made it; 0 for what the session began with."""
    call: str = ""
    """The id of that call's row."""
    column: int = 0
    """Place in the graph: columns go right; never changes once given."""
    lane: int = 0
    """Lanes go down; -1 is above the first one."""
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
    note: Text = ""
    """Such as: not reproducible; passed as it is, since it can't be copied."""
    outdated: Text = ""
    """Why it would come out otherwise today, where it would."""
    label: str = ""
    """What tells it from others of its type: the notebook's name for it, or its own name field."""
    same: str = ""
    """The id of the ObjectRow that it is drawn as: a comparison says that both are the same."""
    preview: Preview = Preview()


# -- calls and tools ---------------------------------------------------------------------------


CallStatus = Literal[
    "proposed",
    "approved",
    "input required",
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


WarningKind = Literal[
    "outcome unknown", "untracked change", "lost change", "failure before save", "may be stale"
]


@dataclass(frozen=True, slots=True)
class CallWarning:
    """What a person is warned of at a call: its mark stands at the step, the node and the card."""

    kind: WarningKind
    """In two words, as the step shows it."""
    text: Text
    action: Text
    """What to do: one sentence."""


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """What a running tool asks the person: a form, or a page to open."""

    key: str
    message: str = ""
    form: Mapping[str, Any] = field(default_factory=dict)
    """The JSON Schema of its fields."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """The defaults of its fields."""
    url: str = ""
    host: str = ""
    """Of the page: where the person would go."""


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
    outdated: Text = ""
    """Why it would come out otherwise today, where it would."""
    notes: tuple[Text, ...] = ()
    """What a person is told of its run: inputs that it changed, results that are not kept."""
    warning: CallWarning | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """As they run, or ran."""
    asked: Mapping[str, Any] | None = None
    """What the model asked for, where something else runs."""
    filled: tuple[str, ...] = ()
    """The arguments that the model left out and the scheme filled in."""
    uses: tuple[Use, ...] = ()
    object: str = ""
    """The id of the ObjectRow that it made, returned, or will make."""
    what: Text = ""
    """One line: `Potato#1, sink Sink#1`. The object that it made is not in it."""
    before: str = ""
    """The id of the ObjectRow that its object was made from, where that has the same type."""
    change: Text = ""
    """How its object differs from that one, in one line: `price: 9 cells filled`; of a call without
    such an object what it sent or replaced."""
    result: str = ""
    """A scalar result, or what the model was told, as text; capped."""
    error: Text = ""
    reason: str = ""
    ms: float = 0
    prints: str = ""
    why: Text = ""
    """Why it waits: one sentence."""
    again: bool = False
    """It was decided once, and is asked about again; `why` says why."""
    may_have_run: bool = False
    """It is recorded where this kernel cannot rely on it, so a person decides; `why` says why."""
    recorded: str = ""
    """The recorded result of such a call, where it can be kept."""
    questions: tuple[QuestionRow, ...] = ()
    """What its tool asks the person, while that is not answered."""
    downstream: Text = ""
    """What follows from it: one sentence."""
    bound: str = ""
    """The digest of exactly what will run; a decision must carry it."""
    column: int = 0
    """Where in the graph a call stands that came to nothing, such as one that failed."""
    lane: int = 0
    """0 for one that has no place: it used no object."""
    same: str = ""
    """The id of the CallRow that it is drawn as: a comparison says that both are the same."""
    by: str = ""
    """The client that asked for it, such as `mcp:claude-code`; empty where the model did."""


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
    returns: str = ""
    """What its annotation says it returns: `Account`, `str`; "" where it says nothing."""
    order: tuple[str, ...] = ()
    """The names of its parameters as it declares them: Jupyter sorts the keys of what it saves."""


# -- messages ----------------------------------------------------------------------------------


MessageRole = Literal["system", "tools", "user", "session", "assistant", "call", "tool"]


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A part of the conversation: what the model was told, and what it said."""

    id: str
    turn: int
    """The request in which it was new (1, 2, …); a reply belongs to its own request."""
    role: MessageRole
    text: Text = ""
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
    attempts: tuple[Text, ...] = ()
    """What was wrong with the requests before it that came to nothing."""


# -- a person in the place of the model --------------------------------------------------------


# -- the session -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionRow:
    """The session itself. There is one, with id `session`."""

    id: str = "session"
    name: str = ""
    phase: Phase = "ready"
    says: Text = ""
    """The status in words: `Waiting for you`."""
    detail: Text = ""
    """A second line, where there is one: an error and its remedy."""
    ending: tuple[Text, ...] = ()
    """After the end: `3 calls, 2 failed`, `saved A#1 as a: an input, unchanged; …`."""
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
    differs: Text = ""
    """What it has otherwise than the branch that it left; "" for the oldest."""
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
    says: Text = ""
    left: str | None = None
    right: str | None = None
    """The part in words, None where it is told otherwise, or is not there."""
    lines: tuple[LinePair, ...] = ()
    cells: tuple[CellPair, ...] = ()
    images: tuple[str, ...] = ()
    """Of the left, of the right and of what differs: `data:image/…;base64,` addresses, or ""."""


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """How the values of two objects differ. `id` is their rows' ids: `LEFT RIGHT`."""

    id: str
    unknown: Text = ""
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
    repeated: bool = False
    """An earlier pair of calls has the same two objects, which shows how they differ."""


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
