"""A disk in memory that loses its power: what was not synced may be there, or not, or in part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from jupyter_toolcall.storage.file_system import File, Files


@dataclass(frozen=True)
class Change:
    """An act that is not on disk for certain: a name that was made, bytes, a cut."""

    path: Path
    at: int = 0
    """Where the bytes go; with `cut` the size; -1 where a name was made."""
    data: bytes = b""
    cut: bool = False

    @property
    def is_name(self) -> bool:
        return self.at < 0


Contents = dict[Path, bytes]


@dataclass
class Platter(Files):
    """Files in memory. `changes` are what a loss of power may undo."""

    folders: set[Path]
    names: set[Path] = field(default_factory=set)
    """The files and folders whose names are on disk for certain."""
    safe: Contents = field(default_factory=dict)
    """What the files hold for certain, if their names are there."""
    now: Contents = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    locks: set[Path] = field(default_factory=set)

    # -- the acts -----------------------------------------------------------------------

    def read(self, path: Path) -> bytes | None:
        return self.now.get(path)

    def open(self, path: Path) -> PlatterFile:
        if path not in self.now:
            self.now[path] = self.safe[path] = b""
            self.changes.append(Change(path, -1))
        return PlatterFile(self, path)

    def has_folder(self, path: Path) -> bool:
        return path in self.folders

    def make_folder(self, path: Path) -> None:
        self.folders.add(path)
        self.changes.append(Change(path, -1))

    def sync_folder(self, path: Path) -> None:
        named = [c for c in self.changes if c.is_name and c.path.parent == path]
        self.names |= {change.path for change in named}
        self.changes = [change for change in self.changes if change not in named]

    def lock(self, path: Path) -> Callable[[], None] | None:
        if path in self.locks:
            return None
        self.locks.add(path)
        return lambda: self.locks.discard(path)

    def change(self, change: Change) -> None:
        self.now[change.path] = changed(self.now[change.path], change)
        self.changes.append(change)

    def sync(self, path: Path) -> None:
        self.safe[path] = self.now[path]
        self.changes = [c for c in self.changes if c.path != path or c.is_name]

    # -- a loss of power ----------------------------------------------------------------

    def certain(self, path: Path) -> bytes:
        """Return what a file holds whatever happens."""
        there = path in self.safe and _is_there(path, self._new, self.names)
        return self.safe[path] if there else b""

    @property
    def _new(self) -> set[Path]:
        """The files and folders that were not there at first."""
        return self.names | {change.path for change in self.changes if change.is_name}

    def left(self) -> Iterator[Platter]:
        """Yield the disks that may be left: each is another subset of what was not synced."""
        seen, new = set(), self._new
        for kept in subsets(self.changes):
            made = self._with(kept, new)
            key = tuple(sorted(made.now.items())), frozenset(made.folders)
            if key not in seen:
                seen.add(key)
                yield made

    def _with(self, kept: list[Change], new: set[Path]) -> Platter:
        names = self.names | {change.path for change in kept if change.is_name}
        contents = dict(self.safe)
        for change in kept:
            if not change.is_name:
                contents[change.path] = changed(contents[change.path], change)
        there = {path: data for path, data in contents.items() if _is_there(path, new, names)}
        folders = {path for path in self.folders if path not in new or _is_there(path, new, names)}
        return Platter(folders, set(), dict(there), there)


def _is_there(path: Path, new: set[Path], names: set[Path]) -> bool:
    """Return whether a path can be found: its name, and those of all folders above it."""
    return all(p in names for p in (path, *path.parents) if p in new)


@dataclass
class PlatterFile(File):
    """A file that is open for writing at its end."""

    disk: Platter
    path: Path

    def append(self, data: bytes) -> int:
        self.disk.change(Change(self.path, len(self.disk.now[self.path]), data))
        return len(data)

    def sync(self) -> None:
        self.disk.sync(self.path)

    def cut(self, size: int) -> None:
        self.disk.change(Change(self.path, size, cut=True))

    def close(self) -> None:
        """What is in memory stays there."""


def changed(content: bytes, change: Change) -> bytes:
    """Return what a file holds after a change; what lies before it and is missing is zero."""
    if change.cut:
        return content[: change.at].ljust(change.at, b"\0")
    before = content[: change.at].ljust(change.at, b"\0")
    return before + change.data + content[change.at + len(change.data) :]


def subsets(changes: list[Change]) -> Iterator[list[Change]]:
    """Yield what may be left of changes: each beginning, whole or torn, and all without one."""
    for count in range(len(changes) + 1):
        yield changes[:count]
        if count < len(changes) and changes[count].data:
            torn = changes[count]
            for data in (torn.data[: len(torn.data) // 2], b"\0" * len(torn.data)):
                yield [*changes[:count], replace(torn, data=data)]
        if count < len(changes):
            yield changes[:count] + changes[count + 1 :]


def empty(home: Path) -> Platter:
    """Return a disk that has nothing but the user's data directory."""
    return Platter({home, *home.parents})
