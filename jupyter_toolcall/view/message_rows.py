"""The wire, made visible: each request as the model got it, and what came back.

A request is computed again from the journal, so that it is there for every turn of every
branch, also in a session that was loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..core.digests import readable_json
from ..core.entries import Entry
from ..core.errors import UsageError
from ..core.events import Asked, Decided, Finished, Replied, Usage
from ..core.state import State
from ..core.state_fold import state_at
from ..engine.cursor import Cursor
from ..models.prices import Cost, cost
from ..schemes.messages import Attempt, Message, Request
from ..tools.value_copies import cut
from .contract_rows import MessageRole, MessageRow, TurnRow


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
    for entry in cursor.context.journal.path(cursor.head):
        if isinstance(entry.event, Replied):
            made = exchange(cursor, entry, known)
            known = len(made.request.messages)
            yield made


def exchange(cursor: Cursor, entry: Entry, known: int = 0) -> Exchange:
    """Return the turn that an entry is the reply of."""
    assert isinstance(entry.event, Replied)
    request, model = _answered(cursor, entry), replying_model(cursor, entry)
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
    return Cursor(cursor.context, entry.parent or entry.id).request


def _body(cursor: Cursor, request: Request) -> Any:
    """Return the provider's own JSON of a request, None for a model that has none."""
    body = getattr(cursor.context.model, "body", None)
    return None if body is None else body(request)


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


def request_data(request: Request) -> dict[str, Any]:
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


def replying_model(cursor: Cursor, entry: Entry) -> str:
    """Return the name of the model that replied: as it was recorded, else as it is now."""
    said = state_at(cursor.context.journal, entry.id).opened.model
    return said or str(getattr(cursor.context.model, "name", ""))


LIMIT = 4_000


def entry_messages(cursor: Cursor, entry: Entry) -> list[MessageRow]:
    """Return the rows of what an entry added to the conversation."""
    event, short = entry.event, entry.id[:12]
    if not isinstance(event, (Replied, Asked, Decided, Finished)):
        return []
    state = state_at(cursor.context.journal, entry.id)
    match event:
        case Replied():
            rows = _replied(cursor, event, short, state)
            return [replace(row, stale=True) for row in rows] if entry.meta.get("stale") else rows
        case Asked(text, by):
            return [_row(short, state.turns + 1, "user" if by == "person" else "session", text)]
    call = state.calls[event.call_id]
    if call.outcome is None:
        return []
    told = cursor.context.scheme.render(call, state, cursor.context.toolbox)
    return [_row(short, state.turns + 1, "tool", told.content, call.step)]


def _replied(cursor: Cursor, reply: Replied, short: str, state: State) -> list[MessageRow]:
    """Return what a request brought that was new beside its messages, and the reply to it."""
    turn = state.turns
    rows = _offered(cursor, reply, short, turn) if reply.offered else []
    if reply.news:
        rows.append(_row(f"{short}.news", turn, "session", reply.news))
    if reply.thought:
        rows.append(_row(f"{short}.thought", turn, "assistant", f"(thinking) {reply.thought}"))
    if reply.text:
        rows.append(_row(f"{short}.text", turn, "assistant", reply.text))
    if reply.ending:
        rows.append(_row(f"{short}.ending", turn, "session", reply.ending))
    for call in reply.calls:
        step = state.calls[call.id].step
        arguments = ", ".join(
            f"{key}={readable_json(value)}" for key, value in call.arguments.items()
        )
        text = f"{call.tool}({arguments})"
        rows.append(_row(f"{short}.{step}", turn, "call", text, step, call.tool))
    return rows


def turn_row(cursor: Cursor, entry: Entry, reply: Replied) -> TurnRow:
    """Return the row of what the reply of an entry took."""
    state = state_at(cursor.context.journal, entry.id)
    model = state.opened.model or str(getattr(cursor.context.model, "name", ""))
    used, price = reply.usage or Usage(), cost(model, reply.usage)
    return TurnRow(
        id=entry.id[:12],
        turn=state.turns,
        model=model,
        input=used.input,
        cached=used.cached,
        output=used.output,
        cost=str(price) if price else "",
        ms=entry.meta.get("ms", 0),
        attempts=tuple(f"{each.said}; waited {each.waited:.1f} s" for each in attempts(entry)),
    )


def _offered(cursor: Cursor, reply: Replied, short: str, turn: int) -> list[MessageRow]:
    """Return the system prompt and the tools of a request, as far as they are new."""
    rows, texts = [], cursor.context.journal.texts
    if "" in reply.offered:
        rows.append(_row(f"{short}.system", turn, "system", str(texts.get(reply.offered[""], ""))))
    names = [name for name in reply.offered if name]
    if names:
        count = f"{len(names)} tool{'' if len(names) == 1 else 's'}"
        row = _row(f"{short}.tools", turn, "tools", f"{count}: {', '.join(names)}")
        size = sum(len(readable_json(texts.get(reply.offered[name], ""))) for name in names)
        rows.append(replace(row, size=size))
    return rows


def _row(
    key: str, turn: int, role: MessageRole, text: str, step: int = 0, tool: str = ""
) -> MessageRow:
    """Return a part of the conversation, cut where it is too long to be kept."""
    if len(text) <= LIMIT:
        return MessageRow(key, turn, role, text, step, tool=tool)
    return MessageRow(key, turn, role, cut(text, LIMIT), step, len(text), tool=tool)
