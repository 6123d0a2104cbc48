"""What a person is warned of: one warning at the call, in the picture and in the text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Session, Toolbox, tool
from jupyter_toolcall.models import Scripted
from jupyter_toolcall.view.contract_rows import CallRow
from jupyter_toolcall.view.view_rows import all_rows


class Account:
    """Money of one person."""

    def __init__(self, owner: str = "alice", balance: int = 100) -> None:
        self.owner, self.balance = owner, balance

    def withdraw(self, amount: int) -> Account:
        """Return the account with less in it."""
        if amount > self.balance:
            raise ValueError("too little in it")
        return Account(self.owner, self.balance - amount)

    def pay(self, amount: int) -> str:
        """Change the account, and return a text."""
        self.balance -= amount
        return "paid"


class Vault(Account):
    """An account that cannot be copied."""

    def __reduce__(self) -> Any:
        return another_vault, (self.balance,)


def another_vault(balance: int) -> Vault:
    raise TypeError("there is one")


def played(
    *calls: tuple[str, dict[str, Any]], account: Account | None = None
) -> tuple[Session, list[CallRow]]:
    """Return a session of some calls on an account, and their rows."""
    session = Session(
        Toolbox(Account, Vault),
        Scripted([*calls, "Done."]),
        scheme="flat",
        approve="all",
        inputs={"account": account or Account()},
        outputs={"left": Account},
    ).tell("Go.")
    return session, [row for row in all_rows(session.cursor, "").calls if not row.branch]


def test_the_card_of_a_call_says_that_its_tool_may_destroy_data() -> None:
    @tool(destructive=True)
    def clear(folder: str) -> str:
        """Remove what is in a folder."""
        return folder

    model = Scripted([("clear", {"folder": "a"}), "Done."])
    waits = Session(Toolbox(clear), model, scheme="flat").tell("Clear it.").run()
    assert [call.id for call in waits.pending] == ["call_1"]
    (row,) = all_rows(waits.cursor, "").calls
    assert row.downstream == "It may delete or overwrite data."


WITHDRAW, TOO_MUCH = ("Account_withdraw", {"amount": 5}), ("Account_withdraw", {"amount": 500})
WRONG = ("Account_pay", {"amount": "much"})
SAVE = ("save", {"left": "Account#1"})


@pytest.mark.parametrize(
    ("before", "named"),
    [
        ([TOO_MUCH], ["1 (Account_withdraw)"]),
        ([TOO_MUCH, WITHDRAW], []),
        ([WITHDRAW, TOO_MUCH], ["2 (Account_withdraw)"]),
        ([TOO_MUCH, TOO_MUCH, WRONG], ["2 (Account_withdraw)", "3 (Account_pay)"]),
        ([], []),
    ],
)
def test_a_save_names_the_failed_calls_before_it_that_nothing_repaired(
    before: list[tuple[str, dict[str, Any]]], named: list[str]
) -> None:
    _, rows = played(*before, SAVE)
    warnings = [row.warning for row in rows if row.warning is not None]
    assert [warning.kind for warning in warnings] == ["an earlier call failed"] * bool(named)
    for warning in warnings:
        assert re.findall(r"\d \(\w+\)", warning.text) == named


def test_what_was_told_at_one_save_is_not_told_at_the_next() -> None:
    session, _ = played(TOO_MUCH, SAVE, SAVE)
    rows = all_rows(session.tell("Again.").cursor, "").calls
    assert [row.warning is not None for row in rows] == [False, True, False]


def test_an_untracked_change_is_marked_in_the_picture_and_told_in_the_text() -> None:
    pay = ("Account_pay", {"Account": "Vault#1", "amount": 5})
    withdraw = ("Account_withdraw", {"Account": "Vault#1", "amount": 5})
    session, rows = played(withdraw, pay, SAVE, account=Vault())
    warning = rows[1].warning
    assert warning is not None
    shown = session._repr_mimebundle_()
    assert f"2 Account_pay: warning: {warning.text}" in shown["text/plain"]
    assert "(untracked change)" in shown["text/plain"]
    assert shown["image/svg+xml"].count("<title>untracked change</title>") == 1
    kept, _ = played(WITHDRAW, SAVE)
    assert "untracked" not in kept._repr_mimebundle_()["image/svg+xml"]


def test_what_a_method_changed_beside_its_result_is_kept_and_nothing_is_warned_of() -> None:
    session, rows = played(("Account_pay", {"amount": 5}), SAVE)
    assert [row.warning for row in rows] == [None, None]
    assert session["Account#2"].balance == 95


def test_the_arguments_keep_the_order_of_the_tool_where_a_file_sorts_their_names() -> None:
    def move(zone: str, amount: int) -> str:
        """Move."""
        return zone

    session = Session(
        Toolbox(move), Scripted([("move", {"amount": 1, "zone": "a"}), "Done."]), scheme="flat"
    )
    (tool,) = all_rows(session.tell("Go.").cursor, "").tools
    assert tool.order == ("zone", "amount")


class Jar:
    """An object that cannot be kept."""

    def __reduce__(self) -> Any:
        raise TypeError("no copies")


def fill() -> Jar:
    """Fill a jar."""
    return Jar()


def post(jar: Jar) -> str:
    """Post a jar."""
    return "posted"


def test_a_decided_call_whose_object_is_gone_can_be_decided_on_again(tmp_path: Path) -> None:
    tools, script = Toolbox(fill, post), [("fill", {}), ("post", {"jar": "Jar#1"}), "Done."]
    session = Session(tools, Scripted(script), scheme="flat").tell("Post a jar.")
    session.decide(session.pending[0]).run()
    session.decide(session.pending[0]).save(tmp_path / "session.jsonl")
    loaded = Session.load(tmp_path / "session.jsonl", tools, Scripted(script))
    [waiting] = (row for row in all_rows(loaded.cursor, "").calls if row.tool == "post")
    # The panel has buttons for a call that is proposed, and none for one that is approved.
    assert waiting.status == "proposed"
    assert "is not in this kernel" in waiting.why
    assert loaded.decide(loaded.pending[0], "answer", result="posted by hand").run().text == "Done."
