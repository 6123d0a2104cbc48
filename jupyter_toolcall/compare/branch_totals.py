"""Totals of a branch: executed calls, time in tools, tokens and cost of its own requests.

Replayed entries, and those shared with an older branch, count on the branch that ran them first.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

from msgspec.structs import astuple

from ..core.events import Decided, Finished, Replied, Started, Usage, ended_call
from ..core.journal_entries import Entry
from ..core.recorded_calls import CallEnd, CallIndex
from ..core.recorded_data import Record
from ..core.state_fold import state_at
from ..engine.cursor import SessionContext
from ..models.prices import Cost, cost


class BranchTotals(Record, frozen=True):
    """What entries used. `unpriced` counts the requests whose price is not known, `at_most` those
    that may have cost less, `by_rules` the calls that rules let run."""

    ran: int = 0
    cached: int = 0
    ms: float = 0
    tokens: int = 0
    dollars: float = 0
    at_most: int = 0
    unpriced: int = 0
    by_rules: int = 0

    def __add__(self, other: BranchTotals) -> BranchTotals:
        return BranchTotals(*map(operator.add, astuple(self), astuple(other)))

    @property
    def cost(self) -> Cost | None:
        """What the requests cost; None where that is not known, or where there were none."""
        is_known = self.dollars > 0 and not self.unpriced
        return Cost(self.dollars, self.at_most > 0) if is_known else None


NO_TOTALS = BranchTotals()


class BranchReader:
    """Reads how the calls of branches ended and what they used, as their journal grows."""

    def __init__(self, context: SessionContext) -> None:
        self.journal = context.journal
        # The model that replies where the journal names none.
        self._model = str(getattr(context.model, "name", ""))
        self._rules = dict[str, str]()
        """The rule that decided on a call last, "" where none did."""

    def read(
        self,
        entries: Sequence[Entry],
        shared: frozenset[str] = frozenset(),
        total: BranchTotals = NO_TOTALS,
    ) -> tuple[dict[str, CallEnd], BranchTotals]:
        """Return how the calls of entries ended, by id, and what the entries used.

        What they used is added to `total`. The `shared` entries are those of an older branch too,
        where they were paid for.
        """
        ends = CallIndex.of(self.journal).ends(entries, shared)
        for entry in entries:
            # A replayed reply, which names the reply that was there first, cost nothing.
            is_paid = entry.id not in shared and "of" not in entry.meta
            match entry.event:
                case Finished(call_id) as event if call_id in ends and ended_call(event):
                    cached = ends[call_id].cached
                    ms = 0 if cached else entry.meta.get("ms", 0)
                    by_rules = self._rules.get(call_id, "") != ""
                    total += BranchTotals(not cached, cached, ms, by_rules=by_rules)
                case Decided(call_id, rule=rule):
                    self._rules[call_id] = rule
                case Started(call_id, rule=rule) if rule:
                    self._rules[call_id] = rule
                case Replied(usage=Usage() as usage) if is_paid:
                    total += self._request_totals(entry, usage)
        return ends, total

    def _request_totals(self, entry: Entry, usage: Usage) -> BranchTotals:
        price = cost(state_at(self.journal, entry.id).opened.model or self._model, usage)
        tokens = usage.input + usage.output
        if price is None:
            return BranchTotals(tokens=tokens, unpriced=1)
        return BranchTotals(tokens=tokens, dollars=price.dollars, at_most=price.most)
