"""A session in a file: its journal, and beside it the values that are dear."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..core.errors import BrokenJournal, UsageError
from ..core.journal import Journal
from ..schemes.messages import Model
from ..schemes.scheme import Scheme
from ..storage.file_system import replace_file
from ..storage.journal_file import journals_folder
from ..storage.signatures import signer
from ..storage.value_store import value_store
from ..tools.toolbox import Toolbox
from .approval_policy import Approve
from .cursor import Cursor
from .execution import store_results
from .forks import resume_replay
from .opening import Described, reopen_session


def save_session(cursor: Cursor, path: str | Path) -> None:
    """Write the journal as JSON Lines; what was dear is kept on this machine.

    Raises UsageError where there is no such folder.
    """
    if not Path(path).resolve().parent.is_dir():
        raise UsageError(f"{path}: there is no folder {Path(path).parent}")
    replace_file(Path(path), cursor.context.journal.dumps(signer(journals_folder())))
    values = cursor.context.values
    values.value_store = values.value_store or value_store()
    store_results(values, cursor.context.toolbox)


def load_session(
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
        journal = Journal.loads(text, seal=signer(journals_folder()))
    except BrokenJournal as error:
        raise type(error)(f"{path}: {error}") from None
    # The session may have gone on since it was saved.
    journal.mark_open_calls("copied")
    context = reopen_session(
        journal,
        toolbox,
        model,
        scheme=scheme,
        inputs=inputs,
        approve=approve,
        where=str(path),
    )
    context.values.value_store = value_store()
    return resume_replay(context, journal.leaves()[-1])
