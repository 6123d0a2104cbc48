"""The value store: expensive results on disk, by name, sealed with this user's key.

A file of `names` holds the digest of a content and a seal; a file of `contents` the pickled value.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import pickle
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.errors import UsageError
from ..core.interrupts import attempt
from ..core.journal_entries import Seal
from .file_system import new_file
from .journal_file import journals_folder
from .signatures import signer

MISSING = object()
SETTING = "JUPYTER_TOOLCALL_VALUES"
MEGABYTE = 1 << 20
ROOM = 1024
"""Megabytes that values may take without the setting."""
BLOCK = 4096
"""Bytes of disk that a file takes at least."""
HOUR = 3600.0
"""Seconds after which nobody writes a temporary file any more."""
_NAME = re.compile(r"[0-9a-f]{32,64}")


def value_store(environ: Mapping[str, str] = os.environ) -> ValueFolder | None:
    """Return this user's store; None if nothing is to be kept, or nothing can be sealed.

    Raises UsageError for a setting that is no number.
    """
    text = environ.get(SETTING, str(ROOM))
    if not text.isdecimal():
        raise UsageError(f"{SETTING} is {text!r}; it takes a number of megabytes, 0 keeps no value")
    room, seal = int(text) * MEGABYTE, signer(journals_folder())
    folder = journals_folder() / "values"
    return ValueFolder(folder, seal, room) if room and seal is not None else None


@dataclass(frozen=True, slots=True)
class StoreSize:
    """How many values a store holds, and their bytes."""

    values: int
    size: int

    def __str__(self) -> str:
        return f"{self.values:,} value{'' if self.values == 1 else 's'}, {megabytes(self.size)}"


def megabytes(size: int) -> str:
    """Return a number of bytes as a person reads it."""
    return f"{size / MEGABYTE:,.1f} MB"


@dataclass
class ValueFolder:
    """Values by name on disk, at most `room` bytes; the least recently used are removed first."""

    folder: Path
    seal: Seal
    room: int
    _free: int = field(default=0, repr=False)
    """Bytes that may be written before the folder is read again."""

    def find(self, name: str) -> Any:
        """Return a value, MISSING if there is none, or if this computer did not write it."""
        try:
            content, _, seal = _content(f"{self._names}/{_checked(name)}").partition(" ")
            if not hmac.compare_digest(seal, self._sealed(name, content)):
                return MISSING
            path = Path(self._contents, _checked(content))
            data = path.read_bytes()
            if _digest(data) != content:
                path.unlink()
                return MISSING
            os.utime(path)
        except (OSError, ValueError, TypeError):
            return MISSING
        # Unpickling calls methods of the value's class, which may raise anything.
        value, raised = attempt(pickle.loads, data)
        return MISSING if raised else value

    def put(self, name: str, value: object) -> str:
        """Keep a value; return "", or why it is not kept."""
        # Pickling calls methods of the value's class, which may raise anything.
        data, raised = attempt(pickle.dumps, value, protocol=5)
        if raised or data is None:
            return "it can't be pickled"
        if _blocks(len(data)) + BLOCK > self.room:
            return f"its {megabytes(len(data))} are more than there is room for"
        try:
            self._put(_checked(name), _digest(data), data)
        except OSError as error:
            return f"it can't be written ({error.strerror})"
        return ""

    def is_named(self, name: str) -> bool:
        """Return whether there is a value of that name, verified or not."""
        try:
            return _size(f"{self._names}/{_checked(name)}") >= 0
        except OSError:
            return False

    def held(self) -> StoreSize:
        """Return what the store holds."""
        names = sum(not _is_temporary(path) for path, _ in _files(self._names))
        return StoreSize(names, sum(stat.st_size for _, stat in _files(self._contents)))

    def clear(self) -> StoreSize:
        """Remove all values of this user, and return what there was."""
        held = self.held()
        for folder in (self._names, self._contents):
            for path, stat in _files(folder):
                _removed(path, stat)
        return held

    def __post_init__(self) -> None:
        self._names, self._contents = f"{self.folder}/names", f"{self.folder}/contents"

    def _sealed(self, name: str, content: str) -> str:
        return self.seal(f"value {name} {content}")

    def _put(self, name: str, content: str, data: bytes) -> None:
        path = f"{self._contents}/{content}"
        if not _is_whole(path, len(data)):
            self._make_room(_blocks(len(data)))
            self._write(path, data)
        path = f"{self._names}/{name}"
        if _size(path) < 0:
            self._make_room(BLOCK)
        self._write(path, f"{content} {self._sealed(name, content)}".encode())

    def _write(self, path: str, data: bytes) -> None:
        """Write a file, in a folder that is created if needed. Raises OSError."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with new_file(Path(path), data, sync=False) as new:
            os.replace(new, path)

    def _make_room(self, needed: int) -> None:
        """Remove values until so many bytes are free.

        Other kernels write too, so the folder is read again now and then.
        """
        if self._free < needed:
            free = self.room - self._swept(self.room - needed)
            self._free = min(free, max(needed, self.room // 8))
        self._free -= needed

    def _swept(self, most: int) -> int:
        """Remove values above so many bytes, and a tenth more; return how many bytes stay.

        Contents without a name are removed first, then the least recently used.
        """
        names, contents = list(_files(self._names)), list(_files(self._contents))
        used_bytes = sum(_blocks(stat.st_size) for _, stat in (*names, *contents))
        if used_bytes <= most:
            return used_bytes
        content_of = {path: _content(path).partition(" ")[0] for path, _ in names}
        used = {*content_of.values()}
        # A content whose name is about to be written counts as used.
        contents.sort(
            key=lambda file: (
                os.path.basename(file[0]) in used or not _is_abandoned(file[1]),
                file[1].st_mtime,
            )
        )
        # What another kernel is writing just now is left to it.
        for path, stat in contents:
            if used_bytes > most - most // 10 and _is_removable(path, stat):
                used.discard(os.path.basename(path))
                used_bytes -= _removed(path, stat)
        for path, stat in names:
            if content_of[path] not in used and _is_removable(path, stat):
                used_bytes -= _removed(path, stat)
        return used_bytes


def _checked(name: str) -> str:
    """Return a name. A journal may hold anything, a path too: that raises OSError."""
    if not _NAME.fullmatch(name):
        raise OSError(0, "that is no name of a value")
    return name


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _blocks(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def _is_temporary(path: str) -> bool:
    return os.path.basename(path).startswith(".")


def _is_abandoned(stat: os.stat_result) -> bool:
    """Return whether a file is so old that nobody is still writing it."""
    return time.time() - stat.st_mtime > HOUR


def _is_removable(path: str, stat: os.stat_result) -> bool:
    return _is_abandoned(stat) or not _is_temporary(path)


def _content(path: str) -> str:
    """Return the text in a name's file: the digest of a content, and the seal."""
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return -1


def _is_whole(path: str, size: int) -> bool:
    """Return whether a file is there with all its bytes; it counts as used just now."""
    try:
        # A partly written one is shorter, and another kernel may remove it at any time.
        is_whole = os.stat(path).st_size == size
        os.utime(path)
    except OSError:
        return False
    return is_whole


def _removed(path: str, stat: os.stat_result) -> int:
    """Remove a file, and return how many bytes that frees."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError:
        return 0
    return _blocks(stat.st_size)


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the files of a folder; another kernel may remove one at the same time."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                yield entry.path, entry.stat()
