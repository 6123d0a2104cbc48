"""Journals on disk: one file a session, in the user's data directory, one writer each.

What allows an effect is on disk before the effect: such a line is synced. A torn tail is
cut and kept beside the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .digest import digest
from .journal import Journal, Seal
from .seal import sealing

NAME = "jupyter-toolcall"


@dataclass(frozen=True, slots=True)
class Kept:
    """A journal, and one line for the person where something about it is to be said."""

    journal: Journal
    note: str = ""
    close: Callable[[], None] = lambda: None
    """Lets go of the file, so that another kernel may write it."""


def home() -> Path:
    """Return the folder of all journals of this user."""
    from platformdirs import user_data_path

    chosen = os.environ.get("JUPYTER_TOOLCALL_DATA")
    return Path(chosen) if chosen else user_data_path(NAME, appauthor=False)


def journal_file(notebook: str, session: str) -> Path:
    """Return the file of a session of a notebook."""
    return home() / "sessions" / digest("notebook", notebook) / f"{session or 'cells'}.jsonl"


def open_journal(path: Path) -> Kept:
    """Return a file's journal; what is added to it goes there.

    Where the file can't be written, or another kernel writes it, the journal is kept in
    memory alone, and the note says so.
    """
    from filelock import FileLock, Timeout

    seal = sealing(home())

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(f"{path}.lock")
        lock.acquire(timeout=0)
        return _opened(path, lock, seal)
    except Timeout:
        journal, _ = Journal.salvage(_readable(path), seal=seal)
        return Kept(journal, "Another kernel writes this session: what happens here is not kept.")
    except OSError as error:
        return Kept(Journal(), f"The session is not kept on disk ({error.strerror}).")


def _opened(path: Path, lock: Any, seal: Seal | None) -> Kept:
    text = _readable(path)
    journal, torn = Journal.salvage(text, seal=seal)
    whole = len(text[: len(text) - len(torn)].encode())
    note = ""
    if path.exists() and path.stat().st_size > whole:
        _cut(path, whole)
        note = f"The end of the journal was torn; {len(journal)} entries are whole."
    file = path.open("a", encoding="utf-8", newline="\n")

    def write(line: str, sync: bool) -> None:
        file.write(f"{line}\n")
        file.flush()
        if sync:
            os.fsync(file.fileno())

    def close() -> None:
        file.close()
        lock.release()

    journal.write_to(write)
    return Kept(journal, note, close)


def _readable(path: Path) -> str:
    """Return the text of a file up to where it is no text."""
    data = path.read_bytes() if path.exists() else b""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start].decode()


def _cut(path: Path, whole: int) -> None:
    """Move all behind the first bytes to the file of what was torn, which only grows."""
    with path.open("rb+") as file, path.with_suffix(".torn").open("ab") as aside:
        file.seek(whole)
        aside.write(file.read().rstrip(b"\n") + b"\n")
        aside.flush()
        os.fsync(aside.fileno())
        file.truncate(whole)
