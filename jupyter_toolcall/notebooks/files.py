"""Sessions inside .ipynb files: read, and executed anew."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..drawing.text import shown
from ..errors import BrokenJournal, ToolcallError, Unfinished
from ..events import from_json
from ..journal.tree import Journal
from ..progress import bar
from ..view.saving import MIME

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
class Recorded:
    """A session as a cell's output holds it."""

    where: str
    text: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Executed:
    """A notebook that was executed, and its sessions."""

    notebook: Any
    sessions: tuple[Recorded, ...]

    def write(self, path: Path) -> None:
        """Write the notebook to a file."""
        import nbformat

        nbformat.write(self.notebook, path)


def read(path: Path) -> Any:
    """Return a notebook as nbformat has it. Raises ToolcallError for what is none."""
    import nbformat

    try:
        return nbformat.read(path, as_version=4)
    except (nbformat.ValidationError, nbformat.reader.NotJSONError, ValueError) as error:
        raise _no_notebook(path, str(error).splitlines()[0][:120]) from None


def cells(path: Path) -> list[Mapping[str, Any]]:
    """Return a notebook's cells as the file has them. Raises ToolcallError for what is none.

    A kernel reads its own notebook so: nbformat, with the schemas that it loads, takes
    seconds to import.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise _no_notebook(path, str(error).splitlines()[0][:120]) from None
    held = found.get("cells") if isinstance(found, dict) else None
    if not isinstance(held, list) or not all(isinstance(each, dict) for each in held):
        raise _no_notebook(path, "it has no cells")
    return held


def _no_notebook(path: Path, why: str) -> ToolcallError:
    return ToolcallError(f"{path} is no notebook ({why})")


def recorded(path: Path) -> tuple[Recorded, ...]:
    """Return the sessions that a file holds, each checked against its own digests."""
    if path.suffix == ".jsonl":
        journal = Journal.loads(path.read_text(encoding="utf-8"))
        return (
            Recorded(str(path), f"{len(journal)} entries, {len(journal.leaves())} branches", {}),
        )
    return tuple(_sessions(cells(path)))


def _sessions(held: Sequence[Mapping[str, Any]]) -> Iterator[Recorded]:
    for number, cell in enumerate(held, 1):
        for data in _bundles(cell):
            check(data[MIME])
            where = f"cell {number}: {_title(_text(cell.get('source', '')))}"
            yield Recorded(where, _text(data.get("text/plain", "")), data[MIME])


def _bundles(cell: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield what stands below a cell and has a session in it."""
    outputs = cell.get("outputs", ())
    for output in outputs if isinstance(outputs, list) else ():
        data = output.get("data") if isinstance(output, dict) else None
        if isinstance(data, dict) and MIME in data:
            yield data


def _title(source: str) -> str:
    first, _, rest = source.strip().partition("\n")
    return shown(rest.strip().splitlines()[0] if rest.strip() else first, 100)


def _text(text: Any) -> str:
    return text if isinstance(text, str) else "".join(map(str, text))


def check(data: Mapping[str, Any]) -> None:
    """Raise BrokenJournal where a saved session does not lead to the head that it names."""
    try:
        part = data["journal"]
        ids = _ids(part)
        head = part["head"]
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise BrokenJournal(
            f"a saved session is broken ({type(error).__name__}: {error})"
        ) from None
    if ids and head not in ids and head != part["parent"]:
        raise BrokenJournal("a saved session does not fit its own digests: it was changed")


def _ids(part: Mapping[str, Any]) -> list[str]:
    from ..journal.tree import name

    ids: list[str] = []
    for parent, event, *_ in part["events"]:
        ids.append(name(part["parent"] if parent < 0 else ids[parent], from_json(event)))
    return ids


def sources(path: Path) -> tuple[str | None, ...]:
    """Return the source of each cell of a notebook, None for what is no code."""
    return tuple(
        _text(cell.get("source", "")) if cell.get("cell_type") == "code" else None
        for cell in cells(path)
    )


def execute(
    path: Path,
    first: str = "",
    environment: Mapping[str, str] = _NOTHING,
    *,
    added: Mapping[int, Sequence[str]] = _NONE,
    halts: bool = True,
) -> Executed:
    """Return a notebook executed in a fresh kernel, without a front end, beside its own file.

    `first` is run before its first cell, and `environment` is added to that of the kernel.
    `added` are cells that stand before those of these numbers. Raises Unfinished, which names
    the cell that failed and its error, where it `halts` at such a cell.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, DeadKernelError
    from nbformat.v4 import new_code_cell

    notebook = read(path)
    for number in sorted(added, reverse=True):
        notebook.cells[number:number] = [new_code_cell(each) for each in added[number]]
    hidden = [new_code_cell(first)] if first else []
    notebook.cells[:0] = hidden
    where = {"metadata": {"path": str(path.parent)}}
    # Where a kernel cuts what is printed is chance, and would be a difference in the file.
    client = NotebookClient(
        notebook,
        timeout=600,
        resources=where,
        coalesce_streams=True,
        allow_errors=not halts,
    )
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown_so_far = bar(len(code), path.name, "cell")
    client.on_cell_executed = lambda **_: shown_so_far.update()
    # What a kernel says of its own ports and ends is no word of the notebook.
    with _own_data(environment), shown_so_far, tempfile.TemporaryFile("w+") as aside:
        try:
            client.execute(stderr=aside)
        except CellControlSignal as error:
            raise Unfinished(f"{path}: {_last_line(error)}") from None
        except DeadKernelError:
            aside.seek(0)
            raise Unfinished(f"{path}: its kernel died; {_last_line(aside.read())}") from None
    del notebook.cells[: len(hidden)]
    return Executed(notebook, tuple(_sessions(notebook.cells)))


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def _last_line(error: Any) -> str:
    lines = [line for line in _COLOUR.sub("", str(error)).splitlines() if line.strip()]
    named = [line for line in lines if line.startswith("toolchat:")]
    return (named or lines or ["a cell failed"])[-1][:300]


@contextmanager
def _own_data(environment: Mapping[str, str]) -> Iterator[None]:
    """A run of its own keeps its journals to itself."""
    with tempfile.TemporaryDirectory() as folder:
        added = {"JUPYTER_TOOLCALL_DATA": folder, **environment}
        before = {name: os.environ.get(name) for name in added}
        os.environ.update(added)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
