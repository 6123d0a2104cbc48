"""What a person decides on is in sight, whatever the window, the session and the call."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.kitchen import (
    LOAD,
    OWN,
    choose,
    edit_call,
    expect_status,
    expect_waits,
    fries_cell,
    node,
    panel,
    press,
    run_notebook,
    script,
    steps,
)
from tests.e2e.rig import (
    FRONT_ENDS,
    Place,
    dark_theme,
    expect_nothing,
    open_notebook,
    screenshot,
    wait_idle,
)

SIZES = [(1366, 768), (1400, 1000), (900, 768), (500, 900)]
ACCOUNTS = '''%load_ext jupyter_toolcall
from dataclasses import dataclass
from jupyter_toolcall import Scripted, tool

@dataclass
class Account:
    """A bank account."""
    owner: str
    balance: float

    def deposit(self, amount: float) -> "Account":
        """Pay in."""
        if amount <= 0:
            raise ValueError("amount must be positive")
        return Account(self.owner, self.balance + amount)

    @tool(read_only=True)
    def grow(self, amount: float) -> "Account":
        """Add interest."""
        if amount <= 0:
            raise ValueError("amount must be positive")
        return Account(self.owner, self.balance + amount)

    def transfer(self, other: "Account", amount: float, note: str = "") -> "Account":
        """Move money to another account."""
        return Account(other.owner, other.balance + amount)

alice, bob = Account("alice", 100.0), Account("bob", 20.0)
two = Scripted([
    ["A first try.", ("Account_grow", {"Account": "Account#1", "amount": -5.0})],
    ["Too much. Less, then.", ("Account_transfer", {
        "Account": "Account#1", "other": "Account#2", "amount": 10.0, "note": "rent " * 200})],
    "Done."])
calls = []
for n in range(49):
    made = 1 + sum(amount > 0 for _, (_, amount) in calls)
    calls.append((made, ("grow", -1.0 if n % 9 == 4 else float(n + 1))))
fifty = Scripted([
    *[("Account_grow", {"Account": f"Account#{made}", "amount": amount})
      for made, (_, amount) in calls],
    ["All that is left for alice.", ("Account_deposit", {"Account": "Account#44", "amount": 7.5})],
    "Done."])
'''
EIGHT = """
for n in range(8):
    get_ipython().run_line_magic("toolchat", f"edit call_{40 - n} amount={1000 + n}")
"""
TABLE = '''%load_ext jupyter_toolcall
import pandas as pd
from jupyter_toolcall import Scripted
orders = pd.DataFrame({
    "order_id": range(1, 31), "customer": ["alice", "bob", "cara"] * 10,
    "price": [None if n % 7 == 3 else 10.5 + n for n in range(30)],
    "city": [" Oslo", "Bergen ", None] * 10})
def fill_missing(table: pd.DataFrame, column: str, value: float) -> pd.DataFrame:
    """Fill the missing values of a column."""
    new = table.copy()
    new[column] = new[column].fillna(value)
    return new
model = Scripted([
    ["Some prices are missing.",
     ("fill_missing", {"table": "DataFrame#1", "column": "price", "value": 12.5})],
    [("save", {"clean": "DataFrame#2"})], "Done."])
'''
CLEAN = "%%toolchat -m model -t fill_missing -i orders -o clean:DataFrame --scheme flat\nClean it."
FIVE = """%load_ext jupyter_toolcall
import time
import pandas as pd
from jupyter_toolcall import Scripted
orders = pd.DataFrame({"city": ["basel ", "Bern", None] * 20})
orders = orders.assign(**{f"c{n}": n for n in range(9)}, price=[*range(41), 87999.12, *range(18)])
def note(text: str, urgent: bool = False) -> str:
    return text
def send(to: str, body: str) -> str:
    return "sent"
def configure(settings: dict) -> str:
    return "configured"
def drop(table: pd.DataFrame, column: str, above: float = 1e4) -> pd.DataFrame:
    time.sleep(1)
    return table[table[column] <= above]
def book(a: str, b: str, c: str, d: int, e: int, f: int, g: bool, h: bool, i: float, j: str,
         k: str, l: str) -> str:
    return "booked"
values = {n: n * 7 for n in "abcjkl"} | dict(d=4051, e=2, f=3, g=True, h=False, i=189.5)
settings = {"retry": {"times": 3, "wait": [1, 5.0]}, "to": ["anna@example.com"] * 3}
five = Scripted([["Words.", call] for call in (
    ("note", {"text": "rent  is\u00a0due\u200b"}),
    ("send", {"to": "a@b.c", "body": "line\\n" * 60}),
    ("configure", {"settings": settings}), ("book", values),
    ("drop", {"table": "DataFrame#1", "column": "price"}))] + ["Done."])
"""
CLEAN_FIVE = "%%toolchat -m five -t note send configure drop book -i orders --scheme flat\nGo."


def resize(page: Page, view: Locator, width: int, height: int) -> None:
    """Show the panel from its top in a window of this size."""
    if width < 700:
        page.evaluate("window.jupyterapp.shell.collapseLeft?.()")
    page.set_viewport_size({"width": width, "height": height})
    # JupyterLab lays its cells out after the window has its size, and scrolls then.
    view.evaluate(
        """view => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
            view.scrollIntoView({ block: 'start' });
            done();
        })))"""
    )


def expect_decision_in_sight(page: Page, view: Locator, tool: str, words: str = "") -> None:
    """Everything that a person decides on is on the screen, and nothing covers it."""
    card = view.get_by_role("region", name="Details")
    parts = [card.get_by_role("heading", name=tool, exact=True), card.get_by_text("Creates ")]
    parts += [card.get_by_text(words, exact=True)] if words else []
    parts += card.locator(".tc-args > *").all()
    buttons = [card.get_by_role("button", name=name, exact=True) for name in DECISIONS]
    assert len(parts) > 3
    for part in [*parts, *buttons]:
        expect(part).to_be_in_viewport(ratio=0.98)
        expect_nothing(part, COVERED)
    graph = view.get_by_role("img", name="Object lineage")
    expect(graph).to_be_in_viewport(ratio=0.95)
    made = card.get_by_text("Creates ").inner_text().split()[1].rstrip(".")
    expect(node(view, made).first).to_be_in_viewport(ratio=0.9)
    height, window = graph.evaluate("svg => [svg.clientHeight, window.innerHeight]")
    assert 120 <= height <= max(120, 0.35 * window + 1)
    assert view.evaluate("view => view.scrollWidth <= view.clientWidth")


DECISIONS = ("Approve", "Edit", "Reject", "Answer")
COVERED = """part => {
    const { left, top, width, height } = part.getBoundingClientRect();
    const at = document.elementFromPoint(left + width / 2, top + Math.min(height, 30) / 2);
    return part.contains(at) || at?.contains(part) ? '' : `${part.outerHTML}, ${at?.outerHTML}`;
}"""


def decide_everywhere(page: Page, view: Locator, name: str, tool: str, words: str = "") -> None:
    """Look at a decision in every size of window."""
    for width, height in SIZES:
        resize(page, view, width, height)
        expect_decision_in_sight(page, view, tool, words)
        screenshot(page, f"{name}-{width}")


@pytest.mark.own_page
def test_five_kinds_of_calls_are_decided_with_words_arguments_and_buttons_in_sight(
    page: Page, lab: Place
) -> None:
    view = run_notebook(page, lab, "five.ipynb", [FIVE, CLEAN_FIVE])
    card = view.get_by_role("region", name="Details")
    for number, tool in enumerate(("note", "send", "configure", "book", "drop"), 1):
        expect_waits(view, number, tool)
        for width, height in [(1366, 768), (1400, 1000), (500, 900)]:
            resize(page, view, width, height)
            names = card.locator(".tc-args > dt").all()
            # Of twelve arguments a narrow card scrolls.
            shown = [*card.locator(".tc-args > dd").all(), *names][: 8 if width == 500 else None]
            parts = [card.get_by_role("heading", name=tool, exact=True), card.get_by_text("Words.")]
            buttons = [card.get_by_role("button", name=name, exact=True) for name in DECISIONS]
            for part in [*parts, *shown, *buttons]:
                expect(part).to_be_in_viewport(ratio=0.98)
                expect_nothing(part, COVERED)
            screenshot(page, f"five-{tool}-{width}")
            if tool == "drop":
                press(view, "Edit")
                form = view.get_by_role("dialog", name="Edit call").bounding_box()
                table = card.locator(".tc-data").bounding_box()
                assert form
                assert table
                is_beside = form["x"] + form["width"] <= table["x"]
                assert is_beside or form["y"] >= table["y"] + table["height"]
                screenshot(page, f"five-edit-{width}")
                press(view, "Cancel")
        if tool == "drop":
            expect(view).to_match_aria_snapshot(WAITING)
            expect(card.get_by_role("row", name="41 87999.12")).to_be_visible()
        press(view, "Approve")
    expect(view).to_match_aria_snapshot(RUNNING)
    expect_status(view, "Finished")
    expect(view).to_match_aria_snapshot(FINISHED)


WAITING = """
- region "Tool calls":
  - status "Session status": Waiting for you
  - button "Run" [disabled]
  - region "Details":
    - group "What the model said"
    - heading "drop" [level=3]
    - term: table
    - definition:
      - button "DataFrame#1 · orders"
    - term: column
    - group "Table"
    - group "Approve":
      - button "Approve"
      - button /Approve, and don.t ask again when/
    - button "Edit"
    - button "Reject"
    - button "Answer"
"""
RUNNING = """
- region "Tool calls":
  - status "Session status": /Running/
  - button "Stop"
"""
FINISHED = """
- region "Tool calls":
  - status "Session status": Finished
  - button "Export"
  - tabpanel "Graph":
    - img "Object lineage"
    - list "Steps":
      - listitem:
        - button "note"
    - region "Details":
      - heading "DataFrame#2" [level=3]
      - button "Replay from here"
      - button "Fork from here"
      - button "Edit"
      - group "What the call changed"
"""


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_every_call_of_the_kitchen_is_decided_with_everything_in_sight(
    page: Page, front_end: str, request: pytest.FixtureRequest
) -> None:
    place: Place = request.getfixturevalue(front_end)
    view = run_notebook(page, place, "kitchen.ipynb", [LOAD, fries_cell()])
    resize(page, view, 1366, 768)
    tools = ("Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake")
    for number, tool in enumerate(tools, 2):
        expect_waits(view, number, tool)
        expect_decision_in_sight(page, view, tool)
        if tool == "Oven_bake":
            decide_everywhere(page, view, f"kitchen-{front_end}", tool)
        press(view, "Approve")
    expect_waits(view, 7, "Fries_plate")
    expect_decision_in_sight(page, view, "Fries_plate")
    for name in ("Step", "Run"):
        expect(view.get_by_role("button", name=name, exact=True)).to_be_disabled()


def test_two_accounts_and_a_long_argument_are_in_sight_and_a_failed_call_is_shown_on_a_click(
    page: Page, lab: Place
) -> None:
    cell = "%%toolchat -m two -t Account -i alice bob --scheme flat\nMove money."
    view = run_notebook(page, lab, "accounts.ipynb", [ACCOUNTS, cell])
    expect_waits(view, 2, "Account_transfer")
    decide_everywhere(page, view, "accounts", "Account_transfer", "Too much. Less, then.")
    card = view.get_by_role("region", name="Details")
    expect(card).to_contain_text("Account#1 · alice")
    expect(card).to_contain_text("Account#2 · bob")
    resize(page, view, 1366, 768)
    dark_theme(page)
    expect_decision_in_sight(page, view, "Account_transfer", "Too much. Less, then.")
    screenshot(page, "accounts-dark")
    card.get_by_role("button", name="Account#2 · bob").hover()
    expect(card.locator(".tc-data")).to_contain_text("Account#2 · bob")
    expect(node(view, "Account#3")).to_be_in_viewport()
    failure = card.get_by_role("button", name="Account_grow failed: ValueError: amount must be")
    failed = card.get_by_role("heading", name="Account_grow")
    failure.click()
    expect(failed).to_be_in_viewport()
    press(view, "Show")
    steps(view).nth(0).evaluate("step => step.scrollIntoView({ block: 'start' })")
    expect(failure).not_to_be_in_viewport()
    steps(view).nth(0).click()
    expect(failed).to_be_in_viewport(ratio=0.98)
    screenshot(page, "failed-shown")


def test_the_first_decision_is_in_sight_after_shift_enter(page: Page, lab: Place) -> None:
    lines = "\n".join(f"number_{line} = {line}" for line in range(9))
    open_notebook(page, lab, "shift-enter.ipynb", [f"{TABLE}{lines}", CLEAN])
    page.set_viewport_size({"width": 1366, "height": 768})
    page.locator(".jp-Notebook .jp-Cell .cm-content").first.click()
    for _ in range(2):
        page.keyboard.press("Shift+Enter")
    view = panel(page, 1)
    expect_waits(view, 1, "fill_missing")
    card = view.get_by_role("region", name="Details")
    said = card.get_by_text("Some prices are missing.", exact=True)
    buttons = [card.get_by_role("button", name=name, exact=True) for name in DECISIONS]
    head = [view.get_by_role("status", name="Session status"), card.get_by_role("heading"), said]
    for part in [*head, *card.locator(".tc-args > *").all(), *buttons]:
        expect(part).to_be_in_viewport(ratio=0.98)
    page.keyboard.type("# typed below")
    cells = page.locator(".jp-Notebook")
    expect(cells).to_contain_text("# typed below")
    screenshot(page, "shift-enter")


@pytest.mark.long
def test_the_fiftieth_call_is_decided_on_each_of_nine_branches_with_everything_in_sight(
    page: Page, lab: Place
) -> None:
    cell = "%%toolchat -m fifty -t Account -i alice --scheme flat --max-turns 99 --no-wait\nGo on."
    view = run_notebook(page, lab, "fifty.ipynb", [ACCOUNTS, cell, EIGHT], low=True)
    wait_idle(page)
    expect_waits(view, 50, "Account_deposit")
    view.get_by_role("button", name="Branch").click()
    expect(view.get_by_role("dialog", name="Branches").get_by_role("listitem")).to_have_count(9)
    view.get_by_role("button", name="Branch").click()
    decide_everywhere(page, view, "fifty", "Account_deposit", "All that is left for alice.")
    resize(page, view, 1366, 768)
    dark_theme(page)
    expect_decision_in_sight(page, view, "Account_deposit", "All that is left for alice.")
    screenshot(page, "fifty-dark")


def test_a_table_is_seen_before_the_decision_and_what_the_call_changed_after_it(
    page: Page, lab: Place
) -> None:
    view = run_notebook(page, lab, "table.ipynb", [TABLE, CLEAN])
    expect_waits(view, 1, "fill_missing")
    decide_everywhere(page, view, "table", "fill_missing", "Some prices are missing.")
    data = view.locator(".tc-data")
    expect(view.get_by_role("region", name="Details")).to_contain_text("empty: price 4, city 10")
    expect(data.get_by_role("columnheader")).to_have_text(["order_id", "customer", "price", "city"])
    expect(data.locator("th.named")).to_have_text("price")
    press(view, "Approve")
    expect_status(view, "Finished")
    wait_idle(page)
    choose(view, 1)
    expect(steps(view).nth(0)).to_contain_text("price: 4 cells filled")
    change = view.get_by_role("group", name="What the call changed")
    expect(change).to_contain_text("DataFrame#1 → DataFrame#2")
    expect(change.locator("mark")).to_have_text(["12.5"] * 4)
    expect(change.locator("del")).to_have_text(["empty"] * 4)
    resize(page, view, 1366, 768)
    screenshot(page, "table-after")
    dark_theme(page)
    screenshot(page, "table-after-dark")


def test_an_answer_is_checked_at_its_field_with_the_call_in_sight(page: Page, lab: Place) -> None:
    source = OWN + 'def name(jar: Jar) -> str:\n    """Name it."""\n    return "x"\n'
    model = script("model", '("fill", {"grams": 5})', '("name", {"jar": "Jar#1"})', '"Done."')
    cell = "%%toolchat -m model -t fill name --scheme flat -i jar\nFill."
    view = run_notebook(
        page, lab, "answer.ipynb", [source + model + "jar = Jar(1)", cell], low=True
    )
    expect_waits(view, 1, "fill")
    resize(page, view, 1366, 768)
    press(view, "Answer")
    result = view.get_by_label("Result", exact=True)
    expect(view.get_by_role("region", name="Details").locator(".tc-args")).to_be_in_viewport()
    press(view, "Answer")
    alert = view.get_by_role("alert").filter(has_text=re.compile("object"))
    expect(alert).to_contain_text("there is no object ''")
    result.fill("hello")
    press(view, "Answer")
    expect(alert).to_contain_text("there is no object 'hello'")
    screenshot(page, "answer-refused")
    result.fill("Jar#1")
    result.press("Control+Enter")
    expect_waits(view, 2, "name")
    press(view, "Answer")
    press(view, "Answer")
    expect(view.get_by_role("alert").filter(has_text="is empty")).to_be_visible()
    expect(result).to_be_focused()
    press(view, "Answer")
    expect_status(view, "Finished")


def test_two_calls_that_wait_name_two_objects(page: Page, lab: Place) -> None:
    model = script("model", '[("fill", {"grams": 5}), ("fill", {"grams": 6})]', '"Done."')
    cell = "%%toolchat -m model -t fill --scheme flat\nFill."
    view = run_notebook(page, lab, "two.ipynb", [OWN + model, cell])
    expect_waits(view, 1, "fill")
    expect(node(view, "Jar#1")).to_be_visible()
    expect(node(view, "Jar#2")).to_be_visible()
    steps(view).nth(1).click()
    expect(view.get_by_text("Creates Jar#2.")).to_be_visible()


ONE = """
one = Scripted([("drop", {"table": "DataFrame#1", "column": "price", "above": 9.0}), "Done."])
"""


@pytest.mark.own_page
def test_the_form_edit_moves_no_field_and_its_buttons_are_whole_as_one_types(
    page: Page, lab: Place
) -> None:
    cell = "%%toolchat -m one -t drop -i orders --scheme flat\nGo."
    view = run_notebook(page, lab, "edit.ipynb", [FIVE + ONE, cell])
    expect_waits(view, 1, "drop")
    for is_over in (False, True):
        for width, height in [(1366, 768), (500, 900), (500, 600)]:
            resize(page, view, width, height)
            dialog = edit_call(view)
            # JupyterLab may still be laying its cells out.
            expect(dialog.get_by_role("button", name="Close")).to_be_in_viewport(ratio=0.98)
            fields = dialog.locator(".tc-field, .tc-note")
            read_places = "all => all.map(one => one.getBoundingClientRect().top)"
            places = fields.evaluate_all(read_places)
            dialog.get_by_role("textbox", name="above").fill("7.5")
            confirm = dialog.get_by_role("button", name="Run with these values")
            for button in (confirm, dialog.get_by_role("button", name="Reset")):
                expect(button).to_be_in_viewport(ratio=0.98)
                expect_nothing(button, COVERED)
            assert fields.evaluate_all(read_places) == pytest.approx(places, abs=1)
            screenshot(page, f"edit-{'ran' if is_over else 'waits'}-{width}-{height}")
            press(dialog, "Cancel")
        if not is_over:
            resize(page, view, 1366, 768)
            press(view, "Approve")
            expect_status(view, "Finished")
            choose(view, 1)
