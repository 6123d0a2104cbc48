"""What a session waits for: computed from its state, a closed union of steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..events import Asked, Replied
from .call import CallRecord
from .shape import State


@dataclass(frozen=True, slots=True)
class AskPerson:
    """It is the person's turn to say something."""


@dataclass(frozen=True, slots=True)
class AskModel:
    """It is the model's turn."""


@dataclass(frozen=True, slots=True)
class Remind:
    """The model stopped before it was through, and is told so once."""

    text: str


@dataclass(frozen=True, slots=True)
class RunCall:
    """A call waits for a decision, or was approved and has not run."""

    call: CallRecord


@dataclass(frozen=True, slots=True)
class Clarify:
    """A call started and never finished: only a person knows what came of it."""

    call: CallRecord


Step = AskPerson | AskModel | Remind | RunCall | Clarify


def step_of(call: CallRecord) -> Step:
    """Return what an open call waits for."""
    return Clarify(call) if call.status == "unknown" else RunCall(call)


def next_step(state: State, reminder: Callable[[], str]) -> Step:
    """Return what a session waits for; `reminder` tells what the model is told if it stops."""
    if state.open:
        return step_of(state.calls[state.open[0]])
    match state.last:
        case Asked():
            return AskModel()
        case Replied(calls=[_, *_]) if not state.done:
            return AskModel()
        case Replied(stop="paused"):
            return AskModel()
        case Replied(stop="end") if not (state.done or state.reminded) and (text := reminder()):
            return Remind(text)
    return AskPerson()
