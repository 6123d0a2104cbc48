"""What of a branch was there before, where a cell runs again: nobody was asked twice."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..events import Decided, Finished
from ..journal.tree import Entry

SETTLES = ("reject", "answer")
"""With these words a call is over."""


def as_before(path: Sequence[Entry], recorded: Collection[str]) -> str:
    """Return in a line what of a path was recorded before; "" where nothing was."""
    there = [entry for entry in path if entry.id in recorded]
    calls = len([entry for entry in there if _settles(entry)])
    words = len([entry for entry in there if _is_decision(entry)])
    counted = [_many(calls, "call"), _many(words, "decision")]
    said = " and ".join(filter(None, counted)) or "All"
    return f"{said} as before; --fresh begins anew" if there else ""


def _settles(entry: Entry) -> bool:
    match entry.event:
        case Finished():
            return True
        case Decided(decision=decision):
            return decision in SETTLES
    return False


def _is_decision(entry: Entry) -> bool:
    """Return whether an entry is the word of a person, and not of a policy."""
    return isinstance(entry.event, Decided) and entry.meta.get("by") != "policy"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}" if count else ""
