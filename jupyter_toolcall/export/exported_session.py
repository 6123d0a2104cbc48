"""What is exported: one branch of a session, its rows, and where its tools and values are found."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.events import Asked
from ..core.text import visible_text
from ..engine.cursor import Cursor
from ..view.contract import Rows
from ..view.view_rows import all_rows
from .live_session import LiveSession
from .script import Script, Selection, SessionSource
from .statements import Writer

NOWHERE = "A tool-calling session"


@dataclass(frozen=True)
class ExportedSession:
    """One branch of a session up to its head, as every format gets it."""

    cursor: Cursor
    source: SessionSource
    rows: Rows
    exact: bool = True
    """Requests are what the model got; else they are what a file still knows of them."""

    @property
    def title(self) -> str:
        """The first line that a person said."""
        path = self.cursor.context.journal.path(self.cursor.head)
        prompts = (e.event.text for e in path if isinstance(e.event, Asked))
        lines = next(prompts, "").strip().splitlines()
        return visible_text(lines[0], 80) if lines else self.name or NOWHERE

    @property
    def name(self) -> str:
        return next((row.name for row in self.rows.session), "")

    def script(self, awaits: bool = False, only: Selection | None = None) -> Script:
        """Return the session as code; with `only`, this alone."""
        cursor = self.cursor
        writer = Writer(cursor.context.journal, cursor.head, self.source, only, awaits)
        return writer.script(self.title)


def exported_session(cursor: Cursor, name: str) -> ExportedSession:
    """Return a session of this process."""
    return ExportedSession(cursor, LiveSession(cursor), all_rows(cursor, name))
