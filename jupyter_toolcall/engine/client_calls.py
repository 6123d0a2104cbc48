"""Calls of clients: another agent calls a tool of the session, in the place of its model."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.errors import NotYourTurn
from ..core.events import Call
from ..core.journal_entries import Entry
from ..schemes.messages import Reply
from ..schemes.requests import recorded_reply
from ..tools.arguments import plain_arguments
from .cursor import Cursor


def client_must_wait(cursor: Cursor) -> str:
    """Return what a client's call has to wait for; "" where it can be recorded now."""
    if open_calls := cursor.state.open:
        return f"call {open_calls[0]} has no result yet"
    if cursor.replay_queue.next() is not None or cursor.holding_hook is not None:
        return "the session replays what is recorded"
    return ""


def record_client_call(
    cursor: Cursor, call_id: str, tool: str, arguments: Mapping[str, object], by: str
) -> Entry:
    """Record that a client asks for a call, as a reply in the model's place; nothing runs.

    The call is checked when it runs, as a model's call is. `by` names the client in the
    journal, such as "mcp:claude-code". Raises NotYourTurn where the client has to wait, CallError
    for arguments that are no JSON.
    """
    if reason := client_must_wait(cursor):
        raise NotYourTurn(f"a client cannot call now: {reason}")
    context = cursor.context
    context.secrets.refresh()
    reply = Reply("", (Call(call_id, tool, plain_arguments(arguments)),), "tools")
    # No request was sent, so the journal notes no definitions and no news as sent with it.
    event = recorded_reply(reply, cursor.state, {}, "", context.secrets.hide)
    entry = cursor.write(event, at=context.clock(), by=by)
    cursor.latest_reply = entry.id
    return entry
