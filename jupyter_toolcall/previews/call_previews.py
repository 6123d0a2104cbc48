"""Previews of waiting calls: one at a time, each in a thread that holds nothing of the session.

The thread gets a tool and private copies, and returns what the tool returns. All else, such as
reading the result or showing it, happens in the thread of the kernel's event loop, while the
session waits. A preview that is late is ended and abandoned. Nothing is recorded: where the person
approves exactly what was tried, the engine takes the result as one of a call that ran early.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from threading import Lock, Thread, Timer, get_ident
from typing import Any

from ..core.call_record import CallRecord
from ..core.errors import Absent, CallError, NotRun, ToolcallError
from ..core.interface_text import t
from ..core.interrupts import attempt, end_thread
from ..core.recorded_data import replace
from ..core.state import RunCall
from ..core.text import shortened_text
from ..engine.cursor import Cursor
from ..engine.decisions import edit_event, waiting_calls
from ..engine.execution import EarlyEnd, ToolExecution, milliseconds
from ..engine.permission import Ask, Refuse, has_approval, permission_of_policy
from ..engine.session_values import PreparedCall
from ..engine.turn import around_execution
from ..tools.captured_prints import context_of, stream_proxies
from ..tools.object_types import kind_of
from ..tools.running_tool import Cancellation, InputRequired, set_cancellation
from ..tools.tool_task import TaskEnd, ToolTask, run_task
from ..view.contract import Previewed
from .change_summary import with_change

SECONDS = 10.0
"""How long a preview may take."""
MEMORY = 100_000_000
"""Bytes that the objects of a call may have in all."""
AGAIN = 0.2
"""Seconds until it is tried again to end what imports a module."""
CALLS = 20
"""So many waiting calls have a preview."""
KEPT = 8
"""So many results are kept, those that were tried last."""


_Key = tuple[str, str]
"""A call by its id, and what it would run by its approval digest."""


@dataclass
class _Trial:
    """A call that is tried, or was."""

    notice: Previewed
    execution: ToolExecution
    cancellation: Cancellation = field(default_factory=Cancellation)
    end: TaskEnd | None = None
    ms: float = 0
    _thread: int = 0
    """The thread that runs it; 0 before and after."""
    _may_stop: Lock = field(default_factory=Lock)

    @property
    def key(self) -> _Key:
        return self.notice.call, self.notice.approval_digest

    def run(self, task: ToolTask, clock: Callable[[], float], then: Callable[[], object]) -> None:
        """Run the tool in this thread, and then a function; what it prints is kept with it."""
        self._thread = get_ident()
        try:
            began = clock()
            with stream_proxies():
                self.end = run_task(task)
            self.ms = milliseconds(began, clock())
        finally:
            # Nobody ends it any more: its number may soon be that of another thread.
            with self._may_stop:
                self._thread = 0
            # The loop may be closed: the process ends.
            with suppress(RuntimeError):
                then()

    def stop(self) -> None:
        """End what the thread runs. What it imports, and a call into C, end first; and code may
        catch what ends it."""
        self.cancellation.cancel()
        with self._may_stop:
            if self._thread and not end_thread(self._thread):
                timer = Timer(AGAIN, self.stop)
                timer.daemon = True
                timer.start()

    def before(self, kind: str | None) -> Any:
        """Return the value of the first object of a type that the call takes, None without one."""
        ready, state = self.execution.ready, self.execution.state
        first = sorted(ready.uses, key=lambda argument: argument != ready.tool.receiver)
        used = filter(None, (state.produced_object(ready.uses[argument]) for argument in first))
        ref = next((ref for ref in used if ref.kind == kind), None)
        return None if ref is None else self.execution.values.value(ref)


@dataclass(frozen=True, slots=True)
class Draft:
    """A call as a person is writing it in the form `Edit`."""

    call: str
    number: int
    """The number of the form's request: an answer to an older one is not shown."""
    arguments: Mapping[str, Any]
    """All that the call would run with."""


@dataclass
class CallPreviews:
    """The previews of one session, for the panels that show it."""

    send: Callable[[Previewed], None]
    """Sends a notice to every panel."""
    _cursor: Cursor | None = None
    """Where the session waits; None while it does not."""
    _draft: Draft | None = None
    _running: _Trial | None = None
    """What a thread runs, until it ends or is abandoned."""
    _ended: dict[_Key, _Trial] = field(default_factory=dict)
    """What was tried."""
    _notices: dict[_Key, Previewed] = field(default_factory=dict)
    """What was said of each call that waits."""

    def show(self, cursor: Cursor, show_all: bool = False) -> None:
        """Try the calls that wait and were not tried yet; with `show_all` show all previews again.

        Without a running event loop there is no page that could show one.
        """
        for notice in self._notices.values() if show_all else ():
            self._tell(notice)
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            self._cursor = cursor
            self._next()

    def try_draft(self, cursor: Cursor, draft: Draft) -> None:
        """Try a call as it is written in a form, before any other one."""
        self._cursor, self._draft = cursor, draft
        if self._running is not None:
            self._running.stop()
        self._next()

    def take(self, cursor: Cursor) -> None:
        """Hand the result of an approved call that runs next to the engine, where exactly that was
        tried. What still runs is abandoned: nobody waits for it any more.
        """
        step = cursor.next_step
        ready = cursor.runnable(step.call, cursor.state) if isinstance(step, RunCall) else None
        if ready is None or not has_approval(cursor, cursor.state.calls[ready.call_id], ready):
            return
        self._cursor = self._draft = None
        if self._running is not None:
            self._running.stop()
        trial = self._ended.pop((ready.call_id, ready.approval_digest), None)
        if trial is None or trial.end is None or _problem(cursor, ready) is not None:
            return
        outcome = attempt(trial.execution.outcome_of_end, trial.end)[0]
        if outcome is not None:
            # The hooks see a call as any other, such as a trace of it.
            with around_execution(cursor, ready) as note:
                note(outcome)
            early = EarlyEnd(trial.execution, outcome, False, trial.ms, by="preview")
            cursor.early_ends[ready.call_id] = early

    # -- one at a time ------------------------------------------------------------------------

    def _next(self) -> None:
        """Begin what is to be tried next, unless a thread still runs something."""
        cursor = self._cursor
        if cursor is None or self._running is not None:
            return
        if self._draft is not None:
            draft, self._draft = self._draft, None
            self._try_draft(cursor, draft)
        if self._running is None:
            self._try_waiting(cursor)

    def _try_draft(self, cursor: Cursor, draft: Draft) -> None:
        notice = Previewed(draft.call, number=draft.number)
        try:
            call = cursor.state.call(draft.call)
            tool = cursor.tool_named(call.tool)
            if tool is None or not tool.pure:
                return None
            edited = call.with_decision(edit_event(cursor, call, draft.arguments, ""), True)
            ready = cursor.prepared(edited, cursor.state)[0]
        except ToolcallError as error:
            return self.send(replace(notice, error=shortened_text(str(error), 300)))
        notice = replace(notice, approval_digest=ready.approval_digest)
        if trial := self._ended.get((call.id, ready.approval_digest)):
            return self._say(notice, trial)
        return self._begin(cursor, edited, ready, notice)

    def _try_waiting(self, cursor: Cursor) -> None:
        waiting = dict[_Key, tuple[CallRecord, PreparedCall]]()
        for call in waiting_calls(cursor)[:CALLS]:
            if (ready := cursor.runnable(call, cursor.state)) is not None:
                waiting[call.id, ready.approval_digest] = call, ready
        self._notices = {key: notice for key, notice in self._notices.items() if key in waiting}
        of_open = [item for item in self._ended.items() if item[1].notice.call in cursor.state.open]
        self._ended = dict(of_open[-KEPT:])
        for key, (call, ready) in waiting.items():
            if self._running is not None:
                return
            if key not in self._notices:
                self._notices[key] = notice = Previewed(*key)
                self._begin(cursor, call, ready, notice)

    def _begin(
        self, cursor: Cursor, call: CallRecord, ready: PreparedCall, notice: Previewed
    ) -> None:
        """Begin to try a call, where it may be tried."""
        problem = _problem(cursor, ready) if _may_be_tried(cursor, call, ready) else ""
        if problem is not None:
            self._tell(replace(notice, error=problem))
            return
        execution = ToolExecution(ready, cursor.state, cursor.context.values)
        try:
            task = execution.task()
        except (CallError, Absent, NotRun, KeyboardInterrupt):
            return
        loop = asyncio.get_running_loop()
        trial = self._running = _Trial(notice, execution)
        run_context = context_of(execution.printed)
        run_context.run(set_cancellation, trial.cancellation)
        late = loop.call_later(SECONDS, self._abandon, trial)
        then = partial(loop.call_soon_threadsafe, self._end, trial, late)
        arguments = replace(task, context=run_context), cursor.context.clock, then
        # A call that never ends does not keep the process from ending.
        Thread(target=trial.run, args=arguments, daemon=True).start()

    def _abandon(self, trial: _Trial) -> None:
        """Abandon what is late, whether it ends or not, and try the next one."""
        trial.stop()
        self._running = None
        self._tell(replace(trial.notice, error=t("No preview: it takes too long.")))
        self._next()

    def _end(self, trial: _Trial, late: asyncio.TimerHandle) -> None:
        """Show what came of a call that was tried, and try the next one."""
        late.cancel()
        if self._running is not trial:
            return
        self._running, end = None, trial.end
        if trial.cancellation.is_cancelled or end is None:
            if not self._notices.get(trial.key, trial.notice).error:
                # A draft took its turn.
                self._notices.pop(trial.key, None)
        elif end.error is None:
            self._ended[trial.key] = trial
            self._say(trial.notice, trial)
        elif not isinstance(end.error, InputRequired | KeyboardInterrupt):
            error = shortened_text(str(end.error), 300)
            self._tell(replace(trial.notice, error=t("Would fail: %1", error)))
        self._next()

    def _say(self, notice: Previewed, trial: _Trial) -> None:
        """Tell what a call would make."""
        assert trial.end is not None
        value, values = trial.end.result, trial.execution.values
        shows = self._cursor.context.value_reprs if self._cursor is not None else None
        if shows is None:
            return
        before = attempt(trial.before, kind_of(value, values.kinds))[0]
        shown_notice, raised = attempt(with_change, notice, before, value, shows)
        if shown_notice is not None and not raised:
            self._tell(shown_notice)

    def _tell(self, notice: Previewed) -> None:
        if not notice.number:
            self._notices[notice.call, notice.approval_digest] = notice
        if notice.number or notice.says or notice.error:
            self.send(notice)


def _may_be_tried(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> bool:
    """Return whether a call has a preview: its tool is pure, and runs here, and all of its
    arguments are trusted. What a policy or a rule refuses is not tried."""
    tool, context = ready.tool, cursor.context
    is_plain = not (tool.for_person or tool.instance or ready.missing or ready.resumption)
    if not (tool.pure and is_plain and context.executor_of(tool) is None):
        return False
    allowed = permission_of_policy(cursor, call, ready)
    if isinstance(allowed, Refuse) or (isinstance(allowed, Ask) and allowed.may_have_run):
        return False
    return not context.origins(cursor.state, call, ready.arguments).has_untrusted


def _problem(cursor: Cursor, ready: PreparedCall) -> str | None:
    """Return why the objects of a call cannot be tried: they are too large, are elsewhere, or are
    not as they were made."""
    values, room = cursor.context.values, MEMORY
    for ref in filter(None, map(cursor.state.produced_object, {*ready.uses.values()})):
        if ref.digest in values.altered or values.remote(ref):
            return t("No preview: an object is not as it was, or not in this kernel.")
        room -= _size(attempt(values.value, ref)[0], room)
        if room <= 0:
            return t("No preview: the objects are larger than %1 MB.", MEMORY // 1_000_000)
    return None


def _size(value: object, most: int) -> int:
    """Return the bytes of a value, and no more than `most`: those of its memory, or its pickle."""
    stated = (attempt(_stated_size, value, name)[0] for name in _SIZES)
    if any(size is not None and size >= most for size in stated):
        return most
    counter = _Counter(most)
    raised = attempt(pickle.Pickler(counter, 5, buffer_callback=counter.write).dump, value)[1]
    return most if raised == "MemoryError" else counter.bytes


_SIZES = ("nbytes", "estimated_size", "memory_usage")
"""What arrays and tables say of their memory, which a pickle of them would take once more."""


def _stated_size(value: object, name: str) -> int:
    size = getattr(value, name)
    size = size() if callable(size) else size
    return int(size.sum() if hasattr(size, "sum") else size)


class _Counter:
    """A file that counts what is written to it, and takes no more than `most` bytes."""

    def __init__(self, most: int) -> None:
        self.most, self.bytes = most, 0

    def write(self, data: Any) -> None:
        self.bytes += memoryview(data).nbytes
        if self.bytes >= self.most:
            raise MemoryError
