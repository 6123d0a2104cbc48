"""Entries of older versions of the format: checked as they were written, converted to today's.

An entry's id is the digest of its parent and of its event's JSON, so an event that is written
otherwise today has another id. What was converted is history: it is never this machine's own,
so it allows nothing, and a person is asked before a call of a converted reply runs again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .digests import digest
from .errors import BrokenJournal, UnknownEntry
from .events import Event, Replied, from_json, to_json
from .journal_entries import VERSION, Entry, name

OLDER = "older"
"""In the meta of a reply, as `may_have_run`: an older version recorded it."""
Json = Mapping[str, Any]
Calls = Callable[[], Sequence[str] | None]
"""Returns the ids of the calls of a branch up to an entry, in call order; None where the
beginning of the branch is not known."""
_REFERENCES = ("of", "replays")
"""What of an entry's meta is the id of another entry."""


def upgraded_event(event: Json, version: int, calls: Calls = tuple) -> Json:
    """Return the JSON of an event of an older version as today's version writes it.

    `calls` are those of the replies before the event: what it says of the nth call is of these.
    """
    for step in STEPS[version:]:
        event = step(event, calls)
    return event


def _same(event: Json, calls: Calls) -> Json:
    """Version 1 added sums and seals to the lines; the events stayed as they were."""
    return event


def _with_producers(event: Json, calls: Calls) -> Json:
    """Version 2 says by fields what produced an object, and what a call worked on.

    Version 1 had one text for what produced it (`call_7`, `call_7[2]`, `input:jar`,
    `input:jar~2`), and one mapping for all that a call used: objects by argument (`jars.0`), the
    instance in parentheses, and session variables behind a `$`. An argument that named an object
    which nothing had produced was a sentence.
    """
    today = {**event}
    match event["type"]:
        case "opened":
            inputs = event.get("inputs", ())
            today["inputs"] = [
                [name, _with_producer({**made, "maker": made["maker"] or f"input:{name}"})]
                for name, made in inputs
            ]
            instances = event.get("instances", ())
            today["instances"] = [[name.strip("()"), value] for name, value in instances]
        case "replied":
            today["calls"] = [_with_missing(call, calls) for call in event.get("calls", ())]
        case "decided":
            today = {**_with_missing(event, calls)}
            if event.get("result") is not None:
                today["result"] = _outcome(event["result"])
        case "started":
            today |= _used(today.pop("used", {}))
        case "finished":
            today["outcome"] = _outcome(event["outcome"])
            today["uses"] = _used(today.pop("used", {}))["uses"]
    return today


def _outcome(outcome: Json) -> Json:
    match outcome["type"]:
        case "made":
            return _with_producer(outcome)
        case "many":
            return {**outcome, "objects": [*map(_with_producer, outcome.get("objects", ()))]}
    return outcome


def _with_producer(made: Json) -> Json:
    """Return an object that says by fields what produced it; "" was what it is recorded with."""
    today = {key: item for key, item in made.items() if key != "maker"}
    return today | {"producer": _producer(made["maker"])} if made["maker"] else today


def _used(used: Mapping[str, str]) -> dict[str, Any]:
    """Return what a call used: objects, the instance, and the variables."""
    instances = {key: call for key, call in used.items() if key.startswith("(")}
    variables = {key: call for key, call in used.items() if key.startswith("$")}
    objects = {key: maker for key, maker in used.items() if not key.startswith(("(", "$"))}
    fields: dict[str, Any] = {"uses": {key: _producer(maker) for key, maker in objects.items()}}
    for key, call in instances.items():
        fields |= {"instance": key.strip("()"), "previous": call}
    return fields | {"setters": {key[1:]: call for key, call in variables.items()}}


_CALL = re.compile(r"([^\[\]:]+)(?:\[([0-9]+)\])?")
_INPUT = re.compile(r"input:(.+?)(?:~([2-9]|[1-9][0-9]+))?", re.DOTALL)


def _producer(maker: str) -> dict[str, Any]:
    """Return what produced an object by fields. Raises BrokenJournal for a text of no such form."""
    if match := _CALL.fullmatch(maker):
        return {"call": match[1], **_number("index", int(match[2] or 0))}
    if match := _INPUT.fullmatch(maker):
        return {"input": match[1], **_number("version", int(match[2] or 1), 1)}
    raise BrokenJournal(f"{maker!r:.60} is nothing that produces an object")


_MISSING = re.compile(
    r"([A-Za-z_]\w*#[1-9][0-9]*) \(not made on this branch"
    r"(?:: call ([0-9]+)(?:, part ([0-9]+),)? [a-z ]+)?\)"
)


def _with_missing(call: Json, calls: Calls) -> Json:
    """Return a call, or a decision on one, that says by fields which arguments are missing."""
    if call.get("arguments") is None:
        return call
    missing: list[Json] = []

    def bare(value: Any, path: tuple[str, ...]) -> Any:
        match value:
            case str() if match := _MISSING.fullmatch(value):
                missing.append(_missing(path, match, calls))
                return match[1]
            case dict():
                return {key: bare(item, (*path, key)) for key, item in value.items()}
            case list():
                return [bare(item, (*path, str(at))) for at, item in enumerate(value)]
        return value

    arguments = bare(call["arguments"], ())
    return {**call, "arguments": arguments, "missing": missing} if missing else call


def _missing(path: tuple[str, ...], match: re.Match[str], calls: Calls) -> Json:
    """Return a missing argument; without a producer where it is not known which call it was."""
    known, step = calls() or (), int(match[2] or 0)
    if not 0 < step <= len(known):
        return {"path": [*path]}
    index = int(match[3] or 1) - 1
    return {"path": [*path], "producer": {"call": known[step - 1], **_number("index", index)}}


def _number(key: str, number: int, default: int = 0) -> Json:
    """Return a field of a producer, which is left out where it has its default."""
    return {} if number == default else {key: number}


STEPS: tuple[Callable[[Json, Calls], Json], ...] = (_same, _with_producers)
"""By version, how an event of that version becomes one of the next."""
assert len(STEPS) == VERSION


@dataclass
class Upgrade:
    """Converts the entries of one older journal, in the order in which they were written."""

    ids: dict[str, str] = field(default_factory=dict)
    """Today's id of each entry, by the id that it was written with."""
    _asked: dict[str, tuple[str | None, tuple[str, ...]]] = field(default_factory=dict)
    """For each entry, by today's id, its parent and the ids of the calls that it asks for."""

    def entry(self, data: Json, version: int, sealed: bool) -> Entry:
        """Return the entry that a line of an older version says, as history.

        Raises UnknownEntry for a parent that is not known; one of BROKEN where the line does
        not fit its digest, and has no seal of this machine either.
        """
        parent, event = data["parent"], data["event"]
        if not sealed and written_id(parent, event) != data["id"]:
            raise BrokenJournal("an entry does not fit its digest")
        made = self._converted(self.id(parent), event, version, data.get("meta") or {})
        self.ids[data["id"]] = made.id
        return made

    def id(self, written: str | None) -> str | None:
        """Return today's id of an entry. Raises UnknownEntry."""
        if written is None:
            return None
        if written not in self.ids:
            raise UnknownEntry(f"this journal has no entry {written!r}")
        return self.ids[written]

    def saved_part(self, part: Json) -> Json:
        """Return the entries that a notebook's output holds (`view.saving`) as today's.

        The outputs of a notebook are converted by one Upgrade, in their order, since one goes
        on where another one ended. Raises one of BROKEN where the entries do not lead to the
        head that the output names.
        """
        version, parent = saved_version(part), part["parent"]
        self._begin(part, version)
        before = self.ids.get(parent, parent)
        written: list[str] = []
        entries: list[Entry] = []
        rows: list[list[Any]] = []
        for index, event, *meta in part["events"]:
            above = index if index >= 0 else None
            written.append(written_id(parent if above is None else written[above], event))
            at = before if above is None else entries[above].id
            made = self._converted(at, event, version, meta[0] if meta else {})
            self.ids[written[-1]] = made.id
            entries.append(made)
            rows.append([index, to_json(made.event), *([dict(made.meta)] if made.meta else [])])
        head = part["head"]
        if written and head not in written and head != parent:
            raise BrokenJournal("a saved session does not fit its own digests: it was changed")
        return {
            **part,
            **self._opened(part, version),
            "version": VERSION,
            "parent": before,
            "head": self.ids.get(head, head),
            "events": rows,
        }

    def _begin(self, part: Json, version: int) -> None:
        """Convert the entry that an output continues from, if the output holds that entry."""
        if part["parent"] is not None and part["parent"] not in self.ids and "opened" in part:
            above, event = part["opened"]
            made = self._converted(self.ids.get(above, above), event, version, {})
            self.ids[part["parent"]] = made.id

    def _opened(self, part: Json, version: int) -> Json:
        if "opened" not in part:
            return {}
        above, event = part["opened"]
        today = from_json(upgraded_event(event, version))
        return {"opened": [self.ids.get(above, above), to_json(today)]}

    def _converted(self, parent: str | None, event: Any, version: int, meta: Json) -> Entry:
        today = from_json(upgraded_event(event, version, lambda: self._calls(parent)))
        made = Entry(name(parent, today), parent, today, self._meta(meta, today), verified=False)
        calls = tuple(call.id for call in today.calls) if isinstance(today, Replied) else ()
        self._asked[made.id] = parent, calls
        return made

    def _calls(self, entry_id: str | None) -> Sequence[str] | None:
        """Return the ids of the calls up to an entry; None where not all of them are known."""
        call_ids: list[str] = []
        while entry_id is not None:
            if entry_id not in self._asked:
                return None
            entry_id, calls = self._asked[entry_id]
            call_ids[:0] = calls
        return call_ids

    def _meta(self, meta: Json, event: Event) -> Json:
        """Return the meta of an entry; an entry that it names, and that is not here, stays."""
        ids = {key: self.ids.get(meta[key], meta[key]) for key in _REFERENCES if key in meta}
        marked = {"may_have_run": OLDER} if isinstance(event, Replied) else {}
        return {**meta, **ids, **marked}


def written_id(parent: str | None, event: Any) -> str:
    """Return the id that an entry was written with: of the event's JSON as it was then."""
    return digest("entry", parent or "", event)


def saved_version(part: Json) -> int:
    """Return the version of what a notebook's output holds: before version 2 it said none."""
    version: int = part.get("version", 1)
    return version
