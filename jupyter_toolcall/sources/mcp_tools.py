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
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from jsonschema_rs import ValidationError

from ..core.digests import digest
from ..core.errors import CallError, DefinitionError, UsageError
from ..core.interface_text import t
from ..core.text import nearest, printable, visible_text
from ..storage.journal_file import journals_folder
from ..tools.object_types import Kinds
from ..tools.plain_data import well_formed
from ..tools.running_tool import InputResponse
from ..tools.tool import Tool, pinned_change
from ..tools.toolbox import Toolbox, ToolSource
from .definition_dialects import schema_for_models
from .definition_schema import ArgumentChecker
from .mcp_connection import Connection, Listing, connection_to
from .mcp_result_checks import readable_schema
from .mcp_results import TYPES, result_value
from .mcp_sdk import Json
from .mcp_servers import ServerAddress, server_address


def from_mcp(
    server: object,
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
        trust_hints: whether the hints of the server count, all of them, with the protocol's own
            defaults. Without it a tool is taken to change and to delete data, to reach others, and
            to return what others wrote: every call waits for the person under the policies `ask`
            and `flow`, whatever the server says.

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
    for option, globs in (("include", include), ("exclude", exclude)):
        if isinstance(globs, str):
            raise UsageError(f"{option}= takes a list: {option}=[{globs!r}]")
    address = server if isinstance(server, ServerAddress) else server_address(server)
    source = McpTools(address, tuple(include), tuple(exclude), trust_hints)
    return Toolbox(source, types=TYPES)


@dataclass(eq=False, repr=False)
class McpTools(ToolSource):
    """The source of a server's tools, which lists them again for each session."""

    address: ServerAddress
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    trust_hints: bool = False

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
        title = f"MCP server {self.address.name}"
        for glob in (*self.include, *self.exclude):
            if not any(fnmatchcase(name, glob) for name in names):
                raise DefinitionError(f"{title}: no tool fits {glob!r}.{nearest(glob, names)}")
        about = next(iter(listing.instructions.splitlines()), "") or self.address.display_text
        used_names: set[str] = set()
        for item in listing.tools:
            if not self._is_included(str(item["name"])):
                continue
            definition = _ServerTool(self, connection, item, about)
            try:
                if definition.name in used_names:
                    raise DefinitionError("another tool has that name")
                used_names.add(definition.name)
                yield definition.tool()
            except DefinitionError as error:
                name = visible_text(definition.name, 60)
                warnings.warn(f"{title}: {name} is left out, since {error}", stacklevel=2)

    def _is_included(self, name: str) -> bool:
        included = not self.include or any(fnmatchcase(name, glob) for glob in self.include)
        return included and not any(fnmatchcase(name, glob) for glob in self.exclude)


_PINNED = {
    **{part: part for part in ("name", "title", "description")},
    **{"inputSchema": "input schema", "outputSchema": "output schema", "annotations": "hints"},
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


class _ServerTool:
    """A tool as its server defines it, and its calls."""

    def __init__(self, source: McpTools, connection: Connection, item: Json, about: str) -> None:
        self._source, self._connection, self._item, self._about = source, connection, item, about
        self._server, self._server_name = f"the MCP server {source.address.name}", str(item["name"])
        self.name = re.sub(r"[^\w.-]", "_", self._server_name)[:150] or "tool"
        self._pinned = _pinned(item)
        self._compared: Listing | None = None
        """The listing that has the tool as it is here."""

    def tool(self) -> Tool:
        """Return the tool. Raises DefinitionError where its input schema is not valid."""
        item, address = self._item, self._connection.address
        sent = {"type": "object", "properties": {}, **item.get("inputSchema", {})}
        schema = readable_schema(sent)
        try:
            checker = ArgumentChecker(self.name, schema)
        except (ValidationError, ValueError, RecursionError) as error:
            message, _, _ = str(getattr(error, "message", error)).partition(
                " and retrieving it failed"
            )
            reason = printable(" ".join(message.split()))[:200]
            raise DefinitionError(f"its input schema is not valid ({reason})") from None

        # What a server does not say is as the protocol has it: it may do anything.
        hints: Mapping[str, Any] = item.get("annotations", {}) if self._source.trust_hints else {}
        read_only = hints.get("readOnlyHint") is True
        version = digest("mcp tool", self._pinned)
        return Tool(
            name=self.name,
            description=well_formed(str(item.get("description") or item.get("title") or "")),
            parameters=schema_for_models(schema),
            function=self._run,
            resume=self._resume,
            check=lambda arguments, resolve: {"arguments": checker(arguments)},
            read_only=read_only,
            destructive=not read_only and hints.get("destructiveHint") is not False,
            idempotent=hints.get("idempotentHint") is True,
            untrusted=hints.get("openWorldHint") is not False,
            external=hints.get("openWorldHint") is not False,
            result="JSON",
            version=lambda: version,
            pinned=self._pinned,
            current=lambda: self._changed_tool(list_again=not read_only),
            group=address.name,
            about=self._about,
            keeps_arguments=True,
            server=self._server + (f" ({address.display_text})" if address.display_text else ""),
        )

    def _run(self, arguments: Mapping[str, object]) -> object:
        """Call the tool. Raises CallError, OutcomeUnknown and InputRequired."""
        self._demand_unchanged(list_again=False)
        result = self._connection.call(self._server_name, arguments)
        return result_value(result, self.name, self._connection.address.name)

    def _resume(
        self, state: Any, responses: Mapping[str, InputResponse], values: Mapping[str, Any]
    ) -> object:
        """Continue a call with the person's responses. Raises what `_run` raises."""
        # A server of 2025 waits inside of the call; one of 2026-07-28 is called again.
        self._demand_unchanged(list_again="asked" not in state)
        arguments = values["arguments"]
        result = self._connection.answer(self._server_name, arguments, state, responses)
        return result_value(result, self.name, self._connection.address.name)

    # -- changes at the server --------------------------------------------------------------

    def _change(self, list_again: bool) -> tuple[_ServerTool, str] | None:
        """Return the tool as its server lists it now, and what changed; None where nothing did.

        The list of before is taken where it is not old. Raises CallError where the server does not
        answer, or does not have the tool any more.
        """
        listing = self._connection.listing
        if list_again or listing is None or self._connection.listing_is_old:
            try:
                listing = self._connection.list_tools()
            except DefinitionError as error:
                raise CallError(f"{self.name} did not run: {error}") from None
        if listing is self._compared:
            return None
        item = next((item for item in listing.tools if item["name"] == self._server_name), None)
        if item is None:
            raise CallError(f"{self.name} did not run: {self._server} does not have it any more.")
        now = _ServerTool(self._source, self._connection, item, self._about)
        if now._pinned != self._pinned:
            change = pinned_change(self._pinned, now._pinned)
            return now, t("%1 was changed by %2: %3", self.name, self._server, change)
        self._compared = listing
        return None

    def _changed_tool(self, list_again: bool) -> Tool | None:
        """Return the tool as it is now if it was changed (`Tool.current`)."""
        change = self._change(list_again)
        if change is None:
            return None
        now, reason = change
        try:
            return replace(now.tool(), changed=t("You are asked again: %1.", reason))
        except DefinitionError as error:
            raise CallError(f"{self.name} did not run: {reason}; {error}") from None

    def _demand_unchanged(self, list_again: bool) -> None:
        """Raise CallError where a server has changed the tool ahead of a call that has started."""
        if change := self._change(list_again):
            raise CallError(
                f"{self.name} did not run: {change[1]}. Run the cell again to decide on it as it "
                "is now."
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
    if listing.left_out:
        names = ", ".join(listing.left_out[:10])
        message = f"MCP server {connection.address.name}: left out, not valid as MCP tools: {names}"
        warnings.warn(message, stacklevel=2)
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
