"""While a notebook is verified, Python's own sockets reach this computer alone."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from jupyter_toolcall.storage.notebook_files import NotExecuted, execute


def written(path: Path, source: str) -> Path:
    cells = [nbformat.v4.new_code_cell(source)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def test_loopback_works_in_a_notebook_that_is_executed_offline(tmp_path: Path) -> None:
    source = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname()).close()
    print("talked")
"""
    done = execute(written(tmp_path / "a.ipynb", source), offline=True)
    assert done.notebook.cells[0].outputs[0].text == "talked\n"


@pytest.mark.parametrize(
    "call", ["socket.getaddrinfo('example.org', 80)", "socket.socket().connect(('192.0.2.1', 80))"]
)
def test_a_notebook_executed_offline_reaches_no_other_host(call: str, tmp_path: Path) -> None:
    path = written(tmp_path / "a.ipynb", f"import socket\n{call}")
    with pytest.raises(NotExecuted, match="the network is off"):
        execute(path, offline=True)
