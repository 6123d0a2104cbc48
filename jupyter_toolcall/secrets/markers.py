"""Markers in place of secrets: `{secret:NAME}`, and the value again where it is needed.

A marker is resolved only where its key is recorded beside it (`secrets` of an event). The
same text written by a model, a tool or a person is a text like any other, and stays one:
where a text holds it already, the real marker takes another key (`NAME~`).
"""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from ..errors import Absent
from .recognition import keyed, recognised

HIDDEN = "[secret]"
"""In place of a secret that has no name."""
Hide = Callable[[Any], Any]
"""From JSON-ready data to the same without secrets."""
Keys = tuple[str, ...]
"""The keys of the markers that stand for values, sorted."""
_MARKER = re.compile(r"\{secret:([^\s{}:]{1,300})\}")
_SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "json": lambda value: json.dumps(value)[1:-1],
    "html": html.escape,
    "url": lambda value: quote(value, safe=""),
    "repr": lambda value: repr(value)[1:-1],
}
"""How a value may be written inside another text, by the name that its marker has there."""


class MissingSecret(Absent):
    """A text holds a secret whose variable is not set; nothing is sent or run without it."""


class Secrets:
    """The secrets of an environment, as it is now: `refresh` reads it again."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment
        self._read: Mapping[str, str] = {}
        self._keys: Mapping[str, str] = {}
        self._pattern: re.Pattern[str] | None = None
        self.values: Keys = ()
        """All that is hidden, the longest first."""
        self.refresh()

    def refresh(self) -> None:
        """Go by what the environment is now."""
        now = dict(self._environment)
        if now == self._read:
            return
        self._read, known = now, dict[str, str]()
        for key, secret in recognised(now):
            for spelled, text in _spelled(key, secret):
                known.setdefault(text, spelled)
        self._keys = known
        self.values = tuple(sorted(known, key=len, reverse=True))
        self._pattern = re.compile("|".join(map(re.escape, self.values))) if known else None

    # -- from values to markers --------------------------------------------------------------

    def occur(self, data: Any) -> bool:
        """Return whether data, or a dataclass with slots, holds a secret."""
        return bool(self.values) and _holds(data, self.values)

    def hide(self, data: Any) -> Any:
        """Return JSON-ready data with markers, which nothing resolves, in place of secrets."""
        if not self.values or not self.occur(data):
            return data
        return self._replace(data, lambda key: key)

    def mark(self, data: Any, known: Collection[str] = ()) -> tuple[Any, Keys]:
        """Return data with markers in place of secrets, and the keys that stand for values.

        `known` are keys of markers that stand for values in it already.
        """
        if not self.occur(data):
            return data, tuple(sorted(known))
        texts = {key for text in _texts(data) for key in _MARKER.findall(text)} - {*known}
        used = {*known}

        def unlike_texts(key: str) -> str:
            while key in texts:
                key += "~"
            used.add(key)
            return key

        marked = self._replace(data, unlike_texts)
        return marked, tuple(sorted(used))

    def _replace(self, data: Any, name: Callable[[str], str]) -> Any:
        pattern, keys = self._pattern, self._keys
        assert pattern is not None

        def marker(found: re.Match[str]) -> str:
            return f"{{secret:{name(keys[found[0]])}}}"

        return _mapped(data, lambda text: pattern.sub(marker, text))

    def unfinished(self, text: str) -> str:
        """Return a text that still grows, hidden, without the end that may become a secret."""
        start = len(text)
        for value in self.values:
            # The longest end of the text that the value begins with, if it is not all of it.
            sizes = range(min(len(value) - 1, len(text)), 0, -1)
            size = next((n for n in sizes if text.endswith(value[:n])), 0)
            start = min(start, len(text) - size)
        return str(self.hide(text[:start]))

    # -- from markers to values --------------------------------------------------------------

    def reveal(self, data: Any, keys: Collection[str]) -> Any:
        """Return data with values in place of the markers of these keys.

        Raises MissingSecret where a variable is not set.
        """
        if not keys:
            return data

        def value(found: re.Match[str]) -> str:
            return self._value(found[1]) if found[1] in keys else found[0]

        return _mapped(data, lambda text: _MARKER.sub(value, text) if "{secret:" in text else text)

    def variable(self, text: str, keys: Collection[str]) -> str:
        """Return the variable that holds all of what a text stands for; "" for any other text.

        So `{secret:NAME}` is `os.environ["NAME"]`, where that is no URL with a password in it.
        """
        found = _MARKER.fullmatch(text)
        name = found[1].rstrip("~") if found and found[1] in keys else ""
        value = self._environment.get(name, "")
        return name if dict(keyed(name, value)).get(name, "") == value != "" else ""

    def _value(self, key: str) -> str:
        """Return what a marker stands for now, also where that is no secret any more."""
        base, name = key.rstrip("~"), re.split("[#~]", key)[0]
        if name in self._environment:
            for each, secret in keyed(name, self._environment[name]):
                for spelled, text in _spelled(each, secret):
                    if spelled == base:
                        return text
        raise MissingSecret(
            f"The environment variable {name} is not set. Set it and run the cell again."
        )


def hiding(environment: Mapping[str, str]) -> Hide:
    """Return what replaces the secrets of an environment wherever they stand in a text."""
    return Secrets(environment).hide


def marker_keys(data: Any) -> set[str]:
    """Return the keys of all that reads as a marker."""
    return {key for text in _texts(data) for key in _MARKER.findall(text)}


def _spelled(key: str, secret: str) -> Iterator[tuple[str, str]]:
    """Yield the ways in which a secret may be written, each with its key; its own first."""
    yield key, secret
    for name, spell in _SPELLINGS.items():
        if (text := spell(secret)) != secret:
            yield f"{key}#{name}", text


def _holds(data: Any, values: Keys) -> bool:
    """This is asked of all that is recorded, so it makes nothing.

    Several searches for a text are much quicker than one for a choice of texts.
    """
    cls = type(data)
    if cls is str:
        return any(value in data for value in values)
    if cls is int or data is None or cls is bool or cls is float:
        return False
    if isinstance(data, Mapping):
        return any(_holds(key, values) or _holds(data[key], values) for key in data)
    if isinstance(data, (list, tuple)):
        return any(_holds(item, values) for item in data)
    if isinstance(data, str):
        return _holds(str(data), values)
    return any(_holds(getattr(data, name), values) for name in getattr(cls, "__slots__", ()))


def _mapped(data: Any, change: Callable[[str], str]) -> Any:
    match data:
        case str():
            return change(data)
        case Mapping():
            return {_mapped(key, change): _mapped(item, change) for key, item in data.items()}
        case list():
            return [_mapped(item, change) for item in data]
        case tuple():
            return tuple(_mapped(item, change) for item in data)
    return data


def _texts(data: Any) -> Iterator[str]:
    match data:
        case str():
            yield data
        case Mapping():
            for key, item in data.items():
                yield from _texts(key)
                yield from _texts(item)
        case list() | tuple():
            for item in data:
                yield from _texts(item)
