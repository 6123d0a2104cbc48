"""A session that goes on while a person watches: one step at a time, and clicks between.

It knows no Jupyter: what it shows goes to `tell`, what the person wants comes into
`inbox`, from any thread. The model and the tools run where `drive` runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from ..acts import places, replying
from ..branches.repeated import as_before
from ..errors import ModelError, NotKept, Stopped, Unfinished
from ..events import Outcome
from ..loop import SessionHooks, advance
from ..models.person import Person
from ..rows.contract import Phase
from ..secrets import MissingSecret
from ..session import Session
from ..state.memory import Prepared
from ..state.steps import AskModel, AskPerson
from .hearing import Hearing
from .screen import SAYS

TICK = 0.04
"""Seconds between two looks: how soon a click or an interrupt is seen."""
AS_PERSON = "As the model you asked for this call. Now decide on it as the person."
NO_REPLY = "The model has no reply yet. Run asks it again."


@dataclass
class Drive(Hearing):
    """A session with somebody in front of it."""

    panel: str = ""
    """The id of the panel's model: what is saved is found by it after a reload."""
    keep: Callable[[], None] = lambda: None
    """Leaves what there is now where it is saved."""
    recorded: frozenset[str] = frozenset()
    """The entries that were there before, where a cell runs again."""

    async def resume(self) -> Session:
        """Carry out what came while nothing ran, and go on where that was asked for.

        Raises as `drive` does.
        """
        before = self.session.head, self.draft
        if self._obey_all():
            return await self.drive(wait=False)
        if (self.session.head, self.draft) != before:
            asks = self._asks()
            self.publish("finished") if asks == "done" else self.publish(*self._pause(asks))
        return self.session

    async def drive(self, wait: bool = True) -> Session:
        """Go on to the end of the run, or with `wait` false to the first pause.

        Raises Stopped where the person stops it, ModelError where the model can't answer,
        NotKept where what allows an effect can't be written down.
        """
        self.busy = True
        try:
            return await self._drive(wait)
        except (Stopped, KeyboardInterrupt, asyncio.CancelledError) as error:
            self.inbox.clear()
            self.publish("stopped", detail=_said(error))
            raise Stopped("interrupted; nothing is lost: %toolchat next goes on") from None
        except (ModelError, NotKept, Unfinished, MissingSecret) as error:
            self.publish("failed", detail=str(error))
            raise
        finally:
            self.busy = False

    def drive_now(self) -> Session:
        """Go on to the first pause, where nothing can be awaited. Raises as `drive` does."""
        going = self.drive(wait=False)
        try:
            # Without a person it gives way only to let clicks in, and there are none.
            while True:
                going.send(None)
        except StopIteration as end:
            session: Session = end.value
            return session

    async def _drive(self, wait: bool) -> Session:
        while True:
            await asyncio.sleep(0)
            self._obey_all()
            asks = self._asks() if self._held else self._step()
            if asks == "done":
                self.publish("finished", detail=self._came_to(), now=self._as_before())
                return self.session
            if asks and not wait:
                self.publish(*self._pause(asks))
                return self.session
            if asks:
                await self._wait(asks)

    def _came_to(self) -> str:
        """Say what a replay that is over came to; a second time nothing is said of it."""
        before, self._replayed = self._replayed, -1
        same = before == len(self.session.journal)
        return "Replayed: everything came out as it was recorded." if same else ""

    def _as_before(self) -> str:
        """Say how much is as it was recorded, once all of that is said again; then no more."""
        cursor = self.session.cursor
        if not self.recorded or cursor.script.next() is not None:
            return ""
        recorded, self.recorded = self.recorded, frozenset()
        return as_before(cursor.desk.journal.path(cursor.head), recorded)

    def _step(self) -> str:
        """Take a step; return what the person has to do, "" where it goes on."""
        with interrupts():
            if self._advanced():
                self._held = self.stepping
                return ""
        return self._asks()

    def _asks(self) -> str:
        """Return what the person has to do, "done" for nothing, "" where it just goes on.

        Raises Unfinished where nobody has to do anything, and still nothing goes on.
        """
        cursor = self.session.cursor
        if places.waiting(cursor):
            return "decide"
        if isinstance(cursor.due, AskPerson) and cursor.script.next() is None:
            return "done"
        if cursor.held_by is not None:
            return "guess"
        if self._held:
            return "go"
        if cursor.spent:
            turns = cursor.state.turns_since
            raise Unfinished(
                f"stopped after {turns} replies of the model; a larger --max-turns goes on"
            )
        return "reply" if replying.awaited(cursor) else "model"

    def _pause(self, asks: str) -> tuple[Phase, str, str, str]:
        """Return how it stands at a pause: the phase, in words, what else there is to say, and
        what of it is not to be saved."""
        return *self._stands(asks), self._as_before()

    def _stands(self, asks: str) -> tuple[Phase, str, str]:
        match asks:
            case "decide":
                return "waiting", SAYS["waiting"], AS_PERSON if self._plays else ""
            case "reply":
                return "waiting", replying.YOU, ""
            case "guess":
                return "waiting", replying.GUESS, ""
            case "model":
                return "waiting", "Waiting for the model", NO_REPLY
        return "ready", "Ready for the next step", ""

    @property
    def _plays(self) -> bool:
        """Whether the person is the model."""
        return isinstance(self.session.cursor.desk.model, Person)

    def _advanced(self) -> bool:
        """Take the next step, told first where it takes time; return whether there was one."""
        cursor = self.session.cursor
        if cursor.held_by is not None:
            return False
        if isinstance(cursor.due, AskModel) and not self._plays:
            self.publish("thinking")
        elif self.stepping:
            self.publish("running")
        desk = cursor.desk
        hooks = desk.hooks
        desk.hooks = (*hooks, PublishesExecution(self.publish))
        try:
            return advance(cursor) is not None
        finally:
            desk.hooks = hooks

    async def _wait(self, asks: str) -> None:
        self.publish(*self._pause(asks))
        while not self.inbox:
            await asyncio.sleep(TICK)
        if self._obey_all():
            self.publish("running")


@dataclass(frozen=True)
class PublishesExecution(SessionHooks):
    """Shows that a call runs, before its tool does."""

    publish: Callable[[Phase], None]

    def around_execution(self, call: Prepared) -> AbstractContextManager[Callable[[Outcome], None]]:
        self.publish("running")
        return super().around_execution(call)


def _said(error: BaseException) -> str:
    return str(error) or "Interrupted. Run goes on from here."


@contextlib.contextmanager
def interrupts() -> Iterator[None]:
    """Let Ctrl-C reach code that runs here, as it does in an ordinary cell.

    While a cell is awaited the kernel turns the signal into a cancellation, which a tool
    that does not await would never see.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        # An interrupt that comes right behind this call is raised here.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
    finally:
        signal.signal(signal.SIGINT, before)
