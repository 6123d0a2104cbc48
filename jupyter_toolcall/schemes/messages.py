"""What a model is told, and what it answers: `Request -> Reply | None`.

Only these frozen dataclasses live here. They know no provider; an adapter is a
function from one to the other in a file of its own, in `models`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.events import Call, Usage
from ..tools.tool import Tool


@dataclass(frozen=True, slots=True)
class User:
    """What the person (or the session, as a reminder) said.

    `secrets` are the keys of the markers in a message that stand for values; a model is sent
    the values.
    """

    text: str
    secrets: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assistant:
    """What the model said. `raw` is the adapter's own content, to be sent back as it is."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    raw: Any = None
    secrets: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Result:
    """What a call came to, as the model is told: text (JSON where it is not a word).

    `selected` are the tools that this result brings into view (scheme `select`).
    """

    call_id: str
    content: str
    error: bool = False
    selected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """The results of one turn's calls, exactly one for each, in the order of the calls.

    `news` is what else the model has to know since its last turn ("" for nothing):
    an adapter says it as text after the results.
    """

    results: tuple[Result, ...]
    news: str = ""


Message = User | Assistant | Results


@dataclass(frozen=True, slots=True)
class Sent:
    """A tool's definition as it was first sent: `turn` counts the replies before that request."""

    turn: int
    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """All that a model is told, and what an adapter needs beside it.

    `tools` may be called now. `deferred` are the tools that a later turn may offer:
    an adapter that can name tools by reference declares them once. `turn` counts the
    replies so far, `newest` is the newest object of each type. `first` are the definitions
    as they were first sent, in the order of turns, and by name within one; a tool whose
    arguments changed is there again. `news` is what the last message says beside its own.
    """

    system: str
    tools: tuple[Tool, ...]
    messages: Sequence[Message]
    deferred: tuple[Tool, ...] = ()
    turn: int = 0
    newest: Mapping[str, str] = field(default_factory=dict)
    first: Sequence[Sent] = ()
    news: str = ""
    secrets: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The keys of the markers in the system text that stand for values."""
    marked: bool = field(default=False, compare=False, repr=False)
    """Whether a marker stands for a value in any of it."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request that came to nothing and was made again: what was wrong, and the wait (s)."""

    said: str
    waited: float = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered. Nothing of it runs unless `stop` is "tools" or "end".

    `stop`: "end", "tools", "length" (cut off), "refused", "paused", "context". `raw` is
    JSON-ready content of the provider, kept and sent back untouched.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: str = "end"
    usage: Usage | None = None
    raw: Any = None
    thought: str = ""
    """What it thought aloud, for the person to read; `raw` has it as it is sent back."""
    said: str | None = None
    """What a person reads of the text, where calls are spelled out in it too."""
    attempts: tuple[Attempt, ...] = ()
    """The requests before it that came to nothing."""
    ending: str = ""
    """What a person reads of a reply that stopped before its end; `said` has it too."""


def call_id(turn: int, index: int, count: int) -> str:
    """Return the id of a call that has none: the `index`-th of `count` after `turn` replies."""
    return f"call_{turn + 1}" if count == 1 else f"call_{turn + 1}_{index + 1}"


Model = Callable[[Request], Reply | None]
