"""Private copies of the objects that a tool takes, and what the tool changed in them.

A named object never changes. If a tool changes its copy, the copy becomes a new object where
the tool returns it, or returns nothing; otherwise the change is dropped. The person is informed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..core.call_record import objects_of
from ..core.events import UNSAID, Made, Outcome, Producer
from ..core.state import State
from ..tools.value_copies import is_frozen, private
from ..tools.value_digests import content_digest
from .session_values import SessionValues


@dataclass
class ArgumentCopy:
    """An object by name, its value, and what a tool got of it: a copy, where there can be one."""

    name: str
    made: Made
    value: Any
    copy: Any

    @property
    def copied(self) -> bool:
        """Whether the tool had a copy of its own."""
        return self.copy is not self.value

    @cached_property
    def changed(self) -> bool | None:
        """Whether the tool changed it in place; None where nobody can tell."""
        if is_frozen(self.copy):
            return False
        before, now = self.made.content, content_digest(self.copy)
        if not before or before == now:
            return None if not before else False
        # A copy may differ by itself, where its class makes it so.
        return not self.copied or content_digest(private(self.value)[0]) != now


@dataclass
class ArgumentCopies:
    """The loans of one run, each object lent once."""

    state: State
    values: SessionValues

    def __post_init__(self) -> None:
        self._copies: dict[int, ArgumentCopy] = {}

    def __len__(self) -> int:
        return len(self._copies)

    def __iter__(self) -> Iterator[ArgumentCopy]:
        return iter(self._copies.values())

    def copy_of(self, name: str, types: tuple[type, ...]) -> Any:
        """Return what a tool gets of an object. Raises CallError and Absent."""
        made = self.state.resolve(name)
        value = self.values.value(made)
        if id(value) not in self._copies:
            self._copies[id(value)] = ArgumentCopy(name, made, value, private(value)[0])
        return self._copies[id(value)].copy

    def of_producer(self, producer: Producer | None) -> ArgumentCopy | None:
        """Return the loan of the object of a producer, else the first there is."""
        copies = (copied for copied in self if copied.made.producer == producer)
        return next(copies, None) or next(iter(self), None)

    def notes(self, result: Any, outcome: Outcome | None = None) -> tuple[str, ...]:
        """Say what the tool changed in place, and what became of that."""
        items = result if isinstance(result, (list, tuple)) else [result]
        new = [*_named(objects_of(outcome), self.state)]
        return tuple(_said(copied, items, new) for copied in self if copied.changed)


def _said(copied: ArgumentCopy, items: Iterable[Any], new_names: list[str]) -> str:
    name = copied.name
    if not copied.copied:
        return (
            f"changed {name} in place, which can't be copied: it is no longer what it was, and "
            "neither is what was made from it"
        )
    names = [made for item, made in zip(items, new_names, strict=False) if item is copied.copy]
    if not names and len(new_names) == 1 and [*items] == [None]:
        names = new_names
    became = f"kept as {names[0]}" if names else f"dropped, so {name} stays as it was"
    return f"changed {name} in place: {became}"


def _named(objects: Iterable[Made], state: State) -> Iterator[str]:
    """Yield the names that a call's objects will bear."""
    counts: dict[str, int] = {}
    for made in objects:
        if made.producer != UNSAID:
            yield state.by_producer.get(made.producer) or made.kind
        else:
            counts[made.kind] = counts.get(made.kind, state.counts.get(made.kind) or 0) + 1
            yield f"{made.kind}#{counts[made.kind]}"
