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

from .conversation.replies import noted, replied
from .conversation.retell import retell
from .conversation.telling import NOTHING, Told, composed, teller
from .errors import Absent, CallError, ModelError, UsageError
from .events import Asked, Data, Decided, Event, Failed, Finished, Made, Outcome, Replied, Started
from .journal.tree import Entry, Journal
from .preview import Shows, reprs
from .request import Model, Reply, Request
from .runner.approval import Answer, Policy
from .runner.coded import coded
from .runner.performing import milliseconds, performed
from .runner.running import prepare
from .runner.tracing import span
from .schemes import Offer, Scheme
from .schemes.scheme import unknown_tool
from .secrets import Hide
from .state.claims import Claims, said_again
from .state.fold import CallState, State, state_at
from .state.memory import Memory, Prepared
from .state.script import Script, about, fits, same_objects, told_otherwise
from .state.steps import AskModel, Clarify, Judge, Perform, Remind, Step, next_step, step_of
from .tools import Tool, Toolbox, nearest

Clock = Callable[[], float]


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
    shows: Shows = reprs
    """Tells what a value says of itself, for its picture."""
    hide: Hide = lambda data: data
    """Takes secrets out of what tools return, raise and print."""
    stops: frozenset[str] = frozenset()
    """The tools whose calls wait in any case: a person's breakpoints."""
    given: Mapping[str, Made] = field(default_factory=dict)
    """The inputs as they were given here, whatever they were when the session opened."""
    holds: Callable[[Cursor], bool] | None = None
    """Whether the next reply is held back, before it is asked for or said again: a learner
    guesses it. While there is such a thing, what other branches hold is not shown either."""
    tell: Callable[[Told, Entry], Told] = field(init=False)
    claims: Claims = field(init=False)

    def __post_init__(self) -> None:
        self.claims = Claims(self.journal)
        self.tell = teller(self.journal, self.scheme, self.toolbox)

    def verdict(self, ready: Prepared) -> Answer:
        """Return whether a call may run, and why: a breakpoint comes before the policy."""
        if ready.tool.name in self.stops:
            return "ask", "You set a breakpoint on this tool."
        return self.policy(ready.tool, ready.arguments)

    def stop_at(self, tool: str, on: bool = True) -> None:
        """Set a breakpoint on a tool, or take it away. Raises UsageError for an unknown one."""
        if tool not in self.toolbox:
            known = list(self.toolbox.names)
            raise UsageError(f"there is no tool {tool!r:.60} here.{nearest(tool, known)}")
        self.stops = self.stops | {tool} if on else self.stops - {tool}


@dataclass
class Cursor:
    """A place in a journal that goes on from there."""

    desk: Desk
    head: str
    script: Script = field(default_factory=Script)
    fresh: bool = False
    """Whether what the script ran before runs again."""
    running: str = ""
    """The id of the call that runs right now."""
    words: set[str] = field(default_factory=set)
    """The calls on which somebody has said here what was said, and acted on, before: such a
    word is no new entry, and is good until the call starts."""
    _offered: tuple[int, Offer] | None = None
    _prepared: tuple[str, dict[str, tuple[CallState, Prepared, bool]]] = field(
        default_factory=lambda: ("", {})
    )
    """The calls as they were prepared at an entry."""

    @property
    def state(self) -> State:
        return state_at(self.desk.journal, self.head)

    def look_again(self) -> None:
        """Go by what the tools are now: what they are made of may have been defined anew."""
        self._prepared = "", {}
        self.desk.toolbox.look_again()

    @property
    def offer(self) -> Offer:
        """What may be called here. It holds until another call comes to something."""
        state = self.state
        if self._offered is None or self._offered[0] != state.settled:
            self._offered = state.settled, self.desk.scheme.offer(state, self.desk.toolbox)
        return self._offered[1]

    @property
    def due(self) -> Step:
        """What is to come next here."""
        return next_step(self.state, self.offer.reminder)

    @property
    def spent(self) -> bool:
        """Whether the model has had all the turns that it may have for one prompt."""
        most = self.desk.max_turns
        return most is not None and self.state.turns_since >= most

    @property
    def held(self) -> bool:
        """Whether the next reply waits for somebody to guess it."""
        return self.desk.holds is not None and self.desk.holds(self)

    @property
    def request(self) -> Request:
        """The request of the next turn."""
        told = self.desk.journal.fold(self.head, self.desk.tell, NOTHING)
        return composed(self.state, told, self.offer)

    def write(self, event: Event, *, own: bool = True, again: bool = False, **meta: Any) -> Entry:
        """Write down a fact that fits the state, and move on to it."""
        entry = self.desk.journal.append(self.head, event, meta, own, again)
        self.head = entry.id
        return entry

    def advance(self) -> Entry | None:
        """Take one step and return its last entry; None where a person has to be waited for.

        Raises ModelError, and KeyboardInterrupt once what it interrupted is written down.
        """
        if self.held:
            return None
        while (said := self.script.next(self.state.open)) is not None:
            state, call_id = self.state, about(said.event)
            if call_id in self.script.overtaken:
                # What was recorded behind a call may go by what it comes to now.
                return self._take(step_of(state.calls[call_id]), state)
            if said.parent == self.head or fits(said.event, state):
                return self._follow(said, state)
            if not call_id:
                break
            self.script.at += 1
        return self._take(self.due, self.state)

    def _take(self, step: Step, state: State) -> Entry | None:
        match step:
            case AskModel():
                return self._ask_model()
            case Remind(text):
                return self.write(Asked(text, "session"), at=self.desk.clock())
            case Judge(call):
                return self._judge(call, state)
            case Perform(call):
                return self._perform(call, state)
            case Clarify(call) if (ready := self._repeated(call, state)) is not None:
                return self._approve(call, ready)
        return None

    def _repeated(self, call: CallState, state: State) -> Prepared | None:
        """Return a call with an unknown outcome where it may run again: exactly as approved."""
        tool = self.find(call.tool)
        if tool is None or not tool.idempotent or not call.own:
            return None
        try:
            ready = self.prepared(call, state)[0]
        except (CallError, Absent):
            return None
        return ready if ready.bound == call.bound else None

    # -- the model ------------------------------------------------------------------

    def hear(self, request: Request) -> Reply | None:
        """Return what the model says to a request, as it came; nothing is written."""
        if self.desk.model is None:
            raise UsageError("this session has no model; give one, such as model=Scripted([...])")
        reply = self.desk.model(request)
        if reply is not None and not isinstance(reply, Reply):
            raise ModelError(f"the model returned {reply!r:.60}; a model returns a Reply or None")
        return reply

    def _ask_model(self) -> Entry | None:
        if self.spent:
            return None
        desk = self.desk
        request, began = self.request, desk.clock()
        reply = self._traced(request)
        if reply is None:
            return None
        tried = [[attempt.said, attempt.waited] for attempt in reply.attempts]
        more = {"attempts": tried} if tried else {}
        return self.record(reply, request, at=began, ms=milliseconds(began, desk.clock()), **more)

    def record(self, reply: Reply, request: Request, **meta: Any) -> Entry:
        """Write down what was replied to the request of this turn."""
        state, desk = self.state, self.desk
        try:
            offered = self._new(request, state)
            read = desk.scheme.read(reply, state, desk.toolbox)
            return self.write(replied(read, state, offered, request.news), **meta)
        except (TypeError, ValueError) as error:
            raise ModelError(f"the model's reply cannot be written down: {error}") from error

    def _traced(self, request: Request) -> Reply | None:
        name = str(getattr(self.desk.model, "name", ""))
        provider, _, model = name.rpartition(":")
        known = {"gen_ai.provider.name": provider or None, "gen_ai.request.model": model or None}
        with span("chat", model or "model", known) as note:
            reply = self.hear(request)
            note(noted(reply))
            return reply

    def _new(self, request: Request, state: State) -> Mapping[str, str]:
        """Keep what is sent for the first time, so that every request can be shown later."""
        remember, texts = self.desk.journal.remember, self.desk.journal.texts

        def known(tool: Tool) -> bool:
            # A tool that takes other arguments is another one, such as `save` with other outputs.
            sent = texts.get(state.sent.get(tool.name) or "")
            return sent is not None and bool(sent["parameters"] == tool.parameters)

        new = {t.name: remember(t.definition()) for t in request.tools if not known(t)}
        same = texts.get(state.sent.get("") or "") == request.system
        return new if same else {**new, "": remember(request.system)}

    # -- a call ---------------------------------------------------------------------

    def find(self, name: str, offer: Offer | None = None) -> Tool | None:
        """Return a tool by name: the scheme's own, or the toolbox's."""
        own = next((tool for tool in (offer or self.offer).own if tool.name == name), None)
        return own or self.desk.toolbox.get(name)

    def prepared(self, call: CallState, state: State) -> tuple[Prepared, bool]:
        """Return a call that can run, and whether it is the scheme's own.

        Raises CallError, which says what is wrong with the call.
        """
        if self._prepared[0] != self.head:
            self._prepared = self.head, {}
        known = self._prepared[1].get(call.id)
        if known is None or known[0] is not call:
            known = self._prepared[1][call.id] = (call, *self._prepare(call, state))
        return known[1:]

    def _prepare(self, call: CallState, state: State) -> tuple[Prepared, bool]:
        if call.call.broken and call.decided is None:
            raise CallError(call.call.broken)
        desk, offer = self.desk, self.offer
        own = next((tool for tool in offer.own if tool.name == call.tool), None)
        tool = own or desk.toolbox.get(call.tool)
        if tool is None:
            raise unknown_tool(call.tool, desk.toolbox, offer)
        arguments = desk.scheme.complete(call, tool, state)
        variables = self._read_by(tool, state)
        if not call.edited:
            arguments = tool.fill(arguments, variables)
        return prepare(tool, call, arguments, state, desk.memory, variables), own is not None

    def as_it_runs(self, call: CallState) -> Mapping[str, Any]:
        """Return the arguments with which an open call would run; as asked where it can't."""
        try:
            return self.prepared(call, self.state)[0].arguments
        except (CallError, Absent):
            return call.asked

    def _read_by(self, tool: Tool, state: State) -> dict[str, Any]:
        """Return the session variables that a tool goes by, as they are now."""
        given, now = self.desk.toolbox.variables, state.variables
        return {
            name: now[name] if name in now else given[name]
            for name in tool.reads
            if name in now or name in given
        }

    def _judge(self, call: CallState, state: State) -> Entry | None:
        try:
            ready, own = self.prepared(call, state)
        except CallError as error:
            return self.write(Finished(call.id, Failed(str(error))))
        if own:
            return self._own(call, ready)
        verdict, why = self.desk.verdict(ready)
        match verdict:
            case "approve" if not ready.tool.for_person:
                return self._approve(call, ready)
            case "reject":
                return self.write(Decided(call.id, "reject", reason=why), by="policy")
        return None

    def _own(self, call: CallState, ready: Prepared) -> Entry:
        """A call of the scheme's own waits for nobody; what was spelled out of it is kept."""
        if call.decided is None and ready.arguments == call.asked:
            return self.write(Finished(call.id, Data(ready.tool.function(**ready.arguments))))
        return self._approve(call, ready, own=True)

    def _approve(self, call: CallState, ready: Prepared, own: bool = False) -> Entry:
        entry = self.write(call.approval(ready.bound), by="policy")
        return self._as_before(entry, ready, own)

    def _as_before(self, entry: Entry, ready: Prepared, own: bool = False) -> Entry:
        """What was prepared just before an entry of the call holds behind it too."""
        call = self.state.calls[ready.call_id]
        self._prepared = entry.id, {call.id: (call, ready, own)}
        return entry

    def allows(self, call: CallState, ready: Prepared) -> bool:
        """Return whether exactly this may run: a person's word is good for one effect."""
        if not call.allows(ready.bound):
            return False
        often = self.fresh or ready.tool.repeatable or call.id in self.words
        return often or self.desk.claims.holds(self.head, call.id)

    def _perform(self, call: CallState, state: State, again: bool = False) -> Entry | None:
        """Run an approved call; with `again` take what memory knows of it."""
        try:
            ready = self.prepared(call, state)[0]
        except CallError as error:
            return self.write(Finished(call.id, Failed(str(error))))
        if not self.allows(call, ready):
            return self._judge(call, state)
        self.words.discard(call.id)
        started = self.write(_start(call, ready), **coded(ready.tool, state, self.desk.journal))
        outcome = self.desk.memory.known(ready) if again else None
        if outcome is not None:
            return self.write(Finished(call.id, outcome))
        return self._run(ready, state_at(self.desk.journal, started.id))

    def perform(self, call_id: str) -> Entry | None:
        """Run an approved call now, whatever its turn."""
        state = self.state
        return self._perform(state.calls[call_id], state)

    def _run(self, ready: Prepared, state: State) -> Entry:
        desk, self.running = self.desk, ready.call_id
        try:
            ran = performed(ready, state, desk.memory, desk.hide, desk.clock)
            entry = self.write(Finished(ready.call_id, ran.outcome), **ran.meta)
        finally:
            self.running = ""
        if ran.interrupted:
            raise KeyboardInterrupt
        return entry

    # -- a recording ------------------------------------------------------------------

    def _follow(self, said: Entry, state: State) -> Entry | None:
        """Say the next recorded event again."""
        told = state_at(self.desk.journal, said.parent)
        match said.event:
            case Decided(decision="approve" | "edit") as event:
                return self._decide_again(said, event, told, state)
            case Decided(call_id, "answer", arguments=Mapping()) if self._put_anew(said, told):
                self.overtake(call_id)
                return self._take(step_of(state.calls[call_id]), state)
            case Started(call_id):
                return self._start_again(said, state.calls[call_id], told, state)
            case Finished(call_id, by="program", used=used) if not same_objects(used, told, state):
                return self._take(step_of(state.calls[call_id]), state)
            case Finished(call_id, by="session") as event:
                self.script.at += 1
                return self._finish_again(said, event, state.calls[call_id], state)
            case Replied() as reply:
                self.script.at += 1
                return self._reply_again(reply, said, told, state)
        self.script.at += 1
        again = retell(said.event, told, state, self.find)
        return self._write_again(again, said, own=said.own, **said.meta)

    def _write_again(self, event: Event, said: Entry, *, again: bool = True, **meta: Any) -> Entry:
        """Write down what was recorded; where nothing before it changed, it is that very entry."""
        if said.parent == self.head and said.own and event == said.event:
            self.head = said.id
            return said
        return self.write(event, again=again, **meta)

    def _reply_again(self, reply: Replied, said: Entry, told: State, state: State) -> Entry:
        """A reply is said again, and marked where it was to results that read otherwise now."""
        again = retell(reply, told, state, self.find)
        meta = {key: value for key, value in said.meta.items() if key != "stale"}
        stale = said.meta.get("stale") or state.stale or told_otherwise(told, state)
        marked = {"stale": True} if stale else {}
        return self._write_again(again, said, own=said.own, **meta, **marked)

    def _decide_again(self, said: Entry, event: Decided, told: State, state: State) -> Entry | None:
        """An approval holds for exactly what it was given for; else it is asked for again."""
        again = retell(event, told, state, self.find)
        assert isinstance(again, Decided)
        call = replace(state.calls[event.call_id], decided=again, started=None)
        try:
            ready, own = self.prepared(call, state)
        except CallError as error:
            self.overtake(event.call_id)
            return self.write(Finished(event.call_id, Failed(str(error))))
        verdict, why = self.desk.verdict(ready)
        said_so = self._holds(said, event, ready)
        if (own or said_so or verdict == "approve") and not ready.tool.for_person:
            self.script.at += 1
            only_said = said_so and verdict != "approve" and not (own or ready.tool.repeatable)
            meta = said_again(said) if only_said and not self.fresh else said.meta
            entry = self._write_again(replace(again, bound=ready.bound), said, **meta)
            return self._as_before(entry, ready, own)
        if verdict == "reject":
            self.overtake(event.call_id)
            return self.write(Decided(event.call_id, "reject", reason=why), by="policy")
        return None

    def _holds(self, said: Entry, event: Decided, ready: Prepared) -> bool:
        """Return whether a recorded approval still allows what would happen now.

        What a policy allowed once is for the policy of today. A person's word holds for
        exactly what it was given for, and for one effect: where the result is no longer at
        hand it is asked for again, unless the tool may be repeated.
        """
        if ready.bound != event.bound or not said.own or said.meta.get("by") == "policy":
            return False
        end = self.script.end_of(event.call_id)
        if self.fresh or ready.tool.repeatable or end is None:
            return True
        return self.desk.memory.has(ready, end[1])

    def _put_anew(self, said: Entry, told: State) -> bool:
        """Return whether a request to a person, as it was put, is another one here."""
        again = retell(said.event, told, self.state, self.find)
        assert isinstance(again, Decided)
        call = self.state.calls[again.call_id]
        return self.as_it_runs(call) != again.arguments

    def _start_again(self, said: Entry, call: CallState, told: State, state: State) -> Entry | None:
        """What started for the same reason goes on as it did; all else runs anew."""
        if call.bound == told.calls[call.id].bound and not self.fresh:
            ready = self.prepared(call, state)[0]
            if ready.bound == call.bound:
                self.script.at += 1
                meta = coded(ready.tool, state, self.desk.journal)
                at_hand = self._is_at_hand(ready, self.script.end_of(call.id))
                entry = self._write_again(_start(call, ready), said, again=at_hand, **meta)
                return self._as_before(entry, ready)
        self.overtake(call.id)
        return self._perform(call, state, again=not self.fresh)

    def _finish_again(
        self, said: Entry, event: Finished, call: CallState, state: State
    ) -> Entry | None:
        match call.status:
            case "proposed":
                return self._judge(call, state)
            case "approved":
                return self._perform(call, state, again=not self.fresh)
        ready = self.prepared(call, state)[0]
        if self._is_at_hand(ready, (said, event.outcome)):
            return self._write_again(event, said)
        return self._run(ready, state)

    def _is_at_hand(self, ready: Prepared, end: tuple[Entry, Outcome] | None) -> bool:
        """Return whether nothing has to run for what a call came to, as it is recorded."""
        return end is not None and end[0].own and self.desk.memory.has(ready, end[1])

    def decide(self, event: Decided, by: str) -> None:
        """Write down a word on a call: it holds here, also where that was said before."""
        self.write(event, at=self.desk.clock(), by=by)
        self.overtake(event.call_id)
        if not self.desk.claims.holds(self.head, event.call_id):
            self.words.add(event.call_id)

    def overtake(self, call_id: str) -> None:
        """Drop what the script still says of a call that was decided or run anew."""
        self.script.overtaken.add(call_id)


def _start(call: CallState, ready: Prepared) -> Started:
    arguments = None if ready.arguments == call.asked else ready.arguments
    return Started(call.id, arguments, ready.used)
