"""Folds over the entries of a journal, and the sequence that their results grow by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar, overload

from .errors import UnknownEntry
from .journal_entries import Entry

S = TypeVar("S")


RECENT = 256
"""How many results at most are kept because they were computed last."""


EVERY = 64
"""One in so many on each path is kept for good, so that any other is soon computed again."""


class Fold(Generic[S]):
    """The results of `evolve` at the entries of a journal, the first of which gets `start`.

    A session's state is several kB, so keeping it for each of its entries would be most of its
    memory. What is asked for in order, either way, costs one step each.
    """

    def __init__(
        self, entries: Mapping[str, Entry], evolve: Callable[[S, Entry], S], start: S
    ) -> None:
        self._entries, self._evolve, self._start = entries, evolve, start
        self._recent: dict[str, tuple[S, int]] = {}
        """Each with the number of entries since the last one on its path that is kept."""
        self._kept: dict[str, S] = {}

    def at(self, head: str | None) -> S:
        """Return what the entries up to `head` lead to.

        Raises UnknownEntry for a head that is not in the journal, and what `evolve` raises.
        """
        if head is None:
            return self._start
        known = self._recent.get(head)
        if known is not None:
            return known[0]
        ahead: list[Entry] = []
        since = 0
        state = self._start
        while head is not None:
            if (recent := self._recent.get(head)) is not None:
                state, since = recent
                break
            if (kept := self._kept.get(head)) is not None:
                state = kept
                break
            try:
                entry = self._entries[head]
            except KeyError:
                raise UnknownEntry(f"this journal has no entry {head!r}") from None
            ahead.append(entry)
            head = entry.parent
        for entry in reversed(ahead):
            state = self._evolve(state, entry)
            since = self._keep(entry.id, state, since + 1)
        if not ahead and head is not None:
            self._keep(head, state, since)
        return state

    def _keep(self, entry_id: str, state: S, since: int) -> int:
        recent = self._recent
        if since >= EVERY:
            self._kept[entry_id] = state
            since = 0
        recent[entry_id] = state, since
        if len(recent) > RECENT:
            # Many at once: finding the first key of a dict passes all that were deleted before it.
            for oldest in list(recent)[: RECENT // 2]:
                recent.pop(oldest, None)
        return since

    def forget(self, entry_id: str) -> None:
        """Forget the result at one entry."""
        self._recent.pop(entry_id, None)
        self._kept.pop(entry_id, None)


T = TypeVar("T")


class Trail(Sequence[T]):
    """An immutable sequence; what `add` returns shares all items with what it grew from.

    Growing the newest one costs O(1); growing an older one, as a fork does, copies.
    """

    __slots__ = ("_items", "_length")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items = list(items)
        self._length = len(self._items)

    def add(self, item: T) -> Trail[T]:
        """Return this sequence with one more item at its end."""
        grown = Trail.__new__(Trail)
        fresh = len(self._items) == self._length
        grown._items = self._items if fresh else self._items[: self._length]
        grown._items.append(item)
        grown._length = self._length + 1
        return grown

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        for index in range(self._length):
            yield self._items[index]

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            return self._items[start:stop:step] if step > 0 else self._items[: self._length][index]
        if not -self._length <= index < self._length:
            raise IndexError(f"{index} is outside of {self._length} items")
        return self._items[index if index >= 0 else index + self._length]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Trail({list(self)!r})"
