"""What a person does in the model's place: plays it, guesses it, and has an exercise checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Told:
    """What the model is told since its last reply: the result of a call, or other words."""

    text: str
    tool: str = ""
    """The call's tool; "" where it is about no call."""
    step: int = 0
    error: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """A call that the person has written in the model's place."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class YourTurn:
    """The person plays the model, and it is the model's turn: what a model would be sent."""

    turn: int
    prompt: str = ""
    """What was asked last."""
    told: tuple[Told, ...] = ()
    system: str = ""
    tools: tuple[str, ...] = ()
    """The ids of the tools that may be called, in the order of the request."""
    calls: tuple[Written, ...] = ()
    """What the person has written so far; it is kept nowhere else, and not recorded yet."""


@dataclass(frozen=True, slots=True)
class Mark:
    """An argument of a guess, and whether it was right."""

    name: str
    right: bool


@dataclass(frozen=True, slots=True)
class GuessRow:
    """A guess of what the model does next, beside what it did. In a saved notebook is none."""

    id: str
    turn: int
    says: str = ""
    """How it came out, in words."""
    guess: Written | None = None
    """None where it was skipped; without a tool: no call."""
    came: Written | None = None
    """The call that it is compared with; None where the model made none."""
    step: int = 0
    """The number of that call."""
    calls: int = 0
    """How many calls the reply has."""
    marks: tuple[Mark, ...] = ()
    tool: bool = False
    """The tool is right, or that there is none."""
    right: int = 0
    of: int = 0
    """Points, and how many there were to have."""


@dataclass(frozen=True, slots=True)
class Task:
    """An exercise that the session is for: the panel offers to check it."""

    title: str
    says: str = ""
    """What the last check came to, a line each; code stands between backticks."""
    passed: bool = False
