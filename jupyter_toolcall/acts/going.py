"""Going on: something is said, and steps are taken to the next pause."""

from __future__ import annotations

from ..content.value import well_formed
from ..errors import UsageError
from ..events import Asked
from ..loop import Cursor
from ..state.script import Script


def ask(cursor: Cursor, text: str) -> None:
    """Say something to the model. Raises NotYourTurn while a call has no result."""
    if not text.strip():
        raise UsageError("the prompt is empty; say what is to be done")
    cursor.desk.secrets.refresh()
    cursor.write(Asked(well_formed(text)), at=cursor.desk.clock())
    cursor.script = Script()


def run(cursor: Cursor) -> None:
    """Go on to the next pause. Raises ModelError, and KeyboardInterrupt."""
    cursor.look_again()
    while cursor.advance() is not None:
        pass


def step(cursor: Cursor) -> None:
    """Take one step, if there is one that needs nobody."""
    cursor.look_again()
    cursor.advance()
