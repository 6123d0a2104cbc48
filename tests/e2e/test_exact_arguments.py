"""Arguments in the panel are what the tool gets: defaults can be chosen, values are exact."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.kitchen import (
    choose,
    edit_call,
    expect_status,
    expect_waits,
    press,
    run_notebook,
    steps,
    text_of,
)
from tests.e2e.rig import Place, dark_theme, run_cell, screenshot, wait_idle

BIG = 9_007_199_254_740_993
HIDDEN = "\u200b\u200d\u202e\u2066\ufe0f\u034f\u00ad\u3164"
SOURCE = f'''%load_ext jupyter_toolcall
from typing import Any
from jupyter_toolcall import Scripted
ran = []

def head(from_top: bool = True, count: int = 5, size: str = "S", share: float | None = None) -> str:
    """Show the first lines, or the last."""
    ran.append((from_top, count, size, share))
    return "shown"

def pay(account: int, note: str, amount: float = 1.0, more: dict[str, Any] | None = None) -> str:
    """Pay an amount from an account."""
    ran.append((account, note, amount, more))
    return "paid"

shows = Scripted([[("head", {{}})], "Done."])
more = {{"to": [{BIG + 2}, 1.0, -0.0], "Potato": "Potato#1"}}
long = "x" * 4990 + " two  spaces\\n" + "y" * 4990 + "THE END"
pays = Scripted([
    [("pay", {{"account": {BIG}, "note": "rent", "amount": 12.0, "more": more}})], "Done."])
texts = Scripted([
    [("pay", {{"account": 7, "note": long}})],
    [("pay", {{"account": 8, "note": "safe{HIDDEN}  name"}})], "Done."])
'''


def waiting(page: Page, lab: Place, model: str, tool: str) -> Locator:
    """Open a notebook in which a call of the tool waits."""
    cell = f"%%toolchat -m {model} -t {tool} --scheme flat\nGo on."
    view = run_notebook(
        page, lab, f"{model}.ipynb", [SOURCE, cell, "print(ran)", "%toolchat status"], low=True
    )
    expect_waits(view, 1, tool)
    return view


def arguments(view: Locator) -> Locator:
    return view.get_by_role("region", name="Details").locator(".tc-args")


def ran(page: Page) -> Locator:
    """Print what has run, and return where it is printed."""
    wait_idle(page)
    run_cell(page, 2)
    return text_of(page, 2)


def choose_value(dialog: Locator, argument: str) -> None:
    """Choose to write a value in place of the default of an argument."""
    box = dialog.page.get_by_role("textbox", name=argument, include_hidden=True)
    dialog.locator(".tc-free").filter(has=box).get_by_role("radio", name="value").check()


def test_false_is_chosen_by_keyboard_where_the_default_is_true_and_runs(
    page: Page, lab: Place
) -> None:
    view = waiting(page, lab, "shows", "head")
    expect(arguments(view)).to_contain_text("from_topdefault: true")
    dialog = edit_call(view)
    flag = dialog.get_by_role("radiogroup", name="from_top")
    expect(flag.get_by_role("radio")).to_have_count(3)
    expect(flag.get_by_role("radio", name="default (true)")).to_be_checked()
    flag.get_by_role("radio", name="default (true)").focus()
    page.keyboard.press("ArrowRight")
    expect(flag.get_by_role("radio", name="true", exact=True)).to_be_checked()
    page.keyboard.press("ArrowRight")
    choose_value(dialog, "count")
    dialog.get_by_role("textbox", name="count").fill("5")
    expect(dialog.get_by_role("radio", name="value", exact=True).first).to_be_checked()
    screenshot(page, "exact-form")
    press(dialog, "Run with these values")
    expect_status(view, "Finished")
    expect(arguments(view)).to_contain_text("from_topfalse")
    expect(ran(page)).to_contain_text("[(False, 5, 'S', None)]")


def test_an_edit_of_nothing_approves_a_call_and_makes_no_branch_after_it_ran(
    page: Page, lab: Place
) -> None:
    view = waiting(page, lab, "shows", "head")
    dialog = edit_call(view)
    expect(dialog.get_by_role("button", name="Run with these values")).to_have_count(0)
    press(dialog, "Approve as it is")
    expect_status(view, "Finished")
    expect(steps(view).nth(0)).not_to_contain_text("edited")
    choose(view, 1)
    dialog = edit_call(view)
    run = dialog.get_by_role("button", name="Run with these values")
    expect(run).to_be_disabled()
    expect(dialog).to_contain_text("Nothing is changed, so nothing runs again.")
    choose_value(dialog, "count")
    count = dialog.get_by_role("textbox", name="count")
    count.fill("7")
    expect(run).to_be_enabled()
    dialog.get_by_role("radio", name="default (5)").check()
    expect(count).to_be_hidden()
    expect(run).to_be_disabled()
    screenshot(page, "exact-nothing-after")
    press(dialog, "Cancel")
    view.get_by_role("button", name="Branch").click()
    expect(view.get_by_role("dialog", name="Branches").get_by_role("listitem")).to_have_count(1)


def test_a_large_integer_is_shown_exactly_and_stays_when_another_argument_is_edited(
    page: Page, lab: Place
) -> None:
    view = waiting(page, lab, "pays", "pay")
    expect(arguments(view)).to_contain_text(f"account{BIG}")
    expect(arguments(view)).to_contain_text(f"[{BIG + 2},1.0,-0.0]")
    expect(arguments(view)).to_contain_text('"Potato#1"')
    dialog = edit_call(view)
    expect(dialog.get_by_label("account")).to_have_value(str(BIG))
    dialog.get_by_role("textbox", name="note").fill("rent for May")
    screenshot(page, "exact-large")
    press(dialog, "Run with these values")
    expect_status(view, "Finished")
    more = f"{{'to': [{BIG + 2}, 1.0, -0.0], 'Potato': 'Potato#1'}}"
    expect(ran(page)).to_contain_text(f"[({BIG}, 'rent for May', 12.0, {more})]")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_long_text_is_whole_in_the_card_and_hidden_signs_are_codes(
    page: Page, lab: Place, theme: str
) -> None:
    view = waiting(page, lab, "texts", "pay")
    if theme == "dark":
        dark_theme(page)
    text = arguments(view).locator(".tc-text")
    whole = text.evaluate("part => part.textContent")
    assert whole == '"' + "x" * 4990 + " two  spaces\n" + "y" * 4990 + 'THE END"'
    assert text.evaluate("part => part.scrollHeight > part.clientHeight")
    for width, height in [(1366, 768), (900, 768), (500, 900)]:
        if width < 700:
            page.evaluate("window.jupyterapp.shell.collapseLeft?.()")
        page.set_viewport_size({"width": width, "height": height})
        for name in ("Approve", "Edit", "Reject", "Answer"):
            view.get_by_role("button", name=name, exact=True).click(trial=True)
        screenshot(page, f"exact-text-{theme}-{width}")
        dialog = edit_call(view)
        screenshot(page, f"exact-dialog-{theme}-{width}")
        press(dialog, "Cancel")
    page.set_viewport_size({"width": 1366, "height": 768})
    press(view, "Approve")
    expect_waits(view, 2, "pay")
    codes = "".join(f"\\u{ord(sign):04x}" for sign in HIDDEN)
    expect(arguments(view)).to_contain_text(f'"safe{codes}  name"')
    assert (
        arguments(view)
        .locator("code")
        .evaluate_all(
            "parts => parts.every(part => getComputedStyle(part).whiteSpace.startsWith('pre-wrap'))"
        )
    )
    screenshot(page, f"exact-hidden-{theme}")
