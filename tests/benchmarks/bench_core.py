"""What a call costs beside a bare loop, how much is kept of it, and what loading costs.

Every figure stands beside one that was measured in the same run, since machines differ.
`python tests/benchmarks/bench_core.py [CALLS]` prints a table; 1,000 calls without it.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from types import FrameType
from typing import Any

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.schemes.messages import Request
from tests.benchmarks.workload import spent, step, steps

ROOT = Path(__file__).parents[2]
PACKAGE = str(ROOT / "jupyter_toolcall")
GOAL_CALL = 75
"""Microseconds of CPU that a call may take."""
GOAL_FILES, GOAL_FUNCTIONS = 45, 250
"""The files, and the functions of ours, through which one approved call may pass."""
GOAL_JOURNAL = 700
"""Bytes of journal a call."""
GOAL_MEMORY = 3_000
"""Bytes of memory that a call may keep."""
GOAL_LOAD = 15
"""Milliseconds of CPU that `%load_ext` may take."""
LOAD = """
import sys, time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
sys.path.insert(0, {path!r})
began = time.process_time()
shell.run_line_magic("load_ext", {name!r})
print((time.process_time() - began) * 1000)
"""


def bare(count: int) -> None:
    """The same calls by hand: a stub model, a look-up, a call, a history."""
    model = Scripted([("step", {"x": n}) for n in range(count)])
    tools = {"step": step}
    history: list[tuple[str, Any]] = []

    turn = 0
    while (reply := model(Request("", (), (), turn=turn))).calls:
        for call in reply.calls:
            history.append((call.id, tools[call.tool](**call.arguments)))
        turn += 1


def calls(scheme: str, most: int) -> None:
    for count in (most // 10, most, 10 * most):
        times = 5 if count < 10_000 else 2
        floor = min(spent(lambda n=count: bare(n)).cpu for _ in range(times))  # type: ignore[misc]
        ours = min(spent(steps(count, scheme).run).cpu for _ in range(times))
        print(
            f"a call of {count:>6,}, scheme {scheme:<6}  {ours / count * 1e6:8.1f} µs"
            f"   bare loop {floor / count * 1e6:5.1f} µs   ratio {ours / floor:6.1f}"
            f"   goal {GOAL_CALL} µs"
        )


@tool(read_only=True)
def wait(ms: int) -> int:
    """Wait, as for an answer from elsewhere."""
    time.sleep(ms / 1000)
    return ms


def together(count: int) -> None:
    """Four calls of one reply that wait 50 ms each; and what `jobs` costs calls that run alone."""
    took = {jobs: min(_elapsed(jobs) for _ in range(5)) for jobs in (1, 4)}
    costs = {1: 0.0, 4: 0.0}
    for jobs in costs:
        costs[jobs] = min(spent(steps(count, jobs=jobs).run).cpu for _ in range(5))
    print(
        f"4 calls of 50 ms, jobs=4   {took[4] * 1e3:8.1f} ms   jobs=1 {took[1] * 1e3:6.1f} ms"
        f"   ratio {took[4] / took[1]:4.2f}   one call alone, jobs=4 / jobs=1"
        f" {costs[4] / costs[1]:4.2f}"
    )


def _elapsed(jobs: int) -> float:
    calls = [("wait", {"ms": 50}) for _ in range(4)]
    session = Session(Toolbox(wait), Scripted([calls, "done"]), scheme="flat", jobs=jobs)
    return spent(session.ask("go").run).wall


def passed() -> None:
    """Count the files and the functions of ours that one approved call passes through."""
    functions: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and PACKAGE in code.co_filename and code.co_name[0] != "<":
            functions.add((code.co_filename, code.co_qualname))

    session = steps(3, approve="ask").run()
    for _ in range(2):
        # What is read once, at the first call, is not what each passes through.
        functions.clear()
        sys.setprofile(note)
        session.decide(session.pending[0], "approve").run()
        sys.setprofile(None)
    files, goal = len({file for file, _ in functions}), f"{GOAL_FILES} and {GOAL_FUNCTIONS}"
    print(f"one approved call passes {files:10} files and {len(functions)} functions   goal {goal}")


def kept(count: int) -> None:
    few, many = (len(steps(n).run().journal.dumps()) for n in (100, 100 + count))
    print(f"journal, bytes a call      {(many - few) / count:8.0f}   goal {GOAL_JOURNAL}")


def memory(count: int) -> None:
    few, many = (retained(n) for n in (100, 100 + count))
    print(f"memory, bytes a call       {(many - few) / count:8.0f}   goal {GOAL_MEMORY:,}")


def retained(count: int) -> int:
    """Return the bytes that the calls of a session keep once it has run, without its script."""
    session = steps(count)
    gc.collect()
    tracemalloc.start()
    session.run()
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size


def loading() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "nothing_at_all.py").write_text("def load_ipython_extension(shell): pass\n")
        floor, ours = (
            min(_loaded(str(path), name) for _ in range(5))
            for path, name in ((folder, "nothing_at_all"), (ROOT, "jupyter_toolcall"))
        )
    print(
        f"%load_ext, CPU             {ours:8.1f} ms   an empty extension {floor:5.1f} ms"
        f"   goal {GOAL_LOAD} ms"
    )


def _loaded(path: str, name: str) -> float:
    code = LOAD.format(path=path, name=name)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=path
    )
    return float(done.stdout.split()[-1])


def main(count: int = 1_000) -> None:
    """Print the table."""
    for scheme in ("flat", "select"):
        calls(scheme, count)
    for part in (together, kept, memory):
        part(count)
    passed()
    loading()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
