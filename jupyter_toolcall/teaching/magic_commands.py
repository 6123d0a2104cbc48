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
from . import exercise_checks, exercise_file, guesses
from .exercise_checks import CheckResult
from .exercise_file import Exercise
from .guesses import Guesses
from .panel_rows import Check, Guess, SkipGuess, Task, TeachingCommand, TeachingRow


@dataclass
class Teaching(NotebookExtension):
    """The guesses and the exercises of a kernel's notebook."""

    cells: Cells
    in_cells: dict[str, str] = field(default_factory=dict)
    """The texts of exercises that cells of the notebook hold, by name."""
    shown: str = ""
    """The exercise that was shown last."""
    failures: Counter[exercise_file.Check] = field(default_factory=Counter)
    """How often each check did not hold."""

    # -- a cell -------------------------------------------------------------------------------

    def attach(self, session: Session, run: CellRun) -> TeachingPanel | None:
        """Hold the replies of a cell that says `--predict`, and show the exercise it is for."""
        guesses.last(session).is_over = True
        predicts = run.options.extra["predict"]
        exercise = self.exercise_for(run.options.replay, session)
        if not predicts and exercise is None:
            return None
        panel = TeachingPanel(_begin_guesses(session, run) if predicts else Guesses(), predicts)
        if exercise is not None:
            name, panel.task = exercise.name, Task(exercise.title)
            panel.check = lambda session: self.check(name, run.variables, session).task
        return panel

    def exercise_for(self, replay: str, session: Session) -> Exercise | None:
        """Return the exercise that a cell is for, None for none.

        It is the one that the cell replays, or the one that was shown last if it names the session.
        """
        replayed = exercise_file.name_of(replay)
        # A check says what is wrong with a file that cannot be read.
        with contextlib.suppress(UsageError):
            exercise = self.exercises.read(replayed or self.shown)
            if replayed or "" != exercise.session == session.name:
                return exercise
        return None

    # -- an exercise ----------------------------------------------------------------------------

    @property
    def exercises(self) -> exercise_file.Exercises:
        """The exercises of the notebook."""
        return exercise_file.Exercises(self.cells.folder, self.in_cells)

    def check(
        self, name: str, variables: Mapping[str, Any], session: Session | None = None
    ) -> CheckResult:
        """Return how an exercise stands, with the next hint.

        It is checked on the session that it names, else on `session`, else on the last one.
        """
        exercise = self.exercises.read(name)
        variable = variables.get(exercise.session)
        if isinstance(variable, Session):
            session = variable
        elif session is None:
            session = self.cells.sessions.get(exercise.session or self.cells.last or "")
        score = guesses.last(session).points if session is not None else guesses.Points()
        context = exercise_checks.CheckContext(session, variables, score, exercise.session)
        result = exercise_checks.check_branches(exercise, context)
        hint = self._next_hint(exercise, result.fails) if result.fails else ""
        return replace(result, hint=hint)

    def _next_hint(self, exercise: Exercise, fails: exercise_file.Check) -> str:
        """Return the next hint: those of the check that fails, then those of the exercise.

        The first time that a check fails there is none, so that the learner gets to think.
        """
        hints, failed = [*fails.hints, *exercise.hints], self.failures[fails]
        self.failures[fails] += 1
        if failed > len(hints) or not hints:
            none = t("There are no more hints.") if hints else t("There are no hints.")
            solution = t("%1 shows a solution.", f"`%toolchat solution {exercise.name}`")
            return joined(" ", [none, solution]) if exercise.solution else none
        if failed:
            return t("Hint %1 of %2: %3", failed, len(hints), hints[failed - 1])
        return tn(
            "Check again for a hint: there is one.",
            "Check again for a hint: there are %1.",
            len(hints),
        )

    # -- lines ----------------------------------------------------------------------------------

    def subcommand(
        self, command: str, words: list[str], name: str, variables: Mapping[str, object]
    ) -> Session | exercise_checks.Page | None:
        """Carry out `guess`, `exercise`, `check`, `solution` or `lesson`."""
        if command == "lesson":
            self._restart(words)
            return None
        if command == "guess":
            return _guess(self.cells.with_current_tools(self.cells.current(name), variables), words)
        exercise = words[0] if words else self.shown
        if command == "exercise" and len(words) > 1:
            # The first line of the cell is none of the text, and counts in messages.
            self.in_cells[exercise] = f"\n{words[1]}"
        if not exercise:
            names = ", ".join(self.exercises.names) or "none"
            raise UsageError(f"{command} needs the name of an exercise; there are: {names}")
        if command == "check":
            return self.check(exercise, variables).page
        read = self.exercises.read(exercise)
        if command == "solution":
            solution = read.solution or "It has no solution written down."
            return exercise_checks.Page(f"### {read.title}: a solution\n\n{solution}")
        self.shown = exercise
        how = f"Check yourself with `%toolchat check {exercise}`; checking again gives a hint."
        return exercise_checks.Page(f"### {read.title}\n\n{read.text}\n\n{how}")

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
        self.shown, self.failures = "", Counter()

    def complete_subcommand(self, command: str) -> list[str]:
        """Return the names of the exercises, or the tools that may be guessed."""
        if command == "lesson":
            return ["restart"]
        if command != "guess":
            return self.exercises.names
        session = self.cells.sessions.get(self.cells.last or "")
        tools = next_turn(session.cursor).tools if session is not None else ()
        return [*tools, "none", "skip"]

    def replay_files(self) -> list[str]:
        """Return the exercises that `--replay` can name."""
        return [exercise_file.relative_path(name) for name in self.exercises.names]

    def replayed_model(self, file: str) -> Model | None:
        """Return the recording of an exercise, with its seeded errors."""
        if not file.endswith(exercise_file.SUFFIX):
            return None
        exercise = self.exercises.read(exercise_file.name_of(file) or file)
        return exercise_file.ExerciseRecording(self.cells.folder, file, exercise)


def _begin_guesses(session: Session, run: CellRun) -> Guesses:
    """Hold the replies of a cell until they are guessed, where somebody can guess them."""
    # In a cell that does not wait, a person guesses with `%toolchat guess`.
    somebody = run.panel or (not run.options.wait and "predict" in run.options.written)
    plays = isinstance(session.cursor.context.model, Person)
    if somebody and not plays:
        return guesses.begin(session)
    why = "you are the model yourself" if plays else "nobody is here to guess"
    print_text(f"toolchat: predict is off: {why}")
    return Guesses(is_over=True)


def _guess(session: Session, words: list[str]) -> Session | None:
    guessed = guesses.current(session.cursor)
    if not words:
        _print_turn(session)
        return None
    guessed.take(session.cursor, guess_in(words))
    session.run()
    if (row := guessed.settle(session.cursor)) is not None:
        print_text(guesses.as_text(row, guessed.points.text))
    return session


def _print_turn(session: Session) -> tuple[str, ...]:
    """Print what the model is sent before the reply that is to be guessed; return its tools."""
    turn = next_turn(session.cursor)
    print_text(turn_as_text(turn, session.cursor, Guesses.held_status))
    return turn.tools


def guess_in(words: list[str]) -> Guess | SkipGuess:
    """Return what the words of a line guess. Raises UsageError."""
    match words:
        case [] | ["skip"]:
            return SkipGuess()
        case ["skip", "rest"]:
            return SkipGuess(rest=True)
        case ["none"]:
            return Guess()
    return Guess(words[0], arguments(words[1:]) if words[1:] else {})


# -- the panel ------------------------------------------------------------------------------


@dataclass
class TeachingPanel(PanelExtension):
    """The guesses of a cell, where its replies are guessed, and its exercise, where it has one."""

    guesses: Guesses = field(default_factory=Guesses)
    predicts: bool = False
    """Whether the replies of the session are guessed in a page."""
    task: Task | None = None
    check: Callable[[Session], Task | None] = lambda session: None
    """Returns how the exercise stands."""

    commands: ClassVar = {"guess": Guess, "skip_guess": SkipGuess, "check": Check}

    def before_update(self, session: Session, phase: Phase) -> None:
        """Compare the last guess with the reply that came; at the end hold no reply any more."""
        self.guesses.settle(session.cursor)
        if phase == "finished":
            self.guesses.is_over = True

    def row(self, session: Session, phase: Phase) -> TeachingRow:
        """Return the turn to guess, the guesses with their score, and the exercise."""
        turn = guesses.turn_to_guess(session.cursor) if phase == "waiting" else None
        over = self.predicts and phase == "finished"
        return TeachingRow(
            turn=turn,
            score=self.guesses.points.text,
            guesses=tuple(self.guesses.rows),
            answers=tuple(guesses.recorded_answers(session.cursor)) if over else (),
            task=self.task,
        )

    def apply(self, session: Session, command: TeachingCommand) -> bool:
        """Take a guess, or none, and go on; or check the exercise."""
        if isinstance(command, Check):
            self.task = self.check(session)
            return False
        guesses.current(session.cursor).take(session.cursor, command)
        return True

    def ask_by_input(self, session: Session, ask: Callable[[str], str]) -> None:
        """Ask for a guess of the next reply on the cell's input line; it is not recorded."""
        numbers = {str(number): name for number, name in enumerate(_print_turn(session), 1)}
        words = split(ask("TOOL NAME=VALUE…, none (it answers), or skip: "))
        named = [numbers.get(word, word) for word in words[:1]]
        try:
            self.apply(session, guess_in([*named, *words[1:]]))
        except ToolcallError as error:
            print_text(error)
