"""The exercises of a notebook: the files `exercises/NAME.md` beside it."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import UsageError
from ..tools import nearest
from .exercise_file import Exercise, read_exercise

FOLDER = "exercises"
SUFFIX = ".md"
_NAME = re.compile(r"[\w-]{1,64}")


def exercise_names(folder: Path) -> list[str]:
    """Return the names of the exercises beside a notebook in this folder."""
    return sorted(path.stem for path in (folder / FOLDER).glob(f"*{SUFFIX}"))


def relative_path(name: str) -> str:
    """Return the file of an exercise, relative to the notebook's folder."""
    return f"{FOLDER}/{name}{SUFFIX}"


def name_of(path: str) -> str:
    """Return the name of the exercise that has this relative path, "" for any other path."""
    file = Path(path)
    return file.stem if file.suffix == SUFFIX and file.parent == Path(FOLDER) else ""


def exercise_named(folder: Path, name: str) -> Exercise:
    """Return an exercise. Raises UsageError for a name or a file that is wrong."""
    if _NAME.fullmatch(name) and (folder / relative_path(name)).is_file():
        return load_exercise(folder / relative_path(name), relative_path(name))
    known = exercise_names(folder)
    listed = f"there are {', '.join(known)}" if known else f"there is no {relative_path('NAME')}"
    raise UsageError(f"no exercise {name!r:.80} here; {listed}.{nearest(name, known)}")


def load_exercise(path: Path, file: str) -> Exercise:
    """Return the exercise in a file, which messages call `file`. Raises UsageError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read ({type(error).__name__})") from None
    return read_exercise(text, file)
