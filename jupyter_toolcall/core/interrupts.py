"""Holds interrupts (SIGINT), so that the journal and the memory of a session always agree.

Python raises KeyboardInterrupt between any two instructions of the main thread. A hold notes an
interrupt, and raises it when the hold ends. Within a hold, `interruptible` lets interrupts through
to code that may take long: a model, a tool, a value's own methods.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, ClassVar, ParamSpec, TypeVar
from weakref import WeakKeyDictionary, WeakSet

P = ParamSpec("P")
T = TypeVar("T")
Handler = Callable[[int, FrameType | None], Any]
# The functions of `signal` try to name each handler that they return, which takes 10 µs.
_signal = importlib.import_module("_signal")
_main = threading.main_thread().ident
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: globals().update(_main=threading.get_ident()))
_IMPORTS = "<frozen importlib._bootstrap>"
_CALLBACKS = {cls.__init__.__code__.co_filename for cls in (WeakSet, WeakKeyDictionary)}
"""The files with the callbacks of weak references."""
LONG = 1.0
"""Seconds: recording never takes so long."""


class Hold:
    """A context that holds interrupts; at its end it passes them on to the hold around it.

    If an interrupt has waited for LONG, the code in the hold hangs, and the next interrupt is
    raised. A `firm` hold raises none at all: its work must be done completely or not at all. Only
    the main thread gets signals, so in any other thread a hold does nothing.
    """

    __slots__ = ("_handler", "_outer", "firm", "noted", "open", "raised")
    innermost: ClassVar[Hold | None] = None
    """The hold that the main thread is in."""

    def __init__(self, *, firm: bool = False) -> None:
        self.firm = firm
        self.open = False
        """Whether an interrupt is let through."""
        self.noted = 0.0
        """When the interrupt came that waits; 0 where none waits."""
        self.raised = False
        """Whether an interrupt was raised here. A KeyboardInterrupt that code raises by itself is
        none."""
        self._handler: Handler | None = None
        """The handler of the process, as it was before the outermost hold."""
        self._outer: Hold | None = None

    def __enter__(self) -> Hold:
        if threading.get_ident() != _main:
            return self
        outer = Hold.innermost
        if outer is None:
            before = _signal.getsignal(signal.SIGINT)
            left_behind = getattr(before, "__self__", None)
            if isinstance(left_behind, Hold):
                before = left_behind._handler
            # A process that ignores the signal, or dies of it, keeps doing so.
            if callable(before):
                self._handler = before
                _signal.signal(signal.SIGINT, self._handle)
                Hold.innermost = self
            return self
        self._handler, self._outer = outer._handler, outer
        Hold.innermost = self
        self.firm = self.firm or (outer.firm and not outer.open)
        self.noted, outer.noted = outer.noted, 0.0
        return self

    def __exit__(self, *raised: object) -> None:
        if self._handler is None:
            return
        outer = self._outer
        Hold.innermost = outer
        if outer is None:
            _signal.signal(signal.SIGINT, self._handler)
            self.deliver()
            return
        outer.raised = outer.raised or self.raised
        outer.noted = outer.noted or self.noted
        if outer.open and outer.noted:
            outer.deliver()

    def deliver(self) -> None:
        """Raise the interrupt that came meanwhile, if one did."""
        if self.noted and self._handler is not None:
            self.noted, self.raised = 0.0, True
            self._handler(signal.SIGINT, None)

    def _handle(self, number: int, frame: FrameType | None) -> object:
        # It is the outermost hold's method that is installed, for all holds within.
        if Hold.innermost is None and not _begins_or_ends(frame):
            # Its hold has ended, but a full stack kept it from restoring the process's handler.
            return self._handler(number, frame) if self._handler is not None else None
        hold = Hold.innermost or self
        hangs = hold.noted and time.monotonic() - hold.noted > LONG and not hold.firm
        if not (hold.open or hangs) or _begins_or_ends(frame):
            hold.noted = hold.noted or time.monotonic()
            return None
        hold.noted, hold.raised = 0.0, True
        assert hold._handler is not None
        return hold._handler(number, frame)


def _begins_or_ends(frame: FrameType | None) -> bool:
    """Return whether a frame enters or leaves a hold: an interrupt there would leave it open."""
    # Between such a frame and this one are at most what it calls, and the handlers of two other
    # signals, each of which may send this one.
    for _ in range(8):
        if frame is None or frame.f_code in (Hold.__enter__.__code__, Hold.__exit__.__code__):
            return frame is not None
        frame = frame.f_back
    return False


def interruptible(function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Call a function that an interrupt may stop at once, and return its result.

    A handler of SIGINT that the function installs is removed at its end.
    """
    hold = Hold.innermost
    if hold is None or hold.open or hold.firm or threading.get_ident() != _main:
        return function(*args, **named)
    hold.deliver()
    handler = _signal.getsignal(signal.SIGINT)
    # CPython checks for signals after calls and at the beginning of functions and loops, so no
    # interrupt comes between these assignments and the `try` and `finally` beside them.
    hold.open = True
    try:
        return function(*args, **named)
    finally:
        hold.open = False
        if _signal.getsignal(signal.SIGINT) != handler:
            _signal.signal(signal.SIGINT, handler)


def attempt(function: Callable[P, T], *args: P.args, **named: P.kwargs) -> tuple[T | None, str]:
    """Call code that is not ours, such as a value's `__repr__`, whatever it raises.

    Returns its result and "", or None and the name of what it raised: SystemExit and
    KeyboardInterrupt too, unless that is a real interrupt.
    """
    with Hold() as hold:
        try:
            return interruptible(function, *args, **named), ""
        except BaseException as error:
            if hold.raised:
                raise
            return None, class_name(type(error))


def end_thread(ident: int) -> bool:
    """Raise SystemExit in a thread, at its next instruction of Python.

    Not while it imports: of half a module, other modules would stay for the whole process. Not in
    the callback of a weak reference, from which no exception comes out. Returns whether it was
    raised.
    """
    # In this call CPython 3.11 holds a lock that each thread takes at its end. If garbage collected
    # in it waits for such a thread, all hangs: https://github.com/python/cpython/issues/106883
    collects = gc.isenabled()
    gc.disable()
    frame = sys._current_frames().get(ident)
    if collects:
        gc.enable()
    if frame is not None and frame.f_code.co_filename in _CALLBACKS:
        return False
    while frame is not None and frame.f_code.co_filename != _IMPORTS:
        frame = frame.f_back
    if frame is None:
        # `threading` says nothing of it, but it is part of CPython's API.
        end = ctypes.py_object(SystemExit)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), end)
    return frame is None


def class_name(cls: type) -> str:
    """Return the name of a class, whatever its metaclass has under `__name__`."""
    name: str = type.__dict__["__name__"].__get__(cls)
    return name
