"""Disks on which each act can be watched: it is where a kernel dies, or where the disk fails."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from jupyter_toolcall.storage.file_system import DISK, File, Files


class Act(Protocol):
    """Does an act of a disk, or a part of it (`half`), or raises, or never returns."""

    def __call__(
        self, name: str, do: Callable[[], Any], half: Callable[[], Any] | None = None
    ) -> Any: ...


@dataclass
class Watched(Files):
    """The files of a disk, each act on which goes through `act`."""

    files: Files
    act: Act

    def read(self, path: Path) -> bytes | None:
        found: bytes | None = self.act("read", lambda: self.files.read(path))
        return found

    def open(self, path: Path) -> File:
        return WatchedFile(self.act("open", lambda: self.files.open(path)), self.act)

    def has_folder(self, path: Path) -> bool:
        return self.files.has_folder(path)

    def make_folder(self, path: Path) -> None:
        self.act("make folder", lambda: self.files.make_folder(path))

    def sync_folder(self, path: Path) -> None:
        self.act("sync folder", lambda: self.files.sync_folder(path))

    def lock(self, path: Path) -> Callable[[], None] | None:
        release: Callable[[], None] | None = self.act("lock", lambda: self.files.lock(path))
        return release


@dataclass
class WatchedFile(File):
    """A file of such a disk."""

    file: File
    act: Act

    def append(self, data: bytes) -> int:
        half = data[: len(data) // 2]
        went: int = self.act(
            "append", lambda: self.file.append(data), lambda: self.file.append(half)
        )
        return went

    def sync(self) -> None:
        self.act("sync", self.file.sync)

    def cut(self, size: int) -> None:
        self.act("cut", lambda: self.file.cut(size))

    def close(self) -> None:
        self.file.close()


class Faulty(Watched):
    """The files of this computer, on a disk that becomes full, broken or read-only."""

    def __init__(self, fault: int = 0, *acts: str) -> None:
        super().__init__(DISK, self.do)
        self.raises(fault, *acts)
        self.fills = False
        """Whether half of what is appended next fits, and nothing after it."""

    def raises(self, fault: int, *acts: str) -> None:
        """Let these acts alone raise an error from now on."""
        self.fault = dict.fromkeys(acts, OSError(fault, os.strerror(fault)))

    def do(self, name: str, do: Callable[[], Any], half: Callable[[], Any] | None = None) -> Any:
        if name in self.fault:
            raise self.fault[name]
        if self.fills and half:
            self.raises(errno.ENOSPC, name)
            return half()
        return do()
