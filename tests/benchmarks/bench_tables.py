"""How long a whole call of a table tool takes, beside the same call of narwhals.

A table has 1,000,000 rows, or ROWS, and 9 columns. A whole call includes the digest of its
result, its preview and its difference, as a panel shows them. The goal: 3 times the
bare call and 0.6 s. `python tests/benchmarks/bench_tables.py [ROWS]` prints a table of medians.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from jupyter_toolcall import Scripted, Session
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.toolsets import tables

ROUNDS = 5
FACTOR, MORE = 3, 0.6
"""The goal: so many times the bare call, and so many seconds."""
Bare = Callable[[Any], Any]
CALLS: dict[str, tuple[str, dict[str, Any], Bare]] = {
    "filter, an eighth of the rows": (
        *("filter", {"where": "n1 > 0.5 and city == 'Rome'"}),
        lambda t: t.filter((nw.col("n1") > 0.5) & (nw.col("city") == "Rome")),
    ),
    "filter, most rows": (
        "filter",
        {"where": "n1 > 0.05"},
        lambda t: t.filter(nw.col("n1") > 0.05),
    ),
    "derive": (
        *("derive", {"column": "x", "expression": "n1 * n2 + 1"}),
        lambda t: t.with_columns(x=nw.col("n1") * nw.col("n2") + 1),
    ),
    "fill": (
        *("fill", {"columns": ["n0"], "method": "mean"}),
        lambda t: t.with_columns(nw.col("n0").fill_null(nw.col("n0").mean())),
    ),
    "drop nulls": ("drop_nulls", {}, lambda t: t.drop_nulls()),
    "sort": ("sort", {"by": ["n1"]}, lambda t: t.sort("n1", nulls_last=True)),
    "aggregate": (
        *("aggregate", {"by": ["city"], "values": {"n1": "mean"}}),
        lambda t: t.group_by("city").agg(nw.col("n1").mean()),
    ),
}


@dataclass(frozen=True)
class Measured:
    """One tool on one engine: the medians of the bare call and of the whole call, in seconds."""

    engine: str
    call: str
    bare: float
    whole: float

    @property
    def more(self) -> float:
        """What a whole call takes beyond three bare ones."""
        return self.whole - FACTOR * self.bare


def spent(function: Callable[[], object]) -> float:
    """Return the seconds that a function took."""
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def table(rows: int) -> pd.DataFrame:
    """Return a table of numbers, texts and dates, a tenth of one column missing."""
    numbers = np.random.default_rng(1)
    columns: dict[str, Any] = {f"n{i}": numbers.random(rows) for i in range(4)}
    columns["n0"] = np.where(columns["n0"] < 0.1, np.nan, columns["n0"])
    columns["id"] = np.arange(rows)
    columns["k"] = numbers.integers(0, 100, rows)
    columns["city"] = np.array(["Rome", "Oslo", "Bonn", "Kiel"])[numbers.integers(0, 4, rows)]
    columns["name"] = np.array([f"item {n % 1000}" for n in range(rows)])
    seconds = numbers.integers(0, 10**9, rows).astype("timedelta64[s]")
    columns["day"] = np.datetime64("2020-01-01", "us") + seconds
    return pd.DataFrame(columns)


def whole_call(value: Any, tool: str, arguments: dict[str, Any]) -> float:
    """Return the seconds from the prompt to the panel that shows the result."""
    model = Scripted([(f"tables_{tool}", arguments), "Done."])
    inputs = {"table": value}
    session = Session(tables, model, scheme="flat", inputs=inputs, approve="all")
    panel = PanelController(session, lambda notice: None)
    panel.receive({"type": "hello"})
    panel.apply_commands()

    def call() -> None:
        session.tell("Go.").run()
        panel.receive({"type": "hello"})
        panel.apply_commands()

    seconds = spent(call)
    assert session.calls[0].status == "succeeded", session.calls[0].outcome
    return seconds


def measured(rows: int) -> Iterator[Measured]:
    """Yield each tool on each engine; bare and whole calls take turns."""
    pandas = table(rows)
    engines = {
        "pandas": pandas,
        "polars": pl.from_pandas(pandas),
        "pyarrow": pa.Table.from_pandas(pandas),
    }
    for engine, value in engines.items():
        for name, (tool, arguments, bare) in CALLS.items():
            frame, times = nw.from_native(value, eager_only=True), list[tuple[float, float]]()
            for _ in range(ROUNDS):
                alone = spent(partial(bare, frame))
                times.append((alone, whole_call(value, tool, arguments)))
            first, second = zip(*times, strict=True)
            yield Measured(engine, name, statistics.median(first), statistics.median(second))


def main(rows: int = 1_000_000) -> None:
    """Print a table."""
    print(f"{'engine':10}{'call':32}{'bare':>9}{'whole':>9}{'beyond 3 x':>12}")
    for each in measured(rows):
        late = "" if each.more <= MORE else "  more than 0.6 s"
        print(
            f"{each.engine:10}{each.call:32}{each.bare:7.2f} s{each.whole:7.2f} s"
            f"{each.more:10.2f} s{late}",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
