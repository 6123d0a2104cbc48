"""A session as a picture: the one that its cell keeps, and its graph for Graphviz."""

from __future__ import annotations

from ..drawing.render import svg
from ..lineage import lineage
from ..loop import Cursor
from ..rows.contract import Rows
from .marks import MARK


def picture(rows: Rows) -> str:
    """Return the lineage as SVG."""
    body, end, _ = svg(rows).rpartition("</svg>")
    return f"{body}<!-- {MARK} -->\n{end}\n"


def graph(cursor: Cursor) -> str:
    """Return the lineage in Graphviz's language."""
    return f"// {MARK}\n{lineage(cursor.state).source}"
