"""The next step of a session, taken and written down, and nothing else.

A pause is the absence of an event: `advance` returns None where the next event has to
come from a person. A cursor that replays has a script, the recorded entries that it
says again; what was run comes from memory where its inputs are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .approval import Policy
from .conversation import NOTHING, Messages, compose, teller
from .errors import CallError, ModelError, UsageError
from .events import (
    Asked,
    Call,
    Data,
    Decided,
    Event,
    Failed,
    Finished,
    Replied,
    Started,
)
from .invoke import invoke
from .journal import Entry, Journal
from .request import Model, Reply, Request
from .retell import retell
from .runner import Memory, Prepared, prepare, run
from .schemes import Offer, Scheme
from .schemes.outputs import reminder
from .schemes.scheme import not_offered
from .state import CallState, State, state_at
from .steps import AskModel, Judge, Perform, Remind, next_step
from .tools import Tool, Toolbox

Clock = Callable[[], float]
Script = tuple[Entry, ...]
RUNS = ("end", "tools")
"""The stop reasons with which the calls of a reply may run."""


@dataclass
class Desk:
    """What all branches of a session share: their tools, their memory, their voice."""

    journal: Journal
    toolbox: Toolbox
    scheme: Scheme
    memory: Memory
    model: Model | None
    policy: Policy
    clock: Clock = time.time
    max_turns: int | None = None
    tell: Callable[[Messages, Entry], Messages] = field(init=False)

    def __post_init__(self) -> None:
        self.tell = teller(self.journal, self.scheme, self.toolbox)


@dataclass
class Cursor:
    """A place in a journal that goes on from there."""

    desk: Desk
    head: str
    script: Script = ()
    told: State | None = None
    """What the recording came to that the script says again."""
    fresh: bool = False
    running: str = ""
    """The id of the call that runs right now."""

    @property
    def state(self) -> State:
        return state_at(self.desk.journal, self.head)

    @property
    def offer(self) -> Offer:
        return self.desk.scheme.offer(self.state, self.desk.toolbox)

    @property
    def request(self) -> Request:
        """The request of the next turn."""
        messages = self.desk.journal.fold(self.head, self.desk.tell, NOTHING)
        return compose(self.state, messages, self.desk.scheme, self.desk.toolbox)

    def write(self, event: Event, **meta: Any) -> Entry:
        """Write down a fact that fits the state, and move on to it."""
        entry = self.desk.journal.append(self.head, event, meta)
        self.head = entry.id
        return entry

    def advance(self) -> Entry | None:
        """Take one step and return its last entry; None where a person has to be waited for.

        Raises ModelError, and KeyboardInterrupt once what it interrupted is written down.
        """
        while self.script:
            event, state = self.script[0].event, self.state
            if _fits(event, state):
                return self._follow(event, state)
            if state.open:
                break
            self.script = self.script[1:]
        return self._step(self.state)

    def _step(self, state: State) -> Entry | None:
        match next_step(state):
            case AskModel():
                return self._ask_model(state)
            case Remind():
                return self.write(Asked(reminder(state), "session"), at=self.desk.clock())
            case Judge(call):
                return self._judge(call, state)
            case Perform(call):
                return self._perform(call, state)
        return None

    # -- the model ------------------------------------------------------------------

    def _ask_model(self, state: State) -> Entry | None:
        desk = self.desk
        if desk.model is None:
            raise UsageError("this session has no model; give one, such as model=Scripted([...])")
        if desk.max_turns is not None and state.turns_since >= desk.max_turns:
            return None
        request, began = self.request, desk.clock()
        reply = desk.model(request)
        if reply is None:
            return None
        reply = desk.scheme.read(reply, state)
        if not isinstance(reply, Reply):
            raise ModelError(f"the model returned {reply!r:.60}; a model returns a Reply or None")
        calls = _unique(reply.calls, state) if reply.stop in RUNS else ()
        raw = reply.raw if calls == tuple(reply.calls) else None
        event = Replied(
            reply.text, calls, reply.stop, reply.usage, raw, self._offered(request, state)
        )
        return self.write(event, at=began, ms=_ms(began, desk.clock()))

    def _offered(self, request: Request, state: State) -> Mapping[str, str]:
        """Keep what is sent for the first time, so that every request can be shown later."""
        remember = self.desk.journal.remember
        new = {t.name: remember(t.definition()) for t in request.tools if t.name not in state.sent}
        if "" not in state.sent:
            new[""] = remember(request.system)
        return new

    # -- a call ---------------------------------------------------------------------

    def find(self, name: str, offer: Offer | None = None) -> Tool | None:
        """Return a tool by name: the scheme's own, or the toolbox's."""
        own = next((tool for tool in (offer or self.offer).own if tool.name == name), None)
        return own or self.desk.toolbox.get(name)

    def prepared(self, call: CallState, state: State) -> tuple[Prepared, bool]:
        """Return a call that can run, and whether it is the scheme's own.

        Raises CallError, which says what is wrong with the call.
        """
        if call.call.broken and call.decided is None:
            raise CallError(call.call.broken)
        offer = self.offer
        own = next((tool for tool in offer.own if tool.name == call.tool), None)
        tool = own or next((tool for tool in offer.tools if tool.name == call.tool), None)
        if tool is None:
            raise not_offered(call.tool, self.desk.toolbox, offer)
        arguments = self.desk.scheme.complete(call, tool, state)
        return prepare(tool, call, arguments, state, self.desk.memory), own is not None

    def _judge(self, call: CallState, state: State) -> Entry | None:
        try:
            ready, own = self.prepared(call, state)
        except CallError as error:
            return self.write(Finished(call.id, Failed(str(error))))
        if own:
            return self.write(Finished(call.id, Data("ok")))
        verdict, why = self.desk.policy(ready.tool, ready.arguments)
        match verdict:
            case "approve":
                return self.write(Decided(call.id, "approve", ready.bound), by="policy")
            case "reject":
                return self.write(Decided(call.id, "reject", reason=why), by="policy")
        return None

    def _perform(self, call: CallState, state: State, again: bool = False) -> Entry | None:
        """Run an approved call; with `again` take what memory knows of it."""
        try:
            ready, _ = self.prepared(call, state)
        except CallError as error:
            return self.write(Finished(call.id, Failed(str(error))))
        if call.decided is None or ready.bound != call.decided.bound:
            return self._judge(call, state)
        ran_before, outcome = (
            self.desk.memory.known(call.id, ready.bound) if again else (False, None)
        )
        arguments = None if ready.arguments == call.asked else ready.arguments
        started = self.write(Started(call.id, arguments, ready.used))
        if ran_before:
            return self.write(Finished(call.id, outcome)) if outcome is not None else started
        return self._run(ready, state)

    def _run(self, ready: Prepared, state: State) -> Entry:
        clock, self.running = self.desk.clock, ready.call_id
        began = clock()
        try:
            ran = run(ready, state, self.desk.memory, invoke)
            meta = {"ms": _ms(began, clock()), **({"prints": ran.prints} if ran.prints else {})}
            entry = self.write(Finished(ready.call_id, ran.outcome), **meta)
        finally:
            self.running = ""
        if ran.interrupted:
            raise KeyboardInterrupt
        return entry

    # -- a recording ------------------------------------------------------------------

    def _follow(self, event: Event, state: State) -> Entry | None:
        """Say the next recorded event again."""
        match event:
            case Decided(call_id, "approve" | "edit"):
                return self._decide_again(event, state)
            case Started(call_id):
                self.script = tuple(
                    e for e in self.script if not _is_about(e.event, call_id, Started)
                )
                entry = self._perform(state.calls[call_id], state, again=not self.fresh)
                if entry is not None and isinstance(entry.event, Finished):
                    self.overtake(call_id)
                return entry
            case Finished(call_id):
                self.script = self.script[1:]
                return self._judge(state.calls[call_id], state)
        said, self.script = self.script[0], self.script[1:]
        told = self.told or state
        return self.write(retell(event, told, state, self.find), **said.meta)

    def _decide_again(self, event: Decided, state: State) -> Entry | None:
        """An approval holds for exactly what it was given for; else it is asked for again."""
        said = self.script[0]
        again = retell(event, self.told or state, state, self.find)
        assert isinstance(again, Decided)
        call = replace(state.calls[event.call_id], decided=again)
        try:
            ready, _ = self.prepared(call, state)
        except CallError as error:
            self.overtake(event.call_id)
            return self.write(Finished(event.call_id, Failed(str(error))))
        verdict, why = self.desk.policy(ready.tool, ready.arguments)
        if ready.bound == event.bound or verdict == "approve":
            self.script = self.script[1:]
            return self.write(replace(again, bound=ready.bound), **said.meta)
        if verdict == "reject":
            self.overtake(event.call_id)
            return self.write(Decided(event.call_id, "reject", reason=why), by="policy")
        return None

    def overtake(self, call_id: str) -> None:
        """Drop what the script still says of a call that was decided or run anew."""
        about = (Decided, Started, Finished)
        self.script = tuple(e for e in self.script if not _is_about(e.event, call_id, *about))


def _fits(event: Event, state: State) -> bool:
    match event:
        case Decided(call_id) | Started(call_id) | Finished(call_id):
            return call_id in state.open
    return not state.open


def _is_about(event: Event, call_id: str, *kinds: type) -> bool:
    return isinstance(event, kinds) and getattr(event, "call_id", None) == call_id


def _unique(calls: tuple[Call, ...], state: State) -> tuple[Call, ...]:
    """A call id is used once in a session, whatever a model sends."""
    taken: dict[str, Call] = {}
    for call in calls:
        call_id, number = call.id or "call", 1
        while call_id in taken or call_id in state.calls:
            number += 1
            call_id = f"{call.id or 'call'}-{number}"
        taken[call_id] = call if call_id == call.id else replace(call, id=call_id)
    return tuple(taken.values())


def _ms(began: float, ended: float) -> float:
    return round((ended - began) * 1000, 1)
