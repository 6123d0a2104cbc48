"""What each Claude model can do, as data, and how one is spoken to that can do so.

Sources, read on 2026-11-21: the types of the `anthropic` package 2.12; the profiles of
pydantic-ai (`profiles/anthropic.py`, `providers/anthropic.py`,
`models/anthropic/_thinking_binding.py`), whose authors tried them on the live API;
Anthropic's pages on what is new in Opus 5.5 and on system messages in mid-conversation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

BINDING_BETA = "thinking-binding-controls-2026-08-01"
INLINE_BETA = "inline-tools-2026-09-15"

Strategy = Literal["reference", "inline", "resend"]
"""How tools come into view on the way: named by a result where they were declared at the
start; defined in the conversation; or the list of tools is sent as it is now, which costs
the prompt cache and the thinking that is bound to the list."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """`adaptive`: thinks as much as it sees fit, and can be asked for a summary of it.

    `references`: tools can be declared at the start and brought into view by name later.
    `inline`: tools can be defined in the conversation (beta). `bound`: its thinking belongs
    to one conversation, so that a request whose beginning was edited must ask the API to
    drop what does not fit (beta).
    """

    adaptive: bool = True
    references: bool = True
    inline: bool = False
    bound: bool = False


_NEWEST = Abilities(inline=True, bound=True)
_INLINE = Abilities(inline=True)
_ADAPTIVE = Abilities()
_PLAIN = Abilities(adaptive=False)
_OLD = Abilities(adaptive=False, references=False)

MODELS = {
    "claude-fable-5-2": _NEWEST,
    "claude-mythos-5-2": _NEWEST,
    "claude-haiku-5-5": _NEWEST,
    "claude-sonnet-5-5": _NEWEST,
    "claude-fable-5-1": _NEWEST,
    "claude-opus-5-5": _NEWEST,
    "claude-mythos-5-1": _INLINE,
    "claude-fable-5": _INLINE,
    "claude-mythos-5": _INLINE,
    "claude-opus-5": _INLINE,
    "claude-opus-4-8": _INLINE,
    "claude-sonnet-5": _ADAPTIVE,
    "claude-mythos-preview": _ADAPTIVE,
    "claude-opus-4-7": _ADAPTIVE,
    "claude-opus-4-6": _ADAPTIVE,
    "claude-sonnet-4-6": _ADAPTIVE,
    "claude-haiku-4-5": _PLAIN,
    "claude-opus-4-5": _PLAIN,
    "claude-sonnet-4-5": _PLAIN,
    "claude-opus-4": _OLD,
    "claude-sonnet-4": _OLD,
    "claude-3": _OLD,
    "claude-2": _OLD,
}
"""By the beginning of the model's name: a dated name counts as the name without it."""


@cache
def abilities(model: str) -> Abilities:
    """Return what a model can do; one that is not known here is taken for a new one."""
    known = [name for name in MODELS if model == name or model.startswith(f"{name}-")]
    return MODELS[max(known, key=len)] if known else _NEWEST


@dataclass(frozen=True, slots=True)
class Way:
    """How a model is spoken to. Without `beta`, as by a gateway that knows no such features."""

    model: str
    max_tokens: int = 32_000
    strategy: Strategy = "reference"
    beta: bool = True

    @property
    def able(self) -> Abilities:
        return abilities(self.model)

    @property
    def inline(self) -> bool:
        """Whether tools may be defined in the conversation."""
        return self.beta and self.able.inline

    @property
    def drops(self) -> bool:
        """Whether the API is asked to drop the thinking that does not fit."""
        return self.beta and self.able.bound


def way(model: str, max_tokens: int, strategy: Strategy | None, beta: bool) -> Way:
    """Return the best way to speak to a model, or the one that is asked for."""
    best: Strategy = "reference" if abilities(model).references else "resend"
    return Way(model, max_tokens, strategy or best, beta)
