"""What may have to hold at the end of an exercise: a closed set of sentences.

How each is written in Markdown is in `sentences`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
