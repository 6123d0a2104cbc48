"""What a panel shows and edits is exact: no browser changes a value, and no edit is an accident."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.json_data import exact_data, from_exact, sendable_data
from jupyter_toolcall.jupyter.panel_commands import apply_command, parse_command
from jupyter_toolcall.view.contract_rows import SessionRow
from jupyter_toolcall.view.view_rows import ViewRows

LARGEST = 2**53 - 1
NUMBERS = st.one_of(st.integers(), st.integers(LARGEST - 3, LARGEST + 3), st.floats())
TEXTS = st.one_of(st.text(), st.text(st.characters(categories=["Cs", "Lu"]), max_size=4))
KEYS = st.one_of(st.sampled_from(["$json", "$$json", "a"]), TEXTS)


def nested(leaves: st.SearchStrategy[Any], keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """Return a strategy for JSON data."""
    return st.recursive(
        leaves,
        lambda part: st.one_of(st.lists(part, max_size=4), st.dictionaries(keys, part, max_size=3)),
        max_leaves=8,
    )


VALUES = nested(st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS), KEYS)
NUMBER = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
PLAIN = nested(
    st.none() | st.booleans() | NUMBER | st.text("ab1. "), st.sampled_from(["$json", "a", "b"])
)


def through_browser(data: Any) -> Any:
    """Return data as a browser sends them back that has only floats, and writes 1.0 as 1."""

    def number(text: str) -> Any:
        value = float(text)
        return int(value) if value.is_integer() else value

    text = json.dumps(sendable_data(data), ensure_ascii=False).encode().decode()
    return json.loads(text, parse_int=number, parse_float=number)


@given(VALUES)
def test_any_json_value_comes_back_exactly_from_a_browser(value: Any) -> None:
    assert json.dumps(from_exact(through_browser(exact_data(value)))) == json.dumps(value)


def pay(account: Any, amount: Any = 5, note: Any = "") -> str:
    """Pay."""
    return "paid"


def waiting(arguments: dict[str, Any], approve: Any = "ask") -> Session:
    """Return a session whose only call waits, or has run."""
    script = Scripted([("pay", arguments), "done"])
    return Session(Toolbox(pay), script, scheme="flat", approve=approve).tell("Go.")


def edited(session: Session, arguments: dict[str, Any], *left_out: str) -> Session:
    """Return the session after a panel's edit of its only call."""
    row = sendable_data(ViewRows().whole(session.cursor, SessionRow()).calls)[0]
    call = {key: row[key] for key in ("call", "approval_digest")}
    fields = {"arguments": arguments, "left_out": list(left_out), "reason": ""}
    return apply_command(session, parse_command({"type": "edit", **call, **fields}))


@given(PLAIN, PLAIN)
def test_an_edit_of_one_field_leaves_all_others_as_they_are(account: Any, note: Any) -> None:
    session = waiting({"account": account, "amount": 1.0})
    after = edited(session, {"note": exact_data(note)}).run()
    assert json.dumps(dict(after.calls[0].arguments), sort_keys=True) == json.dumps(
        {"account": account, "amount": 1.0, "note": note}, sort_keys=True
    )


SAME: list[dict[str, Any]] = [
    {},
    {"amount": 7},
    {"account": exact_data(LARGEST + 2), "amount": 7},
    {"note": {"a": 1, "b": [True]}},
    {"note": {"b": [True], "a": 1}},
]


@pytest.mark.parametrize("arguments", SAME)
def test_an_edit_of_nothing_approves_and_makes_no_branch(arguments: dict[str, Any]) -> None:
    asked = {"account": LARGEST + 2, "amount": 7, "note": {"a": 1, "b": [True]}}
    session = edited(waiting(asked), arguments).run()
    assert (session.calls[0].status, session.calls[0].edited) == ("succeeded", False)
    head = session.head
    after = edited(session, arguments)
    assert (after.head, len(after.branches)) == (head, 1)


@pytest.mark.parametrize(
    ("arguments", "left_out", "now"),
    [
        ({"amount": 1}, (), {"account": 1, "amount": 1}),
        ({"account": True}, (), {"account": True, "amount": 1.0}),
        ({}, ("amount",), {"account": 1, "amount": 5}),
        ({"amount": exact_data(-0.0)}, (), {"account": 1, "amount": -0.0}),
    ],
)
def test_what_is_equal_in_python_alone_is_an_edit_before_and_after_the_call_ran(
    arguments: dict[str, Any], left_out: tuple[str, ...], now: dict[str, Any]
) -> None:
    asked = {"account": 1, "amount": 1.0}
    for approve in ("ask", "all"):
        session = waiting(asked, approve)
        after = edited(session.run() if approve == "all" else session, arguments, *left_out).run()
        assert after.calls[0].edited
        assert repr(dict(after.calls[0].arguments)) == repr(now)
        assert len(after.branches) == (2 if approve == "all" else 1)
