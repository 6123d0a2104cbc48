"""What it costs to go on with a session after its kernel was restarted.

The cell runs again, which walks the recorded calls and runs none of them; then a line edits
the last call. Every figure stands beside one of the same run: json.loads of the journal's
lines, and the same line in the kernel that made the calls.
`python tests/benchmarks/bench_restart.py [CALLS]`, with the panel built, which the cell shows;
1,000 calls without it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from jupyter_toolcall import Scripted, Session
from jupyter_toolcall.jupyter import notebook
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.storage.file_system import File, Files
from jupyter_toolcall.storage.journal_file import journal_file

PROMPT = "Go on."
GOAL_GROWTH = 5.5
"""How many times as much five times as many calls may cost."""
GOAL_EDIT = 2.0
"""How many times as much as before the restart an edit may cost after it."""
NO_HISTORY = Config({"HistoryManager": {"enabled": False}})
RAN: list[int] = []
"""The arguments of the calls that ran, in all kernels of this process."""


class Unsynced(Files):
    """This machine's files without syncs, which would be most of the time and are not meant."""

    def open(self, path: Path) -> File:
        return _Unsynced(path)

    def sync_folder(self, path: Path) -> None:
        pass


class _Unsynced(File):
    def sync(self) -> None:
        pass


def step(x: int) -> int:
    """Add one."""
    RAN.append(x)
    return x + 1


def variables(count: int) -> dict[str, object]:
    """Return the variables of a notebook in which a model asks for so many calls."""
    script = [("step", {"x": n}) for n in range(count)]
    return {"model": Scripted([*script, "done"]), "step": step}


def first_line(count: int) -> str:
    return f"-m model -t step --scheme flat --approve all --max-turns {count + 1}"


def milliseconds(function: Callable[[], object]) -> float:
    """Return the CPU that a function took."""
    began = time.process_time()
    function()
    return (time.process_time() - began) * 1e3


@contextlib.contextmanager
def kernel(path: Path) -> Iterator[Cells]:
    """Begin a kernel of a notebook; it ends here."""
    cells = Cells(str(path), files=Unsynced())
    yield cells
    cells.close()


def run_cell(cells: Cells, count: int) -> Session:
    """Run the notebook's cell, without a panel."""
    session = cells.session(parse_options(first_line(count)), variables(count))
    return cells.keep(add_prompt(session, PROMPT, fresh=False).run())


def walks(folder: Path, most: int) -> None:
    costs = {}
    for count in (most // 5, most):
        path = folder / f"walk_{count}.ipynb"
        with kernel(path) as cells:
            run_cell(cells, count)
        RAN.clear()
        with kernel(path) as cells:
            costs[count] = milliseconds(lambda c=cells, n=count: run_cell(c, n))  # type: ignore[misc]
        lines = journal_file(str(path), "").read_bytes().splitlines()
        floor = min(
            milliseconds(lambda ls=lines: [json.loads(line) for line in ls])  # type: ignore[misc]
            for _ in range(3)
        )
        print(
            f"{count:,} calls walked after a restart {costs[count]:9.0f} ms CPU"
            f" {costs[count] / count * 1e3:7.0f} µs a call   {len(RAN)} ran"
            f"   json.loads of the journal {floor:6.1f} ms   ratio {costs[count] / floor:5.1f}"
        )
    growth = costs[most] / costs[most // 5]
    print(f"cost({most:,}) / cost({most // 5:,}) {growth:5.1f}   goal {GOAL_GROWTH}")


@contextlib.contextmanager
def shell_of(path: Path, count: int) -> Iterator[InteractiveShell]:
    """Begin a kernel of a notebook with its shell and the extension; it ends here."""
    os.environ["JPY_SESSION_NAME"] = str(path)
    notebook.notebook_of.cache_clear()
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=NO_HISTORY)
    shell.run_line_magic("load_ext", "jupyter_toolcall")
    shell.user_ns.update(variables(count))
    notebook.current_notebook().cells.files = Unsynced()
    yield shell
    notebook.current_notebook().cells.close()


def run_in(shell: InteractiveShell, text: str) -> float:
    """Run a cell and return its milliseconds of CPU. What it shows is dropped."""
    with contextlib.redirect_stdout(io.StringIO()):
        began = time.process_time()
        result = shell.run_cell(text)
        took = (time.process_time() - began) * 1e3
    result.raise_error()
    return took


def edits(folder: Path, most: int) -> None:
    for count in (most // 4, most):
        cell = f"%%toolchat {first_line(count)}\n{PROMPT}"
        edit = f"%toolchat edit {count} x="
        with shell_of(folder / f"edit_{count}.ipynb", count) as shell:
            run_in(shell, cell)
            before = run_in(shell, f"{edit}-5")
        with shell_of(folder / f"after_{count}.ipynb", count) as shell:
            run_in(shell, cell)
        with shell_of(folder / f"after_{count}.ipynb", count) as shell:
            walked = run_in(shell, cell)
            RAN.clear()
            after = run_in(shell, f"{edit}-7")
        print(
            f"the last of {count:,} calls edited by the line after a restart {after:7.0f} ms CPU"
            f"   before it {before:7.0f} ms   ratio {after / before:4.1f}   goal {GOAL_EDIT}"
            f"   {len(RAN)} ran   the cell again {walked:7.0f} ms"
        )


def main(calls: int = 1_000) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["JUPYTER_TOOLCALL_DATA"] = os.environ["IPYTHONDIR"] = folder
        walks(Path(folder), 5 * calls)
        edits(Path(folder), 4 * calls)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
