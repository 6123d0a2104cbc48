"""What each Claude model can do, as data.

Sources, read on 2026-11-21: the types of the `anthropic` package 2.12; the profiles of
pydantic-ai (`profiles/anthropic.py`, `models/anthropic/_thinking_binding.py`), whose
authors tried them on the live API; Anthropic's page on what is new in Opus 5.5.
"""

from __future__ import annotations

from dataclasses import dataclass

BINDING_BETA = "thinking-binding-controls-2026-08-01"


@dataclass(frozen=True, slots=True)
class Abilities:
    """`adaptive`: thinks as much as it sees fit, and can be asked for a summary of it.

    `bound`: its thinking belongs to one conversation, so that a request whose beginning
    was edited must ask the API to drop what does not fit. `references`: tools can be
    declared at the start and brought into view by name later.
    """

    adaptive: bool = True
    references: bool = True
    bound: bool = False


_NEWEST = Abilities(bound=True)
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
    "claude-mythos-5-1": _ADAPTIVE,
    "claude-sonnet-5": _ADAPTIVE,
    "claude-fable-5": _ADAPTIVE,
    "claude-mythos-5": _ADAPTIVE,
    "claude-opus-5": _ADAPTIVE,
    "claude-mythos-preview": _ADAPTIVE,
    "claude-opus-4-8": _ADAPTIVE,
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


def abilities(model: str) -> Abilities:
    """Return what a model can do; one that is not known here is taken for a new one."""
    known = [name for name in MODELS if model == name or model.startswith(f"{name}-")]
    return MODELS[max(known, key=len)] if known else _NEWEST
