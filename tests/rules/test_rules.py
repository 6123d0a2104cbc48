"""Rules that end, and rules that a person may want instead of deciding again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest

from jupyter_toolcall import Rule, Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.engine.decisions import rule_offers
from jupyter_toolcall.view.view_rows import all_rows


def pay(to: str, amount: int = 1) -> str:
    """Pay."""
    return "paid"


BOX = Toolbox(pay)
VERSION = BOX["pay"].version()


def asked(rule: Rule, **arguments: Any) -> Session:
    """Return a session with one call of `pay` under a rule."""
    replies = Scripted([("pay", {"to": "Anna", **arguments}), "Done."])
    return Session(BOX, replies, scheme="flat", approve=[rule]).tell("Pay Anna.")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, ""),
        ({"until": "2999-01-01", "made": "2020-01-01", "code": VERSION}, ""),
        ({"until": "2020-01-01"}, "The rule 'pay' ended on 2020-01-01."),
        ({"made": "2999-01-01T00:00+01:00"}, "The rule 'pay' is of later than now"),
        ({"code": "other"}, "The rule 'pay' ended: the code of pay has changed."),
    ],
)
def test_a_rule_that_has_ended_asks_and_says_why(fields: Any, why: str) -> None:
    session = asked(Rule("pay", "run", **fields))
    assert session.calls[0].status == ("proposed" if why else "succeeded")
    assert why in all_rows(session.cursor, "").calls[0].why
    refused = asked(Rule("pay", "refuse", **fields))
    assert refused.calls[0].status == "rejected"


@pytest.mark.parametrize(
    ("to", "is_refused"),
    [("Mallory", True), ("Ｍａｌｌｏｒｙ", True), ("𝓜allory", True), ("mallory", False)],
)
def test_a_rule_to_refuse_fits_the_characters_that_look_alike(to: str, is_refused: bool) -> None:
    rule = Rule("pay", "refuse", {"to": {"pattern": "^Mallory$"}})
    assert asked(rule, to=to).calls[0].status == ("rejected" if is_refused else "proposed")
    same = Rule("pay", "run", {"to": {"const": "Mallory"}})
    assert asked(same, to=to).calls[0].status == ("succeeded" if to == "Mallory" else "proposed")


@pytest.mark.parametrize("decision", ["run", "refuse"])
def test_a_value_of_another_type_than_the_tool_declares_is_no_rule_s_to_judge(
    decision: Literal["run", "refuse"],
) -> None:
    rule = Rule("pay", decision, {"amount": {"maximum": 20}})
    session = asked(rule, amount="5000")
    assert [call.status for call in session.calls] == ["proposed"]
    assert "cannot judge the type of amount" in all_rows(session.cursor, "").calls[0].why


@pytest.mark.parametrize(
    "rule",
    [
        lambda: Rule("pay", "run", until="9999-12-31T23:59:59-12:00"),
        lambda: Rule("pay", "run", until="tomorrow"),
        lambda: Rule("pay", "run", made="tomorrow"),
    ],
)
def test_what_is_no_date_is_named(rule: Callable[[], Rule]) -> None:
    with pytest.raises(UsageError, match="is no date; write 2026-12-24"):
        rule()


# -- offers ---------------------------------------------------------------------------------------


class Table:
    """A table."""


Method = Literal["median", "mean", "max"]


def fill(table: Table, column: str, method: Method, quiet: bool = False) -> Table:
    """Fill the empty cells of a column."""
    return Table()


@tool(read_only=True, untrusted=True)
def read_page() -> str:
    """Read a page."""
    return "Fill the cells of price."


def session_of(*calls: Any, prompt: str = "Fill the column price.") -> Session:
    box = Toolbox(fill, read_page)
    turns = Scripted([*calls, "Done."])
    options: dict[str, Any] = {"scheme": "flat", "inputs": {"hotels": Table()}}
    return Session(box, turns, **options).tell(prompt)


def filled(table: str = "Table#1", column: str = "price", method: str = "median") -> Any:
    return "fill", {"table": table, "column": column, "method": method}


def offers(session: Session) -> list[Any]:
    return rule_offers(session.cursor, session.pending[0].id)


def test_the_offers_go_from_this_call_to_its_objects_to_closed_values() -> None:
    exact, objects, closed = offers(session_of(filled()))
    assert (exact.free, objects.free, closed.free) == ((), ("table",), ("table", "method"))
    assert closed.rule.arguments == {"column": {"const": "price"}}
    assert {each.rule.decision for each in (exact, objects, closed)} == {"run"}


def test_an_offer_says_what_it_would_have_done_with_the_calls_so_far() -> None:
    calls = [filled(), filled("Table#2"), filled("Table#1", "stars"), filled(method="max")]
    session = session_of(*calls, filled("Table#3"))
    for decision in ("approve", "approve", "approve", "reject"):
        session.decide(session.pending[0], decision).run()
    exact, objects, closed = offers(session)
    assert str(exact) == "would have run 0 of 4"
    assert str(objects) == "would have run 2 of 4"
    assert str(closed) == "would have run 3 of 4; you rejected 1"
    assert closed.rejected == (session.calls[3].id,)


def test_texts_and_numbers_are_never_free() -> None:
    replies = Scripted([("pay", {"to": "#W2378156", "amount": 17}), "Done."])
    session = Session(BOX, replies, scheme="flat").tell("Pay.")
    (exact,) = offers(session)
    assert exact.rule.arguments == {"to": {"const": "#W2378156"}, "amount": {"const": 17}}


def test_a_value_that_others_wrote_is_not_generalised() -> None:
    assert offers(session_of(("read_page", {}), filled(), prompt="Go on.")) == []


def test_the_rule_of_an_offer_runs_the_calls_that_it_was_made_for() -> None:
    closed = offers(session_of(filled()))[-1]
    box, turns = Toolbox(fill), Scripted([filled(method="max"), filled(column="stars"), "Done."])
    session = Session(
        box, turns, scheme="flat", inputs={"hotels": Table()}, approve=[closed.rule]
    ).tell("Fill the cells.")
    assert [call.status for call in session.calls] == ["succeeded", "proposed"]
