"""How a package adds rows and commands of its own to the panel of a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ..rows.contract import ExtensionRow, Phase
from ..session import Session


class PanelExtension:
    """Base class of what adds rows and commands to a panel: every method does nothing.

    An extension belongs to one panel. What pauses the session itself is a `SessionHooks`.
    """

    commands: ClassVar[Mapping[str, type]] = {}
    """The commands that it carries out, by their `type`: frozen dataclasses."""

    def before_update(self, session: Session, phase: Phase) -> None:
        """Look at the session before the panels are sent what changed."""

    def row(self, session: Session, phase: Phase) -> ExtensionRow | None:
        """Return what the panel shows of this extension; None for nothing."""
        return None

    def apply(self, session: Session, command: Any) -> bool:
        """Carry out one of `commands`; return whether the session goes on afterwards.

        Raises ToolcallError, which the panel shows, where it can't be carried out.
        """
        return False

    def ask_by_input(self, session: Session, ask: Callable[[str], str]) -> None:
        """Ask on the cell's input line for what a held reply waits for: there is no panel."""
