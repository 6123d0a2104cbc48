"""What a notebook holds of a session, read: its entries, which calls were cut off, which wait."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from ..events import Decided, Event, Finished, Replied, Started, from_json
from ..journal.tree import name
from ..state.script import about

Saved = tuple[str, Event, Mapping[str, Any]]
"""A saved session's entry: its id, its event, and what is noted beside it."""


def entries_of(part: Mapping[str, Any]) -> Iterator[Saved]:
    """Yield a saved session's entries: their ids, events and what is noted beside them."""
    ids: list[str] = []
    for parent, data, *meta in part["events"]:
        event = from_json(data)
        ids.append(name(part["parent"] if parent < 0 else ids[parent], event))
        yield ids[-1], event, meta[0] if meta else {}


def cut_off(entries: Sequence[Saved], rows: Sequence[Any]) -> Mapping[int, str]:
    """Return where calls started that never ended, and which: what allowed them is used up."""
    started = {n: e.call_id for n, (_, e, _) in enumerate(entries) if isinstance(e, Started)}
    for number, (_, event, _) in enumerate(entries):
        if isinstance(event, Finished):
            turn = _turn(entries, rows, number)
            started.pop(next((at for at in turn if started.get(at) == event.call_id), -1), "")
    return started


def waits(entries: Sequence[Saved], rows: Sequence[Any], head: str) -> bool:
    """Return whether a call has no result at the place where a saved session stands."""
    stands = next((n for n, each in enumerate(entries) if each[0] == head), -1)
    ended: set[str] = set()
    for at in _up(rows, stands):
        match entries[at][1]:
            case Finished(call_id) | Decided(call_id, "reject" | "answer"):
                ended.add(call_id)
            case Replied(calls=calls):
                return not {call.id for call in calls} <= ended
    return False


def without_cut_off(part: Mapping[str, Any]) -> list[Any]:
    """Return a saved session's events as if what was cut off had never been allowed or begun.

    A kernel that runs to its end has no such entries: it comes to what follows without them.
    """
    entries, rows = list(entries_of(part)), part["events"]
    gone = {
        at
        for start, call_id in cut_off(entries, rows).items()
        for at in _turn(entries, rows, start)
        if about(entries[at][1]) == call_id
    }
    kept = [number for number in range(len(rows)) if number not in gone]
    places = {number: place for place, number in enumerate(kept)} | {-1: -1}
    held = (next(each for each in (*_up(rows, rows[n][0]), -1) if each in places) for n in kept)
    return [[places[above], *rows[n][1:]] for n, above in zip(kept, held, strict=True)]


def _turn(entries: Sequence[Saved], rows: Sequence[Any], number: int) -> Iterator[int]:
    """Yield an entry's number and those before it, back to the reply that began its turn."""
    return takewhile(lambda at: not isinstance(entries[at][1], Replied), _up(rows, number))


def _up(rows: Sequence[Any], at: int) -> Iterator[int]:
    """Yield a saved entry's number, that of its parent, and so on to the cell's first."""
    while at >= 0:
        yield at
        at = rows[at][0]
