"""Two branches side by side: facts that show themselves, as a text and as a page."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core.call_record import SAVE, CallRecord
from ..core.errors import Absent
from ..core.events import Made
from ..core.recorded_calls import CallEnd
from ..core.secrets import Hide
from ..core.state import State
from ..core.text import LINES, printable
from .as_html import page
from .as_text import told
from .branch_calls import (
    Branch,
    CallPair,
    Change,
    Compared,
    ObjectPair,
    What,
    aspect,
    branch,
    inputs_of,
    signatures,
)
from .differences import Difference, Others, Same, Unknown, mirrored
from .matching import Pair, pairs
from .values import difference, shown

if TYPE_CHECKING:
    from ..engine.context import SessionContext
    from ..engine.cursor import Cursor
    from ..engine.session_values import SessionValues


@dataclass(frozen=True, slots=True)
class Comparison(Compared):
    """Two branches side by side. Printed it is a text, displayed it is a page without script."""

    @property
    def mirrored(self) -> Comparison:
        """The same comparison from the other side."""
        return Comparison(
            self.right,
            self.left,
            tuple(pair.mirrored for pair in self.calls),
            tuple(pair.mirrored for pair in self.inputs),
            mirrored(self.text),
        )

    def __str__(self) -> str:
        return told(self)

    def _repr_html_(self) -> str:
        return page(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": page(self), "text/plain": printable(told(self), LINES)}


ASPECTS: tuple[What, ...] = ("status", "result", "error", "prints", "reason")
ValuesOf = Callable[[Made | None, Made | None, "SessionContext", "SessionContext"], Difference]
"""How the values of two objects differ, each with the session that has it."""


@dataclass(frozen=True, slots=True)
class Sides:
    """The two branches of a comparison, and what is known of both so far."""

    a: Branch
    b: Branch
    values: ValuesOf
    beside: dict[str, str] = field(default_factory=dict)
    """The names of objects on the left, and of those that stand beside them on the right."""


def compare(
    left: Cursor,
    right: Cursor,
    names: tuple[str, str] = ("left", "right"),
    values_of: ValuesOf | None = None,
) -> Comparison:
    """Return how two branches differ; they may be of two sessions.

    A call stands beside the one with its id, else beside one of the same tool on objects that
    came about alike, else beside one of the same tool, else beside the next one. The values
    of objects are compared by `values_of`, by default by `values`.
    """
    a, b = branch(left, names[0]), branch(right, names[1])
    sides = Sides(a, b, values_of or values)
    both = [producer for producer in inputs_of(a.state) if producer in inputs_of(b.state)]
    sides.beside.update((a.state.by_producer[p], b.state.by_producer[p]) for p in both)
    return Comparison(
        a.side,
        b.side,
        inputs=tuple(_inputs(sides)),
        calls=tuple(_call_pair(*pair, sides) for pair in aligned(a.state, b.state)),
        text=difference(a.state.said, b.state.said),
    )


def aligned(a: State, b: State) -> Iterator[Pair[CallRecord]]:
    """Yield the calls of two branches as they stand beside each other, in order."""
    known: dict[tuple[Any, ...], int] = {}
    signed = {**signatures(known, a), **signatures(known, b)}
    left, right = [*a.all_calls()], [*b.all_calls()]
    same = 0
    while same < min(len(left), len(right)) and left[same].same_facts(right[same]):
        same += 1
    yield from zip(left[:same], right[:same], strict=True)
    yield from pairs(
        left[same:],
        right[same:],
        [
            lambda call: f"{call.id} {call.tool}",
            lambda call: signed[id(call)],
            lambda call: call.tool,
        ],
    )


def alike(left: Made, right: Made) -> bool:
    """Return whether two objects are known to be the same, without a look at their values."""
    same = left.digest == right.digest or (left.content and left.content == right.content)
    return left.kind == right.kind and bool(same)


def _inputs(sides: Sides) -> Iterator[ObjectPair]:
    left, right = inputs_of(sides.a.state), inputs_of(sides.b.state)
    for producer in {**left, **right}:
        yield _object_pair(left.get(producer), right.get(producer), sides)


def _call_pair(left: CallRecord | None, right: CallRecord | None, sides: Sides) -> CallPair:
    shared = left is not None and right is not None and left.same_facts(right)
    objects = tuple(_objects(left, right, sides))
    one = sides.a.ends.get(left.id) if left is not None else None
    other = sides.b.ends.get(right.id) if right is not None else None
    ends = one, other
    if left is None or right is None or shared:
        return CallPair(left, right, shared, (), objects, ends)
    changes = tuple(_changes(left, right, ends, sides.beside))
    return CallPair(left, right, False, changes, objects, ends)


def _objects(
    left: CallRecord | None, right: CallRecord | None, sides: Sides
) -> Iterator[ObjectPair]:
    """What a call only returned is told where it was made; what was saved, once more."""
    mine, theirs = _made(left, sides.a.state), _made(right, sides.b.state)
    for one, other in pairs(mine, theirs, ()):
        found = _object_pair(one, other, sides)
        if found.left and found.right:
            sides.beside[found.left] = found.right
        yield found


def _made(call: CallRecord | None, of: State) -> list[Made]:
    if call is not None and call.tool == SAVE and call.status == "succeeded":
        named = (of.objects.get(str(value)) for value in call.arguments.values())
        return [made for made in named if made is not None]
    return [*call.produced] if call else []


def _object_pair(left: Made | None, right: Made | None, sides: Sides) -> ObjectPair:
    """Return two objects side by side, and how their values differ."""
    a, b = sides.a, sides.b
    kind = next((made.kind for made in (right, left) if made), "")
    names = a.state.name_of(left) if left else "", b.state.name_of(right) if right else ""
    return ObjectPair(*names, kind, sides.values(left, right, a.cursor.context, b.cursor.context))


def values(
    left: Made | None, right: Made | None, a: SessionContext, b: SessionContext
) -> Difference:
    """Return how the values of two objects differ, without secrets."""
    try:
        found = _values(left, right, a.values, b.values)
    except Absent as error:
        found = Unknown(str(error))
    hidden: Difference = veiled(veiled(found, a.hide), b.hide)
    return hidden


def _values(
    left: Made | None, right: Made | None, a: SessionValues, b: SessionValues
) -> Difference:
    if left is None or right is None:
        one = shown(a.value(left)) if left else None
        return Others(one, shown(b.value(right)) if right else None)
    if alike(left, right):
        return Same()
    found = difference(a.value(left), b.value(right))
    known = bool(left.content and right.content)
    if known and isinstance(found, Same):
        return Unknown("they differ behind what is shown of them")
    return found


def _changes(
    left: CallRecord,
    right: CallRecord,
    ends: tuple[CallEnd | None, CallEnd | None],
    beside: Mapping[str, str],
) -> Iterator[Change]:
    if left.tool != right.tool:
        yield Change("tool", "", Others(left.tool, right.tool))
    names = [*left.arguments, *(name for name in right.arguments if name not in left.arguments)]
    names = names if [*left.arguments] == [*right.arguments] else sorted(names)
    for name in names:
        found = _argument(name, left.arguments, right.arguments, beside)
        if not isinstance(found, Same):
            yield Change("argument", name, found)
    if not _are_beside(left.objects, right.objects, beside):
        returned = [", ".join(each.objects) or None for each in (left, right)]
        yield Change("result", "", Others(*returned))
    for what in ASPECTS:
        # A call whose result came from memory did not run, so it printed nothing.
        if what == "prints" and any(end is not None and end.cached for end in ends):
            continue
        found = difference(aspect(what, left, ends[0]), aspect(what, right, ends[1]))
        if not isinstance(found, Same):
            yield Change(what, "", found)


def _are_beside(left: Sequence[str], right: Sequence[str], beside: Mapping[str, str]) -> bool:
    """Return whether the objects of two calls stand beside each other.

    Two that have the same name by chance do not, where one of them stands beside another one.
    """

    def is_beside(one: str, other: str) -> bool:
        if one in beside:
            return beside[one] == other
        return one == other and other not in beside.values()

    return len(left) == len(right) and all(map(is_beside, left, right))


def _argument(
    name: str, left: Mapping[str, Any], right: Mapping[str, Any], beside: Mapping[str, str]
) -> Difference:
    """Objects that stand beside each other are the same argument, whatever they are called."""
    if name not in left or name not in right:
        given = [shown(each[name]) if name in each else None for each in (left, right)]
        return Others(*given)
    if _with_names(left[name], beside) == right[name]:
        return Same()
    return difference(left[name], right[name])


def _with_names(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case str():
            return names.get(value, value)
        case list():
            return [_with_names(item, names) for item in value]
        case dict():
            return {key: _with_names(item, names) for key, item in value.items()}
    return value


def veiled(fact: Any, hide: Hide) -> Any:
    """Return a difference, or a part of one, without the secrets in its texts."""
    if isinstance(fact, str):
        return hide(fact)
    if isinstance(fact, tuple):
        return tuple(veiled(item, hide) for item in fact)
    if dataclasses.is_dataclass(fact) and not isinstance(fact, type):
        parts = {f.name: veiled(getattr(fact, f.name), hide) for f in dataclasses.fields(fact)}
        return dataclasses.replace(fact, **parts)
    return fact
