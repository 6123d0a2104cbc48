"""GraphQL's own way to write a value down, read as JSON data."""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Iterator
from typing import Any

_TOKEN = re.compile(
    r'[\s,]*("""(?:[^"\\]|\\.|"(?!""))*"""|"(?:[^"\\]|\\.)*"|-?\d[\w.+-]*|[A-Za-z_]\w*|[\[\]{}:]|$)',
    re.DOTALL,
)
_WORDS = {"true": True, "false": False, "null": None}


def read(text: str) -> Any:
    """Return the value that a literal writes; the name of an enum's value is a text.

    Raises ValueError for what is no literal.
    """
    if not isinstance(text, str):
        raise ValueError(f"{text!r:.60} is no text of a literal")
    tokens = _tokens(text)
    try:
        value = _value(next(tokens), tokens)
    except RecursionError:
        raise ValueError(f"{text!r:.60} is nested too deep") from None
    if next(tokens):
        raise ValueError(f"{text!r:.60} is no literal")
    return value


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while at <= len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"{text!r:.60} is no literal")
        yield found[1]
        at = found.end() if found[1] else len(text) + 1
    raise ValueError(f"{text!r:.60} ends too soon")


def _value(token: str, tokens: Iterator[str]) -> Any:
    if token == "[":
        return list(_items(tokens))
    if token == "{":
        return dict(_fields(tokens))
    if token.startswith('"""'):
        return textwrap.dedent(token[3:-3]).strip("\n")
    if token.startswith('"'):
        return json.loads(token)
    if token[:1] in tuple("-0123456789"):
        return _number(token)
    if not token.isidentifier():
        raise ValueError(f"{token!r:.60} is no value")
    return _WORDS.get(token, token)


def _number(token: str) -> int | float:
    found: int | float = json.loads(token)
    if not math.isfinite(found):
        raise ValueError(f"{token:.60} is too large a number")
    return found


def _items(tokens: Iterator[str]) -> Iterator[Any]:
    while (token := next(tokens)) != "]":
        yield _value(token, tokens)


def _fields(tokens: Iterator[str]) -> Iterator[tuple[str, Any]]:
    while (name := next(tokens)) != "}":
        if not name.isidentifier() or next(tokens) != ":":
            raise ValueError(f"{name!r:.60} is no name with a value")
        yield name, _value(next(tokens), tokens)
