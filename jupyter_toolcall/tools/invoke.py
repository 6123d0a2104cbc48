"""Calling a tool's function: a sync one here and now, an async one on one private loop.

The loop's thread is started when the first async tool runs. An interrupt reaches an
async tool as the cancellation of its task.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import GeneratorType
from typing import Any

from ..core.errors import CallError
from ..core.interrupts import Hold, interruptible

TICK = 0.05
"""Seconds: how soon an interrupt of the main thread is seen while an async tool runs."""
PATIENCE = 1.0
"""Seconds that a loop has to answer after an interrupt, before another one takes its place."""


def invoke(function: Callable[..., Any], first: tuple[Any, ...], values: Mapping[str, Any]) -> Any:
    """Return what a function returns, awaited where it is async; raises what it raises."""
    result = function(*first, **values)
    return _await(result) if _is_awaitable(result) else result


def _is_awaitable(result: Any) -> bool:
    """Return whether a result is awaited; nothing is asked of it but its type."""
    cls = type(result)
    return issubclass(cls, Awaitable) or (cls is GeneratorType and inspect.isawaitable(result))


@dataclass
class _End:
    """What a task came to. It is told here, since a task that cancels itself loses its result."""

    known: threading.Event = field(default_factory=threading.Event)
    result: Any = None
    error: BaseException | None = None


def _await(task: Awaitable[Any]) -> Any:
    worker, end = _Worker.ready(), _End()
    # An interrupt finds no task that has begun and that nobody would cancel.
    with Hold():
        future = asyncio.run_coroutine_threadsafe(_settle(task, end), worker.loop)
        try:
            interruptible(_wait, end, future, worker)
        except KeyboardInterrupt:
            worker.interrupted = True
            future.cancel()
            raise
    if end.error is not None:
        raise end.error
    return end.result


def _wait(end: _End, future: Future[None], worker: _Worker) -> None:
    """Return when a task has ended. Raises CallError where it never will."""
    while not end.known.wait(TICK):
        lost = future.done() or not worker.thread.is_alive()
        if lost and not end.known.is_set():
            raise CallError("the tool's task or event loop was closed before the tool returned")


async def _settle(task: Awaitable[Any], end: _End) -> None:
    """Tell what a task came to; what it raises must not end the loop's thread."""
    try:
        end.result = await task
    except BaseException as error:
        end.error = error
    finally:
        end.known.set()


class _Worker:
    """An event loop and the thread that runs it."""

    current: _Worker | None = None

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.retired = False
        self.interrupted = False
        """Whether its last task was interrupted, and may hold the loop still."""
        self.thread = threading.Thread(target=self._run, name="toolcall-async", daemon=True)
        self.thread.start()

    @classmethod
    def ready(cls) -> _Worker:
        """Return the worker of this process; a new one where that no longer answers."""
        if cls.current is None or not cls.current._answers():
            before, cls.current = cls.current, cls()
            if before is not None:
                before._retire()
        return cls.current

    @classmethod
    def forget(cls) -> None:
        """Begin with a new worker: threads are not in a forked child."""
        cls.current = None

    def _run(self) -> None:
        """Run the loop until it is closed: a tool may stop it, and tasks may raise SystemExit."""
        while not (self.retired or self.loop.is_closed()):
            try:
                self.loop.run_forever()
            # A task's own, which asyncio raises out of the loop; the loop is whole.
            except (SystemExit, KeyboardInterrupt):
                continue
            # The loop cannot run any more.
            except BaseException:
                break
        self.loop.close()

    def _retire(self) -> None:
        """End the loop once it answers and its tasks have ended: another one takes its place."""
        # It may be closed already.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(lambda: self.loop.create_task(self._leave()))

    async def _leave(self) -> None:
        # Tools of other threads may run here too.
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others)
        self.retired = True
        self.loop.stop()

    def _answers(self) -> bool:
        if not self.thread.is_alive() or self.loop.is_closed():
            return False
        if not self.interrupted:
            return True
        answered = threading.Event()
        self.loop.call_soon_threadsafe(answered.set)
        self.interrupted = not answered.wait(PATIENCE)
        return not self.interrupted


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Worker.forget)
