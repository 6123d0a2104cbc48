"""Whether the exercises of a notebook can be done: by their own solutions, and not without them.

A solution's code runs where the learner would write it: in the last cell before the check
that is empty, or holds comments alone; without such a cell right before the check.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import ToolcallError
from ..storage.notebook_files import Executed, cell_sources, execute
from .exercise_checks import shown_results
from .exercise_file import Exercise, exercise_in_cell, exercise_text, read_exercise

_LINE = re.compile(r"^%toolchat (check|exercise)(?: +([\w-]+))?[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CheckedExercise:
    """An exercise that a notebook checks."""

    name: str
    text: str
    exercise: Exercise
    answer_cell: int
    """The cell before which the learner's answer goes, from 0."""
    check_cell: int
    """The first cell that checks it."""


def prove(path: Path) -> dict[str, str]:
    """Return what is wrong with each exercise of a notebook, by name; "" for nothing.

    The notebook is executed as it stands, and solved.

    Raises ToolcallError where it checks none, or where it does not run with the solutions.
    """
    checked = checked_exercises(path)
    if not checked:
        raise ToolcallError(f"{path} checks no exercise; a cell has to say %toolchat check NAME")
    unsolved = _passed(execute(path, halts=False))
    added: dict[int, Sequence[str]] = {}
    for item in checked:
        added[item.answer_cell] = (*added.get(item.answer_cell, ()), *item.exercise.cells)
    solved = _passed(execute(path, added=added))
    return {item.name: _wrong(item, unsolved, solved) for item in checked}


def exercise_code(path: Path) -> tuple[str, ...]:
    """Return the code of exercises that `prove` runs in a notebook; () for what is no notebook."""
    try:
        exercises = [item.exercise for item in checked_exercises(path)]
    except (ToolcallError, OSError):
        return ()
    expressions = [check.expression for exercise in exercises for check in exercise.checks]
    return (*(cell for exercise in exercises for cell in exercise.cells), *expressions)


def checked_exercises(path: Path) -> list[CheckedExercise]:
    """Return the exercises that a notebook checks. Raises UsageError for one that is not there."""
    cells = cell_sources(path)
    texts: dict[str, str] = {}
    checked: dict[str, CheckedExercise] = {}
    first, name = 0, ""
    for index, source in enumerate(cells):
        if written := exercise_in_cell(source or ""):
            name, texts[name] = written[0], written[1]
            continue
        for command, named in _LINE.findall(source or ""):
            name = named or name
            if command == "check" and name not in checked:
                empty = [at for at in range(first, index) if _is_empty(cells[at])]
                text = texts.get(name) or exercise_text(path.parent, name)
                exercise = read_exercise(text, name)
                answer = empty[-1] if empty else index
                checked[name] = CheckedExercise(name, text, exercise, answer, index)
                first = index + 1
    return [*checked.values()]


def _is_empty(source: str | None) -> bool:
    """Return whether a code cell holds comments alone."""
    return source is not None and all(
        not line.strip() or line.lstrip().startswith("#") for line in source.splitlines()
    )


def _passed(executed: Executed) -> set[str]:
    """Return the exercises that passed when they were checked first."""
    results = {name: held == of for name, held, of in shown_results(executed.notebook.cells)[::-1]}
    return {name for name, passed in results.items() if passed}


def _wrong(checked: CheckedExercise, unsolved: set[str], solved: set[str]) -> str:
    if checked.name not in solved:
        return "its solution does not pass" if checked.exercise.cells else "it does not pass"
    is_solved_before = checked.exercise.cells and checked.name in unsolved
    return "it passes before its solution is there" if is_solved_before else ""
