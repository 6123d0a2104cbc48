"""What a comparison is made of: two branches, their calls and objects in pairs.

Frozen facts alone. `reading` makes them of branches, `telling` and `page` show them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..core.branches import shared_with_older
from ..core.call_record import CallRecord
from ..core.events import Interrupted, Made, Producer, Uses
from ..core.recorded_calls import CallEnd, CallEnds
from ..core.state import State
from ..models.prices import Cost
from .branch_totals import BranchTotals, FirstReplies
from .differences import Difference, Same, mirrored

if TYPE_CHECKING:
    from ..engine.cursor import Cursor

What = Literal["tool", "argument", "status", "result", "error", "prints", "reason"]


@dataclass(frozen=True, slots=True)
class Side:
    """A branch, and what it took."""

    name: str
    head: str
    calls: int = 0
    took: BranchTotals = field(default_factory=BranchTotals)

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
    ends: tuple[CallEnd | None, CallEnd | None] = (None, None)
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
        return end is not None and end.cached

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


INTERRUPTED = "It was interrupted while it ran; what it had done is not known."


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch as it is read for a comparison."""

    cursor: Cursor
    side: Side
    state: State
    ends: Mapping[str, CallEnd]


def branch(cursor: Cursor, name: str) -> Branch:
    """Return a branch as it is read for a comparison."""
    journal, state = cursor.context.journal, cursor.state
    path = journal.path(cursor.head)
    shared = shared_with_older(journal, cursor.head)
    ends = CallEnds(journal).of(path, shared)
    replies = FirstReplies(journal, str(getattr(cursor.context.model, "name", "")))
    took = replies.totals(path, ends, shared)
    return Branch(cursor, Side(name, cursor.head, len(state.order), took), state, ends)


def aspect(what: What, call: CallRecord, end: CallEnd | None) -> Any:
    """Return what two calls are compared by; None for arguments, which have names."""
    match what:
        case "tool":
            return call.tool
        case "status":
            return call.status
        case "result":
            return call.data
        case "error":
            return INTERRUPTED if isinstance(call.outcome, Interrupted) else call.error
        case "prints":
            return end.prints if end is not None else ""
        case "reason":
            return call.reason
    return None


def used_by(call: CallRecord, state: State) -> Uses:
    """Return what produced the objects that a call used or names, by argument."""
    if call.started is not None:
        return call.uses
    named = ((argument, state.objects.get(str(v))) for argument, v in call.arguments.items())
    return {argument: made.producer for argument, made in named if made is not None}


def signatures(known: dict[tuple[Any, ...], int], state: State) -> dict[int, int]:
    """Return for each call (by `id`) what tells it by where its objects came from.

    What they are called does not matter. `known` numbers what there is, and is shared by
    the sides that are compared.
    """
    numbers: dict[str, int] = {}

    def number(*key: Any) -> int:
        return known.setdefault(key, len(known))

    def of_object(producer: Producer) -> int:
        call = numbers.get(producer.call)
        return number(producer) if call is None else number(call, producer.index)

    for call in state.all_calls():
        used = sorted((name, of_object(each)) for name, each in used_by(call, state).items())
        setters = call.started.setters.items() if call.started else ()
        read = sorted((name, numbers.get(setter)) for name, setter in setters)
        numbers[call.id] = number(call.tool, *used, "variables", *read)
    return {id(call): numbers[call.id] for call in state.all_calls()}


def inputs_of(state: State) -> dict[Producer, Made]:
    """Return the objects that came from outside, by their producers."""
    return {m.producer: m for m in map(state.resolve, state.names) if m.producer.input}
