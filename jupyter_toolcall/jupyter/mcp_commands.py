"""`%toolchat mcp` and `%toolchat prompt`: the MCP servers of a notebook, and their prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import UsageError
from ..core.text import LINES, nearest, printable
from ..sources.mcp_connection import connection_to, connections
from ..sources.mcp_servers import ServerAddress, allow, confirmed_address, named_servers

HELP = """\
  mcp                        list the MCP servers that -t mcp:NAME can use
  mcp allow NAME             allow the use of a server that a file names
  mcp stop NAME              disconnect from a server, and stop its program
  prompt                     list the prompts of the connected MCP servers
  prompt NAME [KEY=VALUE]    write a prompt into the next cell (SERVER:NAME where two have it)
"""


@dataclass(frozen=True, slots=True)
class NextCell:
    """What is written into the next cell."""

    text: str


def carry_out(
    command: str, words: list[str], folder: Path, settings: Mapping[str, Any]
) -> str | NextCell:
    """Carry out `mcp` or `prompt`; return what is printed, or written into the next cell.

    Raises UsageError.
    """
    servers = settings.get("mcp_servers") or {}
    match command, words:
        case "mcp", []:
            return "\n".join(_server_lines(folder, servers)) or _NONE
        case "mcp", ["allow", name]:
            return _allow(name, folder, servers)
        case "mcp", ["stop", name]:
            return _stop(name)
        case "prompt", []:
            return "\n".join(_prompt_lines()) or "no prompts: no connected MCP server has any"
        case "prompt", [name, *arguments]:
            return NextCell(_prompt_cell(name, arguments))
    raise UsageError(f"%toolchat {command} {' '.join(words)}: this is written as\n{HELP}")


_NONE = "no MCP server has a name yet; name one in .mcp.json beside the notebook"


def _server_lines(folder: Path, servers: Mapping[str, object]) -> Iterator[str]:
    connected = {connection.address.name for connection in connections() if connection.is_open}
    for name, named in named_servers(folder, servers).items():
        state = "connected" if name in connected else "not started"
        yield f"{name}: {state}, of {named.file or '%config ToolChat.mcp_servers'}"
    for connection in connections():
        if connection.is_open and connection.address.name not in named_servers(folder, servers):
            yield f"{connection.address.name}: connected, {connection.address.display_text}"


def _allow(name: str, folder: Path, servers: Mapping[str, object]) -> str:
    address = confirmed_address(name, folder, servers, lambda question: True)
    allow(address)
    return f"-t mcp:{name} may use this on this computer: {address.consent_text}"


def _stop(name: str) -> str:
    for connection in connections():
        if connection.address.name == name:
            connection.close()
            return f"the MCP server {name} is not connected any more"
    names = [connection.address.name for connection in connections()]
    raise UsageError(f"no MCP server {name!r} is connected.{nearest(name, names)}")


# -- prompts ------------------------------------------------------------------------------------


def _prompts() -> Iterator[tuple[ServerAddress, Mapping[str, Any]]]:
    for connection in connections():
        if connection.is_open:
            yield from ((connection.address, prompt) for prompt in connection.prompts())


def _prompt_lines() -> Iterator[str]:
    for address, prompt in _prompts():
        arguments = [
            argument["name"] if argument.get("required") else f"[{argument['name']}]"
            for argument in prompt.get("arguments", [])
        ]
        line = " ".join([f"{address.name}:{prompt['name']}", *arguments])
        about = str(prompt.get("description", "")).splitlines()
        yield f"{line}  {about[0]}" if about else line


def _prompt_cell(name: str, words: list[str]) -> str:
    """Return a cell with the text of a prompt."""
    listed = list(_prompts())
    names = [
        (str(prompt["name"]), f"{address.name}:{prompt['name']}") for address, prompt in listed
    ]
    matches = [item for item, both in zip(listed, names, strict=True) if name in both]
    if len(matches) != 1:
        several = "several servers have" if matches else "no connected MCP server has"
        available = ", ".join(whole for _, whole in names) or "none"
        raise UsageError(f"{several} the prompt {name!r}; there are: {available}")
    address, prompt = matches[0]
    arguments = _arguments(words)
    _demand_arguments(prompt, arguments)
    messages = connection_to(address).prompt(str(prompt["name"]), arguments)
    texts = [_text(message) for message in messages if message.get("role") == "user"]
    # An invisible character in the cell would reach the model without the person noticing.
    text = printable("\n\n".join(filter(None, texts)), LINES)
    return f"%%toolchat -t mcp:{address.name}\n{text}"


def _demand_arguments(prompt: Mapping[str, Any], arguments: Mapping[str, str]) -> None:
    """Raise UsageError for unknown arguments of a prompt, and for missing required ones."""
    has = {argument["name"]: argument.get("required") for argument in prompt.get("arguments", [])}
    wrong = [f"it has no {name}.{nearest(name, has)}" for name in arguments if name not in has]
    missing = [
        f"it needs {name}" for name, needed in has.items() if needed and name not in arguments
    ]
    if wrong or missing:
        raise UsageError(f"the prompt {prompt['name']}: {', '.join((*wrong, *missing))}")


def _arguments(words: list[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    for key, equals, _ in pairs:
        if not equals:
            raise UsageError(f"{key!r} is no argument of a prompt; write NAME=VALUE")
    return {key: value for key, _, value in pairs}


def _text(message: Mapping[str, object]) -> str:
    content = message.get("content", {})
    match content:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"type": "resource_link", "uri": str(uri)}:
            return uri
    return ""
