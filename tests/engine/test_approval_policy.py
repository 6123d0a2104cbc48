"""Policies: which calls run, wait or are refused, and why."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.engine.approval_policy import approval_policy


@tool(read_only=True)
def look(at: str) -> str:
    """Look."""
    return at


def write(to: str) -> str:
    """Write."""
    return to


BOX = Toolbox(look, write)


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
    ],
)
def test_the_first_rule_that_answers_wins(approve: Any, looks: str, writes: str) -> None:
    rules = approval_policy(approve)
    assert rules(BOX["look"], {"at": "home"})[0] == looks
    assert rules(BOX["write"], {"to": "home"})[0] == writes


def test_a_break_asks_whatever_the_policy_says() -> None:
    rules = approval_policy("all", ("write*",))
    assert rules(BOX["write"], {"to": "x"}) == ("ask", "The rule 'write*' says ask.")
    assert rules(BOX["look"], {"at": "x"})[0] == "approve"


@pytest.mark.parametrize(
    ("approve", "said"),
    [("al", "Did you mean all"), ([("x", "perhaps")], "'perhaps' is no verdict")],
)
def test_what_is_no_policy_is_told(approve: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        approval_policy(approve)


def test_a_model_is_told_why_its_call_was_refused() -> None:
    session = Session(
        BOX, Scripted([("write", {"to": "x"}), "done"]), scheme="flat", approve="read-only"
    ).tell("go")
    assert session.calls[0].status == "rejected"
    told = session.cursor.request.messages[2].results[0]  # type: ignore[union-attr]
    assert "Only read-only tools run in this session." in told.content
