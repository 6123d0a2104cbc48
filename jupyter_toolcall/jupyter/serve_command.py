"""`%toolchat serve`: gives this notebook's session to other agents, as an MCP server.

`%load_ext` imports this module, so it imports nothing heavy: the server is imported at its start.
"""

from __future__ import annotations

import atexit
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from ..core.errors import UsageError
from ..core.text import nearest, print_text
from .extensions import NotebookExtension, Registration, register
from .magics import runs_cell

if TYPE_CHECKING:
    from ..session.session import Session
    from .cells import Cells
    from .mcp_server import HttpServer
    from .notebook import Notebook
    from .panel_controller import PanelController

HELP = """\
  serve [--port N]           let other agents on this computer call the tools (MCP)
  serve --stop               stop the server; it also ends with the kernel
"""
MISSING = "serve needs the package mcp: pip install mcp"
NO_LOOP = "serve needs a kernel; without one: jupyter toolcall serve NOTEBOOK"
LINES = """\
The session{session} is served at {url}
Claude Code:
  claude mcp add --transport http toolcall {url} --header "Authorization: Bearer {token}"
VS Code, in .vscode/mcp.json:
  {vscode}
Other clients:
  {others}"""
ENDS = """\
{policy} %toolchat serve --stop ends it, and so does the end of the kernel: the token is not valid \
after that."""

YOU_APPROVE = "You approve the calls of other agents in the panel, as those of the model."
RUNS_ALL = "Calls of other agents run without asking you (--approve all)."


def register_serving() -> None:
    """Add the subcommand."""
    register(Registration("serving", Serving, subcommands=("serve",), help=HELP))


@dataclass(frozen=True)
class NotebookHost:
    """Runs the served session in its notebook."""

    notebook: Notebook
    name: str

    def controller(self) -> PanelController:
        """Return what runs the session now. Raises UsageError where there is none."""
        try:
            return self.notebook.controllers[self.name]
        except KeyError:
            raise UsageError(f"there is no session {self.name!r} to serve any more") from None

    def refresh(self) -> Session:
        """Return the session with the tools that the notebook has now. Raises DefinitionError."""
        controller, cells = self.controller(), self.notebook.cells
        if not controller.busy:
            last, variables = cells.last, self.notebook.shell.user_ns
            controller.session = cells.with_current_tools(controller.session, variables)
            cells.last = last
        return controller.session

    def runs_cell(self) -> bool:
        """Return whether the kernel executes a cell."""
        return runs_cell()


class Serving(NotebookExtension):
    """The server of a kernel: at most one, for one session."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.server: HttpServer | None = None
        self.name = ""
        """The name of the served session."""

    def subcommand(
        self, command: str, words: list[str], name: str, variables: Mapping[str, object]
    ) -> None:
        """Start or end the server, and print how to connect. Raises UsageError."""
        port, stops = _options(words)
        if stops:
            print_text("No session is served any more." if self.stop() else "No session is served.")
            return
        session = self.cells.current(name)
        if self.server is None:
            self._start(session.name, port)
        elif session.name != self.name:
            raise UsageError(f"session {self.name!r} is served; %toolchat serve --stop ends that")
        elif port not in (0, self.server.port):
            raise UsageError(
                f"it is served on port {self.server.port}; %toolchat serve --stop ends that"
            )
        runs_all = self.cells.options_of(self.name).approve == "all"
        policy = RUNS_ALL if runs_all else YOU_APPROVE
        print_text(f"{self.lines()}\n{ENDS.format(policy=policy)}")

    def complete_subcommand(self, command: str) -> list[str]:
        """Return the options of `serve`."""
        return ["--port", "--stop"]

    def _start(self, name: str, port: int) -> None:
        try:
            # `%load_ext` need not wait for it in a shell without a loop.
            loop = import_module("asyncio").get_running_loop()
        except RuntimeError:
            raise UsageError(NO_LOOP) from None
        try:
            served = import_module(".served_session", __package__)
            mcp_server = import_module(".mcp_server", __package__)
        except ImportError as error:
            raise UsageError(MISSING) from error
        host = NotebookHost(current_notebook(), name)
        session = mcp_server.McpSession(served.ServedSession(host, loop))
        session.known_tools = import_module(".client_view", __package__).tools_of(host.refresh())
        server: HttpServer = mcp_server.HttpServer(session, port)
        server.start()
        self.server, self.name = server, name
        atexit.register(self.stop)

    def stop(self) -> bool:
        """End the server; return whether there was one."""
        server, self.server = self.server, None
        if server is not None:
            atexit.unregister(self.stop)
            server.stop()
        return server is not None

    def lines(self) -> str:
        """Return how clients connect, while a session is served."""
        assert self.server is not None
        url, token = self.server.url, self.server.token
        entry = {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {token}"}}
        return LINES.format(
            session=f" {self.name!r}" if self.name else "",
            url=url,
            token=token,
            vscode=json.dumps({"servers": {"toolcall": entry}}),
            others=json.dumps({"mcpServers": {"toolcall": entry}}),
        )


def _options(words: list[str]) -> tuple[int, bool]:
    """Return the port, 0 for any, and whether the server is to end. Raises UsageError."""
    match words:
        case []:
            return 0, False
        case ["--stop"]:
            return 0, True
        case ["--port", text] if text.isdecimal() and 0 < int(text) < 65_536:
            return int(text), False
        case ["--port", *_]:
            raise UsageError("--port takes a number, such as --port 8765")
    options = ("--port", "--stop")
    raise UsageError(f"serve takes --port N, or --stop.{nearest(words[0], options)}")


def current_notebook() -> Notebook:
    """Return this kernel's notebook."""
    notebook: Notebook = import_module(".notebook", __package__).current_notebook()
    return notebook


# -- for `jupyter toolcall serve`, which asks the person in its terminal -------------------------


def _serving() -> Serving:
    serving = current_notebook().cells.extensions["serving"]
    assert isinstance(serving, Serving)
    return serving


_refusals: list[str] = []


def terminal_lines() -> str:
    """Return how clients connect."""
    return _serving().lines()


def terminal_update(shown: int) -> str:
    """Return as JSON what a terminal shows: the calls that wait, the results after the first
    `shown` ones, and why decisions were refused."""
    decisions = import_module("..engine.decisions", __package__)
    call_line = import_module(".client_view", __package__).call_line
    reasons = import_module(".input_line", __package__).reasons
    session = NotebookHost(current_notebook(), _serving().name).controller().session
    cursor, state, hide = session.cursor, session.state, session.cursor.context.secrets.hide
    digest_of = decisions.current_approval_digest
    waiting = [
        {
            "call": call.id,
            "tool": call.tool,
            "arguments": hide(dict(call.arguments)),
            "by": call.asked_call.by or "the model",
            "asks": call.waits_for_input,
            "about": [hide(text) for text in reasons(session, call)[0]],
            "approval_digest": digest_of(cursor, state.call(call.id), state),
        }
        for call in session.pending
    ]
    ended = [hide(call_line(call)) for call in session.calls if call.outcome is not None]
    update = {"waiting": waiting, "ended": ended[shown:], "refused": [*_refusals]}
    _refusals.clear()
    return json.dumps(update, default=str)


def terminal_decision(command: str) -> None:
    """Apply a decision of the terminal: a command as the panel sends it, as JSON."""
    controller = NotebookHost(current_notebook(), _serving().name).controller()
    controller.send = lambda notice: _refusals.append(str(asdict(notice).get("reason", "")))
    controller.receive(json.loads(command))
