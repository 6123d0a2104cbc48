"""The client of the MCP SDK: connections to servers, and their messages as plain data.

The SDK is imported when the first server is used, so functions import it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import IO, TYPE_CHECKING, Any, Literal

from ..core.errors import CallError, UsageError
from ..core.text import printable, visible_text
from ..tools.running_tool import InputRequest, InputResponse
from .http_client import LastResponse, readable_json, server_client
from .mcp_servers import ServerAddress

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider

NAME = "jupyter-toolcall"
Json = dict[str, Any]
MAX_BYTES = 5_000_000
"""The limit of one result: bytes over HTTP, and characters as JSON."""
SIGNED_IN_PATH = "/signed-in"
SIGN_IN_SECONDS = 300.0
"""How long a person has to sign in."""


@dataclass
class Server:
    """A server's address, and its state that outlives a single connection."""

    address: ServerAddress
    show_link: Callable[[str], Awaitable[None]]
    """Shows the link at which a person signs in."""
    last_response: LastResponse = field(default_factory=LastResponse)
    tokens: _Tokens = field(default_factory=lambda: _Tokens())
    left_out: list[str] = field(default_factory=list)
    """The names of listed tools that are not valid as tools."""
    last_line: str = ""
    """The last line of the program's standard error; set when the program has ended."""


Elicit = Any
"""Answers a server of 2025 that asks the person: (context, parameters) -> `ElicitResult`."""
NoteMessage = Any
"""Takes what a server of 2025 notifies: (message) -> None."""


@asynccontextmanager
async def new_client(
    server: Server, closed: asyncio.Event, elicit: Elicit, note_message: NoteMessage
) -> AsyncIterator[Client]:
    """Connect a client to a server; `closed` is set where the server ends the connection.

    Raises UsageError where the SDK is not installed, or a variable of the address is not set.
    """
    try:
        import mcp
        import mcp_types
    except ImportError:
        message = "MCP servers need the package mcp: pip install mcp"
        raise UsageError(message) from None

    # What the SDK logs would be printed in the notebook; what matters is raised.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    address = server.address.filled()
    target: Any = address.in_memory
    if target is None:
        transport = _program if address.command else _http
        target = transport(server, address, closed)
    async with mcp.Client(
        target,
        elicitation_callback=elicit,
        message_handler=note_message,
        client_info=mcp_types.Implementation(name=NAME, version=version(NAME)),
        cache=None,
    ) as client:
        # The SDK would match results with regular expressions of the server in the event loop: one
        # that never ends would stop all connections, and interrupts.
        vars(client.session)["validate_tool_result"] = _accept
        yield client


async def _accept(name: str, result: object) -> None:
    """Accept a result: `demand_declared` checks it."""


@asynccontextmanager
async def _program(
    server: Server, address: ServerAddress, closed: asyncio.Event
) -> AsyncIterator[Any]:
    import mcp
    from mcp.client.stdio import stdio_client

    server.last_line = ""
    command, *args = address.command
    # As in Jupyter's kernel specifications, this is the Python that runs the kernel.
    command = sys.executable if command in ("python", "python3") else command
    parameters = mcp.StdioServerParameters(
        command=command, args=args, env=dict(address.env), cwd=address.folder
    )
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr:
        try:
            async with stdio_client(parameters, errlog=stderr) as (read, write):
                yield _WatchedStream(read, server, closed), write
        finally:
            server.last_line = _last_line(stderr)


def _last_line(file: IO[str]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - 4_000, 0))
    lines = [line.strip() for line in file.read().splitlines()]
    return printable(next((line for line in reversed(lines) if line), ""))[:200]


@asynccontextmanager
async def _http(
    server: Server, address: ServerAddress, closed: asyncio.Event
) -> AsyncIterator[Any]:
    from mcp.client.streamable_http import streamable_http_client

    signs_in = "authorization" not in {key.lower() for key in address.headers}
    auth = _sign_in(server, address.url) if signs_in else None
    client = server_client(address.url, address.headers, auth, MAX_BYTES, server.last_response)
    async with client:
        transport = streamable_http_client(
            address.url, http_client=client, max_sse_event_size=MAX_BYTES
        )
        async with transport as (read, write):
            yield _WatchedStream(read, server, closed), write


def _sign_in(server: Server, url: str) -> OAuthClientProvider:
    """Return the SDK's OAuth sign-in, which is used only if the server asks for it."""
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import OAuthClientMetadata

    page = SignInPage()
    metadata = OAuthClientMetadata(
        redirect_uris=[page.url], client_name=NAME, token_endpoint_auth_method="none"
    )
    return OAuthClientProvider(url, metadata, server.tokens, server.show_link, page.code)


class SignInPage:
    """The page to which the sign-in service redirects the browser, with a code.

    A server on this computer receives that one request, and runs only meanwhile. Its
    port is chosen at once, since the sign-in service must know the address beforehand.
    """

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.port}{SIGNED_IN_PATH}"

    async def code(self) -> AuthorizationCodeResult:
        """Wait for the browser, and return the code that its request has.

        Raises UsageError where nobody signs in in time, or the sign-in was refused.
        """
        import uvicorn
        from mcp.client.auth import AuthorizationCodeResult
        from starlette.applications import Starlette
        from starlette.requests import Request
        from starlette.responses import PlainTextResponse
        from starlette.routing import Route

        received: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()

        async def signed_in(request: Request) -> PlainTextResponse:
            if not received.done():
                received.set_result(dict(request.query_params))
            return PlainTextResponse("Signed in. You can close this page.")

        app = Starlette(routes=[Route(SIGNED_IN_PATH, signed_in)])
        # Anything on this computer may connect; what is no request is not worth a line.
        config = uvicorn.Config(app, log_config=None, log_level="critical", lifespan="off")
        server, listener = uvicorn.Server(config), socket.create_server(("127.0.0.1", self.port))
        serving = asyncio.create_task(server.serve([listener]))
        try:
            parameters = await asyncio.wait_for(received, SIGN_IN_SECONDS)
        except TimeoutError:
            raise UsageError(f"nobody signed in within {SIGN_IN_SECONDS / 60:g} minutes") from None
        finally:
            server.should_exit = True
            await serving
        if "code" not in parameters:
            error = parameters.get("error", "no code came back")
            reason = parameters.get("error_description") or error
            raise UsageError(f"the sign-in was refused: {visible_text(' '.join(reason.split()))}")
        return AuthorizationCodeResult(
            code=parameters["code"], state=parameters.get("state"), iss=parameters.get("iss")
        )


class _Tokens:
    """The tokens of a sign-in, which stay in the memory of this process (`TokenStorage`)."""

    def __init__(self) -> None:
        self._tokens: Any = None
        self._client: Any = None

    async def get_tokens(self) -> Any:
        return self._tokens

    async def set_tokens(self, tokens: object) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> Any:
        return self._client

    async def set_client_info(self, client_info: object) -> None:
        self._client = client_info


class _WatchedStream:
    """A stream that sets `closed` when it has ended. Invalid tools are removed from lists, and a
    line stands for each invalid block of a result: the SDK refuses the whole for one, and the valid
    ones stay."""

    def __init__(self, stream: Any, server: Server, closed: asyncio.Event) -> None:
        self._stream, self._server, self._closed = stream, server, closed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> _WatchedStream:
        return self

    async def __anext__(self) -> Any:
        try:
            item = await self._stream.__anext__()
        except BaseException:
            self._closed.set()
            raise
        if isinstance(item, ValueError):
            item = _unread_message(item)
        result = getattr(getattr(item, "message", None), "result", None)
        if isinstance(result, dict) and isinstance(result.get("tools"), list):
            result["tools"] = [tool for tool in result["tools"] if self._is_tool(tool, result)]
        elif isinstance(result, dict) and isinstance(result.get("content"), list):
            result["content"] = [_readable_block(block) for block in result["content"]]
        return item

    def _is_tool(self, item: Any, result: Json) -> bool:
        version = "2026-07-28" if "resultType" in result else "2025-11-25"
        schema = item.get("inputSchema") if isinstance(item, dict) else None
        if isinstance(schema, dict) and "object" in (schema.get("type") or "object"):
            schema["type"] = "object"
        if _is_valid("tools/list", version, {**result, "tools": [item]}):
            return True
        self._server.left_out.append(_field_text(item, "name"))
        return False

    async def __aenter__(self) -> _WatchedStream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> Any:
        return await self._stream.__aexit__(*raised)


def _is_valid(method: str, version: str, result: Json) -> bool:
    from mcp_types import methods
    from pydantic import ValidationError

    with contextlib.suppress(ValidationError):
        methods.validate_server_result(method, version, result)
        return True
    return False


def _field_text(item: Any, key: str) -> str:
    """Return a field of what should be an object, or all of another value, in a few characters."""
    return printable(f"{item.get(key, '') if isinstance(item, dict) else item!r:.60}")


UNREAD = f"{NAME}/unread"
"""In the meta of a text that stands for a block that cannot be read."""


def _readable_block(block: Any) -> Any:
    """Return a block of content; for one of an unknown or a broken type, a text that says so."""
    if _is_valid("tools/call", "2025-11-25", {"content": [block]}):
        return block
    text = f"[A part of type {_field_text(block, 'type')} cannot be read and is left out.]"
    return {"type": "text", "text": text, "_meta": {UNREAD: True}}


_ID = re.compile(r'"id"\s*:\s*(\d+)')


def _unread_message(error: object) -> Any:
    """Return a message for a line that the SDK cannot read.

    It is the message of the line where `readable_json` makes it readable, and else an
    error for the request with the id in the line; without it that request would wait for ever. A
    line without an id, such as one of a log, stays the SDK's error.
    """
    import mcp_types
    from mcp.shared.message import SessionMessage

    line = str(getattr(error, "errors", list)()[0].get("input", ""))
    reader: Any = mcp_types.jsonrpc_message_adapter
    with contextlib.suppress(ValueError):
        repaired = readable_json(line.encode("utf-8", "replace"))
        return SessionMessage(reader.validate_json(repaired, by_name=False))
    match = _ID.search(line[:200]) or _ID.search(line[-100:])
    if match is None:
        return error
    unread = mcp_types.ErrorData(code=mcp_types.PARSE_ERROR, message="")
    return SessionMessage(mcp_types.JSONRPCError(jsonrpc="2.0", id=int(match[1]), error=unread))


# -- messages, as plain data --------------------------------------------------------------------


def plain(item: Any) -> Json:
    """Return a message of the SDK as JSON, with the names of the specification."""
    data: Json = item.model_dump(mode="json", by_alias=True, exclude_none=True)
    return data


def input_request(parameters: Any) -> InputRequest:
    """Return the question of a server to the person (`ElicitRequest`)."""
    if parameters.mode == "url":
        return InputRequest(parameters.message, {}, parameters.url)
    return InputRequest(parameters.message, dict(parameters.requested_schema))


def input_requests(result: Any, tool: str) -> dict[str, InputRequest]:
    """Return the questions of a server to the person, by their keys (`InputRequiredResult`).

    Raises CallError for a request that is no question to the person, such as sampling.
    """
    requests = {}
    for key, item in (result.input_requests or {}).items():
        if item.method != "elicitation/create":
            raise CallError(f"{tool} asks for {item.method}, which is not supported")
        requests[key] = input_request(item.params)
    return requests


def elicit_result(response: InputResponse) -> Any:
    """Return a person's response as a message."""
    import mcp_types

    content = dict(response.content) if response.action == "accept" and response.content else None
    return mcp_types.ElicitResult(action=response.action, content=content)


Kind = Literal["not sent", "lost", "page", "too large", "no result", "failed"]
_REFUSED = (301, 302, 303, 307, 308, 401, 403)


def error_kind(error: Exception, last: LastResponse) -> Kind:
    """Return what an error of a call means.

    "not sent": nothing ran. "lost": whether it ran is not known. "page": the person has to open
    a page first, and nothing ran. "too large", "no result": it ran, and what the server answered
    is too large, or is no result. "failed": the server says that it failed.
    """
    import mcp_types
    from mcp.shared.exceptions import MCPError

    if type(error).__name__ in ("ConnectError", "ConnectTimeout") or last.status in _REFUSED:
        return "not sent"
    if last.is_too_large:
        return "too large"
    if not isinstance(error, MCPError):
        return "no result" if type(error).__name__ == "ValidationError" else "lost"
    if error.code == mcp_types.URL_ELICITATION_REQUIRED:
        return "page"
    if error.code == mcp_types.HEADER_MISMATCH or error.message == "Session terminated":
        return "not sent"
    is_lost = error.code in (mcp_types.CONNECTION_CLOSED, mcp_types.PARSE_ERROR)
    is_no_message = error.code == mcp_types.INVALID_REQUEST and 0 < last.status < 300
    return "lost" if is_lost or is_no_message or last.status >= 500 else "failed"


def error_text(error: Exception) -> str:
    """Return the text of an error in one line."""
    import mcp_types

    # The details of pydantic are for the authors of the server.
    is_unread = getattr(error, "code", None) == mcp_types.PARSE_ERROR
    if is_unread or type(error).__name__ == "ValidationError":
        return "its answer does not follow the protocol"
    return printable(" ".join(str(error).split()))[:300] or type(error).__name__


def pages_to_open(error: Any) -> dict[str, InputRequest]:
    """Return the pages that an error asks the person to open."""
    elicitations = (error.data or {}).get("elicitations", [])
    return {
        str(number): InputRequest(str(page.get("message", "")), {}, str(page.get("url", "")))
        for number, page in enumerate(elicitations)
    }
