"""A session that clients call: their calls wait in a queue, and run in the kernel's main loop.

A server receives calls in its own thread; sessions, models and tools belong to the kernel's main
thread. So a server only submits: in the main loop, this module records a call as a reply in the
model's place, and the session runs it as any other call, with the same policy, panel and journal.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from ..core.call_record import CallRecord
from ..core.digests import readable_json
from ..core.errors import CallError, NotYourTurn, ToolcallError, UsageError
from ..core.events import Interrupted
from ..core.recorded_data import JsonDict, JsonObject
from ..core.state_fold import state_at
from ..core.text import shortened_text
from ..engine.client_calls import client_must_wait, record_client_call
from ..engine.cursor import Cursor
from ..engine.decisions import waiting_calls
from ..engine.person_model import is_person_turn
from ..schemes.scheme import completed, result_data, result_text
from ..session.session import Session
from ..tools.plain_data import short_texts
from .panel_controller import TICK, PanelController, interrupts

QUICK, LOOK = 0.002, 0.1
"""Seconds between two looks at the calls, the first and the last: most calls end at once, and some
wait for the person for hours."""
LONGEST_RESULT = 50_000
"""Characters of a result of which a client receives the long texts whole."""
MOST_KEPT = 1_000
"""Calls of clients in memory."""
WAITS_FOR_PERSON = "waits for the person's decision"
WAITS_FOR_INPUT = "waits for the person's input, which the tool asks for"
T = TypeVar("T")

Stage = Literal["queued", "recorded", "withdrawn"]
"""Whether a client's call is in the queue, recorded in the session, or withdrawn before that."""


class SessionHost(Protocol):
    """What runs the served session."""

    def controller(self) -> PanelController:
        """Return what runs the session now. Raises UsageError where there is none."""

    def refresh(self) -> Session:
        """Return the session with the tools that the notebook has now. Raises DefinitionError."""

    def runs_cell(self) -> bool:
        """Return whether the kernel executes a cell."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call, or its state, as a client receives it."""

    call_id: str
    status: str
    """A call's status, or where it waits: "queued", "waiting", "withdrawn", "elsewhere"."""
    data: JsonObject = field(default_factory=dict)
    """The result or the error, as the session's own model would receive it."""
    note: str = ""
    """What the person decided, in a sentence."""
    objects: tuple[str, ...] = ()
    """The names of the objects in the result, and of those that the call changed."""

    @property
    def is_error(self) -> bool:
        return "error" in self.data

    def as_data(self) -> JsonDict:
        """Return all of it as JSON-ready data."""
        note = {"note": self.note} if self.note else {}
        return {"call_id": self.call_id, "status": self.status, **note, **self.data}


@dataclass(eq=False)
class ClientCall:
    """A client's call, from its arrival to its result."""

    tool: str
    arguments: JsonObject
    by: str
    id: str = field(default_factory=lambda: f"mcp_{secrets.token_hex(4)}")
    """Its id in the session too, by which its result is found in the journal."""
    is_given_up: bool = False
    """Whether its client does not wait for it any more."""
    stage: Stage = "queued"
    waits_for: str = ""
    """Why it has no result yet, as the client reads it."""
    result: Future[CallResult] = field(default_factory=Future)


@dataclass
class ServedSession:
    """The calls of clients in one session. `status_text`, and methods that end in `_soon`, may be
    called in any thread; all others run in the main loop."""

    host: SessionHost
    loop: asyncio.AbstractEventLoop
    calls: dict[str, ClientCall] = field(default_factory=dict)
    """The calls of all clients, by id."""
    _queue: list[ClientCall] = field(default_factory=list)
    _recorded: list[ClientCall] = field(default_factory=list)
    """The recorded calls whose results no client has received yet."""
    _worker: asyncio.Task[None] | None = None
    _pause: float = QUICK
    """Seconds to the next look at the calls."""

    # -- from any thread --------------------------------------------------------------------

    def submit_soon(self, call: ClientCall) -> None:
        """Put a call into the queue."""
        self.loop.call_soon_threadsafe(self._submit, call)

    def withdraw_soon(self, call: ClientCall) -> None:
        """Withdraw a call whose client gave up, if it is not recorded yet."""
        # A kernel that was blocked meanwhile gets the call and this at once.
        call.is_given_up = True
        self.loop.call_soon_threadsafe(self._withdraw, call)

    def read_soon(self, read: Callable[[Session], T]) -> Future[T]:
        """Return what a function reads of the session as it stands, once the loop gets to it."""
        answer: Future[T] = Future()

        def run() -> None:
            if answer.set_running_or_notify_cancel():
                try:
                    # A value's own code, or a server that is asked for it, may take for ever.
                    with interrupts():
                        value = read(self.host.refresh())
                    answer.set_result(value)
                except KeyboardInterrupt:
                    answer.set_exception(UsageError("the person interrupted this"))
                except ToolcallError as error:
                    error.args = self._hide(error.args)
                    answer.set_exception(error)
                except Exception as error:
                    # A value's own code may raise anything, and quote anything.
                    name = type(error).__name__
                    answer.set_exception(UsageError(f"it cannot be read: {name} was raised"))

        self.loop.call_soon_threadsafe(run)
        return answer

    def status_text(self, call: ClientCall) -> str:
        """Return why a call has no result yet, or the progress that its tool reports."""
        cursor = self.host.controller().session.cursor
        running = cursor.running.get(call.id)
        if running is not None and running.progress:
            return f"runs: {cursor.context.secrets.hide(running.progress)}"
        return call.waits_for or "waits for its turn"

    # -- in the main loop -------------------------------------------------------------------

    def _submit(self, call: ClientCall) -> None:
        self.calls[call.id] = call
        if len(self.calls) > MOST_KEPT:
            # The results of recorded calls are found in the session.
            ended = (old.id for old in self.calls.values() if old.result.done())
            self.calls.pop(next(ended, ""), None)
        self._queue.append(call)
        if call.is_given_up:
            self._withdraw(call)
        self._record_next()
        self._pause = QUICK
        if self._worker is None or self._worker.done():
            self._worker = self.loop.create_task(self._work())

    def _withdraw(self, call: ClientCall) -> None:
        if call.stage == "queued" and call in self._queue:
            self._queue.remove(call)
            call.stage = "withdrawn"
            text = "The client gave this call up while it waited for its turn; nothing of it ran."
            _set_result(call, CallResult(call.id, "withdrawn", {"error": text}))

    async def _work(self) -> None:
        """Record queued calls and return results, as long as there are any."""
        while self._queue or self._recorded:
            await asyncio.sleep(self._pause)
            self._pause = min(1.5 * self._pause, TICK if self._queue else LOOK)
            self._return_results()
            self._record_next()

    def _record_next(self) -> None:
        """Record the first call of the queue if the session is free, and let it run."""
        if not self._queue:
            return
        try:
            reason = self._must_wait()
            for call in self._queue:
                call.waits_for = f"waits for its turn: {reason}"
            if reason:
                return
            call = self._queue[0]
            self._record(call)
        except NotYourTurn:
            return
        except ToolcallError as error:
            call = self._queue.pop(0)
            _set_result(call, CallResult(call.id, "failed", {"error": self._hide(str(error))}))
            return
        self._queue.remove(call)
        self._recorded.append(call)
        call.stage, call.waits_for = "recorded", "runs"

    def _hide(self, data: object) -> Any:
        return self.host.controller().session.cursor.context.secrets.hide(data)

    def _must_wait(self) -> str:
        """Return what a client's call has to wait for; "" where it can be recorded now."""
        controller = self.host.controller()
        cursor = controller.session.cursor
        # A cell of a person who plays the model waits for a reply, which a client may give too.
        waits_for_reply = controller.busy and is_person_turn(cursor)
        if not waits_for_reply and (controller.busy or self.host.runs_cell()):
            return "a cell runs"
        return client_must_wait(cursor)

    def _record(self, call: ClientCall) -> None:
        controller = self.host.controller()
        controller.before_commands()
        if not controller.busy:
            controller.session = self.host.refresh()
        cursor = controller.session.cursor
        record_client_call(cursor, call.id, call.tool, call.arguments, call.by)
        # As a click on Run: it runs in the cell that waits, or else as a task of the main loop.
        controller.receive({"type": "step" if controller.stepping else "run"})

    def _return_results(self) -> None:
        """Give clients the results of their calls that have one now."""
        if not self._recorded:
            return
        session = self.host.controller().session
        waiting = {call.id for call in waiting_calls(session.cursor)}
        for call in list(self._recorded):
            record = session.state.calls.get(call.id)
            if record is None:
                call.waits_for = "waits on a branch that the person has left"
            elif record.outcome is not None:
                self._recorded.remove(call)
                _set_result(call, call_result(session, record))
            elif call.id in waiting:
                asks = record.waits_for_input
                call.waits_for = WAITS_FOR_INPUT if asks else WAITS_FOR_PERSON
            else:
                call.waits_for = "waits in the session"

    def result_now(self, session: Session, call_id: str) -> CallResult | None:
        """Return the result of a call as it stands, whoever asked for it; None where it has none
        yet and a client waits for it. Raises UsageError for an unknown id."""
        call = self.calls.get(call_id)
        record = session.state.calls.get(call_id)
        if record is not None and record.outcome is not None:
            return call_result(session, record)
        if call is not None:
            return call.result.result() if call.result.done() else None
        if record is None:
            raise UsageError(f"there is no call {call_id!r:.60} in this session")
        return CallResult(call_id, "waiting", {"waits_for": WAITS_FOR_PERSON})

    def close(self) -> None:
        """Withdraw all calls that are not recorded yet; what is recorded stays in the session."""
        for call in list(self._queue):
            self._withdraw(call)


def _set_result(call: ClientCall, result: CallResult) -> None:
    if not call.result.done():
        call.result.set_result(result)


# -- what a client receives ------------------------------------------------------------------------


def call_result(session: Session, record: CallRecord) -> CallResult:
    """Return the result of a call that has its outcome, with a note about the decision."""
    cursor = session.cursor
    data, _ = result_data(record)
    data.pop("note", None)
    note = _decision_note(cursor, record)
    if len(result_text(data)) > LONGEST_RESULT:
        data = short_texts(data)
    objects = (*dict.fromkeys((*record.objects, *record.changed.values())),)
    hide = cursor.context.secrets.hide
    return CallResult(record.id, record.status, hide(data), hide(note), objects)


def _decision_note(cursor: Cursor, record: CallRecord) -> str:
    """Return in a sentence how a decision differs from what the client asked; "" if it does not."""
    reason = f" Reason: {record.reason}" if record.reason else ""
    if record.status == "rejected":
        return f"{_who_decided(cursor, record)} rejected this call; the tool did not run.{reason}"
    if record.status == "answered":
        return f"The person gave this result; the tool did not run.{reason}"
    if record.outcome == Interrupted(ran=False):
        return "The person interrupted this call before it began: it did not run."
    if record.status == "interrupted":
        return "The person interrupted this call while it ran; what it had done is not known."
    if record.edited and (changes := _changes(cursor, record)):
        return f"The person changed {', '.join(changes)}.{reason}"
    return "The tool asked the person for input." if record.rounds else ""


def _who_decided(cursor: Cursor, record: CallRecord) -> str:
    meta = cursor.context.journal[record.decision_entry].meta if record.decision_entry else {}
    return "The policy" if meta.get("by") == "policy" else "The person"


def _changes(cursor: Cursor, record: CallRecord) -> list[str]:
    """Return what the person changed: the tool, and one text for each argument."""
    tool, asked = cursor.tool_named(record.tool), dict(record.proposed)
    if tool is not None:
        # Arguments that the scheme fills in are no change of the person's.
        then = state_at(cursor.context.journal, record.asked_call.entry)
        with suppress(CallError):
            asked = completed(cursor.context.scheme, CallRecord(record.asked_call), tool, then)
    now, asked_tool = dict(record.asked), record.asked_call.call.tool
    changes = [f"the tool from {asked_tool} to {record.tool}"] if record.tool != asked_tool else []
    changes += [
        f"{name} from {_value(asked[name])} to {_value(now[name])}"
        for name in asked
        if name in now and now[name] != asked[name]
    ]
    changes += [f"{name} to nothing (it was {_value(asked[name])})" for name in asked.keys() - now]
    return changes + [f"{name} to {_value(now[name])}" for name in now if name not in asked]


def _value(value: object) -> str:
    return shortened_text(readable_json(value), 200)
