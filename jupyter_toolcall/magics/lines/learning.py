"""Learning: a guess of what the model does next, and exercises that are checked."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...acts import replying
from ...errors import UsageError
from ...panel import predicting
from ...printable import print_text
from ...rows.contract import Task
from ...session import Session
from ...teaching import lessons, showing
from ...teaching.belonging import is_about
from ...teaching.checking import Verdict
from ...teaching.reading import Exercise
from ...teaching.scene import Scene
from ...teaching.showing import Help, Page
from ..cells import Cells
from .asking import asked
from .words import SKIP, Commands, Result, guess_in

REST = "rest"


def _guess(session: Session, words: list[str]) -> Result:
    known = predicting.of(session)
    turn = replying.to_guess(session.cursor)
    if turn is None:
        raise UsageError("nothing is to be guessed now; %toolchat status says what waits")
    if not words:
        print_text(asked(turn, session.cursor, replying.GUESS))
        return None
    if words == [SKIP, REST]:
        predicting.end(session)
        return session.run()
    known.take(session.cursor, guess_in(words))
    session.run()
    before = len(known.rows)
    known.settle(session.cursor)
    print_text(predicting.as_text(known.rows[before:], known.score))
    return session


# -- exercises --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Learner:
    """Somebody at exercises: in a notebook's folder, with its sessions and its variables."""

    cells: Cells
    variables: Mapping[str, Any]

    def exercise(self, name: str) -> Exercise:
        """Return an exercise of the notebook's folder. Raises UsageError where there is none."""
        file = lessons.place(self.cells.folder, name)
        return lessons.read(file, f"{lessons.FOLDER}/{name}{lessons.SUFFIX}")

    def check(self, name: str, session: Session | None = None) -> tuple[Verdict, Help]:
        """Return how an exercise stands, in a session or where it says itself to look."""
        found = self.exercise(name)
        return self.cells.lessons.check(found, name, self.scene(found, session))

    def scene(self, found: Exercise, session: Session | None) -> Scene:
        """Return what an exercise is held against: the session that it names, or the last one."""
        held = self.variables.get(found.session)
        if isinstance(held, Session):
            session = held
        elif session is None:
            session = self.cells.sessions.get(found.session or self.cells.last or "")
        guesses = self.cells.guesses.get(session.name) if session is not None else None
        points = guesses.points if guesses is not None else None
        return Scene(session, self.variables, points, found.session)

    def task(self, name: str) -> Task | None:
        """Return an exercise, for the panel of its cell.

        None also where it cannot be read by now: a check will say why.
        """
        with contextlib.suppress(UsageError):
            return Task(self.exercise(name).title) if name else None
        return None

    def checked(self, name: str, session: Session) -> Task | None:
        """Return how an exercise stands, for that panel; None for no exercise."""
        return showing.on_panel(*self.check(name, session), name) if name else None

    def on(self, replay: str, session: Session, cell: str) -> str:
        """Return the name of the exercise that a cell is for, "" where it is for none.

        It is the one that the cell replays; or the one that was shown last, where that is
        about the cell's session, and names it or had no other cell so far.
        """
        name, known = lessons.named(replay), self.cells.lessons
        if name or not known.on:
            return name
        with contextlib.suppress(UsageError):
            found = self.exercise(known.on)
            about = is_about(found, session.name, session.state.opened.outputs)
            if about and (found.session or known.owns(known.on, cell)):
                return known.on
        return ""


def _exercise(learner: Learner, words: list[str]) -> Page:
    if words == ["--forms"]:
        return showing.conditions()
    if not words:
        known = ", ".join(lessons.there(learner.cells.folder)) or "none"
        raise UsageError(f"exercise needs the name of one; beside this notebook: {known}")
    found = learner.exercise(words[0])
    learner.cells.lessons.on = words[0]
    return showing.task(found, words[0])


def _check(learner: Learner, words: list[str]) -> Page:
    name = _named(learner, words, "check")
    return showing.outcome(*learner.check(name), name)


def _solution(learner: Learner, words: list[str]) -> Page:
    return showing.solution(learner.exercise(_named(learner, words, "solution")))


def _named(learner: Learner, words: list[str], command: str) -> str:
    name = words[0] if words else learner.cells.lessons.on
    if not name:
        raise UsageError(f"{command} needs the name of an exercise: %toolchat {command} fries")
    return name


COMMANDS: Commands = {"guess": _guess}
LESSONS: Mapping[str, Callable[[Learner, list[str]], Page]] = {
    "exercise": _exercise,
    "check": _check,
    "solution": _solution,
}
HELP = """\
  guess TOOL NAME=VALUE      what the model does next (--predict); guess none: it answers
  guess skip [rest]          go on without a guess, or without any more
  exercise NAME              what exercises/NAME.md asks for; --forms: what can be checked
  check [NAME]               whether it is so, or what is in the way, and then a hint
  solution [NAME]            how it is done
"""
