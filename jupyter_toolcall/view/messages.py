"""The conversation as rows: what each request brought that was new, and each reply."""

from __future__ import annotations

from dataclasses import replace

from ..content.value import cut
from ..digest import literal
from ..events import Asked, Decided, Finished, Replied, Usage
from ..journal.tree import Entry
from ..loop import Cursor
from ..models.prices import cost
from ..rows.contract import MessageRole, MessageRow, TurnRow
from ..state.fold import state_at
from ..state.shape import State
from .exchanges import attempts

LIMIT = 4_000


def entry_messages(cursor: Cursor, entry: Entry) -> list[MessageRow]:
    """Return the rows of what an entry added to the conversation."""
    event, short = entry.event, entry.id[:12]
    if not isinstance(event, (Replied, Asked, Decided, Finished)):
        return []
    state = state_at(cursor.desk.journal, entry.id)
    match event:
        case Replied():
            rows = _replied(cursor, event, short, state)
            return [replace(row, stale=True) for row in rows] if entry.meta.get("stale") else rows
        case Asked(text, by):
            return [_row(short, state.turns + 1, "user" if by == "person" else "session", text)]
    call = state.calls[event.call_id]
    if call.outcome is None:
        return []
    told = cursor.desk.scheme.render(call, state, cursor.desk.toolbox)
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
        arguments = ", ".join(f"{key}={literal(value)}" for key, value in call.arguments.items())
        text = f"{call.tool}({arguments})"
        rows.append(_row(f"{short}.{step}", turn, "call", text, step, call.tool))
    return rows


def turn_row(cursor: Cursor, entry: Entry, reply: Replied) -> TurnRow:
    """Return the row of what the reply of an entry took."""
    state = state_at(cursor.desk.journal, entry.id)
    model = state.opened.model or str(getattr(cursor.desk.model, "name", ""))
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
    rows, texts = [], cursor.desk.journal.texts
    if "" in reply.offered:
        rows.append(_row(f"{short}.system", turn, "system", str(texts.get(reply.offered[""], ""))))
    names = [name for name in reply.offered if name]
    if names:
        count = f"{len(names)} tool{'' if len(names) == 1 else 's'}"
        row = _row(f"{short}.tools", turn, "tools", f"{count}: {', '.join(names)}")
        size = sum(len(literal(texts.get(reply.offered[name], ""))) for name in names)
        rows.append(replace(row, size=size))
    return rows


def _row(
    key: str, turn: int, role: MessageRole, text: str, step: int = 0, tool: str = ""
) -> MessageRow:
    """Return a part of the conversation, cut where it is too long to be kept."""
    if len(text) <= LIMIT:
        return MessageRow(key, turn, role, text, step, tool=tool)
    return MessageRow(key, turn, role, cut(text, LIMIT), step, len(text), tool=tool)
