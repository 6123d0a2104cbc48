"""A regular expression as an expression of a grammar, where it is a plain one.

Read are texts, classes, groups, `|` and repetitions, between `^` and `$`. Whatever else
there is (look-around, back references, no anchors) is not guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from . import gbnf

RUN = 32
"""How often something is repeated at most, where the pattern sets no end."""
FORMATS: Mapping[str, str] = {
    "date": r"^(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$",
    "time": r"^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$",
    "date-time": r"^(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"
    r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$",
    "uuid": "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
    "email": r"^[a-z0-9]{1,20}(\.[a-z0-9]{1,20})?@[a-z0-9]{1,20}\.[a-z]{2,6}$",
    "ipv4": r"^(1[0-9]?[0-9]?|2[0-9]?)(\.(1[0-9]?[0-9]?|2[0-9]?|0)){3}$",
}
"""Formats that JSON Schema names, each as the part of it that models write."""
FREE = ("", "password", "textarea", "multiline")
"""Formats that ask nothing of a text."""

_TOKEN = re.compile(
    r"\\(?P<escape>.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<open>\((?:\?:)?)|(?P<close>\))"
    r"|(?P<bar>\|)|(?P<times>[?*+]|\{\d+(?:,\d*)?\})|(?P<any>\.)|(?P<char>[^\\()|?*+{}\[\].^$])"
)
_SETS: Mapping[str, str] = {"d": "0-9", "w": "A-Za-z0-9_", "s": " "}
_ANY = r'[^"\\\x00-\x1F\x7F]'


def expression(pattern: str) -> str | None:
    """Return the expression for the texts that a pattern takes; None where it can't be said."""
    if not (pattern.startswith("^") and pattern.endswith("$")) or pattern.endswith("\\$"):
        return None
    tokens, place, body = [], 0, pattern[1:-1]
    while place < len(body):
        found = _TOKEN.match(body, place)
        if found is None:
            return None
        tokens.append((str(found.lastgroup), str(found[found.lastgroup or 0])))
        place = found.end()
    try:
        made, rest = _options(tokens)
    except (ValueError, IndexError):
        return None
    return None if rest else made


_Tokens = list[tuple[str, str]]


def _options(tokens: _Tokens) -> tuple[str, _Tokens]:
    """Return the alternatives up to the group's end, and the tokens from there on."""
    options, items = list[str](), list[str]()
    while tokens and tokens[0][0] != "close":
        (kind, text), tokens = tokens[0], tokens[1:]
        match kind:
            case "bar":
                options.append(" ".join(items) or '""')
                items = []
            case "times":
                items.append(gbnf.times(items.pop(), *_count(text)))
            case "open":
                made, tokens = _options(tokens)
                if not tokens:
                    raise ValueError("a group without an end")
                items.append(made)
                tokens = tokens[1:]
            case _:
                items.append(_one(kind, text))
    options.append(" ".join(items) or '""')
    return (options[0] if len(options) == 1 else gbnf.either(options)), tokens


def _count(text: str) -> tuple[int, int]:
    match text:
        case "?":
            return 0, 1
        case "*":
            return 0, RUN
        case "+":
            return 1, RUN
    least, comma, most = text.strip("{}").partition(",")
    if not comma:
        return int(least), int(least)
    return int(least), min(int(most), int(least) + 200) if most else int(least) + RUN


def _one(kind: str, text: str) -> str:
    match kind:
        case "any":
            return _ANY
        case "set":
            return _set(text[1:-1])
        case "escape" if text in _SETS:
            return f"[{_SETS[text]}]"
        case "escape" if text.isalnum():
            raise ValueError(f"\\{text} is not read")
    # Inside JSON a quote and a backslash are two characters each.
    return gbnf.literal({'"': '\\"', "\\": "\\\\"}.get(text, text))


def _set(text: str) -> str:
    """Return a class of characters. Raises ValueError where it holds what JSON escapes."""
    other, parts = text.startswith("^"), list[str]()
    for found in re.finditer(r"\\(.)|(.)-(?=.)|(.)", text.removeprefix("^")):
        escape, start, char = found.groups()
        if escape and escape.isalnum():
            parts.append(_SETS[escape] if escape in _SETS else _refused(escape))
        elif (escape or start or char) in '"\\' and not other:
            _refused(escape or char)
        else:
            parts.append(_coded(escape or start or char) + ("-" if start else ""))
    return f'[^{"".join(parts)}"\\\\\\x00-\\x1F\\x7F]' if other else f"[{''.join(parts)}]"


def _coded(char: str) -> str:
    return char if char.isascii() and char.isalnum() else gbnf.code(char)


def _refused(char: str) -> str:
    raise ValueError(f"{char} is not read")
