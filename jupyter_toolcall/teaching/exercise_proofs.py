"""Whether the exercises of a notebook can be done: by their own solutions, and not without them.

A solution's code runs where the learner would write it: in the last cell before the check
that is empty, or holds comments alone; without such a cell right before the check.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import ToolcallError
from ..storage.notebook_files import Executed, cell_sources, execute
from .exercise_checks import MIME
from .exercise_file import Exercise, exercise_named

_LINE = re.compile(r"^%toolchat (check|exercise)(?: +([\w-]+))?[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Proof:
    """An exercise of a notebook, and what is wrong with it ("" for nothing)."""

    exercise: str
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class _CheckedExercise:
    """An exercise that a notebook checks, and the cell before which its solution goes."""

    name: str
    exercise: Exercise
    cell: int


def prove(path: Path) -> tuple[Proof, ...]:
    """Return how each exercise of a notebook fares, executed as it stands, and solved.

    Raises ToolcallError where it checks none, or where it does not run with the solutions.
    """
    checked = _checked_exercises(path)
    if not checked:
        raise ToolcallError(f"{path} checks no exercise; a cell has to say %toolchat check NAME")
    unsolved = _passed(execute(path, halts=False))
    added: dict[int, Sequence[str]] = {}
    for each in checked:
        added[each.cell] = (*added.get(each.cell, ()), *each.exercise.cells)
    solved = _passed(execute(path, added=added))
    return tuple(Proof(each.name, _wrong(each, unsolved, solved)) for each in checked)


def exercise_code(path: Path) -> tuple[str, ...]:
    """Return the code of exercises that `prove` runs in a notebook; () for what is no notebook."""
    try:
        exercises = [each.exercise for each in _checked_exercises(path)]
    except (ToolcallError, OSError):
        return ()
    expressions = [check.expression for each in exercises for check in each.checks]
    return (*(cell for each in exercises for cell in each.cells), *expressions)


def _checked_exercises(path: Path) -> list[_CheckedExercise]:
    cells = cell_sources(path)
    checked: dict[str, _CheckedExercise] = {}
    first, name = 0, ""
    for index, source in enumerate(cells):
        for command, named in _LINE.findall(source or ""):
            name = named or name
            if command == "check" and name not in checked:
                empty = [at for at in range(first, index) if _is_empty(cells[at])]
                exercise = exercise_named(path.parent, name)
                checked[name] = _CheckedExercise(name, exercise, empty[-1] if empty else index)
                first = index + 1
    return [*checked.values()]


def _is_empty(source: str | None) -> bool:
    """Return whether a code cell holds comments alone."""
    return source is not None and all(
        not line.strip() or line.lstrip().startswith("#") for line in source.splitlines()
    )


def _passed(done: Executed) -> Mapping[str, bool]:
    """Return whether each exercise passed, when it was checked first."""
    passed: dict[str, bool] = {}
    for cell in done.notebook.cells:
        for output in cell.get("outputs", ()):
            if data := output.get("data", {}).get(MIME):
                passed.setdefault(data["exercise"], data["passed"])
    return passed


def _wrong(
    checked: _CheckedExercise, unsolved: Mapping[str, bool], solved: Mapping[str, bool]
) -> str:
    if not solved.get(checked.name):
        return "its solution does not pass" if checked.exercise.cells else "it does not pass"
    if checked.exercise.cells and unsolved.get(checked.name):
        return "it passes before its solution is there"
    return ""
