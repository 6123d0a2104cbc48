"""A call on an executor against a plain submission of the same function, interleaved in one run.

The medians are of single calls with all that a session does around one, in memory: the goal is
1.5 × of what `submit(...).result()` takes. Three calls in a chain over a table follow, with
results that come home and results that stay.
`python tests/benchmarks/bench_executors.py [CALLS]`; 200 calls and 100 MB without it.
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

import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.engine.replay import advance
from jupyter_toolcall.tools.dask_executor import STAY, DaskExecutor

sys.path.insert(0, str(Path(__file__).parents[2]))

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
WARM = min(CALLS, 20)
ROWS = 12_500 * CALLS
GOAL = 1.5
CHAINS = min(CALLS, 3)


@tool(executor=True)
def square(n: int) -> int:
    """Square a number."""
    return n * n


@tool(executor=True, read_only=True)
def numbers(rows: int) -> pd.DataFrame:
    """Return a table of numbers, with 40 bytes in each row."""
    return pd.DataFrame({name: np.arange(rows, dtype=float) for name in "abcde"})


@tool(executor=True, read_only=True)
def doubled(table: pd.DataFrame) -> pd.DataFrame:
    """Double all numbers."""
    return table * 2


@tool(executor=True, read_only=True)
def total(table: pd.DataFrame) -> float:
    """Add the numbers of a column."""
    return float(table["a"].sum())


def run_chain(executor: DaskExecutor) -> None:
    """Run three calls, each on the result of the one before, over a table."""
    calls = [
        ("numbers", {"rows": ROWS}),
        ("doubled", {"table": "DataFrame#1"}),
        ("total", {"table": "DataFrame#2"}),
        "Done.",
    ]
    session = Session(
        Toolbox(numbers, doubled, total), Scripted(calls), scheme="flat", executor=executor
    ).tell("Go.")
    assert session.calls[2].result == ROWS * (ROWS - 1.0)


def compare_chains(client: Client) -> None:
    """Print what a chain of calls takes, with results that come home and results that stay."""
    home, there = list[float](), list[float]()
    for _ in range(CHAINS):
        home.append(milliseconds(partial(run_chain, DaskExecutor(client, stay=float("inf")))))
        there.append(milliseconds(partial(run_chain, DaskExecutor(client, stay=STAY))))
    at_home, stays = median(home), median(there)
    name = f"3 calls over {ROWS * 40 / 1e6:.0f} MB"
    print(f"{name:<24}{at_home:>8.0f} ms home   {stays:>8.0f} ms stay ", end="")
    print(f"{stays / at_home:>7.2f} x")


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
        # What a run does for each call: `step` reads the environment and the tools again besides.
        ours.append(milliseconds(partial(advance, session.cursor)))
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
            "dask, 2 processes", client, lambda n: client.submit(square, n, pure=False).result()
        )
        compare_chains(client)
    with ProcessPoolExecutor(1) as processes:
        compare("a process pool", processes, lambda n: processes.submit(square, n).result())
    with ThreadPoolExecutor(1) as threads:
        compare("a thread pool", threads, lambda n: threads.submit(square, n).result())


if __name__ == "__main__":
    main()
