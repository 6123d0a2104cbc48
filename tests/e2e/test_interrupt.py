"""The kernel's interrupt, at every point at which a cell can be; afterwards all goes on."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.kitchen import (
    OWN,
    approve,
    expect_status,
    expect_step,
    expect_waits,
    panel,
    press,
    run_notebook,
    script,
)
from tests.e2e.rig import FRONT_ENDS, Place, interrupt, outputs, screenshot, wait_idle

NAP = script("model", '("nap", {"seconds": 60})', '("fill", {"grams": 5})', '"Done."')
SLOW = """
class Slow(Scripted):
    def __call__(self, request):
        if not ran:
            ran.append("thinks")
            time.sleep(60)
        return super().__call__(request)

model = Slow([("fill", {"grams": 5}), "Done."])
"""
GO_ON = "%toolchat next\nprint(ran)"


def cell(options: str) -> str:
    return f"%%toolchat -m model -t fill nap --scheme flat {options}\nGo on."


def expect_one_message(page: Page, number: int) -> None:
    """The panel says that it stopped and how to go on, once; the cell failed without a line."""
    view = panel(page, number)
    expect_status(view, "Stopped")
    goes_on = re.compile(r"Press Run to continue|Approve continues the run\.")
    expect(view.get_by_text(goes_on)).to_have_count(1)
    expect(outputs(page, number).locator("[data-mime-type$='.stderr']")).to_have_count(0)


def test_an_interrupt_while_the_cell_waits_leaves_a_panel_that_continues(
    page: Page, lab: Place
) -> None:
    view = run_notebook(page, lab, "w.ipynb", [OWN + NAP, cell("")])
    expect_waits(view, 1, "nap")
    interrupt(page)
    wait_idle(page, timeout=10)
    expect_one_message(page, 1)
    expect_status(view, "Stopped")
    screenshot(page, "interrupted-while-waiting")
    press(view, "Reject")
    press(view, "Reject")
    expect_waits(view, 2, "fill")
    expect_step(view, 1, "rejected")
    press(view, "Approve")
    expect_status(view, "Finished")
    expect(view.get_by_text("Press Run to continue")).to_have_count(0)
    expect(outputs(page, 1).locator("[data-mime-type$='.stderr']")).to_have_count(0)


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_an_interrupt_while_a_tool_runs_ends_it_within_seconds(
    page: Page, front_end: str, request: pytest.FixtureRequest
) -> None:
    place: Place = request.getfixturevalue(front_end)
    view = run_notebook(page, place, "t.ipynb", [OWN + NAP, cell(""), "ran"])
    approve(view, "nap", first=1)
    expect_step(view, 1, "running")
    interrupt(page)
    wait_idle(page, timeout=10)
    expect_one_message(page, 1)
    expect_step(view, 1, "nap", "interrupted")
    screenshot(page, f"interrupted-tool-{front_end}")
    press(view, "Run")
    approve(view, "fill", first=2)
    expect_status(view, "Finished")


def test_an_interrupt_while_the_model_thinks_ends_within_seconds_and_next_asks_it_again(
    page: Page, lab: Place
) -> None:
    view = run_notebook(page, lab, "m.ipynb", [OWN + SLOW, cell("--approve all"), GO_ON])
    expect_status(view, "The model is thinking")
    interrupt(page)
    wait_idle(page, timeout=10)
    expect_one_message(page, 1)
    page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex = 2")
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell')")
    expect(outputs(page, 2)).to_contain_text("['thinks', ('fill', 5)]")
    expect_status(view, "Finished")
    expect_step(view, 1, "fill", "Jar#1")


def test_an_interrupt_after_the_cell_has_ended_stops_what_the_panel_runs(
    page: Page, lab: Place
) -> None:
    run_notebook(page, lab, "p.ipynb", [OWN + NAP, cell("--no-wait")])
    wait_idle(page)
    view = panel(page, 1)
    approve(view, "nap", first=1)
    expect_step(view, 1, "running")
    interrupt(page)
    expect_step(view, 1, "nap", "interrupted")
    expect_status(view, "Stopped")
    press(view, "Run")
    approve(view, "fill", first=2)
    expect_status(view, "Finished")
