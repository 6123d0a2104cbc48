"""Counts what a session uses, and pauses it before a request that would go over its budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..core.errors import ModelError
from ..core.events import Outcome
from ..core.interface_text import t
from ..core.state import AskModel
from ..models.prices import FREE, PAID, cost, price
from ..rules.budget import Budget
from ..schemes.messages import Reply
from .cursor import Cursor, SessionHooks
from .session_values import PreparedCall


@dataclass(frozen=True)
class BudgetHook(SessionHooks):
    """Holds the next reply while the budget is too small. A replayed reply is never held."""

    budget: Budget

    held_status = t("Paused: not enough budget left")

    def holds_reply(self, cursor: Cursor) -> bool:
        if not self.budget.shortage or cursor.replay_queue.next() is not None:
            return False
        return isinstance(cursor.next_step, AskModel)

    @contextmanager
    def around_request(self, model: str) -> Iterator[Callable[[Reply | None], None]]:
        self._demand_price(model)

        def count(reply: Reply | None) -> None:
            if reply is not None and reply.usage is not None:
                paid = cost(model, reply.usage)
                dollars = None if paid is None else paid.dollars
                self.budget.count(reply.usage, dollars, model)

        yield count

    def _demand_price(self, model: str) -> None:
        """Raise ModelError where the budget limits cost alone, and the price is not known."""
        budget, provider = self.budget, model.partition(":")[0]
        if budget.cost is None or budget.tokens is not None or price(model) is not None:
            return
        # A function may cost nothing: that is seen when its first reply has used tokens.
        if provider in PAID or (budget.unpriced and provider not in FREE):
            raise ModelError(
                f"the price of {model or 'this model'} is not known, so a budget of cost alone "
                "would stop nothing: give tokens beside cost, such as tokens=50000,cost=0.50"
            )

    @contextmanager
    def around_execution(self, call: PreparedCall) -> Iterator[Callable[[Outcome], None]]:
        self.budget.used_calls += 1
        yield lambda outcome: None
