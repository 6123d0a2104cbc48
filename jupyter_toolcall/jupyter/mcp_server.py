"""The served session as an MCP server: tools and resources, over HTTP on this computer alone.

The server has a thread and a loop of its own, and submits everything that concerns the session to
the kernel's main loop (`served_session`). It keeps no state of clients: they refer to objects by
name and to calls by id. It refuses requests without the token, and those of web pages.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import re
import secrets
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, TypeVar
from urllib.parse import quote, unquote

import mcp_types as types
import uvicorn
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from ..core.errors import ToolcallError, UsageError
from ..core.recorded_data import JsonDict
from ..core.text import visible_text
from ..schemes.scheme import result_text
from ..session.session import Session
from ..tools.tool import Tool
from . import client_view
from .client_view import Content
from .served_session import CallResult, ClientCall, ServedSession

MOST_OFFERED = 20
"""A session with at most so many tools offers them directly; with more, by `call_tool` alone."""
PROGRESS_SECONDS = 3.0
"""Seconds between two progress notifications."""
RESULT_SECONDS = 50.0
"""Seconds after which a client that asked for no progress gets the id of its call in place of the
result: such clients give up after a minute."""
LISTING_SECONDS = 2.0
"""Seconds that a list of tools waits for the main loop; after that the previous list is sent."""
FOREVER_MS = 24 * 60 * 60 * 1000
"""How long a client may keep an object that never changes."""
OBJECTS = "toolcall://objects/"
GRAPH, SESSION = "toolcall://session/graph.svg", "toolcall://session/session.md"
_TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_HOST = re.compile(r"(?i)(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?")
Context = ServerRequestContext[Any, Any]
T = TypeVar("T")

INSTRUCTIONS = """\
A tool-calling session in a Jupyter notebook. Its tools make immutable objects with names such as \
Table#2. Give an object to a tool by its exact name; a result that is an object is its name. A \
person may have to approve a call, and may change, reject or answer it: read `note` in the result. \
A call that waits too long gives its call_id: wait_for_decision returns its result later."""


def _schema(required: tuple[str, ...] = (), **properties: object) -> JsonDict:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


_NAME = {"type": "string", "description": "Its exact name, such as Table#2."}
_FIXED: Mapping[str, tuple[str, JsonDict]] = {
    "list_tools_and_objects": (
        "List the session's tools, its objects (the newest first) and the calls that wait.",
        _schema(query={"type": "string", "description": "A text in the name or description."}),
    ),
    "describe": (
        "Describe a tool (its description and the JSON Schema of its arguments) or an object "
        "(what it was made from).",
        _schema(("name",), name={"type": "string", "description": "A tool's or object's name."}),
    ),
    "call_tool": (
        "Call a tool of the session. A person may have to approve the call, and may change it.",
        _schema(
            ("tool",),
            tool={"type": "string", "description": "The tool's name."},
            arguments={"type": "object", "description": "Its arguments: see describe."},
        ),
    ),
    "read_object": (
        "Read what an object holds: the first rows of a table, a picture, data, or its text.",
        _schema(("name",), name=_NAME),
    ),
    "wait_for_decision": (
        "Wait until a call that waits for the person has its result, and return it.",
        _schema(("call_id",), call_id={"type": "string", "description": "The id of the call."}),
    ),
}


@dataclass
class McpSession:
    """Answers the requests of MCP clients for a served session."""

    served: ServedSession
    known_tools: tuple[Tool, ...] = ()
    """The session's tools, as last listed."""
    patience: float = RESULT_SECONDS
    """Seconds after which a client that asked for no progress gets the id of its call."""

    def server(self) -> Server[Any]:
        """Return the MCP server."""
        return Server(
            "jupyter-toolcall",
            title="Jupyter session",
            version=version("jupyter-toolcall"),
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            get_tool_input_schema=lambda name: None,
        )

    # -- tools ------------------------------------------------------------------------------

    async def _list_tools(self, ctx: Context, params: object) -> types.ListToolsResult:
        listed = asyncio.wrap_future(self.served.read_soon(client_view.tools_of))
        # A cell that runs for an hour must not keep a client from connecting.
        if (await asyncio.wait({listed}, timeout=LISTING_SECONDS))[
            0
        ] and listed.exception() is None:
            self.known_tools = listed.result()
        fixed = [_fixed_tool(name, *about) for name, about in _FIXED.items()]
        return types.ListToolsResult(tools=[*fixed, *map(_own_tool, self._offered())])

    def _offered(self) -> Iterator[Tool]:
        """Yield the session's tools that are offered directly, beside `call_tool`."""
        for tool in self.known_tools if len(self.known_tools) <= MOST_OFFERED else ():
            if tool.name not in _FIXED and _TOOL_NAME.fullmatch(tool.name):
                yield tool

    async def _call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        arguments = dict(params.arguments or {})
        try:
            if params.name in _FIXED:
                return await self._call_fixed(ctx, params.name, arguments)
            return await self._call(ctx, params.name, arguments)
        except ToolcallError as error:
            return _data_result({"error": str(error)}, error=True)

    async def _call_fixed(
        self, ctx: Context, name: str, arguments: JsonDict
    ) -> types.CallToolResult:
        _check_arguments(name, arguments)
        match name:
            case "list_tools_and_objects":
                query = arguments.get("query", "")
                return _data_result(await self._read(ctx, lambda s: client_view.overview(s, query)))
            case "describe":
                described, links = await self._read(
                    ctx, lambda s: _description(s, arguments["name"])
                )
                return _data_result(described, links)
            case "read_object":
                return _content_result(
                    *await self._read(ctx, lambda s: self._object(s, arguments["name"]))
                )
            case "wait_for_decision":
                return await self._wait(ctx, arguments["call_id"])
        return await self._call(ctx, arguments["tool"], arguments.get("arguments", {}))

    async def _call(self, ctx: Context, tool: str, arguments: JsonDict) -> types.CallToolResult:
        call = ClientCall(tool, arguments, _client_name(ctx))
        self.served.submit_soon(call)
        try:
            result = await self._result(ctx, call)
        except asyncio.CancelledError:
            self.served.withdraw_soon(call)
            raise
        return await self._call_result(ctx, result)

    async def _wait(self, ctx: Context, call_id: str) -> types.CallToolResult:
        result = await self._read(ctx, lambda s: self.served.result_now(s, call_id))
        if result is None:
            result = await self._result(ctx, self.served.calls[call_id])
        return await self._call_result(ctx, result)

    async def _result(self, ctx: Context, call: ClientCall) -> CallResult:
        """Return the result of a call; a client that asked for no progress gets after some time
        that the call still waits."""
        reports = "progress_token" in (ctx.meta or {})

        def message() -> str:
            return f"{call.tool} (call_id {call.id}) {self.served.status_text(call)}"

        result = await _with_progress(ctx, call.result, message, None if reports else self.patience)
        if result is not None:
            return result
        text = "Not decided yet: wait_for_decision with this call_id returns the result."
        return CallResult(call.id, "waiting", {"waits_for": call.waits_for, "hint": text})

    async def _call_result(self, ctx: Context, result: CallResult) -> types.CallToolResult:
        data = result.as_data()
        if not result.objects:
            return _data_result(data, error=result.is_error)
        links = await self._read(ctx, lambda s: _links(s, result.objects))
        return _data_result({**data, "objects": list(result.objects)}, links, error=result.is_error)

    async def _read(self, ctx: Context, read: Callable[[Session], T]) -> T:
        """Return what a function reads of the session, once the main loop gets to it."""
        answer = self.served.read_soon(read)
        value = await _with_progress(
            ctx, answer, lambda: "waits for its turn: a cell runs", self.patience
        )
        if value is None and not answer.done():
            answer.cancel()
            raise UsageError("the kernel is busy with a cell; try again later")
        return answer.result()

    # -- resources --------------------------------------------------------------------------

    async def _list_resources(self, ctx: Context, params: object) -> types.ListResourcesResult:
        listed = await self._read(ctx, _resources)
        return types.ListResourcesResult(resources=listed)

    async def _list_templates(
        self, ctx: Context, params: object
    ) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="object",
            uri_template=OBJECTS + "{name}",
            description="What an object holds, by its name (with # as %23).",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            content, lasts = await self._read(ctx, lambda session: self._resource(session, uri))
        except ToolcallError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        ttl = FOREVER_MS if lasts else 0
        part = _resource_part(uri, content)
        return types.ReadResourceResult(contents=[part], ttl_ms=ttl, cache_scope="private")

    def _resource(self, session: Session, uri: str) -> tuple[Content, bool]:
        """Return what a resource holds, and whether that never changes. Raises UsageError."""
        if uri == GRAPH:
            return client_view.graph_picture(session), False
        if uri == SESSION:
            return client_view.session_text(session), False
        name, _, digest = uri.removeprefix(OBJECTS).partition("/")
        if not uri.startswith(OBJECTS):
            raise UsageError(f"there is no resource {uri!r:.100}")
        obj = client_view.object_named(session, unquote(name))
        # On another branch the same name may stand for another object.
        if digest and digest != obj.digest[: len(digest)]:
            raise UsageError(f"that {unquote(name)} is on a branch that the person has left")
        return client_view.object_content(session, unquote(name)), bool(digest)

    def _object(self, session: Session, name: str) -> tuple[Content, list[types.ResourceLink]]:
        return client_view.object_content(session, name), _links(session, (name,))


async def _with_progress(
    ctx: Context, future: Future[T], message: Callable[[], str], limit: float | None
) -> T | None:
    """Return the result of a future of the main loop, and report progress until then; None where
    it has none after `limit` seconds."""
    waited, began = asyncio.wrap_future(future), time.monotonic()
    # If the client gives up, `future` stays: its call continues in the session, and nobody reads
    # its error, which asyncio would print.
    waited.add_done_callback(lambda done: done.cancelled() or done.exception())
    pause = 0.2
    while not (await asyncio.wait({waited}, timeout=pause))[0]:
        elapsed, pause = time.monotonic() - began, PROGRESS_SECONDS
        if limit is not None and elapsed > limit:
            return None
        await ctx.session.report_progress(round(elapsed, 1), None, message())
    return waited.result()


def _client_name(ctx: Context) -> str:
    """Return how the journal names a client."""
    params = ctx.session.client_params
    name = " ".join(visible_text(params.client_info.name, 40).split()) if params else ""
    return f"mcp:{name or 'client'}"


def _check_arguments(name: str, arguments: Mapping[str, object]) -> None:
    """Raise UsageError where the arguments of one of our own tools do not fit its schema."""
    schema = _FIXED[name][1]
    properties, kinds = schema["properties"], {"string": str, "object": dict}
    for key in schema.get("required", ()):
        if key not in arguments:
            raise UsageError(f"{name} needs {key}")
    for key, value in arguments.items():
        if key not in properties:
            raise UsageError(f"{name} takes no {key!r:.60}; it takes {', '.join(properties)}")
        if not isinstance(value, kinds[properties[key]["type"]]):
            raise UsageError(f"{name}: {key} must be a JSON {properties[key]['type']}")


# -- messages of MCP ---------------------------------------------------------------------------


def _fixed_tool(name: str, description: str, schema: JsonDict) -> types.Tool:
    hints = types.ToolAnnotations(read_only_hint=name != "call_tool")
    output = _call_schema() if name in ("call_tool", "wait_for_decision") else None
    about = {"description": description, "annotations": hints, "output_schema": output}
    return types.Tool(name=name, input_schema=schema, **about)


def _own_tool(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=tool.read_only,
        idempotent_hint=tool.idempotent,
        # Without a hint a client takes it that a tool which writes may destroy.
        destructive_hint=tool.destructive or None,
    )
    schema, output = {"type": "object", **tool.parameters}, _call_schema(tool.result)
    about = {"description": tool.description, "annotations": hints, "output_schema": output}
    return types.Tool(name=tool.name, input_schema=schema, **about)


def _call_schema(returns: str = "") -> JsonDict:
    """Return the schema of what a call gives: also one that still waits, or that a person ended."""
    text = {"type": "string"}
    result = {"description": f"Returns {returns}; an object is named." if returns else "Any JSON."}
    names = {"type": "array", "description": "The names of the objects in it."}
    parts = {"call_id": text, "status": text, "result": result, "objects": names, "error": text}
    return {"type": "object", "properties": parts, "required": ["call_id", "status"]}


def _data_result(
    data: JsonDict, links: list[types.ResourceLink] | None = None, *, error: bool = False
) -> types.CallToolResult:
    """Return data as a result: as text, as structured content, and with links to objects."""
    content: list[Any] = [types.TextContent(text=result_text(data)), *(links or ())]
    return types.CallToolResult(content=content, structured_content=data, is_error=error)


def _content_result(content: Content, links: list[types.ResourceLink]) -> types.CallToolResult:
    part: Any = (
        types.ImageContent(data=content.image, mime_type=content.mime_type)
        if content.image
        else types.TextContent(text=content.text)
    )
    return types.CallToolResult(content=[part, *links])


def _resource_part(
    uri: str, content: Content
) -> types.TextResourceContents | types.BlobResourceContents:
    if content.image:
        blob, mime_type = content.image, content.mime_type
        return types.BlobResourceContents(uri=uri, mime_type=mime_type, blob=blob)
    return types.TextResourceContents(uri=uri, mime_type=content.mime_type, text=content.text)


def _description(session: Session, name: str) -> tuple[JsonDict, list[types.ResourceLink]]:
    return client_view.description(session, name), _links(session, (name,))


def _links(session: Session, names: tuple[str, ...]) -> list[types.ResourceLink]:
    """Return links to those of the names that are objects."""
    objects = session.state.objects
    return [types.ResourceLink(**_link_fields(session, name)) for name in names if name in objects]


def _link_fields(session: Session, name: str) -> JsonDict:
    """Return the fields of a link to an object: its name, its address and how it was made."""
    text = client_view.object_line(session, name)
    return {"name": name, "uri": _uri(session, name), **({"description": text} if text else {})}


def _uri(session: Session, name: str) -> str:
    """Return the address of an object: its name, and its digest, which differs between branches."""
    return f"{OBJECTS}{quote(name, safe='')}/{session.state.objects[name].digest[:16]}"


def _resources(session: Session) -> list[types.Resource]:
    names = [*reversed(session.state.names)][: client_view.MOST_LISTED]
    text = "The session as text: prompts, replies and calls."
    return [
        types.Resource(name="session", uri=SESSION, mime_type="text/markdown", description=text),
        types.Resource(
            name="graph",
            uri=GRAPH,
            mime_type="image/svg+xml",
            description="How the objects were made from each other.",
        ),
        *(types.Resource(**_link_fields(session, name)) for name in names),
    ]


# -- HTTP --------------------------------------------------------------------------------------

Scope = Mapping[str, Any]
App = Callable[[Any, Any, Any], Awaitable[None]]


@dataclass(frozen=True)
class TokenGuard:
    """Passes on only requests with the token, to a name of this computer, and from no web page."""

    app: App
    token: str
    port: int

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None and scope["type"] in ("http", "lifespan"):
            await self.app(scope, receive, send)
        elif refusal is not None:
            await _refuse(send, *refusal)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return the status and the reason with which a request is refused; None for none."""
        if not _HOST.fullmatch(_header(scope, b"host")):
            return 403, "this server is for this computer alone: another host name is refused"
        origin = _header(scope, b"origin")
        origins = {f"http://{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        if origin and origin not in origins:
            return 403, "requests of web pages of another origin are refused"
        scheme, _, token = _header(scope, b"authorization").partition(" ")
        # The comparison takes the same time wherever the first difference is.
        is_valid = hmac.compare_digest(token.strip().encode(), self.token.encode())
        if scheme.lower() != "bearer" or not is_valid:
            return 401, "the header Authorization: Bearer TOKEN is missing or wrong"
        return None


def _header(scope: Scope, name: bytes) -> str:
    """Return a header's value; "" without one, and a value that nothing accepts for several."""
    values = [value for key, value in scope["headers"] if key.lower() == name]
    return values[0].decode("latin-1") if len(values) == 1 else "\n" * len(values)


async def _refuse(send: Any, status: int, reason: str) -> None:
    body = json.dumps({"error": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    headers += [(b"www-authenticate", b"Bearer")] if status == 401 else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class _Uvicorn(uvicorn.Server):
    """A server with an event for when it listens."""

    def __init__(self, app: App) -> None:
        settings: dict[str, Any] = {"log_config": None, "log_level": "critical", "ws": "none"}
        settings |= {"lifespan": "on", "timeout_graceful_shutdown": 1, "access_log": False}
        super().__init__(uvicorn.Config(app, server_header=False, **settings))
        self.is_up = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()


@dataclass
class HttpServer:
    """Serves a session on the loopback address, in a thread, until it is stopped.

    Raises UsageError by `start` where the port is taken.
    """

    session: McpSession
    port: int = 0
    """0 before it is started: any free port."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    _uvicorn: _Uvicorn | None = None
    _thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def start(self) -> None:
        """Listen, and return once clients can connect."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", self.port))
        except (OSError, OverflowError) as error:
            listener.close()
            reason = getattr(error, "strerror", None) or error
            raise UsageError(f"port {self.port} cannot be used: {reason}") from None
        self.port = listener.getsockname()[1]
        # What the SDK logs, such as a client that leaves while it sends, is none of the notebook's.
        logging.getLogger("mcp").addHandler(logging.NullHandler())
        app = self.session.server().streamable_http_app(host="127.0.0.1")
        self._uvicorn = server = _Uvicorn(TokenGuard(app, self.token, self.port))
        self._thread = threading.Thread(
            target=lambda: server.run(sockets=[listener]), name="toolchat serve", daemon=True
        )
        self._thread.start()
        if not server.is_up.wait(15):
            raise UsageError("the server did not start")

    def stop(self) -> None:
        """End the server, and withdraw the calls that wait for their turn."""
        self.session.served.close()
        if self._uvicorn is not None and self._thread is not None:
            self._uvicorn.should_exit = True
            self._thread.join(5)
