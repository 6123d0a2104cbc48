"""The fold that computes a session's state: what each event changes in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec.structs import replace
from rpds import HashTrieMap

from .call_record import (
    CALL_ID,
    SAVE,
    AskedCall,
    CallRecord,
    RecordedStatus,
    objects_of,
    result_object,
)
from .errors import NotYourTurn
from .events import (
    Asked,
    Data,
    Decided,
    Failed,
    Finished,
    InputNeeded,
    Opened,
    Outcome,
    Replied,
    Started,
    Unknown,
)
from .folds import Trail
from .input_round import InputRound
from .journal import Journal
from .journal_entries import Entry
from .object_names import introduce, reserve, with_inputs, with_producers
from .recorded_data import NOTHING, FrozenDict, JsonDict
from .state import START, State


def finish_call(state: State, call: CallRecord, end: Finished) -> State:
    """Return the state after a call has its outcome."""
    outcome = with_producers(call.id, end.outcome)
    objects = objects_of(outcome)
    for ref in objects:
        state = introduce(state, ref)
    if end.reserved_names:
        state = reserve(state, end.reserved_names, call.id)
    names, reserved = tuple(map(state.name_of, objects)), end.reserved_names
    call = replace(call, outcome=outcome, objects=names, reserved_names=reserved, repeated=False)
    changes = (
        _changes_of_result(state, call, outcome, end.secrets)
        if call.status in ("succeeded", "answered")
        else {}
    )
    still_open = state.open[1:]
    # Calls that run together end in any order.
    if call.id not in state.open[:1]:
        still_open = tuple(call_id for call_id in state.open if call_id != call.id)
    return replace(
        state,
        calls=state.calls.insert(call.id, call),
        open=still_open,
        settled=state.settled + 1,
        **changes,
    )


def _changes_of_result(
    state: State, call: CallRecord, outcome: Outcome, keys: tuple[str, ...]
) -> JsonDict:
    """Return the fields that a result changes; `keys` are those of its markers."""
    before = state.succeeded.get(call.tool) or Trail()
    changes: JsonDict = {"succeeded": state.succeeded.insert(call.tool, before.add(call.id))}
    # A call that failed worked on a copy that is gone, so it leaves no trace here.
    if call.started is not None and call.started.instance:
        changes["instances"] = state.instances.insert(call.started.instance, call.id)
    size = len(call.result_text) if result_object(outcome) is None else 0
    if size > (state.sizes.get(call.tool) or 0):
        changes["sizes"] = state.sizes.insert(call.tool, size)
    if call.tool == SAVE and state.opened.outputs:
        changes |= {"outputs": call.recorded_arguments, "done": True}
    if isinstance(outcome, Data) and outcome.variables:
        changes["variables"] = FrozenDict({**state.variables, **outcome.variables})
        changes["setters"] = state.setters.update(dict.fromkeys(outcome.variables, call.id))
        if keys or state.marked:
            changes["marked"] = state.marked.update(dict.fromkeys(outcome.variables, keys))
    return changes


def state_at(journal: Journal, head: str | None) -> State:
    """Return the state after the entries up to `head`."""
    return journal.fold(head, evolve, START, checks_entries=True)


def evolve(state: State, entry: Entry) -> State:
    """Return the state after one more entry.

    Raises NotYourTurn where the event does not fit the state.
    """
    match entry.event:
        case Opened() as opened:
            if opened.secrets and not entry.verified:
                opened = replace(opened, secrets=())
            if opened.question:
                before = entry.parent or ""
                state = replace(state, conversation=before, last=None, outputs=NOTHING)
            return replace(_open(state, opened), root=state.root or entry.id)
        case Asked() as asked:
            return _ask(state, asked, entry.verified)
        case Replied() as reply:
            return _reply(state, reply, entry)
        case Decided() as decided:
            first = str(entry.meta.get("of", entry.id))
            return _decide(state, decided, entry.is_effective, first)
        case Started() as started:
            call = _expect(state, started.call_id, _start_by(state, started))
            if code := entry.meta.get("code"):
                state = replace(state, code=state.code.insert(call.tool, code))
            code = state.code.get(call.tool) or call.code
            # Its approval is this entry if the policy gave it, else the person's decision before.
            verified = entry.is_effective if started.approval_digest else call.verified
            return _put(state, call.with_start(started, verified, code))
        case Finished(call_id, InputNeeded() as asked):
            call = _expect(state, call_id, "pauses")
            keys = entry.event.secrets if entry.verified else ()
            rounds = (*call.rounds, InputRound(asked, entry.is_effective, keys))
            return _put(state, replace(call, rounds=rounds))
        case Finished(call_id, Unknown(reason)):
            call = _expect(state, call_id, "pauses")
            return _put(state, replace(call, unknown_reason=reason))
        case Finished(call_id, _, uses=uses) as end:
            call = _expect(state, call_id, "ends")
            if uses:
                call = call.with_start(Started(call_id, None, uses), call.verified, call.code)
            end = end if entry.verified or not end.secrets else replace(end, secrets=())
            return finish_call(state, call, end)


Transition = Literal["is decided on", "starts by policy", "starts by person", "pauses", "ends"]
_STATUS_BEFORE: Mapping[Transition, tuple[RecordedStatus, ...]] = {
    "is decided on": ("proposed", "approved", "input required", "unknown"),
    "starts by policy": ("proposed", "approved", "unknown"),
    "starts by person": ("approved",),
    # A call whose tool has started is unknown until it ends: its running is not recorded.
    "pauses": ("unknown",),
    "ends": ("proposed", "approved", "unknown"),
}
"""The statuses that a call may have before each kind of event."""


def _start_by(state: State, started: Started) -> Transition:
    """Return by whose approval a call starts, or resumes after a round of input."""
    last = state.call(started.call_id).open_round
    is_response = last is not None and last.response is not None
    # A round that is not verified leaves its call unknown: only "starts by policy" allows that.
    by_policy = started.approval_digest != "" or is_response
    return "starts by policy" if by_policy else "starts by person"


def _open(state: State, opened: Opened) -> State:
    instances = _still_used(state, opened)
    state = replace(state, opened=opened, instances=instances, settled=state.settled + 1)
    for _, input_object in opened.inputs:
        state = introduce(state, input_object)
    return state


def opened_as(opened: Opened) -> State:
    """Return the state of a session that was just opened."""
    return _open(START, opened)


def _still_used(state: State, opened: Opened) -> HashTrieMap[str, str]:
    """Return the instances that were used, without those that this opening replaces."""
    used, before = state.instances, dict(state.opened.instances)
    for name, digest in opened.instances:
        if name in used and before.get(name) != digest:
            used = used.remove(name)
    return used


def _no_result_yet(state: State) -> NotYourTurn:
    n = state.calls[state.open[0]].step
    return NotYourTurn(f"call {n} has no result yet: use its panel, or %toolchat approve {n}")


def _ask(state: State, asked: Asked, verified: bool) -> State:
    if state.open:
        raise _no_result_yet(state)
    if asked.by == "session":
        return replace(state, last=asked, reminded=state.reminded + 1)
    return replace(
        state,
        last=asked,
        prompt=asked.text,
        prompts=state.prompts.add((state.turns, asked.text, verified)),
        asked_again=asked.again,
        turns_since=0,
        reminded=0,
        done=False,
        reply_text="",
        settled=state.settled + 1,
        calls_before=len(state.order),
    )


def _reply(state: State, reply: Replied, entry: Entry) -> State:
    if state.open:
        raise _no_result_yet(state)
    stale = bool(entry.meta.get("stale"))
    calls, order = _with_calls(state, reply, entry, stale)
    ids = tuple(call.id for call in reply.calls)
    return replace(
        state,
        sent=state.sent.update(reply.offered) if reply.offered else state.sent,
        calls=calls,
        order=order,
        open=ids,
        latest=ids,
        last=reply,
        turns=state.turns + 1,
        client_turns=state.client_turns + (bool(ids) and calls[ids[0]].asked_call.by_client),
        turns_since=state.turns_since + 1,
        stale=stale,
        usage=state.usage.plus(reply.usage),
        reply_text=(reply.text if reply.said is None else reply.said) or state.reply_text,
    )


def _with_calls(
    state: State, reply: Replied, entry: Entry, stale: bool
) -> tuple[HashTrieMap[str, CallRecord], Trail[str]]:
    calls, order, turn, meta = state.calls, state.order, state.turns + 1, entry.meta
    why = str(meta.get("may_have_run", "kept" if "kept" in meta else ""))
    history = why if entry.verified else "unverified"
    first_reply, by = str(meta.get("of", entry.id)), str(meta.get("by", ""))
    # A repeated reply costs nothing: its tokens count where the model gave it.
    usage = None if "of" in meta else reply.usage
    tokens = usage.input + usage.output if usage is not None else 0
    for index, call in enumerate(reply.calls):
        if call.id in calls:
            raise NotYourTurn(f"the call id {call.id!r} was used before")
        if not CALL_ID.fullmatch(call.id):
            raise NotYourTurn(f"{call.id!r:.60} is no call id: letters, digits, _ and - alone")
        asked = AskedCall(
            call,
            entry.id,
            step=len(order) + 1,
            turn=turn,
            index=index,
            stale=stale,
            history=history,
            reply=first_reply,
            secrets=reply.secrets,
            tokens=0 if index else tokens,
            by=by,
        )
        calls = calls.insert(call.id, CallRecord(asked))
        order = order.add(call.id)
    return calls, order


def _decide(state: State, decided: Decided, verified: bool, entry: str) -> State:
    call = _expect(state, decided.call_id, "is decided on")
    if decided.round:
        return _put(state, _responded(call, decided, verified, entry))
    state = with_inputs(state, decided)
    call, names = call.with_decision(decided, verified, entry), decided.reserved_names
    match decided:
        case Decided(decision="reject", reason=reason):
            end = Finished(call.id, Failed(reason), reserved_names=names)
            return finish_call(state, call, end)
        case Decided(decision="answer", result=result):
            end = Finished(call.id, result or Data(None), reserved_names=names)
            return finish_call(state, call, end)
    return _put(state, call)


def _responded(call: CallRecord, response: Decided, verified: bool, entry: str) -> CallRecord:
    """Return a call with a person's response to its open round of input."""
    if call.open_round is None or len(call.rounds) != response.round:
        raise NotYourTurn(f"call {call.id} does not wait for a response to round {response.round}")
    if response.decision not in ("answer", "reject"):
        raise NotYourTurn(f"{response.decision!r} is no response to a round of input")
    return call.with_response(response, verified, entry)


def _put(state: State, call: CallRecord) -> State:
    return replace(state, calls=state.calls.insert(call.id, call))


def _expect(state: State, call_id: str, transition: Transition) -> CallRecord:
    """Return a call. Raises NotYourTurn where its status does not allow this."""
    call = state.call(call_id)
    if call.recorded_status not in _STATUS_BEFORE[transition]:
        raise NotYourTurn(f"call {call_id} is {call.status}; it waits for nothing of that kind")
    return call
