"""Guesses, exercises and seeded errors: teaching with recorded sessions.

It uses the public `Session` and its hooks, and adds its options and subcommands to `%%toolchat`
and `%toolchat`. No other package imports or mentions it. Nothing heavy is imported before it is
used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..jupyter import extensions

if TYPE_CHECKING:
    from ..jupyter.cells import Cells
    from ..session.session import Session
    from .exercise_checks import CheckResult

PREDICT = extensions.Flag(
    "predict",
    help="you guess the next call before each reply of the model",
    help_off="no guesses in this cell",
    setting="You guess the next call before each reply of the model.",
)
HELP = """\
  guess TOOL NAME=VALUE      guess the next call (--predict); guess none: the model calls nothing
  guess skip [rest]          continue without this guess; with rest, without any more guesses
  exercise NAME              show the task in exercises/NAME.md; as a cell with %%, the task below
  check [NAME]               check an exercise: passed, or what does not hold; then a hint
  solution [NAME]            show the solution of an exercise
  lesson restart             start all sessions of this notebook over; the old ones are kept
"""


def register_teaching() -> None:
    """Add `--predict`, exercises for `--replay`, and the subcommands for both."""
    extensions.add_flag(PREDICT)
    extensions.add_replay_source(".md", "an exercise")
    subcommands = "guess", "exercise", "check", "solution", "lesson"
    extensions.register(extensions.Registration("teaching", _create, subcommands, HELP))


def _create(cells: Cells) -> extensions.NotebookExtension:
    extension: extensions.NotebookExtension = import_module(
        ".magic_commands", __package__
    ).Teaching(cells)
    return extension


def check(name: str) -> CheckResult:
    """Return the result of an exercise of this notebook: `points`, `of`, `passed` and `message`.

    It checks as `%toolchat check` does, and displays nothing, so it suits the test cells of a
    grader.

    Args:
        name: The name of a file in the folder `exercises`, without its ending.

    Raises:
        UsageError: There is no such exercise.

    Example:
        from jupyter_toolcall.teaching import check
        assert check("fries").passed, check("fries").message
    """
    notebook = _notebook()
    result: CheckResult = notebook.cells.extensions["teaching"].check(name, notebook.shell.user_ns)
    return result


def session(name: str = "") -> Session:
    """Return a session of this notebook's cells.

    Args:
        name: What `-n` in its cell says; "" for the session that ran last.

    Raises:
        UsageError: There is no such session.

    Example:
        from jupyter_toolcall.teaching import session
        session("lunch").calls[3].arguments
    """
    found: Session = _notebook().cells.current(name)
    return found


def _notebook() -> Any:
    return import_module("..jupyter.notebook", __package__).current_notebook()
