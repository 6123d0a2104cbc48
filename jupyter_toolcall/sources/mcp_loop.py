"""The event loop of all MCP connections, in a thread of its own, so that they survive cells."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import queue
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotDone
from typing import Any, TypeVar

from ..core.interrupts import Hold, interruptible
from ..tools.running_tool import cancel_with_call, report_progress

T = TypeVar("T")
TICK = 0.05
"""Seconds until an interrupt is noticed, and a notice printed, while a request is under way."""


class LoopThread:
    """An event loop, and the thread that runs it until the process ends."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, name="toolcall-mcp", daemon=True).start()

    def run(self, task: Coroutine[Any, Any, T], notices: queue.SimpleQueue[str]) -> T:
        """Return the result of a task, and print notices meanwhile; an interrupt cancels it."""
        # An interrupt between the start of the task and the `try` would leave the task running.
        with Hold():
            future = asyncio.run_coroutine_threadsafe(task, self.loop)
            cancel_with_call(future)
            try:
                return interruptible(_wait, future, notices)
            except KeyboardInterrupt:
                future.cancel()
                raise


def _wait(future: Future[T], notices: queue.SimpleQueue[str]) -> T:
    while True:
        try:
            return future.result(TICK)
        except NotDone:
            # It may be done just now, or it may have raised a TimeoutError itself.
            if future.done():
                return future.result()
        finally:
            with contextlib.suppress(queue.Empty):
                while True:
                    _show(notices.get_nowait())


def _show(notice: str) -> None:
    # A tool's output is shown after its call, and a person needs the link to sign in during it.
    report_progress(notice)
    print(notice)  # noqa: T201


@functools.cache
def loop_thread() -> LoopThread:
    """Return the loop of this process; it is started when it is first needed."""
    return LoopThread()


if hasattr(os, "register_at_fork"):
    # A forked child has no threads, and starts with a new loop.
    os.register_at_fork(after_in_child=loop_thread.cache_clear)
