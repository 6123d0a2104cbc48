"""The conversation with the model: each request as it was sent, and the reply.

A request is computed again from the journal, so that it is there for every turn of every
branch, also in a session that was loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..core.digests import readable_json
from ..core.errors import UsageError
from ..core.events import Asked, Decided, Finished, Replied, Usage, ended_call
from ..core.interface_text import t, tn
from ..core.journal_entries import Entry
from ..core.state import State
from ..core.state_fold import state_at
from ..engine.cursor import Cursor
from ..models.prices import Cost, cost
from ..schemes.messages import Attempt, Request
from ..schemes.requests import NOTHING
from ..tools.value_copies import cut
from .contract_rows import MessageRole, MessageRow, TurnRow


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn: the request, the reply, and what they used.

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
            request, model = _answered(cursor, entry), replying_model(cursor, entry)
            yield Exchange(
                turn=request.turn + 1,
                model=model,
                request=request,
                known=known,
                reply=entry.event,
                usage=entry.event.usage,
                cost=cost(model, entry.event.usage),
                ms=entry.meta.get("ms", 0),
                attempts=_attempts(entry),
                entry=entry.id,
                body=_body(cursor, request),
            )
            known = len(request.messages)


def _answered(cursor: Cursor, entry: Entry) -> Request:
    """Return the request that a reply answers."""
    assert isinstance(entry.event, Replied)
    request, context = Cursor(cursor.context, entry.parent or entry.id).request, cursor.context
    # A program that has not the tools' classes would tell less news than was sent.
    sent = context.journal.fold(entry.id, context.fold_conversation, NOTHING)
    return replace(request, messages=tuple(sent.messages[:-1]), news=entry.event.news)


def _body(cursor: Cursor, request: Request) -> Any:
    """Return the provider's own JSON of a request, None for a model that has none."""
    body = getattr(cursor.context.model, "body", None)
    return None if body is None else body(request)


def _attempts(entry: Entry) -> tuple[Attempt, ...]:
    """Return the requests that came to nothing before a reply."""
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


def request_data(request: Request) -> dict[str, Any]:
    """Return what a model that is a function is given, as JSON-ready data."""
    messages = []
    for message in request.messages:
        fields = asdict(message)
        fields.pop("secrets", None)
        messages.append({"role": type(message).__name__.lower(), **fields})
    tools = [tool.definition() for tool in request.tools]
    return {"system": request.system, "tools": tools, "messages": messages}


LIMIT = 4_000
"""Characters of a message that are kept."""


def conversation_rows(
    cursor: Cursor, entries: Iterable[Entry]
) -> tuple[tuple[MessageRow, ...], tuple[TurnRow, ...]]:
    """Return the rows of what entries added to the conversation, and of its turns."""
    messages, turns, context = list[MessageRow](), list[TurnRow](), cursor.context
    for entry in entries:
        event, key = entry.event, entry.id[:12]
        match event:
            case Replied():
                state = state_at(context.journal, entry.id)
                messages += _reply_rows(context.journal.texts, entry, event, state)
                turns.append(_turn_row(cursor, entry, event, state))
            case Asked(text, by):
                role: MessageRole = "user" if by == "person" else "session"
                turn = state_at(context.journal, entry.id).turns + 1
                messages.append(_row(key, turn, role, text))
            case Decided() | Finished() if call_id := ended_call(event):
                state = state_at(context.journal, entry.id)
                call = state.calls[call_id]
                text = context.scheme.render(call, state, context.toolbox).content
                messages.append(_row(key, state.turns + 1, "tool", text, call.step))
    return tuple(messages), tuple(turns)


def _reply_rows(
    texts: Mapping[str, Any], entry: Entry, reply: Replied, state: State
) -> Iterator[MessageRow]:
    """Yield what was new in a request beside its messages, and the reply to it."""
    key, stale = entry.id[:12], bool(entry.meta.get("stale"))

    def row(part: str, role: MessageRole, text: str, step: int = 0, tool: str = "") -> MessageRow:
        return replace(_row(f"{key}.{part}", state.turns, role, text, step, tool), stale=stale)

    if "" in reply.offered:
        yield row("system", "system", str(texts.get(reply.offered[""], "")))
    if names := [name for name in reply.offered if name]:
        count = tn("%1 tool", "%1 tools", len(names))
        size = sum(len(readable_json(texts.get(reply.offered[name], ""))) for name in names)
        yield replace(row("tools", "tools", t("%1: %2", count, ", ".join(names))), size=size)
    if reply.news:
        yield row("news", "session", reply.news)
    thought = f"(thinking) {reply.thought}" if reply.thought else ""
    parts = {"thought": thought, "text": reply.text, "ending": reply.ending}
    yield from (row(part, "assistant", text) for part, text in parts.items() if text)
    for call in reply.calls:
        step = state.calls[call.id].step
        arguments = (f"{name}={readable_json(value)}" for name, value in call.arguments.items())
        yield row(f"{step}", "call", f"{call.tool}({', '.join(arguments)})", step, call.tool)


def _turn_row(cursor: Cursor, entry: Entry, reply: Replied, state: State) -> TurnRow:
    """Return the row of what the reply of an entry used."""
    model, used = replying_model(cursor, entry), reply.usage or Usage()
    failed = (t("%1; waited %2 s", a.said, round(a.waited, 1)) for a in _attempts(entry))
    return TurnRow(
        id=entry.id[:12],
        turn=state.turns,
        model=model,
        input=used.input,
        cached=used.cached,
        output=used.output,
        cost=str(cost(model, reply.usage) or ""),
        ms=entry.meta.get("ms", 0),
        attempts=tuple(failed),
    )


def _row(
    key: str, turn: int, role: MessageRole, text: str, step: int = 0, tool: str = ""
) -> MessageRow:
    """Return a part of the conversation, cut where it is too long to be kept."""
    size = len(text) if len(text) > LIMIT else 0
    return MessageRow(key, turn, role, cut(text, LIMIT), step, size, tool=tool)
