"""A notebook as HTML: one page that needs no kernel, and the panels that a book shows.

Nothing of the notebook runs. In the page and in a book the same script draws each saved session.
The replies of a cell with `--predict` are guessed there: its saved session has the answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from ..core.errors import UsageError
from ..core.recorded_data import JsonObject
from ..export.file_marks import write
from ..export.formats import export_text
from ..export.html_page import document, session_element
from ..storage.notebook_files import MIME, damage_refused, joined_text, notebook_cells
from ..view.previews import markdown_html

LESSON = "lesson"
"""How `jupyter toolcall export --to` names the page of a whole notebook."""
_TITLE = re.compile(r"^# (.+)", re.MULTILINE)
_FOLDED = "<details><summary>Show the output</summary>\n{}\n</details>"


def session_html(data: JsonObject) -> str:
    """Return the HTML element of the saved session in an output's data."""
    saved = {name: data[MIME][name] for name in ("rows", "version")}
    picture, text = (joined_text(data.get(mime, "")) for mime in ("image/svg+xml", "text/plain"))
    return session_element(saved, picture, text)


def lesson_page(cells: Sequence[Mapping[str, object]], name: str) -> str:
    """Return the page of a notebook; its title is the first heading, else `name`.

    Raises UsageError where Markdown cannot be read here.
    """
    sources = (joined_text(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    head = _TITLE.search("\n".join(sources))
    title = head[1] if head else name
    return document(title, "", "\n".join(part for cell in cells for part in _cell_parts(cell)))


def export_lesson(path: Path, output: Path | None, force: bool) -> Path:
    """Write the page of a notebook, beside it without `output`; return the path of the page.

    Raises ToolcallError for a file that is no notebook or was changed, and for a page that is
    there and that no export wrote.
    """
    at = output or path.with_suffix(".html")
    with damage_refused():
        text = lesson_page(notebook_cells(path), path.stem)
    write(at, export_text(text), force)
    return at


def _cell_parts(cell: JsonObject) -> Iterator[str]:
    source = joined_text(cell["source"])
    if cell["cell_type"] == "markdown":
        yield _markdown(source)
    elif cell["cell_type"] == "code":
        yield f'<pre class="code" tabindex="0">{escape(source)}</pre>'
        outputs = "\n".join(map(_output_html, cell.get("outputs", ())))
        # The learner thinks before the output is shown, as in the notebook.
        is_hidden = cell.get("metadata", {}).get("jupyter", {}).get("outputs_hidden")
        yield _FOLDED.format(outputs) if is_hidden and outputs else outputs


def _output_html(output: JsonObject) -> str:
    """Return an output as HTML: a session, Markdown, a picture, or its text."""
    data = output.get("data", {})
    if MIME in data:
        return session_html(data)
    if "text/markdown" in data:
        return _markdown(joined_text(data["text/markdown"]))
    if "image/png" in data:
        png = escape("".join(joined_text(data["image/png"]).split()))
        return f'<img alt="" src="data:image/png;base64,{png}">'
    error = f"{output.get('ename')}: {output.get('evalue')}" if "ename" in output else ""
    text = joined_text(output.get("text", "")) or joined_text(data.get("text/plain", "")) or error
    return f'<pre class="output" tabindex="0">{escape(text)}</pre>' if text else ""


def _markdown(text: str) -> str:
    html = markdown_html(text)
    if text.strip() and not html:
        raise UsageError("a page of a notebook needs a package: pip install mistune")
    return f'<section class="text">\n{html}</section>'
