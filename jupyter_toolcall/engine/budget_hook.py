"""Counts what a session uses, and pauses it before a request that would go over its budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..core.events import Outcome
from ..core.interface_text import t
from ..core.state import AskModel
from ..models.prices import cost
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
        def count(reply: Reply | None) -> None:
            if reply is not None and reply.usage is not None:
                paid = cost(model, reply.usage)
                dollars = None if paid is None else paid.dollars
                self.budget.count(reply.usage, dollars, model)

        yield count

    @contextmanager
    def around_execution(self, call: PreparedCall) -> Iterator[Callable[[Outcome], None]]:
        self.budget.used_calls += 1
        yield lambda outcome: None
