"""The formats of an export, and writing one: the table `FORMATS` has a row for each."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import UsageError, checked_path
from ..core.secrets import hiding
from ..core.text import nearest
from ..tools.plain_data import well_formed
from ..view.contract import Rows
from ..view.session_graph import session_graph
from ..view.svg import svg
from .file_marks import MARK, marked, write
from .html_page import page
from .json_document import as_json, messages
from .live_session import ExportedSession
from .python_script import notebook, script_text


def picture(rows: Rows) -> str:
    """Return the lineage as SVG."""
    body, end, _ = svg(rows).rpartition("</svg>")
    return f"{body}<!-- {MARK} -->\n{end}\n"


def graph(session: ExportedSession) -> str:
    """Return the objects and calls in the DOT language."""
    return f"// {MARK}\n{session_graph(session.cursor, session.rows).source}"


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the endings of its files, what it is in a few words, and what writes it."""

    name: str
    endings: tuple[str, ...]
    what: str
    text: Callable[[ExportedSession], str]


_ROWS = (
    Format(
        "py", (".py",), "a plain script, one statement a call", lambda t: script_text(t.script())
    ),
    Format(
        "ipynb",
        (".ipynb",),
        "a plain notebook, one cell a call",
        lambda t: notebook(t.script(awaits=True)),
    ),
    Format("html", (".html", ".htm"), "one page to click through, offline", page),
    Format("dot", (".dot", ".gv"), "the graph, for Graphviz", graph),
    Format("svg", (".svg",), "the picture that the cell keeps", lambda t: picture(t.rows)),
    Format("json", (".json",), "all of it as data", lambda t: as_json(t.cursor, t.name)),
    Format(
        "messages",
        (".messages.json",),
        "each request and reply, as the model saw them",
        lambda t: messages(t.cursor, t.exact),
    ),
)
FORMATS = {row.name: row for row in _ROWS}
"""The formats by name; add a row for another one."""


def format_named(path: Path, to: str | None) -> Format:
    """Return a format, by its name or by the ending of a file. Raises UsageError."""
    names = ", ".join(FORMATS)
    if to is not None:
        if to not in [*FORMATS]:
            raise UsageError(f"no format {to!r:.60}; there are {names}.{nearest(to, FORMATS)}")
        return FORMATS[to]
    name = path.name.lower()
    fitting = [(end, row) for row in FORMATS.values() for end in row.endings if name.endswith(end)]
    if not fitting:
        ending = f"ends in {path.suffix}" if path.suffix else "has no ending"
        raise UsageError(f"{path} {ending}, which names no format; say to= (--to) one of {names}")
    return max(fitting, key=lambda pair: len(pair[0]))[1]


def file_stem(source: str, session: str) -> str:
    """Return the name, without its ending, of the file of one session of a notebook or journal."""
    return re.sub(r"[^\w. -]+", "_", f"{source}-{session}".strip("-"))


def text(session: ExportedSession, to: str) -> str:
    """Return a session in a format, without secrets. Raises UsageError for an unknown format."""
    return export_text(format_named(Path(), to).text(session))


def export_text(text: str) -> str:
    """Return a text as the file of an export holds it: without secrets, with its mark."""
    # A file may hold half a character, for which UTF-8 has no bytes.
    return marked(well_formed(str(hiding(os.environ)(text))))


def export(
    session: ExportedSession, path: str | Path, to: str | None = None, force: bool = False
) -> Path:
    """Write a session to a file, and return its path.

    A file that is there is overwritten where an export made it and nobody changed it since,
    or with `force`. Raises UsageError.
    """
    at = checked_path(path).expanduser()
    write(at, text(session, format_named(at, to).name), force)
    return at
