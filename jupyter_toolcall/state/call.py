"""One call: what was asked, how far it has come, and what it used and came to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..events import Call, Decided, Failed, Interrupted, Made, Many, Outcome, Started, Uses
from ..secrets import MissingSecret
from .missing import MissingObject, shown

SAVE = "save"
CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
"""What providers take as an id; any other one is replaced by one that they take."""
Status = Literal[
    "proposed", "approved", "succeeded", "failed", "rejected", "answered", "interrupted", "unknown"
]


@dataclass(frozen=True, slots=True)
class CallState:
    """A call, and how far it has come."""

    call: Call
    entry: str
    """The entry of the reply that asked for it on this branch."""
    step: int
    turn: int
    index: int = 0
    """Which call of that reply it is, counted from 0."""
    decided: Decided | None = None
    started: Started | None = None
    outcome: Outcome | None = None
    own: bool = True
    """Whether this machine decided on it. Another's decision is history: it allows nothing."""
    stale: bool = False
    """Whether the model asked for it by results that read otherwise now."""
    code: str = ""
    """The digest of the text that says what its tool was made of when it ran."""
    history: str = ""
    """Why it may have run already, where this machine cannot tell: its reply was "copied" with
    calls that had no result, lines behind it were "damaged", an "older" version recorded it, it
    is "unverified" here, or a person "kept" its recorded result."""
    reply: str = ""
    """The entry of the reply that asked for it; the first one where a replay repeated it."""
    secrets: tuple[str, ...] = ()
    """The keys of the markers that stand for values in the reply that asked for it."""
    missing_proposed: tuple[MissingObject, ...] = ()
    """Of the arguments that the model asked for."""
    missing_decided: tuple[MissingObject, ...] = ()
    """Of the arguments of the decision."""

    @property
    def foreign(self) -> bool:
        """Whether the reply that asked for it is not verified as recorded by this machine."""
        return self.history in ("unverified", "older")

    @property
    def key(self) -> str:
        """What tells it apart from the calls of all branches."""
        return f"{self.entry[:12]}.{self.index}"

    @property
    def id(self) -> str:
        return self.call.id

    @property
    def tool(self) -> str:
        return self.call.tool

    @property
    def proposed(self) -> Mapping[str, Any]:
        """The arguments that the model asked for."""
        if not self.missing_proposed:
            return self.call.arguments
        return shown(self.call.arguments, self.missing_proposed)

    @property
    def asked(self) -> Mapping[str, Any]:
        """The arguments to run with: a person's, where they were edited."""
        if self.decided is None or self.decided.arguments is None:
            return self.proposed
        return shown(self.decided.arguments, self.missing_decided)

    @property
    def missing(self) -> tuple[MissingObject, ...]:
        """What these arguments name and nothing has produced here: it can't run with them."""
        decided = self.decided is not None and self.decided.arguments is not None
        return self.missing_decided if decided else self.missing_proposed

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the markers in these arguments that stand for values.

        Raises MissingSecret where another machine, or an older version, recorded them: a
        marker of theirs would get a value of this environment.
        """
        decided = self.decided if self.decided and self.decided.arguments is not None else None
        keys = self.secrets if decided is None else decided.secrets
        if keys and (self.foreign if decided is None else not self.own):
            who = "an older version" if self.history == "older" else "another computer"
            raise MissingSecret(
                f"This call holds {{secret:{keys[0]}}}, which {who} recorded. Edit the "
                "call and write the value."
            )
        return keys

    def demand_keys(self) -> None:
        """Raise MissingSecret where another machine says which of its markers stand for values.

        Whoever takes over its decision as this machine's own would give it our secrets.
        """
        _ = self.keys

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments as they ran, or else as they were asked for."""
        if self.started is not None and self.started.arguments is not None:
            return self.started.arguments
        return self.asked

    @property
    def uses(self) -> Uses:
        """The objects that its arguments named when it ran; empty where it did not run."""
        return self.started.uses if self.started is not None else {}

    @property
    def produced(self) -> tuple[Made, ...]:
        """The objects that it produced, without those that it only gave back."""
        return tuple(made for made in objects_of(self.outcome) if made.producer.call == self.id)

    @property
    def status(self) -> Status:
        decision = self.decided.decision if self.decided is not None else ""
        if decision == "reject":
            return "rejected"
        if decision == "answer":
            return "answered"
        match self.outcome:
            case None if self.started is not None:
                return "unknown"
            case None:
                return "approved" if decision else "proposed"
            case Failed():
                return "failed"
            case Interrupted():
                return "interrupted"
        return "succeeded"

    @property
    def edited(self) -> bool:
        return self.decided is not None and self.decided.decision == "edit"

    @property
    def bound(self) -> str:
        """The digest of what was approved; "" where nothing was."""
        if self.started is not None and self.started.bound:
            return self.started.bound
        return self.decided.bound if self.decided is not None else ""

    @property
    def decision(self) -> str:
        """What was decided on it: a person's decision, or "approve" for the policy's."""
        if self.decided is not None:
            return self.decided.decision
        return "approve" if self.bound else ""

    def allows(self, bound: str) -> bool:
        """Return whether exactly this may run, by the word of this machine."""
        return self.own and self.status == "approved" and self.bound == bound

    def then(
        self,
        decided: Decided | None,
        started: Started | None,
        outcome: Outcome | None = None,
        own: bool | None = None,
        code: str = "",
    ) -> CallState:
        """Return this call as it stands after something more is known of it."""
        own = self.own if own is None else own
        here = self.call, self.entry, self.step, self.turn, self.index
        before = self.stale, code or self.code
        missing = self.missing_proposed, self.missing_decided
        return CallState(
            *(*here, decided, started, outcome, own, *before),
            *(self.history, self.reply, self.secrets, *missing),
        )

    def approval(self, bound: str) -> Decided:
        """Return the decision that lets this call run as it stands: a person's edit stays.

        Raises MissingSecret where the edit is another machine's, and holds secrets.
        """
        self.demand_keys()
        if self.decided is not None and self.edited:
            return replace(self.decided, bound=bound)
        return Decided(self.id, "approve", bound)


def objects_of(outcome: Outcome | None) -> tuple[Made, ...]:
    """Return the objects that an outcome holds."""
    match outcome:
        case Made():
            return (outcome,)
        case Many(objects):
            return objects
    return ()
