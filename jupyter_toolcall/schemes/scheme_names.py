"""The schemes by name, and what is a scheme at all. A new scheme is a row of `SCHEMES`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.errors import UsageError
from ..core.text import nearest
from .current import Current
from .scheme import Flat, Scheme
from .select import Select

SCHEMES: Mapping[str, Scheme] = {"select": Select(), "current": Current(), "flat": Flat()}
_FUNCTIONS = ("offer", "read", "complete", "render", "speak")


def plain_scheme(scheme: str | Scheme, *more_names: str) -> Scheme:
    """Return a scheme by its name, or as it is.

    Raises UsageError for an unknown name, which lists those that there are and `more_names`, and
    for what is no scheme.
    """
    if not isinstance(scheme, str):
        return _checked(scheme)
    if scheme not in SCHEMES:
        known = ", ".join((*SCHEMES, *more_names))
        raise UsageError(f"no scheme {scheme!r}; there are {known}.{nearest(scheme, SCHEMES)}")
    return SCHEMES[scheme]


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
