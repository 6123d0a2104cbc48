"""An untracked change and a failure before `save`: marked where one looks, in light and dark."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.kitchen import LOAD, approve, expect_status, expect_step, run_notebook, script
from tests.e2e.rig import Place, dark_theme, screenshot

BANK = """
from jupyter_toolcall import Scripted

class Account:
    def __init__(self, owner, balance=100):
        self.owner, self.balance = owner, balance
    def deposit(self, amount: int) -> "Account":
        "Return the account with more in it."
        if amount > 1000:
            raise ValueError("too much at once")
        return Account(self.owner, self.balance + amount)
    def pay(self, amount: int) -> str:
        "Pay."
        self.balance -= amount
        return "paid"
    def __deepcopy__(self, memo):
        raise TypeError("there is one")

account = Account("alice")
"""
CALLS = script(
    "model",
    '("Account_deposit", {"amount": 5})',
    '("Account_pay", {"amount": 5})',
    '("Account_deposit", {"amount": 5000})',
    '("save", {"left": "Account#2"})',
    '"Done."',
)


def test_an_untracked_change_and_a_failure_before_save_are_marked_and_say_what_to_do(
    page: Page, lab: Place
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    opens = "%%toolchat -m model -t Account -i account -o left:Account --scheme flat --approve all"
    view = run_notebook(page, lab, "bank.ipynb", [LOAD + BANK + CALLS, f"{opens}\nPay."])
    # The account that was paid from is not as it was made.
    expect(view).to_contain_text("It takes Account#2, which a call changed after it was made.")
    screenshot(page, "changed-after-it-was-made")
    approve(view, "Account_deposit", first=3)
    expect_status(view, "Finished · 4 calls, 1 failed")
    expect_step(view, 2, "Account_pay", "untracked change")
    expect_step(view, 4, "save", "an earlier call failed")
    view.get_by_role("list", name="Steps").get_by_role("button", name="Account_pay").click()
    note = view.get_by_role("note", name="Warning: untracked change")
    expect(note).to_contain_text("or let the tool return a new object.")
    screenshot(page, "warnings")
    view.get_by_role("button", name="save", exact=True).first.click()
    expect(view.get_by_role("note", name="Warning: an earlier call failed")).to_be_visible()
    dark_theme(page)
    screenshot(page, "warnings-dark")
