"""The outcome of a call that ran: its result as JSON, the objects in it, and those that the tool
changed in place. Nothing fails a call that ran, since the model would repeat it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.digests import digest, encode
from ..core.errors import CallError
from ..core.events import Data, Made, Many, Outcome
from ..core.interrupts import attempt
from ..core.recorded_data import replace
from ..tools.json_structure import HeldObject, IteratorItems, Structure, structure_of
from ..tools.object_types import leaf_kind, registered_kind
from ..tools.plain_data import LONGEST, described_for_model, plain_data, uncut_data
from ..tools.remote_values import RemoteValue
from ..tools.tool import Changed
from ..tools.value_digests import SCALARS
from ..tools.value_text import StandsForText
from .argument_copies import ArgumentCopies, ArgumentCopy
from .session_values import PreparedCall, SessionValues, recorded_value


def read_result(
    result: Any, ready: PreparedCall, copies: ArgumentCopies, values: SessionValues
) -> Outcome:
    """Return the outcome of a tool's result, with the arguments that it changed in place."""
    # `isinstance` would ask the result for its `__class__`.
    if issubclass(type(result), Changed):
        return _with_variables(result)
    created = _Objects(ready, copies, values)
    structure = _structure(result, copies, values)
    objects = [created.object_of(held) for held in structure.objects]
    if result is None and ready.tool.receiver:
        receiver = copies.of_producer(ready.uses.get(ready.tool.receiver))
        if receiver is not None and receiver.is_another and not created.other_changes(receiver):
            objects = [created.changed_copy(receiver)]
            structure.objects = [HeldObject(None, "", (), ())]
    changed = created.changed_copies()
    if result is None and not objects and len(changed) == 1 and not created.untracked():
        return changed[0]
    return outcome_of(structure, result, (*objects, *changed), created.untracked())


def outcome_of(
    structure: Structure, result: object, objects: tuple[Made, ...], untracked: tuple[str, ...] = ()
) -> Outcome:
    """Return the outcome of a result: plain data, an object, or JSON with objects in it."""
    held_objects, unnamed = structure.objects, dict(structure.unnamed)
    if not (objects or unnamed or untracked):
        return Data(plain_data(structure.value))
    paths = tuple(held.path for held in held_objects)
    if paths == ((),) and len(objects) == 1 and not untracked:
        return objects[0]
    positions = paths == tuple((n,) for n in range(len(paths)))
    if held_objects and positions and _holds_nothing_else(result, structure):
        return Many(objects, untracked=untracked, unnamed=unnamed)
    steps = tuple(held.access for held in held_objects)
    access = steps if any(step is not None for path_steps in steps for step in path_steps) else ()
    data = plain_data(structure.value)
    if isinstance(data, str) and any(paths):
        # A text that was too long, or no JSON, has no position for a name.
        data = {"text": data, "objects": [None] * len(held_objects)}
        paths, access = tuple(("objects", n) for n in range(len(held_objects))), ()
    return Many(objects, data, paths, access, untracked, unnamed)


def _holds_nothing_else(result: Any, structure: Structure) -> bool:
    """Return whether a result is a list or a tuple that holds only objects."""
    count = len(structure.objects) + sum(structure.unnamed.values())
    return type(result) in (list, tuple, IteratorItems) and len(result) == count


def _structure(result: object, copies: ArgumentCopies, values: SessionValues) -> Structure:
    """Return the structure of a result; a result that cannot be read is described in a text."""

    def object_kind(value: object) -> str | None:
        copied = None if type(value) in SCALARS else copies.of_value(value)
        return registered(type(value)) if copied is None else copied.recorded.kind

    registered = kinds_by_class(values)
    if type(result) is RemoteValue:
        kind = registered(result.cls) or result.kind
        return Structure(None, [HeldObject(result, kind, (), ())])
    structure, _ = attempt(structure_of, result, object_kind, leaf_kind)
    return Structure(described_for_model(result, 2000)) if structure is None else structure


def kinds_by_class(values: SessionValues) -> Callable[[type], str | None]:
    """Return a function from a class to the type of its objects. It looks up a class once."""
    kinds: dict[type, str | None] = {}

    def kind(cls: type) -> str | None:
        if cls not in kinds:
            kinds[cls] = registered_kind(cls, values.kinds)
        return kinds[cls]

    return kind


class _Objects:
    """Creates the objects of a call: those in its result, and the changed copies of arguments."""

    def __init__(self, ready: PreparedCall, copies: ArgumentCopies, values: SessionValues) -> None:
        self._ready, self._copies, self._values = ready, copies, values
        self._count = 0

    def object_of(self, held: HeldObject) -> Made:
        """Return an object of the result: for an argument that is unchanged, its own object."""
        copied = self._copies.of_value(held.value)
        if copied is not None and not copied.is_another:
            self._count += 1
            return copied.recorded
        if copied is not None:
            return self.changed_copy(copied)
        return self._new(held.value, held.kind)

    def changed_copy(self, copied: ArgumentCopy) -> Made:
        """Return a new object for a changed copy."""
        self._copies.kept.setdefault(id(copied.copy), self._count)
        return self._new(copied.copy, copied.recorded.kind)

    def changed_copies(self) -> tuple[Made, ...]:
        """Return new objects for the changed copies that are not in the result."""
        return tuple(
            replace(self.changed_copy(copied), changed=copied.argument(self._ready.uses))
            for copied in self._copies
            if copied.copied and copied.changed and id(copied.copy) not in self._copies.kept
        )

    def other_changes(self, receiver: ArgumentCopy) -> bool:
        """Return whether a method changed another argument than its own object."""
        return any(c.copied and c.changed for c in self._copies if c is not receiver)

    def untracked(self) -> tuple[str, ...]:
        """Return the arguments whose change cannot be followed."""
        copies = (*self._copies.untracked, *self._copies.unclear)
        return tuple(copied.argument(self._ready.uses) for copied in copies)

    def _new(self, value: object, kind: str) -> Made:
        ref = new_object(value, kind, self._ready, self._values, self._count)
        self._count += 1
        return ref


def new_object(
    value: Any, kind: str, ready: PreparedCall, values: SessionValues, index: int
) -> Made:
    """Return a new object. A value without a content digest gets a digest that no other has."""
    recorded, attempt_number = recorded_value(value, ready.tool.keeps_arguments), 1
    name = digest("made", ready.approval_digest, ready.call_id, index, recorded.content)
    while not recorded.content and name in values.by_digest:
        attempt_number += 1
        name = digest("made", ready.approval_digest, ready.call_id, index, attempt_number)
    # `isinstance` would ask the value for its `__class__`.
    shown = value.text_label() if issubclass(type(value), StandsForText) else ""
    ref = Made(kind, name, recorded.content, shown=shown)
    values.store(ref, recorded)
    return ref


# -- results that set variables -------------------------------------------------------------


def variables_as_data(changed: Changed) -> Data:
    """Return a result that sets variables as plain data.

    A cut variable would be another value, so CallError is raised where they are too long.
    """
    variables = {str(name): uncut_data(value) for name, value in changed.variables.items()}
    if len(encode(variables)) > LONGEST:
        names = ", ".join(variables)
        raise CallError(f"{names:.200}: longer than {LONGEST:,} characters, so not set")
    return Data(plain_data(changed.result), variables)


def _with_variables(changed: Changed) -> Data:
    """Return the result of a tool that ran; a note says if its variables are too long to be set."""
    try:
        return variables_as_data(changed)
    except CallError as error:
        return Data({"result": plain_data(changed.result), "not_set": str(error)})
