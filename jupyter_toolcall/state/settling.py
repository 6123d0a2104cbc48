"""A call comes to its outcome: what that changes, and the names of the objects that it made."""

from __future__ import annotations

from typing import Any

from rpds import HashTrieMap

from ..events import UNSAID, Data, Made, Many, Outcome, Producer
from ..journal.trail import Trail
from .call import SAVE, CallRecord, objects_of
from .shape import State


def settle(state: State, known: CallRecord, outcome: Outcome) -> State:
    """Return the state in which a call came to its outcome."""
    outcome = _with_producers(known.id, outcome)
    made = objects_of(outcome)
    for each in made:
        state = introduce(state, each)
    known = known.with_outcome(outcome, tuple(map(state.name_of, made)))
    came = _came(state, known, outcome) if known.status in ("succeeded", "answered") else {}
    return state.but(
        calls=state.calls.insert(known.id, known),
        open=_without(state.open, known.id),
        settled=state.settled + 1,
        **came,
    )


def _without(open_calls: tuple[str, ...], call_id: str) -> tuple[str, ...]:
    """Return the open calls without one, which most often is the first."""
    if call_id not in open_calls:
        return open_calls
    at = open_calls.index(call_id)
    return open_calls[:at] + open_calls[at + 1 :]


def _came(state: State, known: CallRecord, outcome: Outcome) -> dict[str, Any]:
    """Return what a result changes beside its call."""
    before = state.succeeded.get(known.tool) or Trail()
    changes: dict[str, Any] = {
        "succeeded": state.succeeded.insert(known.tool, before.add(known.id)),
        "instances": _instances(state, known),
    }
    if isinstance(outcome, Made):
        changes["returned"] = state.returned.add(known.id)
    if known.tool == SAVE and state.opened.outputs:
        changes |= {"outputs": known.arguments, "done": True}
    if isinstance(outcome, Data) and outcome.variables:
        changes["variables"] = state.variables.update(outcome.variables)
        changes["setters"] = state.setters.update(dict.fromkeys(outcome.variables, known.id))
    return changes


def _with_producers(call_id: str, outcome: Outcome) -> Outcome:
    """Return an outcome of which each object says what produced it."""
    match outcome:
        case Made():
            return _with_producer(outcome, call_id, 0)
        case Many(objects):
            return Many(tuple(_with_producer(made, call_id, i) for i, made in enumerate(objects)))
    return outcome


def _with_producer(made: Made, call_id: str, index: int) -> Made:
    if made.producer != UNSAID:
        return made
    return Made(made.kind, made.digest, made.content, made.description, Producer(call_id, index))


def _instances(state: State, known: CallRecord) -> HashTrieMap[str, str]:
    """A call that failed worked on a copy that is gone, so it leaves no trace here."""
    if known.started is None or not known.started.instance:
        return state.instances
    return state.instances.insert(known.started.instance, known.id)


def introduce(state: State, made: Made) -> State:
    """Return the state in which an object has its name: the next number of its type."""
    if made.producer in state.by_producer:
        return state
    number = (state.counts.get(made.kind) or 0) + 1
    name = f"{made.kind}#{number}"
    return state.but(
        names=state.names.add(name),
        objects=state.objects.insert(name, made),
        by_producer=state.by_producer.insert(made.producer, name),
        contents=_with_content(state, made, name),
        counts=state.counts.insert(made.kind, number),
        newest=state.newest.insert(made.kind, name),
    )


def _with_content(state: State, made: Made, name: str) -> HashTrieMap[tuple[str, str], str]:
    key = (made.kind, made.content)
    if not made.content or key in state.contents:
        return state.contents
    return state.contents.insert(key, name)
