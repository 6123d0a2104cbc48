"""A disk whose N-th act fails: once, or until a person mends it; in full, or half of a write."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from jupyter_toolcall import Session
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.storage.journal_file import journal_file, journals_folder
from tests.faults import laws
from tests.faults.disks import Watched
from tests.faults.laws import Broken
from tests.faults.lives import Life, Setting, StillBroken
from tests.faults.places import data_directory
from tests.faults.platter import Platter, empty
from tests.faults.tally import Tally, cpu
from tests.faults.world import NAMES, STORIES, Story

NOTEBOOK = "/failing.ipynb"
SHORT = 0
"""A write that takes half of the bytes, and says so; the next one says that the disk is full."""
OPENING = 12
"""More acts than it takes to open a journal."""
FULL = (SHORT, errno.ENOSPC)
FAULTS = (*FULL, errno.EIO, errno.EDQUOT)


@dataclass
class Fault:
    """Fails at the `at`-th act, and with `lasting` at all that follow until it is mended."""

    number: int
    at: int
    lasting: bool
    count: int = 0
    struck: bool = False
    mended: bool = False

    def act(self, name: str, do: Callable[[], Any], half: Callable[[], Any] | None = None) -> Any:
        """Do it, or fail."""
        self.count += 1
        first = self.count == self.at
        if not first and not (self.lasting and self.count > self.at and not self.mended):
            return do()
        self.struck = True
        if self.number == SHORT and first and half is not None:
            return half()
        number = self.number or errno.ENOSPC
        raise OSError(number, os.strerror(number))

    @property
    def opened(self) -> bool:
        """Whether the journal was open before it struck."""
        return self.at > OPENING

    def mend(self) -> None:
        self.mended = True


@dataclass
class Case:
    """A session on such a disk, and what happened outside."""

    setting: Setting
    story: Story
    fault: Fault
    disk: Platter
    notes: list[str]

    def live(self) -> Iterator[Broken]:
        """Live to the end, mend the disk, and yield what does not hold then."""
        outside, path = self.setting.outside, journal_file(NOTEBOOK, "")
        outside.note, outside.proof = self.notes.append, lambda: self.disk.now.get(path, b"")
        files = Watched(self.disk, self.fault.act)
        session, cells = Life(self.story, self.setting, NOTEBOOK, files, self.fault.mend).live()
        in_memory = cells.kept[""].retry is not None
        yield from _said(cells, lambda: self.disk.now.get(path, b"").decode())
        self.fault.mend()
        cells.reopen_journals()
        yield from (Broken("silent", f"mended, and says {n}") for n in cells.notes() if "Not" in n)
        cells.close()
        yield from self._held(session, self.disk.now[path].decode(), in_memory)

    def die(self) -> Iterator[Broken]:
        """Nobody mends the disk before the kernel dies; the next life has a good one."""
        outside, path = self.setting.outside, journal_file(NOTEBOOK, "")
        outside.note, outside.proof = self.notes.append, lambda: self.disk.now.get(path, b"")
        kept = self.setting, NOTEBOOK
        with contextlib.suppress(StillBroken):
            Life(self.story, *kept, Watched(self.disk, self.fault.act)).live()
        self.disk.locks.clear()
        session, cells = Life(self.story, *kept, self.disk).live()
        cells.close()
        yield from laws.same(session.journal, self.disk.now[path].decode(), session.head)
        yield from laws.names(session.journal)
        yield from laws.finished(self.story, session.journal, session.head)
        if self.fault.opened:
            yield from laws.outside(self.story, self.notes)

    def _held(self, session: Session, text: str, in_memory: bool) -> Iterator[Broken]:
        yield from laws.same(session.journal, text, session.head)
        yield from laws.once(self.notes)
        yield from laws.told(self.story, self.notes, session.journal, session.head)
        yield from laws.names(session.journal)
        yield from laws.finished(self.story, session.journal, session.head)
        # Where the person was told at once that nothing is kept, nothing is on disk first.
        story = replace(self.story, remade=True) if in_memory else self.story
        yield from laws.outside(story, self.notes)


def _said(cells: Cells, text: Callable[[], str]) -> Iterator[Broken]:
    """A journal that is not on disk as it is here is told so, in one line."""
    said, journal = cells.notes(), cells.journal("")
    behind = set(journal.lines()) - set(_lines(text()))
    if behind and not said:
        yield Broken("silent", f"{len(behind)} lines are not on disk, and nothing is said")
    yield from (Broken("silent", f"more than a line: {note}") for note in said if "\n" in note)


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a file as they are without seals."""
    yield from Journal.salvage(text)[0].lines()


def run(names: Collection[str] = NAMES, faults: Sequence[int] = FAULTS) -> Tally:
    """Return the outcomes of every N, every fault, once and lasting."""
    tally, began, setting = Tally("failing disk"), cpu(), Setting()
    with data_directory():
        for story in (story for story in STORIES if story.name in names):
            for number in faults:
                for lasting in (False, True):
                    _each(tally, setting, story, number, lasting)
    tally.seconds = cpu() - began
    return tally


def _each(tally: Tally, setting: Setting, story: Story, number: int, lasting: bool) -> None:
    name = errno.errorcode.get(number, "a short write")
    for at in range(1, 400):
        for life in (Case.live, Case.die) if lasting else (Case.live,):
            case = Case(setting, story, Fault(number, at, lasting), empty(journals_folder()), [])
            broken = laws.broken_by(partial(life, case))
            if not case.fault.struck:
                return
            tally.add(f"{story.name}: {name} at {at}, {lasting=}, {life.__name__}", broken)
