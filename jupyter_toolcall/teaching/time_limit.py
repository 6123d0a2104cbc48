"""Ends a function at a time limit, whatever it does: it runs in a thread that can be given up."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import NoReturn, TypeVar

from ..core.interrupts import Hold, end_thread, interruptible

T = TypeVar("T")
AGAIN, SOON, GIVEN_UP = 0.2, 0.01, 1.0
"""Seconds: from one exception that ends code to the next, to the next look whether one can be
raised, and until the thread is given up."""


class OutOfTime(Exception):
    """The time limit is over."""


def with_time_limit(seconds: float, function: Callable[[], T]) -> T:
    """Return what a function returns, which runs in a thread of its own.

    Raises OutOfTime if it takes longer, KeyboardInterrupt if a person interrupts it, and what the
    function raises.
    """
    # A thread can be given up: no interrupt has to find its way out of foreign code in this one.
    ends: SimpleQueue[Callable[[], T]] = SimpleQueue()
    may_end = threading.Lock()

    def run() -> None:
        with contextlib.suppress(SystemExit):
            try:
                result = function()
                end = lambda: result  # noqa: E731
            except BaseException as error:
                end = partial(_raise, error)
            with may_end:
                ends.put(end)

    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
    end: Callable[[], T] | None = None
    # An interrupt anywhere but in the wait would leave the thread, or a lock of Python's own.
    with Hold():
        thread.start()
        try:
            with contextlib.suppress(Empty):
                end = interruptible(ends.get, True, seconds)
        finally:
            # The code may catch what is raised in it, and a call into C has to end first.
            last = monotonic() + GIVEN_UP
            while thread.is_alive() and monotonic() < last:
                with may_end:
                    has_ended = end is not None or not ends.empty()
                    is_raised = has_ended or end_thread(thread.ident or 0)
                thread.join(AGAIN if is_raised else SOON)
    if end is None:
        raise OutOfTime
    return end()


def _raise(error: BaseException) -> NoReturn:
    raise error
