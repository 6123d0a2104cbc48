"""Whether a session comes out again as it was recorded: all of it run anew, on a copy.

Nothing of it is kept, and no model is asked: what was said is said again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import zip_longest

from ..errors import Absent
from ..events import Decided, Event, Finished, Made, Many, Opened, to_json
from ..journal.diverging import differing
from ..journal.tree import Entry, Journal
from ..loop import Cursor, Desk, advance
from ..state.call import objects_of
from ..state.fold import state_at
from ..state.memory import Memory
from ..state.script import about
from .places import replayed


@dataclass(frozen=True, slots=True)
class Verdict:
    """What verifying a session found: true where it comes out as it was recorded."""

    calls: int
    divergence: str = ""
    """The first place in which it came out otherwise."""

    def __bool__(self) -> bool:
        return not self.divergence

    def __str__(self) -> str:
        calls = "1 call" if self.calls == 1 else f"{self.calls} calls"
        return self.divergence or f"{calls} came out as recorded"


def verified(cursor: Cursor) -> Verdict:
    """Run all calls of a branch anew on a copy of it, and return the first divergence.

    What was approved for this branch is approved for that; tools run for real.
    """
    path = cursor.desk.journal.path(cursor.head)
    again = replayed(Cursor(_copy(cursor.desk, path), cursor.head), None, fresh=True)
    calls = len(cursor.state.order)
    try:
        while again.script.next(again.state.open) and advance(again) is not None:
            pass
    except Absent as error:
        return Verdict(calls, str(error))
    return Verdict(calls, _first(path, again.desk.journal.path(again.head), cursor))


def _copy(desk: Desk, path: tuple[Entry, ...]) -> Desk:
    """Return a desk of its own, with a journal of this branch alone, and what it began with."""
    journal = Journal()
    journal.texts.update(desk.journal.texts)
    for entry in path:
        journal.append(entry.parent, entry.event, entry.meta, entry.own)
    journal.secrets = desk.secrets
    memory = Memory(journal, desk.memory.kinds, instances=dict(desk.memory.instances))
    memory.values.update((name, desk.memory.values[name]) for name in _given(desk, path))
    return replace(desk, journal=journal, memory=memory, model=None)


def _given(desk: Desk, path: tuple[Entry, ...]) -> set[str]:
    """Return the digests of what came from outside and is at hand: what no tool made."""
    found = {made.digest for entry in path for made in _outside(entry.event)}
    found |= {digest for _, digest in state_at(desk.journal, path[0].id).opened.instances}
    return {digest for digest in found if desk.memory.holds(digest)}


def _outside(event: Event) -> Iterable[Made]:
    """Return what an event brought from outside: an input, or an answer of somebody's own."""
    match event:
        case Opened(inputs=inputs):
            return [made for _, made in inputs]
        case Decided(result=Made() | Many() as answer):
            return objects_of(answer)
        case Finished(by="program", outcome=outcome):
            return objects_of(outcome)
    return ()


def _first(path: tuple[Entry, ...], again: tuple[Entry, ...], cursor: Cursor) -> str:
    """Return the first difference of two branches in words, "" for none."""
    for was, now in zip_longest(path, again):
        if was is None or now is None or was.id != now.id:
            return _told(was, now, cursor)
    return ""


def _told(was: Entry | None, now: Entry | None, cursor: Cursor) -> str:
    if now is None:
        return f"{_where(was, cursor)} was recorded, and did not come about again"
    if was is None:
        return f"{_where(now, cursor)} was not recorded"
    return f"{_where(was, cursor)}: {differing(to_json(was.event), to_json(now.event))}"


def _where(entry: Entry | None, cursor: Cursor) -> str:
    """Return what an entry is about: a call by its number and tool, or else its kind."""
    event = entry.event if entry else None
    call = cursor.state.calls.get(about(event)) if event else None
    return f"call {call.step}, {call.tool}" if call else type(event).__name__.lower()
