"""An extension of Sphinx: the notebooks of a book show their saved sessions as panels.

In the book's `conf.py`, with myst-nb:

    extensions = ["myst_nb", "jupyter_toolcall.teaching.sphinx_extension"]
    nb_execution_mode = "off"
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from ..export.html_page import STATIC
from ..storage.notebook_files import MIME
from .lesson_page import session_html

OURS = "application/vnd.jupyter-toolcall."
"""How the types of our own data begin: JupyterLab alone reads them."""
SCRIPT, STYLE = "toolcall_page.js", "toolcall_page.css"
# An id beats the long selectors by which themes set lists and tables.
RULES = ":is(#toolcall, .toolcall-session) {{ {} }}\n{}"


def with_panels(source: str) -> str:
    """Return a notebook, as JSON, in which each saved session is the element of its panel."""
    if OURS not in source:
        return source
    notebook = json.loads(source)
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if MIME in data:
                data["text/html"] = session_html(data)
            for mime in [mime for mime in data if mime.startswith(OURS)]:
                del data[mime]
    return json.dumps(notebook)


def read_notebook(app: Any, docname: str, source: list[str]) -> None:
    """Put the panels into a notebook that Sphinx has read."""
    if str(app.env.doc2path(docname)).endswith(".ipynb"):
        source[0] = with_panels(source[0])


def copy_panel(app: Any) -> None:
    """Write the panel's script and style beside the static files of the book."""
    static = Path(app.outdir, "_static")
    static.mkdir(parents=True, exist_ok=True)
    shutil.copy(STATIC / "page.js", static / SCRIPT)
    panel = (STATIC / "widget.css").read_text(encoding="utf-8")
    theme = Path(__file__).with_name("book.css").read_text(encoding="utf-8")
    (static / STYLE).write_text(RULES.format(panel, theme), encoding="utf-8")


def load_panel(app: Any, pagename: str, template: str, context: Any, doctree: Any) -> None:
    """Load the panel's script and style in the pages that have a session."""
    if "toolcall-rows" in context.get("body", ""):
        app.add_css_file(STYLE)
        app.add_js_file(SCRIPT, loading_method="defer")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", copy_panel)
    app.connect("source-read", read_notebook)
    app.connect("html-page-context", load_panel)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
