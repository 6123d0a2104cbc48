"""What a recording is: one line of JSON a turn, with what was new to the model and its reply.

From a request and a reply to a line, from lines to the course that they hold; and the file.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from ..core.errors import ModelError, UsageError
from ..core.events import Call
from ..core.json_data import json_data, mapped
from ..core.secrets import HIDDEN, LEAST, Hide, hiding
from ..core.text import count_text
from ..schemes.messages import Assistant, Message, Reply, Request, Results, User
from ..tools.arguments import writable_call

Json = dict[str, Any]
NOTEBOOK = ".ipynb"
_BEGINS = b'{"turn": '


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The outcome of a call, as far as a journal keeps it: `parts` stand in the result's text.

    `error` is None if a journal does not say it.
    """

    call_id: str
    error: bool | None = False
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Results of which a journal keeps the outcomes, and not the text."""

    results: tuple[CallOutcome, ...] = ()


KeptMessage = Message | Outcomes


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a course: the request, as far as it is known, and the reply.

    `message_count` is how many messages of the course the request had. `system` and `offered`
    (the names of the tools) are None if they are not known; `tools` are all definitions so far,
    by name, None for one that is not known.
    """

    number: int
    reply: Reply
    message_count: int
    system: str | None = ""
    tools: Mapping[str, Json | None] = field(default_factory=dict)
    offered: tuple[str, ...] | None = ()
    model: str = ""
    server: str = ""
    """`server_digest` of the model, "" if it is not known."""


_BEFORE = Turn(0, Reply(), 0, system=None)
"""Stands for the turn before a course's first."""


@dataclass(frozen=True, slots=True)
class Course:
    """A recording from its first turn to its last; `messages` are those of the last request."""

    turns: tuple[Turn, ...] = ()
    messages: tuple[KeptMessage, ...] = ()

    def until(self, number: int) -> Course:
        """Return this course up to a turn; 0 is before the first."""
        kept = Course(tuple(turn for turn in self.turns if turn.number <= number))
        return replace(kept, messages=self.messages[: kept.last.message_count])

    @property
    def last(self) -> Turn:
        """The last turn; one without a number if there is none."""
        return self.turns[-1] if self.turns else _BEFORE

    def turn(self, number: int) -> Turn | None:
        """Return a turn by its number: 1 is a session's first."""
        # Numbers grow from turn to turn, and a course may have thousands.
        at = bisect_left(self.turns, number, key=lambda turn: turn.number)
        return next((turn for turn in self.turns[at : at + 1] if turn.number == number), None)

    def then(self, turn: Turn, new: Sequence[KeptMessage]) -> Course:
        """Return the course with one more turn, and the messages that were new in its request."""
        messages = (*self.messages, *new)
        return Course((*self.turns, replace(turn, message_count=len(messages))), messages)


# -- a turn as a line ---------------------------------------------------------------------


def line(course: Course, request: Request, reply: Reply, model: str, at: str) -> Json:
    """Return a turn as the line that follows a course: what is new in it, and the reply."""
    before = course.last
    data: Json = {"turn": request.turn + request.beside + 1, "model": model, "at": at}
    if request.system != before.system:
        data["system"] = request.system
    definitions = [tool.definition() for tool in request.tools]
    new = [d for d in definitions if not same_definition(before.tools.get(d["name"]), d)]
    if new:
        data["tools"] = new
    offered = tuple(tool.name for tool in request.tools)
    if offered != (before.offered or ()):
        data["offered"] = list(offered)
    messages = [without_raw(message) for message in request.messages[len(course.messages) :]]
    message_data = list(map(message_json, messages))
    if before.number and messages[:1] == [reply_message(before.reply)]:
        message_data[0] = {"reply": before.number}
    # A call that cannot be written down is recorded as the broken one that it will be.
    calls = tuple(map(writable_call, reply.calls))
    kept = json_data(replace(reply, calls=calls, attempts=()))
    return {**data, "told": message_data, "reply": kept}


def same_definition(was: Json | None, now: Json) -> bool:
    """Return whether two definitions are one, whatever the order of their keys."""
    return was == now or (was is not None and json_data(was) == json_data(now))


def without_raw(message: Message) -> Message:
    """Return a message without what only its provider can read."""
    return replace(message, raw=None) if isinstance(message, Assistant) else message


def reply_message(reply: Reply) -> Assistant:
    """Return a reply as a message of the next request."""
    return Assistant(reply.text, reply.calls)


def message_json(message: Message) -> Json:
    """Return a message as a person can read it in a line."""
    match message:
        case User(text):
            return {"user": text}
        case Assistant(text, calls):
            return {"assistant": text} | ({"calls": json_data(calls)} if calls else {})
        case Results():
            return dict(json_data(message))


def line_bytes(data: Json) -> bytes:
    """Return a line as bytes. Raises ValueError and TypeError for what is no JSON."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    # Half of a character becomes `\\ud83e`, which is its escape in JSON too.
    return text.encode(errors="backslashreplace") + b"\n"


# -- lines as a course --------------------------------------------------------------------


def with_line(courses: Sequence[Course], data: Json) -> list[Course]:
    """Return the courses with the turn of a line. Raises what reading wrong data raises."""
    *earlier, course = courses
    if "after" in data:
        earlier, course = [*courses], course.until(int(data["after"]))
    before = course.last
    new = {tool["name"]: tool for tool in data.get("tools", ())}
    turn = Turn(
        number=int(data["turn"]),
        reply=msgspec.convert(data["reply"], Reply),
        message_count=0,
        system=str(data.get("system", before.system or "")),
        # Shared with the turn before, if there are no new: a course may have thousands of turns.
        tools={**before.tools, **new} if new else before.tools,
        offered=tuple(data.get("offered", before.offered or ())),
        model=str(data.get("model", "")),
        server=str(data.get("server", "")),
    )
    if turn.number <= before.number:
        raise ValueError(f"turn {turn.number} stands behind turn {before.number}")
    return [*earlier, course.then(turn, [message_of(message, before) for message in data["told"]])]


def message_of(data: Json, before: Turn = _BEFORE) -> Message:
    """Return the message of a line, behind this turn. Raises ValueError for what is none."""
    match data:
        case {"reply": _} if before.number:
            return reply_message(before.reply)
        case {"user": str(text)}:
            return User(text)
        case {"assistant": str(text)}:
            return Assistant(text, msgspec.convert(data.get("calls", ()), tuple[Call, ...]))
    return msgspec.convert(data, Results)


# -- the file --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tape:
    """What a file holds: its courses, the newest last, and how many bytes the whole lines are."""

    courses: tuple[Course, ...]
    size: int
    note: str = ""
    """That the last line is torn, "" where it is whole."""


def new_tape(folder: Path, name: str) -> Path:
    """Return the path of a new recording; folders within `folder` are made for it.

    Raises UsageError where it cannot be there.
    """
    path = folder / Path(name).expanduser()
    if path.suffix == NOTEBOOK:
        raise UsageError(f"--record {name} is a notebook; name a file of its own, as tape.jsonl")
    if not path.parent.is_dir():
        if not path.parent.resolve().is_relative_to(folder.resolve()):
            raise UsageError(f"--record {name}: there is no folder {path.parent}; make it first")
        path.parent.mkdir(parents=True)
    return path


def open_tape(path: Path, name: str) -> Tape:
    """Return what a file holds; the file is made if there is none.

    A torn last line is cut. Raises UsageError for a file that is no recording, or that
    cannot be written.
    """
    try:
        with path.open("ab") as file:
            tape = read_tape(path, name)
            if tape.note:
                file.truncate(tape.size)
    except OSError as error:
        raise UsageError(f"{name} cannot be written ({error.strerror})") from None
    return tape


def read_tape(path: Path, name: str) -> Tape:
    """Return what the whole lines of a file hold: only the last one can be torn.

    A question beside the conversation is a course of its own, and so is the conversation after it:
    they share the turns before. Raises UsageError, which names the line, if another line is no
    turn, and OSError.
    """
    courses, size = [Course()], 0
    # Only this ends a line: JSON may hold other ends as they are.
    lines = path.read_bytes().split(b"\n")
    for number, text in enumerate(lines, 1):
        last = number == len(lines)
        if text.strip():
            try:
                courses = with_line(courses, json.loads(text.decode()))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                if last and (courses[-1].turns or _BEGINS.startswith(text[: len(_BEGINS)])):
                    return Tape((*courses,), size, _torn_note(courses, name))
                why = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"[:80]
                raise UsageError(
                    f"{name} is no recording: line {number} is no turn ({why})"
                ) from None
        size += len(text) + (not last)
    return Tape((*courses,), size)


def _torn_note(courses: Sequence[Course], name: str) -> str:
    count = len({turn.number for course in courses for turn in course.turns})
    turns = f"{count_text(count, 'turn')} before it {'is' if count == 1 else 'are'}"
    return f"the last line of {name} is torn and is left out; {turns} whole"


def append_line(path: Path, size: int, line: bytes) -> int:
    """Put a line at the end of a file of this size and on the disk; return its new size.

    Raises OSError, and then nothing of the line is there; ModelError where another
    process has written to the file.
    """
    # Unbuffered: a buffer would be written again when the file is closed.
    with path.open("a+b", buffering=0) as file:
        if file.seek(0, os.SEEK_END) != size:
            raise ModelError(f"{path.name} was changed by another program while the model answered")
        file.seek(max(0, size - 1))
        is_ended = file.read() in (b"", b"\n")
        unwritten = memoryview(line if is_ended else b"\n" + line)
        try:
            while unwritten:
                unwritten = unwritten[file.write(unwritten) :]
            os.fsync(file.fileno())
        except OSError:
            file.truncate(size)
            raise
        return file.tell()


# -- what never reaches a recording: secrets of the environment, and what looks like a key ---------

_NAME = r"(?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]{0,40}(?:key|token)|(?:x-)?api[-_]?key"
_HEADER = re.compile(_NAME, re.IGNORECASE)
_TOKEN = r"(?=[^\s\"'\\,;]*\d)[A-Za-z0-9._~+/=-]"
_SPELLED = re.compile(
    rf"((?:{_NAME})\\*[\"']?\s*[:=]\s*\\*[\"']?(?:(?:bearer|basic|token)\s+)?){_TOKEN}{{16,}}"
    rf"|(\b(?:bearer|basic)\s+){_TOKEN}{{12,}}"
    r"|\b(?:sk|pk|ghp|gho|xox[a-z])[-_][A-Za-z0-9_-]{16,}",
    re.IGNORECASE,
)


def redacting(environment: Mapping[str, str]) -> Hide:
    """Return what takes secrets, and what looks like a key, out of JSON-ready data."""
    secrets = hiding(environment)

    def without_headers(data: Mapping[str, object]) -> Json:
        return {key: header_value(key, item) for key, item in data.items()}

    def header_value(name: str, item: object) -> object:
        secret = isinstance(item, str) and len(item) >= LEAST and _HEADER.fullmatch(name)
        return HIDDEN if secret else mapped(item, Mapping, without_headers)

    def without_keys(text: str) -> str:
        return _SPELLED.sub(lambda match: f"{match[1] or match[2] or ''}{HIDDEN}", text)

    def hide(data: object) -> Any:
        shown = secrets(mapped(data, Mapping, without_headers))
        return mapped(shown, str, without_keys, keys=True)

    return hide
