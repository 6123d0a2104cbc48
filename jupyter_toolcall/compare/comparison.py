"""A comparison of two branches: its data, and how it is shown: as text, or as a page by itself.

The page has no script, no style sheet, and nothing from elsewhere. What differs is marked as
deleted and inserted, as code hosts show it, so it reads without any style. Every text is escaped;
a colour is a tint that reads on a light and on a dark ground.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from typing import Any, Literal, TypeGuard

from ..core.call_record import CallRecord
from ..core.text import LINES, count_text, printable, visible_text
from ..models.prices import Cost
from .branch_totals import BranchTotals
from .differences import (
    ARROW,
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
from .values import shown

CALLS, NAMES = 200, 6
"""So many calls that differ are listed, and so many tools named in a line."""
TEXT_LINES, TEXT_CELLS = 12, 12
PAGE_LINES, PAGE_CELLS = 40, 24
NAME_WIDTH = 16
OBJECT_NAME = re.compile(r"[A-Za-z_]\w*#[1-9]\d*")
Aspect = Literal["tool", "argument", "status", "result", "error", "prints", "reason"]


@dataclass(frozen=True, slots=True)
class Side:
    """A branch, and what it used."""

    name: str
    head: str
    calls: int = 0
    totals: BranchTotals = field(default_factory=BranchTotals)

    @property
    def cost(self) -> Cost | None:
        return self.totals.cost


@dataclass(frozen=True, slots=True)
class Change:
    """Something in which two calls differ; `name` is the argument's."""

    what: Aspect
    name: str
    difference: Difference


@dataclass(frozen=True, slots=True)
class ObjectPair:
    """An object on either side, "" where there is none, and how their values differ."""

    left: str
    right: str
    kind: str
    difference: Difference

    @property
    def same(self) -> bool:
        return isinstance(self.difference, Same)


@dataclass(frozen=True, slots=True)
class CallPair:
    """A call on either side, None where there is none."""

    left: CallRecord | None
    right: CallRecord | None
    shared: bool = False
    """It is one and the same call of both."""
    changes: tuple[Change, ...] = ()
    objects: tuple[ObjectPair, ...] = ()
    cached: tuple[bool, bool] = (False, False)
    """Whether the result of each was taken from the cache."""

    @property
    def same(self) -> bool:
        """Whether the same was asked for, and came to the same."""
        both = self.left is not None and self.right is not None
        return both and not self.changes and all(pair.same for pair in self.objects)

    @property
    def call(self) -> CallRecord:
        """The call on the right, else the one on the left."""
        call = self.right or self.left
        assert call is not None
        return call

    @property
    def tool(self) -> str:
        return self.call.tool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two branches side by side. Printed it is a text, displayed it is a page without script."""

    left: Side
    right: Side
    calls: tuple[CallPair, ...] = ()
    inputs: tuple[ObjectPair, ...] = ()
    """What each began with."""
    text: Difference = field(default_factory=Same)
    """How the last replies differ."""

    @property
    def same(self) -> bool:
        """Whether nothing differs: no call, no object, no word."""
        same = all(pair.same for pair in self.calls) and all(pair.same for pair in self.inputs)
        return same and isinstance(self.text, Same)

    @property
    def differing(self) -> tuple[CallPair, ...]:
        """The calls that differ."""
        return tuple(pair for pair in self.calls if not pair.same)

    @property
    def objects(self) -> Iterator[ObjectPair]:
        """All objects in pairs, oldest first, each once."""
        every_pair = (*self.inputs, *(made for pair in self.calls for made in pair.objects))
        yield from {(pair.left, pair.right): pair for pair in every_pair}.values()

    def __str__(self) -> str:
        return comparison_text(self)

    def _repr_html_(self) -> str:
        return comparison_html(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        text = printable(comparison_text(self), LINES)
        return {"text/html": comparison_html(self), "text/plain": text}


# -- what both have ----------------------------------------------------------------------------


def _headline(comparison: Comparison) -> str:
    """Return one line: which branches, and how much differs."""
    left, right = (visible_text(side.name, 60) for side in (comparison.left, comparison.right))
    calls, count = count_text(len(comparison.calls), "call"), len(comparison.differing)
    if comparison.same:
        return f"{left} {ARROW} {right}: no difference in {calls}"
    if not count:
        return f"{left} {ARROW} {right}: the same {calls}"
    return f"{left} {ARROW} {right}: {count:,} of {calls} {'differs' if count == 1 else 'differ'}"


def _listed(comparison: Comparison) -> Iterator[tuple[str, str | CallPair]]:
    """Yield steps, with a pair that differs, or a line for calls that are the same.

    The last line may have no step: it counts the pairs that are left out.
    """
    count = 0
    for kind, run in groupby(comparison.calls, lambda pair: (pair.same, pair.same and pair.shared)):
        group = [*run]
        if kind[0]:
            first, last = group[0].call.step, group[-1].call.step
            steps = str(first) if len(group) == 1 else f"{first}–{last}"
            yield steps, _same_line(group)
            continue
        yield from ((str(pair.call.step), pair) for pair in group[: max(0, CALLS - count)])
        count += len(group)
    if count > CALLS:
        yield "", f"and {count - CALLS:,} more calls that differ"


def _same_line(group: Sequence[CallPair]) -> str:
    tools = [pair.tool for pair in group]
    names = visible_text(
        ", ".join(tools) if len(tools) <= NAMES else count_text(len(tools), "call")
    )
    if group[0].shared:
        return f"{names}: the same in both"
    cached = all(pair.cached[1] for pair in group)
    return f"{names}: the same{', cached' if cached else ''}"


def _arguments(call: CallRecord) -> Iterator[tuple[str, str]]:
    """Yield the arguments of a call as they read; an object is its name."""
    for key, value in call.arguments.items():
        yield key, value if is_object(value) else shown(value)


def is_object(value: object) -> TypeGuard[str]:
    """Return whether an argument reads as the name of an object."""
    return isinstance(value, str) and OBJECT_NAME.fullmatch(value) is not None


def _object_name(pair: ObjectPair) -> str:
    """Return the name of an object, both names where they differ."""
    return f" {ARROW} ".join(dict.fromkeys(name for name in (pair.left, pair.right) if name))


def _totals(side: Side) -> str:
    """Return what a side used: calls, tokens, money.

    Not the time: what is printed below a cell is the same when the cell runs again.
    """
    totals = side.totals
    cached = f", {totals.cached:,} cached" if totals.cached else ""
    tokens = f"{totals.tokens:,} tokens" if totals.tokens else ""
    parts = [f"{count_text(totals.ran, 'call')} ran{cached}", tokens, str(side.cost or "")]
    return " · ".join(filter(None, parts))


# -- text --------------------------------------------------------------------------------------


def comparison_text(comparison: Comparison) -> str:
    """Return a comparison as text."""
    lines = [_headline(comparison)]
    inputs = [pair for pair in comparison.inputs if not pair.same]
    lines += ["  began with"] * bool(inputs)
    for pair in inputs:
        lines += _difference_lines(_object_name(pair), pair.difference)
    for steps, row in _listed(comparison):
        if isinstance(row, str):
            lines.append(f"  {steps:<5} {row}" if steps else f"  {row}")
        else:
            lines += _pair_lines(steps, row, comparison)
    if not isinstance(comparison.text, Same):
        lines += ["  said last", *_difference_lines("", comparison.text)]
    names = [visible_text(side.name, 60) for side in (comparison.left, comparison.right)]
    width = max(map(len, names))
    for name, side in zip(names, (comparison.left, comparison.right), strict=True):
        lines.append(f"{name:<{width}}  {_totals(side)}")
    return "\n".join(lines)


def _pair_lines(steps: str, pair: CallPair, comparison: Comparison) -> Iterator[str]:
    left, right = pair.left, pair.right
    if left is None or right is None:
        side = comparison.left if right is None else comparison.right
        arguments = ", ".join(f"{key}={value}" for key, value in _arguments(pair.call))
        call = visible_text(f"{pair.tool}({arguments})")
        yield f"  {steps:<5} only in {visible_text(side.name, 60)}: {call}"
    else:
        tools = f" {ARROW} ".join(dict.fromkeys([left.tool, right.tool]))
        sides = (left, comparison.left), (right, comparison.right)
        edited = " and ".join(visible_text(side.name, 60) for call, side in sides if call.edited)
        yield f"  {steps:<5} {visible_text(tools)}{f', edited in {edited}' if edited else ''}"
    for change in pair.changes:
        if change.what != "tool":
            yield from _difference_lines(change.name or change.what, change.difference)
    for made in pair.objects:
        if not made.same:
            yield from _difference_lines(_object_name(made), made.difference)


def _difference_lines(name: str, difference: Difference) -> Iterator[str]:
    for part_name, part in parts(difference):
        line = f"{part_name}: {in_a_line(part)}" if part_name else in_a_line(part)
        yield f"          {visible_text(name, 40):<{NAME_WIDTH}} {visible_text(line, 300)}"
        name = ""
        for detail in _details(part):
            yield f"          {'':<{NAME_WIDTH}}   {visible_text(detail)}"


def _details(difference: Difference) -> Iterator[str]:
    match difference:
        case Texts(lines):
            for line in lines[:TEXT_LINES]:
                if line.same:
                    yield f"  {line.left}"
                    continue
                yield from [f"- {line.left}"] * (line.left is not None)
                yield from [f"+ {line.right}"] * (line.right is not None)
            if len(lines) > TEXT_LINES:
                yield "…"
        case Tables(cells=cells, changed=changed):
            for cell in cells[:TEXT_CELLS]:
                yield f"{cell.row}, {cell.column}: {cell.left} {ARROW} {cell.right}"
            if changed > TEXT_CELLS:
                yield f"… and {changed - TEXT_CELLS:,} more"


# -- a page ------------------------------------------------------------------------------------

RULE = "1px solid rgba(127,127,127,.35)"
TINT = "background:rgba(33,118,210,.16);text-decoration-thickness:2px"
FONT = "font:13px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;max-width:960px"
CODE = "font:12px/1.6 Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre-wrap"
PLAIN = "font:inherit;vertical-align:top;text-align:left;padding:2px 12px;border:0"
CELL = f"{PLAIN};padding:8px 12px 6px;border-top:{RULE}"
"""Of a row that begins something; what belongs to it stands below, without a rule."""
STEP = "white-space:nowrap;width:1%"
QUIET = "opacity:.75"


def comparison_html(comparison: Comparison) -> str:
    """Return a comparison as HTML."""
    sides = comparison.left, comparison.right
    heads = "".join(
        f'<th scope="col" style="{CELL}"><b>{_text(side.name)}</b></th>' for side in sides
    )
    feet = "".join(f'<td style="{CELL}">{_quiet(_totals(side))}</td>' for side in sides)
    return (
        f'<div style="{FONT}"><p style="margin:0 0 8px"><b>{_text(_headline(comparison))}</b></p>'
        '<table style="font:inherit;border-collapse:collapse;width:100%">'
        f'<thead><tr><th scope="col" style="{CELL};{STEP}">call</th>{heads}</tr></thead>'
        f"<tbody>{''.join(_table_rows(comparison))}"
        f'<tr><th style="{CELL};{STEP}"></th>{feet}</tr></tbody></table></div>'
    )


def _table_rows(comparison: Comparison) -> Iterator[str]:
    inputs = [pair for pair in comparison.inputs if not pair.same]
    if inputs:
        yield _row("–", "began with")
    for pair in inputs:
        yield from _difference_rows(_object_name(pair), pair.difference)
    for steps, row in _listed(comparison):
        if isinstance(row, str):
            yield _row(steps or "…", _quiet(f"= {row}" if steps else row))
        else:
            yield from _pair_rows(steps, row)
    if not isinstance(comparison.text, Same):
        yield _row("–", "said last")
        yield from _difference_rows("", comparison.text)


def _text(text: str, limit: int = 400) -> str:
    return escape(visible_text(text, limit), quote=True)


def _quiet(text: str) -> str:
    return f'<span style="{QUIET}">{_text(text)}</span>'


def _marked(text: str, mark: str, limit: int = 200) -> str:
    return f'<{mark} style="{TINT}">{_text(text, limit)}</{mark}>'


def _row(step: str, *cells: str) -> str:
    """A row of both sides; a single cell goes across, and one without a step belongs above."""
    look = CELL if step else PLAIN
    span = ' colspan="2"' if len(cells) == 1 else ""
    cells_html = "".join(f'<td{span} style="{look}">{cell}</td>' for cell in cells)
    head = f'<th scope="row" style="{look};{STEP};font-weight:400">{_text(step)}</th>'
    return f'<tr style="background:none">{head}{cells_html}</tr>'


def _pair_rows(steps: str, pair: CallPair) -> Iterator[str]:
    yield _row(steps, _call(pair.left, pair, "del"), _call(pair.right, pair, "ins"))
    for change in pair.changes:
        if change.what not in ("tool", "argument"):
            yield from _difference_rows(change.what, change.difference)
        elif not isinstance(change.difference, (Others, Numbers)):
            yield from _difference_rows(change.name, change.difference)
    for made in pair.objects:
        if not made.same:
            yield from _difference_rows(_object_name(made), made.difference)


def _call(call: CallRecord | None, pair: CallPair, mark: str) -> str:
    """A call with the arguments marked that differ."""
    if call is None:
        return _quiet("not called")
    marked = {change.name for change in pair.changes if change.what == "argument"}
    alone = pair.left is None or pair.right is None
    other = alone or any(change.what == "tool" for change in pair.changes)
    tool = _marked(call.tool, mark) if other else _text(call.tool)
    arguments = ", ".join(
        f"{_text(name, 40)}={_marked(value, mark) if alone or name in marked else _text(value)}"
        for name, value in _arguments(call)
    )
    edited = f" {_quiet('edited')}" if call.edited else ""
    return f'<code style="{CODE}">{tool}({arguments})</code>{edited}'


def _difference_rows(name: str, difference: Difference) -> Iterator[str]:
    for part_name, part in parts(difference):
        title = f"{f'<b>{_text(name, 60)}</b>' if name else ''} {_text(part_name, 80)}".strip()
        match part:
            case Others(left, right):
                yield _row("", _value(title, left, "del"), _value(title, right, "ins"))
            case Images(left, right):
                yield _row("", f"{title} {_quiet(in_a_line(part))}")
                yield _row("", _picture(left, "left"), _picture(right, "right"))
                if part.where.address:
                    yield _row("", _picture(part.where, "difference"))
            case Texts(lines):
                yield _row("", f"{title} {_quiet(in_a_line(part))}")
                yield _row("", _lines(lines, 0, "del"), _lines(lines, 1, "ins"))
            case Tables():
                yield _row("", f"{title} {_quiet(in_a_line(part))}{_cells(part)}")
            case _:
                yield _row("", f"{title} {_text(in_a_line(part))}")


def _value(title: str, value: str | None, mark: str) -> str:
    text = _quiet("–") if value is None else _marked(value, mark)
    return f'{title} <code style="{CODE}">{text}</code>'


def _picture(picture: Picture, side: str) -> str:
    if not picture.address:
        return _quiet("no picture of it here")
    size = "max-width:100%;max-height:320px;background:#fff"
    return f'<img alt="{side}" src="{escape(picture.address, quote=True)}" style="{size}">'


def _lines(lines: tuple[Line, ...], side: int, mark: str) -> str:
    """One side of a text; where lines are left out there is an ellipsis."""
    out, before = [], 0
    for line in lines[:PAGE_LINES]:
        text, at = (line.left, line.right)[side], line.at[side]
        if text is None:
            out.append("")
            continue
        out += ["…"] if at > before + 1 else []
        out.append(_text(text) if line.same else _marked(text or "␣", mark))
        before = at
    out += ["…"] if len(lines) > PAGE_LINES else []
    return f'<code style="{CODE}">{"<br>".join(out)}</code>'


def _cells(tables: Tables) -> str:
    if not tables.cells:
        return ""

    def cell(text: str, mark: str = "") -> str:
        inner = _marked(text, mark, 80) if mark else _text(text, 80)
        return f'<td style="{PLAIN}"><code style="{CODE}">{inner}</code></td>'

    rows = "".join(
        f"<tr>{cell(each.row)}{cell(each.column)}"
        f"{cell(each.left, 'del')}{cell(each.right, 'ins')}</tr>"
        for each in tables.cells[:PAGE_CELLS]
    )
    more = tables.changed - min(PAGE_CELLS, len(tables.cells))
    left_out = f"<br>{_quiet(f'and {more:,} more')}" if more > 0 else ""
    heads = "".join(f'<th style="{PLAIN}">{each}</th>' for each in ("row", "column", "", ""))
    look = "font:inherit;border-collapse:collapse;margin:0 -12px"
    return f'<table style="{look}"><tr>{heads}</tr>{rows}</table>{left_out}'
