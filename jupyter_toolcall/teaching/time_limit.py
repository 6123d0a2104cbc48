"""Ends a function at a time limit, whatever it does: it runs in a thread that can be given up."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from functools import partial
from time import monotonic
from typing import TypeVar

from ..core.interrupts import end_thread

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
    result: Future[T] = Future()
    may_end = threading.Lock()

    def run() -> None:
        with contextlib.suppress(SystemExit):
            try:
                end = partial(result.set_result, function())
            except BaseException as error:
                end = partial(result.set_exception, error)
            with may_end:
                end()

    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
    thread.start()
    try:
        is_in_time = bool(wait([result], seconds).done)
    finally:
        # The code may catch what is raised in it, and a call into C has to end first.
        last = monotonic() + GIVEN_UP
        while thread.is_alive() and monotonic() < last:
            with may_end:
                is_raised = result.done() or end_thread(thread.ident or 0)
            thread.join(AGAIN if is_raised else SOON)
    if not is_in_time:
        raise OutOfTime
    return result.result()
