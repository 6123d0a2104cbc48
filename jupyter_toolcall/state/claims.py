"""One effect a permission: which approvals were acted on and which calls ran, on any branch.

An approval that a replay repeats is the approval that was given first (`of` in its meta): it is
good for one start, wherever that is. A reply that a replay repeats is the model's first one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..events import Decided, Finished, Replied, Started
from ..journal.tree import Entry, Journal
from .call import CallRecord
from .recorded_calls import recorded_call

Run = tuple[str, str, str]
"""A call of one reply of the model, as it ran: the reply's entry, the call's id, its digest."""


@dataclass
class Claims:
    """The words of a journal that were acted on, as far as it was read; and what ran."""

    journal: Journal
    _acted_on: set[str] = field(default_factory=set)
    _runs: dict[Run, Literal["started", "finished"]] = field(default_factory=dict)
    _read: int = 0

    def holds(self, head: str, call_id: str) -> bool:
        """Return whether the last word on a call, at a place, is still good for a start."""
        self._catch_up()
        word = _word(self.journal, head, call_id)
        return not word or word not in self._acted_on

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
                case Started(call_id, bound=bound):
                    if not bound:
                        self._acted_on.add(_word(self.journal, entry.parent, call_id))
                    self._runs.setdefault(self._run(entry, call_id), "started")
                case Finished(call_id, by="session") if entry.own:
                    self._runs[self._run(entry, call_id)] = "finished"
            # Last, so that an entry at which an interrupt came is read again.
            self._read += 1

    def _run(self, entry: Entry, call_id: str) -> Run:
        call = recorded_call(self.journal, entry.id, call_id)
        return call.reply, call_id, call.bound


def said_again(said: Entry) -> Mapping[str, Any]:
    """Return the meta of an approval, or a reply, that is said again elsewhere: it is the same."""
    return {**said.meta, "of": said.meta.get("of", said.id)}


def _word(journal: Journal, head: str | None, call_id: str) -> str:
    """Return the entry of a person's last decision on a call; "" where the policy let it run."""
    while head is not None:
        entry = journal[head]
        match entry.event:
            case Started(each, bound=bound) if each == call_id and bound:
                return ""
            case Decided(each) if each == call_id:
                return str(entry.meta.get("of", entry.id))
            case Replied(calls=calls) if any(call.id == call_id for call in calls):
                return ""
        head = entry.parent
    return ""


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
