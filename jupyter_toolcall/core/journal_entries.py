"""An entry of the journal, and its line of JSON in a file.

Each line ends with a checksum, so that damage is detected. An entry that this computer wrote
is signed. The first line gives the version of the format.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Literal, cast

import msgspec

from .digests import digest, encode
from .errors import BrokenJournal, UnknownFormat
from .events import (
    Decided,
    Event,
    Opened,
    Replied,
    Started,
    demand_named_inputs,
    from_json,
    to_json,
)
from .recorded_data import NOTHING, DataRecord, JsonDict, JsonObject, Record

VERSION = 3
"""The version of the format, in journals on disk and in all that holds a journal's entries.

Files of another version are refused.
"""
_LAST = {0: "0.1.0", 1: "0.1.0", 2: "0.2.0 of 2026-11-24"}
"""For each older version of the format, the last version of this package that reads it."""
Seal = Callable[[str], str]
"""Returns the seal of a text, which only this user's computer can compute."""
When = Literal["soon", "now", "first"]
"""When a line must be on disk: "soon" is with the next line, "now" is at once or, if the disk
refuses, later. "first" is before anything else happens: if that fails, the entry is not added."""
BROKEN = (
    *(ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError),
    *(BrokenJournal,),
)
"""What reading a damaged line may raise."""
_NO_PARENT = re.compile(r'\{"id":"[0-9a-f]{32}"(?=,"(event|repeats)":)')
_ENTRY = re.compile(r'\{"id":"[0-9a-f]{32}","parent":(null|"[0-9a-f]{32}"),"event":')
_SUM = re.compile(r',"sum":"([0-9a-f]{8})"}')
_SEAL = re.compile(r',"seal":"([0-9a-f]{32})"}')


class Entry(DataRecord, frozen=True):
    """An event, and the entry that it follows. The id does not cover `meta`: time, duration,
    prints, who decided."""

    id: str
    parent: str | None
    event: Event
    meta: JsonObject = NOTHING
    verified: bool = True
    """Whether this user's computer wrote it. Any other entry cannot let a call run."""

    data_fields = ("meta",)

    @property
    def is_effective(self) -> bool:
        """Whether it can let a call run: it is verified, and its calls cannot have run elsewhere
        (from a copy of the journal, in lines that were lost, or in a kernel that has ended)."""
        return self.verified and "may_have_run" not in self.meta

    def line(
        self, seal: Seal | None = None, previous: str | None = None, event: object = None
    ) -> str:
        """Return the entry as a line, which is sealed if the entry is verified.

        `previous` is the entry of the line before: the line does not repeat it as its parent.
        `event` is the event's JSON, if the caller has it already.
        """
        data = {"id": self.id, "parent": self.parent, "event": event or to_json(self.event)}
        data |= {"meta": dict(self.meta)} if self.meta else {}
        return line(data, seal if self.verified else None, previous)

    @property
    def begins_question(self) -> bool:
        """Whether the branch of a question beside the conversation begins here."""
        return isinstance(self.event, Opened) and self.event.question > 0

    @property
    def when(self) -> When:
        """When its line must be on disk: what lets a call run, before the call; what a person said,
        and the end of a run, now."""
        match self.event:
            case Started() | Decided(decision="approve" | "edit"):
                return "first"
            case Decided(round=number) if number:
                return "first"
            case Decided() | Replied(calls=[]):
                return "now"
        # If a loss of power loses the end of a call, a person is asked about that call.
        return "soon"


class Label(Record, frozen=True):
    """A person's name for a branch, and whether it is hidden. No digest covers it."""

    name: str = ""
    hidden: bool = False
    chosen: int = 0
    """How many entries there were when the person went to it, if it is the last one they chose."""

    def line(self, entry_id: str) -> str:
        """Return this label as a line; `entry_id` is the first entry of its branch."""
        fields = {"name": self.name, "hidden": self.hidden, "chosen": self.chosen}
        return line({"branch": entry_id, **{key: value for key, value in fields.items() if value}})


def name(parent: str | None, event: Event) -> str:
    """Return the id of an entry: the digest of its parent and of its event."""
    return name_by_json(parent, to_json(event))


def name_by_json(parent: str | None, event: object) -> str:
    """Return the id of an entry, from the JSON of its event."""
    return digest("entry", parent or "", event)


def text_line(text_digest: str, value: object) -> str:
    """Return the line of a text or a definition, to which entries refer by its digest."""
    return line({"text": text_digest, "value": value})


def line(data: Mapping[str, object], seal: Seal | None = None, previous: str | None = None) -> str:
    """Return data as a line of JSON with a checksum, and with a seal if `seal` is given.

    `previous` is the entry of the line before: the line does not repeat it as its parent.
    """
    text = encode(data)
    # The seal covers the parent too, also where the line leaves it out.
    sealed = f',"seal":"{seal(_sealed_text(text))}"' if seal is not None else ""
    if previous is not None and data.get("parent") == previous:
        text = text.replace(f',"parent":"{previous}"', "", 1)
    text = f"{text[:-1]}{sealed}}}"
    return f'{text[:-1]},"sum":"{_sum(text)}"}}'


def read(
    text: str, seal: Seal | None, previous: str | None = None, *, is_first: bool = False
) -> tuple[EntryLine | JsonObject, bool]:
    """Return the data of a line, and whether this computer sealed it.

    `previous` is the entry of the line before: the parent of a line that names none.
    Raises one of BROKEN for a damaged line, UnknownFormat for the first line of another format.
    """
    match = _SUM.fullmatch(text, max(len(text) - 18, 0))
    if match is None:
        # Format 0 had no sums, and began with an entry.
        demand_format(0 if is_first and "event" in json.loads(text) else VERSION)
        raise BrokenJournal("a line has no sum")
    text = f"{text[: match.start()]}}}"
    if _sum(text) != match[1]:
        raise BrokenJournal("a line does not fit its sum")
    if previous is not None and (bare := _NO_PARENT.match(text)) is not None:
        text = f'{bare[0]},"parent":"{previous}"{text[bare.end() :]}'
    text, sealed = _unsealed(text, seal)
    data = _data(text)
    if not isinstance(data, EntryLine) and "journal" in data:
        demand_format(data["journal"])
    return data, sealed


class EntryLine(Record, frozen=True):
    """The data of an entry's line."""

    id: str
    parent: str | None
    event: Event
    meta: JsonObject = NOTHING


_entry_line = msgspec.json.Decoder(EntryLine)


def _data(text: str) -> EntryLine | JsonObject:
    """Return the data of a line. Raises one of BROKEN."""
    try:
        # All at once takes a third of the time of first the data and then the event in them.
        if _ENTRY.match(text):
            return _entry_line.decode(text)
        data = msgspec.json.decode(text)
    # It refuses half of a character, which `json` reads.
    except msgspec.DecodeError:
        data = json.loads(text)
    if "event" not in data or "journal" in data:
        return cast(JsonDict, data)
    return EntryLine(data["id"], data["parent"], from_json(data["event"]), data.get("meta") or {})


def demand_format(version: object) -> None:
    """Raise UnknownFormat for another version than today's, BrokenJournal for none at all."""
    if type(version) is not int or not 0 <= version < 1_000_000:
        raise BrokenJournal("the version of the journal is no number")
    if version != VERSION:
        remedy = "update jupyter-toolcall to read it"
        if version in _LAST:
            remedy = f"jupyter-toolcall {_LAST[version]} is the last version that reads it"
        reads = f"this version of jupyter-toolcall reads only format {VERSION}"
        raise UnknownFormat(f"the journal has format {version}, and {reads}; {remedy}")


def entry(data: EntryLine, verified: bool) -> Entry:
    """Return the entry of a line. Raises one of BROKEN where its id is not its digest.

    The id of a verified entry is not computed again: its seal covers it.
    """
    demand_named_inputs(data.event)
    if not verified and name(data.parent, data.event) != data.id:
        raise BrokenJournal("an entry does not fit its digest")
    return Entry(data.id, data.parent, data.event, data.meta, verified)


def label(data: Mapping[str, object]) -> Label:
    """Return the label of a line."""
    chosen = data.get("chosen")
    count = chosen if isinstance(chosen, int) else 0
    return Label(str(data.get("name", "")), bool(data.get("hidden")), count)


def _unsealed(text: str, seal: Seal | None) -> tuple[str, bool]:
    """Return a line without its seal, and whether this computer made the seal."""
    match = _SEAL.fullmatch(text, max(len(text) - 43, 0))
    if match is None:
        return text, False
    text = f"{text[: match.start()]}}}"
    return text, seal is not None and seal(_sealed_text(text)) == match[1]


def _sealed_text(text: str) -> str:
    """Return what a seal covers: the version too, so that no line passes for another version's."""
    return f"{VERSION} {text}"


def _sum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


HEADER = line({"journal": VERSION})
"""The first line."""
