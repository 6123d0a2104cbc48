"""Entries that a branch repeats from another branch. A range of them is one line of the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .errors import BrokenJournal
from .events import Decided, Finished, Replied
from .journal_entries import Entry, Seal, line, name
from .recorded_data import JsonDict, JsonObject


class Repeat(NamedTuple):
    """A range of entries of one path, repeated after another entry."""

    parent: str | None
    """The entry that they follow here."""
    last: str
    """The last of the new entries."""
    originals: tuple[str, str]
    """The first and the last of the entries that are repeated."""
    is_stale: bool
    """Whether the model wrote these replies before the results changed."""

    def line(self, seal: Seal | None, previous: str | None) -> str:
        """Return all of these entries as one line; see `journal_entries.line`."""
        data: JsonDict = {"id": self.last, "parent": self.parent}
        data |= {"repeats": [*self.originals], **({"stale": True} if self.is_stale else {})}
        return line(data, seal, previous)


def repeated_meta(entry: Entry, is_stale: bool = False) -> JsonObject:
    """Return the meta of an entry where it is repeated on another branch.

    A reply and a decision name the first entry of that kind (`of`), so that an approval allows
    one start on all branches. A result is a cached result, without meta: nothing ran for it.
    """
    match entry.event:
        case Replied():
            stale = {"stale": True} if is_stale else {}
            return {**entry.meta, "of": entry.meta.get("of", entry.id), **stale}
        case Decided():
            return {**entry.meta, "of": entry.meta.get("of", entry.id)}
        case Finished(by="session"):
            return {}
    return entry.meta


def repeated_entries(
    originals: Sequence[Entry], parent: str | None, is_stale: bool, verified: bool = True
) -> list[Entry]:
    """Return entries with the same events as `originals`, one after the other, after `parent`."""
    entries = list[Entry]()
    for original in originals:
        event, meta = original.event, repeated_meta(original, is_stale)
        is_verified = verified and original.verified
        entries.append(Entry(name(parent, event), parent, event, meta, is_verified))
        parent = entries[-1].id
    return entries


def read_repeat(data: Mapping[str, object]) -> Repeat:
    """Return the range that a line repeats. Raises BrokenJournal where it names none."""
    match data:
        case {"id": str(last), "parent": str() | None as parent, "repeats": [str(a), str(b)]}:
            return Repeat(parent, last, (a, b), data.get("stale") is True)
    raise BrokenJournal("a line repeats no entries")
