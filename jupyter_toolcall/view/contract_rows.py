"""What a person sees of a session: its calls, objects, tools and messages, a row for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from pydantic import Field

from ..core.call_record import Status
from ..core.rows import Json, Row, Text
from ..engine.call_warnings import CallWarning
from ..engine.person_model import Phase, YourTurn
from .decision_contract import BudgetRow, OriginRow, RuleRow, UndoRow

MOST_ENTRIES, MOST_ATTEMPTS = 500, 20
"""Entries of a list of a preview, and attempts of a turn, at most."""

# -- objects -----------------------------------------------------------------------------------


class Preview(Row):
    """A small picture of an object; every part is optional and size-capped."""

    caption: Text = ""
    """At most about 24 characters, stands under the object's name in the graph."""
    text: Text = ""
    fields: Annotated[tuple[tuple[str, str], ...], Field(max_length=MOST_ENTRIES)] = ()
    columns: Annotated[tuple[str, ...], Field(max_length=MOST_ENTRIES)] = ()
    cells: Annotated[tuple[tuple[str, ...], ...], Field(max_length=MOST_ENTRIES)] = ()
    rows: Annotated[tuple[str, ...], Field(max_length=MOST_ENTRIES)] = ()
    """What the rows of a table are called; none where they are called by their places from 0."""
    image: str = ""
    """A `data:image/…;base64,` address, shown by `<img>` or `<image>` alone."""
    glyph: Annotated[tuple[str, ...], Field(max_length=MOST_ENTRIES)] = ()
    """Path data (the attribute `d` of a path) for a 24 by 24 box, drawn in the ink of the theme."""
    html: Annotated[str, Field(max_length=500_000)] = ""
    """Markup of the object's own making: shown in a frame that runs and loads nothing."""
    lines: Annotated[tuple[str, ...], Field(max_length=MOST_ENTRIES)] = ()
    """The first rows of a table as a box of the graph shows them: whole columns, one below the
    other, as far as there is room."""
    others: Text = ""
    """How many columns have no room in the box: `+ 3 columns`."""
    more: bool = False
    """There is more to see: a live panel may ask for it (`ShowObject`)."""
    empty_cells: Annotated[tuple[tuple[str, str], ...], Field(max_length=MOST_ENTRIES)] = ()
    """The columns of a table that have empty cells, in order, and how many: `(price, 9)`."""
    empty_columns: int = 0
    """How many columns have empty cells, those that are left out there too."""
    missing: Text = ""
    """The same in words, as notebooks of older versions have it."""
    large: Text = ""
    """How large its value is, where it is large: `1,200,000 cells`."""


class ObjectRow(Row):
    """An object. `id` is unique over all branches, `name` in its branch only."""

    id: str
    name: str
    kind: str
    role: Literal["input", "made", "pending", "output"] = "made"
    step: int = 0
    """The number of the call that made it; 0 for what the session began with."""
    call: str = ""
    """The id of that call's row."""
    branch: str = ""
    """Empty on the branch that is shown; else the branch that it is on (drawn muted)."""
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


class Use(Row):
    """An argument of a call that names an object: an edge of the graph."""

    parameter: str
    object: str
    """The id of an ObjectRow."""
    input: bool = False
    """The object is an input: no call made it."""


class QuestionRow(Row):
    """What a running tool asks the person: a form, or a page to open."""

    key: str
    message: str = ""
    form: Mapping[str, Json] = field(default_factory=dict)
    """The JSON Schema of its fields."""
    values: Mapping[str, Json] = field(default_factory=dict)
    """The defaults of its fields."""
    url: str = ""
    host: str = ""
    """Of the page: where the person would go."""


class CallRow(Row):
    """A step. `id` is unique over all branches."""

    id: str
    call: str
    """The call's id within its session: what commands name."""
    tool: str
    step: int
    turn: int
    status: Status = "proposed"
    branch: str = ""
    memory: bool = False
    """Its result is a recorded one, or a replay will take it: the tool did not run here."""
    inherited: bool = False
    """It ended on an older branch, before this one left it."""
    edited: bool = False
    scheme: bool = False
    """Its tool is the scheme's own, such as `selectTools`: the graph has no node for it."""
    saves: bool = False
    """It hands over what was asked for: `save`, where it is not a tool of the person's own."""
    stale: bool = False
    """The model may have decided it on something that has since changed."""
    outdated: Text = ""
    """Why it would come out otherwise today, where it would."""
    notes: tuple[Text, ...] = ()
    """What a person is told of its run: inputs that it changed, results that are not kept."""
    warning: CallWarning | None = None
    arguments: Mapping[str, Json] = field(default_factory=dict)
    """As they run, or ran."""
    asked: Mapping[str, Json] | None = None
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
    """Why it waits: one sentence. Of a call that is decided: why a rule of the person asked them,
    such as `value from call 2, read_page (not trusted)`."""
    again: bool = False
    """It was decided once, and is asked about again; `why` says why."""
    following: int = 0
    """How many approvals of before an edit hold for the calls after it, where the person says so
    with this one."""
    budget_calls: int = 0
    """It waits for a budget of so many calls, which is used up; 0 for any other reason."""
    may_have_run: bool = False
    """It is recorded where this kernel cannot rely on it, so a person decides; `why` says why."""
    recorded: str = ""
    """The recorded result of such a call, where it can be kept."""
    questions: tuple[QuestionRow, ...] = ()
    """What its tool asks the person, while that is not answered."""
    downstream: Text = ""
    """What follows from it: one sentence."""
    approval_digest: str = ""
    """The digest of exactly what will run; a decision must carry it."""
    same: str = ""
    """The id of the CallRow that it is drawn as: a comparison says that both are the same."""
    by: str = ""
    """The client that asked for it, such as `mcp:claude-code`; empty where the model did."""
    origins: tuple[OriginRow, ...] = ()
    """Of a call that waits: where its arguments came from, by name."""
    by_rule: str = ""
    """The name of the rule of the person that decided on it."""
    wrong: Mapping[str, Text] = field(default_factory=dict)
    """Of a call that failed its check: what is wrong with its arguments, by name."""
    asked_tool: str = ""
    """The tool that the model asked for, where a person chose another one."""
    suggested_tool: str | None = None
    """Of a call that failed since its tool does not exist: the one that is meant, "" where none
    is near."""
    changes_nothing: bool = False
    """Its object has the content of the one before."""
    who: str = ""
    """The name of the person who decided on it."""


class ToolRow(Row):
    """A tool, for the edit form and the card. `id` is its name."""

    id: str
    description: str = ""
    parameters: Mapping[str, Json] = field(default_factory=dict)
    """JSON Schema. A string with the pattern `^Potato#[1-9][0-9]*$` names a Potato."""
    read_only: bool = False
    for_person: bool = False
    """A request to the person: it is answered or rejected, and never runs."""
    can_change: bool = False
    """Its code is Python, which a cell can change: not a request to a server."""
    returns: str = ""
    """What its annotation says it returns: `Account`, `str`; "" where it says nothing."""
    order: tuple[str, ...] = ()
    """The names of its parameters as it declares them: Jupyter sorts the keys of what it saves."""


# -- messages ----------------------------------------------------------------------------------


MessageRole = Literal["system", "tools", "user", "session", "assistant", "call", "tool"]


class MessageRow(Row):
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


class TurnRow(Row):
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
    attempts: Annotated[tuple[Text, ...], Field(max_length=MOST_ATTEMPTS)] = ()
    """What was wrong with the last requests before it that came to nothing."""


# -- the session -------------------------------------------------------------------------------


class RepairRow(Row):
    """A call that made an object where it had failed on another branch."""

    call: str
    """The id of its row."""
    object: str
    """The name of its object."""
    is_unused: bool = False
    """No call takes the object, and it is no output."""
    ask_turn: int = 0
    """Then the turn after it, whose reply the model may give again; 0 where there is none."""
    save: str = ""
    """The id of the row of the `save` after it that took an older object of the same type."""
    output: str = ""
    """The name of the output that this older object is saved as."""


class SessionRow(Row):
    """The session itself. There is one, with id `session`."""

    id: str = "session"
    name: str = ""
    person: str = ""
    """The name of the person who works here, as their decisions have it; "" in a saved session."""
    phase: Phase = "ready"
    holds_kernel: bool = False
    """The session waits for the person in a cell that runs: the kernel runs no other cell."""
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
    next_call: str = ""
    """The id of the call row with which the next step begins; "" while it runs or waits."""
    can_go_back: bool = False
    """A replay or a fork is paused: to stop it goes back to where it began."""
    recorded_calls: int = 0
    """How many calls the branch has that is replayed, the longest of several; 0 where none is."""
    repair: RepairRow | None = None
    """After the end: the last call of the shown branch that was repaired."""
    differs: bool = False
    """The replay or fork that has just ended differs from the recorded branch."""
    text: str = ""
    """What the model has said last; grows while it streams."""
    ran: int = 0
    by_rules: int = 0
    """How many calls ran by rules."""
    remembered: int = 0
    inherited: int = 0
    """How many calls ended on an older branch, before this one left it."""
    offered: int = 0
    """How many tools it has, with the scheme's own; rows are sent of those that were called."""
    stops: tuple[str, ...] = ()
    """The tools with a breakpoint: their calls wait in any case."""
    budget: BudgetRow | None = None
    """Set while the session is paused for its budget."""
    rules: tuple[RuleRow, ...] = ()
    """The rules that the person added, in their order."""
    undo: UndoRow | None = None
    """The last decision of the branch; None while the session runs, and where there is none."""
    notebook_rules: str = ""
    """What the notebook keeps of them in its metadata, as JSON; "" where nothing is to change."""
    yours: YourTurn | None = None
    """Set while it is the model's turn, and the person is the model."""


# -- extensions --------------------------------------------------------------------------------


# What an extension shows of a session: one row for each extension, a subclass of its own.
# `labextension/contract.py` writes the TypeScript types of the core's rows and of the
# extensions' rows together.


class BranchRow(Row):
    """A branch: a head of the journal. `id` is the head's entry id."""

    id: str
    name: str
    current: bool = False
    hidden: bool = False
    """A person took it out of view: nothing else is told of it."""
    left: str = ""
    """The branch that it left: an id, or `current`; "" for the oldest."""
    shares: str = ""
    """The branch whose first rows are its own too: an id, or `current`; "" on the branch that is
    shown, and where its rows are not told."""
    calls: int = 0
    differs: Text = ""
    """What it has otherwise than the branch that it left; "" for the oldest."""
    ran: int = 0
    remembered: int = 0
    inherited: int = 0
    ms: float = 0
    """In tools that ran on it."""
    tokens: int = 0
    """Of requests that were sent for it."""
    cost: str = ""
    """Theirs; "" where it is not known."""
    text: str = ""
    """What the model said last; not on the branch that is shown."""
    repeats: str = ""
    """The branch, by id, of which a replay or a fork is paused on this one, which is shown."""
