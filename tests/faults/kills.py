"""A kernel that is killed (SIGKILL): at every act on the disk, amid a line, in a tool; and again.

Each life is a process of its own; what happened is read from outside.
"""

from __future__ import annotations

import gc
import os
import random
import shutil
import signal
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_toolcall.storage.file_system import DISK
from jupyter_toolcall.storage.journal_file import journal_file, journals_folder
from tests.faults import laws
from tests.faults.disks import Watched
from tests.faults.laws import Broken
from tests.faults.lives import Life, Setting
from tests.faults.places import data_directory
from tests.faults.tally import Tally, cpu
from tests.faults.world import NAMES, STORIES, Story

NEVER = 0


@dataclass
class Reaper:
    """Kills this process at its `at`-th point."""

    at: int
    count: int = 0

    def point(self) -> None:
        self.count += 1
        if self.count == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def act(self, name: str, do: Callable[[], Any], half: Callable[[], Any] | None = None) -> Any:
        """An act on the disk has a point before it, and the writing of a line one in its midst.

        Behind an act is before the next one: a tool has points of its own.
        """
        self.point()
        if half is not None:
            if self.count + 1 == self.at:
                half()
            self.point()
        return do()


@dataclass
class Case:
    """A session whose kernel is killed at some points, a life each, and then lives on."""

    setting: Setting
    story: Story
    number: int
    broken: list[Broken] = field(default_factory=list)
    points: int = 0
    """How many points the life had that was lived in this process."""

    @property
    def notebook(self) -> str:
        return f"/{self.number}.ipynb"

    @property
    def path(self) -> Path:
        return journal_file(self.notebook, "")

    @property
    def said(self) -> Path:
        return journals_folder() / f"{self.number}.notes"

    def text(self) -> str:
        return self.path.read_text() if self.path.exists() else ""

    def killed(self, at: int) -> bool:
        """Live one life in a process of its own; return whether it was killed at that point."""
        child = os.fork()
        if child == 0:
            try:
                gc.disable()
                self.live(at)
            except BaseException:
                self.said.write_text(traceback.format_exc())
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status and not os.WIFSIGNALED(status):
            self.broken.append(Broken("raised", self.said.read_text()[-600:]))
        return os.WIFSIGNALED(status)

    def live(self, at: int = NEVER) -> str:
        """Live to the end, and return the head there: what is in the file is what is here."""
        outside, reaper = self.setting.outside, Reaper(at)
        notes = os.open(self.said, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        outside.note = lambda line: _write(notes, f"{line}\n".encode())
        outside.proof, outside.point = self.path.read_bytes, reaper.point
        files = Watched(DISK, reaper.act)
        session, cells = Life(self.story, self.setting, self.notebook, files).live()
        self.broken += laws.same(session.journal, self.text(), session.head)
        cells.close()
        os.close(notes)
        self.points = reaper.count
        return session.head

    def end(self) -> list[Broken]:
        """Live on, and return what does not hold then."""
        try:
            head = self.live()
        except Exception:
            return [*self.broken, Broken("raised", traceback.format_exc()[-600:])]
        notes, journal = self.said.read_text().splitlines(), laws.kept(self.text())
        self.broken += laws.outside(self.story, notes)
        self.broken += laws.told(self.story, notes, journal, head)
        self.broken += laws.names(journal)
        self.broken += laws.finished(self.story, journal, head)
        return self.broken

    def clear(self) -> None:
        shutil.rmtree(self.path.parent, ignore_errors=True)
        self.said.unlink(missing_ok=True)


def _write(file: int, data: bytes) -> None:
    os.write(file, data)


def run(cases: int, seed: int, names: Collection[str] = NAMES) -> Tally:
    """Return the outcomes of so many cases.

    First comes each single kill of the stories with these names, then kills of one to three lives
    of all stories.
    """
    tally, began, setting = Tally("kill -9"), cpu(), Setting()
    with data_directory():
        warm(setting)
        wholes = {story.name: _whole(setting, story) for story in STORIES}
        for story in (story for story in STORIES if story.name in names):
            ids, points = wholes[story.name]
            for at in range(1, points + 1):
                _case(tally, setting, story, (at,), ids)
        chance = random.Random(seed)
        while tally.cases < cases:
            story = chance.choice(STORIES)
            ids, points = wholes[story.name]
            at_points = tuple(chance.randint(1, points) for _ in range(chance.choice((1, 2, 2, 3))))
            _case(tally, setting, story, at_points, ids if len(at_points) == 1 else None)
    tally.seconds = cpu() - began
    return tally


def warm(setting: Setting) -> None:
    """Import and make once what every life needs, so that a child has it already."""
    Life(STORIES[0], setting, "/warm.ipynb", DISK).live()[1].close()
    gc.collect()
    gc.freeze()


def _whole(setting: Setting, story: Story) -> tuple[list[str], int]:
    """Return the ids of the entries of an undisturbed life, and how many points it has."""
    case = Case(setting, story, 0)
    case.live()
    ids = [entry.id for entry in laws.kept(case.text())]
    case.clear()
    return ids, case.points


def _case(
    tally: Tally, setting: Setting, story: Story, at: tuple[int, ...], whole: list[str] | None
) -> None:
    """Live, be killed, live on."""
    case = Case(setting, story, tally.cases + 1)
    for point in at:
        killed = case.killed(point)
        if whole is not None:
            case.broken += laws.prefix(case.text(), whole)
            case.broken += [] if killed else [Broken("not killed", f"{story.name} at {point}")]
    tally.add(f"{story.name} killed at {at}", case.end())
    case.clear()
