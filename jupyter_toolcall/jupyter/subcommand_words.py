"""The words of a line, and what they name: a call, arguments, a value."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from ..compare.alignment import Comparison
from ..core.errors import UsageError
from ..session.session import Session

Result = Session | Comparison | None
"""The session where a line went on with one; a comparison is displayed, all else is printed."""
Commands = Mapping[str, Callable[[Session, list[str]], Result]]

_JSON = re.compile(r"(?<!\S)(?:[A-Za-z_]\w*=)?(?=[\[{])")
"""Where a word begins that is JSON, or NAME= and JSON."""


def split(text: str) -> list[str]:
    """Return the words of a line; JSON is one word, and quotes that do not close only marks."""
    for found in _JSON.finditer(text):
        with contextlib.suppress(ValueError):
            _, end = json.JSONDecoder().raw_decode(text, found.end())
            return [*_words(text[: found.start()]), text[found.start() : end], *split(text[end:])]
    return _words(text)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def without_name(words: list[str]) -> tuple[list[str], str]:
    """Return the words without `-n NAME`, and that name. Raises UsageError for no name."""
    if "-n" not in words:
        return words, ""
    at = words.index("-n")
    if at + 1 >= len(words):
        raise UsageError("-n needs the name of a session")
    return words[:at] + words[at + 2 :], words[at + 1]


def call_named(session: Session, word: str) -> str:
    """Return the id of a call, given by id or by number. Raises UsageError."""
    known = [call.id for call in session.calls]
    if word in known:
        return word
    if word.isdigit() and 0 < int(word) <= len(known):
        return known[int(word) - 1]
    raise UsageError(f"no call {word!r}; there are {', '.join(known) or 'none'}")


def call_and_rest(session: Session, words: list[str]) -> tuple[str, list[str]]:
    """Return the call that is meant, and the words behind it.

    Where the first word names no call, it is the one that waits first.
    """
    if words and words[0].isdigit():
        return call_named(session, words[0]), words[1:]
    if words:
        with contextlib.suppress(UsageError):
            return call_named(session, words[0]), words[1:]
    if not session.pending:
        raise UsageError("no call waits; name one by its number: %toolchat status lists them")
    return session.pending[0].id, words


def arguments(words: list[str]) -> dict[str, Any]:
    """Return what `NAME=VALUE` words say. Raises UsageError for a word that is none."""
    pairs = [word.partition("=") for word in words]
    wrong = [key for key, equals, _ in pairs if not equals]
    if wrong or not pairs:
        raise UsageError("arguments are written as NAME=VALUE, such as: shape=SLICES")
    return {key: value(text) for key, _, text in pairs}


def value(text: str) -> Any:
    """Return a value that is written as JSON; any other text is itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
