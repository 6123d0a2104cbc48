"""What several benchmarks measure: sessions of many calls, and what something took."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.storage.file_system import File, Files


@dataclass(frozen=True)
class Spent:
    """Seconds of CPU, and seconds."""

    cpu: float
    wall: float


def spent(function: Callable[[], object]) -> Spent:
    """Return what a function took."""
    wall, cpu = time.perf_counter(), time.process_time()
    function()
    return Spent(time.process_time() - cpu, time.perf_counter() - wall)


RAN: list[str] = []
"""What the tools `begin` and `follow` did, in its order."""


class Number:
    """An object that a call made."""

    def __init__(self, value: int) -> None:
        self.value = value


def begin(number: int) -> Number:
    """Make a number of nothing."""
    RAN.append(f"begin {number}")
    return Number(number)


def follow(before: Number, number: int) -> Number:
    """Make a number of the one before."""
    RAN.append(f"follow {number}")
    return Number((31 * number + 17 * before.value) % 1_000_003)


class Counting(Files):
    """This machine's files, with a count of the syncs."""

    syncs = 0

    def open(self, path: Path) -> File:
        return _Counted(path, self)


class _Counted(File):
    """A file whose syncs are counted."""

    def __init__(self, path: Path, files: Counting) -> None:
        super().__init__(path)
        self._files = files

    def sync(self) -> None:
        self._files.syncs += 1
        super().sync()


def graph(count: int, dependent: range, journal: Journal | None = None) -> Session:
    """Return a session in which these calls follow one another, and the others do too."""
    script: list[Any] = []
    last = {True: 0, False: 0}
    for call in range(count):
        mine = call in dependent
        named = {"before": f"Number#{last[mine]}"} if last[mine] else {}
        script.append(("follow" if named else "begin", {**named, "number": call}))
        last[mine] = call + 1
    box, model = Toolbox(begin, follow), Scripted([*script, "done"])
    return Session(box, model, scheme="flat", approve="all", journal=journal).tell("go")


def step(x: int) -> int:
    """Add one."""
    return x + 1


def steps(
    count: int, scheme: str = "flat", together: bool = False, approve: str = "all", **options: Any
) -> Session:
    """Return a session that will make so many calls: one a reply, or all in one reply."""
    calls = [("step", {"x": n}) for n in range(count)]
    select = [("selectTools", {"tools": ["step"]})] if scheme == "select" else []
    model = Scripted([*select, *([calls] if together else calls), "done"])
    session = Session(Toolbox(step), model, scheme=scheme, approve=approve, **options)
    return session.ask("go")


@dataclass(frozen=True)
class Bead:
    """One more object on the string."""

    number: int

    def next(self) -> Bead:
        """Return the bead after this one."""
        return Bead(self.number + 1)


def string(count: int) -> Session:
    """Return a session that will make so many objects, one a turn."""
    script = Scripted([*[("Bead_next", {})] * count, "Done."])
    inputs = {"bead": Bead(0)}
    session = Session(Toolbox(Bead), script, scheme="flat", inputs=inputs, approve="all")
    return session.ask("Go on.")
