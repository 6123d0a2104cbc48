"""What the entries of a tree lead to: one pure fold, and those of its results that are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from ..errors import UnknownEntry
from .entries import Entry

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
