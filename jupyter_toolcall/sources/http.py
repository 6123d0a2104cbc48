"""The one door to the network: only hosts that were named, within limits of time and size.

Where a request goes may come from a model, a definition or a server, so every address is
checked, and the address that was checked is the one that is connected to: a name cannot
mean something else in between. Redirects are followed by hand, each checked anew. There
are no cookies, and no proxies or passwords from the environment.
"""

from __future__ import annotations

import asyncio
import functools
import re
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..content.value import well_formed
from ..errors import CallError
from ..tools.invoke import invoke
from .doors import Door

if TYPE_CHECKING:
    import httpx2

__all__ = ["Door", "Response", "exchange", "send"]
_PORTS = {"http": 80, "https": 443}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEPT = frozenset({"accept", "content-type"})
"""The headers that go along to another host; any other may be a secret."""
_SET_HERE = frozenset({"host", "content-length", "transfer-encoding", "connection"})
_ENCODING = re.compile(
    r"(utf-?(8|16|32)|iso-?8859|windows|cp|latin|(us-)?ascii|koi8|gb|big5|euc|shift)"
)
"""How names of encodings begin; Python knows others that are no encodings of texts."""
_OURS = {"accept": "*/*", "accept-encoding": "gzip, deflate", "user-agent": "jupyter-toolcall"}


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def kind(self) -> str:
        """The media type, such as `application/json`; "" where it says none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def text(self) -> str:
        """The body as text; what cannot be read in its own encoding is replaced."""
        found = re.search(r"charset=\"?([\w.:-]+)", self.headers.get("content-type", ""))
        named = found[1].lower() if found and _ENCODING.match(found[1].lower()) else "utf-8"
        try:
            return well_formed(self.body.decode(named, "replace"))
        except (LookupError, UnicodeError):
            return self.body.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _Target:
    """Where one request goes: an absolute URL, read and allowed."""

    url: httpx2.URL
    scheme: str
    host: str
    port: int

    @property
    def place(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def send(
    door: Door,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Response:
    """Return what a server answers, whatever its status; an interrupt ends it at once.

    Raises CallError, in one line, for what the door does not allow and where no whole
    answer came. Async code awaits `exchange` instead.
    """
    request = {"headers": headers, "body": body}
    response: Response = invoke(exchange, (door, method, url), request)
    return response


async def exchange(
    door: Door,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Response:
    """Return what a server answers, as `send` does."""
    import httpx2

    target = _target(url, door)
    named = {key.lower(): value for key, value in (headers or {}).items()}
    given = _OURS | {key: value for key, value in named.items() if key not in _SET_HERE}
    try:
        async with asyncio.timeout(door.seconds):
            return await _follow(door, method.upper(), target, given, body)
    except (TimeoutError, httpx2.TimeoutException):
        raise CallError(
            f"{target.place} gave no whole answer within {door.seconds:g} seconds"
        ) from None
    except httpx2.ConnectError as error:
        raise CallError(f"{target.place} cannot be reached: {error}"[:300]) from None
    # What is said of a request may quote a header, and so a secret.
    except (httpx2.HTTPError, httpx2.StreamError, UnicodeError) as error:
        raise CallError(f"{target.place} gave no answer ({type(error).__name__})") from None


async def _follow(
    door: Door, method: str, target: _Target, headers: Mapping[str, str], body: bytes
) -> Response:
    """Redirects mean what browsers mean by them: 303, and a POST's 301 and 302, become GET."""
    for _ in range(door.redirects + 1):
        response = await _once(door, method, target, headers, body)
        goes_to = response.headers.get("location")
        if response.status not in _REDIRECTS or not goes_to:
            return response
        there = _redirected(target, goes_to, door)
        if method != "HEAD" and (
            response.status == 303 or (response.status in (301, 302) and method == "POST")
        ):
            method, body = "GET", b""
            headers = {key: value for key, value in headers.items() if key != "content-type"}
        if not _same_server(target, there):
            headers = {k: v for k, v in headers.items() if k in _KEPT or k in _OURS}
        target = there
    raise CallError(f"{target.place} redirects more than {door.redirects} times")


def _redirected(target: _Target, goes_to: str, door: Door) -> _Target:
    there = _target(goes_to, door, target)
    if (target.scheme, there.scheme) == ("https", "http"):
        raise CallError(f"{target.place} redirects from https to http, which is not followed")
    return there


def _same_server(target: _Target, there: _Target) -> bool:
    upgraded = target.port == 80 and there.port == 443
    return target.host == there.host and (target.port == there.port or upgraded)


async def _once(
    door: Door, method: str, target: _Target, headers: Mapping[str, str], body: bytes
) -> Response:
    """Return the answer to one request, from the first checked address that takes it."""
    import httpx2

    addresses = await _addresses(door, target)
    for address in addresses:
        try:
            return await _at(address, door, method, target, headers, body)
        except httpx2.ConnectError:
            if address == addresses[-1]:
                raise
    raise CallError(f"{target.place} has no address")


async def _at(
    address: str,
    door: Door,
    method: str,
    target: _Target,
    headers: Mapping[str, str],
    body: bytes,
) -> Response:
    import httpx2

    request = httpx2.Request(
        method,
        target.url.copy_with(host=address, username=None, password=None, fragment=None),
        headers={**headers, "host": target.url.netloc.decode("ascii")},
        content=body,
        extensions={"sni_hostname": target.url.raw_host.decode("ascii").strip("[].")},
    )
    async with httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False) as transport:
        response = await transport.handle_async_request(request)
        try:
            whole = await _body(response, door, target)
        finally:
            await response.aclose()
    return Response(response.status_code, dict(response.headers), whole)


@functools.cache
def _tls() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()


# -- what is allowed ------------------------------------------------------------------


def _target(url: str, door: Door, base: _Target | None = None) -> _Target:
    """Return where a URL leads. Raises CallError where the door does not allow it."""
    import httpx2

    try:
        found = httpx2.URL(url) if base is None else base.url.join(url)
        host = found.raw_host.decode("ascii").strip("[]").rstrip(".").lower()
    except (httpx2.InvalidURL, UnicodeError, TypeError, ValueError) as error:
        raise CallError(f"{url!r:.80} is no URL: {error}") from None
    if found.scheme not in _PORTS or not host:
        raise CallError(f"{url!r:.80} is no URL of the web; it begins with https:// and a host")
    if found.userinfo:
        raise CallError(f"the URL of {host} holds a password; requests go without one")
    if found.port is not None and not 0 < found.port < 65_536:
        raise CallError(f"the URL of {host:.80} has no port that there is: {found.port}")
    target = _Target(found, found.scheme, host, found.port or _PORTS[found.scheme])
    if not door.allows(target.host, target.port):
        by = f"{base.place} redirects to {target.place}, which" if base else target.place
        raise CallError(f"{by} is not allowed; {door.allowing(target.place)} allows it")
    return target


async def _addresses(door: Door, target: _Target) -> list[str]:
    """Return the addresses of a host. Raises CallError unless each of them is allowed."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise CallError(f"{target.host} cannot be found: no such host") from None
    addresses = list(dict.fromkeys(str(place[4][0]) for place in found))
    for address in addresses:
        if not door.leads_to(address, target.host, target.port):
            raise CallError(
                f"{target.place} leads to the private address {address}, which is not allowed; "
                f"{door.allowing(address)} allows it"
            )
    return addresses


# -- what comes back ------------------------------------------------------------------


async def _body(response: httpx2.Response, door: Door, target: _Target) -> bytes:
    """Return the whole body, unpacked. Raises CallError as soon as it is too long."""
    whole = bytearray()
    async for part in _unpacked(response, door, target):
        whole += part
        if len(whole) > door.size:
            raise CallError(f"{target.place} answered more than {door.size:,} bytes")
    return bytes(whole)


async def _unpacked(response: httpx2.Response, door: Door, target: _Target) -> AsyncIterator[bytes]:
    """Yield what was sent, never more than a little above the limit at once."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing in ("identity", ""):
        async for part in response.aiter_raw():
            yield part
        return
    if packing not in ("gzip", "x-gzip", "deflate"):
        raise CallError(f"{target.place} packed its answer as {packing!r:.40}, not as gzip")
    unpack, sent = zlib.decompressobj(zlib.MAX_WBITS | 32), False
    async for part in response.aiter_raw():
        sent = sent or bool(part)
        try:
            yield unpack.decompress(part, door.size + 1)
        except zlib.error:
            raise CallError(f"{target.place} sent an answer that cannot be unpacked") from None
    if sent and (not unpack.eof or unpack.unused_data):
        raise CallError(f"{target.place} sent an answer that is not packed as one whole")
