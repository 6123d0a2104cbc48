"""Undo of a decision: the session as it was before it, on a branch of its own."""

from __future__ import annotations

from ..core.errors import UsageError
from ..session.session import Session


def undone(session: Session, call_id: str) -> Session:
    """Return a session that stands before the decision on a call. A rule that took it is paused,
    or it would take it again. Raises UsageError where nobody decided on the call.
    """
    call, cursor = session.state.call(call_id), session.cursor
    if not call.decision_entry:
        raise UsageError(f"nobody decided on call {call_id}")
    rules = cursor.context.person_rules
    for number, rule in enumerate(rules.rules, 1):
        if call.decided is not None and rule.name == call.decided.rule:
            rules.change(number, paused=True)
    return session.fork(cursor.context.journal[call.decision_entry].parent)
