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
from concurrent.futures import wait
from typing import Any

from ..errors import CallError

TICK = 0.05
"""Seconds: how soon an interrupt of the main thread is seen while an async tool runs."""
PATIENCE = 1.0
"""Seconds that a loop has to answer after an interrupt, before another one takes its place."""


def invoke(function: Callable[..., Any], first: tuple[Any, ...], values: Mapping[str, Any]) -> Any:
    """Return what a function returns, awaited where it is async; raises what it raises."""
    result = function(*first, **values)
    return _await(result) if inspect.isawaitable(result) else result


def _await(task: Awaitable[Any]) -> Any:
    worker = _Worker.ready()
    future = asyncio.run_coroutine_threadsafe(_settled(task), worker.loop)
    try:
        while not future.done():
            wait([future], TICK)
            if not worker.thread.is_alive() and not future.done():
                raise CallError("the tool closed the event loop that it ran on")
    except KeyboardInterrupt:
        worker.interrupted = True
        future.cancel()
        raise
    result, error = future.result()
    if error is not None:
        raise error
    return result


async def _settled(task: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Return what a task came to; what it raises must not end the loop's thread."""
    try:
        return await task, None
    except BaseException as error:
        return None, error


class _Worker:
    """An event loop and the thread that runs it."""

    current: _Worker | None = None

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.interrupted = False
        """Whether its last task was interrupted, and may hold the loop still."""
        self.thread = threading.Thread(target=self._run, name="toolcall-async", daemon=True)
        self.thread.start()

    @classmethod
    def ready(cls) -> _Worker:
        """Return the worker of this process; a new one where that no longer answers."""
        if cls.current is None or not cls.current._answers():
            cls.current = cls()
        return cls.current

    @classmethod
    def forget(cls) -> None:
        """Begin with a new worker: threads are not in a forked child."""
        cls.current = None

    def _run(self) -> None:
        """Run the loop until it is closed: a tool may stop it, and tasks may raise SystemExit."""
        while not self.loop.is_closed():
            with contextlib.suppress(BaseException):
                self.loop.run_forever()

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
