"""A lesson in a real JupyterLab: it starts over, and opens what travels."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.e2e.kitchen import expect_status, panel, press, steps
from tests.e2e.rig import Place, open_notebook, outputs, run_cell, screenshot, wait_idle

LESSONS = Path(__file__).parents[2] / "notebooks"
FRIES = 3
"""The cell of lesson 00 with the first session; the next ones open what travels, and edit it."""
OVER = "This lesson starts over. What was done in it before is kept in"


def test_a_lesson_starts_over_and_a_panel_of_before_still_answers(page: Page, lab: Place) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    name = "00_first_call.ipynb"
    shutil.copytree(LESSONS / "exercises", lab.root / "exercises")
    shutil.copy(LESSONS / name, lab.root)
    open_notebook(page, lab, name)
    for number in (1, FRIES, FRIES + 2, FRIES + 4):
        run_cell(page, number)
        wait_idle(page)
    expect(outputs(page, 1)).not_to_contain_text(OVER)
    expect(outputs(page, FRIES + 2)).to_contain_text("2. The program runs: potato.slice(")
    screenshot(page, "lesson-what-travels")
    expect_status(panel(page, FRIES + 4), "Finished")
    run_cell(page, 1)
    wait_idle(page)
    expect(outputs(page, 1)).to_contain_text(OVER)
    steps(panel(page, FRIES)).nth(3).get_by_role("button").click()
    press(panel(page, FRIES), "Replay from here")
    expect_status(panel(page, FRIES), "Ready for the next step")
    run_cell(page, FRIES)
    wait_idle(page)
    expect_status(panel(page, FRIES), "Finished")
    expect(panel(page, FRIES)).not_to_contain_text("2 branches")
    screenshot(page, "lesson-over")
