"""Guesses, exercises and seeded errors: teaching with recorded sessions.

It uses the public `Session` and its hooks, and registers its options and subcommands with
`jupyter`. No other package imports or mentions it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .exercise_checks import CheckResult


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
    # Imported when a grader asks: loading the extension stays fast.
    notebook = import_module("..jupyter.notebook", __package__).current_notebook()
    subcommands = import_module("..jupyter.subcommands", __package__)
    result: CheckResult = subcommands.carry_out(
        ["check", name], notebook.cells, {}, notebook.shell.user_ns
    )
    return result
