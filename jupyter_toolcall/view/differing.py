"""How the values of the objects of two branches differ, as rows: small enough for a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from itertools import islice

from ..comparing import Difference, in_a_line, parts, unlike, values
from ..comparing.differences import Images, Line, Numbers, Others, Same, Tables, Texts, Unknown
from ..digest import encode
from ..events import Made
from ..rows.contract import BranchRow, CellPair, DifferenceRow, LinePair, PartRow, Rows
from ..rows.wire import packed
from .seen import Seen, key_of

MOST, ROOM = 24, 24_000
"""So many pairs of objects are compared, and so many bytes their rows have."""
PARTS, LINES, CELLS, LONG, IMAGE = 12, 24, 24, 160, 6_000
Known = MutableMapping[tuple[str, str], Difference]
"""What was found before, by the digests of the objects."""


def with_differences(rows: Rows, seen: Mapping[str, Seen], known: Known) -> Rows:
    """Return rows with how the shown branch differs from the one that it is compared with."""
    other = seen.get(compared_with(rows.branches))
    if other is None:
        return rows
    return replace(rows, differences=tuple(difference_rows(other, seen[""], known)))


def compared_with(branches: Sequence[BranchRow]) -> str:
    """Return the branch that the shown one is compared with unasked: the one that it left.

    The oldest is compared with the newest; "" where there is no other one that is told.
    """
    told = [row.id for row in branches if row.shares]
    left = next((row.left for row in branches if row.current), "")
    return left if left in told else told[-1] if told else ""


def difference_rows(left: Seen, right: Seen, known: Known) -> Iterator[DifferenceRow]:
    """Yield how the objects differ that stand beside each other on two branches."""
    room = ROOM
    keys = {
        f"{key_of(one.maker, left)} {key_of(other.maker, right)}": (one, other)
        for one, other in islice(unlike(left.state, right.state), MOST)
    }
    for key, (one, other) in keys.items():
        row = difference_row(key, _difference(one, other, left, right, known))
        room -= len(encode(packed(row)))
        if room < 0:
            return
        yield row


def _difference(one: Made, other: Made, left: Seen, right: Seen, known: Known) -> Difference:
    found = known.get((one.digest, other.digest))
    if found is None:
        found = values(one, other, left.cursor.desk, right.cursor.desk)
        # What is not in this kernel may be made again.
        if not isinstance(found, Unknown):
            known[one.digest, other.digest] = found
    return found


def difference_row(key: str, difference: Difference) -> DifferenceRow:
    """Return a difference as a row."""
    match difference:
        case Same():
            return DifferenceRow(key, same=True)
        case Unknown(why):
            return DifferenceRow(key, unknown=why[:LONG])
    found = [_part(name, part) for name, part in islice(parts(difference), PARTS)]
    return DifferenceRow(key, parts=tuple(found))


def _part(name: str, part: Difference) -> PartRow:
    name, says = name[:80], in_a_line(part)[:LONG]
    match part:
        case Others(left, right):
            return PartRow(name, "", _cut(left), _cut(right))
        case Numbers(left, right, by=by):
            return PartRow(name, "" if by is None else f"{by:+.6g}", str(left), str(right))
        case Texts(lines):
            return PartRow(name, says, lines=tuple(map(_line, lines[:LINES])))
        case Tables(cells=cells):
            pairs = (CellPair(each.row, each.column, each.left, each.right) for each in cells)
            return PartRow(name, says, cells=tuple(islice(pairs, CELLS)))
        case Images(left, right):
            small = (each.address if len(each.address) <= IMAGE else "" for each in (left, right))
            return PartRow(name, says, images=tuple(small))
    return PartRow(name, says)


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= LONG else f"{text[: LONG - 1]}…"


def _line(line: Line) -> LinePair:
    left, right = _cut(line.left) or "", _cut(line.right) or ""
    if line.same:
        return LinePair("same", left, "", *line.at)
    if line.left is None or line.right is None:
        return LinePair("right" if line.left is None else "left", left, right, *line.at)
    return LinePair("changed", left, right, *line.at)
