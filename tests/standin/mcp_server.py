"""An MCP server for the tests, on the official SDK: a pantry that keeps what it is given.

Over stdio it is a program (`mcp_server.py LOG`), over HTTP it runs in a
thread (`serving`). Either writes what happens to it into a file, a line for each event.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import shlex
import socket
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import mcp_types
import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import Audio, Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import BaseModel
from starlette.responses import PlainTextResponse

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"
TOKEN = "sesame-4711"
"""The bearer token that a server with `bearer` accepts."""


class Jar(BaseModel):
    """A jar of the pantry."""

    name: str
    grams: int


class Taste(BaseModel):
    """What a person likes."""

    taste: str


@dataclass
class Pantry:
    """The server's state, and the file that its events are written to."""

    log: Path
    jars: dict[str, int] = field(default_factory=dict)

    def note(self, event: str) -> None:
        with self.log.open("a", encoding="utf-8") as file:
            file.write(event + "\n")

    @property
    def events(self) -> list[str]:
        return self.log.read_text("utf-8").splitlines() if self.log.exists() else []

    def wait_for(self, event: str) -> None:
        """Return once an event has happened."""
        until = time.monotonic() + 20
        while event not in self.events:
            if time.monotonic() > until:
                raise TimeoutError(f"no {event!r} in {self.events}")
            time.sleep(0.01)


def pantry_server(pantry: Pantry, **options: Any) -> MCPServer:
    """Return the server."""

    @asynccontextmanager
    async def lifespan(server: MCPServer) -> Any:
        pantry.note(f"start {os.getpid()}")
        yield None
        pantry.note("end")

    server = MCPServer(
        "pantry",
        instructions="Jars and what is in them.",
        log_level="CRITICAL",
        lifespan=lifespan,
        **options,
    )
    _add_plain_tools(server, pantry)
    _add_content_tools(server, pantry)
    _add_tools_that_take_long(server, pantry)
    _add_tools_that_ask(server)
    _add_tools_that_change_tools(server)
    _add_prompts_and_resources(server, pantry)
    return server


def _add_plain_tools(server: MCPServer, pantry: Pantry) -> None:
    read_only = mcp_types.ToolAnnotations(read_only_hint=True)

    @server.tool(annotations=read_only)
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        pantry.note(f"add {a} {b}")
        return a + b

    @server.tool()
    def fill(name: str, grams: int) -> Jar:
        """Fill a jar.

        It keeps what was in it.
        """
        pantry.note(f"fill {name} {grams}")
        pantry.jars[name] = pantry.jars.get(name, 0) + grams
        return Jar(name=name, grams=pantry.jars[name])

    @server.tool(structured_output=False)
    def say(text: str) -> str:
        """Repeat a text."""
        return text

    @server.tool()
    def burn() -> str:
        """Fail."""
        raise ToolError("the oven is\non fire")

    @server.tool()
    def environment(name: str) -> str:
        """Return a variable of the environment."""
        return os.environ.get(name, "not set")


def _add_content_tools(server: MCPServer, pantry: Pantry) -> None:
    @server.tool(structured_output=False)
    def picture() -> Image:
        """Return an image."""
        return Image(data=PNG, format="png")

    @server.tool(structured_output=False)
    def sound() -> Audio:
        """Return a sound."""
        return Audio(data=WAV, format="wav")

    @server.tool(structured_output=False)
    def link(name: str = "plums") -> mcp_types.ResourceLink:
        """Return a link to a recipe."""
        return mcp_types.ResourceLink(
            type="resource_link", uri=f"recipe://{name}", name=f"Recipe of {name}"
        )

    @server.tool(structured_output=False)
    def label() -> mcp_types.EmbeddedResource:
        """Return a label with its text."""
        contents = mcp_types.TextResourceContents(uri="label://plums", text="Plums, 2026")
        return mcp_types.EmbeddedResource(type="resource", resource=contents)

    @server.tool(structured_output=False)
    def mixed() -> list[Any]:
        """Return a text, an image and a link."""
        return ["two of them:", Image(data=PNG, format="png"), link("pears")]


def _add_tools_that_take_long(server: MCPServer, pantry: Pantry) -> None:
    @server.tool()
    async def stir(turns: int, ctx: Context) -> str:
        """Stir, and say how far it is."""
        for turn in range(turns):
            await ctx.report_progress(turn + 1, turns, f"turn {turn + 1}")
        return "stirred"

    @server.tool()
    async def simmer(seconds: float = 60) -> str:
        """Take long."""
        pantry.note("simmer")
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            pantry.note("simmer cancelled")
            raise
        return "simmered"

    @server.tool()
    async def die() -> str:
        """End the server in the middle of a call."""
        pantry.note("die")
        os._exit(3)

    @server.tool(annotations=mcp_types.ToolAnnotations(idempotent_hint=True))
    async def die_once() -> str:
        """End the server in the middle of the first call."""
        if "die once" not in pantry.events:
            pantry.note("die once")
            os._exit(3)
        return "alive"


async def _ask_taste() -> Elicit[Taste]:
    return Elicit("Sweet or sour?", Taste)


def _add_tools_that_ask(server: MCPServer) -> None:
    @server.tool()
    async def season(dish: str, taste: Annotated[Taste, Resolve(_ask_taste)]) -> str:
        """Season a dish as the person likes it."""
        return f"{dish}, {taste.taste}"


def _add_tools_that_change_tools(server: MCPServer) -> None:
    @server.tool()
    def knife() -> str:
        """Cut bread."""
        return "cut"

    async def notify(ctx: Context) -> None:
        await ctx.notify_tools_changed()
        if ctx.request_context.protocol_version < "2026":
            await ctx.session.send_tool_list_changed()

    @server.tool()
    async def change_knife(description: str, ctx: Context) -> str:
        """Change the description of `knife`; an empty one removes the tool."""
        server.remove_tool("knife")
        if description:
            server.add_tool(lambda: "cut", "knife", description=description)
        await notify(ctx)
        return "changed"


def _add_prompts_and_resources(server: MCPServer, pantry: Pantry) -> None:
    @server.prompt()
    def cook(dish: str, people: str = "two") -> str:
        """Ask for a meal."""
        return f"Cook {dish} for {people}."

    @server.resource("recipe://{name}")
    def recipe(name: str) -> str:
        """Return a recipe."""
        pantry.note(f"read {name}")
        return f"Boil the {name}."


# -- over stdio -----------------------------------------------------------------------


def command_line(log: Path, *options: str) -> str:
    """Return the command line that starts the server as a program."""
    return shlex.join([sys.executable, __file__, str(log), *options])


async def _serve_2025() -> None:
    """Serve the handshake of 2025 alone over stdio."""
    server: Any = pantry_server(Pantry(Path(sys.argv[1])))
    async with stdio_server() as (read, write), server.settings.lifespan(server):
        await serve_loop(server._lowlevel_server, read, write, lifespan_state=None)


# -- over HTTP ------------------------------------------------------------------------


@dataclass
class Served:
    """A server that is reached at a URL."""

    url: str
    pantry: Pantry
    provider: SignIn | None = None


@contextmanager
def serving(log: Path, *, legacy: bool = False, access: str = "") -> Iterator[Served]:
    """Run the server in a thread.

    A `legacy` one speaks the protocols of 2025 alone; `access` is "bearer" or "oauth" where it asks
    for a token.
    """
    # Only of a socket that names its protocol asyncio sends small packets at once.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    provider = SignIn() if access == "oauth" else None
    options: dict[str, Any] = {}
    if access:
        options["auth"] = AuthSettings(
            issuer_url=url,
            resource_server_url=f"{url}/mcp",
            validate_token_resource=False,
            client_registration_options=ClientRegistrationOptions(enabled=True),
        )
        options |= {"auth_server_provider": provider} if provider else {"token_verifier": Bearer()}
    pantry = Pantry(log)
    app = pantry_server(pantry, **options).streamable_http_app()
    with _in_thread(_only_2025(app) if legacy else app, listener):
        yield Served(f"{url}/mcp", pantry, provider)


def _only_2025(app: Any) -> Any:
    """Refuse what is of a later protocol, as a server of 2025 does."""

    async def refuse(scope: Any, receive: Any, send: Any) -> None:
        version = dict(scope.get("headers", ())).get(b"mcp-protocol-version", b"")
        if version < b"2026":
            await app(scope, receive, send)
        else:
            await PlainTextResponse("Unsupported protocol version", 400)(scope, receive, send)

    return refuse


@contextmanager
def _in_thread(app: Any, listener: socket.socket) -> Iterator[None]:
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1, ws="none")
    server = uvicorn.Server(config)

    def run() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(server.serve([listener]))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


class Bearer:
    """Accepts one token."""

    async def verify_token(self, token: str) -> AccessToken | None:
        return AccessToken(token=token, client_id="test", scopes=[]) if token == TOKEN else None


PARAMS_OF_CODE = {"code_challenge", "redirect_uri", "redirect_uri_provided_explicitly"}


class SignIn(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """An authorization server that lets everybody in who opens its page."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.tokens: list[str] = []

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[str(client_info.client_id)] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        code = f"code-{len(self.codes)}"
        self.codes[code] = AuthorizationCode(
            code=code,
            client_id=str(client.client_id),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            **params.model_dump(include=PARAMS_OF_CODE),
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        self.tokens.append(f"{TOKEN}-{len(self.tokens)}")
        return OAuthToken(access_token=self.tokens[-1], token_type="Bearer", expires_in=3600)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return None

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        raise NotImplementedError

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        raise NotImplementedError

    async def load_access_token(self, token: str) -> AccessToken | None:
        return AccessToken(token=token, client_id="x", scopes=[]) if token in self.tokens else None


if __name__ == "__main__":
    # The SDK warns of what the tests use on purpose.
    warnings.simplefilter("ignore")
    if "--legacy" in sys.argv:
        asyncio.run(_serve_2025())
    else:
        pantry_server(Pantry(Path(sys.argv[1]))).run()
