"""Two branches side by side, and two values, as rows: what `session.diff` finds, small enough for a
notebook. Each list is cut at what a person can look through.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Annotated, Literal, Protocol

from pydantic import Field

from ..core.call_record import CallRecord
from ..core.digests import encode
from ..core.events import Made, Producer
from ..core.interface_text import joined, t, tn
from ..core.json_data import sendable_data
from ..core.recorded_data import replace
from ..core.rows import Row, Text
from ..core.secrets import Hide
from ..core.text import shortened_text
from ..engine.cursor import Cursor, SessionContext
from . import differences as kinds
from .alignment import Branch, alike, change, compare, read_branch, same_calls
from .cells import cell_content
from .comparison import CallPair, Change, ObjectPair
from .differences import CellPair, Difference, Line
from .frame_columns import Frame, frame_of

CURRENT = "current"
"""How a row names the branch that is shown: its head moves."""
MOST, ROOM = 24, 24_000
"""Pairs of objects of which the values are compared, and bytes of their rows, at most."""
PARTS, LINES, CELLS, LONG, IMAGE = 12, 24, 24, 160, 6_000
NOT_COMPARED = kinds.Unknown(t("they differ; the difference was not computed"))


class LinePair(Row):
    """A line of two texts side by side; `sign` says which side has it, or whether it changed."""

    sign: Literal["same", "changed", "left", "right"] = "same"
    left: str = ""
    right: str = ""
    left_at: int = 0
    """The number of the line, from 1."""
    right_at: int = 0


ROWS, COLUMNS, CELL = 6, 8, 24
"""Rows and columns that are shown of rows that one table alone has, and characters of a cell."""
ROW_NAMES = (t("Removed rows"), t("Added rows"))


class PartRow(Row):
    """A part of two values that differs: in words, or as texts, lines, cells, pictures."""

    name: Text = ""
    """`lid.size`; "" for the whole value; `Removed rows`."""
    says: Text = ""
    left: Text | None = None
    right: Text | None = None
    """The part in words, None where it is told otherwise, or is not there; of a table what this
    side alone has."""
    lines: tuple[LinePair, ...] = ()
    cells: tuple[CellPair, ...] = ()
    images: tuple[str, ...] = ()
    """Of the left, of the right and of what differs: `data:image/…;base64,` addresses, or ""."""
    unfolded: bool = False
    """Its name does not say what its rows say: they are shown without a click."""


class DifferenceRow(Row):
    """How the values of two objects differ. `id` is their rows' ids: `LEFT RIGHT` in a comparison
    of branches, `change LEFT RIGHT` for what a call changed."""

    id: str
    unknown: Text = ""
    """Why nobody can tell, where that is so."""
    parts: tuple[PartRow, ...] = ()


Aspect = Literal[
    "tool", "code", "argument", "status", "result", "error", "prints", "reason", "text"
]


class ChangeRow(Row):
    """Something in which two calls differ; `text` is what the model said last on two branches."""

    what: Aspect
    name: Text = ""
    """The argument's; of code what changed in it."""
    left: tuple[int, ...] = ()
    """The numbers of the lines of a text that differ, from 1; none on both sides: all of it."""
    right: tuple[int, ...] = ()


class ObjectPairRow(Row):
    """Two objects side by side, by the ids of their rows; "" where there is none."""

    left: str = ""
    right: str = ""
    same: bool = False
    repeated: bool = False
    """An earlier pair of calls has the same two objects, which shows how they differ."""


class PairRow(Row):
    """Two calls side by side, by the ids of their rows; "" where there is none."""

    left: str = ""
    right: str = ""
    kind: Literal["shared", "same", "differs"] = "same"
    """`shared`: it is one call of both branches; `same`: the same was asked for, and came out."""
    changes: tuple[ChangeRow, ...] = ()
    made: Literal["", "same", "differ"] = ""
    """Each made one object, whose row has the id of the call's row: whether they are the same."""
    objects: tuple[ObjectPairRow, ...] = ()
    """What else they made, or saved; not told of a call that is shared."""


class ComparisonRow(Row):
    """Two branches, call by call."""

    id: str
    left: str = ""
    """The id of the branch on the left, `current` for the one that is shown."""
    right: str = ""
    unasked: bool = False
    """It is the one that is shown where a person has chosen no other."""
    same: bool = False
    """Nothing differs: no call, no input, and nothing that the model said last."""
    shared: Annotated[int, Field(ge=0)] = 0
    """So many calls come before the pairs: the first ones of the branch that is shown, shared."""
    pairs: tuple[PairRow, ...] = ()
    text: ChangeRow | None = None
    """How what the model said last differs; None where it is the same."""


Differing = dict[tuple[str, str], ObjectPair]
"""Two objects that differ, by the ids of their rows."""


class RowSide(Protocol):
    """A branch whose calls and objects have rows."""

    @property
    def cursor(self) -> Cursor:
        """Where it stands."""

    @property
    def branch(self) -> str:
        """Its head; empty on the branch that is shown."""

    def call_key(self, call: CallRecord, /) -> str:
        """Return the id of a call's row."""

    def object_key(self, producer: Producer, /) -> str:
        """Return the id of the row of an object, by what produced it."""


def comparison_row(
    left: RowSide, right: RowSide, shown: RowSide, unasked: bool = False
) -> tuple[ComparisonRow, tuple[DifferenceRow, ...]]:
    """Return how two branches differ: their calls in pairs, and the values of their objects.

    `shown` is the branch on show, whose first calls may be those of both.
    """
    compared = compare(left.cursor, right.cursor, values_of=ValueDifferences().compared)
    differing: Differing = {}
    pairs = [_pair_row(pair, left, right, differing) for pair in compared.calls]
    shared = _shared(pairs, shown)
    row = ComparisonRow(
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
        _compared_row(f"{one} {other}", objects, (left, right))
        for (one, other), objects in differing.items()
        if objects.difference is not NOT_COMPARED
    )
    return row, tuple(fitting(differences))


def _compared_row(key: str, objects: ObjectPair, sides: tuple[RowSide, RowSide]) -> DifferenceRow:
    """Return how two objects differ; of tables with the rows that one alone has, or with the first
    rows of both where a column or all rows differ."""
    change = objects.difference
    if not isinstance(change, kinds.Tables):
        return difference_row(key, change)
    shown, uncounted = change, replace(change, alone=(0, 0))
    names: list[Text] = [
        tn("%1 row %2", "%1 rows %2", count, kinds.HERE[0]) for count in change.alone
    ]
    if is_other := change.unrelated or any(change.columns):
        names = [text or t("first rows") for text in kinds.alone(uncounted, kinds.HERE)]
        heights = change.left[0], change.right[0]
        left, right = (tuple(range(min(height, ROWS))) for height in heights)
        uncounted = replace(change, columns=((), ()))
        shown = replace(change, alone=heights, lone=(left, right))
    tables, hide = (
        map(_value, (objects.left, objects.right), sides),
        sides[0].cursor.context.secrets.hide,
    )
    rows = [without_secrets(part, hide) for part in lone_rows(shown, tables, names)]
    # What is shown is not counted once more.
    is_shown = len(rows) == sum(map(bool, shown.alone))
    row = difference_row(key, uncounted if is_shown else change)
    return replace(row, parts=(*row.parts, *(replace(part, unfolded=is_other) for part in rows)))


def _value(name: str, side: RowSide) -> object:
    """Return the value of an object, None where it is not in this kernel."""
    state, values = side.cursor.state, side.cursor.context.values
    return values.by_digest.get(state.objects[name].digest) if name else None


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


def _pair_row(pair: CallPair, left: RowSide, right: RowSide, differing: Differing) -> PairRow:
    """Return a pair of calls as a row; add how their objects differ to those of earlier pairs."""
    ids = _call_id(pair.left, left), _call_id(pair.right, right)
    objects = list[ObjectPairRow]()
    for result in () if pair.shared else pair.objects:
        sides = _object_id(result.left, left), _object_id(result.right, right)
        objects.append(ObjectPairRow(*sides, result.same, repeated=sides in differing))
        if not result.same:
            differing.setdefault(sides, result)
    row = PairRow(
        *ids,
        "shared" if pair.shared else "same" if pair.same else "differs",
        changes=tuple(dict.fromkeys(_change_row(change, pair) for change in pair.changes)),
    )
    # Most calls make one object, whose row has the id of the call's row.
    if [(result.left, result.right) for result in objects] == [ids]:
        return replace(row, made="same" if objects[0].same else "differ")
    return replace(row, objects=tuple(objects))


def _call_id(call: CallRecord | None, side: RowSide) -> str:
    return side.call_key(call) if call else ""


def _object_id(name: str, side: RowSide) -> str:
    return side.object_key(side.cursor.state.objects[name].producer) if name else ""


def _change_row(change: Change, pair: CallPair) -> ChangeRow:
    if isinstance(change.difference, kinds.Unknown):
        return ChangeRow(change.what, change.difference.why)
    # Only the lines of texts are shown as they are numbered.
    is_text = all(isinstance(call.data, str) for call in (pair.left, pair.right) if call)
    if change.what == "argument" or (change.what == "result" and not is_text):
        return ChangeRow(change.what, change.name)
    return _lines(change.what, change.difference)


def _lines(what: Aspect, difference: Difference) -> ChangeRow:
    lines = difference.lines if isinstance(difference, kinds.Texts) else ()
    numbers = [line.at for line in lines if not line.same]
    left, right = (tuple(at[side] for at in numbers if at[side]) for side in (0, 1))
    return ChangeRow(what, "", left, right)


def _shared(pairs: Sequence[PairRow], shown: RowSide) -> int:
    """Return how many pairs, from the first, are one and the same call of the shown branch."""
    both = zip(pairs, map(shown.call_key, shown.cursor.state.all_calls()), strict=False)
    same = ((pair.kind, pair.left, pair.right) == ("shared", key, key) for pair, key in both)
    return len([*takewhile(bool, same)])


def fitting(rows: Iterable[DifferenceRow]) -> Iterator[DifferenceRow]:
    """Yield the first rows, as far as there is room."""
    room = ROOM
    for row in islice(rows, MOST):
        room -= len(encode(sendable_data(row)))
        if room < 0:
            return
        yield row


def difference_row(
    key: str, difference: Difference, sides: tuple[str, str] = kinds.HERE
) -> DifferenceRow:
    """Return a difference as a row; `sides` are the words for what one side alone has."""
    if isinstance(difference, kinds.Unknown):
        return DifferenceRow(key, unknown=shortened_text(difference.why, LONG))
    rows = [_part(name, part, sides) for name, part in islice(kinds.parts(difference), PARTS)]
    return DifferenceRow(key, parts=tuple(rows))


def _part(name: str, part: Difference, sides: tuple[str, str]) -> PartRow:
    row = PartRow(name[:80], shortened_text(kinds.in_a_line(part, sides), LONG))
    match part:
        case kinds.Others(left, right):
            return replace(row, says="", left=left, right=right)
        case kinds.Numbers(left, right, by=by):
            says = "" if by is None else f"{by:+.6g}"
            return replace(row, says=says, left=str(left), right=str(right))
        case kinds.Texts(lines):
            return replace(row, lines=tuple(map(_line, lines[:LINES])))
        case kinds.Tables(cells=cells) if sides is kinds.HERE:
            left, right = kinds.alone(part, sides)
            return replace(row, cells=cells[:CELLS], left=left, right=right)
        case kinds.Tables(cells=cells):
            return replace(row, cells=cells[:CELLS])
        case kinds.Images(left, right, where=where):
            images = (left, right, where) if where.address else (left, right)
            small = (image.address if len(image.address) <= IMAGE else "" for image in images)
            return replace(row, images=tuple(small))
    return row


def change_parts(change: Difference, before: object, value: object) -> Iterator[PartRow]:
    """Yield how a value differs from the one before it, and then the rows that one table alone has:
    it is not told from the first rows of a table which of them a call removed."""
    is_table = isinstance(change, kinds.Tables)
    for part in difference_row("", change, kinds.CHANGED).parts:
        yield replace(part, says="") if is_table else part
    if isinstance(change, kinds.Tables):
        yield from lone_rows(change, (before, value), ROW_NAMES)


def lone_rows(
    change: kinds.Tables, tables: Iterable[object], names: Sequence[Text]
) -> Iterator[PartRow]:
    """Yield the rows that one of two tables alone has, under their names."""
    for side, (table, rows) in enumerate(zip(tables, change.lone, strict=True)):
        frame = frame_of(table)
        if frame is None or not rows:
            continue
        # The columns that it alone has come first.
        columns = sorted(frame.names, key=lambda name: name not in change.columns[side])
        cells = (*_row_cells(frame, rows[:ROWS], columns[:COLUMNS], is_left=side == 0),)
        rows_left, columns_left = change.alone[side] - len(rows[:ROWS]), len(columns[COLUMNS:])
        says = [tn("and %1 more row", "and %1 more rows", rows_left)] * bool(rows_left)
        says += [tn("+ %1 column", "+ %1 columns", columns_left)] * bool(columns_left)
        yield PartRow(names[side], joined(", ", says), cells=cells)


def without_secrets(part: PartRow, hide: Hide) -> PartRow:
    """Return a part without the secrets in its cells."""
    cells = (replace(cell, left=hide(cell.left), right=hide(cell.right)) for cell in part.cells)
    return replace(part, cells=tuple(cells))


def _row_cells(
    frame: Frame, rows: Sequence[int], columns: Sequence[str], is_left: bool
) -> Iterator[CellPair]:
    """Yield the cells of rows that only one of two tables has."""
    shown_rows, numbers = frame.take([*rows]), [*map(frame.names.index, columns)]
    for n, row in enumerate(rows):
        for column, number in zip(columns, numbers, strict=True):
            text = cell_content(shown_rows.cell(shown_rows.column(number), n))[:CELL]
            if is_left:
                yield CellPair(frame.row_name(row), column, left=text, left_at=row + 1)
            else:
                yield CellPair(frame.row_name(row), column, right=text, right_at=row + 1)


def _line(line: Line) -> LinePair:
    is_same, left, right = line.same, line.left, line.right
    return LinePair(
        "same" if is_same else "right" if left is None else "left" if right is None else "changed",
        left or "",
        "" if is_same else right or "",
        *line.at,
    )


# -- what is the same on two branches, and drawn once ---------------------------------------------


def same_rows(sides: Sequence[RowSide]) -> dict[str, str]:
    """Return which rows of calls and objects are drawn as others, by their ids.

    `sides` are the branches that have rows, the one on show first. A call is drawn as one that
    stands beside it and is the same; so are the objects that it made.
    """
    same, decided = dict[str, str](), set[str]()
    branches = [read_branch(side.cursor) for side in sides]
    keys = [{side.call_key(call) for call in side.cursor.state.all_calls()} for side in sides]
    for number, side in enumerate(sides):
        paired = set[str]()
        for other, branch in zip(sides[:number], branches, strict=False):
            _draw_as(branch, other, branches[number], side, same, decided, paired)
            # Two calls that are like a third one need not be like each other: only what stands
            # beside a call of the branch on show is drawn as that.
            paired |= keys[0]
        decided |= keys[number]
    return same


def _draw_as(
    older: Branch,
    older_side: RowSide,
    branch: Branch,
    side: RowSide,
    same: dict[str, str],
    decided: Collection[str],
    paired: set[str],
) -> None:
    """Add to `same` the rows of a branch that are drawn as those of an older one.

    `paired` are the rows as which calls of this branch are drawn already: none is drawn twice.
    """

    def drawn_as(key: str) -> str:
        return same.get(key, key)

    def is_wanted(left: CallRecord, right: CallRecord) -> bool:
        key, drawn = side.call_key(right), drawn_as(older_side.call_key(left))
        return not (key in decided or key in same or drawn in paired or key == drawn)

    # How values differ is not looked at.
    whether = ValueDifferences(most=0).compared
    for left, right in same_calls(older, branch, whether, is_wanted):
        same[side.call_key(right)] = drawn = drawn_as(older_side.call_key(left))
        paired.add(drawn)
        for one, another in zip(left.produced, right.produced, strict=True):
            same[side.object_key(another.producer)] = drawn_as(older_side.object_key(one.producer))
