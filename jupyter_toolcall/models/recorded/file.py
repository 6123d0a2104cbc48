"""The file of a recording: where it may be, what it holds, and one more line at its end."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ...errors import ModelError, UsageError
from . import tape
from .tape import Course

NOTEBOOK = ".ipynb"


@dataclass(frozen=True, slots=True)
class Kept:
    """What a file holds: its course, how many bytes tell it, and how many there are."""

    course: Course
    whole: int = 0
    size: int = 0


def place(folder: Path, name: str) -> Path:
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


def opened(path: Path, name: str) -> tuple[Kept, str]:
    """Return what a file to be written holds, and what is to be said of it; it is there now.

    A torn last line is cut. Raises UsageError for a file that is no recording, or that
    cannot be written.
    """
    try:
        with path.open("ab"):
            kept = read(path, name)
            if kept.whole < kept.size:
                os.truncate(path, kept.whole)
                return Kept(kept.course, kept.whole, kept.whole), torn(kept, name)
    except OSError as error:
        raise UsageError(f"{name} cannot be written ({error.strerror})") from None
    return kept, ""


def read(path: Path, name: str) -> Kept:
    """Return what a file holds. Raises UsageError for what is no recording, and OSError."""
    data = path.read_bytes()
    course, whole = tape.read(data, name)
    return Kept(course, whole, len(data))


def torn(kept: Kept, name: str) -> str:
    """Return what is to be said of a recording whose last line is torn, "" for a whole one."""
    if kept.whole == kept.size:
        return ""
    count = len(kept.course.turns)
    turns = f"{count} turn before it is" if count == 1 else f"{count} turns before it are"
    return f"the last line of {name} is torn and is left out; {turns} whole"


def added(path: Path, kept: Kept, line: bytes) -> int:
    """Put a line at the end of a file and on the disk; return how many bytes there are now.

    Raises OSError, and then nothing of the line is there; ModelError where another
    process has written to the file.
    """
    with path.open("ab", buffering=0) as file:
        before = os.fstat(file.fileno()).st_size
        if before != kept.size:
            raise ModelError(f"{path.name} was changed by another program while the model answered")
        whole = line if _ended(path, before) else b"\n" + line
        try:
            rest = memoryview(whole)
            while rest:
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
        except OSError:
            os.ftruncate(file.fileno(), before)
            raise
    return before + len(whole)


def _ended(path: Path, size: int) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, size - 1))
        return file.read() in (b"", b"\n")
