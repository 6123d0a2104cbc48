"""Two models: `Recorded` replays a recording, `Recording` records what another model replies.

Neither keeps a position: a request has its turn, so a fork and a replay get the same reply.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from ...core.digests import digest
from ...core.errors import ModelError, UsageError
from ...schemes.messages import Model, Reply, Request
from ..recorded import tape
from .difference import Difference, difference, told_otherwise
from .tape import Course, Turn, redacting

HEARD = ("on_text", "on_wait")
ELSEWHERE = "Record this course in another file (--record FILE), or delete that one for a new one."
ANEW = "Another model goes on from here (-m NAME); with --record FILE what it says is kept."
MOST = 24
"""Into so many pieces a text is told, however long it is."""


def speak(reply: Reply, on_text: Callable[[str], object] | None) -> Reply:
    """Return a reply, its text told piece by piece as it would come."""
    if on_text is not None:
        least = len(reply.text) // MOST
        for piece in filter(None, re.findall(rf"(?s).{{{least}}}\S*\s*|.+", reply.text)):
            on_text(piece)
    return reply


class Recorded:
    """A recording as a model: a file that `Recording` or `--record` made, a journal's file, or
    a notebook with its saved sessions (`lesson.ipynb`, `lesson.ipynb#fries`).

    Raises UsageError where there is no such recording.
    """

    def __init__(
        self, path: str | Path, *, name: str = "", on_text: Callable[[str], object] | None = None
    ) -> None:
        self.file = name or str(path)
        self.name = self.identity = f"recorded:{self.file}"
        self.courses, self.note, words = _courses(str(path), self.file)
        if words:
            self.identity = f"{self.name}:{words}"
        self.on_text = on_text or (lambda text: None)

    def __repr__(self) -> str:
        return f"Recorded({self.file!r})"

    def __call__(self, request: Request) -> Reply:
        """Return what was replied to this request. Raises ModelError where it is another one."""
        return speak(self._pick(self._found(request)).reply, self.on_text)

    def _found(self, request: Request) -> list[Turn]:
        """Return the turns that had this very request, one on each branch."""
        number = request.turn + 1
        there = [(course, turn) for course in self.courses if (turn := course.turn(number))]
        if not there:
            raise ModelError(f"{self.file} {self._ends(number)}.\n{ANEW}")
        hide = redacting(os.environ)
        compared = [(difference(course, turn, request, hide), turn) for course, turn in there]
        found = [turn for other, turn in compared if other is None]
        others = [other for other, _ in compared if other is not None]
        if not found:
            nearest = max(others, key=lambda other: other.place)
            raise ModelError(f"turn {number} differs from {self.file} in {nearest}.\n{ANEW}")
        return found

    def _pick(self, found: Sequence[Turn]) -> Turn:
        return found[0]

    def _ends(self, number: int) -> str:
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

    def _pick(self, found: Sequence[Turn]) -> Turn:
        replies = list({repr(turn.reply): turn for turn in found}.values())
        asked = digest("asked", *map(repr, replies))
        _ASKED[asked] += 1
        return replies[min(_ASKED[asked], len(replies)) - 1]


_ASKED: Counter[str] = Counter()


def _courses(path: str, name: str) -> tuple[tuple[Course, ...], str, str]:
    """Return the courses of a recording, what is to be said of it, and a digest of its words."""
    bare, _, part = path.partition(f"{tape.NOTEBOOK}#")
    if part or path.endswith(tape.NOTEBOOK):
        place = Path(f"{bare}{tape.NOTEBOOK}" if part else path)
        return _from_journals(_there(place, name), name, part), "", ""
    kept = _there(Path(path), name)
    data = kept.read_bytes()
    if data.startswith((b'{"journal"', b'{"text"', b'{"id"')):
        return _from_journals(kept, name, ""), "", ""
    found = tape.read_tape(kept, name)
    return (found.course,), tape.torn_line(found, name), digest("tape", repr(found.course))[:12]


def _there(path: Path, name: str) -> Path:
    path = path.expanduser()
    if not path.is_file():
        raise UsageError(f"there is no recording {name}; --record {name} makes one")
    return path


def _from_journals(path: Path, name: str, part: str) -> tuple[Course, ...]:
    found: tuple[Course, ...] = import_module("...session.notebook_replies", __package__).courses(
        path, name, part
    )
    return found


class Recording:
    """A model whose turns are recorded in a file.

    Raises UsageError where the file is no recording, or cannot be written.
    """

    on_text: Callable[[str], object]
    on_wait: Callable[[str], object]

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
        self._kept, self.note = tape.open_tape(self.path, self.file)
        self._owed = b""

    def __getattr__(self, name: str) -> Any:
        """What it does not say itself is as the model says it: its name, its body."""
        if name.startswith("__") or name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)

    def __repr__(self) -> str:
        return f"<{self.model!r}, recorded in {self.file}>"

    def __call__(self, request: Request) -> Reply | None:
        """Return the model's reply, once it is on disk. Raises ModelError."""
        course = self._course()
        turn = course.turn(request.turn + 1)
        if turn is not None:
            return self._again(course, turn, request)
        if request.turn and course.turns:
            before = request.messages[: len(course.told)]
            if found := told_otherwise(course.told, before, redacting(os.environ)):
                raise ModelError(self._other(request, found))
        reply = self._asked(request)
        if isinstance(reply, Reply):
            self._write(course, request, reply)
        return reply

    def _course(self) -> Course:
        """Return what is recorded by now: another cell may have added to the file."""
        self._pay()
        try:
            if self.path.stat().st_size != self._kept.size:
                self._kept, _ = tape.open_tape(self.path, self.file)
        except FileNotFoundError:
            self._kept, _ = tape.open_tape(self.path, self.file)
        return self._kept.course

    def _again(self, course: Course, turn: Turn, request: Request) -> Reply:
        if found := difference(course, turn, request, redacting(os.environ)):
            raise ModelError(self._other(request, found))
        if turn.model != self._name:
            said = f"turn {turn.number} was said by {turn.model}, and not by {self._name}"
            raise ModelError(f"{self.file} holds another course: {said}.\n{ELSEWHERE}")
        return speak(turn.reply, vars(self).get("on_text"))

    def _other(self, request: Request, found: Difference) -> str:
        turn = request.turn + 1
        return f"{self.file} holds another course: turn {turn} differs in {found}.\n{ELSEWHERE}"

    @property
    def _name(self) -> str:
        named = (getattr(self.model, each, None) for each in ("identity", "name"))
        return str(next(filter(None, named), type(self.model).__name__))

    def _asked(self, request: Request) -> Reply | None:
        for listener in HEARD:
            if listener in vars(self) and hasattr(self.model, listener):
                setattr(self.model, listener, vars(self)[listener])
        return self.model(request)

    def _write(self, course: Course, request: Request, reply: Reply) -> None:
        at = datetime.fromtimestamp(self.clock(), UTC).isoformat(timespec="seconds")
        try:
            data = tape.line(course, request, reply, self._name, at)
            if hasattr(self.model, "body"):
                data["body"] = digest("body", self.model.body(request))
            data = redacting(os.environ)(data)
            self._owed = tape.written(data)
            course = tape.grown(course, data)
        except (TypeError, ValueError) as error:
            raise ModelError(f"the model's reply cannot be written down: {error}") from error
        self._kept = tape.Kept(course, self._kept.whole, self._kept.size)
        self._pay()

    def _pay(self) -> None:
        """Write the line that is not in the file yet; what came of a model is not asked again."""
        if not self._owed:
            return
        try:
            size = tape.append_line(self.path, self._kept, self._owed)
        except OSError as error:
            raise ModelError(
                f"the reply is here, and {self.file} cannot be written ({error.strerror}); "
                "make room, and go on: nobody is asked twice"
            ) from None
        self._kept, self._owed = tape.Kept(self._kept.course, size, size), b""
