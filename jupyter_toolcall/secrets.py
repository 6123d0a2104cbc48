"""Secrets stay out of the journal, the notebook, the panel and what a model is told."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

HIDDEN = "[secret]"
LEAST = 8
"""Characters: what is shorter is in too many words to be replaced."""
_NAMED = re.compile(
    r"(?i)(^|_)(api_?key|access_?key|key|token|secret|password|passwd|credentials?)(_|$)"
)
Hide = Callable[[Any], Any]
"""From JSON-ready data to the same without secrets."""


def is_named_secret(name: str) -> bool:
    """Return whether a variable's name says that it holds a secret."""
    return _NAMED.search(name) is not None


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of the variables of an environment whose names say secret."""
    found = {v for name, v in environment.items() if is_named_secret(name) and len(v) >= LEAST}
    return tuple(sorted(found, key=len, reverse=True))


def hiding(environment: Mapping[str, str]) -> Hide:
    """Return what replaces the secrets of an environment wherever they stand in a text."""
    values = secret_values(environment)
    if not values:
        return lambda data: data
    pattern = re.compile("|".join(map(re.escape, values)))

    def hide(data: Any) -> Any:
        match data:
            case str():
                return pattern.sub(HIDDEN, data)
            case Mapping():
                return {hide(key): hide(item) for key, item in data.items()}
            case list():
                return [hide(item) for item in data]
            case tuple():
                return tuple(hide(item) for item in data)
        return data

    return hide
