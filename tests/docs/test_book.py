"""A teacher's own book: with the extension named in `conf.py`, its lessons have live panels."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from jupyter_toolcall.cli import main

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.e2e, pytest.mark.long]
CONF = """\
project = "My course"
extensions = ["myst_nb", "jupyter_toolcall.teaching.sphinx_extension"]
nb_execution_mode = "off"
nb_ipywidgets_js = {}
html_theme = "furo"
"""
INDEX = """\
# My course

```{toctree}
07_replay_edit_fork
about
```
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book with one lesson, built as many do in CI: a warning is an error."""
    folder = tmp_path_factory.mktemp("book")
    (folder / "conf.py").write_text(CONF)
    (folder / "index.md").write_text(INDEX)
    (folder / "about.md").write_text("# About\n\nNo session.\n")
    lesson = (ROOT / "notebooks" / "07_replay_edit_fork.ipynb").read_text()
    # The book does not have the lesson to which this one leads.
    lesson = lesson.replace("](08_graphql.ipynb)", "](about.md)")
    lesson = lesson.replace("%%toolchat -n seattle -m", "%%toolchat --predict -n seattle -m")
    notebook, site = folder / "07_replay_edit_fork.ipynb", folder / "site"
    notebook.write_text(lesson)
    # The kernel saves what counts as a right guess.
    assert main(["run", "--trust", str(notebook), "--output", str(notebook)]) == 0
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", str(folder), str(site)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(folder / "site" / ".doctrees")
    return site


def test_a_lesson_of_a_book_has_live_panels_with_guesses_and_other_pages_load_nothing(
    browser: Browser, book: Path
) -> None:
    page = browser.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((book / "07_replay_edit_fork.html").as_uri())
    panels = page.get_by_role("region", name="Tool calls")
    expect(panels).to_have_count(5)
    expect(panels.first.get_by_text("What will the model call next?")).to_be_visible()
    panels.first.get_by_role("button", name="Show the call").click()
    expect(panels.first).to_contain_text("Skipped: it called keep_months.")
    panels.last.get_by_role("tab", name="Messages").click()
    expect(panels.last.get_by_role("tabpanel", name="Messages")).to_contain_text("Which year")
    assert page.locator("script[src*='toolcall_page.js']").count() == 1
    background = "e => getComputedStyle(e).backgroundColor"
    assert page.locator(".tc").first.evaluate(background) == page.locator("body").evaluate(
        background
    )
    assert complaints == []
    page.goto((book / "about.html").as_uri())
    assert page.locator("script[src*='toolcall_page.js']").count() == 0
    page.close()
