"""A place in a journal: what stands there, and the desk that all places of a session share.

What has to come next is known here, and facts are written down; nothing is run or asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..conversation.telling import NOTHING, Told, composed, teller
from ..errors import Absent, CallError, UsageError
from ..events import Decided, Event, Made
from ..interrupts import Hold
from ..journal.tree import Entry, Journal
from ..preview import Shows, reprs
from ..request import Model, Request
from ..runner.approval import Answer, Policy
from ..runner.running import prepare
from ..schemes import Offer, Scheme
from ..schemes.scheme import own_tool, unknown_tool
from ..secrets import Hide, MissingSecret, Secrets
from ..state.call import CallState
from ..state.claims import Claims
from ..state.fold import state_at
from ..state.memory import Inputs, Memory, Prepared
from ..state.script import Script
from ..state.shape import State
from ..state.steps import Step, next_step
from ..tools import Tool, Toolbox, nearest

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
    secrets: Secrets = field(default_factory=lambda: Secrets({}))
    """The secrets of the environment, hidden in all that is kept, shown or told."""
    stops: frozenset[str] = frozenset()
    """The tools whose calls wait in any case: a person's breakpoints."""
    given: Mapping[str, Made] = field(default_factory=dict)
    """The inputs as they were given here, whatever they were when the session opened."""
    doubt: str = ""
    """Why the journal's recorded calls cannot be relied on, where this kernel cannot."""
    holds: Callable[[Place], bool] | None = None
    """Whether the next reply is held back, before it is asked for or said again: a learner
    guesses it. While there is such a thing, what other branches hold is not shown either."""
    tell: Callable[[Told, Entry], Told] = field(init=False)
    claims: Claims = field(init=False)

    def __post_init__(self) -> None:
        self.claims = Claims(self.journal)
        self.tell = teller(self.journal, self.scheme, self.toolbox)

    @property
    def hide(self) -> Hide:
        """Takes secrets out of what is shown."""
        return self.secrets.hide

    def verdict(self, ready: Prepared) -> Answer:
        """Return whether a call may run, and why: a breakpoint comes before the policy."""
        if ready.tool.name in self.stops:
            return "ask", "You set a breakpoint on this tool."
        return self.policy(ready.tool, ready.arguments)

    def why_it_may_have_run(self, call: CallState) -> str:
        """Return in a sentence why a call may have run already."""
        match call.history:
            case "copied":
                return "It may have run where this session was copied from."
            case "kept":
                return "You kept its recorded result, and the value is not at hand any more."
            case "damaged":
                return "It may have run: the lines of the journal behind it were damaged."
            case "older":
                return "It was recorded by an older version of jupyter-toolcall, and may have run."
        reason = "it was recorded on another computer, or its record was changed"
        if not call.history:
            reason = "it started before, and its result is not recorded here"
        return f"It may have run already: {self.doubt or reason}."

    def stop_at(self, tool: str, on: bool = True) -> None:
        """Set a breakpoint on a tool, or take it away. Raises UsageError for an unknown one."""
        if tool not in self.toolbox:
            known = list(self.toolbox.names)
            raise UsageError(f"there is no tool {tool!r:.60} here.{nearest(tool, known)}")
        self.stops = self.stops | {tool} if on else self.stops - {tool}


@dataclass
class Place:
    """A place in a journal, and what stands there."""

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
    allowed_by_policy: set[str] = field(default_factory=set)
    """The calls that a policy has allowed here and that have not started. A person may have
    decided the same before: then that is no new entry."""
    heard: str = ""
    """The entry of the reply that the model gave here last. Its calls are new, though another
    reply that reads the same may be recorded with all that its calls came to."""
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
        self.desk.secrets.refresh()
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
        return next_step(self.state, lambda: self.offer.reminder)

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
        # What is in the journal is behind this place too, whenever an interrupt comes.
        with Hold(firm=True):
            entry = self.desk.journal.append(self.head, event, meta, own, again)
            self.head = entry.id
        return entry

    def find(self, name: str) -> Tool | None:
        """Return a tool by name: the toolbox's, or the scheme's own."""
        return self._named(name)[0]

    def _named(self, name: str) -> tuple[Tool | None, bool]:
        """Return a tool by name, and whether it is the scheme's own. No name is both's."""
        tool = self.desk.toolbox.get(name)
        return (tool, False) if tool is not None else (own_tool(name, self.offer), True)

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
        desk, (tool, own) = self.desk, self._named(call.tool)
        if tool is None:
            raise unknown_tool(call.tool, desk.toolbox, self.offer)
        if call.missing:
            raise state.missing(call.missing)
        asked = desk.scheme.complete(call, tool, state)
        variables = self._read_by(tool, state)
        arguments = asked if call.edited else tool.fill(asked, variables)
        inputs: Inputs | None = None
        missing: MissingSecret | None = None
        # The scheme's own tools only write down what the model chose.
        keys = call.secrets or (call.decided is not None and call.decided.secrets)
        if not own and (keys or state.marked or desk.secrets.occur(arguments)):
            shown = desk.secrets.hide(arguments)
            try:
                inputs = self._inputs(call, tool, asked, variables, state)
            except MissingSecret as error:
                missing = error
            if inputs is not None and inputs == Inputs(shown, variables):
                inputs = None
            arguments = shown
        return (
            prepare(tool, call, arguments, state, desk.memory, variables, inputs, missing),
            own,
        )

    def _inputs(
        self,
        call: CallState,
        tool: Tool,
        asked: Mapping[str, Any],
        variables: Mapping[str, Any],
        state: State,
    ) -> Inputs:
        """Return what a call runs with: what was asked and what fills it in, each by its own keys.

        So no marker that a model wrote takes a value that a variable holds. Raises
        MissingSecret.
        """
        reveal = self.desk.secrets.reveal
        values = reveal(asked, call.keys)
        known = {
            name: reveal(value, state.marked.get(name) or ()) for name, value in variables.items()
        }
        return Inputs(values if call.edited else tool.fill(values, known), known)

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

    def as_before(self, entry: Entry, ready: Prepared, own: bool = False) -> Entry:
        """What was prepared just before an entry of the call holds behind it too."""
        call = self.state.calls[ready.call_id]
        self._prepared = entry.id, {call.id: (call, ready, own)}
        return entry

    def verdict(self, call: CallState, ready: Prepared) -> Answer:
        """Return whether a call may run, and why.

        An effect that may have happened is not repeated by a policy: a person is asked.
        """
        if self.may_have_run(call, ready):
            return "ask", self.desk.why_it_may_have_run(call)
        return self.desk.verdict(ready)

    def may_have_run(self, call: CallState, ready: Prepared) -> bool:
        """Return whether a call may have had an effect already that must not come twice.

        A call whose result is recorded and at hand did run: nothing has to run for it.
        """
        if self.fresh or ready.tool.repeatable:
            return False
        ran = self.desk.claims.run_of(call, ready.bound)
        if ran == "finished" and self.desk.memory.known(ready) is not None:
            return False
        unsure = ran == "started" or (
            ran == "finished" and (self.desk.doubt != "" or self.desk.memory.is_unverified(ready))
        )
        return bool(call.history) or (unsure and not self._is_new(call))

    def _is_new(self, call: CallState) -> bool:
        """Return whether the model asked for a call here, and not in a recorded reply."""
        return self.heard != "" and call.entry == self.heard

    def is_repeated_by_policy(self, call: CallState, ready: Prepared) -> bool:
        """Return whether a policy lets a call of a recorded reply run: its result is taken from
        the record, where it has one."""
        if self.fresh or ready.tool.repeatable or self._is_new(call):
            return False
        by_policy = self.desk.claims.is_by_policy(self.head, call.id)
        return by_policy or call.id in self.allowed_by_policy

    def allows(self, call: CallState, ready: Prepared) -> bool:
        """Return whether exactly this may run: a permission is good for one effect."""
        if not call.allows(ready.bound):
            return False
        if self.fresh or ready.tool.repeatable or call.id in self.words | self.allowed_by_policy:
            return True
        if self.desk.claims.is_by_policy(self.head, call.id):
            # What a policy allowed before is for the policy of today, where something has to run.
            at_hand = self.desk.memory.known(ready) is not None
            return at_hand or self.verdict(call, ready)[0] == "approve"
        return self.desk.claims.holds(self.head, call.id)

    def decide(self, event: Decided, by: str, **meta: Any) -> None:
        """Write down a word on a call: it holds here, also where that was said before."""
        self.write(event, at=self.desk.clock(), by=by, **meta)
        self.overtake(event.call_id)
        self.allowed_by_policy.discard(event.call_id)
        if not self.desk.claims.holds(self.head, event.call_id):
            self.words.add(event.call_id)

    def overtake(self, call_id: str) -> None:
        """Drop what the script still says of a call that was decided or run anew."""
        self.script.overtaken.add(call_id)
