"""Two branches side by side, as rows: what `session.diff` finds, small enough for a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, starmap, takewhile
from time import monotonic
from typing import Literal

from ..compare import differences as kinds
from ..compare.alignment import CallPair, Change, Comparison, ObjectPair, alike, compare, values
from ..compare.call_changes import change
from ..compare.differences import Difference, Line
from ..core.digests import encode
from ..core.events import Made
from ..core.interface_text import t
from ..core.json_data import sendable_data
from ..core.text import shortened_text
from ..engine.cursor import SessionContext
from . import contract_comparisons as wire
from .contract import Drop, Rows
from .contract_rows import CURRENT, BranchRow
from .object_rows import BranchView, call_key, object_key, objects_by_row

MOST, ROOM = 24, 24_000
"""Pairs of objects of which the values are compared, and bytes of their rows, at most."""
PARTS, LINES, CELLS, LONG, IMAGE = 12, 24, 24, 160, 6_000
Known = MutableMapping[tuple[str, str], Difference]
"""Earlier results, by the digests of the objects."""
KEPT = 4
"""So many are kept up to date: those that were asked for last."""
INTERVAL, SHARE = 1.0, 20
"""While a session goes on, at least so many seconds lie between two updates, and so many times
the time that one takes."""
Sides = tuple[str, str]
"""The heads of two branches, or `current`; both "" for what is compared unasked."""
UNASKED: Sides = ("", "")
NOT_COMPARED = kinds.Unknown(t("they differ, and how was not looked at"))


def with_comparison(rows: Rows, branch_views: Mapping[str, BranchView], known: Known) -> Rows:
    """Return rows with how the shown branch differs from the one that it is compared with."""
    other = compared_with(rows.branches)
    if other is None or other not in branch_views:
        return rows
    left, shown = branch_views[other], branch_views[""]
    compared = comparison_rows(left, shown, shown, known, unasked=True)
    return replace(rows, comparisons=compared.comparisons, differences=compared.differences)


def compared_with(branches: Sequence[BranchRow]) -> str | None:
    """Return the branch that the shown one is compared with unasked: the one that it left.

    The oldest is compared with the newest; None where no other one has rows.
    """
    others = [row.id for row in branches if row.shares]
    left = next((row.left for row in branches if row.current), "")
    return left if left in others else others[-1] if others else None


def comparison_rows(
    left: BranchView, right: BranchView, shown: BranchView, known: Known, unasked: bool = False
) -> Rows:
    """Return how two branches differ: their calls in pairs, and the values of their objects.

    `shown` is the branch on show, whose first calls may be those of both.
    """
    compared = compare(left.cursor, right.cursor, values_of=ValueDifferences(known).compared)
    pairs = [*_pair_rows(compared, left, right)]
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
    differences = tuple(_fitting(_difference_rows(compared, left, right)))
    return Rows(comparisons=(row,), differences=differences)


@dataclass(frozen=True, slots=True)
class ValueDifferences:
    """How values differ; of those that are known to differ, only so many are compared."""

    known: Known
    most: int = MOST
    differing: set[tuple[str, str]] = field(default_factory=set)

    def compared(
        self, left: Made | None, right: Made | None, a: SessionContext, b: SessionContext
    ) -> Difference:
        """Return how two values differ; whether they do is always as `values` says."""
        if left is None or right is None:
            return NOT_COMPARED
        if alike(left, right):
            return kinds.Same()
        key = left.digest, right.digest
        if left.content and right.content and key not in self.differing:
            if len(self.differing) >= self.most:
                return NOT_COMPARED
            self.differing.add(key)
        difference = self.known.get(key)
        if difference is None:
            difference = values(left, right, a, b)
            # What is not in this kernel may be made again.
            if not isinstance(difference, kinds.Unknown):
                self.known[key] = difference
        return difference


def _pair_rows(compared: Comparison, left: BranchView, right: BranchView) -> Iterator[wire.PairRow]:
    """Yield the pairs of calls, with a mark where an earlier one has the same differing objects."""
    earlier = set[tuple[str, str]]()
    for pair in compared.calls:
        ids = (
            call_key(pair.left, left) if pair.left else "",
            call_key(pair.right, right) if pair.right else "",
        )
        objects = list[wire.ObjectPairRow]()
        for made in () if pair.shared else pair.objects:
            sides = _object_ids(made, left, right)
            repeated = not made.same and sides in earlier
            objects.append(wire.ObjectPairRow(*sides, made.same, repeated))
            earlier.add(sides)
        kind: Literal["shared", "same", "differs"] = "same" if pair.same else "differs"
        changes = tuple(dict.fromkeys(_change_row(change, pair) for change in pair.changes))
        row = wire.PairRow(*ids, "shared" if pair.shared else kind, changes)
        # Most calls make one object, whose row has the id of the call's row.
        if [(made.left, made.right) for made in objects] == [ids]:
            yield replace(row, made="same" if objects[0].same else "differ")
        else:
            yield replace(row, objects=tuple(objects))


def _object_ids(pair: ObjectPair, left: BranchView, right: BranchView) -> tuple[str, str]:
    sides = ((pair.left, left), (pair.right, right))
    one, other = (
        object_key(view.state.objects[name].producer, view) if name else "" for name, view in sides
    )
    return one, other


def _change_row(change: Change, pair: CallPair) -> wire.ChangeRow:
    results = [call.data for call in (pair.left, pair.right) if call is not None]
    # Only the lines of texts are shown as they are numbered.
    if change.what == "argument" or (
        change.what == "result" and not all(isinstance(each, str) for each in results)
    ):
        return wire.ChangeRow(change.what, change.name)
    return _lines(change.what, change.difference)


def _lines(what: wire.Aspect, difference: Difference) -> wire.ChangeRow:
    lines = difference.lines if isinstance(difference, kinds.Texts) else ()
    places = [line.at for line in lines if not line.same]
    left, right = (tuple(at[side] for at in places if at[side]) for side in (0, 1))
    return wire.ChangeRow(what, "", left, right)


def _shared(pairs: Sequence[wire.PairRow], shown: BranchView) -> int:
    """Return how many pairs, from the first, are one and the same call of the shown branch."""
    both = zip(pairs, (call_key(call, shown) for call in shown.state.all_calls()), strict=False)
    same = ((pair.kind, pair.left, pair.right) == ("shared", key, key) for pair, key in both)
    return len([*takewhile(bool, same)])


def _difference_rows(
    comparison: Comparison, left: BranchView, right: BranchView
) -> Iterator[wire.DifferenceRow]:
    """Yield how the values differ that stand beside each other."""
    pairs = (pair for call in comparison.calls if not call.shared for pair in call.objects)
    differing: dict[str, Difference] = {}
    for pair in pairs:
        if not pair.same and pair.difference is not NOT_COMPARED:
            differing.setdefault(" ".join(_object_ids(pair, left, right)), pair.difference)
    return starmap(difference_row, differing.items())


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
            return replace(row, says="", left=_cut(left), right=_cut(right))
        case kinds.Numbers(left, right, by=by):
            says = "" if by is None else f"{by:+.6g}"
            return replace(row, says=says, left=str(left), right=str(right))
        case kinds.Texts(lines):
            return replace(row, lines=tuple(map(_line, lines[:LINES])))
        case kinds.Tables(cells=cells):
            pairs = (wire.CellPair(e.row, e.column, e.left, e.right, *e.at) for e in cells[:CELLS])
            return replace(row, cells=tuple(pairs))
        case kinds.Images(left, right, where=where):
            images = (left, right, *([where] if where.address else []))
            small = (each.address if len(each.address) <= IMAGE else "" for each in images)
            return replace(row, images=tuple(small))
    return row


def _cut(text: str | None) -> str | None:
    return None if text is None else shortened_text(text, LONG)


def _line(line: Line) -> wire.LinePair:
    left, right = _cut(line.left) or "", _cut(line.right) or ""
    if line.same:
        return wire.LinePair("same", left, "", *line.at)
    alone: Literal["left", "right"] = "right" if line.left is None else "left"
    is_alone = line.left is None or line.right is None
    return wire.LinePair(alone if is_alone else "changed", left, right, *line.at)


# -- the comparisons that panels look at: sent when asked for, and again as branches grow -------


@dataclass
class ComparisonUpdates:
    """What panels were sent of the comparisons that they show, and what is new of them."""

    clock: Callable[[], float] = monotonic
    known: dict[tuple[str, str], Difference] = field(default_factory=dict)
    """How values differ, by the digests of both."""
    shown: dict[Sides, str] = field(default_factory=dict)
    """The comparisons that panels show, with the ids of their rows."""
    _sent: dict[str, wire.ComparisonRow | wire.DifferenceRow] = field(default_factory=dict)
    _at: tuple[str, int] = ("", 0)
    """The head and the length of the journal when rows were sent last."""
    _next: float = 0.0

    def add(self, sides: Sides) -> None:
        """Keep a comparison up to date from now on."""
        self.shown.pop(sides, None)
        self.shown[sides] = ""
        for old in [*self.shown][:-KEPT]:
            del self.shown[old]
        self._at = ("", 0)

    def remove(self, sides: Sides) -> tuple[Drop, ...]:
        """Keep a comparison up to date no longer; return what the panels are to drop.

        A panel that still shows it asks for it again.
        """
        name = self.shown.pop(sides, "")
        if not name or name in self.shown.values():
            return ()
        self._sent.pop(name, None)
        return (Drop("comparisons", name),)

    def clear(self) -> None:
        """Keep none up to date: a panel that is new asks for what it shows."""
        self.shown.clear()
        self.start_over()

    def start_over(self) -> None:
        """Take it that the panels were sent nothing yet."""
        self._sent.clear()
        self._at = ("", 0)

    def changes(
        self, branch_views: Mapping[str, BranchView], unasked: str | None, continues: bool = False
    ) -> Rows:
        """Return what is new of them. While the session goes on that is nothing most of the time.

        `branch_views` are the branches that have rows, by their heads, with "" for the shown one;
        `unasked` is the one that this is compared with where nobody has chosen any.
        """
        cursor = branch_views[""].cursor
        at, begin = (cursor.head, len(cursor.context.journal)), self.clock()
        if not self.shown or at == self._at or (continues and begin < self._next):
            return Rows()
        self._at, rows = at, list[Rows]()
        views = {**branch_views, CURRENT: branch_views[""]}
        for sides in self.shown:
            heads = (unasked or "none", CURRENT) if sides == UNASKED else sides
            left, right = views.get(heads[0]), views.get(heads[1])
            if left is not None and right is not None:
                is_unasked = (left.branch, right.branch) == (unasked, "")
                rows.append(comparison_rows(left, right, views[""], self.known, is_unasked))
                self.shown[sides] = rows[-1].comparisons[0].id
        now = self.clock()
        self._next = now + max(INTERVAL, SHARE * (now - begin))
        return Rows(
            comparisons=tuple(r for new in rows for r in new.comparisons if self._is_new(r)),
            differences=tuple(r for new in rows for r in new.differences if self._is_new(r)),
        )

    def _is_new(self, row: wire.ComparisonRow | wire.DifferenceRow) -> bool:
        before, self._sent[row.id] = self._sent.get(row.id), row
        return row != before
