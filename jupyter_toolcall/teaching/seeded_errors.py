"""Proposes wrong calls for an exercise, and keeps those that its checks notice.

The notebook is executed once. After the check of the exercise, the cells from the one that replays
it to the check run again for each proposal. A proposal is noticed where fewer checks hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, islice, pairwise, zip_longest
from pathlib import Path
from typing import Any

from ..core.errors import ToolcallError
from ..core.events import Call
from ..models.recording_file import Course
from ..schemes.select import SELECT
from ..storage.notebook_files import cell_sources, execute
from .exercise_checks import shown_results
from .exercise_file import ExerciseRecording, SeededError, relative_path
from .exercise_proofs import CheckedExercise, checked_exercises

_SEEDED = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+in call \d.*$", re.IGNORECASE | re.MULTILINE)
KEPT, TRIED = 5, 15
"""So many errors are kept, of so many proposals at most."""


def noticed_errors(notebook: Path, name: str) -> list[tuple[SeededError, str]]:
    """Return wrong calls for an exercise of a notebook that its checks notice, at most five.

    Each is with the sentence of the check that does not hold. Raises UsageError for an exercise
    that replays nothing, ToolcallError where the notebook does not replay or check it.
    """
    checked = next((item for item in checked_exercises(notebook) if item.name == name), None)
    if checked is None:
        raise ToolcallError(f"{notebook} has no cell that says %toolchat check {name}")
    checks, right_exercise = checked.exercise.checks, replace(checked.exercise, seeded_errors=())
    recording = ExerciseRecording(notebook.parent, relative_path(name), right_exercise)
    errors = [*islice(proposed_errors(recording.courses[0]), TRIED)]
    right, *wrong = _held(notebook, checked, [None, *errors])
    if right < 0:
        raise ToolcallError(f"{notebook} shows no result of %toolchat check {name}")
    tried = zip(errors, wrong, strict=True)
    noticed = ((error, checks[held].sentence) for error, held in tried if 0 <= held < right)
    return [*islice(noticed, KEPT)]


def _held(
    notebook: Path, checked: CheckedExercise, errors: Sequence[SeededError | None]
) -> list[int]:
    """Return how many checks hold with each of these errors; -1 where no result is shown."""
    cells = cell_sources(notebook)[: checked.check_cell + 1]
    file = relative_path(checked.name)
    replays = re.compile(rf"--replay\s+{re.escape(file)}\b")
    first = next((at for at, cell in enumerate(cells) if replays.search(cell or "")), None)
    if first is None:
        raise ToolcallError(f"{notebook} has no cell with --replay {file}")
    again = [cell for cell in cells[first:] if cell is not None]
    # The cell with the exercise comes first, so that its recording has the error.
    # A later section ## Session adds to the first one, which has other errors no more.
    text = _SEEDED.sub("", checked.text)
    lines = (f"\n\n## Session\n- {error}" if error else "" for error in errors)
    exercises = (f"%%toolchat exercise {checked.name}\n{text}{line}" for line in lines)
    trials = [("%toolchat lesson restart", exercise, *again) for exercise in exercises]
    added = [cell for trial in trials for cell in trial]
    executed = execute(notebook, added={len(cells): added}, halts=False).notebook.cells
    ends = accumulate(map(len, trials), initial=len(cells))
    shown = (shown_results(executed[begin:end]) for begin, end in pairwise(ends))
    return [results[0].held if results else -1 for results in shown]


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
    for first, second in zip(arguments, [*arguments][1:], strict=False):
        here, there = arguments[first], arguments[second]
        if type(here) is type(there) and here != there:
            yield SeededError(step, {first: there, second: here})
    # The next call comes too early, in the place of this one.
    later = following[0] if following and call.tool != SELECT else call
    if (later.tool, dict(later.arguments)) != (call.tool, arguments):
        yield SeededError(step, dict(later.arguments), later.tool)


def _other_values(value: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
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
