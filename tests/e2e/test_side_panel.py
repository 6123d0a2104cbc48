"""The side panel, the commands and the highlighting: what JupyterLab gains beside the cells."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import rig
from tests.e2e.samples import pair, session

DISPLAY = "from IPython.display import display\n"


def test_it_shows_the_newest_session_and_follows_the_notebook_in_front(
    page: Page, lab: rig.Place
) -> None:
    rig.write_notebook(lab, "other.ipynb", ["%%toolchat\nBoil."], {0: [session(made="Egg#2")]})
    sources = ["%%toolchat\nPeel.", "%%toolchat\nPeel more."]
    saved = {0: [session(made="Potato#2")], 1: [session(made="Potato#3")]}
    rig.open_notebook(page, lab, "first.ipynb", sources, saved)
    side = rig.show_side_panel(page)
    expect(side.get_by_role("button", name="Potato#3").first).to_be_visible()
    expect(side.get_by_role("button", name="Potato#2")).to_have_count(0)
    rig.screenshot(page, "side-panel")
    rig.run_command(page, "docmanager:open", path=lab.path("other.ipynb"))
    expect(side.get_by_role("button", name="Egg#2").first).to_be_visible()
    expect(side.get_by_role("button", name="Potato#3")).to_have_count(0)


@pytest.mark.parametrize("front_end", ["lab", "notebook7"])
def test_it_says_so_where_there_is_no_session_and_shows_one_that_comes(
    page: Page, front_end: str, request: pytest.FixtureRequest
) -> None:
    place: rig.Place = request.getfixturevalue(front_end)
    source = f"{DISPLAY}display({session(made='Leek#2')!r}, raw=True)"
    rig.open_notebook(page, place, "later.ipynb", [source])
    side = rig.show_side_panel(page)
    expect(side).to_contain_text("run a cell that begins with %%toolchat")
    rig.run_all(page)
    expect(side.get_by_role("button", name="Leek#2").first).to_be_visible()


def test_it_shows_the_session_of_the_cell_that_ran_last(page: Page, lab: rig.Place) -> None:
    show = [f"{DISPLAY}display({session(made=name)!r}, raw=True)" for name in ("Leek#2", "Egg#2")]
    rig.open_notebook(page, lab, "order.ipynb", show)
    side = rig.show_side_panel(page)
    rig.run_all(page)
    expect(side.get_by_role("button", name="Egg#2").first).to_be_visible()
    rig.run_cell(page, 0)
    expect(side.get_by_role("button", name="Leek#2").first).to_be_visible()


def test_it_shows_the_live_panel_while_its_kernel_lives(page: Page, lab: rig.Place) -> None:
    rig.open_notebook(page, lab, "live.ipynb", [pair(session())])
    side = rig.show_side_panel(page)
    rig.run_all(page)
    rig.wait_idle(page)
    live = side.locator(".jtc-live").get_by_role("region", name="Tool calls")
    expect(live).to_contain_text("I am live")
    expect(side.locator(".jtc-saved")).to_be_hidden()
    expect(rig.outputs(page, 0).locator(".jtc-live")).to_contain_text("I am live")


def test_the_toolbar_button_the_menu_and_the_palette_know_it(page: Page, lab: rig.Place) -> None:
    rig.open_notebook(page, lab, "doors.ipynb", ["1"])
    page.get_by_role("button", name="Tool Calls").first.click()
    expect(page.locator("#jupyter-toolcall-side")).to_be_visible()
    page.get_by_role("menuitem", name="View", exact=True).click()
    expect(page.get_by_role("menuitem", name="Tool Calls")).to_be_visible()
    page.keyboard.press("Escape")
    rig.run_command(page, "apputils:activate-command-palette")
    page.locator(".lm-CommandPalette-input").fill("tool calling")
    expect(page.get_by_text("Insert %%toolchat Cell")).to_be_visible()


def test_the_command_inserts_a_cell_and_puts_the_cursor_where_options_go(
    page: Page, lab: rig.Place
) -> None:
    rig.open_notebook(page, lab, "insert.ipynb", ["1"])
    rig.run_command(page, "jupyter-toolcall:insert-cell")
    expect(rig.cell(page, 1).locator(".cm-line").first).to_have_text("%%toolchat -t ")
    page.keyboard.type("Potato")
    expect(rig.cell(page, 1).locator(".cm-line").first).to_have_text("%%toolchat -t Potato")


def test_the_command_approves_what_waits_in_the_panel_and_nothing_where_none_waits(
    page: Page, lab: rig.Place
) -> None:
    rig.open_notebook(page, lab, "approve.ipynb", [pair(session())])
    enabled = "window.jupyterapp.commands.isEnabled('jupyter-toolcall:approve')"
    assert page.evaluate(enabled) is False
    rig.run_all(page)
    expect(rig.outputs(page, 0).get_by_role("button", name="Approve", exact=True)).to_be_visible()
    rig.run_command(page, "jupyter-toolcall:approve")
    expect(rig.outputs(page, 0)).to_contain_text("I am live, approved")
    assert page.evaluate(enabled) is False


@pytest.mark.parametrize("front_end", ["lab", "notebook7"])
def test_a_toolchat_cell_is_highlighted_and_python_cells_stay_python(
    page: Page, front_end: str, request: pytest.FixtureRequest
) -> None:
    place: rig.Place = request.getfixturevalue(front_end)
    chat = (
        "%%toolchat -t Potato Oven --approve ask -o fries:Plate\nMake {dish} from Potato#1, for me."
    )
    rig.open_notebook(
        page, place, "colours.ipynb", [chat, "for potato in range(3):\n    print(potato)"]
    )
    coloured = rig.cell(page, 0).locator(".cm-line span")
    for piece in ("%%toolchat", "--approve", "{dish}", "Potato#1"):
        expect(coloured.filter(has_text=piece).first).to_be_visible()
    expect(coloured.get_by_text("for", exact=True)).to_have_count(0)
    expect(
        rig.cell(page, 1).locator(".cm-line span").get_by_text("for", exact=True)
    ).to_be_visible()
    rig.screenshot(page, f"highlighting-{front_end}")


def test_a_cell_changes_its_colours_as_its_first_line_is_typed(page: Page, lab: rig.Place) -> None:
    rig.open_notebook(page, lab, "typed.ipynb", [""])
    rig.cell(page, 0).locator(".cm-content").click()
    page.keyboard.type("%%toolchat -t Potato")
    expect(rig.cell(page, 0).locator(".cm-line span").get_by_text("-t", exact=True)).to_be_visible()
