"""What a session looks like at one entry of its journal: a pure fold over its events.

Everything here is immutable and grows by sharing, so one more event costs the same
however many went before. What a scheme means by the calls is not known here, save
for `save` itself, which ends a run in every scheme.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from rpds import HashTrieMap

from ..errors import CallError, NotYourTurn
from ..events import (
    Asked,
    Call,
    Data,
    Decided,
    Failed,
    Finished,
    Interrupted,
    Made,
    Many,
    Opened,
    Outcome,
    Replied,
    Started,
    Usage,
)
from ..journal.trail import Trail
from ..journal.tree import Entry, Journal

SAVE = "save"
CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
"""Other ids could be taken for a place, such as `input:potato`."""
_NONE: HashTrieMap[str, Any] = HashTrieMap()
_UNOPENED = Opened()
_UNUSED = Usage()

Status = Literal[
    "proposed", "approved", "succeeded", "failed", "rejected", "answered", "interrupted", "unknown"
]


@dataclass(frozen=True, slots=True)
class CallState:
    """A call, and how far it has come. `key` tells it apart on all branches."""

    call: Call
    key: str
    step: int
    turn: int
    decided: Decided | None = None
    started: Started | None = None
    outcome: Outcome | None = None
    own: bool = True
    """Whether this machine decided on it. Another's decision is history: it allows nothing."""
    stale: bool = False
    """Whether the model asked for it by results that read otherwise now."""
    code: str = ""
    """The digest of the text that says what its tool was made of when it ran."""

    @property
    def id(self) -> str:
        return self.call.id

    @property
    def tool(self) -> str:
        return self.call.tool

    @property
    def asked(self) -> Mapping[str, Any]:
        """The arguments to run with: a person's, where they were edited."""
        if self.decided is not None and self.decided.arguments is not None:
            return self.decided.arguments
        return self.call.arguments

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments as they ran, or else as they were asked for."""
        if self.started is not None and self.started.arguments is not None:
            return self.started.arguments
        return self.asked

    @property
    def status(self) -> Status:
        decision = self.decided.decision if self.decided is not None else ""
        if decision == "reject":
            return "rejected"
        if decision == "answer":
            return "answered"
        match self.outcome:
            case None if self.started is not None:
                return "unknown"
            case None:
                return "approved" if decision else "proposed"
            case Failed():
                return "failed"
            case Interrupted():
                return "interrupted"
        return "succeeded"

    @property
    def edited(self) -> bool:
        return self.decided is not None and self.decided.decision == "edit"

    @property
    def bound(self) -> str:
        """The digest of what was approved; "" where nothing was."""
        return self.decided.bound if self.decided is not None else ""

    def allows(self, bound: str) -> bool:
        """Return whether exactly this may run, by the word of this machine."""
        return self.own and self.status == "approved" and self.bound == bound

    def then(
        self,
        decided: Decided | None,
        started: Started | None,
        outcome: Outcome | None = None,
        own: bool | None = None,
        code: str = "",
    ) -> CallState:
        """Return this call as it stands after something more is known of it."""
        own = self.own if own is None else own
        here = self.call, self.key, self.step, self.turn
        return CallState(*here, decided, started, outcome, own, self.stale, code or self.code)

    def approval(self, bound: str) -> Decided:
        """Return the decision that lets this call run as it stands: a person's edit stays."""
        if self.decided is not None and self.edited:
            return replace(self.decided, bound=bound)
        return Decided(self.id, "approve", bound)


@dataclass(frozen=True)
class State:
    """A session at one entry of its journal."""

    root: str = ""
    """The entry that it began with."""
    opened: Opened = _UNOPENED
    calls: HashTrieMap[str, CallState] = _NONE
    order: Trail[str] = field(default_factory=Trail)
    open: tuple[str, ...] = ()
    """The ids of the calls that have no outcome, in call order."""
    latest: tuple[str, ...] = ()
    """The ids of the calls of the last reply."""
    last: Asked | Replied | None = None
    prompt: str = ""
    """What a person said last."""
    turns: int = 0
    turns_since: int = 0
    """Replies since a person spoke last."""
    stale: bool = False
    """Whether the last reply was to results that read otherwise now."""
    calls_before: int = 0
    """Calls before a person spoke last."""
    reminded: bool = False
    done: bool = False
    """`save` succeeded since a person spoke last."""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    """What the last `save` named: object names, or plain values."""
    names: Trail[str] = field(default_factory=Trail)
    objects: HashTrieMap[str, Made] = _NONE
    by_maker: HashTrieMap[str, str] = _NONE
    contents: HashTrieMap[str, str] = _NONE
    """For each content that an object has, by type, the first object that had it."""
    counts: HashTrieMap[str, int] = _NONE
    newest: HashTrieMap[str, str] = _NONE
    succeeded: HashTrieMap[str, Trail[str]] = _NONE
    """For each tool the ids of its calls that came to a result."""
    returned: Trail[str] = field(default_factory=Trail)
    """The ids of the calls that came to one object."""
    instances: HashTrieMap[str, str] = _NONE
    """For each stateful instance the call that ran on it last."""
    variables: HashTrieMap[str, Any] = _NONE
    """What calls made of the session's variables."""
    setters: HashTrieMap[str, str] = _NONE
    """For each of them the call that set it last."""
    code: HashTrieMap[str, str] = _NONE
    """For each tool what it was made of when it ran last: the digest of a text."""
    sent: HashTrieMap[str, str] = _NONE
    """The digests of the definitions that were sent so far, and ("") of the last system text."""
    usage: Usage = _UNUSED
    said: str = ""
    """What the model said last."""
    aside: State | None = None
    """Beside a question of its own: where the session's own work was left."""
    settled: int = 0
    """How often something came to be: an opening, a prompt, or a call's outcome."""

    @property
    def tokens(self) -> int:
        return self.usage.input + self.usage.output

    def but(self, **changes: Any) -> State:
        """Return this state with other fields; several times quicker than `replace`."""
        made = object.__new__(State)
        # A copy of a whole dict is one block of memory, and no larger than it has to be.
        object.__setattr__(made, "__dict__", {**self.__dict__, **changes})
        return made

    def call(self, call_id: str) -> CallState:
        """Return a call. Raises NotYourTurn for an id that was never asked for."""
        found = self.calls.get(call_id)
        if found is None:
            raise NotYourTurn(f"there is no call {call_id!r} in this session")
        return found

    def each(self) -> Iterator[CallState]:
        """Return the calls in call order."""
        return (self.calls[call_id] for call_id in self.order)

    def of(self, tool: str) -> Iterator[CallState]:
        """Return the calls of one tool that came to a result, in order."""
        return (self.calls[call_id] for call_id in self.succeeded.get(tool) or ())

    def resolve(self, name: str) -> Made:
        """Return the object that a name such as `Potato#1` stands for.

        Raises CallError, which lists the names of that type that there are.
        """
        found = self.objects.get(name)
        if found is not None:
            return found
        kind = name.partition("#")[0]
        known = [other for other in reversed(self.names) if other.startswith(f"{kind}#")][:5]
        say = f"objects of that type: {', '.join(known)}" if known else self._kinds()
        raise CallError(f"there is no object {name!r}; {say}")

    def made(self, maker: str) -> Made | None:
        """Return the object that a maker made here."""
        return self.objects.get(self.by_maker.get(maker) or "")

    def _kinds(self) -> str:
        return f"there are: {', '.join(sorted(self.newest.values())) or 'no objects yet'}"


START = State()


def state_at(journal: Journal, head: str | None) -> State:
    """Return the state that the entries up to `head` lead to."""
    return journal.checked(head, evolve, START)


def evolve(state: State, entry: Entry) -> State:
    """Return the state after one more entry.

    Raises NotYourTurn where the event does not fit the state.
    """
    match entry.event:
        case Opened() as opened:
            return _open(state, opened).but(root=state.root or entry.id)
        case Asked() as asked:
            return _ask(state, asked)
        case Replied() as reply:
            return _reply(state, reply, entry)
        case Decided() as decided:
            return _decide(state, decided, entry.own)
        case Started() as started:
            known = _expect(state, started.call_id, "approved")
            code = entry.meta.get("code") or state.code.get(known.tool) or ""
            codes = state.code if not code else state.code.insert(known.tool, code)
            return _put(state, known.then(known.decided, started, code=code)).but(code=codes)
        case Finished(call_id, outcome, used=used):
            known = _expect(state, call_id, "proposed", "approved", "unknown")
            if used:
                known = known.then(known.decided, Started(call_id, None, used))
            return _settle(state, known, outcome)


_OF_OWN_WORK = (
    *("last", "prompt", "turns_since", "calls_before"),
    *("reminded", "done", "outputs"),
)
_NOTHING_YET: Mapping[str, Any] = {"last": None, "reminded": False, "done": False, "outputs": {}}


def _open(state: State, opened: Opened) -> State:
    state = _back(state)
    beside = {"aside": state, **_NOTHING_YET} if opened.aside else {}
    instances = _still_used(state, opened)
    state = state.but(opened=opened, instances=instances, settled=state.settled + 1, **beside)
    for maker, made in opened.inputs:
        state = _introduce(state, replace(made, maker=made.maker or maker))
    return state


def opened_as(opened: Opened) -> State:
    """Return the state of a session that was just opened."""
    return _open(START, opened)


def _back(state: State) -> State:
    """Return the state in which the session's own work goes on where it was left."""
    left = state.aside
    if left is None:
        return state
    own = {name: getattr(left, name) for name in _OF_OWN_WORK}
    return state.but(aside=None, opened=replace(left.opened, inputs=state.opened.inputs), **own)


def _still_used(state: State, opened: Opened) -> HashTrieMap[str, str]:
    """An instance that is given anew, and is another, begins as it is given."""
    used, before = state.instances, dict(state.opened.instances)
    for place, given in opened.instances:
        if place in used and before.get(place) != given:
            used = used.remove(place)
    return used


def _ask(state: State, asked: Asked) -> State:
    if state.open:
        raise NotYourTurn(f"call {state.open[0]} has no result yet: decide on it first")
    if asked.by == "session":
        return state.but(last=asked, reminded=True)
    state = state if state.last is None else _back(state)
    return state.but(
        last=asked,
        prompt=asked.text,
        turns_since=0,
        reminded=False,
        done=False,
        settled=state.settled + 1,
        calls_before=len(state.order),
    )


def _reply(state: State, reply: Replied, entry: Entry) -> State:
    if state.open:
        raise NotYourTurn(f"call {state.open[0]} has no result yet: decide on it first")
    calls, order, turn = state.calls, state.order, state.turns + 1
    stale = bool(entry.meta.get("stale"))
    for index, call in enumerate(reply.calls):
        if call.id in calls:
            raise NotYourTurn(f"the call id {call.id!r} was used before")
        if not CALL_ID.fullmatch(call.id):
            raise NotYourTurn(f"{call.id!r:.60} is no call id: letters, digits, _ and - alone")
        known = CallState(call, f"{entry.id[:12]}.{index}", len(order) + 1, turn, stale=stale)
        calls = calls.insert(call.id, known)
        order = order.add(call.id)
    ids = tuple(call.id for call in reply.calls)
    return state.but(
        sent=state.sent.update(reply.offered) if reply.offered else state.sent,
        calls=calls,
        order=order,
        open=ids,
        latest=ids,
        last=reply,
        turns=turn,
        turns_since=state.turns_since + 1,
        stale=stale,
        usage=_sum(state.usage, reply.usage),
        said=(reply.text if reply.said is None else reply.said) or state.said,
    )


def _sum(spent: Usage, more: Usage | None) -> Usage:
    if more is None:
        return spent
    return Usage(
        spent.input + more.input,
        spent.output + more.output,
        spent.cached + more.cached,
        spent.written + more.written,
    )


def _decide(state: State, decided: Decided, own: bool) -> State:
    known = _expect(state, decided.call_id, "proposed", "approved", "unknown")
    known = known.then(decided, None, own=own)
    match decided:
        case Decided(decision="reject", reason=reason):
            return _settle(state, known, Failed(reason))
        case Decided(decision="answer", result=result):
            return _settle(state, known, result or Data(None))
    return _put(state, known)


def _settle(state: State, known: CallState, outcome: Outcome) -> State:
    outcome = _own(known.id, outcome)
    known = known.then(known.decided, known.started, outcome)
    changes: dict[str, Any] = {
        "calls": state.calls.insert(known.id, known),
        "open": tuple(call_id for call_id in state.open if call_id != known.id),
        "settled": state.settled + 1,
    }
    if known.status in ("succeeded", "answered"):
        before = state.succeeded.get(known.tool) or Trail()
        changes["succeeded"] = state.succeeded.insert(known.tool, before.add(known.id))
        changes["instances"] = _instances(state, known)
        if isinstance(outcome, Made):
            changes["returned"] = state.returned.add(known.id)
        if known.tool == SAVE and state.opened.outputs:
            changes |= {"outputs": known.arguments, "done": True}
        if isinstance(outcome, Data) and outcome.variables:
            changes["variables"] = state.variables.update(outcome.variables)
            changes["setters"] = state.setters.update(dict.fromkeys(outcome.variables, known.id))
    state = state.but(**changes)
    for made in objects_of(outcome):
        state = _introduce(state, made)
    return state


def _own(call_id: str, outcome: Outcome) -> Outcome:
    """An outcome leaves its maker out where that is the call itself."""
    match outcome:
        case Made(maker=""):
            return replace(outcome, maker=call_id)
        case Many(objects):
            named = (
                made if made.maker else replace(made, maker=f"{call_id}[{index}]")
                for index, made in enumerate(objects)
            )
            return Many(tuple(named))
    return outcome


def objects_of(outcome: Outcome | None) -> tuple[Made, ...]:
    """Return the objects that an outcome holds."""
    match outcome:
        case Made():
            return (outcome,)
        case Many(objects):
            return objects
    return ()


def _instances(state: State, known: CallState) -> HashTrieMap[str, str]:
    """A call that failed worked on a copy that is gone, so it leaves no trace here."""
    if known.started is None or not any(map(is_instance, known.started.used)):
        return state.instances
    used = {place: known.id for place in known.started.used if is_instance(place)}
    return state.instances.update(used)


def is_instance(place: str) -> bool:
    """Return whether a place among what a call used is an instance, not an argument."""
    return place.startswith("(")


def is_variable(place: str) -> bool:
    """Return whether a place among what a call used is a session variable."""
    return place.startswith("$")


def variable_place(name: str) -> str:
    """Return the place of a session variable among what a call used."""
    return f"${name}"


def _introduce(state: State, made: Made) -> State:
    if made.maker in state.by_maker:
        return state
    number = (state.counts.get(made.kind) or 0) + 1
    name = f"{made.kind}#{number}"
    return state.but(
        names=state.names.add(name),
        objects=state.objects.insert(name, made),
        by_maker=state.by_maker.insert(made.maker, name),
        contents=_with_content(state, made, name),
        counts=state.counts.insert(made.kind, number),
        newest=state.newest.insert(made.kind, name),
    )


def _with_content(state: State, made: Made, name: str) -> HashTrieMap[str, str]:
    key = f"{made.kind}:{made.content}"
    if not made.content or key in state.contents:
        return state.contents
    return state.contents.insert(key, name)


def _put(state: State, known: CallState) -> State:
    return state.but(calls=state.calls.insert(known.id, known))


def _expect(state: State, call_id: str, *allowed: Status) -> CallState:
    known = state.call(call_id)
    if known.status not in allowed:
        raise NotYourTurn(f"call {call_id} is {known.status}; it waits for nothing of that kind")
    return known
