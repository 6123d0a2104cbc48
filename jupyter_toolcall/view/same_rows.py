"""What is the same on two branches: it is drawn once, by the rule of a comparison.

A call of another branch is drawn as the one that it stands beside where a comparison says that
both are the same; so are the objects that it made. The branch on show goes before the others, and
of these the older one before the newer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..compare.alignment import alike, compare, values
from ..compare.differences import Difference, Same
from ..core.call_record import CallRecord
from ..core.events import Made
from ..engine.cursor import SessionContext
from .call_object_rows import BranchView, SameRows, call_key, object_key
from .comparison_rows import NOT_COMPARED, Known


def same_rows(branch_views: Mapping[str, BranchView], known: Known) -> SameRows:
    """Return which rows are drawn as others. `branch_views` are the branches that have rows, the
    one on show first; `known` are earlier results."""
    calls, objects = dict[str, str](), dict[str, str]()
    compared = _Sameness(known)
    views = [*branch_views.values()]
    decided = {call_key(call, views[0]) for call in views[0].state.all_calls()}
    for number, view in enumerate(views[1:], 1):
        paired = set[str]()
        for other in views[:number]:
            for left, right in _same_calls(other, view, compared):
                key, before = call_key(right, view), call_key(left, other)
                drawn = calls.get(before, before)
                if key in decided or key in calls or drawn in paired or key == drawn:
                    continue
                calls[key] = drawn
                paired.add(drawn)
                for one, another in zip(left.produced, right.produced, strict=True):
                    other_key = object_key(one.producer, other)
                    own = object_key(another.producer, view)
                    objects[own] = objects.get(other_key, other_key)
        decided |= {call_key(call, view) for call in view.state.all_calls()}
    return SameRows(calls, objects)


def _same_calls(
    left: BranchView, right: BranchView, compared: _Sameness
) -> Iterator[tuple[CallRecord, CallRecord]]:
    """Yield the calls that a comparison says are the same, without those that are one call."""
    for pair in compare(left.cursor, right.cursor, values_of=compared.of_values).calls:
        if pair.same and not pair.shared and pair.left and pair.right:
            yield pair.left, pair.right


@dataclass(frozen=True, slots=True)
class _Sameness:
    """Whether values are the same; how they differ is not looked at."""

    known: Known = field(default_factory=dict)

    def of_values(
        self, left: Made | None, right: Made | None, a: SessionContext, b: SessionContext
    ) -> Difference:
        if left is None or right is None:
            return NOT_COMPARED
        if alike(left, right):
            return Same()
        # The content of both is known, and differs.
        if left.content and right.content:
            return NOT_COMPARED
        key = left.digest, right.digest
        if key not in self.known:
            self.known[key] = values(left, right, a, b)
        return self.known[key]
