"""An exercise and how it stands, as Markdown and as text: what a cell shows and keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .checking import Verdict
from .reading import Check, Exercise

MIME = "application/vnd.jupyter-toolcall.check+json"

Bundle = dict[str, Any]


def as_task(exercise: Exercise, name: str) -> Bundle:
    """Return what a learner is asked to do; nothing of how it is checked or solved."""
    how = f"Check yourself with `%toolchat check {name}`; each further check gives a hint."
    return _bundle(f"### {exercise.title}\n\n{exercise.text}\n\n{how}")


def as_solution(exercise: Exercise) -> Bundle:
    """Return the solution."""
    solution = exercise.solution or "It has no solution written down."
    return _bundle(f"### {exercise.title}: a solution\n\n{solution}")


def as_verdict(verdict: Verdict, name: str, hint: tuple[int, int, str] | None) -> Bundle:
    """Return how an exercise stands; `hint` is a number, of how many, and its text."""
    count, of = len(verdict.held), len(verdict.exercise.checks)
    data = {"exercise": name, "passed": verdict.passed, "held": count, "of": of}
    return {**_bundle("\n".join(_lines(verdict, name, hint))), MIME: data}


def _lines(verdict: Verdict, name: str, hint: tuple[int, int, str] | None) -> Iterator[str]:
    title = verdict.exercise.title
    yield f"**{'Passed' if verdict.passed else 'Not yet'}: {title}**\n"
    yield from (f"- ✓ {check.words}" for check in verdict.held)
    if verdict.fails is None:
        return
    yield f"- ✗ {_so_far(verdict.fails, verdict.found)}\n"
    if hint is not None:
        number, of, text = hint
        yield f"Hint {number} of {of}: {text}"
    elif verdict.exercise.solution:
        yield f"No more hints. `%toolchat solution {name}` shows a solution."


def _so_far(check: Check, found: str) -> str:
    words = check.words.removesuffix(".")
    return f"{words}: {found}" if found else words


def _bundle(markdown: str) -> Bundle:
    plain = markdown.replace("**", "").replace("### ", "")
    return {"text/markdown": markdown, "text/plain": plain}
