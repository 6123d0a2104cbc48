"""axe-core finds nothing grave: in no state, tab or dialog of the panel, light or dark."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page

from tests.e2e import kitchen
from tests.e2e.axe import findings
from tests.e2e.rig import Place, dark_theme, open_notebook, run_all, screenshot, show_side_panel

VIEW = ".jp-Notebook .jp-Cell:nth-child({}) .tc"
PERSON = "%%toolchat -m person -t fill weigh --scheme flat\nFill a jar."
FAILS = "%%toolchat -m broken -t fill --scheme flat --approve all --no-wait\nFill a jar."
BROKEN = "broken = Scripted([('fill', {'grams': 9999}), ('fill', {'grams': 1}), 'Done.'])\n"


def tour(view: Locator) -> Iterator[str]:
    """Every state that a session in the kitchen comes through; yields its name when it is there."""
    kitchen.expect_waits(view, 2, "Potato_rinse")
    for tab in ("Steps", "Messages", "Compare", "Graph"):
        kitchen.open_tab(view, tab)
        yield f"waiting, {tab}"
    kitchen.press(view, "Reject")
    yield "reject"
    kitchen.press(view, "Cancel")
    kitchen.press(view, "Answer")
    yield "answer"
    kitchen.press(view, "Cancel")
    dialog = kitchen.edit_call(view)
    yield "edit"
    dialog.get_by_role("button", name="Cancel").click()
    kitchen.press(view, "Approve")
    kitchen.expect_waits(view, 3, "Potato_peel")
    view.get_by_role("slider", name="Time").focus()
    view.page.keyboard.press("ArrowLeft")
    yield "looking back"
    kitchen.press(view, "Back to now")
    kitchen.node(view, "Potato#2").first.click()
    yield "an object"
    kitchen.press(view, "Replay from here")
    kitchen.expect_status(view, "Ready for the next step")
    view.get_by_role("button", name="Branch").click()
    yield "branches"
    view.page.keyboard.press("Escape")


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_no_state_of_a_session_has_a_grave_finding(page: Page, lab: Place, theme: str) -> None:
    open_notebook(page, lab, "axe.ipynb", [kitchen.LOAD, kitchen.fries_cell()])
    if theme == "dark":
        dark_theme(page)
    run_all(page)
    place = VIEW.format(2)
    found = {state: findings(page, place) for state in tour(kitchen.panel(page, 1))}
    assert {state: said for state, said in found.items() if said} == {}


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_the_rest_of_what_is_shown_has_no_grave_finding(page: Page, lab: Place, theme: str) -> None:
    open_notebook(page, lab, "more.ipynb", [kitchen.OWN + BROKEN, FAILS, PERSON])
    if theme == "dark":
        dark_theme(page)
    run_all(page)
    view = kitchen.panel(page, 2)
    kitchen.expect_status(view, "You are the model")
    found = {"failed": findings(page, VIEW.format(2)), "person": findings(page, VIEW.format(3))}
    view.get_by_role("button", name="fill", exact=True).click()
    found["write"] = findings(page, VIEW.format(3))
    page.keyboard.press("Escape")
    show_side_panel(page)
    found["side"] = findings(page, "#jupyter-toolcall-side", ".jtc-status")
    screenshot(page, f"axe-{theme}")
    assert {state: said for state, said in found.items() if said} == {}
