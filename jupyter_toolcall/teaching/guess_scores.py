"""A learner's guess of the next call, and what of it was right: pure functions.

One point for the tool, one for each argument. An argument of a guess is right where the
model's call would be the same call with it; so a value counts as the tool takes it, and
an object counts alike whether it was named or stands there by default.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..content.value import plain_data
from ..digest import digest
from ..errors import CallError
from ..events import Call
from ..loop import Cursor
from ..schemes.select import SELECT
from ..tools import Tool

NO_CALL = ""
"""The tool of a guess that no tool is called: the model answers."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What somebody thinks that the model does next: this call, or none."""

    tool: str = NO_CALL
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Points:
    """How much was right, of how much there was to say."""

    right: int = 0
    of: int = 0

    @property
    def percent(self) -> float:
        """How much of a hundred, 0 where there was nothing to say."""
        return self.right * 100 / max(self.of, 1)

    def __add__(self, more: Points) -> Points:
        return Points(self.right + more.right, self.of + more.of)

    def __str__(self) -> str:
        return f"{self.right} of {self.of} point{'' if self.of == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Mark:
    """An argument of the guess or of the call, and whether the guess has it right."""

    name: str
    right: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """A guess beside what came: the call that it was compared with, None where there was none."""

    guess: Guess
    call: Call | None
    tool: bool
    """The guess names the right tool, or says rightly that there is none."""
    marks: tuple[Mark, ...] = ()

    @property
    def points(self) -> Points:
        right = self.tool + sum(mark.right for mark in self.marks) if self.tool else 0
        return Points(right, 1 + len(self.marks))


def judged(before: Cursor, guess: Guess, calls: Sequence[Call]) -> Judged:
    """Return a guess beside the reply that followed at a place.

    Of several calls in one reply, the one that the guess comes nearest to counts.
    """
    if not calls:
        return Judged(guess, None, guess.tool == NO_CALL)
    each = [_beside(before, guess, call) for call in calls]
    return max(each, key=lambda one: (one.tool, one.points.right / one.points.of))


def _beside(before: Cursor, guess: Guess, call: Call) -> Judged:
    named = _named(before, call)
    if guess.tool != call.tool:
        return Judged(guess, call, False, tuple(Mark(name, False) for name in named))
    marks = (Mark(name, _right(before, guess, call, name)) for name in named)
    return Judged(guess, call, True, (*marks, *_too_much(before, guess, call, named)))


def _named(before: Cursor, call: Call) -> tuple[str, ...]:
    """The arguments of a call that there is something to say of; its object, also by default."""
    tool = before.find(call.tool)
    receiver = [tool.receiver] if tool is not None and tool.receiver else []
    return tuple(dict.fromkeys((*receiver, *call.arguments)))


def _too_much(before: Cursor, guess: Guess, call: Call, named: Sequence[str]) -> Iterator[Mark]:
    """What the guess says that the call does not; what says only the default is no fault."""
    for name in guess.arguments:
        if name not in named and not _right(before, guess, call, name):
            yield Mark(name, False)


def _right(before: Cursor, guess: Guess, call: Call, name: str) -> bool:
    """Return whether the call would be the same with the guess's word for one argument."""
    rest = {key: value for key, value in call.arguments.items() if key != name}
    said = rest | ({name: guess.arguments[name]} if name in guess.arguments else {})
    pair = (dict(call.arguments), said)
    if len({digest("said", each) for each in pair}) == 1:
        return True
    return len({_digest(meant(before, call.tool, each)) for each in pair}) == 1


def _digest(values: Mapping[str, Any]) -> str:
    return digest("meant", plain_data(values))


# -- what a call means ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Named:
    """An object that an argument names."""

    name: str


def meant(before: Cursor, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a call's arguments mean: spelled out by the scheme, as the tool takes them.

    What could not run means what it says.
    """
    tool = before.find(name)
    if tool is None:
        return dict(arguments)
    said = _spelled_out(before, tool, arguments)
    if tool.name == SELECT and isinstance(said.get("tools"), list):
        return {**said, "tools": sorted(map(str, said["tools"]))}
    taken = _taken(tool, {**_defaults(tool), **said})
    return taken if taken is not None else _taken(tool, said) or said


def _spelled_out(before: Cursor, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    state, said = before.state, dict(arguments)
    call = state.next_call(Call("guess", tool.name, arguments))
    with contextlib.suppress(CallError):
        said = before.desk.scheme.complete(call, tool, state)
    variables = {**before.desk.toolbox.variables, **state.variables}
    known = {each: variables[each] for each in tool.reads if each in variables}
    with contextlib.suppress(CallError):
        said = tool.fill(said, known)
    return said


def _defaults(tool: Tool) -> dict[str, Any]:
    """What stands there where nothing is said, as far as the schema tells it."""
    properties = tool.parameters.get("properties", {})
    return {name: part["default"] for name, part in properties.items() if "default" in part}


def _taken(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return arguments as the tool takes them, None where it does not."""
    try:
        return tool.check(arguments, lambda name, types: Named(name))
    # The types of a tool are anybody's code, which finds a name where it expects an object.
    except Exception:
        return None


# -- in words --------------------------------------------------------------------------------


def in_words(one: Judged) -> str:
    """Return how a guess came out, in one kind line."""
    right, of = sum(mark.right for mark in one.marks), len(one.marks)
    if not one.tool:
        came = f"it called {one.call.tool}" if one.call is not None else "it answered"
        return f"Not this time: {came}."
    if one.call is None:
        return "Right: it answered, and called nothing."
    if right == of:
        return "Right, all of it." if of else "Right: that is the call."
    if not right:
        return (
            "The right tool, with other arguments."
            if of > 1
            else "The right tool, with another argument."
        )
    return f"The right tool, and {right} of {of} arguments."
