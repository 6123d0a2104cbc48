"""Step by step: one press takes one call of a replay, or shows one call of a finished run."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.kitchen import (
    LOAD,
    approve_kitchen,
    expect_status,
    expect_step,
    fries_cell,
    node,
    panel,
    press,
    steps,
)
from tests.e2e.rig import Place, dark_theme, open_notebook, run_all, screenshot, wait_idle

CALLS = (
    *("selectTools", "Potato_rinse", "Potato_peel", "Potato_slice"),
    *("Oven_bake", "selectTools", "Fries_plate", "save"),
)
OBJECTS = ("", "Potato#2", "Potato#3", "Potato#4", "Fries#1", "", "Plate#2", "")


def test_step_walks_through_a_finished_run_and_back(page: Page, lab: Place) -> None:
    open_notebook(page, lab, "walk.ipynb", [LOAD, fries_cell("--approve all")])
    run_all(page)
    view = panel(page, 1)
    card = view.get_by_role("region", name="Details")

    def expect_call(number: int) -> None:
        expect(steps(view)).to_have_count(number)
        expect(steps(view).nth(number - 1)).to_have_attribute("aria-current", "step")
        made = [name for name in OBJECTS[:number] if name]
        for name in filter(None, OBJECTS):
            expect(node(view, name)).to_have_count(1 if name in made else 0)
        expect(card).to_contain_text(OBJECTS[number - 1] or CALLS[number - 1])
        expect_status(view, f"Looking back at step {number}" if number < 8 else "Finished")

    expect_call(8)
    screenshot(page, "step-now")
    for number in range(1, 9):
        press(view, "Step")
        expect_call(number)
        screenshot(page, f"step-forward-{number}")
    for number in range(7, 0, -1):
        press(view, "Step back")
        expect_call(number)
    press(view, "Step back")
    expect_status(view, "Before the first call")
    expect(view.get_by_role("button", name="Step back")).to_be_disabled()
    screenshot(page, "step-start")
    page.keyboard.press("Control+Alt+s")
    expect_call(1)
    page.keyboard.press("Control+Alt+s")
    page.keyboard.press("Control+Alt+Shift+s")
    expect_call(1)


def test_step_takes_one_call_of_a_replay(page: Page, lab: Place) -> None:
    open_notebook(page, lab, "replay.ipynb", [LOAD, fries_cell()])
    run_all(page)
    view = panel(page, 1)
    approve_kitchen(view)
    wait_idle(page)
    steps(view).nth(1).get_by_role("button").click()
    press(view, "Replay from here")
    for number in range(2, 9):
        expect_status(view, "Ready for the next step")
        expect(steps(view)).to_have_count(number)
        expect(view).not_to_contain_text("kernel stopped")
        expect(view.get_by_role("button", name="Approve", exact=True)).to_be_hidden()
        screenshot(page, f"replay-step-{number}")
        press(view, "Step")
    expect_status(view, "Finished")
    expect(view).to_contain_text("Replayed: everything came out as it was recorded.")
    expect_step(view, 2, "Potato_rinse", "approved")
    screenshot(page, "replay-step-end")
