"""One effect a permission: which approvals were acted on and which calls ran, on any branch.

An approval that a replay repeats is the approval that was given first (`of` in its meta): it is
good for one start, wherever that is. A reply that a replay repeats is the model's first one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..events import Finished, Replied, Started
from ..journal.tree import Entry, Journal
from .call import CallRecord
from .recorded_calls import recorded_call

Run = tuple[str, str, str]
"""A call of one reply of the model, as it ran: the reply's entry, the call's id, its digest."""


@dataclass
class Claims:
    """The decisions of a journal that were acted on, as far as it was read; and what ran."""

    journal: Journal
    _acted_on: set[str] = field(default_factory=set)
    _runs: dict[Run, Literal["started", "finished"]] = field(default_factory=dict)
    _read: int = 0

    def holds(self, head: str, call_id: str) -> bool:
        """Return whether the last decision on a call, at a head, is still good for a start."""
        self._catch_up()
        decision = recorded_call(self.journal, head, call_id).decision
        return not decision or decision not in self._acted_on

    def run_of(self, call: CallRecord, bound: str) -> Literal["", "started", "finished"]:
        """Return whether this call of this reply ran with this digest, on whatever branch.

        "finished" says that this machine recorded its result; "started" that its result is not
        known, or not verified.
        """
        self._catch_up()
        return self._runs.get((call.asked_call.reply, call.id, bound), "")

    def _catch_up(self) -> None:
        for entry in self.journal.since(self._read):
            match entry.event:
                case Started(call_id):
                    call = recorded_call(self.journal, entry.id, call_id)
                    self._acted_on.add(call.decision)
                    self._runs.setdefault((call.reply, call_id, call.bound), "started")
                case Finished(call_id, by="session") if entry.own:
                    call = recorded_call(self.journal, entry.id, call_id)
                    self._runs[call.reply, call_id, call.bound] = "finished"
            # Last, so that an entry at which an interrupt came is read again.
            self._read += 1


def said_again(said: Entry) -> Mapping[str, Any]:
    """Return the meta of an approval, or a reply, that is said again elsewhere: it is the same."""
    return {**said.meta, "of": said.meta.get("of", said.id)}


def runs(journal: Journal) -> set[tuple[str, str]]:
    """Return the calls that have started, each as the entry of its reply and its id.

    A reply that a replay repeated is the one that the model gave first.
    """
    replies: dict[str | None, str] = {}
    found = set()
    for entry in journal:
        match entry.event:
            case Replied():
                replies[entry.id] = str(entry.meta.get("of", entry.id))
                continue
            case Started(call_id):
                found.add((replies.get(entry.parent, ""), call_id))
        replies[entry.id] = replies.get(entry.parent, "")
    return found
