"""Forks, replays and edits: cursors that continue from another position in the journal."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.errors import NotYourTurn, UsageError
from ..core.events import Asked, Decided, Decision, Replied, ended_call
from ..core.interface_text import joined, t
from ..core.journal import Journal
from ..core.journal_entries import Entry
from ..core.recorded_data import replace
from ..core.state import AskPerson
from ..models.scripted import Scripted
from .cursor import Cursor, SessionContext
from .decisions import decided_event, demand_decision, edit_event
from .replay_queue import FRESH, REPLAYS, ReplayQueue, call_id_of

FROM_A_LIST = t("It replies from a list: unless you edit a call, the same calls come out.")


def entry_at(cursor: Cursor, location: str) -> str:
    """Return the entry of a location: an entry's id, or the end of a call.

    Raises NotYourTurn for a call without a result.
    """
    if location in cursor.context.journal:
        return location
    step = cursor.state.call(location).step
    ends = [entry.id for entry in _about(cursor, location) if ended_call(entry.event)]
    if not ends:
        raise NotYourTurn(f"call {step} has no result yet: decide in its panel, or approve it")
    return ends[-1]


def entry_before_call(cursor: Cursor, call_id: str) -> str:
    """Return the entry before the first decision on a call, or before its start."""
    if call_id not in cursor.state.calls and cursor.replay_queue.recorded_end(call_id):
        raise NotYourTurn(f"this replay has not come to {call_id} yet: run() it first")
    cursor.state.call(call_id)
    about = _about(cursor, call_id)
    return (about[0].parent if about else None) or cursor.head


def entry_before_reply(cursor: Cursor, turn: int) -> str:
    """Return the entry before the model's reply in a turn of this branch.

    Raises NotYourTurn where there is no such turn.
    """
    path = cursor.context.journal.path(cursor.head)
    replies = [entry for entry in path if isinstance(entry.event, Replied)]
    if not 0 < turn <= len(replies):
        raise NotYourTurn(f"there is no turn {turn} on this branch; it has {len(replies)}")
    return replies[turn - 1].parent or cursor.head


def _about(cursor: Cursor, call_id: str) -> list[Entry]:
    path = cursor.context.journal.path(cursor.head)
    return [e for e in path if getattr(e.event, "call_id", None) == call_id]


def fork_cursor(cursor: Cursor, at: str | None) -> Cursor:
    """Return a cursor that continues from another location (None: from here)."""
    return Cursor(cursor.context, cursor.head if at is None else entry_at(cursor, at))


def replay_cursor(cursor: Cursor, at: str | None, fresh: bool = False) -> Cursor:
    """Return a cursor that replays everything after a location.

    A call's id stands for the entry before that call, None for the root.
    """
    start = cursor.state.root if at is None else _start(cursor, at)
    # A replay that has not ended, such as an edit before `run`, is repeated to its end.
    end, remaining = cursor.head, cursor.replay_queue.remaining()
    if remaining is not None and remaining.entries[remaining.position].parent == end:
        # It has changed nothing yet: it stands on the branch that it replays.
        end, remaining = remaining.recorded_head, remaining.following
    following = cursor.context.journal.path(end, after=start)
    if following and following[0].parent != start:
        raise NotYourTurn("that entry is not on this branch; check its branch out first")
    queue = ReplayQueue(following, following=remaining) if following else remaining
    queue = queue or ReplayQueue()
    queue.fresh = fresh
    return Cursor(cursor.context, start, queue)


def _start(cursor: Cursor, at: str) -> str:
    return at if at in cursor.context.journal else entry_before_call(cursor, at)


def edit_cursor(cursor: Cursor, call_id: str, arguments: Mapping[str, object]) -> Cursor:
    """Return a cursor whose first event is one new decision: the call with other arguments.

    `arguments` change those of the call; its other arguments stay. Raises CallError where they
    do not fit.
    """
    replaying, recorded_call = replay_cursor(cursor, call_id), cursor.state.call(call_id)
    call = replaying.state.call(call_id)
    has_arguments = recorded_call.started or recorded_call.edited
    before = recorded_call.arguments if has_arguments else replaying.arguments_to_run(call)
    edited = edit_event(replaying, call, {**before, **arguments}, "", recorded_call.tool)
    return decide_then_replay(replaying, edited)


def decide_anew(
    cursor: Cursor,
    call_id: str,
    decision: Decision,
    arguments: Mapping[str, object] | None = None,
    result: object = None,
    reason: str = "",
    tool: str = "",
) -> Cursor:
    """Return a cursor that replays this branch with another decision on one call.

    The decision must be one that the call could have got when it was asked for. Raises UsageError
    for an unknown decision, CallError for arguments that do not fit.
    """
    demand_decision(decision, arguments, result, reason, tool)
    replaying = replay_cursor(cursor, call_id)
    call = replaying.state.call(call_id)
    event = decided_event(replaying, call, decision, arguments, result, reason, tool)
    return decide_then_replay(replaying, event)


def decide_then_replay(replaying: Cursor, event: Decided) -> Cursor:
    """Return a replaying cursor after one new decision, checked as it would run."""
    call = replaying.state.call(event.call_id)
    if event.decision in ("approve", "edit"):
        ready, _ = replaying.prepared(call.with_decision(event, call.verified), replaying.state)
        if ready.tool.for_person:
            raise UsageError(
                f"{call.tool} is a request to you, and nothing runs: give a new answer"
            )
        event = replace(event, approval_digest=ready.approval_digest)
    meta = {REPLAYS: following[-1].id} if (following := replaying.replay_queue.entries) else {}
    replaying.decide(event, "person", **meta)
    return replaying


def is_over(question: Cursor) -> bool:
    """Return whether a question has its answer, or the model gave none: nothing is to be done."""
    return not question.state.open and (
        isinstance(question.next_step, AskPerson) or question.turn_limit_reached
    )


def leave_question(cursor: Cursor) -> None:
    """Move a cursor back to the conversation, where no call of its question has to end first."""
    state = cursor.state
    if state.conversation and not state.open:
        cursor.stand_at(resume_replay(cursor.context, state.conversation))


Entries = tuple[Entry, ...]


def resume_replay(context: SessionContext, head: str) -> Cursor:
    """Return a cursor at an entry, which continues a replay that was interrupted there.

    One that ran every call again does so. A cell that is run again repeats results instead: after a
    restart it has no effect that nobody asked for there.
    """
    queue, path = unfinished_replay(context.journal, head, FRESH), context.journal.path(head)
    replayed, _ = _last_replay(context.journal, path, REPLAYS, FRESH)
    still = {call_id_of(entry.event) for entry in queue.entries[queue.position :]}
    queue.fresh = bool(replayed) and FRESH in replayed[0].meta and not queue.superseded >= still
    return Cursor(context, head, queue)


def unfinished_replay(journal: Journal, head: str, *keys: str) -> ReplayQueue:
    """Return the entries that an interrupted replay has not repeated; an empty queue without one.

    `keys` are further ones than `REPLAYS` whose replays count.

    If the branch has other prompts or replies than recorded, the replay was over.
    """
    replayed, recorded = _last_replay(journal, journal.path(head), REPLAYS, *keys)
    # What is repeated may be a replay itself that had not ended.
    earlier = unfinished_replay(journal, recorded[-1].id).remaining() if recorded else None
    queue = ReplayQueue(recorded, following=earlier)
    for turn in filter(None, map(_turn, replayed)):
        while (entry := queue.next()) is not None and _turn(entry) is None:
            queue.position += 1
        if entry is None or _turn(entry) != turn:
            return ReplayQueue()
        queue.position += 1
    queue.superseded |= {call_id_of(entry.event) for entry in replayed} - {""}
    return queue


def _last_replay(journal: Journal, path: Entries, *keys: str) -> tuple[Entries, Entries]:
    """Return the last replay on a path, and what it repeats; both follow the same entry."""
    for number in reversed(range(len(path))):
        leaf = next((path[number].meta[key] for key in keys if key in path[number].meta), None)
        recorded = journal.path(leaf)[number:] if leaf in journal else ()
        # A replay of the replay repeats this entry with its meta, after another entry.
        if recorded and recorded[0].parent == path[number].parent and path[number] != recorded[0]:
            return path[number:], recorded
    return (), ()


def _turn(entry: Entry) -> object:
    """Return a prompt by its text, or a reply by the ids of its calls; None for another entry."""
    match entry.event:
        case Asked(text, again=times_asked):
            return text, times_asked
        case Replied(calls=calls):
            return "", *(call.id for call in calls)
    return None


def fork_note(cursor: Cursor) -> str:
    """Return what a person reads at the end of a fork, where the model is asked next."""
    count = len(cursor.state.order)
    note = t("New branch after call %1. The model continues from here.", count)
    is_list = isinstance(cursor.context.model, Scripted)
    return joined(" ", (note, FROM_A_LIST)) if is_list else note
