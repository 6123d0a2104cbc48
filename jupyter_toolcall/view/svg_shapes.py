"""What the saved picture is made of: lines of text, icons, arrows, and what stands in a tile.

All text is escaped, and every length is in pixels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise

from ..core.text import visible_text
from .contract_rows import ObjectRow, Preview
from .edge_routes import Anchor, Chip, Point, Route
from .icons import GLYPHS, ICONS

INK, MUTED, LINE, PALE, FILL, BAD = "#1f1f1f", "#5c5c5c", "#8a8a8a", "#d0d0d0", "#f4f4f4", "#b3261e"
SANS = "-apple-system,Segoe UI,Helvetica,Arial,sans-serif"
MONO = "Menlo,Consolas,DejaVu Sans Mono,monospace"
ROUND = 7
HALF = 21
"""From a tile's middle to the end of the texts in it."""
ROWS = 4
"""Lines of text in a tile, and rows of a table."""
TEXT_SIZES = ((11, 6, 3), (9, 7, 3), (8, 8, 4), (7, 10, ROWS))
"""Size, characters and lines that fit into a tile: the largest first, for short texts."""
_PATH = re.compile(r"[\sMmLlHhVvCcSsQqTtAaZzeE0-9.,+-]{1,2000}")


def line_of_text(
    x: float,
    y: float,
    text: str,
    ink: str = INK,
    *,
    anchor: Anchor = "start",
    size: float = 11,
    bold: bool = False,
    mono: bool = False,
) -> str:
    """Return a line of text at a place, escaped."""
    style = f' font-family="{MONO}"' if mono else ""
    style += f' font-size="{size:g}"' if size != 11 else ""
    style += ' font-weight="600"' if bold else ""
    style += f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:g}" y="{y:g}" fill="{ink}"{style}>{escape(text)}</text>'


def square(half: float, fill: str, stroke: str, dashed: bool = False, shift: float = 0) -> str:
    """Return a square with rounded corners around the middle of a tile."""
    place = f'x="{shift - half:g}" y="{-shift - half:g}" width="{2 * half:g}" height="{2 * half:g}"'
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    return f'<rect {place} rx="{8 if half == 24 else 11}" fill="{fill}" stroke="{stroke}"{dashes}/>'


def icon(name: str, x: float, y: float, ink: str, half: float, title: str = "") -> str:
    """Return an icon on white, 14 pixels wide."""
    strokes = "".join(f'<path d="{path}"/>' for path in ICONS[name])
    title_element = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<g transform="translate({x:g} {y:g})">{title_element}<circle r="{half:g}" fill="#fff"/>'
        f'<g transform="translate(-7 -7) scale(.875)" fill="none" stroke="{ink}" '
        'stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">'
        f"{strokes}</g></g>"
    )


def edge(route: Route, ink: str, thin: bool, dashed: bool) -> str:
    """Return a line with rounded corners, and its arrow."""
    (x, y), head = route.tip, "l-7-3.5v7z" if route.arrow == "right" else "l-3.5-7h7z"
    dashes = ' stroke-dasharray="2 3"' if dashed else ""
    width = 1 if thin else 1.25
    return (
        f'<path d="{_rounded(route.points)}" fill="none" stroke="{ink}" stroke-width="{width:g}"'
        f'{dashes}/><path d="M{x:g} {y:g}{head}" fill="{ink}"/>'
    )


def _rounded(points: Sequence[Point]) -> str:
    path = f"M{points[0][0]:g} {points[0][1]:g}"
    for (before, at), (_, after) in pairwise(pairwise(points)):
        (x, y), (u, v) = _toward(at, before), _toward(at, after)
        path += f"L{x:g} {y:g}Q{at[0]:g} {at[1]:g} {u:g} {v:g}"
    return f"{path}L{points[-1][0]:g} {points[-1][1]:g}"


def _toward(start: Point, end: Point) -> Point:
    """Return the point on the way where a corner begins; ways are horizontal or vertical."""
    far = abs(end[0] - start[0]) + abs(end[1] - start[1])
    share = min(ROUND, far / 2) / far if far else 0
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def chip(shown: Chip) -> str:
    """Return the name of a far source."""
    place = f'x="{shown.left:g}" y="{shown.top:g}" width="{shown.width:g}" height="13" rx="4"'
    middle = shown.left + shown.width / 2
    text = line_of_text(middle, shown.top + 10, shown.text, anchor="middle", size=10.5)
    return f'<rect {place} fill="{FILL}"/>{text}'


# -- what stands in a tile ---------------------------------------------------------------------


def tile_content(row: ObjectRow, ink: str, with_image: bool) -> str:
    """Return what tells of an object in its tile: its picture, head, fields or text."""
    view = row.preview
    own = [path for path in view.glyph if _PATH.fullmatch(path)][:24]
    if row.role == "pending":
        return sign("next", ink)
    if own:
        return _strokes(own, ink)
    if view.image.startswith("data:image/") and with_image:
        place = f'x="-{HALF}" y="-{HALF}" width="{2 * HALF}" height="{2 * HALF}"'
        return f'<image {place} href="{escape(view.image, quote=True)}"/>'
    if view.columns:
        return _table(view, ink)
    fields = [visible_text(f"{name} {value}", 60) for name, value in view.fields[:ROWS]]
    if fields and not view.html:
        if len(fields) > 1:
            return _fitted(lambda signs, _: [visible_text(text, signs) for text in fields], ink)
        return _fitted(lambda signs, lines: _wrapped(fields[0], signs, lines), ink)
    if view.text and not re.match(r"<[\w.]+ object at 0x", view.text):
        return _fitted(lambda signs, lines: _wrapped(view.text, signs, lines), ink)
    return sign("object", ink)


def sign(name: str, ink: str) -> str:
    """Return one of our glyphs, as large as a tile."""
    return _strokes(GLYPHS[name], ink)


def _strokes(paths: Sequence[str], ink: str) -> str:
    strokes = "".join(f'<path d="{escape(path, quote=True)}"/>' for path in paths)
    return (
        f'<g transform="translate(-17 -17) scale(1.4167)" fill="none" stroke="{ink}" '
        f'stroke-width="1.3" stroke-linecap="round" stroke-linejoin="round">{strokes}</g>'
    )


def _table(view: Preview, ink: str) -> str:
    """Return the first two columns and the first rows of a table."""
    parts = [f'<path d="M-24-9.500h48M.5-24v48" stroke="{PALE}"/>']
    for number, row in enumerate([view.columns, *view.cells][:ROWS]):
        for column, cell in enumerate(row[:2]):
            x, y = -HALF + column * 22.5, -12.5 + number * 10.5
            parts.append(
                line_of_text(x, y, visible_text(cell, 5), ink, size=7, bold=not number, mono=True)
            )
    return "".join(parts)


def _fitted(lay: Callable[[int, int], list[str]], ink: str) -> str:
    """Return text in the largest size that it fits in, else cut."""
    layings = [(size, lines, lay(signs, lines)) for size, signs, lines in TEXT_SIZES]
    whole = (
        (size, laid)
        for size, lines, laid in layings
        if len(laid) <= lines and not any("…" in text for text in laid)
    )
    size, laid = next(whole, (layings[-1][0], layings[-1][2]))
    top = -((len(laid) - 1) * size * 1.25) / 2 + size * 0.35
    return "".join(
        line_of_text(-HALF, top + number * size * 1.25, text, ink, size=size, mono=True)
        for number, text in enumerate(laid)
    )


def _wrapped(text: str, signs: int, lines: int) -> list[str]:
    """Return words in short lines; long words are cut."""
    wrapped: list[str] = []
    for word in re.split(r"\s+|(?<=[,;:=(])", visible_text(text)):
        if wrapped and len(wrapped[-1]) + len(word) < signs:
            wrapped[-1] += f" {word}"
        elif len(wrapped) < lines:
            wrapped.append(visible_text(word, signs))
        else:
            return [*wrapped[:-1], visible_text(f"{wrapped[-1]}…", signs)]
    return wrapped
