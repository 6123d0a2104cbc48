"""What never reaches a recording: secrets of the environment, and what looks like a key.

Pure: the environment is passed in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...secrets import HIDDEN, LEAST, Hide, hiding

_NAME = r"(?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]{0,40}(?:key|token)|(?:x-)?api[-_]?key"
_HEADER = re.compile(_NAME, re.IGNORECASE)
_TOKEN = r"(?=[^\s\"'\\,;]*\d)[A-Za-z0-9._~+/=-]"
_SPELLED = re.compile(
    rf"((?:{_NAME})\\*[\"']?\s*[:=]\s*\\*[\"']?(?:(?:bearer|basic|token)\s+)?){_TOKEN}{{16,}}"
    rf"|(\b(?:bearer|basic)\s+){_TOKEN}{{12,}}"
    r"|\b(?:sk|pk|ghp|gho|xox[a-z])[-_][A-Za-z0-9_-]{16,}",
    re.IGNORECASE,
)


def redacting(environment: Mapping[str, str]) -> Hide:
    """Return what takes secrets, and what looks like a key, out of JSON-ready data."""
    secrets = hiding(environment)

    def text(said: str) -> str:
        return _SPELLED.sub(_hidden, str(secrets(said)))

    def hide(data: Any) -> Any:
        match data:
            case str():
                return text(data)
            case Mapping():
                return {text(str(key)): _of(str(key), item) for key, item in data.items()}
            case list() | tuple():
                return [hide(item) for item in data]
        return data

    def _of(name: str, item: Any) -> Any:
        named = isinstance(item, str) and len(item) >= LEAST and _HEADER.fullmatch(name)
        return HIDDEN if named else hide(item)

    return hide


def _hidden(found: re.Match[str]) -> str:
    return f"{found[1] or found[2] or ''}{HIDDEN}"
