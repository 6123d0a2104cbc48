"""Which nodes the saved picture of a session has, and where: the rows of a session, folded.

A picture that is too wide is folded behind its beginning: of each lane, what stands in the folded
columns becomes one stack. Lanes that are too far from the first one are left out, and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from .contract import Rows
from .contract_rows import CallRow, ObjectRow, Use
from .edge_routes import LANE, WIDE, Cell

HEAD = 2
"""Columns before the folded ones."""
LEFT, TOP = WIDE.left + 9, 76
"""Pixels before the middle of the first column, and above that of the first lane."""
WITHOUT_RESULT = ("failed", "rejected", "interrupted")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is drawn: columns, and lanes above and below the first one."""

    columns: int
    above: int
    below: int


@dataclass(frozen=True, slots=True)
class Node:
    """An object, a call without a result, or a stack of folded ones, at its place."""

    cell: Cell
    object: ObjectRow | None = None
    call: CallRow | None = None
    """The call without a result."""
    folded: tuple[ObjectRow | CallRow, ...] = ()


@dataclass(frozen=True, slots=True)
class PictureLayout:
    """The nodes by the ids of their objects and calls, and what is not drawn."""

    nodes: Mapping[str, Node]
    left_out: int = 0
    """Objects on lanes that are not drawn."""
    calls: Mapping[str, CallRow] = field(default_factory=dict)

    @property
    def drawn(self) -> list[Node]:
        """Each node once."""
        return [*{node.cell: node for node in self.nodes.values()}.values()]


def main_use(call: CallRow) -> Use | None:
    """Return the argument whose edge is the main one."""
    return next((use for use in call.uses if use.receiver), next(iter(call.uses), None))


def picture_layout(rows: Rows, limits: Limits) -> PictureLayout:
    """Return the layout of the objects that calls made or used, and of calls without a result."""
    used = [row for row in rows.objects if row.used and row.role != "output"]
    # In a forged file equal rows may lead in a circle: these are all drawn.
    drawn = {row.id for row in used if not row.same}
    objects = [row for row in used if row.same not in drawn]
    lost = [row for row in rows.calls if is_without_result(row)]
    cells: list[ObjectRow | CallRow] = [*objects, *lost]
    shown = [row for row in cells if -limits.above <= row.lane <= limits.below]
    columns, folded = _columns({row.column for row in shown}, limits.columns)
    lanes = _lanes({row.lane for row in shown})
    nodes: dict[str, Node] = {}
    stacks: dict[int, list[ObjectRow | CallRow]] = {}
    for row in shown:
        if row.column in folded:
            stacks.setdefault(row.lane, []).append(row)
            continue
        saved = isinstance(row, ObjectRow) and bool(row.saved) and not row.branch
        cell = Cell(LEFT + WIDE.pitch * columns[row.column], TOP + LANE * lanes[row.lane], saved)
        node = Node(cell, object=row) if isinstance(row, ObjectRow) else Node(cell, call=row)
        nodes[row.id] = node
    for lane, some in stacks.items():
        x, y = LEFT + WIDE.pitch * HEAD, TOP + LANE * lanes[lane]
        stack = Node(Cell(x, y, stack=True), folded=tuple(some))
        nodes |= {row.id: stack for row in some}
    nodes |= {row.id: nodes[row.same] for row in used if row.same in nodes}
    return PictureLayout(nodes, len(cells) - len(shown), {row.id: row for row in rows.calls})


def is_without_result(row: CallRow) -> bool:
    """Return whether a call came to nothing, and has a place of its own."""
    return row.status in WITHOUT_RESULT and not row.branch and (row.column, row.lane) != (0, 0)


def _columns(columns: Iterable[int], most: int) -> tuple[dict[int, int], set[int]]:
    """Return the places of the columns that are drawn, and the columns that are folded."""
    known = sorted(columns)
    if len(known) <= most:
        return {column: place for place, column in enumerate(known)}, set()
    last = known[HEAD - most + 1 :]
    places = {column: place for place, column in enumerate(known[:HEAD])}
    places |= {column: place for place, column in enumerate(last, HEAD + 1)}
    return places, set(known) - set(places)


def _lanes(lanes: Iterable[int]) -> dict[int, int]:
    """Return the places of lanes: where nothing stands, no lane is left empty."""
    known: Sequence[int] = sorted(lanes)
    steps = (min(1, lane - before) for before, lane in pairwise(known))
    return dict(zip(known, accumulate(steps, initial=0), strict=False))
