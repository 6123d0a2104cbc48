"""Whether this computer made a notebook, so that its code may run without a question.

There are two proofs:

* `jupyter toolcall run` wrote the file, and no byte of it has changed: it keeps a seal with this
  computer's key in the user's data directory, by the path of the file.
* Jupyter signed the file when it was saved here, which covers all of its cells, and every session
  in it is in this computer's own journals. Jupyter's signature alone is no proof: Jupyter also
  signs what was only opened, where no cell has an output that could be harmful.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from ..core.digests import digest
from ..core.errors import ToolcallError
from ..storage.journal_file import journals_folder
from ..storage.notebook_files import damage_refused, entries_of, saved_sessions, signed_by_jupyter
from ..storage.signatures import signer
from .verify_files import own_entries


def is_trusted_notebook(path: Path, solutions: Sequence[str] = ()) -> bool:
    """Return whether this computer made a notebook, and the solutions that would run in it.

    Raises OSError for a file that cannot be read.
    """
    sealed = _sealed(path, solutions)
    try:
        if sealed and sealed in _record(path).read_text(encoding="ascii").split():
            return True
    except (OSError, UnicodeDecodeError):
        pass
    # Solutions stand in files of their own, which Jupyter does not sign.
    return not solutions and _was_run_here(path)


def trust_notebook(path: Path, solutions: Sequence[str] = ()) -> None:
    """Note that this computer wrote a notebook, as it is now. Raises OSError."""
    seals = {_sealed(path, ()), _sealed(path, solutions)}
    if all(seals):
        record = _record(path)
        record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        record.write_text("\n".join(sorted(seals)), encoding="ascii")


def _record(path: Path) -> Path:
    return journals_folder() / "made_here" / digest("notebook", os.path.abspath(path))


def _sealed(path: Path, solutions: Sequence[str]) -> str:
    """Return the seal of a file's bytes and of solutions; "" where there is no key."""
    seal = signer(journals_folder())
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    # No line of a journal begins like this, so neither seal is valid for the other.
    return seal(f"notebook {content} {digest('solutions', *solutions)}") if seal else ""


def _was_run_here(path: Path) -> bool:
    try:
        with damage_refused():
            saved = saved_sessions(path)
            verified = own_entries(path) if saved else frozenset()
            entries = [entry for s in saved for entry, *_ in entries_of(s.data["journal"])]
            return bool(entries) and verified.issuperset(entries) and signed_by_jupyter(path)
    except (ToolcallError, sqlite3.Error):
        return False
