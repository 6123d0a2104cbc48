"""A notebook that was copied or renamed: its sessions go on, each in a journal of its own.

What the notebook says only tells which journal of this user's machine is meant; what is
believed is that journal. Beside each of the two journals a file names the other one: a call
that has run in one of them is not run by a policy in the other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ..core.errors import ToolcallError
from ..core.events import Replied
from ..core.journal import Journal
from ..core.recorded_calls import started_calls
from ..storage.file_system import replace_file
from ..storage.journal_file import journal_file, journals_folder, read_journal
from ..storage.notebook_files import saved_sessions
from ..storage.signatures import signer

LINKS = ".copies"
"""The ending of the file that names the copies of a journal."""

GOES_ON = (
    "This notebook was copied or renamed: session{} goes on with all that happened there, and "
    "is kept apart from it from now on; --fresh begins anew."
)


def copied_session(notebook: str, name: str) -> str:
    """Bring a session to a notebook that has no journal of it: all that led to what it shows.

    Returns what is to be said of it, "" where there is none. Raises nothing: where it can't
    be read or written the session begins anew.
    """
    path, seal = journal_file(notebook, name), signer(journals_folder())
    others = (
        () if path.exists() else sorted((journals_folder() / "sessions").glob(f"*/{path.name}"))
    )
    with contextlib.suppress(OSError, ToolcallError):
        # Where no other notebook has such a session, this one need not be read.
        heads = [*_heads(Path(notebook), name)] if others else []
        for other in others if heads else ():
            known = read_journal(other, seal=seal)
            if found := [head for head in heads if head in known]:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _link(other, path)
                _link(path, other)
                replace_file(path, _led_to(known, found).dumps(seal))
                return GOES_ON.format(f" {name!r}" if name else "")
    return ""


def _link(path: Path, other: Path) -> None:
    """Name a journal beside another one that has the same calls."""
    named = f"{other.parent.name}/{other.name}\n"
    links = path.with_suffix(LINKS)
    known = links.read_text(encoding="utf-8") if links.exists() else ""
    if named not in known:
        replace_file(links, known + named)


def mark_runs_elsewhere(path: Path, journal: Journal) -> None:
    """Mark the replies of a journal whose calls have run in a copy of it, and not here."""
    copies = _linked(path)
    if not copies:
        return
    here = started_calls(journal)
    for copy in copies:
        elsewhere = {reply for reply, _ in started_calls(read_journal(copy)) - here}
        replies = (entry for entry in journal if isinstance(entry.event, Replied))
        same = [entry.id for entry in replies if entry.meta.get("of", entry.id) in elsewhere]
        journal.mark_replies(same, "copied")


def _linked(path: Path) -> set[Path]:
    """Return the journals that were copied from one, or that it was copied from."""
    found, ahead = {path}, [path]
    for each in ahead:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            names = each.with_suffix(LINKS).read_text(encoding="utf-8").splitlines()
            new = {path.parents[1] / name for name in names} - found
            found |= new
            ahead += new
    return found - {path}


def _heads(notebook: Path, name: str) -> Iterator[str]:
    """Yield where a notebook's outputs say that a session stood."""
    for saved in saved_sessions(notebook):
        rows = saved.data.get("rows", {}).get("session", ())
        if name in [str(row.get("name", "")) for row in rows]:
            yield str(saved.data["journal"]["head"])


def _led_to(known: Journal, heads: list[str]) -> Journal:
    """Return a journal of what led to some entries of another one."""
    made = Journal()
    made.texts.update(known.texts)
    for head in heads:
        for entry in known.path(head):
            made.append(entry.parent, entry.event, entry.meta, entry.verified)
    made.labels.update({key: label for key, label in known.labels.items() if key in made})
    # The other notebook may act on its approvals, or have done so since.
    made.mark_open_calls("copied")
    return made
