"""Two branches side by side, as rows: what `session.diff` finds, small enough for a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from time import monotonic

from ..compare.alignment import CallPair, Change, Comparison, alike, compare, values
from ..compare.call_changes import change
from ..compare.differences import (
    CHANGED,
    SIDES,
    Difference,
    Images,
    Line,
    Numbers,
    Others,
    Same,
    Tables,
    Texts,
    Unknown,
    in_a_line,
    parts,
)
from ..core.digests import encode
from ..core.events import Made
from ..core.interface_text import t
from ..core.json_data import sendable_data
from ..core.text import shortened_text
from ..engine.cursor import SessionContext
from .branch_rows import CURRENT
from .call_object_rows import BranchView, call_key, object_key, objects_by_row
from .contract import Drop, Rows
from .contract_rows import (
    Aspect,
    BranchRow,
    CellPair,
    ChangeRow,
    ComparisonRow,
    DifferenceRow,
    LinePair,
    ObjectPairRow,
    PairRow,
    PartRow,
)

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
NOT_COMPARED = Unknown(t("they differ, and how was not looked at"))


def with_comparison(rows: Rows, branch_views: Mapping[str, BranchView], known: Known) -> Rows:
    """Return rows with how the shown branch differs from the one that it is compared with."""
    other = compared_with(rows.branches)
    if other is None or other not in branch_views:
        return rows
    compared = comparison_rows(
        branch_views[other], branch_views[""], branch_views[""], known, unasked=True
    )
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
    compared = compare(left.cursor, right.cursor, values_of=_Values(known).compared)
    pairs = _repeats_marked([_pair_row(pair, left, right) for pair in compared.calls])
    shared = _shared(pairs, shown)
    row = ComparisonRow(
        f"{left.branch or CURRENT} {right.branch or CURRENT}",
        left.branch or CURRENT,
        right.branch or CURRENT,
        unasked=unasked,
        same=compared.same,
        shared=shared,
        pairs=tuple(pairs[shared:]),
        text=None if isinstance(compared.text, Same) else _lines("text", compared.text),
    )
    return Rows(comparisons=(row,), differences=tuple(_difference_rows(compared, left, right)))


@dataclass(frozen=True, slots=True)
class _Values:
    """How values differ; of those that are known to differ, only so many are compared."""

    known: Known
    differing: set[tuple[str, str]] = field(default_factory=set)

    def compared(
        self, left: Made | None, right: Made | None, a: SessionContext, b: SessionContext
    ) -> Difference:
        """Return how two values differ; whether they do is always as `values` says."""
        if left is None or right is None:
            return NOT_COMPARED
        if alike(left, right):
            return Same()
        key = left.digest, right.digest
        if left.content and right.content and key not in self.differing:
            if len(self.differing) >= MOST:
                return NOT_COMPARED
            self.differing.add(key)
        difference = self.known.get(key)
        if difference is None:
            difference = values(left, right, a, b)
            # What is not in this kernel may be made again.
            if not isinstance(difference, Unknown):
                self.known[key] = difference
        return difference


def _pair_row(pair: CallPair, left: BranchView, right: BranchView) -> PairRow:
    ids = (
        call_key(pair.left, left) if pair.left else "",
        call_key(pair.right, right) if pair.right else "",
    )
    if pair.shared:
        return PairRow(*ids, "shared")
    changes = dict.fromkeys(_change_row(change, pair) for change in pair.changes)
    objects = tuple(
        ObjectPairRow(_object_id(each.left, left), _object_id(each.right, right), each.same)
        for each in pair.objects
    )
    row = PairRow(*ids, "same" if pair.same else "differs", tuple(changes))
    # Most calls make one object, whose row has the id of the call's row.
    if [(each.left, each.right) for each in objects] == [ids]:
        return replace(row, made="same" if objects[0].same else "differ")
    return replace(row, objects=objects)


def _repeats_marked(pairs: Sequence[PairRow]) -> list[PairRow]:
    """Return pairs of calls, with a mark where an earlier pair has the same differing objects."""
    earlier, marked = set[tuple[str, str]](), list[PairRow]()
    for pair in pairs:
        objects = list[ObjectPairRow]()
        if pair.made:
            earlier.add((pair.left, pair.right))
        for each in pair.objects:
            sides = each.left, each.right
            objects.append(replace(each, repeated=not each.same and sides in earlier))
            earlier.add(sides)
        marked.append(replace(pair, objects=tuple(objects)))
    return marked


def _object_id(name: str, branch_view: BranchView) -> str:
    return object_key(branch_view.state.objects[name].producer, branch_view) if name else ""


def _change_row(change: Change, pair: CallPair) -> ChangeRow:
    results = [call.data for call in (pair.left, pair.right) if call is not None]
    # Only the lines of texts are shown as they are numbered.
    if change.what == "argument" or (
        change.what == "result" and not all(isinstance(each, str) for each in results)
    ):
        return ChangeRow(change.what, change.name)
    return _lines(change.what, change.difference)


def _lines(what: Aspect, difference: Difference) -> ChangeRow:
    lines = difference.lines if isinstance(difference, Texts) else ()
    places = [line.at for line in lines if not line.same]
    left, right = (tuple(at[side] for at in places if at[side]) for side in (0, 1))
    return ChangeRow(what, "", left, right)


def _shared(pairs: Sequence[PairRow], shown: BranchView) -> int:
    """Return how many pairs, from the first, are one and the same call of the shown branch."""
    count = 0
    for pair, call in zip(pairs, shown.state.all_calls(), strict=False):
        key = call_key(call, shown)
        if (pair.kind, pair.left, pair.right) != ("shared", key, key):
            break
        count += 1
    return count


def _difference_rows(
    comparison: Comparison, left: BranchView, right: BranchView
) -> Iterator[DifferenceRow]:
    """Yield how the values differ that stand beside each other, as far as there is room."""
    room = ROOM
    differing: dict[str, Difference] = {}
    for pair in (pair for call in comparison.calls if not call.shared for pair in call.objects):
        if not pair.same and pair.difference is not NOT_COMPARED:
            key = f"{_object_id(pair.left, left)} {_object_id(pair.right, right)}"
            differing.setdefault(key, pair.difference)
    for key, difference in islice(differing.items(), MOST):
        row = difference_row(key, difference)
        room -= len(encode(sendable_data(row)))
        if room < 0:
            return
        yield row


def with_changes(rows: Rows, branch_view: BranchView) -> Rows:
    """Return rows with what the calls of the shown branch changed, the newest first, as far as
    there is room: a panel without a kernel can't ask for it."""
    known, room = {row.id for row in rows.differences}, ROOM
    new, objects = list[DifferenceRow](), objects_by_row(branch_view)
    for call in [call for call in reversed(rows.calls) if call.change and not call.branch][:MOST]:
        row = change_row(branch_view, objects, call.before, call.object)
        room -= 0 if row is None else len(encode(sendable_data(row)))
        if row is not None and row.id not in known and room > 0:
            new.append(row)
    return replace(rows, differences=(*rows.differences, *new))


def change_row(
    branch_view: BranchView, objects: Mapping[str, Made], before: str, made: str
) -> DifferenceRow | None:
    """Return how two of a branch's objects differ, by the ids of their rows; None without them."""
    if before not in objects or made not in objects:
        return None
    difference = change(objects[before], objects[made], branch_view.cursor.context)
    return difference_row(f"{before} {made}", difference, CHANGED)


def difference_row(
    key: str, difference: Difference, sides: tuple[str, str] = SIDES
) -> DifferenceRow:
    """Return a difference as a row; `sides` are the words for what one side alone has."""
    if isinstance(difference, Unknown):
        return DifferenceRow(key, unknown=shortened_text(difference.why, LONG))
    rows = [_part(name, part, sides) for name, part in islice(parts(difference), PARTS)]
    return DifferenceRow(key, parts=tuple(rows))


def _part(name: str, part: Difference, sides: tuple[str, str]) -> PartRow:
    name, says = name[:80], shortened_text(in_a_line(part, sides), LONG)
    match part:
        case Others(left, right):
            return PartRow(name, "", _cut(left), _cut(right))
        case Numbers(left, right, by=by):
            return PartRow(name, "" if by is None else f"{by:+.6g}", str(left), str(right))
        case Texts(lines):
            return PartRow(name, says, lines=tuple(map(_line, lines[:LINES])))
        case Tables(cells=cells):
            pairs = (CellPair(e.row, e.column, e.left, e.right, *e.at) for e in cells)
            return PartRow(name, says, cells=tuple(islice(pairs, CELLS)))
        case Images(left, right, where=where):
            images = (left, right, *([where] if where.address else []))
            small = (each.address if len(each.address) <= IMAGE else "" for each in images)
            return PartRow(name, says, images=tuple(small))
    return PartRow(name, says)


def _cut(text: str | None) -> str | None:
    return None if text is None else shortened_text(text, LONG)


def _line(line: Line) -> LinePair:
    left, right = _cut(line.left) or "", _cut(line.right) or ""
    if line.same:
        return LinePair("same", left, "", *line.at)
    if line.left is None or line.right is None:
        return LinePair("right" if line.left is None else "left", left, right, *line.at)
    return LinePair("changed", left, right, *line.at)


# -- the comparisons that panels look at: sent when asked for, and again as branches grow -------


@dataclass
class ComparisonUpdates:
    """What panels were sent of the comparisons that they show, and what is new of them."""

    clock: Callable[[], float] = monotonic
    known: dict[tuple[str, str], Difference] = field(default_factory=dict)
    """How values differ, by the digests of both."""
    shown: dict[Sides, str] = field(default_factory=dict)
    """The comparisons that panels show, with the ids of their rows."""
    _sent: dict[str, ComparisonRow | DifferenceRow] = field(default_factory=dict)
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
        self._at, comparisons, differences = at, list[ComparisonRow](), list[DifferenceRow]()
        for sides in self.shown:
            heads = (unasked, "") if sides == UNASKED else sides
            left, right = (
                branch_views.get("" if head == CURRENT else head or "") for head in heads
            )
            if left is None or right is None or heads[0] is None:
                continue
            is_unasked = (left.branch, right.branch) == (unasked, "")
            rows = comparison_rows(left, right, branch_views[""], self.known, is_unasked)
            self.shown[sides] = rows.comparisons[0].id
            comparisons += [row for row in rows.comparisons if self._is_new(row)]
            differences += [row for row in rows.differences if self._is_new(row)]
        now = self.clock()
        self._next = now + max(INTERVAL, SHARE * (now - begin))
        return Rows(comparisons=tuple(comparisons), differences=tuple(differences))

    def _is_new(self, row: ComparisonRow | DifferenceRow) -> bool:
        before, self._sent[row.id] = self._sent.get(row.id), row
        return row != before
