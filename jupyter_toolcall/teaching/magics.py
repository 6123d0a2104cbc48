"""What teaching adds to the magics: `--predict`, and the subcommands for guesses and exercises."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import UsageError
from ..magics.cells import Cells
from ..magics.extensions import CellRun, NotebookExtension
from ..magics.lines import turn_as_text
from ..printable import print_text
from ..session import Session
from . import guesses, lessons, showing
from .belonging import is_about
from .checking import Verdict
from .guesses import Guesses, turn_to_guess
from .lessons import Lessons
from .panel import SKIP, TeachingPanel, guess_in
from .reading import Exercise
from .rows import Task
from .scene import Scene
from .showing import Help, Page

REST = "rest"


@dataclass
class Teaching(NotebookExtension):
    """The guesses and the exercises of a kernel's notebook."""

    cells: Cells
    guesses: dict[str, Guesses] = field(default_factory=dict)
    """The guesses of the last cell of each session, where it was guessed."""
    lessons: Lessons = field(default_factory=Lessons)

    # -- a cell -------------------------------------------------------------------------------

    def attach(self, session: Session, run: CellRun) -> TeachingPanel | None:
        """Hold the replies of a cell that says `--predict`, and show the exercise it is for."""
        guessing = run.options.extra["predict"] or session.cursor.desk.hooks
        if not guessing and not run.options.replay and not self.lessons.on:
            return None
        exercise = self.exercise_of(run.options.replay, session, run.cell)
        known = self._guesses(session, run)
        if known is None and not exercise:
            return None
        return TeachingPanel(
            known or Guesses(),
            self.task(exercise),
            lambda shown: self.checked(exercise, shown, run.variables),
        )

    def _guesses(self, session: Session, run: CellRun) -> Guesses | None:
        """Return the guesses of a cell in which each reply is guessed, None of any other."""
        guesses.end(session)
        if not run.options.extra["predict"]:
            return None
        # Who asks for guesses in a cell that does not wait guesses by `%toolchat guess`.
        somebody = run.panel or (not run.options.wait and "predict" in run.options.said)
        if why_not := guesses.why_not(session, somebody):
            print_text(f"toolchat: {why_not}")
            return None
        made = guesses.begin(session, self.guesses.get(session.name))
        self.guesses[session.name] = made
        return made

    def exercise_of(self, replay: str, session: Session, cell: str) -> str:
        """Return the name of the exercise that a cell is for, "" where it is for none.

        It is the one that the cell replays; or the one that was shown last, where that is
        about the cell's session, and names it or had no other cell so far.
        """
        name, known = lessons.named(replay), self.lessons
        if name or not known.on:
            return name
        with contextlib.suppress(UsageError):
            found = self.exercise(known.on)
            about = is_about(found, session.name, session.state.opened.outputs)
            if about and (found.session or known.owns(known.on, cell)):
                return known.on
        return ""

    # -- an exercise ----------------------------------------------------------------------------

    def exercise(self, name: str) -> Exercise:
        """Return an exercise of the notebook's folder. Raises UsageError where there is none."""
        file = lessons.place(self.cells.folder, name)
        return lessons.read(file, f"{lessons.FOLDER}/{name}{lessons.SUFFIX}")

    def check(
        self, name: str, variables: Mapping[str, Any], session: Session | None = None
    ) -> tuple[Verdict, Help]:
        """Return how an exercise stands, in a session or where it says itself to look."""
        found = self.exercise(name)
        return self.lessons.check(found, name, self._scene(found, variables, session))

    def _scene(
        self, found: Exercise, variables: Mapping[str, Any], session: Session | None
    ) -> Scene:
        """Return what an exercise is held against: the session that it names, or the last one."""
        held = variables.get(found.session)
        if isinstance(held, Session):
            session = held
        elif session is None:
            session = self.cells.sessions.get(found.session or self.cells.last or "")
        known = self.guesses.get(session.name) if session is not None else None
        points = known.points if known is not None else None
        return Scene(session, variables, points, found.session)

    def task(self, name: str) -> Task | None:
        """Return an exercise, for the panel of its cell.

        None also where it cannot be read by now: a check will say why.
        """
        with contextlib.suppress(UsageError):
            return Task(self.exercise(name).title) if name else None
        return None

    def checked(self, name: str, session: Session, variables: Mapping[str, Any]) -> Task | None:
        """Return how an exercise stands, for that panel; None for no exercise."""
        return showing.on_panel(*self.check(name, variables, session), name) if name else None

    # -- lines ----------------------------------------------------------------------------------

    def subcommand(
        self, command: str, words: list[str], name: str, variables: Mapping[str, Any]
    ) -> Session | Page | None:
        """Carry out `guess`, `exercise`, `check` or `solution`."""
        match command:
            case "guess":
                return _guess(self.cells.today(self.cells.current(name), variables), words)
            case "exercise":
                return self._exercise(words)
            case "check":
                exercise = self._named(words, command)
                return showing.outcome(*self.check(exercise, variables), exercise)
        return showing.solution(self.exercise(self._named(words, command)))

    def _exercise(self, words: list[str]) -> Page:
        if words == ["--forms"]:
            return showing.conditions()
        if not words:
            known = ", ".join(lessons.there(self.cells.folder)) or "none"
            raise UsageError(f"exercise needs the name of one; beside this notebook: {known}")
        found = self.exercise(words[0])
        self.lessons.on = words[0]
        return showing.task(found, words[0])

    def _named(self, words: list[str], command: str) -> str:
        name = words[0] if words else self.lessons.on
        if not name:
            raise UsageError(f"{command} needs the name of an exercise: %toolchat {command} fries")
        return name

    def complete_subcommand(self, command: str) -> list[str]:
        """Return the names of the exercises, or the tools that may be guessed."""
        if command != "guess":
            return lessons.there(self.cells.folder)
        session = self.cells.sessions.get(self.cells.last or "")
        offer = session.cursor.offer if session is not None else None
        tools = [tool.name for tool in (*offer.own, *offer.tools)] if offer else []
        return [*tools, "none", "skip"]

    def replay_files(self) -> list[str]:
        """Return the exercises that `--replay` can name."""
        return lessons.replayed(self.cells.folder)


def _guess(session: Session, words: list[str]) -> Session | None:
    known = guesses.demand_current(session)
    turn = turn_to_guess(session.cursor)
    if turn is None:
        raise UsageError("nothing is to be guessed now; %toolchat status says what waits")
    if not words:
        print_text(turn_as_text(turn, session.cursor, known.held_status))
        return None
    if words == [SKIP, REST]:
        guesses.end(session)
        return session.run()
    known.take(session.cursor, guess_in(words))
    session.run()
    before = len(known.rows)
    known.settle(session.cursor)
    print_text(guesses.as_text(known.rows[before:], known.score))
    return session
