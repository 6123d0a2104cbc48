"""Notebook 7 has what JupyterLab has, as far as one document at a time goes."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.kitchen import LOAD, expect_waits, fries_cell, panel, press, run_notebook
from tests.e2e.rig import CURRENT, Place, cell, reload, save, screenshot, show_side_panel

COMMANDS = "window.jupyterapp.commands.hasCommand('jupyter-toolcall:{}')"


def test_side_panel_shortcuts_and_notices_are_there_and_tabs_are_not(
    page: Page, notebook7: Place
) -> None:
    run_notebook(page, notebook7, "seven.ipynb", [LOAD, fries_cell(), *["1\n" * 40] * 3])
    expect_waits(panel(page, 1), 2, "Potato_rinse")
    # Running all cells goes to the last one: what is out of sight is shown before it is approved.
    page.evaluate(f"{CURRENT}.content.scrollToItem(4)")
    expect(cell(page, 1)).not_to_be_in_viewport()
    page.keyboard.press("Control+Alt+y")
    expect(panel(page, 1).get_by_role("region", name="Details")).to_be_focused()
    expect(page.locator(".Toastify__toast")).to_have_count(0)
    expect_waits(panel(page, 1), 2, "Potato_rinse")
    page.keyboard.press("Control+Alt+y")
    expect_waits(panel(page, 1), 3, "Potato_peel")
    side = show_side_panel(page)
    expect_waits(side, 3, "Potato_peel")
    expect(side.get_by_role("button", name="Show cell")).to_be_visible()
    expect(side.get_by_role("button", name="Open in tab")).to_have_count(0)
    assert not page.evaluate(COMMANDS.format("open-tab"))
    screenshot(page, "notebook7")
    press(side, "Approve")
    expect_waits(panel(page, 1), 4, "Potato_slice")
    save(page)
    reload(page)
    expect_waits(panel(page, 1), 4, "Potato_slice")
