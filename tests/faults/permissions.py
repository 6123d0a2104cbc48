"""Permissions and effects, counted outside of the product: what allowed each effect.

An effect needs a permission of its own: a decision of a person, taken for exactly this call, or
a policy, which allows one effect for each call of each reply of the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

READ_ONLY, IDEMPOTENT = "look", "put"
"""The tools that may run again."""


class Effect(NamedTuple):
    """What a call does: a call with other arguments, or on another object, is another one."""

    tool: str
    n: int
    """The number that the model gave to this call. It gives each number once, or else repeats
    a whole reply."""
    given: object = None
    """The content of its object, or the state of its instance."""


@dataclass
class Ledger:
    """All effects of a machine, and all that allowed them."""

    replies: Counter[int] = field(default_factory=Counter)
    """How many replies of the model asked for a call, by its number."""
    effects: Counter[Effect] = field(default_factory=Counter)
    anywhere: Counter[Effect] = field(default_factory=Counter)
    """The effects of all kernels, those too that no journal on disk records."""
    begun: set[Effect] = field(default_factory=set)
    """The calls that a tool has begun to run, those too that had no effect yet."""
    by_policy: Counter[Effect] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    """The effects that nothing allowed."""

    @property
    def total(self) -> int:
        """How many effects there were."""
        return self.anywhere.total()

    def count(
        self,
        effect: Effect,
        unrecorded: Counter[Effect] | None,
        decisions: Counter[Effect],
        policy: str,
        fresh: bool,
        begun: bool,
        value_is_lost: Callable[[], bool],
    ) -> None:
        """Count an effect, and use up what allowed it.

        `unrecorded` are the effects of a kernel that writes no journal, which no other kernel can
        know of; None where it writes one. `decisions` are those of persons for this journal that
        no effect has used up. `fresh`: a person asked for all calls to run again. `begun`: the
        same call began before. `value_is_lost` returns whether what the call made is no longer
        stored, while its record is verified.
        """
        before, is_repeated = self.effects[effect], self.anywhere[effect] > 0
        self.anywhere[effect] += 1
        if unrecorded is None:
            self.effects[effect] += 1
        else:
            before += unrecorded[effect]
            unrecorded[effect] += 1
        if effect.tool == READ_ONLY:
            return
        if decisions[effect] > 0:
            decisions[effect] -= 1
            return
        # A result that a person kept may be that of a kernel that records nothing for others.
        if (is_repeated and fresh) or (effect.tool == IDEMPOTENT and (before or begun)):
            return
        if policy == "all" and self._is_first(effect, before):
            self.by_policy[effect] += 1
            return
        if policy == "all" and value_is_lost():
            return
        self.broken.append(f"{effect} under {policy}: {before} effects before, no permission left")

    def _is_first(self, effect: Effect, before: int) -> bool:
        """Return whether a policy has not allowed this call of this reply so far.

        Equal replies cannot be told apart from outside: each allows one effect.
        """
        replies = self.replies[effect.n]
        return self.by_policy[effect] < replies if replies > 1 else before == 0
