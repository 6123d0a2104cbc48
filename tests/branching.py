"""Sessions whose graph is hard to draw, made at random from a seed: several inputs and
arguments, failed and rejected calls, up to five branches, three to some hundred objects.
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.core.errors import CallError
from jupyter_toolcall.core.events import Call
from jupyter_toolcall.models import Reply, Request

LONGEST = 50
"""Amounts that a ledger keeps, since a merge would double them each time."""


@dataclass(frozen=True)
class Ledger:
    """A list of amounts."""

    owner: str = "nobody"
    amounts: tuple[int, ...] = ()

    def add(self, amount: int) -> Ledger:
        """Add an amount."""
        if amount % 7 == 0:
            raise ValueError("no sevens: the house rules do not allow them")
        return Ledger(self.owner, (*self.amounts, amount))

    def reconcile_with(self, other_ledger: Ledger, rate: ExchangeRate) -> Ledger:
        """Take the amounts of both, at a rate."""
        converted = (a * rate.percent for a in other_ledger.amounts)
        return Ledger(self.owner, (*self.amounts, *converted)[-LONGEST:])

    def merge(self, left: Ledger, right: Ledger, third: Ledger) -> Ledger:
        """Take the amounts of all four."""
        amounts = self.amounts + left.amounts + right.amounts + third.amounts
        return Ledger(self.owner, amounts[-LONGEST:])


@dataclass(frozen=True)
class ExchangeRate:
    """A rate in percent."""

    percent: int = 100

    def double(self) -> ExchangeRate:
        """Return a rate twice as high."""
        return ExchangeRate(2 * self.percent)


def open_ledger(owner: str) -> Ledger:
    """Return an empty ledger."""
    return Ledger(owner)


@dataclass
class Clerk:
    """A model that calls tools at random, on objects that there are."""

    rng: random.Random
    turns: int
    name: str = "clerk"
    asked: int = field(default=0)

    def __call__(self, request: Request) -> Reply:
        self.asked += 1
        if request.turn >= self.turns:
            return Reply("Done.")
        return Reply("", (Call(f"c{self.asked}", *self._call(request)),), "tools")

    def _call(self, request: Request) -> tuple[str, dict[str, Any]]:
        def one(kind: str) -> str:
            count = int(request.newest.get(kind, f"{kind}#1").partition("#")[2])
            # Mostly the newest, so that there are long lines.
            return f"{kind}#{count if self.rng.random() < 0.6 else self.rng.randint(1, count)}"

        ledger = one("Ledger")
        calls: list[tuple[str, dict[str, Any]]] = [
            ("Ledger_add", {"Ledger": ledger, "amount": self.rng.randint(1, 30)}),
            ("Ledger_add", {"Ledger": ledger, "amount": self.rng.randint(1, 30)}),
            (
                "Ledger_reconcile_with",
                {"Ledger": ledger, "other_ledger": one("Ledger"), "rate": one("ExchangeRate")},
            ),
            (
                "Ledger_merge",
                {"Ledger": ledger, **{side: one("Ledger") for side in ("left", "right", "third")}},
            ),
            ("ExchangeRate_double", {"ExchangeRate": one("ExchangeRate")}),
            ("open_ledger", {"owner": self.rng.choice(["alice", "bob", "carol"])}),
        ]
        return self.rng.choice(calls)


def branching_session(seed: int, turns: int, branches: int = 1) -> Session:
    """Return a session that made `turns` calls, some rejected, with so many branches."""
    rng = random.Random(seed)
    inputs = {"alice": Ledger("alice", (5,)), "rate": ExchangeRate(), "spare": Ledger("spare")}
    tools = Toolbox(Ledger, ExchangeRate, open_ledger)
    session = Session(tools, Clerk(rng, turns), scheme="flat", inputs=inputs)
    session = decided(session.tell("Balance the books."), rng)
    for _ in range(4 * branches):
        if len(session.branch_names) >= branches:
            break
        call = rng.choice([call for call in session.calls if call.object])
        number = {"amount": rng.choice([2, 3, 4])} if "amount" in call.arguments else {}
        with suppress(CallError):
            branch = (
                session.edit(call, **{**call.arguments, **number}) if number else session.fork(call)
            )
            session = decided(branch.run(), rng)
    return session


def decided(session: Session, rng: random.Random) -> Session:
    """Decide all calls that wait, and those that follow."""
    while session.pending:
        call = session.pending[0]
        if rng.random() < 0.1:
            session.decide(call.id, "reject", reason="not today, the office is closed")
        else:
            session.decide(call.id)
        session.run()
    return session
