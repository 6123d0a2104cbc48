"""Two branches side by side: their calls and objects in pairs, and what differs in each pair."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, TypeAlias

from ..core.branches import shared_with_older
from ..core.call_record import SAVE, CallRecord, objects_of
from ..core.errors import Absent
from ..core.events import Interrupted, Made, Producer, Uses
from ..core.interface_text import t
from ..core.json_data import mapped
from ..core.recorded_calls import CallEnd, CallIndex
from ..core.secrets import Hide
from ..core.state import State
from ..engine.cursor import Cursor, SessionContext
from ..engine.outdated import changed_code, recorded_tool_code
from .branch_totals import branch_totals
from .comparison import Aspect, CallPair, Change, Comparison, ObjectPair, Side
from .differences import Difference, Others, Same, Unknown
from .matching import Pair, pairs
from .values import DIFFER_UNSEEN, difference, part_difference, shown

ValuesOf: TypeAlias = (
    "Callable[[Made | None, Made | None, SessionContext, SessionContext], Difference]"
)
"""How the values of two objects differ, each with the session that has it."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch as it is read for a comparison."""

    cursor: Cursor
    state: State
    ends: Mapping[str, CallEnd]
    origins: Mapping[int, int]
    """For each call (by `id`) a number for its tool and where its objects came from."""
    inputs: Mapping[Producer, Made]
    """The objects that came from outside."""


@dataclass(frozen=True, slots=True)
class Branches:
    """The two branches of a comparison, and which of their objects belong together."""

    left: Branch
    right: Branch
    values_of: ValuesOf
    right_names: dict[str, str] = field(default_factory=dict)
    """The names of objects on the left, and of those beside them on the right."""


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
    a, b = read_branch(left), read_branch(right)
    branches, inputs = _branches(a, b, values_of or values), {**a.inputs, **b.inputs}
    return Comparison(
        _side(a, names[0]),
        _side(b, names[1]),
        inputs=tuple(_object_pair(a.inputs.get(p), b.inputs.get(p), branches) for p in inputs),
        calls=tuple(_call_pair(*pair, branches) for pair in _aligned(a, b)),
        text=difference(a.state.reply_text, b.state.reply_text),
    )


def same_calls(
    a: Branch, b: Branch, values_of: ValuesOf, is_wanted: Callable[[CallRecord, CallRecord], bool]
) -> Iterator[tuple[CallRecord, CallRecord]]:
    """Yield the calls that stand beside each other, are the same, and are wanted.

    Those that are not wanted are not compared: that takes most of the time.
    """
    branches = _branches(a, b, values_of)
    for left, right in _aligned(a, b):
        if left is None or right is None:
            continue
        if not is_wanted(left, right):
            # Later calls may name its objects.
            _ = [*_paired_objects(left, right, branches)]
        elif (pair := _call_pair(left, right, branches)).same and not pair.shared:
            yield left, right


def read_branch(cursor: Cursor) -> Branch:
    """Return a branch as comparisons read it."""
    journal, state, head = cursor.context.journal, cursor.state, cursor.head
    ends = CallIndex.of(journal).ends(journal.path(head), shared_with_older(journal, head))
    inputs = {m.producer: m for m in map(state.resolve, state.names) if m.producer.input}
    return Branch(cursor, state, ends, _origins(state), inputs)


def _side(branch: Branch, name: str) -> Side:
    """Return what a comparison says of one of its branches."""
    cursor, count = branch.cursor, len(branch.state.order)
    return Side(name, cursor.head, count, branch_totals(cursor, cursor.head))


def _branches(a: Branch, b: Branch, values_of: ValuesOf) -> Branches:
    both = a.inputs.keys() & b.inputs.keys()
    names = {a.state.by_producer[p]: b.state.by_producer[p] for p in both}
    return Branches(a, b, values_of, names)


# -- calls beside each other -------------------------------------------------------------------


def _aligned(a: Branch, b: Branch) -> Iterator[Pair[CallRecord]]:
    """Yield the calls of two branches as they stand beside each other, in order."""
    origins = {**a.origins, **b.origins}
    left, right = [*a.state.all_calls()], [*b.state.all_calls()]
    both = zip(left, right, strict=False)
    shared = [*takewhile(lambda pair: pair[0].same_facts(pair[1]), both)]
    yield from shared
    keys: list[Callable[[CallRecord], int | str]] = [
        lambda call: f"{call.id} {call.tool}",
        lambda call: origins[id(call)],
        lambda call: call.tool,
    ]
    yield from pairs(left[len(shared) :], right[len(shared) :], keys)


def _origins(state: State) -> dict[int, int]:
    """Return for each call (by `id`) a number for its tool and where its objects came from.

    What they are called does not matter.
    """
    numbers: dict[str, int] = {}

    def of_object(producer: Producer) -> int:
        return hash((numbers.get(producer.call, producer), producer.index))

    for call in state.all_calls():
        producers = _used_by(call, state)
        used = sorted((name, of_object(producers[name])) for name in producers)
        setters = call.started.setters.items() if call.started else ()
        read = sorted((name, numbers.get(setter, 0)) for name, setter in setters)
        numbers[call.id] = hash((call.tool, *used, "variables", *read))
    return {id(call): numbers[call.id] for call in state.all_calls()}


def _used_by(call: CallRecord, state: State) -> Uses:
    """Return what produced the objects that a call used or names, by argument."""
    if call.started is not None:
        return call.uses
    named = ((argument, state.objects.get(str(v))) for argument, v in call.arguments.items())
    return {argument: ref.producer for argument, ref in named if ref is not None}


def _call_pair(left: CallRecord | None, right: CallRecord | None, branches: Branches) -> CallPair:
    paired = _paired_objects(left, right, branches)
    objects = tuple(_object_pair(*objects, branches) for objects in paired)
    one = branches.left.ends.get(left.id) if left is not None else None
    other = branches.right.ends.get(right.id) if right is not None else None
    cached = one is not None and one.cached, other is not None and other.cached
    if left is None or right is None:
        return CallPair(left, right, False, (), objects, cached)
    shared = left.same_facts(right)
    changes = () if shared else tuple(_changes(left, right, (one, other), branches))
    return CallPair(left, right, shared, changes, objects, cached)


# -- objects beside each other -----------------------------------------------------------------


def _paired_objects(
    left: CallRecord | None, right: CallRecord | None, branches: Branches
) -> Iterator[Pair[Made]]:
    """Yield the objects that two calls made, in pairs; of `save` those that it saved."""
    a, b = branches.left.state, branches.right.state
    for one, other in pairs(_objects_of(left, a), _objects_of(right, b), ()):
        if one is not None and other is not None:
            branches.right_names[a.name_of(one)] = b.name_of(other)
        yield one, other


def _objects_of(call: CallRecord | None, state: State) -> list[Made]:
    if call is not None and call.tool == SAVE and call.status == "succeeded":
        named = (state.objects.get(str(value)) for value in call.arguments.values())
        return [ref for ref in named if ref is not None]
    return [*call.produced] if call else []


def _object_pair(left: Made | None, right: Made | None, branches: Branches) -> ObjectPair:
    """Return two objects side by side, and how their values differ."""
    a, b = branches.left, branches.right
    kind = next((ref.kind for ref in (right, left) if ref), "")
    names = a.state.name_of(left) if left else "", b.state.name_of(right) if right else ""
    result = branches.values_of(left, right, a.cursor.context, b.cursor.context)
    return ObjectPair(*names, kind, result)


def alike(left: Made, right: Made) -> bool:
    """Return whether two objects are known to be the same, without a look at their values."""
    same = left.digest == right.digest or (left.content and left.content == right.content)
    return left.kind == right.kind and bool(same)


def values(
    left: Made | None, right: Made | None, a: SessionContext, b: SessionContext
) -> Difference:
    """Return how the values of two objects differ, without secrets."""
    result: Difference
    try:
        if left is None or right is None:
            texts = (shown(c.values.value(m)) if m else None for m, c in ((left, a), (right, b)))
            result = Others(*texts)
        elif alike(left, right):
            result = Same()
        else:
            result = difference(a.values.value(left), b.values.value(right))
            # Their digests differ: what was compared of them is not all.
            if left.content and right.content and isinstance(result, Same):
                result = DIFFER_UNSEEN
    except Absent as error:
        result = Unknown(error.args[0])
    without_secrets: Difference = _hidden(_hidden(result, a.secrets.hide), b.secrets.hide)
    return without_secrets


def object_before(call: CallRecord, uses: Uses, receiver: str, state: State) -> Made | None:
    """Return what a call made its first object from: the one before it, of the same type.

    That is the argument that a function changed in place, else the object that the method was
    called on, else the first argument. None for a call that made nothing, made it from nothing
    of its type, or came to an object that existed.
    """
    ref = next(iter(objects_of(call.outcome)), None)
    if ref is None or ref.producer.call != call.id:
        return None
    if ref.changed in uses:
        return state.produced_object(uses[ref.changed])
    for argument in sorted(uses, key=lambda argument: argument != receiver):
        used = state.produced_object(uses[argument])
        if used is not None and used.kind == ref.kind:
            return used
    return None


def change(before: Made, after: Made, context: SessionContext) -> Difference:
    """Return how an object differs from the one before it; computed once for two values."""
    if alike(before, after):
        return Same()
    cached, key = context.values.differences, (before.digest, after.digest)
    if key not in cached:
        result = values(before, after, context, context)
        # What is not in this kernel may be made again.
        if not all(context.values.has_value(one.digest, one.content) for one in (before, after)):
            return result
        cached[key] = result
    found: Difference = cached[key]
    return found


def _hidden(fact: object, hide: Hide) -> Any:
    """Return a difference, or a part of one, without the secrets in its texts."""
    if isinstance(fact, str):
        return hide(fact)
    if isinstance(fact, tuple):
        return tuple(_hidden(item, hide) for item in fact)
    if dataclasses.is_dataclass(fact) and not isinstance(fact, type):
        parts = {f.name: _hidden(getattr(fact, f.name), hide) for f in dataclasses.fields(fact)}
        return dataclasses.replace(fact, **parts)
    return fact


# -- what differs in two calls -----------------------------------------------------------------


def _code_change(left: CallRecord, right: CallRecord, branches: Branches) -> str:
    """Return what changed in the code of a tool between two calls of it, "" for nothing."""
    a, b = branches.left.cursor.context, branches.right.cursor.context
    before, now = recorded_tool_code(left, a.journal), recorded_tool_code(right, b.journal)
    tool = b.toolbox.get(right.tool)
    server = tool.server if tool else ""
    return changed_code(right.tool, before, now, server) if before and now else ""


def _changes(
    left: CallRecord,
    right: CallRecord,
    ends: tuple[CallEnd | None, CallEnd | None],
    branches: Branches,
) -> Iterator[Change]:
    right_names = branches.right_names
    if left.tool != right.tool:
        yield Change("tool", "", Others(left.tool, right.tool))
    elif left.code != right.code and (why := _code_change(left, right, branches)):
        yield Change("code", "", Unknown(why))
    names = [*left.arguments, *(name for name in right.arguments if name not in left.arguments)]
    names = names if [*left.arguments] == [*right.arguments] else sorted(names)
    for name in names:
        result = _argument(name, left.arguments, right.arguments, right_names)
        if not isinstance(result, Same):
            yield Change("argument", name, result)
    if not _are_beside(left.objects, right.objects, right_names):
        returned = [", ".join(call.objects) or None for call in (left, right)]
        yield Change("result", "", Others(*returned))
    a, b = _aspects(left, ends[0]), _aspects(right, ends[1])
    # A call whose result was cached did not run, so it printed nothing.
    if any(end is not None and end.cached for end in ends):
        del a["prints"]
    for what, value in a.items():
        result = difference(value, b[what])
        if not isinstance(result, Same):
            yield Change(what, "", result)


def interruption_text(interrupted: Interrupted) -> str:
    """Return what a person reads of a call that was interrupted."""
    if interrupted.ran:
        return t("It was interrupted while it ran; what it had done is not known.")
    return t("It was interrupted before it began, so it did not run.")


def _aspects(call: CallRecord, end: CallEnd | None) -> dict[Aspect, Any]:
    """Return what calls are compared by, besides their tools, arguments and objects."""
    outcome = call.outcome
    return {
        "status": call.status,
        "result": call.data,
        "error": interruption_text(outcome) if isinstance(outcome, Interrupted) else call.error,
        "prints": end.prints if end is not None else "",
        "reason": call.reason,
    }


def _are_beside(left: Sequence[str], right: Sequence[str], right_names: Mapping[str, str]) -> bool:
    """Return whether the objects of two calls stand beside each other.

    Two that have the same name by chance do not, where one of them stands beside another one.
    """

    def is_beside(one: str, other: str) -> bool:
        if one in right_names:
            return right_names[one] == other
        return one == other and other not in right_names.values()

    return len(left) == len(right) and all(map(is_beside, left, right))


def _argument(
    name: str,
    left: Mapping[str, object],
    right: Mapping[str, object],
    right_names: Mapping[str, str],
) -> Difference:
    """Objects that stand beside each other are the same argument, whatever they are called."""
    renamed = mapped(left.get(name), str, lambda text: right_names.get(text, text))
    is_same = name in left and name in right and renamed == right[name]
    return Same() if is_same else part_difference(name, left, right)
