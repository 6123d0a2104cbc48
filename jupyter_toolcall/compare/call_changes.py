"""What a call changed: the object that it made, beside the one that it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.call_record import CallRecord, objects_of
from ..core.events import Made, Uses
from ..core.state import State
from .alignment import alike, values
from .differences import Difference, Same

if TYPE_CHECKING:
    from ..engine.cursor import SessionContext


def object_before(call: CallRecord, uses: Uses, receiver: str, state: State) -> Made | None:
    """Return what a call made its first object from: the one before it, of the same type.

    That is the argument that a function changed in place, else the object that the method was
    called on, else the first argument. None for a call that made nothing, made it from nothing
    of its type, or returned the argument itself.
    """
    made = next(iter(objects_of(call.outcome)), None)
    if made is None or made.producer in uses.values():
        return None
    if made.changed in uses:
        return state.produced_object(uses[made.changed])
    for argument in sorted(uses, key=lambda argument: argument != receiver):
        used = state.produced_object(uses[argument])
        if used is not None and used.kind == made.kind:
            return used
    return None


def change(before: Made, made: Made, context: SessionContext) -> Difference:
    """Return how an object differs from the one before it; computed once for two values."""
    if alike(before, made):
        return Same()
    cached, key = context.values.differences, (before.digest, made.digest)
    if key not in cached:
        result = values(before, made, context, context)
        # What is not in this kernel may be made again.
        if not all(context.values.has_value(each.digest, each.content) for each in (before, made)):
            return result
        cached[key] = result
    found: Difference = cached[key]
    return found
