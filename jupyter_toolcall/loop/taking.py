"""A step taken: one `match` over all that a session can wait for."""

from __future__ import annotations

from ..events import Asked
from ..journal.tree import Entry
from ..state.shape import State
from ..state.steps import AskModel, Clarify, Judge, Perform, Remind, Step
from .asking import ask
from .calling import approve, judge, perform, repeated
from .place import Place


def take(place: Place, step: Step, state: State) -> Entry | None:
    """Take a step and return its last entry; None where a person has to be waited for."""
    match step:
        case AskModel():
            return ask(place)
        case Remind(text):
            return place.write(Asked(text, "session"), at=place.desk.clock())
        case Judge(call):
            return judge(place, call, state)
        case Perform(call):
            return perform(place, call, state)
        case Clarify(call) if (ready := repeated(place, call, state)) is not None:
            return approve(place, call, ready)
    return None
