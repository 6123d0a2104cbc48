"""Lessons as pages that need no installation and no kernel: `make lite` writes them.

In Pyodide the package cannot be installed (docs/front_ends.md says why). So each page plays the
recorded sessions in the panel. Lesson 07 is executed here: the reader guesses the calls of its
first session.

python -m docs.lite FOLDER
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_toolcall.export.formats import export_text
from jupyter_toolcall.storage.notebook_files import MIME, execute
from jupyter_toolcall.teaching.lesson_page import lesson_page

LESSONS = ("00_first_call", "07_replay_edit_fork")
GUESSED = "%%toolchat -n seattle -m"
"""How the cell begins whose calls the reader guesses."""
SITE = "https://jupyter-toolcall.github.io/jupyter-toolcall"
INDEX = """\
# Tool calling, without installing anything

These lessons play recorded sessions. Nothing runs, and no key is needed.

- [A first tool call](00_first_call.html): click through the calls, the graph and the messages.
- [Replay, edit, fork](07_replay_edit_fork.html): guess each call before you see it.

To run them yourself, [install jupyter-toolcall]({site}).
"""
_TO_LESSON = re.compile(r"\]\((\w+)\.ipynb")
_TO_DOCS = re.compile(r"\]\(\.\./docs/([\w/-]+)\.md")


def lesson_cells(name: str) -> list[dict[str, Any]]:
    """Return the cells of a lesson, with links that lead somewhere from its page."""
    path = Path(__file__).parents[1] / "notebooks" / f"{name}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    guessed = [cell for cell in notebook["cells"] if "".join(cell["source"]).startswith(GUESSED)]
    for cell in guessed:
        cell["source"] = "".join(cell["source"]).replace("%%toolchat", "%%toolchat --predict", 1)
    cells: list[dict[str, Any]] = executed(notebook) if guessed else notebook["cells"]
    for cell in cells:
        source = _TO_LESSON.sub(_page_of_lesson, "".join(cell["source"]))
        cell["source"] = _TO_DOCS.sub(rf"]({SITE}/\1.html", source)
    return cells


def executed(notebook: Any) -> list[dict[str, Any]]:
    """Return the cells of a notebook that was executed, without what they printed beside panels."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "lesson.ipynb")
        path.write_text(json.dumps(notebook), encoding="utf-8")
        cells: list[dict[str, Any]] = execute(path).notebook.cells
    for cell in cells:
        outputs = cell.get("outputs", ())
        if any(MIME in output.get("data", {}) for output in outputs):
            cell["outputs"] = [output for output in outputs if "data" in output]
    return cells


def _page_of_lesson(link: re.Match[str]) -> str:
    here = "" if link[1] in LESSONS else f"{SITE}/tutorials/"
    return f"]({here}{link[1]}.html"


def main(folder: str) -> None:
    """Write the pages and their index into a folder."""
    at = Path(folder)
    at.mkdir(parents=True, exist_ok=True)
    pages = {name: lesson_cells(name) for name in LESSONS}
    pages["index"] = [{"cell_type": "markdown", "source": INDEX.format(site=SITE)}]
    for name, cells in pages.items():
        text = export_text(lesson_page(cells, name))
        (at / f"{name}.html").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
