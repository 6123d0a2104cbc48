"""Two models: `Recorded` replays a recording, `Recording` records what another model replies.

Neither keeps a position: a request has its turn, so a fork and a replay get the same reply. A
request that differs from the recorded one gets an error, which quotes the first difference.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from ..core.digests import digest, encode
from ..core.errors import ModelError, UsageError
from ..core.events import Call
from ..core.secrets import Hide
from ..core.text import visible_text
from ..schemes.messages import (
    Assistant,
    Message,
    Model,
    Reply,
    Request,
    Result,
    Results,
    User,
    server_digest,
)
from . import recording_file
from .recording_file import (
    NOTEBOOK,
    CallOutcome,
    Course,
    KeptMessage,
    Outcomes,
    Turn,
    message_json,
    message_of,
    redacting,
    same_definition,
    without_raw,
)
from .retrying import Patience, uncut_reply

LISTENERS = ("on_text", "on_wait")
ELSEWHERE = "Record this course in another file (--record FILE), or delete that one for a new one."
OTHER_MODEL = "To continue with another model, name it: -m NAME; --record FILE records it."
MOST = 24
"""A text is shown in so many pieces at most, however long it is."""


def speak(reply: Reply, on_text: Callable[[str], object] | None) -> Reply:
    """Return a reply, its text shown piece by piece as it would come."""
    if on_text is not None:
        least = len(reply.text) // MOST
        for piece in filter(None, re.findall(rf"(?s).{{{least}}}\S*\s*|.+", reply.text)):
            on_text(piece)
    return reply


class Recorded:
    """A recording as a model: a file that `Recording` or `--record` made, a journal's file, or
    a notebook with its saved sessions (`lesson.ipynb`, `lesson.ipynb#fries`).

    Args:
        path: The file.
        name: What the file is called in messages; "" for its path.
        on_text: Called with each part of a reply's text.

    Raises:
        UsageError: There is no such recording.
    """

    patience = Patience(tries=1)
    """What was recorded as cut off would be the same again."""

    def __init__(
        self, path: str | Path, *, name: str = "", on_text: Callable[[str], object] | None = None
    ) -> None:
        self.file = name or str(path)
        self.name = self.identity = f"recorded:{self.file}"
        self.courses, self.note, content = _courses(str(path), self.file)
        if content:
            self.identity = f"{self.name}:{content}"
        self.on_text = on_text or (lambda text: None)

    def __repr__(self) -> str:
        return f"Recorded({self.file!r})"

    def __call__(self, request: Request) -> Reply:
        """Return the recorded reply to this request. Raises ModelError if it is another one."""
        return speak(self._pick(self._matching_turns(request)).reply, self.on_text)

    def _matching_turns(self, request: Request) -> list[Turn]:
        """Return the turns that had this very request, one on each branch."""
        number = request.turn + 1
        turns = [(course, turn) for course in self.courses if (turn := course.turn(number))]
        if not turns:
            raise ModelError(f"{self.file} {self._missing_turn(number)}.\n{OTHER_MODEL}")
        hide = redacting(os.environ)
        compared = [(difference(course, turn, request, hide), turn) for course, turn in turns]
        if matching := [turn for other, turn in compared if other is None]:
            return matching
        nearest = max(
            (other for other, _ in compared if other is not None), key=lambda other: other.index
        )
        raise ModelError(f"turn {number} differs from {self.file} in {nearest}.\n{OTHER_MODEL}")

    def _pick(self, turns: Sequence[Turn]) -> Turn:
        return turns[0]

    def _missing_turn(self, number: int) -> str:
        numbers = [turn.number for course in self.courses for turn in course.turns]
        if not numbers:
            return "holds no turn"
        if number < min(numbers):
            return f"begins with turn {min(numbers)}, and turn {number} came before"
        if number > max(numbers):
            return f"ends after turn {max(numbers)}, and turn {number} was asked for"
        return f"has no turn {number}"


class StandIn(Recorded):
    """In the place of a model that is not to be asked: what a notebook holds of its replies.

    Where the same was asked several times, each time has its own reply.
    """

    def __init__(self, model: Model | str, path: str) -> None:
        super().__init__(path, name=Path(path).name)
        self.name = str(getattr(model, "name", None) or model)
        self.identity = str(getattr(model, "identity", None) or self.name)

    def _pick(self, turns: Sequence[Turn]) -> Turn:
        replies = list({repr(turn.reply): turn for turn in turns}.values())
        asked = digest("asked", *map(repr, replies))
        _ASKED[asked] += 1
        return replies[min(_ASKED[asked], len(replies)) - 1]


_ASKED: Counter[str] = Counter()


def _courses(path: str, name: str) -> tuple[tuple[Course, ...], str, str]:
    """Return the courses of a recording, a note about the file, and a digest of its content."""
    notebook, mark, part = path.partition(f"{NOTEBOOK}#")
    file = Path(f"{notebook}{NOTEBOOK}" if mark and part else path).expanduser()
    if not file.is_file():
        raise UsageError(f"there is no recording {name}; --record {name} makes one")
    journal = (b'{"journal"', b'{"text"', b'{"id"')
    if part or file.suffix == NOTEBOOK or file.read_bytes().startswith(journal):
        replies = import_module("..session.notebook_replies", __package__)
        return replies.courses(file, name, part), "", ""
    tape = recording_file.read_tape(file, name)
    note = recording_file.partial_line_note(tape, name)
    return (tape.course,), note, digest("tape", repr(tape.course))[:12]


class Recording:
    """A model whose turns are recorded in a file.

    Args:
        model: The model that is recorded.
        path: The file.
        name: What the file is called in messages; "" for its path.
        clock: Returns the time of a turn, in seconds.

    Raises:
        UsageError: The file is no recording, or cannot be written.
    """

    on_text: Callable[[str], object]
    on_wait: Callable[[str], object]
    patience = Patience(tries=1)
    """The model that is recorded is asked by its own, and the last reply is recorded."""

    def __init__(
        self,
        model: Model,
        path: str | Path,
        *,
        name: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.model, self.path, self.clock = model, Path(path), clock
        self.file = name or str(path)
        self._tape, self.note = recording_file.open_tape(self.path, self.file)
        self._unwritten = b""

    def __getattr__(self, name: str) -> Any:
        """What it has not itself is the model's: its name, its body."""
        if name.startswith("__") or name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)

    def __repr__(self) -> str:
        return f"<{self.model!r}, recorded in {self.file}>"

    def __call__(self, request: Request) -> Reply | None:
        """Return the model's reply, once it is on disk. Raises ModelError."""
        self._update()
        course = self._tape.course
        turn = course.turn(request.turn + 1)
        other: Difference | None = None
        if turn is not None:
            other = difference(course, turn, request, redacting(os.environ))
        elif request.turn and course.turns:
            before = request.messages[: len(course.messages)]
            other = message_difference(course.messages, before, redacting(os.environ))
        if other is not None:
            raise self._another_course(f"turn {request.turn + 1} differs in {other}")
        if turn is not None and turn.model != self._name:
            raise self._another_course(
                f"turn {turn.number} was said by {turn.model}, and not by {self._name}"
            )
        if turn is not None and turn.server and turn.server != server_digest(self.model):
            raise self._another_course(f"turn {turn.number} is of a model at another server")
        if turn is not None:
            return speak(turn.reply, vars(self).get("on_text"))
        for listener in LISTENERS:
            if listener in vars(self) and hasattr(self.model, listener):
                setattr(self.model, listener, vars(self)[listener])
        reply = uncut_reply(self.model, request)
        if isinstance(reply, Reply):
            self._record(request, reply)
        return reply

    def _update(self) -> None:
        """Write what is not written yet, and read what another cell has added to the file."""
        self._write()
        if not self.path.exists() or self.path.stat().st_size != self._tape.size:
            self._tape, _ = recording_file.open_tape(self.path, self.file)

    def _another_course(self, why: str) -> ModelError:
        return ModelError(f"{self.file} holds another course: {why}.\n{ELSEWHERE}")

    @property
    def _name(self) -> str:
        named = (getattr(self.model, key, None) for key in ("identity", "name"))
        return str(next(filter(None, named), type(self.model).__name__))

    def _record(self, request: Request, reply: Reply) -> None:
        at = datetime.fromtimestamp(self.clock(), UTC).isoformat(timespec="seconds")
        tape = self._tape
        try:
            data = recording_file.line(tape.course, request, reply, self._name, at)
            if server := server_digest(self.model):
                data["server"] = server
            if hasattr(self.model, "body"):
                data["body"] = digest("body", self.model.body(request))
            data = redacting(os.environ)(data)
            self._unwritten = recording_file.line_bytes(data)
            course = recording_file.with_line(tape.course, data)
        except (TypeError, ValueError) as error:
            raise ModelError(f"the model's reply cannot be written down: {error}") from error
        self._tape = recording_file.Tape(course, tape.whole, tape.size)
        self._write()

    def _write(self) -> None:
        """Write the line that is not in the file yet: a reply is kept, and not asked for again."""
        if not self._unwritten:
            return
        try:
            size = recording_file.append_line(self.path, self._tape, self._unwritten)
        except OSError as error:
            raise ModelError(
                f"the reply is here, and {self.file} cannot be written ({error.strerror}); "
                "make room, and go on: nobody is asked twice"
            ) from None
        self._tape, self._unwritten = recording_file.Tape(self._tape.course, size, size), b""


# -- the first difference between a request and the recorded one ------------------------------

AROUND = 24
"""Characters that are quoted before a difference."""
WIDEST = 72
NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a request leaves a course: behind how many equal messages, and what differs."""

    index: int
    what: str
    was: str = ""
    now: str = ""

    def __str__(self) -> str:
        """Both texts are quoted from a little before the first character that differs."""
        pairs = zip(self.was, self.now, strict=False)
        shorter = min(len(self.was), len(self.now))
        start = max(0, next((i for i, (a, b) in enumerate(pairs) if a != b), shorter) - AROUND)
        was, now = _quoted(self.was, start), _quoted(self.now, start)
        return f"{self.what}: recorded {was}, now {now}"


def _quoted(text: str, start: int) -> str:
    cut = visible_text(text[start:].replace("\n", "⏎"), WIDEST)
    return f"“{'…' if start else ''}{cut}”" if text else NOTHING


def difference(course: Course, turn: Turn, request: Request, hide: Hide) -> Difference | None:
    """Return where a request first differs from that of a turn, None if it does not.

    What was recorded had its secrets hidden, so they are hidden in what differs too.
    """
    messages = course.messages[: turn.message_count]
    return message_difference(messages, request.messages, hide) or _offer_difference(
        turn, request, hide
    )


def message_difference(
    kept: Sequence[KeptMessage], messages: Sequence[Message], hide: Hide
) -> Difference | None:
    """Return where messages first differ from those of a recording."""
    for index in range(max(len(kept), len(messages))):
        was = kept[index] if index < len(kept) else None
        now = without_raw(messages[index]) if index < len(messages) else None
        if was != now:
            now = None if now is None else message_of(hide(message_json(now)))
            if not _agree(was, now):
                return _between(index, was, now, kept[:index])
    return None


def _agree(was: KeptMessage | None, now: Message | None) -> bool:
    match was, now:
        case Outcomes(results), Results(others):
            return len(results) == len(others) and all(map(_same_result, results, others))
        case Outcomes(results), User(text):
            return all(part in text for outcome in results for part in outcome.parts)
    return was == now


def _same_result(was: Result | CallOutcome, now: Result) -> bool:
    if isinstance(was, Result):
        return was == now
    parts = all(part in now.content for part in was.parts)
    return was.call_id == now.call_id and was.error in (None, now.error) and parts


def _between(
    index: int, was: KeptMessage | None, now: Message | None, before: Sequence[KeptMessage]
) -> Difference:
    """Return the difference of two messages."""
    match was, now:
        case User(old), User(new):
            return Difference(index, "the prompt", old, new)
        case Assistant(old, calls), Assistant(new, others):
            if old != new:
                return Difference(index, "what the model said", old, new)
            return Difference(
                index, "what the model called", _call_texts(calls), _call_texts(others)
            )
        case Outcomes(results), User(text):
            parts = ", ".join(part for outcome in results for part in outcome.parts)
            return Difference(index, "what calls came to", parts, text)
        case ((Outcomes() | Results()), Results(others, news)):
            old_results: Sequence[Result | CallOutcome] = was.results
            for first, second in zip(old_results, others, strict=False):
                if not _same_result(first, second):
                    return _result_difference(index, first, second, before)
            if len(was.results) == len(others) and isinstance(was, Results):
                return Difference(index, "what it was told of new tools", was.news, news)
    return Difference(index, f"message {index + 1}", _message_text(was), _message_text(now))


def _result_difference(
    index: int, was: Result | CallOutcome, now: Result, before: Sequence[KeptMessage]
) -> Difference:
    if was.call_id != now.call_id:
        return Difference(index, "which call came to a result", was.call_id, now.call_id)
    calls = (call for message in before if isinstance(message, Assistant) for call in message.calls)
    tools = [call.tool for call in calls if call.id == was.call_id]
    what = f"the result of {tools[-1]} ({was.call_id})" if tools else f"the result of {was.call_id}"
    content = was.content if isinstance(was, Result) else ", ".join(was.parts)
    if content == now.content:
        kinds = ("a success", "a failure")
        return Difference(index, what, kinds[bool(was.error)], kinds[now.error])
    return Difference(index, what, content, now.content)


def _call_texts(calls: Sequence[Call]) -> str:
    return "; ".join(f"{call.id} {call.tool}({encode(dict(call.arguments))})" for call in calls)


def _message_text(message: KeptMessage | None) -> str:
    match message:
        case None:
            return ""
        case User(text):
            return f"a prompt, {text}"
        case Assistant(text):
            return f"the model's words, {text}"
    return "results"


def _offer_difference(turn: Turn, request: Request, hide: Hide) -> Difference | None:
    index = len(request.messages)
    if turn.system is not None and turn.system not in (request.system, hide(request.system)):
        return Difference(index, "the system text", turn.system, hide(request.system))
    offered = tuple(tool.name for tool in request.tools)
    if turn.offered is not None and turn.offered != offered:
        return Difference(index, "the tools", ", ".join(turn.offered), ", ".join(offered))
    for tool in request.tools:
        now = tool.definition()
        if tool.name not in turn.tools:
            return Difference(index, "the tools", "", tool.name)
        was, hidden = turn.tools[tool.name], hide(now)
        if was is None or same_definition(was, now) or same_definition(was, hidden):
            continue
        for key, text in (("description", str), ("parameters", encode)):
            if was.get(key) != hidden.get(key):
                what = f"the {key} of tool {tool.name}"
                return Difference(index, what, text(was.get(key)), text(hidden.get(key)))
        return Difference(index, f"tool {tool.name}", encode(was), encode(hidden))
    return None
