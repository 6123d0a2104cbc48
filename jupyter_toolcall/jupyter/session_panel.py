"""`session.panel`: the live panel of a session, as a widget for any page that shows widgets."""

from __future__ import annotations

import asyncio
import contextlib
import weakref

import traitlets
from IPython.core.getipython import get_ipython

from ..core.errors import ToolcallError
from ..engine.person_model import idle_phase
from ..session.session import Session
from ..view.contract import Notice
from .options import shown_model_name
from .panel import Panel
from .panel_controller import PanelController


class SessionPanel(Panel):
    """The live panel of a session: in a `VBox`, an `Output`, a Voilà page, or alone in a cell.

    A click decides, and the session goes on in the kernel. Read the traits, and observe them:

    - `status`: "ready", "thinking", "running", "waiting", "finished", "stopped" or "failed".
    - `pending`: the ids of the calls that wait for a person, in call order.
    - `head`: the entry of the journal at which the panel's branch ends.
    - `calls`: the ids of the calls of that branch, in call order.

    `session` is the session that it shows: after an edit or a fork in the panel, another branch.

    Example:
        >>> panel = session.panel
        >>> panel.observe(lambda change: print(change.new), names="status")
        >>> VBox([Label("Decide:"), panel])
    """

    status = traitlets.Unicode("ready", read_only=True)
    pending = traitlets.Tuple(read_only=True)
    head = traitlets.Unicode(read_only=True)
    calls = traitlets.Tuple(read_only=True)

    def __init__(self, session: Session) -> None:
        super().__init__()
        name = shown_model_name(session.cursor.context.model)
        self.controller: PanelController = PanelController(session, self.show, name)
        self.controller.panel = self.model_id or ""
        self.controller.on_idle = self._run_in_background
        self._tasks = set[asyncio.Task[None]]()
        self.controller.publish(*idle_phase(session.cursor))
        if (shell := get_ipython()) is not None:
            reference = weakref.WeakMethod(self.refresh)

            def after_cell(result: object = None) -> None:
                """Show what the cell did to the session."""
                if (refresh := reference()) is None:
                    shell.events.unregister("post_run_cell", after_cell)
                else:
                    refresh()

            shell.events.register("post_run_cell", after_cell)

    @property
    def session(self) -> Session:
        """The session that the panel shows."""
        return self.controller.session

    def refresh(self) -> None:
        """Show the session as it stands; a notebook does so after each cell."""
        self.controller.republish_changed()

    def show(self, notice: Notice) -> None:
        """Send a notice to every view of this panel, and set the traits."""
        super().show(notice)
        with self.hold_trait_notifications():
            self.set_trait("status", self.controller.phase)
            if self.head != self.session.head:
                self.set_trait("head", self.session.head)
                self.set_trait("calls", tuple(call.id for call in self.session.calls))
                self.set_trait("pending", tuple(call.id for call in self.session.pending))

    def _run_in_background(self) -> None:
        """Carry out what was clicked, as a task of the kernel's loop."""
        task = asyncio.get_running_loop().create_task(self._resume())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _resume(self) -> None:
        # What goes wrong is shown in the panel; there is no cell that could fail.
        with contextlib.suppress(ToolcallError):
            if not self.controller.busy:
                await self.controller.resume()
