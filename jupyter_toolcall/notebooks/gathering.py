"""The sessions of a notebook in one journal, as far as its outputs hold them.

What a file says is another machine's word: its entries allow nothing here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import BrokenJournal, UsageError
from ..events import Event, Opened, from_json
from ..journal.tree import Journal, name
from .files import Recorded


@dataclass
class Gathered:
    """The entries of saved sessions in one journal."""

    journal: Journal = field(default_factory=Journal)
    names: dict[str, str] = field(default_factory=dict)
    """The entries by the ids that they have in the notebook."""
    guessed: set[str] = field(default_factory=set)
    """The beginnings that are not known."""
    ends: set[str] = field(default_factory=set)
    """Where a branch that is asked for ends, or comes by; empty for all."""

    def add(self, part: Mapping[str, Any], wanted: bool) -> None:
        """Take a saved session's entries. Raises BrokenJournal for a text that was changed."""
        # What reads notebooks gives mappings of its own.
        part = json.loads(json.dumps(part))
        for key, value in part.get("texts", {}).items():
            if self.journal.remember(value) != key:
                raise BrokenJournal("a text does not fit its digest")
        true: list[str] = []
        start = self._start(part)
        for index, data, *meta in part["events"]:
            event = from_json(data)
            before = self.names[true[index]] if index >= 0 else start
            true.append(name(part["parent"] if index < 0 else true[index], event))
            entry = self.journal.append(before, event, meta[0] if meta else None, own=False)
            self.names[true[-1]] = entry.id
        if wanted:
            last = {self.names[each] for each in true} & {*self.journal.leaves()}
            self.ends |= last | {self.names.get(part["head"], "")}

    def _start(self, part: Mapping[str, Any]) -> str | None:
        """Return the entry that a saved session goes on from."""
        parent = part["parent"]
        if parent is None or parent in self.names:
            return None if parent is None else self.names[parent]
        before, event = part.get("opened", (None, None))
        opened: Event = from_json(event) if event else Opened()
        at = self.names.get(before or "")
        self.names[parent] = self.journal.append(at, opened, own=False).id
        if not event:
            self.guessed.add(self.names[parent])
        return self.names[parent]


def gathered(saved: Sequence[Recorded], shown: str, part: str) -> Gathered:
    """Return the entries of saved sessions; `part` names the one that is asked for, "" all.

    Raises UsageError, which names those that there are, where there is none of that name.
    """
    made = Gathered()
    for each in saved:
        made.add(each.data["journal"], part in labels(each))
    if part and not made.ends:
        known = ", ".join(dict.fromkeys(label for each in saved for label in labels(each)))
        raise UsageError(f"{shown}: there is no session {part}; there are {known or 'none'}")
    return made


def labels(saved: Recorded) -> tuple[str, ...]:
    """Return how a session of a notebook may be called: its cell's number, and its name."""
    number = str(saved.cell) if saved.cell else saved.where
    rows = saved.data.get("rows", {}).get("session", ())
    return (number, *(str(row["name"]) for row in rows if row.get("name")))
