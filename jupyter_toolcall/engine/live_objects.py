"""Live values that a program gives become objects of the session, which its calls name.

A value that an object has already is that object. Any other becomes an input: a private copy, with
the name of its type.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, count

from ..core.events import Made, inputs_of
from ..core.json_data import nested
from ..core.object_names import free_name, introduce
from ..core.recorded_data import replace
from ..core.state import State
from ..tools.arguments import ObjectNames
from ..tools.object_types import registered_kind
from ..tools.value_digests import content_digest
from .cursor import Cursor
from .session_values import SessionValues


def live_object(value: object, kind: str, state: State, values: SessionValues) -> Made:
    """Return the object of a value in a state: an existing one, or a new input without a name."""
    content = content_digest(value)
    existing = state.contents.get((kind, content)) if content else None
    if existing is not None:
        return state.objects[existing]
    # The name of an input stands for the same value on all branches. A value without a content
    # digest has a name of its own.
    recorded = (ref for entry in values.journal for ref in inputs_of(entry.event))
    others = {
        ref.producer.input
        for ref in chain(recorded, state.objects.values())
        if not content or (ref.kind, ref.content, ref.producer.version) != (kind, content, 1)
    }
    name = kind.lower()
    names = (name if number == 1 else f"{name}_{number}" for number in count(1))
    return values.add_input(next(name for name in names if name not in others), value)


class LiveObjects(ObjectNames):
    """The objects that a program gives by their values in the arguments of a call."""

    def __init__(self, cursor: Cursor) -> None:
        self._before = self._state = cursor.state
        self._recorded = cursor.recorded_states() or (self._before,)
        self._values = cursor.context.values

    def kind(self, value: object) -> str | None:
        """Return the type of a value that is an object; None for one that may be plain data."""
        return registered_kind(type(value), self._values.kinds)

    def name(self, value: object, kind: str) -> str:
        """Return the name of the object of a value; a new one is free on all replayed branches."""
        ref = live_object(value, kind, self._state, self._values)
        if ref.producer not in self._state.by_producer:
            names = (state.by_producer.get(ref.producer) for state in self._recorded)
            name = next(filter(None, names), "") or free_name(kind, self._state, *self._recorded)[0]
            self._state = introduce(self._state, replace(ref, name=name))
        return self._state.name_of(ref)

    def inputs(self, arguments: Mapping[str, object]) -> tuple[Made, ...]:
        """Return the inputs in the arguments of a call that the session did not begin with: new
        ones, and those of other edits, which may come later, or be edited away."""
        texts = dict.fromkeys(part for part in nested(arguments) if isinstance(part, str))
        states, begun = (*self._recorded[::-1], self._state), {"", *dict(self._state.opened.inputs)}
        refs = {n: ref for n in texts for s in states if (ref := s.objects.get(n)) is not None}
        found = ((name, ref) for name, ref in refs.items() if ref.producer.input not in begun)
        return tuple(replace(ref, name=name) for name, ref in found)
