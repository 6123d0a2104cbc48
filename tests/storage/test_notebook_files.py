"""Notebooks that are executed here: what an execution leaves behind, however it ends."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import nbformat
import pytest

from jupyter_toolcall.cli import main
from jupyter_toolcall.storage.notebook_files import NotExecuted, execute


def notebook(path: Path, kernel: str) -> Path:
    spec = {"name": kernel, "display_name": kernel, "language": "python"}
    cells = [nbformat.v4.new_code_cell("1 + 1")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec}), path)
    return path


def test_a_kernel_that_does_not_start_leaves_ctrl_c_and_the_next_notebook(tmp_path: Path) -> None:
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(NotExecuted, match="has no kernel"):
        execute(notebook(tmp_path / "a.ipynb", "no-such-kernel"))
    assert signal.getsignal(signal.SIGINT) is handler
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    done = execute(notebook(tmp_path / "b.ipynb", "python3"))
    assert done.notebook.cells[0].outputs[0].data["text/plain"] == "2"


CELL = """
%load_ext jupyter_toolcall
from jupyter_toolcall import Scripted

def send(to: str, copies: list) -> None:
    "Send a letter."

model = Scripted([("send", {"to": "\\u202eAnn\\x1b[2J" + "x" * 5_000, "copies": [["Ben"]]})])
get_ipython().run_cell_magic("toolchat", "-t send -m model --scheme flat", "Send it.")
"""


def test_a_run_that_needs_a_person_prints_the_call_that_waits_with_every_argument_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)]), path)
    assert main(["run", str(path), "--trust"]) == 1
    printed = capsys.readouterr().err
    assert f"    to='\\u202eAnn\\x1b[2J{'x' * 5_000}',\n    copies=[['Ben']],\n)\n" in printed
    assert "send (call_1) waits for a person" in printed.splitlines()[-1]


DEAF_AT_FIRST = """
import os, sys, time
from pathlib import Path

started = Path(sys.argv[1])
if not started.exists():
    started.touch()
    time.sleep(600)
os.execv(sys.executable, [sys.executable, "-m", "ipykernel_launcher", "-f", sys.argv[2]])
"""


@pytest.mark.long
def test_a_deaf_kernel_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program may take its port between the choice and the start."""
    kernel = tmp_path / "kernels" / "deaf"
    kernel.mkdir(parents=True)
    argv = [sys.executable, "-c", DEAF_AT_FIRST, str(tmp_path / "started"), "{connection_file}"]
    spec = {"argv": argv, "display_name": "Deaf at first", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    done = execute(notebook(tmp_path / "a.ipynb", "deaf"))
    assert done.notebook.cells[0].outputs[0].data["text/plain"] == "2"
