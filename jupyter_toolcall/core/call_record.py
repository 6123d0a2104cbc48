"""A tool call as it stands at one entry of the journal: `CallRecord`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal, get_args

from .digests import readable_json
from .events import Call, Data, Decided, Failed, Interrupted, Made, Many, Outcome, Started, Uses
from .input_round import InputRound
from .json_data import at_path, replaced_at
from .recorded_data import NOTHING, JsonObject, Record, copied, replace
from .secrets import MissingSecret

_STATUS_PHRASES: Mapping[str, str] = {
    "failed": "failed",
    "rejected": "was rejected",
    "answered": "was answered",
    "interrupted": "was interrupted",
    "succeeded": "made none",
}


def status_phrase(status: str) -> str:
    """Return why a call has no object, as a verb phrase."""
    return _STATUS_PHRASES.get(status, "has not run")


SAVE = "save"
CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
"""What providers take as an id; any other one is replaced by one that they take."""
RecordedStatus = Literal[
    "proposed",
    "approved",
    "input required",
    "succeeded",
    "failed",
    "rejected",
    "answered",
    "interrupted",
    "unknown",
]
Status = RecordedStatus | Literal["running"]
"""The journal does not record that a call is running: only the kernel that runs it knows."""


class AskedCall(Record, frozen=True):
    """A call as the model asked for it. Nothing of it changes after the reply."""

    call: Call
    entry: str
    """The entry of the reply that asked for it on this branch."""
    step: int
    turn: int
    index: int = 0
    """Which call of that reply it is, counted from 0."""
    stale: bool = False
    """Whether the model wrote its reply before the results changed."""
    history: str = ""
    """Why it may have run already, though this journal has no result: "copied" (with its reply,
    before a result), "damaged" (lines after its reply), "unverified" (its reply), or "kept" (a
    person kept the recorded result). "" where none of these holds."""
    reply: str = ""
    """The entry of the reply that asked for it; the first one where a replay repeated it."""
    secrets: tuple[str, ...] = ()
    """The keys of the markers that stand for values in the reply that asked for it."""
    tokens: int = 0
    """Tokens of the request that the reply answered, counted for its first call. 0 for the other
    calls, and for each call of a reply that a replay repeated."""
    by: str = ""
    """Who asked for it in the place of the session's model: "person", or a client of the served
    session such as "mcp:claude-code"; "" where the model did."""

    @property
    def by_client(self) -> bool:
        """Whether a client of the served session asked for it: the client, not the session's
        model, reads its result and continues."""
        return self.by not in ("", "person")


Trust = Literal["untrusted", "unclear", "trusted"]
TRUST: tuple[Trust, ...] = get_args(Trust)


@dataclass(frozen=True, slots=True)
class ArgumentOrigin:
    """Where the value of an argument came from. For a text or a number that is where an equal value
    was found, which is no proof.

    - `kind`: "prompt", "person" (typed after the model asked), "object", "result" (of a call),
      "default" (of the tool), or "model" (its own words).
    - `trust`: "untrusted" where others wrote it; "trusted" where the person, or nothing that others
      wrote, led to it; else "unclear": the model had read untrusted text before.
    - `call`, `tool`, `step`: the call whose result it is, or that made the object; `object`: its
      name.
    - `also`: where else it, or another part of it, was found.
    """

    kind: Literal["prompt", "person", "object", "result", "default", "model"]
    trust: Trust = "trusted"
    call: str = ""
    tool: str = ""
    step: int = 0
    object: str = ""
    also: tuple[ArgumentOrigin, ...] = ()

    @property
    def labels(self) -> frozenset[str]:
        """What a rule names as `origins`: "untrusted", or the kinds."""
        label = "untrusted" if self.trust == "untrusted" else self.kind
        return frozenset((label,)).union(*(part.labels for part in self.also))

    @property
    def is_of_exposed_model(self) -> bool:
        """Whether the model wrote it, or a part of it, after it had read what others wrote."""
        is_exposed = self.kind == "model" and self.trust != "trusted"
        return is_exposed or any(part.is_of_exposed_model for part in self.also)

    def __str__(self) -> str:
        match self.kind:
            case "object":
                text = f"{self.object}, made by call {self.step}" if self.step else self.object
            case "result":
                text = f"from call {self.step}, {self.tool}"
            case "person":
                text = f"your answer to call {self.step}" if self.step else "typed by you"
            case _:
                text = _ORIGIN_TEXTS[self.kind]
        text = f"{text} (not trusted)" if self.trust == "untrusted" else text
        return "; ".join((text, *map(str, self.also)))


_ORIGIN_TEXTS = {
    "prompt": "from your prompt",
    "default": "the tool's default",
    "model": "the model's own words",
}


class CallRecord(Record, frozen=True, eq=False, gc=True):
    """A tool call at one entry of its branch.

    Programs read these fields; the engine reads the others too.

    - `id`: a call keeps it when it is replayed.
    - `tool`: the model's, or the one that a person chose in its place.
    - `arguments`: as they ran, or would run, or else as they were asked for.
    - `status`: "proposed", "approved", "running", "input required" (its tool asks the person, see
      `rounds`), "succeeded", "failed", "rejected", "answered", "interrupted" or "unknown" (it
      started, and its outcome is not recorded).
    - `result`: plain data, the name of an object, or JSON in which names of objects stand; None
      where it has none.
    - `changed`: the new objects of the arguments that it changed in place: names by argument.
    - `object`: the name of the first object of the result, "" for none.
    - `error`: why it failed or was rejected, "" where it did not and was not.
    - `origins`: for each argument an `ArgumentOrigin`: where its value came from.

    Two records are equal, on any branch, if these fields but `changed` and `origins` are equal.
    `same_facts` compares all that is recorded.

    Example:
        >>> [(call.tool, call.result) for call in session.calls]
        [('Potato_peel', 'Potato#2'), ('Potato_weigh', 180.0)]
    """

    asked_call: AskedCall
    decided: Decided | None = None
    started: Started | None = None
    outcome: Outcome | None = None
    objects: tuple[str, ...] = ()
    """The names of the objects in its outcome."""
    verified: bool = True
    """Whether this computer recorded its decision. Any other decision does not let it run."""
    code: str = ""
    """The digest of the text that describes its tool's code when it ran."""
    rounds: tuple[InputRound, ...] = ()
    """What its tool asked the person while it ran, and the responses."""
    unknown_reason: str = ""
    """Why its outcome is unknown, as its tool says; "" where nothing says it."""
    decision_entry: str = ""
    """The entry of a person's last decision; the first one where a replay repeated it. "" where
    there is none, or the policy approved the call later."""
    reserved_names: tuple[str, ...] = ()
    """The names of objects that it has on the replayed branch and did not produce on this one."""
    repeated: bool = False
    """Whether the session started it again by itself after its outcome was unknown."""
    running: bool = False
    """Whether its tool runs right now."""
    runs_with: JsonObject | None = None
    """The arguments with which it would run, if it waits and they were computed."""
    origins: Mapping[str, ArgumentOrigin] = NOTHING
    """Where each of its arguments came from. The records of a session have them."""

    # -- what the model asked for ----------------------------------------------------------

    @property
    def call(self) -> Call:
        """The call, as the recorded reply holds it."""
        return self.asked_call.call

    @property
    def id(self) -> str:
        """Its id, which no other call of the session has."""
        return self.asked_call.call.id

    @property
    def tool(self) -> str:
        """The name of its tool: the model's, or the one that a person chose in its place."""
        return (self.decided is not None and self.decided.tool) or self.asked_call.call.tool

    @property
    def step(self) -> int:
        """Its number among the calls of the branch, from 1 on."""
        return self.asked_call.step

    @property
    def turn(self) -> int:
        """The number of the reply that asked for it, from 1 on."""
        return self.asked_call.turn

    @property
    def tokens(self) -> int:
        """The tokens of that reply, at its first call; 0 at the others."""
        return self.asked_call.tokens

    @property
    def history(self) -> str:
        """Why it may have run before, in a word; "" where nothing says so."""
        return self.asked_call.history

    @property
    def foreign(self) -> bool:
        """Whether the reply that asked for it is not verified as recorded by this computer."""
        return self.history == "unverified"

    @property
    def key(self) -> str:
        """A key that no other call of any branch has."""
        return f"{self.asked_call.entry[:12]}.{self.asked_call.index}"

    @property
    def proposed(self) -> JsonObject:
        """The arguments that the model asked for."""
        return self.asked_call.call.arguments

    # -- what was decided ------------------------------------------------------------------

    @property
    def edited(self) -> bool:
        return self.decided is not None and self.decided.decision == "edit"

    @property
    def reason(self) -> str:
        """Why a person, or the policy, decided so."""
        return self.decided.reason if self.decided is not None else ""

    @property
    def approval_digest(self) -> str:
        """The approval digest; "" where nothing was approved."""
        if self.started is not None and self.started.approval_digest:
            return self.started.approval_digest
        return self.decided.approval_digest if self.decided is not None else ""

    @property
    def decision(self) -> str:
        """What was decided on it: a person's decision, or "approve" for the policy's."""
        if self.decided is not None:
            return self.decided.decision
        return "approve" if self.approval_digest else ""

    @property
    def asked(self) -> JsonObject:
        """The arguments to run with: the person's if the call was edited, else the model's."""
        if self.decided is None or self.decided.arguments is None:
            return self.proposed
        return self.decided.arguments

    def demand_keys(self) -> tuple[str, ...]:
        """Return the keys of the markers in these arguments that stand for values.

        Raises MissingSecret for arguments that another computer recorded: a decision on such a
        call would give their markers this user's secrets.
        """
        decided = self.decided if self.decided and self.decided.arguments is not None else None
        keys = self.asked_call.secrets if decided is None else decided.secrets
        if keys and (self.foreign if decided is None else not self.verified):
            raise MissingSecret(
                f"This call holds {{secret:{keys[0]}}}, which another computer recorded. Edit the "
                "call and write the value."
            )
        return keys

    def allows(self, approval_digest: str) -> bool:
        """Return whether this computer approved the call with exactly this digest."""
        return (
            self.verified and self.status == "approved" and self.approval_digest == approval_digest
        )

    def approval(self, approval_digest: str) -> Decided:
        """Return a decision that approves this call with this digest; a person's edit stays.

        Raises MissingSecret where another computer recorded the edit, and it holds secrets.
        """
        self.demand_keys()
        if self.decided is not None and self.edited:
            return replace(self.decided, approval_digest=approval_digest)
        return Decided(self.id, "approve", approval_digest)

    # -- how it ran ------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """How it stands, see above."""
        return "running" if self.running else self.recorded_status

    @property
    def recorded_status(self) -> RecordedStatus:
        """The status that the journal records, which never says "running"."""
        decision = self.decided.decision if self.decided is not None else ""
        if decision == "reject":
            return "rejected"
        if decision == "answer":
            return "answered"
        match self.outcome:
            case None if self.started is not None:
                return "unknown" if (last := self.open_round) is None else last.status
            case None:
                return "approved" if decision else "proposed"
            case Failed():
                return "failed"
            case Interrupted():
                return "interrupted"
        return "succeeded"

    @property
    def is_over(self) -> bool:
        """Whether it has ended: it has a result, or a person rejected or answered it, perhaps on a
        branch that a replay repeats."""
        return self.outcome is not None or self.status in ("rejected", "answered")

    @property
    def open_round(self) -> InputRound | None:
        """The round of input after which its tool has not resumed; None where there is none."""
        return self.rounds[-1] if self.rounds and not self.rounds[-1].resumed else None

    @property
    def waits_for_input(self) -> bool:
        """Whether its tool has not resumed after a round of input, responded to or not."""
        return self.open_round is not None and self.status != "unknown"

    @property
    def arguments(self) -> JsonObject:
        """The arguments as they ran, or would run, or else as they were asked for."""
        arguments: JsonObject = copied(self.recorded_arguments)
        return arguments

    @property
    def recorded_arguments(self) -> JsonObject:
        """The same arguments as frozen data, without a copy."""
        if self.runs_with is not None:
            return self.runs_with
        if self.started is not None and self.started.arguments is not None:
            return self.started.arguments
        return self.asked

    @property
    def uses(self) -> Uses:
        """The objects that its arguments named when it ran; empty where it did not run."""
        return self.started.uses if self.started is not None else {}

    @property
    def produced(self) -> tuple[Made, ...]:
        """The objects that it produced, without older objects that it only returned."""
        return tuple(ref for ref in objects_of(self.outcome) if ref.producer.call == self.id)

    @property
    def data(self) -> Any:
        """The plain data of its result, without the objects in it; None where there is none."""
        return self.outcome.data if isinstance(self.outcome, (Data, Many)) else None

    @property
    def result(self) -> Any:
        """Its result: data, the name of an object, or JSON in which names of objects stand; None
        where it has none."""
        match self.outcome:
            case Data(data):
                return copied(data)
            case Made():
                return self.object
            case Many():
                return self.structure
        return None

    @property
    def structure(self) -> Any:
        """The result in the shape that the tool returned: a list of one object is a list."""
        return _with_objects(self.outcome, self.objects) if isinstance(self.outcome, Many) else None

    @property
    def result_text(self) -> str:
        """The data of its result as one text: a text itself, other data as JSON; "" for none."""
        data = self.structure if isinstance(self.outcome, Many) else self.data
        return data if isinstance(data, str) else "" if data is None else readable_json(data)

    @property
    def changed(self) -> dict[str, str]:
        """The names of the new objects of the arguments that it changed in place, by argument."""
        if not isinstance(self.outcome, Many):
            return {}
        pairs = zip(self.outcome.objects, self.objects, strict=True)
        return {ref.changed: name for ref, name in pairs if ref.changed}

    @property
    def untracked(self) -> dict[str, str]:
        """The objects, by argument, whose change in place cannot be followed."""
        arguments = self.outcome.untracked if isinstance(self.outcome, Many) else ()
        paths = ((argument, tuple(argument.split("."))) for argument in arguments)
        return {argument: str(at_path(self.arguments, path)) for argument, path in paths}

    @property
    def object(self) -> str:
        """The name of the first object in its outcome; "" for none."""
        return self.objects[0] if self.objects else ""

    @property
    def error(self) -> str:
        """Why it failed, or was rejected; "" where it did not and was not."""
        match self.outcome:
            case Failed(message):
                return message
            case Interrupted():
                return "interrupted"
        return ""

    # -- what changes ----------------------------------------------------------------------

    def with_decision(self, decided: Decided, verified: bool, entry: str = "") -> CallRecord:
        """Return this call with a decision on it, which `entry` records."""
        call = CallRecord(
            self.asked_call, decided, verified=verified, code=self.code, decision_entry=entry
        )
        if self.started is None:
            return call
        reason = self.unknown_reason if decided.decision in ("reject", "answer") else ""
        return replace(call, unknown_reason=reason, repeated=self.repeated)

    def with_start(self, started: Started, verified: bool, code: str) -> CallRecord:
        """Return this call after its tool started, or resumed after a round of input."""
        last, entry = self.open_round, "" if started.approval_digest else self.decision_entry
        before = self.asked_call, self.decided
        call = CallRecord(*before, started, verified=verified, code=code, decision_entry=entry)
        if last is not None and last.response is not None and not started.approval_digest:
            # The approval holds for the whole call: a response only lets its tool resume.
            first = self.started.approval_digest if self.started is not None else ""
            going_on = replace(started, approval_digest=first)
            rounds = (*self.rounds[:-1], replace(last, resumed=True))
            return replace(call, started=going_on, verified=self.verified, rounds=rounds)
        is_repeated = started.approval_digest != "" and self.status == "unknown"
        return replace(call, repeated=True) if is_repeated or self.repeated else call

    def with_response(self, response: Decided, verified: bool, entry: str) -> CallRecord:
        """Return this call with a person's response to its open round of input."""
        last = replace(self.rounds[-1], response=response, is_response_verified=verified)
        return replace(self, rounds=(*self.rounds[:-1], last), decision_entry=entry)

    # -- two records -----------------------------------------------------------------------

    def same_facts(self, other: CallRecord) -> bool:
        """Return whether all that is recorded of two calls is the same."""
        return self is other or all(
            getattr(self, name) == getattr(other, name) for name in _RECORDED
        )

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, CallRecord):
            return NotImplemented
        return self is other or _public(self) == _public(other)

    def __hash__(self) -> int:
        return hash((self.id, self.tool))

    def __repr__(self) -> str:
        fields = (f"{name}={value!r}" for name, value in zip(_PUBLIC, _public(self), strict=True))
        return f"CallRecord({', '.join(fields)})"


_PUBLIC = ("id", "tool", "arguments", "status", "result", "error", "object")
_RECORDED = (
    *("asked_call", "decided", "started", "outcome", "objects"),
    *("verified", "code", "rounds", "unknown_reason", "reserved_names"),
)
_public = attrgetter(*_PUBLIC)


def objects_of(outcome: Outcome | None) -> tuple[Made, ...]:
    """Return the objects that an outcome holds."""
    match outcome:
        case Made():
            return (outcome,)
        case Many(objects):
            return objects
    return ()


def result_object(outcome: Outcome | None) -> Made | None:
    """Return the object if the whole result is one object; None for any other result."""
    match outcome:
        case Made():
            return outcome
        case Many(objects=(first, *_), paths=((), *_)):
            return first
    return None


def _with_objects(outcome: Many, names: Sequence[str]) -> Any:
    """Return a result as JSON, with the names of its objects in their places."""
    if names and is_bare_list(outcome):
        pairs = zip(outcome.objects, names, strict=True)
        return [name for ref, name in pairs if not ref.changed]
    data = outcome.data
    for path, name in zip(outcome.paths, names, strict=False):
        data = replaced_at(data, tuple(map(str, path)), name)
    return data


def is_bare_list(outcome: Outcome | None) -> bool:
    """Return whether a result is a list of objects, and of nothing else."""
    match outcome:
        case Many(objects, paths=()):
            return any(not ref.changed for ref in objects)
    return False
