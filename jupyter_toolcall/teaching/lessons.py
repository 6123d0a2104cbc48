"""The exercises of a notebook's folder, and the hints that were given while a kernel lives.

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
from .showing import Hint

FOLDER = "exercises"
SUFFIX = ".md"
_NAME = re.compile(r"[\w-]{1,64}")


@dataclass
class Lessons:
    """Which exercise is on, and how many hints were given, by exercise and check."""

    on: str = ""
    """The exercise that was shown last."""
    given: Counter[tuple[str, str]] = field(default_factory=Counter)

    def check(self, found: Exercise, name: str, scene: Scene) -> tuple[Verdict, Hint | None]:
        """Return how an exercise stands, and the next hint where it does not hold yet."""
        verdict = checked(found, scene)
        return verdict, self._hint(verdict, name)

    def _hint(self, verdict: Verdict, name: str) -> Hint | None:
        """Return the next hint: those of the check that fails, then those of the exercise."""
        if verdict.fails is None:
            return None
        own, general = verdict.fails.hints, verdict.exercise.hints
        mine, all_ = (name, verdict.fails.words), (name, "")
        done = min(self.given[mine], len(own)) + self.given[all_]
        left = [*own[self.given[mine] :], *general[self.given[all_] :]]
        if not left:
            return None
        self.given[mine if self.given[mine] < len(own) else all_] += 1
        return Hint(done + 1, len(own) + len(general), left[0])


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
