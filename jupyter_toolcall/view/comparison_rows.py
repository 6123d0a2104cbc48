"""Two branches side by side, as rows: what `session.diff` finds, small enough for a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from time import monotonic

from ..compare import differences as kinds
from ..compare.alignment import alike, change, compare
from ..compare.comparison import CallPair, Change
from ..compare.differences import Difference, Line
from ..core.call_record import CallRecord
from ..core.digests import encode
from ..core.events import Made
from ..core.interface_text import t
from ..core.json_data import sendable_data
from ..core.text import shortened_text
from ..engine.cursor import SessionContext
from . import contract_comparisons as wire
from .contract import Rows
from .contract_rows import CURRENT, BranchRow
from .object_rows import BranchView, call_key, object_key, objects_by_row

MOST, ROOM = 24, 24_000
"""Pairs of objects of which the values are compared, and bytes of their rows, at most."""
PARTS, LINES, CELLS, LONG, IMAGE = 12, 24, 24, 160, 6_000
KEPT = 4
"""So many are kept up to date: those that were asked for last."""
INTERVAL, SHARE = 1.0, 20
"""While a session continues, at least so many seconds lie between two updates, and so many times
the time that one takes."""
Sides = tuple[str, str]
"""The heads of two branches, or `current`; both "" for what is compared unasked."""
UNASKED: Sides = ("", "")
NOT_COMPARED = kinds.Unknown(t("they differ, and how was not looked at"))


def with_comparison(rows: Rows, branch_views: Mapping[str, BranchView]) -> Rows:
    """Return rows with how the shown branch differs from the one that it is compared with."""
    other = compared_with(rows.branches)
    if other is None or other not in branch_views:
        return rows
    left, shown = branch_views[other], branch_views[""]
    compared = comparison_rows(left, shown, shown, unasked=True)
    return replace(rows, comparisons=compared.comparisons, differences=compared.differences)


def compared_with(branches: Sequence[BranchRow]) -> str | None:
    """Return the branch that the shown one is compared with unasked: the one that it left.

    The oldest is compared with the newest; None where no other one has rows.
    """
    others = [row.id for row in branches if row.shares]
    left = next((row.left for row in branches if row.current), "")
    return left if left in others else others[-1] if others else None


def comparison_rows(
    left: BranchView, right: BranchView, shown: BranchView, unasked: bool = False
) -> Rows:
    """Return how two branches differ: their calls in pairs, and the values of their objects.

    `shown` is the branch on show, whose first calls may be those of both.
    """
    compared = compare(left.cursor, right.cursor, values_of=ValueDifferences().compared)
    differing = dict[tuple[str, str], Difference]()
    pairs = [_pair_row(pair, left, right, differing) for pair in compared.calls]
    shared = _shared(pairs, shown)
    row = wire.ComparisonRow(
        f"{left.branch or CURRENT} {right.branch or CURRENT}",
        left.branch or CURRENT,
        right.branch or CURRENT,
        unasked=unasked,
        same=compared.same,
        shared=shared,
        pairs=tuple(pairs[shared:]),
        text=None if isinstance(compared.text, kinds.Same) else _lines("text", compared.text),
    )
    differences = (
        difference_row(f"{one} {other}", difference)
        for (one, other), difference in differing.items()
        if difference is not NOT_COMPARED
    )
    return Rows(comparisons=(row,), differences=tuple(_fitting(differences)))


@dataclass(frozen=True, slots=True)
class ValueDifferences:
    """How values differ; of those that are known to differ, only so many are compared."""

    most: int = MOST
    differing: set[tuple[str, str]] = field(default_factory=set)

    def compared(
        self, left: Made | None, right: Made | None, a: SessionContext, b: SessionContext
    ) -> Difference:
        """Return how two values of one session differ; whether they do is always exact."""
        if left is None or right is None:
            return NOT_COMPARED
        key = left.digest, right.digest
        differ = left.content and right.content and not alike(left, right)
        if differ and key not in self.differing:
            if len(self.differing) >= self.most:
                return NOT_COMPARED
            self.differing.add(key)
        return change(left, right, a)


def _pair_row(
    pair: CallPair,
    left: BranchView,
    right: BranchView,
    differing: dict[tuple[str, str], Difference],
) -> wire.PairRow:
    """Return a pair of calls as a row; add how their objects differ to those of earlier pairs."""
    ids = _call_id(pair.left, left), _call_id(pair.right, right)
    objects = list[wire.ObjectPairRow]()
    for made in () if pair.shared else pair.objects:
        sides = _object_id(made.left, left), _object_id(made.right, right)
        objects.append(wire.ObjectPairRow(*sides, made.same, repeated=sides in differing))
        if not made.same:
            differing.setdefault(sides, made.difference)
    row = wire.PairRow(
        *ids,
        "shared" if pair.shared else "same" if pair.same else "differs",
        changes=tuple(dict.fromkeys(_change_row(change, pair) for change in pair.changes)),
    )
    # Most calls make one object, whose row has the id of the call's row.
    if [(made.left, made.right) for made in objects] == [ids]:
        return replace(row, made="same" if objects[0].same else "differ")
    return replace(row, objects=tuple(objects))


def _call_id(call: CallRecord | None, view: BranchView) -> str:
    return call_key(call, view) if call else ""


def _object_id(name: str, view: BranchView) -> str:
    return object_key(view.state.objects[name].producer, view) if name else ""


def _change_row(change: Change, pair: CallPair) -> wire.ChangeRow:
    # Only the lines of texts are shown as they are numbered.
    is_text = all(isinstance(call.data, str) for call in (pair.left, pair.right) if call)
    if change.what == "argument" or (change.what == "result" and not is_text):
        return wire.ChangeRow(change.what, change.name)
    return _lines(change.what, change.difference)


def _lines(what: wire.Aspect, difference: Difference) -> wire.ChangeRow:
    lines = difference.lines if isinstance(difference, kinds.Texts) else ()
    numbers = [line.at for line in lines if not line.same]
    left, right = (tuple(at[side] for at in numbers if at[side]) for side in (0, 1))
    return wire.ChangeRow(what, "", left, right)


def _shared(pairs: Sequence[wire.PairRow], shown: BranchView) -> int:
    """Return how many pairs, from the first, are one and the same call of the shown branch."""
    both = zip(pairs, (call_key(call, shown) for call in shown.state.all_calls()), strict=False)
    same = ((pair.kind, pair.left, pair.right) == ("shared", key, key) for pair, key in both)
    return len([*takewhile(bool, same)])


def _fitting(rows: Iterable[wire.DifferenceRow]) -> Iterator[wire.DifferenceRow]:
    """Yield the first rows, as far as there is room."""
    room = ROOM
    for row in islice(rows, MOST):
        room -= len(encode(sendable_data(row)))
        if room < 0:
            return
        yield row


def with_changes(rows: Rows, view: BranchView) -> Rows:
    """Return rows with what the calls of the shown branch changed, the newest first, as far as
    there is room: a panel without a kernel can't ask for it."""
    known, objects = {row.id for row in rows.differences}, objects_by_row(view)
    calls = [call for call in reversed(rows.calls) if call.change and not call.branch][:MOST]
    changes = (change_row(view, objects, call.before, call.object) for call in calls)
    new = (row for row in changes if row is not None and row.id not in known)
    return replace(rows, differences=(*rows.differences, *_fitting(new)))


def change_row(
    view: BranchView, objects: Mapping[str, Made], before: str, made: str
) -> wire.DifferenceRow | None:
    """Return how two of a branch's objects differ, by the ids of their rows; None without them."""
    if before not in objects or made not in objects:
        return None
    difference = change(objects[before], objects[made], view.cursor.context)
    return difference_row(f"{before} {made}", difference, kinds.CHANGED)


def difference_row(
    key: str, difference: Difference, sides: tuple[str, str] = kinds.SIDES
) -> wire.DifferenceRow:
    """Return a difference as a row; `sides` are the words for what one side alone has."""
    if isinstance(difference, kinds.Unknown):
        return wire.DifferenceRow(key, unknown=shortened_text(difference.why, LONG))
    rows = [_part(name, part, sides) for name, part in islice(kinds.parts(difference), PARTS)]
    return wire.DifferenceRow(key, parts=tuple(rows))


def _part(name: str, part: Difference, sides: tuple[str, str]) -> wire.PartRow:
    row = wire.PartRow(name[:80], shortened_text(kinds.in_a_line(part, sides), LONG))
    match part:
        case kinds.Others(left, right):
            return replace(row, says="", left=left, right=right)
        case kinds.Numbers(left, right, by=by):
            says = "" if by is None else f"{by:+.6g}"
            return replace(row, says=says, left=str(left), right=str(right))
        case kinds.Texts(lines):
            return replace(row, lines=tuple(map(_line, lines[:LINES])))
        case kinds.Tables(cells=cells):
            pairs = (wire.CellPair(e.row, e.column, e.left, e.right, *e.at) for e in cells[:CELLS])
            return replace(row, cells=tuple(pairs))
        case kinds.Images(left, right, where=where):
            images = (left, right, where) if where.address else (left, right)
            small = (image.address if len(image.address) <= IMAGE else "" for image in images)
            return replace(row, images=tuple(small))
    return row


def _line(line: Line) -> wire.LinePair:
    is_same, left, right = line.same, line.left, line.right
    return wire.LinePair(
        "same" if is_same else "right" if left is None else "left" if right is None else "changed",
        left or "",
        "" if is_same else right or "",
        *line.at,
    )


# -- the comparisons that panels look at: sent when asked for, and again as branches grow -------


@dataclass
class ComparisonUpdates:
    """What panels were sent of the comparisons that they show, and what is new of them."""

    clock: Callable[[], float] = monotonic
    shown: list[Sides] = field(default_factory=list)
    """The comparisons that panels show, those that were asked for last at the end."""
    _compared: tuple[object, ...] = ()
    """What the rows were computed from: the head, the length of the journal, the comparisons."""
    _next: float = 0.0
    """When rows are sent again while the session continues."""

    def add(self, sides: Sides) -> None:
        """Keep a comparison up to date from now on."""
        self.remove(sides)
        self.shown = [*self.shown, sides][-KEPT:]

    def remove(self, sides: Sides) -> None:
        """Keep a comparison up to date no longer; a panel that still shows it asks again."""
        self.shown = [other for other in self.shown if other != sides]

    def start_over(self) -> None:
        """Take it that the panels were sent nothing yet."""
        self._compared = ()

    def changes(
        self, branch_views: Mapping[str, BranchView], unasked: str | None, continues: bool = False
    ) -> Rows | None:
        """Return the rows of the comparisons that panels show; None where none are due.

        Args:
            branch_views: The branches that have rows, by their heads, with "" for the shown one.
            unasked: The one that this is compared with where nobody has chosen any.
            continues: Whether the session runs: then there are no rows soon after others.
        """
        shown, begin = branch_views[""], self.clock()
        cursor = shown.cursor
        compared = (cursor.head, len(cursor.context.journal), *self.shown)
        if compared == self._compared or (continues and begin < self._next):
            return None
        self._compared = compared
        views = {**branch_views, CURRENT: shown}
        tables = list[Rows]()
        for sides in self.shown:
            names = (unasked or "none", CURRENT) if sides == UNASKED else sides
            left, right = (views.get(name) for name in names)
            if left is not None and right is not None:
                is_unasked = (left.branch, right.branch) == (unasked, "")
                tables.append(comparison_rows(left, right, shown, is_unasked))
        now = self.clock()
        self._next = now + max(INTERVAL, SHARE * (now - begin))
        return Rows(
            comparisons=tuple(row for rows in tables for row in rows.comparisons),
            differences=tuple(row for rows in tables for row in rows.differences),
        )
