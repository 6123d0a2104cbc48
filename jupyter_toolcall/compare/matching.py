"""Which items of two sequences belong together. It has pure functions on sequences only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TypeVar

T = TypeVar("T")
Key = int | str
Keys = Sequence[Callable[[T], Key]]
Pair = tuple[T | None, T | None]
"""What stands on the left and on the right; None where nothing does."""
MANY = 400
"""Of so many items the popular ones begin nothing: else they would be compared all with all."""


def matches(left: Sequence[Key], right: Sequence[Key]) -> list[tuple[int, int, int]]:
    """Return the runs that both have, in order, as (left, right, length)."""
    popular = max(len(left), len(right)) > MANY
    blocks = SequenceMatcher(None, left, right, autojunk=popular).get_matching_blocks()
    return [(a, b, size) for a, b, size in blocks if size]


def pairs(left: Sequence[T], right: Sequence[T], keys: Keys[T]) -> Iterator[Pair[T]]:
    """Yield the items side by side, in order.

    Those with the same first key belong together, between them those with the same second
    key, and so on; what is left over stands together as it comes. The same pairs come out
    when the sides are swapped.
    """
    if keys and _rank(left, keys[0]) > _rank(right, keys[0]):
        yield from ((ours, theirs) for theirs, ours in _pairs(right, left, keys))
    else:
        yield from _pairs(left, right, keys)


def _rank(items: Sequence[T], key: Callable[[T], Key]) -> tuple[int, list[str]]:
    """Which side comes first, whichever is called left: a match is not the same from both."""
    return len(items), [str(key(item)) for item in items]


def _pairs(left: Sequence[T], right: Sequence[T], keys: Keys[T]) -> Iterator[Pair[T]]:
    if not left or not right or not keys:
        yield from zip_longest(left, right)
        return
    key, *remaining = keys
    a = b = 0
    ends = (len(left), len(right), 0)
    for i, j, size in (*matches([*map(key, left)], [*map(key, right)]), ends):
        yield from _pairs(left[a:i], right[b:j], remaining)
        yield from zip(left[i : i + size], right[j : j + size], strict=True)
        a, b = i + size, j + size
