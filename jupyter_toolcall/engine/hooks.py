"""Hooks by which an optional feature attaches to a session, and the rows that it shows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.interface_text import t

if TYPE_CHECKING:
    from ..core.events import Outcome
    from ..schemes.messages import Reply
    from .cursor import Cursor
    from .session_values import PreparedCall


@dataclass(frozen=True, slots=True)
class ExtensionRow:
    """Base class of what an extension shows of a session. `id` is the extension's name."""

    id: str

    def saved(self) -> ExtensionRow | None:
        """Return what a notebook keeps of this row; None for nothing."""
        return self

    def offered_tools(self) -> tuple[str, ...]:
        """Return the names of the tools for which the panel shows forms."""
        return ()

    def invitation(self) -> str:
        """Return what running the cell is good for, shown where the session has no calls yet."""
        return ""


class SessionHooks:
    """Base class of hooks: every method does nothing. Override the ones that you need.

    >>> class EveryReplyWaits(SessionHooks):
    ...     def holds_reply(self, cursor):
    ...         return True
    """

    held_status: str = t("Waiting")
    """The session's status while this hook holds the next reply."""

    def holds_reply(self, cursor: Cursor) -> bool:
        """Return whether the session pauses before the model's next reply.

        While this returns True, no reply is asked for or replayed.
        """
        return False

    def hides_branches(self) -> bool:
        """Return whether other branches are hidden: they may contain replies that this hook
        holds, now or later."""
        return False

    def view_row(self, cursor: Cursor) -> ExtensionRow | None:
        """Return what a view of the session shows of this hook; None for nothing."""
        return None

    def around_request(self, model: str) -> AbstractContextManager[Callable[[Reply | None], None]]:
        """Return a context that is open while the model replies.

        It yields a function that takes the reply. `model` is `provider:name`, or "".
        """
        return nullcontext(_ignore)

    def around_execution(
        self, call: PreparedCall
    ) -> AbstractContextManager[Callable[[Outcome], None]]:
        """Return a context that is open while a tool runs; it yields a function that takes the
        outcome."""
        return nullcontext(_ignore)

    def while_running(self) -> AbstractContextManager[object]:
        """Return a context that is open in the main thread while tools run, and the session does
        not change. Where several run together, it is opened again after each of them ends."""
        return nullcontext()


def _ignore(result: object) -> None:
    """Take a result, and do nothing."""
