"""How tools are presented to a model: the schemes `select`, `current`, `flat` and `native`.

A scheme is a few pure functions: what is offered, how a reply is read, how defaults are filled in,
how results are rendered. A new one is a file beside this one, and a row of `SCHEMES` in
`native.py`. The package also composes the request of the next turn from a branch. It sends
nothing (`models`) and decides nothing (`engine`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .current import Current
from .native import SCHEMES, Native, is_scheme, plain_scheme
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

_NAMED: Mapping[str, Scheme] = {
    "native": Native("flat"),
    **{
        scheme.name: scheme
        for inner in SCHEMES.values()
        for scheme in (inner, Native(inner), Native(inner, force=True))
    },
}
"""Every scheme of ours by the name that journals have, such as `native(select, force)`."""


def scheme_named(scheme: str | Scheme) -> Scheme:
    """Return a scheme. Raises UsageError for an unknown name, and for what is no scheme.

    `native(select)` is a scheme that is spoken in XML, `native` is `native(flat)`.
    """
    if isinstance(scheme, str) and is_known(scheme):
        return _NAMED[scheme]
    return plain_scheme(scheme, "native(NAME)")


def is_known(name: str) -> bool:
    """Return whether a name is that of a scheme of ours, as XML too."""
    return name in _NAMED


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
