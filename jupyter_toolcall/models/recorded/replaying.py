"""A model that says what was recorded, and compares what it is told with what was told then.

It keeps no place: a request brings its turn, so a fork and a replay hear the same.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from ...digest import digest
from ...errors import ModelError, UsageError
from ...request import Model, Reply, Request
from . import file
from .differing import difference
from .redacting import redacting
from .tape import Course, Turn

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
    bare, _, part = path.partition(f"{file.NOTEBOOK}#")
    if part or path.endswith(file.NOTEBOOK):
        place = Path(f"{bare}{file.NOTEBOOK}" if part else path)
        return _from_journals(_there(place, name), name, part), "", ""
    kept = _there(Path(path), name)
    data = kept.read_bytes()
    if data.startswith((b'{"journal"', b'{"text"', b'{"id"')):
        return _from_journals(kept, name, ""), "", ""
    found = file.read(kept, name)
    return (found.course,), file.torn(found, name), digest("tape", repr(found.course))[:12]


def _there(path: Path, name: str) -> Path:
    path = path.expanduser()
    if not path.is_file():
        raise UsageError(f"there is no recording {name}; --record {name} makes one")
    return path


def _from_journals(path: Path, name: str, part: str) -> tuple[Course, ...]:
    found: tuple[Course, ...] = import_module("...notebooks.courses", __package__).courses(
        path, name, part
    )
    return found
