"""How often the panels of a running session are sent updates."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..core.events import Outcome
from ..engine.cursor import SessionHooks
from ..engine.session_values import PreparedCall
from ..schemes.messages import Reply
from ..tools.running_tool import showing_progress

INTERVAL = 0.1
"""Seconds between two updates of a session whose steps follow each other fast: the drawing of the
graph may take a third of them."""
BURST = 5
"""Updates that are sent at once, however fast they follow each other."""


@dataclass
class UpdateRate:
    """Puts off the updates of a session whose steps follow each other faster than a person reads.

    The next update sends what was put off. Where a model or a tool takes long, a thread sends it:
    a tool that is no coroutine blocks the kernel's main thread and its event loop, and nobody
    knows before which call hangs, so without a thread the panel would not show that one. The
    thread publishes only inside `steady`, where the session does not change: commands wait in the
    inbox, tools get copies, and a value's own code (its previews) has run in the main thread.
    Leaving `steady` is not interrupted: interrupts are held but where a model or a tool runs.
    """

    publish: Callable[[], None]
    """Sends the panels how the session stands."""
    draw_previews: Callable[[], None] = lambda: None
    """Draws what the next update shows of values, whose own code may need the main thread."""
    interval: float = INTERVAL
    """Seconds between two updates; with 0 none is put off."""
    lock: Any = field(default_factory=threading.RLock)
    """Who sends something to the panels holds it."""
    puts_off: bool = False
    """Whether an update is put off."""
    _credit: float = BURST
    """How many updates can be sent now."""
    _counted: float = 0.0
    """When the credit was counted last."""
    is_steady: bool = False
    """Whether a thread may publish now."""
    _ended: threading.Event | None = None
    """Set to end the thread; None without one."""

    def is_due(self) -> bool:
        """Return whether an update is to be sent now; otherwise it is put off."""
        now = time.monotonic()
        if self.interval:
            self._credit = min(BURST, self._credit + (now - self._counted) / self.interval)
        self._counted = now
        self.puts_off = False
        if self.interval > 0 and self._credit < 1:
            self.put_off()
        else:
            self._credit -= 1
        return not self.puts_off

    def put_off(self) -> None:
        """Let an update be sent later: with the next one, or by the thread."""
        self.puts_off = True
        if self._ended is None:
            self._ended = threading.Event()
            # The kernel keeps in the context for which cell a message is.
            run, ended = contextvars.copy_context().run, self._ended
            threading.Thread(target=run, args=(self._send_late, ended), daemon=True).start()

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Allow the thread to publish: a model or a tool runs, and the session does not change."""
        if self.puts_off:
            self.draw_previews()
        self.is_steady = True
        try:
            yield
        finally:
            self.is_steady = False
            with self.lock:
                # What the thread sends just now is sent before the session changes.
                pass

    def end(self) -> None:
        """End the thread: nothing runs any more."""
        self.is_steady = False
        if self._ended is not None:
            self._ended.set()
            self._ended = None

    def _send_late(self, ended: threading.Event) -> None:
        while not ended.wait(self.interval):
            with self.lock:
                if self.is_steady and self.puts_off:
                    self.publish()


@dataclass(frozen=True)
class PublishesExecution(SessionHooks):
    """Publishes that calls run, before their tools do, and lets late updates be sent meanwhile."""

    publish_running: Callable[[], None]
    rate: UpdateRate
    show_progress: Callable[[str, str], None]

    @contextmanager
    def around_request(self, model: str) -> Iterator[Callable[[Reply | None], None]]:
        with self.rate.steady(), super().around_request(model) as note:
            yield note

    @contextmanager
    def around_execution(self, call: PreparedCall) -> Iterator[Callable[[Outcome], None]]:
        showing = showing_progress(partial(self.show_progress, call.call_id))
        with showing, super().around_execution(call) as note:
            yield note

    @contextmanager
    def while_running(self) -> Iterator[None]:
        self.publish_running()
        with self.rate.steady():
            yield
