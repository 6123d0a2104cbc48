"""A time limit for code of others, in the thread that runs it.

A second thread waits, and interrupts this one when the time is over: in the main thread as Ctrl-C
does (which also ends a `sleep`), in any other one with an exception between two instructions. It
interrupts again and again, since the code may catch what it raises, and ends with the call. What
no interrupt can reach is one call into C that never returns, such as `sum(itertools.count())`.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import signal
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
AGAIN = 0.5
"""Seconds between two interrupts: enough for the code that ends a call to end it in between."""


class OutOfTime(Exception):
    """The time limit is over."""


def with_time_limit(seconds: float, function: Callable[[], T]) -> T:
    """Return what a function returns.

    Raises OutOfTime where it takes longer, KeyboardInterrupt where a person interrupts it, and
    what the function raises.
    """
    watcher = _Watcher(seconds)
    try:
        try:
            watcher.begin()
            try:
                result = function()
            finally:
                watcher.ended.set()
        finally:
            watcher.end()
    except BaseException:
        # Whatever the function made of an interrupt: it was late.
        if not watcher.late.is_set():
            raise
    if watcher.late.is_set():
        raise OutOfTime
    return result


class _Watcher(threading.Thread):
    """Interrupts the thread that made it when the time is over."""

    def __init__(self, seconds: float) -> None:
        super().__init__(daemon=True)
        self.seconds = seconds
        self.late, self.ended = threading.Event(), threading.Event()
        self.watched, self.watched_id = threading.current_thread(), threading.get_ident()
        self.in_main = self.watched is threading.main_thread()

    def begin(self) -> None:
        if self.in_main:
            self.before = signal.signal(signal.SIGINT, self._on_signal)
        self.start()

    def end(self) -> None:
        self.ended.set()  # Once more: an interrupt may have come right behind the function's end.
        if self.in_main:
            self.join()
            signal.signal(signal.SIGINT, self.before)
            return
        while self.is_alive():
            with contextlib.suppress(KeyboardInterrupt):
                self.join()
        # The last exception may still be pending: it is raised in this loop, not in what follows.
        # (To take it back with NULL would leave Python 3.11 checking for it for ever.)
        with contextlib.suppress(KeyboardInterrupt):
            for _ in range(100):
                pass

    def run(self) -> None:
        wait = self.seconds
        while not self.ended.wait(wait) and self.watched.is_alive():
            self.late.set()
            wait = AGAIN
            if not self.in_main:
                _raise_in(self.watched_id, KeyboardInterrupt)
            elif hasattr(signal, "pthread_kill"):
                signal.pthread_kill(self.watched_id, signal.SIGINT)
            else:
                _thread.interrupt_main()

    def _on_signal(self, number: int, frame: object) -> None:
        # One that the watcher sent right before the end came too late.
        if not (self.late.is_set() and self.ended.is_set()):
            raise KeyboardInterrupt


def _raise_in(thread: int, error: type[BaseException]) -> None:
    """Have a thread raise an exception at its next instruction."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))
