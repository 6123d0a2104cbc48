"""Recorded results that cannot be verified, and keeping them by a person's decision.

A call whose record is unverified or incomplete is not repeated by a policy. A person runs it
again, or keeps the recorded result.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..core.call_record import CallRecord
from ..core.entries import Entry
from ..core.errors import Absent, CallError, NotYourTurn
from ..core.events import Decided, Finished, Replied
from ..core.state_fold import state_at
from .cursor import Cursor
from .decisions import current_approval_digest
from .replay_queue import call_id_of, rebind_references
from .session_values import PreparedCall


def recorded_result(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> Entry | None:
    """Return the recorded end of exactly this call, as it would run now; None without one."""
    end = cursor.replay_queue.recorded_end(call.id)
    if end is None or not cursor.may_have_run(call, ready):
        return None
    recorded = state_at(cursor.context.journal, end[0].id).calls[call.id]
    return end[0] if recorded.approval_digest == ready.approval_digest else None


def keep_result(cursor: Cursor, call_id: str, approval_digest: str | None, following: bool) -> None:
    """Record that a person keeps what is recorded of a call; with `rest` of all that follows too.

    Nothing runs. Raises NotYourTurn where the call does not wait, has changed since it was
    shown, or has no recorded result.
    """
    state = cursor.state
    call = state.call(call_id)
    try:
        ready = cursor.prepared(call, state)[0] if call_id in state.open else None
    except (Absent, CallError):
        ready = None
    if approval_digest is not None and approval_digest != current_approval_digest(
        cursor, call, state
    ):
        raise NotYourTurn("the call has changed since it was shown; look at it and decide again")
    end = recorded_result(cursor, call, ready) if ready is not None else None
    if end is None:
        raise NotYourTurn(f"call {call_id} has no recorded result to keep")
    entries = cursor.replay_queue.entries[cursor.replay_queue.position :]
    kept = [entry for entry in entries if following or call_id_of(entry.event) == call_id]
    if any(_has_foreign_secrets(entry) for entry in kept):
        whose = "an older version" if call.history == "older" else "another computer"
        raise NotYourTurn(f"call {call_id} holds secrets of {whose}: edit it or reject it")
    if following and entries[0].parent == cursor.head:
        ended = {call_id_of(entry.event) for entry in entries if _ends(entry)}
        # What has no result is not kept: that would let a policy, or an approval, run it.
        kept = [entry for entry in entries if _is_over(entry, ended)]
        cursor.context.journal.adopt({entry.id: _kept(entry) for entry in kept})
        cursor.head, cursor.replay_queue.position = entries[-1].id, len(cursor.replay_queue.entries)
        return
    for entry in entries[: entries.index(end) + 1]:
        if call_id_of(entry.event) == call_id:
            before = state_at(cursor.context.journal, entry.parent)
            event = rebind_references(entry.event, before, cursor.state, cursor.tool_named)
            cursor.write(event, **_kept(entry))
    cursor.supersede(call_id)


def _ends(entry: Entry) -> bool:
    """Return whether an entry is the end of a call."""
    match entry.event:
        case Finished() | Decided(decision="reject" | "answer"):
            return True
    return False


def _is_over(entry: Entry, ended: Collection[str]) -> bool:
    """Return whether all calls that an entry is about have a result."""
    match entry.event:
        case Replied(calls=calls):
            return all(call.id in ended for call in calls)
    return call_id_of(entry.event) in {"", *ended}


def _has_foreign_secrets(entry: Entry) -> bool:
    """Return whether a person's word would give another's markers values of this environment."""
    return not entry.verified and bool(getattr(entry.event, "secrets", ()))


def _kept(entry: Entry) -> Mapping[str, Any]:
    """Return the meta of an entry that a person vouches for."""
    meta = {key: value for key, value in entry.meta.items() if key != "may_have_run"}
    if isinstance(entry.event, Replied):
        # Where a kept value is not at hand, its call is asked about, and run by no policy.
        return {**meta, "kept": True}
    return {**meta, "by": "person"} if isinstance(entry.event, Decided | Finished) else meta
