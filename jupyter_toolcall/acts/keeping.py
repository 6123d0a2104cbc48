"""A session in a file: its journal, and beside it the values that are dear."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..errors import BrokenJournal, UsageError
from ..journal.disk import home, replace_file
from ..journal.seal import sealing
from ..journal.tree import Journal
from ..loop import Cursor
from ..request import Model
from ..runner.approval import Approve
from ..runner.performing import keep_all
from ..runner.store import shelf
from ..schemes import Scheme
from ..tools import Toolbox
from .opening import Described, reopening
from .resuming import resumed


def save(cursor: Cursor, path: str | Path) -> None:
    """Write the journal as JSON Lines; what was dear is kept on this machine.

    Raises UsageError where there is no such folder.
    """
    if not Path(path).resolve().parent.is_dir():
        raise UsageError(f"{path}: there is no folder {Path(path).parent}")
    replace_file(Path(path), cursor.desk.journal.dumps(sealing(home())))
    memory = cursor.desk.memory
    memory.shelf = memory.shelf or shelf()
    keep_all(memory, cursor.desk.toolbox)


def loaded(
    path: str | Path,
    toolbox: Toolbox,
    model: Model | str | None,
    scheme: str | Scheme | None,
    inputs: Mapping[str, Described],
    approve: Approve,
) -> Cursor:
    """Return a cursor at the newest entry of a file.

    Raises BrokenJournal, which names the file; UsageError where it has another scheme.
    """
    text = Path(path).read_text(encoding="utf-8")
    try:
        journal = Journal.loads(text, seal=sealing(home()))
    except BrokenJournal as error:
        raise type(error)(f"{path}: {error}") from None
    # The session may have gone on since it was saved.
    journal.mark_open_calls("copied")
    desk = reopening(
        journal,
        toolbox,
        model,
        scheme=scheme,
        inputs=inputs,
        approve=approve,
        where=str(path),
    )
    desk.memory.shelf = shelf()
    return resumed(desk, journal.leaves()[-1])
