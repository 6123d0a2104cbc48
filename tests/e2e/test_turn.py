"""A turn of several calls, each to be looked at; and breakpoints."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.kitchen import (
    OWN,
    expect_status,
    expect_waits,
    panel,
    press,
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


def test_calls_of_a_tool_wait_as_long_as_it_has_a_breakpoint(page: Page, lab: Place) -> None:
    cell = f"{CELL} --approve all --step\nFill some jars."
    open_notebook(page, lab, "break.ipynb", [OWN + TURN, cell])
    dark_theme(page)
    run_all(page)
    view = panel(page, 1)
    expect(view.get_by_role("button", name="Step", exact=True)).to_be_enabled()
    view.get_by_text("2 tools used", exact=True).click()
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
