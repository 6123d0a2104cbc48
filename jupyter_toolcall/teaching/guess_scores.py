"""A learner's guess of the next call, and what of it was right: pure functions.

One point for the tool, one for each argument. An argument of a guess is right where the
model's call would be the same call with it; so a value counts as the tool takes it, and
an object counts alike whether it is named or is the default.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.digests import digest
from ..core.errors import CallError
from ..core.events import Call
from ..engine.cursor import Cursor
from ..schemes.select import SELECT
from ..tools.tool import Tool
from ..tools.value_copies import plain_data
from .panel_rows import Guess, Mark


@dataclass(frozen=True, slots=True)
class Points:
    """How many points a learner has, and how many there were to have."""

    right: int = 0
    of: int = 0

    @property
    def percent(self) -> float:
        """The points as a part of a hundred, 0 where there were none to have."""
        return self.right * 100 / max(self.of, 1)

    def __add__(self, more: Points) -> Points:
        return Points(self.right + more.right, self.of + more.of)

    def __str__(self) -> str:
        return f"{self.right} of {self.of} point{'' if self.of == 1 else 's'}"


NO_POINTS = Points()


@dataclass(frozen=True, slots=True)
class ScoredGuess:
    """A guess beside the call that it is compared with, None where the model made none."""

    guess: Guess
    call: Call | None
    tool: bool
    """The guess names the right tool, or says rightly that there is none."""
    marks: tuple[Mark, ...] = ()

    @property
    def points(self) -> Points:
        right = self.tool + sum(mark.right for mark in self.marks) if self.tool else 0
        return Points(right, 1 + len(self.marks))

    @property
    def sentence(self) -> str:
        """How the guess came out, in one kind line."""
        right, of = sum(mark.right for mark in self.marks), len(self.marks)
        if not self.tool:
            came = f"it called {self.call.tool}" if self.call is not None else "it answered"
            return f"Not this time: {came}."
        if self.call is None:
            return "Right: it answered, and called nothing."
        if right == of:
            return "Right, all of it." if of else "Right: that is the call."
        if right:
            return f"The right tool, and {right} of {of} arguments."
        return f"The right tool, with {'other arguments' if of > 1 else 'another argument'}."


def score_guess(before: Cursor, guess: Guess, calls: Sequence[Call]) -> ScoredGuess:
    """Return a guess beside the calls of the reply that followed at a cursor.

    Of several calls in one reply, the one that the guess comes nearest to counts.
    """
    if not calls:
        return ScoredGuess(guess, None, not guess.tool)
    each = [_compared(before, guess, call) for call in calls]
    return max(each, key=lambda scored: (scored.tool, scored.points.percent))


def _compared(before: Cursor, guess: Guess, call: Call) -> ScoredGuess:
    tool = before.tool_named(call.tool)
    # The object of a call counts also where it is left out, and so is the default.
    receiver = [tool.receiver] if tool is not None and tool.receiver else []
    names = tuple(dict.fromkeys((*receiver, *call.arguments)))
    if guess.tool != call.tool:
        return ScoredGuess(guess, call, False, tuple(Mark(name, False) for name in names))
    marks = [Mark(name, _is_right(before, guess, call, name)) for name in names]
    # An argument too much is wrong, unless it only says the default.
    for name in guess.arguments:
        if name not in names and not _is_right(before, guess, call, name):
            marks.append(Mark(name, False))
    return ScoredGuess(guess, call, True, tuple(marks))


def _is_right(before: Cursor, guess: Guess, call: Call, name: str) -> bool:
    """Return whether the call would be the same with the guess's value of one argument."""
    guessed = {key: value for key, value in call.arguments.items() if key != name}
    if name in guess.arguments:
        guessed[name] = guess.arguments[name]
    pair = (dict(call.arguments), guessed)
    if len({digest("said", each) for each in pair}) == 1:
        return True
    meanings = (plain_data(_meaning(before, call.tool, each)) for each in pair)
    return len({digest("meant", each) for each in meanings}) == 1


# -- what a call means ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Named:
    """An object that an argument names."""

    name: str


def _meaning(before: Cursor, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a call's arguments mean: completed by the scheme, as the tool takes them.

    Arguments that could not run mean themselves.
    """
    tool = before.tool_named(name)
    if tool is None:
        return dict(arguments)
    complete = _completed(before, tool, arguments)
    if tool.name == SELECT and isinstance(complete.get("tools"), list):
        return {**complete, "tools": sorted(map(str, complete["tools"]))}
    properties = tool.parameters.get("properties", {})
    defaults = {key: part["default"] for key, part in properties.items() if "default" in part}
    for each in ({**defaults, **complete}, complete):
        # The types of a tool are anybody's code, which gets a name where it expects an object.
        with contextlib.suppress(Exception):
            return tool.check(each, lambda name, types: Named(name))
    return complete


def _completed(before: Cursor, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    state, complete = before.state, dict(arguments)
    call = state.next_call(Call("guess", tool.name, arguments))
    with contextlib.suppress(CallError):
        complete = before.context.scheme.complete(call, tool, state)
    variables = {**before.context.toolbox.variables, **state.variables}
    known = {each: variables[each] for each in tool.reads if each in variables}
    with contextlib.suppress(CallError):
        complete = tool.fill(complete, known)
    return complete
