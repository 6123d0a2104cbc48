"""The panel keeps no truth: reload, second tab, late and double clicks; and what it can do
with a session that has ended."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.kitchen import (
    LOAD,
    OWN,
    approve,
    choose,
    edit_call,
    expect_status,
    expect_step,
    expect_waits,
    forge,
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
    reload,
    restart_kernel,
    run_all,
    run_cell,
    save,
    saved_notebook,
    screenshot,
    wait_drawn,
    wait_idle,
)

SESSION = "application/vnd.jupyter-toolcall.session+json"
JARS = script("model", *[f'("fill", {{"grams": {number}}})' for number in (1, 2, 3)], '"Done."')
CELL = "%%toolchat -m model -t fill --scheme flat\nFill three jars."


def saved_svg(place: Place, name: str, number: int) -> str:
    """The picture that the notebook's file keeps of a cell's session."""
    found = [
        output["data"]["image/svg+xml"]
        for output in saved_notebook(place, name).cells[number].outputs
        if SESSION in output.get("data", {})
    ]
    assert len(found) == 1
    return "".join(found[0])


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_page_that_is_loaded_again_in_the_middle_continues_by_clicking(
    page: Page, front_end: str, request: pytest.FixtureRequest
) -> None:
    place: Place = request.getfixturevalue(front_end)
    run_notebook(page, place, "r.ipynb", [OWN + JARS, CELL, "ran"])
    approve(panel(page, 1), "fill", first=1)
    expect_waits(panel(page, 1), 2, "fill")
    save(page)
    reload(page)
    view = panel(page, 1)
    expect_step(view, 1, "Jar#1")
    approve(view, "fill", "fill", first=2)
    expect_status(view, "Finished")
    wait_idle(page)
    save(page)
    assert "Jar#3" in saved_svg(place, "r.ipynb", 1)


def test_two_pages_show_the_same_and_a_late_decision_is_refused_with_a_reason(
    page: Page, lab: Place
) -> None:
    first = run_notebook(page, lab, "two.ipynb", [OWN + JARS, CELL, "ran"])
    expect_waits(first, 1, "fill")
    save(page)
    with page.context.new_page() as other:
        other.goto(f"{lab.url}/doc/workspaces/other/tree/{lab.path('two.ipynb')}")
        wait_drawn(other)
        second = panel(other, 1)
        expect_waits(second, 1, "fill")
        press(second, "Approve")
        expect_waits(first, 2, "fill")
        expect_waits(second, 2, "fill")
        forge(page, 1, {"type": "approve", "call": "call_1", "approval_digest": ""})
        expect(first.get_by_role("alert")).to_contain_text("This call has run already.")
        forge(page, 1, {"type": "approve", "call": "call_2", "approval_digest": "0" * 32})
        expect(first.get_by_role("alert")).to_contain_text("changed since it was shown")
        forge(page, 1, {"type": "rm -rf"})
        expect(first.get_by_role("alert")).to_contain_text("no command")
        expect_step(second, 2, "waits for you")
        first.get_by_role("button", name="Approve", exact=True).dblclick()
        expect_waits(second, 3, "fill")
        press(second, "Approve")
        expect_status(first, "Finished")
        expect_status(second, "Finished")
    wait_idle(page)
    expect(outputs(page, 2)).to_contain_text("[('fill', 1), ('fill', 2), ('fill', 3)]")


def test_two_quick_clicks_are_one_decision(page: Page, lab: Place) -> None:
    view = run_notebook(page, lab, "d.ipynb", [OWN + JARS, CELL, "ran"])
    expect_waits(view, 1, "fill")
    approve_button = view.get_by_role("button", name="Approve", exact=True)
    approve_button.evaluate("button => { button.click(); button.click(); button.click(); }")
    expect_waits(view, 2, "fill")
    expect(view.get_by_role("alert")).to_have_count(0)
    expect(steps(view)).to_have_count(2)


def edit_slices(view: Locator) -> None:
    """Ask for slices in place of sticks, after the end."""
    choose(view, 4)
    dialog = edit_call(view)
    dialog.get_by_text("SLICES").click()
    press(dialog, "Run with these values")
    expect(dialog).to_be_hidden()
    expect_status(view, "Finished")


def test_an_edit_after_the_end_makes_a_branch_beside_the_old_one(page: Page, lab: Place) -> None:
    cells = [LOAD, fries_cell("--approve all"), "str(fries)"]
    open_notebook(page, lab, "b.ipynb", cells)
    run_all(page)
    wait_idle(page)
    view = panel(page, 1)
    expect_status(view, "Finished")
    save(page)
    sticks = saved_svg(lab, "b.ipynb", 1)
    edit_slices(view)
    expect(view).to_contain_text("4 ran, 1 cached, 3 from before")
    screenshot(page, "branches")

    places = (node(view, name).first.bounding_box() for name in ("Potato#4", "Potato#4 of main"))
    heights = [place["y"] for place in places if place]
    assert heights[0] < heights[1], "the current branch stands above the one that was left"

    run_cell(page, 2)
    expect(outputs(page, 2)).to_contain_text("fries: slices")
    save(page)
    assert saved_svg(lab, "b.ipynb", 1) != sticks
    assert "slices" in saved_svg(lab, "b.ipynb", 1)

    compared = open_tab(view, "Compare")
    expect(compared).to_contain_text("cut in sticks")
    expect(compared).to_contain_text("cut in slices")

    view.get_by_role("button", name=re.compile("Branch")).click()
    view.get_by_role("dialog", name="Branches").get_by_role(
        "button", name=re.compile("^main")
    ).click()
    open_tab(view, "Graph")
    expect_step(view, 4, "shape STICKS")
    run_cell(page, 2)
    expect(outputs(page, 2)).to_contain_text("fries: sticks")
    screenshot(page, "back-on-main")


NUMBERS = """
class Number:
    def __init__(self, value: float) -> None:
        self.value = value

def scale(x: Number, by: int) -> Number:
    return Number(x.value * by)

def add(x: Number, by: int) -> Number:
    return Number(x.value + by)

start = Number(8)
"""


def test_an_edited_call_waits_again_after_an_edit_before_it_and_the_chosen_branch_stays(
    page: Page, lab: Place
) -> None:
    calls = '("scale", {"x": "Number#1", "by": 2})', '("add", {"x": "Number#2", "by": 1})'
    saves = '("save", {"out": "Number#3"})', '"done"'
    source = OWN + NUMBERS + script("model", *calls, *saves)
    opens = "%%toolchat -m model -t scale add -i start -o out:Number --scheme flat\nGo."
    view = run_notebook(page, lab, "n.ipynb", [source, opens, "out.value"])
    approve(view, "scale", first=1)
    for number, tool, by in ((2, "add", "3"), (1, "scale", "5")):
        if number == 1:
            expect_status(view, "Finished")
            choose(view, 1)
        else:
            expect_waits(view, number, tool)
        dialog = edit_call(view)
        dialog.get_by_label("by").fill(by)
        press(dialog, "Run with these values")
        expect(dialog).to_be_hidden()
    expect_waits(view, 2, "add")
    expect(view).to_contain_text("You are asked again: its input has changed since then.")
    screenshot(page, "edited-call-waits-again")
    press(view, "Approve")
    expect_status(view, "Finished")
    run_cell(page, 2)
    expect(outputs(page, 2)).to_contain_text("43")
    view.get_by_role("button", name=re.compile("Branch")).click()
    branches = view.get_by_role("dialog", name="Branches")
    branches.get_by_role("button", name=re.compile("^main")).click()
    expect_step(view, 1, "by 2")
    save(page)
    restart_kernel(page)
    run_all(page)
    wait_idle(page)
    expect(outputs(page, 2)).to_contain_text("19")


def test_step_replays_one_call_from_memory_and_a_fork_waits_for_run(page: Page, lab: Place) -> None:
    view = run_notebook(page, lab, "f.ipynb", [OWN + JARS, CELL, "len(ran)"])
    approve(view, "fill", "fill", "fill", first=1)
    expect_status(view, "Finished")
    choose(view, 2)
    press(view, "Replay from here")
    for number in (2, 3):
        expect_status(view, "Ready for the next step")
        expect(steps(view)).to_have_count(number)
        expect(steps(view).nth(number - 2)).to_have_attribute("aria-current", "step")
        expect_step(view, number, "will be repeated")
        expect(view).not_to_contain_text("kernel stopped")
        # The button has the focus again after the first step, and stays where it is.
        if number == 2:
            press(view, "Step")
        else:
            expect(view.get_by_role("button", name="Step", exact=True)).to_be_focused()
            page.keyboard.press("Enter")
    expect(view).to_contain_text("The same calls came out as before")

    choose(view, 2)
    press(view, "Fork from here")
    expect_status(view, "Ready for the next step")
    expect(steps(view)).to_have_count(2)
    press(view, "Run")
    approve(view, "fill", first=3)
    expect_status(view, "Finished")
    run_cell(page, 2)
    wait_idle(page)
    expect(outputs(page, 2)).to_contain_text("4")


def test_an_edit_that_is_refused_after_the_end_leaves_all_as_it_was(page: Page, lab: Place) -> None:
    cells = [OWN + JARS, CELL.replace("\n", " --approve all\n", 1), "ran"]
    open_notebook(page, lab, "x.ipynb", cells)
    run_all(page)
    wait_idle(page)
    view = panel(page, 1)
    choose(view, 1)
    dialog = edit_call(view)
    dialog.get_by_label("grams").fill("0")
    press(dialog, "Run with these values")
    expect(dialog.get_by_label("grams")).to_have_attribute("aria-invalid", "true")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect_status(view, "Finished")
    expect(steps(view)).to_have_count(3)
    run_cell(page, 2)
    expect(outputs(page, 2)).to_contain_text("[('fill', 1), ('fill', 2), ('fill', 3)]")


def test_an_edit_names_a_plain_input_for_a_number(page: Page, lab: Place) -> None:
    source = OWN + script("model", '("fill", {"grams": 1})', '"done"') + "amount = 21\n"
    cell = "%%toolchat -m model -t fill -i amount --scheme flat\nFill {amount}."
    view = run_notebook(page, lab, "i.ipynb", [source, cell, "ran"])
    expect_waits(view, 1, "fill")
    dialog = edit_call(view)
    dialog.get_by_label("grams").fill("int#1")
    screenshot(page, "plain-input-form")
    press(dialog, "Run with these values")
    expect_status(view, "Finished")
    wait_idle(page)
    screenshot(page, "plain-input")
    expect_step(view, 1, "int#1")
    run_cell(page, 2)
    expect(outputs(page, 2)).to_contain_text("[('fill', 21)]")


def test_the_keyboard_alone_is_enough(page: Page, lab: Place) -> None:
    view = run_notebook(page, lab, "k.ipynb", [LOAD, fries_cell()])
    expect_waits(view, 2, "Potato_rinse")
    view.get_by_role("tab", name="Graph").focus()
    page.keyboard.press("ArrowRight")
    expect(view.get_by_role("tab", name="Steps")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    # What is to be decided stands above the tabs.
    tab_to(page, view.get_by_role("button", name="Approve", exact=True), "Shift+Tab")
    page.keyboard.press("Enter")
    expect_waits(view, 3, "Potato_peel")

    view.get_by_role("tab", name="Graph").focus()
    tab_to(page, node(view, "Call 3: Potato_peel"))
    page.keyboard.press("ArrowRight")
    expect(node(view, "Potato#3")).to_be_focused()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(node(view, "Call 2: Potato_rinse")).to_be_focused()
    page.keyboard.press("Enter")
    expect(view.get_by_role("heading", name="Potato_rinse")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(node(view, "Potato#1")).to_be_focused()
    page.keyboard.press("Enter")
    expect(view.get_by_role("heading", name="Potato#1")).to_be_visible()
    screenshot(page, "keyboard")

    press(view, "Show")
    view.get_by_role("button", name="Edit", exact=True).press("Enter")
    dialog = view.get_by_role("dialog", name="Edit call")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(view.get_by_role("button", name="Edit", exact=True)).to_be_focused()
    assert page.evaluate("document.querySelectorAll('.jp-Notebook .jp-Cell').length") == 2


def tab_to(page: Page, target: Locator, key: str = "Tab") -> None:
    """Press Tab until the target has the focus."""
    for _ in range(30):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press(key)
    expect(target).to_be_focused()
