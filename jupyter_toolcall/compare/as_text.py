"""A comparison as plain text, laid out to be read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypeGuard

from ..core.call_record import CallRecord
from ..core.text import visible_text
from .branch_calls import CallPair, Change, Compared, ObjectPair, Side
from .differences import ARROW, Difference, Line, Same, Tables, Texts, in_a_line, many, parts
from .values import shown as in_words

CALLS, LINES, CELLS, NAMES = 200, 12, 12, 6
"""So many calls are told, and of each difference so many lines or cells."""
WIDE = 16
NAME = re.compile(r"[A-Za-z_]\w*#[1-9]\d*")


def told(compared: Compared) -> str:
    """Return a comparison as text."""
    rows = [*_inputs(compared), *_calls(compared), *_text(compared)]
    return "\n".join([headline(compared), *rows, *_sides(compared)])


def headline(compared: Compared) -> str:
    """Return one line: which branches, and how much differs."""
    names = (
        f"{visible_text(compared.left.name, 60)} {ARROW} {visible_text(compared.right.name, 60)}"
    )
    if compared.same:
        return f"{names}: no difference in {many(len(compared.calls), 'call')}"
    count, all_calls = len(compared.differing), len(compared.calls)
    if not count:
        return f"{names}: the same {many(all_calls, 'call')}"
    return (
        f"{names}: {count:,} of {many(all_calls, 'call')} {'differs' if count == 1 else 'differ'}"
    )


def _inputs(compared: Compared) -> Iterator[str]:
    differing = [pair for pair in compared.inputs if not pair.same]
    if differing:
        yield "  began with"
    for pair in differing:
        yield from _object(pair)


def _calls(compared: Compared) -> Iterator[str]:
    told_so_far = 0
    for kind, run in groupby(compared.calls, key=kind_of):
        found = [*run]
        if kind:
            yield f"  {steps(found):<5} {same_line(found)}"
            continue
        for pair in found[: CALLS - told_so_far]:
            yield from _pair(pair, compared)
        told_so_far += len(found)
    if told_so_far > CALLS:
        yield f"  and {told_so_far - CALLS:,} more calls that differ"


def kind_of(pair: CallPair) -> str:
    """Return how a pair is the same: `shared`, or `same`; "" where it differs."""
    return "" if not pair.same else "shared" if pair.shared else "same"


def steps(run: Sequence[CallPair]) -> str:
    """Return the numbers of calls as they stand on the right, else on the left."""
    numbers = [pair.step for pair in run]
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}"


def same_line(run: Sequence[CallPair]) -> str:
    """Return one line for calls that are the same."""
    tools = [pair.tool for pair in run]
    names = ", ".join(tools) if len(tools) <= NAMES else many(len(tools), "call")
    if run[0].shared:
        return f"{visible_text(names)}: the same in both"
    memory = all(pair.from_memory for pair in run)
    return f"{visible_text(names)}: the same{', answered from memory' if memory else ''}"


def _pair(pair: CallPair, compared: Compared) -> Iterator[str]:
    where = steps([pair])
    if pair.left is None or pair.right is None:
        call = pair.left or pair.right
        side = compared.left if pair.right is None else compared.right
        yield f"  {where:<5} only in {visible_text(side.name, 60)}: {spelled(call)}"
    else:
        yield f"  {where:<5} {visible_text(tool_line(pair))}{_edited(pair, compared)}"
    for change in pair.changes:
        yield from _change(change)
    for made in pair.objects:
        if not made.same:
            yield from _object(made)


def _edited(pair: CallPair, compared: Compared) -> str:
    sides = (pair.left, compared.left), (pair.right, compared.right)
    names = [
        visible_text(side.name, 60) for call, side in sides if call is not None and call.edited
    ]
    return f", edited in {' and '.join(names)}" if names else ""


def tool_line(pair: CallPair) -> str:
    """Return the tool of a pair, both where they differ."""
    left, right = pair.left, pair.right
    if left is not None and right is not None and left.tool != right.tool:
        return f"{left.tool} {ARROW} {right.tool}"
    return pair.tool


def spelled(call: CallRecord | None) -> str:
    """Return a call as it would be written."""
    if call is None:
        return ""
    said = ", ".join(f"{key}={value}" for key, value in arguments(call))
    return visible_text(f"{call.tool}({said})")


def arguments(call: CallRecord) -> Iterator[tuple[str, str]]:
    """Yield the arguments of a call as they read; an object is its name."""
    for key, value in call.arguments.items():
        yield key, value if is_object(value) else in_words(value)


def is_object(value: object) -> TypeGuard[str]:
    """Return whether an argument reads as the name of an object."""
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def _change(change: Change) -> Iterator[str]:
    if change.what != "tool":
        yield from _difference(change.name or change.what, change.difference)


def _object(pair: ObjectPair) -> Iterator[str]:
    yield from _difference(object_name(pair), pair.difference)


def object_name(pair: ObjectPair) -> str:
    """Return the name of an object, both names where they differ."""
    names = [name for name in (pair.left, pair.right) if name]
    return f" {ARROW} ".join(dict.fromkeys(names))


def _difference(name: str, difference: Difference) -> Iterator[str]:
    for place, part in parts(difference):
        said = f"{place}: {in_a_line(part)}" if place else in_a_line(part)
        yield f"          {visible_text(name, 40):<{WIDE}} {visible_text(said, 300)}"
        name = ""
        yield from (f"          {'':<{WIDE}}   {visible_text(line)}" for line in _details(part))


def _details(difference: Difference) -> Iterator[str]:
    match difference:
        case Texts(lines):
            for line in lines[:LINES]:
                yield from _line(line)
            if len(lines) > LINES:
                yield "…"
        case Tables(cells=cells, changed=changed):
            for cell in cells[:CELLS]:
                yield f"{cell.row}, {cell.column}: {cell.left} {ARROW} {cell.right}"
            if changed > CELLS:
                yield f"… and {changed - CELLS:,} more"


def _line(line: Line) -> Iterator[str]:
    if line.same:
        yield f"  {line.left}"
        return
    if line.left is not None:
        yield f"- {line.left}"
    if line.right is not None:
        yield f"+ {line.right}"


def _text(compared: Compared) -> Iterator[str]:
    if not isinstance(compared.text, Same):
        yield "  said last"
        yield from _difference("", compared.text)


def _sides(compared: Compared) -> Iterator[str]:
    names = [visible_text(side.name, 60) for side in (compared.left, compared.right)]
    wide = max(map(len, names))
    for name, side in zip(names, (compared.left, compared.right), strict=True):
        yield f"{name:<{wide}}  {took(side)}"


def took(side: Side) -> str:
    """Return what a side took: calls, tokens, money.

    Not the time: what is printed below a cell is the same when the cell runs again.
    """
    tally = side.took
    ran = f"{many(tally.ran, 'call')} ran"
    said = [ran + (f", {tally.cached:,} from memory" if tally.cached else "")]
    said += [f"{tally.tokens:,} tokens"] if tally.tokens else []
    said += [str(side.cost)] if side.cost else []
    return " · ".join(said)
