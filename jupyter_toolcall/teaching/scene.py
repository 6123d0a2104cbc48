"""What an exercise is held against, and how it is said that something is not so.

What is said is Markdown: words of ours, and all else as code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import ToolcallError
from ..session import Session
from .scoring import Points


class Otherwise(ToolcallError):
    """A condition does not hold; the message is what was found."""


class Missing(ToolcallError):
    """Something is not there yet by which it could be found out."""


def otherwise(holds: bool, found: str) -> None:
    """Raise Otherwise where something does not hold."""
    if not holds:
        raise Otherwise(found)


@dataclass(frozen=True, slots=True)
class Scene:
    """The session as it stands (None where none was opened yet), and the notebook's variables."""

    session: Session | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    points: Points | None = None
    """What was guessed, None where nothing was to be guessed."""
    name: str = ""
    """What the exercise calls its session, "" where it is the one that ran last."""

    @property
    def opened(self) -> Session:
        """The session. Raises Missing where there is none."""
        if self.session is None and self.name:
            raise Missing(f"there is no session `{self.name}` yet")
        if self.session is None:
            raise Missing("there is no session yet: run the cell that begins with %%toolchat")
        return self.session
