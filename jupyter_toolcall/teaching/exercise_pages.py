"""An exercise and how it stands, as Markdown and as text: what a cell shows and keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.text import LINES, printable
from .exercise_checks import Verdict
from .exercise_file import Exercise
from .panel_rows import Task

MIME = "application/vnd.jupyter-toolcall.check+json"


@dataclass(frozen=True, slots=True)
class Page:
    """Markdown to display; `data` is for programs, by MIME type."""

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


def task_page(exercise: Exercise, name: str) -> Page:
    """Return what a learner is asked to do; nothing of how it is checked or solved."""
    how = f"Check yourself with `%toolchat check {name}`; checking again gives a hint."
    return Page(f"### {exercise.title}\n\n{exercise.text}\n\n{how}")


def solution_page(exercise: Exercise) -> Page:
    """Return the solution."""
    solution = exercise.solution or "It has no solution written down."
    return Page(f"### {exercise.title}: a solution\n\n{solution}")


def verdict_page(verdict: Verdict, hint: str, name: str) -> Page:
    """Return how an exercise stands, and a hint where there is one."""
    of = len(verdict.exercise.checks)
    data = {"exercise": name, "passed": verdict.passed, "held": len(verdict.held), "of": of}
    word = "Passed" if verdict.passed else "Not done yet"
    items = [f"- {line}" for line in _lines(verdict)]
    after = ["", hint] if hint else []
    title = f"**{word}: {verdict.exercise.title}**"
    return Page("\n".join([title, "", *items, *after]), {MIME: data})


def verdict_task(verdict: Verdict, hint: str) -> Task:
    """Return how an exercise stands, for the panel."""
    lines = [*_lines(verdict), *([hint] if hint else [])]
    return Task(verdict.exercise.title, "\n".join(lines), verdict.passed)


def _lines(verdict: Verdict) -> list[str]:
    """Return a line for each check up to the first one that does not hold."""
    lines = [f"✓ {check.sentence}" for check in verdict.held]
    if verdict.fails is not None:
        problem = f": {verdict.problem}" if verdict.problem else ""
        lines.append(f"✗ {verdict.fails.sentence.removesuffix('.')}{problem}")
    return lines
