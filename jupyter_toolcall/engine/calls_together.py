"""Read-only calls of one reply that run together, at most `jobs` at a time.

Each is recorded as started before it runs, and its end is recorded when it arrives. What the model
reads, and how objects are numbered, goes by call order (`core/state_fold.py`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextvars import Context, copy_context
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import Any

from ..core.call_record import CallRecord
from ..core.errors import Absent, CallError
from ..core.events import Interrupted, Outcome
from ..core.interrupts import interruptible
from ..core.journal_entries import Entry
from ..core.secrets import MissingSecret
from ..core.state import NAME, State
from ..schemes.scheme import completed
from ..tools.captured_prints import set_prints, stream_proxies
from ..tools.executors import CallThreads, never_runs
from ..tools.invoke import TICK
from ..tools.running_tool import Cancellation, NotBegun, set_cancellation
from ..tools.tool_task import ToolTask
from .call_effects import call_effect
from .cursor import Cursor, RunningCall
from .execution import Execution, ToolExecution, milliseconds, stored_execution
from .executor_calls import end_of, submit
from .outdated import tool_code_note
from .session_values import PreparedCall
from .turn import around_execution, record_end, start_of, while_running

UPDATE = 1.0
"""Seconds after which the panel is shown again how long the calls have run."""
_THREADS = CallThreads()


@dataclass(frozen=True, slots=True)
class ReadyCall:
    """A call that may run beside others."""

    call: CallRecord
    ready: PreparedCall
    by_policy: bool
    """Whether the policy lets it run, and not a person."""


# -- which calls ------------------------------------------------------------------------------


def calls_to_run_together(cursor: Cursor, state: State) -> tuple[ReadyCall, ...]:
    """Return the open calls that run together now, in call order: two or more, or none.

    They are the first ones that nobody has to decide on, that change nothing, and that mean the
    same whatever the calls before them return. The first other call ends them, since no call is
    moved across one that writes.
    """
    together = list[ReadyCall]()
    for call in (state.calls[call_id] for call_id in state.open):
        member = _ready_to_run(cursor, call, state)
        if member is None or (together and not _is_independent(cursor, member, state)):
            break
        together.append(member)
    return tuple(together) if len(together) > 1 else ()


def _ready_to_run(cursor: Cursor, call: CallRecord, state: State) -> ReadyCall | None:
    """Return a read-only call that may run now; None for any other."""
    if call.recorded_status not in ("proposed", "approved") or call.open_round is not None:
        return None
    try:
        call.demand_keys()
        ready, of_scheme = cursor.prepared(call, state)
    except (CallError, Absent, MissingSecret):
        return None
    tool = ready.tool
    # The state of an instance, and session variables, are what the call before left.
    depends = bool(tool.instance or tool.reads)
    if of_scheme or depends or not tool.read_only or tool.for_person or ready.missing is not None:
        return None
    if _has_shared_values(cursor, ready, state):
        return None
    is_approved = cursor.allows(call, ready)
    if not is_approved and cursor.policy_answer(call, ready)[0] != "approve":
        return None
    return ReadyCall(call, ready, not is_approved)


def _has_shared_values(cursor: Cursor, ready: PreparedCall, state: State) -> bool:
    """Return whether a tool gets a value that cannot be copied, so that others get the same."""
    values = cursor.context.values
    made = map(state.produced_object, ready.uses.values())
    return any(used is not None and used.digest in values.uncopied for used in made)


def _is_independent(cursor: Cursor, member: ReadyCall, state: State) -> bool:
    """Return whether a call means the same whatever the calls before it return."""
    call, tool = member.call, member.ready.tool
    # A scheme fills in the newest object, or the current one, which they may make.
    if completed(cursor.context.scheme, call, tool, state) != dict(call.asked):
        return False
    # What is no name yet may be the name of an object that they make.
    return all(text in state.objects for text in _texts(call.asked) if NAME.fullmatch(text))


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in JSON data."""
    match value:
        case str():
            yield value
        case dict():
            for part in value.values():
                yield from _texts(part)
        case list() | tuple():
            for part in value:
                yield from _texts(part)


# -- running them -----------------------------------------------------------------------------


@dataclass
class _Run:
    """A call that runs beside others."""

    ready: PreparedCall
    execution: ToolExecution
    effect: str
    began: float
    context: Context
    """That of the call's hooks: spans of calls that run together do not nest."""
    note: Callable[[Outcome], None]
    close: Callable[[], object]
    """Closes the hooks."""
    task: ToolTask | None = None
    future: Future[Any] | None = None
    cancellation: Cancellation = field(default_factory=Cancellation)


def run_together(cursor: Cursor, calls: tuple[ReadyCall, ...]) -> Entry:
    """Run calls together, record each, and return the last entry.

    Raises KeyboardInterrupt once all that had begun is recorded.
    """
    group = _CallsTogether(cursor, deque(calls))
    with stream_proxies():
        try:
            return group.run()
        except KeyboardInterrupt:
            group.stop()
            raise
        finally:
            group.leave()


@dataclass
class _CallsTogether:
    cursor: Cursor
    waiting: deque[ReadyCall]
    running: dict[str, _Run] = field(default_factory=dict)
    arrivals: SimpleQueue[str] = field(default_factory=SimpleQueue)
    """The ids of the calls that ended, in the order in which they did."""

    def run(self) -> Entry:
        entry = self.cursor.context.journal[self.cursor.head]
        while self.waiting or self.running:
            while self.waiting and len(self.running) < self.cursor.context.jobs:
                self._start(self.waiting.popleft())
            if self.running and (call_id := self._next_arrival()):
                entry = self._record(self.running[call_id])
        return entry

    def _start(self, member: ReadyCall) -> None:
        """Record that a call starts, and let it run."""
        cursor, context = self.cursor, self.cursor.context
        ready, state = member.ready, cursor.state
        cursor.reapproved.discard(ready.call_id)
        follows = bool(self.running)
        event = start_of(member.call, ready, member.by_policy, follows)
        cursor.write(event, **tool_code_note(ready.tool, state, context.journal))
        run = self.running[ready.call_id] = self._opened(ready, state, follows)
        cursor.running[ready.call_id] = RunningCall(run.began)
        try:
            run.task = run.context.run(run.execution.task)
            run.task = replace(run.task, context=run.context.copy())
            run.future = submit(context.executor_of(ready.tool) or _THREADS, run.task)
        except BaseException as error:
            self._record_error(run, error)
        else:
            run.future.add_done_callback(lambda future: self.arrivals.put(ready.call_id))

    def _opened(self, ready: PreparedCall, state: State, follows: bool) -> _Run:
        """Return a run whose hooks are open."""
        context = self.cursor.context
        effect = call_effect(ready, state, context.values, context.model)
        executor = context.executor_of(ready.tool)
        execution = ToolExecution(ready, state, context.values, follows, executor)
        own, hooks = copy_context(), around_execution(self.cursor, ready)
        note = own.run(hooks.__enter__)
        run = _Run(
            *(ready, execution, effect, context.clock(), own, note),
            lambda: own.run(hooks.__exit__, None, None, None),
        )
        own.run(set_prints, execution.printed)
        own.run(set_cancellation, run.cancellation)
        return run

    def _next_arrival(self) -> str:
        """Wait for a call to end, and return its id; "" after a while."""
        with while_running(self.cursor):
            return interruptible(self._wait)

    def _wait(self) -> str:
        # On Windows a wait without a timeout cannot be interrupted.
        for _ in range(int(UPDATE / TICK)):
            try:
                return self.arrivals.get(timeout=TICK)
            except Empty:
                continue
        return ""

    # -- how they end ---------------------------------------------------------------------

    def _record(self, run: _Run) -> Entry:
        """Record the end of a call that has ended. Raises KeyboardInterrupt if interrupted."""
        assert run.future is not None
        assert run.task is not None
        interrupted = False
        try:
            end = end_of(run.future, run.task)
            interrupted = isinstance(end.error, KeyboardInterrupt)
            outcome = run.execution.outcome_of_end(end)
        except BaseException as error:
            return self._record_error(run, error)
        return self._record_outcome(run, outcome, interrupted)

    def _record_error(self, run: _Run, error: BaseException) -> Entry:
        interrupted = issubclass(type(error), KeyboardInterrupt)
        return self._record_outcome(run, run.execution.outcome_of_error(error), interrupted)

    def _record_outcome(self, run: _Run, outcome: Outcome, interrupted: bool = False) -> Entry:
        context, ready = self.cursor.context, run.ready
        took = milliseconds(run.began, context.clock())
        try:
            ended = run.execution.ended(outcome, interrupted)
            state = run.execution.state
            ran = stored_execution(ready, state, context.values, ended, took)
            run.context.run(run.note, ran.outcome)
            run.close()
        except KeyboardInterrupt:
            # A second one came while the end of the tool was read.
            ran = Execution(Interrupted(), {}, True)
        del self.running[ready.call_id], self.cursor.running[ready.call_id]
        entry = record_end(self.cursor, ready, ran, run.effect)
        if ran.interrupted:
            raise KeyboardInterrupt
        return entry

    def stop(self) -> None:
        """Record the end of all calls that run: what has not ended is interrupted.

        Nothing of them must not run twice, since they are read-only.
        """
        for run in [*self.running.values()]:
            try:
                if run.future is not None and run.future.done():
                    self._record(run)
                    continue
                error = NotBegun() if self._cancel(run) else KeyboardInterrupt()
                self._record_outcome(run, run.execution.outcome_of_error(error))
            except KeyboardInterrupt:
                continue

    def _cancel(self, run: _Run) -> bool:
        """Cancel a call; return whether it had not begun, so that it does not run."""
        run.cancellation.cancel()
        executor = self.cursor.context.executor_of(run.ready.tool) or _THREADS
        future = run.future
        return future is None or (future.cancel() and never_runs(future, executor))

    def leave(self) -> None:
        """Cancel what still runs where an entry could not be written."""
        for run in self.running.values():
            self._cancel(run)
        self.cursor.running.clear()
