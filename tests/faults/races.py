"""Kernels that open one journal at the same time: one writes, the others read, then take over."""

from __future__ import annotations

import os
import random
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from jupyter_toolcall.core.errors import ToolcallError
from jupyter_toolcall.core.events import Asked, Opened
from jupyter_toolcall.storage.file_system import DISK
from jupyter_toolcall.storage.journal_file import (
    JournalHandle,
    journal_file,
    journals_folder,
    open_journal,
)
from jupyter_toolcall.storage.signatures import signer
from tests.faults import laws
from tests.faults.kills import warm
from tests.faults.laws import Broken
from tests.faults.lives import Life, Setting
from tests.faults.places import data_directory
from tests.faults.tally import Tally, cpu
from tests.faults.world import STORIES

Race = Callable[[Setting, int, int], list[Broken]]
EACH = 3
"""Entries that a kernel writes."""
PATIENCE = 60.0
"""Seconds until a kernel that never gets its turn gives up."""


def run(cases: int, seed: int) -> Tally:
    """Return the outcomes of so many races, of two to eight kernels, on a new or an old journal."""
    tally, began, setting = Tally("kernels that race"), cpu(), Setting()
    chance = random.Random(seed)
    with data_directory():
        warm(setting)
        for number in range(cases):
            kernels, old = chance.randint(2, 8), bool(number % 2)
            race = _sessions if number % 4 == 3 else _writers
            path = journal_file(f"/{number}.ipynb", "")
            if old:
                _wrote(path, -1)
            name = f"{race.__name__} no. {number}, {kernels} kernels"
            tally.add(name, _ran(race, setting, number, kernels))
    tally.seconds = cpu() - began
    return tally


def _ran(race: Race, setting: Setting, number: int, kernels: int) -> list[Broken]:
    try:
        return race(setting, number, kernels)
    except ToolcallError as error:
        return [Broken("damaged", str(error))]


def _together(kernels: int, work: Callable[[int], object]) -> list[Broken]:
    """Fork so many kernels, let them go at once, and return what went wrong in any."""
    reads, writes = os.pipe()
    children = [_child(kernel, work, reads, writes) for kernel in range(kernels)]
    os.close(reads)
    os.close(writes)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    return [Broken("raised", f"kernel {n}") for n, status in enumerate(statuses) if status]


def _child(kernel: int, work: Callable[[int], object], reads: int, writes: int) -> int:
    child = os.fork()
    if child == 0:
        try:
            os.close(writes)
            # The pipe ends when all are there.
            os.read(reads, 1)
            work(kernel)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def _wrote(path: Path, kernel: int) -> None:
    """Write a branch of a kernel's own; in between try to become the writer, at last do."""
    kept = open_journal(path, signer(journals_folder()))
    head = kept.journal.append(None, Opened(system=str(kernel))).id
    for number in range(EACH):
        kept = kept if kept.retry is None else kept.retry()
        head = kept.journal.append(head, Asked(f"{kernel}.{number}")).id
    _alone(_turn_of(kept), path)


def _turn_of(kept: JournalHandle) -> JournalHandle:
    """Return the journal once this kernel writes it."""
    until = time.monotonic() + PATIENCE
    while kept.retry is not None:
        assert time.monotonic() < until, kept.note
        time.sleep(0.001)
        kept = kept.retry()
    return kept


def _alone(kept: JournalHandle, path: Path) -> None:
    """Close what this kernel writes; no other one does, in the meantime."""
    mark = path.with_suffix(".writer")
    mark.touch(exist_ok=False)
    os.sched_yield()
    kept.journal.remember(str(os.getpid()))
    mark.unlink()
    kept.close()


def _writers(setting: Setting, number: int, kernels: int) -> list[Broken]:
    """Each kernel writes a branch of its own: all of them are there, and whole."""
    path = journal_file(f"/{number}.ipynb", "")
    broken = _together(kernels, lambda kernel: _wrote(path, kernel))
    journal = laws.kept(path.read_text())
    said = {entry.event.text for entry in journal if isinstance(entry.event, Asked)}
    lost = {f"{kernel}.{n}" for kernel in range(kernels) for n in range(EACH)} - said
    broken += [Broken("lost result", f"{sorted(lost)}")] if lost else []
    return broken + [Broken("damaged", p.name) for p in path.parent.glob("*.torn")]


def _sessions(setting: Setting, number: int, kernels: int) -> list[Broken]:
    """Each kernel runs the cell of one session, and each has a person who approves."""
    story, notebook = STORIES[0], f"/{number}.ipynb"
    notes, path = journals_folder() / f"{number}.notes", journal_file(notebook, "")
    file = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    setting.outside.note = lambda line: _write(file, line)
    setting.outside.proof = lambda: b""

    def work(kernel: int) -> None:
        session, cells = Life(story, setting, notebook, DISK).live()
        _alone(_turn_of(cells.kept[""]), path)
        assert session.text == "done", session.text

    broken = _together(kernels, work)
    os.close(file)
    journal, said = laws.kept(path.read_text()), notes.read_text().splitlines()
    counted = [note for note in said if note.startswith(("approve", "effect"))]
    broken += [b for b in laws.outside(story, counted) if b.law == "duplicate effect"]
    broken += laws.names(journal)
    return broken + [Broken("damaged", p.name) for p in path.parent.glob("*.torn")]


def _write(file: int, line: str) -> None:
    os.write(file, f"{line}\n".encode())
