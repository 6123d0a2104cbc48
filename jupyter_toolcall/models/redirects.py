"""Redirects of a model's server: to the same server alone.

A request holds the prompt and the results of tools, and some keys travel in headers that an HTTP
client sends along wherever it is redirected to. So the person names each server themselves.
"""

from __future__ import annotations

from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

from ..errors import ModelError
from ..printable import printable

_PORTS = {"http": 80, "https": 443}


class Response(Protocol):
    """A response of either SDK's HTTP client."""

    @property
    def has_redirect_location(self) -> bool: ...
    @property
    def headers(self) -> Any: ...
    @property
    def url(self) -> Any: ...


def same_server_only(response: Response) -> None:
    """Raise ModelError for a redirect to another scheme, host or port.

    It is given to the HTTP client as a hook, which runs before the redirect is followed.
    """
    if not response.has_redirect_location:
        return
    here = str(response.url)
    try:
        there = urljoin(here, response.headers["location"])
        same = _server(there) == _server(here)
    except ValueError:
        there, same = "", False
    if not same:
        place = printable("{}://{}:{}".format(*_server(there))) if there else "no address"
        raise ModelError(
            f"{'{}://{}:{}'.format(*_server(here))} redirects to {place}, which is another server: "
            "nothing was sent there; if it is the right one, set the base URL to it"
        )


def _server(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)
