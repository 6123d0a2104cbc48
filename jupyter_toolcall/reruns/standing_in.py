"""In the place of a person who is not there: what a notebook holds of their decisions and replies.

While a notebook is verified these are said again, cell by cell and in their order; each on the
call that it was said of, where that was asked for as it is now. Whose words hold is up to
whoever verifies: `WORDS` of the environment names the entries, or is `*` for all.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..acts import replying
from ..acts.deciding import decision
from ..errors import ToolcallError
from ..events import Asked, Call, Data, Decided, Event, Replied
from ..models.named import IN_PLACE
from ..notebooks.files import recorded
from ..session import Session
from .saved import cut_off, entries_of, waits

WORDS = "JUPYTER_TOOLCALL_WORDS"
ALL = "*"


@dataclass(frozen=True, slots=True)
class Word:
    """What a person said: on a call, or in the model's place."""

    event: Decided | Replied
    call: Call | None = None
    """The call that was decided on, as the model asked for it."""
    exactly: bool = True
    """It holds for nothing but exactly what it was said of."""


@dataclass
class Said:
    """What was said below a cell, and not said again yet."""

    prompt: str = ""
    words: list[Word] = field(default_factory=list)
    waits: bool = False
    """At the end of the record a call waits for a person."""


@dataclass
class Words:
    """The words of a notebook's cells that were not said again yet."""

    cells: list[Said] = field(default_factory=list)

    def of(self, prompt: str) -> Said:
        """Take the words of the next cell with this prompt; none where there is none."""
        found = next((n for n, each in enumerate(self.cells) if each.prompt == prompt), None)
        return Said() if found is None else self.cells.pop(found)


@functools.cache
def words() -> Words:
    """Return the words that hold in this process: none where nothing is verified."""
    path, allowed = os.environ.get(IN_PLACE, ""), os.environ.get(WORDS, "")
    return words_in(Path(path), allowed) if path and allowed else Words()


def words_in(path: Path, allowed: str) -> Words:
    """Return the words that a notebook holds, of those that are allowed."""
    parts = [each.data["journal"] for each in recorded(path)]
    return Words([cell for part in parts for cell in _cell(part, allowed)])


def _cell(part: Mapping[str, Any], allowed: str) -> Iterator[Said]:
    entries, rows = list(entries_of(part)), part["events"]
    if not entries or not isinstance(entries[0][1], Asked):
        return
    calls = {c.id: c for _, event, _ in entries if isinstance(event, Replied) for c in event.calls}
    ids = None if allowed == ALL else set(allowed.split(","))
    said: list[Word] = []
    over = {call_id: number for number, call_id in cut_off(entries, rows).items()}
    for number, (entry_id, event, meta) in enumerate(entries):
        if meta.get("by") != "person" or "of" in meta or (ids is not None and entry_id not in ids):
            continue
        match event:
            case Decided(call_id) if number > over.get(call_id, -1):
                said.append(Word(event, calls.get(call_id), ids is not None))
            case Replied():
                said.append(Word(event))
    yield Said(entries[0][1].text, said, waits(entries, rows, part["head"]))


def own_words(path: Path, own: frozenset[str]) -> tuple[str, int]:
    """Return the ids of a notebook's words that are this machine's own, and how many are not."""
    everything = [
        entry_id
        for each in recorded(path)
        for entry_id, event, meta in entries_of(each.data["journal"])
        if meta.get("by") == "person" and isinstance(event, (Decided, Replied))
    ]
    ours = [each for each in dict.fromkeys(everything) if each in own]
    return ",".join(ours), len(set(everything)) - len(ours)


# -- saying them again ----------------------------------------------------------------------


def said_again(session: Session, said: Said) -> Session | None:
    """Return the session in which the next word that fits was said; None where none fits.

    The word is taken away. What it is on has not run yet.
    """
    for number, word in enumerate(said.words):
        try:
            found = _say(session, word)
        except ToolcallError:
            continue
        if found is not None:
            del said.words[number]
            return found
    return None


def _say(session: Session, word: Word) -> Session | None:
    match word.event:
        case Replied(text, calls):
            if not replying.awaited(session.cursor):
                return None
            return session.reply(text, *((call.tool, call.arguments) for call in calls))
        case Decided() as event:
            return _decide(session, event, word)
    return None


def _decide(session: Session, event: Decided, word: Word) -> Session | None:
    known, asked = session.state.calls.get(event.call_id), word.call
    if known is None or asked is None:
        return None
    if (known.tool, known.call.arguments) != (asked.tool, asked.arguments):
        return None
    given: dict[str, Any] = {"reason": event.reason}
    if event.decision == "edit":
        given["arguments"] = event.arguments
    if event.decision == "answer":
        given["result"] = _answer(event, session)
    if event.call_id not in session.state.open:
        again = session.decide_anew(event.call_id, event.decision, **given)
        return again if _is_same(again.journal[again.head].event, word) else None
    now = decision(session.cursor, event.call_id, event.decision, **given)
    if not _is_same(now, word):
        return None
    session.cursor.decide(now, "person")
    return session


def _is_same(now: Event, word: Word) -> bool:
    """Return whether what would run is exactly what was decided on, where that is asked for."""
    bound = getattr(word.event, "bound", "")
    return not word.exactly or not bound or getattr(now, "bound", "") == bound


def _answer(event: Decided, session: Session) -> Any:
    """Return a person's answer; raises ToolcallError for an object whose value is not here."""
    match event.result:
        case Data(data):
            return data
    raise ToolcallError("an object that a person gave is in no notebook")
