"""Totals of a branch: executed calls, time in tools, tokens and cost of its own requests.

Replayed entries, and those shared with an older branch, count on the branch that ran them first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..core.entries import Entry
from ..core.events import Finished, Replied
from ..core.journal import Journal
from ..core.recorded_calls import CallEnd
from ..core.state_fold import state_at
from ..models.prices import Cost, cost


@dataclass(frozen=True, slots=True)
class BranchTotals:
    """What entries took. `unpriced` counts the requests whose price is not known."""

    ran: int = 0
    cached: int = 0
    ms: float = 0
    tokens: int = 0
    dollars: float = 0
    is_upper_bound: bool = False
    unpriced: int = 0

    def __add__(self, other: BranchTotals) -> BranchTotals:
        return BranchTotals(
            self.ran + other.ran,
            self.cached + other.cached,
            self.ms + other.ms,
            self.tokens + other.tokens,
            self.dollars + other.dollars,
            self.is_upper_bound or other.is_upper_bound,
            self.unpriced + other.unpriced,
        )

    @property
    def cost(self) -> Cost | None:
        """What the requests cost; None where that is not known, or where there were none."""
        is_known = self.dollars > 0 and not self.unpriced
        return Cost(self.dollars, self.is_upper_bound) if is_known else None


@dataclass
class FirstReplies:
    """Where each reply of a journal was said first, read as the journal grows."""

    journal: Journal
    model: str = ""
    """Who replies where that is not recorded."""
    _first: dict[tuple[object, ...], str] = field(default_factory=dict)
    _read: int = 0

    def totals(
        self, entries: Iterable[Entry], ends: Mapping[str, CallEnd], shared: frozenset[str]
    ) -> BranchTotals:
        """Return what entries took; `shared` ones were paid for on another branch."""
        total = BranchTotals()
        for entry in entries:
            match entry.event:
                case Finished(call_id) if call_id in ends:
                    cached = ends[call_id].cached
                    ms = 0 if cached else entry.meta.get("ms", 0)
                    total += BranchTotals(ran=not cached, cached=cached, ms=ms)
                case Replied() if entry.id not in shared and self.is_first(entry):
                    total += self.request_totals(entry)
        return total

    def is_first(self, entry: Entry) -> bool:
        """Return whether the model gave a reply here first, so that it is not a replayed one."""
        for reply in self.journal.since(self._read):
            self._read += 1
            if isinstance(reply.event, Replied):
                self._first.setdefault(_said(reply), reply.id)
        return self._first.get(_said(entry), entry.id) == entry.id

    def request_totals(self, entry: Entry) -> BranchTotals:
        """Return what the request took that a reply answers."""
        assert isinstance(entry.event, Replied)
        used = entry.event.usage
        if used is None:
            return BranchTotals()
        price = cost(state_at(self.journal, entry.id).opened.model or self.model, used)
        tokens = used.input + used.output
        if price is None:
            return BranchTotals(tokens=tokens, unpriced=1)
        return BranchTotals(tokens=tokens, dollars=price.dollars, is_upper_bound=price.most)


def _said(entry: Entry) -> tuple[object, ...]:
    """Return what identifies a reply: a replayed one keeps its time."""
    event = entry.event
    assert isinstance(event, Replied)
    tools = tuple(call.tool for call in event.calls)
    return entry.meta.get("at"), entry.meta.get("ms"), event.text, tools, event.usage
