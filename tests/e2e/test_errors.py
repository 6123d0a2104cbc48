"""Mistakes in a cell, and hostile text: one red line, and text that stays text."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e import rig
from tests.e2e.kitchen import (
    LOAD,
    OWN,
    expect_status,
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

SESSION = "application/vnd.jupyter-toolcall.session+json"
MISTAKES = {
    fries_cell().replace("Potato Oven", "Potatoe Oven"): "Did you mean Potato",
    fries_cell("--aprove all"): "Did you mean --approve",
    f"{fries_cell(prompt='').strip()}\n": "the prompt is empty",
    f"{fries_cell(prompt='').strip()}\n   \n": "the prompt is empty",
    fries_cell().replace("-i potato", "-i potatoes"): "Did you mean potato",
    fries_cell().replace("fries:Plate", "fries:Plates"): "Did you mean Plate",
    fries_cell("-m nobody:x"): "nobody",
    fries_cell("--scheme round"): "round",
}
UNSAVED = script("model", '"I would rather not."', '"No."')


def test_each_mistake_fails_its_cell_in_one_or_two_red_lines(page: Page, lab: rig.Place) -> None:
    sources = [LOAD, *MISTAKES, OWN + UNSAVED, "%%toolchat -m model -t fill -o x:Jar\nFill it."]
    rig.open_notebook(page, lab, "wrong.ipynb", sources)
    for number in range(len(sources)):
        rig.run_cell(page, number)
        rig.wait_idle(page)
    for number, says in enumerate([*MISTAKES.values()], 1):
        one_line(page, number, says)
    one_line(page, len(sources) - 1, "x was never saved")
    expect_status(panel(page, len(sources) - 1), "Finished")
    rig.screenshot(page, "mistakes")


def one_line(page: Page, number: int, says: str) -> None:
    """The cell shows one error of one or two lines, which names what is wrong."""
    failed = rig.outputs(page, number).locator("[data-mime-type='application/vnd.jupyter.stderr']")
    expect(failed).to_contain_text(says)
    expect(failed).to_have_count(1)
    expect(failed).not_to_contain_text("Traceback")
    assert len(failed.inner_text().strip().splitlines()) <= 2, failed.inner_text()


HOSTILE = "</script><img src=x onerror=window.__pwned=1>\u202egnp.exe\u0007\x1b[31mred\u2066"
TRAP = f"""{OWN}
bad = {HOSTILE!r}

class Trap:
    \"\"\"A trap.\"\"\"
    def __str__(self):
        return bad[:20]
    def _repr_svg_(self):
        return "<svg xmlns='http://www.w3.org/2000/svg' onload='window.__pwned=1'>" \\
            "<script>window.__pwned=1</script><path d='M0 0h9'/></svg>"

def lure(bait: str) -> Trap:
    print(bad)
    return Trap()

lure.__doc__ = bad

def spring(trap: Trap) -> str:
    raise ValueError(bad)

def tell(trap: Trap) -> str:
    return bad

trap = Trap()
"""
TURNS = script(
    "model",
    '[bad, ("lure", {"bait": bad})]',
    '("spring", {"trap": "Trap#2"})',
    '("tell", {"trap": "Trap#2"})',
    "bad",
)


@pytest.mark.long
def test_hostile_text_is_shown_as_text_live_and_saved(page: Page, lab: rig.Place) -> None:
    cell = "%%toolchat -m model -t lure spring tell -i trap --scheme flat\nGo into the {bad}."
    view = run_notebook(page, lab, "hostile.ipynb", [TRAP + TURNS, cell])
    expect_waits(view, 1, "lure")
    press(view, "Edit")
    expect(view.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    for number in (1, 2, 3):
        expect_waits(view, number, ("lure", "spring", "tell")[number - 1])
        press(view, "Approve")
    expect_status(view, "Finished · 3 calls, 1 failed")
    rig.wait_idle(page)
    look_around(page, 1)
    rig.screenshot(page, "hostile-live")
    rig.save(page)
    saved = next(
        output.data
        for output in rig.saved_notebook(lab, "hostile.ipynb").cells[1].outputs
        if SESSION in output.data
    )
    svg = "".join(saved["image/svg+xml"])
    tree = ElementTree.fromstring(svg)
    assert {element.tag.rpartition("}")[2] for element in tree.iter()}.isdisjoint(
        {"script", "img", "foreignObject"}
    )
    # In an image nothing runs and nothing is fetched.
    addresses = [
        element.get("href", "") for element in tree.iter() if element.tag.endswith("image")
    ]
    assert all(address.startswith("data:image/") for address in addresses), addresses
    for sign in ("\u202e", "\u0007", "\x1b", "\u2066"):
        assert sign not in svg
        assert sign not in "".join(saved["text/plain"])
    rig.shut_down_kernels(lab)
    page.goto("about:blank")
    rig.open_notebook(page, lab, "hostile.ipynb")
    look_around(page, 1)
    rig.screenshot(page, "hostile-saved")


def look_around(page: Page, number: int) -> None:
    """See all of a session: every tab, every step; nothing of it may run."""
    view = panel(page, number)
    expect(view).to_be_visible()
    for index in range(steps(view).count()):
        steps(view).nth(index).get_by_role("button").click()
    node(view, "Trap#2").first.click()
    for tab in ("Steps", "Messages", "Compare", "Graph"):
        open_tab(view, tab)
        text = view.inner_text()
        for sign in ("\u202e", "\u0007", "\x1b", "\u2066"):
            assert sign not in text, (tab, sign)
    assert page.evaluate("window.__pwned") is None
    assert view.locator("script, img[src=x], svg script, [onload], [onerror]").count() == 0


@pytest.mark.parametrize("front_end", rig.FRONT_ENDS)
@pytest.mark.own_page
def test_options_and_names_complete_with_tab(
    page: Page, front_end: str, request: pytest.FixtureRequest
) -> None:
    place: rig.Place = request.getfixturevalue(front_end)
    cells = [LOAD, fries_cell("--approve all"), "%%toolchat --app", "%%toolchat\nTake Potato#"]
    rig.open_notebook(page, place, "tab.ipynb", cells)
    rig.run_cell(page, 0)
    rig.wait_idle(page)
    rig.run_cell(page, 1)
    rig.wait_idle(page)
    listed = page.locator(".jp-Completer-item")
    complete(page, 2)
    expect(listed.filter(has_text="--approve")).to_be_visible()
    page.keyboard.press("Enter")
    expect(editor_text(page, 2)).to_contain_text("--approve")
    complete(page, 3)
    expect(listed.filter(has_text="Potato#4")).to_be_visible()
    rig.screenshot(page, f"completion-{front_end}")


def editor_text(page: Page, number: int) -> Locator:
    return page.locator(".jp-Notebook .jp-Cell").nth(number).locator(".cm-content")


def complete(page: Page, number: int) -> None:
    """Press Tab at the end of a cell."""
    editor_text(page, number).click()
    page.keyboard.press("Control+End")
    page.keyboard.press("Tab")
