"""What a person sees and writes who plays the model."""

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
