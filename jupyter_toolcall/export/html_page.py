"""A page with sessions: the panel's own view, with its rows in the page, and no network.

The page's policy lets nothing run but the one script, and nothing load. Without a script a
picture and the text stand there.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from html import escape
from pathlib import Path

from ..core.errors import UsageError
from ..core.json_data import changed_fields
from ..core.text import count_text
from ..view.contract import VERSION
from ..view.contract_rows import SessionRow
from ..view.graph import PAGES, with_graph
from ..view.saved_output import row_texts
from ..view.svg import svg
from ..view.text_summary import session_text
from .file_marks import MARK
from .live_session import ExportedSession

STATIC = Path(__file__).parent.parent / "static"
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="{mark}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{header}<main>
{body}
</main>
<footer>Tool calls as they were recorded. Nothing runs here. jupyter-toolcall</footer>
<script>{script}</script>
</body>
</html>
"""
POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
"""What a browser lets the page do: it runs its one script, and loads nothing."""
SESSION = """\
<div class="toolcall-session">
<div></div>
<div class="still">
{svg}
<pre>{text}</pre>
</div>
<script type="application/json" class="toolcall-rows">{rows}</script>
</div>"""


def page(session: ExportedSession) -> str:
    """Return a session as a page. Raises UsageError where the view was not built."""
    # The first drawing is that of the picture, too.
    rows = with_graph(session.rows, PAGES)
    saved = {"rows": row_texts(changed_fields(rows)), "version": VERSION}
    title, about = escape(session.title), escape(" · ".join(_about(session)))
    header = f"<header>\n<h1>{title}</h1>\n<p>{about}</p>\n</header>\n"
    body = session_element(saved, svg(rows), session_text(rows))
    return document(session.title, header, body)


def document(title: str, header: str, body: str) -> str:
    """Return a page whose script draws the sessions in `body`; header and body are HTML.

    Raises UsageError where the view was not built.
    """
    script, style = _static("page.js"), _static("widget.css") + _static("page.css")
    policy = POLICY.format(script=_digest(script), style=_digest(style))
    parts = {"header": header, "body": body, "style": style, "script": script}
    return PAGE.format(title=escape(title), policy=policy, mark=MARK, **parts)


def session_element(saved: object, picture: str, text: str) -> str:
    """Return the HTML element in which `page.js` draws a session.

    Args:
        saved: The `rows` and their `version`, as a notebook's output has them. With `offered`,
            the tools of each request by the id of its reply, the reader guesses the replies.
        picture: The session as SVG, which stands there where no script runs.
        text: The session as text, below the picture.
    """
    return SESSION.format(svg=picture, text=escape(text), rows=_inert(saved))


def _static(name: str) -> str:
    """Return a built file, as it can stand in a page."""
    try:
        text = (STATIC / name).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise UsageError(
            f"the page's view is not built ({name}): npm --prefix labextension run build:prod"
        ) from None
    # What would end the element cannot stand in it; in JavaScript and CSS this says the same.
    return text.replace("</script", "<\\/script").replace("</style", "<\\/style")


def _digest(text: str) -> str:
    sha256 = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(sha256).decode()}'"


def _inert(data: object) -> str:
    """Return data as JSON in which nothing is markup, whatever it holds."""
    # ASCII, so that no separator of lines and no half of a character is in it either.
    plain = json.dumps(data)
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _about(session: ExportedSession) -> Iterator[str]:
    row, state = next(iter(session.rows.session), SessionRow()), session.cursor.state
    model, name = row.model or state.opened.model, getattr(session.cursor.context.model, "name", "")
    # The identity of a script is its name and a digest: the name says enough to a reader.
    model = name if not model or model.startswith(f"{name}:") else model
    yield from [f"model {model}"] if model else []
    yield f"scheme {state.opened.scheme}"
    yield count_text(len(state.order), "call")
    yield from [f"session {session.name}"] if session.name else []
