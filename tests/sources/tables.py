"""The same table in three engines, and a call of one of the tools on it, through a session."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

from jupyter_toolcall import Session
from jupyter_toolcall.sources import table_looks, table_tools
from jupyter_toolcall.tools.toolbox import Toolbox
from jupyter_toolcall.toolsets import tables
from tests.example_tools import play

tools: Any = SimpleNamespace(**{**vars(table_looks), **vars(table_tools)})
"""The functions of the tools, which exported scripts call too."""
ENGINES = ("pandas", "polars", "pyarrow")
DAY = datetime.datetime(2024, 1, 31, 9, 30)
Data = Mapping[str, Sequence[Any]]
Rows = list[dict[str, Any]]
DATA: Data = {
    "city": ["Rome", "Oslo", None, "Rome", "Oslo", "Bonn"],
    "price": [3.5, None, 1.0, 9.0, 2.0, 2.0],
    "count": [1, 2, 3, 4, 5, 6],
    "unit price": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5],
    "fresh": [True, False, True, True, False, False],
    "day": [DAY, DAY.replace(year=2023), None, DAY.replace(month=7), DAY, DAY.replace(hour=23)],
}


def table(engine: str, data: Data | None = None) -> Any:
    """A table of an engine."""
    chosen = DATA if data is None else data
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    return make[engine](dict(chosen))


def plain(cell: Any) -> Any:
    """Return a cell as Python has it, missing ones as None."""
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return None
    if isinstance(cell, pd.Timestamp | pd.Timedelta):
        cell = cell.to_pydatetime() if isinstance(cell, pd.Timestamp) else cell.to_pytimedelta()
    if isinstance(cell, datetime.datetime):
        return cell.astimezone(datetime.UTC) if cell.tzinfo else cell
    if isinstance(cell, datetime.date):
        return datetime.datetime.combine(cell, datetime.time())
    if isinstance(cell, dict):
        return {key: plain(value) for key, value in cell.items()}
    if hasattr(cell, "tolist") and not isinstance(cell, pl.Series):
        cell = cell.tolist()
    if isinstance(cell, list | pl.Series):
        return [plain(value) for value in cell]
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def exact_rows(table: Any) -> Rows:
    """Return the rows of a table of any library."""
    if isinstance(table, pd.DataFrame):
        names = [str(name) for name in table.columns]
        columns = [table.iloc[:, n].astype(object).tolist() for n in range(len(names))]
    else:
        names = list(table.column_names if isinstance(table, pa.Table) else table.columns)
        is_arrow = isinstance(table, pa.Table)
        columns = [table[n].to_pylist() if is_arrow else table[n].to_list() for n in names]
    cells = [[plain(cell) for cell in column] for column in columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]


def rows(value: Any) -> Rows:
    """Return the rows of a table of any library, with floats of nine digits behind the point."""
    return [
        {name: round(cell, 9) if isinstance(cell, float) else cell for name, cell in row.items()}
        for row in exact_rows(value)
    ]


def call(value: Any, name: str, toolbox: Toolbox = tables, /, **arguments: Any) -> Any:
    """The result of one call: a table, a figure or JSON data. Raises AssertionError if it fails."""
    session = called(value, name, toolbox, **arguments)
    made = session.calls[0]
    assert made.status == "succeeded", made.outcome
    return session[made.result] if isinstance(made.result, str) else made.result


def failure(value: Any, name: str, toolbox: Toolbox = tables, /, **arguments: Any) -> str:
    """What a model is told of a call that fails."""
    made = called(value, name, toolbox, **arguments).calls[0]
    assert made.status == "failed"
    return str(made.outcome.message)  # type: ignore[union-attr]


def called(value: Any, name: str, toolbox: Toolbox = tables, /, **arguments: Any) -> Session:
    """A session in which one call of a tool ran on a table, and on a second one as `other`."""
    other = arguments.pop("other", None)
    inputs = {"table": value} if other is None else {"other": other, "table": value}
    kind = type(value).__name__
    named = {"table": f"{kind}#{len(inputs)}"} | ({} if other is None else {"other": f"{kind}#1"})
    return play(toolbox, (f"tables_{name}", {**named, **arguments}), inputs=inputs)
