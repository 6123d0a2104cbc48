"""A session's journal and its file: read, written by one kernel, set aside where it is damaged.

A kernel that can't write reads: what is on disk is history to it and allows nothing, since
its writer may act on it. Later it may become the writer, and then it writes what it has.

The file of an older version is kept beside as it was; its session goes on in a new file.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from ..core.digests import digest
from ..core.entries import HEADER, VERSION, Entry, Seal
from ..core.errors import ToolcallError, UnreadableJournal
from ..core.events import Replied
from ..core.journal import Journal
from ..core.older_versions import OLDER
from .file_system import DISK, File, Files
from .journal_writer import Writer, append, write_error_texts
from .signatures import key_refusal, signer

NAME = "jupyter-toolcall"
UNNAMED = "cells"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_RESERVED = re.compile(rf"{UNNAMED}|con|prn|aux|nul|(com|lpt)\d")
"""Names of files that are taken: by the unnamed session, and by Windows."""
ELSEWHERE = (
    "Another kernel writes this session, so what happens here is in this kernel alone; "
    "when that one has closed, the next cell here writes it."
)
HELD_ELSEWHERE = "another kernel writes this session. Shut that kernel down and run this cell again"
HISTORY = (
    "An older version of jupyter-toolcall recorded this session: it is shown as history, and you "
    "are asked before a recorded call runs again."
)
REGAINED = "This session is on disk again, with all that happened here."
UNSEALED = (
    "The key that tells this machine's journals can't be read or made, so what happens here "
    "will be history later: shown, and asked about again."
)
CANNOT_VERIFY = "the recorded calls of this session cannot be verified"


def _nothing() -> str:
    return ""


@dataclass(frozen=True, slots=True)
class JournalHandle:
    """A journal, and one line for the person where something about it is to be said."""

    journal: Journal
    note: str = ""
    close: Callable[[], object] = _nothing
    """Lets go of the file, so that another kernel may write it."""
    late: Callable[[], str] = _nothing
    """Tries again what is not on disk; returns one line where it still isn't."""
    again: Callable[[], JournalHandle] | None = None
    """Where this kernel does not write: tries that again, and returns how it stands then."""
    doubt: str = ""
    """Why the recorded calls of this journal cannot be relied on, and what to do about it; ""
    where this kernel writes the journal and has verified all of it."""


@dataclass(frozen=True, slots=True)
class JournalLocation:
    """The file of a journal, and what seals it."""

    path: Path
    seal: Seal | None
    files: Files


def journals_folder() -> Path:
    """Return the folder of all journals of this user."""
    from platformdirs import user_data_path

    chosen = os.environ.get("JUPYTER_TOOLCALL_DATA")
    return Path(chosen) if chosen else user_data_path(NAME, appauthor=False)


def journal_file(notebook: str, session: str) -> Path:
    """Return the file of a session of a notebook; two names never share one."""
    return (
        journals_folder()
        / "sessions"
        / digest("notebook", notebook)
        / f"{file_stem(session)}.jsonl"
    )


def file_stem(session: str) -> str:
    """Return the name of a session's file without its ending; "" is the unnamed session.

    What is not a small ASCII letter, digit, `-` or `_` is percent-encoded, since a file system
    may not tell `A` from `a`.
    """
    if not session:
        return UNNAMED
    stem = "".join(char if char in _PLAIN else _percent(char) for char in session)
    return _percent(stem[0]) + stem[1:] if _RESERVED.fullmatch(stem) else stem


def _percent(char: str) -> str:
    return "".join(f"%{byte:02x}" for byte in char.encode())


def journal_names(notebook: str) -> tuple[str, ...]:
    """Return the names of a notebook's sessions that are on disk; "" is the unnamed one."""
    found = sorted(path.stem for path in journal_file(notebook, "").parent.glob("*.jsonl"))
    # The file of an older version (`a.v1.jsonl`) is no session of its own.
    stems = (stem for stem in found if "." not in stem)
    return tuple("" if stem == UNNAMED else unquote(stem) for stem in stems)


def read_journal(path: Path, files: Files = DISK, seal: Seal | None = None) -> Journal:
    """Return what a file holds as far as it can be read; without a seal nothing of it is own."""
    with contextlib.suppress(OSError, ToolcallError):
        return Journal.salvage(_text(files.read(path)), seal)[0]
    return Journal()


def open_journal(
    path: Path, seal: Seal | None, files: Files = DISK, *, fresh: bool = False
) -> JournalHandle:
    """Return a file's journal; what is added to it goes there.

    Where the file can't be written, or another kernel writes it, the journal is kept in
    memory alone, and the note says so. Raises UnreadableJournal where there is a file that
    cannot be read, but not with `fresh`: then a new session begins in memory.
    """
    return _kept(JournalLocation(path, seal, files), fresh=fresh)


def _kept(
    place: JournalLocation, known: Journal | None = None, said: str = "", *, fresh: bool = False
) -> JournalHandle:
    """Return a journal as its writer, if that can be; `known` is what this kernel has of it."""
    try:
        written = _written(place, known)
        if written is not None:
            return written
        note, doubt = ELSEWHERE, HELD_ELSEWHERE
    except ToolcallError as error:
        note, doubt = f"What happens here is in this kernel alone: {error}.", str(error)
    except OSError as error:
        why, what = write_error_texts(error)
        note = f"This session is not kept on disk: {why}; {what}, and run a cell."
        doubt = f"the journal cannot be written: {why}. {what.capitalize()} and run this cell again"
    journal = _read_only(place, known, fresh)
    again = functools.partial(_kept, place, journal, note)
    return JournalHandle(journal, "" if note == said else note, again=again, doubt=doubt)


def _read_only(place: JournalLocation, known: Journal | None, fresh: bool) -> Journal:
    """Return what this kernel knows of a journal that it does not write, with the file by now.

    Its writer may act on every approval in it, so nothing of it is verified here.
    """
    try:
        found = Journal.salvage(_text(place.files.read(place.path)))[0]
        if known is not None:
            known.join(found)
        return found if known is None else known
    except (OSError, ToolcallError) as error:
        if known is not None:
            return known
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


def _written(place: JournalLocation, known: Journal | None) -> JournalHandle | None:
    """Return the journal with this kernel as its writer; None where another one is it.

    Raises OSError; NewerJournal, and what a fold raises that does not fit what is known.
    """
    _make_folders(place.path.parent, place.files)
    _close_to_others(place.path.parent)
    release = place.files.lock(place.path)
    if release is None:
        return None
    try:
        return _taken(place, known, release)
    except BaseException:
        release()
        raise


def _taken(
    place: JournalLocation, known: Journal | None, release: Callable[[], object]
) -> JournalHandle:
    data = place.files.read(place.path) or b""
    found, whole = _valid(data, place.seal)
    journal, lines = (found, []) if known is None else _joined(known, found, place.seal)
    older = whole > 0 and found.version < VERSION
    if older:
        aside = _keep_older(place, data, found.version)
        writer, lines = _converted(place, journal), []
    else:
        aside = place.path.with_suffix(".torn")
        writer = Writer(_mended(place, data, whole, aside), whole)
    for line in [HEADER] * (whole == 0) + lines:
        writer(line, "soon")
    journal.write_to(writer, place.seal)
    if b"\n" in data[whole:]:
        # Whole lines are lost, not just one that was half written: they may have held a start.
        journal.mark_open_calls("damaged")
    doubt = _unverified(place) if any(map(_asks_unverified, found)) else ""
    notes = {
        f"{HISTORY} The file as it was is kept in {aside}.": older,
        _damage(found, aside): whole < len(data),
        REGAINED: known is not None,
        key_refusal(journals_folder()) or UNSEALED: place.seal is None,
        f"{doubt[:1].upper()}{doubt[1:]}.": bool(doubt) and place.seal is not None,
    }

    def close() -> None:
        writer.close()
        release()

    note = " ".join(note for note, applies in notes.items() if applies)
    return JournalHandle(journal, note, close, writer.late, doubt=doubt)


def _keep_older(place: JournalLocation, data: bytes, version: int) -> Path:
    """Keep the file of an older version as it is, under a name of its own, and return its path."""
    for number in itertools.count(1):
        again = f"-{number}" if number > 1 else ""
        path = place.path.with_suffix(f".v{version}{again}.jsonl")
        known = place.files.read(path)
        if known is None:
            _put_whole(place, path, data)
        if known in (None, data):
            break
    return path


def _converted(place: JournalLocation, journal: Journal) -> Writer:
    """Put a journal of today's version in the place of the older file; return its writer."""
    data = journal.dumps(place.seal).encode()
    _put_whole(place, place.path, data)
    return Writer(place.files.open(place.path), len(data))


def _put_whole(place: JournalLocation, path: Path, data: bytes) -> None:
    """Write a file that is there whole or not at all; the one that has its name is replaced."""
    new = path.with_name(f".{path.name}.new")
    file = place.files.open(new)
    try:
        # A kernel that was killed here before may have left a part of it.
        file.cut(0)
        append(file, data)
        file.sync()
    except OSError:
        with contextlib.suppress(OSError):
            file.cut(0)
        raise
    finally:
        file.close()
    place.files.rename(new, path)
    place.files.sync_folder(path.parent)


def _asks_unverified(entry: Entry) -> bool:
    """Return whether a reply asks for calls, and nothing says who recorded it."""
    by_older = entry.meta.get("may_have_run") == OLDER
    calls = isinstance(entry.event, Replied) and bool(entry.event.calls)
    return calls and not (entry.verified or by_older)


def _unverified(place: JournalLocation) -> str:
    """Return why entries of a journal are not verified, and what to do about it."""
    if place.seal is None:
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


def _mended(place: JournalLocation, data: bytes, whole: int, aside: Path) -> File:
    """Return the file, open behind what is whole in it; the rest is set aside before."""
    if whole < len(data):
        _set_aside(place, aside, data[whole:])
    file = place.files.open(place.path)
    try:
        place.files.sync_folder(place.path.parent)
        if whole < len(data):
            file.cut(whole)
        # A kernel that was killed may have left lines that were to be synced later.
        file.sync()
    except BaseException:
        file.close()
        raise
    return file


def _valid(data: bytes, seal: Seal | None) -> tuple[Journal, int]:
    """Return the journal that the longest valid prefix of a file is, and how long that is."""
    text = _text(data)
    found, rest = Journal.salvage(text, seal)
    return found, len(text[: len(text) - len(rest)].encode())


def _joined(known: Journal, found: Journal, seal: Seal | None) -> tuple[Journal, list[str]]:
    """Return what is known with what was found, and the lines that the file lacks."""
    known.join(found)
    return known, list(known.lines(seal, found))


def _damage(found: Journal, aside: Path) -> str:
    whole = f"its first {len(found)} entries are whole, and what was behind them"
    kept = whole if len(found) else "nothing of it can be read, so it begins anew; what was there"
    return f"The journal was damaged: {kept} is set aside in {aside}."


def _make_folders(path: Path, files: Files) -> None:
    if not files.has_folder(path):
        _make_folders(path.parent, files)
        files.make_folder(path)
        files.sync_folder(path.parent)


def _close_to_others(folder: Path) -> None:
    """Take a folder of sessions from other users: an earlier version let them enter it."""
    if os.name != "nt" and folder.parent == journals_folder() / "sessions":
        for each in (folder, folder.parent):
            with contextlib.suppress(OSError):
                if each.stat().st_mode & 0o077:
                    each.chmod(0o700)


def _set_aside(place: JournalLocation, aside: Path, rest: bytes) -> None:
    """Keep what is damaged: on disk before it is cut off, and behind what was kept before."""
    file = place.files.open(aside)
    try:
        append(file, rest.rstrip(b"\n") + b"\n")
        file.sync()
        place.files.sync_folder(aside.parent)
    finally:
        file.close()


def _text(data: bytes | None) -> str:
    """Return what a file holds up to where it is no text."""
    data = data or b""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start].decode()
