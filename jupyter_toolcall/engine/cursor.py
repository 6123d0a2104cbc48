"""`Cursor`: a position in the journal from which a session continues, and what is computed there.
`SessionContext`: what all branches of the session share. `SessionHooks`: how an optional feature
attaches to a session.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from ..core.branch_names import DEFAULTS, is_same_json
from ..core.call_record import ArgumentOrigin, CallRecord
from ..core.errors import Absent, CallError, NotYourTurn, UsageError
from ..core.events import Decided, Event, Finished, Made, Outcome, Started, ended_call
from ..core.interface_text import t
from ..core.journal import Journal
from ..core.journal_entries import Entry
from ..core.object_names import with_inputs, with_names
from ..core.recorded_calls import CallIndex
from ..core.recorded_data import LazyDict, replace
from ..core.secrets import Secrets
from ..core.state import State, Step, next_step
from ..core.state_fold import state_at
from ..core.text import nearest
from ..rules.approval_policy import Policy
from ..rules.budget import Budget
from ..rules.origins import CallOrigins, OriginReader
from ..rules.person_rules import PersonRules
from ..schemes.messages import Model, Reply, Request
from ..schemes.requests import NOTHING, SentConversation, compose_request, conversation_fold
from ..schemes.scheme import Offer, Scheme, asked_by_client, unknown_tool
from ..sources.table_sharing import Sharing, table_text
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from ..tools.value_display import Shows, reprs
from ..tools.value_text import content_text
from .execution import EarlyEnd
from .prepare import prepare
from .replay_queue import ReplayQueue
from .session_values import PreparedCall, SessionValues


@dataclass
class RunningCall:
    """What is known of a call while it runs, and is not recorded."""

    began: float = 0.0
    """When it began, by the session's clock; 0 for a call that runs alone."""
    progress: str = ""
    """How far it is, as its tool says."""


@dataclass
class Cursor:
    """A position in a journal. The engine moves it forward, one entry at a time."""

    context: SessionContext
    head: str
    replay_queue: ReplayQueue = field(default_factory=ReplayQueue)
    """The recorded entries that are replayed next."""
    running: dict[str, RunningCall] = field(default_factory=dict)
    """The calls that run right now, by id; several where they run together."""
    reapproved: set[str] = field(default_factory=set)
    """Calls that somebody approved again here, after the same approval was consumed. Such a
    decision adds no entry, and holds until the call starts."""
    early_ends: dict[str, EarlyEnd] = field(default_factory=dict)
    """The calls that ran ahead of their turn and wait for it, by id."""
    latest_reply: str = ""
    """The entry of the last reply that the model gave here. Its calls are new."""
    repeats_reply: bool = False
    """Whether an equal reply was recorded here before. Its calls are new even with results."""
    turns_before: int = 0
    """The replies to the latest prompt that came before a person continued the run; they do not
    count for `max_turns`."""
    _arrived: int = 0
    """How many entries the journal had when the cursor came to its head."""
    _shown: dict[str, tuple[CallRecord, CallRecord]] = field(default_factory=dict)
    """The calls that programs read last, by id: the recorded call, and the one from `shown`."""
    _offered: tuple[int, Offer] | None = None
    _prepared: tuple[str, dict[str, tuple[CallRecord, PreparedCall, bool]]] = field(
        default_factory=lambda: ("", {})
    )
    """The calls that were prepared at an entry, by id."""

    def __post_init__(self) -> None:
        self._arrived = len(self.context.journal)

    # -- the state here -----------------------------------------------------------------------

    @property
    def state(self) -> State:
        return state_at(self.context.journal, self.head)

    def refresh(self) -> None:
        """Read the tools and the environment again."""
        self._prepared = "", {}
        self.context.secrets.refresh()
        self.context.toolbox.look_again()

    @property
    def offer(self) -> Offer:
        """What the model may call here."""
        return self.offer_in(self.state)

    def offer_in(self, state: State) -> Offer:
        """Return what the model may call in this cursor's state, which the caller has already."""
        if self._offered is None or self._offered[0] != state.settled:
            self._offered = state.settled, self.context.scheme.offer(state, self.context.toolbox)
        return self._offered[1]

    @property
    def next_step(self) -> Step:
        """What the session waits for."""
        return self.next_step_in(self.state)

    def next_step_in(self, state: State) -> Step:
        """Return what the session waits for in a state."""
        return next_step(state, lambda: self._reminder(state), self._ends_run)

    def _reminder(self, state: State) -> str:
        offer = self.offer_in(state)
        return offer.reminder if state.reminded < offer.reminders else ""

    def _ends_run(self, call: CallRecord) -> bool:
        """Return whether the run is over after a call: its tool says so, and has a result."""
        tool = self.context.toolbox.get(call.tool)
        return bool(tool and tool.ends_run) and call.status in ("succeeded", "answered")

    @property
    def turn_limit_reached(self) -> bool:
        """Whether the model has replied `max_turns` times since a person last continued the run."""
        limit = self.context.max_turns
        return limit is not None and self.state.turns_since >= limit + self.turns_before

    def allow_more_turns(self) -> None:
        """Let the model reply `max_turns` times again, counted from here."""
        self.turns_before = self.state.turns_since

    @property
    def holding_hook(self) -> SessionHooks | None:
        """The hook that holds the model's next reply; None where none does."""
        return next((hook for hook in self.context.hooks if hook.holds_reply(self)), None)

    @property
    def request(self) -> Request:
        """The request of the next turn."""
        return self.request_in(self.state)

    def request_in(self, state: State) -> Request:
        """Return the request of the next turn in a state."""
        conversation = self.context.journal.fold(self.head, self.context.fold_conversation, NOTHING)
        return compose_request(state, conversation, self.offer_in(state))

    # -- new entries ----------------------------------------------------------------------

    def write(
        self, event: Event, *, verified: bool = True, may_wait: bool = False, **meta: object
    ) -> Entry:
        """Append an event, and move to its entry. Raises what the journal raises."""
        if isinstance(event, Finished | Decided) and ended_call(event):
            event = with_names(event, self.state, self.recorded_states())
        journal, meta = self.context.journal, {**meta, **self.replay_queue.meta_after(self.head)}
        with journal.lock:
            entry = journal.append(self.head, event, meta, verified, may_wait, self.move)
            # Read now: later, the states of old entries would have to be computed again.
            CallIndex.of(journal)
        return entry

    def recorded_state(self) -> State | None:
        """Return the state at the end of the branch that is replayed; None where none is."""
        recorded = self.replay_queue.recorded_head
        return state_at(self.context.journal, recorded) if recorded else None

    def recorded_states(self) -> tuple[State, ...]:
        """Return the states at the ends of all branches that are replayed, in their order."""
        heads = self.replay_queue.recorded_heads
        return tuple(state_at(self.context.journal, head) for head in heads)

    def move(self, entry: Entry) -> None:
        """Continue from an entry."""
        self.head, self._arrived = entry.id, len(self.context.journal)

    def stand_at(self, other: Cursor) -> None:
        """Continue where another cursor stands. Nothing holds there that held only here."""
        vars(self).update(vars(other))

    def decide(self, event: Decided, by: str, **meta: Any) -> None:
        """Record a decision on a call. It holds here even if it repeats an earlier one.

        Raises NotYourTurn where another session of this journal has run the call by the same
        decision since this cursor came to its head: the person here has not seen that.
        """
        if event.decision == "edit" and (defaults := self._unchanged_defaults(event)):
            meta[DEFAULTS] = defaults
        meta |= {"who": self.context.person_rules.person} if by == "person" else {}
        head, count = self.head, self._arrived
        self.write(event, at=self.context.clock(), by=by, **meta)
        if event.inputs:
            # No replay could compute them again.
            self.context.values.save(ref.digest for ref in event.inputs)
        if not self.context.call_index.is_unused(self.state.calls[event.call_id]):
            later = (entry.event for entry in self.context.journal.entries_after(count))
            if any(isinstance(e, Started) and e.call_id == event.call_id for e in later):
                self.head = head
                raise NotYourTurn(
                    f"call {event.call_id} was decided on meanwhile in another session of this "
                    "journal, and ran: check out its branch, branches[-1], to continue from there"
                )
            self.reapproved.add(event.call_id)
        self.replay_queue.superseded.add(event.call_id)

    def _unchanged_defaults(self, event: Decided) -> list[str]:
        """Return the arguments of an edit that the model left out and the person did not change."""
        call = self.state.call(event.call_id)
        edited, unedited = event.arguments or {}, self.arguments_to_run(call)
        left_out = (name for name in unedited if name in edited and name not in call.proposed)
        return [name for name in left_out if is_same_json(edited[name], unedited[name])]

    # -- a call -----------------------------------------------------------------------------

    def tool_named(self, name: str) -> Tool | None:
        """Return a tool by name: one of the toolbox, or of the scheme."""
        return self._tool_and_owner(name, None)[0]

    def _tool_and_owner(self, name: str, state: State | None) -> tuple[Tool | None, bool]:
        """Return a tool by name, and whether it is the scheme's own. No name is both's."""
        tool = self.context.toolbox.get(name)
        if tool is not None:
            return tool, False
        offer = self.offer if state is None else self.offer_in(state)
        return next((tool for tool in offer.own if tool.name == name), None), True

    def prepared(self, call: CallRecord, state: State) -> tuple[PreparedCall, bool]:
        """Return a call that can run, and whether it is the scheme's own, which nobody decides on.

        Raises CallError, which says what is wrong with the call.
        """
        if self._prepared[0] != self.head:
            self._prepared = self.head, {}
        cached = self._prepared[1].get(call.id)
        if cached is None or cached[0] is not call:
            ready, of_scheme = self._prepare(call, state)
            if recorded := self.recorded_states():
                ready = replace(ready, recorded=recorded)
            cached = self._prepared[1][call.id] = (call, ready, of_scheme)
        return cached[1:]

    def runnable(self, call: CallRecord, state: State) -> PreparedCall | None:
        """Return a call that can run; None where it does not fit, or a value is missing."""
        try:
            return self.prepared(call, state)[0]
        except (CallError, Absent):
            return None

    def keep_prepared(self, entry: Entry, ready: PreparedCall, of_scheme: bool = False) -> Entry:
        """Keep a prepared call after an entry of the call, and return that entry."""
        call = self.state.calls[ready.call_id]
        self._prepared = entry.id, {call.id: (call, ready, of_scheme)}
        return entry

    def _prepare(self, call: CallRecord, state: State) -> tuple[PreparedCall, bool]:
        if call.asked_call.call.broken and call.decided is None:
            raise CallError(call.asked_call.call.broken)
        context, (tool, of_scheme) = self.context, self._tool_and_owner(call.tool, state)
        if tool is None:
            raise unknown_tool(call.tool, context.toolbox, self.offer_in(state))
        state = with_inputs(state, call.decided)
        if of_scheme and call.asked_call.by_client:
            tool, of_scheme = asked_by_client(tool), False
        secrets = None if of_scheme else context.secrets
        initial = context.toolbox.variables
        return prepare(
            call, tool, state, context.scheme, context.values, initial, secrets
        ), of_scheme

    def shown(self, call: CallRecord) -> CallRecord:
        """Return a call as programs see it: whether it runs right now, and with its origins."""
        recorded, shown = self._shown.get(call.id, (None, call))
        if recorded is call and not self.running:
            return shown
        context, head = self.context, self.head

        def origins() -> Mapping[str, ArgumentOrigin]:
            # The newest state is used if it has this call: one pass reads the origins of all calls.
            state = self.state
            if state.calls.get(call.id) is not call:
                state = state_at(context.journal, head)
            return context.origins(state, call, call.recorded_arguments).arguments

        shown = replace(call, running=call.id in self.running, origins=LazyDict(origins))
        if not self.running:
            self._shown[call.id] = call, shown
        return shown

    def arguments_to_run(self, call: CallRecord) -> Mapping[str, object]:
        """Return the arguments that an open call would run with, or else was asked for with."""
        ready = self.runnable(call, self.state)
        return call.asked if ready is None else ready.arguments

    def is_current(self, tool: Tool) -> bool:
        """Return whether the server of a tool still defines it as before.

        If not, the session takes the new definition, and a person decides on its calls. Raises
        CallError where the server does not answer.
        """
        now = tool.current() if tool.current is not None else None
        if now is None and not tool.changed:
            return True
        self.context.toolbox.renew(
            replace(now or tool, name=tool.name, changed=now.changed if now else "")
        )
        self._prepared, self._offered = ("", {}), None
        return now is None


@dataclass(frozen=True, slots=True)
class ExtensionRow:
    """Base class of what an extension shows of a session. `id` is the extension's name."""

    id: str

    def saved(self) -> ExtensionRow | None:
        """Return what a notebook keeps of this row; None for nothing."""
        return self

    def offered_tools(self) -> tuple[str, ...]:
        """Return the names of the tools for which the panel shows forms."""
        return ()

    def invitation(self) -> str:
        """Return a sentence on why to run the cell, for a session that has no calls yet."""
        return ""


class SessionHooks:
    """Base class of hooks: every method does nothing. Override the ones that you need.

    >>> class EveryReplyWaits(SessionHooks):
    ...     def holds_reply(self, cursor):
    ...         return True
    """

    held_status: str = t("Waiting")
    """The session's status while this hook holds the next reply."""

    def holds_reply(self, cursor: Cursor) -> bool:
        """Return whether the session pauses before the model's next reply.

        While this returns True, no reply is asked for or replayed.
        """
        return False

    def hides_branches(self) -> bool:
        """Return whether other branches are hidden: they may contain replies that this hook
        holds, now or later."""
        return False

    def view_row(self, cursor: Cursor) -> ExtensionRow | None:
        """Return what a view of the session shows of this hook; None for nothing."""
        return None

    def around_request(self, model: str) -> AbstractContextManager[Callable[[Reply | None], None]]:
        """Return a context that is open while the model replies.

        It yields a function that takes the reply. `model` is `provider:name`, or "".
        """
        return nullcontext(lambda result: None)

    def around_execution(
        self, call: PreparedCall
    ) -> AbstractContextManager[Callable[[Outcome], None]]:
        """Return a context that is open while a tool runs; it yields a function that takes the
        outcome."""
        return nullcontext(lambda result: None)

    def while_running(self) -> AbstractContextManager[object]:
        """Return a context that is open in the main thread while tools run, and the session does
        not change. Where several run together, it is opened again after each of them ends."""
        return nullcontext()


Clock = Callable[[], float]


@dataclass
class SessionContext:
    """What all branches of a session share."""

    journal: Journal
    toolbox: Toolbox
    scheme: Scheme
    values: SessionValues
    model: Model | None
    policy: Policy
    clock: Clock = time.time
    max_turns: int | None = None
    value_reprs: Shows = reprs
    """Returns the representations of a value, for its preview."""
    breaks: tuple[str, ...] = ()
    """Globs of tools whose calls always wait, whatever the policy and the person's rules say."""
    breakpoints: frozenset[str] = frozenset()
    """The tools whose calls always wait: a person's breakpoints."""
    current_inputs: Mapping[str, Made] = field(default_factory=dict)
    """The inputs with their current values; the journal may record older ones."""
    unreliable_reason: str = ""
    """Why the results in the journal cannot be relied on; "" where they can."""
    hooks: tuple[SessionHooks, ...] = ()
    """The hooks of optional features."""
    on_wait: Callable[[str], object] = lambda reason: None
    """Gets why and when a model is asked again, if the model has no `on_wait` of its own."""
    sharing: Sharing = field(default_factory=Sharing)
    """Which parts of a table a model is sent, in any text."""
    executor: Executor | None = None
    """Where the tools run that are marked for an executor; None: in the kernel."""
    jobs: int = 1
    """How many read-only calls of one reply run together."""
    fold_conversation: Callable[[SentConversation, Entry], SentConversation] = field(init=False)
    origin_reader: OriginReader = field(default_factory=OriginReader)
    budget: Budget | None = None
    """What the session may use before it pauses and asks."""
    person_rules: PersonRules = field(default_factory=PersonRules)
    """The rules that the person added while the session ran."""

    def __post_init__(self) -> None:
        self.fold_conversation = conversation_fold(self.journal, self.scheme, self.toolbox)

    @property
    def call_index(self) -> CallIndex:
        """The index of the journal's calls on all branches."""
        return CallIndex.of(self.journal)

    def origins(
        self, state: State, call: CallRecord, arguments: Mapping[str, object]
    ) -> CallOrigins:
        """Return where the arguments came from with which a call would run, or ran."""
        return self.origin_reader.origins(state, call, arguments, self.toolbox)

    @property
    def secrets(self) -> Secrets:
        """The secrets of the environment, hidden in everything that is stored, shown or sent.

        They are the journal's: another session of it may have read them anew.
        """
        return self.journal.secrets

    def content_text(self, value: object) -> str:
        """Return the text of a value's content for a model; of a table only what is shared."""
        return content_text(value, self.secrets.hide, lambda table: table_text(table, self.sharing))

    def executor_of(self, tool: Tool) -> Executor | None:
        """Return where a tool runs; None for the kernel's main thread."""
        return self.executor if tool.executor is True else tool.executor or None

    def set_breakpoint(self, tool: str, on: bool = True) -> None:
        """Set a breakpoint on a tool, or remove it. Raises UsageError for an unknown one."""
        if tool not in self.toolbox:
            hint = nearest(tool, self.toolbox.names)
            raise UsageError(f"there is no tool {tool!r:.60} here.{hint}")
        self.breakpoints = self.breakpoints | {tool} if on else self.breakpoints - {tool}
