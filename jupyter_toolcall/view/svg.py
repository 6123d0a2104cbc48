"""A session as a picture, for readers without us: the drawing of its rows as SVG.

The shapes and places are those of the panel. It carries its own white ground, colours and icons,
needs no script, font or style sheet, and so reads the same on a light page and on a dark one.
Every length is in pixels, and all text is escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Final

from ..core.text import aligned_lines, visible_text
from .contract import Rows
from .contract_rows import ObjectRow, Preview
from .graph import BOLD, MONO, with_graph
from .graph_geometry import LABEL, SMALL, text_width
from .graph_rows import GraphEdge, GraphNode, GraphRow
from .text_summary import last_lines, summary_line

INK, MUTED, LINE, PALE, FILL = "#1f1f1f", "#5c5c5c", "#8a8a8a", "#d0d0d0", "#f4f4f4"
DASHES = "4 3"
WASH = "#e3f0fd"
"""The ground of a call that waits."""
STATE_INKS = {"failed": "#b3261e", "waits": "#0b5cad"}
"""The ink of calls that are not as others."""
SANS = "-apple-system,Segoe UI,Helvetica,Arial,sans-serif"
MONO_FONT = "Menlo,Consolas,monospace"
CONTENTS = 40_000
"""Bytes of what stands in boxes, in all: the newest objects have theirs."""
LEAST_WIDTH, LETTER = 640, 6.1
"""Pixels of the picture, and of a letter of the lines below it."""
ACROSS, DOWN = 48, 22
"""From the middle of what stands in a box to its end."""
ROWS, COLUMNS, SIGNS = 4, 3, 17
"""Lines of text in a box, columns of a table, and characters of a line."""
GLYPH = "translate(-17 -18) scale(1.4)"
"""From the units of a glyph to its place in a box."""
SHAPES: Final = json.loads(Path(__file__).with_name("icons.json").read_text(encoding="utf-8"))
"""Icons of 16 units and glyphs of 24, as path data, and the icon of each state of a call: for the
panel and for the saved picture.

`labextension/contract.py` writes them to `src/generated/icons.ts`. No text of a session is in it.
"""
MARKS: Mapping[str, str] = SHAPES["states"]
"""The icons of a call's state; one that ran has none."""
_PATH = re.compile(r"[\sMmLlHhVvCcSsQqTtAaZzeE0-9.,+-]{1,2000}")
_FOREIGN = re.compile("[^\u0000-\u036f\u2000-\u22ff]")
"""Letters that are not Latin, and emoji."""


def svg(rows: Rows) -> str:
    """Return the drawing of a session as an SVG picture."""
    graph = with_graph(rows).graph[0]
    lines = [] if graph.nodes else last_lines(rows)
    width = max(graph.width, LEAST_WIDTH)
    bottom = max(graph.height, 24 + 18 * max(len(lines), 1))
    foot = _foot(rows, graph, width)
    height = bottom + 20 + 16 * len(foot)
    sheet = {"width": width - 1, "height": height - 1, "rx": 4, "fill": "#fff", "stroke": PALE}
    places = ((16, 30 + 18 * n, line) for n, line in enumerate(lines))
    parts = [
        _element("rect", x=0.5, y=0.5, **sheet),
        _element("path", d=f"M.5 {bottom:g}H{width - 0.5:g}", stroke=PALE),
        *(
            _text(16, bottom + 20 + 16 * n, line, MUTED, text_anchor="start")
            for n, line in enumerate(foot)
        ),
        *(_drawn(rows, graph) if graph.nodes else [_code(places, 11, INK)]),
    ]
    size = {"viewBox": f"0 0 {width:g} {height:g}", "width": width, "height": height}
    about = {"role": "img", "aria_label": f"Object lineage: {summary_line(rows)}"}
    texts = {"font_family": SANS, "font_size": 11, "fill": INK, "text_anchor": "middle"}
    strokes = {"stroke_linecap": "round", "stroke_linejoin": "round"}
    style = {"xmlns": "http://www.w3.org/2000/svg", **size, **about, **texts, **strokes}
    return _element("svg", "\n", "\n".join(parts), "\n", **style) + "\n"


def _foot(rows: Rows, graph: GraphRow, width: float) -> list[str]:
    """Return the lines below the drawing: how the session ended, and which branches are grey."""
    letters = int((width - 32) / LETTER)
    text = summary_line(rows, letters)
    if any(node.muted for node in graph.nodes):
        black = [row.name for row in rows.branches if row.current]
        grey = [row.name for row in rows.branches if not (row.current or row.hidden)]
        listed = (", ".join(visible_text(name, 60) for name in names) for names in (black, grey))
        text += " · in black: {}; in grey: {}".format(*listed)
    return wrap(text, letters, max_lines=3, placeholder=" …")


def _drawn(rows: Rows, graph: GraphRow) -> Iterator[str]:
    """Yield the edges, those of other branches first, and the nodes over them."""
    yield from _edges([edge for edge in graph.edges if edge.muted], PALE)
    yield from _edges([edge for edge in graph.edges if not edge.muted], LINE)
    contents = _contents(rows, graph)
    warned = {row.id: row.warning.kind for row in rows.calls if row.warning is not None}
    pills = (_at(n, _pill(n, warned.get(n.row, ""))) for n in graph.nodes if n.kind == "call")
    yield _element("g", *pills, font_family=MONO_FONT, font_size=MONO)
    yield from (_at(n, _box(n, contents.get(n.id, ""))) for n in graph.nodes if n.kind != "call")


def _edges(edges: Sequence[GraphEdge], ink: str) -> Iterator[str]:
    lines = (_element("path", d=edge.path, stroke_dasharray=DASHES * edge.dashed) for edge in edges)
    # A line of no length with round ends is a dot.
    tips = "".join(f"M{edge.tip_x:g},{edge.tip_y:g}h0" for edge in edges)
    dots = _element("path", d=tips, stroke_width=4)
    yield _element("g", *lines, dots, fill="none", stroke=ink, stroke_width=1.3)
    labels = (_text(e.label_x, e.label_y + LABEL / 4, e.label) for e in edges if e.label)
    yield _element("g", *labels, font_size=SMALL, fill=MUTED)


# -- nodes -------------------------------------------------------------------------------------


def _at(node: GraphNode, shapes: Iterable[str]) -> str:
    return _element("g", *shapes, transform=f"translate({node.x:g} {node.y:g})")


def _inks(node: GraphNode) -> tuple[str, str]:
    """Return the ink of a node's shape, and of its text."""
    if node.muted:
        return PALE, MUTED
    own = STATE_INKS.get(node.state) if node.kind == "call" else None
    return own or LINE, own or INK


def _rect(node: GraphNode, fill: str, ink: str) -> str:
    radius = node.height / 2 if node.kind == "call" else 8
    place = {"x": -node.width / 2, "y": -node.height / 2}
    size = {"width": node.width, "height": node.height, "rx": radius}
    dashes = DASHES * node.dashed
    return _element("rect", **place, **size, fill=fill, stroke=ink, stroke_dasharray=dashes)


def _pill(node: GraphNode, warning: str) -> Iterator[str]:
    stroke, ink = _inks(node)
    waits = node.state == "waits" and not node.muted
    yield _rect(node, WASH if waits else "#fff", stroke)
    marks = [MARKS[node.state]] if node.state in MARKS else []
    marks += ["edited"] * node.edited + ["clock"] * node.stale
    for number, mark in enumerate(marks):
        yield _icon(mark, 17 - node.width / 2 + 16 * number, 0, ink)
    yield _fitted(8 * len(marks), 4, node.label, ink, MONO, node.width - 16 - 16 * len(marks))
    if warning and not node.stale:
        yield _icon("warning", node.width / 2 - 2, 2 - node.height / 2, INK, warning)


def _box(node: GraphNode, content: str) -> Iterator[str]:
    stroke, ink = _inks(node)
    is_earlier, room = node.kind == "earlier", node.width - 8
    yield _rect(node, FILL if node.input or is_earlier else "#fff", stroke)
    yield content
    yield _fitted(0, 4 if is_earlier else 18, node.label, ink, BOLD, room)
    yield _fitted(0, 33, node.detail, MUTED, SMALL, room) if node.detail else ""
    if node.flag:
        yield _icon("flag", node.width / 2 - 13, 13 - node.height / 2, ink)
    if node.stale:
        yield _icon("clock", 14 - node.width / 2, 14 - node.height / 2, ink)


def _fitted(x: float, y: float, text: str, ink: str, size: float, room: float) -> str:
    """Return a text around a place, fitted where it might need more than its room."""
    width = text_width(text, size, mono=size == MONO)
    # Letters whose width differs from font to font may be half as wide again as in our table.
    may_overflow = bool(_FOREIGN.search(text)) and 1.5 * width > room
    fit = {"textLength": f"{width:.0f}", "lengthAdjust": "spacingAndGlyphs"} if may_overflow else {}
    # Pills have the type of code as a group.
    style = {} if size == MONO else {"font_size": size, "font_weight": "600" * (size == BOLD)}
    return _text(x, y, text, ink, **style, **fit)


# -- what stands in a box ------------------------------------------------------------------------


def _contents(rows: Rows, graph: GraphRow) -> dict[str, str]:
    """Return what stands in each box: of the newest objects all of it, as far as there is room."""
    objects = {row.id: row for row in rows.objects}
    boxes = [(objects[node.row], node) for node in graph.nodes if node.row in objects]
    contents, room = dict[str, str](), CONTENTS
    for row, node in sorted(boxes, key=lambda box: -box[0].step):
        content = _content(row, MUTED if node.muted else INK)
        if len(content) <= room:
            room -= len(content)
            contents[node.id] = _element("g", content, transform="translate(0 -17)")
    return contents


def _content(row: ObjectRow, ink: str) -> str:
    """Return what tells of an object in its box: its glyph, its picture, or lines of text."""
    view = row.preview
    glyph = [path for path in view.glyph if _PATH.fullmatch(path)][:24]
    lines = [] if row.role == "pending" else _lines(view)
    if not glyph and view.image.startswith("data:image/"):
        place = {"x": -ACROSS, "y": -DOWN, "width": 2 * ACROSS, "height": 2 * DOWN}
        return _element("image", **place, href=view.image)
    if glyph or not lines:
        name = "next" if row.role == "pending" else "object"
        return _strokes(glyph or SHAPES["glyphs"][name], GLYPH, ink, 1.3)
    # Short texts are larger.
    size = 11 if len(lines) < ROWS and max(map(len, lines)) <= 14 else 9
    top = size * (0.35 - 1.25 * (len(lines) - 1) / 2)
    places = ((-ACROSS, top + 1.25 * size * n, line) for n, line in enumerate(lines))
    return _code(places, size, ink)


def _lines(view: Preview) -> list[str]:
    """Return the first rows of a table, or the fields or the text of an object, as short lines."""
    if view.columns:
        wide = SIGNS // min(len(view.columns), COLUMNS) - 2
        table = [view.columns, *view.cells][:ROWS]
        shown = [[visible_text(cell, wide) for cell in row[:COLUMNS]] for row in table]
        return aligned_lines(shown, range(COLUMNS))
    fields = [] if view.html else [visible_text(f"{n} {v}") for n, v in view.fields[:ROWS]]
    if len(fields) > 1:
        return [visible_text(line, SIGNS) for line in fields]
    text = fields[0] if fields else visible_text(view.text)
    if re.match(r"<[\w.]+ object at 0x", text):
        return []
    # A line may end after such a sign, too. A long word is cut.
    words = re.sub(r"([,;:=(])(?=\S)", r"\1 ", text)
    lines = wrap(words, SIGNS, break_long_words=False, max_lines=ROWS, placeholder="…")
    return [visible_text(line, SIGNS) for line in lines]


def _code(texts: Iterable[tuple[float, float, str]], size: float, ink: str) -> str:
    """Return texts at places in the type of code: in a group, since its names are long."""
    parts = (_text(x, y, text) for x, y, text in texts)
    style = {"font_family": MONO_FONT, "font_size": size, "fill": ink, "xml:space": "preserve"}
    return _element("g", *parts, text_anchor="start", **style)


# -- elements ------------------------------------------------------------------------------------


def _icon(name: str, x: float, y: float, ink: str, title: str = "") -> str:
    """Return an icon around a place, 14 pixels wide."""
    at = f"translate({x - 7:g} {y - 7:g}) scale(.875)"
    titles = [_element("title", escape(title))] if title else []
    return _strokes(SHAPES["icons"][name], at, ink, 1.5, *titles)


def _strokes(paths: Iterable[str], transform: str, ink: str, width: float, *titles: str) -> str:
    strokes = (_element("path", d=path) for path in paths)
    style = {"fill": "none", "stroke": ink, "stroke_width": width}
    return _element("g", *titles, *strokes, transform=transform, **style)


def _text(x: float, y: float, text: str, ink: str = "", **style: object) -> str:
    """Return a line of text at a place, escaped; the picture has it centred, and in our ink."""
    return _element("text", escape(text), x=x or "", y=y, **style, fill="" if ink == INK else ink)


def _element(name: str, *content: str, **attributes: object) -> str:
    """Return an element of this markup, with those of the attributes that are not empty."""
    values = {
        key.replace("_", "-"): f"{value:g}" if isinstance(value, (int, float)) else str(value)
        for key, value in attributes.items()
        if value != ""
    }
    pairs = "".join(f' {key}="{escape(value)}"' for key, value in values.items())
    return f"<{name}{pairs}>{''.join(content)}</{name}>" if content else f"<{name}{pairs}/>"
