"""A kernel's notebook: what runs behind `%%toolchat` and `%toolchat`.

The imperative end of it all: it takes options and variables, shows the panel, drives the
session, leaves the result in the cell and the outputs in variables.
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

from ..acts import replying
from ..comparing import Comparison
from ..errors import Absent, ToolcallError, Unfinished
from ..options.config import ToolChat, configured, project, take
from ..options.line import Options, help_text, options
from ..panel import predicting
from ..panel.driving import TICK, Drive
from ..panel.predicting import Predicting
from ..panel.widget import Panel
from ..preview import speaking
from ..printable import print_text
from ..session import Session
from ..teaching.showing import Page
from ..view.saving import MIME, bundle
from . import lines
from .attending import as_recorded, by_input, check, needs_nobody
from .cells import Cells
from .prompting import filled, say
from .setting_up import model_name

SUBCOMMANDS = lines.SUBCOMMANDS
HELLO = 3.0
"""Seconds that a panel has to say hello before the person is asked by `input`."""


@dataclass
class Notebook:
    """One kernel, one notebook."""

    shell: Any
    cells: Cells
    settings: ToolChat
    drives: dict[str, Drive] = field(default_factory=dict)
    met: bool = False
    """A front end's panel has said hello in this kernel."""
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    # -- cells ----------------------------------------------------------------------------

    async def cell(self, line: str, body: str) -> Any:
        """Run a cell while the person can click; return its session."""
        chosen = options(line, self.settings.settings())
        if chosen.help:
            print_text(help_text())
            return None
        if chosen.quiet or not self.interactive:
            return self.cell_now(line, body)
        self.cells.say_unkept(chosen.session)
        since, session = self._said(chosen, body)
        drive = self._drive(session, since, chosen, panel=True)
        drive.guesses = self._guesses(session, chosen, somebody=True)
        try:
            if await self._heard(drive) or not chosen.wait:
                await drive.drive(chosen.wait)
            else:
                await by_input(drive)
        finally:
            self._leave(drive)
            self._say_notes()
        check(drive, chosen)
        return _silent(drive.session)

    def cell_now(self, line: str, body: str) -> Any:
        """Run a cell that cannot be awaited: it ends where a person would be needed."""
        chosen = options(line, self.settings.settings())
        if chosen.help:
            print_text(help_text())
            return None
        since, session = self._said(chosen, body)
        drive = self._drive(session, since, chosen, panel=False)
        leaves = not chosen.wait and "predict" in chosen.said
        drive.guesses = self._guesses(session, chosen, somebody=leaves)
        try:
            drive.drive_now()
            waited = as_recorded(drive)
        finally:
            self._leave(drive)
            self._say_notes()
        if chosen.wait and not waited:
            needs_nobody(drive)
        check(drive, chosen)
        return _silent(drive.session)

    def _said(self, chosen: Options, body: str) -> tuple[str, Session]:
        session = self.cells.session(chosen, self.shell.user_ns)
        self._say_notes()
        session = say(session, filled(body.strip(), session, self.shell.user_ns), chosen.fresh)
        since = session.journal[session.head].parent or ""
        return since, self.cells.keep(session)

    def _guesses(self, session: Session, chosen: Options, somebody: bool) -> Predicting:
        """Where the cell says so, each reply is guessed from now on; else none is."""
        why_not = predicting.why_not(session, somebody) if chosen.predict else ""
        if why_not:
            print_text(f"toolchat: {why_not}")
        if why_not or not chosen.predict:
            predicting.end(session)
            return Predicting()
        known = self.cells.guesses.get(session.name)
        made = self.cells.guesses[session.name] = predicting.begin(session, known)
        return made

    def _say_notes(self) -> None:
        for note in self.cells.notes():
            print_text(f"toolchat: {note}")

    def _drive(self, session: Session, since: str, chosen: Options, panel: bool) -> Drive:
        drive = Drive(session, lambda notice: None, stepping=chosen.step)
        drive.recorded = frozenset(entry.id for entry in session.cursor.script.entries)
        drive.late = functools.partial(self.cells.late, session.name)
        drive.regain = self.cells.regain
        learner = lines.Learner(self.cells, self.shell.user_ns)
        exercise = learner.on(chosen.replay, session, self._id(session))
        drive.task = learner.task(exercise)
        drive.check = lambda: learner.checked(exercise, drive.session)
        desk = session.cursor.desk
        desk.shows = speaking(self.shell.display_formatter.formatters)
        model = desk.model
        drive.model = str(getattr(model, "name", None) or model_name(model))
        for name, listener in (("on_text", drive.stream), ("on_wait", drive.wait_for_model)):
            if hasattr(model, name):
                setattr(model, name, listener)
        if panel:
            self._show(drive)
        drive.keep = self._keeper(drive, since, {MIME: {"quiet": True}} if chosen.quiet else {})
        self.drives[session.name] = drive
        return drive

    def _show(self, drive: Drive) -> None:
        panel = Panel()
        panel.drive, drive.tell, drive.panel = drive, panel.show, panel.model_id
        drive.on_idle = lambda: self._go_on(drive)
        display(panel.bundle(), raw=True)

    # -- a person, or nobody --------------------------------------------------------------

    @property
    def interactive(self) -> bool:
        """Whether somebody is there: runners without a front end allow no input."""
        kernel = getattr(self.shell, "kernel", None)
        if kernel is None:
            return False
        return bool(kernel.get_parent("shell").get("content", {}).get("allow_stdin", False))

    def _id(self, session: Session) -> str:
        """Return the id of the cell that runs; its prompt, where the front end has none."""
        kernel = getattr(self.shell, "kernel", None)
        about = kernel.get_parent("shell").get("metadata", {}) if kernel is not None else {}
        return str(about.get("cellId") or session.state.prompt)

    async def _heard(self, drive: Drive) -> bool:
        """Return whether a panel can be heard in this kernel while a cell waits."""
        until = time.monotonic() + (0.0 if self.met else HELLO)
        while not drive.greeted and not self.met and time.monotonic() < until:
            await asyncio.sleep(TICK)
        self.met = self.met or drive.greeted
        return self.met

    # -- afterwards -----------------------------------------------------------------------

    def _go_on(self, drive: Drive) -> None:
        """A click after the cell has ended: go on as a task of the kernel's loop."""
        task = asyncio.get_running_loop().create_task(self._background(drive))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _background(self, drive: Drive) -> None:
        if drive.busy:
            return
        # What goes wrong is told in the panel; there is no cell that could fail.
        with contextlib.suppress(ToolcallError):
            try:
                drive.session = self.cells.today(drive.session, self.shell.user_ns)
            except ToolcallError as error:
                drive.publish("failed", detail=str(error))
                raise
            await drive.resume()
        self._leave(drive)

    def _leave(self, drive: Drive) -> None:
        """Leave the result in the cell, and the outputs in variables."""
        session = self.cells.keep(drive.session)
        self.drives[session.name] = drive
        drive.keep()
        self._bind(session)

    def _keeper(self, drive: Drive, since: str, about: dict[str, Any]) -> Callable[[], None]:
        """Return what shows a drive's result in this cell, and later brings it up to date.

        `about` is the metadata of that output.
        """
        handles: list[Any] = []

        def keep() -> None:
            data = bundle(drive.session.cursor, drive.whole(), since)
            if handles:
                handles[0].update(data, raw=True, metadata=about)
            else:
                name = drive.panel or True
                handles.append(display(data, raw=True, metadata=about, display_id=name))

        return keep

    def _bind(self, session: Session) -> None:
        """What was made in another kernel is not at hand before a replay: it stays unbound."""
        with contextlib.suppress(Absent):
            self.shell.user_ns.update(session.outputs)

    # -- line magic -----------------------------------------------------------------------

    def line(self, text: str) -> Any:
        """Carry out `%toolchat SUBCOMMAND`."""
        words = lines.split(text)
        if words[:1] == ["--cell"]:
            if "--help" in words:
                print_text(help_text())
                return None
            options(text.partition("--cell")[2])
            raise Unfinished("the prompt is empty; write what is to be done below the first line")
        settings, variables = self.settings.settings(), self.shell.user_ns
        self.cells.regain()
        try:
            session = lines.carry_out(words, self.cells, settings, variables)
        finally:
            self._say_notes()
        self.renew()
        if isinstance(session, (Comparison, Page)):
            display(session)
        if isinstance(session, Session):
            self.cells.keep(session)
            self._bind(session)
            drive = self.drives.get(session.name)
            if drive is not None:
                drive.session = session
                drive.publish(*replying.stands(session.cursor))
            # The cell above keeps what came of it; what came of this line stands here.
            display(session)
        return None

    def renew(self) -> None:
        """Bring panels and what is saved up to date where a branch was named, or hidden."""
        for drive in self.drives.values():
            if drive.renew():
                drive.keep()


def _silent(session: Session) -> Session:
    """The cell has shown its result already: the first display of this value is nothing."""
    return session.shown()


def notebook_path(variables: Mapping[str, Any]) -> str:
    """Return the path of the kernel's notebook, "" where nobody tells it."""
    path = variables.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", "")
    return os.path.abspath(path) if path.endswith(".ipynb") else ""


@functools.cache
def here() -> Notebook:
    """Return this kernel's notebook."""
    shell = get_ipython()
    path = notebook_path(shell.user_ns)
    settings = configured(shell)
    take(settings, project(Path(path).parent if path else Path.cwd()))
    return Notebook(shell, Cells(path), settings)


def renew() -> None:
    """Show what a cell of plain Python did to branches, where this kernel has sessions."""
    if here.cache_info().currsize:
        here().renew()
