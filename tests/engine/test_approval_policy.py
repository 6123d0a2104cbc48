"""Policies: which calls run, wait or are refused, and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any

import pytest

from jupyter_toolcall import Rule, Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.engine.permission import judged
from jupyter_toolcall.rules.approval_policy import approval_policy
from jupyter_toolcall.rules.origins import CallOrigins
from tests.example_tools import ask_calls, results, run_calls


@tool(read_only=True)
def look(at: str) -> str:
    return at


def write(to: str) -> str:
    return to


BOX = Toolbox(look, write)


class Word(StrEnum):
    APPROVE = "approve"


@pytest.mark.parametrize(
    ("approve", "looks", "writes"),
    [
        ("ask", "approve", "ask"),
        ("read-only", "approve", "reject"),
        ("all", "approve", "approve"),
        ("none", "ask", "ask"),
        ([("write", "approve")], "ask", "approve"),
        ([("write(*home*", "reject"), ("*", "approve")], "approve", "reject"),
        ([("*", "ask"), ("*", "approve")], "ask", "ask"),
        ([], "ask", "ask"),
        (lambda tool, arguments: ("reject", "never"), "reject", "reject"),
        # A member of an enum of texts is a text.
        (lambda tool, arguments: (Word.APPROVE, "It may."), "approve", "approve"),
    ],
)
def test_the_first_rule_that_answers_wins(approve: Any, looks: str, writes: str) -> None:
    rules = approval_policy(approve)
    assert rules(BOX["look"], {"at": "home"})[0] == looks
    assert rules(BOX["write"], {"to": "home"})[0] == writes


@pytest.mark.parametrize("breaks", ["write*", ["write*"], ("look(*y*", "*w*x*"), {"writ[e(]*)"}])
@pytest.mark.parametrize("approve", ["all", lambda tool, arguments: ("approve", "")])
def test_a_break_asks_whatever_the_policy_says(approve: Any, breaks: Any) -> None:
    calls = [[("look", {"at": "x"}), ("write", {"to": "x"})]]
    session = run_calls(look, write, calls=calls, approve=approve, breaks=breaks)
    assert [call.status for call in session.calls] == ["succeeded", "proposed"]
    judgement = judged(session.cursor.context, BOX["write"], {"to": "x"}, CallOrigins)
    assert re.fullmatch(r"You wrote --break \S*\*\S*: this call waits for you\.", judgement.reason)


@pytest.mark.parametrize(
    ("approve", "said"),
    [
        *(("al", "Did you mean all"), (None, "approve=None is no policy")),
        ({"write": "approve"}, "is no policy; .* a list of"),
        *(([("x", "perhaps")], "'perhaps' is no verdict"), ([("x", ["approve"])], "is no verdict")),
        *((["write"], "'write' in approve is no rule"), ([(1, "approve")], "is no rule")),
        ([("write", "approve", "why")], "is no rule; write Rule"),
        (Rule("write", "run"), "a list of Rule"),
    ],
)
def test_what_is_no_policy_is_told(approve: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        approval_policy(approve)


def test_a_model_is_told_why_its_call_was_refused() -> None:
    session = run_calls(write, calls=[("write", {"to": "x"})], approve="read-only")
    assert session.calls[0].status == "rejected"
    assert "Only read-only tools run in this session." in results(session)[0].content


class Unreadable:
    def __repr__(self) -> str:
        raise SystemExit


async def in_a_while(tool: Any, arguments: Any) -> tuple[str, str]:
    return "approve", "later"


def one_by_one(tool: Any, arguments: Any) -> Iterator[Any]:
    yield "approve"
    yield "step by step"


def policy_with(answer: Any) -> Any:
    def always(tool: Any, arguments: Any) -> Any:
        return answer

    return always


NO_DECISIONS = [
    *("approve", None, True, 1, b"approve", {}, object(), Unreadable()),
    *((), ("approve",), ("approve", None), ("approve", "why", "more"), ["approve", "why"]),
    *(("allow", ""), ("Approve", ""), ("approve ", ""), ("", ""), (True, "why")),
]


@pytest.mark.parametrize(
    "policy", [*map(policy_with, NO_DECISIONS), in_a_while, one_by_one, lambda tool, arguments: ""]
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_policy_without_a_decision_is_named_and_nothing_runs(policy: Any, jobs: int) -> None:
    calls = [("look", {"at": "x"}), ("look", {"at": "y"})]
    session = ask_calls(look, write, calls=[calls], approve=policy, jobs=jobs)
    with pytest.raises(UsageError) as raised:
        session.run()
    assert policy.__qualname__ in str(raised.value)
    assert '("approve", WHY), ("reject", WHY) and ("ask", WHY)' in str(raised.value)
    assert [call.status for call in session.calls] == ["proposed", "proposed"]


def test_a_policy_is_asked_with_the_same_check_on_a_replay_and_in_a_map() -> None:
    answers: list[Any] = [("approve", "the first time")]

    def once(tool: Any, arguments: Any) -> Any:
        return answers.pop() if answers else "approve"

    session = run_calls(write, calls=[("write", {"to": "x"})], approve=once)
    with pytest.raises(UsageError, match="once answered 'approve' for write"):
        session.replay(fresh=True).run()
    mapped = Session.map(["go"], BOX, Scripted([("write", {"to": "x"})]), approve=once)
    assert "once answered 'approve' for write" in mapped[0].error


def pay(amount: int, to: str = "Bob") -> str:
    return f"{amount} to {to}"


RULES = [
    Rule("pay", "refuse", {"to": {"pattern": "(?i)mallory"}}, reason="Never to Mallory."),
    Rule("p*", "run", {"amount": {"maximum": 20}, "to": {"enum": ["Bob", "Eve"]}}),
]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ({"amount": 20}, "succeeded"),
        ({"amount": 20, "to": "Eve"}, "succeeded"),
        ({"amount": 21}, "proposed"),
        ({"amount": 1, "to": "Ann"}, "proposed"),
        ({"amount": 1, "to": "MALLORY"}, "rejected"),
    ],
)
def test_a_rule_judges_the_values_for_the_tool(arguments: dict[str, Any], status: str) -> None:
    session = run_calls(pay, calls=[("pay", arguments)], approve=RULES)
    assert [call.status for call in session.calls] == [status]
    if status == "rejected":
        assert session.calls[0].error == "Never to Mallory."


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (lambda: Rule("pay", "approve"), "'approve' is no decision of a rule; there are run, ask"),  # type: ignore[arg-type]
        (lambda: Rule("pay", "ask", reason=3), "the reason of a rule is 3, which is no text"),  # type: ignore[arg-type]
        (lambda: Rule("pay", "ask", made=3), "3 is no date"),  # type: ignore[arg-type]
        (
            lambda: Rule("pay", "run", {"to": {"type": 1}}),
            "the rule for pay: to: {'type': 1} is no",
        ),
        (lambda: Rule("pay", "run", {"to": {"$ref": "http://x/"}}), "is no JSON Schema"),
    ],
)
def test_what_is_no_rule_is_refused(rule: Callable[[], Rule], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        rule()
