"""The exercises of a notebook's folder, and what a kernel knows of a learner at them.

An exercise is a file, `exercises/NAME.md` beside the notebook.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import UsageError
from ..tools import nearest
from .checking import Verdict, checked
from .reading import Exercise, exercise
from .scene import Scene
from .showing import Help, Hint, Unasked

FOLDER = "exercises"
SUFFIX = ".md"
_NAME = re.compile(r"[\w-]{1,64}")


@dataclass
class Lessons:
    """Which exercise is on, what was found in the way, and how many hints were given."""

    on: str = ""
    """The exercise that was shown last."""
    cells: dict[str, str] = field(default_factory=dict)
    """For each exercise the cell that is its own: of those that it is about, the first to run."""
    met: set[tuple[str, str]] = field(default_factory=set)
    """The checks that did not hold, by exercise and their words."""
    given: Counter[tuple[str, str]] = field(default_factory=Counter)
    """The hints to each of these; under "" those of the exercise as a whole."""

    def owns(self, name: str, cell: str) -> bool:
        """Return whether a cell is an exercise's own; the first one that is asked about is."""
        return self.cells.setdefault(name, cell) == cell

    def check(self, found: Exercise, name: str, scene: Scene) -> tuple[Verdict, Help]:
        """Return how an exercise stands, and the next hint where that is asked for.

        Checking again asks for it: who meets a check for the first time gets to think.
        """
        verdict = checked(found, scene)
        return verdict, self._help(verdict, name)

    def _help(self, verdict: Verdict, name: str) -> Help:
        """Return the next hint: those of the check that fails, then those of the exercise."""
        if verdict.fails is None:
            return None
        own, general = verdict.fails.hints, verdict.exercise.hints
        mine, all_ = (name, verdict.fails.words), (name, "")
        left = [*own[self.given[mine] :], *general[self.given[all_] :]]
        if not left:
            return None
        if mine not in self.met:
            self.met.add(mine)
            return Unasked(len(left))
        self.given[mine if self.given[mine] < len(own) else all_] += 1
        of = len(own) + len(general)
        return Hint(of - len(left) + 1, of, left[0])


def there(folder: Path) -> list[str]:
    """Return the names of the exercises of a notebook's folder."""
    return sorted(path.stem for path in (folder / FOLDER).glob(f"*{SUFFIX}"))


def replayed(folder: Path) -> list[str]:
    """Return the exercises of a folder that --replay can name."""
    return [f"{FOLDER}/{name}{SUFFIX}" for name in there(folder)]


def named(path: str) -> str:
    """Return the name of the exercise that a path leads to, "" where it leads to none."""
    found = Path(path)
    return found.stem if found.suffix == SUFFIX and found.parent == Path(FOLDER) else ""


def place(folder: Path, name: str) -> Path:
    """Return the file of an exercise. Raises UsageError where there is none."""
    file = folder / FOLDER / f"{name}{SUFFIX}"
    if _NAME.fullmatch(name) and file.is_file():
        return file
    known = there(folder)
    listed = f"there are {', '.join(known)}" if known else f"there is no {FOLDER}/NAME.md"
    raise UsageError(f"no exercise {name!r:.80} here; {listed}.{nearest(name, known)}")


def read(file: Path, name: str) -> Exercise:
    """Return the exercise that a file holds. Raises UsageError, which says what is wrong."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{name} cannot be read ({type(error).__name__})") from None
    return exercise(text, name)
