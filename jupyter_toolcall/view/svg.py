"""A session as a picture, for readers without us: the drawing of its rows as SVG.

The shapes and places are those of the panel. It carries its own white ground, colours and icons,
needs no script, font or style sheet, and so reads the same on a light page and on a dark one. All
text in it is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from textwrap import wrap

from ..core.text import visible_text
from .contract import Rows
from .graph import BOLD, MONO, with_graph
from .graph_geometry import LABEL, SMALL, text_width
from .graph_rows import GraphNode, GraphRow
from .svg_shapes import (
    BAD,
    FILL,
    INK,
    LINE,
    MONO_FONT,
    MUTED,
    PALE,
    SANS,
    SHAPES,
    WAITS,
    WASH,
    icon,
    line_of_text,
    tile_content,
)
from .text_summary import last_lines, summary_line

CONTENTS = 40_000
"""Bytes of what stands in boxes, in all: the newest objects have theirs."""
LEAST_WIDTH, LETTER = 640, 6.1
"""Pixels of the picture, and of a letter of the lines below it."""
MARKS: Mapping[str, str] = SHAPES["states"]
"""The icons of a call's state; one that ran has none."""
_FOREIGN = re.compile("[^\u0000-\u036f\u2000-\u22ff]")
"""Letters that are not Latin, and emoji."""


def svg(rows: Rows) -> str:
    """Return the drawing of a session as an SVG picture."""
    graph = with_graph(rows).graph[0]
    lines = [] if graph.nodes and not graph.error else last_lines(rows)
    width = max(graph.width, LEAST_WIDTH)
    bottom = max(graph.height, 24 + 18 * max(len(lines), 1))
    foot = _foot(rows, graph, width)
    height = bottom + 20 + 16 * len(foot)
    parts = [
        f'<rect x=".5" y=".5" width="{width - 1:g}" height="{height - 1:g}" rx="4" '
        f'fill="#fff" stroke="{PALE}"/>',
        f'<path d="M.5 {bottom:g}H{width - 0.5:g}" stroke="{PALE}"/>',
        *(line_of_text(16, bottom + 20 + 16 * n, line, MUTED) for n, line in enumerate(foot)),
        *_drawn(rows, graph),
        *(line_of_text(16, 30 + 18 * n, line, mono=True) for n, line in enumerate(lines)),
    ]
    label = escape(f"Object lineage: {summary_line(rows)}", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-label="{label}" '
        f'font-family="{SANS}" font-size="11" fill="{INK}" text-anchor="middle" '
        f'stroke-linecap="round" stroke-linejoin="round">\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _foot(rows: Rows, graph: GraphRow, width: float) -> list[str]:
    """Return the lines below the drawing: how the session ended, and which branches are grey."""
    letters = int((width - 32) / LETTER)
    text = summary_line(rows, letters)
    if any(node.muted for node in graph.nodes):
        names = [visible_text(row.name, 60) for row in rows.branches if not row.hidden]
        now = next((visible_text(row.name, 60) for row in rows.branches if row.current), "")
        text += f" · in black: {now}; in grey: {', '.join(name for name in names if name != now)}"
    return [*wrap(text, letters, max_lines=3, placeholder=" …")] or [""]


def _drawn(rows: Rows, graph: GraphRow) -> Iterator[str]:
    """Return the edges, those of other branches first, and the nodes over them."""
    for ink, muted in ((PALE, True), (LINE, False)):
        edges = [edge for edge in graph.edges if edge.muted == muted]
        yield f'<g fill="none" stroke="{ink}" stroke-width="1.3">'
        yield from (f'<path d="{escape(e.path)}"{_dashes(e.dashed)}/>' for e in edges)
        # A line of no length with round ends is a dot.
        tips = "".join(f"M{edge.tip_x:g},{edge.tip_y:g}h0" for edge in edges)
        yield f'<path d="{tips}" stroke-width="4"/></g><g font-size="{SMALL}" fill="{MUTED}">'
        for edge in [edge for edge in edges if edge.label]:
            place = f'x="{edge.label_x:g}" y="{edge.label_y + LABEL / 4:g}"'
            yield f"<text {place}>{escape(edge.label)}</text>"
        yield "</g>"
    contents = _contents(rows, graph)
    warned = {row.id: row.warning.kind for row in rows.calls if row.warning is not None}
    yield f'<g font-family="{MONO_FONT}" font-size="{MONO}">'
    yield from (_at(n, _pill(n, warned.get(n.row, ""))) for n in graph.nodes if n.kind == "call")
    yield "</g>"
    yield from (_at(n, _box(n, contents)) for n in graph.nodes if n.kind != "call")


def _at(node: GraphNode, shape: Iterator[str]) -> str:
    return f'<g transform="translate({node.x:g} {node.y:g})">{"".join(shape)}</g>'


def _dashes(dashed: bool) -> str:
    return ' stroke-dasharray="4 3"' if dashed else ""


def _text(x: float, y: float, text: str, ink: str, size: float, room: float) -> str:
    """Return a text around a place, fitted where it might need more than its room."""
    width = text_width(text, size, size == MONO)
    # Letters whose width differs from font to font may be half as wide again as in our table.
    fitted = width if _FOREIGN.search(text) and 1.5 * width > room else 0.0
    # Pills have the type of code as a group.
    shown, bold = 11 if size == MONO else size, size == BOLD
    return line_of_text(x, y, text, ink, centred=True, size=shown, bold=bold, room=fitted)


# -- nodes -------------------------------------------------------------------------------------


def _rect(node: GraphNode, radius: float, fill: str, ink: str) -> str:
    left, top = -node.width / 2, -node.height / 2
    size = f'width="{node.width:g}" height="{node.height:g}" rx="{radius:g}"'
    dashes = _dashes(node.dashed)
    return f'<rect x="{left:g}" y="{top:g}" {size} fill="{fill}" stroke="{ink}"{dashes}/>'


def _ink(node: GraphNode) -> tuple[str, str]:
    """Return the ink of a node's shape, and of its text."""
    if node.muted:
        return PALE, MUTED
    match node.state:
        case "failed":
            return BAD, BAD
        case "waits":
            return WAITS, WAITS
    return LINE, INK


def _pill(node: GraphNode, warning: str) -> Iterator[str]:
    stroke, ink = _ink(node)
    waits = node.state == "waits" and not node.muted
    yield _rect(node, node.height / 2, WASH if waits else "#fff", stroke)
    marks = [MARKS[node.state]] if node.state in MARKS else []
    marks += ["edited"] * node.edited + ["clock"] * node.stale
    for number, mark in enumerate(marks):
        yield icon(mark, 17 - node.width / 2 + 16 * number, 0, ink)
    yield _text(8 * len(marks), 4, node.label, ink, MONO, node.width - 16 - 16 * len(marks))
    if warning and not node.stale:
        yield icon("warning", node.width / 2 - 2, 2 - node.height / 2, INK, warning)


def _box(node: GraphNode, contents: dict[str, str]) -> Iterator[str]:
    if node.kind == "earlier":
        yield _rect(node, 8, FILL, LINE)
        yield _text(0, 4, node.label, INK, BOLD, node.width - 8)
        return
    stroke, ink = (PALE, MUTED) if node.muted else (LINE, INK)
    yield _rect(node, 8, FILL if node.input else "#fff", stroke)
    yield contents.get(node.id, "")
    yield _text(0, 18, node.label, ink, BOLD, node.width - 8)
    yield _text(0, 33, node.detail, MUTED, SMALL, node.width - 8) if node.detail else ""
    if node.flag:
        yield icon("flag", node.width / 2 - 13, 13 - node.height / 2, ink)
    if node.stale:
        yield icon("clock", 14 - node.width / 2, 14 - node.height / 2, ink)


def _contents(rows: Rows, graph: GraphRow) -> dict[str, str]:
    """Return what stands in each box: of the newest objects all of it, as far as there is room."""
    objects = {row.id: row for row in rows.objects}
    boxes = [(objects[node.row], node) for node in graph.nodes if node.row in objects]
    contents, room = dict[str, str](), CONTENTS
    for row, node in sorted(boxes, key=lambda box: -box[0].step):
        content = tile_content(row, MUTED if node.muted else INK)
        content = content if len(content) <= room else ""
        room -= len(content)
        contents[node.id] = f'<g transform="translate(0 -17)">{content}</g>'
    return contents
