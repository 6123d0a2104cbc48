"""A cell waits, and a person decides: each button, while the kernel is in the cell."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.kitchen import (
    LOAD,
    OWN,
    approve,
    approve_kitchen,
    edit_call,
    expect_status,
    expect_step,
    expect_waits,
    fries_cell,
    node,
    open_tab,
    panel,
    press,
    run_notebook,
    script,
    steps,
)
from tests.e2e.rig import (
    FRONT_ENDS,
    Place,
    open_notebook,
    outputs,
    run_all,
    screenshot,
    wait_idle,
)

JARS = script(
    "model",
    '("fill", {"grams": 100})',
    '("fill", {"grams": 200})',
    '("weigh", {"jar": "Jar#1"})',
    '"Done."',
)
CELL = "%%toolchat -m model -t fill weigh --scheme flat\nFill two jars, and weigh the first."


@pytest.fixture(params=FRONT_ENDS)
def place(request: pytest.FixtureRequest) -> Place:
    """Both front ends, one after the other."""
    found: Place = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def jars(page: Page, lab: Place) -> Callable[[str], None]:
    """Runs the jars' notebook, with more options for its cell, to its first wait."""

    def run(options: str = "") -> None:
        cell = CELL.replace("\n", f" {options}\n", 1)
        open_notebook(page, lab, "jars.ipynb", [OWN + JARS, cell, "ran"])
        run_all(page)

    return run


def test_each_call_waits_for_approve_and_the_output_is_a_variable_in_the_next_cell(
    page: Page, place: Place
) -> None:
    view = run_notebook(page, place, "a.ipynb", [LOAD, fries_cell(), "print('on', fries)"])
    expect_waits(view, 2, "Potato_rinse")
    expect_status(view, "Waiting for you")
    screenshot(page, f"waits-{place.app}")
    approve_kitchen(view)
    wait_idle(page)
    expect(outputs(page, 2)).to_contain_text("on fries: sticks")
    expect(outputs(page, 1).get_by_role("region", name="Tool calls")).to_have_count(1)
    screenshot(page, f"finished-{place.app}")


def test_an_edit_is_checked_at_its_field_then_runs_and_the_model_is_told(
    page: Page, place: Place
) -> None:
    view = run_notebook(page, place, "e.ipynb", [OWN + JARS, CELL, "ran"])
    expect_waits(view, 1, "fill")
    dialog = edit_call(view)
    dialog.get_by_label("grams").fill("900")
    press(dialog, "Run with these values")
    expect(dialog.get_by_label("grams")).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_label("grams")).to_have_accessible_description(re.compile("500"))
    screenshot(page, f"edit-refused-{place.app}")
    expect_step(view, 1, "fill", "waits for you")
    dialog.get_by_label("grams").fill("300")
    dialog.get_by_label("Reason").fill("The jar holds more.")
    press(dialog, "Run with these values")
    expect(dialog).to_be_hidden()
    expect_waits(view, 2, "fill")
    expect_step(view, 1, "grams 300 (was 100)", "edited")
    told = open_tab(view, "Messages")
    expect(told).to_contain_text("The jar holds more.")
    expect(told).to_contain_text("300")
    open_tab(view, "Graph")
    approve(view, "fill", "weigh", first=2)
    wait_idle(page)
    expect(outputs(page, 2)).to_contain_text("[('fill', 300), ('fill', 200), ('weigh', 300)]")


def test_a_call_is_rejected_with_a_reason_that_the_model_is_told(
    page: Page, jars: Callable[[str], None]
) -> None:
    jars("")
    view = panel(page, 1)
    expect_waits(view, 1, "fill")
    press(view, "Reject")
    view.get_by_label("Reason").fill("No more jars, please.")
    press(view, "Reject")
    expect_waits(view, 2, "fill")
    expect_step(view, 1, "rejected")
    expect(open_tab(view, "Messages")).to_contain_text("No more jars, please.")
    open_tab(view, "Graph")
    press(view, "Reject")
    press(view, "Reject")
    wait_idle(page)
    expect_step(view, 3, "weigh", "failed")
    expect(outputs(page, 2)).to_contain_text("[]")


def test_a_call_is_answered_with_the_name_of_an_object_with_text_and_with_json(
    page: Page, lab: Place
) -> None:
    model = script(
        "model",
        '("fill", {"grams": 100})',
        '("fill", {"grams": 200})',
        '("nap", {"seconds": 1})',
        '("weigh", {"jar": "Jar#1"})',
        '"Done."',
    )
    cell = "%%toolchat -m model -t fill weigh nap --scheme flat\nGo on."
    view = run_notebook(page, lab, "answer.ipynb", [OWN + model, cell, "ran"])
    approve(view, "fill", first=1)
    for number, tool, result in ((2, "fill", "Jar#1"), (3, "nap", "Not tired"), (4, "weigh", "42")):
        expect_waits(view, number, tool)
        press(view, "Answer")
        view.get_by_label("Result", exact=True).fill(result)
        press(view, "Answer")
        expect_step(view, number, "answered")
    expect_status(view, "Finished")
    wait_idle(page)
    expect_step(view, 2, "Jar#1")
    told = open_tab(view, "Messages")
    expect(told).to_contain_text("42")
    told.get_by_role("button", name=re.compile("Turn 4")).click()
    expect(told).to_contain_text("Not tired")
    expect(outputs(page, 2)).to_contain_text("[('fill', 100)]")


def test_approve_all_lets_the_calls_of_one_turn_run_and_no_other(page: Page, lab: Place) -> None:
    model = script(
        "model",
        '[("fill", {"grams": 1}), ("fill", {"grams": 2}), ("fill", {"grams": 3})]',
        '("weigh", {"jar": "Jar#3"})',
        '"Done."',
    )
    view = run_notebook(page, lab, "all.ipynb", [OWN + model, CELL, "ran"])
    expect(view.get_by_role("button", name="Approve 3 calls")).to_be_enabled()
    expect(steps(view)).to_have_count(3)
    screenshot(page, "three-wait")
    press(view, "Approve 3 calls")
    expect_waits(view, 4, "weigh")
    for number in (1, 2, 3):
        expect_step(view, number, f"Jar#{number}")
    press(view, "Approve")
    wait_idle(page)
    expect(outputs(page, 2)).to_contain_text(
        "[('fill', 1), ('fill', 2), ('fill', 3), ('weigh', 3)]"
    )


def test_step_walks_through_a_run_that_has_ended_and_back(page: Page, lab: Place) -> None:
    objects = ["", "Potato#2", "Potato#3", "Potato#4", "Fries#1", "", "Plate#2", ""]
    view = run_notebook(page, lab, "walk.ipynb", [LOAD, fries_cell("--approve all")])

    def expect_call(number: int) -> None:
        expect_status(view, f"Looking back at call {number}" if number < 8 else "Finished")
        expect(steps(view)).to_have_count(number)
        expect(steps(view).last).to_have_attribute("aria-current", "step")
        card = view.get_by_role("region", name="Details")
        expect(card).to_contain_text(objects[number - 1] or f"call {number}")
        for step, name in enumerate(objects, 1):
            if name:
                expect(node(view, name)).to_have_count(1 if step <= number else 0)

    expect_call(8)
    for number in range(1, 9):
        press(view, "Step" if number > 1 else "First call")
        expect_call(number)
    for number in range(7, 0, -1):
        press(view, "Step back")
        expect_call(number)
    press(view, "Step back")
    expect_status(view, "Before the first call")
    expect(view.get_by_role("button", name="Step back")).to_be_disabled()
    press(view, "Back to now")
    expect_call(8)


def test_stop_ends_the_cell_in_one_line_and_run_goes_on_in_the_panel(
    page: Page, jars: Callable[[str], None]
) -> None:
    jars("")
    view = panel(page, 1)
    expect_waits(view, 1, "fill")
    press(view, "Stop")
    wait_idle(page)
    expect_status(view, "Stopped")
    expect(view).to_contain_text("Approve continues the run.")
    expect(outputs(page, 1).locator("[data-mime-type$='.stderr']")).to_have_count(0)
    screenshot(page, "stopped")
    press(view, "Run")
    expect_waits(view, 1, "fill")
    approve(view, "fill", "fill", "weigh", first=1)
    expect_status(view, "Finished")
