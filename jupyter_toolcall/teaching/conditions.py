"""What may have to hold at the end of an exercise: a closed set of sentences.

Each is a frozen dataclass here, and a line in FORMS that says how it is written. Nothing
of a sentence is ever evaluated: names are looked up, values are JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import UsageError
from ..tools import nearest

Given = Mapping[str, Any]
"""Arguments by name."""


@dataclass(frozen=True, slots=True)
class Word:
    """A value that is written without quotes: a text, or where a tool is called a variable."""

    text: str


@dataclass(frozen=True, slots=True)
class Number:
    """How often, or how many: at least and at most."""

    least: int = 1
    most: int | None = None

    def __contains__(self, count: int) -> bool:
        return self.least <= count and (self.most is None or count <= self.most)


@dataclass(frozen=True, slots=True)
class Saved:
    """The output was saved."""

    name: str


@dataclass(frozen=True, slots=True)
class IsA:
    """What a path leads to is an object of this type."""

    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class Equals:
    """What a path leads to is this value; the path `the answer` is the model's last words."""

    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class Holds:
    """What a path leads to has so many parts."""

    path: str
    count: Number


@dataclass(frozen=True, slots=True)
class ComesFrom:
    """An object was made from another one, however many calls lie between."""

    name: str
    origin: str


@dataclass(frozen=True, slots=True)
class Says:
    """The model's last words hold this text, in capitals or not."""

    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """A tool was called so often, with these arguments among its own, and came to a result."""

    tool: str
    times: Number = Number()
    given: Given = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CalledBefore:
    """The first call of one tool came before the first of another."""

    first: str
    then: str


@dataclass(frozen=True, slots=True)
class Calls:
    """The session has so many calls, as the panel numbers them."""

    count: Number


@dataclass(frozen=True, slots=True)
class NoCall:
    """No call came to this."""

    came: str


@dataclass(frozen=True, slots=True)
class CallWas:
    """A call, by its number, came to this; `only` says that no other did."""

    step: int
    came: str
    only: bool = False


@dataclass(frozen=True, slots=True)
class CallIs:
    """A call, by its number, ran with these arguments among its own ("": whatever tool)."""

    step: int
    tool: str
    given: Given


@dataclass(frozen=True, slots=True)
class IsTool:
    """A variable of the notebook is a tool, or a read-only one."""

    name: str
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Takes:
    """A tool has this argument."""

    tool: str
    parameter: str


@dataclass(frozen=True, slots=True)
class Described:
    """A tool says what it is for, and what each of its arguments is."""

    tool: str


@dataclass(frozen=True, slots=True)
class Gives:
    """A tool of the notebook, called now with these arguments, comes to this value."""

    tool: str
    given: Given
    value: Any


@dataclass(frozen=True, slots=True)
class SchemeIs:
    """The session's tools are shown to the model in this scheme."""

    name: str


@dataclass(frozen=True, slots=True)
class Offers:
    """In one turn the model was given this tool, or was not."""

    turn: int
    tool: str
    there: bool = True


@dataclass(frozen=True, slots=True)
class OffersMany:
    """In one turn the model was given so many tools."""

    turn: int
    count: Number


@dataclass(frozen=True, slots=True)
class Guessed:
    """So many points were guessed, or so many of a hundred."""

    least: int
    percent: bool = False


Condition = (
    Saved
    | IsA
    | Equals
    | Holds
    | ComesFrom
    | Says
    | Called
    | CalledBefore
    | Calls
    | NoCall
    | CallWas
    | CallIs
    | IsTool
    | Takes
    | Described
    | Gives
    | SchemeIs
    | Offers
    | OffersMany
    | Guessed
)


# -- sentences -------------------------------------------------------------------------------

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
    raise UsageError(f"{text!r:.80} is no value: write a text in double quotes, as in JSON")


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
