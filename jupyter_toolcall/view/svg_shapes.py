"""What the saved picture is made of: lines of text, icons, and what stands in a box.

All text is escaped, and every length is in pixels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Final

from ..core.text import visible_text
from .contract_rows import ObjectRow, Preview

INK, MUTED, LINE, PALE, FILL, BAD = "#1f1f1f", "#5c5c5c", "#8a8a8a", "#d0d0d0", "#f4f4f4", "#b3261e"
WAITS, WASH = "#0b5cad", "#e3f0fd"
"""The ink and the ground of a call that waits."""
SANS = "-apple-system,Segoe UI,Helvetica,Arial,sans-serif"
MONO_FONT = "Menlo,Consolas,monospace"
ACROSS, DOWN = 48, 22
"""From the middle of what stands in a box to its end."""
ROWS, COLUMNS = 4, 3
"""Lines of text in a box, and rows and columns of a table."""
TEXT_SIZES = ((11, 14, 3), (9, 17, ROWS))
"""Size, characters and lines that fit into a box: the largest first, for short texts."""
SHAPES: Final = json.loads(Path(__file__).with_name("icons.json").read_text(encoding="utf-8"))
"""Icons of 16 units and glyphs of 24, as path data, and the icon of each state of a call: for the
panel and for the saved picture.

`labextension/contract.py` writes them to `src/generated/icons.ts`. No text of a session is in it.
"""
_PATH = re.compile(r"[\sMmLlHhVvCcSsQqTtAaZzeE0-9.,+-]{1,2000}")


def line_of_text(
    x: float,
    y: float,
    text: str,
    ink: str = INK,
    *,
    centred: bool = False,
    size: float = 11,
    bold: bool = False,
    mono: bool = False,
    room: float = 0,
) -> str:
    """Return a line of text at a place, escaped; with `room` it has this width.

    In the picture texts are `centred` where they do not say otherwise.
    """
    style = f' font-family="{MONO_FONT}"' if mono else ""
    style += f' font-size="{size:g}"' if size != 11 else ""
    style += ' font-weight="600"' if bold else ""
    style += "" if centred else ' text-anchor="start"'
    style += f' textLength="{room:.0f}" lengthAdjust="spacingAndGlyphs"' if room else ""
    style += f' fill="{ink}"' if ink != INK else ""
    place = f'x="{x:g}" ' if x else ""
    return f'<text {place}y="{y:g}"{style}>{escape(text)}</text>'


def icon(name: str, x: float, y: float, ink: str, title: str = "") -> str:
    """Return an icon around a place, 14 pixels wide."""
    strokes = "".join(f'<path d="{path}"/>' for path in SHAPES["icons"][name])
    title_element = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<g transform="translate({x - 7:g} {y - 7:g}) scale(.875)" fill="none" stroke="{ink}" '
        f'stroke-width="1.5">{title_element}{strokes}</g>'
    )


# -- what stands in a tile ---------------------------------------------------------------------


def tile_content(row: ObjectRow, ink: str) -> str:
    """Return what tells of an object in its tile: its picture, head, fields or text."""
    view = row.preview
    own = [path for path in view.glyph if _PATH.fullmatch(path)][:24]
    if row.role == "pending":
        return sign("next", ink)
    if own:
        return _strokes(own, ink)
    if view.image.startswith("data:image/"):
        place = f'x="-{ACROSS}" y="-{DOWN}" width="{2 * ACROSS}" height="{2 * DOWN}"'
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
    """Return one of our glyphs, as large as fits."""
    return _strokes(SHAPES["glyphs"][name], ink)


def _strokes(paths: Sequence[str], ink: str) -> str:
    strokes = "".join(f'<path d="{escape(path, quote=True)}"/>' for path in paths)
    return (
        '<g transform="translate(-17 -18) scale(1.4)" fill="none" stroke-width="1.3" '
        f'stroke="{ink}">{strokes}</g>'
    )


def _table(view: Preview, ink: str) -> str:
    """Return the first columns and the first rows of a table."""
    parts = [f'<path d="M-{ACROSS}-10.500h{2 * ACROSS}" stroke="{PALE}"/>']
    wide = 2 * ACROSS / min(len(view.columns), COLUMNS)
    letters = int(wide / 4.6)
    for number, row in enumerate([view.columns, *view.cells][:ROWS]):
        for column, cell in enumerate(row[:COLUMNS]):
            x, y, text = column * wide - ACROSS, number * 11 - 13.5, visible_text(cell, letters)
            parts.append(f'<text x="{x:g}" y="{y:g}">{escape(text)}</text>')
    return _code(parts, 7.5, ink)


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
    texts = [
        f'<text x="-{ACROSS}" y="{top + number * size * 1.25:g}">{escape(text)}</text>'
        for number, text in enumerate(laid)
    ]
    return _code(texts, size, ink)


def _code(parts: Sequence[str], size: float, ink: str) -> str:
    """Return texts in the type of code: in a group, since its names are long."""
    style = f'text-anchor="start" font-family="{MONO_FONT}" font-size="{size:g}" fill="{ink}"'
    return f"<g {style}>{''.join(parts)}</g>"


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
