"""The comparisons that panels look at: told when they are asked for, and again as branches grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from time import monotonic

from ..comparing import Difference
from ..rows.contract import ComparisonRow, DifferenceRow, Drop, Rows
from .beside import CURRENT
from .comparison_rows import comparison_rows
from .seen import Seen

MOST = 4
"""So many are kept up to date: those that were asked for last."""
REST, SHARE = 1.0, 20
"""While a session goes on, at least so many seconds lie between two updates, and so many times
the time that one takes."""
Sides = tuple[str, str]
"""The heads of two branches, or `current`; both "" for what is compared unasked."""
UNASKED: Sides = ("", "")


@dataclass
class ComparisonUpdates:
    """What panels were told of the comparisons that they look at, and what is new of them."""

    clock: Callable[[], float] = monotonic
    known: dict[tuple[str, str], Difference] = field(default_factory=dict)
    """How values differ, by the digests of both."""
    _looked_at: dict[Sides, str] = field(default_factory=dict)
    """The id of the row that each was told as."""
    _told: dict[str, ComparisonRow | DifferenceRow] = field(default_factory=dict)
    _at: tuple[str, int] = ("", 0)
    """The head and the length of the journal that were told last."""
    _next: float = 0.0

    def add(self, sides: Sides) -> None:
        """Keep a comparison up to date from now on."""
        self._looked_at.pop(sides, None)
        self._looked_at[sides] = ""
        for old in [*self._looked_at][:-MOST]:
            del self._looked_at[old]
        self._at = ("", 0)

    def remove(self, sides: Sides) -> tuple[Drop, ...]:
        """Keep a comparison up to date no longer; return what the panels are to drop.

        Who looks at it still has it no more, and asks for it again.
        """
        name = self._looked_at.pop(sides, "")
        if not name or name in self._looked_at.values():
            return ()
        self._told.pop(name, None)
        return (Drop("comparisons", name),)

    def clear(self) -> None:
        """Keep none up to date: a panel that is new asks for what it looks at."""
        self._looked_at.clear()
        self.start_over()

    def start_over(self) -> None:
        """Take it that the panels were told nothing yet."""
        self._told.clear()
        self._at = ("", 0)

    def news(self, seen: Mapping[str, Seen], unasked: str | None, goes_on: bool = False) -> Rows:
        """Return what is new of them. While the session goes on that is nothing most of the time.

        `seen` are the branches that were told, by their heads, with "" for the shown one;
        `unasked` is the one that this is compared with where nobody has chosen any.
        """
        cursor = seen[""].cursor
        at = cursor.head, len(cursor.desk.journal)
        begin = self.clock()
        if not self._looked_at or at == self._at or (goes_on and begin < self._next):
            return Rows()
        self._at = at
        found = [*self._compared(seen, unasked)]
        now = self.clock()
        self._next = now + max(REST, SHARE * (now - begin))
        return Rows(
            comparisons=tuple(row for rows in found for row in rows.comparisons if self._new(row)),
            differences=tuple(row for rows in found for row in rows.differences if self._new(row)),
        )

    def _compared(self, seen: Mapping[str, Seen], unasked: str | None) -> Iterator[Rows]:
        for sides in self._looked_at:
            heads = (unasked, "") if sides == UNASKED else sides
            left, right = (seen.get("" if head == CURRENT else head or "") for head in heads)
            if left is None or right is None or heads[0] is None:
                continue
            is_unasked = (left.branch, right.branch) == (unasked, "")
            rows = comparison_rows(left, right, seen[""], self.known, is_unasked)
            self._looked_at[sides] = rows.comparisons[0].id
            yield rows

    def _new(self, row: ComparisonRow | DifferenceRow) -> bool:
        before, self._told[row.id] = self._told.get(row.id), row
        return row != before
