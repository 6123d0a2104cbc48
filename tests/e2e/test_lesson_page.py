"""A lesson as one page, opened as a file: its panels, and its guesses without a kernel."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from jupyter_toolcall.cli import main
from tests.e2e.axe import findings
from tests.e2e.rig import quiet_page, screenshot

ROOT = Path(__file__).parents[2]
LESSON = ROOT / "notebooks" / "07_replay_edit_fork.ipynb"


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lesson 07 as a page; the calls of its first session are guessed."""
    folder = tmp_path_factory.mktemp("lesson")
    notebook = json.loads(LESSON.read_text())
    cell = next(cell for cell in notebook["cells"] if "-n seattle -m" in "".join(cell["source"]))
    cell["source"] = "".join(cell["source"]).replace("%%toolchat", "%%toolchat --predict")
    (folder / LESSON.name).write_text(json.dumps(notebook))
    path = str(folder / LESSON.name)
    assert main(["run", "--trust", path, "--output", path]) == 0
    assert main(["export", str(folder / LESSON.name), "--to", "lesson"]) == 0
    return (folder / LESSON.name).with_suffix(".html")


@pytest.fixture
def quiet(browser: Browser) -> Iterator[Page]:
    """A page that loads nothing but files, and has nothing to complain of."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    with quiet_page(page):
        yield page
    context.close()


def first_panel(page: Page) -> Locator:
    return page.get_by_role("region", name="Tool calls").first


def guess(panel: Locator, tool: str, **arguments: str) -> None:
    form = panel.get_by_role("group", name="Guess", exact=True)
    form.get_by_role("radiogroup", name="Tool").get_by_text(tool, exact=True).click()
    for name, value in arguments.items():
        field = form.get_by_label(name, exact=True)
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    form.get_by_role("button", name="Check my guess").click()


def test_a_lesson_is_one_page_with_its_text_its_code_and_a_panel_a_session(
    quiet: Page, lesson: Path
) -> None:
    quiet.goto(lesson.as_uri())
    expect(quiet).to_have_title("Replay, edit, fork")
    expect(quiet.get_by_role("heading", level=1)).to_have_text("Replay, edit, fork")
    expect(quiet.locator(".code").nth(1)).to_contain_text("def keep_months(table: pd.DataFrame")
    sessions = lesson.read_text().count('class="toolcall-rows"')
    assert sessions == 5
    expect(quiet.locator(".toolcall-session .tc")).to_have_count(sessions)
    assert quiet.locator("script:not([type])").count() == 1
    hidden = quiet.locator(".output", has_text="The session after the edit:")
    expect(hidden).to_be_hidden()
    quiet.get_by_text("Show the output").first.click()
    expect(hidden).to_be_visible()
    assert quiet.evaluate("document.documentElement.scrollWidth <= innerWidth")
    screenshot(quiet, "lesson-page")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_lesson_can_be_read_by_everybody(browser: Browser, lesson: Path, scheme: str) -> None:
    # axe adds a style, which the page's policy would stop.
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(lesson.as_uri())
    expect(first_panel(page)).to_contain_text("What will the model call next?")
    assert findings(page, "body") == []
    context.close()


def test_a_guess_is_scored_in_the_page_and_the_reply_is_shown_after_it(
    quiet: Page, lesson: Path
) -> None:
    quiet.goto(lesson.as_uri())
    panel = first_panel(quiet)
    expect(panel).to_contain_text("What will the model call next?")
    graph = panel.get_by_role("img", name="Object lineage")
    expect(graph.get_by_role("button", name="DataFrame#1")).to_be_visible()
    expect(graph.get_by_role("button", name="DataFrame#2")).to_have_count(0)

    guess(panel, "keep_months", table="DataFrame#1", first="1", last="12")
    result = panel.get_by_role("group", name="Your guess")
    expect(result).to_contain_text("Right, all of it.")
    expect(result).to_contain_text("4 of 4 points")
    expect(graph.get_by_role("button", name="DataFrame#2")).to_be_visible()
    expect(graph.get_by_role("button", name="DataFrame#3")).to_have_count(0)

    guess(panel, "one_year", table="DataFrame#2", year="2012")
    expect(result).to_contain_text("Not this time: it called wettest_year.")
    expect(result).to_contain_text("0 of 2 points")
    guess(panel, "one_year", table="DataFrame#1", year="2014")
    expect(result).to_contain_text("The right tool, and 1 of 2 arguments.")
    expect(panel.get_by_label("Session status")).to_contain_text("Your turn to guess")
    expect(panel).to_contain_text("6 of 9 points")
    screenshot(quiet, "lesson-guess")


def test_the_points_stay_when_the_page_is_opened_again_until_the_reader_starts_over(
    quiet: Page, lesson: Path
) -> None:
    quiet.goto(lesson.as_uri())
    guess(first_panel(quiet), "draw", table="DataFrame#1")
    expect(first_panel(quiet)).to_contain_text("Not this time: it called keep_months.")
    quiet.reload()
    expect(first_panel(quiet)).to_contain_text("0 of 4 points")
    expect(first_panel(quiet)).to_contain_text("turn 2")
    again = quiet.get_by_role("button", name="Guess again")
    again.click()
    expect(first_panel(quiet)).to_contain_text("turn 1")
    expect(first_panel(quiet)).not_to_contain_text("of 4 points")
    expect(again).to_be_hidden()


def test_after_the_last_guess_the_whole_session_is_there_and_nothing_can_be_decided(
    quiet: Page, lesson: Path
) -> None:
    quiet.goto(lesson.as_uri())
    panel = first_panel(quiet)
    panel.get_by_role("button", name="Show the call").click()
    expect(panel.get_by_role("group", name="Your guess")).to_contain_text(
        "Skipped: it called keep_months."
    )
    panel.get_by_role("button", name="Skip the rest").click()
    expect(panel.get_by_label("Session status")).to_contain_text("Finished")
    panel.get_by_role("tab", name="Steps").click()
    steps = panel.get_by_role("list", name="Steps").get_by_role("listitem")
    expect(steps).to_have_count(5)
    for name in ("Edit", "Replay from here", "Run", "Export"):
        expect(panel.get_by_role("button", name=name, exact=True)).to_have_count(0)


def test_a_session_that_was_saved_before_its_first_reply_says_how_it_continues(
    quiet: Page, tmp_path: Path
) -> None:
    """In lesson 03 the learner guesses in the notebook: its recording is not in the saved cell."""
    lesson = ROOT / "notebooks" / "03_current.ipynb"
    page = tmp_path / "a.html"
    assert main(["export", str(lesson), "--to", "lesson", "--output", str(page)]) == 0
    quiet.goto(page.as_uri())
    panels = quiet.get_by_role("region", name="Tool calls")
    asks = quiet.get_by_role("heading", name="What will the model call next?")
    panel = panels.filter(has=asks)
    expect(panel).to_contain_text("Saved copy. Run the cell to continue.")
    expect(panel.get_by_role("button", name="Check my guess")).to_have_count(0)


def test_the_pages_without_installation_lead_from_the_index_to_lessons_that_play(
    quiet: Page, tmp_path: Path
) -> None:
    subprocess.run([sys.executable, "-m", "docs.lite", str(tmp_path)], cwd=ROOT, check=True)
    quiet.goto((tmp_path / "index.html").as_uri())
    quiet.get_by_role("link", name="A first tool call").click()
    panel = first_panel(quiet)
    expect(panel.get_by_label("Session status")).to_contain_text("Finished")
    panel.get_by_role("slider", name="Time").focus()
    quiet.keyboard.press("Home")
    expect(panel.get_by_role("button", name="Potato#2")).to_have_count(0)
    panel.get_by_role("button", name="Step", exact=True).click()
    expect(panel).to_contain_text("Looking back at call 1")
    quiet.goto((tmp_path / "index.html").as_uri())
    quiet.get_by_role("link", name="Replay, edit, fork").click()
    guess(first_panel(quiet), "keep_months", table="DataFrame#1", first="6", last="8")
    expect(first_panel(quiet)).to_contain_text("The right tool, and 1 of 3 arguments.")
