"""A turn of several calls, each to be looked at; and breakpoints."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.kitchen import (
    OWN,
    expect_status,
    expect_step,
    expect_waits,
    panel,
    press,
    run_notebook,
    script,
)
from tests.e2e.rig import Place, dark_theme, open_notebook, run_all, screenshot, wait_idle

TURN = script(
    "model",
    '[("fill", {"grams": 10}), ("fill", {"grams": 20}), ("weigh", {"jar": "Jar#2"})]',
    '("fill", {"grams": 30})',
    '"Done."',
)
CELL = "%%toolchat -m model -t fill weigh --scheme flat"


def test_one_of_the_calls_of_a_turn_is_edited_before_it_runs(page: Page, lab: Place) -> None:
    view = run_notebook(page, lab, "turn.ipynb", [OWN + TURN, f"{CELL}\nFill some jars."])
    expect_waits(view, 1, "fill")
    others = view.get_by_role("list", name="Also in this turn")
    expect(others.get_by_role("listitem")).to_have_count(2)
    others.scroll_into_view_if_needed()
    screenshot(page, "turn")
    others.get_by_role("button", name="Edit call 2, fill").click()
    dialog = view.get_by_role("dialog", name="Edit call")
    dialog.get_by_label("grams").fill("25")
    dialog.get_by_role("button", name="Run with these values").click()
    expect_step(view, 2, "fill", "will run")
    expect_waits(view, 1, "fill")
    press(view, "Approve")
    expect_waits(view, 3, "weigh")
    press(view, "Approve")
    expect_waits(view, 4, "fill")
    expect_step(view, 2, "25")
    expect_step(view, 3, "weigh", "25")
    press(view, "Approve")
    expect_status(view, "Finished")


def test_approve_all_approves_the_calls_that_wait_and_none_that_waits_for_them(
    page: Page, lab: Place
) -> None:
    view = run_notebook(page, lab, "all.ipynb", [OWN + TURN, f"{CELL}\nFill some jars."])
    expect_waits(view, 1, "fill")
    press(view, "Approve all")
    expect_step(view, 2, "fill", "20", "done")
    expect_waits(view, 3, "weigh")
    press(view, "Approve")
    expect_waits(view, 4, "fill")
    press(view, "Approve")
    expect_status(view, "Finished")


def test_calls_of_a_tool_wait_as_long_as_it_has_a_breakpoint(page: Page, lab: Place) -> None:
    cell = f"{CELL} --approve all --step\nFill some jars."
    open_notebook(page, lab, "break.ipynb", [OWN + TURN, cell])
    dark_theme(page)
    run_all(page)
    view = panel(page, 1)
    expect(view.get_by_role("button", name="Step", exact=True)).to_be_enabled()
    view.get_by_text("2 tools", exact=True).click()
    stop = view.get_by_role("button", name="Breakpoint on weigh")
    stop.click()
    expect(stop).to_have_attribute("aria-pressed", "true")
    press(view, "Run")
    expect_waits(view, 3, "weigh")
    stop.scroll_into_view_if_needed()
    screenshot(page, "breakpoint")
    # Without the breakpoint nothing is left to be decided.
    stop.click()
    expect_status(view, "Finished")
    wait_idle(page)
