"""Recovery: whether a recorded call may have run already, so that no effect happens twice.

A call that the model has just asked for is new, and never gets here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.call_record import CallRecord
from ..core.errors import Absent, CallError
from ..core.interface_text import t
from ..core.state import State
from .session_values import PreparedCall

if TYPE_CHECKING:
    from .cursor import Cursor, SessionContext


def may_have_run(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> bool:
    """Return whether a call of a recorded reply may have had an effect that must not come twice.

    A call whose result is recorded and at hand did run: nothing has to run for it.
    """
    if cursor.fresh or ready.tool.repeatable:
        return False
    values, unreliable_reason = cursor.context.values, cursor.context.unreliable_reason
    ran = cursor.context.consumed_approvals.run_of(call, ready.approval_digest)
    if ran == "finished" and values.cached_outcome(ready) is not None:
        return False
    unsure = ran == "started" or (
        ran == "finished" and (unreliable_reason != "" or values.is_unverified(ready))
    )
    return bool(call.history) or unsure


def reason(context: SessionContext, call: CallRecord) -> str:
    """Return in a sentence why a call may have run already."""
    match call.history:
        case "copied":
            return t("It may have run where this session was copied from.")
        case "kept":
            return t("You kept its recorded result, and the value is not at hand any more.")
        case "damaged":
            return t("It may have run: the lines of the journal behind it were damaged.")
    explanation = t("it was recorded on another computer, or its record was changed")
    if not call.history:
        explanation = t("it started before, and its result is not recorded here")
    return t("It may have run already: %1.", context.unreliable_reason or explanation)


def is_answered_by_record(cursor: Cursor, call: CallRecord, ready: PreparedCall) -> bool:
    """Return whether a call that a policy lets run takes its result from the journal, if it has
    one there, since the model asked for it in a recorded reply."""
    return not (cursor.fresh or ready.tool.repeatable or cursor.is_new(call))


def can_repeat(cursor: Cursor, call: CallRecord, state: State) -> PreparedCall | None:
    """Return a call with an unknown outcome where it may run again: once, exactly as approved."""
    tool = cursor.tool_named(call.tool)
    if tool is None or not tool.idempotent or not call.verified or call.repeated:
        return None
    try:
        ready = cursor.prepared(call, state)[0]
    except (CallError, Absent):
        return None
    return ready if ready.approval_digest == call.approval_digest else None
