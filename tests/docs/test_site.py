"""The documentation as a site: it builds without a warning, and its pages work in a browser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from jupyter_toolcall.storage.notebook_files import saved_sessions
from tests.e2e.rig import screenshot

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.e2e, pytest.mark.long]

# What a user types into the search of the site, and the page that answers it.
QUESTIONS = {
    **dict.fromkeys(["without a key", "ollama", "gemini", "temperature", "cut off"], "models"),
    **dict.fromkeys(["which python", "install", "upgrade", "uninstall"], "install"),
    **dict.fromkeys(["panel does not appear", "tool timeout", "faq"], "what-can-go-wrong"),
    **dict.fromkeys(["limit cost", "limit tokens", "max turns"], "limits"),
    **dict.fromkeys(["delete old sessions", "start class fresh"], "sessions"),
    **dict.fromkeys(["jupyterhub", "proxy", "binder"], "hubs"),
    **dict.fromkeys(["langchain", "jupyter ai"], "other-tools"),
    **{"vs code": "front_ends", "polars": "tables", "approve": "approve", "glossary": "glossary"},
    **{"publish lesson": "teaching", "screen reader": "keyboard"},
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("docs")
    options = ["--fail-on-warning", "--keep-going", "--nitpicky", "-d", str(folder / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, "docs", str(folder / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that has nothing to complain of, and loads files alone."""
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    # The next page cancels what the last one still loads.
    page.on(
        "requestfailed",
        lambda request: (
            complaints.append(request.url) if request.failure != "net::ERR_ABORTED" else None
        ),
    )
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    yield page
    assert complaints == []
    assert [url for url in requested if not url.startswith(("file:", "data:"))] == []
    page.close()


def first_panel(page: Page, site: Path) -> Locator:
    page.goto((site / "tutorials" / "00_first_call.html").as_uri())
    return page.get_by_role("region", name="Tool calls").first


def test_a_lesson_has_a_panel_for_each_of_its_sessions(page: Page, site: Path) -> None:
    expect(first_panel(page, site)).to_be_visible()
    saved = saved_sessions(ROOT / "notebooks" / "00_first_call.ipynb")
    expect(page.get_by_role("region", name="Tool calls")).to_have_count(len(saved))
    assert page.locator("script[src*='toolcall_page.js']").count() == 1


def test_a_panel_shows_graph_steps_and_messages_without_a_kernel(page: Page, site: Path) -> None:
    panel = first_panel(page, site)
    graph = panel.get_by_role("img", name="Object lineage")
    graph.get_by_role("button", name="Fries#1", exact=True).click()
    expect(panel.get_by_role("region", name="Details")).to_contain_text("made by Oven_bake")
    screenshot(page, "lesson")
    panel.get_by_role("tab", name="Steps").click()
    expect(panel.get_by_role("list", name="Steps").get_by_role("listitem")).to_have_count(8)
    panel.get_by_role("tab", name="Messages").click()
    panel.get_by_role("button", name="Turn 4", exact=True).click()
    expect(panel).to_contain_text("It is clean and peeled, so it can be cut now.")


def test_time_goes_back_to_an_earlier_step(page: Page, site: Path) -> None:
    panel = first_panel(page, site)
    last = panel.get_by_role("button", name="Plate#2")
    expect(last.first).to_be_visible()
    panel.get_by_role("slider", name="Time").focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    expect(last).to_have_count(0)
    expect(panel.get_by_role("button", name="Potato#3").first).to_be_visible()


def test_a_comparison_keeps_to_its_columns_on_a_narrow_page(page: Page, site: Path) -> None:
    page.set_viewport_size({"width": 500, "height": 900})
    page.goto((site / "tutorials" / "07_replay_edit_fork.html").as_uri())
    panel = page.get_by_role("region", name="Tool calls").last
    panel.get_by_role("tab", name="Compare").click()
    changes = panel.locator(".tc-cmp summary").filter(has_text="cells changed")
    expect(changes.first).to_be_visible()
    outside = """changes => changes.filter(each =>
        each.getBoundingClientRect().right > each.closest(".diff").getBoundingClientRect().right)
        .map(each => each.textContent)"""
    assert changes.evaluate_all(outside) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_panel_is_light_or_dark_as_its_page_is(page: Page, site: Path, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    first_panel(page, site)
    background = "e => getComputedStyle(e).backgroundColor"
    of_page = page.locator("body").evaluate(background)
    assert page.locator(".tc").first.evaluate(background) == of_page
    assert of_page == {"light": "rgb(255, 255, 255)", "dark": "rgb(19, 20, 22)"}[scheme]


@pytest.mark.parametrize(("words", "found"), QUESTIONS.items())
def test_a_search_finds_the_answer(page: Page, site: Path, words: str, found: str) -> None:
    page.goto((site / "index.html").as_uri())
    page.get_by_role("textbox", name="Search").fill(words)
    page.keyboard.press("Enter")
    expect(page.locator("#search-results h2")).to_have_text("Search Results")
    expect(page.locator("#search-summary, .search-summary")).to_contain_text("found")
    links = page.locator("#search-results li > a").evaluate_all("all => all.map(a => a.href)")
    assert f"/{found}.html" in " ".join(links[:3])


@pytest.mark.parametrize("width", [500, 1366])
def test_no_page_scrolls_sideways(page: Page, site: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    pages = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    assert len(pages) > 40
    for path in pages:
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
