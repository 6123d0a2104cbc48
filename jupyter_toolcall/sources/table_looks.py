"""The tools of the toolset `tables` that look at a table: functions from a table to JSON data.

Exported scripts import this module.
"""

from __future__ import annotations

import random
from typing import Annotated, Any

from pydantic import Field

from ..core.interrupts import attempt
from ..tools.table_classes import AnyTable
from .table_duckdb import run_sql
from .table_frames import Frame, columns_of, json_cell, quoted, rows_to_show
from .table_libraries import Column
from .table_sql import relation_of

MOST_ROWS = 1_000
"""Rows that one look returns."""
Rows = Annotated[int, Field(ge=1, le=MOST_ROWS)]


def head(table: AnyTable, rows: Rows = 10) -> dict[str, Any]:
    """Return the first rows of a table.

    Args:
        rows: How many.
    """
    frame = rows_to_show(table, rows)
    return {"rows": frame.json_rows(slice(rows))} | _size(table)


def sample(table: AnyTable, rows: Rows = 10, seed: int = 0) -> dict[str, Any]:
    """Return rows of a table that are chosen at random; the same seed chooses the same rows.

    Args:
        rows: How many.
        seed: Another seed chooses other rows.
    """
    frame = rows_to_show(table)
    chosen = random.Random(seed).sample(range(len(frame)), min(rows, len(frame)))
    return {"rows": frame.json_rows(sorted(chosen)), "rows_in_table": len(frame)}


def schema(table: AnyTable) -> dict[str, Any]:
    """Return the number of rows, and the name and the type of each column."""
    frame = columns_of(table)
    types = {column.name: frame.type_text(column) for column in frame.columns}
    return _size(table) | {"columns": types}


def _size(table: AnyTable) -> dict[str, Any]:
    """Return how many rows a table has, if they are here."""
    frame = columns_of(table)
    return {"rows_in_table": len(frame)} if frame.elsewhere is None else {}


def missing(table: AnyTable) -> dict[str, Any]:
    """Return how many values are missing in each column that has missing ones."""
    frame = rows_to_show(table)
    counts = {column.name: frame.missing(column) for column in frame.columns}
    return {
        "rows_in_table": len(frame),
        "missing": {name: count for name, count in counts.items() if count},
    }


def describe(table: AnyTable, columns: list[str] | None = None) -> dict[str, Any]:
    """Return statistics of columns: counts, and for numbers and dates the range and the quartiles.

    Args:
        columns: The columns to describe; all of them if left out.
    """
    frame = rows_to_show(table)
    chosen = frame.columns if columns is None else frame.chosen(columns)
    return {
        "rows_in_table": len(frame),
        "columns": {column.name: _statistics(frame, column) for column in chosen},
    }


_STATISTICS = {
    **{"distinct": "count(DISTINCT c0)", "min": "min(c0)", "max": "max(c0)"},
    **{"mean": "avg(c0)", "std": "stddev_samp(c0)"},
    **{f"{n}%": f"quantile_cont(c0::DOUBLE, {n / 100})" for n in (25, 50, 75)},
}
_OF_KIND = {
    **dict.fromkeys(("text", "bool"), ("distinct",)),
    **{"date": ("min", "max"), "number": tuple(_STATISTICS)},
}
"""The statistics of each kind of column."""


def _statistics(frame: Frame, column: Column) -> dict[str, Any]:
    stats = {"type": frame.type_text(column), "missing": frame.missing(column)}
    names = _OF_KIND.get(attempt(frame.kind, column)[0] or "", ())
    if not names:
        return stats
    listed = ", ".join(f"{_STATISTICS[name]} AS {quoted(name)}" for name in names)
    relation = relation_of(frame, [column])
    (values,) = run_sql(f"SELECT {listed} FROM t", {"t": relation}).to_pylist()
    return stats | {name: json_cell(v) for name, v in values.items() if v is not None}


def value_counts(
    table: AnyTable, column: str, limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] = 20
) -> dict[str, Any]:
    """Return the values of a column with the number of their rows, the most frequent first.

    Args:
        limit: How many values at most.
    """
    frame = rows_to_show(table)
    counted = frame.column(column)
    groups = run_sql(
        "SELECT min(pos) AS first, count(*) AS rows FROM t GROUP BY c0 "
        "ORDER BY rows DESC, c0 NULLS LAST, first",
        {"t": relation_of(frame, [counted], is_key=True)},
    )
    shown = groups.slice(0, limit)
    values, counts = frame.cells(counted, shown["first"]), shown["rows"].to_pylist()
    listed = [{"value": v, "rows": count} for v, count in zip(values, counts, strict=True)]
    return {"values": listed, "distinct": len(groups), "rows_in_table": len(frame)}
