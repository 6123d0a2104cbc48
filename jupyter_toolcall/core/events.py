"""The six kinds of facts that a session is made of, and their JSON.

A session is its events, and nothing else is kept: messages, objects, pending calls,
outputs and the lineage graph are all computed from them (`state`). These classes are
also the wire format of the journal file and the notebook output, so a field that has
its default is left out there. Only frozen dataclasses and their encoding live here.

`secrets` of an event are the keys of the markers `{secret:KEY}` in it that stand for values
of the environment; any other text that reads so is a text (see `secrets.markers`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal

from .errors import BrokenJournal
from .recorded_data import FrozenDict, recorded

Decision = Literal["approve", "edit", "reject", "answer"]
DECISIONS: tuple[Decision, ...] = ("approve", "edit", "reject", "answer")


MAX_RESULT = 20_000
"""Characters of one result, or of a text that is an input, that a model is sent."""


@dataclass(frozen=True, slots=True)
class Producer:
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


UNSAID = Producer()
"""The producer of an object that the call produced which it is recorded with: the fold fills
it in."""
Uses = Mapping[str, Producer]
"""The objects that the arguments of a call name, by argument (`plates.0`): what produced each."""


@recorded("arguments")
@dataclass(frozen=True, slots=True)
class Call:
    """A tool call, as the model asked for it.

    `broken` says why its arguments could not be read; such a call never runs.
    """

    id: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request.

    `input` holds all of it, `cached` what a cache served, `written` what went into one.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0


@recorded("data", "variables")
@dataclass(frozen=True, slots=True)
class Data:
    """The result of a call is plain data (JSON-ready), and new values of session variables."""

    data: Any = None
    variables: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Made:
    """The result of a call is an immutable object.

    `digest` names the value for memory, `content` is the digest of the value itself (""
    where it has none). `producer` is left out where it is the call that the object is
    recorded with; it is another one where a call gave back an object that there was. `shown` is
    the value as a model is shown it, of an input that is plain data; "" of any other object.
    """

    kind: str
    digest: str
    content: str = ""
    description: str = ""
    producer: Producer = UNSAID
    shown: str = ""
    changed: str = ""
    """The argument that a function changed in place, and that this object is now (`plates.0`);
    "" where it is the result, or a part of it. The object that a method was called on, and that
    is its result, has none."""
    withheld: bool = False
    """Whether the model gets its name and type alone: a tool made it of withheld columns."""
    name: str = ""
    """Its name where that is not the next free number of its type: a replay gives an object the
    name that it has on the replayed branch."""


@recorded("data", "unnamed")
@dataclass(frozen=True, slots=True)
class Many:
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
    unnamed: Mapping[str, int] = field(default_factory=dict)
    """How many objects of each type have no name, since there are too many."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A call failed, with this message for the model."""

    message: str


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A call was interrupted while it ran, and what it had done is not known; or before it ran."""

    ran: bool = True
    """Whether its tool had begun, or may have."""


@recorded("requests", "state")
@dataclass(frozen=True, slots=True)
class InputNeeded:
    """A call needs input of the person before it goes on: it has no result yet.

    `requests` are the questions, by the tool's own keys, each with a `message`, and with the JSON
    Schema of a form (`schema`) or the page to open (`url`). `state` is what the tool goes on with.
    """

    requests: Mapping[str, Any]
    state: Any = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A call ended, and its tool cannot say whether it took effect: a person decides."""

    reason: str


Outcome = Data | Made | Many | Failed | Interrupted | InputNeeded | Unknown
WITHOUT_RESULT = (Failed, Interrupted, InputNeeded, Unknown)
"""The outcomes of a run that made nothing."""


@recorded("schema")
@dataclass(frozen=True, slots=True)
class Output:
    """Something that a session is asked to make.

    `schema` is the JSON Schema of a list or a record, which is handed over as data; it is empty
    for a text, a number or a truth, and for an object, which is handed over by its name.
    """

    kind: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)


@recorded("outputs")
@dataclass(frozen=True, slots=True)
class Opened:
    """A session began, or its options changed: how calls are read, and what is at hand."""

    scheme: str = "select"
    inputs: tuple[tuple[str, Made], ...] = ()
    outputs: Mapping[str, Output] = field(default_factory=dict)
    system: str = ""
    model: str = ""
    instances: tuple[tuple[str, str], ...] = ()
    """For each stateful instance the digest of what it is at the start."""
    aside: bool = False
    """One question beside the session's own work: until the next opening, or the prompt
    after its own, the outputs are those of the question alone."""
    secrets: tuple[str, ...] = ()
    """In the system text."""
    max_result: int = MAX_RESULT
    """Characters of one result that the model is sent, where its tool has no limit of its own."""
    server: str = ""
    """A digest of the address of the model's server; "" if it has none, or is not known."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Somebody said something to the model; a session says only reminders."""

    text: str
    by: Literal["person", "session"] = "person"
    secrets: tuple[str, ...] = ()
    again: int = 0
    """How often it was asked before at the same place: each time begins a branch of its own."""


@recorded("raw", "offered")
@dataclass(frozen=True, slots=True)
class Replied:
    """The model said something, and may have asked for calls.

    `raw` is the provider's own content, opaque, to be sent back as it came. `offered` has,
    by name, the digests of the definitions (and the system text) that were first sent
    with this reply's request. `thought` is what it thought aloud: shown, never sent back,
    since `raw` holds it as it came. `said` is what a person reads of a text that spells out
    calls. `news` is what the request said beside its messages: what had changed in the tools.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: str = "end"
    usage: Usage | None = None
    raw: Any = None
    offered: Mapping[str, str] = field(default_factory=dict)
    thought: str = ""
    said: str | None = None
    news: str = ""
    secrets: tuple[str, ...] = ()
    """In what the model wrote: its text, what is read of it, `raw`, and the arguments."""
    ending: str = ""
    """Why it stopped before its end, for the person: `said` has it too."""


@recorded("arguments")
@dataclass(frozen=True, slots=True)
class Decided:
    """Somebody decided on a call, or responded to a round of input of it.

    `approval_digest` is the digest of exactly what may run, or of the round as it was shown.
    """

    call_id: str
    decision: Decision = "approve"
    approval_digest: str = ""
    arguments: Mapping[str, Any] | None = None
    result: Outcome | None = None
    reason: str = ""
    secrets: tuple[str, ...] = ()
    """In the arguments, or in the response."""
    round: int = 0
    """Which round of input it responds to, counted from 1: "answer" has in `result` the fields of
    the forms, by request, and "reject" declines. 0: it decides on the call itself."""
    reserved_names: tuple[str, ...] = ()
    """As in `Finished`, of a call that this decision ends."""


@recorded("arguments", "uses", "setters")
@dataclass(frozen=True, slots=True)
class Started:
    """A call is about to run: with these arguments, and on what they stand for by now."""

    call_id: str
    arguments: Mapping[str, Any] | None = None
    uses: Uses = field(default_factory=dict)
    instance: str = ""
    """The stateful instance that it works on, "" for none."""
    previous: str = ""
    """The id of the call that worked on that instance last, "" for none."""
    setters: Mapping[str, str] = field(default_factory=dict)
    """For each session variable that it reads, the id of the call that set it last, "" for none."""
    approval_digest: str = ""
    """The digest of exactly what runs where the policy approved it; "" where a person did."""
    untrusted: bool = False
    """Whether its tool was marked: others write what it returns."""


@recorded("uses")
@dataclass(frozen=True, slots=True)
class Finished:
    """A call has its outcome.

    Where the program ran it by itself (`by`), `uses` are the objects that the call names.
    """

    call_id: str
    outcome: Outcome
    by: Literal["session", "program"] = "session"
    uses: Uses = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    """In the variables that the outcome sets, or in the state that its tool goes on with."""
    reserved_names: tuple[str, ...] = ()
    """The names of objects that the call has on the replayed branch and did not produce here. No
    other object of this branch gets one of them."""


Event = Opened | Asked | Replied | Decided | Started | Finished


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


_CLASSES: dict[str, Callable[..., Any]] = {
    cls.__name__.lower(): cls
    for cls in (
        *(Opened, Asked, Replied, Decided, Started, Finished),
        *(Call, Usage, Output, Data, Made, Many, Failed, Interrupted, InputNeeded, Unknown),
    )
}
_PLAIN = frozenset((str, int, float, bool, type(None)))
_JSON = frozenset(
    {
        *("arguments", "data", "offered", "raw", "requests", "schema", "setters", "state"),
        "variables",
    }
)
"""The fields that hold JSON already."""
_PARTS = frozenset(
    {
        *("calls", "objects", "inputs", "outputs", "usage", "outcome", "result", "instances"),
        *("secrets", "producer", "uses", "paths", "access", "untracked", "reserved_names"),
    }
)
"""The fields that hold parts with a type of their own, or pairs."""


_KEYS = {"approval_digest": "bound"}
"""The fields whose key in a journal is another word: files keep the one that they have."""
_NAMES = {key: name for name, key in _KEYS.items()}


def _defaults(cls: Any) -> tuple[tuple[str, str, Any], ...]:
    """Return the fields of a class: its name, its key in a journal, and its default."""

    def default(f: Any) -> Any:
        return f.default if f.default_factory is MISSING else f.default_factory()

    return tuple((f.name, _KEYS.get(f.name, f.name), default(f)) for f in fields(cls))


_FIELDS = {cls: (name, _defaults(cls)) for name, cls in _CLASSES.items()}


def to_json(value: Any) -> Any:
    """Return an event, or a part of one, as plain JSON data.

    A part is `{"type": name, ...}`; what it leaves out has its default.
    """
    cls = type(value)
    known = _FIELDS.get(cls)
    if known is not None:
        name, defaults = known
        data: dict[str, Any] = {"type": name}
        for field_name, key, default in defaults:
            item = getattr(value, field_name)
            if item is not default and item != default:
                is_json = type(item) in _PLAIN or (key in _JSON and type(item) is FrozenDict)
                data[key] = item if is_json else to_json(item)
        return data
    if cls is Producer:
        return _producer_to_json(value)
    if cls in _PLAIN or isinstance(value, (str, int, float)):
        return value
    if cls is dict or isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    raise TypeError(f"{cls.__name__} cannot be written to a journal")


def _producer_to_json(producer: Producer) -> dict[str, Any]:
    """Return a producer as JSON; its fields say by themselves what it is, so it has no type."""
    if producer.call:
        data: dict[str, Any] = {"call": producer.call}
        return data | {"index": producer.index} if producer.index else data
    data = {"input": producer.input}
    return data | {"version": producer.version} if producer.version != 1 else data


def _producer(data: Mapping[str, Any]) -> Producer:
    """Read a producer back. Raises ValueError or TypeError where it is none."""
    producer = Producer(**data)
    known = all(type(getattr(producer, f.name)) is type(f.default) for f in fields(Producer))
    if not known or _producer_to_json(producer) != data or producer == UNSAID:
        raise ValueError(f"{data!s:.60} is no producer")
    return producer


def _input(data: Mapping[str, Any]) -> Made:
    """Read an input back. Raises ValueError where it is none."""
    made = _build(data)
    if not isinstance(made, Made) or not made.producer.input:
        raise ValueError(f"{data!s:.60} is no input")
    return made


def from_json(data: Any) -> Event:
    """Read an event back. Raises BrokenJournal where it is none."""
    try:
        event = _build(data)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise BrokenJournal(f"this is no event: {str(data)[:80]} ({error})") from None
    if not isinstance(event, Event):
        raise BrokenJournal(f"this is no event: {str(data)[:80]}")
    return event


def _build(data: Mapping[str, Any]) -> Any:
    cls = _CLASSES[data["type"]]
    read = {
        _NAMES.get(key, key): _field(key, item) if key in _PARTS else item
        for key, item in data.items()
    }
    del read["type"]
    return cls(**read)


def _field(key: str, item: Any) -> Any:
    match key, item:
        case (("calls" | "objects"), list()):
            return tuple(_build(part) for part in item)
        case "inputs", list():
            return tuple((name, _input(part)) for name, part in item)
        case "outputs", dict():
            return {name: _build(part) for name, part in item.items()}
        case (("usage" | "outcome" | "result"), dict()):
            return _build(item)
        case (("paths" | "access"), list()):
            return tuple(map(tuple, item))
        case (("secrets" | "untracked" | "reserved_names"), list()):
            return tuple(map(str, item))
        case "producer", dict():
            return _producer(item)
        case "uses", dict():
            return {argument: _producer(part) for argument, part in item.items()}
        case "instances", list():
            return tuple((name, digest) for name, digest in item)
    return item
