"""A real JupyterLab in a real browser: what the browser tests stand on.

One server and one browser serve the whole run. Every test gets a fresh folder, and a page in
which nothing is open: an empty one, or the JupyterLab of the test before with all of it closed,
unless the test has the mark `own_page`. `lab` and `notebook7` are the two front ends (each a
`Place`, whose settings, workspaces, kernels' runtime files and IPython's folder are its own).
To test something in a cell:

    def test_a_click_approves(page: Page, lab: Place) -> None:
        open_notebook(page, lab, "a.ipynb", [SETUP, "%%toolchat -t Potato\\nMake fries."])
        run_all(page)
        cell(page, 1).get_by_role("button", name="Approve", exact=True).click()
        wait_idle(page)

The functions are in `rig.py`; nothing sleeps, everything waits on what a person would see.
With SCREENSHOTS=folder every `screenshot(page, "name")` leaves a picture there; without it
nothing is written. A test that fails leaves one named after it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from tests.e2e.rig import Place, empty_lab, fresh_folder, screenshot, served

LONG = {
    *("beyond", "deleted_output", "frame", "live_session", "looks", "media", "page"),
    *("hosts", "lesson_page", "notebook7", "person", "session_map", "side_panel", "systems"),
    "teaching",
}
"""What `make test-long` runs, and `make test` leaves out: that one is for every change."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            if item.path.stem.removeprefix("test_") in LONG:
                item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with served("jupyterlab", tmp_path_factory.mktemp("lab")) as server:
        yield server


@pytest.fixture(scope="session")
def notebook7_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with served("notebook", tmp_path_factory.mktemp("notebook7")) as server:
        yield server


@pytest.fixture
def lab(lab_server: Place, page: Page) -> Iterator[Place]:
    with fresh_folder(lab_server) as place:
        yield place
        if not page.is_closed():
            empty_lab(page, place)


@pytest.fixture
def notebook7(notebook7_server: Place) -> Iterator[Place]:
    with fresh_folder(notebook7_server) as place:
        yield place


@pytest.fixture(scope="session")
def empty_pages() -> list[Page]:
    """Pages in which a JupyterLab is loaded, and nothing is open."""
    return []


@pytest.fixture
def page(
    browser: Browser, request: pytest.FixtureRequest, empty_pages: list[Page]
) -> Iterator[Page]:
    # A test names its front end as a fixture, or in its parameters.
    params = request.node.callspec.params.values() if hasattr(request.node, "callspec") else ()
    uses_lab = "lab" in [*request.fixturenames, *params]
    own = not uses_lab or request.node.get_closest_marker("own_page") is not None
    size: ViewportSize = {"width": 1280, "height": 900}
    page = empty_pages.pop() if empty_pages and not own else browser.new_context().new_page()
    page.set_viewport_size(size)
    failed = request.session.testsfailed
    yield page
    passed = request.session.testsfailed == failed
    if not passed and os.environ.get("SCREENSHOTS"):
        screenshot(page, f"failed-{request.node.name}")
    if passed and not own and not page.is_closed() and page.evaluate("Boolean(window.emptyLab)"):
        empty_pages.append(page)
    else:
        page.context.close()
