"""Which hosts a request may reach, and which addresses a host's name may stand for."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from ..core.errors import DefinitionError

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
        hosts = ", ".join(f'"{each}"' for each in (*self.hosts, host))
        return self.allow_hint.format(f"({hosts}{',' * (not self.hosts)})")


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
