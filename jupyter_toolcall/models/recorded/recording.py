"""A model that has another one answer, and writes each turn down before it is heard.

What the file has already is said from there, so that a recording goes on where it ended;
a course that leaves it is refused before anybody is asked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...digest import digest
from ...errors import ModelError
from ...request import Model, Reply, Request
from . import file, tape
from .differing import Difference, difference, told_otherwise
from .redacting import redacting
from .replaying import speak
from .tape import Course, Turn

HEARD = ("on_text", "on_wait")


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
        self._kept, self.note = file.opened(self.path, self.file)
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
            self._goes_on(course, request)
        reply = self._asked(request)
        if isinstance(reply, Reply):
            self._write(course, request, reply)
        return reply

    def _course(self) -> Course:
        """Return what is recorded by now: another cell may have added to the file."""
        self._pay()
        try:
            if self.path.stat().st_size != self._kept.size:
                self._kept, _ = file.opened(self.path, self.file)
        except FileNotFoundError:
            self._kept, _ = file.opened(self.path, self.file)
        return self._kept.course

    def _again(self, course: Course, turn: Turn, request: Request) -> Reply:
        found = difference(course, turn, request, redacting(os.environ))
        if found is not None:
            raise ModelError(self._other(request, found))
        if turn.model != self._name:
            said = f"turn {turn.number} was said by {turn.model}, and not by {self._name}"
            raise ModelError(f"{self.file} holds another course: {said}.\n{ELSEWHERE}")
        return speak(turn.reply, vars(self).get("on_text"))

    def _goes_on(self, course: Course, request: Request) -> None:
        """Raise ModelError where a course does not go on from what is recorded."""
        before = request.messages[: len(course.told)]
        found = told_otherwise(course.told, before, redacting(os.environ))
        if found is not None:
            raise ModelError(self._other(request, found))

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
        self._kept = file.Kept(course, self._kept.whole, self._kept.size)
        self._pay()

    def _pay(self) -> None:
        """Write the line that is not in the file yet; what came of a model is not asked again."""
        if not self._owed:
            return
        try:
            size = file.added(self.path, self._kept, self._owed)
        except OSError as error:
            raise ModelError(
                f"the reply is here, and {self.file} cannot be written ({error.strerror}); "
                "make room, and go on: nobody is asked twice"
            ) from None
        self._kept, self._owed = file.Kept(self._kept.course, size, size), b""


ELSEWHERE = "Record this course in another file (--record FILE), or delete that one for a new one."
