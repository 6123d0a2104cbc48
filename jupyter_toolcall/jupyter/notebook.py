"""A kernel's notebook: what runs behind `%%toolchat` and `%toolchat`.

It takes options and variables, displays the panel, runs the session, and leaves the result in the
cell and the outputs in variables.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from IPython import get_ipython
from IPython.display import display

from ..core.errors import Absent, ToolcallError, Unfinished
from ..core.text import print_text
from ..engine import person_model as replying
from ..session.session import Session
from ..storage.notebook_files import MIME
from ..tools.value_display import reprs_with_printers
from ..view.contract import Notice
from ..view.saved_output import mime_bundle
from .cell_setup import add_prompt, filled_prompt, model_name
from .cells import Cells
from .configuration import ToolChat, configured, project, take
from .extensions import CellRun
from .headless import as_recorded, by_input, needs_nobody
from .options import Options, help_text, parse_options
from .panel import Panel
from .panel_controller import TICK, PanelController
from .subcommand_words import split
from .subcommands import carry_out

HELLO = 3.0
"""Seconds that a panel has to say hello before the person is asked by `input`."""


@dataclass
class Notebook:
    """One kernel, one notebook."""

    shell: Any
    cells: Cells
    settings: ToolChat
    controllers: dict[str, PanelController] = field(default_factory=dict)
    """What runs each session, by its name."""
    met: bool = False
    """A front end's panel has said hello in this kernel."""
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    # -- cells ----------------------------------------------------------------------------

    async def cell(self, line: str, body: str) -> Any:
        """Run a cell while the person can click; return its session."""
        chosen = parse_options(line, self.settings.settings())
        if chosen.help:
            print_text(help_text())
            return None
        if chosen.quiet or not self.interactive:
            return self.cell_now(line, body)
        self.cells.say_unkept(chosen.session)
        controller = self._begin(chosen, body, panel=True)
        try:
            if await self._heard(controller) or not chosen.wait:
                await controller.run(chosen.wait)
            else:
                await by_input(controller)
        finally:
            self._leave(controller)
            self._say_notes()
        _demand_outputs(controller.session, chosen)
        return _silent(controller.session)

    def cell_now(self, line: str, body: str) -> Any:
        """Run a cell that cannot be awaited: it ends where a person would be needed."""
        chosen = parse_options(line, self.settings.settings())
        if chosen.help:
            print_text(help_text())
            return None
        controller = self._begin(chosen, body, panel=False)
        try:
            controller.run_to_pause()
            waited = as_recorded(controller)
        finally:
            self._leave(controller)
            self._say_notes()
        if chosen.wait and not waited:
            needs_nobody(controller)
        _demand_outputs(controller.session, chosen)
        return _silent(controller.session)

    def _begin(self, chosen: Options, body: str, panel: bool) -> PanelController:
        """Return what runs a cell's session, with the cell's prompt asked, and nothing run yet."""
        session = self.cells.session(chosen, self.shell.user_ns)
        self._say_notes()
        session = add_prompt(
            session, filled_prompt(body.strip(), session, self.shell.user_ns), chosen.fresh
        )
        since = session.journal[session.head].parent or ""
        session = self.cells.keep(session)
        controller = self._controller(session, Panel() if panel else None)
        about = {MIME: {"quiet": True}} if chosen.quiet else {}
        controller.save = self._saver(controller, since, about)
        controller.stepping = chosen.step
        self.controllers[session.name] = controller
        run = CellRun(chosen, self._cell_id(session), self.shell.user_ns, panel)
        added = (each.attach(session, run) for each in self.cells.extensions.values())
        controller.extensions = tuple(filter(None, added))
        return controller

    def _controller(self, session: Session, panel: Panel | None) -> PanelController:
        """Return what runs a session; where there is a panel, it is displayed."""
        desk = session.cursor.context
        model = desk.model
        name = str(getattr(model, "name", None) or model_name(model))
        send = panel.show if panel is not None else _send_nowhere
        controller = PanelController(session, send, name)
        controller.recorded = frozenset(entry.id for entry in session.cursor.replay_queue.entries)
        controller.unsaved = functools.partial(self.cells.late, session.name)
        controller.before_commands = self.cells.regain
        desk.value_reprs = reprs_with_printers(self.shell.display_formatter.formatters)
        listeners = {"on_text": controller.stream, "on_wait": controller.wait_for_model}
        for event, listener in listeners.items():
            if hasattr(model, event):
                setattr(model, event, listener)
        if panel is not None:
            panel.controller, controller.panel = controller, panel.model_id
            controller.on_idle = lambda: self._go_on(controller)
            display(panel.bundle(), raw=True)
        return controller

    def _say_notes(self) -> None:
        for note in self.cells.notes():
            print_text(f"toolchat: {note}")

    # -- a person, or nobody --------------------------------------------------------------

    @property
    def interactive(self) -> bool:
        """Whether somebody is there: runners without a front end allow no input."""
        kernel = getattr(self.shell, "kernel", None)
        if kernel is None:
            return False
        return bool(kernel.get_parent("shell").get("content", {}).get("allow_stdin", False))

    def _cell_id(self, session: Session) -> str:
        """Return the id of the cell that runs; its prompt, where the front end has none."""
        kernel = getattr(self.shell, "kernel", None)
        about = kernel.get_parent("shell").get("metadata", {}) if kernel is not None else {}
        return str(about.get("cellId") or session.state.prompt)

    async def _heard(self, controller: PanelController) -> bool:
        """Return whether a panel can be heard in this kernel while a cell waits."""
        until = time.monotonic() + (0.0 if self.met else HELLO)
        while not controller.greeted and not self.met and time.monotonic() < until:
            await asyncio.sleep(TICK)
        self.met = self.met or controller.greeted
        return self.met

    # -- afterwards -----------------------------------------------------------------------

    def _go_on(self, controller: PanelController) -> None:
        """A click after the cell has ended: go on as a task of the kernel's loop."""
        task = asyncio.get_running_loop().create_task(self._background(controller))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _background(self, controller: PanelController) -> None:
        if controller.busy:
            return
        # What goes wrong is told in the panel; there is no cell that could fail.
        with contextlib.suppress(ToolcallError):
            try:
                controller.session = self.cells.today(controller.session, self.shell.user_ns)
            except ToolcallError as error:
                controller.publish("failed", detail=str(error))
                raise
            await controller.resume()
        self._leave(controller)

    def _leave(self, controller: PanelController) -> None:
        """Leave the result in the cell, and the outputs in variables."""
        session = self.cells.keep(controller.session)
        self.controllers[session.name] = controller
        controller.save()
        self._bind(session)

    def _saver(
        self, controller: PanelController, since: str, about: dict[str, Any]
    ) -> Callable[[], None]:
        """Return what displays a session in this cell, and later brings that up to date.

        `about` is the metadata of that output.
        """
        handles: list[Any] = []

        def save() -> None:
            data = mime_bundle(controller.session.cursor, controller.whole(), since)
            if handles:
                handles[0].update(data, raw=True, metadata=about)
            else:
                name = controller.panel or True
                handles.append(display(data, raw=True, metadata=about, display_id=name))

        return save

    def _bind(self, session: Session) -> None:
        """What was made in another kernel is not at hand before a replay: it stays unbound."""
        with contextlib.suppress(Absent):
            self.shell.user_ns.update(session.outputs)

    # -- line magic -----------------------------------------------------------------------

    def line(self, text: str) -> Any:
        """Carry out `%toolchat SUBCOMMAND`."""
        words = split(text)
        if words[:1] == ["--cell"]:
            if "--help" in words:
                print_text(help_text())
                return None
            parse_options(text.partition("--cell")[2])
            raise Unfinished("the prompt is empty; write what is to be done below the first line")
        settings, variables = self.settings.settings(), self.shell.user_ns
        self.cells.regain()
        try:
            session = carry_out(words, self.cells, settings, variables)
        finally:
            self._say_notes()
        self.renew()
        if isinstance(session, Session):
            self.cells.keep(session)
            self._bind(session)
            controller = self.controllers.get(session.name)
            if controller is not None:
                controller.session = session
                controller.publish(*replying.idle_phase(session.cursor))
        if session is not None:
            # The cell above keeps what came of it; what came of this line stands here.
            display(session)
        return None

    def renew(self) -> None:
        """Bring panels and what is saved up to date where a branch was named, or hidden."""
        for controller in self.controllers.values():
            if controller.republish_renamed():
                controller.save()


def _demand_outputs(session: Session, chosen: Options) -> None:
    """Raise Unfinished where a cell that waits has ended, and what it asked for is not there."""
    state = session.state
    missing = [name for name in state.opened.outputs if name not in state.outputs]
    if missing and chosen.wait and not session.pending:
        last = f" The model's last words: {session.text[:120]!r}." if session.text else ""
        raise Unfinished(
            f"{', '.join(missing)} was never saved; nothing is lost, "
            f"%toolchat next asks the model again.{last}"
        )


def _send_nowhere(notice: Notice) -> None:
    """Send a notice to no panel."""


def _silent(session: Session) -> Session:
    """The cell has shown its result already: the first display of this value is nothing."""
    return session.shown()


def notebook_path(variables: Mapping[str, Any]) -> str:
    """Return the path of the kernel's notebook, "" where nobody tells it."""
    path = variables.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", "")
    return os.path.abspath(path) if path.endswith(".ipynb") else ""


@functools.cache
def current_notebook() -> Notebook:
    """Return this kernel's notebook."""
    shell = get_ipython()
    path = notebook_path(shell.user_ns)
    settings = configured(shell)
    take(settings, project(Path(path).parent if path else Path.cwd()))
    return Notebook(shell, Cells(path), settings)


def update_panels() -> None:
    """Show what a cell of plain Python did to branches, where this kernel has sessions."""
    if current_notebook.cache_info().currsize:
        current_notebook().renew()
