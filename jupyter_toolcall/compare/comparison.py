"""A comparison of two branches: its data, and how it is shown: as text, or as a page by itself.

Both have the same lines. The page has no script, no style sheet, and nothing from elsewhere. What
differs is marked as deleted and inserted, as code hosts show it, so it reads without any style.
Every text is escaped; a colour is a tint that reads on a light and on a dark ground.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from typing import Literal

from ..core.call_record import CallRecord
from ..core.state import NAME
from ..core.text import LINES, compared_numbers, count_text, printable, visible_text
from ..models.prices import Cost
from .branch_totals import BranchTotals
from .differences import (
    ARROW,
    NONE,
    Difference,
    Images,
    Line,
    Others,
    Same,
    Tables,
    Texts,
    in_a_line,
    parts,
)
from .values import shown

CALLS, NAMES = 200, 6
"""So many calls that differ are listed, and so many tools named in a line."""
DETAILS = 12
"""So many lines or cells are shown of a difference."""
NAME_WIDTH = 16
Aspect = Literal["tool", "code", "argument", "status", "result", "error", "prints", "reason"]


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

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
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
    tools = ", ".join(pair.tool for pair in group)
    names = visible_text(tools if len(group) <= NAMES else count_text(len(group), "call"))
    if group[0].shared:
        return f"{names}: the same in both"
    cached = all(pair.cached[1] for pair in group)
    return f"{names}: the same{', cached' if cached else ''}"


def _totals(side: Side) -> str:
    """Return what a side used: calls, tokens, money.

    Not the time: what is printed below a cell is the same when the cell runs again.
    """
    totals = side.totals
    tokens = f"{totals.tokens:,} tokens" if totals.tokens else ""
    parts = [str(totals), tokens, str(side.cost or "")]
    return " · ".join(filter(None, parts))


# -- lines, which are a text and a page -----------------------------------------------------------

Span = tuple[str, str]
"""The element of HTML that marks a text ("" for none), and the text; of an image its address."""
DELETED, INSERTED, IMAGE = "del", "ins", "img"


def _lines(comparison: Comparison) -> Iterator[list[Span]]:
    """Yield the lines of a comparison, each in spans."""
    yield [("b", _headline(comparison))]
    for part in _paragraphs(comparison):
        is_call = part.steps not in ("", "–")
        yield [("", f"  {part.steps:<5} {part.line}" if is_call else f"  {part.line}")]
        for name, difference in part.differences:
            yield from _difference_lines(name, difference)
    sides = comparison.left, comparison.right
    names = [visible_text(side.name, 60) for side in sides]
    width = max(map(len, names))
    for name, side in zip(names, sides, strict=True):
        yield [("", f"{name:<{width}}  {_totals(side)}")]


def _difference_lines(name: str, difference: Difference) -> Iterator[list[Span]]:
    below = " " * (13 + NAME_WIDTH)
    for part_name, part in parts(difference):
        title = f"{visible_text(part_name, 80)}: " if part_name else ""
        head = ("", f"          {visible_text(name, 40):<{NAME_WIDTH}} {title}")
        yield [head, *_spans(part)]
        name = ""
        details, hidden_count = _details(part)
        yield from ([("", below), *detail] for detail in details)
        if hidden_count > 0:
            yield [("", f"{below}… and {hidden_count:,} more")]


def _spans(difference: Difference) -> list[Span]:
    """Return a difference in one line, with the pictures of two images behind it."""
    match difference:
        case Others(left, right):
            return _change(left or NONE, right or NONE)
        case Images(left, right, where=where):
            addresses = [picture.address for picture in (left, right, where) if picture.address]
            return [("", in_a_line(difference)), *((IMAGE, address) for address in addresses)]
    return [("", visible_text(in_a_line(difference), 300))]


def _change(left: str, right: str) -> list[Span]:
    left, right = map(visible_text, compared_numbers(left, right))
    return [(DELETED, left), ("", f" {ARROW} "), (INSERTED, right)]


def _details(difference: Difference) -> tuple[list[list[Span]], int]:
    """Return lines or cells of a difference, and how many of these are left out."""
    match difference:
        case Texts(lines):
            details = [span for line in lines for span in _line_spans(line)]
            return details[:DETAILS], max(0, len(lines) - DETAILS)
        case Tables(cells=cells, changed=changed):
            named = ((visible_text(f"{c.row}, {c.column}: "), c) for c in cells[:DETAILS])
            details = [[("", name), *_change(cell.left, cell.right)] for name, cell in named]
            return details, changed - len(details)
    return [], 0


def _line_spans(line: Line) -> Iterator[list[Span]]:
    if line.same:
        yield [("", f"  {visible_text(line.left or '')}")]
        return
    for sign, mark, text in (("- ", DELETED, line.left), ("+ ", INSERTED, line.right)):
        if text is not None:
            yield [("", sign), (mark, visible_text(text))]


def comparison_text(comparison: Comparison) -> str:
    """Return a comparison as text."""
    lines = ([text for mark, text in line if mark != IMAGE] for line in _lines(comparison))
    return "\n".join(map("".join, lines))


LOOK = "font:12px/1.6 Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre-wrap"
TINT = "background:rgba(33,118,210,.16);text-decoration-thickness:2px"
SIZE = "max-width:45%;max-height:320px;background:#fff;vertical-align:top;margin:4px"


def comparison_html(comparison: Comparison) -> str:
    """Return a comparison as HTML: the lines of its text, with what differs marked, and images."""
    lines = ("".join(_element(*span) for span in line) for line in _lines(comparison))
    body = "\n".join(lines)
    return f'<pre style="{LOOK}">{body}</pre>'


def _element(mark: str, text: str) -> str:
    escaped = escape(text, quote=True)
    if mark == IMAGE:
        return f'<img alt="compared" src="{escaped}" style="{SIZE}">'
    if mark in (DELETED, INSERTED):
        # An empty text would not be seen as deleted or inserted.
        return f'<{mark} style="{TINT}">{escaped or "␣"}</{mark}>'
    return f"<{mark}>{escaped}</{mark}>" if mark else escaped
