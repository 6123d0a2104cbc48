"""What teaching adds to the panel of a cell: guesses and their score, and an exercise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from ..core.errors import ToolcallError
from ..core.text import print_text
from ..engine.person_model import Phase
from ..jupyter.extensions import PanelExtension
from ..jupyter.input_line import arguments, split, turn_as_text
from ..session.session import Session
from ..teaching import guesses
from .guesses import Guesses, turn_to_guess
from .panel_rows import Check, Guess, SkipGuess, Task, TeachingCommand, TeachingRow

NONE, SKIP = "none", "skip"
"""A guess that no tool is called, and no guess at all."""


@dataclass
class TeachingPanel(PanelExtension):
    """The guesses of a cell, where its replies are guessed, and its exercise, where it has one."""

    guesses: Guesses = field(default_factory=Guesses)
    task: Task | None = None
    check: Callable[[Session], Task | None] = lambda session: None
    """Returns how the exercise stands."""

    commands: ClassVar = {"guess": Guess, "skip_guess": SkipGuess, "check": Check}

    def before_update(self, session: Session, phase: Phase) -> None:
        """Compare the last guess with the reply that came; at the end hold no reply any more."""
        self.guesses.settle(session.cursor)
        if phase == "finished":
            guesses.end(session)

    def row(self, session: Session, phase: Phase) -> TeachingRow:
        """Return the turn to guess, the guesses with their score, and the exercise."""
        turn = turn_to_guess(session.cursor) if phase == "waiting" else None
        return TeachingRow(
            turn=turn,
            score=self.guesses.score,
            session_score=self.guesses.session_score,
            guesses=tuple(self.guesses.rows),
            task=self.task,
        )

    def apply(self, session: Session, command: TeachingCommand) -> bool:
        """Take a guess, or none, and go on; or check the exercise."""
        match command:
            case Check():
                self.task = self.check(session)
                return False
            case Guess():
                self.guesses.take(session.cursor, command)
            case SkipGuess(rest=True):
                guesses.end(session)
            case SkipGuess():
                self.guesses.take(session.cursor, None)
        return True

    def ask_by_input(self, session: Session, ask: Callable[[str], str]) -> None:
        """Ask for a guess of the next reply on the cell's input line; it is not recorded."""
        turn, current = turn_to_guess(session.cursor), guesses.current(session)
        assert turn is not None
        print_text(turn_as_text(turn, session.cursor, current.held_status))
        words = split(ask("TOOL NAME=VALUE…, none (it answers), or skip: ").strip()) or [SKIP]
        numbers = {str(number): name for number, name in enumerate(turn.tools, 1)}
        try:
            current.take(session.cursor, guess_in([numbers.get(words[0], words[0]), *words[1:]]))
        except ToolcallError as error:
            print_text(error)


def guess_in(words: list[str]) -> Guess | None:
    """Return the guess in the words of a line, None where it skips. Raises UsageError."""
    first, *rest = words
    if not rest and first in (NONE, SKIP):
        return Guess() if first == NONE else None
    return Guess(first, arguments(rest) if rest else {})
