"""Interrupts (SIGINT) that cannot part what is recorded from what is known.

Python raises KeyboardInterrupt between any two instructions of the main thread. While an
interrupt is held it is noted, and raised when the hold ends; within a hold, `interruptible`
lets it through to code that may take long: a model, a tool, a value's own methods.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Handler = Callable[[int, FrameType | None], Any]


class Hold:
    """Holds interrupts for as long as it is entered; a hold within a hold is the same one.

    Only the main thread gets signals, so in any other one it does nothing.
    """

    current: Hold | None = None

    def __init__(self) -> None:
        self.open = False
        """Whether an interrupt is let through."""
        self.noted = False
        self.raised = False
        """Whether an interrupt was let through: what code raises by itself is none."""
        self._handler: Handler | None = None

    def __enter__(self) -> Hold:
        if Hold.current is not None:
            return Hold.current
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            # A process that ignores the signal, or dies of it, goes on doing so.
            if callable(before):
                self._handler = before
                signal.signal(signal.SIGINT, self._handle)
                Hold.current = self
        return self

    def __exit__(self, *raised: object) -> None:
        if Hold.current is not self or self._handler is None:
            return
        Hold.current = None
        signal.signal(signal.SIGINT, self._handler)
        self.deliver()

    def deliver(self) -> None:
        """Raise the interrupt that came meanwhile, if one did."""
        if self.noted and self._handler is not None:
            self.noted = False
            self._handler(signal.SIGINT, None)

    def _handle(self, number: int, frame: FrameType | None) -> Any:
        # The second one gets out of what hangs while it should only be recorded.
        if not self.open and not self.noted:
            self.noted = True
            return None
        self.noted, self.raised = False, True
        assert self._handler is not None
        return self._handler(number, frame)


def interruptible(function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Return what a function returns, interrupted at once where an interrupt comes."""
    hold = Hold.current
    if hold is None or hold.open:
        return function(*args, **named)
    hold.deliver()
    # CPython looks for signals behind calls and at the beginning of functions and loops, so none
    # is seen between these assignments and the blocks that they stand at.
    hold.open = True
    try:
        return function(*args, **named)
    finally:
        hold.open = False


def attempt(function: Callable[P, T], *args: P.args, **named: P.kwargs) -> tuple[T | None, str]:
    """Call code that is not ours, such as a value's `__repr__`, whatever it raises.

    Returns its result and "", or None and the name of what it raised: SystemExit and
    KeyboardInterrupt too, unless that is a real interrupt.
    """
    with Hold() as hold:
        hold.raised = False
        try:
            return interruptible(function, *args, **named), ""
        except BaseException as error:
            if hold.raised:
                raise
            return None, type(error).__name__
