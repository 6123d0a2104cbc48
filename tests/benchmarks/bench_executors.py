"""A call on an executor against a plain submission of the same function, interleaved in one run.

The medians are of single calls with all that a session does around one, in memory: the goal is
1.5 × of what `submit(...).result()` takes. `python tests/benchmarks/bench_executors.py [CALLS]`
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from distributed import Client, LocalCluster

from jupyter_toolcall import Scripted, Session, Toolbox, tool

sys.path.insert(0, str(Path(__file__).parents[2]))

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
WARM = 20
GOAL = 1.5


@tool(executor=True)
def square(n: int) -> int:
    """Square a number."""
    return n * n


def milliseconds(function: Callable[[], Any]) -> float:
    began = time.perf_counter()
    function()
    return (time.perf_counter() - began) * 1000


def compare(name: str, executor: Any, submit: Callable[[int], Any]) -> None:
    """Print what a call costs, and what its function costs without a session."""
    calls = [("square", {"n": number}) for number in range(WARM + CALLS)]
    session = Session(
        Toolbox(square), Scripted([calls]), scheme="flat", approve="all", executor=executor
    ).ask("Go.")
    session.step()
    ours, plain = list[float](), list[float]()
    for number in range(WARM + CALLS):
        plain.append(milliseconds(partial(submit, number)))
        ours.append(milliseconds(session.step))
    assert [call.result for call in session.calls] == [n * n for n in range(WARM + CALLS)]
    call, alone = median(ours[WARM:]), median(plain[WARM:])
    print(f"{name:<24}{call:>8.2f} ms a call {alone:>8.2f} ms alone {call / alone:>7.2f} x", end="")
    print(f"  {call - alone:>+6.2f} ms   goal {GOAL} x")


def main() -> None:
    with ExitStack() as stack:
        cluster = stack.enter_context(
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0")
        )
        client = stack.enter_context(Client(cluster))
        compare(
            "dask, 2 processes",
            client,
            lambda n: client.submit(square, n, pure=False).result(),
        )
    with ProcessPoolExecutor(1) as processes:
        compare("a process pool", processes, lambda n: processes.submit(square, n).result())
    with ThreadPoolExecutor(1) as threads:
        compare("a thread pool", threads, lambda n: threads.submit(square, n).result())


if __name__ == "__main__":
    main()
