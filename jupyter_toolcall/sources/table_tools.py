"""The tools of the toolset `tables` that make a table: functions from tables to a new table.

They return a table of the library of their first table, and never change one. SQL computes
positions of rows and new columns; the library of the table takes the rows. Exported scripts import
this module. What a call did to the rows is told by `describe_result`.
"""

from __future__ import annotations

import decimal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from ..core.errors import CallError
from ..core.text import count_text, visible_text
from ..tools.running_tool import describe_result
from ..tools.table_classes import AnyTable
from .table_duckdb import run_sql
from .table_frames import Frame, columns_of, frame_of_table, quoted
from .table_libraries import Column, arrow, kind_of, numpy, zone_of
from .table_looks import std_sql
from .table_sql import computed, query_elsewhere, query_tables, relation_of

MOST_NEW_COLUMNS = 100
"""Columns that a pivot may create."""
Names = Annotated[dict[str, str], Field(min_length=1)]
Columns = Annotated[list[str], Field(min_length=1)]
Aggregate = Literal["sum", "mean", "median", "min", "max", "count", "distinct", "std", "first"]
Cell = bool | int | float | str


def _query(
    sql: str, frame: Frame, columns: Sequence[Column], values: Any = (), is_key: bool = False
) -> Any:
    """Return the result of a query on `t`, which has columns and the position of each row.

    With `is_key`, the columns are only compared. `values` are what `?` stands for.
    """
    return run_sql(sql, {"t": relation_of(frame, columns, is_key)}, values)


def _kept(frame: Frame, rows: Any, note: str = "") -> AnyTable:
    """Return rows of a table by their positions, and tell how many these are."""
    describe_result(f"kept {len(rows):,} of {count_text(len(frame), 'row')}{note}")
    return frame.take(rows)


# -- rows ---------------------------------------------------------------------------------------


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
    mask = computed(frame, where)
    if not arrow().types.is_boolean(mask.type):
        raise CallError(
            f"{visible_text(where, 80)} is no condition: write a comparison such as price > 3, "
            "city IN ('Rome', 'Oslo') or name IS NOT NULL"
        )
    nulls = f"; the condition is NULL for {mask.null_count:,} of the others"
    rows = numpy().flatnonzero(mask.fill_null(False).to_numpy())
    return _kept(frame, rows, nulls if mask.null_count else "")


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
    relation = relation_of(frame, columns, is_key=True)
    orders = {f"c{number}": frame.order(column) for number, column in enumerate(columns)}
    keys = ", ".join(f"{name} {direction} NULLS LAST" for name in orders)
    codes = {name: order for name, order in orders.items() if order is not None}
    rows = run_sql(f"SELECT pos FROM t ORDER BY {keys}, pos", {"t": {**relation, **codes}})
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
    return _kept(frame, _query(query, frame, chosen, is_key=True)["pos"])


def drop_nulls(table: AnyTable, columns: list[str] | None = None) -> AnyTable:
    """Drop the rows in which a value is missing.

    Args:
        columns: The columns that are looked at; all of them if left out.
    """
    frame = frame_of_table(table)
    valid = numpy().ones(len(frame), bool)
    for column in frame.chosen(columns) if columns else frame.columns:
        valid &= frame.valid(column)
    return _kept(frame, valid.nonzero()[0])


# -- columns ------------------------------------------------------------------------------------


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
    return frame.build(
        [
            replace(column, name=new[column], label=new[column]) if column in new else column
            for column in frame.all_columns
        ]
    )


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
    before, kind = frame.array(changed), frame.kind(changed)
    if (kind, to) in (("bool", "bool"), ("text", "str")):
        return frame.build(frame.all_columns)
    # A column without any value becomes one of any type, as one of missing texts does.
    is_empty, text = arrow().types.is_null(before.type), "c0::VARCHAR"
    # An integer beyond 2^53 may be no float.
    is_integer = to == "float" and arrow().types.is_integer(before.type)
    sql = _EXACT if is_integer else _CASTS.get(f"{'text' if is_empty else kind} to {to}", text)
    sql = sql.replace("c0", text) if is_empty else sql
    if kind == "date" and to == "str" and format:
        sql = "strftime(c0, ?)"
    elif to != "str" and sql == text:
        raise CallError(f"a column of type {frame.type_text(changed)} does not become {to}")
    formats = {"strftime": format, "strptime": [format] if format else ISO}
    values = [value for name, value in formats.items() if name in sql]
    array = _query(f"SELECT {sql} AS x FROM t", frame, [changed], values).column(0)
    lost = array.null_count - before.null_count
    if lost and invalid == "error":
        raise CallError(
            f"{lost:,} values of {column} are no {to}; with invalid: null they become missing"
        )
    describe_result(f"{lost:,} values of {column} did not fit, and are missing now" if lost else "")
    return frame.with_columns(frame.new_column(column, array))


ISO = ["%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"]
"""The formats of dates that are tried if no format is named."""
_WHOLE = r"'^[+-]?[0-9]{1,18}$'"
_NUMBER = r"'^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?$'"
_EXACT = "if(c0::DOUBLE::HUGEINT = c0, c0::DOUBLE, NULL)"
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


_FILLS = {
    "value": "coalesce(c0, ?)",
    "forward": "last_value(c0 IGNORE NULLS) OVER (ORDER BY pos)",
    "backward": "first_value(c0 IGNORE NULLS) OVER "
    "(ORDER BY pos ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "mean": "coalesce({}, avg({}) OVER ())",
    "median": "coalesce({}, median({}) OVER ())",
}


def _filled(frame: Frame, column: Column, method: str, value: Cell | None) -> Column:
    kind, type_, types = frame.kind(column), frame.array(column).type, arrow().types
    is_average = method in ("mean", "median")
    if is_average and (kind != "number" or types.is_decimal(type_)):
        advice = "it holds no numbers" if kind in ("date", "other") else "cast it to float first"
        raise CallError(f"{column.name} has no {method}: {advice}")
    exact = f"if(c0 IS NULL, NULL, coalesce({_EXACT}, error('no float')))"
    number = exact if types.is_integer(type_) else "c0::DOUBLE"
    fill = _FILLS[method].format(number, number)
    # A date takes no time of the day, and a float of 32 bits takes the nearest one of these.
    given_type = "TIMESTAMP" if types.is_date(type_) else "FLOAT" * types.is_float32(type_)
    if type(value) is int:
        # DuckDB has no type for the integers of both beside its 128 bits.
        given_type = "BIGINT" * types.is_null(type_) or "UBIGINT" * types.is_uint64(type_)
    if method == "value" and given_type:
        fill = f"coalesce(c0, CAST(? AS {given_type}))"
    unfit = CallError(
        f"{column.name} is of type {frame.type_text(column)}; {value!r:.40} does not fit: "
        "cast the column first"
    )
    # A column without any value takes the type of what fills it.
    is_new_type = is_average or types.is_null(type_)
    try:
        values: list[Any] = [] if value is None else [value]
        if types.is_decimal(type_):
            values = [decimal.Decimal(str(number)) for number in values]
        array = _query(f"SELECT {fill} AS x FROM t ORDER BY pos", frame, [column], values).column(0)
    except (CallError, decimal.InvalidOperation) as error:
        if is_average:
            advice = "its integers are too large to be exact as floats; cast it to float first"
            raise CallError(f"{column.name} has no {method}: {advice}") from None
        # SQL's own error names the functions of the query above.
        raise (error if value is None else unfit) from None
    new = frame.new_column(column.name, array, like=None if is_new_type else column)
    # A text that is no category is a text; a number of another type would change all others.
    is_other = kind in ("number", "date") and new.dtype_text != column.dtype_text
    is_flag = isinstance(value, bool) and kind != "bool"
    if not is_new_type and (is_other or is_flag or kind_of(array.type) != kind):
        raise unfit
    return new


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
    **extra_columns: object,
) -> tuple[AnyTable, int]:
    """Return a table of the groups, sorted by their keys, and how many there are.

    The keys have the types that they had. `wanted` has the SQL of the new columns by their names.
    """
    # Keys are compared as instants; what is aggregated keeps its time zone.
    by_instant = relation_of(frame, keys, is_key=True)
    relation = {**relation_of(frame, [*keys, *others]), **by_instant, **extra_columns}
    by = ", ".join(f"c{n}" for n in range(len(keys)))
    order = ", ".join(f"c{n} NULLS LAST" for n in range(len(keys)))
    aggregates = "".join(f", {sql} AS a{n}" for n, sql in enumerate(wanted.values()))
    sql = f"SELECT min(pos) AS first{aggregates} FROM t GROUP BY {by} ORDER BY {order}, first"
    firsts, *new = run_sql(sql, {"t": relation}).columns
    columns = [replace(frame.rows_of(key, firsts), place="column") for key in keys]
    columns += map(frame.new_column, wanted, new)
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
    if how == "std" and kind == "number":
        return std_sql(frame, column, sql)
    return _AGGREGATES.get(how, f"{how}({{}})").format(sql)


_AGGREGATES = {
    **{"mean": "avg({})", "std": "stddev_samp({})"},
    **{"distinct": "count(DISTINCT {})", "first": "arg_min({}, pos)"},
}


def _missing_text(frame: Frame, columns: Sequence[Column], effect: str) -> list[str]:
    """Return a sentence for each column in which values are missing."""
    counts = {column.name: frame.missing(column) for column in columns}
    return [f"{count_text(n, 'row')} without {name}, {effect}" for name, n in counts.items() if n]


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
    if frame.library is not right.library:
        raise CallError(f"a table of {frame.library.name} joins no table of {right.library.name}")
    keys, others = frame.chosen(on), right.chosen(on)
    pairs = [(frame.array(a).type, right.array(b).type) for a, b in zip(keys, others, strict=True)]
    sides = {"l": relation_of(frame, keys, is_key=True), "r": relation_of(right, others, True)}
    equal = " AND ".join(_equal_sql(on[n], n, *types) for n, types in enumerate(pairs))
    only_first = how in ("semi", "anti")
    cells, order = ("l.pos", "l.pos") if only_first else ("l.pos, r.pos", "l.pos NULLS LAST, r.pos")
    matches = run_sql(f"SELECT {cells} FROM l {how} JOIN r ON {equal} ORDER BY {order}", sides)
    rows, right_rows = matches.column(0), matches.column(matches.num_columns - 1)
    compute = import_module("pyarrow.compute")
    matched = len(compute.unique(rows.filter(right_rows.is_valid())).drop_null())
    describe_result(
        f"{len(frame) - matched if how == 'anti' else matched:,} of "
        f"{count_text(len(frame), 'row')} have a match in {count_text(len(right), 'row')}"
    )
    if only_first:
        return frame.take(rows)
    return _joined(frame, right, dict(zip(keys, others, strict=True)), rows, right_rows)


def _equal_sql(name: str, number: int, first: object, second: object) -> str:
    """Return the condition that two keys of Arrow types are equal.

    Raises CallError where SQL would compare them by a cast.
    """
    types, pair = arrow().types, (first, second)
    mixes = any(map(types.is_decimal, pair)) and any(map(types.is_floating, pair))
    has_zone = {bool(zone_of(type_)) for type_ in pair}
    if len({*map(kind_of, pair)}) > 1 or len(has_zone) > 1 or mixes:
        raise CallError(
            f"{name} has the type {first} in one table and {second} in the other; cast one first"
        )
    equal = f"l.c{number} = r.c{number}"
    if types.is_integer(first) == types.is_integer(second):
        return equal
    # SQL compares an integer with a float as floats, which is not exact beyond 2^53.
    return f"{equal} AND TRY_CAST(l.c{number} AS HUGEINT) = TRY_CAST(r.c{number} AS HUGEINT)"


def _joined(
    frame: Frame, right: Frame, keys: Mapping[Column, Column], left_rows: Any, right_rows: Any
) -> AnyTable:
    """Return the rows of two tables side by side; null positions are rows of missing values."""
    columns = [frame.rows_of(c, left_rows) for c in frame.all_columns if c.place != "numbers"]
    if left_rows.null_count:
        # An index has a label for each row: that of a row of the second table would be missing.
        columns = [replace(column, place="column") for column in columns]
        full = dict[str, Column]()
        for key, match in keys.items():
            # The key of a row of a full join is that of the first table, or else of the second.
            first, other = frame.array(key), right.array(match)
            if first.type != other.type:
                raise CallError(f"{key.name} has two types; cast one first")
            ours, theirs = first.take(left_rows), other.take(right_rows)
            array = import_module("pyarrow.compute").coalesce(ours, theirs)
            full[key.name] = frame.new_column(key.name, array, like=key)
        columns = [full.get(column.name, column) for column in columns]
    used_names = {column.name for column in columns}
    for column in right.all_columns:
        # A withheld column keeps its name, or it would be withheld no more.
        is_second = column in right.withheld and column.name in used_names
        if column in keys.values() or column.place == "numbers" or is_second:
            continue
        name = f"{column.name}_right" if column.name in used_names else column.name
        label = column.label if name == column.name else name
        columns.append(Column(name, label, right.rows_of(column, right_rows).series))
    return frame.build(columns)


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
    order = "SELECT dense_rank() OVER (ORDER BY c0 NULLS LAST) - 1 AS code FROM t ORDER BY pos"
    codes, valid = _query(order, frame, [spread], is_key=True)["code"], frame.valid(spread)
    seen = numpy().unique(codes.to_numpy()[valid], return_index=True)[1]
    if len(seen) > MOST_NEW_COLUMNS:
        raise CallError(
            f"{on} has {len(seen):,} values: a pivot creates at most {MOST_NEW_COLUMNS} columns"
        )
    names = [str(cell) for cell in frame.cells(spread, valid.nonzero()[0][seen])]
    if not all(map(str.strip, names)):
        raise CallError(f"{on} holds an empty text, which names no column; change it first")
    if len({*names, *index}) < len(names) + len(keys):
        raise CallError("columns of the result would have the same name; rename one first")
    sql = _aggregate_sql(frame, value, aggregate, f"c{len(keys)}")
    wanted = {name: f"{sql} FILTER (WHERE code = {code})" for code, name in enumerate(names)}
    wide, count = _grouped(frame, keys, [value], wanted, code=codes)
    no_column = _missing_text(frame, [spread], "and are in no column")
    size = f"{count_text(len(frame), 'row')} in {count_text(count, 'row')}"
    describe_result("; ".join([size, *no_column]))
    return wide


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
    frame, pa = frame_of_table(table), arrow()
    wide = frame.chosen(columns)
    stay = [c for c in frame.all_columns if c not in wide and c.place != "numbers"]
    parts = [pa.table({"x": frame.array(column)}) for column in wide]
    try:
        # Numbers become those of the widest type, if each of them is exact there.
        values = pa.concat_tables(parts, promote_options="permissive")["x"]
    except pa.ArrowException:
        raise CallError("the columns hold values of different types; cast them first") from None
    rows = numpy().tile(numpy().arange(len(frame)), len(wide))
    names = pa.array([column.name for column in wide], "string")
    labels = pa.chunked_array([names.take(numpy().arange(len(wide)).repeat(len(frame)))])
    new = [frame.new_column(name, labels), frame.new_column(value, values)]
    return frame.build([*(frame.rows_of(column, rows) for column in stay), *new])


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
