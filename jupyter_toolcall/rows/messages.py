"""What a person sees of the conversation: its parts, and what each request took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["system", "tools", "user", "session", "assistant", "call", "tool"]


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A part of the conversation: what the model was told, and what it said."""

    id: str
    turn: int
    """The request in which it was new (1, 2, …); a reply belongs to its own request."""
    role: Role
    text: str = ""
    step: int = 0
    """The number of the call that it is about, 0 where it is about none."""
    size: int = 0
    """How many characters it has in the request; 0 where `text` is all of it."""
    stale: bool = False
    """It is of a reply to results that read otherwise now."""
    tool: str = ""
    """The name of the tool that a call's text begins with."""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """What a request to the model took. `id` is the reply's."""

    id: str
    turn: int
    model: str = ""
    input: int = 0
    """Tokens in, those from a cache too."""
    cached: int = 0
    output: int = 0
    cost: str = ""
    """`$0.0123`; "" where it is not known."""
    ms: float = 0
    attempts: tuple[str, ...] = ()
    """What was wrong with the requests before it that came to nothing."""
