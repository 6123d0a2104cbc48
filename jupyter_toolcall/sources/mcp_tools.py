"""Tools of MCP servers: `from_mcp` (https://modelcontextprotocol.io).

Name, description and schemas of a tool are part of its version, so the journal pins them: the
person is asked again about a tool that its server has changed. A tool's annotations are hints of
the server, and count only where the person trusts it.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from jsonschema_rs import ValidationError

from ..core.digests import digest
from ..core.errors import CallError, DefinitionError
from ..core.interface_text import t
from ..core.text import nearest, pinned_change, printable, visible_text
from ..storage.journal_file import journals_folder
from ..tools.object_types import Kinds
from ..tools.running_tool import InputRequired, InputResponse
from ..tools.tool import Resolve, Tool
from ..tools.toolbox import Toolbox, ToolSource
from ..tools.value_copies import well_formed
from .definition_schema import ArgumentChecker
from .mcp_connection import Connection, Listing, Question, connection_to
from .mcp_results import TYPES, result_value
from .mcp_sdk import Json
from .mcp_servers import ServerAddress, server_address

NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}}


def from_mcp(
    server: Any,
    *,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    trust_hints: bool = False,
) -> Toolbox:
    """Return the tools of an MCP server.

    The server is connected at once. The connection survives cells and interrupts, is opened again
    where it was lost, and ends with the kernel. Results that are JSON are data; images, sounds and
    resources become objects.

    Arguments:
        server: a URL (`"https://host/mcp"`); a command line
            (`"npx -y @modelcontextprotocol/server-filesystem ."`), which is started, where
            `python` is the Python of this kernel; a mapping as
            in `.mcp.json`, such as `{"url": ..., "headers": {"Authorization": "Bearer ${NAME}"}}`;
            or an `MCPServer` of the SDK, which runs in this process.
        include: globs over the names of tools; all by default.
        exclude: globs over the names of tools; none by default.
        trust_hints: whether `readOnlyHint` and `idempotentHint` of the server count. By default
            every call waits for the person under the policy `ask`, whatever the server says.

    Returns:
        A `Toolbox` with the tools as the server names them. Where a session has two tools of one
        name, `SERVER_` stands before the name of the server's.

    Raises:
        UsageError: for a server that is none of these, and where the SDK is not installed
            (the extra `mcp`).
        DefinitionError: where the server cannot be reached, and for a glob that fits no tool.

    Example:
        >>> from mcp.server.mcpserver import MCPServer
        >>> server = MCPServer("sums")
        >>> @server.tool()
        ... def add(a: int, b: int) -> int:
        ...     "Add two numbers."
        ...     return a + b
        >>> from_mcp(server).names
        ('add',)
    """
    address = server if isinstance(server, ServerAddress) else server_address(server)
    return McpToolbox(McpTools(address, tuple(include), tuple(exclude), trust_hints))


class McpToolbox(Toolbox):
    """The tools of one server, and the types of the objects that they return."""

    def __init__(self, tools: McpTools) -> None:
        super().__init__(tools, types=TYPES)


class McpTools(ToolSource):
    """The source of a server's tools, which lists them again for each session."""

    def __init__(
        self,
        address: ServerAddress,
        include: tuple[str, ...] = (),
        exclude: tuple[str, ...] = (),
        trust_hints: bool = False,
    ) -> None:
        self.address, self.include, self.exclude = address, include, exclude
        self.trust_hints = trust_hints

    @property
    def prefix(self) -> str:
        """The server's name, as a part of a tool's name."""
        return re.sub(r"[^\w.-]", "_", self.address.name)[:40]

    def tools(self, kinds: Kinds) -> Iterator[Tool]:
        """Yield the tools. Raises DefinitionError where the server cannot be reached."""
        connection = connection_to(self.address)
        # The connection numbers the name if another server has it.
        self.address = connection.address
        listing = _listing(connection)
        names = [str(item.get("name", "")) for item in listing.tools]
        for glob in (*self.include, *self.exclude):
            if not any(fnmatchcase(name, glob) for name in names):
                near = nearest(glob, names)
                raise DefinitionError(
                    f"MCP server {self.address.name}: no tool fits {glob!r}.{near}"
                )
        about = next(iter(listing.instructions.splitlines()), "") or self.address.display_text
        used_names: set[str] = set()
        for item in listing.tools:
            if not self._is_included(str(item["name"])):
                continue
            definition = _Definition(self, item, about)
            if definition.name in used_names:
                _warn_left_out(definition, "another tool has that name")
                continue
            used_names.add(definition.name)
            yield from _tool(definition)

    def _is_included(self, name: str) -> bool:
        included = not self.include or any(fnmatchcase(name, glob) for glob in self.include)
        return included and not any(fnmatchcase(name, glob) for glob in self.exclude)


class _Definition:
    """A tool as its server defines it."""

    def __init__(self, source: McpTools, item: Json, about: str) -> None:
        self.source, self.item, self.about = source, item, about
        self.server_name = str(item["name"])
        self.name = re.sub(r"[^\w.-]", "_", self.server_name)[:150] or "tool"
        self.hints: Mapping[str, Any] = item.get("annotations", {}) if source.trust_hints else {}
        self.pinned = _pinned(item)
        self.version = digest("mcp tool", self.pinned)

    @property
    def description(self) -> str:
        return well_formed(str(self.item.get("description") or self.item.get("title") or ""))

    def effect(self, arguments: Mapping[str, Any], model: str) -> str:
        """Return a warning where the server's hints say that a call destroys data, else ""."""
        hints: Mapping[str, Any] = self.item.get("annotations", {})
        destroys = hints.get("destructiveHint") is True and hints.get("readOnlyHint") is not True
        return t("The server says that it may delete or overwrite data.") if destroys else ""


_PINNED = {
    "name": "name",
    "title": "title",
    "description": "description",
    "inputSchema": "input schema",
    "outputSchema": "output schema",
    "annotations": "hints",
}
"""The parts of a definition that are pinned, and their names in texts: what a person may read
before they approve a call."""


def _pinned(item: Json) -> dict[str, str]:
    """Return the parts of a definition that are pinned, as texts."""
    return {
        name: well_formed(part if isinstance(part, str) else json.dumps(part, sort_keys=True))
        for key, name in _PINNED.items()
        if (part := item.get(key)) is not None
    }


def _tool(definition: _Definition) -> Iterator[Tool]:
    """Yield the tool of a definition; with an invalid schema, warn and yield nothing."""
    address, item = definition.source.address, definition.item
    schema = {**NO_ARGUMENTS, **item.get("inputSchema", {})}
    try:
        checker = ArgumentChecker(definition.name, schema)
    except (ValidationError, ValueError, RecursionError) as error:
        message = str(getattr(error, "message", error)).partition(" and retrieving it failed")[0]
        reason = printable(" ".join(message.split()))[:200]
        _warn_left_out(definition, f"its input schema is not valid ({reason})")
        return
    calls = _Calls(definition, connection_to(address))

    def check(arguments: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
        return {"arguments": checker(arguments)}

    yield Tool(
        name=definition.name,
        description=definition.description,
        parameters=schema,
        function=calls.run,
        resume=calls.resume,
        check=check,
        read_only=definition.hints.get("readOnlyHint") is True,
        idempotent=definition.hints.get("idempotentHint") is True,
        result="JSON",
        version=lambda: definition.version,
        pinned=definition.pinned,
        group=address.name,
        about=definition.about,
        keeps_arguments=True,
        server=f"the MCP server {address.name}"
        + (f" ({address.display_text})" if address.display_text else ""),
        effect=definition.effect,
    )


def _warn_left_out(definition: _Definition, reason: str) -> None:
    server = definition.source.address.name
    name = visible_text(definition.name, 60)
    warnings.warn(f"MCP server {server}: {name} is left out, since {reason}", stacklevel=2)


class _Calls:
    """The calls of one tool."""

    def __init__(self, definition: _Definition, connection: Connection) -> None:
        self._definition, self._connection = definition, connection

    def run(self, arguments: Mapping[str, Any]) -> Any:
        """Call the tool. Raises CallError, OutcomeUnknown and InputRequired."""
        self._demand_unchanged()
        return self._value(self._connection.call(self._definition.server_name, arguments))

    def resume(
        self, state: Any, responses: Mapping[str, InputResponse], values: Mapping[str, Any]
    ) -> Any:
        """Continue a call with the person's responses. Raises what `run` raises."""
        name, arguments = self._definition.server_name, values["arguments"]
        return self._value(self._connection.answer(name, arguments, state, responses))

    def _value(self, result: Json | Question) -> Any:
        if isinstance(result, Question):
            raise InputRequired(result.requests, result.state)
        return result_value(result, self._definition.name, self._connection.address.name)

    def _demand_unchanged(self) -> None:
        """Raise CallError where the server has changed the tool since it was listed."""
        if not self._connection.listing_is_old:
            return
        listing = _listing(self._connection)
        name = self._definition.server_name
        item = next((item for item in listing.tools if item["name"] == name), None)
        pinned = {} if item is None else _pinned(item)
        if pinned != self._definition.pinned:
            # Other tools of the server must be compared with a new list too.
            self._connection.listing_is_old = True
            change = pinned_change(self._definition.pinned, pinned)
            changed = f"changed it: {change}" if pinned else "does not have it any more"
            server = self._connection.address.name
            raise CallError(
                f"{self._definition.name} did not run: the MCP server {server} {changed}. "
                "Run the cell again to decide on it as it is now."
            )


# -- the saved listing ----------------------------------------------------------------------------


def _listing(connection: Connection) -> Listing:
    """Return the tools of a server, or the saved listing where it cannot be reached.

    The saved listing lets a recorded session replay without its server. Raises DefinitionError
    where there is none.
    """
    path = _listing_file(connection.address)
    try:
        listing = connection.list_tools()
    except DefinitionError as error:
        saved = _saved_listing(path)
        if saved is None:
            raise
        warnings.warn(f"{error} Its tools are those of the last time.", stacklevel=2)
        return saved
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        saved_text = json.dumps({"tools": listing.tools, "instructions": listing.instructions})
        path.write_text(saved_text, encoding="utf-8")
    return listing


def _listing_file(address: ServerAddress) -> Path | None:
    if address.in_memory is not None:
        return None
    return journals_folder() / "mcp" / f"{address.identity}.json"


def _saved_listing(path: Path | None) -> Listing | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8")) if path is not None else None
        return data and Listing(tuple(data["tools"]), str(data["instructions"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
