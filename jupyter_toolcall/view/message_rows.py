"""The conversation with the model as rows: what was new in each request, and the reply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..core.digests import readable_json
from ..core.events import Asked, Decided, Finished, Replied, Usage, ended_call
from ..core.interface_text import t, tn
from ..core.journal_entries import Entry
from ..core.recorded_data import replace
from ..core.state import State
from ..core.state_fold import state_at
from ..engine.cursor import Cursor
from ..engine.exchanges import failed_attempts, replying_model
from ..models.prices import cost
from ..tools.plain_data import cut
from .contract_rows import MOST_ATTEMPTS, MessageRole, MessageRow, TurnRow

LIMIT = 4_000
"""Characters of a message that are kept."""


def conversation_rows(
    cursor: Cursor, entries: Iterable[Entry]
) -> tuple[tuple[MessageRow, ...], tuple[TurnRow, ...]]:
    """Return the rows of what entries added to the conversation, and of its turns."""
    messages, turns, context = list[MessageRow](), list[TurnRow](), cursor.context
    for entry in entries:
        event, key, state = entry.event, entry.id[:12], state_at(context.journal, entry.id)
        match event:
            case Replied():
                messages += _reply_rows(context.journal.texts, entry, event, state)
                turns.append(_turn_row(cursor, entry, event, state))
            case Asked(text, by):
                role: MessageRole = "user" if by == "person" else "session"
                messages.append(_row(key, state.turns + 1, role, text))
            case Decided() | Finished() if call_id := ended_call(event):
                call = state.calls[call_id]
                text = context.scheme.render(call, state, context.toolbox).content
                messages.append(_row(key, state.turns + 1, "tool", text, call.step, call.tool))
    return tuple(messages), tuple(turns)


def _reply_rows(
    texts: Mapping[str, object], entry: Entry, reply: Replied, state: State
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
    failed = [t("%1; waited %2 s", a.said, round(a.waited, 1)) for a in failed_attempts(entry)]
    return TurnRow(
        id=entry.id[:12],
        turn=state.turns,
        model=model,
        input=used.input,
        cached=used.cached,
        output=used.output,
        cost=str(cost(model, reply.usage) or ""),
        ms=entry.meta.get("ms", 0),
        attempts=tuple(failed[-MOST_ATTEMPTS:]),
    )


def _row(
    key: str, turn: int, role: MessageRole, text: str, step: int = 0, tool: str = ""
) -> MessageRow:
    """Return a part of the conversation, cut where it is too long to be kept."""
    size = len(text) if len(text) > LIMIT else 0
    return MessageRow(key, turn, role, cut(text, LIMIT), step, size, tool=tool)
