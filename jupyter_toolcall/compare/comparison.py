"""A comparison of two branches: its data, and how it is shown: as text, or as a page by itself.

The page has no script, no style sheet, and nothing from elsewhere. What differs is marked as
deleted and inserted, as code hosts show it, so it reads without any style. Every text is escaped;
a colour is a tint that reads on a light and on a dark ground.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from typing import Any, Literal

from ..core.call_record import CallRecord
from ..core.state import NAME
from ..core.text import LINES, count_text, printable, visible_text
from ..models.prices import Cost
from .branch_totals import BranchTotals
from .differences import (
    ARROW,
    Difference,
    Images,
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
TEXT_DETAILS, PAGE_DETAILS = 12, 40
"""So many lines or cells are shown of a difference."""
NAME_WIDTH = 16
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
        every_pair = (*self.inputs, *(pair for call in self.calls for pair in call.objects))
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


@dataclass(frozen=True, slots=True)
class Part:
    """A paragraph of a comparison: a line, and the differences below it, each with its name."""

    steps: str
    line: str
    same: bool = False
    differences: tuple[tuple[str, Difference], ...] = ()


def _paragraphs(comparison: Comparison) -> Iterator[Part]:
    """Yield all that is shown of a comparison, from its inputs to its last replies."""
    inputs = tuple(_objects(comparison.inputs))
    if inputs:
        yield Part("–", "began with", differences=inputs)
    count = 0
    for kind, run in groupby(comparison.calls, lambda pair: (pair.same, pair.same and pair.shared)):
        group = [*run]
        if kind[0]:
            first, last = group[0].call.step, group[-1].call.step
            steps = str(first) if len(group) == 1 else f"{first}–{last}"
            yield Part(steps, _same_line(group), same=True)
            continue
        for pair in group[: max(0, CALLS - count)]:
            changes = [(c.name or c.what, c.difference) for c in pair.changes if c.what != "tool"]
            line, differences = _pair_line(pair, comparison), (*changes, *_objects(pair.objects))
            yield Part(str(pair.call.step), line, differences=differences)
        count += len(group)
    if count > CALLS:
        yield Part("", f"and {count - CALLS:,} more calls that differ", same=True)
    if not isinstance(comparison.text, Same):
        yield Part("–", "said last", differences=(("", comparison.text),))


def _objects(pairs: Sequence[ObjectPair]) -> Iterator[tuple[str, Difference]]:
    """Yield the objects that differ, each by its name, or by both names."""
    for pair in pairs:
        if not pair.same:
            names = dict.fromkeys(name for name in (pair.left, pair.right) if name)
            yield f" {ARROW} ".join(names), pair.difference


def _pair_line(pair: CallPair, comparison: Comparison) -> str:
    """Return the tool of two calls, or the call that one branch alone has."""
    left, right = pair.left, pair.right
    sides = (left, comparison.left), (right, comparison.right)
    names = {id(call): visible_text(side.name, 60) for call, side in sides if call is not None}
    if left is None or right is None:
        arguments = ", ".join(f"{key}={_argument(v)}" for key, v in pair.call.arguments.items())
        return f"only in {names[id(pair.call)]}: {visible_text(f'{pair.tool}({arguments})')}"
    tools = f" {ARROW} ".join(dict.fromkeys([left.tool, right.tool]))
    edited = " and ".join(names[id(call)] for call in (left, right) if call.edited)
    return f"{visible_text(tools)}{f', edited in {edited}' if edited else ''}"


def _argument(value: object) -> str:
    """Return an argument as it reads; an object is its name."""
    is_object = isinstance(value, str) and NAME.fullmatch(value) is not None
    return str(value) if is_object else shown(value)


def _same_line(group: Sequence[CallPair]) -> str:
    tools = [pair.tool for pair in group]
    names = visible_text(
        ", ".join(tools) if len(tools) <= NAMES else count_text(len(tools), "call")
    )
    if group[0].shared:
        return f"{names}: the same in both"
    cached = all(pair.cached[1] for pair in group)
    return f"{names}: the same{', cached' if cached else ''}"


def _totals(side: Side) -> str:
    """Return what a side used: calls, tokens, money.

    Not the time: what is printed below a cell is the same when the cell runs again.
    """
    totals = side.totals
    cached = f", {totals.cached:,} cached" if totals.cached else ""
    tokens = f"{totals.tokens:,} tokens" if totals.tokens else ""
    parts = [f"{count_text(totals.ran, 'call')} ran{cached}", tokens, str(side.cost or "")]
    return " · ".join(filter(None, parts))


Detail = tuple[str, str | None, str | None]
"""The label of a cell ("" for a line), and what stands on either side, None where nothing does."""


def _details(difference: Difference, most: int) -> tuple[list[Detail], int]:
    """Return lines or cells of a difference, and how many of these are left out."""
    match difference:
        case Texts(lines):
            details = [("", line.left, line.right) for line in lines]
            return details[:most], max(0, len(details) - most)
        case Tables(cells=cells, changed=changed):
            named = [(f"{cell.row}, {cell.column}", cell.left, cell.right) for cell in cells[:most]]
            return [*named], changed - len(named)
    return [], 0


# -- text --------------------------------------------------------------------------------------


def comparison_text(comparison: Comparison) -> str:
    """Return a comparison as text."""
    lines = [_headline(comparison)]
    for part in _paragraphs(comparison):
        is_call = part.steps not in ("", "–")
        lines.append(f"  {part.steps:<5} {part.line}" if is_call else f"  {part.line}")
        for name, difference in part.differences:
            lines += _difference_lines(name, difference)
    names = [visible_text(side.name, 60) for side in (comparison.left, comparison.right)]
    width = max(map(len, names))
    for name, side in zip(names, (comparison.left, comparison.right), strict=True):
        lines.append(f"{name:<{width}}  {_totals(side)}")
    return "\n".join(lines)


def _difference_lines(name: str, difference: Difference) -> Iterator[str]:
    for part_name, part in parts(difference):
        line = f"{part_name}: {in_a_line(part)}" if part_name else in_a_line(part)
        yield f"          {visible_text(name, 40):<{NAME_WIDTH}} {visible_text(line, 300)}"
        name = ""
        details, hidden_count = _details(part, TEXT_DETAILS)
        lines = [line for detail in details for line in _detail_lines(*detail)]
        lines += [f"… and {hidden_count:,} more"] * (hidden_count > 0)
        yield from (f"          {'':<{NAME_WIDTH}}   {visible_text(line)}" for line in lines)


def _detail_lines(label: str, left: str | None, right: str | None) -> Iterator[str]:
    if label:
        yield f"{label}: {left} {ARROW} {right}"
    elif left == right:
        yield f"  {left}"
    else:
        yield from [f"- {left}"] * (left is not None)
        yield from [f"+ {right}"] * (right is not None)


# -- a page ------------------------------------------------------------------------------------

TINT = "background:rgba(33,118,210,.16);text-decoration-thickness:2px"
FONT = "font:13px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;max-width:960px"
CODE = "font:12px/1.6 Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre-wrap"
PLAIN = "font:inherit;vertical-align:top;text-align:left;padding:2px 12px;border:0"
CELL = f"{PLAIN};padding:8px 12px 6px;border-top:1px solid rgba(127,127,127,.35)"
"""Of a row that begins something; what belongs to it stands below, without a rule."""
STEP = "white-space:nowrap;width:1%"


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
    for part in _paragraphs(comparison):
        yield _row(part.steps or "…", _quiet(part.line) if part.same else _text(part.line))
        for name, difference in part.differences:
            for inner, fact in parts(difference):
                title = f"{f'<b>{_text(name, 60)}</b>' if name else ''} {_text(inner, 80)}".strip()
                yield from _difference_rows(title, fact)


def _text(text: str, limit: int = 400) -> str:
    return escape(visible_text(text, limit), quote=True)


def _quiet(text: str) -> str:
    return f'<span style="opacity:.75">{_text(text)}</span>'


def _row(step: str, *cells: str) -> str:
    """A row of both sides; a single cell goes across, and one without a step belongs above."""
    look = CELL if step else PLAIN
    span = ' colspan="2"' if len(cells) == 1 else ""
    cells_html = "".join(f'<td{span} style="{look}">{cell}</td>' for cell in cells)
    head = f'<th scope="row" style="{look};{STEP};font-weight:400">{_text(step)}</th>'
    return f'<tr style="background:none">{head}{cells_html}</tr>'


def _difference_rows(title: str, difference: Difference) -> Iterator[str]:
    match difference:
        case Others(left, right):
            yield _row("", *_both(title, left, right))
            return
        case Images(left, right, where=where):
            yield _row("", f"{title} {_quiet(in_a_line(difference))}")
            yield _row("", _picture(left, "left"), _picture(right, "right"))
            yield from [_row("", _picture(where, "difference"))] if where.address else []
            return
    yield _row("", f"{title} {_text(in_a_line(difference))}")
    details, hidden_count = _details(difference, PAGE_DETAILS)
    for label, left, right in details:
        yield _row("", *_both(_quiet(label), left, right))
    if hidden_count:
        yield _row("", _quiet(f"and {hidden_count:,} more"))


def _both(title: str, left: str | None, right: str | None) -> Iterator[str]:
    """Yield a value on both sides, marked where it differs."""
    for text, mark in ((left, "del"), (right, "ins")):
        shown_text = _text(text or "␣", 200)
        if text is None:
            yield f"{title} {_quiet('–')}"
        elif left == right:
            yield f'{title} <code style="{CODE}">{shown_text}</code>'
        else:
            marked = f'<{mark} style="{TINT}">{shown_text}</{mark}>'
            yield f'{title} <code style="{CODE}">{marked}</code>'


def _picture(picture: Picture, side: str) -> str:
    if not picture.address:
        return _quiet("no picture of it here")
    size = "max-width:100%;max-height:320px;background:#fff"
    return f'<img alt="{side}" src="{escape(picture.address, quote=True)}" style="{size}">'
