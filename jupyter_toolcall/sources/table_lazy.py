"""Tables whose rows are elsewhere: relations of DuckDB, tables of Ibis and DataFrames of Dask.

A query on such a table is a new table of its library, and computes no row. Rows are computed where
they are shown or sent, and only these.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib import import_module
from operator import methodcaller
from typing import Any

from ..core.errors import CallError
from ..tools.running_tool import describe_result
from ..tools.table_classes import AnyTable, library_elsewhere
from .table_frames import ROWS_ELSEWHERE, Frame, frame_of_table
from .table_sql import is_by_row, query_tables, quoted

MOST_HERE = 20_000
"""Rows that a look or a plot takes from elsewhere."""
HUGE = ("HUGEINT", "UHUGEINT")
"""Integers that Arrow does not have: DuckDB would round the sums that it hands over."""


def first_rows(table: Any, count: int) -> Any:
    """Return the first rows of a table whose rows are elsewhere, as a table in this kernel.

    For 0 rows nothing is computed.
    """
    match library_elsewhere(table):
        case "duckdb":
            types = zip(map(quoted, table.columns), map(str, table.types), strict=True)
            cells = (f"{n}::BIGINT AS {n}" if type_ in HUGE else n for n, type_ in types)
            return table.project(", ".join(cells)).limit(count).to_arrow_table()
        case "ibis":
            schema = table.schema().to_pyarrow()
            return table.limit(count).to_pyarrow() if count else schema.empty_table()
    parts = list[Any]()
    for number in range(table.npartitions):
        if missing := count - sum(map(len, parts)):
            head, meta = methodcaller("head", missing), table._meta
            parts.append(table.get_partition(number).map_partitions(head, meta=meta).compute())
    return import_module("pandas").concat(parts or [table._meta])


def _query_there(table: Any, query: str, name: str) -> Any:
    """Return a query on a table that has a name in it; nothing is computed."""
    match library_elsewhere(table):
        case "duckdb":
            return table.query(name, query)
        case "ibis":
            return table.alias(name).sql(query, dialect="duckdb")
    compute: Any = partial(_query_of_part, query, name)
    meta = compute(table._meta)
    # Each partition of Dask is queried by itself where that is the same, else all as one.
    parts = table if is_by_row(query) and not len(meta) else table.repartition(npartitions=1)
    return parts.map_partitions(compute, meta=meta[:0], clear_divisions=True)


def _query_of_part(query: str, name: str, part: Any) -> AnyTable:
    return query_tables(query, {name: frame_of_table(part)})


def columns_of(table: Any, withhold: tuple[str, ...] = ()) -> Frame:
    """Return a table as a frame; one whose rows are elsewhere as its columns, without rows."""
    if library_elsewhere(table) is None:
        return table if isinstance(table, Frame) else frame_of_table(table, withhold)
    return replace(frame_of_table(first_rows(table, 0), withhold), elsewhere=table)


def rows_to_show(table: Any, most: int = MOST_HERE + 1) -> Frame:
    """Return a table as a frame, also one whose rows are elsewhere: its first rows.

    Raises CallError where it has more than MOST_HERE rows, unless fewer are asked for.
    """
    frame = columns_of(table)
    if frame.elsewhere is None:
        return frame
    rows = frame_of_table(first_rows(frame.elsewhere, most), frame.withhold)
    if len(rows) > MOST_HERE:
        raise CallError(f"this takes at most {MOST_HERE:,} rows; {ROWS_ELSEWHERE}")
    return rows


def query_elsewhere(frame: Frame, query: str, name: str = "t") -> AnyTable:
    """Return a query on a table whose rows are elsewhere, without its withheld columns.

    Raises CallError, in one line, for what is an error on a table without rows.
    """
    query_tables(query, {name: frame})
    table = frame.elsewhere
    if frame.withheld:
        visible = ", ".join(map(quoted, frame.names))
        table = _query_there(table, f"SELECT {visible} FROM {quoted(name)}", name)
    describe_result("no row is computed yet: tables_head shows the first rows")
    result: AnyTable = _query_there(table, query, name)
    return result
