"""What a person sees of the session itself: one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .playing import YourTurn

Phase = Literal["ready", "thinking", "waiting", "running", "finished", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class SessionRow:
    """The session itself. There is one, with id `session`."""

    id: str = "session"
    name: str = ""
    phase: Phase = "ready"
    says: str = ""
    """The status in words: `Waiting for you`."""
    detail: str = ""
    """A second line, where there is one: an error and its remedy."""
    model: str = ""
    scheme: str = ""
    turn: int = 0
    tokens: int = 0
    """What the requests of the shown branch took, in and out; not those that it shares."""
    cost: str = ""
    """`$0.0123`; "" where it is not known."""
    pending: tuple[str, ...] = ()
    """The ids of the call rows that wait for a decision, first the one to decide now."""
    text: str = ""
    """What the model has said last; grows while it streams."""
    ran: int = 0
    remembered: int = 0
    stepping: bool = False
    stops: tuple[str, ...] = ()
    """The tools with a breakpoint: their calls wait in any case."""
    verified: bool = True
    """False: this record was not written on this machine."""
    yours: YourTurn | None = None
    """Set while it is the model's turn, and the person is the model."""
