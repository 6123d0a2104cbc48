"""Writing files: the operations that a journal needs, and the only writer of its file.

After a loss of power a new file exists if its folder was synced, and its bytes if the file was
synced. Each operation raises OSError. Tests replace `Files` to inject faults.

The writer writes every line once, whole and in order, or not at all. It cuts a partly written line
before it writes anything else, keeps what the disk refuses, and tries that again first.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..core.errors import NotKept
from ..core.interface_text import t
from ..core.journal_entries import When
from ..core.recorded_data import Record, replace

NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP})
"""The errors of a file system without locks."""


class File:
    """A file of this computer, open for writing at its end. Only its user can read it."""

    def __init__(self, path: Path) -> None:
        # Windows would write each line's end as two bytes, and sizes would be wrong.
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._path, self._fd = path, os.open(path, flags, 0o600)
        if os.name != "nt" and os.fstat(self._fd).st_mode & 0o077:
            # It holds prompts and results, and an earlier version let others read them.
            with contextlib.suppress(OSError):
                os.fchmod(self._fd, 0o600)

    def append(self, data: bytes) -> int:
        """Write at the end, and return how many of the bytes went in."""
        return os.write(self._fd, data)

    def sync(self) -> None:
        """Return when all that was written is on disk, in the file that has this path."""
        os.fsync(self._fd)
        # What goes into a file that was deleted is lost when this process ends.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.stat(self._path), os.fstat(self._fd)):
                return
        raise OSError(errno.ESTALE, "")

    def cut(self, size: int) -> None:
        """Make the file that long."""
        os.ftruncate(self._fd, size)

    def close(self) -> None:
        """Close the file."""
        # A second close must not close another file that has the same number by then.
        descriptor, self._fd = self._fd, -1
        os.close(descriptor)


class Files:
    """The operations on the files of this computer."""

    def read(self, path: Path) -> bytes | None:
        """Return the bytes of a file, None if there is none."""
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None

    def open(self, path: Path) -> File:
        """Open a file for writing at its end; it is created if needed."""
        return File(path)

    def has_folder(self, path: Path) -> bool:
        """Return whether there is such a folder."""
        return path.is_dir()

    def make_folder(self, path: Path) -> None:
        """Create a folder in an existing one; only its user can enter it."""
        path.mkdir(mode=0o700, exist_ok=True)

    def sync_folder(self, path: Path) -> None:
        """Return when the names in a folder are on disk."""
        if os.name == "nt":
            return
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def lock(self, path: Path) -> Callable[[], None] | None:
        """Return what releases the lock of a file; None if another process holds it.

        The system's lock ends with its process; without locks, a file names the holder.
        """
        from filelock import FileLock, SoftFileLock, Timeout

        try:
            lock = FileLock(f"{path}.lock", fallback_to_soft=False)
            try:
                lock.acquire(timeout=0)
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise
                lock = SoftFileLock(f"{path}.held")
                lock.acquire(timeout=0)
        except Timeout:
            return None
        return lock.release


DISK = Files()


def replace_file(path: Path, text: str) -> None:
    """Replace a file by a text: the old file is there until the new one is whole.

    Only its user can read the new file, since it holds prompts and results.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        # A pipe or a terminal cannot be replaced.
        path.write_text(text, encoding="utf-8", newline="\n")
        return
    with new_file(path, text.encode()) as new:
        os.replace(new, path)


@contextlib.contextmanager
def new_file(path: Path, data: bytes, sync: bool = True) -> Iterator[Path]:
    """Write a file beside a path, which only its user can read, and give it to the context.

    What the context has not moved is removed. Without `sync` a loss of power may lose its bytes.
    """
    new = path.with_name(f".{path.name[:64]}-{secrets.token_hex(8)}")
    try:
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        yield new
    finally:
        new.unlink(missing_ok=True)


# -- the writer of a journal ----------------------------------------------------------------

SOON = 64
"""How many lines that may wait are synced together."""
_WORDS = {
    errno.ENOSPC: ("the disk is full", "free space"),
    errno.EDQUOT: ("your quota of the disk is used up", "free space"),
    errno.EFBIG: ("the file is as large as a file may be", "raise that limit"),
    errno.EIO: ("the disk fails (input/output error)", "look after it"),
    errno.EROFS: ("the disk is read-only", "make it writable"),
    errno.EACCES: ("its folder may not be written", "make it writable"),
    errno.EPERM: ("its folder may not be written", "make it writable"),
    errno.ESTALE: (
        "its file was deleted, moved or replaced",
        "put it back, or save a copy with session.save(PATH) and load that",
    ),
    errno.ECHILD: ("this process is a copy of the one that writes the session", "decide there"),
}
_READING = dict.fromkeys(
    (errno.EACCES, errno.EPERM), ("its file or folder may not be read", "make it readable")
)


def write_error_texts(error: OSError, reading: bool = False) -> tuple[str, str]:
    """Return why a file cannot be written or read, and what a person can do about it."""
    other = error.strerror or str(error), "mend that"
    return (_READING if reading else _WORDS).get(error.errno or 0, other)


class UnsyncedTail(Record, frozen=True):
    """The lines after the bytes that are certainly on disk."""

    synced: int
    """How many bytes are synced."""
    lines: tuple[bytes, ...] = ()
    """The lines after them, in order."""
    written: int = 0
    """How many of these lines are in the file."""
    is_partial: bool = False
    """Whether the file may hold something else after them."""

    @property
    def size(self) -> int:
        """The bytes of the file without what may be partly written."""
        return self.synced + sum(map(len, self.lines[: self.written]))


@dataclass
class Writer:
    """The one writer of a file, whose first `size` bytes are whole."""

    file: File
    size: int
    clock: Callable[[], float] = time.time
    owner: int = field(default_factory=os.getpid)
    """The process that opened the file: one that was forked from it must not write too."""
    _tail: UnsyncedTail = field(init=False)
    _late: tuple[float, OSError] | None = None
    """Since when lines are not on disk, and the error that prevented it."""

    def __post_init__(self) -> None:
        self._tail = UnsyncedTail(self.size)

    def __call__(self, line: str, when: When) -> None:
        """Write a line. Raises NotKept if it has to be on disk first, and cannot be."""
        data, tail = f"{line}\n".encode(), self._tail
        self._tail = replace(tail, lines=(*tail.lines, data))
        try:
            self._catch_up(when != "soon" or len(tail.lines) >= SOON)
        except OSError as error:
            if when != "first":
                self._wait(error)
                return
            self._take_back(data)
            why, what = write_error_texts(error)
            then = f"{what[0].upper()}{what[1:]}, then Run (or %toolchat next) goes on"
            raise NotKept(f"{why}; the call did not run. {then}") from error
        except BaseException:
            self._take_back(data)
            raise

    def write_waiting(self, at_rest: bool = True) -> str:
        """Write the lines that the disk refused; return one line about them if that fails.

        At rest, where the next line may be long in coming, the others are synced too.
        """
        if self._late is not None or (at_rest and self._tail.lines):
            try:
                self._catch_up(True)
            except OSError as error:
                self._wait(error)
        if self._late is None:
            return ""
        since, (why, what) = self._late[0], write_error_texts(self._late[1])
        return t(
            "Not on disk since %1: %2. Later calls are in this kernel alone; they are written "
            "once you %3.",
            time.strftime("%H:%M", time.localtime(since)),
            why,
            what,
        )

    def close(self) -> None:
        """Write what the disk accepts, and close the file."""
        with contextlib.suppress(OSError):
            self._catch_up(True)
        with contextlib.suppress(OSError):
            self.file.close()

    def _wait(self, error: OSError) -> None:
        self._late = (self.clock() if self._late is None else self._late[0]), error

    def _catch_up(self, sync: bool) -> None:
        self._mend()
        tail = self._tail
        if missing := b"".join(tail.lines[tail.written :]):
            self._tail = replace(tail, is_partial=True)
            append(self.file, missing)
            self._tail = tail = replace(tail, written=len(tail.lines))
        if sync and tail.lines:
            # After a failed sync the next one may succeed although these lines are lost.
            self._tail = UnsyncedTail(tail.synced, tail.lines, is_partial=True)
            self.file.sync()
            self._tail = UnsyncedTail(tail.size)
        self._late = None

    def _mend(self) -> None:
        if os.getpid() != self.owner:
            raise ChildProcessError(errno.ECHILD, "")
        if self._tail.is_partial:
            self.file.cut(self._tail.size)
            self._tail = replace(self._tail, is_partial=False)

    def _take_back(self, data: bytes) -> None:
        """Remove the last line, from the file too if that is possible."""
        tail = self._tail
        if tail.lines and tail.lines[-1] is data:
            lines = tail.lines[:-1]
            written = min(tail.written, len(lines))
            partial = tail.is_partial or written < tail.written
            self._tail = replace(tail, lines=lines, written=written, is_partial=partial)
        with contextlib.suppress(OSError):
            self._mend()


def append(file: File, data: bytes) -> None:
    """Write all bytes, however few the system accepts at a time."""
    while data:
        written = file.append(data)
        if written <= 0:
            raise OSError(errno.ENOSPC, "nothing more goes in")
        data = data[written:]
