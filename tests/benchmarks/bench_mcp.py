"""What a call of an MCP tool costs beside the SDK's own `call_tool`, on the same server.

`python tests/benchmarks/bench_mcp.py [CALLS]` prints a table, of 1,000 calls without it; the
goal is at most 1.3. The calls take
turns in one run, since machines differ: by the SDK in its loop, and waited for in another thread,
as a kernel has to; by `Connection.call`, in a session whose hints are trusted, in one that lists
the tools again before each call, and in one whose tools ask no server.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import mcp

from jupyter_toolcall import Scripted, Session, Toolbox, from_mcp
from jupyter_toolcall.sources.mcp_connection import connection_to
from jupyter_toolcall.sources.mcp_servers import server_address
from tests.standin.mcp_server import command_line, serving

CALLS = 25
"""In a round."""
ARGUMENTS = {"a": 1, "b": 2}


class SdkClient:
    """The SDK's client, in a loop of its own."""

    def __init__(self, target: Any) -> None:
        self._target, self._loop = target, asyncio.new_event_loop()
        self._ready, self._done = threading.Event(), asyncio.Event()
        self.client: Any = None
        threading.Thread(target=self._loop.run_until_complete, args=(self._own(),)).start()
        self._ready.wait(60)

    async def _own(self) -> None:
        async with mcp.Client(self._target) as self.client:
            await self.client.list_tools()
            self._ready.set()
            await self._done.wait()

    def run(self, task: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(task, self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._done.set)


def seconds(prepared: Callable[[], Callable[[], object]]) -> float:
    """Return what a call takes of those that a function makes; preparing it does not count."""
    function = prepared()
    gc.collect()
    began = time.perf_counter()
    function()
    return (time.perf_counter() - began) / CALLS


def measure(name: str, target: Any, address: str, rounds: int) -> None:
    """Print the time of a call by the SDK in its own loop, by a connection, and in a session."""
    sdk, tools = SdkClient(target), from_mcp(address, trust_hints=True)
    untrusted = from_mcp(address)
    connection = connection_to(server_address(address))

    async def in_the_loop() -> None:
        for _ in range(CALLS):
            await sdk.client.call_tool("add", ARGUMENTS)

    def one_by_one() -> None:
        for _ in range(CALLS):
            sdk.run(sdk.client.call_tool("add", ARGUMENTS))

    def by_connection() -> None:
        for _ in range(CALLS):
            connection.call("add", ARGUMENTS)

    script = [*[("add", ARGUMENTS)] * CALLS, "Done."]

    def in_session(box: Toolbox) -> Callable[[], object]:
        # The tools are listed when a session begins.
        return Session(box, Scripted(script), scheme="flat", approve="all").ask("Go.").run

    alone = [replace(tool, function=lambda arguments: 3, current=None) for tool in tools]

    ways: dict[str, Callable[[], Callable[[], object]]] = {
        "SDK": lambda: lambda: sdk.run(in_the_loop()),
        "SDK, one by one": lambda: one_by_one,
        "Connection.call": lambda: by_connection,
        "Session": lambda: in_session(tools),
        "Session, listed": lambda: in_session(untrusted),
        "Session alone": lambda: in_session(Toolbox(*alone)),
    }
    times: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, function in ways.items():
            times[way].append(seconds(function))
    for way, measured in times.items():
        ratios = [mine / base for mine, base in zip(measured, times["SDK"], strict=True)]
        best = min(measured) / min(times["SDK"])
        print(
            f"{name:<6} {way:<16} {median(measured) * 1e3:7.2f} ms a call"
            f"   ratio {median(ratios):5.2f} (of the best rounds {best:5.2f})"
        )
    sdk.close()
    connection.close()


def main(calls: int = 1_000) -> None:
    rounds = max(calls // CALLS, 1)
    logging.disable()
    with tempfile.TemporaryDirectory() as folder:
        line = command_line(Path(folder, "log"))
        command, *args = line.split()
        measure("stdio", mcp.StdioServerParameters(command=command, args=args), line, rounds)
        with serving(Path(folder, "log")) as served:
            measure("HTTP", served.url, served.url, rounds)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
