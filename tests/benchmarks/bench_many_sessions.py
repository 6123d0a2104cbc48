"""Many sessions: on two worker processes beside one, and beside the same work without us; what the
kernel keeps of those that have ended; and a simulation of 1,000 workers.

The tool counts the words of a text, several ms of CPU. Variants are interleaved in one run, since
machines differ and are shared. Journals are on a file system in memory where there is one, so that
the ratios are not those of a disk; the last rows are on the disk.

`python tests/benchmarks/bench_many_sessions.py [SESSIONS]` prints a table; 200 sessions without it.
"""

from __future__ import annotations

import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.maps.mapped_session import SessionSummary
from jupyter_toolcall.maps.workers import VERSION, Probe, probe
from tests.benchmarks.workload import spent

ROOT = Path(__file__).parents[2]
CALLS = 10
ROUNDS = 5
GOAL_WORKERS = 1.7
"""How many times as many sessions two workers finish as one."""
GOAL_OWN = 1.3
"""How many times as long as the same work without us a map may take."""
TEXT = " ".join(f"word{n * n % 4099} and, {n % 17}" for n in range(12_000))
WORKERS = 1_000
MOST = 100_000


@tool(read_only=True)
def count_words(part: int) -> int:
    """Count the different words of a part of the text."""
    return len(Counter(re.findall(r"\w+", TEXT[part:])))


@tool(read_only=True)
def add(x: int) -> int:
    """Add one."""
    return x + 1


def words() -> Toolbox:
    return Toolbox(count_words)


def adds() -> Toolbox:
    return Toolbox(add)


def script(name: str, argument: str, calls: int = CALLS) -> Scripted:
    return Scripted([*((name, {argument: n}) for n in range(calls)), "Done."])


def same_work(session: int) -> int:
    """Run the calls of a session without a session."""
    return sum(count_words(part) for part in range(CALLS))


def mapped(pool: Executor, count: int, name: str) -> None:
    prompts = [f"Count {n}." for n in range(count)]
    model = script("count_words", "part")
    sessions = Session.map(prompts, words, model, scheme="flat", executor=pool, name=name)
    assert len(sessions.finished) == count, sessions


# -- workers -----------------------------------------------------------------------------------


def compare_workers(count: int, label: str, wide: int = 0) -> None:
    """Print how two workers compare with one, and with the same work without us."""
    part, took = max(count // ROUNDS, 1), dict[str, float]()
    with (
        ProcessPoolExecutor(1) as single,
        ProcessPoolExecutor(2) as pair,
        ProcessPoolExecutor(wide or 1) as pool,
    ):
        pools = {"one": single, "two": pair, **({"many": pool} if wide else {})}
        for number in range(ROUNDS):
            for name, each in pools.items():
                if number == 0:
                    list(each.map(same_work, range(4)))
                own = partial(mapped, each, part, f"{label}-{number}-{name}")
                measure(took, name, own, each)
                if name != "many":
                    measure(took, f"{name} bare", partial(without_us, each, part), each)
    print(f"{label}: {part * ROUNDS:,} sessions of {CALLS} calls, {ROUNDS} rounds, sums of all")
    faster, own_faster = took["one"] / took["two"], took["one bare"] / took["two bare"]
    row("one worker", f"{took['one']:.1f} s")
    cpu = took["cpu one"] / took["cpu one bare"]
    row("its CPU, and the kernel's, beside that without us", "", f"{cpu:.2f} ×")
    row("two workers", f"{took['two']:.1f} s", f"{faster:.2f} × one (goal {GOAL_WORKERS})")
    row("the same work without us, one", f"{took['one bare']:.1f} s")
    row("the same work without us, two", f"{took['two bare']:.1f} s", f"{own_faster:.2f} × one")
    ratio = took["two"] / took["two bare"]
    row("two workers beside that", "", f"{ratio:.2f} × (goal {GOAL_OWN})")
    if wide:
        ratio = took["many"] / took["two bare"]
        row(f"{wide} workers beside that", f"{took['many']:.1f} s", f"{ratio:.2f} ×")


def measure(took: dict[str, float], name: str, work: Callable[[], object], pool: Executor) -> None:
    """Add the seconds of a variant, and its CPU where it has one worker."""

    def cpu() -> float:
        return float(pool.submit(time.process_time).result()) + time.process_time()

    before = cpu()
    took[name] = took.get(name, 0) + spent(work).wall
    took[f"cpu {name}"] = took.get(f"cpu {name}", 0) + cpu() - before


def without_us(pool: Executor, count: int) -> None:
    list(pool.map(same_work, range(count)))


def row(what: str, value: str, more: str = "") -> None:
    print(f"  {what:<50}{value:>12}  {more}".rstrip())


def sync_time(folder: str) -> float:
    """Return the milliseconds that a file of a folder takes to be synced."""
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        times = []
        for _ in range(50):
            file.write(b"x" * 300)
            file.flush()
            times.append(spent(lambda: os.fsync(file.fileno())).wall)
    return statistics.median(times) * 1000


# -- memory ------------------------------------------------------------------------------------


def memory(count: int) -> int:
    """Return the kilobytes that a kernel of its own has after a map of so many sessions."""
    command = [sys.executable, __file__, "--memory", str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return int(json.loads(done.stdout))


def print_memory(count: int) -> None:
    with ProcessPoolExecutor(2) as pool:
        prompts = [f"Add {n}." for n in range(count)]
        model = script("add", "x", 3)
        sessions = Session.map(prompts, adds, model, scheme="flat", executor=pool, name="memory")
        assert len(sessions.finished) == count
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


# -- a simulation ------------------------------------------------------------------------------


class SimulatedWorkers(Executor):
    """Workers of this process that end a session as soon as they have it, in its order.

    So what is measured is the kernel's side alone: submitting, waiting, and keeping summaries.
    """

    def __init__(self, count: int) -> None:
        self._max_workers = count
        self.submitted: deque[tuple[Future[Any], Any]] = deque()
        self.there = threading.Semaphore(0)
        threading.Thread(target=self._work, daemon=True).start()

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if function is probe:
            future.set_result(Probe(("elsewhere", 1), VERSION, True))
            return future
        self.submitted.append((future, args))
        self.there.release()
        return future

    def _work(self) -> None:
        while True:
            self.there.acquire()
            future, _ = self.submitted.popleft()
            future.set_result(SessionSummary("finished", CALLS, CALLS + 1, 12_000, (), (), "Done."))


def simulate(most: int) -> None:
    print(f"\nThe kernel's side with {WORKERS:,} workers, which are simulated in this process")
    rates = {}
    for count in (most // 20, most // 4, most):
        workers = SimulatedWorkers(WORKERS)
        prompts = [f"Count {n}." for n in range(count)]
        began = time.process_time()
        Session.map(prompts, adds, script("add", "x"), scheme="flat", executor=workers, name="sim")
        rates[count] = (time.process_time() - began) / count * 1e6
        row(f"measured: {count:,} sessions", f"{rates[count]:.0f} µs", "of CPU a session")
    last = rates[most]
    hours = MOST * last / 1e6
    row(f"extrapolated: {MOST:,} sessions", f"{hours:.0f} s", "of CPU in the kernel")
    busy = WORKERS * last / 1e6
    row(f"extrapolated: {WORKERS:,} workers are kept busy", f"> {busy:.2f} s", "a session")


def journal_limits(most: int) -> None:
    print("\nOne journal file")
    sizes = {}
    for count in (most // 10, most):
        session = Session(adds(), script("add", "x", count), scheme="flat", approve="all")
        session.tell("Add.")
        text = session.journal.dumps(lambda line: "0" * 32)
        seconds = spent(partial(Journal.salvage, text)).wall
        sizes[count] = len(text), seconds
        row(f"measured: {count:,} calls", f"{len(text) / 1e6:.1f} MB", f"read in {seconds:.2f} s")
    size, seconds = (MOST / most * figure for figure in sizes[most])
    row(f"extrapolated: {MOST:,} calls", f"{size / 1e6:.0f} MB", f"read in {seconds:.0f} s")


def main(count: int = 200) -> None:
    disk = tempfile.gettempdir()
    shared = "/dev/shm" if os.path.isdir("/dev/shm") else disk
    own = statistics.median(spent(lambda: count_words(0)).wall for _ in range(20)) * 1000
    print(f"One call of the tool takes {own:.1f} ms.")
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        os.environ["JUPYTER_TOOLCALL_DATA"] = folder
        compare_workers(count, "in memory")
        print("\nThe kernel's memory after a map of sessions that have ended")
        few, many = count // 2, 25 * count
        kept = {each: memory(each) for each in (few, 5 * count, many)}
        for each, size in kept.items():
            row(f"measured: {each:,} sessions", f"{size / 1024:.1f} MB")
        slope = (kept[many] - kept[few]) * 1024 / (many - few)
        row("a session that has ended", f"{slope:.0f} B", f"{MOST:,}: {slope * MOST / 1e6:.0f} MB")
        simulate(100 * count)
    journal_limits(50 * count)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["JUPYTER_TOOLCALL_DATA"] = folder
        print(f"\nOn the disk, where a sync takes {sync_time(folder):.1f} ms")
        compare_workers(count // 5, "on disk", wide=8)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--memory"]:
        print_memory(int(sys.argv[2]))
    else:
        main(*map(int, sys.argv[1:2]))
