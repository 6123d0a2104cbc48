"""Without a mouse: every act at the panel, said once, and the keyboard is never lost."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e import kitchen
from tests.e2e.rig import CURRENT, FRONT_ENDS, Place, open_notebook, run_all, screenshot

HELD = """() => {
    const held = document.activeElement;
    return held?.getAttribute('aria-label') ?? held?.textContent.trim() ?? '';
}"""
LISTEN = """() => {
    window.said = [];
    const live = '[aria-live=polite], [aria-live=assertive], [role=status]:not([aria-live=off]), '
        + '[role=alert], [role=log]';
    new MutationObserver(changes => {
        for (const { target } of changes) {
            const region = (target.nodeType === 1 ? target : target.parentElement)?.closest(live);
            const text = region?.textContent.trim();
            if (text) window.said.push(text);
        }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""

CELLS = f"[...{CURRENT}.content.model.cells].map(cell => cell.type)"
LETTERS = """view => [...view.querySelectorAll('.tc-act button')]
    .map(button => getComputedStyle(button, '::after').content.replaceAll('"', ''))
    .filter(letter => letter !== 'none').join('')"""
BOXES = """view => {
    const { x, y } = view.getBoundingClientRect();
    return [...view.querySelectorAll('.tc-act [data-key]')].map(button => {
        const box = button.getBoundingClientRect();
        return [box.x - x, box.y - y, box.width, box.height].map(Math.round);
    });
}"""


def tab_to(page: Page, name: str, key: str = "Tab") -> None:
    """Press Tab until what has the keyboard has this name."""
    for _ in range(60):
        page.keyboard.press(key)
        if page.evaluate(HELD) == name:
            return
    raise AssertionError(f"{name} is not reached with {key}")


def expect_held(view: Locator) -> None:
    """The keyboard is in the panel."""
    assert view.evaluate("view => view.contains(document.activeElement)")


def said(page: Page, word: str) -> list[str]:
    """The announcements of a tool, without why it waits."""
    return [text.partition(". It")[0] for text in page.evaluate("window.said") if word in text]


def test_a_session_is_steered_and_looked_at_by_keys_alone(page: Page, lab: Place) -> None:
    open_notebook(page, lab, "keys.ipynb", [kitchen.LOAD, kitchen.fries_cell()])
    page.evaluate(LISTEN)
    run_all(page)
    view = kitchen.panel(page, 1)
    kitchen.expect_waits(view, 2, "Potato_rinse")
    assert said(page, "Potato_rinse") == ["Potato_rinse waits for you"]
    page.keyboard.press("Control+Alt+p")
    expect(view.get_by_role("region", name="Details")).to_be_focused()
    tab_to(page, "Approve")
    page.keyboard.press("Enter")
    kitchen.expect_waits(view, 3, "Potato_peel")
    expect_held(view)
    assert said(page, "Potato_peel") == ["Potato_peel waits for you"]

    tab_to(page, "Approve")
    page.keyboard.press("Enter")
    kitchen.expect_waits(view, 4, "Potato_slice")

    tab_to(page, "Edit")
    page.keyboard.press("Enter")
    dialog = view.get_by_role("dialog", name="Edit call")
    expect(dialog).to_be_visible()
    tab_to(page, "Cancel", "Shift+Tab")
    page.keyboard.press("Escape")
    expect(view.get_by_role("button", name="Edit", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    while not page.evaluate("document.activeElement.type === 'radio'"):
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    screenshot(page, "keyboard-edit")
    tab_to(page, "Run with these values")
    page.keyboard.press("Enter")
    kitchen.expect_step(view, 4, "edited")
    kitchen.expect_waits(view, 5, "Oven_bake")
    expect_held(view)

    tab_to(page, "Reject")
    page.keyboard.press("Enter")
    expect(view.get_by_role("textbox", name="Reason")).to_be_focused()
    page.keyboard.type("leave them cold")
    page.keyboard.press("Enter")
    kitchen.expect_step(view, 5, "rejected")
    expect_held(view)


def test_graph_tabs_and_time_are_walked_by_keys_alone(page: Page, lab: Place) -> None:
    view = kitchen.run_notebook(
        page, lab, "walk.ipynb", [kitchen.LOAD, kitchen.fries_cell("--approve all")]
    )
    kitchen.expect_status(view, "Finished")
    page.keyboard.press("Control+Alt+p")
    expect_held(view)
    tab_to(page, "Graph", "Shift+Tab")
    for name in ("Steps", "Messages", "Compare"):
        page.keyboard.press("ArrowRight")
        expect(view.get_by_role("tab", name=name)).to_be_focused()
        expect(view.get_by_role("tabpanel", name=name)).to_be_visible()
    page.keyboard.press("Home")
    expect(view.get_by_role("tab", name="Graph")).to_be_focused()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('svg.g') !== null"):
            break
    first = page.evaluate(HELD)
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(HELD) != first
    assert page.evaluate("document.activeElement.closest('svg.g') !== null")
    # A reference leads to its object.
    name = page.evaluate(HELD).removeprefix("↑ ")
    page.keyboard.press("Enter")
    expect(view.get_by_role("region", name="Details").get_by_role("heading").first).to_have_text(
        name
    )
    tab_to(page, "Time")
    page.keyboard.press("Home")
    kitchen.expect_status(view, "Before the first call")
    page.keyboard.press("Control+Alt+s")
    kitchen.expect_status(view, "Looking back at call 1")
    page.keyboard.press("End")
    kitchen.expect_status(view, "Finished")
    page.keyboard.press("Control+Alt+Shift+s")
    kitchen.expect_status(view, "Looking back at call 7")
    expect(view.get_by_role("slider", name="Time")).to_be_focused()


def test_shift_enter_runs_the_cell_after_a_click_in_its_panel(page: Page, lab: Place) -> None:
    view = kitchen.run_notebook(
        page, lab, "run.ipynb", [kitchen.LOAD, kitchen.fries_cell("--approve all"), "'next'"]
    )
    kitchen.expect_status(view, "Finished")
    cells = page.locator(".jp-Notebook .jp-Cell")
    for target in (
        view.locator("svg.g").get_by_role("button", name="Potato#4", exact=True),
        view.get_by_role("list", name="Steps").get_by_role("button").first,
        view.get_by_role("slider", name="Time"),
        view.get_by_role("tab", name="Messages"),
    ):
        target.click()
        expect(cells.nth(1)).to_have_class(re.compile("jp-mod-active"))
        page.keyboard.press("Shift+Enter")
        expect(cells.nth(2)).to_have_class(re.compile("jp-mod-active"))
        kitchen.expect_status(view, "Finished")


def expect_letters(view: Locator, letters: str) -> None:
    """These letters are drawn on the buttons of the waiting call."""
    assert view.evaluate(LETTERS) == letters


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_letters_act_on_the_panel_that_has_the_focus_and_else_on_the_notebook(
    page: Page, front_end: str, request: pytest.FixtureRequest
) -> None:
    place: Place = request.getfixturevalue(front_end)
    page.set_viewport_size({"width": 1366, "height": 768})
    view = kitchen.run_notebook(
        page, place, "keys.ipynb", [kitchen.LOAD, kitchen.fries_cell(), "1"]
    )
    kitchen.expect_waits(view, 2, "Potato_rinse")
    expect_letters(view, "")
    without = view.evaluate(BOXES)
    screenshot(page, f"letters-notebook-{front_end}")
    page.keyboard.press("a")
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(4)
    page.keyboard.press("z")
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(3)
    kitchen.expect_waits(view, 2, "Potato_rinse")

    view.get_by_role("status", name="Session status").click()
    expect_letters(view, "YERA")
    assert view.evaluate(BOXES) == without
    screenshot(page, f"letters-panel-{front_end}")
    for key in "bcdddfhijklmnopqstuvwxz":
        page.keyboard.press(key)
    assert page.evaluate(CELLS) == ["code"] * 3
    page.keyboard.press("y")
    kitchen.expect_waits(view, 3, "Potato_peel")
    expect_letters(view, "YERA")
    for key, name in (("r", "Reason"), ("a", "Result")):
        page.keyboard.press(key)
        field = view.get_by_label(name, exact=True)
        expect(field).to_be_focused()
        page.keyboard.type("year")
        expect(field).to_have_value("year")
        page.keyboard.press("Escape")
        view.get_by_role("region", name="Details").focus()
    page.keyboard.press("e")
    expect(view.get_by_role("dialog", name="Edit call")).to_be_visible()
    expect_letters(view, "")
    page.keyboard.press("Escape")
    expect_letters(view, "YERA")
    view.get_by_role("button", name="Search").click()
    expect_letters(view, "")
    kitchen.open_tab(view, "Messages")
    page.keyboard.press("y")
    expect(view.get_by_role("heading", name="Potato_slice")).to_be_visible()
    assert page.evaluate(CELLS) == ["code"] * 3
