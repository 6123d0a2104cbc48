"""What a person decides by, a row for each: origins of arguments, rules, budgets, `Undo`."""

from __future__ import annotations

from typing import Literal

from ..core.call_record import Trust
from ..core.rows import Row, Text


class OriginRow(Row):
    """Where the value of an argument of a waiting call came from."""

    parameter: str
    says: Text = ""
    trust: Trust = "trusted"
    call: str = ""
    """The id of the row of the call that it came from; "" for none."""
    warning: Text = ""
    """Of an untrusted value: one sentence."""
    passage: tuple[str, ...] = ()
    """Of an untrusted value: the text before it, the value as it stands there, the text after."""


class RuleOffer(Row):
    """A rule that would decide on calls like a waiting one. The narrowest is offered first."""

    condition: Text = ""
    """What it asks of the arguments."""
    past: Text = ""
    """What it would have done with the calls that the person decided on: sentences."""
    wrong: Text = ""
    """How many of them the person rejected or edited: one sentence."""
    seen: tuple[Text, ...] = ()
    """These calls, a line each."""
    squares: tuple[Literal["ran", "rejected", "asks"], ...] = ()
    """The same for the eye: a square for each decided call."""
    left_out: str = ""
    """The value that it leaves out, of an offer that narrows the one before it."""


class RuleRow(Row):
    """A rule that the person added, and how it stands."""

    name: str
    decision: Literal["run", "ask", "refuse"] = "run"
    says: Text = ""
    """What it does: one sentence."""
    ran: int = 0
    """How many calls of this branch ran, or were rejected, by it."""
    holds: Text = ""
    """Where and until when it holds."""
    made: Text = ""
    """Who made it and when."""
    paused: bool = False
    ended: Text = ""
    """Why it decides nothing any more; "" where it does."""


class BudgetRow(Row):
    """What a session that is paused for its budget has used."""

    why: Text
    """Why it is paused: sentences."""
    used: int = 0
    """Tokens."""
    tokens: int = 0
    """The limit; 0 for none."""
    used_cost: float = 0
    cost: float = 0
    """The limit in US dollars; 0 for none."""
    note: Text = ""
    """Which model has no known price, or when prices were read."""


class UndoRow(Row):
    """The last decision of a branch, which can be undone."""

    call: str
    """The id of the row of the call."""
    says: Text = ""
    """What is undone, and what is not: sentences."""
