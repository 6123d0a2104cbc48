"""The served session, as the TypeScript SDK and the Inspector's command line see it."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall.jupyter.mcp_server import HttpServer
from tests.jupyter.test_mcp_server import CUT, finished, served

pytestmark = pytest.mark.long
PACKAGES = ("@modelcontextprotocol/client@2", "@modelcontextprotocol/inspector@2")
SCRIPT = """
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
const [url, token, call] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}` };
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
const client = new Client({ name: 'typescript', version: '1' });
await client.connect(transport);
const { tools } = await client.listTools();
const messages = [];
const options = { onprogress: report => messages.push(report.message) };
const result = await client.callTool(JSON.parse(call), options);
const link = result.content.find(part => part.type === 'resource_link');
const read = await client.readResource({ uri: link.uri });
const data = { tools: tools.map(tool => tool.name), messages, read: read.contents[0].text };
console.log(JSON.stringify({ ...data, result: result.structuredContent }));
await client.close();
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both packages of npm."""
    folder = tmp_path_factory.mktemp("npm")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not on the PATH")
    (folder / "package.json").write_text("{}")
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", *PACKAGES]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"npm cannot install the MCP clients: {done.stderr.strip()[-300:]}")
    (folder / "call.mjs").write_text(SCRIPT)
    return folder


async def node(folder: Path, *arguments: str) -> tuple[int, Any]:
    """Run a script; return its status, and the JSON that it prints, or its errors."""
    process = await asyncio.create_subprocess_exec(
        "node", *arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    printed, errors = await process.communicate()
    return process.returncode or 0, json.loads(printed) if printed else errors.decode()


async def inspect(folder: Path, server: HttpServer, token: str, *more: str) -> tuple[int, Any]:
    program = "node_modules/.bin/mcp-inspector"
    header = ("--header", f"Authorization: Bearer {token}") if token else ()
    address = ("--cli", server.url, "--transport", "http")
    return await node(folder, program, *address, *header, *more)


async def test_the_typescript_sdk_calls_and_is_told_what_the_person_changed(folder: Path) -> None:
    async with served(finished()) as (host, server):
        call = json.dumps({"name": "cut", "arguments": CUT})
        program = asyncio.create_task(node(folder, "call.mjs", server.url, server.token, call))
        await host.decide("edit", arguments={"loaf": "Loaf#1", "thickness": 2}, reason="")
        status, printed = await program
        assert status == 0, printed
        assert printed["result"]["note"] == "The person changed thickness from 3 to 2."
        assert json.loads(printed["read"]) == {"slices": 30, "thickness": 2}
        assert "cut" in printed["tools"]
        assert host.panel.session.calls[0].asked_call.by == "mcp:typescript"


async def test_the_inspector_lists_calls_and_reads_and_not_without_the_token(folder: Path) -> None:
    async with served(finished(approve="all")) as (host, server):
        token = server.token
        _, listed = await inspect(folder, server, token, "--method", "tools/list")
        assert [tool["name"] for tool in listed["tools"]][-3:] == ["cut", "count", "fail"]
        call = ("--method", "tools/call", "--tool-name", "count", "--tool-arg", "loaf=Loaf#1")
        _, called = await inspect(folder, server, token, *call)
        assert called["structuredContent"]["result"] == 0
        read = ("--method", "resources/read", "--uri", "toolcall://session/session.md")
        _, text = await inspect(folder, server, token, *read)
        assert "asked by mcp:" in text["contents"][0]["text"]
        status, _ = await inspect(folder, server, "", *call)
        assert status != 0
        assert len(host.panel.session.calls) == 1
