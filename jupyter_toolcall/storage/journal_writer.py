"""Writing a file as its only writer: every line once, whole, in order, or not at all.

A line that went in half is cut before anything else is written; what the disk does not take
stays here, and is tried again before the next line.
"""

from __future__ import annotations

import contextlib
import errno
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..core.entries import When
from ..core.errors import NotKept
from .file_system import File

SOON = 64
"""So many lines that may wait are synced together."""
_WORDS = {
    errno.ENOSPC: ("the disk is full", "free space"),
    errno.EDQUOT: ("your quota of the disk is used up", "free space"),
    errno.EFBIG: ("the file is as large as a file may be", "raise that limit"),
    errno.EIO: ("the disk fails (input/output error)", "look after it"),
    errno.EROFS: ("the disk is read-only", "make it writable"),
    errno.EACCES: ("its folder may not be written", "make it writable"),
    errno.EPERM: ("its folder may not be written", "make it writable"),
}
_READING = dict.fromkeys(
    (errno.EACCES, errno.EPERM), ("its file or folder may not be read", "make it readable")
)


def write_error_texts(error: OSError, reading: bool = False) -> tuple[str, str]:
    """Return what keeps a file from being written or read, and what a person can do about it."""
    other = error.strerror or str(error), "mend that"
    return (_READING if reading else _WORDS).get(error.errno or 0, other)


@dataclass(frozen=True, slots=True)
class UnsyncedTail:
    """What is behind the bytes that are on disk for certain."""

    safe: int
    """So many bytes are synced."""
    lines: tuple[bytes, ...] = ()
    """All that follows, in order."""
    there: int = 0
    """So many of these lines are in the file."""
    torn: bool = False
    """Whether the file may hold something else behind them."""

    @property
    def size(self) -> int:
        return self.safe + sum(map(len, self.lines[: self.there]))

    @property
    def missing(self) -> bytes:
        return b"".join(self.lines[self.there :])


@dataclass
class Writer:
    """The one writer of a file, whose first `size` bytes are whole."""

    file: File
    size: int
    clock: Callable[[], float] = time.time
    _tail: UnsyncedTail = field(init=False)
    _late: tuple[float, OSError] | None = None
    """Since when there are lines that are not on disk, and what was in the way."""

    def __post_init__(self) -> None:
        self._tail = UnsyncedTail(self.size)

    def __call__(self, line: str, when: When) -> None:
        """Write a line. Raises NotKept where it had to be on disk first, and can't be."""
        data, tail = f"{line}\n".encode(), self._tail
        self._tail = UnsyncedTail(tail.safe, (*tail.lines, data), tail.there, tail.torn)
        try:
            self._catch_up(when != "soon" or len(tail.lines) >= SOON)
        except OSError as error:
            if when != "first":
                self._wait(error)
                return
            self._take_back(data)
            why, what = write_error_texts(error)
            said = f"{why}; the call did not run. {what.capitalize()}, then Run (or %toolchat next)"
            raise NotKept(f"{said} goes on") from error
        except BaseException:
            self._take_back(data)
            raise

    def late(self) -> str:
        """Try again what is not on disk; return one line about it where it still isn't."""
        if self._late is not None:
            try:
                self._catch_up(True)
            except OSError as error:
                self._wait(error)
        if self._late is None:
            return ""
        since, (why, what) = self._late[0], write_error_texts(self._late[1])
        return (
            f"Not on disk since {time.strftime('%H:%M', time.localtime(since))}: {why}. "
            f"What happened since is in this kernel alone; {what}, and it is written."
        )

    def close(self) -> None:
        """Let go of the file, once all that the disk takes is there."""
        with contextlib.suppress(OSError):
            self._catch_up(True)
        with contextlib.suppress(OSError):
            self.file.close()

    def _wait(self, error: OSError) -> None:
        self._late = (self.clock() if self._late is None else self._late[0]), error

    def _catch_up(self, sync: bool) -> None:
        self._mend()
        tail = self._tail
        if missing := tail.missing:
            self._tail = UnsyncedTail(tail.safe, tail.lines, tail.there, torn=True)
            append(self.file, missing)
            self._tail = tail = UnsyncedTail(tail.safe, tail.lines, len(tail.lines))
        if sync and tail.lines:
            # Where a sync fails, the next one may succeed without what this one lost.
            self._tail = UnsyncedTail(tail.safe, tail.lines, torn=True)
            self.file.sync()
            self._tail = UnsyncedTail(tail.size)
        self._late = None

    def _mend(self) -> None:
        if self._tail.torn:
            self.file.cut(self._tail.size)
            self._tail = replace(self._tail, torn=False)

    def _take_back(self, data: bytes) -> None:
        """Let the last line never have been said; what of it is in the file goes, if it can."""
        tail = self._tail
        if tail.lines and tail.lines[-1] is data:
            lines = tail.lines[:-1]
            there = min(tail.there, len(lines))
            torn = tail.torn or there < tail.there
            self._tail = replace(tail, lines=lines, there=there, torn=torn)
        with contextlib.suppress(OSError):
            self._mend()


def append(file: File, data: bytes) -> None:
    """Write all of it, however little goes in at a time."""
    while data:
        written = file.append(data)
        if written <= 0:
            raise OSError(errno.ENOSPC, "nothing more goes in")
        data = data[written:]
