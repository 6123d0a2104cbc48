"""A session in a file: its journal, and beside it the values that are dear."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..journal.disk import home, replace_file
from ..journal.seal import sealing
from ..journal.tree import Journal
from ..loop import Cursor
from ..request import Model
from ..runner.approval import Approve
from ..runner.performing import keep_all
from ..runner.store import shelf
from ..tools import Toolbox
from .opening import Described, reopening


def save(cursor: Cursor, path: str | Path) -> None:
    """Write the journal as JSON Lines; what was dear is kept on this machine."""
    replace_file(Path(path), cursor.desk.journal.dumps(sealing(home())))
    memory = cursor.desk.memory
    memory.shelf = memory.shelf or shelf()
    keep_all(memory, cursor.desk.toolbox)


def loaded(
    path: str | Path,
    toolbox: Toolbox,
    model: Model | str | None,
    inputs: Mapping[str, Described],
    approve: Approve,
) -> Cursor:
    """Return a cursor at the newest entry of a file. Raises BrokenJournal."""
    journal = Journal.loads(Path(path).read_text(encoding="utf-8"), seal=sealing(home()))
    desk = reopening(journal, toolbox, model, inputs=inputs, approve=approve, where=str(path))
    desk.memory.shelf = shelf()
    return Cursor(desk, journal.leaves()[-1])
