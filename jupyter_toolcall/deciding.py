"""A person's decision on a call that waits: checked as it would run, then an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .arguments import readable
from .content import content_digest, plain_data
from .digest import digest
from .errors import NotYourTurn, UsageError
from .events import DECISIONS, Data, Decided, Decision, Made, Outcome
from .loop import Cursor
from .state import CallState, State
from .tools import nearest
from .tools.kinds import kind_of


def decision(
    cursor: Cursor,
    call_id: str,
    verdict: Decision,
    *,
    arguments: Mapping[str, Any] | None = None,
    result: Any = None,
    reason: str = "",
    bound: str = "",
) -> Decided:
    """Return the event of a decision.

    Raises NotYourTurn where the call does not wait, or is no longer what was shown;
    CallError where it could not run with these arguments; UsageError for another word.
    """
    if verdict not in DECISIONS:
        known = ", ".join(DECISIONS)
        raise UsageError(
            f"{verdict!r} is no decision; there are {known}.{nearest(verdict, DECISIONS)}"
        )
    state = cursor.state
    call = _waiting(cursor, call_id, state)
    event = _event(cursor, call, verdict, arguments, result, reason)
    if verdict in ("reject", "answer"):
        _same(bound, _bound(cursor, call, state) if bound else "")
        return event
    ready, _ = cursor.prepared(replace(call, decided=event, started=None), state)
    if bound:
        _same(bound, ready.bound if verdict == "approve" else _bound(cursor, call, state))
    return replace(event, bound=ready.bound)


def _waiting(cursor: Cursor, call_id: str, state: State) -> CallState:
    call = state.call(call_id)
    if call.id == cursor.running:
        raise NotYourTurn(f"call {call_id} is running")
    if call_id not in state.open:
        raise NotYourTurn(f"call {call_id} is {call.status} already; edit or replay it instead")
    return call


def _bound(cursor: Cursor, call: CallState, state: State) -> str:
    ready, _ = cursor.prepared(call, state)
    return ready.bound


def _same(shown: str, now: str) -> None:
    if shown and shown != now:
        raise NotYourTurn("the call has changed since it was shown; look at it and decide again")


def _event(
    cursor: Cursor,
    call: CallState,
    verdict: Decision,
    arguments: Mapping[str, Any] | None,
    result: Any,
    reason: str,
) -> Decided:
    match verdict:
        case "edit":
            if arguments is None:
                raise UsageError(
                    'an edit needs the arguments to run with: arguments={"shape": ...}'
                )
            return Decided(call.id, verdict, "", readable(arguments), reason=reason)
        case "approve":
            return replace(call.approval(""), reason=reason)
        case "answer":
            return Decided(call.id, verdict, result=_answer(cursor, call, result), reason=reason)
    return Decided(call.id, verdict, reason=reason)


def _answer(cursor: Cursor, call: CallState, result: Any) -> Outcome:
    """A person's result: the name of an object, an object, or plain data."""
    state, memory = cursor.state, cursor.desk.memory
    if isinstance(result, str) and result in state.objects:
        return state.objects[result]
    kind = kind_of(result, memory.kinds)
    if kind is None:
        return Data(plain_data(result))
    content = content_digest(result)
    made = Made(kind, "", digest("answered", cursor.head, call.id, content), content)
    memory.hold(made, result)
    return made
