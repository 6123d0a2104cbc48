"""The six kinds of facts that a session is made of, and their JSON.

A session is its events, and nothing else is kept: messages, objects, pending calls,
outputs and the lineage graph are all computed from them (`state`). These classes are
also the format of the journal file and the notebook output: there each is an object with its
`type`, without the fields that have their default.

`secrets` of an event are the keys of the markers `{secret:KEY}` in it that stand for values
of the environment. Any other text of this form is plain text (see `secrets.Secrets.mark`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal

import msgspec
from msgspec.structs import astuple, fields

from .errors import BrokenJournal
from .recorded_data import NOTHING, DataRecord, FrozenDict, JsonObject, Record
from .text import visible_text

Decision = Literal["approve", "edit", "reject", "answer"]
DECISIONS: tuple[Decision, ...] = ("approve", "edit", "reject", "answer")


MAX_RESULT = 20_000
"""Characters of one result, or of a text that is an input, that a model is sent."""


class Producer(Record, frozen=True, forbid_unknown_fields=True):
    """What produced an object: a call (its nth result), or an input (its nth value).

    Either `call` or `input` is set. Producers are equal on all branches: a call keeps its id
    when it is replayed. In the journal a producer is an object of these fields, without those
    that have their default: `{"call": "call_7", "index": 2}`, `{"input": "potato"}`.
    """

    call: str = ""
    """The id of the call."""
    index: int = 0
    """Which of the call's results, counted from 0. A result that is one object is the first."""
    input: str = ""
    """The name of the input."""
    version: int = 1
    """Which value of the input, counted from 1: a variable may hold something else later."""


class Part(DataRecord, frozen=True, tag_field="type", tag=str.lower, forbid_unknown_fields=True):
    """An event, or a part of one that says in a journal what it is."""


UNSAID = Producer()
"""Stands for the call in whose outcome an object is recorded: the fold fills in that call."""
Uses = Mapping[str, Producer]
"""The objects that the arguments of a call name, by argument (`plates.0`): what produced each."""


class Call(Part, frozen=True):
    """A tool call, as the model asked for it.

    `broken` says why its arguments could not be read; such a call never runs.
    """

    id: str
    tool: str
    arguments: JsonObject = NOTHING
    broken: str = ""

    data_fields = ("arguments",)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request.

    `input` holds all of it, `cached` what a cache served, `written` what went into one.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0

    def plus(self, other: Usage | None) -> Usage:
        """Return the sum of these tokens and another usage's; None adds nothing."""
        if other is None:
            return self
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.written + other.written,
        )


class Data(Part, frozen=True):
    """The result of a call is plain data (JSON-ready), and new values of session variables."""

    data: Any = None
    variables: Mapping[str, Any] = NOTHING

    data_fields = ("data", "variables")


class Made(Part, frozen=True):
    """The result of a call is an immutable object.

    `digest` is the key of the value in memory and in the value store. `content` is the digest of
    the value itself, "" where it has none. `producer` is left out for a new object of the recorded
    call; it names the producer of an older object that the call returned. `shown` is the text that
    the model gets for an input that is plain data; "" for any other object.
    """

    kind: str
    digest: str
    content: str = ""
    description: str = ""
    producer: Producer = UNSAID
    shown: str = ""
    changed: str = ""
    """The argument (`plates.0`) that a function changed in place: this object is its new value. ""
    for a result or a part of one, also for a receiver that counts as the result of its method."""
    withheld: bool = False
    """Whether the model gets its name and type alone: a tool made it of withheld columns."""
    name: str = ""
    """Its name where that is not the next free number of its type: a replay gives an object the
    name that it has on the replayed branch."""


class Many(Part, frozen=True):
    """The result of a call holds objects: a list of them, or any JSON in which they stand.

    `objects` are those of the result, in order, and then those that the tool changed in place.
    A bare list of objects has nothing but them. In any other result `data` is its JSON, empty
    (null) where an object stands, and `paths` lead to these places, one an object.
    """

    objects: tuple[Made, ...] = ()
    data: Any = None
    paths: tuple[tuple[str | int, ...], ...] = ()
    """The keys, and the positions in lists. The empty path is the result itself."""
    access: tuple[tuple[str | int | None, ...], ...] = ()
    """How Python takes each step of a path: an attribute's name, the position in an iterator, in a
    set or in the values of a dict, None for `result[step]`, "" where no single step of Python leads
    there. () where all steps are `result[step]`."""
    untracked: tuple[str, ...] = ()
    """The arguments whose change in place cannot be followed: they can't be copied or compared."""
    unnamed: Mapping[str, int] = NOTHING
    """How many objects of each type have no name, since there are too many."""

    data_fields = ("data", "unnamed")


class Failed(Part, frozen=True):
    """A call failed, with this message for the model."""

    message: str


class Interrupted(Part, frozen=True):
    """A call was interrupted while it ran, and what it had done is not known; or before it ran."""

    ran: bool = True
    """Whether its tool had begun, or may have."""


class InputNeeded(Part, frozen=True):
    """A call needs input of the person before it continues: it has no result yet.

    `requests` are the questions, by the tool's own keys, each with a `message`, and with the JSON
    Schema of a form (`schema`) or the page to open (`url`). `state` is what the tool resumes with.
    """

    requests: JsonObject
    state: Any = None

    data_fields = ("requests", "state")


class Unknown(Part, frozen=True):
    """A call ended, and its tool cannot say whether it took effect: a person decides."""

    reason: str


Outcome = Data | Made | Many | Failed | Interrupted | InputNeeded | Unknown
WITHOUT_RESULT = (Failed, Interrupted, InputNeeded, Unknown)
"""The outcomes of a run without a result."""


class Output(Part, frozen=True):
    """An output that a session is asked for.

    `schema` is the JSON Schema of a list or a record, which is handed over as data; it is empty
    for a text, a number or a truth, and for an object, which is handed over by its name.
    """

    kind: str
    description: str = ""
    schema: JsonObject = NOTHING

    data_fields = ("schema",)


class Opened(Part, frozen=True):
    """A session began, or its options changed: its scheme, inputs, outputs and model."""

    scheme: str = "select"
    inputs: tuple[tuple[str, Made], ...] = ()
    outputs: Mapping[str, Output] = NOTHING
    system: str = ""
    model: str = ""
    instances: tuple[tuple[str, str], ...] = ()
    """For each stateful instance the digest of what it is at the start."""
    question: int = 0
    """The number of a question beside the conversation, among those that left it at the same entry;
    its branch begins here. 0: the conversation itself."""
    secrets: tuple[str, ...] = ()
    """In the system text."""
    max_result: int = MAX_RESULT
    """Characters of one result that the model is sent, where its tool has no limit of its own."""
    server: str = ""
    """A digest of the address of the model's server; "" if it has none, or is not known."""

    data_fields = ("outputs",)


class Asked(Part, frozen=True):
    """A prompt of the person, or a reminder of the session."""

    text: str
    by: Literal["person", "session"] = "person"
    secrets: tuple[str, ...] = ()
    again: int = 0
    """How many times this prompt was already asked after the same entry: each begins a branch."""


class Replied(Part, frozen=True):
    """A reply of the model: its text, and the calls that it asks for.

    `raw` is the provider's own content, opaque, to be sent back as it came. `offered` has,
    by name, the digests of the definitions (and the system text) that were first sent
    with this reply's request. `thought` is its reasoning: shown, never sent back, since `raw`
    holds it as it came. `said` is the reply text for the person where `text` spells out calls.
    `news` is what the request added to its messages: which tools had changed.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: str = "end"
    usage: Usage | None = None
    raw: Any = None
    offered: Mapping[str, str] = NOTHING
    thought: str = ""
    said: str | None = None
    news: str = ""
    secrets: tuple[str, ...] = ()
    """In what the model wrote: its text, `said`, `raw`, and the arguments."""
    ending: str = ""
    """Why it stopped before its end, for the person: `said` has it too."""

    data_fields = ("raw", "offered")


class Decided(Part, frozen=True):
    """Somebody decided on a call, or responded to a round of input of it.

    `approval_digest` is the digest of exactly what may run, or of the round as it was shown.
    """

    call_id: str
    decision: Decision = "approve"
    approval_digest: str = msgspec.field(default="", name="bound")
    arguments: JsonObject | None = None
    result: Outcome | None = None
    reason: str = ""
    secrets: tuple[str, ...] = ()
    """In the arguments, or in the response."""
    round: int = 0
    """Which round of input it responds to, counted from 1: "answer" has in `result` the fields of
    the forms, by request, and "reject" declines. 0: it decides on the call itself."""
    reserved_names: tuple[str, ...] = ()
    """As in `Finished`, of a call that this decision ends."""
    rule: str = ""
    """The name of the person's rule that decided, in the person's place."""
    inputs: tuple[Made, ...] = ()
    """The objects that the arguments of an edit name and that begin with it: the person gave their
    values. Each has its name."""
    tool: str = ""
    """The tool that an edit runs, where that is not the call's own."""

    data_fields = ("arguments",)


class Started(Part, frozen=True):
    """A call is about to run: with these arguments, and the values that they stand for now."""

    call_id: str
    arguments: JsonObject | None = None
    uses: Uses = NOTHING
    instance: str = ""
    """The stateful instance that it works on, "" for none."""
    previous: str = ""
    """The id of the call that worked on that instance last, "" for none."""
    setters: Mapping[str, str] = NOTHING
    """For each session variable that it reads, the id of the call that set it last, "" for none."""
    approval_digest: str = msgspec.field(default="", name="bound")
    """The digest of exactly what runs where the policy approved it; "" where a person did."""
    untrusted: bool = False
    """Whether its tool was marked: others write what it returns."""
    rule: str = ""
    """The name of the policy's rule that let it run."""

    data_fields = ("arguments", "uses", "setters")


class Finished(Part, frozen=True):
    """A call has its outcome.

    Where the program ran it by itself (`by`), `uses` are the objects that the call names.
    """

    call_id: str
    outcome: Outcome
    by: Literal["session", "program"] = "session"
    uses: Uses = NOTHING
    secrets: tuple[str, ...] = ()
    """In the variables that the outcome sets, or in the state that its tool resumes with."""
    reserved_names: tuple[str, ...] = ()
    """The names of objects that the call has on the replayed branch and did not produce here. No
    other object of this branch gets one of them."""

    data_fields = ("uses",)


Event = Opened | Asked | Replied | Decided | Started | Finished


def inputs_of(event: Event) -> tuple[Made, ...]:
    """Return the objects that a person gives with an event: no call makes them."""
    match event:
        case Opened(inputs=inputs):
            return tuple(input_object for _, input_object in inputs)
        case Decided(inputs=inputs):
            return inputs
    return ()


def ended_call(event: Event) -> str:
    """Return the id of the call to which an event gives its result; "" for any other event.

    After a round of input, a response to one, and an unknown outcome the call is still open.
    """
    match event:
        case Finished(outcome=InputNeeded() | Unknown()):
            return ""
        case Finished(call_id) | Decided(call_id, "reject" | "answer", round=0):
            return call_id
    return ""


_PLAIN = frozenset((str, int, float, bool, type(None)))
_OF_PARTS = frozenset(("outputs", "uses"))
"""The fields that hold parts by name. All other frozen data are JSON already."""


_CLASSES: tuple[type[Record], ...] = (Producer, *Part.__subclasses__())
_FIELDS = {
    cls: (
        {} if cls is Producer else {"type": cls.__name__.lower()},
        [(field.encode_name, field.default) for field in fields(cls)],
    )
    for cls in _CLASSES
}
"""For each class the beginning of its JSON, and the keys and the defaults of its fields."""


def to_json(value: Any) -> Any:
    """Return an event, or a part of one, as plain JSON data. Raises TypeError for other data."""
    cls = type(value)
    existing = _FIELDS.get(cls)
    if existing is not None:
        data: dict[str, Any] = existing[0].copy()
        for (key, default), item in zip(existing[1], astuple(value), strict=True):
            if item is not default and item != default:
                kind = type(item)
                is_json = kind in _PLAIN or (kind is FrozenDict and key not in _OF_PARTS)
                data[key] = item if is_json else to_json(item)
        return data
    if cls is Usage:
        return {"type": "usage"} | {name: count for name, count in asdict(value).items() if count}
    if cls in _PLAIN or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    raise TypeError(f"{cls.__name__} cannot be written to a journal")


check_reply = partial(msgspec.convert, type=Replied)
"""Raises ValueError, which says where, for JSON data that could not be read back as a reply."""


def from_json(data: object) -> Event:
    """Read an event back. Raises BrokenJournal where it is none."""
    try:
        event: Event = msgspec.convert(data, Event)
    except (TypeError, ValueError, AttributeError) as error:
        raise BrokenJournal(visible_text(f"this is no event: {str(data)[:80]} ({error})")) from None
    demand_named_inputs(event)
    return event


def demand_named_inputs(event: Event) -> None:
    """Raise BrokenJournal for an event with an input that begins with no person."""
    for input_object in inputs_of(event):
        if not input_object.producer.input:
            raise BrokenJournal(f"this is no event: {str(event)[:80]} (an input is none)")
