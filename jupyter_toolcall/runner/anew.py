"""Why what was decided once is asked about again, where a recording is said again."""

from __future__ import annotations

from ..events import Decided, Started
from ..journal.tree import Entry, Journal
from ..state.call import CallRecord
from ..state.fold import state_at
from ..state.memory import Prepared
from ..state.script import Script
from .coded import changed, code_of


def why_anew(script: Script, journal: Journal, ready: Prepared) -> str:
    """Return why a person's recorded approval of a call does not hold for it now, "" for none."""
    said = _approved(script, ready.call_id)
    if said is None:
        return ""
    told = state_at(journal, script.entries[-1].id).calls[ready.call_id]
    return f"You are asked again: {_said(told, said.own, journal, ready)}."


def _approved(script: Script, call_id: str) -> Entry | None:
    """Return the person's last decision of a recording that lets a call run."""
    for entry in reversed(script.entries):
        match entry.event:
            case Started(each, bound=bound) if each == call_id and bound:
                return None
            case Decided(each, "approve" | "edit") if each == call_id:
                return entry
    return None


def _said(told: CallRecord, own: bool, journal: Journal, ready: Prepared) -> str:
    code = code_of(told, journal)
    if not own:
        older = told.history == "older"
        return f"it was approved {'in an older version' if older else 'on another machine'}"
    if code is not None and (other := changed(ready.tool, code)):
        return other
    if told.bound != ready.bound:
        return "what it runs on is not what it was"
    if told.outcome is not None:
        return "it ran, and what it came to is not on this machine any more"
    return "it was approved, and nobody ran it"
