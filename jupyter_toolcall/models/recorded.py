"""Two models: `Recorded` replays a recording, `Recording` records what another model replies.

Neither keeps a position: a request has its turn, so a fork and a replay get the same reply. A
request that differs from the recorded one gets an error, which quotes the first difference.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from itertools import chain, zip_longest
from pathlib import Path

from ..core.digests import digest, encode
from ..core.errors import ModelError, UsageError
from ..core.secrets import Hide
from ..core.text import visible_text
from ..schemes.messages import (
    Assistant,
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
ELSEWHERE = "Record this run in another file (--record FILE), or delete that one for a new one."
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
        number = request.turn + request.beside + 1
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
        return f"holds turns {min(numbers)} to {max(numbers)}, and turn {number} was asked for"


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
    return tape.courses, tape.note, digest("tape", *map(repr, tape.courses))[:12]


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
        self._tape = recording_file.open_tape(self.path, self.file)
        self.note = self._tape.note
        self._unwritten = b""

    def __getattr__(self, name: str) -> object:
        """What it has not itself is the model's: its name, its body."""
        if name.startswith("__") or name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)

    def __repr__(self) -> str:
        return f"<{self.model!r}, recorded in {self.file}>"

    def __call__(self, request: Request) -> Reply | None:
        """Return the model's reply, once it is on disk. Raises ModelError."""
        # Another cell may have added to the file.
        self._write()
        if not self.path.exists() or self.path.stat().st_size != self._tape.size:
            self._tape = recording_file.open_tape(self.path, self.file)
        courses, number = self._tape.courses, request.turn + request.beside + 1
        course = next((course for course in courses if course.turn(number)), courses[-1])
        turn, hide = course.turn(number), redacting(os.environ)
        while (other := difference(course, turn, request, hide)) and not turn and request.beside:
            # A question was asked beside the conversation: it is a course of its own.
            course = course.until(course.last.number - 1)
        why = f"turn {number} differs in {other}" if other else ""
        if turn is not None and turn.model != self._name:
            why = why or f"turn {number} was said by {turn.model}, and not by {self._name}"
        if turn is not None and turn.server not in ("", server_digest(self.model)):
            why = why or f"turn {number} is of a model at another server"
        if why:
            raise ModelError(f"{self.file} holds another recording: {why}.\n{ELSEWHERE}")
        if turn is not None:
            return speak(turn.reply, vars(self).get("on_text"))
        for listener in LISTENERS:
            if listener in vars(self) and hasattr(self.model, listener):
                setattr(self.model, listener, vars(self)[listener])
        reply = uncut_reply(self.model, request)
        if isinstance(reply, Reply):
            self._record(course, request, reply)
        return reply

    @property
    def _name(self) -> str:
        named = (getattr(self.model, key, None) for key in ("identity", "name"))
        return str(next(filter(None, named), type(self.model).__name__))

    def _record(self, course: Course, request: Request, reply: Reply) -> None:
        at = datetime.fromtimestamp(self.clock(), UTC).isoformat(timespec="seconds")
        courses = self._tape.courses
        try:
            data = recording_file.line(course, request, reply, self._name, at)
            if course is not courses[-1]:
                data["after"] = course.last.number
            if server := server_digest(self.model):
                data["server"] = server
            if hasattr(self.model, "body"):
                data["body"] = digest("body", self.model.body(request))
            data = redacting(os.environ)(data)
            self._unwritten = recording_file.line_bytes(data)
            courses = (*recording_file.with_line(courses, data),)
        except (TypeError, ValueError) as error:
            raise ModelError(f"the model's reply cannot be written down: {error}") from error
        self._tape = replace(self._tape, courses=courses)
        self._write()

    def _write(self) -> None:
        """Write the line that is not in the file yet: a reply is kept, and not asked for again."""
        if not self._unwritten:
            return
        try:
            size = recording_file.append_line(self.path, self._tape.size, self._unwritten)
        except OSError as error:
            raise ModelError(
                f"the reply is here, and {self.file} cannot be written ({error.strerror}); "
                "make room, and go on: nobody is asked twice"
            ) from None
        self._tape, self._unwritten = replace(self._tape, size=size), b""


# -- the first difference between a request and the recorded one ------------------------------


AROUND = 24
"""Characters that are quoted before a difference."""
WIDEST = 72
NOTHING = "nothing"
Text = str | tuple[str, ...] | None
"""The text of something that a model was sent. A journal keeps only parts of the text of a result,
a tuple of them; None stands for any text."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that a model was sent, and is sent now, after so many equal messages."""

    index: int
    what: str
    was: Text
    now: Text

    @property
    def fits(self) -> bool:
        """Whether it is no difference."""
        if isinstance(self.was, tuple):
            return all(part in _shown(self.now) for part in self.was)
        return self.was in (None, self.now)

    def __str__(self) -> str:
        """Both texts are quoted from a little before the first character that differs."""
        was, now = _shown(self.was), _shown(self.now)
        pairs, shorter = zip(was, now, strict=False), min(len(was), len(now))
        start = max(0, next((i for i, (a, b) in enumerate(pairs) if a != b), shorter) - AROUND)
        return f"{self.what}: recorded {_quoted(was, start)}, now {_quoted(now, start)}"


def _quoted(text: str, start: int) -> str:
    cut = visible_text(text[start:].replace("\n", "⏎"), WIDEST)
    return f"“{'…' if start else ''}{cut}”" if text else NOTHING


def difference(
    course: Course, turn: Turn | None, request: Request, hide: Hide
) -> Difference | None:
    """Return where a request first differs from that of a turn, or (None) from all messages of a
    course, which come before it; None if it does not differ.

    What was recorded had its secrets hidden, so they are hidden in what differs too.
    """
    compared = _compared_messages(course, turn, request, hide)
    if turn is not None:
        compared = chain(compared, _compared_offers(turn, request, hide))
    return next((part for part in compared if not part.fits), None)


def _compared_messages(
    course: Course, turn: Turn | None, request: Request, hide: Hide
) -> Iterator[Difference]:
    """Yield what the messages say that are not the same."""
    count = len(course.messages) if turn is None else turn.message_count
    messages = request.messages[:count] if turn is None else request.messages
    tools: dict[str, str] = {}
    for index, (was, sent) in enumerate(zip_longest(course.messages[:count], messages)):
        now = sent and without_raw(sent)
        if was != now:
            now = now and message_of(hide(message_json(now)))
            recorded, current = _facts(was, tools), _facts(now, tools)
            if isinstance(was, Outcomes) and isinstance(now, User):
                # In XML the results of all calls are one text.
                parts = tuple(part for outcome in was.results for part in outcome.parts)
                recorded, current = [("the results", parts)], [("the results", now.text)]
            for (what, old), (other, new) in zip_longest(recorded, current, fillvalue=("", "")):
                if what != other:
                    # A message of another kind, or none at all.
                    sides = (what, _shown(old)), (other, _shown(new))
                    old, new = (": ".join(filter(None, side)) for side in sides)
                    what = f"message {index + 1}"
                yield Difference(index, what, old, new)
        if isinstance(was, Assistant):
            tools |= {call.id: call.tool for call in was.calls}


def _facts(message: KeptMessage | None, tools: Mapping[str, str]) -> list[tuple[str, Text]]:
    """Return what a message says; `tools` are the tools of the calls before it, by their ids."""
    facts: list[tuple[str, Text]] = []
    match message:
        case User(text):
            facts = [("the prompt", text)]
        case Assistant(text, calls):
            called = (f"{c.id} {c.tool}({encode(dict(c.arguments))})" for c in calls)
            facts = [("what the model said", text), ("what the model called", "; ".join(called))]
        case Results() | Outcomes():
            for result in message.results:
                what = f"the result of {tools.get(result.call_id, 'a call')} ({result.call_id})"
                kinds = {None: None, False: "a success", True: "a failure"}
                kept = result.content if isinstance(result, Result) else result.parts
                facts += [(what, kept), (what, kinds[result.error])]
            news = message.news if isinstance(message, Results) else None
            facts.append(("what it was told of new tools", news))
    return facts


def _shown(text: Text) -> str:
    return ", ".join(text) if isinstance(text, tuple) else text or ""


def _compared_offers(turn: Turn, request: Request, hide: Hide) -> Iterator[Difference]:
    """Yield what the system text and the tools say that are not the same."""
    offered = None if turn.offered is None else ", ".join(turn.offered)
    texts = [
        ("the system text", turn.system, request.system),
        ("the tools", offered, ", ".join(tool.name for tool in request.tools)),
    ]
    for tool in request.tools:
        was, now = turn.tools.get(tool.name, {}), tool.definition()
        hidden = hide(now)
        if was is None or same_definition(was, now) or same_definition(was, hidden):
            continue
        for key, text in (("description", str), ("parameters", encode)):
            what = f"the {key} of tool {tool.name}"
            texts.append((what, text(was.get(key, "")), text(hidden[key])))
    for what, old, new in texts:
        if old != new:
            yield Difference(len(request.messages), what, old, hide(new))
