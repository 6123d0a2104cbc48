"""The tool-calling schemes by name. A new one is a file here and a line below."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import UsageError
from ..tools import nearest
from .current import Current
from .flat import Flat
from .scheme import Offer, Scheme
from .select import Select

SCHEMES: Mapping[str, Scheme] = {"select": Select(), "current": Current(), "flat": Flat()}

__all__ = ["SCHEMES", "Current", "Flat", "Offer", "Scheme", "Select", "scheme_named"]


def scheme_named(scheme: str | Scheme) -> Scheme:
    """Return a scheme. Raises UsageError for a name that there is not."""
    if not isinstance(scheme, str):
        return scheme
    if scheme not in SCHEMES:
        known = ", ".join(SCHEMES)
        raise UsageError(f"no scheme {scheme!r}; there are {known}.{nearest(scheme, SCHEMES)}")
    return SCHEMES[scheme]
