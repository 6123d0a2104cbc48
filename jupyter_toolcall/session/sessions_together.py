"""Several sessions in one kernel: their requests to models overlap in threads. Everything else
runs in the calling thread, one step after the other.

Tools may print, plot, and use data of one thread, so no two of them run at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ..core.interrupts import Hold, interruptible
from ..core.state import AskModel
from ..engine.cursor import Cursor
from ..engine.replay import advance
from ..engine.turn import record_reply, timed_reply
from ..schemes.messages import Request
from ..tools.invoke import TICK
from .session import Session

Task = TypeVar("Task")


@dataclass
class _OpenSession(Generic[Task]):
    """A session that is under way, and the request that it waits for."""

    task: Task
    context: AbstractContextManager[Session]
    session: Session
    request: Request | None = None


@dataclass
class SessionsTogether(Generic[Task]):
    """Runs sessions to their next pause, at most `jobs` at a time.

    Args:
        open_session: opens the session of a task, with its prompt recorded.
        on_end: gets each task with its session, None where that was not opened, and what was
            raised: None where the session paused or ended, KeyboardInterrupt where it was stopped.
        jobs: how many requests to models are under way at once.
    """

    open_session: Callable[[Task], AbstractContextManager[Session]]
    on_end: Callable[[Task, Session | None, BaseException | None], None]
    jobs: int
    _requested: dict[Future[Any], _OpenSession[Task]] = field(default_factory=dict, init=False)
    """The sessions that wait for their model."""
    _threads: ThreadPoolExecutor = field(init=False)
    _hold: Hold = field(init=False)

    def run(self, tasks: Iterable[Task]) -> None:
        """Run all tasks. Raises KeyboardInterrupt after the open sessions are reported and closed.

        A reply that was received is recorded in any case; a reply that is awaited is not.
        """
        self._threads = ThreadPoolExecutor(self.jobs, thread_name_prefix="toolcall-request")
        try:
            # An interrupt must not come between a reply's arrival and its record.
            with Hold() as self._hold:
                try:
                    self._run(iter(tasks))
                except KeyboardInterrupt as error:
                    for future, opened in self._requested.items():
                        # One that cannot be recorded keeps no other from being closed.
                        with suppress(Exception):
                            self._stop(opened, future, error)
                    raise
        finally:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def _run(self, pending: Iterator[Task]) -> None:
        requested, has_tasks = self._requested, True
        while has_tasks or requested:
            while has_tasks and len(requested) < self.jobs:
                self._hold.deliver()
                try:
                    opened = self._opened(next(pending))
                except StopIteration:
                    has_tasks = False
                    break
                if opened is not None:
                    self._continue(opened)
            done = interruptible(wait, requested, TICK, FIRST_COMPLETED).done if requested else ()
            for future in done:
                self._continue(requested.pop(future), future)

    def _opened(self, task: Task) -> _OpenSession[Task] | None:
        context = self.open_session(task)
        try:
            return _OpenSession(task, context, context.__enter__())
        except BaseException as error:
            self.on_end(task, None, error)
            if isinstance(error, KeyboardInterrupt):
                raise
            return None

    def _continue(self, opened: _OpenSession[Task], reply: Future[object] | None = None) -> None:
        """Record a received reply, if any, and take steps to the next request or pause."""
        cursor = opened.session.cursor
        try:
            if reply is not None and not _record(cursor, opened, reply):
                opened.request = None
            else:
                opened.request = request_due(cursor, self._hold)
            if opened.request is not None:
                future = self._threads.submit(timed_reply, cursor, opened.request)
                self._requested[future] = opened
                return
        # A model or a tool may raise anything, such as asyncio.CancelledError: that ends this
        # session, and no other one.
        except BaseException as error:
            self._close(opened, error)
            if isinstance(error, KeyboardInterrupt):
                raise
            return
        self._close(opened, None)

    def _stop(
        self, opened: _OpenSession[Task], future: Future[object], error: KeyboardInterrupt
    ) -> None:
        try:
            if future.done() and not future.cancelled() and future.exception() is None:
                _record(opened.session.cursor, opened, future)
        finally:
            self._close(opened, error)

    def _close(self, opened: _OpenSession[Task], error: BaseException | None) -> None:
        try:
            self.on_end(opened.task, opened.session, error)
        finally:
            opened.context.__exit__(None, None, None)


def _record(cursor: Cursor, opened: _OpenSession[Any], future: Future[Any]) -> bool:
    """Record a reply; return whether there was one. Raises what the model raised."""
    reply, meta = future.result()
    if reply is None or opened.request is None:
        return False
    record_reply(cursor, reply, opened.request, meta)
    return True


def request_due(cursor: Cursor, hold: Hold) -> Request | None:
    """Take steps until the next request to the model, and return it; None for a pause."""
    while True:
        state = cursor.state
        is_new = (
            cursor.holding_hook is None
            and cursor.context.model is not None
            and cursor.replay_queue.next(state.open) is None
            and isinstance(cursor.next_step_in(state), AskModel)
        )
        if is_new:
            return None if cursor.turn_limit_reached else cursor.request_in(state)
        if advance(cursor) is None:
            return None
        hold.deliver()
