"""A lesson in a real JupyterLab: it starts over, opens what travels, and its exercise is done."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.kitchen import choose, expect_status, panel, press
from tests.e2e.rig import (
    Place,
    cell,
    dark_theme,
    open_notebook,
    outputs,
    run_cell,
    screenshot,
    wait_idle,
)

LESSONS = Path(__file__).parents[2] / "notebooks"
FRIES = 3
"""The cell of lesson 00 with the first session; the next ones open what travels, and edit it."""
OVER = "This lesson starts over. What was done in it before is kept in"


@pytest.mark.long
def test_a_lesson_starts_over_and_a_panel_of_before_still_answers(page: Page, lab: Place) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    name = "00_first_call.ipynb"
    shutil.copy(LESSONS / name, lab.root)
    open_notebook(page, lab, name)
    for number in (1, FRIES, FRIES + 2, FRIES + 4):
        run_cell(page, number)
        wait_idle(page)
    expect(outputs(page, 1)).not_to_contain_text(OVER)
    columns = outputs(page, FRIES + 2).get_by_role("cell")
    expect(columns).to_contain_text(["tool_use", "potato.slice(", "Potato#4"])
    screenshot(page, "lesson-what-travels")
    expect_status(panel(page, FRIES + 4), "Finished")
    run_cell(page, 1)
    wait_idle(page)
    expect(outputs(page, 1)).to_contain_text(OVER)
    choose(panel(page, FRIES), 4)
    press(panel(page, FRIES), "Replay from here")
    expect_status(panel(page, FRIES), "Ready for the next step")
    run_cell(page, FRIES)
    wait_idle(page)
    expect_status(panel(page, FRIES), "Finished")
    expect(panel(page, FRIES)).not_to_contain_text("2 branches")
    screenshot(page, "lesson-over")


def call(view: Locator, tool: str, **arguments: str) -> None:
    """Send a call as the model, with values that the form offers."""
    view.get_by_role("list", name="Tools").get_by_role("button", name=tool, exact=True).click()
    dialog = view.get_by_role("dialog", name="Write call")
    for name, value in arguments.items():
        if dialog.get_by_label(value, exact=True).count():
            dialog.get_by_label(value, exact=True).check()
        else:
            dialog.get_by_label(name, exact=True).select_option(value)
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(dialog).to_have_count(0)


def test_a_beginner_rejects_a_call_and_is_the_model_in_a_lesson_that_is_one_file(
    page: Page, lab: Place
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    shutil.copy(LESSONS / "00_first_call.ipynb", lab.root)
    open_notebook(page, lab, "00_first_call.ipynb")
    dark_theme(page)
    for number in (1, FRIES + 6, FRIES + 8):
        run_cell(page, number)
        wait_idle(page)
    eager, me = panel(page, FRIES + 8), FRIES + 11
    expect_status(eager, "Waiting for you")
    screenshot(page, "lesson-00-waits")
    press(eager, "Reject")
    eager.get_by_label("Reason").fill("I like the skin.")
    eager.get_by_role("button", name="Reject", exact=True).last.click()
    expect(eager.get_by_label("Session status")).to_contain_text("Finished")
    expect(eager).to_contain_text("All right, the skin stays on.")
    # The task is in sight, and neither its checks nor its solution.
    exercise = cell(page, me - 1)
    expect(exercise.get_by_text("Make fries of the potato")).to_be_visible()
    expect(exercise.get_by_text("%toolchat call Oven_bake")).to_have_count(0)
    for number in (me - 1, me):
        run_cell(page, number)
        wait_idle(page)
    view = panel(page, me)
    call(view, "Potato_peel")
    screenshot(page, "lesson-00-model")
    call(view, "Potato_slice", shape="SLICES")
    call(view, "Oven_bake", item="Potato#3")
    call(view, "save", dinner="Fries#1")
    expect_status(view, "Finished")
    press(view, "Check")
    expect(view.get_by_text("Passed: Be the model")).to_be_visible()
    screenshot(page, "lesson-00-passed")
    run_cell(page, me + 1)
    expect(outputs(page, me + 1)).to_contain_text("Passed: Be the model")
