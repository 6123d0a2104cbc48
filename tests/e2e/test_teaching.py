"""Predict, and exercises that are checked, in a real JupyterLab."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.kitchen import (
    LOAD,
    choose,
    edit_call,
    expect_status,
    expect_step,
    node,
    panel,
    press,
    run_notebook,
    script,
    steps,
    text_of,
)
from tests.e2e.rig import (
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
    show_alone,
    wait_idle,
)

TURNS = (
    '["First the dirt.", ("Potato_rinse", {"sink": "$Sink"})]',
    '[("Potato_peel", {}), ("Potato_slice", {"shape": "STICKS"})]',
    '"Raw fries, in sticks."',
)
SETUP = f"{LOAD}\nfrom jupyter_toolcall import Scripted\n{script('m', *TURNS)}"
OPTIONS = "-t Potato -i potato sink --scheme flat"
PROMPT = "Cut {potato} for fries."
PREDICT = f"%%toolchat -m m {OPTIONS} --predict --approve all\n{PROMPT}"
GUESS = "Your turn to guess"
SPOT = """# Spot the error

The potato should end in **sticks**. One call of this session is wrong: find it, and edit it.

## Session
- Replays `tape.jsonl`
- In call 3, `shape="SLICES"`

## Checks
- The potato ends in sticks: `session["Potato#4"].cut == "STICKS"`
  - What does each call ask for? Look at the arguments.
- Nothing else was changed: `[call.step for call in session.calls if call.edited] == [3]`

## Hints
1. `Potato_slice` takes a `shape`.
"""


def card(view: Locator) -> Locator:
    return view.get_by_role("group", name="Guess", exact=True)


def beside(view: Locator) -> Locator:
    return view.get_by_role("group", name="Your guess")


def form(view: Locator, tool: str) -> Locator:
    """Choose the tool of a guess; returns the card with the fields of its arguments."""
    card(view).get_by_role("radio", name=tool, exact=True).check()
    return card(view)


def check(view: Locator) -> None:
    press(view, "Check my guess")


def test_the_learner_guesses_each_reply_and_sees_it_only_then(page: Page, lab: Place) -> None:
    view = run_notebook(page, lab, "predict.ipynb", [SETUP, PREDICT, "'went on'"])
    expect_status(view, GUESS)
    expect(card(view)).to_contain_text("Cut Potato#1 for fries.")
    expect(card(view)).to_contain_text("turn 1")
    expect(node(view, "Potato#2")).to_have_count(0)
    expect(view).not_to_contain_text("First the dirt.")
    screenshot(page, "predict-first")
    form(view, "Potato_rinse").get_by_label("sink").select_option("Sink#1")
    screenshot(page, "predict-form")
    check(view)
    expect(beside(view)).to_contain_text("Right, all of it.")
    expect(beside(view)).to_contain_text("3 of 3 points")
    expect(view).to_contain_text("First the dirt.")
    expect(card(view)).to_contain_text("turn 2")
    expect(node(view, "Potato#2")).to_have_count(1)
    form(view, "Potato_slice").get_by_label("SLICES").check()
    check(view)
    expect(beside(view)).to_contain_text("The right tool, and 1 of 2 arguments.")
    expect(beside(view)).to_contain_text("One of 2 calls of this reply.")
    expect(view.locator(".tc-meta")).to_contain_text("5 of 6 points")
    score = view.get_by_role("region", name="Your score")
    expect(score).to_contain_text("Right arguments3 of 4")
    expect(score.get_by_role("listitem")).to_have_text(
        ["Potato_sliceshape: STICKS", "Potato_rinsesame"]
    )
    screenshot(page, "predict-beside")
    form(view, "no call: it answers")
    check(view)
    expect_status(view, "Finished")
    expect(beside(view)).to_contain_text("Right: it answered")
    wait_idle(page)
    expect(text_of(page, 2)).to_contain_text("went on")
    steps(view).nth(2).get_by_role("button").press("Enter")
    expect(beside(view)).to_contain_text("1 of 2 arguments")
    screenshot(page, "predict-finished")


def test_a_reload_keeps_the_guesses_and_a_saved_notebook_has_the_score_alone(
    page: Page, lab: Place
) -> None:
    run_notebook(page, lab, "kept.ipynb", [SETUP, PREDICT])
    form(panel(page, 1), "Potato_rinse")
    check(panel(page, 1))
    expect(beside(panel(page, 1))).to_contain_text("3 of 3 points")
    save(page)
    reload(page)
    view = panel(page, 1)
    expect(beside(view)).to_contain_text("3 of 3 points")
    expect(card(view)).to_contain_text("turn 2")
    press(view, "Skip the rest")
    expect_status(view, "Finished")
    wait_idle(page)
    save(page)
    (session,) = [
        each.data["application/vnd.jupyter-toolcall.session+json"]
        for each in saved_notebook(lab, "kept.ipynb").cells[1].outputs
        if "application/vnd.jupyter-toolcall.session+json" in each.get("data", {})
    ]
    assert json.dumps(session).count("%2 of %1 points") == 1
    assert '"guess' not in json.dumps(session)
    restart_kernel(page)
    reload(page)
    view = panel(page, 1)
    expect(view.locator(".tc-meta")).to_contain_text("3 of 3 points")
    expect(beside(view)).to_have_count(0)


def test_a_cell_that_runs_again_asks_for_the_guesses_again_and_adds_nothing(
    page: Page, lab: Place
) -> None:
    plain = PREDICT.replace("--predict", "")
    count = (
        "from jupyter_toolcall.jupyter.notebook import here\nlen(here().cells.current().journal)"
    )
    open_notebook(page, lab, "again.ipynb", [SETUP, plain, count, PREDICT, count])
    for number in range(3):
        run_cell(page, number)
        wait_idle(page)
    run_cell(page, 3)
    view = panel(page, 3)
    expect_status(view, GUESS)
    expect(view).not_to_contain_text("First the dirt.")
    expect(node(view, "Potato#2")).to_have_count(0)
    for turn in (2, 3):
        press(view, "Show the call")
        expect(card(view)).to_contain_text(f"turn {turn}")
    press(view, "Show the call")
    expect_status(view, "Finished")
    wait_idle(page)
    run_cell(page, 4)
    wait_idle(page)
    assert text_of(page, 2).inner_text().split()[-1] == text_of(page, 4).inner_text().split()[-1]


def test_between_the_guesses_the_person_decides(page: Page, lab: Place) -> None:
    asks = PREDICT.replace("--approve all", "--approve ask")
    view = run_notebook(page, lab, "ask.ipynb", [SETUP, asks])
    form(view, "Potato_peel")
    check(view)
    expect_step(view, 1, "Potato_rinse", "waits for you")
    expect(beside(view)).to_contain_text("Not this time: it called Potato_rinse.")
    screenshot(page, "predict-decide")
    press(view, "Approve")
    expect(card(view)).to_contain_text("turn 2")


def test_without_a_panel_the_learner_guesses_by_line(page: Page, lab: Place) -> None:
    cells = [
        SETUP,
        f"{PREDICT.splitlines()[0]} --no-wait\n{PROMPT}",
        "%toolchat guess Potato_rinse sink=Sink#1",
        "%toolchat guess skip rest",
    ]
    open_notebook(page, lab, "lines.ipynb", cells)
    for number in range(3):
        run_cell(page, number)
        wait_idle(page)
    expect(text_of(page, 2)).to_contain_text("turn 1: 3 of 3 points")
    expect(text_of(page, 2)).to_contain_text("Score: 3 of 3 points")
    expect(beside(panel(page, 1))).to_contain_text("Right, all of it.")
    run_cell(page, 3)
    expect_status(panel(page, 1), "Finished")


def lesson(page: Page, lab: Place) -> Locator:
    """Open the notebook of an exercise, with its recording made; returns the planted session."""
    (lab.root / "exercises").mkdir()
    (lab.root / "exercises" / "spot.md").write_text(SPOT)
    tape = f"%%toolchat -m m {OPTIONS} --approve all --record exercises/tape.jsonl\n{PROMPT}"
    planted = f"%%toolchat --replay exercises/spot.md {OPTIONS} --approve all --no-wait\n{PROMPT}"
    cells = [SETUP, tape, "%toolchat exercise spot", planted, "%toolchat check spot"]
    cells.append(f"%%toolchat -m m {OPTIONS} --approve all\n{PROMPT} Once more.")
    open_notebook(page, lab, "lesson.ipynb", cells)
    run_all(page)
    view = panel(page, 3)
    expect_status(view, "Finished")
    wait_idle(page)
    return view


def test_the_learner_finds_the_error_and_is_helped_on_the_way(page: Page, lab: Place) -> None:
    view = lesson(page, lab)
    task = outputs(page, 2)
    expect(task.get_by_role("heading", name="Spot the error")).to_be_visible()
    expect(task.locator("strong")).to_have_text("sticks")
    expect(task).not_to_contain_text("only call 3")
    verdict = outputs(page, 4)
    expect(verdict).to_contain_text("Not done yet: Spot the error")
    expect(verdict).to_contain_text("Check again for a hint: there are 2.")
    expect(verdict).not_to_contain_text("Hint 1")
    expect(panel(page, 5)).not_to_contain_text("Exercise:")
    expect(view).to_contain_text("Exercise: Spot the error")
    press(view, "Check")
    says = view.get_by_role("status", name="Exercise")
    expect(says).to_contain_text("✗ The potato ends in sticks")
    expect(says).to_contain_text("Hint 1 of 2: What does each call ask for?")
    press(view, "Check")
    expect(says).to_contain_text("Hint 2 of 2: Potato_slice takes a shape.")
    screenshot(page, "exercise-hint")
    expect_step(view, 3, "Potato_slice", "SLICES")
    choose(view, 3)
    dialog = edit_call(view)
    dialog.get_by_label("STICKS").check()
    dialog.get_by_label("Reason").fill("Fries are sticks.")
    press(dialog, "Run with these values")
    expect_step(view, 3, "Potato_slice", "STICKS")
    press(view, "Check")
    expect(view).to_contain_text("Passed: Spot the error")
    run_cell(page, 4)
    expect(outputs(page, 4)).to_contain_text("Passed: Spot the error")
    expect(outputs(page, 4).get_by_role("listitem")).to_have_text(
        [re.compile("The potato ends in sticks"), re.compile("Nothing else was changed")]
    )
    screenshot(page, "exercise-passed")


def test_who_guesses_by_keyboard_stands_in_the_next_question(page: Page, lab: Place) -> None:
    view = run_notebook(page, lab, "keys.ipynb", [SETUP, PREDICT])
    expect_status(view, GUESS)
    card(view).get_by_role("radio").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(card(view)).to_contain_text("turn 2")
    expect(card(view).get_by_role("radio").first).to_be_focused()


@pytest.mark.parametrize("width", [500, 1400])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_sticks_out_however_wide_it_is(
    page: Page, lab: Place, width: int, theme: str
) -> None:
    open_notebook(page, lab, "looks.ipynb", [SETUP, PREDICT])
    show_alone(page, width, theme)
    run_all(page)
    view = panel(page, 1)
    expect_status(view, GUESS)
    press(view, "Show the call")
    expect(card(view)).to_contain_text("turn 2")
    asked = form(view, "Potato_slice")
    asked.get_by_label("SLICES").check()
    asked.get_by_label("Potato", exact=True).select_option("Potato#2")
    view.get_by_role("status", name="Session status").scroll_into_view_if_needed()
    screenshot(page, f"predict-{width}-{theme}-form")
    check(view)
    expect(beside(view)).to_contain_text("The right tool")
    assert view.evaluate("view => view.scrollWidth <= view.clientWidth")
    view.get_by_role("status", name="Session status").scroll_into_view_if_needed()
    screenshot(page, f"predict-{width}-{theme}")
    form(view, "no call: it answers")
    check(view)
    expect_status(view, "Finished")
    view.get_by_role("status", name="Session status").scroll_into_view_if_needed()
    screenshot(page, f"predict-{width}-{theme}-finished")
    assert view.evaluate("view => view.scrollWidth <= view.clientWidth")


@pytest.mark.parametrize("width", [500, 1400])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_exercise_looks_as_it_should(page: Page, lab: Place, width: int, theme: str) -> None:
    view = lesson(page, lab)
    show_alone(page, width, theme)
    press(view, "Check")
    expect(view.get_by_role("status", name="Exercise")).to_contain_text("Hint 1 of 2")
    outputs(page, 2).scroll_into_view_if_needed()
    screenshot(page, f"exercise-{width}-{theme}-task")
    view.get_by_role("status", name="Session status").scroll_into_view_if_needed()
    screenshot(page, f"exercise-{width}-{theme}")
    outputs(page, 4).scroll_into_view_if_needed()
    screenshot(page, f"exercise-{width}-{theme}-verdict")
    assert view.evaluate("view => view.scrollWidth <= view.clientWidth")
