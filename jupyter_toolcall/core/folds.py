"""Folds over the entries of a journal, and `Trail`, a sequence for the values that they compute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar, overload

from .errors import UnknownEntry
from .journal_entries import Entry

S = TypeVar("S")


RECENT = 128
"""The most results that are kept because they were computed last."""
KEPT = "0"
"""The end of an id: one entry in 16 has it. Its result is kept for good, so that any other result
takes few steps: with one in 64, an edit of an early call of 1,000 took half as long again."""


class Fold(Generic[S]):
    """The results of a fold at the entries of a journal: `evolve` computes each, from `start` on.

    A session's state takes several kB, so one at each entry would be most of a session's memory.
    Results that are read in order, forwards or backwards, cost one step each.
    """

    def __init__(
        self, entries: Mapping[str, Entry], evolve: Callable[[S, Entry], S], start: S
    ) -> None:
        self._entries, self._evolve, self._start = entries, evolve, start
        self._recent: dict[str, S] = {}
        self._kept: dict[str, S] = {}

    def at(self, head: str | None) -> S:
        """Return the result after the entries up to `head`.

        Raises UnknownEntry for a head that is not in the journal, and what `evolve` raises.
        """
        ahead, state = list[str](), None
        while head and (state := self._recent.get(head) or self._kept.get(head)) is None:
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
                # Many at once: a dict finds its first key by passing all that were deleted.
                for oldest in list(self._recent)[: RECENT // 2]:
                    del self._recent[oldest]
        return state

    def forget(self, entry_id: str) -> None:
        """Forget the result at one entry."""
        self._recent.pop(entry_id, None)
        self._kept.pop(entry_id, None)


T = TypeVar("T")


class Trail(Sequence[T]):
    """An immutable sequence. `add` returns a longer one that shares all its items.

    Adding to the longest one costs O(1); adding to a shorter one, as a fork does, copies it.
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
