"""The tools of the toolset `tables`: plain functions from tables to new tables, or to JSON data.

They work on pandas, polars and pyarrow alike, return a table of the engine of their input, and
never change their input. Exported scripts import this module.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from ..core.errors import CallError
from ..tools.table_classes import AnyTable
from .table_conversion import converted
from .table_expressions import condition, value_of
from .table_frames import (
    check_columns,
    check_new_column,
    engine_of,
    frame_of_table,
    json_cell,
    json_rows,
    kind_of_column,
    nan_as_null,
    narwhals,
    table_of,
    type_text,
)

MOST_ROWS, MOST_NEW_COLUMNS = 1_000, 100
"""Rows that one look returns, and columns that a pivot may create."""
Names = Annotated[dict[str, str], Field(min_length=1)]
Columns = Annotated[list[str], Field(min_length=1)]
Rows = Annotated[int, Field(ge=1, le=MOST_ROWS)]
Aggregate = Literal["sum", "mean", "median", "min", "max", "count", "distinct", "std", "first"]
Cell = bool | int | float | str

# -- looking ------------------------------------------------------------------------------------


def head(table: AnyTable, rows: Rows = 10) -> dict[str, Any]:
    """Return the first rows of a table.

    Args:
        rows: How many.
    """
    frame = frame_of_table(table)
    return {"rows": json_rows(frame.head(rows)), "rows_in_table": len(frame)}


def sample(table: AnyTable, rows: Rows = 10, seed: int = 0) -> dict[str, Any]:
    """Return rows of a table that are chosen at random; the same seed chooses the same rows.

    Args:
        rows: How many.
        seed: Another seed chooses other rows.
    """
    frame = frame_of_table(table)
    chosen = frame.sample(min(rows, len(frame)), seed=abs(seed) % 2**32)
    return {"rows": json_rows(chosen), "rows_in_table": len(frame)}


def schema(table: AnyTable) -> dict[str, Any]:
    """Return the number of rows, and the name and the type of each column."""
    frame = frame_of_table(table)
    types = {name: type_text(dtype) for name, dtype in frame.schema.items()}
    return {"rows_in_table": len(frame), "columns": types}


def missing(table: AnyTable) -> dict[str, Any]:
    """Return how many values are missing in each column that has missing ones."""
    frame = nan_as_null(frame_of_table(table))
    counts = {name: int(frame[name].null_count()) for name in frame.columns}
    return {
        "rows_in_table": len(frame),
        "missing": {name: count for name, count in counts.items() if count},
    }


def describe(table: AnyTable, columns: list[str] | None = None) -> dict[str, Any]:
    """Return statistics of columns: counts, and for numbers and dates the range and the quartiles.

    Args:
        columns: The columns to describe; all of them if left out.
    """
    frame = nan_as_null(frame_of_table(table))
    names = frame.columns if columns is None else check_columns(frame, columns)
    return {
        "rows_in_table": len(frame),
        "columns": {name: _statistics(frame[name]) for name in names},
    }


def _statistics(series: Any) -> dict[str, Any]:
    kind, nulls = kind_of_column(series.dtype), int(series.null_count())
    stats: dict[str, Any] = {"type": type_text(series.dtype), "missing": nulls}
    present = series.drop_nulls()
    if kind in ("text", "bool", "number"):
        stats["distinct"] = int(present.n_unique())
    if kind in ("number", "date") and len(present):
        stats |= {"min": json_cell(present.min()), "max": json_cell(present.max())}
    if kind == "number" and len(present):
        stats["mean"] = json_cell(present.mean())
        stats["std"] = json_cell(present.std()) if len(present) > 1 else None
        for name, part in (("25%", 0.25), ("50%", 0.5), ("75%", 0.75)):
            stats[name] = json_cell(present.quantile(part, "linear"))
    return stats


def value_counts(
    table: AnyTable, column: str, limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] = 20
) -> dict[str, Any]:
    """Return the values of a column with the number of their rows, the most frequent first.

    Args:
        limit: How many values at most.
    """
    frame = frame_of_table(table)
    check_columns(frame, [column])
    counts = _with_counts(frame, column)
    listed = [
        {"value": json_cell(value), "rows": int(rows)} for value, rows in counts.head(limit).rows()
    ]
    return {"values": listed, "distinct": len(counts), "rows_in_table": len(frame)}


def _with_counts(frame: Any, column: str) -> Any:
    nw = narwhals()
    counted = frame.group_by(column).agg(nw.len().alias("rows of it"))
    return counted.sort(["rows of it", column], descending=[True, False], nulls_last=True)


# -- rows -----------------------------------------------------------------------------------------


def filter_rows(table: AnyTable, where: str) -> AnyTable:
    """Keep the rows for which a condition is true. A comparison with a missing value is false.

    Args:
        where: A condition, such as "price > 3 and city in ['Rome', 'Oslo']" or "not is_null(name)".
            Columns with spaces stand in backticks, dates are texts: "`my day` >= '2024-01-31'".
            Functions: "contains(lower(name), 'pear')", "year(day) == 2024".
    """
    frame = frame_of_table(table)
    return table_of(frame.filter(condition(where, frame)))


def sort_rows(table: AnyTable, by: Columns, descending: bool = False) -> AnyTable:
    """Sort rows by columns; missing values come last.

    Args:
        by: The columns, the most important first.
        descending: The largest first.
    """
    frame = frame_of_table(table)
    names = check_columns(frame, by)
    return table_of(frame.sort(names, descending=descending, nulls_last=True))


def drop_duplicates(table: AnyTable, columns: list[str] | None = None) -> AnyTable:
    """Keep the first of the rows that are equal in some columns.

    Args:
        columns: The columns that are compared; all of them if left out.
    """
    frame = frame_of_table(table)
    names = frame.columns if not columns else check_columns(frame, columns)
    return table_of(frame.unique(names, keep="first", maintain_order=True))


def drop_nulls(table: AnyTable, columns: list[str] | None = None) -> AnyTable:
    """Drop the rows in which a value is missing.

    Args:
        columns: The columns that are looked at; all of them if left out.
    """
    frame = frame_of_table(table)
    names = frame.columns if not columns else check_columns(frame, columns)
    return table_of(nan_as_null(frame, names).drop_nulls(names))


# -- columns --------------------------------------------------------------------------------------


def select_columns(table: AnyTable, columns: Columns) -> AnyTable:
    """Keep columns, in this order."""
    frame = frame_of_table(table)
    return table_of(frame.select(check_columns(frame, columns)))


def derive_column(table: AnyTable, column: str, expression: str) -> AnyTable:
    """Add a column, or replace one, by an expression of the others.

    Args:
        column: The name of the new column.
        expression: Such as "price * 1.2", "round(235.2 / mpg, 1)", "upper(city)", "year(day)",
            "first + ' ' + last", "coalesce(a, b)" or "'high' if price > 9 else 'low'".
    """
    frame = frame_of_table(table)
    derived = value_of(expression, frame).alias(check_new_column(column))
    return table_of(frame.with_columns(derived))


def rename_columns(table: AnyTable, names: Names) -> AnyTable:
    """Rename columns.

    Args:
        names: The new names by the old ones, such as {"Miles_per_Gallon": "mpg"}.
    """
    frame = frame_of_table(table)
    check_columns(frame, names)
    after = [check_new_column(names.get(name, name)) for name in frame.columns]
    if len({*after}) < len(after):
        twice = next(name for name in after if after.count(name) > 1)
        raise CallError(f"two columns would be named {twice!r}")
    return table_of(frame.rename(names))


def cast_column(
    table: AnyTable,
    column: str,
    to: Literal["int", "float", "str", "bool", "date", "datetime"],
    invalid: Literal["error", "null"] = "error",
    format: str | None = None,
) -> AnyTable:
    """Change the type of a column.

    Args:
        to: The new type. Texts become dates if they are ISO dates, or fit `format`.
        invalid: What happens to values that do not fit: an error, or they become missing.
        format: The form of dates in texts, such as "%d.%m.%Y".
    """
    frame = frame_of_table(table)
    check_columns(frame, [column])
    return table_of(frame.with_columns(converted(frame, column, to, invalid == "null", format)))


def fill_missing(
    table: AnyTable,
    columns: Columns,
    method: Literal["value", "forward", "backward", "mean", "median"],
    value: Cell | None = None,
) -> AnyTable:
    """Fill missing values of columns.

    Args:
        method: A value, the value before (forward) or after (backward), or the mean or median
            of the column.
        value: The value, for the method "value"; dates as ISO texts.
    """
    frame = frame_of_table(table)
    names = check_columns(frame, columns)
    if (method == "value") != (value is not None):
        raise CallError('give a value with method "value", and with no other method')
    frame = nan_as_null(frame, names)
    return table_of(frame.with_columns(*[_filled(frame, name, method, value) for name in names]))


def _filled(frame: Any, name: str, method: str, value: Cell | None) -> Any:
    nw, kind = narwhals(), kind_of_column(frame.schema[name])
    column = nw.col(name)
    if method in ("forward", "backward"):
        return column.fill_null(strategy=method)
    if method == "value":
        return column.fill_null(_fitting(name, kind, frame.schema[name], value))
    if kind != "number":
        raise CallError(f"{name} has no {method}: it holds no numbers")
    numbers = column.cast(nw.Float64)
    return numbers.fill_null(numbers.mean() if method == "mean" else numbers.median())


def _fitting(name: str, kind: str, dtype: Any, value: Any) -> Any:
    """Return a value for a column. Raises CallError where it is of another type."""
    if kind == "date" and isinstance(value, str):
        try:
            when = datetime.datetime.fromisoformat(value)
        except ValueError:
            raise CallError(f"{name} holds dates: write the value as '2024-01-31'") from None
        return when.date() if dtype == narwhals().Date else when
    numbers = isinstance(value, (int, float)) and not isinstance(value, bool)
    fits = {"number": numbers, "text": isinstance(value, str), "bool": isinstance(value, bool)}
    if not fits.get(kind, False):
        raise CallError(f"{name} is of type {type_text(dtype)}; {value!r:.40} does not fit")
    if dtype.is_integer() and isinstance(value, float) and not value.is_integer():
        raise CallError(f"{name} holds whole numbers; cast it to float first")
    return int(value) if kind == "number" and dtype.is_integer() else value


# -- groups, joins and shapes --------------------------------------------------------------------


def aggregate(table: AnyTable, by: Columns, values: dict[str, Aggregate] | None = None) -> AnyTable:
    """Group rows by columns, and aggregate other columns; the result is sorted by the groups.

    Args:
        by: The columns that make the groups.
        values: What to compute of which column, such as {"price": "mean"}, whose result is the
            column price_mean. If left out, the column rows counts the rows of each group.
    """
    nw, frame = narwhals(), frame_of_table(table)
    keys = check_columns(frame, by)
    check_columns(frame, values or {})
    wanted = [_aggregated(frame, n, how).alias(f"{n}_{how}") for n, how in (values or {}).items()]
    wanted = wanted or [nw.len().alias("rows")]
    return _sorted_groups(frame.group_by(keys).agg(*wanted), keys)


def _sorted_groups(groups: Any, keys: Sequence[str]) -> AnyTable:
    """Return groups as a table, sorted by their keys; pandas counts its new rows from 0."""
    return table_of(narwhals().maybe_reset_index(groups.sort(keys, nulls_last=True)))


def _aggregated(frame: Any, name: str, how: Aggregate) -> Any:
    column, kind = narwhals().col(name), kind_of_column(frame.schema[name])
    if how in ("sum", "mean", "median", "std") and kind not in ("number", "bool"):
        raise CallError(f"{name} has no {how}: it holds no numbers")
    return column.n_unique() if how == "distinct" else getattr(column, how)()


def join_tables(
    table: AnyTable,
    other: AnyTable,
    on: Columns,
    how: Literal["inner", "left", "full", "semi", "anti"] = "left",
) -> AnyTable:
    """Join two tables on columns that both have.

    Args:
        other: The table whose columns are added; those of a name that is taken end in _right.
        on: The columns whose values are compared.
        how: Rows of both (inner), all of the first (left) or of both tables (full); or the rows
            of the first that have a match (semi) or none (anti).
    """
    frame, right = frame_of_table(table), frame_of_table(other)
    if engine_of(frame) != engine_of(right):
        raise CallError(f"a table of {engine_of(frame)} joins no table of {engine_of(right)}")
    keys = check_columns(frame, on)
    check_columns(right, keys)
    return table_of(_joined(frame, right, keys, how))


def _joined(frame: Any, right: Any, keys: list[str], how: str) -> Any:
    """Return the joined frame, in the order of the rows: engines with threads lose it."""
    nw, first, second = narwhals(), "row of the first", "row of the second"
    ordered = engine_of(frame) == "pandas" and how != "full"
    if not ordered:
        frame, right = frame.with_row_index(first), right.with_row_index(second)
    joined = frame.join(right, on=keys, how=how)
    if how == "full":
        both = [nw.coalesce(nw.col(key), nw.col(f"{key}_right")).alias(key) for key in keys]
        joined = joined.with_columns(*both).drop([f"{key}_right" for key in keys])
    if not ordered:
        rows = [name for name in (first, second) if name in joined.columns]
        joined = joined.sort(rows, nulls_last=True).drop(rows)
    return joined


def pivot(
    table: AnyTable,
    index: Columns,
    on: str,
    values: str,
    aggregate: Literal["sum", "mean", "median", "min", "max", "count", "first"] = "first",
) -> AnyTable:
    """Make a column of each value of a column: long to wide.

    Args:
        index: The columns that stay: one row for each of their values.
        on: The column whose values become the names of the new columns.
        values: The column that fills the new columns.
        aggregate: How several values become one.
    """
    nw, frame = narwhals(), frame_of_table(table)
    keys = check_columns(frame, index)
    check_columns(frame, [on, values])
    if on in keys or values in keys or on == values:
        raise CallError("index, on and values are different columns")
    present = frame.drop_nulls([on])
    wanted = present[on].unique().sort().to_list()
    if len(wanted) > MOST_NEW_COLUMNS:
        raise CallError(
            f"{on} has {len(wanted):,} values: a pivot creates at most {MOST_NEW_COLUMNS} columns"
        )
    names = _new_names(wanted, keys)
    grouped = present.group_by([*keys, on]).agg(
        _aggregated(frame, values, aggregate).alias("value in a cell")
    )
    cell = nw.col("value in a cell")
    spread = [
        nw.when(nw.col(on) == nw.lit(value)).then(cell).alias(name)
        for value, name in zip(wanted, names, strict=True)
    ]
    cells = grouped.with_columns(*spread).group_by(keys).agg(*[nw.col(n).max() for n in names])
    return _sorted_groups(cells.select([*keys, *names]), keys)


def _new_names(values: Sequence[Any], keys: Sequence[str]) -> list[str]:
    """Return the names of the columns of a pivot. Raises CallError where two would be one."""
    names = [str(json_cell(value)) for value in values]
    if any(name in keys or names.count(name) > 1 for name in names):
        raise CallError("two columns of the result would have the same name; rename one first")
    return names


def unpivot(
    table: AnyTable,
    columns: Columns,
    name: str = "name",
    value: str = "value",
) -> AnyTable:
    """Make rows of columns: wide to long.

    Args:
        columns: The columns that become rows; all others stay.
        name: The column of the result that holds their names.
        value: The column of the result that holds their values.
    """
    frame = frame_of_table(table)
    wide = check_columns(frame, columns)
    index = [column for column in frame.columns if column not in wide]
    if {check_new_column(name), check_new_column(value)} & {*index} or name == value:
        raise CallError("name and value are new columns, with two different names")
    if len({kind_of_column(frame.schema[column]) for column in wide}) > 1:
        raise CallError("the columns hold values of different types; cast them first")
    long = frame.unpivot(on=wide, index=index, variable_name=name, value_name=value)
    return table_of(long)
