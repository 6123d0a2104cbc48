"""How long a table tool takes, beside the same query of DuckDB alone on the same table.

A table has 1,000,000 rows, or ROWS, and 9 columns. DuckDB alone returns the result to the library
of the table. A whole call includes the digest of its result, its preview and its difference, as a
panel shows them. The goal: a filter of 10^6 rows takes at most twice as long as DuckDB alone.
`python tests/benchmarks/bench_tables.py [ROWS]` prints a table of medians.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from jupyter_toolcall import Scripted, Session
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.sources.toolsets import toolset_function
from jupyter_toolcall.toolsets import tables
from tests.benchmarks.workload import spent

ROUNDS = 5
EIGHTH = "n1 > 0.5 AND city = 'Rome'"
CALLS: dict[str, tuple[str, dict[str, Any], str]] = {
    "filter, an eighth of the rows": (
        *("filter", {"where": EIGHTH}),
        f"SELECT * FROM t WHERE {EIGHTH}",
    ),
    "filter, most rows": ("filter", {"where": "n1 > 0.05"}, "SELECT * FROM t WHERE n1 > 0.05"),
    "derive": (
        *("derive", {"column": "x", "expression": "n1 * n2 + 1"}),
        "SELECT *, n1 * n2 + 1 AS x FROM t",
    ),
    "sort": ("sort", {"by": ["n1"]}, "SELECT * FROM t ORDER BY n1"),
    "aggregate": (
        *("aggregate", {"by": ["city"], "values": {"n1": "mean"}}),
        "SELECT city, avg(n1) FROM t GROUP BY city ORDER BY city",
    ),
}


@dataclass(frozen=True)
class Measured:
    """One tool on one library: medians of DuckDB alone, the tool, and the whole call, in s."""

    engine: str
    call: str
    bare: float
    tool: float
    whole: float


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

    seconds = spent(call).wall
    assert session.calls[0].status == "succeeded", session.calls[0].outcome
    return seconds


def by_duckdb(value: Any, query: str) -> Any:
    """Return the result of DuckDB alone, as a table of the library of `value`."""
    connection = duckdb.connect(":memory:")
    connection.register("t", value)
    result = connection.sql(query)
    match value:
        case pd.DataFrame():
            return result.df()
        case pl.DataFrame():
            return result.pl()
    return result.to_arrow_table()


def measured(rows: int) -> Iterator[Measured]:
    """Yield each tool on each library; the three ways take turns."""
    pandas = table(rows)
    engines = {
        "pandas": pandas,
        "polars": pl.from_pandas(pandas),
        "pyarrow": pa.Table.from_pandas(pandas),
    }
    for engine, value in engines.items():
        for name, (tool, arguments, query) in CALLS.items():
            function: Callable[..., Any] | None = toolset_function(f"tables_{tool}", Path())
            assert function is not None
            times = [
                (
                    spent(partial(by_duckdb, value, query)).wall,
                    spent(partial(function, value, **arguments)).wall,
                    whole_call(value, tool, arguments),
                )
                for _ in range(ROUNDS)
            ]
            yield Measured(engine, name, *map(statistics.median, zip(*times, strict=True)))


def main(rows: int = 1_000_000) -> None:
    """Print a table."""
    print(f"{'library':10}{'call':32}{'DuckDB':>9}{'tool':>9}{'ratio':>7}{'whole call':>12}")
    for each in measured(rows):
        print(
            f"{each.engine:10}{each.call:32}{each.bare:7.2f} s{each.tool:7.2f} s"
            f"{each.tool / each.bare:7.2f}{each.whole:10.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
