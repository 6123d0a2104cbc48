"""How tools are presented to a model: the schemes `select`, `current`, `flat` and `native`.

A scheme is a few pure functions: what is offered, how a reply is read, how defaults are filled in,
how results are rendered. Here are the schemes by name: a new one is a file beside this one, and a
row of `SCHEMES`. The package also composes the request of the next turn from a branch. It sends
nothing (`models`) and decides nothing (`engine`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.errors import UsageError
from ..core.text import nearest
from .current import Current
from .native import Native
from .scheme import Flat, Offer, Scheme
from .select import Select

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

SCHEMES: Mapping[str, Scheme] = {"select": Select(), "current": Current(), "flat": Flat()}
_FUNCTIONS = ("offer", "read", "complete", "render", "speak")
_NATIVE = re.compile(r"native(?:\((\w+)(, force)?\))?")


def scheme_named(scheme: str | Scheme) -> Scheme:
    """Return a scheme. Raises UsageError for an unknown name, and for what is no scheme.

    `native(select)` is a scheme that is spoken in XML, `native` is `native(flat)`.
    """
    if not isinstance(scheme, str):
        return _checked(scheme)
    native = _NATIVE.fullmatch(scheme)
    name = (native[1] or "flat") if native else scheme
    if name not in SCHEMES:
        known = ", ".join((*SCHEMES, "native(NAME)"))
        raise UsageError(f"no scheme {name!r}; there are {known}.{nearest(name, SCHEMES)}")
    return Native(SCHEMES[name], force=bool(native[2])) if native else SCHEMES[name]


def is_known(name: str) -> bool:
    """Return whether a name is that of a scheme of ours, as XML too."""
    native = _NATIVE.fullmatch(name)
    return (name if native is None else native[1] or "flat") in SCHEMES


@dataclass(frozen=True)
class _Elsewhere(Flat):
    """A scheme of somebody's own whose code is not here: what it offered is in the record."""

    recorded_name: str = ""

    @property
    def name(self) -> str:
        return self.recorded_name


def scheme_recorded(name: str) -> Scheme:
    """Return the scheme of a session that is only read; one that is not known, by its name."""
    return scheme_named(name) if is_known(name) else _Elsewhere(name)


def is_scheme(value: Any) -> bool:
    """Return whether a value is a scheme, of ours or not."""
    return all(hasattr(type(value), function) for function in _FUNCTIONS)


def _checked(value: Any) -> Scheme:
    if is_scheme(value):
        scheme: Scheme = value
        return scheme
    name = getattr(value, "__name__", "") if isinstance(value, type) else ""
    raise UsageError(
        f"{name} is a class; its scheme is {name}()"
        if name
        else f"{value!r:.60} is no scheme: give a name ({', '.join(SCHEMES)}), or an instance of a "
        "class that is made from jupyter_toolcall.schemes.Scheme"
    )
