"""Kernels on one machine: their tools, their model, their disk, and the notebooks they run.

Journals are real files, so that a copied notebook finds them. What is not real is the lock, and
whether the disk can be written and read.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_toolcall import Session
from jupyter_toolcall.core.call_record import CallRecord
from jupyter_toolcall.core.errors import ToolcallError
from jupyter_toolcall.core.events import Call, Replied
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.schemes.messages import Reply, Request
from jupyter_toolcall.storage.file_system import File, Files
from jupyter_toolcall.storage.journal_file import journal_file, journals_folder
from jupyter_toolcall.storage.signatures import signer
from jupyter_toolcall.view.contract import Notice, Refused
from jupyter_toolcall.view.contract_rows import CallRow
from jupyter_toolcall.view.saved_output import mime_bundle
from jupyter_toolcall.view.view_rows import all_rows
from tests.faults.permissions import Effect, Ledger
from tests.faults.world import nothing, toolbox

LINE = "-m model -t box --scheme flat --approve"
EDITED = 1_000_000
"""Added to the number of a call by an edit: the model gives no number that high."""
REPEATED = 500_000
"""The numbers from here on are those of replies that the model repeats."""
TURNS = (("send", "Till_add", "look"), ("make", "put"), ("post", "send"), ("Box_add", "make"), ())
"""The tools that the model calls, by turn; without one it ends the run."""
OBJECTS = frozenset({"make", "Till_add", "Box_add"})
"""The tools whose results are values."""


# -- the disk -------------------------------------------------------------------------------


@dataclass
class Disk:
    """The disk of the machine, which now and then cannot be written, or not be read."""

    writable: bool = True
    readable: bool = True
    locks: dict[Path, View] = field(default_factory=dict)

    def demand_writable(self) -> None:
        if not self.writable:
            raise OSError(errno.EROFS, "read-only")


@dataclass(eq=False)
class View(Files):
    """The disk as one kernel has it: what a dead kernel writes goes nowhere."""

    disk: Disk
    alive: bool = True

    def read(self, path: Path) -> bytes | None:
        if not self.disk.readable:
            raise PermissionError(errno.EACCES, "not readable")
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None

    def open(self, path: Path) -> OpenFile:
        self.disk.demand_writable()
        return OpenFile(self, path)

    def has_folder(self, path: Path) -> bool:
        return path.is_dir()

    def make_folder(self, path: Path) -> None:
        self.disk.demand_writable()
        path.mkdir(exist_ok=True)

    def sync_folder(self, path: Path) -> None:
        """No power is lost here."""

    def lock(self, path: Path) -> Callable[[], None] | None:
        self.disk.demand_writable()
        if path in self.disk.locks:
            return None
        self.disk.locks[path] = self
        return lambda: self._release(path)

    def _release(self, path: Path) -> None:
        if self.disk.locks.get(path) is self:
            del self.disk.locks[path]

    def die(self) -> None:
        self.alive = False
        for path in [path for path, view in self.disk.locks.items() if view is self]:
            self._release(path)


class OpenFile(File):
    """A file that is open for writing at its end."""

    def __init__(self, view: View, path: Path) -> None:
        self.view, self.path = view, path
        path.touch()

    def append(self, data: bytes) -> int:
        if self.view.alive:
            self.view.disk.demand_writable()
            with self.path.open("ab", buffering=0) as file:
                file.write(data)
        return len(data)

    def sync(self) -> None:
        """No power is lost here."""

    def cut(self, size: int) -> None:
        if self.view.alive:
            self.view.disk.demand_writable()
            os.truncate(self.path, size)

    def close(self) -> None:
        """It is closed after each line."""


# -- tools and model ------------------------------------------------------------------------


@dataclass
class Outside:
    """What the tools tell of their effects; each machine sets it to its own."""

    run: Callable[[Effect], None] = lambda effect: None
    point: Callable[[], None] = nothing


OUTSIDE = Outside()
BOX = toolbox(OUTSIDE)


@dataclass
class Model:
    """Calls a few tools in each turn, each call with a number of its own.

    While it `repeats` it says in each turn what it said before in such a turn.
    """

    ledger: Ledger
    name: str = "model"
    repeats: bool = False
    said: int = 0

    def __call__(self, request: Request) -> Reply:
        turn = request.turn
        self.said += 1
        first = (turn + REPEATED // 10 if self.repeats else self.said) * 10
        tools = TURNS[turn % len(TURNS)]
        jar = request.newest.get("Jar")
        calls = tuple(
            Call(f"call_{turn}_{n}", name, {"n": first + n} | ({"jar": jar} if jar else {}))
            if name == "post"
            else Call(f"call_{turn}_{n}", name, {"n": first + n})
            for n, name in enumerate(tools)
        )
        self.ledger.replies.update(call.arguments["n"] for call in calls)
        return Reply("" if calls else "done", calls, "tools" if calls else "end")


def _still() -> float:
    """No time passes: on a slow machine results would be expensive now and then, and be kept."""
    return 0.0


# -- notebooks and kernels ------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class Notebook:
    """A notebook: its prompts, and the decisions that its journal holds and no effect used up.

    Without a path it is a session that was loaded from a file, in a program.
    """

    path: str
    prompts: list[str] = field(default_factory=list)
    decisions: Counter[Effect] = field(default_factory=Counter)
    saved: list[str] = field(default_factory=list)
    """The texts of the notebook's file, oldest first."""

    @property
    def journal(self) -> Path:
        return journal_file(self.path, "")


@dataclass(eq=False, repr=False)
class Kernel:
    """A kernel, the panel of its session, and the decisions that only this kernel knows."""

    notebook: Notebook
    policy: str
    view: View
    model: Model
    cells: Cells = field(init=False)
    drive: PanelController | None = None
    told: list[Notice] = field(default_factory=list)
    unwritten: Counter[Effect] = field(default_factory=Counter)
    unrecorded: Counter[Effect] = field(default_factory=Counter)
    """The effects that only this kernel knows: it could not write its journal, or has none."""
    fresh: bool = False
    """Whether a person asked here for all recorded calls to run again."""
    _shown: tuple[Any, Any, list[CallRow]] = (None, None, [])
    _seen: tuple[int, str] = (0, "")

    def __repr__(self) -> str:
        writes = "writes" if self.writes else "reads"
        return f"<Kernel of {self.notebook.path or 'a file'}: {self.policy}, {writes}>"

    def __post_init__(self) -> None:
        self.cells = Cells(self.notebook.path, files=self.view)

    @property
    def variables(self) -> Mapping[str, Any]:
        return {"box": BOX, "model": self.model}

    # -- its session ----------------------------------------------------------------------

    @property
    def session(self) -> Session:
        assert self.drive is not None
        return self.drive.session

    def keep(self, session: Session) -> None:
        """Show a session in the panel, as the line magics do."""
        assert self.drive is not None
        session.cursor.context.clock = _still
        self.drive.session = self.cells.keep(session)

    def open(self, fresh: bool = False) -> bool:
        """Run the first line of the notebook; return whether there is a session then."""
        line = f"{LINE} {self.policy}{' --fresh' if fresh else ''}"
        self.fresh = False
        try:
            session = self.cells.session(parse_options(line), self.variables)
        except ToolcallError:
            self.drive = None
            return False
        self.show(session)
        return True

    def show(self, session: Session) -> None:
        """Show a session in a panel of its own."""
        session.cursor.context.clock = _still
        self.drive = PanelController(self.cells.keep(session), self.told.append)
        self.drive.before_commands = self.cells.reopen_journals

    def run_cells(self) -> None:
        """Run all cells from the first, up to one whose call waits."""
        if self.open():
            for prompt in self.notebook.prompts:
                if not self.ask(prompt, fresh=False):
                    break

    def ask(self, prompt: str, fresh: bool) -> bool:
        """Run the cell of a prompt; return whether it came to its end."""
        self.fresh = False
        self.cells.reopen_journals()
        try:
            self.keep(add_prompt(self.session, prompt, fresh))
        except ToolcallError:
            return False
        self.go()
        return not self.session.state.open

    def go(self) -> None:
        """Go on to the next pause."""
        assert self.drive is not None
        with contextlib.suppress(ToolcallError):
            self.drive.run_to_pause()
        self.cells.keep(self.drive.session)

    # -- decisions ------------------------------------------------------------------------

    @property
    def writes(self) -> bool:
        """Whether this kernel writes the journal of its notebook."""
        kept = self.cells.kept.get("")
        return kept is None or kept.retry is None

    @property
    def records(self) -> bool:
        """Whether what runs here is recorded in a journal that the other kernels can find."""
        return self.notebook.path != "" and self.writes

    @property
    def decisions(self) -> Counter[Effect]:
        """The decisions that this kernel may act on: on disk where it writes the journal."""
        if not self.writes:
            return self.unwritten
        self.record()
        return self.notebook.decisions

    def record(self) -> None:
        """Where this kernel has become the writer, what was known here alone is on disk now."""
        if self.writes:
            self.notebook.decisions.update(self.unwritten)
            self.unwritten.clear()
        if self.records:
            self.model.ledger.effects.update(self.unrecorded)
            self.unrecorded.clear()

    @property
    def rows(self) -> list[CallRow]:
        """The calls that wait, as the panel shows them; the first is to be decided first."""
        if self.drive is None:
            return []
        waits = {call.id for call in self.session.pending}
        at = self.session.head, len(self.session.journal), self.writes, waits
        # Not by its id, which another one may have once this one is gone.
        if self._shown[0] is not self.drive or self._shown[1] != at:
            rows = self.drive.whole().calls if waits else ()
            shown = [row for row in rows if row.call in waits and not row.branch]
            undecidable = [row for row in shown if row.status in ("approved", "running")]
            assert not undecidable, "a call waits, and the panel has no buttons for it"
            self._shown = self.drive, at, shown
        return self._shown[2]

    def call_as_shown(self, call_id: str, digest: str) -> CallRecord | None:
        """Return a call as it would run, or ran; None where it is not shown with this digest."""
        assert self.drive is not None
        found = {call.id: call for call in (*self.session.calls, *self.session.pending)}
        rows = self.drive.whole().calls
        if any(
            (row.call, row.approval_digest, row.branch) == (call_id, digest, "") for row in rows
        ):
            return found[call_id]
        known = self.session.state.calls.get(call_id)
        # An edit of what has run, by whomever it was decided, is another branch.
        has_run = known is not None and known.approval_digest == digest
        return found[call_id] if has_run else None

    def effect_of(self, call: CallRecord, n: int | None = None) -> Effect:
        """Return what a call would do as it is shown, with another number where one is given."""
        n = call.arguments["n"] if n is None else n
        if call.tool == "post" and "jar" in call.arguments:
            # The jar itself may be in no kernel any more: an edit makes it again.
            name = call.arguments["jar"]
            made = [each.arguments["n"] for each in self.session.calls if each.object == name]
            return Effect("post", n, *made)
        if not call.tool.endswith("_add"):
            return Effect(call.tool, n)
        before = self.session.calls
        ran = [
            each.result
            for each in before[: [each.id for each in before].index(call.id)]
            if each.tool == call.tool and each.status == "succeeded"
        ]
        return Effect(call.tool, n, ran[-1] if ran else 0)

    def is_verified(self, n: int) -> bool:
        """Return whether the reply that asked for a call is on disk, sealed with today's key."""
        if not self.notebook.path:
            journal = self.session.journal
        else:
            text = self.notebook.journal.read_text()
            journal = Journal.salvage(text, signer(journals_folder()))[0]
        own = [
            entry.verified
            for entry in journal
            if isinstance(entry.event, Replied)
            and any(call.arguments["n"] == n for call in entry.event.calls)
        ]
        return own != [] and all(own)

    def has_changed(self) -> bool:
        """Return whether the journal or the head is another one than at the last question."""
        before, self._seen = self._seen, (len(self.session.journal), self.session.head)
        return before != self._seen

    # -- three interfaces -----------------------------------------------------------------

    def send(self, message: Mapping[str, Any]) -> bool:
        """Let the panel send a command; return whether it was taken."""
        assert self.drive is not None
        before = len(self.told)
        self.drive.receive(dict(message))
        with contextlib.suppress(ToolcallError):
            _now(self.drive)
        self.cells.keep(self.drive.session)
        return not any(isinstance(notice, Refused) for notice in self.told[before:])

    def line(self, *words: str) -> bool:
        """Carry out a line magic; return whether it was taken."""
        self.cells.reopen_journals()
        before = self._grown
        try:
            with contextlib.redirect_stdout(None):
                session = carry_out([*words], self.cells, {}, self.variables)
        except ToolcallError:
            self.keep(self.cells.current())
            return self._grown != before
        self.keep(session if isinstance(session, Session) else self.cells.current())
        return True

    def call(self, act: Callable[[Session], Session]) -> bool:
        """Call a method of the session, then `run`; return whether the method was taken."""
        try:
            self.keep(act(self.session))
        except ToolcallError:
            return False
        with contextlib.suppress(ToolcallError):
            self.session.run()
        return True

    @property
    def _grown(self) -> int:
        return len(self.session.journal.entries_after(0))

    # -- its file, and its end --------------------------------------------------------------

    def save(self) -> None:
        """Save the notebook with what its first cell shows."""
        session = self.session
        root = session.journal.path(session.head)[0].id
        data: Any = mime_bundle(session.cursor, all_rows(session.cursor, session.name), root)
        output = {"output_type": "display_data", "data": data, "metadata": {}}
        cell = {"cell_type": "code", "source": "%%toolchat", "outputs": [output]}
        text = json.dumps({"cells": [cell], "nbformat": 4, "nbformat_minor": 5})
        self.notebook.saved.append(text)

    def die(self) -> None:
        self.view.die()
        self.unwritten.clear()

    def close(self) -> None:
        self.cells.close()
        self.die()


def _now(drive: PanelController) -> None:
    """Let a panel go on, where nobody else has a turn."""
    going = drive.resume()
    with contextlib.suppress(StopIteration):
        while True:
            going.send(None)


@contextlib.contextmanager
def inside(stack: list[Kernel], kernel: Kernel) -> Iterator[None]:
    """While this lasts, effects are those of this kernel."""
    stack.append(kernel)
    try:
        yield
    finally:
        stack.pop()
