"""The HTTP client of all tools: only allowed hosts, within limits of time and size.

A model, a definition or a server may choose the URL. So every address is checked, and the client
connects to the address that was checked: a name cannot mean another one in between. Each redirect
is checked again. There are no cookies, and no proxies or passwords from the environment.
"""

from __future__ import annotations

import asyncio
import codecs
import functools
import re
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from ..core.errors import CallError, DefinitionError
from ..tools.invoke import invoke
from ..tools.plain_data import well_formed

if TYPE_CHECKING:
    import httpx2


PORTS = {"http": 80, "https": 443}
"""The port of each scheme where a URL names none."""


def web_url(url: object) -> SplitResult | None:
    """Return the parts of a URL of the web, which has a host; None for anything else."""
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        is_host = parts.hostname and parts.netloc.isprintable() and " " not in parts.netloc
        return parts if parts.scheme in PORTS and is_host and parts.port != 0 else None
    except ValueError:
        return None


_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SAFE_HEADERS = frozenset({"accept", "content-type"})
"""The headers that go along to another host; any other may be a secret."""
_CLIENT_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection"})
"""The headers that the client sets itself."""
_ENCODING = re.compile(
    r"(utf-?(8|16|32)|iso-?8859|windows|cp|latin|(us-)?ascii|koi8|gb|big5|euc|shift)"
)
"""How names of encodings begin; Python knows others that are no encodings of texts."""
_DEFAULTS = {"accept": "*/*", "accept-encoding": "gzip, deflate", "user-agent": "jupyter-toolcall"}


_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]?#]+)(?::(\d{1,5}))?")
_PRIVATE_SUFFIXES = (".localhost", ".local", ".internal", ".home.arpa", ".test")
"""The ends of names that are never public: who names one means a private host."""
_NAT64 = IPv6Network("64:ff9b::/96")
_Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """The hosts that requests may reach, and how long and how large a response may be.

    Arguments:
        hosts: `host` (any port) or `host:port`. A private address is reached only where it
            is in `hosts` itself, or through a name that is never public, such as `localhost`.
        seconds: for the whole exchange, redirects included.
        max_bytes: of the unpacked body.
        max_redirects: that are followed.
        allow_hint: what a person writes to allow hosts; `{}` is the tuple of hosts.

    Raises DefinitionError for an entry of `hosts` that is no host.
    """

    hosts: tuple[str, ...] = ()
    seconds: float = 20.0
    max_bytes: int = 5_000_000
    max_redirects: int = 5
    allow_hint: str = "from_definition(..., allow_hosts={})"

    def __post_init__(self) -> None:
        for host in self.hosts:
            _host_and_port(host)

    def allows(self, host: str, port: int) -> bool:
        """Return whether a host is in `hosts`, with this port or with none."""
        allowed = map(_host_and_port, self.hosts)
        return any(host == name and port == (only or port) for name, only in allowed)

    def allows_address(self, address: str, host: str, port: int) -> bool:
        """Return whether a host's name may stand for an address."""
        outer = ip_address(address)
        inner = _embedded_ipv4(outer)
        if _is_public(inner) or any(self.allows(str(a), port) for a in (outer, inner)):
            return True
        is_private_name = "." not in host or host.endswith(_PRIVATE_SUFFIXES)
        # Link-local addresses are never reached by a name: clouds keep credentials there.
        return is_private_name and inner.is_private and not inner.is_link_local

    def hint(self, host: str) -> str:
        """Return what a person writes so that this host is allowed too."""
        hosts = ", ".join(f'"{name}"' for name in (*self.hosts, host))
        return self.allow_hint.format(f"({hosts}{',' * (not self.hosts)})")


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def media_type(self) -> str:
        """The media type, such as `application/json`; "" where there is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def text(self) -> str:
        """The body as text, without a byte order mark; what cannot be read in its own encoding is
        replaced."""
        match = re.search(r"charset=\"?([\w.:-]+)", self.headers.get("content-type", ""))
        encoding = match[1].lower() if match and _ENCODING.match(match[1].lower()) else "utf-8"
        try:
            return well_formed(self.body.decode(encoding, "replace").removeprefix("\ufeff"))
        except (LookupError, UnicodeError):
            return self.body.decode("utf-8", "replace")


class _Target(NamedTuple):
    """A URL that was read and allowed."""

    url: httpx2.URL
    scheme: str
    host: str
    port: int

    @property
    def address(self) -> str:
        """The host, with the port where it is not the usual one: for messages."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


class _Request(NamedTuple):
    method: str
    target: _Target
    headers: Mapping[str, str]
    body: bytes


def send(
    limits: RequestLimits,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Response:
    """Return what a server answers, whatever its status; an interrupt ends it at once.

    Raises CallError, in one line, for what the limits do not allow and where no whole
    response came.
    """
    target = _target(url, limits)
    lowered = {key.lower(): value for key, value in (headers or {}).items()}
    sent = _DEFAULTS | {k: v for k, v in lowered.items() if k not in _CLIENT_HEADERS}
    request = _Request(method.upper(), target, sent, body)
    response: Response = invoke(_exchange, (limits, request), {})
    return response


async def _exchange(limits: RequestLimits, request: _Request) -> Response:
    """Return the response after all redirects."""
    import httpx2

    address = request.target.address
    try:
        async with asyncio.timeout(limits.seconds):
            for _ in range(limits.max_redirects + 1):
                response = await _send_once(limits, request)
                location = response.headers.get("location")
                if response.status not in _REDIRECTS or not location:
                    return response
                request = _redirected(request, response.status, location, limits)
    except (TimeoutError, httpx2.TimeoutException):
        raise CallError(f"{address} gave no whole answer in {limits.seconds:g} seconds") from None
    except httpx2.ConnectError as error:
        raise CallError(f"{address} cannot be reached: {error}"[:300]) from None
    # The text of these errors may quote a header, and so a secret.
    except (httpx2.HTTPError, httpx2.StreamError, UnicodeError) as error:
        raise CallError(f"{address} gave no answer ({type(error).__name__})") from None
    raise CallError(f"{request.target.address} redirects more than {limits.max_redirects} times")


def _redirected(request: _Request, status: int, location: str, limits: RequestLimits) -> _Request:
    """Return the next request. As in browsers, 303, and a POST's 301 and 302, become GET."""
    method, old, headers, body = request
    new = _target(location, limits, old)
    if (old.scheme, new.scheme) == ("https", "http"):
        raise CallError(f"{old.address} redirects from https to http, which is not followed")
    if method != "HEAD" and (status == 303 or (status in (301, 302) and method == "POST")):
        method, body = "GET", b""
        headers = {key: value for key, value in headers.items() if key != "content-type"}
    upgraded = (old.port, new.port) == (80, 443)
    if old.host != new.host or not (old.port == new.port or upgraded):
        headers = {k: v for k, v in headers.items() if k in _SAFE_HEADERS or k in _DEFAULTS}
    return _Request(method, new, headers, body)


async def _send_once(limits: RequestLimits, request: _Request) -> Response:
    """Return the answer to one request, from the first checked address that takes it."""
    import httpx2

    method, target, headers, body = request
    sent = httpx2.Request(method, target.url, headers=headers, content=body)
    async with httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False) as transport:
        addresses = await _addresses(limits, target)
        for address in addresses:
            try:
                response = await transport.handle_async_request(_sent_to(address, sent))
            except httpx2.ConnectError:
                if address == addresses[-1]:
                    raise
                continue
            try:
                whole = await _body(response, limits, target)
            finally:
                await response.aclose()
            return Response(response.status_code, dict(response.headers), whole)
    raise CallError(f"{target.address} has no address")


def _sent_to(address: str, request: httpx2.Request) -> httpx2.Request:
    """Return a request that goes to an address of its host; TLS still checks the host's name."""
    import httpx2

    host = request.url.raw_host.decode("ascii").strip("[].")
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )


@functools.cache
def _tls() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()


# -- what is allowed ------------------------------------------------------------------


def _target(url: str, limits: RequestLimits, base: _Target | None = None) -> _Target:
    """Return where a URL leads. Raises CallError where the limits do not allow it."""
    import httpx2

    try:
        parsed = httpx2.URL(url) if base is None else base.url.join(url)
        host = parsed.raw_host.decode("ascii").strip("[]").rstrip(".").lower()
    except (httpx2.InvalidURL, UnicodeError, TypeError, ValueError) as error:
        raise CallError(f"{url!r:.80} is no URL: {error}") from None
    if parsed.scheme not in PORTS or not host:
        raise CallError(f"{url!r:.80} is no URL of the web; it begins with https:// and a host")
    if parsed.userinfo:
        raise CallError(f"the URL of {host} holds a password; requests go without one")
    if parsed.port is not None and not 0 < parsed.port < 65_536:
        raise CallError(f"the URL of {host:.80} has no port that there is: {parsed.port}")
    target = _Target(parsed, parsed.scheme, host, parsed.port or PORTS[parsed.scheme])
    if not limits.allows(target.host, target.port):
        by = f"{base.address} redirects to {target.address}, which" if base else target.address
        raise CallError(f"{by} is not allowed; {limits.hint(target.address)} allows it")
    return target


def _embedded_ipv4(address: _Address) -> _Address:
    """Return the IPv4 address that an IPv6 address stands for, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _is_public(address: _Address) -> bool:
    tunnelled = isinstance(address, IPv6Address) and (address.teredo or address.is_site_local)
    special = address.is_multicast or address.is_reserved or address.is_link_local
    return address.is_global and not special and not tunnelled


@functools.lru_cache(256)
def _host_and_port(host: str) -> tuple[str, int | None]:
    """Return the host and port that `host` or `host:port` names. Raises DefinitionError."""
    if host.count(":") > 1 and not host.startswith("["):
        host = f"[{host}]"
    match = _HOST.fullmatch(host)
    if match is None:
        raise DefinitionError(
            f'allow_hosts: {host!r:.80} is no host; give "api.example.org" or "localhost:8080"'
        )
    return match[1].strip("[]").rstrip(".").lower(), int(match[2]) if match[2] else None


async def _addresses(limits: RequestLimits, target: _Target) -> list[str]:
    """Return the addresses of a host. Raises CallError unless each of them is allowed."""
    addresses = await _resolved(target.host, target.port)
    for address in addresses:
        if not limits.allows_address(address, target.host, target.port):
            raise CallError(
                f"{target.address} leads to the private address {address}, which is not allowed; "
                f"{limits.hint(address)} allows it"
            )
    return addresses


async def _resolved(host: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    try:
        infos = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise CallError(f"{host} cannot be found: no such host") from None
    return list(dict.fromkeys(str(info[4][0]) for info in infos))


# -- a server whose URL a person typed ------------------------------------------------


@dataclass
class LastResponse:
    """The last response of a server."""

    status: int = 0
    is_too_large: bool = False


def server_client(
    url: str, headers: Mapping[str, str], auth: Any, max_bytes: int, last: LastResponse
) -> httpx2.AsyncClient:
    """Return a client for one server, whose URL a person typed.

    The server itself may be on this computer. Any other host that it leads to (a redirect, a
    sign-in service that it names) has to be public and use https, and the client connects to the
    address that was checked. A response, or a line of an event stream, has at most `max_bytes`.
    `last` is kept up to date.
    """
    import httpx2

    typed = _origin(httpx2.URL(url))

    class Transport(httpx2.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            if _origin(request.url) != typed:
                request = await _to_public_address(request)
            response = await super().handle_async_request(request)
            # Signing in makes requests of its own.
            if "text/event-stream" in request.headers.get("accept", ""):
                last.status, last.is_too_large = response.status_code, False
            packed = ("content-encoding", "content-length")
            kept = [pair for pair in response.headers.multi_items() if pair[0] not in packed]
            body = ReadableBody(response, request.url.host)
            return httpx2.Response(response.status_code, headers=kept, stream=body)

    class ReadableBody(httpx2.AsyncByteStream):
        def __init__(self, response: httpx2.Response, host: str) -> None:
            self._response, self._host = response, host

        def __aiter__(self) -> AsyncIterator[bytes]:
            return _readable_parts(self._response, self._host, max_bytes, last)

        async def aclose(self) -> None:
            await self._response.aclose()

    return httpx2.AsyncClient(
        headers=headers,
        # A tool may take as long as it takes: a person can interrupt it.
        timeout=httpx2.Timeout(30, read=None),
        auth=auth,
        transport=Transport(verify=_tls(), trust_env=False),
    )


async def _readable_parts(
    response: httpx2.Response, host: str, max_bytes: int, last: LastResponse
) -> AsyncIterator[bytes]:
    """Yield the body as JSON that a parser reads: an event stream by lines, all else as a whole."""
    import httpx2

    is_stream = response.headers.get("content-type", "").startswith("text/event-")
    buffer = bytearray()
    try:
        async for part in _unpacked(response, max_bytes, host):
            buffer += part
            if is_stream and b"\n" in part:
                end = buffer.rindex(b"\n") + 1
                yield readable_json(bytes(buffer[:end]))
                del buffer[:end]
            if len(buffer) > max_bytes:
                last.is_too_large = True
                raise CallError(f"more than {max_bytes:,} bytes")
    except CallError as error:
        raise httpx2.StreamError(str(error)) from None
    yield readable_json(bytes(buffer))


_ESCAPES = re.compile(
    rb"\\(?:\\|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u([dD][89a-fA-F]..))"
)
"""A backslash, a character in two halves, or half of one (with a group), as JSON escapes them."""


def readable_json(data: bytes) -> bytes:
    """Return JSON without a byte order mark, and with U+FFFD for half of a Unicode character.

    Few parsers read either.
    """
    data = data.removeprefix(codecs.BOM_UTF8)
    if b"\\ud" not in data and b"\\uD" not in data:
        return data
    return _ESCAPES.sub(lambda match: rb"\ufffd" if match[1] else match[0], data)


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or PORTS.get(url.scheme)


async def _to_public_address(request: httpx2.Request) -> httpx2.Request:
    """Return a request that goes to a checked address. Raises ConnectError for a private one."""
    import httpx2

    url, host = request.url, request.url.raw_host.decode("ascii").strip("[]")
    if url.scheme != "https":
        raise httpx2.ConnectError(f"{host} was not typed by a person, and does not use https")
    try:
        addresses = await _resolved(host, url.port or 443)
    except CallError as error:
        raise httpx2.ConnectError(str(error)) from None
    if not addresses or not all(_is_public(_embedded_ipv4(ip_address(a))) for a in addresses):
        raise httpx2.ConnectError(f"{host} has a private address, and was not typed by a person")
    return _sent_to(addresses[0], request)


# -- the body -------------------------------------------------------------------------


async def _body(response: httpx2.Response, limits: RequestLimits, target: _Target) -> bytes:
    """Return the whole body, unpacked. Raises CallError as soon as it is too long."""
    body = bytearray()
    async for part in _unpacked(response, limits.max_bytes, target.address):
        body += part
        if len(body) > limits.max_bytes:
            raise CallError(f"{target.address} answered more than {limits.max_bytes:,} bytes")
    return bytes(body)


async def _unpacked(
    response: httpx2.Response, max_bytes: int, address: str
) -> AsyncIterator[bytes]:
    """Yield the body in parts, none of them much longer than the limit."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing in ("identity", ""):
        async for part in response.aiter_raw():
            yield part
        return
    if packing not in ("gzip", "x-gzip", "deflate"):
        raise CallError(f"{address} packed its answer as {packing!r:.40}, not as gzip")
    unpack, is_empty = zlib.decompressobj(zlib.MAX_WBITS | 32), True
    async for part in response.aiter_raw():
        is_empty = is_empty and not part
        try:
            # A small packed part may unpack to gigabytes.
            yield unpack.decompress(part, max_bytes + 1)
        except zlib.error:
            raise CallError(f"{address} sent an answer that cannot be unpacked") from None
    if not is_empty and (not unpack.eof or unpack.unused_data):
        raise CallError(f"{address} sent an answer that is not packed as one whole")
