"""Read-only calls of one reply that run together, at most `jobs` at a time.

They run ahead of their turn. The session records them in call order, by the same steps as calls
that run one after the other, so that the journal is the same. An early result waits in memory. If
the kernel ends before it is recorded, the call runs again, which is safe for a read-only call.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any

from ..core.call_record import CallRecord
from ..core.errors import Absent, CallError
from ..core.events import Outcome
from ..core.interrupts import interruptible
from ..core.journal_entries import Entry
from ..core.json_data import nested
from ..core.secrets import MissingSecret
from ..core.state import NAME, State
from ..schemes.scheme import completed
from ..tools.captured_prints import context_of, stream_proxies
from ..tools.executors import CallThreads, never_runs
from ..tools.invoke import TICK
from ..tools.running_tool import Cancellation, NotBegun, set_cancellation
from ..tools.tool_task import ToolTask
from .cursor import Cursor, RunningCall
from .execution import EarlyEnd, ToolExecution, milliseconds
from .executor_calls import end_of, submit
from .permission import Run, permission
from .session_values import PreparedCall
from .turn import around_execution, run_call, while_running

UPDATE = 1.0
"""Seconds after which the panel updates how long the calls have run."""
_THREADS = CallThreads()


# -- which calls ------------------------------------------------------------------------------


def _ahead_of_turn(cursor: Cursor, begun: Container[str]) -> Iterator[PreparedCall]:
    """Yield the open calls that may run before their turn and have not `begun`, in call order.

    These calls need no decision, change nothing, and do not depend on the results of the calls
    before them. The first other call ends the sequence: no call may overtake a call that writes.
    """
    state = cursor.state
    for call in (state.calls[call_id] for call_id in state.open):
        if call.id in begun:
            continue
        ready = _ready_to_run(cursor, call, state)
        is_first = call.id == state.open[0]
        if ready is None or not (is_first or _is_independent(cursor, call, ready, state)):
            return
        yield ready


def _ready_to_run(cursor: Cursor, call: CallRecord, state: State) -> PreparedCall | None:
    """Return a read-only call that may run now; None for any other."""
    if call.recorded_status not in ("proposed", "approved") or call.open_round is not None:
        return None
    try:
        call.demand_keys()
        ready, of_scheme = cursor.prepared(call, state)
    except (CallError, Absent, MissingSecret):
        return None
    tool = ready.tool
    # The call before may change the instance, or the session variables.
    depends = bool(tool.instance or tool.reads)
    if of_scheme or depends or not tool.read_only or tool.for_person or ready.missing is not None:
        return None
    if _has_shared_values(cursor, ready, state):
        return None
    return ready if isinstance(permission(cursor, call, ready), Run) else None


def _has_shared_values(cursor: Cursor, ready: PreparedCall, state: State) -> bool:
    """Return whether a call gets a value that cannot be copied, and that other calls share."""
    values = cursor.context.values
    objects = map(state.produced_object, ready.uses.values())
    return any(used is not None and used.digest in values.uncopied for used in objects)


def _is_independent(cursor: Cursor, call: CallRecord, ready: PreparedCall, state: State) -> bool:
    """Return whether a call does not depend on the results of the calls before it."""
    # A scheme fills in the newest or the current object, which these calls may make.
    if completed(cursor.context.scheme, call, ready.tool, state) != dict(call.asked):
        return False
    # A name that no object has yet may become the name of an object that they make.
    texts = (part for part in nested(call.asked) if isinstance(part, str))
    return all(text in state.objects for text in texts if NAME.fullmatch(text))


# -- running them -----------------------------------------------------------------------------


@dataclass
class _Run:
    """A call that runs ahead of its turn."""

    execution: ToolExecution
    began: float
    context: Context
    """The context of the call's hooks: spans of calls that run together do not nest."""
    note: Callable[[Outcome], None]
    close: Callable[[], object]
    """Closes the hooks."""
    task: ToolTask | None = None
    future: Future[Any] | None = None
    cancellation: Cancellation = field(default_factory=Cancellation)


def run_together(cursor: Cursor) -> Entry | None:
    """Run the first open calls together, where several may, and record them in call order.

    Returns the last entry; None where none was recorded: then the caller takes an ordinary step.
    Raises KeyboardInterrupt after all calls that had begun are recorded.
    """
    group, ends = _CallsTogether(cursor), cursor.early_ends
    cursor.early_ends = {call_id: ends[call_id] for call_id in cursor.state.open if call_id in ends}
    if not (cursor.early_ends or group.next_calls()):
        return None
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
    running: dict[str, _Run] = field(default_factory=dict)
    arrivals: SimpleQueue[str] = field(default_factory=SimpleQueue)
    """The ids of the calls that ended, in the order in which they did."""

    def run(self) -> Entry | None:
        """Run calls, and record each as soon as it has ended and all before it are recorded."""
        cursor, entry = self.cursor, None
        while open_calls := cursor.state.open:
            for ready in self.next_calls():
                self._start(ready)
            if open_calls[0] in cursor.early_ends:
                recorded = self._record(open_calls[0])
                if recorded is None:
                    break
                entry = recorded
            elif self.running:
                # Where the first call asks a person, the others end before the session pauses.
                self._take_arrival()
            else:
                break
        return entry

    def _record(self, call_id: str) -> Entry | None:
        """Record the run of a call by the ordinary step, which finds its end in memory."""
        state = self.cursor.state
        return run_call(self.cursor, state.calls[call_id], state)

    def next_calls(self) -> list[PreparedCall]:
        """Return the calls that begin now. A single call runs as an ordinary step instead."""
        begun = self.running.keys() | self.cursor.early_ends.keys()
        context = self.cursor.context
        left = context.budget.calls_left if context.budget is not None else context.jobs
        most = max(0, int(min(context.jobs - len(self.running), left)))
        calls = [*islice(_ahead_of_turn(self.cursor, begun), most)]
        return calls if begun or len(calls) > 1 else []

    def _start(self, ready: PreparedCall) -> None:
        cursor, context = self.cursor, self.cursor.context
        run = self.running[ready.call_id] = self._opened(ready)
        cursor.running[ready.call_id] = RunningCall(run.began)
        try:
            task_context = run.context.run(context_of, run.execution.printed)
            task_context.run(set_cancellation, run.cancellation)
            # The task keeps a copy of the context in which it is made.
            run.task = task_context.run(run.execution.task)
            run.future = submit(context.executor_of(ready.tool) or _THREADS, run.task)
        except BaseException as error:
            self._end_with_error(run, error)
        else:
            run.future.add_done_callback(lambda future: self.arrivals.put(ready.call_id))

    def _opened(self, ready: PreparedCall) -> _Run:
        """Return a run whose hooks are open."""
        context = self.cursor.context
        executor = context.executor_of(ready.tool)
        execution = ToolExecution(ready, self.cursor.state, context.values, executor)
        hooks_context, hooks = copy_context(), around_execution(self.cursor, ready)
        note = hooks_context.run(hooks.__enter__)
        close = lambda: hooks_context.run(hooks.__exit__, None, None, None)  # noqa: E731
        return _Run(execution, context.clock(), hooks_context, note, close)

    def _take_arrival(self) -> None:
        """Wait a while for a call to end, and keep its end. Raises KeyboardInterrupt."""
        with while_running(self.cursor):
            call_id = interruptible(self._wait)
        if call_id:
            self._end(self.running[call_id])

    def _wait(self) -> str:
        """Return the id of a call that has ended; "" after a while."""
        # On Windows a wait without a timeout cannot be interrupted.
        for _ in range(int(UPDATE / TICK)):
            try:
                return self.arrivals.get(timeout=TICK)
            except Empty:
                continue
        return ""

    # -- how they end ---------------------------------------------------------------------

    def _end(self, run: _Run) -> None:
        """Keep the end of a call that has ended. Raises KeyboardInterrupt if interrupted."""
        assert run.future is not None
        assert run.task is not None
        try:
            end = end_of(run.future, run.task)
            outcome = run.execution.outcome_of_end(end)
        except BaseException as error:
            return self._end_with_error(run, error)
        return self._keep(run, outcome, isinstance(end.error, KeyboardInterrupt))

    def _end_with_error(self, run: _Run, error: BaseException) -> None:
        interrupted = issubclass(type(error), KeyboardInterrupt)
        self._keep(run, run.execution.outcome_of_error(error), interrupted)

    def _keep(self, run: _Run, outcome: Outcome, interrupted: bool = False) -> None:
        """Keep the end of a call until its turn."""
        call_id = run.execution.ready.call_id
        ms = milliseconds(run.began, self.cursor.context.clock())
        del self.running[call_id], self.cursor.running[call_id]
        self.cursor.early_ends[call_id] = EarlyEnd(run.execution, outcome, interrupted, ms)
        run.context.run(run.note, outcome)
        run.close()
        if interrupted:
            raise KeyboardInterrupt

    def stop(self) -> None:
        """End all running calls and record them: a call that has not ended is interrupted.

        Any of them may run again later, since they are read-only.
        """
        for run in [*self.running.values()]:
            with suppress(KeyboardInterrupt):
                if run.future is not None and run.future.done():
                    self._end(run)
                else:
                    error = NotBegun() if self._cancel(run) else KeyboardInterrupt()
                    self._end_with_error(run, error)
        # A call that asks a person stays open, and the calls after it run again later.
        ends = self.cursor.early_ends
        while (open_calls := self.cursor.state.open) and open_calls[0] in ends:
            with suppress(KeyboardInterrupt):
                self._record(open_calls[0])
        ends.clear()

    def _cancel(self, run: _Run) -> bool:
        """Cancel a call; return whether it had not begun, so that it does not run."""
        run.cancellation.cancel()
        executor = self.cursor.context.executor_of(run.execution.ready.tool) or _THREADS
        future = run.future
        return future is None or (future.cancel() and never_runs(future, executor))

    def leave(self) -> None:
        """Cancel the calls that still run, after an error, and close their hooks."""
        for run in self.running.values():
            self._cancel(run)
            run.close()
        self.cursor.running.clear()
