"""The names of objects: `Potato#3` is the third potato of its branch.

A name is given once. Where a replay runs a call again, its objects get the names that they have on
the replayed branch; an object that the call produces for the first time gets a number that is free
on all branches that are replayed, of which an edit of an unfinished edit has several; and a name
that nothing gets here stays reserved. So replies need no rewriting.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .call_record import CallRecord, objects_of
from .errors import NotYourTurn
from .events import UNSAID, Decided, Finished, Made, Many, Outcome, Producer
from .folds import Trail
from .recorded_data import replace
from .state import NAME, State, kind_in

States = Sequence[State]


def with_names(end: Finished | Decided, state: State, recorded: States) -> Finished | Decided:
    """Return the event that ends a call, with the names of the objects that the call produced.

    Arguments:
        end: the event, to be appended in `state`.
        recorded: the states at the ends of the branches that are replayed, in their order.
    """
    outcome = end.outcome if isinstance(end, Finished) else end.result
    objects, call = objects_of(outcome), _recorded_call(end.call_id, recorded)
    is_named = recorded and (objects or (call and (call.objects or call.reserved_names)))
    if not is_named and not any(ref.name for ref in objects):
        return end
    names, named = produced_names(end.call_id, objects, state, recorded), list[Made]()
    for index, (ref, name) in enumerate(zip(objects, names, strict=True)):
        # A name is left out where it is the next free one anyway.
        following, _ = free_name(ref.kind, state)
        needs_name = ref.producer == UNSAID and name != following
        named.append(replace(ref, name=name if needs_name else ""))
        state = introduce(state, _with_producer(named[-1], end.call_id, index))
    all_names = (*_names_by_index(call).values(), *call.reserved_names) if call else ()
    # After a fork of a replay, another object may have the name.
    reserved = tuple(n for n in all_names if n not in names and n not in state.objects)
    match outcome:
        case Made():
            (outcome,) = named
        case Many():
            outcome = replace(outcome, objects=tuple(named))
    if isinstance(end, Decided):
        return replace(end, result=outcome, reserved_names=reserved)
    assert outcome is not None
    return replace(end, outcome=outcome, reserved_names=reserved)


def produced_names(
    call_id: str, objects: Iterable[Made], state: State, recorded: States
) -> tuple[str, ...]:
    """Return the names of the objects in the outcome of a call that ends in a state.

    An object that was there before keeps its name. `recorded` is as for `with_names`.
    """
    call = _recorded_call(call_id, recorded)
    by_index = _names_by_index(call) if call is not None else {}
    spare, names = call.reserved_names if call is not None else (), list[str]()
    for index, ref in enumerate(objects):
        if ref.producer == UNSAID:
            candidates = (by_index.get(index, ""), *spare)
            free = (n for n in candidates if kind_in(n) == ref.kind and n not in state.objects)
            name = next(free, "") or free_name(ref.kind, state, *recorded)[0]
            ref = _with_producer(replace(ref, name=name), call_id, index)
            state = introduce(state, ref)
        names.append(state.by_producer.get(ref.producer) or ref.kind)
    return tuple(names)


def _recorded_call(call_id: str, recorded: States) -> CallRecord | None:
    """Return a call from the first branch on which it has ended: its names are those of all."""
    calls = (state.calls.get(call_id) for state in recorded)
    return next((call for call in calls if call is not None and call.outcome is not None), None)


def _names_by_index(call: CallRecord) -> dict[int, str]:
    """Return the names of the objects that a call produced, by their position in its result."""
    pairs = zip(objects_of(call.outcome), call.objects, strict=True)
    return {ref.producer.index: name for ref, name in pairs if ref.producer.call == call.id}


def introduce(state: State, ref: Made) -> State:
    """Return the state in which an object has its name.

    Raises NotYourTurn for a recorded name that is none of its type, or that another object has.
    """
    if ref.producer in state.by_producer:
        return state
    name, number = ref.name, state.counts.get(ref.kind) or 0
    if not name:
        name, number = free_name(ref.kind, state)
    elif name in state.objects or not (NAME.fullmatch(name) and kind_in(name) == ref.kind):
        raise NotYourTurn(f"{name!r:.60} is no new name of a {ref.kind:.60}")
    of_kind = state.of_kind.get(ref.kind) or Trail[str]()
    contents, content_key = state.contents, (ref.kind, ref.content)
    if ref.content and content_key not in contents:
        contents = contents.insert(content_key, name)
    return replace(
        state,
        names=state.names.add(name),
        objects=state.objects.insert(name, ref),
        by_producer=state.by_producer.insert(ref.producer, name),
        contents=contents,
        plain=state.plain | {name} if ref.shown else state.plain,
        counts=state.counts.insert(ref.kind, number),
        of_kind=state.of_kind.insert(ref.kind, of_kind.add(name)),
        newest=state.newest.insert(ref.kind, name),
    )


def with_inputs(state: State, decided: Decided | None) -> State:
    """Return the state in which the objects that an edit gives have their names.

    None of them is the newest of its type, where there are others: later calls that leave their
    object out take the one that they took without the edit. Raises NotYourTurn as `introduce`.
    """
    if decided is None or not decided.inputs:
        return state
    newest = state.newest
    for ref in decided.inputs:
        state = introduce(state, ref)
    return replace(state, newest=state.newest.update(newest))


def free_name(kind: str, *states: State) -> tuple[str, int]:
    """Return the next name of a type that is free in all states, and its number."""
    number = max(state.counts.get(kind) or 0 for state in states)
    while True:
        number += 1
        name = f"{kind}#{number}"
        if not any(name in state.objects or name in state.reserved for state in states):
            return name, number


def reserve(state: State, names: tuple[str, ...], call_id: str) -> State:
    """Return the state in which no other object gets these names. Raises NotYourTurn."""
    if any(name in state.objects or not NAME.fullmatch(name) for name in names):
        raise NotYourTurn(f"{', '.join(names):.60}: these are no names to reserve")
    return replace(state, reserved=state.reserved.update(dict.fromkeys(names, call_id)))


def with_producers(call_id: str, outcome: Outcome) -> Outcome:
    """Return an outcome in which each object has its producer."""
    match outcome:
        case Made():
            return _with_producer(outcome, call_id, 0)
        case Many(objects):
            objects = tuple(_with_producer(result, call_id, i) for i, result in enumerate(objects))
            return replace(outcome, objects=objects)
    return outcome


def _with_producer(ref: Made, call_id: str, index: int) -> Made:
    if ref.producer != UNSAID:
        return ref
    return replace(ref, producer=Producer(call_id, index))
