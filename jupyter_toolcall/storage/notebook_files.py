"""Sessions in notebook files: reading them, joining their entries, executing a notebook.

A file shows what another computer recorded. No approval in it starts a call here.
"""

from __future__ import annotations

import json
import os
import re
import signal
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.errors import BrokenJournal, ToolcallError, Unfinished, UsageError
from ..core.events import Event, Opened, from_json
from ..core.journal import Journal
from ..core.journal_entries import BROKEN, demand_format, name
from ..core.json_data import parsed_texts
from ..core.recorded_data import JsonDict, JsonObject
from ..core.text import progress_bar, visible_text
from ..tools.plain_data import well_formed

MIME = "application/vnd.jupyter-toolcall.session+json"


_NOTHING: Mapping[str, str] = {}
_NONE: Mapping[int, Sequence[str]] = {}
SOCKETS_OFF = """
def _network_off():
    import socket
    here = (None, "", "localhost", "127.0.0.1", "::1")
    def local(known, host):
        def call(*given, **more):
            if host(*given) not in here:
                raise OSError("the network is off while a notebook is verified")
            return known(*given, **more)
        return call
    def of(self, address, *more):
        return address[0] if self.family in (socket.AF_INET, socket.AF_INET6) else None
    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, local(getattr(socket.socket, name), of))
    socket.getaddrinfo = local(socket.getaddrinfo, lambda host, *more: host)
_network_off()
del _network_off
"""


@dataclass(frozen=True, slots=True)
class NotebookSession:
    """A session in the output of a cell, or in a journal."""

    where: str
    """The cell's number and its title, or the file."""
    text: str
    data: JsonObject
    cell: int = 0
    """The number of the cell, from 1; 0 for a journal."""


@dataclass(frozen=True, slots=True)
class Executed:
    """A notebook that was executed, and its sessions."""

    notebook: Any
    sessions: tuple[NotebookSession, ...]

    def write(self, path: Path) -> None:
        """Write the notebook to a file."""
        import nbformat

        nbformat.write(nbformat.from_dict(well_formed(self.notebook)), path)


class NotExecuted(Unfinished):
    """A notebook could not be executed to its end.

    `reason` is why, without the file's path; `printed` is what the cell that failed printed.
    """

    def __init__(self, path: Path, reason: str, printed: str = "") -> None:
        super().__init__(f"{path}: {reason}")
        self.reason = reason
        self.printed = printed


@contextmanager
def damage_refused() -> Iterator[None]:
    """Raise BrokenJournal, in one line, for what readers raise on a damaged file.

    Readers check what they use; a file may hold anything else, and never gives a traceback.
    """
    try:
        yield
    except (*BROKEN, LookupError, ArithmeticError) as error:
        if isinstance(error, ToolcallError):
            raise
        raise BrokenJournal(
            f"it is damaged ({type(error).__name__}: {_first_line(error)})"
        ) from None


def _first_line(text: object, limit: int = 120) -> str:
    return next(iter(str(text).splitlines()), "")[:limit]


def read_notebook(path: Path) -> Any:
    """Return a notebook as nbformat reads it. Raises ToolcallError for a file that is none."""
    import nbformat

    try:
        # Half of a character can be in a file as an escape, and can neither be sent nor written.
        return nbformat.from_dict(well_formed(nbformat.read(path, as_version=4)))
    except (nbformat.ValidationError, *BROKEN, LookupError) as error:
        raise _no_notebook(path, _first_line(error)) from None


def notebook_metadata(path: Path) -> JsonObject:
    """Return the metadata of a notebook file. Raises OSError, and ToolcallError for none."""
    metadata = _notebook_data(path).get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _notebook_data(path: Path) -> JsonDict:
    """Return the JSON of a notebook file. Raises OSError, and ToolcallError for none.

    A kernel reads its own notebook without nbformat, which takes seconds to import.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise _no_notebook(path, _first_line(error)) from None
    return data if isinstance(data, dict) else {}


def notebook_cells(path: Path) -> list[Mapping[str, Any]]:
    """Return the cells of a notebook file. Raises ToolcallError for a file that is none."""
    cells = _notebook_data(path).get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise _no_notebook(path, "it has no cells")
    return cells


def _no_notebook(path: Path, why: str) -> ToolcallError:
    return ToolcallError(f"{path} is no notebook ({why})")


def signed_by_jupyter(path: Path) -> bool:
    """Return whether Jupyter signed a notebook on this computer, and nothing in it has changed."""
    from jupyter_core.paths import jupyter_data_dir
    from nbformat.sign import NotebookNotary

    folder = Path(jupyter_data_dir())
    if not (folder / "nbsignatures.db").is_file():
        return False
    notary = NotebookNotary(data_dir=str(folder))
    try:
        return bool(notary.check_signature(read_notebook(path)))
    finally:
        notary.store.close()


def saved_sessions(path: Path) -> tuple[NotebookSession, ...]:
    """Return the sessions in a file, each checked against its own digests."""
    with damage_refused():
        if path.suffix == ".jsonl":
            journal = Journal.loads(path.read_text(encoding="utf-8"))
            text = f"{len(journal)} entries, {len(journal.leaves())} branches"
            return (NotebookSession(str(path), text, {}),)
        return tuple(_sessions(notebook_cells(path)))


def _sessions(cells: Sequence[Mapping[str, object]]) -> Iterator[NotebookSession]:
    for number, cell in enumerate(cells, 1):
        outputs = cell.get("outputs", ())
        for output in outputs if isinstance(outputs, list) else ():
            data = output.get("data") if isinstance(output, dict) else None
            if isinstance(data, dict) and MIME in data:
                saved = check_session(data[MIME])
                where = f"cell {number}: {_title(joined_text(cell.get('source', '')))}"
                yield NotebookSession(where, joined_text(data.get("text/plain", "")), saved, number)


def _title(source: str) -> str:
    first, _, remaining = source.strip().partition("\n")
    return visible_text(remaining.strip().splitlines()[0] if remaining.strip() else first, 100)


def joined_text(text: Any) -> str:
    """Return a text of a notebook, which may be a list of its lines."""
    return text if isinstance(text, str) else "".join(map(str, text))


def check_session(data: JsonObject) -> JsonObject:
    """Return a saved session with its rows and entries as data.

    Raises BrokenJournal if they do not lead to the head that the session names, UnknownFormat if
    another version wrote them.
    """
    try:
        data = with_parsed_rows(data)
        part = data["journal"]
        # Format 1 had no version here.
        demand_format(part.get("version", 1))
        ids, head = [entry for entry, *_ in entries_of(part)], part["head"]
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        raise BrokenJournal(
            f"a saved session is broken ({type(error).__name__}: {error})"
        ) from None
    if ids and head not in ids and head != part["parent"]:
        raise BrokenJournal("a saved session does not fit its own digests: it was changed")
    return data


def with_parsed_rows(data: JsonObject) -> JsonObject:
    """Return a saved session with its rows and entries as data.

    In a notebook each is a JSON text; before version 2 of the rows they were data. A text that is
    no JSON stays a text, and is refused where a row or an entry is expected.
    """
    part, rows = data["journal"], data.get("rows", {})
    if isinstance(part["events"], list):
        part = {**part, "events": parsed_texts(part["events"])}
    if isinstance(rows, Mapping):
        tables = (
            (name, parsed_texts(table)) for name, table in rows.items() if isinstance(table, list)
        )
        rows = {**rows, **dict(tables)}
    return {**data, "journal": part, "rows": rows}


SavedEntry = tuple[str, Event, JsonObject]
"""An entry of a saved session: its id, its event, and what is noted beside it."""


def entries_of(part: JsonObject) -> Iterator[SavedEntry]:
    """Yield the entries of a saved session in order."""
    ids: list[str] = []
    for parent, data, *meta in part["events"]:
        event = from_json(data)
        ids.append(name(part["parent"] if parent < 0 else ids[parent], event))
        yield ids[-1], event, meta[0] if meta else {}


def cell_sources(path: Path) -> tuple[str | None, ...]:
    """Return the source of each cell of a notebook, None for a cell without code."""
    with damage_refused():
        return tuple(
            joined_text(cell.get("source", "")) if cell.get("cell_type") == "code" else None
            for cell in notebook_cells(path)
        )


# -- saved sessions in one journal --------------------------------------------------------------


@dataclass
class JoinedSessions:
    """The entries of saved sessions in one journal."""

    journal: Journal = field(default_factory=Journal)
    names: dict[str, str] = field(default_factory=dict)
    """The entries by the ids that they have in the notebook."""
    inferred: set[str] = field(default_factory=set)
    """The first entries that are not in the notebook."""
    ends: set[str] = field(default_factory=set)
    """The entries at the ends, and the heads, of the session that is asked for; empty for all."""

    def add(self, part: JsonObject, wanted: bool) -> None:
        """Add a saved session's entries. Raises BrokenJournal for a text that was changed."""
        # nbformat returns mappings of its own.
        part = json.loads(json.dumps(part))
        for key, value in part.get("texts", {}).items():
            if self.journal.remember(value) != key:
                raise BrokenJournal("a text does not fit its digest")
        start, added = self._start(part), list[str]()
        for (index, *_), (entry_id, event, meta) in zip(
            part["events"], entries_of(part), strict=True
        ):
            before = added[index] if index >= 0 else start
            added.append(self.journal.append(before, event, meta, verified=False).id)
            self.names[entry_id] = added[-1]
        if wanted:
            last = {*added} & {*self.journal.leaves()}
            self.ends |= last | {self.names.get(part["head"], "")}

    def _start(self, part: JsonObject) -> str | None:
        """Return the entry that a saved session continues from."""
        parent = part["parent"]
        if parent is None or parent in self.names:
            return None if parent is None else self.names[parent]
        before, event = part.get("opened", (None, None))
        opened: Event = from_json(event) if event else Opened()
        at = self.names.get(before or "")
        self.names[parent] = self.journal.append(at, opened, verified=False).id
        if not event:
            self.inferred.add(self.names[parent])
        return self.names[parent]


def join_sessions(saved: Sequence[NotebookSession], shown: str, part: str) -> JoinedSessions:
    """Return the entries of saved sessions; `part` names the one that is asked for, "" all.

    Raises UsageError for a name that no session has; it lists the names.
    """
    joined = JoinedSessions()
    for session in saved:
        joined.add(session.data["journal"], part in session_labels(session))
    if part and not joined.ends:
        labels = ", ".join({label: None for s in saved for label in session_labels(s)})
        raise UsageError(f"{shown}: there is no session {part}; there are {labels or 'none'}")
    return joined


def session_labels(saved: NotebookSession) -> tuple[str, ...]:
    """Return the names that select a session of a notebook: its cell's number, and its own name."""
    number = str(saved.cell) if saved.cell else saved.where
    rows = saved.data.get("rows", {}).get("session", ())
    return (number, *(str(row["name"]) for row in rows if row.get("name")))


# -- executing a notebook -----------------------------------------------------------------------


def execute(
    path: Path,
    environment: Mapping[str, str] = _NOTHING,
    *,
    added: Mapping[int, Sequence[str]] = _NONE,
    halts: bool = True,
    offline: bool = False,
) -> Executed:
    """Return a notebook executed in a fresh kernel, without a front end, in its own folder.

    Arguments:
        environment: variables that are added to those of the kernel.
        added: cells that are inserted, by the index of the cell that they come before.
        halts: stop at a cell that fails.
        offline: take the network from Python's own sockets in the kernel; other programs that
            it starts still reach it.

    Raises NotExecuted, which names the cell that failed and its error.
    """
    from nbformat.v4 import new_code_cell

    notebook = read_notebook(path)
    for number in sorted(added, reverse=True):
        notebook.cells[number:number] = [new_code_cell(source) for source in added[number]]
    hidden = [new_code_cell(SOCKETS_OFF)] if offline else []
    notebook.cells[:0] = hidden
    _run_cells(path, notebook, environment, halts=halts)
    del notebook.cells[: len(hidden)]
    return Executed(notebook, tuple(_sessions(notebook.cells)))


def _run_cells(path: Path, notebook: Any, environment: Mapping[str, str], *, halts: bool) -> None:
    """Run the cells of a notebook in place. Raises NotExecuted, as `execute` does."""
    from jupyter_client.kernelspec import NoSuchKernel
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, DeadKernelError

    # The kernel splits printed text at random points; joined, two runs give the same file.
    options: dict[str, Any] = {"timeout": 600, "coalesce_streams": True, "allow_errors": not halts}
    client = NotebookClient(notebook, resources={"metadata": {"path": str(path.parent)}}, **options)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    progress = progress_bar(len(code), path.name, "cell")
    client.on_cell_executed = lambda **_: progress.update()
    # What the kernel process prints to stderr is not an output of the notebook.
    with ExitStack() as stack:
        # An execution has a folder of its own for its journals.
        data = stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(progress)
        kernel_stderr = stack.enter_context(
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        )
        stack.enter_context(_signal_handlers_kept())
        try:
            variables = {**os.environ, "JUPYTER_TOOLCALL_DATA": data, **environment}
            _execute(client, stderr=kernel_stderr, env=variables)
        except NoSuchKernel as error:
            raise NotExecuted(path, f"this computer has no kernel {error.name!r:.80}") from None
        except CellControlSignal as error:
            raise NotExecuted(path, _reason(error), _printed_before_error(code)) from None
        except DeadKernelError:
            kernel_stderr.seek(0)
            raise NotExecuted(
                path, f"its kernel died; {_last_line(kernel_stderr.read())}"
            ) from None
        except RuntimeError as error:
            if client.code_cells_executed:
                raise
            raise NotExecuted(path, f"its kernel did not start: {error}") from None


def _execute(client: Any, **options: Any) -> None:
    """Run all cells with nbclient; a kernel that does not answer is started once more.

    Another program may have taken one of its ports between the choice and the start.
    """
    from nbclient.exceptions import DeadKernelError

    try:
        client.execute(**options)
    except DeadKernelError:
        raise
    except RuntimeError:
        # A cell that has run may have had an effect.
        if client.code_cells_executed:
            raise
        client.execute(**options)


@contextmanager
def _signal_handlers_kept() -> Iterator[None]:
    """Restore the handlers of signals.

    nbclient leaves its own when a kernel does not start: the next Ctrl-C would do nothing, and
    cancel the notebook that is executed after it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    wakeup = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(wakeup)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(wakeup)


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def _reason(error: Exception) -> str:
    """Return why a cell failed, in one line; an error of ours is its message alone."""
    if getattr(error, "ename", "") in _names(ToolcallError):
        return _first_line(getattr(error, "evalue", ""), 300)
    return _last_line(str(error))


def _printed_before_error(cells: Sequence[Any]) -> str:
    """Return what the cell that failed printed, such as the call that waits for a person."""
    failed = [cell for cell in cells if any(o.output_type == "error" for o in cell.outputs)]
    outputs = failed[-1].outputs if failed else []
    return "".join(o.text for o in outputs if o.output_type == "stream").rstrip()


def _names(cls: type[ToolcallError]) -> set[str]:
    return {cls.__name__}.union(*map(_names, cls.__subclasses__()))


def _last_line(text: str) -> str:
    lines = [line for line in _COLOUR.sub("", text).splitlines() if line.strip()]
    return (lines or ["a cell failed"])[-1][:300]
