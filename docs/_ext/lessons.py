"""The lessons in the site: taken from notebooks/ at build time, with links to pages of the site."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

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


def lesson(path: Path) -> Any:
    """Return a lesson whose links lead to pages of the site."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = _TO_FILE.sub(_linked_file, "".join(cell["source"]))
    return notebook


def _linked_file(link: re.Match[str]) -> str:
    """Return a link as it leads from a page: to a page of docs/, or to a file to download."""
    if link[1].startswith("../docs/"):
        return f"]({link[1].replace('docs/', '', 1)})"
    isfile = (FOLDER / link[1]).is_file() and not link[1].endswith(".ipynb")
    return f"](../../notebooks/{link[1]})" if isfile else link[0]


def copy_lessons(app: Any, config: Any) -> None:
    """Write the lessons into the source folder, where git ignores them."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        _write(DOCS / "tutorials" / path.name, json.dumps(lesson(path)) + "\n")


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


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", copy_lessons)
    app.connect("source-read", link_to_pages)
    app.connect("doctree-read", wrap_long_lines)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
