"""A session's journal and its file, which one kernel writes; a damaged part is set aside.

A kernel that cannot write the file only reads it. There no approval of the file starts a call,
since the kernel that writes may act on it. The reader may become the writer later, and then writes
its own entries.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import warnings
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from ..core.digests import digest
from ..core.errors import ToolcallError, UnreadableJournal, UsageError
from ..core.events import Replied
from ..core.journal import Journal
from ..core.journal_entries import HEADER, VERSION, Entry, Seal, line
from ..core.recorded_calls import CallIndex
from .file_system import DISK, File, Files, Writer, append, write_error_texts
from .signatures import key_refusal, signer

NAME = "jupyter-toolcall"
UNNAMED = "cells"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_RESERVED = re.compile(rf"{UNNAMED}|con|prn|aux|nul|(com|lpt)\d")
"""Names of files that the unnamed session and Windows use."""
ELSEWHERE = (
    "Another kernel writes this session, so what happens here is in this kernel alone; "
    "when that one has closed, the next cell here writes it."
)
HELD_ELSEWHERE = "another kernel writes this session. Shut that kernel down and run this cell again"
REGAINED = "This session is on disk again, with all that happened here."
UNSEALED = (
    "The key that tells this machine's journals can't be read or made, so what happens here "
    "will be history later: shown, and asked about again."
)
CANNOT_VERIFY = "the recorded calls of this session cannot be verified"


@dataclass(frozen=True, slots=True)
class JournalHandle:
    """A journal, and what a person has to know about its file."""

    journal: Journal
    note: str = ""
    """One line for the person, "" if there is nothing to say."""
    close: Callable[[], object] = str
    """Closes the file, so that another kernel may write it."""
    write_waiting: Callable[[bool], str] = lambda at_rest: ""
    """Writes the lines that the disk refused, and syncs all at rest; returns one line about them if
    that fails."""
    retry: Callable[[], JournalHandle] | None = None
    """Tries again to write the file, and returns the new handle; None if this kernel writes it."""
    doubt: str = ""
    """Why the recorded calls cannot be relied on, and what to do about it; "" if this kernel writes
    the journal and has verified all of it."""


@dataclass(frozen=True, slots=True)
class JournalLocation:
    """The file of a journal, and the seal of its entries."""

    path: Path
    seal: Seal | None
    files: Files
    header: str = HEADER
    """The first line of a new file."""
    keeps_approvals: bool = False
    """Whether an approval in the file starts its call: one kernel uses it in several processes."""


def journals_folder() -> Path:
    """Return the folder of all journals of this user."""
    from platformdirs import user_data_path

    chosen = os.environ.get("JUPYTER_TOOLCALL_DATA")
    return Path(chosen) if chosen else user_data_path(NAME, appauthor=False)


def journal_file(notebook: str, session: str) -> Path:
    """Return the file of a session of a notebook; two names never share one."""
    folder = journals_folder() / "sessions" / digest("notebook", notebook)
    return folder / f"{file_stem(session)}.jsonl"


def file_stem(session: str) -> str:
    """Return the name of a session's file without its ending; "" is the unnamed session.

    Any character but a small ASCII letter, a digit, `-` and `_` is percent-encoded, since a file
    system may not distinguish `A` from `a`.
    """
    if not session:
        return UNNAMED
    stem = "".join(char if char in _PLAIN else _percent(char) for char in session)
    return _percent(stem[0]) + stem[1:] if _RESERVED.fullmatch(stem) else stem


def _percent(char: str) -> str:
    return "".join(f"%{byte:02x}" for byte in char.encode())


def journal_names(notebook: str) -> tuple[str, ...]:
    """Return the names of a notebook's sessions that are on disk; "" is the unnamed one."""
    stems = sorted(path.stem for path in journal_file(notebook, "").parent.glob("*.jsonl"))
    return tuple("" if stem == UNNAMED else unquote(stem) for stem in stems if "." not in stem)


def archive_journal(path: Path, files: Files = DISK) -> Path | None:
    """Rename a journal, so that its session starts over, and return its new path.

    None where another kernel writes it. Raises OSError where it cannot be renamed.
    """
    release = files.lock(path)
    if release is None:
        return None
    try:
        numbered = (path.with_suffix(f".{number}.old") for number in itertools.count(1))
        archived = next(old for old in numbered if not old.exists())
        path.replace(archived)
        files.sync_folder(path.parent)
        return archived
    finally:
        release()


def read_journal(path: Path, files: Files = DISK, seal: Seal | None = None) -> Journal:
    """Return the journal in a file as far as it can be read; without a seal nothing is verified."""
    with contextlib.suppress(OSError, ToolcallError):
        return Journal.salvage(_text(files.read(path)), seal)[0]
    return Journal()


def open_journal(
    path: Path,
    seal: Seal | None,
    files: Files = DISK,
    *,
    fresh: bool = False,
    keeps_approvals: bool = False,
) -> JournalHandle:
    """Return the journal of a file; entries that are added to it are written to the file.

    If the file cannot be written, or another kernel writes it, the journal is kept in memory
    alone, and the note says so. Raises UnreadableJournal for a file that cannot be read, but not
    with `fresh`: then a new session begins in memory. With `keeps_approvals`, an approval in the
    file starts its call here; else it asks again.
    """
    location = JournalLocation(path, seal, files, keeps_approvals=keeps_approvals)
    return _handle(location, fresh=fresh)


_written: weakref.WeakValueDictionary[Path, Journal] = weakref.WeakValueDictionary()
"""The journals that this process writes into files of the user's choice."""


def written_journal(path: Path) -> Journal:
    """Return the journal that this process writes into a file of the user's choice.

    The file is closed when no session of the journal is left in this process. Raises UsageError
    where the file cannot be written or another process writes it, and as `open_journal`.
    """
    path = path.resolve()
    journal = _written.get(path)
    if journal is None:
        location = JournalLocation(path, signer(journals_folder()), DISK, _header(path))
        handle = _handle(location)
        if handle.retry is not None:
            held = handle.doubt == HELD_ELSEWHERE
            raise UsageError(f"{path}: {'another process writes it' if held else handle.doubt}")
        if handle.note:
            warnings.warn(f"{path}: {handle.note}", stacklevel=2)
        _written[path] = journal = handle.journal
        weakref.finalize(journal, handle.close)
    return journal


def holds_journal(path: Path) -> bool:
    """Return whether a file is empty, or begins as the journals of some version do."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(len(_BEGIN)) in (b"", _BEGIN)
    return False


_BEGIN = b'{"journal":'


def is_written(path: Path) -> bool:
    """Return whether `written_journal` created a file at this path.

    It did not create a copied or moved file: two processes could continue the same session.
    """
    # Reading from a pipe or a terminal would wait.
    if not path.is_file():
        return False
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.readline().rstrip(b"\r\n") == _header(path.resolve()).encode()
    return False


def _header(path: Path) -> str:
    return line({"journal": VERSION, "file": digest("file", str(path))})


def _handle(
    location: JournalLocation,
    existing: Journal | None = None,
    last_note: str = "",
    *,
    fresh: bool = False,
) -> JournalHandle:
    """Return a journal, written if possible; `existing` is this kernel's journal of the session."""
    try:
        if (handle := _handle_of_writer(location, existing)) is not None:
            return handle
        note, doubt = ELSEWHERE, HELD_ELSEWHERE
    except ToolcallError as error:
        note, doubt = f"What happens here is in this kernel alone: {error}.", str(error)
    except OSError as error:
        why, what = write_error_texts(error)
        note = f"This session is not kept on disk: {why}; {what}, and run a cell."
        doubt = f"the journal cannot be written: {why}. {what.capitalize()} and run this cell again"
    journal = _read_only(location, existing, fresh)
    retry = functools.partial(_handle, location, journal, note)
    return JournalHandle(journal, "" if note == last_note else note, retry=retry, doubt=doubt)


def _read_only(location: JournalLocation, existing: Journal | None, fresh: bool) -> Journal:
    """Return a journal that this kernel does not write: its own entries, and those of the file.

    The writer may act on every approval in the file, so none of its entries is verified here.
    """
    try:
        on_disk = Journal.salvage(_text(location.files.read(location.path)))[0]
        if existing is not None:
            existing.join(on_disk)
        return on_disk if existing is None else existing
    except (OSError, ToolcallError) as error:
        if existing is not None:
            return existing
        if fresh:
            return Journal()
        raise UnreadableJournal(_unreadable(error)) from error


def _unreadable(error: OSError | ToolcallError) -> str:
    reason, remedy = str(error), "mend that"
    if isinstance(error, OSError):
        reason, remedy = write_error_texts(error, reading=True)
    return (
        f"the journal of this session cannot be read, so a call that ran before could run twice: "
        f"{reason}. {remedy.capitalize()} and run this cell again; --fresh begins a new session"
    )


def _handle_of_writer(location: JournalLocation, existing: Journal | None) -> JournalHandle | None:
    """Return the journal with this kernel as its writer; None if another kernel writes it.

    Raises OSError, UnknownFormat, and what joining the file with `existing` raises.
    """
    _make_folders(location.path.parent, location.files)
    _close_to_others(location.path.parent)
    release = location.files.lock(location.path)
    if release is None:
        return None
    with contextlib.ExitStack() as held:
        held.callback(release)
        return _locked_handle(location, existing, held)


def _locked_handle(
    location: JournalLocation, existing: Journal | None, held: contextlib.ExitStack
) -> JournalHandle:
    """Return the journal of a file whose lock is held, and take over what is `held`."""
    data, seal = location.files.read(location.path) or b"", location.seal
    on_disk, valid = _valid_prefix(data, seal)
    journal, lines = on_disk, list[str]()
    if existing is None:
        # An approval starts a call in the kernel that recorded it, and in no other.
        unused = () if location.keeps_approvals else CallIndex.of(on_disk).unused_decisions()
        on_disk.mark(unused, "restarted")
    else:
        existing.join(on_disk)
        journal, lines = existing, list(existing.lines(seal, on_disk))
    torn_path = location.path.with_suffix(".torn")
    writer = Writer(_mended(location, data, valid, torn_path), valid)
    held.callback(writer.close)
    for text in [location.header] * (valid == 0) + lines:
        writer(text, "soon")
    journal.write_to(writer, seal)
    if b"\n" in data[valid:]:
        # Whole lines are lost, not just a partly written one: a call may have started in them.
        journal.mark_open_calls("damaged")
    doubt = _unverified(seal) if any(map(_asks_unverified, on_disk)) else ""
    notes = {
        _damage(on_disk, torn_path): valid < len(data),
        REGAINED: existing is not None,
        key_refusal(journals_folder()) or UNSEALED: seal is None,
        f"{doubt[:1].upper()}{doubt[1:]}.": bool(doubt) and seal is not None,
    }

    note = " ".join(note for note, applies in notes.items() if applies)
    close = held.pop_all().close
    return JournalHandle(journal, note, close, writer.write_waiting, doubt=doubt)


def _asks_unverified(entry: Entry) -> bool:
    """Return whether a reply asks for calls, and it is not known who recorded it."""
    calls = isinstance(entry.event, Replied) and bool(entry.event.calls)
    return calls and not entry.verified


def _unverified(seal: Seal | None) -> str:
    """Return why entries of a journal are not verified, and what to do about it."""
    if seal is None:
        return _without_key()
    return (
        f"{CANNOT_VERIFY}: they were written with another key than this computer's. Put the old "
        f"key back ({journals_folder() / 'key'}) and restart the kernel"
    )


def key_problem() -> str:
    """Return why nothing can be verified now, and what to do about it; "" where all can."""
    return "" if signer(journals_folder()) is not None else _without_key()


def _without_key() -> str:
    why = key_refusal(journals_folder()).rstrip(".") or "the key of this computer cannot be read"
    return f"{CANNOT_VERIFY}: {why}. Mend that and restart the kernel"


def _mended(location: JournalLocation, data: bytes, valid: int, torn_path: Path) -> File:
    """Return the file, open after its valid part; the damaged part is set aside first."""
    if valid < len(data):
        _set_aside(location, torn_path, data[valid:])
    file = location.files.open(location.path)
    try:
        location.files.sync_folder(location.path.parent)
        if valid < len(data):
            file.cut(valid)
        # A kernel that was killed may have left lines that were to be synced later.
        file.sync()
    except BaseException:
        file.close()
        raise
    return file


def _valid_prefix(data: bytes, seal: Seal | None) -> tuple[Journal, int]:
    """Return the journal in the longest valid prefix of a file, and the length of that in bytes."""
    text = _text(data)
    journal, damaged = Journal.salvage(text, seal)
    return journal, len(text[: len(text) - len(damaged)].encode())


def _damage(journal: Journal, torn_path: Path) -> str:
    kept = "nothing of it can be read, so the session starts over; what was there"
    if len(journal):
        kept = f"its first {len(journal)} entries are whole, and what was behind them"
    return f"The journal was damaged: {kept} is set aside in {torn_path}."


def _make_folders(path: Path, files: Files) -> None:
    if not files.has_folder(path):
        _make_folders(path.parent, files)
        files.make_folder(path)
        files.sync_folder(path.parent)


def _close_to_others(folder: Path) -> None:
    """Close a folder of sessions to other users: an earlier version let them enter it."""
    if os.name != "nt" and folder.parent == journals_folder() / "sessions":
        for path in (folder, folder.parent):
            with contextlib.suppress(OSError):
                if path.stat().st_mode & 0o077:
                    path.chmod(0o700)


def _set_aside(location: JournalLocation, torn_path: Path, damaged: bytes) -> None:
    """Append the damaged part to a file of its own, on disk before it is cut off."""
    file = location.files.open(torn_path)
    try:
        append(file, damaged.rstrip(b"\n") + b"\n")
        file.sync()
        location.files.sync_folder(torn_path.parent)
    finally:
        file.close()


def _text(data: bytes | None) -> str:
    """Return the text of a file, up to the first byte that is no text."""
    data = data or b""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start].decode()
