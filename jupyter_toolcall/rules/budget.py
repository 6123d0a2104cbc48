"""What a session may use before it pauses and asks: `Budget`."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any

from ..core.errors import UsageError
from ..core.events import Usage
from ..core.interface_text import joined, t, tn
from ..core.text import nearest

LIMITS = ("tokens", "cost", "calls")


@dataclass
class Budget:
    """What a session may use before it pauses and asks. What is recorded, and repeated, is free.

    Arguments:
        tokens: of all requests and replies.
        cost: in US dollars, by the dated list of prices in `jupyter_toolcall/models/prices.py`. A
            model without a known price counts its tokens alone, so it needs `tokens` too.
        calls: how many calls run; then each further one waits for you.

    To go on, raise a limit, such as `budget.tokens += 50_000`, and call `session.run()`. Raises
    UsageError for what is no limit.

    Example:
        >>> from jupyter_toolcall import Budget, Scripted, Session, Toolbox
        >>> budget = Budget(calls=1)
        >>> def note(text: str) -> str:
        ...     return "noted"
        >>> model = Scripted([("note", {"text": "a"}), ("note", {"text": "b"}), "Done."])
        >>> session = Session(Toolbox(note), model, scheme="flat", approve="all", budget=budget)
        >>> [call.status for call in session.tell("Note a and b.").calls]
        ['succeeded', 'proposed']
    """

    tokens: int | None = None
    cost: float | None = None
    calls: int | None = None
    used_tokens: int = field(default=0, init=False)
    used_cost: float = field(default=0.0, init=False)
    used_calls: int = field(default=0, init=False)
    unpriced: str = field(default="", init=False)
    """A model without a known price that was asked."""
    largest: int = field(default=0, init=False)
    """The tokens of the last request and its reply: the next one needs about as many."""
    dearest: float = field(default=0.0, init=False)
    """What these cost."""
    _first: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    """The limits as they were first."""

    def __post_init__(self) -> None:
        self._first = limits = {name: getattr(self, name) for name in LIMITS}
        if all(limit is None for limit in limits.values()):
            raise UsageError("a budget has a limit: tokens, cost or calls")
        for name, limit in limits.items():
            kinds = (int, float) if name == "cost" else (int,)
            if limit is not None and (type(limit) not in kinds or not limit > 0):
                raise UsageError(f"budget: {name} is {limit!r:.60}; it is a number above 0")

    @classmethod
    def parsed(cls, text: str) -> Budget:
        """Return the budget of a text such as `tokens=50000,cost=0.50`. Raises UsageError."""
        limits: dict[str, Any] = {}
        for part in text.split(","):
            name, _, value = part.partition("=")
            if name not in LIMITS:
                hint = nearest(name, LIMITS)
                written = f"--budget: {name!r} is no limit; write tokens=50000,cost=0.50,calls=40"
                raise UsageError(f"{written}.{hint}")
            try:
                limits[name] = float(value) if name == "cost" else int(value)
            except ValueError:
                raise UsageError(f"--budget: {name} is {value!r:.60}, which is no number") from None
        return cls(**limits)

    def count(self, usage: Usage, dollars: float | None, model: str) -> None:
        """Add a request and its reply; `dollars` is None where no price is known."""
        self.largest = usage.input + usage.output
        self.used_tokens += self.largest
        self.dearest = dollars or 0.0
        self.used_cost += self.dearest
        if dollars is None:
            self.unpriced = model or "this model"

    def add(self, tokens: int, dollars: float, calls: int = 0) -> None:
        """Raise the limits. Raises UsageError where nothing is added."""
        if min(tokens, dollars, calls) < 0 or not tokens + dollars + calls:
            raise UsageError(t("Say how many tokens, dollars or calls more the session may use."))
        self.tokens = None if self.tokens is None else self.tokens + tokens
        self.cost = None if self.cost is None else self.cost + dollars
        if self.calls is not None and calls:
            # Calls that a person approved have used more than the limit.
            self.calls = max(self.calls, self.used_calls) + calls

    def offer(self, name: str) -> Any:
        """Return how much more of a limit is offered, each time: as much as there was first."""
        return self._first[name] or getattr(self, name) or 0

    @property
    def shortage(self) -> str:
        """Why the next request would go over a limit: sentences; "" where it fits."""
        parts: list[str] = []
        if self.tokens is not None and self.used_tokens + max(1, self.largest) > self.tokens:
            left = max(0, self.tokens - self.used_tokens)
            parts.append(
                t("The next request needs about %1 tokens, and %2 are left.", self.largest, left)
            )
            offer = self.offer("tokens")
            added = tn("%1 token", "%1 tokens", offer)
            parts.append(_enough_for(added, left + offer, self.largest))
        if self.cost is not None and self.used_cost + self.dearest > self.cost:
            left_cost, offer = max(0.0, self.cost - self.used_cost), self.offer("cost")
            costs = f"${self.dearest:.2f}", f"${left_cost:.2f}"
            parts.append(t("The next request costs about %1, and %2 is left.", *costs))
            parts.append(_enough_for(f"${offer:.2f}", left_cost + offer, self.dearest))
        return joined(" ", filter(None, parts))

    @property
    def calls_left(self) -> float:
        """How many calls may still run unasked."""
        return inf if self.calls is None else self.calls - self.used_calls


def _enough_for(added: str, amount: float, needed: float) -> str:
    """Return for how many requests like the last one an amount is enough; `added` is new."""
    count = int(amount / needed) if needed else 0
    return t("%1 more are enough for about %2 such requests.", added, count) if count > 1 else ""
