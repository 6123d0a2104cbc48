"""Teaching in a notebook: `--predict`, the subcommands for guesses and exercises, the panel."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ..core.errors import ToolcallError, UsageError
from ..core.interface_text import joined, t, tn
from ..core.text import print_text
from ..engine.person_model import Phase, next_turn
from ..jupyter.cells import Cells
from ..jupyter.extensions import CellRun, NotebookExtension, PanelExtension
from ..jupyter.input_line import arguments, split, turn_as_text
from ..models.named import Person
from ..schemes.messages import Model
from ..session.session import Session
from ..storage.file_system import write_error_texts
from . import guesses
from .exercise_checks import (
    CheckContext,
    CheckResult,
    Page,
    check_branches,
    solution_page,
    task_page,
)
from .exercise_file import (
    SUFFIX,
    Check,
    Exercise,
    ExerciseRecording,
    exercise_names,
    exercise_text,
    name_of,
    read_exercise,
    relative_path,
)
from .guesses import NO_CALL, Guesses, Points, recorded_answers, turn_to_guess
from .panel_rows import Check as CheckCommand
from .panel_rows import Guess, SkipGuess, Task, TeachingCommand, TeachingRow

NONE, SKIP = "none", "skip"
"""A guess that no tool is called, and no guess at all."""


@dataclass
class Teaching(NotebookExtension):
    """The guesses and the exercises of a kernel's notebook."""

    cells: Cells
    guesses: dict[str, Guesses] = field(default_factory=dict)
    """The guesses of the last cell of each session with `--predict`."""
    in_cells: dict[str, str] = field(default_factory=dict)
    """The texts of exercises that cells of the notebook hold, by name."""
    shown: str = ""
    """The exercise that was shown last."""
    hints: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often each check did not hold, by exercise and expression; under "" how many hints of the
    exercise as a whole were shown."""

    # -- a cell -------------------------------------------------------------------------------

    def attach(self, session: Session, run: CellRun) -> TeachingPanel | None:
        """Hold the replies of a cell that says `--predict`, and show the exercise it is for."""
        predicts = run.options.extra["predict"]
        if not (predicts or session.cursor.context.hooks or run.options.replay or self.shown):
            return None
        name = self.exercise_of(run.options.replay, session)
        cell_guesses = self._begin_guesses(session, run)
        if not predicts and not name:
            return None
        panel = TeachingPanel(cell_guesses or Guesses(), predicts=predicts)
        if name:
            panel.check = lambda session: self.check(name, run.variables, session).task
            # A check says what is wrong with a file that cannot be read.
            with contextlib.suppress(UsageError):
                panel.task = Task(self.exercise(name).title)
        return panel

    def _begin_guesses(self, session: Session, run: CellRun) -> Guesses | None:
        """Return the guesses of a cell in which each reply is guessed, None of any other."""
        guesses.end(session)
        if not run.options.extra["predict"]:
            return None
        # In a cell that does not wait, a person guesses with `%toolchat guess`.
        somebody = run.panel or (not run.options.wait and "predict" in run.options.written)
        plays = isinstance(session.cursor.context.model, Person)
        if plays or not somebody:
            why = "you are the model yourself" if plays else "nobody is here to guess"
            print_text(f"toolchat: predict is off: {why}")
            return None
        self.guesses[session.name] = guesses.begin(session)
        return self.guesses[session.name]

    def exercise_of(self, replay: str, session: Session) -> str:
        """Return the name of the exercise that a cell is for, "" where it is for none.

        It is the one that the cell replays, or the one that was shown last if it names the session.
        """
        if name_of(replay) or not (self.shown and session.name):
            return name_of(replay)
        with contextlib.suppress(UsageError):
            return self.shown if self.exercise(self.shown).session == session.name else ""
        return ""

    # -- an exercise ----------------------------------------------------------------------------

    def exercise(self, name: str) -> Exercise:
        """Return an exercise, of a cell or of a file. Raises UsageError for a wrong one."""
        if name in self.in_cells:
            return read_exercise(self.in_cells[name], f"the exercise {name}")
        return read_exercise(exercise_text(self.cells.folder, name), relative_path(name))

    def check(
        self, name: str, variables: Mapping[str, Any], session: Session | None = None
    ) -> CheckResult:
        """Return how an exercise stands, with the next hint.

        It is checked on the session that it names, else on `session`, else on the last one.
        """
        exercise = self.exercise(name)
        variable = variables.get(exercise.session)
        if isinstance(variable, Session):
            session = variable
        elif session is None:
            session = self.cells.sessions.get(exercise.session or self.cells.last or "")
        guessed = self.guesses.get(session.name) if session is not None else None
        score = guessed.points if guessed is not None else Points()
        context = CheckContext(session, variables, score, exercise.session)
        result = check_branches(exercise, context)
        hint = self._next_hint(name, exercise, result.fails) if result.fails is not None else ""
        return replace(result, name=name, hint=hint)

    def _next_hint(self, name: str, exercise: Exercise, fails: Check) -> str:
        """Return the next hint: those of the check that fails, then those of the exercise.

        The first time that a check fails there is none, so that the learner gets to think.
        """
        failed, shared = self.hints[name, fails.expression], self.hints[name, ""]
        left = [*fails.hints[max(failed - 1, 0) :], *exercise.hints[shared:]]
        of = len(fails.hints) + len(exercise.hints)
        if not left:
            none = t("There are no more hints.") if of else t("There are no hints.")
            solution = t("%1 shows a solution.", f"`%toolchat solution {name}`")
            return joined(" ", [none, solution]) if exercise.solution else none
        self.hints[name, fails.expression] += 1
        if not failed:
            return tn(
                "Check again for a hint: there is one.",
                "Check again for a hint: there are %1.",
                len(left),
            )
        self.hints[name, ""] += failed > len(fails.hints)
        return t("Hint %1 of %2: %3", of - len(left) + 1, of, left[0])

    # -- lines ----------------------------------------------------------------------------------

    def subcommand(
        self, command: str, words: list[str], name: str, variables: Mapping[str, Any]
    ) -> Session | CheckResult | Page | None:
        """Carry out `guess`, `exercise`, `check`, `solution` or `lesson`."""
        if command == "lesson":
            self._restart(words)
            return None
        if command == "guess":
            return _guess(self.cells.with_current_tools(self.cells.current(name), variables), words)
        if command == "exercise" and not words:
            names = ", ".join(self.exercise_names()) or "none"
            raise UsageError(f"exercise needs the name of one; beside this notebook: {names}")
        exercise = words[0] if words else self.shown
        if not exercise:
            raise UsageError(f"{command} needs the name of an exercise: %toolchat {command} fries")
        if command == "check":
            return self.check(exercise, variables)
        if command == "exercise" and len(words) > 1:
            # The first line of the cell is none of the text, and counts in messages.
            self.in_cells[exercise] = f"\n{words[1]}"
        read = self.exercise(exercise)
        if command == "solution":
            return solution_page(read)
        self.shown = exercise
        return task_page(read, exercise)

    def _restart(self, words: list[str]) -> None:
        """Start the lesson over, with its hints and points; what was done in it before is kept."""
        if words != ["restart"]:
            raise UsageError("lesson takes one word: %toolchat lesson restart")
        try:
            folder = self.cells.start_over()
        except OSError as error:
            reason, remedy = write_error_texts(error)
            raise UsageError(f"The lesson cannot start over: {reason}; {remedy}.") from None
        if folder is not None:
            print_text(f"This lesson starts over. What was done in it before is kept in {folder}.")
        self.shown, self.guesses, self.hints = "", {}, Counter()

    def complete_subcommand(self, command: str) -> list[str]:
        """Return the names of the exercises, or the tools that may be guessed."""
        if command == "lesson":
            return ["restart"]
        if command != "guess":
            return self.exercise_names()
        session = self.cells.sessions.get(self.cells.last or "")
        offer = session.cursor.offer if session is not None else None
        tools = [tool.name for tool in (*offer.own, *offer.tools)] if offer else []
        return [*tools, "none", "skip"]

    def exercise_names(self) -> list[str]:
        """Return the names of the exercises in cells and in files."""
        return sorted({*self.in_cells, *exercise_names(self.cells.folder)})

    def replay_files(self) -> list[str]:
        """Return the exercises that `--replay` can name."""
        return [relative_path(name) for name in self.exercise_names()]

    def replayed_model(self, file: str) -> Model | None:
        """Return the recording of an exercise, with its seeded errors."""
        if not file.endswith(SUFFIX):
            return None
        return ExerciseRecording(self.cells.folder, file, self.exercise(name_of(file) or file))


def _guess(session: Session, words: list[str]) -> Session | None:
    guessed = guesses.current(session.cursor)
    if not words:
        _print_turn(session, guessed)
        return None
    if words == [SKIP, "rest"]:
        guesses.end(session)
        return session.run()
    guessed.take(session.cursor, guess_in(words))
    session.run()
    if (row := guessed.settle(session.cursor)) is not None:
        print_text(guesses.as_text(row, guessed.score))
    return session


def _print_turn(session: Session, guessed: Guesses) -> tuple[str, ...]:
    """Print what the model is sent before the reply that is to be guessed; return its tools."""
    turn = next_turn(session.cursor)
    print_text(turn_as_text(turn, session.cursor, guessed.held_status))
    return turn.tools


# -- the panel ------------------------------------------------------------------------------


@dataclass
class TeachingPanel(PanelExtension):
    """The guesses of a cell, where its replies are guessed, and its exercise, where it has one."""

    guesses: Guesses = field(default_factory=Guesses)
    task: Task | None = None
    check: Callable[[Session], Task | None] = lambda session: None
    """Returns how the exercise stands."""
    predicts: bool = False
    """Whether the replies of the session are guessed in a page."""

    commands: ClassVar = {"guess": Guess, "skip_guess": SkipGuess, "check": CheckCommand}

    def before_update(self, session: Session, phase: Phase) -> None:
        """Compare the last guess with the reply that came; at the end hold no reply any more."""
        self.guesses.settle(session.cursor)
        if phase == "finished":
            guesses.end(session)

    def row(self, session: Session, phase: Phase) -> TeachingRow:
        """Return the turn to guess, the guesses with their score, and the exercise."""
        turn = turn_to_guess(session.cursor) if phase == "waiting" else None
        over = self.predicts and phase == "finished"
        return TeachingRow(
            turn=turn,
            score=self.guesses.score,
            guesses=tuple(self.guesses.rows),
            answers=tuple(recorded_answers(session.cursor)) if over else (),
            task=self.task,
        )

    def apply(self, session: Session, command: TeachingCommand) -> bool:
        """Take a guess, or none, and go on; or check the exercise."""
        match command:
            case CheckCommand():
                self.task = self.check(session)
                return False
            case Guess():
                guesses.current(session.cursor).take(session.cursor, command)
            case SkipGuess(rest=True):
                guesses.end(session)
            case SkipGuess():
                guesses.current(session.cursor).take(session.cursor, None)
        return True

    def ask_by_input(self, session: Session, ask: Callable[[str], str]) -> None:
        """Ask for a guess of the next reply on the cell's input line; it is not recorded."""
        current = guesses.current(session.cursor)
        tools = _print_turn(session, current)
        words = split(ask("TOOL NAME=VALUE…, none (it answers), or skip: ").strip()) or [SKIP]
        numbers = {str(number): name for number, name in enumerate(tools, 1)}
        try:
            current.take(session.cursor, guess_in([numbers.get(words[0], words[0]), *words[1:]]))
        except ToolcallError as error:
            print_text(error)


def guess_in(words: list[str]) -> Guess | None:
    """Return the guess in the words of a line, None where it skips. Raises UsageError."""
    first, *rest = words
    if not rest and first in (NONE, SKIP):
        return NO_CALL if first == NONE else None
    return Guess(first, arguments(rest) if rest else {})
