"""Why what was decided once is asked about again, where a recording is said again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..core.call_record import CallRecord
from ..core.entries import Entry
from ..core.errors import CallError
from ..core.events import Decided, Event, Failed, Finished, Outcome, Replied, Started
from ..core.interrupts import Hold
from ..core.journal import Journal
from ..core.recorded_calls import replayed_meta
from ..core.state import State, step_of
from ..core.state_fold import decided_on, state_at
from .cursor import Cursor
from .execution import changed_tool_parts, recorded_tool_code, tool_code_note
from .replay_queue import (
    ReplayQueue,
    call_id_of,
    can_follow,
    rebind_references,
    results_changed,
    same_objects,
)
from .session_values import PreparedCall
from .turn import execute_step, run_call, start_of


def reapproval_reason(script: ReplayQueue, journal: Journal, ready: PreparedCall) -> str:
    """Return why a person's recorded approval of a call does not hold for it now, "" for none."""
    said = _approved(script, ready.call_id)
    if said is None:
        return ""
    told = state_at(journal, script.entries[-1].id).calls[ready.call_id]
    return f"You are asked again: {_said(told, said.verified, journal, ready)}."


def _approved(script: ReplayQueue, call_id: str) -> Entry | None:
    """Return the person's last decision of a recording that lets a call run."""
    for entry in reversed(script.entries):
        match entry.event:
            case Started(each, approval_digest=approval_digest) if (
                each == call_id and approval_digest
            ):
                return None
            case Decided(each, "approve" | "edit") if each == call_id:
                return entry
    return None


def _said(told: CallRecord, own: bool, journal: Journal, ready: PreparedCall) -> str:
    code = recorded_tool_code(told, journal)
    if not own:
        older = told.history == "older"
        return f"it was approved {'in an older version' if older else 'on another machine'}"
    if code is not None and (other := changed_tool_parts(ready.tool, code)):
        return other
    if told.approval_digest != ready.approval_digest:
        return "what it runs on is not what it was"
    if told.outcome is not None:
        return "it ran, and what it came to is not on this machine any more"
    return "it was approved, and nobody ran it"


def advance(cursor: Cursor) -> Entry | None:
    """Take one step, and return its last entry; None where a person has to be waited for.

    A recorded entry is replayed where there is one; else the ordinary turn goes on. Raises
    ModelError, and KeyboardInterrupt once what it interrupted is recorded.
    """
    with Hold():
        if cursor.holding_hook is not None:
            return None
        state = cursor.state
        while (recorded := cursor.replay_queue.next(state.open)) is not None:
            call_id = call_id_of(recorded.event)
            if call_id in cursor.replay_queue.superseded:
                # What was recorded behind a call may depend on what it comes to now.
                return execute_step(cursor, step_of(state.calls[call_id]), state)
            if recorded.parent == cursor.head or can_follow(recorded.event, state):
                return replay_entry(cursor, recorded, state)
            if not call_id:
                break
            cursor.replay_queue.position += 1
        return execute_step(cursor, cursor.next_step_in(state), state)


def replay_entry(cursor: Cursor, said: Entry, state: State) -> Entry | None:
    """Repeat the next recorded event; None where a person has to be asked again."""
    # The journal may have been verified since it was read.
    said = cursor.context.journal[said.id]
    told = state if said.parent == cursor.head else state_at(cursor.context.journal, said.parent)
    match said.event:
        case Decided(decision="approve" | "edit") as event:
            return _replay_approval(cursor, said, event, told, state)
        case Decided(call_id, "answer", arguments=Mapping()) if _put_anew(cursor, said, told):
            cursor.supersede(call_id)
            return execute_step(cursor, step_of(state.calls[call_id]), state)
        case Started(call_id) as event:
            return _replay_start(cursor, said, event, state.calls[call_id], told, state)
        case Finished(call_id, by="program", uses=uses) if not same_objects(uses, told, state):
            return execute_step(cursor, step_of(state.calls[call_id]), state)
        case Finished(call_id, by="session") as event:
            cursor.replay_queue.position += 1
            return _replay_result(cursor, said, event, state.calls[call_id], state)
        case Replied() as reply:
            cursor.replay_queue.position += 1
            return _replay_reply(cursor, reply, said, told, state)
    cursor.replay_queue.position += 1
    again = rebind_references(said.event, told, state, cursor.tool_named)
    return _write_again(cursor, again, said, verified=said.verified, **said.meta)


def _write_again(
    cursor: Cursor, event: Event, said: Entry, *, replayed: bool = True, **meta: Any
) -> Entry:
    """Record an event again; where nothing before it changed, it is the recorded entry."""
    if said.parent == cursor.head and said.verified and event == said.event:
        cursor.head = said.id
        return said
    return cursor.write(event, replayed=replayed, **meta)


def _replay_reply(cursor: Cursor, reply: Replied, said: Entry, told: State, state: State) -> Entry:
    """Repeat a reply, marked as stale where the results that it was to read otherwise now."""
    again = rebind_references(reply, told, state, cursor.tool_named)
    meta = {key: value for key, value in replayed_meta(said).items() if key != "stale"}
    stale = said.meta.get("stale") or state.stale or results_changed(told, state)
    marked = {"stale": True} if stale else {}
    return _write_again(cursor, again, said, verified=said.verified, **meta, **marked)


def _replay_approval(
    cursor: Cursor, said: Entry, event: Decided, told: State, state: State
) -> Entry | None:
    """Repeat a person's approval, which holds for exactly what it was given for; else ask."""
    again = rebind_references(event, told, state, cursor.tool_named)
    assert isinstance(again, Decided)
    call = decided_on(state.calls[event.call_id], again, state, said.verified)
    call.demand_keys()
    try:
        ready, own = cursor.prepared(call, state)
    except CallError as error:
        cursor.supersede(event.call_id)
        return cursor.write(Finished(event.call_id, Failed(str(error))))
    verdict, why = cursor.policy_answer(call, ready)
    holds = _holds(cursor, said, event, ready)
    if (own or holds or verdict == "approve") and not ready.tool.for_person:
        cursor.replay_queue.position += 1
        if not (own or holds):
            # It stays the approval that was given, for what it was given for: the policy of
            # today starts the call, or nothing does.
            return _write_again(cursor, again, said, verified=said.verified, **replayed_meta(said))
        once = not (own or ready.tool.repeatable or cursor.fresh)
        meta = replayed_meta(said) if once else said.meta
        if again.approval_digest != ready.approval_digest:
            again = replace(again, approval_digest=ready.approval_digest)
        return cursor.keep_prepared(_write_again(cursor, again, said, **meta), ready, own)
    if verdict == "reject":
        return _reject(cursor, event.call_id, why)
    return None


def _reject(cursor: Cursor, call_id: str, why: str) -> Entry:
    cursor.supersede(call_id)
    return cursor.write(Decided(call_id, "reject", reason=why), by="policy")


def _holds(cursor: Cursor, said: Entry, event: Decided, ready: PreparedCall) -> bool:
    """Return whether a recorded approval still allows what would happen now.

    It holds for exactly what it was given for, and for one effect: where the result is no
    longer at hand a person is asked again, unless the tool may be repeated.
    """
    if ready.approval_digest != event.approval_digest or not said.is_effective:
        return False
    end = _recorded_end(cursor, event.call_id)
    if cursor.fresh or ready.tool.repeatable or end is None:
        return True
    return _is_at_hand(cursor, ready, end)


def _put_anew(cursor: Cursor, said: Entry, told: State) -> bool:
    """Return whether a request to a person, as it was put, is another one here."""
    again = rebind_references(said.event, told, cursor.state, cursor.tool_named)
    assert isinstance(again, Decided)
    call = cursor.state.calls[again.call_id]
    return (
        cursor.arguments_to_run(call) != decided_on(call, again, cursor.state, said.verified).asked
    )


def _replay_start(
    cursor: Cursor, said: Entry, event: Started, call: CallRecord, told: State, state: State
) -> Entry | None:
    """Start a call as it is recorded, where it is allowed for the same reason; all else runs
    again.

    What never ended is not run for that: a person was asked about it, or will be. What a
    policy allowed once is for the policy of today.
    """
    by_policy = event.approval_digest != ""
    recorded = event.approval_digest or told.calls[call.id].approval_digest
    cut_off = cursor.replay_queue.has_unknown_outcome(call.id)
    allowed = call.approval_digest == recorded
    if by_policy:
        try:
            ready, own = cursor.prepared(call, state)
        except CallError as error:
            cursor.supersede(call.id)
            return cursor.write(Finished(call.id, Failed(str(error))))
        verdict, why = ("approve", "") if own else cursor.policy_answer(call, ready)
        if verdict == "reject":
            return _reject(cursor, call.id, why)
        if verdict == "ask" or ready.tool.for_person:
            return None
        allowed = ready.approval_digest == recorded
    if allowed and (not cursor.fresh or cut_off):
        ready = cursor.prepared(call, state)[0]
        at_hand = _is_at_hand(cursor, ready, _recorded_end(cursor, call.id))
        same = ready.approval_digest == recorded
        if same and (at_hand or cut_off):
            cursor.replay_queue.position += 1
            meta = tool_code_note(ready.tool, state, cursor.context.journal)
            started = start_of(call, ready, by_policy)
            return cursor.keep_prepared(
                _write_again(cursor, started, said, replayed=at_hand, **meta), ready
            )
    cursor.supersede(call.id)
    return run_call(cursor, call, state, from_record=not cursor.fresh)


def _replay_result(
    cursor: Cursor, said: Entry, event: Finished, call: CallRecord, state: State
) -> Entry | None:
    if call.status in ("proposed", "approved"):
        return run_call(cursor, call, state, from_record=not cursor.fresh)
    ready = cursor.prepared(call, state)[0]
    if _is_at_hand(cursor, ready, (said, event.outcome)):
        return _write_again(cursor, event, said)
    # Its result is not at hand any more. Nothing runs here, since nothing has allowed it.
    return execute_step(cursor, step_of(call), state)


def _recorded_end(cursor: Cursor, call_id: str) -> tuple[Entry, Outcome] | None:
    """Return the recorded end of a call as the journal has it now, and its outcome."""
    end = cursor.replay_queue.recorded_end(call_id)
    return None if end is None else (cursor.context.journal[end[0].id], end[1])


def _is_at_hand(cursor: Cursor, ready: PreparedCall, end: tuple[Entry, Outcome] | None) -> bool:
    """Return whether nothing has to run for the recorded outcome of a call."""
    return end is not None and end[0].verified and cursor.context.values.has_results(ready, end[1])
