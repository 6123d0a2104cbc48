"""Verification of files: a notebook runs again offline, and the result is compared.

The replies are those that the notebook records; tools run for real. A journal holds no code, so
only its entries are checked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..core.errors import BrokenJournal, ToolcallError, Unfinished, checked_path
from ..core.events import Replied, from_json
from ..core.journal import Journal
from ..core.recorded_data import JsonObject
from ..core.state_fold import state_at
from ..core.text import count_text, visible_text
from ..engine.replay_queue import call_id_of
from ..engine.verification import first_difference, recorded_results_text
from ..models.named import IN_PLACE
from ..storage.journal_file import journal_file, journal_names, journals_folder
from ..storage.notebook_files import (
    NotebookSession,
    NotExecuted,
    damage_refused,
    execute,
    saved_sessions,
)
from ..storage.signatures import signer
from .recorded_decisions import ALL, WORDS, server_results, verified_decisions, without_cut_off

COMPUTED = ("bound", "digest", "instances")
"""Fields that depend on how a tool's code is compiled, and not on its results."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of `verify`: true if the file gives the same result as it records."""

    said: str
    """What was compared, as a sentence."""
    divergence: str = ""
    """The first difference, "" for none."""

    def __bool__(self) -> bool:
        return not self.divergence

    def __str__(self) -> str:
        return self.divergence or self.said


def verify(path: str | Path, allow: bool = False) -> Verified:
    """Run a notebook again, offline, and compare it with what it records.

    The tools run for real, with your rights; the replies are the recorded ones. Of a journal
    only the entries are checked, since it holds no code.

    Args:
        path: A notebook with saved sessions, or a journal (`.jsonl`).
        allow: Whether decisions count that were made by hand on another computer; those of this
            one count in any case.

    Returns:
        A result that is true if nothing differs; as text it is the first difference. A file that
        cannot be read, or whose cells fail, differs too.

    Example:
        >>> str(verify("missing.ipynb"))
        'No such file or directory'
    """
    path = checked_path(path)
    try:
        with damage_refused():
            return _journal(path) if path.suffix == ".jsonl" else _notebook(path, allow)
    except ToolcallError as error:
        return Verified("", str(error).removeprefix(f"{path}: "))
    except OSError as error:
        return Verified("", error.strerror or str(error))


def executes(path: Path) -> bool:
    """Return whether `verify` executes a file: a notebook that can be read, with a session."""
    try:
        return path.suffix != ".jsonl" and bool(saved_sessions(path))
    except (ToolcallError, OSError):
        return False


# -- journals -------------------------------------------------------------------------------


def _journal(path: Path) -> Verified:
    journal = Journal.loads(path.read_text(encoding="utf-8"))
    try:
        states = [state_at(journal, head) for head in journal.leaves()]
    except BrokenJournal:
        raise
    except ToolcallError as error:
        raise BrokenJournal(f"its entries do not follow one another: {error}") from None
    if not states:
        # Such a file had one: everything that it recorded is lost.
        raise BrokenJournal("it holds no session")
    calls = len({call for state in states for call in state.order})
    entries = "1 entry" if len(journal) == 1 else f"{len(journal):,} entries"
    content = f"{entries}, {count_text(calls, 'call')}"
    return Verified(f"{content} follow one another; a journal holds no tools, so none ran")


# -- notebooks ------------------------------------------------------------------------------


def _notebook(path: Path, allow: bool) -> Verified:
    before = saved_sessions(path)
    if not before:
        return Verified("it holds no session")
    verified, others = verified_decisions(path, own_entries(path))
    difference = {IN_PLACE: str(path.resolve()), WORDS: ALL if allow else verified}
    hint = "" if allow or not others else _HINT.format(count_text(others, "decision"))
    try:
        after = execute(path, difference, offline=True).sessions
    except NotExecuted as error:
        raise Unfinished(f"{error.reason}{hint}") from None
    except ToolcallError as error:
        raise type(error)(f"{error}{hint}") from None
    divergence = next(_divergences(before, after), "")
    if divergence:
        return Verified("", f"{divergence}{hint}")
    calls = sum(len(session.data["rows"].get("calls", ())) for session in before)
    counts = f"{count_text(len(before), 'session')}, {count_text(calls, 'call')}"
    return Verified(counts + recorded_results_text(server_results(path)))


_HINT = (
    " ({} by hand came from another machine, another notebook or an older version; --allow takes "
    "them)"
)


def own_entries(path: Path) -> frozenset[str]:
    """Return the entries of a notebook's sessions that this computer wrote."""
    notebook, seal = os.path.abspath(path), signer(journals_folder())
    verified: set[str] = set()
    for session in journal_names(notebook):
        try:
            text = journal_file(notebook, session).read_text(encoding="utf-8")
            journal, _ = Journal.salvage(text, seal)
        except (OSError, UnicodeDecodeError, ToolcallError):
            continue
        verified |= {entry.id for entry in journal if entry.verified}
    return frozenset(verified)


def _divergences(
    before: Sequence[NotebookSession], after: Sequence[NotebookSession]
) -> Iterator[str]:
    for old, new in zip_longest(before, after):
        if old is None:
            yield f"{new.where}: a session came out that is not recorded"
        elif new is None:
            yield f"{old.where}: its session did not come out"
        elif difference := divergence(old.data["journal"], new.data["journal"]):
            yield f"{old.where}: {difference}"


def divergence(old: JsonObject, new: JsonObject) -> str:
    """Return the first difference between the events of two saved sessions, "" for none."""
    steps: dict[str, str] = {}
    for was, now in zip_longest(without_cut_off(old), new["events"]):
        _note(was or now, steps)
        where = _where(was or now, steps)
        if now is None:
            return f"{where} was recorded, and is missing in the new run"
        if was is None:
            return f"{where} was not recorded"
        one, other = _plain(was, old["texts"]), _plain(now, new["texts"])
        if one != other:
            return f"{where}: {first_difference(one[1], other[1])}"
    return ""


def _plain(row: Sequence[object], texts: Mapping[str, object]) -> list[Any]:
    """Return an event without fields of compiled code, and with definitions for their digests."""
    parent, event = row[0], _without(row[1])
    offered = {name: texts.get(key, key) for name, key in event.get("offered", {}).items()}
    return [parent, {**event, "offered": offered} if offered else event]


def _without(data: Any) -> Any:
    match data:
        case {"type": "decided" | "started" | "made" | "opened"}:
            return {key: _without(item) for key, item in data.items() if key not in COMPUTED}
        case dict():
            return {key: _without(item) for key, item in data.items()}
        case list():
            return [_without(item) for item in data]
    return data


def _note(row: Sequence[object], steps: dict[str, str]) -> None:
    event = from_json(row[1])
    for call in event.calls if isinstance(event, Replied) else ():
        steps.setdefault(call.id, f"{call.id}, {visible_text(call.tool, 60)}")


def _where(row: Sequence[object], steps: Mapping[str, str]) -> str:
    """Return what an event is about: a call, or else its own kind."""
    event = from_json(row[1])
    return steps.get(call_id_of(event)) or f"the {type(event).__name__.lower()} entry"
