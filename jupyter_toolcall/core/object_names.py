"""The names of objects: `Potato#3` is the third potato of its branch.

A name is given once. Where a replay runs a call again, its objects get the names that they have on
the replayed branch; an object that the call produces for the first time gets a number that is free
on both branches; and a name that nothing gets here stays reserved. So replies need no rewriting.
"""

from __future__ import annotations

from dataclasses import replace

from rpds import HashTrieMap

from .call_record import CallRecord, objects_of
from .errors import NotYourTurn
from .events import UNSAID, Decided, Finished, Made, Many, Outcome, Producer
from .state import NAME, State, kind_in


def with_names(end: Finished | Decided, state: State, recorded: State | None) -> Finished | Decided:
    """Return the event that ends a call, with the names of the objects that the call produced.

    Arguments:
        end: the event, to be appended in `state`.
        recorded: the state at the end of the branch that is replayed; None where none is.
    """
    call = recorded.calls.get(end.call_id) if recorded is not None else None
    outcome = end.outcome if isinstance(end, Finished) else end.result
    objects, reserved = objects_of(outcome), tuple[str, ...]()
    if recorded is not None and call is not None:
        objects, reserved = _recorded_names(call, objects, state, recorded)
    elif any(made.name for made in objects):
        # A cached result of another branch: here it is the next one of its type.
        objects = tuple(replace(made, name="") for made in objects)
    if (objects, reserved) == (objects_of(outcome), end.reserved_names):
        return end
    match outcome:
        case Made():
            (outcome,) = objects
        case Many():
            outcome = replace(outcome, objects=objects)
    if isinstance(end, Decided):
        return replace(end, result=outcome, reserved_names=reserved)
    assert outcome is not None
    return replace(end, outcome=outcome, reserved_names=reserved)


def _recorded_names(
    call: CallRecord, objects: tuple[Made, ...], state: State, recorded: State
) -> tuple[tuple[Made, ...], tuple[str, ...]]:
    """Return objects with their names, and the names of the recorded call that none of them gets.

    A name is left out where it is the next free one anyway.
    """
    pairs = zip(objects_of(call.outcome), call.objects, strict=True)
    by_index = {made.producer.index: name for made, name in pairs if made.producer.call == call.id}
    spare, named = [*call.reserved_names], list[Made]()
    for index, made in enumerate(objects):
        if made.producer == UNSAID:
            names = (by_index.get(index, ""), *spare)
            free = (n for n in names if kind_in(n) == made.kind and n not in state.objects)
            name = next(free, "")
            if not name:
                name, _ = free_name(made.kind, recorded.counts.get(made.kind) or 0, state, recorded)
            following, _ = free_name(made.kind, state.counts.get(made.kind) or 0, state)
            made = replace(made, name="" if name == following else name)
            state = introduce(state, _with_producer(made, call.id, index))
        named.append(made)
    left = (*by_index.values(), *spare)
    return tuple(named), tuple(name for name in left if name not in state.objects)


def introduce(state: State, made: Made) -> State:
    """Return the state in which an object has its name.

    Raises NotYourTurn for a recorded name that is none of its type, or that another object has.
    """
    if made.producer in state.by_producer:
        return state
    name, number = made.name, state.counts.get(made.kind) or 0
    if not name:
        name, number = free_name(made.kind, number, state)
    elif name in state.objects or not (NAME.fullmatch(name) and kind_in(name) == made.kind):
        raise NotYourTurn(f"{name!r:.60} is no new name of a {made.kind:.60}")
    return state.changed(
        names=state.names.add(name),
        objects=state.objects.insert(name, made),
        by_producer=state.by_producer.insert(made.producer, name),
        contents=_with_content(state, made, name),
        plain=state.plain | {name} if made.shown else state.plain,
        counts=state.counts.insert(made.kind, number),
        newest=state.newest.insert(made.kind, name),
    )


def free_name(kind: str, number: int, *states: State) -> tuple[str, int]:
    """Return the first name of a type, above a number, that is free in some states; its number."""
    while True:
        number += 1
        name = f"{kind}#{number}"
        if not any(name in state.objects or name in state.reserved for state in states):
            return name, number


def reserve(state: State, names: tuple[str, ...], call_id: str) -> State:
    """Return the state in which no other object gets these names. Raises NotYourTurn."""
    if any(name in state.objects or not NAME.fullmatch(name) for name in names):
        raise NotYourTurn(f"{', '.join(names):.60}: these are no names to reserve")
    return state.changed(reserved=state.reserved.update(dict.fromkeys(names, call_id)))


def _with_content(state: State, made: Made, name: str) -> HashTrieMap[tuple[str, str], str]:
    key = (made.kind, made.content)
    if not made.content or key in state.contents:
        return state.contents
    return state.contents.insert(key, name)


def with_producers(call_id: str, outcome: Outcome) -> Outcome:
    """Return an outcome of which each object says what produced it."""
    match outcome:
        case Made():
            return _with_producer(outcome, call_id, 0)
        case Many(objects):
            made = tuple(_with_producer(each, call_id, i) for i, each in enumerate(objects))
            return replace(outcome, objects=made)
    return outcome


def _with_producer(made: Made, call_id: str, index: int) -> Made:
    if made.producer != UNSAID:
        return made
    return replace(made, producer=Producer(call_id, index))
