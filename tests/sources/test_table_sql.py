"""SQL in table tools: what it means on each library, and what none of it can do."""

from __future__ import annotations

import datetime
import decimal
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from jupyter_toolcall import Scripted, Session
from jupyter_toolcall.core.errors import CallError
from jupyter_toolcall.sources import table_duckdb
from jupyter_toolcall.toolsets import tables
from tests.sources.tables import DAY, ENGINES, call, failure, rows, table, tools

PRICE = decimal.Decimal("1.50")


def kept(engine: str, where: str) -> list[int]:
    """Return the counts of the rows that a condition keeps."""
    return [row["count"] for row in rows(tools.filter_rows(table(engine), where))]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("where", "counts"),
    [
        *(("price > 2 AND price <= 9", [1, 4]), ("NOT price > 2", [3, 5, 6])),
        *(("city IN ('Rome', NULL)", [1, 4]), ("city NOT IN ('Rome', NULL)", [])),
        *(("fresh AND NOT false", [1, 3, 4]), ("price <> 2 OR price IS NULL", [1, 2, 3, 4])),
        ('"unit price" < -1 OR count ** 2 = 36', [6]),
        ("City LIKE '%e' OR lower(city) = 'bonn'", [1, 4, 6]),
        ("day BETWEEN '2024-01-31 09:30' AND '2024-02-01'", [1, 5, 6]),
        *(("month(day) = 7", [4]), ("CASE WHEN fresh THEN 1 ELSE 2 END = 2", [2, 5, 6])),
        *(("count % 3 == 0 -- a comment", [3, 6]), ("price / 0 IS NULL", [1, 2, 3, 4, 5, 6])),
        *(("row_number() OVER (ORDER BY fresh) = 1", [2]), ("price > avg(price) OVER ()", [4])),
    ],
)
def test_a_condition_keeps_the_same_rows_on_each_library(
    engine: str, where: str, counts: list[int]
) -> None:
    assert kept(engine, where) == counts


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("count / 2", [0.5, 1, 1.5, 2, 2.5, 3]),
        ("count * 1.5", [1.5, 3, 4.5, 6, 7.5, 9]),
        ("sum(count) OVER (ORDER BY count)", [1, 3, 6, 10, 15, 21]),
        ("lag(count) OVER (ORDER BY fresh)", [6, None, 1, 3, 2, 5]),
        ("rank() OVER (ORDER BY fresh)", [4, 1, 4, 4, 1, 1]),
        ("left(city, 1) || '-'", ["R-", "O-", None, "R-", "O-", "B-"]),
        ("list_transform([count], lambda x: x + count)[1]", [2, 4, 6, 8, 10, 12]),
        ("minute(day)", [30, 30, None, 30, 30, 30]),
        ("TRY_CAST(city AS INTEGER)", [None] * 6),
    ],
)
def test_an_expression_has_the_same_values_on_each_library(
    engine: str, expression: str, values: list[Any]
) -> None:
    result = rows(tools.derive_column(table(engine), "x", expression))
    assert [row["x"] for row in result] == values


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("price", "price is no condition: write a comparison such as price > 3"),
        ("lowr(city) = 'x'", "Scalar Function with name lowr does not exist! Did you mean lower?"),
        ("price >", "price > cannot be read as SQL: it ends too early"),
        ("cit = 'Rome'", "there is no column 'cit'. Did you mean city?"),
        ('"unit prices" > 1', "there is no column 'unit prices'. Did you mean unit price?"),
        ("city > 1", "Cannot compare values of type VARCHAR and type INTEGER_LITERAL"),
        ("city::INTEGER > 1", "a value does not fit (ConversionException); TRY_CAST"),
        ("count::TINYINT * 100 > 1", "a number is out of range"),
        ("(SELECT 1) = 1", "a subquery is not allowed in an expression; tables_sql takes whole"),
        ("now() > day", "now is not allowed: a result depends on the table alone"),
        ("current_date > day", "current_date is not allowed"),
        ("age(day) > INTERVAL 1 DAY", "age is not allowed"),
        ("max(price) > 1", "this has not one value for each row; write OVER ()"),
        ("unnest([true])", "unnest is not allowed in an expression"),
        ("", "write one expression"),
        ("price > 1; DROP TABLE t", "price > 1; DROP TABLE t cannot be read as SQL"),
        ("price > 1) FROM range(9", "price > 1) FROM range(9 is not one expression"),
        ("pos > 1", "there is no column 'pos'"),
        ("c0 > 1", "there is no column 'c0'"),
    ],
)
def test_an_error_says_in_one_line_what_is_wrong(where: str, text: str) -> None:
    with pytest.raises(CallError) as caught:
        kept("polars", where)
    assert str(caught.value).startswith(text)
    assert "\n" not in str(caught.value)
    assert "Bonn" not in str(caught.value)


# -- names, indexes and types -------------------------------------------------------------------


def test_integer_doubled_and_nested_names_can_be_named() -> None:
    odd = pd.DataFrame(
        [[1, 2, 3, 4, 5]],
        columns=pd.Index([0, "a", "a", ("x", "y"), "index"], tupleize_cols=False),
    )
    assert [*tools.schema(odd)["columns"]] == ["0", "a", "a_2", "x.y", "index"]
    kept = tools.filter_rows(odd, '"0" = 1 AND a_2 = 3 AND x.y < index')
    assert [*kept.columns] == [*odd.columns]
    renamed = tools.rename_columns(odd, {"a_2": "b", "0": "zero"})
    assert [*renamed.columns] == ["zero", "a", "b", ("x", "y"), "index"]
    levels = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    derived = tools.derive_column(levels, "sum", "a.x + a.y")
    assert derived[("sum", "")].tolist() == [3]
    chosen = tools.select_columns(derived, ["sum", "a.y"])
    assert chosen.columns.tolist() == [("sum", ""), ("a", "y")]
    named = pd.DataFrame({"day": [1, 2], "index": [3, 4]}, index=pd.Index([5, 6], name="day"))
    assert [*tools.schema(named)["columns"]] == ["day_2", "day", "index"]
    assert tools.filter_rows(named, "day = 2 AND day_2 = 6").index.tolist() == [6]
    assert tools.sort_rows(named.rename_axis(["index"]), ["index"])["day"].tolist() == [1, 2]
    wide = levels.set_axis(pd.MultiIndex.from_tuples([(1, 2)], names=["i", "j"]))
    assert tools.select_columns(wide, ["i"]).shape == (1, 0)


def test_an_index_is_seen_can_be_named_and_stays() -> None:
    days = pd.to_datetime(["2024-05-01", "2024-06-01", "2024-07-01"])
    index = pd.MultiIndex.from_arrays([days, ["b", "a", "b"]], names=["day", None])
    prices = pd.DataFrame({"price": [3, 4, 5]}, index=index)
    prices.attrs["source"] = "shop"
    columns = {"day": "Datetime", "level_1": "String", "price": "Int64"}
    assert tools.schema(prices)["columns"] == columns
    later = tools.filter_rows(prices, "day >= '2024-06-01' AND level_1 < 'z'")
    result = tools.sort_rows(later, ["level_1"])
    assert result.index.tolist() == [(days[1], "a"), (days[2], "b")]
    assert result.attrs == {"source": "shop"}
    assert tools.rename_columns(prices, {"day": "when"}).index.names == ["when", None]
    with pytest.raises(CallError, match="day is the index of the table; choose another name"):
        tools.derive_column(prices, "day", "price")
    unnamed = tools.filter_rows(table("pandas"), "count > 2")
    assert next(iter(tools.schema(unnamed)["columns"])) == "city"


FINE = pd.Timestamp("2024-01-01 00:00:00.000000001")
LONG = pa.array([decimal.Decimal(10) ** 28], pa.decimal128(30, 1))
MONTHS = pa.array([(1, 2, 3)], pa.month_day_nano_interval())
REFUSED: list[tuple[Any, str]] = [
    (pd.DataFrame({"x": [1, "a"]}), "its values are of several types (object)"),
    (pd.DataFrame({"x": [1, 2.5]}, dtype=object), "its values are of several types (object)"),
    (pd.DataFrame({"x": [DAY.date(), DAY]}, dtype=object), "its values are of several types"),
    (pd.DataFrame({"x": [FINE]}, dtype=object), "it has times finer than a microsecond"),
    (pd.DataFrame({"x": [{1}, {2}]}), "its values are objects (object)"),
    (pd.DataFrame({"x": pd.period_range("2024", periods=2)}), "SQL has no such type (period[D])"),
    (pd.DataFrame({"x": pd.interval_range(0, 2)}), "SQL has no such type (interval[int64, right])"),
    (pd.DataFrame({"x": [1j, 2j]}), "SQL has no such type (complex128)"),
    (pd.DataFrame({"x": pd.arrays.SparseArray([0, 1])}), "SQL has no such type (Sparse[int64, 0])"),
    (pd.DataFrame({"x": pd.to_timedelta([1], unit="ns")}), "it has times finer than a microsecond"),
    (pl.DataFrame({"x": [1]}, schema={"x": pl.Int128}), "SQL has no such type (Int128)"),
    (pl.DataFrame({"x": [object()]}, schema={"x": pl.Object}), "SQL has no such type (Object)"),
    (pa.table({"x": LONG}), "SQL computes exactly with decimals of up to 28 digits (decimal128(30"),
    (pa.table({"x": MONTHS}), "SQL has no such type (month_day_nano_interval)"),
]


@pytest.mark.parametrize(("value", "reason"), REFUSED, ids=range(len(REFUSED)))
def test_a_type_that_sql_does_not_have_is_refused_by_name_and_hinders_no_other_column(
    value: Any, reason: str
) -> None:
    text = failure(value, "filter", where="x IS NULL")
    assert text.startswith(f"x cannot be used: {reason}")
    assert len(call(value, "derive", column="n", expression="1 + 1")) == len(value)
    assert call(value, "missing")["missing"] == {}
    assert "x" in call(value, "head")["rows"][0]


def test_functions_of_dates_answer_in_the_zone_of_the_column() -> None:
    times = pd.to_datetime(["2024-06-30 22:30", "2024-12-31 23:30"], utc=True)
    zoned = pd.DataFrame({"at": times.tz_convert("Europe/Rome"), "utc": times})
    assert tools.derive_column(zoned, "h", 'hour("at")')["h"].tolist() == [0, 0]
    assert tools.filter_rows(zoned, "\"at\" >= '2025-01-01'").index.tolist() == [1]
    later = tools.derive_column(zoned, "b", '"at" + INTERVAL 1 DAY')
    assert str(later["b"].dtype.tz) == "Europe/Rome"
    assert tools.sort_rows(zoned, ["at", "utc"], True).index.tolist() == [1, 0]
    offset = pd.DataFrame({"t": pd.to_datetime(["2024-01-01T12:00+02:00"])})
    assert tools.derive_column(offset, "h", "hour(t)")["h"].tolist() == [12]
    half = pd.DataFrame({"t": pd.to_datetime(["2024-01-01T12:00+05:30"])})
    with pytest.raises(CallError, match=r"SQL has no time zone \+05:30; convert"):
        tools.filter_rows(half, "hour(t) = 12")
    with pytest.raises(CallError, match="times of the zones Europe/Rome and UTC; use those of one"):
        tools.filter_rows(zoned, '"at" = utc')


def test_ordered_categories_are_sorted_by_their_order_and_are_texts_in_sql() -> None:
    sizes = pd.Categorical(["M", "S", None, "L"], ["S", "M", "L"], ordered=True)
    shirts = pd.DataFrame({"size": sizes})
    assert [*tools.sort_rows(shirts, ["size"], descending=True)["size"]][:3] == ["L", "M", "S"]
    assert tools.filter_rows(shirts, "size < 'M'")["size"].tolist() == ["L"]
    assert tools.filter_rows(shirts, "size = 'M'")["size"].dtype == shirts["size"].dtype
    enum = pl.DataFrame({"size": ["M", "S"]}, schema={"size": pl.Enum(["S", "M"])})
    assert tools.sort_rows(enum, ["size"])["size"].to_list() == ["S", "M"]


TWO, HALF = decimal.Decimal("2"), decimal.Decimal("1.5")


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("coalesce(p, d)", [HALF, TWO]),
        ("greatest(d, 2.25)", [decimal.Decimal("2.25")] * 2),
        ("p + d", [decimal.Decimal("3.5"), None]),
    ],
)
def test_decimals_of_several_scales_are_never_rounded(expression: str, values: list[Any]) -> None:
    # Each decimal of polars has 38 digits, which leave no room for another scale.
    value = pl.DataFrame({"p": [HALF, None], "d": [TWO, TWO]})
    assert tools.derive_column(value, "x", expression)["x"].to_list() == values
    assert tools.unpivot(value, ["p", "d"])["value"].to_list() == [HALF, None, TWO, TWO]
    median = tools.aggregate(value.with_columns(g=1), ["g"], {"d": "median"})
    assert median["d_median"].to_list() == [2.0]
    with pytest.raises(CallError, match=r"p is of type Decimal; 0\.25 does not fit"):
        tools.fill_missing(value, ["p"], "value", 0.25)


@pytest.mark.parametrize("engine", ["polars", "pyarrow"])
@pytest.mark.parametrize(
    ("cell", "value"),
    [
        *((1, 1.5), (1, True), (1, "x"), (True, 2), (1.5, "x"), ("a", 3), (DAY, "x"), (DAY, 3)),
        *((DAY.date(), "2024-01-31 10:00"), (PRICE, "x"), (PRICE, True)),
    ],
)
def test_a_value_of_another_type_fills_nothing_in_and_changes_no_type(
    engine: str, cell: Any, value: Any
) -> None:
    holed = table(engine, {"x": [cell, None]})
    with pytest.raises(CallError, match=r"^x is of type .* does not fit: cast the column first"):
        tools.fill_missing(holed, ["x"], "value", value)
    narrow = pl.DataFrame({"x": [0.5, None]}, schema={"x": pl.Float32})
    assert tools.fill_missing(narrow, ["x"], "value", 0.1)["x"].dtype == pl.Float32
    large = pl.DataFrame({"x": [2**64 - 1, None]}, schema={"x": pl.UInt64})
    assert tools.fill_missing(large, ["x"], "value", 1)["x"].to_list() == [2**64 - 1, 1]
    for method in ("forward", "value"):
        filled = tools.fill_missing(holed, ["x"], method, cell if method == "value" else None)
        assert rows(filled) == rows(table(engine, {"x": [cell, cell]}))


def test_integers_that_no_float_holds_are_computed_exactly_or_refused() -> None:
    value = pl.DataFrame(
        {"g": 1, "x": [2**64 - 1, 2**64 - 3, None]}, schema_overrides={"x": pl.UInt64}
    )
    assert tools.aggregate(value, ["g"], {"x": "std"})["x_std"].to_list() == [pytest.approx(2**0.5)]
    assert tools.describe(value)["columns"]["x"]["std"] == pytest.approx(2**0.5)
    with pytest.raises(CallError, match=r"x has no mean: .*; cast it to float first"):
        tools.fill_missing(value, ["x"], "mean")
    with pytest.raises(CallError, match="an integer of the result is out of range for 64 bits"):
        tools.aggregate(value, ["g"], {"x": "sum"})


@pytest.mark.parametrize("engine", ENGINES)
def test_a_column_without_any_value_is_cast_and_filled(engine: str) -> None:
    empty = table(engine, {"n": [None, None]})
    texts = dict.fromkeys(("str", "date", "datetime"), "2024-01-31")
    for to, value in {"int": 3, "float": 0.5, "bool": True, **texts}.items():
        cast = tools.cast_column(empty, "n", to)
        assert [row["n"] for row in rows(cast)] == [None, None]
        assert rows(tools.fill_missing(empty, ["n"], "value", value)) == [{"n": value}] * 2
        filled = rows(tools.fill_missing(cast, ["n"], "value", value))
        assert [str(row["n"])[:10] for row in filled] == [str(value)] * 2
    with pytest.raises(CallError, match="n has no mean: it holds no numbers"):
        tools.fill_missing(empty, ["n"], "mean")


def test_windows_and_lambdas_mean_what_sql_says() -> None:
    value = pd.DataFrame({"g": [3, 3, 3], "n": [1, 2, 2**53 + 1]})
    last = "last_value(n) OVER (PARTITION BY g ORDER BY g)"
    assert tools.derive_column(value, "x", last)["x"].tolist() == [2**53 + 1] * 3
    first = "first_value(n) OVER (ORDER BY g RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)"
    assert tools.derive_column(value, "x", first)["x"].tolist() == [1] * 3
    assert tools.derive_column(value, "x", "[n, NULL]")["x"][2] == [2**53 + 1, None]
    with pytest.raises(CallError, match="the parameter of a lambda cannot be named c0"):
        tools.derive_column(value, "x", "list_transform([1], lambda c0: c0 + n)")
    endless = tools.derive_column(pl.DataFrame({"x": [float("inf"), 1.0]}), "y", "x - x")
    assert endless["y"].to_list() == [None, 0.0]


def test_results_have_the_types_of_the_library() -> None:
    value = pd.DataFrame({"n": [1, 2], "d": pd.to_datetime(["2024-01-01", "2024-01-03"])})
    for expression, dtype in (
        ("CASE WHEN n = 1 THEN n END", "Int64"),
        ("CASE WHEN n = 1 THEN true END", "boolean"),
        ("n * 2", "int64"),
        ("d::DATE", "datetime64[us]"),
        ("d - lag(d) OVER (ORDER BY n)", "timedelta64[us]"),
        ("n / 2", "float64"),
    ):
        assert str(tools.derive_column(value, "x", expression)["x"].dtype) == dtype, expression
    with pytest.raises(CallError, match="months, which are no fixed time"):
        tools.derive_column(value, "x", "INTERVAL 1 MONTH")
    half = pd.DataFrame({"x": np.array([0.5, np.nan], "float16")})
    assert tools.filter_rows(half, "x = 0.5")["x"].dtype == half["x"].dtype
    dated = tools.derive_column(half, "day", "DATE '2024-05-01'")
    assert dated["day"][0] == datetime.datetime(2024, 5, 1)


# -- whole queries ------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_a_query_reads_several_tables_in_its_own_order(engine: str) -> None:
    sizes = table(engine, {"city": ["Oslo", "Rome"], "size": [1, 3]})
    query = (
        "WITH priced AS (SELECT city, sum(count) AS n FROM sold WHERE price > 0 GROUP BY 1) "
        "SELECT city, n, size FROM priced LEFT JOIN sizes USING (city) ORDER BY n DESC, city"
    )
    result = tools.query_with_sql(query, {"sold": table(engine), "sizes": sizes})
    assert type(result) is type(sizes)
    assert [tuple(row.values()) for row in rows(result)] == [
        *[("Bonn", 6, None), ("Oslo", 5, 1), ("Rome", 5, 3), (None, 3, None)]
    ]
    whole = "SELECT count(DISTINCT t) AS n FROM t"
    assert rows(tools.query_with_sql(whole, {"t": table(engine)})) == [{"n": 6}]
    renamed = "SELECT sum(b) AS n FROM t AS x(a, b)"
    assert rows(tools.query_with_sql(renamed, {"t": sizes})) == [{"n": 4}]
    twice = tools.query_with_sql("SELECT size, size FROM sizes", {"sizes": sizes})
    assert [*rows(twice)[0]] == ["size", "size_2"]


QUERIES = [
    ("SELECT * FROM read_csv('{file}')", "read_csv is not allowed as a table"),
    ("SELECT * FROM '{file}'", "there is no table '{file}'. Tables: sold"),
    ("SELECT * FROM glob('*')", "glob is not allowed as a table"),
    ("SELECT * FROM duckdb_settings()", "duckdb_settings is not allowed as a table"),
    ("SELECT * FROM information_schema.tables", "there is no table 'tables'. Tables: sold"),
    ("SELECT * FROM main.sold", "there is no table 'sold'. Tables: sold"),
    ("SELECT * FROM query('SELECT 1')", "query is not allowed as a table"),
    ("SELECT current_setting('threads')", "current_setting is not allowed"),
    ("COPY sold TO '{file}'", "COPY sold TO '{file}' cannot be read as SQL: Only SELECT"),
    ("ATTACH '{file}'", "ATTACH '{file}' cannot be read as SQL: Only SELECT"),
    ("DELETE FROM sold", "DELETE FROM sold cannot be read as SQL: Only SELECT"),
    ("SELECT 1; SELECT 2", "write one statement, without a semicolon"),
    ("SELECT cit FROM sold", 'Referenced column "cit" not found in FROM clause!'),
    ("SELECT current_date FROM sold", "current_date is not allowed"),
    ("SELECT current_user", "current_user is not allowed"),
    ("SELECT * FROM duckdb_views, (WITH duckdb_views AS (SELECT 1) SELECT 1)", "there is no table"),
    ("SELECT ?", "a parameter is not allowed"),
    ("SELECT * FROM sold USING SAMPLE 3", "a random sample is not allowed in a query"),
    ("SELECT #1 FROM sold", "a positional reference is not allowed"),
]


@pytest.mark.parametrize(("query", "text"), QUERIES)
def test_a_query_reads_its_tables_and_nothing_else(query: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("secret\n1\n", encoding="utf-8")
    with pytest.raises(CallError) as caught:
        tools.query_with_sql(query.replace("{file}", str(file)), {"sold": table("polars")})
    assert str(caught.value).startswith(text.replace("{file}", str(file))[:75])
    assert "\n" not in str(caught.value)
    assert file.read_text(encoding="utf-8") == "secret\n1\n"
    assert [*tmp_path.iterdir()] == [file]


ENDLESS = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r"


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (ENDLESS, "stopped: it takes more than 0.5 s"),
        ("SELECT count(*) FROM range(10000000000) a, range(10000000000) b", "stopped: it takes"),
        ("SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))", "stopped: it takes"),
        ("SELECT list(range) FROM range(100000000)", "stopped"),
        ("SELECT * FROM range(1000000000)", "the result has more than 1,000,000 cells"),
        ("SELECT repeat('x', 10000000000)", "a value does not fit|out of range|stopped"),
    ],
)
def test_a_query_that_takes_too_long_or_too_much_is_stopped(
    query: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_duckdb, "SECONDS", 0.5)
    monkeypatch.setattr(table_duckdb, "MOST_CELLS", 1_000_000)
    with pytest.raises(CallError, match=reason):
        tools.query_with_sql(query, {"sold": table("polars")})
    assert kept("polars", "count = 1") == [1]


def test_a_program_that_stopped_a_query_exits_as_any_other() -> None:
    program = (
        "import pandas as pd; from jupyter_toolcall.sources import table_duckdb, table_tools\n"
        "table_duckdb.SECONDS = 0.5\n"
        f"try: table_tools.query_with_sql({ENDLESS!r}, dict(t=pd.DataFrame(dict(n=[1]))))\n"
        "except Exception as error: print(error)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("stopped: it takes more than 0.5 s")


def test_an_interrupt_ends_a_query_at_once_and_nothing_else_runs() -> None:
    def running() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name == "toolcall-sql"}

    # The thread of a query that was stopped before may take a while to end.
    before = running()

    def interrupt() -> None:
        while not running() - before:
            threading.Event().wait(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    endless = ("tables_sql", {"query": ENDLESS, "tables": {"t": "DataFrame#1"}})
    model, inputs = Scripted([endless, ("tables_head", {}), "Done."]), {"t": table("polars")}
    session = Session(tables, model, scheme="flat", inputs=inputs, approve="all")
    with pytest.raises(KeyboardInterrupt):
        session.tell("Go.").run()
    assert [call.status for call in session.calls] == ["interrupted"]


def test_columns_that_differ_in_case_alone_are_refused_where_both_are_named() -> None:
    value = pl.DataFrame({"Price": [1], "price": [2], "n": [3]})
    assert tools.filter_rows(value, "price = 2 AND Price = 1").height == 1
    assert rows(tools.query_with_sql("SELECT n FROM t", {"t": value})) == [{"n": 3}]
    with pytest.raises(CallError, match="t has Price and price, which SQL cannot tell apart"):
        tools.query_with_sql("SELECT price FROM t", {"t": value})


# -- hostile texts ------------------------------------------------------------------------------

HOSTILE = [
    *("price > 1", "city LIKE '%a%'", "sum(count) OVER (ORDER BY price)", "[count, 2][1]"),
    *("1); DROP TABLE t; --", "1) FROM t UNION SELECT (2", "'", '"', "$$", "$1", "?", "*", "t.*"),
    *("read_text('/etc/passwd')", "getenv('HOME')", "current_setting('home')", "COLUMNS('.*')"),
    *("(SELECT count(*) FROM t)", "EXISTS (SELECT 1)", "nextval('s')", "query('SELECT 1')"),
    *("\x00", "\ud800", "`city`", "city::BLOB", "9" * 400, "1e999", "0x", "/* */", "--", "\\"),
    *("CAST(city AS ENUM('a'))", "city COLLATE nfc", "x -> x", "list_filter([1], x -> x > count)"),
    *("error('x')", "repeat('x', 1000000000000)", "range(1000000000000)", "city.a.b.c"),
    "a" * 3_000,
]
NEST = ["({})", "NOT {}", "-{}", "[{}]", "CASE WHEN {} THEN 1 END", "{} AND {}", "{}::INT", "f({})"]


def hostile_texts() -> list[str]:
    """Return 2,000 hostile texts: the listed ones, nested in each other, cut, and repeated."""
    chance, texts = random.Random(17), [*HOSTILE]
    while len(texts) < 2_000:
        text = chance.choice(HOSTILE)
        match chance.randrange(4):
            case 0:
                for _ in range(chance.choice([1, 3, 30])):
                    text = chance.choice(NEST).replace("{}", text[:500])
            case 1:
                text = text[: chance.randrange(len(text) + 1)] + chance.choice(HOSTILE)
            case 2:
                text = chance.choice([" AND ", ", ", "; ", "("]).join([text] * 3)
            case _:
                at = chance.randrange(len(text) + 1)
                signs = "".join(chance.choices("'\"()[]{}.,:;=<>!*/-\\\n\0", k=3))
                text = text[:at] + signs + text[at:]
        texts.append(text)
    return texts


def test_two_thousand_hostile_expressions_end_in_a_new_column_or_in_one_line() -> None:
    value, errors = table("polars"), list[str]()
    for text in hostile_texts():
        try:
            tools.derive_column(value, "x", text)
        except CallError as error:
            errors.append(str(error))
    assert len(errors) > 1_000
    assert not [error for error in errors if "\n" in error or len(error) > 1_000]
    assert rows(value) == rows(table("polars"))
