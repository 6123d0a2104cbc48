"""The table of a map's sessions in a notebook, and the panel of the session that is open.

The table has a page of rows at a time, so that thousands of sessions are as quick as a few. The
same table is kept in the cell's output as HTML, for when there is no kernel.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import ToolcallError, UsageError
from ..core.interface_text import on_wire
from ..core.text import shortened_text
from ..engine.person_model import idle_phase
from ..maps.mapped_session import STATUSES, summary_at_end
from ..maps.session_map import SessionMap
from ..maps.table import cells, ordered
from ..tools.value_display import reprs_with_printers
from .notebook import allows_input, current_notebook, display_output
from .panel import Panel, SessionTable, catalogue
from .panel_controller import PanelController

SIZE = 50
"""Rows of a page."""
PROMPT = 300
"""Characters of a prompt in a row."""
HIDE_LOST = (
    "<style>.jp-OutputArea-child:has(.{name}) + .jp-OutputArea-child:not(:has(.tcm))"
    "{{display:none}}</style>"
)
"""Hides the output below the saved table where the live one is not: its kernel has ended."""
INTERVAL = 0.2
"""Seconds between two updates of the table while sessions run."""


def show_map(sessions: SessionMap) -> None:
    """Display a map in a cell: its table, which a person can use where there is one."""
    notebook = current_notebook()
    shell = notebook.shell
    saved = {"text/html": sessions._repr_html_(), "text/plain": repr(sessions)}
    if allows_input(shell):
        MapPanel(sessions, shell, catalogue(notebook.settings.language)).show()
    else:
        display_output(saved)


@dataclass
class OpenSession:
    """The session whose panel is open."""

    index: int
    controller: PanelController
    resources: ExitStack


@dataclass
class MapPanel:
    """Shows the sessions of a map, opens one of them, and continues it after a decision."""

    sessions: SessionMap
    shell: Any
    texts: Mapping[str, Any]
    """The catalogue of the person's language; empty for that of the page."""
    table: SessionTable = field(init=False)
    opened: OpenSession | None = None
    _status: str = ""
    """The status whose sessions are listed; "" for all."""
    _first: int = 0
    """The number of the first row."""
    _order: list[int] = field(default_factory=list)
    """The sessions as they are listed: a row keeps its place when its status changes."""
    _sent: float = 0.0
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    _saved: Any = None
    _continues: bool = False
    """Whether the open session was just continued by its own panel, which shows how it stands."""
    _note: str = ""
    """Why a session could not be opened."""

    def __post_init__(self) -> None:
        self.table = SessionTable(self._receive, texts=self.texts)
        self._order = ordered(self.sessions.summaries)
        self.sessions.on_change.append(self._changed)

    def show(self) -> None:
        """Display the table in the cell, and the copy that the notebook keeps."""
        self._saved = display_output(self._kept(), True)
        display_output(self.table.bundle(self._kept()))

    def _kept(self) -> dict[str, Any]:
        name = f"toolcall-map-{self.table.model_id}"
        html = self.sessions._repr_html_().replace("toolcall-map", f"toolcall-map {name}", 1)
        return {"text/html": html + HIDE_LOST.format(name=name), "text/plain": repr(self.sessions)}

    # -- the table ------------------------------------------------------------------------

    def _receive(self, message: object) -> None:
        if not isinstance(message, Mapping):
            return
        self._note = ""
        match dict(message):
            case {"type": "show", "status": str(status), "first": int(first)}:
                self._list(status if status in STATUSES else "", first)
            case {"type": "hello", "language": str(language)} if not self.texts:
                self._translate(language)
            case {"type": "open", "index": int(index)} if 0 <= index < len(self.sessions):
                try:
                    self._open(index)
                except ToolcallError as error:
                    self._note = str(error)
            case {"type": "close"}:
                self._close()
        self.send()

    def _translate(self, language: str) -> None:
        """Show the table in the language of its page, where there is a catalogue of it."""
        with suppress(UsageError):
            self.texts = catalogue(language)
            self.table.texts = dict(self.texts)

    def _list(self, status: str, first: int) -> None:
        summaries = self.sessions.summaries
        every = ordered(summaries)
        self._order = [i for i in every if not status or summaries[i].status == status]
        self._status = status
        self._first = min(max(first, 0), max(len(self._order) - 1, 0))

    def send(self) -> None:
        """Send the page that is shown."""
        opened = self.opened.index if self.opened is not None else -1
        sessions, shown = self.sessions, self._order[self._first : self._first + SIZE]
        prompt = sessions[opened].prompt if opened >= 0 else ""
        data = {
            "type": "table",
            "saved": self.table.model_id,
            "total": len(sessions),
            "counts": dict(sessions.counts),
            "status": self._status,
            "rows": [self._row(index) for index in shown],
            "first": self._first,
            "listed": len(self._order),
            "size": SIZE,
            "errors": [list(pair) for pair in sessions.errors.items()][:SIZE],
            "note": on_wire(self._note or sessions.note),
            "opened": opened,
            "prompt": shortened_text(" ".join(prompt.split()), PROMPT),
        }
        self.table.send(data)
        self._sent = time.monotonic()

    def _row(self, index: int) -> dict[str, Any]:
        prompt, row = self.sessions.prompts[index].text, self.sessions.summaries[index]
        return {
            "index": index,
            "prompt": shortened_text(" ".join(prompt.split()), PROMPT),
            "status": row.status,
            "calls": row.calls,
            "turns": row.turns,
            "tokens": row.tokens,
            "note": on_wire(cells(index, prompt, row)[-1]),
        }

    def _changed(self, index: int) -> None:
        """Show that a session stands otherwise, whoever continued it."""
        opened = self.opened
        is_open = opened is not None and opened.index == index
        if opened is not None and is_open and not self._continues:
            opened.controller.publish(*idle_phase(opened.controller.session.cursor))
        if time.monotonic() - self._sent > INTERVAL:
            self.send()
        elif not self._tasks:
            self._begin(self._send_late)

    async def _send_late(self) -> None:
        await asyncio.sleep(INTERVAL)
        self.send()
        self._save()

    def _begin(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Start a task of the kernel's loop."""
        task = asyncio.get_running_loop().create_task(work())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _save(self) -> None:
        """Bring the copy that the notebook keeps up to date."""
        if self._saved is not None:
            self._saved.update(self._kept(), raw=True)

    # -- the session that is open -----------------------------------------------------------

    def _open(self, index: int) -> None:
        """Open a session into its panel. Raises UsageError where another process writes it."""
        self._close()
        resources = ExitStack()
        try:
            session = resources.enter_context(self.sessions.opened(index))
            context = session.cursor.context
            context.value_reprs = reprs_with_printers(self.shell.display_formatter.formatters)
            panel = Panel(texts=self.texts)
            name = str(getattr(context.model, "name", None) or "")
            controller = panel.controller = PanelController(session, panel.show, name)
            held = self.sessions.held(index, lambda: controller.session, self._close)
            resources.enter_context(held)
        except BaseException:
            resources.close()
            raise
        context.on_wait = controller.wait_for_model
        controller.on_idle = lambda: self._begin(lambda: self._continue(opened))
        opened = self.opened = OpenSession(index, controller, resources)
        controller.publish(*idle_phase(session.cursor))
        self.table.show_panel(panel)

    def _close(self) -> None:
        opened, self.opened = self.opened, None
        if opened is not None:
            opened.controller.on_idle = lambda: None
            opened.resources.close()
            self.table.show_panel(None)
            self.send()

    async def _continue(self, opened: OpenSession) -> None:
        """Carry out what was clicked in the panel, and continue the session."""
        controller, error = opened.controller, None
        if controller.busy or self.opened is not opened:
            return
        try:
            await controller.resume()
        # What goes wrong is shown in the panel, and in the row.
        except ToolcallError as raised:
            error = raised
        row = summary_at_end(controller.session, error)
        if row != self.sessions.summaries[opened.index]:
            self._continues = True
            try:
                self.sessions.report(opened.index, row)
            finally:
                self._continues = False
            self._save()
