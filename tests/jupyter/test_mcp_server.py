"""The served session, as clients of the MCP SDK see it over real HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx2
import mcp_types as types
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import ToolcallError
from jupyter_toolcall.jupyter.mcp_server import HttpServer, McpSession
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.jupyter.served_session import ServedSession
from jupyter_toolcall.models.named import Person
from jupyter_toolcall.sources.table_sharing import Sharing
from tests.example_tools import Potato

T = TypeVar("T")
STICKS = {"Potato": "Potato#1", "shape": "STICKS"}


@dataclass
class Host:
    """A session with a panel, as a kernel has it."""

    session: Session
    cell: bool = False
    """Whether a cell runs."""
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    panel: PanelController = field(init=False)
    notices: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.panel = PanelController(self.session, self.notices.append)
        self.panel.on_idle = self._click

    def _click(self) -> None:
        task = asyncio.get_running_loop().create_task(self._resume())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _resume(self) -> None:
        with contextlib.suppress(ToolcallError):
            if not self.panel.busy:
                await self.panel.resume()

    def controller(self) -> PanelController:
        return self.panel

    def refresh(self) -> Session:
        return self.panel.session

    def runs_cell(self) -> bool:
        return self.cell

    async def waiting(self) -> Any:
        """Return the first call that waits for the person, once there is one."""
        return await until(lambda: next(iter(self.panel.session.pending), None))

    async def decide(self, kind: str, **more: Any) -> None:
        """Click a button at the call that waits."""
        call = await self.waiting()
        row = next(
            row for row in self.panel.whole().calls if row.call == call.id and not row.branch
        )
        self.panel.receive({"type": kind, "call": call.id, "bound": row.bound, **more})


async def until(look: Callable[[], T | None]) -> T:
    while (value := look()) is None or value is False:
        await asyncio.sleep(0.01)
    return value


@contextlib.asynccontextmanager
async def served(session: Session, share: Sharing | None = None) -> AsyncIterator[Any]:
    """Serve a session, and yield its host and server."""
    host = Host(session)
    calls = ServedSession(host, asyncio.get_running_loop())
    server = HttpServer(McpSession(calls, lambda: share or Sharing()))
    server.start()
    try:
        yield host, server
    finally:
        await asyncio.to_thread(server.stop)


@contextlib.asynccontextmanager
async def client(server: HttpServer, name: str = "tester", mode: str = "auto") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {server.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(server.url, http_client=http)
        info = types.Implementation(name=name, version="1")
        async with Client(transport, client_info=info, mode=mode) as connected:
            yield connected


def finished(*sources: Any, **options: Any) -> Session:
    """Return a session whose model has finished."""
    options = {"scheme": "flat", "inputs": {"potato": Potato()}, **options}
    return Session(Toolbox(*(sources or (Potato,))), Scripted(["Done."]), **options).tell("Fries!")


def run(test: Awaitable[None]) -> None:
    async def main() -> None:
        await test

    asyncio.run(main())


def test_a_call_that_the_policy_allows_returns_an_object_as_text_data_and_link() -> None:
    async def test() -> None:
        async with served(finished(approve="all")) as (host, server), client(server) as agent:
            result = await agent.call_tool("Potato_slice", STICKS)
            assert result.structured_content["result"] == "Potato#2"
            assert result.structured_content["status"] == "succeeded"
            text, link = result.content
            assert json.loads(text.text) == result.structured_content
            assert link.uri.startswith("toolcall://objects/Potato%232/")
            assert [call.id for call in host.panel.session.calls] == [
                result.structured_content["call_id"]
            ]

    run(test())
