"""How calls came to their outcomes: by running, from memory, or by a person's word.

"From memory" is computed, never written: what was asked for and ran before on the same
inputs, on whatever branch, ran there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..events import Decided, Finished
from ..journal.tree import Entry, Journal
from .fold import state_at
from .recorded_calls import recorded
from .shape import State

Inputs = tuple[str, str, int, str, str]


@dataclass(frozen=True, slots=True)
class End:
    """How a call came to its outcome: at which entry, and whether it ran there."""

    journal: Journal = field(repr=False, compare=False)
    entry: str
    memory: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ms(self) -> float:
        """How long its tool ran."""
        ms: float = self.meta.get("ms", 0)
        return ms

    @property
    def prints(self) -> str:
        """What its tool printed."""
        return str(self.meta.get("prints", ""))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person is told of its run."""
        return tuple(self.meta.get("notes", ()))

    @property
    def state(self) -> State:
        """What was known by then."""
        return state_at(self.journal, self.entry)


@dataclass
class Ends:
    """Where each call of a journal ran first, read as the journal grows."""

    journal: Journal
    _first: dict[Inputs, str] = field(default_factory=dict)
    _read: int = 0

    def of(self, entries: Iterable[Entry], shared: frozenset[str]) -> dict[str, End]:
        """Return the end of each call that came to one; `shared` entries ran on another branch."""
        self._catch_up()
        ends = {}
        for entry in entries:
            match entry.event:
                case Finished(call_id):
                    first = self._first.get(self._inputs(entry, call_id), entry.id)
                    known = entry.id in shared or first != entry.id
                    ends[call_id] = End(self.journal, entry.id, known, entry.meta)
                case Decided(call_id, "reject" | "answer"):
                    ends[call_id] = End(self.journal, entry.id)
        return ends

    def _catch_up(self) -> None:
        for entry in self.journal.since(self._read):
            if isinstance(entry.event, Finished):
                self._first.setdefault(self._inputs(entry, entry.event.call_id), entry.id)
            # Last, so that an entry at which an interrupt came is read again.
            self._read += 1

    def _inputs(self, entry: Entry, call_id: str) -> Inputs:
        """Return what a call was asked for and ran on: its approval digest, or its objects.

        Another session of the same journal remembers nothing of this one.
        """
        known = recorded(self.journal, entry.id)
        call = known.call(call_id)
        inputs = call.bound if call.bound or call.decided else self._named(entry, call_id)
        return known.root, known.prompt, known.again, call_id, inputs

    def _named(self, entry: Entry, call_id: str) -> str:
        state = state_at(self.journal, entry.id)
        values = state.calls[call_id].arguments.values()
        made = (state.objects.get(value) for value in values if isinstance(value, str))
        return " ".join(each.digest for each in made if each is not None)
