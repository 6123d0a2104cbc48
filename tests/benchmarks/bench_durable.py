"""What it costs that every step is on disk before the next, and to change one of many calls.

Every figure stands beside a floor of the same run: as many bytes in as many syncs by hand,
json.loads of the same lines, a pickle in a file.
`python tests/benchmarks/bench_durable.py [CALLS]` prints a table; 1,000 calls without it.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.storage.file_system import Files
from jupyter_toolcall.storage.journal_file import open_journal
from jupyter_toolcall.storage.notebook_files import MIME
from jupyter_toolcall.storage.signatures import signer
from jupyter_toolcall.storage.value_store import ValueFolder
from tests.benchmarks.workload import RAN, Counting, Number, Spent, follow, graph, spent, steps

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
DEPENDENT = max(CALLS // 100, 1)
TIMES = 3
GOAL_STEP = 300
"""Microseconds of CPU that a call may take that is on disk before the next."""
GOAL_BYTES = 700
"""Bytes that such a call may take on disk."""
GOAL_EDIT = 25
"""Milliseconds of CPU that the change of a call may take on which few others depend."""
BRANCHES, GOAL_SWITCH = 41, 10
"""Of a session whose branches are switched, and milliseconds of CPU that it may take."""


def least(times: int, one: Callable[[], Spent]) -> Spent:
    """Return the least of some runs: the rest is what else the machine does."""
    found = [one() for _ in range(times)]
    return Spent(min(each.cpu for each in found), min(each.wall for each in found))


@contextmanager
def written(folder: Path, files: Files) -> Iterator[tuple[Journal, Path]]:
    """Open a new journal on disk."""
    path = Path(tempfile.mkdtemp(dir=folder)) / "journal.jsonl"
    kept = open_journal(path, signer(folder), files)
    yield kept.journal, path
    kept.close()


def by_hand(folder: Path, size: int, syncs: int) -> Spent:
    """As many bytes, in as many syncs, without anything around them."""
    data = b"x" * max(size // max(syncs, 1), 1)

    def write() -> None:
        with (folder / "floor").open("ab", buffering=0) as file:
            for _ in range(syncs):
                file.write(data)
                os.fsync(file.fileno())

    return spent(write)


def calls(folder: Path) -> None:
    memory = least(TIMES, lambda: spent(steps(CALLS).run))
    disk, floor, sync, files = [], [], [], Counting()
    for _ in range(TIMES):
        with written(folder, files) as (journal, path):
            session, before = steps(CALLS, journal=journal), path.stat().st_size
            files.syncs = 0
            disk.append(spent(session.run))
            size, syncs = path.stat().st_size - before, files.syncs
        floor.append(by_hand(folder, size, syncs))
        sync.append(by_hand(folder, size, CALLS))
    ours, own, one = (least(TIMES, iter(each).__next__) for each in (disk, floor, sync))
    print(f"{'':44}{'CPU µs':>9}{'wall µs':>9}")
    for title, each in (
        (f"a call in memory, {CALLS:,} calls", memory),
        (f"a call on disk: {syncs / CALLS:.1f} syncs, {size / CALLS:,.0f} bytes", ours),
        ("the same bytes in as many syncs by hand", own),
        ("the same bytes in one sync a call", one),
        ("on disk, over one sync a call", Spent(ours.cpu - one.cpu, ours.wall - one.wall)),
    ):
        goal = f"   goal {GOAL_STEP} µs of CPU and {GOAL_BYTES} bytes" if each is ours else ""
        print(f"{title:44}{each.cpu / CALLS * 1e6:9.0f}{each.wall / CALLS * 1e6:9.0f}{goal}")


def edits(folder: Path) -> None:
    at = CALLS // 2
    shapes = {
        f"{DEPENDENT} depend": range(at, at + DEPENDENT + 1),
        f"{CALLS - at - 1} depend": range(CALLS),
    }
    for shape, dependent in shapes.items():
        for place in ("memory", "disk"):
            files = Counting()
            with written(folder, files) as (journal, _):
                session = graph(CALLS, dependent, journal if place == "disk" else None)
                files.syncs = 0
                RAN.clear()
                took = spent(lambda s=session: s.edit(s.calls[at], number=-7).run())  # type: ignore[misc]
                said = f"{len(RAN)} executions, {files.syncs} syncs"
                few = len(dependent) == DEPENDENT + 1
                goal = f"   goal {len(dependent)} executions, {GOAL_EDIT} ms" if few else ""
                bare = spent(lambda: [follow(Number(1), n) for n in range(len(RAN))])
                print(
                    f"change 1 of {CALLS:,}, {shape:<10} {place:<7} {took.cpu * 1e3:8.1f} ms CPU"
                    f" {took.wall * 1e3:9.1f} ms   {said}   the tools alone {bare.cpu * 1e3:.2f} ms"
                    f"{goal}"
                )


def switches() -> None:
    """Go to each branch of a session by its name, which lists all of them."""
    session = graph(CALLS, range(CALLS // 2, CALLS // 2 + DEPENDENT + 1))
    head = session.head
    for number in range(BRANCHES - 1):
        session.checkout(head)
        session.edit(session.calls[CALLS // 2], number=-number).run()
    names = list(session.branch_names)
    took = least(TIMES, lambda: spent(lambda: [session.checkout(name) for name in names]))
    print(
        f"switch of branch by name, {BRANCHES} branches of {CALLS:,} calls"
        f" {took.cpu / BRANCHES * 1e3:8.1f} ms CPU   goal {GOAL_SWITCH} ms"
    )


def loading(folder: Path, count: int = 10 * CALLS) -> None:
    session = steps(count).run()
    seal = signer(folder)
    text = session.journal.dumps(seal)
    floor = least(TIMES, lambda: spent(lambda: [json.loads(line) for line in text.splitlines()]))
    ours = least(TIMES, lambda: spent(lambda: Journal.loads(text, seal)))
    print(
        f"loading a journal of {count:,} calls, {len(text) / 1e6:.1f} MB {ours.cpu:9.2f} s CPU"
        f"   json.loads of its lines {floor.cpu:5.2f} s   ratio {ours.cpu / floor.cpu:4.1f}"
    )


def sizes() -> None:
    few, many = (json.dumps(graph_of(count)) for count in (100, 100 + CALLS))
    print(f"a saved notebook, bytes a call {(len(many) - len(few)) / CALLS:19,.0f}")


def graph_of(count: int) -> Any:
    return steps(count).run()._repr_mimebundle_()[MIME]


def values(folder: Path) -> None:
    seal = signer(folder)
    assert seal is not None
    store = ValueFolder(folder / "values", seal, 1 << 30)
    for size in (CALLS, 10_000 * CALLS):
        value_of(size, store, folder / "value")


def value_of(size: int, store: ValueFolder, path: Path) -> None:
    value, name = os.urandom(size), f"{size:032x}"

    def floor() -> None:
        with path.open("wb") as file:
            file.write(pickle.dumps(value, protocol=5))
            file.flush()
            os.fsync(file.fileno())

    own = least(TIMES, lambda: spent(floor))
    put = least(TIMES, lambda: spent(lambda: store.put(name, value)))
    find = least(TIMES, lambda: spent(lambda: store.find(name)))
    print(
        f"a value of {size / 1e3:,.0f} kB kept {put.cpu * 1e3:7.2f} ms CPU {put.wall * 1e3:7.2f} ms"
        f", found {find.cpu * 1e3:7.2f} ms   a pickle in a synced file {own.cpu * 1e3:6.2f} ms "
        f"CPU {own.wall * 1e3:7.2f} ms"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as here:
        for part in (calls, edits, loading, values):
            part(Path(here))
    switches()
    sizes()
