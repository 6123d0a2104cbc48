"""A replay that the end of its kernel cut off, taken up again in the next one.

The entry that a replay on a new branch begins with says in its meta which branch it says
again. How far that has come is read off the new branch: nothing more is kept of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..events import Asked, Replied
from ..journal.tree import Entry, Journal
from ..loop import Cursor, Desk
from ..state.script import Script, about

Entries = tuple[Entry, ...]
REPLAYS = "replays"
"""In the meta of a replay's first entry: the last entry of the branch that is said again."""


def resumed(desk: Desk, head: str) -> Cursor:
    """Return a cursor at an entry, which goes on with a replay that was cut off there."""
    return Cursor(desk, head, left_to_say(desk.journal, head))


def left_to_say(journal: Journal, head: str) -> Script:
    """Return what a replay had still to say again where its branch ends; else nothing.

    Where other words were said than those recorded, the replay was over.
    """
    made, said = _begun(journal, journal.path(head))
    words, heard = [*_words(said)], [*_words(made)]
    if [word for _, word in words[: len(heard)]] != [word for _, word in heard]:
        return Script()
    rest = said[words[len(heard) - 1][0] + 1 :] if heard else said
    return Script(rest, overtaken={about(entry.event) for entry in made} - {""})


def _begun(journal: Journal, way: Entries) -> tuple[Entries, Entries]:
    """Return the last replay on a way, and what it says again; both begin at one place."""
    for number in reversed(range(len(way))):
        leaf = way[number].meta.get(REPLAYS)
        said = journal.path(leaf)[number:] if leaf in journal else ()
        # A replay of the replay says this entry again, its meta too, at another place.
        if said and said[0].parent == way[number].parent:
            return way[number:], said
    return (), ()


def _words(entries: Iterable[Entry]) -> Iterable[tuple[int, Any]]:
    """Yield where somebody speaks: a prompt by its text, a reply by the calls that it makes."""
    for number, entry in enumerate(entries):
        match entry.event:
            case Asked(text, again=again):
                yield number, (text, again)
            case Replied(calls=calls):
                yield number, [call.id for call in calls]
