"""One side of a comparison, read from a branch: its calls, their objects and their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..branches.branch import shared_with_older
from ..branches.tally import Replies
from ..events import Interrupted, Made, Producer, Uses
from ..loop import Cursor
from ..state.call import CallRecord
from ..state.ends import End, Ends
from ..state.shape import State
from .facts import Side, What

INTERRUPTED = "It was interrupted while it ran; what it had done is not known."


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch as it is read for a comparison."""

    cursor: Cursor
    side: Side
    state: State
    ends: Mapping[str, End]


def branch(cursor: Cursor, name: str) -> Branch:
    """Return a branch as it is read for a comparison."""
    journal, state = cursor.desk.journal, cursor.state
    path = journal.path(cursor.head)
    shared = shared_with_older(journal, cursor.head)
    ends = Ends(journal).of(path, shared)
    replies = Replies(journal, str(getattr(cursor.desk.model, "name", "")))
    took = replies.took(path, ends, shared)
    return Branch(cursor, Side(name, cursor.head, len(state.order), took), state, ends)


def aspect(what: What, call: CallRecord, end: End | None) -> Any:
    """Return what two calls are compared by; None for arguments, which have names."""
    match what:
        case "tool":
            return call.tool
        case "status":
            return call.status
        case "result":
            return call.data
        case "error":
            return INTERRUPTED if isinstance(call.outcome, Interrupted) else call.error
        case "prints":
            return end.prints if end is not None else ""
        case "reason":
            return call.reason
    return None


def used_by(call: CallRecord, state: State) -> Uses:
    """Return what produced the objects that a call used or names, by argument."""
    if call.started is not None:
        return call.uses
    named = ((argument, state.objects.get(str(v))) for argument, v in call.arguments.items())
    return {argument: made.producer for argument, made in named if made is not None}


def signatures(known: dict[tuple[Any, ...], int], state: State) -> dict[int, int]:
    """Return for each call (by `id`) what tells it by where its objects came from.

    What they are called does not matter. `known` numbers what there is, and is shared by
    the sides that are compared.
    """
    numbers: dict[str, int] = {}

    def number(*key: Any) -> int:
        return known.setdefault(key, len(known))

    def of_object(producer: Producer) -> int:
        call = numbers.get(producer.call)
        return number(producer) if call is None else number(call, producer.index)

    for call in state.each():
        used = sorted((name, of_object(each)) for name, each in used_by(call, state).items())
        setters = call.started.setters.items() if call.started else ()
        read = sorted((name, numbers.get(setter)) for name, setter in setters)
        numbers[call.id] = number(call.tool, *used, "variables", *read)
    return {id(call): numbers[call.id] for call in state.each()}


def inputs_of(state: State) -> dict[Producer, Made]:
    """Return the objects that came from outside, by their producers."""
    return {m.producer: m for m in map(state.resolve, state.names) if m.producer.input}
