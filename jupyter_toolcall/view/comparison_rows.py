"""The comparisons of a session's branches, and what its calls changed, as rows that go with its
others: `compare` finds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..compare.alignment import change
from ..compare.comparison_rows import (
    CURRENT,
    MOST,
    DifferenceRow,
    change_parts,
    comparison_row,
    difference_row,
    fitting,
    without_secrets,
)
from ..compare.differences import CHANGED
from ..core.events import Made
from ..core.recorded_data import replace
from .contract import Rows
from .contract_rows import BranchRow
from .object_rows import BranchView

Sides = tuple[str, str]
"""The heads of two branches, or `current`; both "" for what is compared unasked."""
UNASKED: Sides = ("", "")


def with_differences(rows: Rows, branch_views: Mapping[str, BranchView]) -> Rows:
    """Return rows with how the shown branch differs from the one that it is compared with, and
    with what its calls changed, the newest first, as far as there is room: a panel without a
    kernel can't ask for it."""
    shown = shown_comparisons([UNASKED], branch_views, compared_with(rows.branches))
    existing, view = {row.id for row in shown.differences}, branch_views[""]
    objects = view.objects_by_row()
    calls = [call for call in reversed(rows.calls) if call.change and not call.branch][:MOST]
    changes = (change_row(view, objects, call.before, call.object) for call in calls)
    new = fitting(row for row in changes if row is not None and row.id not in existing)
    return replace(rows, comparisons=shown.comparisons, differences=(*shown.differences, *new))


def shown_comparisons(
    shown: Iterable[Sides], branch_views: Mapping[str, BranchView], unasked: str | None
) -> Rows:
    """Return the rows of the comparisons that panels show, as far as their branches have rows.

    Args:
        shown: The two branches of each.
        branch_views: The branches that have rows, by their heads, with "" for the shown one.
        unasked: The one that this is compared with where nobody has chosen any.
    """
    views = {**branch_views, CURRENT: branch_views[""]}
    named = ((unasked or "none", CURRENT) if sides == UNASKED else sides for sides in shown)
    compared = [
        comparison_row(
            views[left], views[right], views[CURRENT], (left, right) == (unasked, CURRENT)
        )
        for left, right in named
        if left in views and right in views
    ]
    return Rows(
        comparisons=tuple(row for row, _ in compared),
        differences=tuple(row for _, differences in compared for row in differences),
    )


def compared_with(branches: Sequence[BranchRow]) -> str | None:
    """Return the branch that the shown one is compared with unasked: the one that it left.

    The oldest is compared with the newest; None where no other one has rows.
    """
    others = [row.id for row in branches if row.shares]
    left = next((row.left for row in branches if row.current), "")
    return left if left in others else others[-1] if others else None


def change_row(
    view: BranchView, objects: Mapping[str, Made], before: str, after: str
) -> DifferenceRow | None:
    """Return how two of a branch's objects differ, by the ids of their rows; None without them."""
    if before not in objects or after not in objects:
        return None
    context, pair = view.cursor.context, (objects[before], objects[after])
    difference = change(*pair, context)
    row = difference_row(f"change {before} {after}", difference, CHANGED)
    if row.unknown or not all(context.values.has_value(ref.digest, ref.content) for ref in pair):
        return row
    parts = change_parts(difference, *(context.values.by_digest[ref.digest] for ref in pair))
    return replace(row, parts=tuple(without_secrets(part, context.secrets.hide) for part in parts))
