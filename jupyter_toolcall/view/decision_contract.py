"""What a person decides by, a row for each: origins of arguments, rules, budgets, `Undo`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from ..compare.comparison_rows import PartRow
from ..core.call_record import Trust
from ..core.rows import Json, Row, Text
from ..rules.approval_policy import Scope
from ..rules.person_rules import Until


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
    elsewhere: Text = ""
    """Of an untrusted value: whether it stands in the prompts of the person too."""


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


class RuleParts(Row):
    """What a person may change in a rule."""

    name: str
    decision: Literal["run", "ask", "refuse"] = "run"
    arguments: Mapping[str, Json] = field(default_factory=dict)
    """The JSON Schema of each argument that it asks something of."""
    scope: Scope = ""
    """Where it holds; "" for a rule of the cell, a file or a program: the panel changes none."""
    until: Until = "removed"


class RuleRow(RuleParts):
    """A rule that decides, and how it stands. Those that the person added come first."""

    tool: str = ""
    says: Text = ""
    """What it does: one sentence."""
    ran: int = 0
    """How many calls of this branch ran, or were rejected, by it."""
    counts: Text = ""
    """The same in words, with how many it asked about."""
    holds: Text = ""
    """Where and until when it holds."""
    made: Text = ""
    """Who made it and when."""
    paused: bool = False
    ended: Text = ""
    """Why it decides nothing any more; "" where it does."""
    change: tuple[PartRow, ...] = ()
    """What changed in the code of its tool, where that ended it."""


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
    more_tokens: int = 0
    """How many more tokens are offered."""
    more_cost: float = 0


class UndoRow(Row):
    """The last decision of a branch, which can be undone."""

    call: str
    """The id of the row of the call."""
    says: Text = ""
    """What is undone, and what is not: sentences."""
