"""The journal: an append-only tree of entries, and folds that compute values from a branch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar

from . import events, journal_entries
from .digests import digest
from .errors import BrokenJournal, UnknownEntry, UnknownFormat, UsageError
from .events import Asked, Decided, Event, Finished, InputNeeded, Replied, Started, to_json
from .folds import Fold, S
from .interrupts import Hold
from .journal_entries import (
    BROKEN,
    HEADER,
    Entry,
    EntryLine,
    Label,
    Seal,
    When,
    name_by_json,
)
from .recorded_data import frozen, replace
from .repeated_entries import Repeat, read_repeat, repeated_entries
from .secrets import Secrets, hide_event_secrets

Index = TypeVar("Index")


MOST_REPEATED = 100_000
"""How many more entries than characters a file may have. Lines that repeat entries can repeat one
another, so that a small hostile file could fill the memory."""
Write = Callable[[str, When], None]
"""Writes a line; the second argument says when it must be on disk."""


class Journal:
    """All branches of a session, and the texts that they share."""

    def __init__(self, write: Write | None = None, seal: Seal | None = None) -> None:
        self._entries: dict[str, Entry] = {}
        self._order: list[Entry] = []
        self._children: dict[str | None, str | tuple[str, ...]] = {}
        """The entries that follow an entry: the id of one, or a tuple of several ids."""
        self._leaves: dict[str, None] = {}
        self.forks: dict[str, None] = {}
        """The entries with which branches left older ones, oldest first."""
        self.questions: list[str] = []
        """Those of them that begin the branches of questions."""
        self._folds: dict[Callable[[Any, Entry], Any], Fold[Any]] = {}
        self._checks: list[Fold[Any]] = []
        self._indexes: dict[Callable[[Journal], Any], Any] = {}
        self._write, self._seal = write, seal
        self._previous: str | None = None
        """The entry of the line that was read, or written, last."""
        self._texts: dict[str, Any] = {}
        self._labels: dict[str, Label] = {}
        self._repeats: dict[str, Repeat] = {}
        """The ranges that were repeated at once, by the first of their new entries."""
        self.lock = threading.RLock()
        """Held while an entry is added, and from the check of an approval to the start by it: two
        threads must not both find it unused."""
        self.secrets = Secrets({})
        """The secrets that new entries must not hold; none where a file is only read."""

    def __reduce__(self) -> NoReturn:
        """Refuse a copy or a pickle: an approval in it would start its call a second time."""
        raise UsageError(
            "a session cannot be copied or pickled, because an approved call could run twice; use "
            "session.fork() for a new branch, or session.save(path) for a file"
        )

    def write_to(self, write: Write, seal: Seal | None = None) -> None:
        """Pass each new line to `write` from now on; `seal` seals the verified entries."""
        self._write, self._seal, self._previous = write, seal, None

    @property
    def texts(self) -> Mapping[str, Any]:
        """Tool definitions and system texts, by digest."""
        return MappingProxyType(self._texts)

    def text(self, text_digest: str | None) -> Any:
        """Return the text or the definition of a digest, as frozen data; None if there is none."""
        return self._texts.get(text_digest or "")

    @property
    def labels(self) -> Mapping[str, Label]:
        """The labels of branches, by the first entry of each; the latest label holds."""
        return MappingProxyType(self._labels)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._entries

    def __getitem__(self, entry_id: str) -> Entry:
        try:
            return self._entries[entry_id]
        except KeyError:
            raise UnknownEntry(f"this journal has no entry {entry_id!r}") from None

    def append(
        self,
        parent: str | None,
        event: Event,
        meta: Mapping[str, object] | None = None,
        verified: bool = True,
        may_wait: bool = False,
        moved: Callable[[Entry], None] | None = None,
    ) -> Entry:
        """Append an event after `parent`, with its secrets hidden, and return its entry.

        If this entry exists, the journal keeps it with its old meta. It takes the new meta only
        if this computer now verifies the entry, or if the new meta lacks one of its marks
        (`stale`, `may_have_run`, `kept`).
        With `may_wait` the line is written with the next one: a replayed entry allows nothing new.
        `moved` is called with the entry before any interrupt can come.
        Raises UnknownEntry for a parent that this journal has not, and what a checking fold
        raises: then nothing is added.
        """
        if isinstance(event, Finished):
            # The tool may have set an environment variable, and printed its value.
            self.secrets.refresh()
        if self.secrets.values:
            event, meta = hide_event_secrets(event, self.secrets), self.secrets.hide(meta or {})
        # Interrupts wait, so that memory, disk and cursor have the same entries.
        with Hold(firm=True), self.lock:
            entry = self._insert(parent, event, meta, verified, may_wait)
            if moved is not None:
                moved(entry)
            return entry

    def _insert(
        self,
        parent: str | None,
        event: Event,
        meta: Mapping[str, object] | None,
        verified: bool,
        may_wait: bool = False,
    ) -> Entry:
        if parent is not None and parent not in self._entries:
            raise UnknownEntry(f"this journal has no entry {parent!r}")
        data = to_json(event)
        if isinstance(event, Replied):
            # A model is code of others: what it says may be of any type.
            events.check_reply(data)
        # The same event after the same parent has the same id, so it is the same entry.
        entry_id = name_by_json(parent, data)
        existing = self._entries.get(entry_id)
        if existing is not None:
            marks = {"stale", "may_have_run", "kept"} & existing.meta.keys()
            changed = not existing.verified or bool(marks - (meta or {}).keys())
            return self._adopt(existing, meta or {}) if verified and changed else existing
        entry = Entry(entry_id, parent, event, meta or {}, verified)
        return self._add(entry, data, may_wait)

    def _add(self, entry: Entry, data: object = None, may_wait: bool = False) -> Entry:
        self._entries[entry.id] = entry
        try:
            for fold in self._checks:
                fold.at(entry.id)
            self._write_entry(entry, data, may_wait)
        # An entry that a fold refuses, or that cannot be written, is taken back.
        except BaseException:
            self._forget(entry.id)
            raise
        self._register(entry)
        return entry

    def _register(self, entry: Entry) -> None:
        self._order.append(entry)
        siblings = self.children(entry.parent)
        self._children[entry.parent] = (*siblings, entry.id) if siblings else entry.id
        self._leaves[entry.id] = None
        if entry.begins_question:
            self.questions.append(entry.id)
        elif not siblings or self.continuation(entry.parent) == entry.id:
            self._leaves.pop(entry.parent or "", None)
            return
        self.forks[entry.id] = None

    def repeat(
        self,
        parent: str,
        originals: Sequence[Entry],
        is_stale: bool,
        moved: Callable[[Entry], None],
        read: Callable[[Entry, Any], None],
    ) -> None:
        """Append copies of the entries of a path after `parent`: on disk they are one line.

        The originals are verified entries, so that nothing runs for the copies. `moved` is called
        with the last one before any interrupt can come. If all are new, `read` is called with
        each one and the state after it. Raises what a checking fold raises: then nothing is added.
        """
        with Hold(firm=True):
            entries = repeated_entries(originals, parent, is_stale)
            # The same edit may have been made before: then the first entries exist already.
            count = sum(entry.id in self for entry in entries)
            for entry in entries[:count]:
                self._insert(entry.parent, entry.event, entry.meta, entry.verified)
            if new := entries[count:]:
                ends = originals[count].id, originals[-1].id
                states = self._add_repeat(Repeat(new[0].parent, new[-1].id, ends, is_stale), new)
            moved(entries[-1])
            # All these states are in memory now; the fold soon keeps only one in 16.
            for entry, state in zip(new, states, strict=True) if not count else ():
                read(entry, state)

    def _add_repeat(self, repeat: Repeat, entries: Sequence[Entry]) -> list[Any]:
        """Add new entries that the line `repeat` stands for; return the states after them."""
        self._entries.update((entry.id, entry) for entry in entries)
        try:
            states = [fold.at(entry.id) for entry in entries for fold in self._checks]
            if self._write is not None:
                self._write(repeat.line(self._seal, self._previous), "soon")
                self._previous = repeat.last
        except BaseException:
            for entry in entries:
                self._forget(entry.id)
            raise
        self._repeats[entries[0].id] = repeat
        for entry in entries:
            self._register(entry)
        return states

    def adopt(self, metas: Mapping[str, Mapping[str, object]]) -> None:
        """Make entries verified, because a person vouches for them, and give them new meta.

        `metas` has the new meta by entry, in path order. Later states are computed again.
        """
        with Hold(firm=True):
            if metas:
                self._fold_again(next(iter(metas)))
            for entry_id, meta in metas.items():
                self._replace(self[entry_id], meta)

    def _adopt(self, existing: Entry, meta: Mapping[str, object]) -> Entry:
        """Make an entry verified and give it new meta; states after it are computed again."""
        self._fold_again(existing.id)
        return self._replace(existing, meta)

    def _fold_again(self, entry_id: str) -> None:
        """Forget the fold results at an entry and at all entries after it."""
        affected = [entry_id]
        for following in affected:
            affected += self.children(following)
            for fold in self._folds.values():
                fold.forget(following)

    def _replace(self, existing: Entry, meta: Mapping[str, object]) -> Entry:
        entry = Entry(existing.id, existing.parent, existing.event, meta)
        self._write_entry(entry)
        self._entries[existing.id] = entry
        self._order.append(entry)
        return entry

    def _write_entry(self, entry: Entry, data: object = None, may_wait: bool = False) -> None:
        if self._write is not None:
            when = "soon" if may_wait else entry.when
            self._write(entry.line(self._seal, self._previous, data), when)
            self._previous = entry.id

    def _forget(self, entry_id: str) -> None:
        del self._entries[entry_id]
        for fold in self._folds.values():
            fold.forget(entry_id)

    def mark_open_calls(self, why: str) -> None:
        """Mark at the end of each branch the entries whose calls may have run elsewhere.

        A person decides on these calls. An entry is marked if it is a reply with a call that has
        no result, an approval whose call has not started, or an open round of input. `why` is
        "copied" or "damaged": the value of `may_have_run` in its meta. An entry that is not
        verified needs no mark: the session asks the person about its calls anyway.
        """
        for leaf in self.leaves():
            over: set[str] = set()
            for entry in self._to_last_reply(leaf):
                match entry.event:
                    case Finished(call_id, InputNeeded()) if call_id not in over:
                        self._mark(entry, why)
                        over.add(call_id)
                    case Finished(call_id) | Started(call_id):
                        over.add(call_id)
                    case Decided(call_id, "reject" | "answer", round=0):
                        over.add(call_id)
                    case Decided(call_id) if call_id not in over:
                        self._mark(entry, why)
                    case Replied(calls=calls) if not over.issuperset(call.id for call in calls):
                        self._mark(entry, why)

    def mark(self, entries: Collection[str], why: str) -> None:
        """Mark replies and decisions, by id, so that a person decides again on their calls.

        `why` is "copied" where the calls may have run elsewhere, and "restarted" where the kernel
        that recorded a decision has ended.
        """
        for entry_id in entries:
            self._mark(self[entry_id], why)

    def _to_last_reply(self, head: str | None) -> Iterator[Entry]:
        """Yield the entries from `head` back to the last reply."""
        while head is not None:
            entry = self[head]
            yield entry
            head = None if isinstance(entry.event, Replied | Asked) else entry.parent

    def _mark(self, entry: Entry, why: str) -> None:
        if entry.is_effective:
            self._adopt(entry, {**entry.meta, "may_have_run": why})

    def entries_after(self, count: int) -> list[Entry]:
        """Return the entries after the first `count`, in the order in which they were added."""
        return self._order[count:]

    def remember(self, value: object) -> str:
        """Store a text or a definition, with its secrets hidden; return its digest."""
        value = self.secrets.hide(value)
        text_digest = digest("text", value)
        if text_digest not in self._texts:
            if self._write is not None:
                self._write(journal_entries.text_line(text_digest, value), "soon")
            self._texts[text_digest] = frozen(value)
        return text_digest

    def label(self, entry_id: str, label: Label) -> None:
        """Set the label of the branch whose first entry is this one, with its secrets hidden.

        Raises UnknownEntry.
        """
        first_entry = self[entry_id].id
        label = replace(label, name=self.secrets.hide(label.name))
        if self._labels.get(first_entry, Label()) == label:
            return
        if self._write is not None:
            self._write(label.line(first_entry), "soon")
        self._labels[first_entry] = label

    def children(self, entry_id: str | None) -> tuple[str, ...]:
        """Return the ids of the entries that follow an entry, oldest first."""
        existing = self._children.get(entry_id, ())
        return (existing,) if isinstance(existing, str) else existing

    def continuation(self, entry_id: str | None) -> str | None:
        """Return the first entry that continues a branch after an entry; None where none does.

        A question is always a branch of its own, also where it was asked first.
        """
        children = (self._entries[child] for child in self.children(entry_id))
        return next((child.id for child in children if not child.begins_question), None)

    def leaves(self) -> tuple[str, ...]:
        """Return the last entries of all branches, oldest first."""
        return tuple(self._leaves)

    def path(self, head: str | None, after: str | None = None) -> tuple[Entry, ...]:
        """Return the entries up to `head`, from the first (or from the one after `after`)."""
        path: list[Entry] = []
        while head is not None and head != after:
            entry = self._entries.get(head)
            if entry is None:
                raise UnknownEntry(f"this journal has no entry {head!r}")
            path.append(entry)
            head = entry.parent
        path.reverse()
        return tuple(path)

    def branch_copy(self, head: str) -> Journal:
        """Return a new journal in memory with one branch, and with the same secrets to hide."""
        journal = Journal()
        for text in self._texts.values():
            journal.remember(text)
        for entry in self.path(head):
            journal.append(entry.parent, entry.event, entry.meta, entry.verified)
        journal.secrets = self.secrets
        return journal

    def fold(
        self,
        head: str | None,
        evolve: Callable[[S, Entry], S],
        start: S,
        *,
        checks_entries: bool = False,
    ) -> S:
        """Return the result of `evolve` over the entries up to `head`.

        Results are kept by `evolve`: pass the same function each time, with the same `start` and
        `checks_entries`. With `checks_entries` the journal refuses each new entry for which
        `evolve` raises.
        """
        fold: Fold[S] | None = self._folds.get(evolve)
        if fold is None:
            fold = self._folds[evolve] = Fold(self._entries, evolve, start)
            if checks_entries:
                self._checks.append(fold)
        return fold.at(head)

    def index(self, kind: Callable[[Journal], Index]) -> Index:
        """Return this journal's index of a kind, which is created once and then updates itself."""
        existing: Index | None = self._indexes.get(kind)
        if existing is None:
            existing = self._indexes[kind] = kind(self)
        return existing

    # -- as text ------------------------------------------------------------------------

    def dumps(self, seal: Seal | None = None) -> str:
        """Return the journal as JSON Lines; `seal` seals the verified entries."""
        return "".join(f"{line}\n" for line in (HEADER, *self.lines(seal)))

    def lines(self, seal: Seal | None = None, base: Journal | None = None) -> Iterator[str]:
        """Yield the lines of what this journal has and `base` has not."""
        base = Journal() if base is None else base
        yield from (
            journal_entries.text_line(key, value)
            for key, value in self._texts.items()
            if key not in base.texts
        )
        previous: str | None = None
        written = {
            entry.id for entry in self if entry.id in base and _is_same(entry, base[entry.id])
        }
        for entry in self:
            if entry.id not in written and (repeat := self._repeats.get(entry.id)):
                repeated = self._repeated(repeat)
                is_sealed = all(new.verified for new in repeated)
                # An entry that a person vouched for, or that was marked, has a line of its own.
                if all(self[new.id] == replace(new, verified=is_sealed) for new in repeated):
                    yield repeat.line(seal if is_sealed else None, previous)
                    previous = repeat.last
                    written |= {new.id for new in repeated}
            if entry.id not in written:
                yield entry.line(seal, previous)
                previous = entry.id
        yield from (
            label.line(begins)
            for begins, label in self.labels.items()
            if base.labels.get(begins) != label
        )

    def _repeated(self, repeat: Repeat, verified: bool = True) -> list[Entry]:
        """Return the new entries that a line stands for.

        Raises BrokenJournal where their ids differ from those in the line.
        """
        first, last = repeat.originals
        originals = self.path(last, after=self[first].parent)
        entries = repeated_entries(originals, repeat.parent, repeat.is_stale, verified)
        if originals[0].id != first or entries[-1].id != repeat.last:
            raise BrokenJournal("a line repeats other entries than it says")
        return entries

    def join(self, other: Journal) -> None:
        """Add all that another journal of this session has; nothing of it is written."""
        with Hold(firm=True):
            write, self._write = self._write, None
            try:
                self._texts.update(other.texts)
                for entry in other:
                    # Not `append`: hiding secrets again could give the entry another id.
                    self._insert(entry.parent, entry.event, entry.meta, entry.verified)
                self._labels.update(other.labels)
            finally:
                self._write = write

    @classmethod
    def loads(cls, text: str, seal: Seal | None = None) -> Journal:
        """Read a journal back.

        An entry is verified if its seal is the one that `seal` returns; without `seal` none is.
        Raises BrokenJournal, naming the line, where a line does not fit its checksum or digest, or
        another version wrote it.
        """
        journal, bad = cls.salvage(text, seal)
        if bad:
            number = text[: len(text) - len(bad)].count("\n") + 1
            raise BrokenJournal(
                f"line {number} of the journal is torn or was changed; "
                f"{len(journal)} entries before it are whole, and a file of these lines alone loads"
                if len(journal)
                else "this is no journal of a session, or its beginning was changed"
            )
        return journal

    @classmethod
    def salvage(cls, text: str, seal: Seal | None = None) -> tuple[Journal, str]:
        """Return the longest valid prefix of a journal, and the text that is left.

        Raises UnknownFormat where another version wrote it.
        """
        journal, at = cls(), 0
        while (end := text.find("\n", at)) >= 0:
            try:
                journal._read(text[at:end], seal, is_first=at == 0)
                if len(journal) > MOST_REPEATED + end:
                    raise BrokenJournal("a few lines repeat more entries than a session has")
            except UnknownFormat:
                raise
            except (*BROKEN, UnknownEntry):
                break
            at = end + 1
        return journal, text[at:]

    def _read(self, line: str, seal: Seal | None, is_first: bool) -> None:
        data, sealed = journal_entries.read(line, seal, self._previous, is_first=is_first)
        match data:
            case EntryLine(id=entry_id):
                self._read_entry(journal_entries.entry(data, sealed))
                self._previous = entry_id
            case {"journal": _}:
                return
            case {"text": text_digest, "value": value}:
                if self.remember(value) != text_digest:
                    raise BrokenJournal("a text does not fit its digest")
            case {"repeats": _}:
                self._read_repeat(read_repeat(data), sealed)
            case {"branch": branch}:
                self.label(branch, journal_entries.label(data))
            case _:
                raise BrokenJournal("a line is nothing that a journal has")

    def _read_repeat(self, repeat: Repeat, sealed: bool) -> None:
        if repeat.parent is not None and repeat.parent not in self:
            raise UnknownEntry(f"this journal has no entry {repeat.parent!r}")
        entries = self._repeated(repeat, sealed)
        if any(entry.id in self for entry in entries):
            raise BrokenJournal("a line repeats entries that are here already")
        self._add_repeat(repeat, entries)
        self._previous = repeat.last

    def _read_entry(self, entry: Entry) -> None:
        if entry.parent is not None and entry.parent not in self._entries:
            raise UnknownEntry(f"this journal has no entry {entry.parent!r}")
        existing = self._entries.get(entry.id)
        if existing is None:
            self._add(entry)
        elif entry.verified and not (existing.verified and existing.meta == entry.meta):
            # A later line of the same entry replaces its meta.
            self._adopt(existing, entry.meta)


def _is_same(entry: Entry, existing: Entry) -> bool:
    """Return whether an entry needs no new line: it is equal, or not verified."""
    return entry == existing or not entry.verified
