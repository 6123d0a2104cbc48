"""`%toolchat serve` in a real kernel, and `jupyter toolcall serve` with its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.notebooks import write_notebook

SET_UP = """%load_ext jupyter_toolcall
import asyncio, time
from pathlib import Path
from jupyter_toolcall import Scripted, tool
from jupyter_toolcall.tools.running_tool import report_progress
model = Scripted(["Ready.", "Again."])

class Jar:
    def __init__(self, grams: int) -> None:
        self.grams = grams

def fill(grams: int) -> Jar:
    "Fill a jar."
    return Jar(grams)

@tool(read_only=True)
def nap(seconds: float) -> str:
    "Sleep."
    report_progress("3 of 10")
    Path("napping").touch()
    time.sleep(seconds)
    return "awake"

@tool(read_only=True)
def weigh(jar: Jar) -> int:
    "Weigh a jar."
    return jar.grams

jar = Jar(100)"""
OPEN = "%%toolchat -m model --scheme flat -t fill nap weigh -i jar\nLook after {jar}."


EXECUTABLE = str(Path(sys.executable).parent / "jupyter-toolcall")


class Kernel:
    """A kernel, as a front end without panels uses it."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient, folder: Path) -> None:
        self.manager, self.client, self.folder = manager, client, folder

    def run(self, source: str) -> str:
        """Run a cell; return what it prints, and its error."""
        texts: list[str] = []

        def note(message: Any) -> None:
            texts.append(message["content"].get("text", ""))

        reply = self.client.execute_interactive(source, allow_stdin=False, output_hook=note)
        return "".join(texts) + str(reply["content"].get("evalue", ""))

    async def run_aside(self, source: str) -> str:
        return await asyncio.to_thread(self.run, source)

    async def decide(self, line: str) -> None:
        """Decide on the call of a client, once it waits."""
        while "waits: mcp_" not in await self.run_aside("%toolchat status"):
            pass
        await self.run_aside(f"%toolchat {line}")


@contextlib.contextmanager
def started(folder: Path, **environment: str) -> Iterator[Kernel]:
    manager = KernelManager()
    manager.start_kernel(
        cwd=str(folder), env={**os.environ, **environment}, stderr=subprocess.DEVNULL
    )
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    yield Kernel(manager, client, folder)
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    manager.cleanup_resources()


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with started(tmp_path_factory.mktemp("notebook")) as kernel:
        yield kernel


@pytest.fixture
def lines(kernel: Kernel) -> Iterator[str]:
    """What `%toolchat serve` prints for a fresh session."""
    kernel.run(SET_UP)
    kernel.run(OPEN.replace("-i jar", "-i jar --fresh"))
    yield kernel.run("%toolchat serve")
    kernel.run("%toolchat serve --stop")


@contextlib.asynccontextmanager
async def connected(lines: str) -> AsyncIterator[Any]:
    address, token = re.search(r"http://\S+/mcp", lines), re.search(r"Bearer ([\w-]+)", lines)
    assert address is not None
    assert token is not None
    headers = {"Authorization": f"Bearer {token[1]}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(address[0], http_client=http)
        info = types.Implementation(name="claude-code", version="2")
        async with Client(transport, client_info=info) as client:
            yield client


async def exists(path: Path) -> None:
    """Return once the kernel has written a file."""
    while not path.exists():
        await asyncio.sleep(0.01)


def test_serving_twice_prints_the_same_and_later_another_token(kernel: Kernel, lines: str) -> None:
    assert "claude mcp add --transport http" in lines
    assert kernel.run("%toolchat serve") == lines
    assert "is served on port" in kernel.run("%toolchat serve --port 1")
    kernel.run("%toolchat serve --stop")
    assert "No session is served." in kernel.run("%toolchat serve --stop")
    again = kernel.run("%toolchat serve")
    assert "claude mcp add" in again
    assert re.search("Bearer ([\\w-]+)", again)[1] != re.search("Bearer ([\\w-]+)", lines)[1]  # type: ignore[index]


def test_wrong_options_are_an_error_in_one_line(kernel: Kernel, lines: str) -> None:
    assert "--port takes a number" in kernel.run("%toolchat serve --port many")
    assert "Did you mean --stop?" in kernel.run("%toolchat serve --stopp")
    assert "no session 'other'" in kernel.run("%toolchat serve -n other")


async def test_a_call_runs_in_the_kernel_and_makes_its_object(kernel: Kernel, lines: str) -> None:
    async with connected(lines) as client:
        call = asyncio.create_task(client.call_tool("fill", {"grams": 300}))
        await kernel.decide("edit grams=250")
        result = (await call).structured_content
        assert result["note"] == "The person changed grams from 300 to 250."
        assert result["result"] == "Jar#2"
        weighed = await client.call_tool("weigh", {"jar": "Jar#2"})
        assert weighed.structured_content["result"] == 250


async def test_a_client_hears_how_far_a_tool_is_and_the_interrupt_of_the_kernel_ends_its_call(
    kernel: Kernel, lines: str
) -> None:
    async with connected(lines) as client:
        messages: asyncio.Queue[str] = asyncio.Queue()

        async def progress(done: float, total: float | None, message: str | None) -> None:
            messages.put_nowait(message or "")

        nap = client.call_tool("nap", {"seconds": 600}, progress_callback=progress)
        call = asyncio.create_task(nap)
        await exists(kernel.folder / "napping")
        while not (await messages.get()).endswith("runs: 3 of 10"):
            pass
        kernel.manager.interrupt_kernel()
        result = (await call).structured_content
        assert result["status"] == "interrupted"
        again = await client.call_tool("weigh", {"jar": "Jar#1"})
        assert again.structured_content["result"] == 100


async def test_the_kernels_interrupt_ends_what_a_client_reads(kernel: Kernel, lines: str) -> None:
    source = "def render(jar):\n    Path('reading').touch()\n    time.sleep(600)\n"
    kernel.run(f"{source}Jar._repr_html_ = render")
    async with connected(lines) as client:
        read = asyncio.create_task(client.call_tool("read_object", {"name": "Jar#1"}))
        await exists(kernel.folder / "reading")
        kernel.manager.interrupt_kernel()
        assert (await read).structured_content == {"error": "the person interrupted this"}
        assert await kernel.run_aside("print('alive')") == "alive\n"


async def test_no_variable_is_set_by_a_client_without_approval(kernel: Kernel, lines: str) -> None:
    kernel.run("model = Scripted([('save', {'out': 'Jar#1'}), 'Ready.'])")
    kernel.run("%toolchat serve --stop")
    cell = OPEN.replace("-i jar", "-i jar -o out:Jar -n saved --fresh")
    kernel.run(cell.replace("Look after {jar}.", "Save {jar} as out."))
    lines = kernel.run("print(out.grams); out = 'MINE'\n%toolchat serve")
    assert lines.startswith("100\n")
    async with connected(lines) as client:
        # A call that nobody has to approve sets nothing again that was saved before.
        weighed = await client.call_tool("weigh", {"jar": "Jar#1"})
        assert weighed.structured_content["result"] == 100
        described = await client.call_tool("describe", {"name": "save"})
        assert described.structured_content["read_only"] is False
        call = asyncio.create_task(client.call_tool("save", {"out": "Jar#1"}))
        while "waits: mcp_" not in await kernel.run_aside("%toolchat status"):
            pass
        assert await kernel.run_aside("print(out)") == "MINE\n"
        await kernel.decide("approve")
        assert (await call).structured_content["result"] == "ok"
        assert "Jar object" in await kernel.run_aside("print(out)")


async def test_what_a_client_gave_up_while_the_kernel_was_blocked_never_runs_and_prints_nothing(
    kernel: Kernel, lines: str
) -> None:
    (kernel.folder / "napping").unlink(missing_ok=True)
    source = "Path('blocks').touch()\nwhile not Path('go').exists():\n    time.sleep(0.01)\n"
    async with connected(lines) as client:
        blocks = asyncio.create_task(kernel.run_aside(source))
        await exists(kernel.folder / "blocks")
        for name, arguments in (("nap", {"seconds": 0}), ("read_object", {"name": "Nothing#9"})):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(2):
                    await client.call_tool(name, arguments)
        # A request that came later has an answer, so the server knows that those are given up.
        await client.list_tools()
        (kernel.folder / "go").touch()
        printed = await blocks
        printed += await kernel.run_aside("import gc; gc.collect()")
        overview = await client.call_tool("list_tools_and_objects", {})
        assert "nap" not in await kernel.run_aside("%toolchat status")
        assert not (kernel.folder / "napping").exists()
        assert overview.structured_content["waiting"] == []
        printed += await kernel.run_aside("gc.collect()")
        assert printed == ""


async def test_calls_wait_while_a_cell_runs_that_awaits(kernel: Kernel, lines: str) -> None:
    async with connected(lines) as client:
        source = "Path('awaits').touch()\nawait asyncio.Event().wait()"
        cell = asyncio.create_task(kernel.run_aside(source))
        await exists(kernel.folder / "awaits")
        messages: asyncio.Queue[str] = asyncio.Queue()

        async def progress(done: float, total: float | None, message: str | None) -> None:
            messages.put_nowait(message or "")

        call = client.call_tool("weigh", {"jar": "Jar#1"}, progress_callback=progress)
        asked = asyncio.create_task(call)
        while "a cell runs" not in await messages.get():
            pass
        assert not asked.done()
        kernel.manager.interrupt_kernel()
        await cell
        assert (await asked).structured_content["result"] == 100


async def test_a_tool_that_was_defined_again_is_what_runs(kernel: Kernel, lines: str) -> None:
    async with connected(lines) as client:
        again = SET_UP[SET_UP.index("@tool(read_only=True)\ndef weigh") :]
        again = again.replace("return jar.grams", "return 7").replace("jar = Jar(100)", "")
        await kernel.run_aside(again)
        result = await client.call_tool("weigh", {"jar": "Jar#1"})
        assert result.structured_content["result"] == 7


async def test_after_a_restart_the_calls_of_clients_are_repeated(tmp_path: Path) -> None:
    with started(tmp_path, JPY_SESSION_NAME=str(tmp_path / "jars.ipynb")) as kernel:
        for source in (SET_UP, OPEN):
            kernel.run(source)
        async with connected(kernel.run("%toolchat serve")) as client:
            call = asyncio.create_task(client.call_tool("fill", {"grams": 300}))
            await kernel.decide("approve")
            result = (await call).structured_content
        kernel.manager.restart_kernel(now=True)
        kernel.client.wait_for_ready(timeout=60)
        for source in (SET_UP, OPEN):
            kernel.run(source)
        assert "1 fill(grams 300) → Jar#2" in kernel.run("%toolchat status")
        async with connected(kernel.run("%toolchat serve")) as client:
            arguments = {"call_id": result["call_id"]}
            again = await client.call_tool("wait_for_decision", arguments)
            assert again.structured_content == result


# -- jupyter toolcall serve ----------------------------------------------------------------------


class Command:
    """`jupyter toolcall serve` with somebody at its terminal."""

    def __init__(self, notebook: Path) -> None:
        command = [EXECUTABLE, "serve", "--trust", str(notebook)]
        pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process: Any = subprocess.Popen(command, **pipes, start_new_session=True)

    def read_to(self, text: str) -> str:
        """Return what the command prints, up to a text."""
        printed = b""
        while not printed.endswith(text.encode()):
            byte = self.process.stdout.read(1)
            assert byte, printed + self.process.stderr.read()
            printed += byte
        return printed.decode()

    def answer(self, *lines: str) -> None:
        self.process.stdin.write("".join(f"{line}\n" for line in lines).encode())
        self.process.stdin.flush()

    async def asked(self, *answers: str) -> str:
        """Return what is printed up to the next question, after these answers."""
        self.answer(*answers)
        return await asyncio.to_thread(self.read_to, "[r]eject? ")


async def test_a_person_decides_in_the_terminal_and_ctrl_c_ends_everything(tmp_path: Path) -> None:
    tell = "def tell(text: str, more: dict) -> None:\n    'Tell somebody.'"
    cell = OPEN.replace("-t fill", "-t tell fill").replace("-m model", "-m person")
    command = Command(write_notebook(tmp_path / "jars.ipynb", SET_UP, tell, cell))
    lines = command.read_to("Ctrl-C ends the server and the kernel.\n")

    async with connected(lines) as client:

        def call(tool: str, **arguments: Any) -> asyncio.Task[Any]:
            return asyncio.create_task(client.call_tool(tool, arguments))

        fill = call("fill", grams=300)
        asked = await command.asked()
        assert "mcp:claude-code asks for fill" in asked
        assert '"grams": 300' in asked
        assert "grams: " in await command.asked("e", "{}")
        command.answer("e", '{"grams": 20}')
        result = (await fill).structured_content
        assert result["note"] == "The person changed grams from 300 to 20."
        assert result["result"] == "Jar#2"
        # Every argument is printed whole, with nothing hidden.
        text = f"\x1b[2J\u202e\u200b\u3164{'long ' * 2_000}END"
        more = {"a\r": ["x" * 900, {"z": 2**60}]}
        told = call("tell", text=text, more=more)
        asked = await command.asked()
        shown = asked.partition("asks for tell\n")[2].partition("\n}\n")[0] + "}"
        assert json.loads(shown) == {"text": text, "more": more}
        assert all(c == "\n" or (c.isprintable() and c != "\u3164") for c in asked)
        assert "not marked read-only" in asked
        command.answer("r", "too little")
        assert (await told).structured_content["note"].endswith("Reason: too little")
    command.process.send_signal(signal.SIGINT)
    command.process.communicate(timeout=60)
    assert command.process.returncode == 0


def test_a_notebook_with_a_cell_that_fails_is_not_served(tmp_path: Path) -> None:
    command = Command(write_notebook(tmp_path / "broken.ipynb", "1 / 0"))
    _, error = command.process.communicate(timeout=60)
    assert command.process.returncode == 1
    assert b"broken.ipynb: division by zero" in error
