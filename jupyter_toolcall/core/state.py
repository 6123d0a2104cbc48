"""The immutable state of a session at one entry of its journal, and the names of its objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from rpds import HashTrieMap

from .call_record import AskedCall, CallRecord, status_phrase
from .errors import CallError, NotYourTurn
from .events import Asked, Call, Made, Opened, Producer, Replied, Usage
from .folds import Trail
from .recorded_data import NOTHING, Record

_NONE: HashTrieMap[str, Any] = HashTrieMap()
_NO_NAMES: HashTrieMap[Producer, str] = HashTrieMap()
_NO_CONTENTS: HashTrieMap[tuple[str, str], str] = HashTrieMap()
_UNOPENED = Opened()
_UNUSED = Usage()


class State(Record, frozen=True):
    """A session at one entry of its journal."""

    root: str = ""
    """The first entry of the session."""
    opened: Opened = _UNOPENED
    calls: HashTrieMap[str, CallRecord] = _NONE
    order: Trail[str] = msgspec.field(default_factory=Trail)
    open: tuple[str, ...] = ()
    """The ids of the calls that have no outcome, in call order."""
    latest: tuple[str, ...] = ()
    """The ids of the calls of the last reply."""
    last: Asked | Replied | None = None
    prompt: str = ""
    """The person's latest prompt."""
    prompts: Trail[tuple[int, str, bool]] = msgspec.field(default_factory=Trail)
    """The person's prompts: the count of replies before it, its text, and whether its entry is
    verified."""
    asked_again: int = 0
    """How many times the latest prompt was already asked after the same entry."""
    turns: int = 0
    client_turns: int = 0
    """Replies that a client of the served session gave in the model's place."""
    turns_since: int = 0
    """Replies since the latest prompt."""
    stale: bool = False
    """Whether the model wrote the last reply before the results changed."""
    calls_before: int = 0
    """Calls before the latest prompt."""
    reminded: int = 0
    done: bool = False
    """Whether `save` succeeded since the latest prompt."""
    outputs: Mapping[str, Any] = NOTHING
    """What the last `save` named: object names, or plain values."""
    names: Trail[str] = msgspec.field(default_factory=Trail)
    objects: HashTrieMap[str, Made] = _NONE
    by_producer: HashTrieMap[Producer, str] = _NO_NAMES
    contents: HashTrieMap[tuple[str, str], str] = _NO_CONTENTS
    """For each type, and the digest of a content, the first object that had it."""
    plain: frozenset[str] = frozenset()
    """The names of the objects that are plain data: a name stands for the value."""
    counts: HashTrieMap[str, int] = _NONE
    """For each type the number of the last object that got the next free name."""
    reserved: HashTrieMap[str, str] = _NONE
    """The names of objects that calls produced on a replayed branch and not on this one, with the
    id of the call. No other object gets them."""
    of_kind: HashTrieMap[str, Trail[str]] = _NONE
    """For each type the names of its objects, in the order in which they came."""
    newest: HashTrieMap[str, str] = _NONE
    succeeded: HashTrieMap[str, Trail[str]] = _NONE
    """For each tool the ids of its calls that have a result."""
    sizes: HashTrieMap[str, int] = _NONE
    """For each tool the characters of its longest result."""
    instances: HashTrieMap[str, str] = _NONE
    """For each stateful instance the call that ran on it last."""
    variables: Mapping[str, Any] = NOTHING
    """The session variables that calls set, with their latest values."""
    setters: HashTrieMap[str, str] = _NONE
    """For each of these variables the call that set it last."""
    marked: HashTrieMap[str, tuple[str, ...]] = _NONE
    """For each of these variables the keys of the markers in it that stand for secrets."""
    code: HashTrieMap[str, str] = _NONE
    """For each tool the digest of the text that describes its code when it ran last."""
    sent: HashTrieMap[str, str] = _NONE
    """The digests of the definitions that were sent so far, and ("") of the last system text."""
    usage: Usage = _UNUSED
    reply_text: str = ""
    """The latest text of the model in reply to the latest prompt."""
    conversation: str = ""
    """On the branch of a question: the entry after which the conversation continues."""
    settled: int = 0
    """Counts openings, prompts and calls that have an outcome."""

    @property
    def inputs(self) -> dict[str, str]:
        """The names of the inputs' current objects, by input."""
        return {name: self.name_of(input_object) for name, input_object in self.opened.inputs}

    @property
    def tokens(self) -> int:
        return self.usage.input + self.usage.output

    @property
    def replied_by_client(self) -> bool:
        """Whether the last reply was that of a client: the session's model is not asked next."""
        return bool(self.latest) and self.calls[self.latest[0]].asked_call.by_client

    def call(self, call_id: str) -> CallRecord:
        """Return a call. Raises NotYourTurn for an id that was never asked for."""
        call = self.calls.get(call_id)
        if call is None:
            raise NotYourTurn(f"there is no call {call_id!r} in this session")
        return call

    def all_calls(self) -> Iterator[CallRecord]:
        """Return the calls in call order."""
        return (self.calls[call_id] for call_id in self.order)

    def next_call(self, call: Call) -> CallRecord:
        """Return a call that the model does not ask for, numbered as if its next reply did."""
        return CallRecord(AskedCall(call, "", len(self.order) + 1, self.turns + 1))

    def results_of(self, tool: str) -> Iterator[CallRecord]:
        """Return the calls of one tool that have a result, in order."""
        return (self.calls[call_id] for call_id in self.succeeded.get(tool) or ())

    def resolve(self, name: str) -> Made:
        """Return the object that a name such as `Potato#1` stands for.

        Raises CallError, which says why there is none, and lists those of that type.
        """
        existing = self.objects.get(name)
        if existing is not None:
            return existing
        raise self.absent(name)

    def absent(self, name: str) -> CallError:
        """Return the error for a name that no object has."""
        call = self._cause(name)
        if call is None:
            return CallError(f"there is no object {name!r}; {self._others(name)}")
        return CallError(
            f"{name} was not made on this branch, since call {call.step} ({call.tool}) "
            f"{status_phrase(call.status)}: edit that call, or fork from it and ask the model "
            f"again; {self._others(name)}"
        )

    def _cause(self, name: str) -> CallRecord | None:
        """Return the first call without a result on the way to an object; None where none is known.

        That is the call that would produce it, or a call that would produce an argument of that.
        """
        call = self.calls.get(self.reserved.get(name) or "")
        while call is not None:
            names = (name for name in call.asked.values() if isinstance(name, str))
            before = next(filter(None, map(self.reserved.get, names)), None)
            if before is None or self.calls[before].step >= call.step:
                break
            call = self.calls[before]
        return call

    def _others(self, name: str) -> str:
        """Name the object of an input; list the newest of a name's type, else of all types."""
        if ref := dict(self.opened.inputs).get(name):
            return f"the input {name} is {self.name_of(ref)}"
        names = [*reversed(self.of_kind.get(kind_in(name)) or ())][:5]
        newest = ", ".join(sorted(self.newest.values())) or "no objects yet"
        return f"objects of that type: {', '.join(names)}" if names else f"the newest are: {newest}"

    def oldest(self, kind: str) -> str:
        """Return the name of the first object of a type, or the name that it would get."""
        names = self.of_kind.get(kind)
        return names[0] if names else f"{kind}#1"

    def produced_object(self, producer: Producer) -> Made | None:
        """Return the object of a producer; None where it produced none on this branch."""
        return self.objects.get(self.by_producer.get(producer) or "")

    def name_of(self, ref: Made) -> str:
        """Return the name of an object of this branch."""
        return self.by_producer[ref.producer]


START = State()


class AskPerson(Record, frozen=True):
    """The session waits for the person's next prompt."""


class AskModel(Record, frozen=True):
    """The session asks the model next."""


class Remind(Record, frozen=True):
    """The model stopped before its work was done: the session reminds it once."""

    text: str


class RunCall(Record, frozen=True):
    """A call waits for a decision, or was approved and has not run."""

    call: CallRecord


class Clarify(Record, frozen=True):
    """A call started and never finished: only a person knows its outcome."""

    call: CallRecord


class ResumeCall(Record, frozen=True):
    """A call's tool asked the person for input, and resumes with the response."""

    call: CallRecord


Step = AskPerson | AskModel | Remind | RunCall | Clarify | ResumeCall


def step_of(call: CallRecord) -> Step:
    """Return what an open call waits for."""
    if call.status == "unknown":
        return Clarify(call)
    return RunCall(call) if call.open_round is None else ResumeCall(call)


def next_step(
    state: State, reminder: Callable[[], str], ends_run: Callable[[CallRecord], bool]
) -> Step:
    """Return what a session waits for.

    `reminder` returns the text for a model that stopped too early, "" for none. `ends_run` returns
    whether the run is over after a call of the last reply.
    """
    if state.open:
        return step_of(state.calls[state.open[0]])
    is_over = state.done
    if isinstance(state.last, Replied):
        is_over = is_over or any(ends_run(state.calls[call.id]) for call in state.last.calls)
    match state.last:
        case Asked():
            return AskModel()
        case Replied(calls=[_, *_]) if not (is_over or state.replied_by_client):
            return AskModel()
        case Replied(stop="paused"):
            return AskModel()
        case Replied(stop="end") if not is_over and (text := reminder()):
            return Remind(text)
    return AskPerson()


NAME = re.compile(r"[^\W\d]\w*#[1-9][0-9]*")


OWN_NAME = re.compile(r"\$[A-Za-z0-9_]+")
"""A name that a model gave to an object."""


def kind_in(name: str) -> str:
    """Return the type that an object's name begins with: `Potato` for `Potato#3`."""
    return name.partition("#")[0]
