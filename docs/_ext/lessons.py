"""The lessons in the site: taken from notebooks/ at build time, each session with its panel.

A page shows a saved session as an exported page does: the panel's own script draws its rows, and
without the script the picture and the text stand there. The script is loaded once a page.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat

from jupyter_toolcall.export.html_page import STATIC, session_element
from jupyter_toolcall.storage.notebook_files import MIME

FOLDER = Path(__file__).parents[2] / "notebooks"
DOCS = Path(__file__).parents[1]
_TO_LESSON = re.compile(r"\]\((?:\.\./)+notebooks/(\w+\.ipynb)(#[^)]*)?\)")
"""A link from a page of docs/ to a lesson, as it leads there on a code host."""
_TO_ROOT = re.compile(r"\]\((?:\.\./)+([A-Z]+\.md)(#[^)]*)?\)")
"""A link to a page beside docs/."""
ROOT_PAGES = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
}
"""The page of the site with the same text."""
WIDEST_LINE = 105
"""How many characters a line of an output has before it is wrapped."""
_TO_FILE = re.compile(r"\]\(([\w/.-]+)\)")


def lesson_page(path: Path) -> Any:
    """Return a lesson as a notebook in which each saved session is its panel's HTML element."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _TO_FILE.sub(_linked_file, cell.source)
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if MIME in data:
                output["data"] = {"text/html": _panel(data)}
            # Data of ours for JupyterLab: the same is there as text for everybody else.
            for mime in [mime for mime in data if mime.startswith("application/vnd.jupyter-too")]:
                del data[mime]
    return notebook


def _linked_file(link: re.Match[str]) -> str:
    """Return a link as it leads from a page: to a page of docs/, or to a file to download."""
    if link[1].startswith("../docs/"):
        return f"]({link[1].replace('docs/', '', 1)})"
    isfile = (FOLDER / link[1]).is_file() and not link[1].endswith(".ipynb")
    return f"](../../notebooks/{link[1]})" if isfile else link[0]


def _panel(data: Any) -> str:
    """Return the element of a saved session."""
    saved = {name: data[MIME][name] for name in ("rows", "version")}
    return session_element(saved, data.get("image/svg+xml", ""), data.get("text/plain", ""))


def copy_lessons(app: Any, config: Any) -> None:
    """Write the lessons, and the panel's style, into the source folder, where git ignores them."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        _write(DOCS / "tutorials" / path.name, nbformat.writes(lesson_page(path)) + "\n")
    # The theme sets lists and tables by long selectors; inside the id the panel's own rules win.
    style = (STATIC / "widget.css").read_text(encoding="utf-8")
    _write(DOCS / "_static" / "panel.css", f"#furo-main-content {{ {style} }}\n")


def _write(path: Path, text: str) -> None:
    """Write a file if it changes: a page that has not changed is not built again."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def link_to_pages(app: Any, docname: str, source: list[str]) -> None:
    """Let links to notebooks/ and to the pages beside docs/ lead to pages of the site."""
    up = "../" * docname.count("/")
    text = _TO_LESSON.sub(lambda link: f"]({up}tutorials/{link[1]}{link[2] or ''})", source[0])
    source[0] = _TO_ROOT.sub(
        lambda link: (
            f"]({up}{ROOT_PAGES[link[1]]}{link[2] or ''})" if link[1] in ROOT_PAGES else link[0]
        ),
        text,
    )


def wrap_long_lines(app: Any, doctree: Any) -> None:
    """Mark outputs with lines that no screen shows whole: the page wraps them, not tables."""
    from docutils.nodes import literal_block

    for block in doctree.findall(literal_block):
        if max(map(len, block.astext().splitlines()), default=0) > WIDEST_LINE:
            block["classes"].append("long-lines")


def load_panel(app: Any, pagename: str, template: str, context: Any, doctree: Any) -> None:
    """Load the panel's script and style in the pages of lessons."""
    if pagename.startswith("tutorials/"):
        app.add_css_file("panel.css")
        app.add_js_file("page.js", loading_method="defer")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", copy_lessons)
    app.connect("source-read", link_to_pages)
    app.connect("html-page-context", load_panel)
    app.connect("doctree-read", wrap_long_lines)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
