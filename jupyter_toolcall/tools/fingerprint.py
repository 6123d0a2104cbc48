"""The version of a function: a digest of its code and of all of yours that it is made of.

It is computed from compiled code, so comments and moving a cell change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..digest import digest_text
from .following import parts_in


class Version:
    """The version of a tool: read when first asked for, and again after it was forgotten."""

    def __init__(self, read: Callable[[], str], *inner: Callable[[], str]) -> None:
        self._read, self._inner, self._known = read, inner, ""

    def __call__(self) -> str:
        self._known = self._known or self._read()
        return self._known

    def forget(self) -> None:
        """Read it again the next time: a helper may have been defined anew."""
        self._known = ""
        for each in self._inner:
            forget(each)


def forget(version: Callable[[], str]) -> None:
    """Let a version be read again, where it is one that is read."""
    if isinstance(version, Version):
        version.forget()


def version_of(function: Callable[..., Any], owner: type | None = None) -> Version:
    """Return the version of a function, or of what a class has."""
    return Version(lambda: fingerprint(function, owner))


def fingerprint(function: Callable[..., Any], owner: type | None = None) -> str:
    """Return the version of a function; of what has no Python code, its name's digest."""
    return digest_text("code", *(part.text for part in parts_in(function, owner)))


def parts_of(function: Callable[..., Any], owner: type | None = None) -> Mapping[str, str]:
    """Return what a function is made of: the name of each part, "" for itself, and its digest."""
    found: dict[str, list[str]] = {}
    for part in parts_in(function, owner):
        found.setdefault(part.name, []).append(part.text)
    return {name: digest_text("part", *texts)[:16] for name, texts in found.items()}
