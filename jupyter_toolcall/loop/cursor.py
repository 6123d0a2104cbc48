"""A place that goes on from there: the next step is chosen, taken and written down.

A pause is the absence of an event: `advance` returns None where the next event has to
come from a person. A cursor that replays has a script, the recorded entries that it
says again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..interrupts import Hold
from ..journal.tree import Entry
from ..request import Reply, Request
from ..state.script import about, fits
from ..state.steps import step_of
from . import asking, calling
from .place import Place
from .saying_again import say_again
from .taking import take


@dataclass
class Cursor(Place):
    """A place in a journal that goes on from there."""

    def advance(self) -> Entry | None:
        """Take one step and return its last entry; None where a person has to be waited for.

        Raises ModelError, and KeyboardInterrupt once what it interrupted is written down.
        """
        with Hold():
            return self._advance() if self.held_by is None else None

    def _advance(self) -> Entry | None:
        state = self.state
        while (said := self.script.next(state.open)) is not None:
            call_id = about(said.event)
            if call_id in self.script.overtaken:
                # What was recorded behind a call may go by what it comes to now.
                return take(self, step_of(state.calls[call_id]), state)
            if said.parent == self.head or fits(said.event, state):
                return say_again(self, said, state)
            if not call_id:
                break
            self.script.at += 1
        return take(self, self.due, state)

    def hear(self, request: Request) -> Reply | None:
        """Return what the model says to a request, as it came; nothing is written."""
        return asking.hear(self, request)

    def record(self, reply: Reply, request: Request, **meta: Any) -> Entry:
        """Write down what was replied to the request of this turn."""
        return asking.record(self, reply, request, **meta)

    def perform(self, call_id: str) -> Entry | None:
        """Run an approved call now, whatever its turn."""
        with Hold():
            state = self.state
            return calling.perform(self, state.calls[call_id], state)
