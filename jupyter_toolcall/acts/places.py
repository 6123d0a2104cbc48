"""Places in a journal, and cursors that go on from there: forks, replays and edits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..errors import Absent, CallError, NotYourTurn, UsageError
from ..events import Decided, Decision, Finished, Replied
from ..journal.tree import Entry
from ..loop import Cursor, recovery
from ..state.call import CallRecord
from ..state.fold import decided_on
from ..state.memory import Prepared
from ..state.script import Script, about
from ..state.shape import State
from .deciding import edit_of, event_of, known_word
from .resuming import REPLAYS


def entry_of(cursor: Cursor, place: str) -> str:
    """Return the entry that a place is: an entry's id, or the end of a call.

    Raises NotYourTurn for a call that has not come to an end.
    """
    if place in cursor.desk.journal:
        return place
    cursor.state.call(place)
    ends = [
        entry.id
        for entry in _about(cursor, place)
        if isinstance(entry.event, Finished) or _settles(entry.event)
    ]
    if not ends:
        raise NotYourTurn(f"call {place} has no result yet; decide on it first")
    return ends[-1]


def before(cursor: Cursor, call_id: str) -> str:
    """Return the entry behind which a call was first decided on, or ran."""
    cursor.state.call(call_id)
    about = _about(cursor, call_id)
    return (about[0].parent or cursor.head) if about else cursor.head


def before_reply(cursor: Cursor, turn: int) -> str:
    """Return the entry behind which the model replied in a turn of this branch.

    Raises NotYourTurn where there is no such turn.
    """
    path = cursor.desk.journal.path(cursor.head)
    replies = [entry for entry in path if isinstance(entry.event, Replied)]
    if not 0 < turn <= len(replies):
        raise NotYourTurn(f"there is no turn {turn} on this branch; it has {len(replies)}")
    return replies[turn - 1].parent or cursor.head


def _about(cursor: Cursor, call_id: str) -> list[Entry]:
    path = cursor.desk.journal.path(cursor.head)
    return [e for e in path if getattr(e.event, "call_id", None) == call_id]


def _settles(event: Any) -> bool:
    return isinstance(event, Decided) and event.decision in ("reject", "answer")


def forked(cursor: Cursor, at: str | None) -> Cursor:
    """Return a cursor that goes on from another place (None: from here)."""
    head = cursor.head if at is None else entry_of(cursor, at)
    return Cursor(cursor.desk, head)


def replayed(cursor: Cursor, at: str | None, fresh: bool = False) -> Cursor:
    """Return a cursor that says again all that came after a place.

    A call's id is the place before that call; None is the root.
    """
    start = cursor.state.root if at is None else _start(cursor, at)
    behind = cursor.desk.journal.path(cursor.head, after=start)
    if behind and behind[0].parent != start:
        raise NotYourTurn("that entry is not on this branch; check its branch out first")
    return Cursor(cursor.desk, start, Script(behind), fresh)


def _start(cursor: Cursor, at: str) -> str:
    return at if at in cursor.desk.journal else before(cursor, at)


def edited(cursor: Cursor, call_id: str, arguments: Mapping[str, Any], reason: str = "") -> Cursor:
    """Return a cursor whose first event is one new decision: the call with other arguments.

    `arguments` change those of the call; the rest stays. Raises CallError where they do
    not fit.
    """
    known, again = cursor.state.call(call_id), replayed(cursor, call_id)
    before = known.arguments if known.started else again.as_it_runs(again.state.call(call_id))
    call = again.state.call(call_id)
    return decide_first(again, edit_of(again, call, {**before, **arguments}, reason))


def overruled(
    cursor: Cursor,
    call_id: str,
    verdict: Decision,
    *,
    arguments: Mapping[str, Any] | None = None,
    result: Any = None,
    reason: str = "",
) -> Cursor:
    """Return a cursor that replays this branch with another decision on one call.

    What the call could not do, or what its answer could not be, where it was asked for is
    refused. Raises UsageError for another word, CallError for arguments that do not fit.
    """
    known_word(verdict)
    again = replayed(cursor, call_id)
    call = again.state.call(call_id)
    return decide_first(again, event_of(again, call, verdict, arguments, result, reason))


def decide_first(again: Cursor, event: Decided) -> Cursor:
    """Return a replaying cursor after one new decision, checked as it would run."""
    call = again.state.call(event.call_id)
    if event.decision in ("approve", "edit"):
        ready, _ = again.prepared(decided_on(call, event, again.state, call.own), again.state)
        if ready.tool.for_person:
            raise UsageError(f"{call.tool} is a request to you, and nothing runs: answer it anew")
        event = replace(event, bound=ready.bound)
    left = {REPLAYS: behind[-1].id} if (behind := again.script.entries) else {}
    again.decide(event, "person", **left)
    return again


def waiting(cursor: Cursor) -> tuple[CallRecord, ...]:
    """Return the calls that wait for a person, in call order."""
    state = cursor.state
    return tuple(
        state.calls[call_id]
        for call_id in state.open
        if _waits(cursor, state.calls[call_id], state)
    )


def pending(cursor: Cursor) -> tuple[CallRecord, ...]:
    """Return the calls that wait for a person as they would run, the one to decide first."""
    return tuple(replace(call, runs_with=cursor.as_it_runs(call)) for call in waiting(cursor))


def _waits(cursor: Cursor, call: CallRecord, state: State) -> bool:
    if call.id == cursor.running:
        return False
    if call.status == "unknown":
        said = cursor.script.next(state.open)
        over = call.id in cursor.script.overtaken
        return over or said is None or about(said.event) != call.id
    try:
        ready, own = cursor.prepared(call, state)
    except Absent:
        return True
    except CallError:
        # What can't be prepared yet may wait for the call before it.
        return call.id != state.open[0] and call.status == "proposed"
    if call.status == "approved":
        return not cursor.allows(call, ready) and _asks(cursor, call, ready)
    return not own and _asks(cursor, call, ready)


def _asks(cursor: Cursor, call: CallRecord, ready: Prepared) -> bool:
    verdict = cursor.verdict(call, ready)[0]
    return verdict == "ask" or (verdict == "approve" and ready.tool.for_person)


def why_it_may_have_run(cursor: Cursor, call_id: str) -> str:
    """Return in a sentence why a call that waits may have run already, "" where it has not."""
    call = cursor.state.call(call_id)
    try:
        ready = cursor.prepared(call, cursor.state)[0]
    except (CallError, Absent):
        return ""
    may_have_run = cursor.may_have_run(call, ready)
    return recovery.reason(cursor.desk, call) if may_have_run else ""
