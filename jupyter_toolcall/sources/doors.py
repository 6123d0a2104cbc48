"""What a request may reach: hosts by name, and which addresses a name may stand for."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from ..errors import DefinitionError

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]?#]+)(?::(\d{1,5}))?")
_AT_HOME = (".localhost", ".local", ".internal", ".home.arpa", ".test")
"""The ends of names that are never public: who names one means a private host."""
_NAT64 = IPv6Network("64:ff9b::/96")
_Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Door:
    """Where requests may go, and how long and how large an answer may be.

    `hosts` are `host` (any port) or `host:port`. A private address is reached only where
    it was named itself, or through a name that is never public, such as `localhost`.
    `says` is what a person writes to allow hosts. Raises DefinitionError for what is no host.
    """

    hosts: tuple[str, ...] = ()
    seconds: float = 20.0
    size: int = 5_000_000
    redirects: int = 5
    says: str = "from_definition(..., allow_hosts={})"

    def __post_init__(self) -> None:
        for host in self.hosts:
            _named(host)

    def allows(self, host: str, port: int) -> bool:
        """Return whether a host was named, with this port or with none."""
        return any(host == name and port == (at or port) for name, at in map(_named, self.hosts))

    def allowing(self, *hosts: str) -> str:
        """Return what to write, so that these hosts are allowed too."""
        every = ", ".join(f'"{host}"' for host in (*self.hosts, *hosts))
        return self.says.format(f"({every}{',' * (',' not in every)})")

    def leads_to(self, address: str, host: str, port: int) -> bool:
        """Return whether a host's name may stand for an address."""
        found = ip_address(address)
        inside = _inside(found)
        if _is_public(inside) or any(self.allows(str(a), port) for a in (found, inside)):
            return True
        near = inside.is_private or inside.is_loopback
        return near and not inside.is_link_local and _is_home(host)


def _inside(address: _Address) -> _Address:
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


def _is_home(host: str) -> bool:
    return "." not in host or host.endswith(_AT_HOME)


@functools.lru_cache(256)
def _named(host: str) -> tuple[str, int | None]:
    """Return the host and port that `host` or `host:port` names. Raises DefinitionError."""
    if host.count(":") > 1 and not host.startswith("["):
        host = f"[{host}]"
    found = _HOST.fullmatch(host)
    if found is None:
        raise DefinitionError(
            f'allow_hosts: {host!r:.80} is no host; give "api.example.org" or "localhost:8080"'
        )
    return found[1].strip("[]").rstrip(".").lower(), int(found[2]) if found[2] else None
