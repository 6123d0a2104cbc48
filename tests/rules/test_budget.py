"""Budgets: a session pauses before it uses more than it may, and goes on where it stopped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jupyter_toolcall import Budget, Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import ModelError, UsageError
from jupyter_toolcall.core.events import Usage
from jupyter_toolcall.engine.person_model import idle_phase
from jupyter_toolcall.schemes.messages import Reply
from jupyter_toolcall.view.decision_rows import budget_row


def note(text: str) -> str:
    """Note."""
    return "noted"


class Counted:
    """A model that uses 1,000 tokens a reply."""

    def __init__(self, *turns: Any, name: str = "anthropic:claude-sonnet-5-5") -> None:
        self.scripted, self.name, self.asked = Scripted([*turns]), name, 0

    def __call__(self, request: Any) -> Reply:
        self.asked += 1
        return replace(self.scripted(request), usage=Usage(900, 100))


def opened(budget: Budget, calls: int = 5, name: str = "anthropic:claude-sonnet-5-5") -> Session:
    model = Counted(*[("note", {"text": f"{n}"}) for n in range(calls)], "Done.", name=name)
    return Session(Toolbox(note), model, scheme="flat", approve="all", budget=budget)


def test_a_session_pauses_before_the_request_that_would_go_over_and_goes_on_with_more() -> None:
    budget = Budget(tokens=2_500)
    session = opened(budget).tell("Note.")
    assert (len(session.calls), budget.used_tokens) == (2, 2_000)
    assert budget.shortage == (
        "The next request needs about 1,000 tokens, and 500 are left. "
        "2,500 tokens more are enough for about 3 such requests."
    )
    assert idle_phase(session.cursor) == ("waiting", "Paused: not enough budget left")
    budget.add(1, 0)
    row = budget_row(session.cursor)
    assert row is not None
    assert (row.tokens, row.more_tokens) == (2_501, 2_500)
    assert "2,500 tokens more are enough for about 3 such" in row.why
    budget.tokens = 100_000
    assert session.run().text == "Done."
    assert budget.used_tokens == 6_000


def test_what_is_repeated_costs_nothing() -> None:
    budget = Budget(tokens=6_000)
    session = opened(budget).tell("Note.")
    assert session.text == "Done."
    assert session.replay().run().text == "Done."
    assert budget.used_tokens == 6_000


def test_a_cost_counts_by_the_dated_prices_and_an_unknown_price_counts_tokens_alone() -> None:
    budget = Budget(cost=0.007)
    session = opened(budget).tell("Note.")
    assert round(budget.used_cost, 4) == 0.0056
    row = budget_row(session.cursor)
    assert row is not None
    assert row.note.startswith("Prices of 20")
    assert "costs about $0.00" in row.why
    unknown = Budget(tokens=2_500, cost=0.001)
    row = budget_row(opened(unknown, name="other:model").tell("Note.").cursor)
    assert unknown.used_cost == 0
    assert row is not None
    assert row.note == "No price is known for other:model: its tokens count alone."


@pytest.mark.parametrize(("name", "asked"), [("openai:gpt-9", 0), ("my model", 1), ("", 1)])
def test_a_budget_of_cost_alone_is_refused_where_the_price_is_not_known(
    name: str, asked: int
) -> None:
    session = opened(Budget(cost=0.5), name=name)
    with pytest.raises(ModelError, match=f"the price of {name or 'this model'} is not known"):
        session.tell("Note.")
    model = session.cursor.context.model
    assert isinstance(model, Counted)
    assert model.asked == asked
    assert opened(Budget(cost=0.5), name="recorded:a").tell("Note.").text == "Done."


def test_calls_above_the_budget_wait_and_a_person_may_run_them() -> None:
    session = opened(Budget(calls=2)).tell("Note.")
    assert [call.status for call in session.calls] == ["succeeded", "succeeded", "proposed"]
    session.decide(session.pending[0]).run()
    assert [call.status for call in session.calls][2:] == ["succeeded", "proposed"]


def test_calls_that_are_repeated_or_verified_need_no_budget() -> None:
    budget = Budget(calls=3)
    session = opened(budget, calls=3).tell("Note.")
    assert session.replay().run().text == "Done."
    assert session.verify()
    assert budget.used_calls == 3
    edited = session.edit(session.calls[0], text="other").run()
    assert [call.status for call in edited.calls] == ["succeeded"] * 3
    assert budget.used_calls == 4


@pytest.mark.parametrize("left", [1, 2, 5, 9])
def test_of_calls_that_run_together_no_more_begin_than_the_budget_allows(left: int) -> None:
    began = []

    @tool(read_only=True)
    def look(n: int) -> int:
        """Look."""
        began.append(n)
        return n

    model = Scripted([[("look", {"n": n}) for n in range(6)], "Done."])
    box, budget = Toolbox(look), Budget(calls=left)
    session = Session(box, model, scheme="flat", jobs=4, budget=budget).tell("Look.")
    done = [call.status for call in session.calls].count("succeeded")
    assert len(began) == done == budget.used_calls == min(left, 6)
    budget.calls = 20
    assert session.run().text == "Done."
    assert sorted(began) == [*range(6)]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("token=5", "'token' is no limit; .*Did you mean tokens"),
        ("tokens=many", "tokens is 'many', which is no number"),
        ("tokens=0", "it is a number above 0"),
        ("cost=nan", "it is a number above 0"),
    ],
)
def test_what_is_no_budget_is_named(wrong: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Budget.parsed(wrong)


def test_a_budget_is_written_as_an_option() -> None:
    assert Budget.parsed("tokens=50000,cost=0.50,calls=40") == Budget(50_000, 0.5, 40)
