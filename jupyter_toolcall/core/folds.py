"""Folds over the entries of a journal, and the sequence that their results grow by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar, overload

from .errors import UnknownEntry
from .journal_entries import Entry

S = TypeVar("S")


RECENT = 128
"""How many results at most are kept because they were computed last."""
KEPT = ("00", "40", "80", "c0")
"""One entry in 64 has an id that ends so, and its result is kept for good: any other one is soon
computed again."""


class Fold(Generic[S]):
    """The results of `evolve` at the entries of a journal, the first of which gets `start`.

    A session's state is several kB, so keeping it for each of its entries would be most of its
    memory. What is asked for in order, either way, costs one step each.
    """

    def __init__(
        self, entries: Mapping[str, Entry], evolve: Callable[[S, Entry], S], start: S
    ) -> None:
        self._entries, self._evolve, self._start = entries, evolve, start
        self._recent: dict[str, S] = {}
        self._kept: dict[str, S] = {}

    def at(self, head: str | None) -> S:
        """Return what the entries up to `head` lead to.

        Raises UnknownEntry for a head that is not in the journal, and what `evolve` raises.
        """
        ahead: list[str] = []
        state: S | None = None
        while head is not None:
            state = self._recent.get(head) or self._kept.get(head)
            if state is not None:
                break
            ahead.append(head)
            try:
                head = self._entries[head].parent
            except KeyError:
                raise UnknownEntry(f"this journal has no entry {head!r}") from None
        if state is None:
            state = self._start
        for entry_id in reversed(ahead):
            state = self._evolve(state, self._entries[entry_id])
            self._recent[entry_id] = state
            if entry_id.endswith(KEPT):
                self._kept[entry_id] = state
            if len(self._recent) > RECENT:
                # Many at once: finding the first key passes all that were deleted before it.
                for oldest in list(self._recent)[: RECENT // 2]:
                    del self._recent[oldest]
        return state

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
