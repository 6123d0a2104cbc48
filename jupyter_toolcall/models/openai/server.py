"""Where a server of chat completions is, and the key that goes there.

Pure: the environment is passed in. The key is never shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from ...errors import ModelError

OFFICIAL = "https://api.openai.com/v1"
NO_KEY = "none"
"""Sent where a server of one's own asks for no key: the SDK wants one."""
_HINT = "http://localhost:11434/v1"


@dataclass(frozen=True, slots=True)
class Server:
    """Its address, the key that it gets, and whether it is on this machine or network."""

    url: str
    key: str = field(repr=False)
    private: bool = False

    @property
    def place(self) -> str:
        """The address as it may be shown: without a user's name and password."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def found(base_url: str | None, key: str | None, environment: Mapping[str, str]) -> Server:
    """Return the server that is meant. Raises ModelError, which says what to set.

    The environment's key is not sent to a private address that the program names: it is
    the key of another server.
    """
    url = _whole(base_url or environment.get("OPENAI_BASE_URL") or OFFICIAL)
    private = _is_private(urlsplit(url).hostname or "")
    if key is None and not (base_url and private):
        key = environment.get("OPENAI_API_KEY")
    if not key and not private:
        raise ModelError(_no_key(url))
    return Server(url, key or NO_KEY, private)


def _whole(url: str) -> str:
    """Return an address with its path: the servers that people run have theirs under /v1."""
    try:
        parts = urlsplit(url.strip())
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, known = SplitResult("", "", "", "", ""), False
    if not known:
        raise ModelError(f"the base URL is no address of a server; write it such as {_HINT}")
    return parts._replace(path=parts.path.rstrip("/") or "/v1").geturl()


def _no_key(url: str) -> str:
    if url == OFFICIAL:
        return (
            "OPENAI_API_KEY is not set: set it and restart the kernel, or set OPENAI_BASE_URL "
            f"to a server of yours, such as {_HINT}"
        )
    return f"OPENAI_API_KEY is not set, and {urlsplit(url).hostname} is not of this network: set it"


def _is_private(host: str) -> bool:
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal"))
