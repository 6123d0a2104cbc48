"""One view of a session per cell: the live panel, or the saved session, and never an error."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e import rig
from tests.e2e.kitchen import run_notebook
from tests.e2e.samples import FAKE_PANEL, SESSION, pair, session, wait_for_file

# Its notebooks hold one session: in one page they would be views of the same.
pytestmark = pytest.mark.own_page

CELL = pair(session())


def expect_live(page: Page) -> None:
    expect(live(page)).to_be_visible()
    expect(live(page)).to_contain_text("I am live")
    expect(rig.outputs(page, 0).locator(".jtc-saved")).to_be_hidden()
    expect_one_output(page)


def expect_saved(page: Page) -> None:
    expect(saved_view(page)).to_be_visible()
    expect(live(page)).to_be_hidden()
    expect_one_output(page)


def live(page: Page) -> Locator:
    return rig.outputs(page, 0).locator(".jtc-live").get_by_role("region", name="Tool calls")


def saved_view(page: Page) -> Locator:
    return rig.outputs(page, 0).locator(".jtc-saved").get_by_role("region", name="Tool calls")


def expect_one_output(page: Page) -> None:
    expect(rig.outputs(page, 0).locator(".jp-OutputArea-child:visible")).to_have_count(1)
    expect(rig.outputs(page, 0).get_by_text("rror displaying widget")).to_be_hidden()
    assert rig.outputs(page, 0).locator(".jtc-saved").count() <= 1


@pytest.fixture(params=rig.FRONT_ENDS)
def ran(request: pytest.FixtureRequest, page: Page) -> Callable[[], rig.Place]:
    """Opens a notebook whose one cell has published a panel and a saved session, and is saved."""

    def run() -> rig.Place:
        place: rig.Place = request.getfixturevalue(request.param)
        rig.open_notebook(page, place, "one.ipynb", [CELL])
        rig.run_all(page)
        rig.wait_idle(page)
        rig.save(page)
        return place

    return run


@pytest.mark.long
def test_a_cell_that_has_run_shows_the_panel_alone(
    page: Page, ran: Callable[[], rig.Place]
) -> None:
    place = ran()
    expect_live(page)
    rig.screenshot(page, f"one-view-live-{place.app}")


def test_the_panel_comes_back_when_the_page_is_loaded_again(
    page: Page, ran: Callable[[], rig.Place]
) -> None:
    ran()
    rig.reload(page)
    expect_live(page)


def test_the_saved_session_takes_over_when_the_kernel_restarts(
    page: Page, ran: Callable[[], rig.Place]
) -> None:
    ran()
    expect_live(page)
    rig.restart_kernel(page)
    expect_saved(page)
    rig.reload(page)
    expect_saved(page)
    rig.run_all(page)
    expect_live(page)


def test_a_notebook_that_is_opened_with_a_new_kernel_shows_the_saved_session(
    page: Page, ran: Callable[[], rig.Place]
) -> None:
    place = ran()
    page.goto("about:blank")
    rig.shut_down_kernels(place)
    rig.open_notebook(page, place, "one.ipynb")
    expect_saved(page)
    rig.screenshot(page, f"one-view-reopened-{place.app}")


@pytest.mark.long
def test_a_notebook_from_elsewhere_shows_the_saved_session(page: Page, lab: rig.Place) -> None:
    panel = {
        "application/vnd.jupyter-toolcall.live+json": {"model_id": "gone"},
        "application/vnd.jupyter.widget-view+json": {
            "model_id": "gone",
            "version_major": 2,
            "version_minor": 0,
        },
        "text/plain": "<Panel>",
    }
    rig.open_notebook(page, lab, "foreign.ipynb", ["%%toolchat\nPeel it."], {0: [panel, session()]})
    expect_saved(page)


@pytest.mark.long
def test_a_page_that_is_loaded_again_while_the_cell_waits_keeps_what_is_saved_later(
    page: Page, lab: rig.Place
) -> None:
    source = pair(session(), between=wait_for_file("go"))
    run_notebook(page, lab, "middle.ipynb", [source])
    expect_live(page)
    rig.save(page)
    rig.reload(page)
    expect_live(page)
    (lab.root / "go").touch()
    rig.wait_idle(page)
    expect(rig.outputs(page, 0).locator(".jtc-saved")).to_have_count(1)
    rig.save(page)
    [cell] = rig.saved_notebook(lab, "middle.ipynb").cells
    assert [SESSION in output.data for output in cell.outputs] == [False, True]
    rig.restart_kernel(page)
    expect_saved(page)


@pytest.mark.long
def test_a_panel_whose_kernel_died_before_the_end_stays_as_it_was(
    page: Page, lab: rig.Place
) -> None:
    run_notebook(page, lab, "died.ipynb", [FAKE_PANEL])
    expect_live(page)
    rig.wait_idle(page)
    rig.restart_kernel(page)
    expect(live(page)).to_contain_text("The kernel restarted. Run the cells above, then this one.")
    expect(live(page).get_by_role("button", name="Approve", exact=True)).to_have_count(0)
    expect_one_output(page)
    rig.wait_ready(page)
