"""An append-only tree of events: git's object model, for tool calls.

An entry is named by its parent and its event, so equal histories have equal names and
a fork costs nothing. Nothing is ever changed or removed. The journal does no I/O: where
its lines go is told by whoever makes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .digest import digest, encode
from .errors import BrokenJournal, UnknownEntry
from .events import Decided, Event, Started, from_json, to_json

S = TypeVar("S")
Write = Callable[[str, bool], None]
"""Takes a line, and whether it has to be on disk before anything else happens."""
Seal = Callable[[str], str]
"""Returns for a text what only this user's machine can return."""
_BROKEN = (
    *(ValueError, KeyError, TypeError, AttributeError, RecursionError),
    *(BrokenJournal, UnknownEntry),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """An event, and the entry that it follows. `meta` is not part of its name:
    time, duration, prints, who decided."""

    id: str
    parent: str | None
    event: Event
    meta: Mapping[str, Any] = field(default_factory=dict)
    own: bool = True
    """Whether this user's machine wrote it. Any other is history: it allows nothing."""

    def line(self, seal: Seal | None = None) -> str:
        """Return the entry as a line of JSON, sealed where it is this machine's own."""
        data = {"id": self.id, "parent": self.parent, "event": to_json(self.event)}
        data |= {"meta": dict(self.meta)} if self.meta else {}
        return encode(data | ({"seal": seal(self.sealed)} if seal and self.own else {}))

    @property
    def sealed(self) -> str:
        """The text that is sealed: the id, which holds parent and event, and the meta."""
        return f"{self.id} {encode(dict(self.meta))}"


@dataclass(frozen=True, slots=True)
class Label:
    """How a person calls a branch, and whether it is out of view: no fact, and in no digest."""

    name: str = ""
    hidden: bool = False

    def line(self, entry_id: str) -> str:
        """Return the label of the branch that an entry begins as a line of JSON."""
        more = {"name": self.name} if self.name else {}
        return encode({"branch": entry_id, **more, **({"hidden": True} if self.hidden else {})})


def name(parent: str | None, event: Event) -> str:
    """Return the id of an entry: the digest of its parent and of its event's bytes."""
    return digest("entry", parent or "", to_json(event))


class Journal:
    """All branches of a session, and the texts that they share."""

    def __init__(self, write: Write | None = None, seal: Seal | None = None) -> None:
        self._entries: dict[str, Entry] = {}
        self._order: list[Entry] = []
        self._children: dict[str | None, list[str]] = {}
        self._folds: dict[Callable[[Any, Entry], Any], dict[str | None, Any]] = {}
        self._write, self._seal = write, seal
        self.texts: dict[str, Any] = {}
        """Tool definitions and system texts, by digest."""
        self.labels: dict[str, Label] = {}
        """What branches are called, by the entry that each begins with; the latest holds."""

    def write_to(self, write: Write) -> None:
        """From now on give new lines to `write` too."""
        self._write = write

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
        meta: Mapping[str, Any] | None = None,
        own: bool = True,
    ) -> Entry:
        """Add an event after `parent` and return its entry.

        Adding what is already there returns the entry that is there, with its own meta;
        but what another machine wrote becomes this one's own where this one says it too.
        Raises UnknownEntry for a parent that is not here, and what a fold raises that
        the entry does not fit: then nothing is added.
        """
        if parent is not None and parent not in self._entries:
            raise UnknownEntry(f"this journal has no entry {parent!r}")
        entry_id = name(parent, event)
        known = self._entries.get(entry_id)
        if known is not None:
            return known if known.own or not own else self._adopt(known, meta or {})
        entry = Entry(entry_id, parent, event, meta or {}, own)
        self._entries[entry_id] = entry
        try:
            self._take(entry)
        # An entry that does not fit, or cannot be written down, was never here.
        except BaseException:
            self._forget(entry_id)
            raise
        self._order.append(entry)
        self._children.setdefault(parent, []).append(entry_id)
        return entry

    def _adopt(self, known: Entry, meta: Mapping[str, Any]) -> Entry:
        """Say as this machine's own what another one wrote; what follows is folded anew."""
        entry = Entry(known.id, known.parent, known.event, meta)
        behind = [known.id]
        for each in behind:
            behind += self.children(each)
            for states in self._folds.values():
                states.pop(each, None)
        if self._write is not None:
            self._write(entry.line(self._seal), True)
        self._entries[known.id] = entry
        self._order.append(entry)
        return entry

    def _take(self, entry: Entry) -> None:
        for evolve, states in self._folds.items():
            if entry.parent in states:
                states[entry.id] = evolve(states[entry.parent], entry)
        if self._write is not None:
            # What allows an effect has to be on disk before the effect can happen.
            self._write(entry.line(self._seal), isinstance(entry.event, (Decided, Started)))

    def _forget(self, entry_id: str) -> None:
        del self._entries[entry_id]
        for states in self._folds.values():
            states.pop(entry_id, None)

    def since(self, count: int) -> list[Entry]:
        """Return the entries behind the first `count`, in the order in which they came."""
        return self._order[count:]

    def remember(self, value: Any) -> str:
        """Keep a text or a definition that entries refer to; return its digest."""
        known = digest("text", value)
        if known not in self.texts:
            if self._write is not None:
                self._write(encode({"text": known, "value": value}), False)
            self.texts[known] = value
        return known

    def label(self, entry_id: str, label: Label) -> None:
        """Call the branch that begins with an entry so from now on. Raises UnknownEntry."""
        begins = self[entry_id].id
        if self.labels.get(begins, Label()) == label:
            return
        if self._write is not None:
            self._write(label.line(begins), False)
        self.labels[begins] = label

    def children(self, entry_id: str | None) -> tuple[str, ...]:
        """Return the ids of the entries that follow an entry, oldest first."""
        return tuple(self._children.get(entry_id, ()))

    def leaves(self) -> tuple[str, ...]:
        """Return the ids of the entries that nothing follows, oldest first."""
        return tuple(key for key in self._entries if not self._children.get(key))

    def path(self, head: str | None, after: str | None = None) -> tuple[Entry, ...]:
        """Return the entries up to `head`, from the first (or from behind `after`)."""
        found = []
        while head is not None and head != after:
            found.append(self[head])
            head = found[-1].parent
        return tuple(reversed(found))

    def fold(self, head: str | None, evolve: Callable[[S, Entry], S], start: S) -> S:
        """Return what the entries up to `head` lead to; each prefix is computed once.

        `evolve` is the key under which prefixes are kept, so it has to be one lasting
        function, and to go with one `start`.
        """
        known: dict[str | None, S] = self._folds.setdefault(evolve, {})
        if head in known:
            return known[head]
        ahead = []
        while head is not None and head not in known:
            ahead.append(self[head])
            head = ahead[-1].parent
        state = start if head is None else known[head]
        for entry in reversed(ahead):
            state = known[entry.id] = evolve(state, entry)
        return state

    def dumps(self, seal: Seal | None = None) -> str:
        """Return the journal as JSON Lines, its own entries sealed."""
        texts = (encode({"text": key, "value": value}) for key, value in self.texts.items())
        labels = (label.line(begins) for begins, label in self.labels.items())
        return "".join(f"{line}\n" for line in (*texts, *(e.line(seal) for e in self), *labels))

    @classmethod
    def loads(cls, text: str, write: Write | None = None, seal: Seal | None = None) -> Journal:
        """Read a journal back; new lines go to `write`, those that are read do not.

        An entry is this machine's own where its seal is the one that `seal` returns; without
        that none is. Raises BrokenJournal, naming the line, where a line does not fit its digest.
        """
        journal, bad = cls.salvage(text, write, seal)
        if bad:
            number = text[: len(text) - len(bad)].count("\n") + 1
            raise BrokenJournal(
                f"line {number} of the journal is torn or was changed; "
                f"{len(journal)} entries before it are whole"
            )
        return journal

    @classmethod
    def salvage(
        cls, text: str, write: Write | None = None, seal: Seal | None = None
    ) -> tuple[Journal, str]:
        """Return the longest valid prefix of a journal, and the text that is left."""
        journal, read = cls(seal=seal), 0
        for line in text.splitlines(keepends=True):
            try:
                if not line.endswith("\n"):
                    raise BrokenJournal("torn")
                journal._read(json.loads(line))
            except _BROKEN:
                break
            read += len(line)
        journal._write = write
        return journal, text[read:]

    def _read(self, data: Mapping[str, Any]) -> None:
        if "text" in data:
            if self.remember(data["value"]) != data["text"]:
                raise BrokenJournal("a text does not fit its digest")
            return
        if "branch" in data:
            self.label(data["branch"], Label(str(data.get("name", "")), bool(data.get("hidden"))))
            return
        event = from_json(data["event"])
        if name(data["parent"], event) != data["id"]:
            raise BrokenJournal("an entry does not fit its digest")
        found = Entry(data["id"], data["parent"], event, data.get("meta") or {})
        said = data.get("seal")
        own = self._seal is not None and said is not None and self._seal(found.sealed) == said
        self.append(found.parent, event, found.meta, own)
