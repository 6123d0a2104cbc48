"""A session as a picture, for readers without us: pure functions of rows.

The SVG carries its own white ground, colours and glyphs, needs no script, no font and no
style sheet, and reads the same on a dark page. All text in it is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate, pairwise

from ..core.text import visible_text
from .contract import Rows
from .contract_rows import CallRow, ObjectRow
from .text_summary import last_lines, summary_line

INK, MUTED, LINE, PALE, FILL, BAD = "#1f1f1f", "#5c5c5c", "#8a8a8a", "#d0d0d0", "#f4f4f4", "#b3261e"
SANS = "-apple-system,Segoe UI,Helvetica,Arial,sans-serif"
MONO = "Menlo,Consolas,DejaVu Sans Mono,monospace"
PITCH, LANE = 147, 122
COLUMNS = 13
"""So many columns are drawn; a longer session is folded after its beginning."""
HEAD = 3
ABOVE, BELOW = 3, 5
"""So many lanes are drawn above and below the main line."""
FAR = 64
"""Above a tile's middle: where ways go far."""
LETTER = 5.6
"""How wide a letter of the line below is, on average."""


@dataclass(frozen=True, slots=True)
class _Spot:
    """An object and where its tile's middle is."""

    row: ObjectRow
    x: float
    y: float
    branch: str = ""
    """The name of the branch that it is of, where that is not the one that is shown."""


def svg(rows: Rows) -> str:
    """Return the lineage as an SVG picture."""
    drawn, folded = _columns(rows.objects)
    spots = _spots(rows, drawn)
    # What was left behind first: the shown branch is drawn over it.
    calls = sorted(rows.calls, key=lambda call: not call.branch)
    lines = [] if spots else last_lines(rows)
    right = max((spot.x for spot in spots.values()), default=400) + 100
    bottom = max((spot.y + 78 for spot in spots.values()), default=24 + 18 * max(len(lines), 1))
    width, height = max(right, 640), bottom + 36
    parts = [
        *_ground(width, height, rows),
        *(part for call in calls for part in _edges(call, spots)),
        *(_tile(spot) for spot in spots.values()),
        *_warnings(rows.calls, spots),
        *_stack(folded, spots),
        *_labels(rows, spots),
        *(_words(16, 30 + 18 * n, line, INK, mono=True) for n, line in enumerate(lines)),
    ]
    label = escape(f"Object lineage: {summary_line(rows)}", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-label="{label}" '
        f'font-family="{SANS}" font-size="11">\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _columns(objects: Sequence[ObjectRow]) -> tuple[dict[int, int], int]:
    """Return which columns are drawn, and where; and how many are folded away."""
    columns = sorted({row.column for row in objects if row.used})
    if len(columns) <= COLUMNS:
        return {column: n for n, column in enumerate(columns)}, 0
    kept = [*columns[:HEAD], *columns[HEAD - COLUMNS + 1 :]]
    places = {c: n if n < HEAD else n + 1 for n, c in enumerate(kept)}
    return places, len(columns) - len(kept)


def _spots(rows: Rows, drawn: dict[int, int]) -> dict[str, _Spot]:
    names = {branch.id: branch.name for branch in rows.branches}
    used = [
        row for row in rows.objects if row.used and row.column in drawn and row.role != "output"
    ]
    # The main line first: of many inputs above it, or lines below, the nearest are drawn.
    top = max(min((row.lane for row in used), default=0), -ABOVE)
    shown = [row for row in used if top <= row.lane <= BELOW]
    # Where nothing stands, no lane is left empty.
    lanes = sorted({row.lane for row in shown})
    steps = (min(1.0, lane - before) for before, lane in pairwise(lanes))
    level = dict(zip(lanes, accumulate(steps, initial=0.0), strict=False))
    spots = {}
    for row in shown:
        x, y = 60 + PITCH * drawn[row.column], 48 + LANE * level[row.lane]
        spots[row.id] = _Spot(row, x, y, names.get(row.branch, row.branch))
    return spots


def _ground(width: float, height: float, rows: Rows) -> list[str]:
    return [
        f'<rect x=".5" y=".5" width="{width - 1:g}" height="{height - 1:g}" rx="4" '
        'fill="#fff" stroke="#d9d9d9"/>',
        f'<path d="M.5 {height - 36:g}H{width - 0.5:g}" stroke="#e6e6e6"/>',
        _words(16, height - 14, summary_line(rows, int((width - 130) / LETTER)), MUTED),
        _words(width - 16, height - 14, "jupyter-toolcall", MUTED, anchor="end"),
    ]


def _edges(call: CallRow, spots: dict[str, _Spot]) -> list[str]:
    target, edges = spots.get(call.object), list[str]()
    if target is None or (target.row.call != call.id and target.row.role == "made"):
        return edges
    others = [s for s in spots.values() if s.row.call == call.id and s is not target]
    for use in call.uses:
        source = spots.get(use.object)
        # Beside a branch left behind, only its line is drawn: the rest is its twin's.
        if source is not None and source is not target and (use.receiver or not call.branch):
            edges += _edge(source, target, call, use.parameter, use.receiver)
            for other in others if use.receiver or not any(u.receiver for u in call.uses) else ():
                edges += _edge(source, other, call, "", False)
    return edges


def _edge(source: _Spot, target: _Spot, call: CallRow, parameter: str, main: bool) -> list[str]:
    ink = PALE if call.branch else BAD if call.status == "failed" else INK if main else LINE
    beyond, below = target.x - source.x, target.y - source.y
    near = beyond in (0, PITCH) and abs(below) == LANE
    if not main and parameter and not near:
        return _port(source, target, ink)
    if beyond == 0:
        return [
            _line(f"M{source.x:g} {source.y + 63:g}V{target.y - 36:g}", ink),
            _arrow(target.x, target.y - 29, ink, down=True),
            _words(source.x + 8, source.y + 78, visible_text(parameter, 16), MUTED),
        ]
    path, end = f"M{source.x + 28:g} {source.y:g}", f"H{target.x - 34:g}"
    if below == 0:
        path += end
    elif beyond == PITCH:
        path += f"h10V{target.y:g}{end}"
    else:
        # A way from far away goes above the lane that it leads to.
        path += f"h10V{target.y - FAR:g}H{target.x - PITCH + 38:g}V{target.y:g}{end}"
    edge = [_line(path, ink), _arrow(target.x - 28, target.y, ink, down=False)]
    return edge + _named(call, source, target, MUTED if call.branch else ink) if main else edge


def _warnings(calls: Sequence[CallRow], spots: dict[str, _Spot]) -> Iterator[str]:
    """Mark the objects that warned calls made; of a call that made none, those that it used."""
    marked: dict[str, str] = {}
    for call in calls:
        if call.warning is not None and not call.branch:
            used = [use.object for use in call.uses]
            for key in used if call.saves or not call.object else [call.object]:
                marked.setdefault(key, call.warning.kind)
    for key, kind in marked.items():
        if (spot := spots.get(key)) is not None:
            yield (
                f'<g transform="translate({spot.x + 24:g} {spot.y - 24:g})">'
                f'<title>{escape(kind)}</title><circle r="9" fill="#fff"/>'
                '<path d="M0-5.500L6.500 5.500h-13zM0-1.500v3.300M0 3.600h.01" fill="none" '
                f'stroke="{INK}" stroke-width="1.5" stroke-linejoin="round" '
                'stroke-linecap="round"/></g>'
            )


def _line(path: str, ink: str) -> str:
    look = 'fill="none" stroke-width="1.25" stroke-linejoin="round"'
    return f'<path d="{path}" {look} stroke="{ink}"/>'


def _named(call: CallRow, source: _Spot, target: _Spot, ink: str) -> list[str]:
    """Return the tool's name over its edge, with a pencil where a person edited the call."""
    straight, edited = source.y == target.y, call.edited and not call.memory
    middle = (source.x + target.x - 6) / 2 if straight else target.x - 68
    x, y = middle if straight else target.x - 30, target.y - 8 - 6 * edited
    name, anchor = visible_text(call.tool, 14 if straight else 12), "middle" if straight else "end"
    words = _words(x, y, name, ink, anchor=anchor, mono=True, halo=True)
    if not edited:
        return [words]
    pencil = (
        f'<circle cx="{middle:g}" cy="{target.y:g}" r="10" fill="#fff"/>'
        '<path d="M3 13l.7-3 7-7 2.3 2.3-7 7z" '
        f'transform="translate({middle - 7:g} {target.y - 7:g}) '
        f'scale(.875)" fill="none" stroke="{ink}" stroke-width="1.5" stroke-linejoin="round"/>'
    )
    return [pencil, words]


def _port(source: _Spot, target: _Spot, ink: str) -> list[str]:
    """Return an argument from far away: its edge begins at its name, above what it is given to."""
    name, top = visible_text(source.row.name, 16), target.y - 62
    wide = len(name) * LETTER + 12
    place = f'x="{target.x - wide / 2:g}" y="{top:g}" width="{wide:g}" height="15" rx="4"'
    return [
        f'<rect {place} fill="{FILL}"/>',
        _words(target.x, top + 11.5, name, INK, anchor="middle"),
        _line(f"M{target.x:g} {top + 15:g}V{target.y - 36:g}", ink),
        _arrow(target.x, target.y - 29, ink, down=True),
    ]


def _stack(folded: int, spots: dict[str, _Spot]) -> Iterator[str]:
    """The tile that stands for what was folded away."""
    if not folded:
        return
    x, y = (
        60 + PITCH * HEAD,
        min((spot.y for spot in spots.values() if spot.row.lane >= 0), default=48),
    )
    for left, up, ink in ((18, 30, PALE), (24, 24, LINE)):
        place = f'x="{x - left:g}" y="{y - up:g}" width="48" height="48" rx="8"'
        yield f'<rect {place} fill="#fff" stroke="{ink}"/>'
    yield _words(x, y + 4, f"+{folded}", INK, anchor="middle", size=12, weight="600")
    yield _words(x, y + 41, f"{folded} steps", MUTED, anchor="middle")


def _labels(rows: Rows, spots: dict[str, _Spot]) -> Iterator[str]:
    """The names of the branches, behind their last objects."""
    if len(rows.branches) < 2:
        return
    current = next((branch.name for branch in rows.branches if branch.current), "")
    names = {branch.id: branch.name for branch in rows.branches}
    ends: dict[str, _Spot] = {}
    for spot in spots.values():
        name = names.get(spot.row.branch, current)
        if spot.row.role == "made" and (name not in ends or ends[name].x < spot.x):
            ends[name] = spot
    for name, spot in ends.items():
        ink, weight = (INK, "600") if name == current else (MUTED, "400")
        yield _words(spot.x + 36, spot.y + 4, visible_text(name, 14), ink, size=12, weight=weight)


# -- what the picture is made of: an object's tile, an arrow, a word ---------------------------


def _arrow(x: float, y: float, ink: str, down: bool) -> str:
    """Return the head of an edge, its point at a place."""
    head = "l-3.5 -7h7z" if down else "l-7 -3.5v7z"
    return f'<path d="M{x:g} {y:g}{head}" fill="{ink}"/>'


def _tile(spot: _Spot) -> str:
    """Return an object: its tile, what is in it, its name and a caption."""
    row = spot.row
    pale, is_input, saved = bool(row.branch), row.role == "input", row.saved and not row.branch
    ink, weight = (MUTED, "400") if pale else (INK, "600")
    stroke = "none" if is_input else PALE if pale else LINE
    dashed = ' stroke-dasharray="4 3"' if row.role == "pending" else ""
    parts = [f'<g transform="translate({spot.x:g} {spot.y:g})">']
    if saved:
        parts.append(
            f'<rect x="-28" y="-28" width="56" height="56" rx="11" fill="none" stroke="{LINE}"/>'
        )
    parts.append(
        f'<rect x="-24" y="-24" width="48" height="48" rx="8" '
        f'fill="{FILL if is_input else "#fff"}" stroke="{stroke}"{dashed}/>'
    )
    caption = row.preview.caption or ("from the notebook" if is_input else "")
    caption = "not made yet" if row.role == "pending" else caption
    caption = f"saved as {row.saved}" if saved else caption
    if spot.branch:
        caption = f"on {spot.branch}{': ' * bool(caption)}{caption}"
    name, caption, y = visible_text(row.name, 20), visible_text(caption, 24), 45 if saved else 41
    parts.append(_inside(row, ink))
    parts.append(_words(0, y, name, ink, anchor="middle", size=12, weight=weight))
    parts.append(_words(0, y + 15, caption, MUTED, anchor="middle"))
    return "".join([*parts, "</g>"])


_TABLE = ("M4 5h16v14H4z", "M4 9.7h16M4 14.3h16M9.3 5v14M14.7 5v14")
_BOX = (
    "M12 3.5l7.5 4.2v8.600L12 20.5l-7.5-4.200V7.7z",
    "M4.500 7.700L12 12l7.500-4.300M12 12v8.500",
)
_TEXT = ("M5 6h14M5 10h14M5 14h10M5 18h6",)
_NEXT = ("M9.300 9.200a2.800 2.800 0 1 1 3.900 2.600c-.8.400-1.200.9-1.200 1.900M12 17h.01",)


def _inside(row: ObjectRow, ink: str) -> str:
    view = row.preview
    if view.image.startswith("data:image/png;base64,"):
        address = escape(view.image, quote=True)
        return f'<image x="-21" y="-21" width="42" height="42" href="{address}"/>'
    kinds = (
        (view.glyph, view.glyph),
        (view.columns, _TABLE),
        (view.fields, _BOX),
        (view.text, _TEXT),
    )
    paths = next((paths for content, paths in kinds if content), _BOX)
    paths = _NEXT if row.role == "pending" else paths
    strokes = "".join(f'<path d="{escape(path, quote=True)}"/>' for path in paths)
    return (
        f'<g transform="translate(-17 -17) scale(1.4167)" fill="none" stroke="{ink}" '
        f'stroke-width="1.3" stroke-linecap="round" stroke-linejoin="round">{strokes}</g>'
    )


def _words(
    x: float,
    y: float,
    text: str,
    ink: str,
    *,
    anchor: str = "start",
    size: float = 11,
    weight: str = "400",
    mono: bool = False,
    halo: bool = False,
) -> str:
    """Return a line of text at a place, escaped."""
    style = f' font-family="{MONO}"' if mono else ""
    style += f' font-size="{size - 0.5 if mono else size:g}"' if size != 11 or mono else ""
    style += f' font-weight="{weight}"' if weight != "400" else ""
    style += f' text-anchor="{anchor}"' if anchor != "start" else ""
    style += ' paint-order="stroke" stroke="#fff" stroke-width="4"' if halo else ""
    return f'<text x="{x:g}" y="{y:g}" fill="{ink}"{style}>{escape(text)}</text>'
