"""Replay: recorded events are repeated on another branch, one at a time.

Recorded results are used where the approval digest is the same. Where a recorded approval does
not hold any more, the person is asked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.call_record import CallRecord
from ..core.errors import Absent, CallError
from ..core.events import Decided, Event, Failed, Finished, Outcome, Replied, Started
from ..core.interface_text import t
from ..core.interrupts import Hold
from ..core.journal import Journal
from ..core.journal_entries import Entry
from ..core.recorded_data import replace
from ..core.repeated_entries import repeated_meta
from ..core.state import State, step_of
from ..core.state_fold import state_at
from .calls_together import run_together
from .cursor import Cursor
from .input_rounds import is_same_round
from .outdated import changed_tool_parts, recorded_tool_code
from .permission import Ask, Permission, Refuse, Run, has_approval, permission_of_policy
from .replay_queue import ReplayQueue, call_id_of, can_follow, results_changed, same_objects
from .session_values import PreparedCall
from .turn import execute_step, run_call, start_of, tool_code_note
from .unchanged_calls import repeat_unchanged


def reapproval_reason(cursor: Cursor, ready: PreparedCall) -> str:
    """Return why a person's recorded approval of a call does not hold for it now, "" for none."""
    queue, journal = cursor.replay_queue, cursor.context.journal
    call = cursor.state.calls[ready.call_id]
    if call.status == "approved":
        approval, recorded_state = journal[call.decision_entry], cursor.recorded_state()
        # Where it ran on the recorded branch, the code of its tool is recorded there.
        call = recorded_state.calls.get(call.id, call) if recorded_state is not None else call
    elif (recorded := _recorded_approval(queue, call.id)) is not None:
        approval, call = recorded, state_at(journal, queue.entries[-1].id).calls[call.id]
    else:
        return ""
    return t("You are asked again: %1.", _change(call, approval, journal, ready))


def as_repeated(cursor: Cursor, call: CallRecord) -> CallRecord:
    """Return an open call as a replay decides it next: with the person's recorded decision, where
    that holds for it now; else the call as it is."""
    queue = cursor.replay_queue
    following = queue.entries[queue.position :]
    if not following or call.status != "proposed" or call.id in queue.superseded:
        return call
    for entry in following:
        match entry.event:
            case Decided(call.id, "reject" | "answer", _, None, round=0):
                return call.with_decision(entry.event, entry.verified)
    recorded = _recorded_approval(queue, call.id)
    if recorded is None:
        return call
    assert isinstance(recorded.event, Decided)
    decided = call.with_decision(recorded.event, recorded.is_effective, recorded.id)
    try:
        ready = cursor.prepared(decided, cursor.state)[0]
    except (Absent, CallError):
        return call
    return decided if is_decided(cursor, decided, ready) else call


def is_decided(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> bool:
    """Return whether an open call runs without a question: as a person decided, which holds for it
    now, or in a replay as the policy decides again."""
    queue = cursor.replay_queue
    is_repeated = call.id not in queue.superseded and queue.recorded_end(call.id) is not None
    if call.status == "approved":
        decision = cursor.context.journal[call.decision_entry]
        assert isinstance(decision.event, Decided)
        holds = is_repeated and _holds(cursor, decision, decision.event, ready)
        return holds or has_approval(cursor, call, ready)
    if not is_repeated or call.status != "proposed" or _recorded_approval(queue, call.id):
        return False
    return isinstance(permission_of_policy(cursor, call, ready), Run)


def following_approvals(cursor: Cursor, ready: PreparedCall) -> int:
    """Return how many later approvals the person may renew together with that of this call.

    0 unless an edit changed this call only in its objects.
    """
    queue, call = cursor.replay_queue, cursor.state.calls[ready.call_id]
    approval = _recorded_approval(queue, ready.call_id)
    if approval is None or not _differs_in_objects_alone(cursor, approval, call, ready):
        return 0
    following = queue.entries[queue.position + 1 :]
    ids = {call_id_of(entry.event) for entry in following if _is_approval(entry)}
    return len(ids - {ready.call_id} - queue.superseded)


def _is_approval(entry: Entry) -> bool:
    is_approval = isinstance(entry.event, Decided) and entry.event.decision in ("approve", "edit")
    return is_approval and entry.meta.get("by") != "policy"


def _differs_in_objects_alone(
    cursor: Cursor, approval: Entry, call: CallRecord, ready: PreparedCall
) -> bool:
    """Return whether a call differs from the approved one only in the content of its objects.

    Its tool is neither external nor destructive, and has the same version. Its arguments are the
    same, and nothing in them comes from untrusted text.
    """
    tool, context = ready.tool, cursor.context
    if tool.external or tool.destructive or tool.for_person or not approval.is_effective:
        return False
    recorded = state_at(context.journal, cursor.replay_queue.entries[-1].id).calls[call.id]
    code = recorded_tool_code(recorded, context.journal)
    if code is None or code.version != tool.version():
        return False
    # The name of an object tells its kind, and is the same on both branches.
    if dict(recorded.recorded_arguments) != dict(ready.arguments):
        return False
    return not context.origins(cursor.state, call, ready.arguments).has_untrusted


def last_step_text(cursor: Cursor) -> str:
    """Return whether the last call of a replay came out as recorded; "" where none has ended."""
    recorded, ended = cursor.recorded_state(), [c for c in cursor.state.all_calls() if c.is_over]
    before = recorded.calls.get(ended[-1].id) if recorded is not None and ended else None
    if before is None:
        return ""
    now, then = ([m.content or m.digest for m in c.produced] for c in (ended[-1], before))
    if before == ended[-1] and now == then:
        return t("Replay, on a new branch: call %1 came out as recorded.", before.step)
    return t("Replay, on a new branch: call %1 differs from the recorded one.", before.step)


def will_repeat(cursor: Cursor, call: CallRecord, ready: PreparedCall | None) -> bool:
    """Return whether a replay takes the recorded result of an open call: its tool does not run."""
    recorded_state = cursor.recorded_state()
    recorded = recorded_state.calls.get(call.id) if recorded_state is not None else None
    if recorded is None or cursor.replay_queue.fresh:
        return False
    if recorded.started is None:
        # A tool of the scheme, such as `save`, or a call that failed its check.
        return recorded.is_over and cursor.context.call_index.has_run(call, cursor.state)
    return ready is not None and cursor.context.values.cached_outcome(ready) is not None


def next_step_text(cursor: Cursor) -> str:
    """Return what the next step of a replay does with its next call, and why; "" without one."""
    state, context, queue = cursor.state, cursor.context, cursor.replay_queue
    entry, recorded_state = queue.next(state.open), cursor.recorded_state()
    if entry is None or recorded_state is None or not state.open:
        return ""
    call = as_repeated(cursor, state.calls[state.open[0]])
    recorded, ready = recorded_state.calls.get(call.id), cursor.runnable(call, state)
    if recorded is None or (recorded.started is None and not recorded.is_over):
        return ""
    if call.is_over or will_repeat(cursor, call, ready):
        return t("The next step repeats call %1 (%2): its tool does not run.", call.step, call.tool)
    if ready is None:
        return ""
    change = _change(recorded, entry, context.journal, ready)
    asks = isinstance(permission_of_policy(cursor, call, ready), Ask)
    if asks and not is_decided(cursor, call, ready):
        return t("The next step asks you about call %1 (%2): %3.", call.step, call.tool, change)
    return t("The next step runs call %1 (%2): %3.", call.step, call.tool, change)


def replay_recorded(cursor: Cursor) -> None:
    """Repeat the remaining recorded entries, to the last one or to the next pause."""
    while cursor.replay_queue.next(cursor.state.open) and advance(cursor):
        pass


def _recorded_approval(queue: ReplayQueue, call_id: str) -> Entry | None:
    """Return the person's last recorded decision that lets a call run; None where there is none."""
    for entry in reversed(queue.entries):
        match entry.event:
            case Started(approved_id, approval_digest=approval_digest) if (
                approved_id == call_id and approval_digest
            ):
                return None
            case Decided(approved_id, "approve" | "edit") if approved_id == call_id:
                return entry
    return None


def _change(
    recorded_call: CallRecord, approval: Entry, journal: Journal, ready: PreparedCall
) -> str:
    """Return what differs from the call that was approved."""
    code = recorded_tool_code(recorded_call, journal)
    if not approval.verified:
        return t("it was approved on another computer")
    if code is not None and (change := changed_tool_parts(ready.tool, code)):
        return change
    if recorded_call.approval_digest != ready.approval_digest:
        if recorded_call.started is None and not recorded_call.is_over:
            # The code of its tool is recorded where it starts.
            return t("its tool or its input has changed since then")
        return t("its input has changed since then")
    if recorded_call.outcome is not None:
        return t("it ran, and its result is no longer on this computer")
    if approval.meta.get("may_have_run") == "restarted":
        return t("the kernel in which it was approved has ended")
    return t("it was approved, and nobody ran it")


def advance(cursor: Cursor, single: bool = False) -> Entry | None:
    """Take one step and return its last entry; None where the session waits for a person.

    The step replays the next recorded entry, or (unless `single`) all next entries that are
    unchanged. Without recorded entries it is the next step of the ordinary turn. Raises ModelError,
    and KeyboardInterrupt after the interrupted call is recorded.
    """
    with Hold():
        if cursor.context.hooks and cursor.holding_hook is not None:
            return None
        state = cursor.state
        recorded = cursor.replay_queue.next(state.open)
        if recorded is not None and not single and repeat_unchanged(cursor, state):
            return cursor.context.journal[cursor.head]
        while recorded is not None:
            call_id = call_id_of(recorded.event)
            if call_id in cursor.replay_queue.superseded:
                # Entries that were recorded after a call may depend on its new result.
                return execute_step(cursor, step_of(state.calls[call_id]), state)
            if recorded.parent == cursor.head or can_follow(recorded.event, state):
                return replay_entry(cursor, recorded, state)
            if not call_id:
                break
            cursor.replay_queue.position += 1
            recorded = cursor.replay_queue.next(state.open)
        if cursor.context.jobs > 1 and (entry := run_together(cursor)) is not None:
            return entry
        return execute_step(cursor, cursor.next_step_in(state), state)


def replay_entry(cursor: Cursor, recorded_entry: Entry, state: State) -> Entry | None:
    """Repeat the next recorded event; None where a person has to be asked again."""
    # The entry may have become verified since the queue was made.
    recorded_entry = cursor.context.journal[recorded_entry.id]
    recorded_state = (
        state
        if recorded_entry.parent == cursor.head
        else state_at(cursor.context.journal, recorded_entry.parent)
    )
    match recorded_entry.event:
        case Decided(round=number) as event if number:
            return _replay_response(cursor, recorded_entry, event, recorded_state, state)
        case Decided(decision="approve" | "edit") as event:
            return _replay_approval(cursor, recorded_entry, event, state)
        case Decided(call_id, "answer", arguments=Mapping() as asked) if (
            asked != cursor.arguments_to_run(state.calls[call_id])
        ):
            # The request to the person is another one here.
            cursor.replay_queue.superseded.add(call_id)
            return execute_step(cursor, step_of(state.calls[call_id]), state)
        case Started() as event:
            return _replay_start(cursor, recorded_entry, event, recorded_state, state)
        case Finished(call_id, by="program", uses=uses) if not same_objects(
            uses, recorded_state, state
        ):
            return execute_step(cursor, step_of(state.calls[call_id]), state)
        case Finished(call_id, by="session") as event:
            cursor.replay_queue.position += 1
            return _replay_result(cursor, recorded_entry, event, state.calls[call_id], state)
        case Replied():
            is_stale = state.stale or results_changed(recorded_state, state)
            return _repeat(cursor, recorded_entry, is_stale)
    return _repeat(cursor, recorded_entry)


def _repeat(cursor: Cursor, recorded_entry: Entry, is_stale: bool = False) -> Entry:
    """Repeat a recorded event unchanged: an approval allows nothing else than it did.

    A reply is marked as stale if the results before it have changed.
    """
    cursor.replay_queue.position += 1
    event, verified = recorded_entry.event, recorded_entry.verified
    meta = repeated_meta(recorded_entry, is_stale)
    return _write_again(cursor, event, recorded_entry, verified=verified, **meta)


def _write_again(
    cursor: Cursor, event: Event, recorded_entry: Entry, *, may_wait: bool = True, **meta: Any
) -> Entry:
    """Record an event again; where nothing before it changed, it is the recorded entry."""
    if (
        recorded_entry.parent == cursor.head
        and recorded_entry.verified
        and event == recorded_entry.event
    ):
        cursor.head = recorded_entry.id
        return recorded_entry
    return cursor.write(event, may_wait=may_wait, **meta)


def _replay_approval(
    cursor: Cursor, recorded_entry: Entry, event: Decided, state: State
) -> Entry | None:
    """Repeat a person's approval if it holds for exactly this call; else ask the person again."""
    call = state.calls[event.call_id].with_decision(event, recorded_entry.verified)
    call.demand_keys()
    try:
        ready, of_scheme = cursor.prepared(call, state)
    except CallError:
        # The call fails here, and the decision stays for a branch on which it can run.
        return _repeat(cursor, recorded_entry)
    allowed = permission_of_policy(cursor, call, ready)
    holds = _holds(cursor, recorded_entry, event, ready)
    follows = not holds and cursor.replay_queue.approves_following
    if follows and _differs_in_objects_alone(cursor, recorded_entry, call, ready):
        # It allows another effect, so it is recorded as a new decision.
        cursor.decide(replace(event, approval_digest=ready.approval_digest), "person")
        return cursor.context.journal[cursor.head]
    if (of_scheme or holds or isinstance(allowed, Run)) and not ready.tool.for_person:
        if not (of_scheme or holds):
            # Only the current policy can start the call: the old approval does not hold.
            return _repeat(cursor, recorded_entry)
        cursor.replay_queue.position += 1
        meta = repeated_meta(recorded_entry)
        if event.approval_digest != ready.approval_digest:
            event = replace(event, approval_digest=ready.approval_digest)
        return cursor.keep_prepared(
            _write_again(cursor, event, recorded_entry, **meta), ready, of_scheme
        )
    if isinstance(allowed, Refuse):
        return _reject(cursor, event.call_id, allowed)
    # The person is asked again, about the call as the person edited it.
    return _repeat(cursor, recorded_entry) if call.edited else None


def _replay_response(
    cursor: Cursor, recorded_entry: Entry, event: Decided, recorded_state: State, state: State
) -> Entry | None:
    """Repeat a person's response to a round of input, where the call asks for the same."""
    call, recorded_call = state.calls[event.call_id], recorded_state.calls[event.call_id]
    if not is_same_round(call, recorded_call, event.round):
        cursor.replay_queue.superseded.add(call.id)
        return execute_step(cursor, step_of(call), state)
    return _repeat(cursor, recorded_entry)


def _reject(cursor: Cursor, call_id: str, refused: Refuse) -> Entry:
    cursor.replay_queue.superseded.add(call_id)
    event = Decided(call_id, "reject", reason=refused.reason, rule=refused.rule)
    return cursor.write(event, by=refused.by)


def _holds(cursor: Cursor, recorded_entry: Entry, event: Decided, ready: PreparedCall) -> bool:
    """Return whether a recorded approval still allows what would happen now.

    It holds for exactly the approved call, and for one effect. If the recorded result is missing
    now, the person is asked again, unless the tool is repeatable.
    """
    if ready.approval_digest != event.approval_digest or not recorded_entry.is_effective:
        return False
    end = _recorded_end(cursor, event.call_id)
    if cursor.replay_queue.fresh or ready.tool.repeatable or end is None:
        return True
    return _is_at_hand(cursor, ready, end)


def _replay_start(
    cursor: Cursor, recorded_entry: Entry, event: Started, recorded_state: State, state: State
) -> Entry | None:
    """Repeat the start of a call if it is allowed for the same reason; else run the call again.

    A call that never ended does not run: the person decides on it. A start that a policy allowed
    is decided by the current policy.
    """
    call = state.calls[event.call_id]
    recorded = event.approval_digest or recorded_state.calls[call.id].approval_digest
    entry = _start_as_recorded(cursor, recorded_entry, event, recorded, state)
    if entry is not None:
        return entry
    if event.approval_digest:
        try:
            allowed = _permission_to_start(cursor, call, state)
        except CallError as error:
            cursor.replay_queue.superseded.add(call.id)
            return cursor.write(Finished(call.id, Failed(str(error))))
        if isinstance(allowed, Refuse):
            return _reject(cursor, call.id, allowed)
        if isinstance(allowed, Ask):
            return None
    cursor.replay_queue.superseded.add(call.id)
    return run_call(cursor, call, state, from_record=not cursor.replay_queue.fresh)


def _permission_to_start(cursor: Cursor, call: CallRecord, state: State) -> Permission:
    """Return whether the current policy allows a start that a policy allowed in the recording."""
    ready, of_scheme = cursor.prepared(call, state)
    is_recorded = of_scheme or (
        not cursor.replay_queue.fresh and cursor.replay_queue.stays_open(call.id)
    )
    if is_recorded and not ready.tool.for_person:
        return Run("policy")
    return permission_of_policy(cursor, call, ready)


def _start_as_recorded(
    cursor: Cursor, recorded_entry: Entry, event: Started, recorded: str, state: State
) -> Entry | None:
    """Repeat the start of a call whose recorded end is repeated too; None where it is not."""
    queue, by_policy = cursor.replay_queue, event.approval_digest != ""
    call = state.calls[event.call_id]
    try:
        if by_policy and not isinstance(_permission_to_start(cursor, call, state), Run):
            return None
        if not by_policy and call.approval_digest != recorded:
            return None
        ready = cursor.prepared(call, state)[0]
    except CallError:
        return None
    cut_off = queue.has_unknown_outcome(call.id)
    # A recorded round of input is repeated: the tool does not ask the person again.
    asks_for_input = call.open_round is not None or queue.asks_for_input(call.id)
    is_kept = not cursor.replay_queue.fresh or asks_for_input
    at_hand = is_kept and _is_at_hand(cursor, ready, _recorded_end(cursor, call.id))
    if ready.approval_digest != recorded or not (at_hand or cut_off):
        return None
    queue.position += 1
    meta = tool_code_note(cursor, ready.tool, state)
    started = start_of(call, ready, event.rule if by_policy else None)
    entry = _write_again(cursor, started, recorded_entry, may_wait=at_hand, **meta)
    return cursor.keep_prepared(entry, ready)


def _replay_result(
    cursor: Cursor, recorded_entry: Entry, event: Finished, call: CallRecord, state: State
) -> Entry | None:
    if call.status in ("proposed", "approved"):
        return run_call(cursor, call, state, from_record=not cursor.replay_queue.fresh)
    ready = cursor.prepared(call, state)[0]
    if _is_at_hand(cursor, ready, (recorded_entry, event.outcome)):
        # A round of input that may have continued elsewhere keeps that mark.
        marks = {key: m for key, m in recorded_entry.meta.items() if key == "may_have_run"}
        return _write_again(cursor, event, recorded_entry, **marks)
    # Its result is missing now. Nothing runs here: no approval allows a second run.
    return execute_step(cursor, step_of(call), state)


def _recorded_end(cursor: Cursor, call_id: str) -> tuple[Entry, Outcome] | None:
    """Return the recorded end of a call as the journal has it now, and its outcome."""
    end = cursor.replay_queue.recorded_end(call_id)
    return None if end is None else (cursor.context.journal[end[0].id], end[1])


def _is_at_hand(cursor: Cursor, ready: PreparedCall, end: tuple[Entry, Outcome] | None) -> bool:
    """Return whether the recorded results of a call are available, so that nothing has to run."""
    values = cursor.context.values
    return end is not None and end[0].verified and values.has_results(ready.results(end[1]))
