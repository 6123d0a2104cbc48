"""What a picture is made of: an object's tile, an arrow, a word; and the colours of all."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from ..rows.contract import ObjectRow
from .text import shown

INK, MUTED, LINE, PALE, FILL, BAD = "#1f1f1f", "#5c5c5c", "#8a8a8a", "#d0d0d0", "#f4f4f4", "#b3261e"
SANS = "-apple-system,Segoe UI,Helvetica,Arial,sans-serif"
MONO = "Menlo,Consolas,DejaVu Sans Mono,monospace"


@dataclass(frozen=True, slots=True)
class Spot:
    """An object and where its tile's middle is."""

    row: ObjectRow
    x: float
    y: float
    branch: str = ""
    """The name of the branch that it is of, where that is not the one that is shown."""


def arrow(x: float, y: float, ink: str, down: bool) -> str:
    """Return the head of an edge, its point at a place."""
    head = "l-3.5 -7h7z" if down else "l-7 -3.5v7z"
    return f'<path d="M{x:g} {y:g}{head}" fill="{ink}"/>'


def pencil(x: float, y: float, ink: str) -> str:
    """Return the mark of a call that a person edited, its middle at a place."""
    return (
        f'<circle cx="{x:g}" cy="{y:g}" r="10" fill="#fff"/>'
        f'<path d="M3 13l.7-3 7-7 2.3 2.3-7 7z" transform="translate({x - 7:g} {y - 7:g}) '
        f'scale(.875)" fill="none" stroke="{ink}" stroke-width="1.5" stroke-linejoin="round"/>'
    )


def tile(spot: Spot) -> str:
    """Return an object: its tile, what is in it, its name and a caption."""
    row = spot.row
    pale, given = bool(row.branch), row.role == "input"
    stroke = "none" if given else PALE if pale else LINE
    dashed = ' stroke-dasharray="4 3"' if row.role == "pending" else ""
    parts = [f'<g transform="translate({spot.x:g} {spot.y:g})">']
    if row.saved and not pale:
        parts.append(
            f'<rect x="-28" y="-28" width="56" height="56" rx="11" fill="none" stroke="{LINE}"/>'
        )
    parts.append(
        f'<rect x="-24" y="-24" width="48" height="48" rx="8" fill="{FILL if given else "#fff"}" '
        f'stroke="{stroke}"{dashed}/>'
    )
    parts.append(_inside(row, MUTED if pale else INK))
    weight = "400" if pale else "600"
    name, caption = shown(row.name, 20), shown(_caption(spot), 24)
    y = 45 if row.saved and not pale else 41
    parts.append(words(0, y, name, MUTED if pale else INK, anchor="middle", size=12, weight=weight))
    parts.append(words(0, y + 15, caption, MUTED, anchor="middle"))
    return "".join([*parts, "</g>"])


def _caption(spot: Spot) -> str:
    said = _said(spot.row)
    return f"on {spot.branch}{': ' * bool(said)}{said}" if spot.branch else said


def _said(row: ObjectRow) -> str:
    if row.saved and not row.branch:
        return f"saved as {row.saved}"
    if row.role == "pending":
        return "not made yet"
    return row.preview.caption or ("from the notebook" if row.role == "input" else "")


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
    found = next((paths for there, paths in kinds if there), _BOX)
    paths = _NEXT if row.role == "pending" else found
    strokes = "".join(f'<path d="{escape(path, quote=True)}"/>' for path in paths)
    return (
        f'<g transform="translate(-17 -17) scale(1.4167)" fill="none" stroke="{ink}" '
        f'stroke-width="1.3" stroke-linecap="round" stroke-linejoin="round">{strokes}</g>'
    )


def words(
    x: float,
    y: float,
    said: str,
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
    return f'<text x="{x:g}" y="{y:g}" fill="{ink}"{style}>{escape(said)}</text>'
