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
from .call import CallState
from .fold import state_at
from .shape import State

Inputs = tuple[str, str, int, str, str]


@dataclass(frozen=True, slots=True)
class End:
    """How a call came to its outcome, and what was known by then."""

    state: State
    memory: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)


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
            state = state_at(self.journal, entry.id)
            match entry.event:
                case Finished(call_id):
                    first = self._first.get(_inputs(state.calls[call_id], state), entry.id)
                    ends[call_id] = End(state, entry.id in shared or first != entry.id, entry.meta)
                case Decided(call_id, "reject" | "answer"):
                    ends[call_id] = End(state)
        return ends

    def _catch_up(self) -> None:
        for entry in self.journal.since(self._read):
            self._read += 1
            if isinstance(entry.event, Finished):
                state = state_at(self.journal, entry.id)
                inputs = _inputs(state.calls[entry.event.call_id], state)
                self._first.setdefault(inputs, entry.id)


def _inputs(call: CallState, state: State) -> Inputs:
    """What a call was asked for and ran on: what it was bound to, or the objects it names.

    Another session of the same journal remembers nothing of this one.
    """
    if call.decided is not None or call.bound:
        return state.root, state.prompt, state.asked_again, call.id, call.bound
    named = (state.objects.get(v) for v in call.arguments.values() if isinstance(v, str))
    inputs = " ".join(made.digest for made in named if made is not None)
    return state.root, state.prompt, state.asked_again, call.id, inputs
