"""One effect an approval: which of a person's words have been acted on, on whatever branch.

An approval that a replay says again is the word that was said first (`of` in its meta): it
is good for one start, wherever that is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..events import Decided, Replied, Started
from ..journal.tree import Entry, Journal


@dataclass
class Claims:
    """The words of a journal that were acted on, as far as it was read."""

    journal: Journal
    _acted_on: set[str] = field(default_factory=set)
    _read: int = 0

    def holds(self, head: str, call_id: str) -> bool:
        """Return whether the last word on a call, at a place, is still good for a start."""
        for entry in self.journal.since(self._read):
            if isinstance(entry.event, Started):
                self._acted_on.add(_word(self.journal, entry.parent, entry.event.call_id))
            # Last, so that an entry at which an interrupt came is read again.
            self._read += 1
        word = _word(self.journal, head, call_id)
        return not word or word not in self._acted_on


def said_again(said: Entry) -> Mapping[str, Any]:
    """Return the meta of an approval that is said again elsewhere: it is the word that it was."""
    return {**said.meta, "of": said.meta.get("of", said.id)}


def _word(journal: Journal, head: str | None, call_id: str) -> str:
    """Return the entry of a person's last word on a call; "" where a policy let it run."""
    while head is not None:
        entry = journal[head]
        match entry.event:
            case Decided(each) if each == call_id:
                return "" if entry.meta.get("by") == "policy" else entry.meta.get("of", entry.id)
            case Replied(calls=calls) if any(call.id == call_id for call in calls):
                return ""
        head = entry.parent
    return ""
