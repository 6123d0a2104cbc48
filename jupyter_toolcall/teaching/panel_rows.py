"""The rows and commands of teaching in the panel: guesses, their score, and an exercise.

They are part of the contract with TypeScript, as `view/contract.py` is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from ..core.interface_text import t
from ..core.rows import Json, Text
from ..engine.cursor import ExtensionRow
from ..engine.person_model import Written, YourTurn


@dataclass(frozen=True, slots=True)
class Mark:
    """An argument of a guess, and whether it was right."""

    name: str
    right: bool


@dataclass(frozen=True, slots=True)
class GuessRow:
    """A guess of what the model does next, beside what it did. Notebooks do not save it."""

    turn: int = 0
    guess: Written | None = None
    """None if it was skipped; without a tool: no call."""
    came: Written | None = None
    """The call that it is compared with; None if the model made none."""
    step: int = 0
    """The number of that call."""
    calls: int = 0
    """How many calls the reply has."""
    marks: tuple[Mark, ...] = ()
    tool: bool = False
    """The tool is right, or that there is none."""
    right: int = 0
    of: int = 0
    """Points, and how many there were to have."""


@dataclass(frozen=True, slots=True)
class ArgumentAnswer:
    """What counts as right for one argument of a recorded call."""

    name: str
    values: tuple[str, ...] = ()
    """The right values, as JSON; "" if it is right to leave it out, too."""
    optional: bool = False
    """The call has it not: a wrong value costs a point, and no other earns one."""


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """A recorded call, and what counts as right for its arguments."""

    call: Written
    step: int = 0
    arguments: tuple[ArgumentAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplyAnswer:
    """A recorded reply that a page without a kernel asks for, and what the model was sent."""

    turn: YourTurn
    calls: tuple[CallAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """An exercise that the session is for: the panel offers to check it."""

    title: str
    says: Text = ""
    """The result of the last check, one check a line; code stands between backticks."""
    passed: bool = False


@dataclass(frozen=True, slots=True)
class TeachingRow(ExtensionRow):
    """What teaching shows of a session."""

    id: Literal["teaching"] = "teaching"
    turn: YourTurn | None = None
    """Set while the person guesses the reply; it contains nothing of the reply."""
    score: Text = ""
    """The points so far, in words."""
    guesses: tuple[GuessRow, ...] = ()
    answers: tuple[ReplyAnswer, ...] = ()
    """The replies of a session that is over, for a page."""
    task: Task | None = None

    def saved(self) -> TeachingRow | None:
        """Return it without guesses and exercise, which are no part of the session."""
        if self.turn is None and not self.score and not self.answers:
            return None
        return replace(self, guesses=(), task=None)

    def offered_tools(self) -> tuple[str, ...]:
        """Return the tools that may be guessed."""
        return self.turn.tools if self.turn is not None else ()

    def invitation(self) -> str:
        """Return what running the cell is good for while a reply is to be guessed."""
        return t("Run the cell, and guess each call before it is made.") if self.turn else ""


@dataclass(frozen=True, slots=True)
class Guess:
    """Guess what the model does next: a call of this tool, or with "" none."""

    tool: str = ""
    arguments: Mapping[str, Json] = field(default_factory=dict)
    type: Literal["guess"] = "guess"


@dataclass(frozen=True, slots=True)
class SkipGuess:
    """Go on without a guess; `rest`: without any more of them."""

    rest: bool = False
    type: Literal["skip_guess"] = "skip_guess"


@dataclass(frozen=True, slots=True)
class Check:
    """Check the exercise."""

    type: Literal["check"] = "check"


TeachingCommand = Guess | SkipGuess | Check
