"""The wire, made visible: each request as the model got it, and what came back.

A request is computed again from the journal, so that it is there for every turn of every
branch, also in a session that was loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from ..content.value import cut
from ..errors import UsageError
from ..events import Replied, Usage
from ..journal.tree import Entry
from ..loop import Cursor
from ..models.prices import Cost, cost
from ..request import Attempt, Message, Request
from ..state.fold import state_at


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn: the request, the reply, and what they took.

    `known` of the request's messages were in the request before it too. `body` is the JSON
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
    known = 0
    for entry in cursor.desk.journal.path(cursor.head):
        if isinstance(entry.event, Replied):
            made = exchange(cursor, entry, known)
            known = len(made.request.messages)
            yield made


def exchange(cursor: Cursor, entry: Entry, known: int = 0) -> Exchange:
    """Return the turn that an entry is the reply of."""
    assert isinstance(entry.event, Replied)
    request, model = _answered(cursor, entry), model_of(cursor, entry)
    return Exchange(
        turn=request.turn + 1,
        model=model,
        request=request,
        known=known,
        reply=entry.event,
        usage=entry.event.usage,
        cost=cost(model, entry.event.usage),
        ms=entry.meta.get("ms", 0),
        attempts=attempts(entry),
        entry=entry.id,
        body=_body(cursor, request),
    )


def _answered(cursor: Cursor, entry: Entry) -> Request:
    """Return the request that a reply answers."""
    return Cursor(cursor.desk, entry.parent or entry.id).request


def _body(cursor: Cursor, request: Request) -> Any:
    """Return the provider's own JSON of a request, None for a model that has none."""
    body = getattr(cursor.desk.model, "body", None)
    return None if body is None else body(request)


LONGEST = 1_000_000
"""Characters of a request that are shown."""


def exact(cursor: Cursor, turn: int) -> str:
    """Return the request of a turn as JSON text: the provider's own body, where it has one.

    Raises UsageError for a turn that there is not.
    """
    replies = [e for e in cursor.desk.journal.path(cursor.head) if isinstance(e.event, Replied)]
    if not 1 <= turn <= len(replies) + 1:
        raise UsageError(f"there is no request {turn} on this branch")
    request = _answered(cursor, replies[turn - 1]) if turn <= len(replies) else cursor.request
    shown = _body(cursor, request) or plain(request)
    return cut(json.dumps(shown, indent=2, ensure_ascii=False), LONGEST)


def plain(request: Request) -> dict[str, Any]:
    """Return what a model that is a function is given, as JSON-ready data."""
    return {
        "system": request.system,
        "tools": [tool.definition() for tool in request.tools],
        "messages": [
            {"role": type(message).__name__.lower(), **_fields(message)}
            for message in request.messages
        ],
    }


def _fields(message: Message) -> dict[str, Any]:
    return {name: item for name, item in asdict(message).items() if name != "secrets"}


def attempts(entry: Entry) -> tuple[Attempt, ...]:
    """Return the requests that came to nothing before a reply."""
    return tuple(Attempt(str(said), waited) for said, waited in entry.meta.get("attempts", ()))


def model_of(cursor: Cursor, entry: Entry) -> str:
    """Return the name of the model that replied: as it was recorded, else as it is now."""
    said = state_at(cursor.desk.journal, entry.id).opened.model
    return said or str(getattr(cursor.desk.model, "name", ""))
