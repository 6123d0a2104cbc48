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
    help="guess what the model does next, before each of its replies",
    help_off="guess nothing",
    setting="Guess each reply of the model first.",
)
EXERCISE = ".md"
HELP = """\
  guess TOOL NAME=VALUE      what the model does next (--predict); guess none: it answers
  guess skip [rest]          go on without a guess, or without any more
  exercise NAME              what exercises/NAME.md asks for
  check [NAME]               whether it is so, or what is in the way, and then a hint
  solution [NAME]            how it is done
"""


def register_teaching() -> None:
    """Add `--predict`, exercises for `--replay`, and the subcommands for both."""
    add_flag(PREDICT)
    add_replay_source(EXERCISE, "what an exercise")
    register(
        Registration(
            "teaching",
            _create,
            subcommands=("guess", "exercise", "check", "solution"),
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
