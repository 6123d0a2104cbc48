"""A sequence that grows without being copied. Only that lives here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar, overload

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
