"""The same table in three engines, and a call of one of the tools on it, through a session."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

from jupyter_toolcall import Scripted, Session
from jupyter_toolcall.sources import table_looks, table_tools
from jupyter_toolcall.tools.toolbox import Toolbox
from jupyter_toolcall.toolsets import tables

tools: Any = SimpleNamespace(**{**vars(table_looks), **vars(table_tools)})
"""The functions of the tools, which exported scripts call too."""
ENGINES = ("pandas", "polars", "pyarrow")
DAY = datetime.datetime(2024, 1, 31, 9, 30)
Data = Mapping[str, Sequence[Any]]
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


def rows(value: Any) -> list[dict[str, Any]]:
    """The rows of a table of any engine, what is missing as None."""
    arrow = value if isinstance(value, pa.Table) else None
    if isinstance(value, pd.DataFrame):
        arrow = pa.Table.from_pandas(value, preserve_index=False)
    arrow = pa.table(value) if arrow is None else arrow
    return [{name: plain(cell) for name, cell in row.items()} for row in arrow.to_pylist()]


def plain(cell: Any) -> Any:
    if cell is None or cell is pd.NA or cell != cell:
        return None
    if isinstance(cell, pd.Timestamp):
        return cell.to_pydatetime()
    if isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime):
        return datetime.datetime.combine(cell, datetime.time())
    cell = cell.item() if hasattr(cell, "item") else cell
    return round(cell, 9) if isinstance(cell, float) else cell


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
    model = Scripted([(f"tables_{name}", {**named, **arguments}), "Done."])
    session = Session(toolbox, model, scheme="flat", inputs=inputs, approve="all")
    return session.tell("Go.").run()
