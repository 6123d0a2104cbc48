"""What was recorded, said again: what was run comes from memory where its inputs are the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..conversation.retell import retell
from ..errors import CallError
from ..events import Decided, Event, Failed, Finished, Outcome, Replied, Started
from ..journal.tree import Entry
from ..runner.coded import coded
from ..state.call import CallState
from ..state.claims import said_again
from ..state.fold import decided_on, state_at
from ..state.memory import Prepared
from ..state.script import same_objects, told_otherwise
from ..state.shape import State
from ..state.steps import step_of
from .calling import demand_secrets, judge, perform, run, start_of
from .place import Place
from .taking import take


def say_again(place: Place, said: Entry, state: State) -> Entry | None:
    """Say the next recorded event again; None where a person has to be asked again."""
    # The journal may have been verified since it was read.
    said = place.desk.journal[said.id]
    told = state_at(place.desk.journal, said.parent)
    match said.event:
        case Decided(decision="approve" | "edit") as event:
            return _decide_again(place, said, event, told, state)
        case Decided(call_id, "answer", arguments=Mapping()) if _put_anew(place, said, told):
            place.overtake(call_id)
            return take(place, step_of(state.calls[call_id]), state)
        case Started(call_id):
            return _start_again(place, said, state.calls[call_id], told, state)
        case Finished(call_id, by="program", uses=uses) if not same_objects(uses, told, state):
            return take(place, step_of(state.calls[call_id]), state)
        case Finished(call_id, by="session") as event:
            place.script.at += 1
            return _finish_again(place, said, event, state.calls[call_id], state)
        case Replied() as reply:
            place.script.at += 1
            return _reply_again(place, reply, said, told, state)
    place.script.at += 1
    again = retell(said.event, told, state, place.find)
    return _write_again(place, again, said, own=said.own, **said.meta)


def _write_again(
    place: Place, event: Event, said: Entry, *, again: bool = True, **meta: Any
) -> Entry:
    """Write down what was recorded; where nothing before it changed, it is that very entry."""
    if said.parent == place.head and said.own and event == said.event:
        place.head = said.id
        return said
    return place.write(event, again=again, **meta)


def _reply_again(place: Place, reply: Replied, said: Entry, told: State, state: State) -> Entry:
    """A reply is said again, and marked where it was to results that read otherwise now."""
    again = retell(reply, told, state, place.find)
    meta = {key: value for key, value in said_again(said).items() if key != "stale"}
    stale = said.meta.get("stale") or state.stale or told_otherwise(told, state)
    marked = {"stale": True} if stale else {}
    return _write_again(place, again, said, own=said.own, **meta, **marked)


def _decide_again(
    place: Place, said: Entry, event: Decided, told: State, state: State
) -> Entry | None:
    """An approval holds for exactly what it was given for; else it is asked for again."""
    again = retell(event, told, state, place.find)
    assert isinstance(again, Decided)
    call = decided_on(state.calls[event.call_id], again, state, said.own)
    call.demand_keys()
    try:
        ready, own = place.prepared(call, state)
    except CallError as error:
        place.overtake(event.call_id)
        return place.write(Finished(event.call_id, Failed(str(error))))
    verdict, why = place.verdict(call, ready)
    said_so = _holds(place, said, event, ready)
    if (own or said_so or verdict == "approve") and not ready.tool.for_person:
        place.script.at += 1
        only_said = said_so and verdict != "approve" and not (own or ready.tool.repeatable)
        meta = said_again(said) if only_said and not place.fresh else said.meta
        if again.bound != ready.bound:
            again = replace(again, bound=ready.bound)
        entry = _write_again(place, again, said, **meta)
        return place.as_before(entry, ready, own)
    if verdict == "reject":
        place.overtake(event.call_id)
        return place.write(Decided(event.call_id, "reject", reason=why), by="policy")
    return None


def _holds(place: Place, said: Entry, event: Decided, ready: Prepared) -> bool:
    """Return whether a recorded approval still allows what would happen now.

    What a policy allowed once is for the policy of today. A person's word holds for
    exactly what it was given for, and for one effect: where the result is no longer at
    hand it is asked for again, unless the tool may be repeated.
    """
    if ready.bound != event.bound or not said.verified or said.meta.get("by") == "policy":
        return False
    end = _recorded_end(place, event.call_id)
    if place.fresh or ready.tool.repeatable or end is None:
        return True
    return _is_at_hand(place, ready, end)


def _put_anew(place: Place, said: Entry, told: State) -> bool:
    """Return whether a request to a person, as it was put, is another one here."""
    again = retell(said.event, told, place.state, place.find)
    assert isinstance(again, Decided)
    call = place.state.calls[again.call_id]
    return place.as_it_runs(call) != decided_on(call, again, place.state, said.own).asked


def _start_again(
    place: Place, said: Entry, call: CallState, told: State, state: State
) -> Entry | None:
    """What started for the same reason goes on as it did; all else runs anew.

    What was cut off is not run for that: a person was asked about it, or will be.
    """
    same = call.bound == told.calls[call.id].bound
    cut_off = place.script.is_cut_off(call.id)
    if same and (not place.fresh or cut_off):
        ready = place.prepared(call, state)[0]
        at_hand = _is_at_hand(place, ready, _recorded_end(place, call.id))
        if ready.bound == call.bound and (at_hand or cut_off or place.allows(call, ready)):
            if not (at_hand or cut_off):
                demand_secrets(ready)
            place.script.at += 1
            meta = coded(ready.tool, state, place.desk.journal)
            entry = _write_again(place, start_of(call, ready), said, again=at_hand, **meta)
            return place.as_before(entry, ready)
    place.overtake(call.id)
    return perform(place, call, state, again=not place.fresh)


def _finish_again(
    place: Place, said: Entry, event: Finished, call: CallState, state: State
) -> Entry | None:
    match call.status:
        case "proposed":
            return judge(place, call, state)
        case "approved":
            return perform(place, call, state, again=not place.fresh)
    ready = place.prepared(call, state)[0]
    if _is_at_hand(place, ready, (said, event.outcome)):
        return _write_again(place, event, said)
    return run(place, ready, state)


def _recorded_end(place: Place, call_id: str) -> tuple[Entry, Outcome] | None:
    """Return the recorded end of a call as the journal has it now, and what it came to."""
    end = place.script.end_of(call_id)
    return None if end is None else (place.desk.journal[end[0].id], end[1])


def _is_at_hand(place: Place, ready: Prepared, end: tuple[Entry, Outcome] | None) -> bool:
    """Return whether nothing has to run for what a call came to, as it is recorded."""
    return end is not None and end[0].own and place.desk.memory.has(ready, end[1])
