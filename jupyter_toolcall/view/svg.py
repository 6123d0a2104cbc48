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

from ..core.text import printable, short_numbers, visible_text
from .contract import Rows
from .contract_rows import ObjectRow, Preview
from .graph import BOLD, MONO, PAGES, with_graph
from .graph_geometry import LABEL, SMALL, text_width
from .graph_rows import GraphEdge, GraphNode, GraphRow
from .previews import LINES, SIGNS
from .text_summary import last_lines, summary_line, title_line

INK, MUTED, LINE, PALE, FILL = "#1f1f1f", "#5c5c5c", "#6b6b6b", "#949494", "#f4f4f4"
DASHES = "4 3"
WASH = "#e3f0fd"
"""The ground of a call that waits."""
STATE_INKS = {"failed": "#b3261e", "waits": "#0b5cad"}
"""The ink of calls that are not as others."""
SANS = "-apple-system,Segoe UI,Helvetica,Arial,sans-serif"
MONO_FONT = "Menlo,Consolas,monospace"
CONTENTS = 40_000
"""Bytes of what stands in boxes, in all: the newest objects have theirs."""
LEAST_WIDTH, LETTER, TITLE = 640, 6.1, 22
"""Pixels: the picture's width, a letter of the lines below it, and the height of its title."""
MANY = 20
"""Calls from which on the rows are as wide as those of a wide page."""
STACK = 3
"""Pixels between the two boxes of a fold."""
ACROSS, DOWN = 48, 22
"""From the middle of what stands in a box to its end."""
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
    # Many calls in narrow rows would be a picture of many rows.
    is_wide = len(rows.calls) > MANY
    graphs = with_graph(rows, PAGES[-1:] if is_wide else PAGES[:1]).graph
    graph = max(graphs, key=lambda graph: graph.width) if is_wide else graphs[0]
    lines = [] if graph.nodes else last_lines(rows)
    width, bottom = max(graph.width, LEAST_WIDTH), max(graph.height, 24 + 18 * max(len(lines), 1))
    # The title stands above the drawing, at negative heights.
    title, summary = title_line(rows), summary_line(rows)
    foot = wrap(summary, int((width - 32) / LETTER), max_lines=3, placeholder=" …")
    height = TITLE + bottom + 20 + 16 * len(foot)
    sheet = {"width": width - 1, "height": height - 1, "rx": 4, "fill": "#fff", "stroke": PALE}
    listed = ((_text(16, 30 + 18 * n, line), _code(11, INK)) for n, line in enumerate(lines))
    parts = [
        _element("title", escape(f"Object lineage: {title}", quote=False)),
        _element("desc", escape(summary, quote=False)),
        _element("rect", x=0.5, y=0.5 - TITLE, **sheet),
        _text(12, -6, title, text_anchor="start", font_size=BOLD, font_weight="600"),
        _element("path", d=f"M.5 {bottom:g}H{width - 0.5:g}", stroke=PALE),
        *(
            _text(16, bottom + 20 + 16 * n, line, fill=MUTED, text_anchor="start")
            for n, line in enumerate(foot)
        ),
        *(_drawn(rows, graph) if graph.nodes else _grouped(listed)),
    ]
    size = {"viewBox": f"0 {-TITLE} {width:g} {height:g}", "width": width, "height": height}
    about = {"role": "img", "fill": INK}
    texts = {"font_family": SANS, "font_size": 11, "text_anchor": "middle"}
    ends = {"stroke_linecap": "round", "stroke_linejoin": "round"}
    style = {"xmlns": "http://www.w3.org/2000/svg", **size, **about, **texts, **ends}
    return _element("svg", "\n", "\n".join(parts), "\n", **style) + "\n"


def _drawn(rows: Rows, graph: GraphRow) -> Iterator[str]:
    """Yield the edges, those of other branches first, the shapes of the nodes, and what is in them.

    What looks alike is in one group, which names its inks and its type once: it is saved.
    """
    edges = [edge for edge in graph.edges if edge.path]
    yield from _edges([edge for edge in edges if edge.muted], PALE)
    yield from _edges([edge for edge in edges if not edge.muted], LINE)
    contents = _contents(rows, graph)
    warned = {row.id: row.warning.kind for row in rows.calls if row.warning is not None}
    equal = {row.id: row.equals for row in rows.objects if row.equals and not row.branch}
    parts = list[Part]()
    for node in graph.nodes:
        if node.kind == "call":
            parts += _on_pill(node, warned.get(node.row, ""))
        elif node.kind == "branch":
            style = {"font_weight": "600" * (not node.muted), "fill": _inks(node)[1]}
            text = _text(node.x - node.width / 2, node.y + 4, node.label, text_anchor="start")
            parts.append((text, {"font_size": BOLD, **style}))
        else:
            inside = contents.get(node.row, ()) if node.kind == "object" else ()
            parts += (*inside, *_on_box(node, equal.get(node.row, "")))
    for part in ((_shape(node) for node in graph.nodes if node.kind != "branch"), parts):
        yield from _grouped(part)


Part = tuple[str, Mapping[str, object]]
"""An element, and the attributes of its group."""


def _grouped(parts: Iterable[Part]) -> Iterator[str]:
    """Yield a group for each set of attributes."""
    groups = dict[tuple[tuple[str, object], ...], list[str]]()
    for element, style in parts:
        groups.setdefault((*style.items(),), []).append(element)
    yield from (_element("g", *elements, **dict(style)) for style, elements in groups.items())


def _edges(edges: Sequence[GraphEdge], ink: str) -> Iterator[str]:
    lines = {dashes: [e.path for e in edges if e.dashed == bool(dashes)] for dashes in ("", DASHES)}
    # A line of no length with round ends is a dot.
    tips = "".join(f"{re.split('[ch]', edge.path)[0]}h0" for edge in edges)
    drawn = (_element("path", d="".join(d), stroke_dasharray=key) for key, d in lines.items() if d)
    dots = _element("path", d=tips, stroke_width=4)
    yield _element("g", *drawn, dots, fill="none", stroke=ink, stroke_width=1.3)
    labels = (_text(e.label_x, e.label_y + LABEL / 4, e.label) for e in edges if e.label)
    cover = {"stroke": "#fff", "stroke_width": 8, "paint_order": "stroke"}
    yield _element("g", *labels, font_size=SMALL, fill=MUTED, **cover)


# -- nodes -------------------------------------------------------------------------------------


def _inks(node: GraphNode) -> tuple[str, str]:
    """Return the ink of a node's shape, and of its text."""
    state_ink = STATE_INKS.get(node.state) if node.kind == "call" else None
    return (PALE, MUTED) if node.muted else (state_ink or LINE, state_ink or INK)


def _shape(node: GraphNode) -> Part:
    is_call = node.kind == "call"
    waits = is_call and node.state == "waits" and not node.muted
    is_pale = node.input or node.kind in ("fold", "reference")
    fill = FILL if is_pale else WASH if waits else "#fff"
    place = {"x": node.x - node.width / 2, "y": node.y - node.height / 2}
    size = {"width": node.width, "height": node.height, "rx": node.height / 2 if is_call else 8}
    style = {"fill": fill, "stroke": _inks(node)[0], "stroke_dasharray": DASHES * node.dashed}
    shape = _element("rect", **place, **size)
    # A fold looks as a stack does.
    behind = _element("g", shape, transform=f"translate({STACK} {-STACK})")
    return behind * (node.kind == "fold") + shape, style


def _on_pill(node: GraphNode, warning: str) -> Iterator[Part]:
    ink = _inks(node)[1]
    marks = [MARKS[node.state]] if node.state in MARKS else []
    marks += ["edited"] * node.edited + ["clock"] * node.stale
    left, up = -node.width / 2, -node.height / 2
    for number, mark in enumerate(marks):
        yield _icon(node, mark, left + 17 + 16 * number, 0, ink)
    room, right = node.width - 16 - 16 * len(marks), 8 * len(marks)
    yield _fitted(node, right, -3 if node.detail else 4, node.label, ink, MONO, room)
    if node.detail:
        yield _fitted(node, right, 12, node.detail, MUTED, SMALL, room)
    if warning and not node.stale:
        yield _icon(node, "warning", -left - 2, up + 2, INK, warning)


def _on_box(node: GraphNode, equals: str) -> Iterator[Part]:
    ink, room = _inks(node)[1], node.width - 8
    right, up = node.width / 2, -node.height / 2
    size = SMALL if node.kind == "reference" else BOLD
    yield _fitted(node, 0, 18 if node.kind == "object" else 4, node.label, ink, size, room)
    if node.detail:
        yield _fitted(node, 0, 33, node.detail, MUTED, SMALL, room)
    if node.flag and not node.is_unsaved_output:
        yield _icon(node, "flag", right - 12, up - 6, ink)
    if equals and node.kind == "object":
        yield _icon(node, "equal", 12 - right, up - 6, ink, f"equal to {equals}")
    if node.stale:
        yield _icon(node, "clock", 14 - right, up + 14, ink)


def _fitted(
    node: GraphNode, x: float, y: float, text: str, ink: str, size: float, room: float
) -> Part:
    """Return a text around a place in a node, fitted where it might need more than its room."""
    width = text_width(text, size, mono=size == MONO)
    # Letters whose width differs from font to font may be half as wide again as in our table.
    may_overflow = bool(_FOREIGN.search(text)) and 1.5 * width > room
    fit = {"textLength": f"{width:.0f}", "lengthAdjust": "spacingAndGlyphs"} if may_overflow else {}
    style = {"font_size": size, "font_weight": "600" * (size == BOLD), "fill": ink}
    style["font_family"] = MONO_FONT * (size == MONO)
    return _text(node.x + x, node.y + y, text, **fit), style


# -- what stands in a box ------------------------------------------------------------------------


def _contents(rows: Rows, graph: GraphRow) -> dict[str, list[Part]]:
    """Return what stands in each box: of the newest objects all of it, as far as there is room."""
    objects = {row.id: row for row in rows.objects}
    boxes = [(objects[n.row], n) for n in graph.nodes if n.kind == "object" and n.row in objects]
    contents, room = dict[str, list[Part]](), CONTENTS
    for row, node in sorted(boxes, key=lambda box: -box[0].step):
        parts = [*_content(row, node)]
        size = sum(len(element) for element, _ in parts)
        if size <= room:
            room -= size
            contents[node.row] = parts
    return contents


def _content(row: ObjectRow, node: GraphNode) -> Iterator[Part]:
    """Yield what tells of an object in its box: its glyph, its picture, or lines of text."""
    view, ink = row.preview, MUTED if node.muted else INK
    x, y = node.x, node.y - 17
    glyph = [path for path in view.glyph if _PATH.fullmatch(path)][:24]
    lines = [] if row.role == "pending" else _lines(view)
    if not glyph and view.image.startswith("data:image/"):
        place = {"x": x - ACROSS, "y": y - DOWN, "width": 2 * ACROSS, "height": 2 * DOWN}
        yield _element("image", **place, href=view.image), {}
    elif glyph or not lines:
        name = {"pending": "next", "output": "flag"}.get(row.role, "object")
        # From the units of a glyph to its place in a box.
        at = f"translate({x - 17:g} {y - 18:g}) scale(1.4)"
        yield _strokes(glyph or SHAPES["glyphs"][name], at, ink, 1.3)
    else:
        # Short texts are larger; a table is as any other table is.
        is_short = len(lines) < LINES and max(map(len, lines)) <= 14
        size = 11 if is_short and not view.lines else 9
        top = y + size * (0.35 - 1.25 * (len(lines) - 1) / 2)
        for number, line in enumerate(lines):
            yield _text(x - ACROSS, top + 1.25 * size * number, line), _code(size, ink)


def _lines(view: Preview) -> list[str]:
    """Return the first rows of a table, or the fields or the text of an object, as short lines."""
    if view.lines:
        # In a forged file there may be more of them, and longer ones.
        return [printable(line)[:SIGNS] for line in (*view.lines[:LINES], view.others) if line]
    fields = [] if view.html else [visible_text(f"{n} {v}") for n, v in view.fields[:LINES]]
    if len(fields) > 1:
        return [short_numbers(line, SIGNS) for line in fields]
    text = fields[0] if fields else visible_text(view.text)
    if re.match(r"<[\w.]+ object at 0x", text):
        return []
    # A line may end after such a sign, too. A long word is cut.
    words = re.sub(r"([,;:=(])(?=\S)", r"\1 ", text)
    lines = wrap(words, SIGNS, break_long_words=False, max_lines=LINES, placeholder="…")
    return [short_numbers(line, SIGNS) for line in lines]


def _code(size: float, ink: str) -> dict[str, object]:
    """Return the attributes of lines of text in the type of code."""
    style = {"font_family": MONO_FONT, "font_size": size, "text_anchor": "start"}
    return {**style, "fill": ink}


# -- elements ------------------------------------------------------------------------------------


def _icon(node: GraphNode, name: str, x: float, y: float, ink: str, title: str = "") -> Part:
    """Return an icon around a place in a node, 14 pixels wide."""
    at = f"translate({node.x + x - 7:g} {node.y + y - 7:g}) scale(.875)"
    about = _element("title", escape(title)) * bool(title)
    return _strokes(SHAPES["icons"][name], at, ink, 1.5, about)


def _strokes(paths: Iterable[str], at: str, ink: str, width: float, title: str = "") -> Part:
    style = {"fill": "none", "stroke": ink, "stroke_width": width}
    return _element("g", title, *(_element("path", d=path) for path in paths), transform=at), style


def _text(x: float, y: float, text: str, **attributes: object) -> str:
    """Return a line of text at a place, escaped."""
    # Browsers read this attribute of the text alone, and not of its group.
    space = {"xml:space": "preserve"} if "  " in text else {}
    return _element("text", escape(text, quote=False), x=x, y=y, **attributes, **space)


def _element(name: str, *content: str, **attributes: object) -> str:
    """Return an element of this markup, with those of the attributes that are not empty."""
    values = {
        key.replace("_", "-"): f"{value:g}" if isinstance(value, (int, float)) else str(value)
        for key, value in attributes.items()
        if value != ""
    }
    # A notebook writes two characters for a double quote.
    pairs = "".join(f" {key}='{escape(value)}'" for key, value in values.items())
    return f"<{name}{pairs}>{''.join(content)}</{name}>" if content else f"<{name}{pairs}/>"
