"""What was sent to the model, and what it replied: each turn of a branch, and the request of one.

A request is computed again from the journal, so that it is there for every turn of every branch,
also in a session that was loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from msgspec import structs

from ..core.errors import UsageError
from ..core.events import Replied, Usage
from ..core.journal_entries import Entry
from ..core.recorded_data import JsonDict
from ..core.state_fold import state_at
from ..models.prices import Cost, cost
from ..schemes.messages import Assistant, Attempt, Request
from ..schemes.requests import NOTHING
from ..tools.plain_data import cut
from .cursor import Cursor


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn: the request, the reply, and what they used.

    The first `known` messages of the request were in the request before it too. `body` is the JSON
    as it goes to the provider, None for a model that has none.
    """

    turn: int
    model: str
    request: Request
    known: int
    reply: Replied
    usage: Usage | None
    cost: Cost | None
    ms: float
    attempts: tuple[Attempt, ...]
    entry: str
    body: Any = field(default=None, repr=False)


def exchanges(cursor: Cursor) -> Iterator[Exchange]:
    """Yield the turns of a branch, oldest first."""
    earlier = 0
    for entry in cursor.context.journal.path(cursor.head):
        if isinstance(entry.event, Replied):
            request, model = _answered(cursor, entry), replying_model(cursor, entry)
            yield Exchange(
                turn=request.turn + 1,
                model=model,
                request=request,
                known=earlier,
                reply=entry.event,
                usage=entry.event.usage,
                cost=cost(model, entry.event.usage),
                ms=entry.meta.get("ms", 0),
                attempts=failed_attempts(entry),
                entry=entry.id,
                body=_body(cursor, request),
            )
            earlier = len(request.messages)


def _answered(cursor: Cursor, entry: Entry) -> Request:
    """Return the request that a reply answers."""
    assert isinstance(entry.event, Replied)
    request, context = Cursor(cursor.context, entry.parent or entry.id).request, cursor.context
    # A program without the tools' classes would compose less news than was sent.
    sent = context.journal.fold(entry.id, context.fold_conversation, NOTHING)
    return replace(request, messages=tuple(sent.messages[:-1]), news=entry.event.news)


def _body(cursor: Cursor, request: Request) -> object:
    """Return the provider's own JSON of a request, None for a model that has none."""
    body = getattr(cursor.context.model, "body", None)
    return None if body is None else body(request)


def failed_attempts(entry: Entry) -> tuple[Attempt, ...]:
    """Return the requests that failed before a reply."""
    return tuple(Attempt(str(why), waited) for why, waited in entry.meta.get("attempts", ()))


def replying_model(cursor: Cursor, entry: Entry) -> str:
    """Return the name of the model that replied: as it was recorded, else as it is now; or the
    client that called a tool in its place."""
    state = state_at(cursor.context.journal, entry.id)
    if state.replied_by_client:
        return state.calls[state.latest[0]].asked_call.by
    return state.opened.model or str(getattr(cursor.context.model, "name", ""))


LONGEST = 1_000_000
"""Characters of a request that are shown."""


def request_json(cursor: Cursor, turn: int) -> str:
    """Return the request of a turn as JSON text: the provider's own body, where it has one.

    Raises UsageError for a turn that there is not.
    """
    replies = [e for e in cursor.context.journal.path(cursor.head) if isinstance(e.event, Replied)]
    if not 1 <= turn <= len(replies) + 1:
        raise UsageError(f"there is no request {turn} on this branch")
    request = _answered(cursor, replies[turn - 1]) if turn <= len(replies) else cursor.request
    shown = _body(cursor, request) or request_data(request)
    return cut(json.dumps(shown, indent=2, ensure_ascii=False), LONGEST)


def request_data(request: Request) -> JsonDict:
    """Return a request as JSON-ready data, as a model that is a function gets it."""
    messages = []
    for message in request.messages:
        fields = asdict(message)
        fields.pop("secrets", None)
        if isinstance(message, Assistant):
            fields["calls"] = list(map(structs.asdict, message.calls))
        messages.append({"role": type(message).__name__.lower(), **fields})
    tools = [tool.definition() for tool in request.tools]
    return {"system": request.system, "tools": tools, "messages": messages}
