"""An exercise and how it stands, as Markdown and as text: what a cell shows and keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..printable import LINES, printable
from .checking import Verdict
from .reading import Check, Exercise
from .rows import Task
from .sentences import forms

MIME = "application/vnd.jupyter-toolcall.check+json"


@dataclass(frozen=True, slots=True)
class Page:
    """Markdown that is shown; `data` is what a program reads of it."""

    markdown: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {
            **self.data,
            "text/markdown": self.markdown,
            "text/plain": printable(str(self), LINES),
        }

    def __str__(self) -> str:
        return self.markdown.replace("**", "").replace("### ", "")


@dataclass(frozen=True, slots=True)
class Hint:
    """A hint, and which of how many it is."""

    number: int
    of: int
    text: str

    def __str__(self) -> str:
        return f"Hint {self.number} of {self.of}: {self.text}"


@dataclass(frozen=True, slots=True)
class Unasked:
    """Hints that there are, and that nobody has asked for yet."""

    left: int

    def __str__(self) -> str:
        there = "there is one" if self.left == 1 else f"there are {self.left}"
        return f"Check again for a hint: {there}."


Help = Hint | Unasked | None
"""A hint, or that there are some; None where nothing is in the way, or none is left."""


def task(exercise: Exercise, name: str) -> Page:
    """Return what a learner is asked to do; nothing of how it is checked or solved."""
    how = f"Check yourself with `%toolchat check {name}`; checking again gives a hint."
    return Page(f"### {exercise.title}\n\n{exercise.text}\n\n{how}")


def solution(exercise: Exercise) -> Page:
    """Return the solution."""
    told = exercise.solution or "It has no solution written down."
    return Page(f"### {exercise.title}: a solution\n\n{told}")


def conditions() -> Page:
    """Return all that can be checked, as it is written."""
    return Page("\n".join(f"- {form}" for form in forms().splitlines()))


def outcome(verdict: Verdict, help_: Help, name: str) -> Page:
    """Return how an exercise stands, with the next hint where that is asked for."""
    held, of = len(verdict.held), len(verdict.exercise.checks)
    data = {"exercise": name, "passed": verdict.passed, "held": held, "of": of}
    word = "Passed" if verdict.passed else "Not done yet"
    items = [f"- {line}" for line in _marked(verdict)]
    after = ["", _after(verdict, help_, name)] if verdict.fails else []
    return Page(
        "\n".join([f"**{word}: {verdict.exercise.title}**", "", *items, *after]), {MIME: data}
    )


def on_panel(verdict: Verdict, help_: Help, name: str) -> Task:
    """Return how an exercise stands as the panel shows it."""
    lines = [*_marked(verdict), *([_after(verdict, help_, name)] if verdict.fails else [])]
    return Task(verdict.exercise.title, "\n".join(lines), verdict.passed)


def _marked(verdict: Verdict) -> Iterator[str]:
    yield from (f"✓ {check.words}" for check in verdict.held)
    if verdict.fails is not None:
        yield f"✗ {_so_far(verdict.fails, verdict.found)}"


def _so_far(check: Check, found: str) -> str:
    words = check.words.removesuffix(".")
    return f"{words}: {found}" if found else words


def _after(verdict: Verdict, help_: Help, name: str) -> str:
    if help_ is not None:
        return str(help_)
    more = f" `%toolchat solution {name}` shows a solution." if verdict.exercise.solution else ""
    hints = verdict.exercise.hints or (verdict.fails is not None and verdict.fails.hints)
    return f"There are no {'more ' if hints else ''}hints.{more}"
