"""Whether an exercise is about a session: told by what it says, and by what it checks (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection

from .conditions import Condition, Described, Equals, Gives, Holds, IsA, IsTool, Saved, Takes
from .reading import Exercise
from .values import ANSWER


def is_about(exercise: Exercise, session: str, outputs: Collection[str]) -> bool:
    """Return whether an exercise is about a session of this name, which makes these outputs.

    One that replays a recording is about the cell that replays the exercise, and no other.
    """
    if exercise.replays:
        return False
    if exercise.session:
        return exercise.session == session
    return any(_is_about(check.condition, outputs) for check in exercise.checks)


def _is_about(condition: Condition, outputs: Collection[str]) -> bool:
    match condition:
        case IsTool() | Takes() | Described() | Gives():
            return False
        case Saved(name):
            return name in outputs
        case Equals(path) | IsA(path) | Holds(path):
            name = re.split(r"[.\[]", path, maxsplit=1)[0]
            return path == ANSWER or "#" in name or name in outputs
    return True
