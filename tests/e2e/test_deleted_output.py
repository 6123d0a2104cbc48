"""A session whose output is deleted while it waits: decided at the side, and brought back."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e import rig
from tests.e2e.kitchen import (
    LOAD,
    approve_kitchen,
    edit_call,
    expect_status,
    expect_step,
    expect_waits,
    fries_cell,
    panel,
    press,
    run_notebook,
)

DELETIONS = {
    "raw": "notebook:change-cell-to-raw",
    "markdown": "notebook:change-cell-to-markdown",
    "cleared": "notebook:clear-cell-output",
    "all cleared": "notebook:clear-all-cell-outputs",
    "deleted": "notebook:delete-cell",
    "cut": "notebook:cut-cell",
}
NO_SESSION = "This notebook has no tool-calling session yet"


def open_waiting(page: Page, place: rig.Place, name: str, options: str = "") -> None:
    """Run all cells; return when the first call waits, with its cell active in command mode."""
    rig.open_notebook(page, place, name, [LOAD, fries_cell(options), "print(fries)"])
    rig.run_all(page)
    expect_waits(panel(page, 1), 2, "Potato_rinse")
    activate(page, 1)


def activate(page: Page, number: int) -> None:
    """Make a cell the active one, in command mode, with the focus."""
    page.evaluate(
        f"""number => {{
            const {{ content }} = {rig.CURRENT};
            content.activeCellIndex = number;
            content.mode = 'command';
            content.activeCell.node.focus();
        }}""",
        number,
    )


def deletion_note(side: Locator) -> Locator:
    """What the side panel says about a session whose output was deleted."""
    return side.get_by_text("was deleted from the notebook")


def expect_waiting_count(page: Page, count: int) -> None:
    """The status bar says how many calls wait in this notebook."""
    status = page.get_by_role("button", name="Waiting for you")
    if count:
        expect(status).to_have_text(f"Waiting for you: {count}")
    else:
        expect(status).to_have_count(0)


@pytest.mark.parametrize("front_end", rig.FRONT_ENDS)
def test_a_cell_that_was_made_raw_by_a_key_is_decided_at_the_side_and_the_run_finishes(
    page: Page, front_end: str, request: pytest.FixtureRequest
) -> None:
    place: rig.Place = request.getfixturevalue(front_end)
    page.set_viewport_size({"width": 1366, "height": 768})
    open_waiting(page, place, "raw.ipynb")
    for key in "yer":
        page.keyboard.press(key)
    expect(page.locator(".jp-Notebook .jp-RawCell")).to_have_count(1)
    expect(panel(page, 1)).to_have_count(0)
    side = rig.show_side_panel(page)
    expect_waits(side, 2, "Potato_rinse")
    expect(side).not_to_contain_text(NO_SESSION)
    expect(deletion_note(side)).to_be_visible()
    if front_end == "lab":
        expect_waiting_count(page, 1)
    rig.screenshot(page, f"deleted-output-{front_end}")
    approve_kitchen(side)
    rig.wait_idle(page)
    expect(rig.outputs(page, 2)).to_contain_text("fries: sticks")
    expect_status(side, "Finished")
    expect_waiting_count(page, 0)
    rig.screenshot(page, f"deleted-output-finished-{front_end}")


@pytest.mark.parametrize(
    "deletion",
    [
        name if name in ("cleared", "cut") else pytest.param(name, marks=pytest.mark.long)
        for name in DELETIONS
    ],
)
def test_every_decision_can_be_made_at_the_side_however_the_output_was_deleted(
    page: Page, lab: rig.Place, deletion: str
) -> None:
    open_waiting(page, lab, "decide.ipynb")
    rig.run_command(page, DELETIONS[deletion])
    expect(panel(page, 1)).to_have_count(0)
    expect_waiting_count(page, 1)
    page.get_by_role("button", name="Waiting for you").click()
    side = page.locator("#jupyter-toolcall-side")
    expect(side.get_by_role("region", name="Details")).to_be_focused()
    page.keyboard.press("y")
    expect_waits(side, 3, "Potato_peel")
    press(side, "Approve")
    expect_waits(side, 4, "Potato_slice")
    dialog = edit_call(side)
    dialog.get_by_role("radio", name="SLICES").check()
    press(side, "Run with these values")
    expect_step(side, 4, "edited")
    expect_waits(side, 5, "Oven_bake")
    press(side, "Reject")
    press(side, "Reject")
    expect_step(side, 5, "rejected")
    expect(side.get_by_role("status", name="Session status")).to_contain_text("Finished")
    expect_waiting_count(page, 0)


def test_the_panel_comes_back_with_its_cell_in_the_state_that_was_decided_at_the_side(
    page: Page, lab: rig.Place
) -> None:
    open_waiting(page, lab, "undo.ipynb")
    side = rig.show_side_panel(page)
    for number, key, tool in ((2, "r", "Potato_rinse"), (3, "x", "Potato_peel")):
        expect_waits(side, number, tool)
        activate(page, 1)
        page.keyboard.press(key)
        expect(deletion_note(side)).to_be_visible()
        press(side, "Approve")
        expect_step(side, number + 1, "waits for you")
        activate(page, 0)
        page.keyboard.press("z")
        expect_step(panel(page, 1), number + 1, "waits for you")
        expect(deletion_note(side)).to_be_hidden()
        expect_waiting_count(page, 1)
    rig.screenshot(page, "deleted-output-undone")
    press(panel(page, 1), "Approve")
    expect_waits(panel(page, 1), 5, "Oven_bake")
    expect_waits(side, 5, "Oven_bake")


def test_a_session_without_an_output_is_there_after_the_page_was_loaded_again(
    page: Page, lab: rig.Place
) -> None:
    open_waiting(page, lab, "reload.ipynb")
    page.keyboard.press("x")
    expect(rig.cell(page, 1)).to_contain_text("print(fries)")
    expect_waiting_count(page, 1)
    rig.save(page)
    rig.reload(page)
    expect_waiting_count(page, 1)
    side = rig.show_side_panel(page)
    approve_kitchen(side)
    expect_waiting_count(page, 0)
    rig.restart_kernel(page)
    expect(side).to_contain_text(NO_SESSION)
    rig.reload(page)
    expect(rig.show_side_panel(page)).to_contain_text(NO_SESSION)


def test_a_cell_that_runs_again_takes_the_place_of_its_session_whose_output_was_cleared_at_once(
    page: Page, lab: rig.Place
) -> None:
    rig.open_notebook(page, lab, "soon.ipynb", [LOAD, fries_cell("--no-wait")])
    page.evaluate(
        f"""() => {{
            const {{ node, model }} = {rig.CURRENT}.content.widgets[1];
            const observer = new MutationObserver(() => {{
                if (!node.querySelector('.tc-card')) return;
                observer.disconnect();
                model.outputs.clear();
            }});
            observer.observe(node, {{ childList: true, subtree: true }});
        }}"""
    )
    rig.run_all(page)
    side = rig.show_side_panel(page)
    expect(deletion_note(side)).to_be_visible()
    rig.wait_idle(page)
    rig.run_cell(page, 1)
    expect_waits(panel(page, 1), 2, "Potato_rinse")
    expect(deletion_note(side)).to_be_hidden()
    expect(side.get_by_label("Session", exact=True).locator("option")).to_have_count(2)
    expect_waiting_count(page, 1)


def test_an_ended_session_goes_with_its_output(page: Page, lab: rig.Place) -> None:
    run_notebook(page, lab, "ended.ipynb", [LOAD, fries_cell("--approve all")])
    expect_status(panel(page, 1), "Finished")
    rig.wait_idle(page)
    side = rig.show_side_panel(page)
    expect_status(side, "Finished")
    rig.run_command(page, DELETIONS["all cleared"])
    expect(side).to_contain_text(NO_SESSION)
