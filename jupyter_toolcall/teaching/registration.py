"""Adds teaching to `%%toolchat` and `%toolchat`. Nothing heavy is imported before it is used."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ..jupyter.extensions import (
    Flag,
    NotebookExtension,
    Registration,
    add_flag,
    add_replay_source,
    register,
)

if TYPE_CHECKING:
    from ..jupyter.cells import Cells
    from ..schemes.messages import Model


PREDICT = Flag(
    "predict",
    help="you guess the next call before each reply of the model",
    help_off="no guesses in this cell",
    setting="You guess the next call before each reply of the model.",
)
EXERCISE = ".md"
HELP = """\
  guess TOOL NAME=VALUE      guess the next call (--predict); guess none: the model calls nothing
  guess skip [rest]          continue without this guess; with rest, without any more guesses
  exercise NAME              show the task in exercises/NAME.md
  check [NAME]               check an exercise: passed, or what does not hold; then a hint
  solution [NAME]            show the solution of an exercise
  lesson restart             start all sessions of this notebook over; the old ones are kept
"""


def register_teaching() -> None:
    """Add `--predict`, exercises for `--replay`, and the subcommands for both."""
    add_flag(PREDICT)
    add_replay_source(EXERCISE, "an exercise")
    register(
        Registration(
            "teaching",
            _create,
            subcommands=("guess", "exercise", "check", "solution", "lesson"),
            help=HELP,
            replays={EXERCISE: _recording},
        )
    )


def _create(cells: Cells) -> NotebookExtension:
    extension: NotebookExtension = import_module(".magic_commands", __package__).Teaching(cells)
    return extension


def _recording(folder: Path, name: str) -> Model:
    model: Model = import_module(".exercise_file", __package__).recording(folder, name)
    return model
