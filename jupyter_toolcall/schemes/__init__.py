"""The tool-calling schemes by name. A new one is a file here and a line below."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors import UsageError
from ..tools import nearest
from .current import Current
from .flat import Flat
from .native import Native
from .scheme import Offer, Scheme
from .select import Select

SCHEMES: Mapping[str, Scheme] = {"select": Select(), "current": Current(), "flat": Flat()}
_NATIVE = re.compile(r"native(?:\((\w+)(, force)?\))?")

__all__ = ["SCHEMES", "Current", "Flat", "Native", "Offer", "Scheme", "Select", "scheme_named"]


def scheme_named(scheme: str | Scheme) -> Scheme:
    """Return a scheme. Raises UsageError for a name that there is not.

    `native(select)` is a scheme that is spoken in XML, `native` is `native(flat)`.
    """
    if not isinstance(scheme, str):
        return scheme
    found = _NATIVE.fullmatch(scheme)
    name = (found[1] or "flat") if found else scheme
    if name not in SCHEMES:
        known = ", ".join((*SCHEMES, "native(NAME)"))
        raise UsageError(f"no scheme {name!r}; there are {known}.{nearest(name, SCHEMES)}")
    return Native(SCHEMES[name], force=bool(found[2])) if found else SCHEMES[name]
