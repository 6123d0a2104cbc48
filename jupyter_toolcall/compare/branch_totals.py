"""Totals of a branch: executed calls, time in tools, tokens and cost of its own requests.

Replayed entries, and those shared with an older branch, count on the branch that ran them first.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from msgspec.structs import astuple

from ..core.events import Decided, Finished, Replied, Started, Usage, ended_call
from ..core.journal import Journal
from ..core.journal_entries import Entry
from ..core.recorded_calls import CallIndex
from ..core.recorded_data import Record, replace
from ..core.state_fold import state_at
from ..engine.cursor import Cursor
from ..models.prices import Cost, cost


class BranchTotals(Record, frozen=True):
    """What entries used. Of the calls `ran` ran here, `cached` took a cached result, `inherited`
    ended before this branch left an older one, and `by_rules` rules let run. `unpriced` counts the
    requests whose price is not known, `at_most` those that may have cost less."""

    ran: int = 0
    cached: int = 0
    inherited: int = 0
    ms: float = 0
    tokens: int = 0
    dollars: float = 0
    at_most: int = 0
    unpriced: int = 0
    by_rules: int = 0

    def __add__(self, other: BranchTotals) -> BranchTotals:
        return BranchTotals(*map(operator.add, astuple(self), astuple(other)))

    def __str__(self) -> str:
        counts = (self.ran, "ran"), (self.cached, "cached"), (self.inherited, "from before")
        return ", ".join(f"{count:,} {word}" for count, word in counts if count)

    @property
    def cost(self) -> Cost | None:
        """What the requests cost; None where that is not known, or where there were none."""
        is_known = self.dollars > 0 and not self.unpriced
        return Cost(self.dollars, self.at_most > 0) if is_known else None


NO_TOTALS = BranchTotals()


class _Used(NamedTuple):
    """What the entries of a path used."""

    totals: BranchTotals = NO_TOTALS
    shared: BranchTotals = NO_TOTALS
    """What they count as where an older branch has them too, which paid for them."""
    by_rules: frozenset[str] = frozenset()
    """The open calls that a rule let run."""


def branch_totals(cursor: Cursor, head: str) -> BranchTotals:
    """Return what the entries of a path used; the journal keeps it."""
    # The model is the one that replies where the journal names none.
    journal, model = cursor.context.journal, getattr(cursor.context.model, "name", "")
    used = journal.fold(head, journal.index(_TotalsFold(str(model))), _Used())
    if not cursor.replay_queue.is_repeated(head):
        return used.totals
    # What a replay has repeated so far did not run in it.
    return replace(used.shared, cached=used.shared.inherited, inherited=0)


@dataclass(frozen=True)
class _TotalsFold:
    """Returns the fold from the entries of a journal to totals, at the prices of this model."""

    model: str

    def __call__(self, journal: Journal) -> Callable[[_Used, Entry], _Used]:
        def add(used: _Used, entry: Entry) -> _Used:
            if entry.parent and entry.id in journal.forks:
                used = used._replace(totals=used.shared)
            match entry.event:
                case Finished(call_id) as event if ended_call(event):
                    by_rules = call_id in used.by_rules
                    cached = CallIndex.of(journal).is_cached(entry)
                    ms = 0 if cached else entry.meta.get("ms", 0)
                    ran = BranchTotals(not cached, cached, ms=ms, by_rules=by_rules)
                    shared = BranchTotals(inherited=1, by_rules=by_rules)
                    return used._replace(totals=used.totals + ran, shared=used.shared + shared)
                case Decided(call_id, rule=""):
                    return used._replace(by_rules=used.by_rules - {call_id})
                case Decided(call_id, rule=rule) | Started(call_id, rule=rule) if rule:
                    return used._replace(by_rules=used.by_rules | {call_id})
                # A replayed reply, which names the reply that was there first, cost nothing.
                case Replied(usage=Usage() as usage) if "of" not in entry.meta:
                    model = state_at(journal, entry.id).opened.model or self.model
                    return used._replace(totals=used.totals + _request_totals(model, usage))
            return used

        return add


def _request_totals(model: str, usage: Usage) -> BranchTotals:
    price, tokens = cost(model, usage), usage.input + usage.output
    if price is None:
        return BranchTotals(tokens=tokens, unpriced=1)
    return BranchTotals(tokens=tokens, dollars=price.dollars, at_most=price.most)
