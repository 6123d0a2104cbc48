"""How it looks: dark, narrow, high in number; and a notebook that is opened and not run."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import kitchen, rig

MANY = kitchen.script("model", *['("fill", {"grams": 1})'], '"Done."').replace(
    "[", "[*[('fill', {'grams': 1})] * 999, ", 1
)


def test_dark_and_narrow_nothing_sticks_out_of_the_panel(page: Page, lab: rig.Place) -> None:
    rig.open_notebook(page, lab, "dark.ipynb", [kitchen.LOAD, kitchen.fries_cell()])
    rig.dark_theme(page)
    rig.run_all(page)
    view = kitchen.panel(page, 1)
    kitchen.expect_waits(view, 2, "Potato_rinse")
    rig.screenshot(page, "dark")
    page.evaluate("window.jupyterapp.shell.collapseLeft()")
    page.set_viewport_size({"width": 560, "height": 900})
    expect(view.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    for tab in ("Graph", "Steps", "Messages", "Compare"):
        kitchen.open_tab(view, tab)
        assert view.evaluate("view => view.scrollWidth <= view.clientWidth"), tab
        rig.screenshot(page, f"narrow-{tab}")


@pytest.mark.parametrize(
    ("options", "button"), [("", "Approve"), ("--predict", "Check my guess")], ids=["call", "guess"]
)
def test_what_asks_is_in_sight_in_a_low_window_when_its_panel_begins_at_the_top(
    page: Page, lab: rig.Place, options: str, button: str
) -> None:
    view = kitchen.run_notebook(page, lab, "low.ipynb", [kitchen.LOAD, kitchen.fries_cell(options)])
    expect(view.get_by_role("button", name=button, exact=True)).to_be_visible()
    page.evaluate("window.jupyterapp.shell.collapseLeft()")
    for width in (1400, 660):
        for height in (900, 700):
            page.set_viewport_size({"width": width, "height": height})
            view.evaluate("view => view.scrollIntoView({ block: 'start' })")
            asked = view.get_by_role("button", name=button, exact=True)
            expect(asked).to_be_in_viewport(ratio=1)
            assert view.evaluate("view => view.scrollWidth <= view.clientWidth")
            rig.screenshot(page, f"low-{button}-{width}-{height}")


@pytest.mark.long
def test_a_thousand_objects_are_drawn_and_reopened_without_a_kernel(
    page: Page, lab: rig.Place
) -> None:
    cell = "%%toolchat -m model -t fill --scheme flat --approve all --max-turns 2000\nFill them."
    view = kitchen.run_notebook(page, lab, "many.ipynb", [kitchen.OWN + MANY, cell])
    kitchen.expect_status(view, "Finished")
    rig.wait_idle(page)
    expect(kitchen.steps(view)).to_have_count(1000)
    rig.screenshot(page, "many")
    rig.save(page)
    saved = rig.saved_notebook(lab, "many.ipynb").cells[1].outputs[-1].data
    assert len("".join(saved["image/svg+xml"])) <= 100_000
    rig.shut_down_kernels(lab)
    page.goto("about:blank")
    rig.open_notebook(page, lab, "many.ipynb")
    expect(kitchen.node(kitchen.panel(page, 1), "Jar#1000")).to_be_visible()
    rig.screenshot(page, "many-reopened")


def test_a_notebook_that_is_opened_and_not_run_shows_its_session_and_runs_nothing(
    page: Page, lab: rig.Place
) -> None:
    kitchen.run_notebook(
        page, lab, "saved.ipynb", [kitchen.LOAD, kitchen.fries_cell("--approve all")]
    )
    rig.wait_idle(page)
    kitchen.expect_status(kitchen.panel(page, 1), "Finished")
    rig.save(page)
    before = rig.saved_notebook(lab, "saved.ipynb")
    rig.shut_down_kernels(lab)
    page.goto("about:blank")
    rig.open_notebook(page, lab, "saved.ipynb")
    view = kitchen.panel(page, 1)
    expect(kitchen.steps(view)).to_have_count(8)
    expect(kitchen.node(view, "Plate#2")).to_be_visible()
    expect(view.get_by_role("button", name="Run", exact=True)).to_be_hidden()
    rig.screenshot(page, "reopened")
    answered = page.evaluate(
        """async () => {
            const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
            const done = kernel.requestExecute({code: '1', silent: false});
            return (await done.done).content.execution_count;
        }"""
    )
    assert answered == 1
    assert rig.saved_notebook(lab, "saved.ipynb") == before
