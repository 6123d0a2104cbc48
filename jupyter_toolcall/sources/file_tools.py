"""The tools of the toolset `files`: text files in one folder, and never outside it.

The text of a path is checked first, with the same rules on all systems. Then its folders are opened
one in the other without following links, so that a folder that is replaced meanwhile leads nowhere.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from ..core.errors import CallError
from ..core.interface_text import t
from ..core.recorded_data import JsonDict
from ..core.text import nearest, visible_text

LARGEST_FILE, LONGEST_TEXT, MOST_FILES = 10_000_000, 50_000, 500
"""Bytes of a file that is read or replaced, characters of one result, and files that are listed."""
LONGEST_WRITTEN, DEEPEST, LONGEST_NAME = 500_000, 16, 200
_DEVICES = re.compile(
    r"(?i)(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])[ .]*(\..*)?"
)
_FORBIDDEN = re.compile(r'[<>:"|?*\\]')
_SAFE_OPEN = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
"""Whether a folder's entry can be opened without following a link."""
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Folder:
    """A folder whose text files a model may list, read and write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        """The folder as it was named."""

    def list_files(self, folder: str = "") -> JsonDict:
        """List the files and folders in a folder. Hidden files and links are left out.

        Args:
            folder: A folder such as `reports/2024`; the topmost one if left out.
        """
        with self._opened(_parts(folder) if folder not in ("", ".") else ()) as handle:
            entries = sorted(self._entries(handle))
        listed: list[Any] = [
            {"folder": name} if size is None else {"file": name, "bytes": size}
            for name, size in entries[:MOST_FILES]
        ]
        left_out = len(entries) - len(listed)
        return {"entries": listed, **({"left_out": left_out} if left_out else {})}

    def read(
        self,
        path: str,
        first_line: Annotated[int, Field(ge=1)] = 1,
        lines: Annotated[int, Field(ge=1, le=2_000)] = 500,
    ) -> JsonDict:
        """Read lines of a text file.

        Args:
            path: The file, such as `notes.txt` or `reports/2024.csv`.
            first_line: The number of the first line.
            lines: How many lines at most.
        """
        *folders, name = _parts(path)
        with self._opened(folders) as handle:
            data = self._content(handle, self._exact(handle, name))
        if b"\0" in data:
            raise CallError(f"{path} is no text file")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise CallError(f"{path} is no text file in UTF-8") from None
        all_lines = text.splitlines(keepends=True)
        chosen = "".join(all_lines[first_line - 1 : first_line - 1 + lines])
        is_cut = len(chosen) > LONGEST_TEXT
        cut = {"cut": f"the first {LONGEST_TEXT:,} characters"} if is_cut else {}
        return {"text": chosen[:LONGEST_TEXT], "lines_in_file": len(all_lines), **cut}

    def write(self, path: str, text: Annotated[str, Field(max_length=LONGEST_WRITTEN)]) -> JsonDict:
        """Write a text file; the result says whether it replaced one. Folders are not created.

        Args:
            path: The file, such as `notes.txt`.
            text: All of its content.
        """
        *folders, name = _parts(path)
        data = text.encode("utf-8")
        with self._opened(folders) as handle:
            before = self._size_before(handle, name)
            self._replace(handle, name, data)
        replaced = "nothing: the file is new" if before is None else f"{before:,} bytes"
        return {"written": f"{len(data):,} bytes", "replaced": replaced}

    def effect_of_writing(self, values: Mapping[str, Any], model: str) -> str:
        """Return what writing replaces, for the person who decides."""
        try:
            *folders, name = _parts(values["path"])
            with self._opened(folders) as handle:
                before = self._size_before(handle, name)
        except CallError:
            return ""
        path = visible_text(values["path"], 80)
        return (
            t("Creates %1.", path) if before is None else t("Replaces %1 (%2 bytes).", path, before)
        )

    # -- entries of an open folder --------------------------------------------------------------

    @contextmanager
    def _opened(self, folders: Any) -> Iterator[Any]:
        """Open a folder in this one without following links; yield its descriptor.

        Systems that cannot open an entry of an open folder get its path.
        """
        if not _SAFE_OPEN:
            yield self._checked_path(folders)
            return
        try:
            handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        except OSError as error:
            raise CallError(f"the folder cannot be opened: {error.strerror}") from None
        try:
            for name in folders:
                inner = _open_entry(handle, self._exact(handle, name), _FOLDER)
                os.close(handle)
                handle = inner
            yield handle
        finally:
            os.close(handle)

    def _checked_path(self, folders: Any) -> Path:
        """Return the path of a folder, for systems that cannot open an entry of an open folder."""
        path = self.path
        for name in folders:
            path = path / self._exact(path, name)
            if path.is_symlink() or not path.is_dir():
                raise CallError(f"{name} is no folder")
        return path

    def _entries(self, handle: Any) -> Iterator[tuple[str, int | None]]:
        """Yield the names of folders and regular files, with the sizes of the files."""
        with os.scandir(handle) as entries:
            for entry in entries:
                if entry.name.startswith(".") or not entry.name.isprintable():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    yield entry.name, None
                elif entry.is_file(follow_symlinks=False):
                    yield entry.name, entry.stat(follow_symlinks=False).st_size

    def _exact(self, handle: object, name: str) -> str:
        """Return the name of an entry that exists. Raises CallError, with the nearest, for others.

        A name in another case names the same file on some systems, and another one on others.
        """
        names = [entry for entry, _ in self._entries(handle)]
        if name in names:
            return name
        same = [entry for entry in names if _folded(entry) == _folded(name)]
        hint = f" Did you mean {same[0]}?" if same else nearest(name, names)
        raise CallError(f"there is no {visible_text(name, 80)} (links are not followed).{hint}")

    def _content(self, handle: object, name: str) -> bytes:
        descriptor = _open_entry(handle, name, os.O_RDONLY | _FILE)
        with os.fdopen(descriptor, "rb") as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode):
                raise CallError(f"{name} is no file")
            if info.st_size > LARGEST_FILE:
                raise CallError(f"{name} is larger than {LARGEST_FILE:,} bytes")
            return file.read(LARGEST_FILE)

    def _size_before(self, handle: Any, name: str) -> int | None:
        """Return the size of the file that would be replaced; None for a new one.

        Raises CallError where something else has the name, or one that differs in case only.
        """
        names = os.listdir(handle)
        same = [entry for entry in names if entry != name and _folded(entry) == _folded(name)]
        if same:
            raise CallError(f"{name} differs from {same[0]} in case only; use that name")
        if name not in names:
            return None
        sizes = dict(self._entries(handle))
        if sizes.get(name) is None:
            raise CallError(f"{name} is no file that can be replaced")
        return sizes[name]

    def _replace(self, handle: object, name: str, data: bytes) -> None:
        """Write a new file and rename it: the file is complete, and no link is written through."""
        part_name = f".{secrets.token_hex(8)}.part"
        part, at = _entry(handle, part_name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE
        try:
            with os.fdopen(_open_entry(handle, part_name, flags), "wb") as file:
                file.write(data)
            both = {f"{side}_{key}": value for side in ("src", "dst") for key, value in at.items()}
            _system(name, os.replace, part, _entry(handle, name)[0], **both)
        except BaseException:
            with suppress(OSError):
                os.unlink(part, **at)
            raise


def _entry(handle: Any, name: str) -> tuple[Any, dict[str, int]]:
    """Return what names an entry of a folder for `os`, by the folder's descriptor or its path."""
    return (name, {"dir_fd": handle}) if isinstance(handle, int) else (handle / name, {})


def _open_entry(handle: object, name: str, flags: int) -> int:
    path, at = _entry(handle, name)
    descriptor: int = _system(name, os.open, path, flags, 0o666, **at)
    return descriptor


def _system(name: str, function: Any, *arguments: Any, **named: Any) -> Any:
    """Call a function of `os`. Raises CallError, which has no path of this machine."""
    try:
        return function(*arguments, **named)
    except OSError as error:
        link = error.errno in (errno.ELOOP, errno.EMLINK)
        reason = "it is a link" if link else error.strerror or "it cannot be opened"
        raise CallError(f"{visible_text(name, 80)}: {reason}") from None


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _parts(path: str) -> list[str]:
    """Return the parts of a path in the folder. Raises CallError for one that may lead outside."""
    shown = visible_text(path, 80)
    if not path or not path.isprintable():
        raise CallError(f"{shown!r} is no path; write one such as notes.txt or reports/2024.csv")
    if path.startswith("/") or _FORBIDDEN.search(path):
        raise CallError(f"{shown} is no path in the folder; write one such as reports/2024.csv")
    parts = path.split("/")
    for part in parts:
        if part in ("", ".", "..") or part != part.strip() or part.endswith("."):
            raise CallError(f"{shown} is no path in the folder; write one such as reports/2024.csv")
        if part.startswith((".", "~")):
            raise CallError(f"{shown}: hidden files are not read or written")
        if _DEVICES.fullmatch(part):
            raise CallError(f"{shown} is the name of a device")
        if len(part.encode()) > LONGEST_NAME:
            raise CallError(f"{shown}: a name is longer than {LONGEST_NAME} bytes")
    if len(parts) > DEEPEST:
        raise CallError(f"{shown} is deeper than {DEEPEST} folders")
    return parts
