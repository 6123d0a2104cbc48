"""What a comparison is made of: two branches, their calls and objects in pairs.

Frozen facts alone. `reading` makes them of branches, `telling` and `page` show them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from ..branches.tally import Tally
from ..models.prices import Cost
from ..state.call import CallRecord
from ..state.ends import End
from .differences import Difference, Same, mirrored

What = Literal["tool", "argument", "status", "result", "error", "prints", "reason"]


@dataclass(frozen=True, slots=True)
class Side:
    """A branch, and what it took."""

    name: str
    head: str
    calls: int = 0
    took: Tally = field(default_factory=Tally)

    @property
    def cost(self) -> Cost | None:
        return self.took.cost


@dataclass(frozen=True, slots=True)
class Change:
    """Something in which two calls differ; `name` is the argument's."""

    what: What
    name: str
    difference: Difference


@dataclass(frozen=True, slots=True)
class ObjectPair:
    """An object on either side, "" where there is none, and how their values differ."""

    left: str
    right: str
    kind: str
    difference: Difference

    @property
    def same(self) -> bool:
        return isinstance(self.difference, Same)

    @property
    def mirrored(self) -> ObjectPair:
        return ObjectPair(self.right, self.left, self.kind, mirrored(self.difference))


@dataclass(frozen=True, slots=True)
class CallPair:
    """A call on either side, None where there is none."""

    left: CallRecord | None
    right: CallRecord | None
    shared: bool = False
    """It is one and the same call of both."""
    changes: tuple[Change, ...] = ()
    objects: tuple[ObjectPair, ...] = ()
    ends: tuple[End | None, End | None] = (None, None)
    """How each came to its outcome; None where it has none."""

    @property
    def same(self) -> bool:
        """Whether the same was asked for, and came to the same."""
        both = self.left is not None and self.right is not None
        return both and not self.changes and all(pair.same for pair in self.objects)

    @property
    def tool(self) -> str:
        call = self.right or self.left
        return call.tool if call else ""

    @property
    def step(self) -> int:
        """The step of the call on the right, else of the one on the left."""
        call = self.right or self.left
        return call.step if call else 0

    @property
    def from_memory(self) -> bool:
        """Whether the result of the call on the right came from memory."""
        end = self.ends[1]
        return end is not None and end.memory

    @property
    def mirrored(self) -> CallPair:
        changes = tuple(Change(e.what, e.name, mirrored(e.difference)) for e in self.changes)
        objects = tuple(pair.mirrored for pair in self.objects)
        return CallPair(self.right, self.left, self.shared, changes, objects, self.ends[::-1])


@dataclass(frozen=True, slots=True)
class Compared:
    """Two branches side by side, as facts."""

    left: Side
    right: Side
    calls: tuple[CallPair, ...] = ()
    inputs: tuple[ObjectPair, ...] = ()
    """What each began with."""
    text: Difference = field(default_factory=Same)
    """What the model said last."""

    @property
    def same(self) -> bool:
        """Whether nothing differs: no call, no object, no word."""
        same = all(pair.same for pair in self.calls) and all(pair.same for pair in self.inputs)
        return same and isinstance(self.text, Same)

    @property
    def differing(self) -> tuple[CallPair, ...]:
        """The calls that differ."""
        return tuple(pair for pair in self.calls if not pair.same)

    @property
    def objects(self) -> Iterator[ObjectPair]:
        """All objects in pairs, oldest first, each once."""
        found = (*self.inputs, *(made for pair in self.calls for made in pair.objects))
        yield from {(pair.left, pair.right): pair for pair in found}.values()
