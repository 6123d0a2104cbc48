"""The sessions of a file, a notebook or a journal, on their way home. Nothing of it runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ..core.errors import BrokenJournal, ToolcallError, UsageError
from ..core.journal import Journal
from ..core.text import progress_bar
from ..engine.cursor import Cursor
from ..storage import notebook_files
from ..view.contract import Rows
from ..view.message_rows import LIMIT
from ..view.view_rows import all_rows
from .formats import export, file_stem, format_named
from .live_session import ExportedSession
from .saved_session import SavedSession, read_only_cursor

MAGIC = "%%toolchat"
ToolNames = Callable[[str], Iterable[str]]
"""From the line of a `%%toolchat` cell to the variables that it gives as tools."""
_ROWS = TypeAdapter(Rows)


@dataclass(frozen=True, slots=True)
class FileSession:
    """A session that a file holds: how it may be called, and where it stands."""

    names: tuple[str, ...]
    session: ExportedSession
    where: str

    @property
    def label(self) -> str:
        return self.names[0]


def sessions(path: Path, tool_names: ToolNames) -> tuple[FileSession, ...]:
    """Return the sessions that a file holds; of one that several cells continue, its last head.

    `tool_names` reads the line of a `%%toolchat` cell, and may raise UsageError.
    Raises ToolcallError for a file that holds none, or that was changed.
    """
    try:
        with notebook_files.damage_refused():
            suffix = path.suffix
            result = tuple(_journal(path) if suffix == ".jsonl" else _notebook(path, tool_names))
    except BrokenJournal as error:
        raise UsageError(f"{path}: {error}") from None
    if not result:
        raise UsageError(f"{path} holds no session")
    return result


def chosen(path: Path, name: str, tool_names: ToolNames) -> tuple[FileSession, ...]:
    """Return the sessions of a file that a name means, "" all of them. Raises UsageError."""
    existing = sessions(path, tool_names)
    if not name:
        return existing
    fitting = [session for session in existing if name in session.names]
    if not fitting:
        labels = ", ".join(dict.fromkeys(name for held in existing for name in held.names))
        raise UsageError(f"{path}: there is no session {name}; there are {labels}")
    return (fitting[-1],)


def written(
    held: Sequence[FileSession], source: Path, output: Path | None, to: str | None, force: bool
) -> Iterator[tuple[Path, str]]:
    """Write sessions of a file, each to a file of its own, and yield these, and what they hold.

    Without an output they stand beside the source. Raises UsageError.
    """
    if output is None and to is None:
        raise UsageError("say in which format with --to, or to which file with --output")
    kind = format_named(output or source, to)
    target = output or source.with_suffix(kind.endings[0])
    many = len(held) > 1 or target == source
    ending = next((end for end in kind.endings if target.name.endswith(end)), target.suffix)
    stem = target.name.removesuffix(ending)
    with progress_bar(len(held), source.name, "session") as moved:
        for session_file in held:
            path = target.with_name(file_stem(stem, session_file.label) + ending)
            try:
                with notebook_files.damage_refused():
                    at = export(session_file.session, path if many else target, kind.name, force)
            except BrokenJournal as error:
                raise UsageError(f"{source}: {session_file.where}: {error}") from None
            yield at, session_file.where
            moved.update()


# -- journals -------------------------------------------------------------------------------


def _journal(path: Path) -> Iterator[FileSession]:
    journal = Journal.loads(path.read_text(encoding="utf-8"))
    for number, head in enumerate(journal.leaves(), 1):
        cursor = _cursor(journal, head, {})
        session = ExportedSession(cursor, SavedSession(cursor), all_rows(cursor, ""), exact=False)
        names = (str(number), head[:12], head)
        yield FileSession(names, session, f"branch {number}: {session.title}")


def _cursor(journal: Journal, head: str, words: Mapping[str, str]) -> Cursor:
    try:
        return read_only_cursor(journal, head, words)
    except BrokenJournal:
        raise
    except ToolcallError as error:
        raise BrokenJournal(f"its entries do not follow one another: {error}") from None


# -- notebooks ------------------------------------------------------------------------------


def _notebook(path: Path, tool_names: ToolNames) -> Iterator[FileSession]:
    saved = notebook_files.saved_sessions(path)
    held = notebook_files.join_sessions(saved, str(path), "")
    heads = [held.names.get(session.data["journal"]["head"], "") for session in saved]
    ways = {head: {e.id for e in held.journal.path(head)} for head in heads if head}
    code = [source or "" for source in notebook_files.cell_sources(path)]
    tools = [_tools_of(source, tool_names) for source in code]
    for saved_session, head in zip(saved, heads, strict=True):
        # A session that another one continues is a part of that one.
        if not head or any(head in way and head != other for other, way in ways.items()):
            continue
        cells = slice(saved_session.cell or None)
        names = tuple(dict.fromkeys(name for cell in tools[cells] for name in cell))
        rows = _rows(saved_session.data.get("rows", {}))
        cursor = _cursor(held.journal, head, _result_texts(rows))
        notes = {row.name: row.note for row in rows.objects if not row.branch}
        source = SavedSession(cursor, code[cells], names, notes)
        session = ExportedSession(cursor, source, rows, exact=False)
        labels = notebook_files.session_labels(saved_session)
        yield FileSession(labels, session, saved_session.where)


def _result_texts(rows: Rows) -> dict[str, str]:
    """Return the words in which results were told, by call; not those that were cut."""
    calls = {row.step: row.call for row in rows.calls if not row.branch}
    results = (row for row in rows.messages if row.role == "tool" and len(row.text) < LIMIT)
    return {calls[row.step]: row.text for row in results if row.step in calls}


def _rows(data: object) -> Rows:
    try:
        return _ROWS.validate_python(data)
    except ValidationError as error:
        what = error.errors(include_url=False)[0]
        location = ".".join(str(part) for part in what["loc"])
        raise BrokenJournal(
            f"a saved session's rows are damaged ({location}: {what['msg']})"
        ) from None


def _tools_of(cell: str, tool_names: ToolNames) -> tuple[str, ...]:
    """Return the variables that a cell gives as tools; none where its line is wrong."""
    line = cell.lstrip().partition("\n")[0]
    with contextlib.suppress(UsageError):
        return tuple(tool_names(line.removeprefix(MAGIC))) if line.startswith(MAGIC) else ()
    return ()
