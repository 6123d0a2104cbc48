"""One side of a comparison, read from a branch: its calls, their objects and their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..branches.branch import shared_with_older
from ..branches.tally import Replies
from ..events import Data, Failed, Interrupted, Made, Producer, Replied, Uses
from ..loop import Cursor
from ..state.call import CallState, objects_of
from ..state.ends import End, Ends
from ..state.shape import State
from .facts import ComparedCall, Side

INTERRUPTED = "It was interrupted while it ran; what it had done is not known."


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch as it is read for a comparison."""

    cursor: Cursor
    side: Side
    state: State
    ends: Mapping[str, End]
    tokens: Mapping[int, int] = field(default_factory=dict)
    """Of each request that was sent on this branch, by its turn."""


def branch(cursor: Cursor, name: str) -> Branch:
    """Return a branch as it is read for a comparison."""
    journal, state = cursor.desk.journal, cursor.state
    path = journal.path(cursor.head)
    shared = shared_with_older(journal, cursor.head)
    ends = Ends(journal).of(path, shared)
    replies = Replies(journal, str(getattr(cursor.desk.model, "name", "")))
    took = replies.took(path, ends, shared)
    side = Side(name, cursor.head, len(state.order), took)
    turns = (entry for entry in path if isinstance(entry.event, Replied))
    tokens = {
        turn: replies.request(entry).tokens
        for turn, entry in enumerate(turns, 1)
        if entry.id not in shared and replies.is_first(entry)
    }
    return Branch(cursor, side, state, ends, tokens)


def compared_call(call: CallState, of: Branch) -> ComparedCall:
    """Return a call as it stands on its branch."""
    end = of.ends.get(call.id)
    meta = end.meta if end else {}
    made = tuple(map(of.state.name_of, objects_of(call.outcome)))
    first = of.state.calls[of.state.order[call.step - 2]] if call.step > 1 else None
    asked = 0 if first is not None and first.turn == call.turn else of.tokens.get(call.turn, 0)
    return ComparedCall(
        id=call.id,
        step=call.step,
        turn=call.turn,
        tool=call.tool,
        arguments=dict(call.arguments),
        status=call.status,
        result=call.outcome.data if isinstance(call.outcome, Data) else None,
        error=_error(call),
        prints=str(meta.get("prints", "")),
        reason=call.decided.reason if call.decided else "",
        objects=made,
        memory=end is not None and end.memory,
        edited=call.edited,
        ms=meta.get("ms", 0),
        tokens=asked,
    )


def _error(call: CallState) -> str:
    match call.outcome:
        case Failed(message):
            return message
        case Interrupted():
            return INTERRUPTED
    return ""


def used_by(call: CallState, state: State) -> Uses:
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


def is_shared(left: CallState, right: CallState) -> bool:
    """Return whether a call is one and the same on both sides."""
    return left.key == right.key and left == right


def inputs_of(state: State) -> dict[Producer, Made]:
    """Return the objects that came from outside, by their producers."""
    return {m.producer: m for m in map(state.resolve, state.names) if m.producer.input}
