"""The private copies of objects that a tool gets, and what it changed in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..core.events import Made, Outcome, Producer, Uses
from ..core.state import State
from ..tools.remote_values import RemoteValue, Unchanged
from ..tools.value_copies import private
from ..tools.value_digests import Content, content_of, is_frozen
from .session_values import SessionValues


@dataclass(frozen=True, slots=True)
class InPlaceChanges:
    """What a run changed in place."""

    notes: Sequence[str] = ()
    """Sentences for the person."""
    lost: Sequence[str] = ()
    """The objects whose change was dropped, although the tool succeeded."""
    untracked: Sequence[str] = ()
    """The objects that cannot be copied, and that the tool changed."""
    unclear: Sequence[str] = ()
    """The objects that the tool may have changed, which nothing can tell: a change is dropped."""


NO_CHANGES = InPlaceChanges()


@dataclass
class ArgumentCopy:
    """An object, its value, and what a tool gets of it: a copy, or the value if it has none."""

    name: str
    recorded: Made
    value: Any
    copy: Any
    promised: bool = False
    """Whether the tool promises to change nothing, so that it gets the value itself."""
    sent: bool = False
    """Whether the copy came back from another process, in which its identity is another one."""

    def __post_init__(self) -> None:
        if self.promised:
            return
        # An earlier call may have changed a value that is passed without a copy.
        is_recorded = self.copied and self.recorded.content
        self._before = (
            Content(self.recorded.content, True) if is_recorded else content_of(self.copy)
        )

    def bring_home(self, copy: object, promised: bool) -> None:
        """Take what a worker returns in place of the value that stays on its cluster."""
        self.copy, self.sent = copy, True
        self.promised, self._before = promised, Content(self.recorded.content, True)

    @property
    def copied(self) -> bool:
        """Whether the tool got a copy."""
        return self.copy is not self.value

    @cached_property
    def changed(self) -> bool | None:
        """Whether the tool changed it in place; None if nothing can tell."""
        if self.promised or is_frozen(self.copy):
            return False
        # A part that nothing can read stands for its identity: another one in another process.
        if self.sent and not self._before.is_whole:
            return None
        after = content_of(self.copy)
        if after == self._before:
            return False
        if not self._before.is_whole:
            # A value that is read as another each time may or may not have changed.
            return True if after == content_of(self.copy) else None
        if type(self.value) is RemoteValue or self.is_original:
            return True
        # The class may make each copy different.
        return content_of(private(self.value)[0]) != after

    @cached_property
    def is_original(self) -> bool:
        """Whether a change is one of the value itself: there is no copy, or it shares a part."""
        if not self.copied:
            return True
        # Each copy of what is on a cluster was made of its pickle there.
        if not self._before.is_whole or type(self.value) is RemoteValue:
            return False
        return content_of(self.value) != self._before

    @property
    def is_another(self) -> bool:
        """Whether the copy counts as another object: it changed, or may have changed."""
        return self.copied and self.changed is not False

    def argument(self, uses: Uses) -> str:
        """Return the argument that names the object, such as `plates.0`."""
        return next(
            (key for key, used in uses.items() if used == self.recorded.producer), self.name
        )


@dataclass
class ArgumentCopies:
    """The private copies that one execution gets, one for each object."""

    state: State
    values: SessionValues
    read_only: bool = False
    """Whether the tool is read-only."""
    promised: bool = False
    """Whether the tool promises to change no argument, and gets the values themselves."""
    executor: Executor | None = None
    """Where the tool runs; None: in the kernel."""
    kept: dict[int, int] = field(default_factory=dict)
    """The index among the outcome's objects of each changed copy, by the copy's identity."""

    def __post_init__(self) -> None:
        self._copies: dict[int, ArgumentCopy] = {}
        self._by_copy: dict[int, ArgumentCopy] = {}

    def __len__(self) -> int:
        return len(self._copies)

    def __iter__(self) -> Iterator[ArgumentCopy]:
        return iter(self._copies.values())

    def copy_of(self, name: str, types: tuple[type, ...]) -> Any:
        """Return what a tool gets of an object. Raises CallError and Absent."""
        recorded = self.state.resolve(name)
        remote = self.values.remote(recorded)
        is_remote = remote is not None and remote.is_usable_on(self.executor)
        value = remote if is_remote else self.values.value(recorded)
        if id(value) not in self._copies:
            promised = self.promised or is_remote
            copy = value if promised else private(value, self.read_only)[0]
            copied = ArgumentCopy(name, recorded, value, copy, promised)
            self._copies[id(value)] = self._by_copy[id(copied.copy)] = copied
        return self._copies[id(value)].copy

    def take_back(self, objects: Sequence[object]) -> None:
        """Put what a worker returns in the place of the copies; of none, nothing came back."""
        for copied, value in zip(self if objects else (), objects, strict=False):
            if value is Unchanged:
                continue
            if type(copied.value) is RemoteValue:
                copied.bring_home(value, self.promised)
                continue
            copied.sent = value is not copied.copy
            copied.copy = value
        self._by_copy = {id(copied.copy): copied for copied in self}

    @property
    def untracked(self) -> list[ArgumentCopy]:
        """The arguments of which the tool changed the value itself, and not a copy alone."""
        return [copied for copied in self if copied.changed and copied.is_original]

    @property
    def unclear(self) -> list[ArgumentCopy]:
        """The copies that may have changed, which nothing can tell, and that are in no result."""
        return [
            copied
            for copied in self
            if copied.copied
            and copied.changed is None
            and not self.read_only
            and id(copied.copy) not in self.kept
        ]

    def of_value(self, value: object) -> ArgumentCopy | None:
        """Return the copy with the identity of a value; None if the value is no copy."""
        return self._by_copy.get(id(value))

    def of_producer(self, producer: Producer | None) -> ArgumentCopy | None:
        """Return the copy of the object that a producer made, or else the first copy."""
        copies = (copied for copied in self if copied.recorded.producer == producer)
        return next(copies, None) or next(iter(self), None)

    def changes(self, outcome: Outcome | None, names: Sequence[str]) -> InPlaceChanges:
        """Return what the tool changed in place; `outcome` is None where it failed.

        `names` are those of the objects of the outcome.
        """
        notes: list[str] = []
        lost: list[str] = []
        for copied in self:
            name, index = copied.name, self.kept.get(id(copied.copy))
            if not copied.copied:
                continue
            if outcome is not None and index is not None:
                notes += [f"changed {name} in place: kept as {names[index]}"]
            elif copied.changed and outcome is None:
                notes += [f"changed {name} in place: dropped, so {name} stays as it was"]
            elif copied.changed:
                lost += [name]
        unclear = [copied.name for copied in self.unclear] if outcome is not None else []
        return InPlaceChanges(notes, lost, [copied.name for copied in self.untracked], unclear)
