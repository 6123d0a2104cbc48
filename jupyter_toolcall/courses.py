"""Saved sessions as the recordings that they are: what a model was told, and what it said.

A journal keeps what calls came to, and not the words in which a model was told of it; so
of results it is compared what they came to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .errors import BrokenJournal, ToolcallError, UsageError
from .events import Asked, Decided, Event, Finished, Opened, Replied, from_json
from .journal import Entry, Journal, name
from .models.recorded.tape import Came, Course, Outcomes, Told, Turn, plain
from .notebooks import Recorded, recorded
from .request import Assistant, Reply, User
from .schemes import Native, Scheme, scheme_named
from .schemes.scheme import told
from .state import CallState, State, objects_of, state_at
from .tools import Toolbox

LONGEST = 10_000
"""Characters of a result that are compared; a longer one may have been cut when told."""
_NO_TOOLS = Toolbox()


def courses(path: Path, shown: str, part: str = "") -> tuple[Course, ...]:
    """Return the courses of a notebook's sessions, or of a journal's file: one a branch.

    `part` is a session's name, or the number of the cell below which it stands. Raises
    UsageError where there is none.
    """
    try:
        if path.suffix == ".ipynb":
            gathered = _gathered(recorded(path), shown, part)
        else:
            gathered = _Gathered(Journal.loads(path.read_text(encoding="utf-8")))
        found = tuple(filter(lambda course: course.turns, gathered.courses()))
    except BrokenJournal as error:
        raise UsageError(f"{shown}: {error}") from None
    except ToolcallError as error:
        raise UsageError(f"{shown} holds no session that can be said again: {error}") from None
    if not found:
        raise UsageError(f"{shown} holds no session with a reply in it")
    return found


@dataclass
class _Gathered:
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
        for key, value in part.get("texts", {}).items():
            if self.journal.remember(value) != key:
                raise BrokenJournal("a text does not fit its digest")
        true: list[str] = []
        start = self._start(part)
        for index, data, *_ in part["events"]:
            event = from_json(data)
            before = self.names[true[index]] if index >= 0 else start
            true.append(name(part["parent"] if index < 0 else true[index], event))
            self.names[true[-1]] = self.journal.append(before, event).id
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
        self.names[parent] = self.journal.append(self.names.get(before or ""), opened).id
        if not event:
            self.guessed.add(self.names[parent])
        return self.names[parent]

    def courses(self) -> Iterator[Course]:
        """Yield the course of each branch that is asked for."""
        for leaf in self.journal.leaves():
            path = self.journal.path(leaf)
            if not self.ends or self.ends & {entry.id for entry in path}:
                yield _course(self.journal, path, path[0].id in self.guessed)


def _gathered(saved: Sequence[Recorded], shown: str, part: str) -> _Gathered:
    made = _Gathered()
    for each in saved:
        made.add(each.data["journal"], part in _labels(each))
    if part and not made.ends:
        known = ", ".join(dict.fromkeys(label for each in saved for label in _labels(each)))
        raise UsageError(f"{shown}: there is no session {part}; there are {known or 'none'}")
    return made


def _labels(saved: Recorded) -> tuple[str, ...]:
    """Return how a session of a notebook may be called: its cell's number, and its name."""
    number = saved.where.removeprefix("cell ").partition(":")[0]
    rows = saved.data.get("rows", {}).get("session", ())
    return (number, *(str(row["name"]) for row in rows if row.get("name")))


def _course(journal: Journal, path: Sequence[Entry], guessed: bool) -> Course:
    """Return the course of a branch."""
    course, new = Course(), list[Told]()
    for entry in path:
        state, before = state_at(journal, entry.id), state_at(journal, entry.parent)
        scheme = scheme_named(state.opened.scheme)
        match entry.event:
            case Asked(text):
                new.append(User(text))
            case Replied() as reply:
                turn = _turn(journal, state, before, reply)
                if isinstance(scheme, Native):
                    # Its calls stand in its text, and are read from there again.
                    turn = replace(turn, reply=replace(turn.reply, calls=(), said=None))
                course = course.then(turn, new)
                new = [plain(scheme.speak(Assistant(reply.text, reply.calls, reply.raw)))]
            case Decided() | Finished() if before.open and not state.open:
                new.append(_outcomes(state, scheme, guessed))
    return course


def _turn(journal: Journal, state: State, before: State, reply: Replied) -> Turn:
    """Return a turn; of the tools, only those that were new in it are known as they were."""
    new = {each: journal.texts.get(key) for each, key in reply.offered.items() if each}
    return Turn(
        number=state.turns,
        reply=Reply(
            reply.text, reply.calls, reply.stop, reply.usage, reply.raw, reply.thought, reply.said
        ),
        heard=0,
        system=journal.texts.get(state.sent.get("") or ""),
        tools={**dict.fromkeys(before.sent), **new},
        offered=None,
        model=state.opened.model,
    )


def _outcomes(state: State, scheme: Scheme, guessed: bool) -> Outcomes:
    own = {tool.name for tool in scheme.offer(state, _NO_TOOLS).own}
    spoken = isinstance(scheme, Native)
    calls = (state.calls[call_id] for call_id in state.latest)
    return Outcomes(
        tuple(
            Came(call.id, None) if guessed or call.tool in own else _came(call, state, spoken)
            for call in calls
        )
    )


def _came(call: CallState, state: State, spoken: bool) -> Came:
    """Return what a call came to, as far as it stands so in what a model is told."""
    said, error = told(call, state)
    said.pop("note", None)
    values = (json.dumps(value, ensure_ascii=False) for value in said.values())
    names = (state.by_maker[made.maker] for made in objects_of(call.outcome))
    parts = tuple(names if spoken else values)
    return Came(call.id, error, tuple(part for part in parts if len(part) < LONGEST))
