"""Notebooks that are executed here: what an execution leaves behind, however it ends."""

from __future__ import annotations

import signal
from pathlib import Path

import nbformat
import pytest

from jupyter_toolcall.storage.notebook_files import NotExecuted, execute


def notebook(path: Path, kernel: str) -> Path:
    spec = {"name": kernel, "display_name": kernel, "language": "python"}
    cells = [nbformat.v4.new_code_cell("1 + 1")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec}), path)
    return path


def test_a_kernel_that_does_not_start_leaves_ctrl_c_and_the_next_notebook_as_they_were(
    tmp_path: Path,
) -> None:
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(NotExecuted, match="has no kernel"):
        execute(notebook(tmp_path / "a.ipynb", "no-such-kernel"))
    assert signal.getsignal(signal.SIGINT) is handler
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    done = execute(notebook(tmp_path / "b.ipynb", "python3"))
    assert done.notebook.cells[0].outputs[0].data["text/plain"] == "2"
