"""What a stand-in for a model's API says: turns of blocks, and what goes wrong with them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Say:
    """Text for the person."""

    text: str


@dataclass(frozen=True)
class Think:
    """A block of thinking; Anthropic's API signs it."""

    text: str


@dataclass(frozen=True)
class Hide:
    """A block of thinking that nobody may read, of Anthropic's API alone."""

    data: str


@dataclass(frozen=True)
class Use:
    """A call. `raw` is sent in place of the arguments' JSON; without an `id` it gets a new one."""

    tool: str
    arguments: Json = field(default_factory=dict)
    raw: str | None = None
    id: str | None = None

    @property
    def text(self) -> str:
        return json.dumps(self.arguments) if self.raw is None else self.raw


Block = Say | Think | Hide | Use


@dataclass(frozen=True)
class Turn:
    """One answer of the server, and what goes wrong with it.

    `stop` is why the model stops: "" for what the blocks imply, "length" or "refused" for what
    each API calls so, else the API's own word. `status` refuses with that code; `cut` ends the
    stream after so many bytes, `hard` without the end of the HTTP body; `breaks_after` sends an
    error after so many events; `raw` is sent in place of the whole stream; `stalls` waits for the
    client to go away after the cut; `drip` sends so many bytes at a time. The last four fields
    are of chat completions alone.
    """

    blocks: tuple[Block, ...] = ()
    stop: str | None = ""
    explanation: str = ""
    status: int = 0
    message: str = "as the script says"
    headers: tuple[tuple[str, str], ...] = ()
    cut: int | None = None
    hard: bool = False
    stalls: bool = False
    breaks_after: int | None = None
    error: Any = None
    raw: bytes | None = None
    piece: int | None = None
    drip: int = 0
    code: str | None = None
    refusal: str = ""
    dialect: str = "openai"
    thought_field: str = "reasoning_content"

    @property
    def calls(self) -> list[Use]:
        return [block for block in self.blocks if isinstance(block, Use)]


def says(*blocks: str | Block, **faults: Any) -> Turn:
    """Return a turn of blocks; a string is text."""
    made = tuple(Say(block) if isinstance(block, str) else block for block in blocks)
    return Turn(made, **faults)


def pieces(text: str, size: int) -> list[str]:
    """Return text in pieces of a size."""
    return [text[place : place + size] for place in range(0, len(text), size)]
