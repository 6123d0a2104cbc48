"""While a notebook is verified nothing of it reaches the network, whichever way it tries."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from jupyter_toolcall import cli
from jupyter_toolcall.storage import network_off
from jupyter_toolcall.storage.notebook_files import execute

needs_namespaces = pytest.mark.skipif(
    bool(network_off.unavailable()), reason="the system allows no network namespace"
)
WAYS = {
    "a child process": """
import subprocess, sys
code = "import socket; socket.create_connection(('127.0.0.1', {tcp}), 5).sendall(b'out')"
subprocess.run([sys.executable, "-c", code])
""",
    "_socket": """
import _socket
s = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
s.settimeout(5); s.connect(("127.0.0.1", {tcp})); s.send(b"out")
""",
    "UDP sendto": """
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"out", ("127.0.0.1", {udp}))
""",
    "ctypes": """
import ctypes, socket, struct
libc = ctypes.CDLL(None)
s = libc.socket(socket.AF_INET, socket.SOCK_DGRAM, 0)
to = struct.pack("=HH4s8x", socket.AF_INET, socket.htons({udp}), socket.inet_aton("127.0.0.1"))
libc.sendto(s, b"out", 3, 0, to, len(to))
""",
}


@pytest.fixture
def listeners() -> Iterator[tuple[socket.socket, socket.socket]]:
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
    ):
        udp.bind(("127.0.0.1", 0))
        tcp.setblocking(False)
        udp.setblocking(False)
        yield tcp, udp


def heard(tcp: socket.socket, udp: socket.socket) -> bool:
    """Whether something came, which is taken."""
    came = False
    for take in (lambda: tcp.accept()[0].close(), lambda: udp.recv(99)):
        try:
            take()
            came = True
        except BlockingIOError:
            pass
    return came


def tries(path: Path, way: str, tcp: socket.socket, udp: socket.socket) -> Path:
    source = WAYS[way].format(tcp=tcp.getsockname()[1], udp=udp.getsockname()[1])
    cells = [nbformat.v4.new_code_cell(each) for each in (source, "print('ran to its end')")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


@needs_namespaces
@pytest.mark.parametrize("way", WAYS)
def test_no_way_out_of_a_notebook_that_is_executed_offline(
    way: str, tmp_path: Path, listeners: tuple[socket.socket, socket.socket]
) -> None:
    path = tries(tmp_path / "a.ipynb", way, *listeners)
    execute(path, halts=False)
    assert heard(*listeners), "the way is one, while the network is on"
    done = execute(path, halts=False, offline=True)
    assert not heard(*listeners)
    assert done.notebook.cells[1].outputs[0].text == "ran to its end\n"


@needs_namespaces
def test_loopback_works_in_a_notebook_that_is_executed_offline(tmp_path: Path) -> None:
    source = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname()).close()
    print("talked")
"""
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)]), tmp_path / "a.ipynb"
    )
    done = execute(tmp_path / "a.ipynb", offline=True)
    assert done.notebook.cells[0].outputs[0].text == "talked\n"


@needs_namespaces
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can try as another user")
@pytest.mark.parametrize("user", [0, 65534])
def test_root_and_other_users_leave_the_network_and_stay_who_they_are(user: int) -> None:
    become = f"os.setgid({user}); os.setuid({user})"
    code = f"import os, sys; {become}; os.execvp(sys.argv[1], sys.argv[1:])"
    reads = "import os; print(os.getuid(), [n for _, n in __import__('socket').if_nameindex()])"
    source = Path(network_off.__file__).read_text(encoding="utf-8")
    # By its source: another user may not be able to enter the folder of this clone.
    command = ["/usr/bin/env", "python3", "-I", "-S", "-c", source, "python3", "-c", reads]
    found = subprocess.run(
        [sys.executable, "-c", code, *command], capture_output=True, text=True, cwd="/", check=False
    )
    if user and "Permission denied" in found.stderr:
        pytest.skip("another user has no Python here")
    assert found.stdout.split() == [str(user), "['lo']"], found.stderr


def test_where_the_system_allows_no_namespace_verify_says_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.jupyter.test_trusted_notebooks import CELLS, written

    path = written(tmp_path / "a.ipynb", *CELLS)
    assert cli.main(["run", "--trust", str(path), "--output", str(path)]) == 0
    monkeypatch.setattr(sys, "platform", "darwin")
    network_off.unavailable.cache_clear()
    capsys.readouterr()
    try:
        assert cli.main(["verify", "--trust", str(path)]) == 0
    finally:
        monkeypatch.undo()
        network_off.unavailable.cache_clear()
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert "other programs reach it: only Linux has network namespaces" in said[1]
