"""A session as a picture, for readers without us: pure functions of rows.

It shows what the panel shows, placed and routed by the same rules: objects, failed and rejected
calls, all arguments, what a person edited, and the branches by name. It carries its own white
ground, colours and icons, needs no script, font or style sheet, and so reads the same on a light
page and on a dark one. All text in it is escaped.

It has at most `MOST` bytes. What makes it larger is folded: the columns in the middle, then the
pictures of the oldest objects, then the lanes furthest away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from textwrap import wrap

from ..core.text import visible_text
from .contract import Rows
from .contract_rows import BranchRow, CallRow, ObjectRow, Use
from .edge_routes import (
    WIDE,
    Argument,
    Label,
    argument_routes,
    main_route,
    text_anchor,
    tool_lines,
    tool_zone,
)
from .picture_layout import Limits, Node, PictureLayout, is_without_result, main_use, picture_layout
from .svg_shapes import (
    BAD,
    FILL,
    INK,
    LINE,
    MUTED,
    PALE,
    SANS,
    chip,
    edge,
    icon,
    line_of_text,
    sign,
    square,
    tile_content,
)
from .text_summary import last_lines, summary_line

MOST = 100_000
"""Bytes of a picture."""
LIMITS = (Limits(10, 4, 14), Limits(10, 3, 8), Limits(7, 2, 5), Limits(5, 1, 3))
"""How much is drawn: the first of these that is small enough."""
IMAGES = 40_000
"""Bytes of images in all, of the newest objects."""
NAME_LETTER, STATE_LETTER = 7.2, 6.1
"""The widths of letters of an object's name, and of all other texts but code."""
LEAST_WIDTH = 640
BRANCH_NAME = 26
"""Characters of a branch's name."""
ICONS_OF_CALLS = {
    "proposed": "wait",
    "approved": "run",
    "input required": "wait",
    "running": "run",
    "answered": "person",
    "unknown": "warning",
}
SIGNS = {"rejected": "rejected", "interrupted": "interrupted"}


def svg(rows: Rows) -> str:
    """Return the lineage as an SVG picture of at most `MOST` bytes."""
    for limits in LIMITS:
        for images in (IMAGES, 0):
            picture = _picture(rows, picture_layout(rows, limits), images)
            if len(picture.encode()) <= MOST:
                return picture
    return picture


def _picture(rows: Rows, layout: PictureLayout, images: int) -> str:
    nodes = layout.drawn
    lines = [] if nodes else last_lines(rows)
    names = [*_branch_names(rows, layout)]
    right = max((node.cell.x for node in nodes), default=400) + 64
    beyond = max((len(name.text) for name, _ in names), default=0) * NAME_LETTER
    width = max(right + beyond + 16, LEAST_WIDTH)
    bottom = max((node.cell.y + 78 for node in nodes), default=24 + 18 * max(len(lines), 1))
    bottom = max([bottom, *(name.y + 20 for name, _ in names)])
    foot = _foot(rows, layout, width)
    height = bottom + 20 + 16 * len(foot)
    shown = _images(nodes, images)
    parts = [
        f'<rect x=".5" y=".5" width="{width - 1:g}" height="{height - 1:g}" rx="4" '
        'fill="#fff" stroke="#d9d9d9"/>',
        f'<path d="M.5 {bottom:g}H{width - 0.5:g}" stroke="#e6e6e6"/>',
        *(line_of_text(16, bottom + 20 + 16 * n, line, MUTED) for n, line in enumerate(foot)),
        *_edges(rows, layout),
        *(_tile(node, node.cell in shown) for node in nodes),
        *_warnings(rows.calls, layout),
        *(
            line_of_text(right, name.y, name.text, INK if now else MUTED, size=12, bold=now)
            for name, now in names
        ),
        *(line_of_text(16, 30 + 18 * n, line, mono=True) for n, line in enumerate(lines)),
    ]
    label = escape(f"Object lineage: {summary_line(rows)}", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-label="{label}" '
        f'font-family="{SANS}" font-size="11">\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _foot(rows: Rows, layout: PictureLayout, width: float) -> list[str]:
    """Return the lines below the drawing: how the session ended, and what is not drawn."""
    signs = int((width - 32) / STATE_LETTER)
    text = summary_line(rows, signs)
    if layout.left_out:
        text += f" · {layout.left_out:,} more on lanes that are not drawn"
    return [*wrap(text, signs, max_lines=3, placeholder=" …")] or [""]


def _images(nodes: Sequence[Node], most: int) -> set[object]:
    """Return the places of the nodes whose images are drawn, the newest objects first."""
    shown: set[object] = set()
    made = [(node, node.object) for node in nodes if node.object and node.object.preview.image]
    for node, row in sorted(made, key=lambda one: -one[1].step):
        most -= len(row.preview.image)
        if most >= 0:
            shown.add(node.cell)
    return shown


# -- edges -------------------------------------------------------------------------------------


def _edges(rows: Rows, layout: PictureLayout) -> Iterator[str]:
    """Return the edges, those of other branches first: the shown one is drawn over them."""
    objects = {row.id: row for row in rows.objects}
    same = _uses_elsewhere(rows)
    targets = [(call, node) for node in layout.drawn for call in _calls_to(node, layout)]
    drawn: set[object] = set()
    for call, node in sorted(targets, key=lambda one: not one[0].branch):
        whole = replace(call, uses=(*call.uses, *same.get(call.id, ())))
        yield from _edges_to(whole, node, layout, objects, drawn)


def _uses_elsewhere(rows: Rows) -> dict[str, list[Use]]:
    """Return what a call used on other branches that have it too; their names are parameters."""
    names = {row.id: row.name for row in rows.branches}
    uses = dict[str, list[Use]]()
    for call in rows.calls:
        if call.same:
            own = (Use(names.get(call.branch, ""), use.object) for use in call.uses)
            uses.setdefault(call.same, []).extend(own)
    return uses


def _calls_to(node: Node, layout: PictureLayout) -> Iterator[CallRow]:
    """Return the calls whose edges lead to a node."""
    for row in node.folded or (node.object, node.call):
        match row:
            case CallRow():
                yield row
            case ObjectRow():
                call = layout.calls.get(row.call)
                if call is not None and not is_without_result(call):
                    yield call


def _edges_to(
    call: CallRow,
    target: Node,
    layout: PictureLayout,
    objects: Mapping[str, ObjectRow],
    drawn: set[object],
) -> Iterator[str]:
    ends: dict[object, tuple[Node, Use]] = {}
    for use in call.uses:
        source = layout.nodes.get(use.object)
        if source is not None and source is not target:
            ends.setdefault(source.cell, (source, use))
    declared = main_use(call)
    main = next(
        (one for one in ends.values() if one[1] == declared), next(iter(ends.values()), None)
    )
    if main is None:
        return
    source, use = main
    is_folded = bool(source.folded or target.folded)
    pair = (source.cell, target.cell)
    # Between stacks, edges would tell nothing.
    if pair in drawn or (is_folded and use != declared) or (source.folded and target.folded):
        return
    drawn.add(pair)
    kinds = [objects[use.object].kind for use in call.uses if use.object in objects]
    yield from _main_edge(call, source, target, kinds)
    if not target.folded:
        others = [one for one in ends.values() if one is not main and not one[0].folded]
        yield from _argument_edges(call, target, others, objects)


def _main_edge(call: CallRow, source: Node, target: Node, kinds: Sequence[str]) -> Iterator[str]:
    ink, dashed = _look(call)
    yield edge(main_route(source.cell, target.cell), ink, thin=False, dashed=dashed)
    makes = target.call is not None or (
        target.object is not None and call.object == target.object.id
    )
    if source.folded or target.folded or not makes:
        return
    left, right = tool_zone(target.cell)
    x, y = (left + right) / 2, target.cell.y
    edited = "edited" if call.edited and not call.memory else ""
    mark = "" if target.call else ICONS_OF_CALLS.get(call.status, edited)
    if mark:
        yield icon(mark, x, y, ink, 10)
    lines = tool_lines(visible_text(call.tool), kinds, right - left)
    for number, line in enumerate(reversed(lines)):
        up = (14 if mark else 8) + 12 * number
        ink_of_text = MUTED if call.branch else ink
        yield line_of_text(x, y - up, line, ink_of_text, anchor="middle", size=10.5, mono=True)


def _argument_edges(
    call: CallRow,
    target: Node,
    others: Sequence[tuple[Node, Use]],
    objects: Mapping[str, ObjectRow],
) -> Iterator[str]:
    """Return the other arguments; of another branch those of its own objects."""
    ink, dashed = _look(call)
    ink = LINE if ink == INK else ink
    own = [
        (node, use)
        for node, use in others
        if not call.branch or (node.object is not None and node.object.branch == call.branch)
    ]
    arguments = [
        Argument(
            node.cell, visible_text(use.parameter, 80), visible_text(objects[use.object].name, 80)
        )
        for node, use in own
    ]
    for one in argument_routes(target.cell, arguments):
        yield edge(one.route, ink, thin=True, dashed=dashed)
        if one.chip:
            yield chip(one.chip)
        if one.label:
            yield _label(one.label)


def _label(label: Label) -> str:
    return line_of_text(label.x, label.y, label.text, MUTED, anchor=label.anchor, size=10.5)


def _look(call: CallRow) -> tuple[str, bool]:
    """Return the ink of a call's edges, and whether they are dashed."""
    waits = call.status in ("proposed", "approved", "input required", "running", "unknown")
    dashed = waits or call.status in ("rejected", "interrupted")
    if call.branch:
        return PALE, dashed
    return (BAD if call.status == "failed" else INK), dashed


# -- nodes -------------------------------------------------------------------------------------


def _tile(node: Node, with_image: bool) -> str:
    """Return a node: its tile, what is in it, its name and the line below."""
    if node.call is not None:
        return _lost_tile(node, node.call)
    if node.object is None:
        return _stack_tile(node)
    row = node.object
    is_input, pale = row.role == "input", bool(row.branch)
    ink = MUTED if pale else INK
    stroke = "none" if is_input else PALE if pale else LINE
    frame = [square(28, "none", LINE)] if node.cell.saved else []
    tile = square(24, FILL if is_input else "#fff", stroke, dashed=row.role == "pending")
    texts = _texts(row.name, _state(row), ink, not pale, 4 if node.cell.saved else 0)
    return _at(node, *frame, tile, tile_content(row, ink, with_image), *texts)


def _state(row: ObjectRow) -> str:
    if row.role == "pending":
        return "not made yet"
    if row.saved and not row.branch:
        return f"saved as {row.saved}"
    caption = " · ".join(filter(None, (row.label, row.preview.caption)))
    return caption or ("from the notebook" if row.role == "input" else "")


def _lost_tile(node: Node, call: CallRow) -> str:
    ink = MUTED if call.branch else BAD if call.status == "failed" else INK
    why = call.error or call.reason or call.status
    glyph = sign(SIGNS.get(call.status, "failed"), ink)
    return _at(node, square(24, "#fff", ink), glyph, *_texts("no object", why, ink, True))


def _stack_tile(node: Node) -> str:
    """Return the tile that stands for what is folded."""
    squares = [square(24, "#fff", LINE, shift=shift) for shift in (8, 4, 0)]
    lost = [row for row in node.folded if isinstance(row, CallRow)]
    count = len(node.folded) - len(lost)
    named = [row.name for row in node.folded if isinstance(row, ObjectRow)]
    state = f"{len(lost)} without result" if lost else f"{named[0]} to {named[-1]}"
    texts = _texts(f"{count} object{'s' * (count != 1)}", state, INK, True)
    number = line_of_text(0, 4, f"+{len(node.folded)}", anchor="middle", size=12, bold=True)
    return _at(node, *squares, number, *texts)


def _texts(name: str, state: str, ink: str, bold: bool, low: int = 0) -> Iterator[str]:
    wide = WIDE.left + WIDE.right
    name = visible_text(name, int(wide / NAME_LETTER))
    state = visible_text(state, int(wide / STATE_LETTER))
    x, anchor = text_anchor(len(name) * NAME_LETTER)
    yield line_of_text(x, 41 + low, name, ink, anchor=anchor, size=12, bold=bold)
    if state:
        x, anchor = text_anchor(len(state) * STATE_LETTER)
        yield line_of_text(x, 56 + low, state, MUTED, anchor=anchor)


def _at(node: Node, *parts: str) -> str:
    place = f"{node.cell.x:g} {node.cell.y:g}"
    return f'<g transform="translate({place})">{"".join(parts)}</g>'


def _warnings(calls: Sequence[CallRow], layout: PictureLayout) -> Iterator[str]:
    """Mark the objects that warned calls made; of a call that made none, those that it used."""
    marked: dict[str, str] = {}
    for call in calls:
        if call.warning is not None and not call.branch:
            used = [use.object for use in call.uses]
            for key in used if call.saves or not call.object else [call.object]:
                marked.setdefault(key, call.warning.kind)
    for key, kind in marked.items():
        node = layout.nodes.get(key)
        if node is not None and not node.folded:
            yield icon("warning", node.cell.x + 24, node.cell.y - 24, INK, 9, kind)


# -- branches ----------------------------------------------------------------------------------


def _branch_names(rows: Rows, layout: PictureLayout) -> Iterator[tuple[Label, bool]]:
    """Return the branches' names behind the last column, each level with its last node, and
    whether it is the branch that is shown. Names that would overlap are pushed down."""
    branches = [row for row in rows.branches if not row.hidden]
    ends = _last_nodes(branches, layout, rows.objects)
    if len(ends) < 2:
        return
    low = 0.0
    for branch, node in sorted(ends, key=lambda one: (one[1].cell.y, -one[1].cell.x)):
        y = max(node.cell.y + 4, low)
        low = y + 16
        yield Label(0, y, "start", visible_text(branch.name, BRANCH_NAME)), branch.current


def _last_nodes(
    branches: Sequence[BranchRow], layout: PictureLayout, objects: Sequence[ObjectRow]
) -> list[tuple[BranchRow, Node]]:
    """Return the branches with their last nodes: of their own, else of those that they share."""
    last: dict[str, Node] = {}
    for node in layout.drawn:
        for row in node.folded or (node.object, node.call):
            if not isinstance(row, ObjectRow) or row.role == "input":
                continue
            known = last.get(row.branch)
            if known is None or node.cell.x >= known.cell.x:
                last[row.branch] = node
    shared = [row for row in objects if row.same in layout.nodes and row.branch not in last]
    for row in sorted(shared, key=lambda row: layout.nodes[row.same].cell.x):
        last[row.branch] = layout.nodes[row.same]
    keys = [(branch, "" if branch.current else branch.id) for branch in branches]
    nodes = [(branch, last.get(key) or last.get(branch.name)) for branch, key in keys]
    return [(branch, node) for branch, node in nodes if node is not None]
