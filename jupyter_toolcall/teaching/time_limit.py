"""A time limit for code of others, in the thread that runs it.

A second thread waits, and interrupts this one when the time is over: in the main thread as Ctrl-C
does (which also ends a `sleep`), in any other one with an exception between two instructions. It
interrupts again and again, since the code may catch what it raises, and ends with the call. What
no interrupt can reach is one call into C that never returns, such as `sum(itertools.count())`.
"""

from __future__ import annotations

import _thread
import ctypes
import signal
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
AGAIN = 0.1
"""Seconds between two interrupts."""


class OutOfTime(Exception):
    """The time limit is over."""


def with_time_limit(seconds: float, function: Callable[[], T]) -> T:
    """Return what a function returns.

    Raises OutOfTime where it takes longer, KeyboardInterrupt where a person interrupts it, and
    what the function raises.
    """
    late, ended = threading.Event(), threading.Event()
    thread = threading.get_ident()
    in_main = threading.current_thread() is threading.main_thread()

    def watch() -> None:
        wait = seconds
        while not ended.wait(wait):
            late.set()
            _interrupt(thread, in_main)
            wait = AGAIN

    def on_signal(number: int, frame: object) -> None:
        if not (late.is_set() and ended.is_set()):
            raise KeyboardInterrupt

    watcher = threading.Thread(target=watch, daemon=True)
    before = signal.signal(signal.SIGINT, on_signal) if in_main else None
    try:
        watcher.start()
        try:
            result = function()
        finally:
            ended.set()
    except BaseException:
        # Whatever the function made of an interrupt: it was late.
        if not late.is_set():
            raise
    finally:
        ended.set()  # Once more: an interrupt may have come right before the line above.
        watcher.join()
        if in_main:
            signal.signal(signal.SIGINT, before)
        else:
            _raise_in(thread, None)
    if late.is_set():
        raise OutOfTime
    return result


def _interrupt(thread: int, in_main: bool) -> None:
    if not in_main:
        _raise_in(thread, KeyboardInterrupt)
    elif hasattr(signal, "pthread_kill"):
        signal.pthread_kill(thread, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Have a thread raise an exception at its next instruction; None takes that back."""
    wanted = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), wanted)
