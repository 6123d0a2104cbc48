"""Kernels, and workers of Dask, that are forked from a process that has imported what all import.

Each takes a second of a processor to start otherwise, and nearly all of that is imports.
"""

from __future__ import annotations

import atexit
import gc
import io
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import forkserver, spawn
from multiprocessing.connection import Connection
from typing import Any

import pytest

CONTEXT: Any = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
LAUNCHER = "ipykernel_launcher"
IMPORTED = (
    *("ipykernel.kernelapp", "ipykernel.zmqshell", "ipykernel.debugger", "pandas", "pygraphviz"),
    *("IPython.core.completer", "IPython.core.debugger", "IPython.core.completerlib", "sqlite3"),
    *("IPython.core.magics.extension", "IPython.extensions.storemagic"),
    *("jupyter_toolcall.jupyter.serve_command", "jupyter_toolcall.jupyter.completion"),
    *("jupyter_toolcall.kitchen", "jupyter_toolcall.session", "jupyter_toolcall.jupyter.notebook"),
    *("jupyter_toolcall.models.scripted", "jupyter_toolcall.teaching.magic_commands"),
    *("distributed", "tornado.platform.asyncio", __name__),
)


class ForkedKernel:
    """The process of a kernel, with what a manager of kernels asks of `subprocess.Popen`."""

    stdout = stderr = None

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        self.stdin = io.BytesIO()
        streams = [_copied(options.get("stdout"), 1), _copied(options.get("stderr"), 2)]
        ready, started = CONTEXT.Pipe(duplex=False)
        arguments = [*command], dict(options["env"]), options.get("cwd"), *streams, started
        self.process = CONTEXT.Process(target=_run, args=arguments, daemon=True)
        prepared = spawn.get_preparation_data
        with pytest.MonkeyPatch.context() as patch:
            # No kernel imports the program that runs the tests.
            patch.setattr(spawn, "get_preparation_data", lambda name: _without_main(prepared(name)))
            self.process.start()
        for end in (*streams, started):
            end.close()
        # Only then is it in a process group of its own, to which signals are sent.
        ready.recv_bytes()
        ready.close()
        self.pid: int = self.process.pid

    def poll(self) -> int | None:
        code: int | None = self.process.exitcode
        return code

    def wait(self) -> int | None:
        self.process.join()
        return self.poll()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def _copied(stream: Any, default: int) -> Connection:
    """Return a copy of a stream that can be sent to another process."""
    if stream == subprocess.DEVNULL:
        return Connection(os.open(os.devnull, os.O_WRONLY), readable=False)
    number = default if stream is None else stream if isinstance(stream, int) else stream.fileno()
    return Connection(os.dup(number), readable=False)


def _without_main(prepared: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in prepared.items() if not name.startswith("init_main")}


def _run(
    command: list[str],
    env: Mapping[str, str],
    cwd: str | None,
    stdout: Connection,
    stderr: Connection,
    started: Connection,
) -> None:
    """Become the kernel that a command starts."""
    # No garbage collection of the kernel looks at the modules: the last one took half a second.
    gc.freeze()
    os.setsid()
    started.send_bytes(b"started")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(stdout.fileno(), 1)
    os.dup2(stderr.fileno(), 2)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd or ".")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # It may start processes, as any kernel may.
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    import pandas as pd
    from ipykernel.kernelapp import IPKernelApp

    # It was imported outside of a kernel, and took that for a terminal with lines of any width.
    pd.set_option("display.max_columns", 20)
    try:
        # It ends with its parent, and prints nothing of how to leave it.
        arguments = command[command.index(LAUNCHER) + 1 :]
        IPKernelApp.launch_instance(arguments, parent_handle=os.getppid())
    finally:
        atexit._run_exitfuncs()


def start(command: Sequence[str], **options: Any) -> Any:
    """Start a program as `subprocess.Popen` does; a kernel of this Python is forked."""
    if LAUNCHER in command and os.path.samefile(command[0], sys.executable):
        return ForkedKernel(command, **options)
    return subprocess.Popen(command, **options)


def fork_kernels(patch: pytest.MonkeyPatch) -> None:
    """Let all kernels that this process starts be forked, where the system can do that."""
    if sys.platform == "linux":
        CONTEXT.set_forkserver_preload([*IMPORTED])
        patch.setattr("jupyter_client.launcher.Popen", start)


def run_module() -> None:
    """Run the module that `sys.argv` names, as `python -m` does; its kernels are forked."""
    sys.argv.pop(0)
    with pytest.MonkeyPatch.context() as patch:
        fork_kernels(patch)
        # The modules are imported while the program starts.
        forkserver.ensure_running()
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
