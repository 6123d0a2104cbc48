"""The tool-calling schemes by name. A new one is a file here and a line below."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.errors import UsageError
from ..core.text import nearest
from .current import Current
from .flat import Flat
from .native import Native
from .scheme import Offer, Scheme
from .select import Select

SCHEMES: Mapping[str, Scheme] = {"select": Select(), "current": Current(), "flat": Flat()}
_ACTS = ("offer", "read", "complete", "render", "speak")
_NATIVE = re.compile(r"native(?:\((\w+)(, force)?\))?")

__all__ = [
    "SCHEMES",
    "Current",
    "Flat",
    "Native",
    "Offer",
    "Scheme",
    "Select",
    "is_known",
    "is_scheme",
    "scheme_named",
    "scheme_recorded",
]


def scheme_named(scheme: str | Scheme) -> Scheme:
    """Return a scheme. Raises UsageError for a name that there is not, and for what is none.

    `native(select)` is a scheme that is spoken in XML, `native` is `native(flat)`.
    """
    if not isinstance(scheme, str):
        return _scheme(scheme)
    found = _NATIVE.fullmatch(scheme)
    name = (found[1] or "flat") if found else scheme
    if name not in SCHEMES:
        known = ", ".join((*SCHEMES, "native(NAME)"))
        raise UsageError(f"no scheme {name!r}; there are {known}.{nearest(name, SCHEMES)}")
    return Native(SCHEMES[name], force=bool(found[2])) if found else SCHEMES[name]


@dataclass(frozen=True)
class _Elsewhere(Flat):
    """A scheme of somebody's own whose code is not here: what it offered is in the record."""

    called: str = ""

    @property
    def name(self) -> str:
        return self.called


def scheme_recorded(name: str) -> Scheme:
    """Return the scheme of a session that is only read; one that is not known, by its name."""
    return scheme_named(name) if is_known(name) else _Elsewhere(name)


def is_known(name: str) -> bool:
    """Return whether a name is that of a scheme of ours, as XML too."""
    found = _NATIVE.fullmatch(name)
    return (name if found is None else found[1] or "flat") in SCHEMES


def is_scheme(value: Any) -> bool:
    """Return whether a value is a scheme, of ours or not."""
    return all(hasattr(type(value), act) for act in _ACTS)


def _scheme(value: Any) -> Scheme:
    if is_scheme(value):
        made: Scheme = value
        return made
    name = getattr(value, "__name__", "") if isinstance(value, type) else ""
    raise UsageError(
        f"{name} is a class; its scheme is {name}()"
        if name
        else f"{value!r:.60} is no scheme: give a name ({', '.join(SCHEMES)}), or an instance of a "
        "class that is made from jupyter_toolcall.schemes.Scheme"
    )
