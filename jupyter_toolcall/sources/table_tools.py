"""The tools of the toolset `tables`: plain functions from tables to new tables, or to JSON data.

They work on pandas, polars and pyarrow alike, return a table of the library of their first table,
and never change a table. Exported scripts import this module. What a call did to the rows is told
by `describe_result`.
"""

from __future__ import annotations

import datetime
import decimal
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from ..core.errors import CallError
from ..core.interrupts import attempt
from ..core.text import count_text
from ..tools.running_tool import describe_result
from ..tools.table_classes import AnyTable
from .table_frames import (
    Column,
    Frame,
    arrow,
    frame_of_table,
    json_cell,
    numpy,
)
from .table_lazy import columns_of, query_elsewhere, rows_to_show
from .table_sql import (
    Relation,
    check_kinds,
    computed,
    condition,
    query_tables,
    quoted,
    relation_of,
    run_sql,
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


def _statistics(frame: Frame, column: Column) -> dict[str, Any]:
    stats = {"type": frame.type_text(column), "missing": frame.missing(column)}
    kind = attempt(frame.kind, column)[0]
    wanted = {"distinct": "count(DISTINCT c0)"} if kind in ("text", "bool", "number") else {}
    if kind in ("number", "date"):
        wanted |= {"min": "min(c0)", "max": "max(c0)"}
    if kind == "number":
        wanted |= {"mean": "avg(c0)", "std": "stddev_samp(c0)"}
        wanted |= {f"{n}%": f"quantile_cont(c0::DOUBLE, {n / 100})" for n in (25, 50, 75)}
    if not wanted:
        return stats
    listed = ", ".join(f'{sql} AS "{name}"' for name, sql in wanted.items())
    (values,) = _query(f"SELECT {listed} FROM t", frame, [column]).to_pylist()
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
    groups = _query(
        "SELECT min(pos) AS first, count(*) AS rows FROM t GROUP BY c0 "
        "ORDER BY rows DESC, c0 NULLS LAST, first",
        *(frame, [counted]),
        is_key=True,
    )
    shown = groups.slice(0, limit)
    values, counts = frame.cells(counted, shown["first"]), shown["rows"].to_pylist()
    listed = [{"value": v, "rows": count} for v, count in zip(values, counts, strict=True)]
    return {"values": listed, "distinct": len(groups), "rows_in_table": len(frame)}


def _query(
    sql: str, frame: Frame, columns: Sequence[Column], values: Any = (), is_key: bool = False
) -> Any:
    """Return the result of a query on `t`, which has columns and the position of each row.

    With `is_key`, the columns are only compared. `values` are what `?` stands for.
    """
    return run_sql(sql, {"t": relation_of(frame, columns, is_key)}, values)


# -- rows -----------------------------------------------------------------------------------------


def filter_rows(table: AnyTable, where: str) -> AnyTable:
    """Keep the rows for which a condition in SQL is true: not those for which it is NULL.

    Args:
        where: A condition, such as "price > 3 AND city IN ('Rome', 'Oslo')" or
            "name IS NOT NULL". A name with spaces stands in double quotes, a text or a date in
            single ones: "\\"my day\\" >= '2024-01-31'". Functions: "lower(name) LIKE '%pear%'",
            "year(day) = 2024".
    """
    if (frame := columns_of(table)).elsewhere is not None:
        return query_elsewhere(frame, f"SELECT * FROM t WHERE (\n{where}\n)")
    kept, nulls = condition(frame, where)
    note = _kept(len(kept), frame)
    describe_result(
        note + (f"; the condition is NULL for {nulls:,} of the others" if nulls else "")
    )
    return frame.take(kept)


def sort_rows(table: AnyTable, by: Columns, descending: bool = False) -> AnyTable:
    """Sort rows by columns; missing values come last.

    Args:
        by: The columns, the most important first.
        descending: The largest first.
    """
    frame = columns_of(table)
    columns, direction = frame.chosen(by), "DESC" if descending else "ASC"
    if frame.elsewhere is not None:
        keys = ", ".join(f"{quoted(column.name)} {direction} NULLS LAST" for column in columns)
        return query_elsewhere(frame, f"SELECT * FROM t ORDER BY {keys}")
    arrays = relation_of(frame, columns, is_key=True).arrays
    codes = {f"c{n}": frame.engine.codes(column.series) for n, column in enumerate(columns)}
    arrays = {**arrays, **{name: array for name, array in codes.items() if array is not None}}
    keys = ", ".join(f"c{n} {direction} NULLS LAST" for n in range(len(columns)))
    rows = run_sql(f"SELECT pos FROM t ORDER BY {keys}, pos", {"t": Relation(arrays, {})})
    return frame.take(rows["pos"])


def drop_duplicates(table: AnyTable, columns: list[str] | None = None) -> AnyTable:
    """Keep the first of the rows that are equal in some columns.

    Args:
        columns: The columns that are compared; all of them if left out.
    """
    frame = frame_of_table(table)
    chosen = frame.chosen(columns) if columns else [c for c in frame.columns if c.place != "index"]
    if not chosen:
        raise CallError("the table has no columns to compare")
    keys = ", ".join(f"c{n}" for n in range(len(chosen)))
    query = f"SELECT min(pos) AS pos FROM t GROUP BY {keys} ORDER BY pos"
    rows = _query(query, frame, chosen, is_key=True)
    describe_result(_kept(len(rows), frame))
    return frame.take(rows["pos"])


def drop_nulls(table: AnyTable, columns: list[str] | None = None) -> AnyTable:
    """Drop the rows in which a value is missing.

    Args:
        columns: The columns that are looked at; all of them if left out.
    """
    frame = frame_of_table(table)
    chosen = frame.chosen(columns) if columns else frame.columns
    valid = numpy().ones(len(frame), bool)
    for column in chosen:
        valid &= frame.valid(column)
    describe_result(_kept(int(valid.sum()), frame))
    return frame.take(valid.nonzero()[0])


# -- columns --------------------------------------------------------------------------------------


def select_columns(table: AnyTable, columns: Columns) -> AnyTable:
    """Keep columns, in this order."""
    frame = columns_of(table)
    if frame.elsewhere is not None:
        names = ", ".join(quoted(column.name) for column in frame.chosen(columns))
        return query_elsewhere(frame, f"SELECT {names} FROM t")
    index = [column for column in frame.all_columns if column.place != "column"]
    return frame.build([*index, *(c for c in frame.chosen(columns) if c.place == "column")])


def derive_column(table: AnyTable, column: str, expression: str) -> AnyTable:
    """Add a column, or replace one, by an expression of the others in SQL.

    Args:
        column: The name of the new column.
        expression: Such as "price * 1.2", "round(235.2 / mpg, 1)", "upper(city)", "year(day)",
            "first || ' ' || last", "coalesce(a, b)" or
            "CASE WHEN price > 9 THEN 'high' ELSE 'low' END".
    """
    frame = columns_of(table)
    if frame.elsewhere is not None:
        cells = {name: quoted(name) for name in frame.names}
        cells[frame.check_new(column)] = f"(\n{expression}\n) AS {quoted(column)}"
        return query_elsewhere(frame, f"SELECT {', '.join(cells.values())} FROM t")
    values = computed(frame, expression)
    nulls = count_text(values.null_count, "row")
    describe_result(f"{column} is NULL in {nulls}" if values.null_count else "")
    return frame.with_columns(frame.new_column(column, values))


def rename_columns(table: AnyTable, names: Names) -> AnyTable:
    """Rename columns.

    Args:
        names: The new names by the old ones, such as {"Miles_per_Gallon": "mpg"}.
    """
    frame = frame_of_table(table)
    new = {column: frame.check_new(names[column.name]) for column in frame.chosen(names)}
    renamed = [
        replace(column, name=new[column], label=new[column]) if column in new else column
        for column in frame.all_columns
    ]
    return frame.build(renamed)


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
    changed = frame.column(column)
    if (frame.kind(changed), to) in (("bool", "bool"), ("text", "str")):
        return frame.build(frame.all_columns)
    sql, values = _cast_sql(frame, changed, to, format)
    array = _query(f"SELECT {sql} AS x FROM t", frame, [changed], values).column(0)
    lost = array.null_count - frame.array(changed).null_count
    if lost and invalid == "error":
        raise CallError(
            f"{lost:,} values of {column} are no {to}; with invalid: null they become missing"
        )
    describe_result(f"{lost:,} values of {column} did not fit, and are missing now" if lost else "")
    return frame.with_columns(frame.new_column(column, array))


ISO = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M")
"""The formats of dates that are tried if no format is named."""
_WHOLE = r"'^[+-]?[0-9]{1,18}$'"
_NUMBER = r"'^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?$'"
_CASTS = {
    "text to int": f"TRY_CAST(regexp_extract(trim(c0), {_WHOLE}) AS BIGINT)",
    "text to float": f"TRY_CAST(regexp_extract(trim(c0), {_NUMBER}) AS DOUBLE)",
    "text to bool": "CASE WHEN lower(trim(c0)) IN ('true', 'yes', '1') THEN true "
    "WHEN lower(trim(c0)) IN ('false', 'no', '0') THEN false END",
    "text to date": "try_strptime(trim(c0), ?)::DATE",
    "text to datetime": "try_strptime(trim(c0), ?)::TIMESTAMP",
    # A cast alone would round.
    "number to int": "if(c0 = floor(c0), TRY_CAST(c0 AS BIGINT), NULL)",
    "number to float": "c0::DOUBLE",
    "number to bool": "c0 <> 0",
    "bool to int": "c0::INTEGER::BIGINT",
    "bool to float": "c0::INTEGER::DOUBLE",
    "date to date": "c0::DATE",
    "date to datetime": "c0",
}
"""Casts of `c0` that are NULL where a value does not fit."""


def _cast_sql(frame: Frame, column: Column, to: str, format: str | None) -> tuple[str, list[Any]]:
    """Return the cast of a column, and its parameters."""
    kind, types, type_ = frame.kind(column), arrow().types, frame.array(column).type
    if kind == "date" and to == "str" and format:
        return "strftime(c0, ?)", [format]
    sql = _CASTS.get(f"{kind} to {to}", "c0::VARCHAR" if to == "str" else "")
    if to == "float" and types.is_integer(type_):
        # An integer beyond 2^53 may be no float.
        sql = "if(c0::DOUBLE::HUGEINT = c0, c0::DOUBLE, NULL)"
    if to == "datetime" and types.is_date(type_):
        sql = "c0::TIMESTAMP"
    if not sql:
        raise CallError(f"a column of type {frame.type_text(column)} does not become {to}")
    return sql, [[format] if format else [*ISO]] if "strptime" in sql else []


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
    if (method == "value") != (value is not None):
        raise CallError('give a value with method "value", and with no other method')
    chosen = frame.chosen(columns)
    new = [_filled(frame, column, method, value) for column in chosen]
    filled = sum(map(frame.missing, chosen)) - sum(map(frame.missing, new))
    describe_result(f"filled {count_text(filled, 'value')}")
    return frame.with_columns(*new)


def _filled(frame: Frame, column: Column, method: str, value: Cell | None) -> Column:
    if method in ("forward", "backward"):
        return frame.rows_of(column, _nearest_valid(frame.valid(column), method))
    if method == "value":
        values = [_fitting(frame, column, value)]
        array = _query("SELECT coalesce(c0, ?) AS x FROM t", frame, [column], values).column(0)
        return frame.new_column(column.name, array, like=column)
    if frame.kind(column) != "number":
        raise CallError(f"{column.name} has no {method}: it holds no numbers")
    type_ = frame.array(column).type
    is_decimal = arrow().types.is_decimal(type_)
    if is_decimal and type_.precision > 15:
        raise CallError(f"{column.name} has more than 15 digits: fill it with a value")
    _check_exact(frame, [column], is_float=not is_decimal)
    average = f"(SELECT {'avg' if method == 'mean' else 'median'}(c0::DOUBLE) FROM t)"
    target = f"DECIMAL({type_.precision}, {type_.scale})" if is_decimal else "DOUBLE"
    sql = f"SELECT coalesce(c0::{target}, {average}::{target}) AS x FROM t"
    return frame.new_column(column.name, _query(sql, frame, [column]).column(0))


def _nearest_valid(valid: Any, method: str) -> Any:
    """Return for each row the position of the nearest valid row before or after it, or null."""
    count, rows = len(valid), numpy().arange(len(valid))
    if method == "forward":
        nearest = numpy().maximum.accumulate(numpy().where(valid, rows, -1))
    else:
        nearest = numpy().minimum.accumulate(numpy().where(valid, rows, count)[::-1])[::-1]
    return arrow().array(nearest, "int64", mask=(nearest < 0) | (nearest == count))


def _fitting(frame: Frame, column: Column, value: Any) -> Any:
    """Return a value for a column. Raises CallError where it is of another type."""
    name, type_, kind = column.name, frame.array(column).type, frame.kind(column)
    if kind == "date" and isinstance(value, str):
        try:
            when = datetime.datetime.fromisoformat(value)
        except ValueError:
            raise CallError(f"{name} holds dates: write the value as '2024-01-31'") from None
        return when.date() if arrow().types.is_date(type_) else when
    numbers = isinstance(value, (int, float)) and not isinstance(value, bool)
    fits = {"number": numbers, "text": isinstance(value, str), "bool": isinstance(value, bool)}
    if not fits.get(kind, False):
        raise CallError(f"{name} is of type {frame.type_text(column)}; {value!r:.40} does not fit")
    if kind == "number" and arrow().types.is_decimal(type_):
        exact = decimal.Decimal(str(value))
        if -int(exact.as_tuple().exponent) > type_.scale:
            raise CallError(f"{name} holds decimals with {type_.scale} digits; cast it first")
        return exact
    is_integer = arrow().types.is_integer(type_)
    if is_integer and isinstance(value, float) and not value.is_integer():
        raise CallError(f"{name} holds whole numbers; cast it to float first")
    return int(value) if is_integer else value


# -- groups, joins and shapes --------------------------------------------------------------------


def aggregate(table: AnyTable, by: Columns, values: dict[str, Aggregate] | None = None) -> AnyTable:
    """Group rows by columns, and aggregate other columns; the result is sorted by the groups.

    Missing values take part in no aggregate; rows with a missing key are a group.

    Args:
        by: The columns that make the groups.
        values: What to compute of which column, such as {"price": "mean"}, whose result is the
            column price_mean. If left out, the column rows counts the rows of each group.
    """
    frame = columns_of(table)
    keys, wanted = frame.chosen(by), values or {}
    chosen, is_here = frame.chosen(wanted), frame.elsewhere is None
    sql = {
        f"{column.name}_{wanted[column.name]}": _aggregate_sql(
            *(frame, column, wanted[column.name], f"c{number}" if is_here else quoted(column.name))
        )
        for number, column in enumerate(chosen, len(keys))
    } or {"rows": "count(*)"}
    if not is_here:
        cells = [quoted(key.name) for key in keys]
        cells += [f"{text} AS {quoted(name)}" for name, text in sql.items()]
        numbers = [str(number) for number in range(1, len(keys) + 1)]
        groups_by = f"GROUP BY {', '.join(numbers)} ORDER BY {' NULLS LAST, '.join(numbers)}"
        return query_elsewhere(frame, f"SELECT {', '.join(cells)} FROM t {groups_by} NULLS LAST")
    groups, count = _grouped(frame, keys, chosen, sql)
    size = f"{count_text(len(frame), 'row')} in {count_text(count, 'group')}"
    no_key = _missing_text(frame, keys, "which is a group of its own")
    no_value = _missing_text(frame, chosen, "and count for nothing")
    describe_result("; ".join([size, *no_key, *no_value]))
    return groups


def _grouped(
    frame: Frame,
    keys: Sequence[Column],
    others: Sequence[Column],
    wanted: Mapping[str, str],
    **more: Any,
) -> tuple[AnyTable, int]:
    """Return a table of the groups, sorted by their keys, and how many there are.

    The keys have the types that they had. `wanted` has the SQL of the new columns by their names.
    """
    relation = relation_of(frame, [*keys, *others])
    by_instant = relation_of(frame, keys, is_key=True).arrays
    # Keys are compared as instants; what is aggregated keeps its time zone.
    arrays = {**relation.arrays, **by_instant, **more}
    by = ", ".join(f"c{n}" for n in range(len(keys)))
    order = ", ".join(f"c{n} NULLS LAST" for n in range(len(keys)))
    aggregates = "".join(f", {sql} AS a{n}" for n, sql in enumerate(wanted.values()))
    sql = f"SELECT min(pos) AS first{aggregates} FROM t GROUP BY {by} ORDER BY {order}, first"
    result = run_sql(sql, {"t": Relation(arrays, relation.names)})
    firsts = result["first"]
    columns = [replace(frame.rows_of(key, firsts), place="column") for key in keys]
    columns += [frame.new_column(name, result[f"a{n}"]) for n, name in enumerate(wanted)]
    return frame.build(columns), len(firsts)


def _aggregate_sql(frame: Frame, column: Column, how: str, sql: str) -> str:
    kind = frame.kind(column)
    if how in ("sum", "mean", "median", "std"):
        if kind not in ("number", "bool"):
            raise CallError(f"{column.name} has no {how}: it holds no numbers")
        is_decimal = arrow().types.is_decimal(frame.array(column).type)
        sql += "::INTEGER" * (kind == "bool") + "::DOUBLE" * (is_decimal and how == "median")
    if how == "first" and frame.elsewhere is not None:
        raise CallError("rows that are elsewhere have no order: there is no first of a group")
    return _AGGREGATES.get(how, f"{how}({{}})").format(sql)


_AGGREGATES = {
    **{"mean": "avg({})", "std": "stddev_samp({})"},
    **{"distinct": "count(DISTINCT {})", "first": "arg_min({}, pos)"},
}


def join_tables(
    table: AnyTable,
    other: AnyTable,
    on: Columns,
    how: Literal["inner", "left", "full", "semi", "anti"] = "left",
) -> AnyTable:
    """Join two tables on columns that both have; a missing value matches nothing.

    Args:
        other: The table whose columns are added; those of a name that is taken end in _right.
        on: The columns whose values are compared.
        how: Rows of both (inner), all of the first (left) or of both tables (full); or the rows
            of the first that have a match (semi) or none (anti).
    """
    frame, right = frame_of_table(table), frame_of_table(other)
    if frame.engine is not right.engine:
        raise CallError(f"a table of {frame.engine.name} joins no table of {right.engine.name}")
    keys, others = frame.chosen(on), right.chosen(on)
    arrays = [(frame.array(a), right.array(b)) for a, b in zip(keys, others, strict=True)]
    for key, pair in zip(keys, arrays, strict=True):
        check_kinds(*pair, key.name)
    is_integer = arrow().types.is_integer
    relations = {
        "l": relation_of(frame, keys, is_key=True),
        "r": relation_of(right, others, is_key=True),
    }
    # SQL compares an integer with a float as floats, which is not exact beyond 2^53.
    equal = " AND ".join(
        f"l.c{n} = r.c{n}"
        + f" AND TRY_CAST(l.c{n} AS HUGEINT) = TRY_CAST(r.c{n} AS HUGEINT)"
        * (is_integer(first.type) != is_integer(second.type))
        for n, (first, second) in enumerate(arrays)
    )
    matches = run_sql(
        f"SELECT l.pos AS l, r.pos AS r FROM l FULL JOIN r ON {equal} "
        "ORDER BY l.pos NULLS LAST, r.pos",
        relations,
    )
    left, right_rows = matches["l"], matches["r"]
    compute = import_module("pyarrow.compute")
    has_left, has_right = left.is_valid(), right_rows.is_valid()
    matched = compute.unique(left.filter(compute.and_(has_left, has_right)))
    describe_result(
        f"{len(matched):,} of {count_text(len(frame), 'row')} have a match in "
        f"{count_text(len(right), 'row')}"
    )
    if how in ("semi", "anti"):
        other_rows = numpy().setdiff1d(numpy().arange(len(frame)), matched)
        return frame.take(matched if how == "semi" else other_rows)
    if how != "full":
        matches = matches.filter(compute.and_(has_left, has_right) if how == "inner" else has_left)
    return _joined(frame, right, dict(zip(keys, others, strict=True)), matches["l"], matches["r"])


def _joined(
    frame: Frame, right: Frame, keys: Mapping[Column, Column], left_rows: Any, right_rows: Any
) -> AnyTable:
    """Return the rows of two tables side by side; null positions are rows of missing values."""
    columns = [frame.rows_of(c, left_rows) for c in frame.all_columns if c.place != "numbers"]
    if left_rows.null_count:
        # An index has a label for each row: that of a row of the second table would be missing.
        columns = [replace(column, place="column") for column in columns]
        full = {
            key.name: _full_key(frame, right, key, match, left_rows, right_rows)
            for key, match in keys.items()
        }
        columns = [full.get(column.name, column) for column in columns]
    taken = {column.name for column in columns}
    for column in right.all_columns:
        # A withheld column keeps its name, or it would be withheld no more.
        is_second = column in right.withheld and column.name in taken
        if column in keys.values() or column.place == "numbers" or is_second:
            continue
        name = f"{column.name}_right" if column.name in taken else column.name
        series = right.rows_of(column, right_rows).series
        label = column.label if name == column.name else name
        columns.append(Column(name, label, series))
    return frame.build(columns)


def _full_key(
    frame: Frame, right: Frame, key: Column, match: Column, left_rows: Any, right_rows: Any
) -> Column:
    """Return the key of each row of a full join: of the first table, or else of the second."""
    first, other = frame.array(key), right.array(match)
    if first.type != other.type:
        raise CallError(f"{key.name} has two types; cast one first")
    ours, theirs = first.take(left_rows), other.take(right_rows)
    array = import_module("pyarrow.compute").coalesce(ours, theirs)
    return frame.new_column(key.name, array, like=key)


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
    frame = frame_of_table(table)
    keys, spread, value = frame.chosen(index), frame.column(on), frame.column(values)
    if spread in keys or value in keys or spread == value:
        raise CallError("index, on and values are different columns")
    order = "SELECT pos, dense_rank() OVER (ORDER BY c0 NULLS LAST) - 1 AS code FROM t ORDER BY pos"
    codes, valid = _query(order, frame, [spread], is_key=True)["code"], frame.valid(spread)
    seen = numpy().unique(codes.to_numpy()[valid], return_index=True)[1]
    if len(seen) > MOST_NEW_COLUMNS:
        raise CallError(
            f"{on} has {len(seen):,} values: a pivot creates at most {MOST_NEW_COLUMNS} columns"
        )
    names = _new_names(frame.cells(spread, valid.nonzero()[0][seen]), keys)
    sql = _aggregate_sql(frame, value, aggregate, f"c{len(keys)}")
    wanted = {name: f"{sql} FILTER (WHERE code = {code})" for code, name in enumerate(names)}
    wide, count = _grouped(frame, keys, [value], wanted, code=codes)
    no_column = _missing_text(frame, [spread], "and are in no column")
    size = f"{count_text(len(frame), 'row')} in {count_text(count, 'row')}"
    describe_result("; ".join([size, *no_column]))
    return wide


def _new_names(values: Sequence[Any], keys: Sequence[Column]) -> list[str]:
    """Return the names of the columns of a pivot. Raises CallError where two would be one."""
    names = [str(value) for value in values]
    taken = {key.name for key in keys}
    if any(name in taken or names.count(name) > 1 or not name.strip() for name in names):
        raise CallError("columns of the result would have the same name, or none; rename one first")
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
    wide = frame.chosen(columns)
    stay = [c for c in frame.all_columns if c not in wide and c.place != "numbers"]
    kinds = {frame.kind(column) for column in wide}
    types = {frame.array(column).type for column in wide}
    if len(kinds) > 1 or (kinds == {"other"} and len(types) > 1):
        raise CallError("the columns hold values of different types; cast them first")
    _check_exact(frame, wide)
    # A float of 32 bits beside other numbers would round them.
    has_floats = len(types) > 1 and any(map(arrow().types.is_floating, types))
    cast = "::DOUBLE" if has_floats else ""
    long = " UNION ALL ".join(
        f"SELECT {n} AS n, pos, c{n}{cast} AS x FROM t" for n in range(len(wide))
    )
    values = _query(f"SELECT x FROM ({long}) ORDER BY n, pos", frame, wide).column(0)
    rows = numpy().tile(numpy().arange(len(frame)), len(wide))
    labels = [column.name for column in wide for _ in range(len(frame))]
    names = arrow().chunked_array([arrow().array(labels, "string")])
    new = [frame.new_column(name, names), frame.new_column(value, values)]
    return frame.build([*(frame.rows_of(column, rows) for column in stay), *new])


def _check_exact(frame: Frame, columns: Sequence[Column], is_float: bool = False) -> None:
    """Raise CallError where an integer would become a float that is another number."""
    types = arrow().types
    arrays = [frame.array(column) for column in columns]
    if is_float or any(types.is_floating(array.type) for array in arrays):
        for column, array in zip(columns, arrays, strict=True):
            if types.is_integer(array.type):
                lossy = "SELECT count(*) FROM t WHERE c0::DOUBLE::HUGEINT <> c0"
                if _query(lossy, frame, [column]).column(0)[0].as_py():
                    raise CallError(f"{column.name} has integers that are no floats; cast it first")


def query_with_sql(query: str, tables: dict[str, AnyTable]) -> AnyTable:
    """Return the result of a SELECT on tables, in the order of the query.

    Args:
        query: One SELECT, such as "SELECT city, avg(price) AS price FROM sales JOIN cities
            USING (city) GROUP BY city ORDER BY city".
        tables: The tables by the names that they have in the query.
    """
    frames = {name: columns_of(table) for name, table in tables.items()}
    if not frames:
        raise CallError("tables names at least one table")
    if any(frame.elsewhere is not None for frame in frames.values()):
        if len(frames) > 1:
            raise CallError("a query reads one table whose rows are elsewhere, and no other table")
        ((name, frame),) = frames.items()
        return query_elsewhere(frame, query, name)
    result: Any = query_tables(query, frames)
    describe_result(count_text(result.shape[0], "row"))
    return cast(AnyTable, result)


def _kept(rows: int, frame: Frame) -> str:
    return f"kept {rows:,} of {count_text(len(frame), 'row')}"


def _missing_text(frame: Frame, columns: Sequence[Column], effect: str) -> list[str]:
    """Return a sentence for each column in which values are missing."""
    counts = {column.name: frame.missing(column) for column in columns}
    return [f"{count_text(n, 'row')} without {name}, {effect}" for name, n in counts.items() if n]
