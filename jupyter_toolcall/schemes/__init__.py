"""How tools are presented to a model: the schemes `select`, `current`, `flat` and `native`.

A scheme is a few pure functions: what is offered, how a reply is read, how defaults are filled in,
how results are rendered. A new one is a file beside this one, and a row of `SCHEMES` in
`scheme_names.py`. The package also composes the request of the next turn from a branch. It sends
nothing (`models`) and decides nothing (`engine`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .current import Current
from .native import Native
from .scheme import Flat, Offer, Scheme
from .scheme_names import SCHEMES, is_scheme, plain_scheme
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

_NATIVE = re.compile(r"native(?:\((\w+)(, force)?\))?")


def scheme_named(scheme: str | Scheme) -> Scheme:
    """Return a scheme. Raises UsageError for an unknown name, and for what is no scheme.

    `native(select)` is a scheme that is spoken in XML, `native` is `native(flat)`.
    """
    native = _NATIVE.fullmatch(scheme) if isinstance(scheme, str) else None
    if native is None:
        return plain_scheme(scheme, "native(NAME)")
    return Native(plain_scheme(native[1] or "flat", "native(NAME)"), force=bool(native[2]))


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
