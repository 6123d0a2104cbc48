"""The calls that wait for a person, and their decisions: to approve, edit, reject or answer a call,
or to keep its recorded result. A decision is checked as the call would run, then is an event.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Collection, Mapping

from ..core.call_record import CallRecord
from ..core.digests import digest
from ..core.errors import Absent, CallError, NotYourTurn, UsageError, checked_text
from ..core.events import (
    DECISIONS,
    Data,
    Decided,
    Decision,
    Finished,
    Made,
    Outcome,
    Replied,
    ended_call,
)
from ..core.interrupts import attempt
from ..core.journal_entries import Entry
from ..core.recorded_data import JsonObject, replace
from ..core.secrets import Keys, MissingSecret, marker_keys
from ..core.state import NAME, State, kind_in
from ..core.state_fold import state_at
from ..core.text import nearest
from ..tools.arguments import plain_arguments
from ..tools.json_structure import HeldObject, structure_of
from ..tools.object_types import kind_name, leaf_kind
from ..tools.plain_data import plain_data
from ..tools.tool import default_arguments
from .cursor import Cursor
from .input_rounds import response_event, round_digest
from .live_objects import LiveObjects
from .permission import Ask, may_have_run, may_resume, permission, permission_of_policy
from .replay import as_repeated, is_decided
from .replay_queue import call_id_of
from .session_values import PreparedCall, recorded_value
from .tool_results import kinds_by_class, outcome_of

ASKED = "asked"
"""Of the meta of a person's decision: the name of the rule that asked for it."""


def decision_event(
    cursor: Cursor,
    call_id: str,
    decision: Decision,
    arguments: Mapping[str, object] | None = None,
    result: object = None,
    reason: str = "",
    approval_digest: str | None = None,
    tool: str = "",
) -> Decided:
    """Return the event of a decision; `approval_digest` is that of the call as it was shown.

    If a call asks for input, "answer" and "reject" respond to that. Raises NotYourTurn where the
    call does not wait, or has changed since it was shown; CallError where it could not run with
    these arguments; UsageError for an unknown decision.
    """
    demand_decision(decision, arguments, result, reason, tool)
    state = cursor.state
    call = _waiting(cursor, call_id, state)
    _demand_as_shown(cursor, call, state, approval_digest)
    if call.waits_for_input and decision != "edit":
        if decision != "approve" and may_resume(cursor, call):
            raise NotYourTurn(f"you responded to call {call.id} already: run() goes on with it")
        return response_event(call, decision, result, reason)
    event = decided_event(cursor, call, decision, arguments, result, reason, tool)
    if decision in ("reject", "answer"):
        return event
    ready, _ = cursor.prepared(call.with_decision(event, verified=True), state)
    if ready.tool.for_person:
        raise UsageError(f"{call.tool} is a request to you, and nothing runs: answer or reject it")
    repeated = as_repeated(cursor, call)
    may_be_over = event.decision == decision == "approve" and repeated.status != "proposed"
    if may_be_over and (repeated.is_over or is_decided(cursor, repeated, ready)):
        raise NotYourTurn(f"call {call.id} was decided on already: run() goes on with it")
    return replace(event, approval_digest=ready.approval_digest)


def decide_all(
    cursor: Cursor, calls: Mapping[str, str | None], decision: Decision, reason: str = ""
) -> None:
    """Record one decision for all these calls, given with their approval digests, if as shown.

    All are checked before the first one is recorded: where one does not fit, none is. A disk that
    fails later leaves those before it recorded.
    """
    cursor.refresh()
    events = [
        decision_event(cursor, call, decision, reason=reason, approval_digest=shown_digest)
        for call, shown_digest in calls.items()
    ]
    record_decisions(cursor, *events)


def record_decisions(cursor: Cursor, *events: Decided) -> None:
    """Record decisions of the person, each with the rule that asked for it."""
    questions = [question_about(cursor, event.call_id) for event in events]
    for event, asked in zip(events, questions, strict=True):
        cursor.decide(event, "person", **{ASKED: asked.rule} if asked and asked.rule else {})


def question_about(cursor: Cursor, call_id: str) -> Ask | None:
    """Return why a person is asked about a call, None where nobody is."""
    call = cursor.state.call(call_id)
    ready = cursor.runnable(call, cursor.state)
    allowed = permission_of_policy(cursor, call, ready) if ready else None
    return allowed if isinstance(allowed, Ask) else None


def demand_decision(
    decision: str, arguments: object, result: object, reason: object, tool: str = ""
) -> None:
    """Raise UsageError for a word that is no decision, and for what a decision does not take.

    Nothing is passed over: who gives a reason and forgets "reject" must not approve the call.
    """
    if reason != "":
        checked_text(reason, "the reason")
    if decision not in DECISIONS:
        names = ", ".join(DECISIONS)
        raise UsageError(
            f"{decision!r} is no decision; there are {names}.{nearest(decision, DECISIONS)}"
        )
    parts = {"arguments": arguments is not None, "result": result is not None}
    parts |= {"reason": reason != "", "tool": tool != ""}
    for name, taken_by in _TAKEN_BY.items():
        if parts[name] and decision not in taken_by:
            others = " or ".join(map(repr, taken_by))
            raise UsageError(f"{decision!r} takes no {name}; decide {others} to give one")


_TAKEN_BY = {
    "arguments": ("edit",),
    "tool": ("edit",),
    "result": ("answer",),
    "reason": ("reject", "edit", "answer"),
}
"""The decisions that take each part that a decision may have."""


def _waiting(cursor: Cursor, call_id: str, state: State) -> CallRecord:
    call = state.call(call_id)
    if call.id in cursor.running:
        raise NotYourTurn(f"call {call_id} is running")
    if call_id not in state.open:
        raise NotYourTurn(
            f"call {call_id} is {call.status} already; decide_anew({call_id!r}, ...) decides "
            "otherwise, on a branch of its own"
        )
    return call


def _demand_as_shown(cursor: Cursor, call: CallRecord, state: State, shown: str | None) -> None:
    """Raise NotYourTurn for a call that is not the one that was shown, by its approval digest."""
    if shown is not None and shown != current_approval_digest(cursor, call, state):
        raise NotYourTurn("the call has changed since it was shown; look at it and decide again")


def current_approval_digest(cursor: Cursor, call: CallRecord, state: State) -> str:
    """Return the digest of exactly what an open call would run, or of the round of input that it
    is at; "" where it cannot run now, or a replay rejects or answers it as recorded."""
    if call.waits_for_input:
        return round_digest(call)
    repeated = as_repeated(cursor, call)
    ready = None if repeated.is_over else cursor.runnable(repeated, state)
    return ready.approval_digest if ready else ""


def decided_event(
    cursor: Cursor,
    call: CallRecord,
    decision: Decision,
    arguments: Mapping[str, object] | None,
    result: object,
    reason: str,
    tool: str = "",
) -> Decided:
    """Return a decision on a call as an event, without its approval digest."""
    match decision:
        case "edit":
            if arguments is None:
                raise UsageError('an edit needs the arguments to run: arguments={"shape": ...}')
            return edit_event(cursor, call, arguments, reason, tool)
        case "approve":
            return replace(call.approval(""), reason=reason)
        case "answer":
            return answer_event(cursor, call, result, reason)
    return Decided(call.id, decision, reason=reason)


def edit_event(
    cursor: Cursor,
    call: CallRecord,
    arguments: Mapping[str, object],
    reason: str,
    tool_name: str = "",
) -> Decided:
    """Return the decision that a call runs with a person's arguments in place of all its own, and
    with another tool where one is named.

    A live value in them is named. Of a function, an argument that the call has and the person
    leaves out is recorded as its default: that is what runs. Raises CallError for arguments that
    are not JSON.
    """
    tool_name = tool_name or call.tool
    objects, tool = LiveObjects(cursor), cursor.tool_named(tool_name)
    plain = plain_arguments(arguments, objects)
    if tool is not None and tool.origin is not None:
        recorded = (cursor.recorded_state() or cursor.state).calls.get(call.id, call)
        defaults, left_out = default_arguments(tool), recorded.recorded_arguments.keys() - plain
        plain |= {name: default for name, default in defaults.items() if name in left_out}
    marked, keys = _marked(cursor, call, plain)
    event = Decided(call.id, "edit", "", marked, reason=reason, secrets=keys)
    other = "" if tool_name == call.call.tool else tool_name
    return replace(event, inputs=objects.inputs(plain), tool=other)


def _marked(
    cursor: Cursor, call: CallRecord, arguments: Mapping[str, object]
) -> tuple[JsonObject, Keys]:
    """Return a person's arguments with markers in place of secrets, and the keys of the markers.

    A marker that the call has still stands for its secret. Any other marker is plain text, so
    that nobody gets a value of the environment by writing its name.
    """
    values = dict(arguments)
    ready = cursor.runnable(call, cursor.state)
    if ready is not None and ready.inputs is not None:
        inputs = ready.inputs.arguments
        plain = {path[0] for path in ready.inputs.plain}
        # A value that was filled in has keys that the call has not: `mark` finds them again.
        same = (n for n in inputs.keys() - plain if values.get(n) == ready.arguments.get(n))
        values |= {name: inputs[name] for name in same if name in values}
    keys: Keys = ()
    with contextlib.suppress(MissingSecret):
        keys = call.demand_keys()
    marked, kept = cursor.context.secrets.mark(values, marker_keys(values) & {*keys})
    return marked, kept


def answer_event(cursor: Cursor, call: CallRecord, result: object, reason: str) -> Decided:
    """Return a person's answer to a call; that to a request records the arguments as shown."""
    tool, outcome = cursor.tool_named(call.tool), answer_outcome(cursor, call, result)
    shown = cursor.arguments_to_run(call) if tool is not None and tool.for_person else call.asked
    arguments = None if shown == call.asked else shown
    return Decided(call.id, "answer", "", arguments, outcome, reason)


def check_answer(cursor: Cursor, call_id: str, result: object) -> None:
    """Raise CallError where a result that a person typed does not fit what the tool returns.

    A program's answer is not checked: it may stand for a tool that returned what it should not.
    """

    def resolve(name: str, types: tuple[type, ...]) -> Made:
        ref, kinds = cursor.state.resolve(name), cursor.context.values.kinds
        names = [kinds.get(cls) or kind_name(cls) for cls in types]
        if ref.kind not in names:
            raise CallError(f"must be a {' or a '.join(names)}; {name} is a {ref.kind}")
        return ref

    call = cursor.state.call(call_id)
    tool = cursor.tool_named(call.tool)
    # The fields of a form are checked with the decision.
    if tool is not None and not call.waits_for_input:
        values = cursor.context.values
        tool.check_answer(values.with_plain_data(result, cursor.state), resolve)


def answer_outcome(cursor: Cursor, call: CallRecord, result: object) -> Outcome:
    """Return a person's result as an outcome: objects, named or given, plain data, or both.

    The name of plain data, such as `str#1`, stands for the data, as in the arguments of a call.
    Raises UsageError for a call of the scheme's own, CallError for an object that is not
    there yet where the call was asked for.
    """
    if any(tool.name == call.tool for tool in cursor.offer.own):
        raise UsageError(
            f"{call.tool} is the scheme's own and only says what the model chose, so it takes no "
            "answer; edit or reject it"
        )
    values, state = cursor.context.values, cursor.state
    result = values.with_plain_data(result, state)
    registered, names = kinds_by_class(values), frozenset(values.kinds.values())

    def object_kind(value: object) -> str | None:
        if isinstance(value, str):
            named = NAME.fullmatch(value) and kind_in(value) in names
            return kind_in(value) if named else None
        return registered(type(value))

    structure, _ = attempt(
        functools.partial(structure_of, texts_name_objects=True), result, object_kind, leaf_kind
    )
    if structure is None:
        return Data(plain_data(result))
    objects = [
        state.resolve(held.value)
        if isinstance(held.value, str)
        else _answered(cursor, call, held, index)
        for index, held in enumerate(structure.objects)
    ]
    return outcome_of(structure, result, tuple(objects))


def _answered(cursor: Cursor, call: CallRecord, held: HeldObject, index: int) -> Made:
    """Store an object that a person gave, and return it."""
    values, recorded = cursor.context.values, recorded_value(held.value)
    key = digest("answered", cursor.head, call.id, recorded.content, index)
    ref = Made(held.kind, key, recorded.content)
    values.store(ref, recorded)
    # No replay could compute it again.
    values.save((ref.digest,))
    return ref


def recorded_result(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> Entry | None:
    """Return the recorded end of exactly this call, as it would run now; None without one."""
    end = cursor.replay_queue.recorded_end(call.id)
    if end is None or not may_have_run(cursor, call, ready):
        return None
    recorded = state_at(cursor.context.journal, end[0].id).calls[call.id]
    return end[0] if recorded.approval_digest == ready.approval_digest else None


def keep_result(cursor: Cursor, call_id: str, approval_digest: str | None, following: bool) -> None:
    """Record that a person keeps the recorded result of a call; with `following` all later ones.

    Nothing runs. Raises NotYourTurn where the call does not wait, has changed since it was
    shown, or has no recorded result.
    """
    state = cursor.state
    call = state.call(call_id)
    ready = cursor.runnable(call, state) if call_id in state.open else None
    _demand_as_shown(cursor, call, state, approval_digest)
    end = recorded_result(cursor, call, ready) if ready is not None else None
    if end is None:
        raise NotYourTurn(f"call {call_id} has no recorded result to keep")
    entries = cursor.replay_queue.entries[cursor.replay_queue.position :]
    kept = [entry for entry in entries if following or call_id_of(entry.event) == call_id]
    # Another computer's markers would get this user's secrets.
    if any(not entry.verified and getattr(entry.event, "secrets", ()) for entry in kept):
        raise NotYourTurn(f"call {call_id} holds secrets of another computer: edit it or reject it")
    if following and entries[0].parent == cursor.head:
        ended = {ended_call(entry.event) for entry in entries} - {""}
        # A call without a result is not kept: a policy, or an approval, could then run it.
        kept = [entry for entry in entries if _is_over(entry, ended)]
        cursor.context.journal.adopt({entry.id: _kept(entry) for entry in kept})
        cursor.head, cursor.replay_queue.position = entries[-1].id, len(cursor.replay_queue.entries)
        return
    for entry in entries[: entries.index(end) + 1]:
        if call_id_of(entry.event) == call_id:
            cursor.write(entry.event, **_kept(entry))
    cursor.replay_queue.superseded.add(call_id)


def _is_over(entry: Entry, ended: Collection[str]) -> bool:
    """Return whether all calls that an entry is about have a result."""
    if isinstance(entry.event, Replied):
        return all(call.id in ended for call in entry.event.calls)
    return call_id_of(entry.event) in {"", *ended}


def _kept(entry: Entry) -> JsonObject:
    """Return the meta of an entry that a person vouches for."""
    meta = {key: value for key, value in entry.meta.items() if key != "may_have_run"}
    if isinstance(entry.event, Replied):
        # If a kept value is missing later, a person is asked about its call: no policy runs it.
        return {**meta, "kept": True}
    return {**meta, "by": "person"} if isinstance(entry.event, Decided | Finished) else meta


def waiting_calls(cursor: Cursor) -> tuple[CallRecord, ...]:
    """Return the calls that wait for a person, in call order."""
    state, waiting = cursor.state, list[CallRecord]()
    for call in (state.calls[call_id] for call_id in state.open):
        if _waits(cursor, call, state, follows=bool(waiting)):
            waiting.append(call)
    return tuple(waiting)


def pending_calls(cursor: Cursor) -> tuple[CallRecord, ...]:
    """Return the calls that wait for a person as they would run, the one to decide first."""
    return tuple(
        cursor.shown(replace(call, runs_with=cursor.arguments_to_run(call)))
        for call in waiting_calls(cursor)
    )


def _waits(cursor: Cursor, call: CallRecord, state: State, follows: bool) -> bool:
    """Return whether a call waits for a person; `follows`: whether a call before it waits."""
    if call.id in cursor.running:
        return False
    if call.status == "unknown" or call.open_round is not None:
        if may_resume(cursor, call):
            return False
        entry = cursor.replay_queue.next(state.open)
        # A decision that is not effective, such as one in front of a damaged end, allows nothing.
        is_next = entry and entry.is_effective and call_id_of(entry.event) == call.id
        return not is_next or call.id in cursor.replay_queue.superseded
    call = as_repeated(cursor, call)
    try:
        ready, is_scheme_tool = cursor.prepared(call, state)
    except Absent:
        return True
    except CallError:
        # A call that does not fit yet waits with the call before it, whose result may make it fit.
        return follows and call.status == "proposed"
    of_scheme = is_scheme_tool and call.status != "approved"
    asks = isinstance(permission(cursor, call, ready, of_scheme), Ask)
    return asks and not (call.is_over or is_decided(cursor, call, ready))
