"""What tokens cost, as data with its date; a model that is not listed has no price.

Source: the providers' public price lists, as read on the date. A price is in US dollars
for a million tokens. Writing to a cache for five minutes costs a quarter more than input
by Anthropic's documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from ..core.events import Usage

T = TypeVar("T")
READ_ON = "2026-11-21"
WRITING = 1.25
"""What writing to a cache costs, as a multiple of input."""
MILLION = 1_000_000
PAID, FREE = ("anthropic", "openai"), ("scripted", "recorded", "person")
"""The providers whose models cost money, and those whose models cost nothing."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens; `cached` is None if it is not known."""

    input: float
    output: float
    cached: float | None = None


PRICES: Mapping[str, Price] = {
    "claude-fable-5-1": Price(10, 50),
    "claude-opus-5-5": Price(4, 20, 0.20),
    "claude-sonnet-5-5": Price(2, 10),
}
"""By the beginning of the model's name: a dated name counts as the name without it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars. `most`: a part of it has no known price, and counts as if it had none off."""

    dollars: float
    most: bool = False

    def __str__(self) -> str:
        return f"{'at most ' if self.most else ''}${self.dollars:.4f}"


def price(model: str) -> Price | None:
    """Return a model's price, None if it is not known.

    `anthropic:NAME` is NAME, and so is `anthropic:NAME:SETTINGS`.
    """
    return of_model(model.partition(":")[2] or model, PRICES)


def of_model(model: str, table: Mapping[str, T]) -> T | None:
    """Return what a table has by the longest beginning of a model's name, None if it has none."""
    prefixes = [key for key in table if model == key or model.startswith((f"{key}-", f"{key}:"))]
    return table[max(prefixes, key=len)] if prefixes else None


def cost(model: str, usage: Usage | None) -> Cost | None:
    """Return what a request cost, None if that is not known."""
    rates = price(model)
    if rates is None or usage is None:
        return None
    fresh = max(0, usage.input - usage.cached - usage.written)
    read = rates.input if rates.cached is None else rates.cached
    millionths = (fresh + usage.written * WRITING) * rates.input
    millionths += usage.cached * read + usage.output * rates.output
    return Cost(millionths / MILLION, rates.cached is None and usage.cached > 0)
