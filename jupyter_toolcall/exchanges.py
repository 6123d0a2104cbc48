"""The wire, made visible: each request as the model got it, and what came back.

A request is computed again from the journal, so that it is there for every turn of every
branch, also in a session that was loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .events import Replied, Usage
from .journal import Entry
from .loop import Cursor
from .models.prices import Cost, cost
from .request import Attempt, Request
from .state import state_at


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
    before = Cursor(cursor.desk, entry.parent or entry.id)
    request, model, spent = before.request, model_of(cursor, entry), entry.event.usage
    body = getattr(cursor.desk.model, "body", None)
    return Exchange(
        turn=request.turn + 1,
        model=model,
        request=request,
        known=known,
        reply=entry.event,
        usage=spent,
        cost=cost(model, spent),
        ms=entry.meta.get("ms", 0),
        attempts=attempts(entry),
        entry=entry.id,
        body=body(request) if body is not None else None,
    )


def attempts(entry: Entry) -> tuple[Attempt, ...]:
    """Return the requests that came to nothing before a reply."""
    return tuple(Attempt(str(said), waited) for said, waited in entry.meta.get("attempts", ()))


def model_of(cursor: Cursor, entry: Entry) -> str:
    """Return the name of the model that replied: as it was recorded, else as it is now."""
    said = state_at(cursor.desk.journal, entry.id).opened.model
    return said or str(getattr(cursor.desk.model, "name", ""))
