"""The few acts on files that a journal needs, and nothing else: what a test puts faults into.

A file that was made is there after a loss of power once its folder was synced, and its bytes
once it was synced itself. Each act raises OSError.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP})
"""What a file system says that has no locks."""


class File(Protocol):
    """A file that is open for writing at its end."""

    def append(self, data: bytes) -> int:
        """Write at the end, and return how many of the bytes went in."""

    def sync(self) -> None:
        """Return when all that was written is on disk."""

    def cut(self, size: int) -> None:
        """Make the file that long."""

    def close(self) -> None:
        """Let go of the file."""


class Files(Protocol):
    """The files of a machine."""

    def read(self, path: Path) -> bytes | None:
        """Return what a file holds; None where there is none."""

    def open(self, path: Path) -> File:
        """Open a file for writing at its end; it is made where there is none."""

    def has_folder(self, path: Path) -> bool:
        """Return whether there is such a folder."""

    def make_folder(self, path: Path) -> None:
        """Make a folder in a folder that there is; its user alone can enter it."""

    def sync_folder(self, path: Path) -> None:
        """Return when the names in a folder are on disk."""

    def rename(self, path: Path, to: Path) -> None:
        """Give a file another name in its folder, in place of the file that has that name."""

    def lock(self, path: Path) -> Callable[[], None] | None:
        """Return what lets go of the lock of a file; None where another process holds it."""


class LocalFile:
    """A file of this machine, which its user alone can read."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        if os.name != "nt" and os.fstat(self._fd).st_mode & 0o077:
            # It holds prompts and results, and an earlier version let others read them.
            with contextlib.suppress(OSError):
                os.fchmod(self._fd, 0o600)

    def append(self, data: bytes) -> int:
        return os.write(self._fd, data)

    def sync(self) -> None:
        os.fsync(self._fd)

    def cut(self, size: int) -> None:
        os.ftruncate(self._fd, size)

    def close(self) -> None:
        os.close(self._fd)


class LocalFiles:
    """This machine's files."""

    def read(self, path: Path) -> bytes | None:
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None

    def open(self, path: Path) -> File:
        return LocalFile(path)

    def has_folder(self, path: Path) -> bool:
        return path.is_dir()

    def make_folder(self, path: Path) -> None:
        path.mkdir(mode=0o700, exist_ok=True)

    def sync_folder(self, path: Path) -> None:
        if os.name == "nt":
            return
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def rename(self, path: Path, to: Path) -> None:
        os.replace(path, to)

    def lock(self, path: Path) -> Callable[[], None] | None:
        """The system's lock ends with its process; without one a file names who holds it."""
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


DISK = LocalFiles()


def replace_file(path: Path, text: str) -> None:
    """Put a text in the place of a file: the old one is there until the new one is whole.

    Its user alone can read the new one: it holds prompts and results.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        # A pipe or a terminal has no place to take.
        path.write_text(text, encoding="utf-8", newline="\n")
        return
    new = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        made = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(made, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
