"""A comparison as a page that stands by itself: no script, no style sheet, nothing from elsewhere.

What differs is marked as deleted and inserted, so it reads without any style, as code hosts
show it. Every text is escaped; a colour is a tint that reads on a light and on a dark ground.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby

from ..core.call_record import CallRecord
from ..core.text import visible_text
from .as_text import CALLS, arguments, headline, kind_of, object_name, same_line, steps, took
from .branch_calls import CallPair, Compared, ObjectPair
from .differences import (
    Difference,
    Images,
    Line,
    Numbers,
    Others,
    Picture,
    Same,
    Tables,
    Texts,
    in_a_line,
    parts,
)

LINES, CELLS = 40, 24
RULE = "1px solid rgba(127,127,127,.35)"
TINT = "background:rgba(33,118,210,.16);text-decoration-thickness:2px"
FONT = "font:13px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;max-width:960px"
CODE = "font:12px/1.6 Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre-wrap"
PLAIN = "font:inherit;vertical-align:top;text-align:left;padding:2px 12px;border:0"
CELL = f"{PLAIN};padding:8px 12px 6px;border-top:{RULE}"
"""Of a row that begins something; what belongs to it stands below, without a rule."""
STEP = "white-space:nowrap;width:1%"
QUIET = "opacity:.75"


def page(compared: Compared) -> str:
    """Return a comparison as HTML."""
    sides = compared.left, compared.right
    heads = "".join(
        f'<th scope="col" style="{CELL}"><b>{_text(side.name)}</b></th>' for side in sides
    )
    feet = "".join(f'<td style="{CELL}">{_quiet(took(side))}</td>' for side in sides)
    rows = "".join([*_inputs(compared), *_calls(compared), *_said(compared)])
    return (
        f'<div style="{FONT}"><p style="margin:0 0 8px"><b>{_text(headline(compared))}</b></p>'
        '<table style="font:inherit;border-collapse:collapse;width:100%">'
        f'<thead><tr><th scope="col" style="{CELL};{STEP}">call</th>{heads}</tr></thead>'
        f'<tbody>{rows}<tr><th style="{CELL};{STEP}"></th>{feet}</tr></tbody></table></div>'
    )


def _text(text: str, limit: int = 400) -> str:
    return escape(visible_text(text, limit), quote=True)


def _quiet(text: str) -> str:
    return f'<span style="{QUIET}">{_text(text)}</span>'


def _row(step: str, *cells: str) -> str:
    """A row of both sides; a single cell goes across, and one without a step belongs above."""
    look = CELL if step else PLAIN
    span = ' colspan="2"' if len(cells) == 1 else ""
    shown_cells = "".join(f'<td{span} style="{look}">{cell}</td>' for cell in cells)
    head = f'<th scope="row" style="{look};{STEP};font-weight:400">{_text(step)}</th>'
    return f'<tr style="background:none">{head}{shown_cells}</tr>'


# -- what stands in the rows ----------------------------------------------------------------


def _inputs(compared: Compared) -> Iterator[str]:
    differing = [pair for pair in compared.inputs if not pair.same]
    if differing:
        yield _row("–", "began with")
    for pair in differing:
        yield from _difference(object_name(pair), pair.difference)


def _calls(compared: Compared) -> Iterator[str]:
    told = 0
    for kind, run in groupby(compared.calls, key=kind_of):
        found = [*run]
        if kind:
            yield _row(steps(found), _quiet(f"= {same_line(found)}"))
            continue
        for pair in found[: max(0, CALLS - told)]:
            yield from _pair(pair)
        told += len(found)
    if told > CALLS:
        yield _row("…", _quiet(f"and {told - CALLS:,} more calls that differ"))


def _pair(pair: CallPair) -> Iterator[str]:
    yield _row(steps([pair]), _call(pair.left, pair, "del"), _call(pair.right, pair, "ins"))
    for change in pair.changes:
        if change.what not in ("tool", "argument"):
            yield from _difference(change.what, change.difference)
        elif not isinstance(change.difference, (Others, Numbers)):
            yield from _difference(change.name, change.difference)
    for made in pair.objects:
        if not made.same:
            yield from _object(made)


def _call(call: CallRecord | None, pair: CallPair, mark: str) -> str:
    """A call with the arguments marked that differ."""
    if call is None:
        return _quiet("not called")
    marked = {change.name for change in pair.changes if change.what == "argument"}
    alone = pair.left is None or pair.right is None
    other = alone or any(change.what == "tool" for change in pair.changes)
    tool = _marked(call.tool, mark) if other else _text(call.tool)
    given = [
        f"{_text(name, 40)}={_marked(value, mark) if alone or name in marked else _text(value)}"
        for name, value in arguments(call)
    ]
    edited = f" {_quiet('edited')}" if call.edited else ""
    return f'<code style="{CODE}">{tool}({", ".join(given)})</code>{edited}'


def _marked(text: str, mark: str, limit: int = 200) -> str:
    return f'<{mark} style="{TINT}">{_text(text, limit)}</{mark}>'


def _object(pair: ObjectPair) -> Iterator[str]:
    yield from _difference(object_name(pair), pair.difference)


def _difference(name: str, difference: Difference) -> Iterator[str]:
    for place, part in parts(difference):
        title = f"{f'<b>{_text(name, 60)}</b>' if name else ''} {_text(place, 80)}".strip()
        match part:
            case Others(left, right):
                yield _row("", *(_side(title, *each) for each in ((left, "del"), (right, "ins"))))
            case Images(left, right):
                yield _row("", f"{title} {_quiet(in_a_line(part))}")
                yield _row("", _picture(left, "left"), _picture(right, "right"))
            case Texts(lines):
                yield _row("", f"{title} {_quiet(in_a_line(part))}")
                yield _row("", _lines(lines, 0, "del"), _lines(lines, 1, "ins"))
            case Tables():
                yield _row("", f"{title} {_quiet(in_a_line(part))}{_cells(part)}")
            case _:
                yield _row("", f"{title} {_text(in_a_line(part))}")


def _side(title: str, value: str | None, mark: str) -> str:
    said = _quiet("–") if value is None else _marked(value, mark)
    return f'{title} <code style="{CODE}">{said}</code>'


def _picture(picture: Picture, side: str) -> str:
    if not picture.address:
        return _quiet("no picture of it here")
    size = "max-width:100%;max-height:320px;background:#fff"
    return f'<img alt="{side}" src="{escape(picture.address, quote=True)}" style="{size}">'


def _lines(lines: tuple[Line, ...], side: int, mark: str) -> str:
    """One side of a text; where lines are left out there is an ellipsis."""
    out, before = [], 0
    for line in lines[:LINES]:
        text, at = (line.left, line.right)[side], line.at[side]
        if text is None:
            out.append("")
            continue
        out += ["…"] if at > before + 1 else []
        out.append(_text(text) if line.same else _marked(text or "␣", mark))
        before = at
    out += ["…"] if len(lines) > LINES else []
    return f'<code style="{CODE}">{"<br>".join(out)}</code>'


def _cells(found: Tables) -> str:
    if not found.cells:
        return ""
    rows = "".join(
        f"<tr>{_td(cell.row)}{_td(cell.column)}{_td(cell.left, 'del')}{_td(cell.right, 'ins')}</tr>"
        for cell in found.cells[:CELLS]
    )
    more = found.changed - min(CELLS, len(found.cells))
    rest = f"<br>{_quiet(f'and {more:,} more')}" if more > 0 else ""
    heads = "".join(f'<th style="{PLAIN}">{each}</th>' for each in ("row", "column", "", ""))
    look = "font:inherit;border-collapse:collapse;margin:0 -12px"
    return f'<table style="{look}"><tr>{heads}</tr>{rows}</table>{rest}'


def _td(text: str, mark: str = "") -> str:
    shown_text = _marked(text, mark, 80) if mark else _text(text, 80)
    return f'<td style="{PLAIN}"><code style="{CODE}">{shown_text}</code></td>'


def _said(compared: Compared) -> Iterator[str]:
    if not isinstance(compared.text, Same):
        yield _row("–", "said last")
        yield from _difference("", compared.text)
