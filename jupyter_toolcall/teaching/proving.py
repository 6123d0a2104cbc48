"""Whether the exercises of a notebook can be done: by their own solutions, and not without them.

A solution's code runs where the learner would write it: in the last cell before the check
that is empty, or holds comments alone; without such a cell right before the check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ToolcallError
from ..notebooks.files import Executed, execute, sources
from . import lessons
from .reading import Exercise
from .showing import MIME

_LINE = re.compile(r"^%toolchat (check|exercise)(?: +([\w-]+))?[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Proof:
    """An exercise of a notebook, and what is wrong with it ("" for nothing)."""

    exercise: str
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an exercise is checked first, and where its solution goes."""

    name: str
    exercise: Exercise
    at: int


def prove(path: Path) -> tuple[Proof, ...]:
    """Return how each exercise of a notebook fares, executed as it stands, and solved.

    Raises ToolcallError where it checks none, or where it does not run with the solutions.
    """
    cells = sources(path)
    places = _places(cells, path)
    if not places:
        raise ToolcallError(f"{path} checks no exercise; a cell has to say %toolchat check NAME")
    as_is = _passed(execute(path, halts=False))
    added: dict[int, Sequence[str]] = {}
    for place in places:
        added[place.at] = (*added.get(place.at, ()), *place.exercise.cells)
    solved = _passed(execute(path, added=added))
    return tuple(Proof(each.name, _wrong(each, as_is, solved)) for each in places)


def solutions(path: Path) -> tuple[str, ...]:
    """Return the code that `prove` adds to a notebook's own; () for a file that is no notebook."""
    try:
        places = _places(sources(path), path)
    except (ToolcallError, OSError):
        return ()
    return tuple(cell for place in places for cell in place.exercise.cells)


def _places(cells: Sequence[str | None], path: Path) -> list[_Place]:
    found: list[_Place] = []
    begins, on = 0, ""
    for index, source in enumerate(cells):
        for command, name in _LINE.findall(source or ""):
            on = name or on
            if command == "check" and on not in {place.name for place in found}:
                file = lessons.place(path.parent, on)
                at = _learners(cells, begins, index)
                found.append(_Place(on, lessons.read(file, str(file)), at))
                begins = index + 1
    return found


def _learners(cells: Sequence[str | None], begins: int, end: int) -> int:
    """Return the index of the cell before which a solution goes."""
    mine = [index for index in range(begins, end) if _is_open(cells[index])]
    return mine[-1] if mine else end


def _is_open(source: str | None) -> bool:
    return source is not None and all(
        not line.strip() or line.lstrip().startswith("#") for line in source.splitlines()
    )


def _passed(done: Executed) -> Mapping[str, bool]:
    """Return whether each exercise passed, when it was checked first."""
    found: dict[str, bool] = {}
    for data in _outcomes(done.notebook):
        found.setdefault(data["exercise"], data["passed"])
    return found


def _outcomes(notebook: Any) -> Iterator[Any]:
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if MIME in output.get("data", {}):
                yield output["data"][MIME]


def _wrong(place: _Place, as_is: Mapping[str, bool], solved: Mapping[str, bool]) -> str:
    if not solved.get(place.name):
        return "its solution does not pass" if place.exercise.cells else "it does not pass"
    if place.exercise.cells and as_is.get(place.name):
        return "it passes before its solution is there"
    return ""
