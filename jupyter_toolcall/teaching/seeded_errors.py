"""Proposes wrong calls for an exercise, and keeps those that its checks notice.

The notebook is executed as it is, and once with each proposal in place of the seeded errors of the
exercise. A proposal is noticed where fewer checks hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from ..core.errors import ToolcallError, UsageError
from ..core.events import Call
from ..core.text import progress_bar
from ..models.recorded import Recorded
from ..models.recording_file import Course
from ..schemes.select import SELECT
from ..storage.notebook_files import NotExecuted, execute
from . import exercise_file
from .exercise_checks import MIME
from .exercise_file import FOLDER, SeededError, exercise_named

MODULE = exercise_file.__name__
KEPT, TRIED = 5, 15
"""So many errors are kept, of so many proposals at most: each is an execution of the notebook."""


def noticed_errors(notebook: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield wrong calls for an exercise of a notebook that its checks notice, at most five.

    Each is the line below `## Session`, with the sentence of the check that does not hold. Raises
    UsageError for no such exercise, and for one that replays nothing; ToolcallError where the
    notebook does not check it.
    """
    exercise = exercise_named(notebook.parent, name)
    if not exercise.replays:
        raise UsageError(f"{name} replays nothing; its section ## Session can say: Replays `FILE`")
    course = Recorded(notebook.parent / FOLDER / exercise.replays).courses[0]
    held, kept = _held(notebook, name, ()), 0
    proposals = [*islice(proposed_errors(course), TRIED)]
    with progress_bar(len(proposals), "wrong calls", "call") as progress:
        for error in proposals:
            with suppress(NotExecuted):
                now_held = _held(notebook, name, (error,))
                if now_held < held:
                    kept += 1
                    yield _line(error), exercise.checks[now_held].sentence
            progress.update()
            if kept == KEPT:
                return


def _held(notebook: Path, name: str, errors: tuple[SeededError, ...]) -> int:
    """Return how many checks hold in a notebook in which an exercise has these errors."""
    # Errors are plain data, whose `repr` is code.
    code = f"from {MODULE} import PROPOSED, SeededError\nPROPOSED[{name!r}] = {errors!r}"
    executed = execute(notebook, added={0: [code]}, halts=False)
    outputs = (out for cell in executed.notebook.cells for out in cell.get("outputs", ()))
    for result in (out.get("data", {}).get(MIME, {}) for out in outputs):
        if result.get("exercise") == name:
            return int(result["held"])
    raise ToolcallError(f"{notebook} comes to no cell that says %toolchat check {name}")


def _line(error: SeededError) -> str:
    text = ", ".join(f"{name}={value!r}" for name, value in error.arguments.items())
    code = f"{error.tool}({text})" if error.tool else text
    return f"In call {error.step}, `{code}`"


# -- what may be wrong ----------------------------------------------------------------------------


def proposed_errors(course: Course) -> Iterator[SeededError]:
    """Yield calls that are wrong in one way each; those of different calls take turns."""
    calls = [call for turn in course.turns for call in turn.reply.calls]
    tools = {name: tool for turn in course.turns for name, tool in turn.tools.items() if tool}
    errors = (_errors_in(step, calls, tools) for step in range(1, len(calls) + 1))
    for one_of_each in zip_longest(*errors):
        yield from (error for error in one_of_each if error and _is_wrong(error, calls))


def _is_wrong(error: SeededError, calls: Sequence[Call]) -> bool:
    """Return whether an error makes another call of the call that it is seeded in."""
    call = calls[error.step - 1]
    wrong = error.applied(call)
    return (wrong.tool, dict(wrong.arguments)) != (call.tool, dict(call.arguments))


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
        if type(arguments[first]) is type(arguments[second]):
            yield SeededError(step, {first: arguments[second], second: arguments[first]})
    # The next call comes too early, in the place of this one.
    if following and call.tool != SELECT:
        yield SeededError(step, dict(following[0].arguments), following[0].tool)


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
