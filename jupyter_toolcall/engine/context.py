"""What all branches of a session share: tools, values, model, policy and hooks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..core.entries import Entry
from ..core.errors import UsageError
from ..core.events import Made
from ..core.journal import Journal
from ..core.recorded_calls import ConsumedApprovals
from ..core.secrets import Hide, Secrets
from ..core.text import nearest
from ..schemes.messages import Model
from ..schemes.requests import SentConversation, conversation_fold
from ..schemes.scheme import Scheme
from ..tools.toolbox import Toolbox
from ..tools.value_display import Shows, reprs
from .approval_policy import Answer, Policy
from .hooks import SessionHooks
from .session_values import PreparedCall, SessionValues

Clock = Callable[[], float]


@dataclass
class SessionContext:
    """What all branches of a session share."""

    journal: Journal
    toolbox: Toolbox
    scheme: Scheme
    values: SessionValues
    model: Model | None
    policy: Policy
    clock: Clock = time.time
    max_turns: int | None = None
    value_reprs: Shows = reprs
    """Returns the representations of a value, for its preview."""
    secrets: Secrets = field(default_factory=lambda: Secrets({}))
    """The secrets of the environment, hidden in everything that is stored, shown or sent."""
    breakpoints: frozenset[str] = frozenset()
    """The tools whose calls always wait: a person's breakpoints."""
    current_inputs: Mapping[str, Made] = field(default_factory=dict)
    """The inputs with their values of now; the journal may record others."""
    unreliable_reason: str = ""
    """Why the results in the journal cannot be relied on; "" where they can."""
    hooks: tuple[SessionHooks, ...] = ()
    """The hooks of optional features."""
    fold_conversation: Callable[[SentConversation, Entry], SentConversation] = field(init=False)
    consumed_approvals: ConsumedApprovals = field(init=False)

    def __post_init__(self) -> None:
        self.consumed_approvals = self.journal.index(ConsumedApprovals)
        self.fold_conversation = conversation_fold(self.journal, self.scheme, self.toolbox)

    @property
    def hide(self) -> Hide:
        """A function that replaces secrets by markers."""
        return self.secrets.hide

    def policy_answer(self, ready: PreparedCall) -> Answer:
        """Return the policy's decision on a call, and its reason. A breakpoint comes first."""
        if ready.tool.name in self.breakpoints:
            return "ask", "You set a breakpoint on this tool."
        return self.policy(ready.tool, ready.arguments)

    def set_breakpoint(self, tool: str, on: bool = True) -> None:
        """Set a breakpoint on a tool, or remove it. Raises UsageError for an unknown one."""
        if tool not in self.toolbox:
            known = list(self.toolbox.names)
            raise UsageError(f"there is no tool {tool!r:.60} here.{nearest(tool, known)}")
        self.breakpoints = self.breakpoints | {tool} if on else self.breakpoints - {tool}
