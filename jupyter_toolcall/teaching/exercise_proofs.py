"""What the checks of a notebook's exercises notice, found out by executing it.

An exercise has to pass with its own solution, and not without it. A solution's code runs where the
learner would write it: in the last cell before the check that is empty, or holds comments alone;
without such a cell right before the check.

Wrong calls are proposed for an exercise that replays a recording. The notebook is executed once.
After the check of the exercise, the cells from the one that replays it to the check run again for
each proposal. A proposal is noticed where fewer checks hold.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, zip_longest
from pathlib import Path
from typing import Any

from ..core.errors import ToolcallError, UsageError
from ..core.events import Call
from ..models.recording_file import Course
from ..schemes.select import SELECT
from ..storage.notebook_files import Executed, cell_sources, execute
from . import exercise_file
from .exercise_checks import shown_results
from .exercise_file import Exercise, Exercises, SeededError

_CODE = re.compile(r"^\s*[^#\s]", re.MULTILINE)
"""What a cell that is empty, or holds comments alone, has not."""
_SEEDED = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+in call \d.*$", re.IGNORECASE | re.MULTILINE)
KEPT, TRIED = 5, 15
"""So many errors are kept, of so many proposals at most."""
_LINE = re.compile(r"^%toolchat (check|exercise)(?: +([\w-]+))?[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CheckedExercise:
    """An exercise that a notebook checks."""

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
    added = defaultdict[int, list[str]](list)
    for item in checked:
        added[item.answer_cell] += item.exercise.cells
    solved = _passed(execute(path, added=added))
    return {item.exercise.name: _wrong(item.exercise, unsolved, solved) for item in checked}


def exercise_code(path: Path) -> tuple[str, ...]:
    """Return the exercises whose code runs in a notebook; () for what is no notebook."""
    try:
        return tuple(item.exercise.source for item in checked_exercises(path))
    except (ToolcallError, OSError):
        return ()


def checked_exercises(path: Path) -> list[CheckedExercise]:
    """Return the exercises that a notebook checks. Raises UsageError for one that is not there."""
    cells, exercises = cell_sources(path), Exercises(path.parent)
    checked: dict[str, CheckedExercise] = {}
    first, name = 0, ""
    for index, source in enumerate(cells):
        if written := exercise_file.CELL.match(source or ""):
            name = written[1]
            exercises.in_cells[name] = written[2]
            continue
        for command, named in _LINE.findall(source or ""):
            name = named or name
            if command == "check" and name not in checked:
                before = [(at, cells[at]) for at in range(first, index)]
                empty = [at for at, cell in before if cell is not None and not _CODE.search(cell)]
                answer = empty[-1] if empty else index
                checked[name] = CheckedExercise(exercises.read(name), answer, index)
                first = index + 1
    return [*checked.values()]


def _passed(executed: Executed) -> set[str]:
    """Return the exercises that passed when they were checked first."""
    results = {name: held == of for name, held, of in shown_results(executed.notebook.cells)[::-1]}
    return {name for name, passed in results.items() if passed}


def _wrong(exercise: Exercise, unsolved: set[str], solved: set[str]) -> str:
    if exercise.name not in solved:
        return "its solution does not pass" if exercise.cells else "it does not pass"
    is_solved_before = exercise.cells and exercise.name in unsolved
    return "it passes before its solution is there" if is_solved_before else ""


# -- wrong calls ----


def noticed_errors(notebook: Path, name: str) -> list[tuple[SeededError, str]]:
    """Return wrong calls for an exercise of a notebook that its checks notice, at most five.

    Each is with the sentence of the check that does not hold. Raises UsageError for an exercise
    that replays nothing, ToolcallError where the notebook does not replay or check it.
    """
    all_checked = {item.exercise.name: item for item in checked_exercises(notebook)}
    if (checked := all_checked.get(name)) is None:
        raise ToolcallError(f"{notebook} has no cell that says %toolchat check {name}")
    checks, right_exercise = checked.exercise.checks, replace(checked.exercise, seeded_errors=())
    file = exercise_file.relative_path(name)
    if not checked.exercise.replays and not (notebook.parent / file).exists():
        raise UsageError(f"{name} is an exercise in a cell: seed needs one in a file, {file}")
    recording = exercise_file.ExerciseRecording(notebook.parent, file, right_exercise)
    errors = [*islice(proposed_errors(recording.courses[0]), TRIED)]
    right, *wrong = _held(notebook, checked, file, [None, *errors])
    if right < 0:
        raise ToolcallError(f"{notebook} shows no result of %toolchat check {name}")
    tried = zip(errors, wrong, strict=True)
    noticed = ((error, checks[held].sentence) for error, held in tried if 0 <= held < right)
    return [*islice(noticed, KEPT)]


def _held(
    notebook: Path, checked: CheckedExercise, file: str, errors: Sequence[SeededError | None]
) -> list[int]:
    """Return how many checks hold with each of these errors; -1 where no result is shown."""
    cells = cell_sources(notebook)[: checked.check_cell + 1]
    first = next((at for at, cell in enumerate(cells) if f"--replay {file}" in (cell or "")), None)
    if first is None:
        raise ToolcallError(f"{notebook} has no cell with --replay {file}")
    repeated_cells = [cell for cell in cells[first:] if cell is not None]
    # The cell with the exercise comes first, so that its recording has the error.
    # A later section ## Session adds to the first one, which has other errors no more.
    text = f"{_SEEDED.sub('', checked.exercise.source)}\n\n## Session\n"
    added: list[str] = []
    for error in errors:
        exercise = (
            f"%%toolchat exercise {checked.exercise.name}\n{text}{f'- {error}' if error else ''}"
        )
        added += ["%toolchat lesson restart", exercise, *repeated_cells]
    executed = execute(notebook, added={len(cells): added}, halts=False).notebook.cells
    trial = len(repeated_cells) + 2
    starts = range(len(cells), len(cells) + len(added), trial)
    shown = (shown_results(executed[start : start + trial]) for start in starts)
    return [results[0][1] if results else -1 for results in shown]


# -- what may be wrong ----------------------------------------------------------------------------


def proposed_errors(course: Course) -> Iterator[SeededError]:
    """Yield calls that are wrong in one way each; those of different calls take turns."""
    calls = [call for turn in course.turns for call in turn.reply.calls]
    tools = {name: tool for turn in course.turns for name, tool in turn.tools.items() if tool}
    errors = (_errors_in(step, calls, tools) for step in range(1, len(calls) + 1))
    for one_of_each in zip_longest(*errors):
        yield from filter(None, one_of_each)


def _errors_in(
    step: int, calls: Sequence[Call], tools: Mapping[str, Mapping[str, Any]]
) -> Iterator[SeededError]:
    call, *following = calls[step - 1 :]
    schemas = tools.get(call.tool, {}).get("parameters", {}).get("properties", {})
    arguments = dict(call.arguments)
    for name, value in arguments.items():
        for other in _other_values(value, schemas.get(name, {})):
            yield SeededError(step, {name: other})
    for (first, value), (second, other_value) in pairwise(arguments.items()):
        if type(value) is type(other_value) and value != other_value:
            yield SeededError(step, {first: other_value, second: value})
    # The next call comes too early, in the place of this one.
    later = following[0] if following and call.tool != SELECT else call
    if (later.tool, dict(later.arguments)) != (call.tool, arguments):
        yield SeededError(step, dict(later.arguments), later.tool)


def _other_values(value: Any, schema: Mapping[str, Any]) -> Iterator[object]:
    match value:
        case bool():
            yield not value
        case int() | float():
            yield value + 1
        case list() if value:
            yield value[:-1]
        case str() if "#" in value and value.partition("#")[2].isdecimal():
            kind, _, number = value.partition("#")
            yield from [f"{kind}#{int(number) - 1}"] if int(number) > 1 else []
    yield from (other for other in schema.get("enum", ()) if other != value)
