"""The work that every system does alike, and how it is measured. It needs Python alone.

`loop`: calls one after another, as a model would ask for them. `durable`: the same, each step
on disk before the next. `graph`: the argument of one of the calls is changed, on which ten
others depend, and all is brought up to date; `chain`: half of them depend on it.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

Work = Literal["loop", "durable", "graph", "chain"]
WORKS: tuple[Work, ...] = ("loop", "durable", "graph", "chain")
DEPENDENT = 10
CHANGED = -7
"""The argument that the changed call gets."""


@dataclass(frozen=True)
class Job:
    """What a peer is asked to do, and the folder that is its own."""

    work: Work
    count: int
    folder: Path

    @property
    def at(self) -> int:
        """The call whose argument is changed."""
        return self.count // 2

    @property
    def follows(self) -> tuple[int | None, ...]:
        """For each call the call that it depends on."""
        mine = range(self.at, self.at + DEPENDENT + 1) if self.work == "graph" else range(0)
        found: list[int | None] = []
        last: int | None = None
        for call in range(self.count):
            if call in mine:
                found.append(call - 1 if call > mine[0] else None)
            else:
                found.append(last)
                last = call
        return tuple(found)

    def argument(self, call: int, changed: bool) -> int:
        return CHANGED if changed and call == self.at else call

    def results(self, changed: bool, run: Callable[[int, int], int]) -> list[int]:
        """Return what all calls come to, each run on its argument and the result before."""
        found: list[int] = []
        for call, before in enumerate(self.follows):
            value = found[before] if before is not None else 0
            found.append(run(self.argument(call, changed), value))
        return found


STARTS: list[float] = []
"""The CPU time of this process, in seconds, at which each call began to run."""


def combined(number: int, before: int) -> int:
    return (31 * number + 17 * before + 1) % 1_000_003


def ran(number: int, before: int) -> int:
    """Return what a call comes to, and note when it ran."""
    STARTS.append(time.process_time())
    return combined(number, before)


@dataclass
class Chain:
    """The calls of a loop, for the tool and the stub model of a system."""

    count: int
    results: list[int] = field(default_factory=list)

    def follow(self, number: int) -> int:
        """Make a number of the one before.

        Args:
            number: which number it is
        """
        self.results.append(ran(number, self.results[-1] if self.results else 0))
        return self.results[-1]

    def next_number(self) -> int | None:
        """Return the argument of the next call, None after the last one."""
        number = len(self.results)
        return number if number < self.count else None


@dataclass(frozen=True)
class Done:
    """What a job took: seconds of CPU, seconds, calls that ran, bytes on disk."""

    cpu: float
    wall: float
    executions: int
    size: int = 0
    right: bool = True
    """Whether its result is that of a full recomputation."""
    growth: float | None = None
    """The CPU of the last tenth of the calls over that of the first; None for less than 20."""


Do = Callable[[], Mapping[int, int] | list[int]]
"""Does the work, and returns what the calls came to."""


def measured(job: Job, prepare: Callable[[Job], Do], size: Callable[[Job], int]) -> Done:
    """Return what a job took. What `prepare` does is not measured."""
    do = prepare(job)
    STARTS.clear()
    before = size(job)
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    found = do()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    executions, grown = len(STARTS), size(job) - before
    wanted = job.results(job.work in ("graph", "chain"), combined)
    right = [found[call] for call in range(job.count)] == wanted
    return Done(cpu, wall, executions, grown, right, growth_of(STARTS))


def growth_of(starts: list[float]) -> float | None:
    """Return how much more CPU the last tenth of the calls took than the first."""
    tenth = len(starts) // 10
    if tenth < 2:
        return None
    first, last = starts[tenth] - starts[0], starts[-1] - starts[-1 - tenth]
    return last / first if first > 0 else None


def on_disk(job: Job) -> int:
    """Return the bytes of all files of a job."""
    return sum(path.stat().st_size for path in job.folder.rglob("*") if path.is_file())


def main(
    prepares: Mapping[Work, Callable[[Job], Do]], size: Callable[[Job], int] = on_disk
) -> None:
    """Do the job that the command line names, and print what it took as JSON."""
    work, count, folder = sys.argv[1:]
    found: Any = next(each for each in WORKS if each == work)
    job = Job(found, int(count), Path(folder))
    print(json.dumps(asdict(measured(job, prepares[found], size))))
