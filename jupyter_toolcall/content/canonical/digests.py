"""The digest of a value, made of those of its parts."""

from __future__ import annotations

import functools
import hashlib
import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ...digest import LENGTH
from ...interrupts import attempt
from .libraries import of_library
from .python import Parts, of_python

SCALARS = (str, int, float, bool, bytes, complex, type(None))
SHORT = 1_000
"""A text is told as Python writes it up to so many characters, a list item by item."""


def content_digest(value: object) -> str:
    """Return the digest of a value, or "" where it cannot be taken."""
    # What reading a value raises is up to its own class.
    found, raised = attempt(_digest, value)
    return "" if raised or found is None else found


def _digest(value: object) -> str:
    try:
        return Digests().of(value).hex()[:LENGTH]
    except _HoldsItself:
        return Digests(by_place=True).of(value).hex()[:LENGTH]


class _HoldsItself(ValueError):
    """A value is a part of itself."""


@dataclass(frozen=True, slots=True)
class Digests:
    """The digests of the parts of one value, each taken once, however often it is shared.

    In a value that holds itself, what comes again is told by its place (`by_place`).
    """

    by_place: bool = False
    known: dict[int, tuple[Any, bytes]] = field(default_factory=dict)
    """By id, with the part itself, so that no other one gets its id meanwhile."""

    def of(self, value: Any) -> bytes:
        """Return the digest of a part. Raises what reading it raises."""
        if type(value) in SCALARS:
            return _scalar(value)
        found = self.known.get(id(value))
        if found is None:
            place = b"again %d" % len(self.known) if self.by_place else b""
            self.known[id(value)] = value, place
            whole = hashlib.sha256(f"{type(value).__module__}.{type(value).__qualname__}:".encode())
            for part in _parts(value, self):
                whole.update(part)
            made = whole.digest()
            if not self.by_place:
                self.known[id(value)] = value, made
            return made
        if not found[1]:
            raise _HoldsItself("a value that holds itself is told by places")
        return found[1]

    def unordered(self, parts: Iterable[tuple[Any, ...]]) -> list[bytes]:
        """Return the digests of parts that have no order, in one that they have everywhere."""
        if not self.by_place:
            return sorted(b"".join(map(self.of, part)) for part in parts)
        alone = Digests().of
        ordered = sorted(parts, key=lambda part: alone(part[0]))
        return [b"".join(map(self.of, part)) for part in ordered]


def _scalar(value: Any) -> bytes:
    if type(value) in (str, bytes) and len(value) > SHORT:
        data = value if type(value) is bytes else value.encode("utf-8", "surrogatepass")
        return hashlib.sha256(f"{type(value).__name__} ".encode() + data).digest()
    said = f"{type(value).__name__}:{value!r}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()


def _parts(value: Any, digests: Digests) -> Iterable[bytes]:
    if type(value) in (list, tuple) and len(value) > SHORT and {*map(type, value)} <= {*SCALARS}:
        return (_flat(value),)
    return _way(type(value))(value, digests)


def _way_of(cls: type) -> Parts:
    return of_library(cls) or of_python(cls)


_way: Callable[[type], Parts] = functools.lru_cache(4096)(_way_of)


def _flat(value: Any) -> bytes:
    """Many scalars at once: as they are pickled, each by itself."""
    into = _Sink()
    pickler = pickle.Pickler(into, 5)
    pickler.fast = True
    pickler.dump(value)
    return into.digest()


class _Sink:
    """A file of which nothing is kept but the digest."""

    def __init__(self) -> None:
        whole = hashlib.sha256()
        self.write: Callable[[Any], object] = whole.update
        self.digest = whole.digest
