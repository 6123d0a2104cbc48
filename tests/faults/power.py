"""A machine that loses its power at any act on the disk: what was not synced is there, or not."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from jupyter_toolcall.core.events import ended_call
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.storage.journal_file import journal_file, journals_folder
from tests.faults import laws
from tests.faults.disks import Watched
from tests.faults.laws import Broken
from tests.faults.lives import Life, Setting
from tests.faults.places import data_directory
from tests.faults.platter import Platter, empty
from tests.faults.tally import Tally, cpu
from tests.faults.world import STORIES, Story

NOTEBOOK = "/power.ipynb"


class PowerCut(BaseException):
    """The machine is off: nothing that follows happens."""


@dataclass
class Switch:
    """Takes the power at the `at`-th act; 0 never."""

    at: int
    count: int = 0

    def act(self, name: str, do: Callable[[], Any], half: Callable[[], Any] | None = None) -> Any:
        """Do it, while there is power."""
        self.count += 1
        if self.at and self.count >= self.at:
            raise PowerCut
        return do()


@dataclass
class Machine:
    """A disk, what happened outside so far, and the next life on it."""

    setting: Setting
    story: Story
    disk: Platter
    notes: list[str]

    def live(self, at: int = 0) -> Iterator[Broken]:
        """Live to the end, and yield what does not hold then. Raises PowerCut before act `at`."""
        outside, path = self.setting.outside, journal_file(NOTEBOOK, "")
        outside.note, outside.proof = self.notes.append, lambda: self.disk.certain(path)
        files = Watched(self.disk, Switch(at).act)
        session, cells = Life(self.story, self.setting, NOTEBOOK, files).live()
        cells.close()
        text = self.disk.certain(path).decode()
        yield from laws.same(session.journal, text, session.head)
        yield from laws.outside(self.story, self.notes)
        yield from laws.told(self.story, self.notes, session.journal, session.head)
        yield from laws.names(session.journal)
        yield from laws.finished(self.story, session.journal, session.head)

    def left(self, at: int) -> Iterator[Machine]:
        """Lose the power at an act, and yield the machines that may be left; none: it was over."""
        with contextlib.suppress(PowerCut):
            list(self.live(at))
            return
        for disk in self.disk.left():
            text = disk.certain(journal_file(NOTEBOOK, "")).decode(errors="ignore")
            yield Machine(self.setting, self.story, disk, list(_kept(self.notes, text)))


def run(cases: int, seed: int) -> Tally:
    """Return the outcomes of a loss at each act, and then of a second loss."""
    tally, began, setting = Tally("loss of power"), cpu(), Setting()
    chance = random.Random(seed)
    with data_directory():
        for story in STORIES:
            tally.add(
                story.name,
                laws.broken_by(Machine(setting, story, empty(journals_folder()), []).live),
            )
        found = list(_single(setting))
        chance.shuffle(found)
        for number in range(cases):
            case, machine = found[number % len(found)]
            machine = Machine(setting, machine.story, _copy(machine.disk), [*machine.notes])
            if number >= len(found):
                case, machine = _again(case, machine, chance)
            tally.add(case, laws.broken_by(machine.live))
    tally.seconds = cpu() - began
    return tally


def _single(setting: Setting) -> Iterator[tuple[str, Machine]]:
    for story in STORIES:
        for at in range(1, 400):
            left = list(Machine(setting, story, empty(journals_folder()), []).left(at))
            if not left:
                break
            for number, machine in enumerate(left):
                yield f"{story.name} at {at}, disk {number}", machine


def _kept(notes: list[str], text: str) -> Iterator[str]:
    """Yield the notes without the results that were not on disk yet: those may be lost."""
    ended = {ended_call(entry.event) for entry in Journal.salvage(text)[0]}
    for note in notes:
        if not note.startswith("told ") or note.split()[1] in ended:
            yield note


def _again(case: str, machine: Machine, chance: random.Random) -> tuple[str, Machine]:
    """Lose the power in the second life too; as it is where that was over before."""
    at = chance.randint(1, 40)
    before = replace(machine, disk=_copy(machine.disk), notes=[*machine.notes])
    left = list(machine.left(at)) or [before]
    number = chance.randrange(len(left))
    return f"{case}; at {at}, disk {number}", left[number]


def _copy(disk: Platter) -> Platter:
    return Platter({*disk.folders}, set(), dict(disk.now), dict(disk.now))
