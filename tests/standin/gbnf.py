"""A grammar in GBNF, read and spoken: texts that it makes, drawn by chance.

Knows the notation and nothing of how grammars are made here.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r'\s*(?P<text>"(?:\\.|[^"\\])*")|\s*(?P<set>\[(?:\\.|[^\]\\])*\])|\s*(?P<name>[a-z][a-z0-9-]*)'
    r"|\s*(?P<mark>[()|?*+])|\s*\{(?P<times>[0-9,]+)\}"
)
_ESCAPE = re.compile(r"\\(?:x([0-9A-F]{2})|u([0-9A-F]{4})|U([0-9A-F]{8})|(.))|(.)", re.DOTALL)
_NAMED = {"n": "\n", "r": "\r", "t": "\t"}
_OTHERS = [*map(chr, range(32, 127)), *"äß€字🥔\u00a0\u2028"]
"""What a class of other characters is tried with."""

Node = tuple[str, object]


@dataclass
class Grammar:
    """The rules of a grammar by name."""

    rules: dict[str, Node] = field(default_factory=dict)

    def sample(self, chance: random.Random) -> str:
        """Return a text that the grammar makes."""
        return _spoken(("name", "root"), self, chance)


def grammar(text: str) -> Grammar:
    """Return a grammar. Fails where it is not in the notation, or a rule is missing."""
    found = Grammar()
    for line in text.split("\n"):
        name, arrow, body = line.partition(" ::= ")
        assert arrow, f"no rule: {line!r}"
        assert name not in found.rules, f"{name} twice"
        tokens = _tokens(body)
        node = _options(tokens)
        assert not tokens, f"{name}: more than a rule: {tokens[:3]}"
        found.rules[name] = node
    missing = {name for node in found.rules.values() for name in _names(node)} - set(found.rules)
    assert not missing, f"no rule for {missing}"
    return found


def _tokens(body: str) -> list[tuple[str, str]]:
    found, place = [], 0
    while place < len(body.rstrip()):
        match = _TOKEN.match(body, place)
        assert match, f"cannot be read: {body[place : place + 60]!r}"
        kind = str(match.lastgroup)
        found.append((kind, match[kind]))
        place = match.end()
    return found


def _options(tokens: list[tuple[str, str]]) -> Node:
    options: list[list[Node]] = [[]]
    while tokens and tokens[0] != ("mark", ")"):
        kind, text = tokens.pop(0)
        match kind, text:
            case "mark", "|":
                options.append([])
            case "mark", "(":
                options[-1].append(_options(tokens))
                assert tokens.pop(0) == ("mark", ")")
            case ("mark", "?" | "*" | "+") | ("times", _):
                options[-1].append(("times", (options[-1].pop(), *_count(text))))
            case "text", _:
                options[-1].append(("text", "".join(_characters(text[1:-1]))))
            case "set", _:
                options[-1].append(("set", _set(text[1:-1])))
            case _:
                options[-1].append(("name", text))
    return "either", options


def _count(text: str) -> tuple[int, int]:
    if text in "?*+":
        return {"?": (0, 1), "*": (0, 5), "+": (1, 5)}[text]
    least, comma, most = text.partition(",")
    return int(least), int(most) if comma else int(least)


def _characters(text: str) -> list[str]:
    found = []
    for two, four, eight, escape, char in _ESCAPE.findall(text):
        if two or four or eight:
            found.append(chr(int(two or four or eight, 16)))
        elif escape:
            assert escape in 'nrt\\"[]', f"\\{escape} is no escape of the notation"
            found.append(_NAMED.get(escape, escape))
        else:
            found.append(char)
    return found


def _set(text: str) -> list[str]:
    other, chars, place = text.startswith("^"), _characters(text.removeprefix("^")), 0
    inside: set[str] = set()
    while place < len(chars):
        if chars[place + 1 : place + 2] == ["-"] and place + 2 < len(chars):
            inside |= set(map(chr, range(ord(chars[place]), ord(chars[place + 2]) + 1)))
            place += 3
        else:
            inside.add(chars[place])
            place += 1
    return [char for char in _OTHERS if char not in inside] if other else sorted(inside)


def _names(node: Node) -> set[str]:
    match node:
        case "name", str(name):
            return {name}
        case "times", (tuple(inner), int(), int()):
            return _names(inner)
        case "either", list(options):
            return {name for option in options for part in option for name in _names(part)}
    return set()


def _spoken(node: Node, within: Grammar, chance: random.Random) -> str:
    match node:
        case "text", str(text):
            return text
        case "set", list(chars):
            return str(chance.choice(chars))
        case "name", str(name):
            return _spoken(within.rules[name], within, chance)
        case "times", (tuple(inner), int(least), int(most)):
            count = chance.choice([least, most, min(most, least + 1), chance.randint(least, most)])
            return "".join(_spoken(inner, within, chance) for _ in range(count))
        case "either", list(options):
            return "".join(_spoken(part, within, chance) for part in chance.choice(options))
    raise AssertionError(node)
