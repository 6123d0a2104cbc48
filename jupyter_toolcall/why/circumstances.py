"""Who asked for a call, under which prompt, and who decided on it: read from its entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..events import Asked, Decided, Finished, Replied, Started
from ..loop import Cursor
from ..state.fold import state_at
from ..view.exchanges import model_of


@dataclass(frozen=True, slots=True)
class Circumstance:
    """How a call came about."""

    prompt: str = ""
    model: str = ""
    turn: int = 0
    decision: str = ""
    """approve, edit, reject or answer; "" where nobody had to decide."""
    by: str = ""
    """person, policy or program: who decided, or gave the result."""
    reason: str = ""
    handed: bool = False
    """The program ran it by itself, and gave its result."""


def circumstances(cursor: Cursor) -> Mapping[str, Circumstance]:
    """Return how each call of a branch came about, by its id."""
    found: dict[str, Circumstance] = {}
    prompt = ""
    for entry in cursor.desk.journal.path(cursor.head):
        match entry.event:
            case Asked(text, by="person"):
                prompt = text
            case Replied(calls=calls) if calls:
                turn = state_at(cursor.desk.journal, entry.id).turns
                new = Circumstance(prompt, model_of(cursor, entry), turn)
                found |= {call.id: new for call in calls}
            case Decided(call_id, decision, reason=reason):
                known, by = found[call_id], str(entry.meta.get("by", ""))
                found[call_id] = replace(known, decision=decision, by=by, reason=reason)
            case Started(call_id, bound=bound) if bound:
                allowed: str = found[call_id].decision or "approve"
                found[call_id] = replace(found[call_id], decision=allowed, by="policy")
            case Finished(call_id, by="program"):
                found[call_id] = replace(found[call_id], by="program", handed=True)
    return found
