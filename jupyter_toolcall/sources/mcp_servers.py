"""Addresses of MCP servers: a URL, a command line, or a name in the configuration.

`.mcp.json` and `pyproject.toml` beside the notebook may come from somebody else, so a person is
asked before a server that they name is first used.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core.digests import digest
from ..core.errors import UsageError
from ..core.secrets import is_named_secret
from ..core.text import nearest, printable
from ..storage.journal_file import journals_folder
from .http_client import web_url
from .request_headers import PLACEHOLDER, VARIABLE_NAMES, filled_text

_SHELLS = ("sh", "bash", "dash", "zsh", "fish", "cmd", "powershell", "pwsh")
"""The programs that fill in the variables of their arguments themselves."""
_RUNNERS = (
    *("npx", "uvx", "node", "python", "python3", "docker", "run", "exec", "bunx", "pipx", "uv"),
)
"""The words of a command line that start a server, and do not name it."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where an MCP server is: at a URL, or a program to start, or an object of this process."""

    name: str
    """Its name in messages, and the prefix of its tools where names collide."""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    """The folder of the entry."""
    subfolder: str = ""
    """The folder that the program starts in, as the entry names it; "" where it names none."""
    in_memory: Any = field(default=None, compare=False)
    """A server object of the SDK."""
    is_named: bool = False
    """Whether a person chose the name: a new server with that name then replaces this one."""

    @property
    def display_text(self) -> str:
        """The URL without a query, or the command line, as a person reads it."""
        if self.command:
            return printable(shlex.join(self.command))
        return printable(re.sub(r"(?<=//)[^/]*@|[?#].*", "", self.url))

    @property
    def consent_text(self) -> str:
        """What a person reads before they allow it: also the folder in which it starts, and the
        variables that it sets and gets. These can decide which program a command starts."""
        values = (*self.env.values(), *self.headers.values())
        texts = "\n".join((self.url, *self.command, self.subfolder, *values))
        variables = dict.fromkeys(VARIABLE_NAMES.findall(texts))
        # The value of what is named as a secret is not shown.
        settings = [
            name if is_named_secret(name) else f"{name}={shlex.quote(value)}"
            for name, value in self.env.items()
        ]
        parts = [self.display_text]
        parts += [f"in the folder {shlex.quote(self.subfolder)}"] if self.subfolder else []
        parts += [f"with {' '.join(settings)} set"] if settings else []
        parts += [f"which gets your {', '.join(variables)}"] if variables else []
        return printable(", ".join(parts))

    @property
    def identity(self) -> str:
        """The digest of everything that decides which server it is."""
        object_id = f"{id(self.in_memory)}" if self.in_memory is not None else ""
        env, headers, folder = dict(self.env), dict(self.headers), self._folder(self.subfolder)
        return digest("mcp", self.url, [*self.command], folder, env, headers, object_id)

    def _folder(self, subfolder: str) -> str:
        return str(Path(self.folder, subfolder)) if self.command else self.folder

    def filled(self) -> ServerAddress:
        """Return the address with the values of variables in place of their names.

        Raises UsageError for a placeholder without a value, which is never sent as it stands.
        """
        values = {**os.environ, "workspaceFolder": self.folder, "userHome": str(Path.home())}

        def fill(text: str, place: str, is_shell: bool = False) -> str:
            return filled_text(text, values, place, is_shell)

        is_shell = bool(self.command) and Path(self.command[0]).stem.lower() in _SHELLS
        url = fill(self.url, "its URL")
        if url:
            _demand_url(url)
        return replace(
            self,
            url=url,
            headers={key: fill(text, f"its header {key}") for key, text in self.headers.items()},
            command=tuple(fill(word, "its command", is_shell) for word in self.command),
            env={key: fill(text, f"its variable {key}") for key, text in self.env.items()},
            folder=self._folder(fill(self.subfolder, "its folder")),
        )


def server_address(server: object, folder: Path | None = None, name: str = "") -> ServerAddress:
    """Return the address that a URL, a command line, a mapping or a server object stands for.

    Arguments:
        server: `"https://host/mcp"`, `"npx -y package folder"`, a mapping such as an entry of
            `.mcp.json` (`{"command": ..., "args": [...], "env": {...}}` or
            `{"url": ..., "headers": {...}}`), or an `MCPServer` of the SDK.
        folder: where a program starts; the current folder if it is left out.
        name: the name of the server; by default it is made from the address.

    Raises:
        UsageError: for anything else, and for a command line with an open quote.
    """
    address = _address(server, str(folder or Path.cwd()), name)
    return replace(address, is_named=bool(name))


def _address(server: object, start: str, name: str) -> ServerAddress:
    if isinstance(server, Mapping):
        server = {key: part for key, part in server.items() if part is not None}
    match server:
        case str() if server.strip().lower().startswith(("http://", "https://")):
            return _at_url(server.strip(), {}, name)
        case str() if server.strip():
            try:
                words = split_command(server)
            except ValueError as error:
                raise UsageError(f"{server!r:.80} is no command line: {error}") from None
            return ServerAddress(name or _command_name(words), command=words, folder=start)
        case {"url": str(url), **entry}:
            return _at_url(url, _texts(entry.get("headers", {}), "headers"), name)
        case {"command": str(command), **entry} if command:
            words = (command, *_text_list(entry.get("args", [])))
            env = _texts(entry.get("env", {}), "env")
            cwd = str(entry.get("cwd", ""))
            return ServerAddress(name or _command_name(words), "", {}, words, env, start, cwd)
        case object() if hasattr(server, "streamable_http_app") or hasattr(server, "lifespan"):
            title = name or re.sub(r"\W+", "_", str(getattr(server, "name", ""))) or "server"
            return ServerAddress(title, in_memory=server)
    raise UsageError(
        f"{server!r:.60} is no MCP server: give a URL, a command line, a mapping with `url` or "
        "`command`, or an MCPServer"
    )


def _at_url(url: str, headers: Mapping[str, str], name: str) -> ServerAddress:
    if not PLACEHOLDER.search(url):
        _demand_url(url)
    parts = web_url(PLACEHOLDER.sub("", url))
    host = (parts.hostname if parts else "") or ""
    words = [word for word in host.split(".") if word not in ("", "www", "mcp", "api")]
    title = "local" if host in ("localhost", "127.0.0.1", "::1") else (words or ["server"])[0]
    return ServerAddress(name or re.sub(r"\W+", "_", title), url, headers)


def _demand_url(url: str) -> None:
    parts = web_url(url)
    if parts is None or "@" in parts.netloc:
        raise UsageError(
            "the URL of an MCP server begins with https:// and a host, and holds no password; "
            "write a token as a header: Authorization: Bearer ${NAME}"
        )


def split_command(line: str, windows: bool = os.name == "nt") -> tuple[str, ...]:
    """Return the words of a command line. Raises ValueError for an open quote.

    On Windows a backslash is a part of a path, and only double quotes keep words together.
    """
    if not windows:
        return tuple(shlex.split(line))
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    lexer.escape, lexer.quotes = "", '"'
    return tuple(lexer)


def _command_name(words: tuple[str, ...]) -> str:
    """Return the last part of the package or program that a command line starts."""
    candidates = [
        word for word in words if not word.startswith("-") and Path(word).stem not in _RUNNERS
    ]
    stem = Path((candidates or [words[0]])[0].partition("@latest")[0]).name.removesuffix(".py")
    short = re.sub(r"^(mcp-server-|server-|mcp-)|(-mcp|-server)+$", "", stem.removesuffix(".exe"))
    return re.sub(r"\W+", "_", short) or "server"


def _texts(data: object, where: str) -> dict[str, str]:
    if not isinstance(data, Mapping) or not all(isinstance(v, str) for v in data.values()):
        raise UsageError(f"`{where}` of an MCP server must map names to texts")
    return {str(key): value for key, value in data.items()}


def _text_list(data: object) -> tuple[str, ...]:
    if not isinstance(data, list) or not all(isinstance(word, str) for word in data):
        raise UsageError("`args` of an MCP server must be a list of texts")
    return tuple(data)


# -- servers with a name ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedServer:
    """A server of the configuration, and the file that names it ("" for a setting)."""

    entry: Any
    file: str = ""


def named_servers(folder: Path, settings: Mapping[str, object]) -> dict[str, NamedServer]:
    """Return the servers that can be used as `-t mcp:NAME`.

    Arguments:
        folder: the notebook's. `.mcp.json` and `pyproject.toml` (`[tool.jupyter-toolcall.mcp]`)
            are read there.
        settings: `%config ToolChat.mcp_servers`; these come first.

    Raises:
        UsageError: for a file that cannot be read.
    """
    servers = {name: NamedServer(entry) for name, entry in settings.items()}
    for name, entry, file in _file_entries(folder):
        servers.setdefault(name, NamedServer(entry, file))
    return servers


def _file_entries(folder: Path) -> Iterator[tuple[str, object, str]]:
    pyproject = _read(folder / "pyproject.toml", tomllib.loads)
    table = _mapping(_mapping(_mapping(pyproject, "tool"), "jupyter-toolcall"), "mcp")
    yield from ((name, entry, "pyproject.toml") for name, entry in table.items())
    file = _read(folder / ".mcp.json", _parse_json)
    # VS Code calls them by the shorter name.
    servers = _mapping(file, "mcpServers") or _mapping(file, "servers")
    yield from ((name, entry, ".mcp.json") for name, entry in servers.items())


def _mapping(data: object, key: str) -> Mapping[str, object]:
    inner = data.get(key) if isinstance(data, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _read(path: Path, parse: Callable[[str], object]) -> object:
    try:
        data = path.read_bytes()
        # Windows writes a mark in front, or UTF-16.
        return parse(data.decode(json.detect_encoding(data)))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path.name} beside the notebook cannot be read: {error}") from None


_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')


def _parse_json(text: str) -> object:
    """Return JSON data that may have comments and commas at the end, as editors allow them."""
    for dropped in (_COMMENT, _LAST_COMMA):
        text = dropped.sub(lambda match: match[1] or "", text)
    return json.loads(text)


Confirm = Callable[[str], bool]
"""Asks a person a question that is answered with yes or no."""


def confirmed_address(
    name: str, folder: Path, settings: Mapping[str, object], confirm: Confirm
) -> ServerAddress:
    """Return the address of a server of the configuration, once the person has allowed it.

    Arguments:
        name: the server's name in the configuration.
        folder: the notebook's, as for `named_servers`.
        settings: `%config ToolChat.mcp_servers`; a server of these needs no confirmation.
        confirm: asks the person before a server that a file names is first used.

    Raises:
        UsageError: for an unknown name or a wrong entry, and where the person says no.
    """
    servers = named_servers(folder, settings)
    if name not in servers:
        names = ", ".join(servers) or "none"
        raise UsageError(
            f"-t mcp:{name}: no MCP server of that name in .mcp.json, pyproject.toml or "
            f"%config ToolChat.mcp_servers; there are: {names}.{nearest(name, servers)}"
        )
    named = servers[name]
    try:
        address = server_address(named.entry, folder, name)
    except UsageError as error:
        raise UsageError(f"-t mcp:{name}: {error}") from None
    if named.file and address.identity not in _read_allowed():
        action = "starts this program" if address.command else "connects to"
        question = f"mcp:{name} of {named.file} {action}: {address.consent_text}. Allow it? [y/N] "
        if not confirm(question):
            raise UsageError(
                f"-t mcp:{name} was not allowed to start. %toolchat mcp allow {name} allows "
                f"{address.consent_text} on this computer"
            )
        allow(address)
    return address


def _allowed_file() -> Path:
    return journals_folder() / "mcp-servers.json"


def allow(address: ServerAddress) -> None:
    """Allow a server on this computer, until its entry changes."""
    path = _allowed_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    allowed = {**_read_allowed(), address.identity: address.display_text}
    path.write_text(json.dumps(allowed, indent=1), encoding="utf-8")


def _read_allowed() -> dict[str, str]:
    try:
        data = json.loads(_allowed_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
