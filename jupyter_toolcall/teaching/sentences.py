"""How conditions are written: each a sentence, in Markdown, that says what it asks for.

A line of FORMS is a form, the pattern of it, and what it makes. Nothing of a sentence is
ever evaluated: names are names, and values are JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from ..errors import UsageError
from ..tools import nearest
from .conditions import (
    Called,
    CalledBefore,
    CallIs,
    Calls,
    CallWas,
    ComesFrom,
    Condition,
    Described,
    Equals,
    Gives,
    Guessed,
    Holds,
    IsA,
    IsTool,
    NoCall,
    Number,
    Offers,
    OffersMany,
    Saved,
    Says,
    SchemeIs,
    Takes,
    Word,
)

NAME = r"[A-Za-z_]\w*"
PATH = rf"{NAME}(?:#[1-9]\d*)?(?:\.[A-Za-z]\w*|\[[^\]]+\])*"
CALL = rf"({NAME})\((.*)\)"
COUNT = r"(?:(at most|at least|exactly) )?(\d+)"
CAME = r"(failed|(?:was )?(?:edited|rejected|answered))"
A = r"an? "

Make = Callable[..., Condition]


def _number(how: str | None, count: str) -> Number:
    many = int(count)
    match (how or "").lower():
        case "at most":
            return Number(0, many)
        case "at least":
            return Number(many)
    return Number(many, many)


def _times(tool: str, often: str, how: str | None, count: str | None) -> Called:
    if count is None:
        return Called(tool, Number(1, 1) if often.lower() == "once" else Number(2, 2))
    return Called(tool, _number(how, count))


def _came(word: str) -> str:
    return word.lower().removeprefix("was ")


FORMS: tuple[tuple[str, str, Make], ...] = (
    ("`fries` is saved", rf"({NAME}) (?:is|was) saved", Saved),
    (
        "`weigh` is a tool; `weigh` is a read-only tool",
        rf"({NAME}) is a (read-only )?tool",
        lambda name, mark: IsTool(name, bool(mark)),
    ),
    ("`weigh` is described", rf"({NAME}) is described", Described),
    ("`weigh` takes `unit`", rf"({NAME}) takes ({NAME})", Takes),
    (
        '`weigh(unit="g")` gives `180.0`',
        rf"{CALL} gives (?:an? )?(.+)",
        lambda tool, given, found: Gives(tool, arguments(given), value(found)),
    ),
    ('the answer says `"peeled"`', r"the answer says (.+)", lambda text: Says(_text(text))),
    (
        "the answer is `42`",
        r"the answer is (.+)",
        lambda text: Equals("the answer", _text(text)),
    ),
    ("the scheme is `current`", r"the scheme is (\S+)", SchemeIs),
    (
        "`Potato_peel` was called before `Potato_slice`",
        rf"({NAME}) was called before ({NAME})",
        CalledBefore,
    ),
    (
        "`Potato_peel` was not called",
        rf"({NAME}) was (?:not|never) called",
        lambda tool: Called(tool, Number(0, 0)),
    ),
    (
        '`Potato_slice` was called with `shape="STICKS"`',
        rf"({NAME}) was called with (.+)",
        lambda tool, given: Called(tool, Number(), arguments(given)),
    ),
    (
        "`Potato_peel` was called once, twice, 3 times, at most 3 times, at least 3 times",
        rf"({NAME}) was called (once|twice|{COUNT} times?)",
        _times,
    ),
    ("`Potato_peel` was called", rf"({NAME}) was called", Called),
    (
        "at most 8 calls; at least 2 calls; exactly 8 calls",
        rf"{COUNT} calls?",
        lambda how, count: Calls(_number(how, count)),
    ),
    (
        "no call failed; no call was edited, rejected, answered",
        rf"no call {CAME}",
        lambda came: NoCall(_came(came)),
    ),
    (
        "call 5 was edited; only call 5 was edited",
        rf"(only )?call (\d+) {CAME}",
        lambda only, step, came: CallWas(int(step), _came(came), bool(only)),
    ),
    (
        'call 5 is `Potato_slice(shape="STICKS")`',
        rf"call (\d+) is {CALL}",
        lambda step, tool, given: CallIs(int(step), tool, arguments(given)),
    ),
    (
        'call 5 has `shape="STICKS"`',
        r"call (\d+) has (.+)",
        lambda step, given: CallIs(int(step), "", arguments(given)),
    ),
    (
        "turn 1 offers at most 3 tools",
        rf"turn (\d+) offers {COUNT} tools?",
        lambda turn, how, count: OffersMany(int(turn), _number(how, count)),
    ),
    (
        "turn 1 offers `Potato_peel`; turn 1 does not offer `Potato_peel`",
        rf"turn (\d+) (does not offer|offers) ({NAME})",
        lambda turn, how, tool: Offers(int(turn), tool, how.lower() == "offers"),
    ),
    (
        "at least 5 points were guessed; at least 60 % was guessed",
        r"at least (\d+) ?(%|points?|percent) (?:was|were) guessed",
        lambda least, unit: Guessed(int(least), unit in ("%", "percent")),
    ),
    ("`fries` comes from `potato`", rf"({PATH}) comes from ({PATH})", ComesFrom),
    (
        "`table` has 3 rows, items, characters",
        rf"({PATH}) has {COUNT} (?:rows?|items?|characters?|parts?)",
        lambda path, how, count: Holds(path, _number(how, count)),
    ),
    ("`fries` is a `Plate`", rf"({PATH}) is {A}({NAME})", IsA),
    (
        '`fries.food` is `"fries: sticks"`',
        rf"({PATH}) (?:is|equals) (.+)",
        lambda path, found: Equals(path, value(found)),
    ),
)
"""How each is written, the pattern of that, and what it makes; the first that fits holds."""


def condition(text: str) -> Condition | None:
    """Return what a sentence asks for, None where it is no condition.

    Code marks say nothing here, and neither does a full stop. Raises UsageError for
    arguments that cannot be read.
    """
    said = text.replace("`", "").strip().removesuffix(".")
    for _, pattern, make in FORMS:
        found = re.fullmatch(pattern, said, re.IGNORECASE)
        if found is not None:
            return make(*found.groups())
    return None


def forms() -> str:
    """Return how all conditions are written, one a line."""
    return "\n".join(form for form, _, _ in FORMS)


def nearest_form(text: str) -> str:
    """Return a question that names the form that is most like a sentence, or nothing."""
    return nearest(text, [form for form, _, _ in FORMS])


def value(text: str) -> Any:
    """Return a value: JSON, else the word itself. Raises UsageError for several words."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    if re.fullmatch(r"[\w.+-]+", text):
        return Word(text)
    raise UsageError(
        f"{text!r:.80} is no value: write a number alone, and a text in double quotes, as in JSON"
    )


def _text(text: str) -> str:
    """Return a text, in quotes or not."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, str) else text


_GIVEN = re.compile(r"\s*,?\s*([A-Za-z_]\w*)\s*=\s*")
_WORD = re.compile(r"[\w.#+-]+")


def arguments(text: str) -> dict[str, Any]:
    """Return arguments as they are written in a call. Raises UsageError where they are none."""
    found: dict[str, Any] = {}
    rest = text.strip()
    while rest:
        named = _GIVEN.match(rest)
        if named is None:
            raise UsageError(f"{rest!r:.80} is no argument; write NAME=VALUE, a text in quotes")
        found[named[1]], rest = _first(rest[named.end() :])
    return found


def _first(text: str) -> tuple[Any, str]:
    """Return the value that a text begins with, and what follows it."""
    try:
        found, end = json.JSONDecoder().raw_decode(text)
        return found, text[end:].strip()
    except ValueError:
        word = _WORD.match(text)
    if word is None:
        raise UsageError(f"{text!r:.80} is no value: write a text in double quotes, as in JSON")
    return Word(word[0]), text[word.end() :].strip()
