"""A session as a picture and as text, for readers without us: pure functions of rows.

The SVG carries its own white ground, colours and glyphs, needs no script, no font and no
style sheet, and reads the same on a dark page. All text in it is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from ..rows.contract import CallRow, ObjectRow, Rows, SessionRow

PITCH, LANE = 147, 122
COLUMNS = 13
"""So many columns are drawn; a longer session is folded after its beginning."""
HEAD = 3
ABOVE, BELOW = 3, 5
"""So many lanes are drawn above and below the main line."""
LINES = 12
INK, MUTED, LINE, PALE, FILL, BAD = "#1f1f1f", "#5c5c5c", "#8a8a8a", "#d0d0d0", "#f4f4f4", "#b3261e"
SANS = "-apple-system,Segoe UI,Helvetica,Arial,sans-serif"
MONO = "Menlo,Consolas,DejaVu Sans Mono,monospace"


def shown(text: str, limit: int = 200) -> str:
    """Return a text in which nothing is hidden: controls and bidi marks are escapes."""
    safe = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    return safe if len(safe) <= limit else f"{safe[: limit - 1]}…"


def chain(rows: Rows) -> tuple[str, ...]:
    """Return the names on the main line of the newest object, from its beginning."""
    objects = {row.id: row for row in rows.objects if not row.branch}
    calls = {row.id: row for row in rows.calls}
    made = [row for row in objects.values() if row.role == "made"]
    saved = [row for row in made if row.saved]
    here = max(saved or made, key=lambda row: row.step, default=None)
    names: list[str] = []
    seen: set[str] = set()
    while here is not None and here.id not in seen:
        seen.add(here.id)
        names.insert(0, here.name)
        call = calls.get(here.call)
        uses = call.uses if call else ()
        here = objects.get(next((use.object for use in uses if use.receiver), ""))
    return tuple(names)


def text(rows: Rows) -> str:
    """Return a session as plain text: its state, its chain, its steps."""
    line = " → ".join(chain(rows))
    names: dict[str, list[str]] = {}
    for row in rows.objects:
        if row.role == "made":
            names.setdefault(row.call, []).append(row.name)
    steps = (f"  {_step(row, names)}" for row in rows.calls if not row.branch)
    said = [shown(row.text, 2_000) for row in rows.session if row.text]
    chained = [line] if line else []
    return "\n".join([summary(rows), *chained, *steps, *_notes(rows), *said])


def _step(row: CallRow, names: Mapping[str, Sequence[str]]) -> str:
    mark = {"succeeded": "✓", "failed": "✗", "rejected": "∅", "answered": "☺"}.get(row.status, "…")
    line = f"{mark} {row.step} {row.tool}({row.what})"
    if row.id in names and not row.error:
        line += f" → {', '.join(names[row.id])}"
    elif row.error or row.result not in ("", "ok"):
        line += f": {row.error or row.result}"
    line += " (from memory)" * row.memory + " (may be stale)" * row.stale
    return shown(line + " (outdated)" * bool(row.outdated))


def _notes(rows: Rows) -> Iterator[str]:
    """Yield what is to be known of objects, and why something is outdated."""
    for row in rows.objects:
        if row.note and not row.branch:
            yield shown(f"  {row.name}: {row.note}")
    for call in rows.calls:
        if not call.branch:
            why = [f"outdated: {call.outdated}"] if call.outdated else []
            yield from (shown(f"  {call.step} {call.tool}: {said}") for said in (*call.notes, *why))


def summary(rows: Rows) -> str:
    """Return one line: how the session ended, with how much, and what was changed."""
    session = next(iter(rows.session), SessionRow())
    count = len([row for row in rows.calls if not row.branch])
    parts = [session.says or "Session", f"{count} call{'' if count == 1 else 's'}"]
    shown_branches = [row for row in rows.branches if not row.hidden]
    if len(shown_branches) > 1:
        parts.append(f"{len(shown_branches)} branches")
    if session.remembered:
        parts.append(f"{session.ran} ran, {session.remembered} from memory")
    parts += [f"saved {row.name} as {row.saved}" for row in _saved(rows)]
    parts += [f"call {row.step} edited" for row in rows.calls if row.edited and not row.branch]
    return " · ".join(shown(part, 80) for part in parts)


def _saved(rows: Rows) -> Iterable[ObjectRow]:
    return (row for row in rows.objects if row.saved and not row.branch)


# -- the picture --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spot:
    """An object and where its tile's middle is."""

    row: ObjectRow
    x: float
    y: float


def svg(rows: Rows) -> str:
    """Return the lineage as an SVG picture."""
    drawn, folded = _columns(rows.objects)
    spots = _spots(rows.objects, drawn)
    lines = [] if spots else _lines(rows)
    right = max((spot.x for spot in spots.values()), default=400) + 100
    bottom = max((spot.y + 78 for spot in spots.values()), default=24 + 18 * max(len(lines), 1))
    width, height = max(right, 640), bottom + 36
    parts = [
        *_ground(width, height, rows),
        *(part for call in rows.calls for part in _edges(call, spots)),
        *(_tile(spot) for spot in spots.values()),
        *_stack(folded, spots),
        *_labels(rows, spots),
        *(_text(16, 30 + 18 * n, line, INK, mono=True) for n, line in enumerate(lines)),
    ]
    label = escape(f"Object lineage: {summary(rows)}", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-label="{label}" '
        f'font-family="{SANS}" font-size="11">\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _columns(objects: Sequence[ObjectRow]) -> tuple[dict[float, int], int]:
    """Return which columns are drawn, and where; and how many are folded away."""
    columns = sorted({row.column for row in objects if row.used})
    if len(columns) <= COLUMNS:
        return {column: n for n, column in enumerate(columns)}, 0
    kept = [*columns[:HEAD], *columns[HEAD - COLUMNS + 1 :]]
    places = {c: n if n < HEAD else n + 1 for n, c in enumerate(kept)}
    return places, len(columns) - len(kept)


def _spots(objects: Sequence[ObjectRow], drawn: dict[float, int]) -> dict[str, Spot]:
    used = [row for row in objects if row.used and row.column in drawn and row.role != "output"]
    # The main line first: of many inputs above it, or lines below, the nearest are drawn.
    top = max(min((row.lane for row in used), default=0), -ABOVE)
    lanes = [row for row in used if top <= row.lane <= BELOW]
    return {
        row.id: Spot(row, 60 + PITCH * drawn[row.column], 48 + LANE * (row.lane - top))
        for row in lanes
    }


def _ground(width: float, height: float, rows: Rows) -> Iterator[str]:
    yield (
        f'<rect x=".5" y=".5" width="{width - 1:g}" height="{height - 1:g}" rx="4" '
        'fill="#fff" stroke="#d9d9d9"/>'
    )
    yield f'<path d="M.5 {height - 36:g}H{width - 0.5:g}" stroke="#e6e6e6"/>'
    yield _text(16, height - 14, summary(rows), MUTED)
    yield _text(width - 16, height - 14, "jupyter-toolcall", MUTED, anchor="end")


def _lines(rows: Rows) -> list[str]:
    """Return the last steps in words, where no call made or used an object; or what was said."""
    steps = [_step(row, {}) for row in rows.calls if not row.branch]
    lines = steps or [line for row in rows.session for line in row.text.splitlines()]
    return [shown(line, 95) for line in lines[-LINES:]]


def _edges(call: CallRow, spots: dict[str, Spot]) -> Iterator[str]:
    target = spots.get(call.object)
    if target is None or (target.row.call != call.id and target.row.role == "made"):
        return
    others = [s for s in spots.values() if s.row.call == call.id and s is not target]
    for use in call.uses:
        source = spots.get(use.object)
        # Beside a branch left behind, only its line is drawn: the rest is its twin's.
        if source is not None and source is not target and (use.receiver or not call.branch):
            yield from _edge(source, target, call, use.parameter, use.receiver)
            for other in others if use.receiver or not any(u.receiver for u in call.uses) else ():
                yield from _edge(source, other, call, "", False)


def _edge(source: Spot, target: Spot, call: CallRow, parameter: str, main: bool) -> Iterator[str]:
    ink = PALE if call.branch else BAD if call.status == "failed" else INK if main else LINE
    if source.x == target.x:
        y = source.y + 63 if source.y < target.y else source.y - 30
        yield f'<path d="M{source.x:g} {y:g}V{target.y - 36:g}" stroke="{ink}"/>'
        yield _arrow(target.x, target.y - 29, ink, down=True)
        yield _text(source.x + 8, y + 15, shown(parameter, 16), MUTED)
        return
    begin, end = source.x + 28, target.x - 34
    middle = (begin + end) / 2
    path = (
        f"H{end:g}"
        if source.y == target.y
        else f"C{middle + 10:g} {source.y:g} {middle:g} {target.y:g} {end:g} {target.y:g}"
    )
    style = f'fill="none" stroke="{ink}" stroke-width="1.25"'
    yield f'<path d="M{begin:g} {source.y:g}{path}" {style}/>'
    yield _arrow(target.x - 28, target.y, ink, down=False)
    if main:
        y = target.y - 8 if source.y == target.y else target.y + 20
        text_ink = MUTED if call.branch else ink
        yield _text(
            middle, y, shown(call.tool, 14), text_ink, anchor="middle", mono=True, halo=True
        )


def _arrow(x: float, y: float, ink: str, down: bool) -> str:
    head = "l-3.5 -7h7z" if down else "l-7 -3.5v7z"
    return f'<path d="M{x:g} {y:g}{head}" fill="{ink}"/>'


def _tile(spot: Spot) -> str:
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
    name, caption = shown(row.name, 20), shown(_caption(row), 22)
    y = 45 if row.saved and not pale else 41
    parts.append(_text(0, y, name, MUTED if pale else INK, anchor="middle", size=12, weight=weight))
    parts.append(_text(0, y + 15, caption, MUTED, anchor="middle"))
    return "".join([*parts, "</g>"])


def _caption(row: ObjectRow) -> str:
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


def _stack(folded: int, spots: dict[str, Spot]) -> Iterator[str]:
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
    yield _text(x, y + 4, f"+{folded}", INK, anchor="middle", size=12, weight="600")
    yield _text(x, y + 41, f"{folded} steps", MUTED, anchor="middle")


def _labels(rows: Rows, spots: dict[str, Spot]) -> Iterator[str]:
    """The names of the branches, behind their last objects."""
    if len(rows.branches) < 2:
        return
    current = next((branch.name for branch in rows.branches if branch.current), "")
    names = {branch.id: branch.name for branch in rows.branches}
    ends: dict[str, Spot] = {}
    for spot in spots.values():
        name = names.get(spot.row.branch, current)
        if spot.row.role == "made" and (name not in ends or ends[name].x < spot.x):
            ends[name] = spot
    for name, spot in ends.items():
        ink, weight = (INK, "600") if name == current else (MUTED, "400")
        yield _text(spot.x + 36, spot.y + 4, shown(name, 14), ink, size=12, weight=weight)


def _text(
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
    style = f' font-family="{MONO}"' if mono else ""
    style += f' font-size="{size - 0.5 if mono else size:g}"' if size != 11 or mono else ""
    style += f' font-weight="{weight}"' if weight != "400" else ""
    style += f' text-anchor="{anchor}"' if anchor != "start" else ""
    style += ' paint-order="stroke" stroke="#fff" stroke-width="4"' if halo else ""
    return f'<text x="{x:g}" y="{y:g}" fill="{ink}"{style}>{escape(said)}</text>'
