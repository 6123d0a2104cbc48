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

from ..core.digests import readable_json
from ..core.errors import Absent, Lost, Stopped, ToolcallError, Unfinished, UsageError
from ..core.text import print_text
from ..engine import person_model as replying
from ..session.session import Session
from ..storage.notebook_files import MIME
from ..tools.value_display import reprs_with_printers
from ..view.saved_output import mime_bundle
from .cell_prompts import add_prompt, filled_prompt
from .cells import Cells
from .extensions import CellRun
from .input_line import demand_no_person, repeat_decisions, run_by_input, split
from .magics import ToolChat, apply_project_settings, project_settings, settings_of
from .mcp_commands import NextCell
from .options import Options, help_text, parse_options, shown_model_name
from .panel import Panel, catalogue
from .panel_controller import TICK, PanelController
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
    panels_connect: bool = False
    """A front end's panel has said hello in this kernel."""
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    _bound_versions: dict[tuple[str, str], str] = field(default_factory=dict)
    """Which version of each output its variable had last, by session and output."""

    # -- cells ----------------------------------------------------------------------------

    async def cell(self, line: str, body: str) -> Any:
        """Run a cell while the person can click; return its session."""
        options = parse_options(line, self.settings.settings())
        if options.help or options.quiet or not allows_input(self.shell):
            return self.cell_now(line, body)
        self.cells.warn_not_on_disk(options.session)
        controller = self._begin(options, body, panel=True)
        try:
            if await self._panel_answers(controller) or not options.wait:
                await controller.run(options.wait)
            else:
                await run_by_input(controller)
        except Stopped as error:
            if not self.panels_connect:
                raise
            # The panel says it, and stays while the session goes on: the cell fails in silence.
            if not self.shell.custom_exceptions:
                self.shell.set_custom_exc((StoppedInPanel,), _show_nothing)
            raise StoppedInPanel(str(error)) from None
        finally:
            self._leave(controller)
            self._print_notes()
        return _result(controller.session, options)

    def cell_now(self, line: str, body: str) -> Any:
        """Run a cell that cannot be awaited: it ends where a person would be needed."""
        # The text of the cell belongs to the subcommand of an extension.
        if self.cells.extension_of(line.partition(" ")[0]) is not None:
            return self._carry_out([*split(line), body])
        options = parse_options(line, self.settings.settings())
        if options.help:
            print_text(help_text())
            return None
        controller = self._begin(options, body, panel=False)
        try:
            controller.run_to_pause()
            waited = repeat_decisions(controller)
        finally:
            self._leave(controller)
            self._print_notes()
        if options.wait and not waited:
            demand_no_person(controller)
        return _result(controller.session, options)

    def _begin(self, options: Options, body: str, panel: bool) -> PanelController:
        """Return what runs a cell's session, with the cell's prompt asked, and nothing run yet."""
        variables = self.shell.user_ns
        session = self.cells.session(options, variables)
        self._print_notes()
        prompt = filled_prompt(body.strip(), session, variables)
        session = add_prompt(session, prompt, options.fresh)
        since = session.journal[session.head].parent or ""
        session = self.cells.keep(session)
        controller = self._controller(session, panel)
        controller.save = self._saver(controller, since, options.quiet)
        controller.stepping = options.step
        self.controllers[session.name] = controller
        cell_id = cell_message(self.shell).get("metadata", {}).get("cellId") or session.state.prompt
        run = CellRun(options, str(cell_id), variables, panel)
        attached = (extension.attach(session, run) for extension in self.cells.extensions.values())
        controller.extensions = tuple(filter(None, attached))
        return controller

    def _controller(self, session: Session, with_panel: bool) -> PanelController:
        """Return what runs a session; where there is to be a panel, it is displayed."""
        context = session.cursor.context
        panel = Panel(texts=catalogue(self.settings.language)) if with_panel else None
        model = context.model
        send, name = panel.show if panel else _send_nowhere, shown_model_name(model)
        controller = PanelController(session, send, name)
        controller.recorded = frozenset(entry.id for entry in session.cursor.replay_queue.entries)
        controller.unsaved = functools.partial(self.cells.write_waiting, session.name)
        controller.before_commands = self.cells.reopen_journals
        context.value_reprs = reprs_with_printers(self.shell.display_formatter.formatters)
        context.on_wait = controller.wait_for_model
        listeners = {"on_text": controller.stream, "on_wait": controller.wait_for_model}
        for event, listener in listeners.items():
            if hasattr(model, event):
                setattr(model, event, listener)
        controller.on_idle = lambda: self._run_in_background(controller)
        if panel is not None:
            panel.controller, controller.panel = controller, panel.model_id
            display(panel.bundle(), raw=True)
        return controller

    def _print_notes(self) -> None:
        for note in self.cells.notes():
            print_text(f"toolchat: {note}")

    async def _panel_answers(self, controller: PanelController) -> bool:
        """Return whether a panel can be heard in this kernel while a cell waits."""
        until = time.monotonic() + HELLO
        while not (controller.greeted or self.panels_connect) and time.monotonic() < until:
            await asyncio.sleep(TICK)
        self.panels_connect = self.panels_connect or controller.greeted
        return self.panels_connect

    # -- afterwards -----------------------------------------------------------------------

    def _run_in_background(self, controller: PanelController) -> None:
        """Run a session as a task of the kernel's loop: a click came after its cell has ended."""
        task = asyncio.get_running_loop().create_task(self._background(controller))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _background(self, controller: PanelController) -> None:
        if controller.busy:
            return
        before = _shown(controller)
        # What goes wrong is shown in the panel; there is no cell that could fail.
        with contextlib.suppress(ToolcallError):
            try:
                session = self.cells.with_current_tools(controller.session, self.shell.user_ns)
                controller.session = session
            except ToolcallError as error:
                controller.publish("failed", detail=str(error))
                raise
            await controller.resume()
        # Who only looks at something changes nothing; a large session takes seconds to save.
        if _shown(controller) != before:
            self._leave(controller, only_new=True)

    def _leave(self, controller: PanelController, only_new: bool = False) -> None:
        """Leave the result in the cell, and the outputs in variables; see `_bind`."""
        session = self.cells.keep(controller.session)
        self.controllers[session.name] = controller
        controller.save()
        self._bind(session, only_new)

    def _saver(self, controller: PanelController, since: str, quiet: bool) -> Callable[[], None]:
        """Return what displays a session in this cell, and later brings that up to date."""
        handles: list[Any] = []
        metadata = {MIME: {"quiet": True}} if quiet else {}

        def save() -> None:
            data = mime_bundle(controller.session.cursor, controller.whole(), since)
            if handles:
                handles[0].update(data, raw=True, metadata=metadata)
            else:
                name = controller.panel or True
                handles.append(display(data, raw=True, metadata=metadata, display_id=name))

        return save

    def _bind(self, session: Session, only_new: bool = False) -> None:
        """Bind outputs; what was made in another kernel is not at hand before a replay.

        With `only_new` a variable stays that has had this output already: where no cell runs, it
        may be another agent's call that ended, and the person has assigned the variable since.
        """
        values, state = session.cursor.context.values, session.state
        for name, saved in state.outputs.items():
            ref = state.objects.get(saved) if isinstance(saved, str) else None
            version = readable_json(saved) if ref is None else ref.digest
            if only_new and self._bound_versions.get((session.name, name)) == version:
                continue
            try:
                self.shell.user_ns.update(values.outputs(state, [name]))
                self._bound_versions[session.name, name] = version
            except Lost as error:
                print_text(f"toolchat: the variable {name} is not set: {error}")
            except Absent:
                continue

    # -- line magic -----------------------------------------------------------------------

    def line(self, text: str) -> Any:
        """Run `%toolchat SUBCOMMAND`."""
        words = split(text)
        if words[:1] == ["--cell"]:
            if "--help" in words:
                print_text(help_text())
                return None
            parse_options(text.partition("--cell")[2])
            raise Unfinished("the prompt is empty; write what is to be done below the first line")
        return self._carry_out(words)

    def _carry_out(self, words: list[str]) -> object:
        self.cells.reopen_journals()
        try:
            result = carry_out(words, self.cells, self.settings.settings(), self.shell.user_ns)
        finally:
            self._print_notes()
        self.update_panels()
        if isinstance(result, NextCell):
            self.shell.set_next_input(result.text)
            return None
        if isinstance(result, Session):
            self.cells.keep(result)
            self._bind(result)
            controller = self.controllers.get(result.name)
            if controller is not None:
                controller.session = result
                controller.publish(*replying.idle_phase(result.cursor))
        if result is not None:
            # The cell above keeps the session; what this line changed stands below the line.
            display(result)
        return None

    def update_panels(self) -> None:
        """Bring panels up to date with what a cell of Python did to their sessions.

        A cell keeps its session as its own run left it, with the names of the branches.
        """
        last = self.cells.last
        for controller in self.controllers.values():
            # A click says why a definition is no tool any more.
            with contextlib.suppress(ToolcallError):
                if not controller.busy:
                    session = self.cells.with_current_tools(controller.session, self.shell.user_ns)
                    controller.session = session
            if controller.republish_changed():
                controller.save()
        self.cells.last = last


def _shown(controller: PanelController) -> tuple[object, ...]:
    """Return what the saved output of a session depends on."""
    session, updates = controller.session, controller.updates
    shown_state = session.head, len(session.journal), dict(session.journal.labels)
    return *shown_state, updates.status, updates.extensions


def _result(session: Session, options: Options) -> Session:
    """Return the session of a cell that ended; its first display is nothing, the cell has it.

    Raises Unfinished where the cell waits, and what it asked for is not there.
    """
    state = session.state
    missing = [name for name in state.opened.outputs if name not in state.outputs]
    if missing and options.wait and not session.pending:
        last = f" The model's last words: {session.text[:120]!r}." if session.text else ""
        raise Unfinished(
            f"{', '.join(missing)} was never saved; nothing is lost, "
            f"%toolchat next asks the model again.{last}"
        )
    return session.shown()


def cell_message(shell: object) -> Mapping[str, Any]:
    """Return the message that runs the cell; empty where there is no kernel."""
    kernel = getattr(shell, "kernel", None)
    message: Mapping[str, Any] = kernel.get_parent("shell") if kernel is not None else {}
    return message


def allows_input(shell: object) -> bool:
    """Return whether a person can be there: runners without a front end allow no input."""
    return bool(cell_message(shell).get("content", {}).get("allow_stdin", False))


def display_output(data: Mapping[str, object], keeps: bool = False) -> object:
    """Display a bundle in the cell; with `keeps`, return what updates it later."""
    return display(dict(data), raw=True, **({"display_id": True} if keeps else {}))


class StoppedInPanel(Stopped):
    """A person stopped a session, and its panel says so: the cell ends, and so does Run All."""


def _show_nothing(*raised: object, tb_offset: object = None) -> None:
    """Take the place of IPython's traceback."""


def _send_nowhere(notice: object) -> None:
    """Send a notice to no panel."""


def current_notebook() -> Notebook:
    """Return this kernel's notebook. Loads the extension where `%load_ext` has not run yet."""
    if (shell := get_ipython()) is None:
        raise UsageError("there is no notebook here; call this in a cell of Jupyter or IPython")
    return notebook_of(shell)


@functools.lru_cache(1)
def notebook_of(shell: Any) -> Notebook:
    """Return the notebook of a shell; a process may have one shell after another."""
    # Else it would lack, for good, the settings and subcommands that the extension registers.
    shell.extension_manager.load_extension("jupyter_toolcall")
    # Of VS Code, or of a Jupyter server.
    path = shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", "")
    path = os.path.abspath(path) if path.endswith(".ipynb") else ""
    settings = settings_of(shell)
    folder = Path(path).parent if path else Path.cwd()
    if ignored := apply_project_settings(settings, project_settings(folder)):
        print_text(f"toolchat: {ignored}")
    return Notebook(shell, Cells(path), settings)


def update_panels() -> None:
    """Show what a cell of plain Python did to this kernel's sessions, where it has any."""
    if notebook_of.cache_info().currsize:
        current_notebook().update_panels()
