"""Each tool of the toolset `tables` does on three engines what the engine itself does."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from matplotlib.figure import Figure

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.tools.value_digests import content_digest
from jupyter_toolcall.toolsets import tables
from tests.sources.tables import DATA, DAY, ENGINES, Data, call, called, failure, rows, table

Frame = pd.DataFrame
Make = Callable[[Any], Any]
CASES: list[tuple[str, dict[str, Any], Make, Make, Make]] = [
    (
        "select",
        {"columns": ["price", "city"]},
        lambda t: t[["price", "city"]],
        lambda t: t.select("price", "city"),
        lambda t: t.select(["price", "city"]),
    ),
    (
        "filter",
        {"where": "price > 1.5 and not `unit price` == 4.5"},
        lambda t: t[(t["price"] > 1.5) & ~(t["unit price"] == 4.5)],
        lambda t: t.filter((pl.col("price") > 1.5) & ~(pl.col("unit price") == 4.5)),
        lambda t: t.filter((pc.field("price") > 1.5) & ~(pc.field("unit price") == 4.5)),
    ),
    (
        "filter",
        {"where": "city in ['Rome', 'Bonn'] or fresh"},
        lambda t: t[t["city"].isin(["Rome", "Bonn"]) | t["fresh"]],
        lambda t: t.filter(pl.col("city").is_in(["Rome", "Bonn"]) | pl.col("fresh")),
        lambda t: t.filter(pc.field("city").isin(["Rome", "Bonn"]) | pc.field("fresh")),
    ),
    (
        "filter",
        {"where": "is_null(city) or year(day) == 2023"},
        lambda t: t[t["city"].isna() | (t["day"].dt.year == 2023)],
        lambda t: t.filter(pl.col("city").is_null() | (pl.col("day").dt.year() == 2023)),
        lambda t: t.filter(pc.or_kleene(pc.is_null(t["city"]), pc.equal(pc.year(t["day"]), 2023))),
    ),
    (
        "filter",
        {"where": "contains(lower(city), 'o') and len(city) == 4 and startswith(city, 'R')"},
        lambda t: t[t["city"].fillna("").str.startswith("R")],
        lambda t: t.filter(pl.col("city").str.starts_with("R")),
        lambda t: t.filter(pc.starts_with(t["city"], "R")),
    ),
    (
        "filter",
        {"where": "day >= '2024-01-31T10:00' and count // 2 > 1"},
        lambda t: t[(t["day"] >= DAY.replace(hour=10)) & (t["count"] // 2 > 1)],
        lambda t: t.filter((pl.col("day") >= DAY.replace(hour=10)) & (pl.col("count") // 2 > 1)),
        lambda t: t.filter((pc.field("day") >= DAY.replace(hour=10)) & (pc.field("count") > 3)),
    ),
    (
        "derive",
        {"column": "total", "expression": "`unit price` * count + 1"},
        lambda t: t.assign(total=t["unit price"] * t["count"] + 1),
        lambda t: t.with_columns(total=pl.col("unit price") * pl.col("count") + 1),
        lambda t: t.append_column(
            "total", pc.add(pc.multiply(t["unit price"], pc.cast(t["count"], "double")), 1)
        ),
    ),
    (
        "derive",
        {"column": "month", "expression": "month(day)"},
        lambda t: t.assign(month=t["day"].dt.month),
        lambda t: t.with_columns(month=pl.col("day").dt.month()),
        lambda t: t.append_column("month", pc.month(t["day"])),
    ),
    (
        "derive",
        {"column": "city", "expression": "upper(city) + '!'"},
        lambda t: t.assign(city=t["city"].str.upper() + "!"),
        lambda t: t.with_columns(city=pl.col("city").str.to_uppercase() + "!"),
        lambda t: t.set_column(
            0, "city", pc.binary_join_element_wise(pc.utf8_upper(t["city"]), "!", "")
        ),
    ),
    (
        "derive",
        {"column": "dear", "expression": "'high' if price > 3 else 'low'"},
        lambda t: t.assign(dear=(t["price"] > 3).map({True: "high", False: "low"})),
        lambda t: t.with_columns(
            dear=pl.when(pl.col("price") > 3).then(pl.lit("high")).otherwise(pl.lit("low"))
        ),
        lambda t: t.append_column(
            "dear", pc.if_else(pc.fill_null(pc.greater(t["price"], 3), False), "high", "low")
        ),
    ),
    (
        "cast",
        {"column": "count", "to": "float"},
        lambda t: t.astype({"count": "float64"}),
        lambda t: t.with_columns(pl.col("count").cast(pl.Float64)),
        lambda t: t.set_column(2, "count", pc.cast(t["count"], "double")),
    ),
    (
        "cast",
        {"column": "count", "to": "str"},
        lambda t: t.astype({"count": "str"}),
        lambda t: t.with_columns(pl.col("count").cast(pl.String)),
        lambda t: t.set_column(2, "count", pc.cast(t["count"], "string")),
    ),
    (
        "cast",
        {"column": "day", "to": "date"},
        lambda t: t.assign(day=t["day"].dt.normalize()),
        lambda t: t.with_columns(pl.col("day").cast(pl.Date)),
        lambda t: t.set_column(5, "day", pc.cast(pc.floor_temporal(t["day"]), "date32")),
    ),
    (
        "rename",
        {"names": {"city": "town", "unit price": "each"}},
        lambda t: t.rename(columns={"city": "town", "unit price": "each"}),
        lambda t: t.rename({"city": "town", "unit price": "each"}),
        lambda t: t.rename_columns(["town", "price", "count", "each", "fresh", "day"]),
    ),
    (
        "fill",
        {"columns": ["city"], "method": "value", "value": "?"},
        lambda t: t.assign(city=t["city"].fillna("?")),
        lambda t: t.with_columns(pl.col("city").fill_null("?")),
        lambda t: t.set_column(0, "city", pc.fill_null(t["city"], "?")),
    ),
    (
        "fill",
        {"columns": ["price", "city"], "method": "forward"},
        lambda t: t.assign(price=t["price"].ffill(), city=t["city"].ffill()),
        lambda t: t.with_columns(pl.col("price", "city").forward_fill()),
        lambda t: t.set_column(0, "city", pc.fill_null_forward(t["city"])).set_column(
            1, "price", pc.fill_null_forward(t["price"])
        ),
    ),
    (
        "fill",
        {"columns": ["price"], "method": "mean"},
        lambda t: t.assign(price=t["price"].fillna(t["price"].mean())),
        lambda t: t.with_columns(pl.col("price").fill_null(pl.col("price").mean())),
        lambda t: t.set_column(1, "price", pc.fill_null(t["price"], pc.mean(t["price"]))),
    ),
    (
        "fill",
        {"columns": ["price"], "method": "median"},
        lambda t: t.assign(price=t["price"].fillna(t["price"].median())),
        lambda t: t.with_columns(pl.col("price").fill_null(pl.col("price").median())),
        lambda t: t.set_column(1, "price", pc.fill_null(t["price"], 2.0)),
    ),
    (
        "drop_duplicates",
        {"columns": ["city"]},
        lambda t: t.drop_duplicates(["city"]),
        lambda t: t.unique(["city"], keep="first", maintain_order=True),
        lambda t: t.take([0, 1, 2, 5]),
    ),
    (
        "drop_nulls",
        {},
        lambda t: t.dropna(),
        lambda t: t.drop_nulls(),
        lambda t: t.drop_null(),
    ),
    (
        "drop_nulls",
        {"columns": ["price"]},
        lambda t: t.dropna(subset=["price"]),
        lambda t: t.drop_nulls(["price"]),
        lambda t: t.filter(pc.is_valid(t["price"])),
    ),
    (
        "sort",
        {"by": ["price", "count"], "descending": True},
        lambda t: t.sort_values(["price", "count"], ascending=False),
        lambda t: t.sort(["price", "count"], descending=True, nulls_last=True),
        lambda t: t.sort_by([("price", "descending"), ("count", "descending")]),
    ),
    (
        "aggregate",
        {"by": ["fresh"], "values": {"price": "mean", "count": "sum", "city": "distinct"}},
        lambda t: (
            t.groupby("fresh")
            .agg(price_mean=("price", "mean"), count_sum=("count", "sum"))
            .reset_index()
            .assign(city_distinct=[2, 2])
        ),
        lambda t: (
            t.group_by("fresh")
            .agg(
                price_mean=pl.col("price").mean(),
                count_sum=pl.col("count").sum(),
                city_distinct=pl.col("city").n_unique(),
            )
            .sort("fresh")
        ),
        lambda t: (
            t.group_by("fresh")
            .aggregate([("price", "mean"), ("count", "sum")])
            .sort_by("fresh")
            .append_column("city_distinct", pa.array([2, 2]))
        ),
    ),
    (
        "aggregate",
        {"by": ["city"]},
        lambda t: t.groupby("city", dropna=False).size().rename("rows").reset_index(),
        lambda t: t.group_by("city").len("rows").sort("city", nulls_last=True),
        lambda t: pa.table({"city": ["Bonn", "Oslo", "Rome", None], "rows": [1, 2, 2, 1]}),
    ),
    (
        "pivot",
        {"index": ["fresh"], "on": "city", "values": "count", "aggregate": "sum"},
        lambda t: (
            t.pivot_table(index="fresh", columns="city", values="count", aggfunc="sum")
            .reset_index()
            .rename_axis(columns=None)
        ),
        lambda t: pl.DataFrame(
            {"fresh": [False, True], "Bonn": [6, None], "Oslo": [7, None], "Rome": [None, 5]}
        ),
        lambda t: pa.table(
            {"fresh": [False, True], "Bonn": [6, None], "Oslo": [7, None], "Rome": [None, 5]}
        ),
    ),
    (
        "unpivot",
        {"columns": ["price", "unit price"], "name": "which"},
        lambda t: t.melt(
            id_vars=["city", "count", "fresh", "day"],
            value_vars=["price", "unit price"],
            var_name="which",
        ),
        lambda t: t.unpivot(
            ["price", "unit price"], index=["city", "count", "fresh", "day"], variable_name="which"
        ),
        lambda t: pa.concat_tables(
            [
                t.select(["city", "count", "fresh", "day"])
                .append_column("which", pa.array([name] * 6))
                .append_column("value", t[name])
                for name in ("price", "unit price")
            ]
        ),
    ),
]
"""A tool, its arguments, and the same by each engine."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{len(str(case[1]))}")
def test_a_tool_does_what_the_engine_does(engine: str, case: Any) -> None:
    name, arguments, *expected = case
    value = table(engine)
    result = call(value, name, **arguments)
    assert type(result) is type(value)
    made = rows(result)
    native = rows(expected[ENGINES.index(engine)](value))
    assert made == [
        dict(zip(made[0], row.values(), strict=True)) if engine == "pyarrow" else row
        for row in native
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_pivot_of_numbers_has_columns_of_numbers_where_a_cell_is_empty(engine: str) -> None:
    arguments = {"index": ["city"], "on": "fresh", "values": "price", "aggregate": "mean"}
    wide = call(table(engine), "pivot", **arguments)
    assert call(wide, "schema")["columns"] == {
        **{"city": "String", "False": "Float64", "True": "Float64"}
    }
    assert isinstance(call(wide, "plot", kind="bar", x="city", y=["False", "True"]), Figure)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("aggregate", {"by": ["city"]}),
        ("pivot", {"index": ["city"], "on": "fresh", "values": "count", "aggregate": "sum"}),
    ],
)
def test_groups_of_pandas_are_numbered_from_zero(tool: str, arguments: dict[str, Any]) -> None:
    assert [*call(table("pandas"), tool, **arguments).index] == [0, 1, 2, 3]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("how", ["inner", "left", "full", "semi", "anti"])
def test_join_does_what_the_engine_does_in_the_order_of_the_rows(engine: str, how: Any) -> None:
    second: Data = {"city": ["Oslo", "Rome", "Kiel"], "size": [1, 3, 2], "price": [1.0, 2.0, 3.0]}
    result = rows(call(table(engine), "join", other=table(engine, second), on=["city"], how=how))
    left, right = pl.DataFrame(DATA), pl.DataFrame(second)
    native = left.join(right, on="city", how=how, coalesce=True, maintain_order="left_right")
    assert result == rows(native)


@pytest.mark.parametrize("engine", ENGINES)
def test_looks_are_plain_json_with_dates_as_iso_texts(engine: str) -> None:
    value = table(engine)
    assert call(value, "head", rows=2)["rows"][0]["day"] == "2024-01-31T09:30:00"
    assert call(value, "head", rows=3)["rows"][2] == {
        **{"city": None, "price": 1.0, "count": 3, "unit price": 3.5, "fresh": True, "day": None}
    }
    assert call(value, "missing") == {
        "rows_in_table": 6,
        "missing": {"city": 1, "price": 1, "day": 1},
    }
    assert call(value, "schema")["columns"]["unit price"] == "Float64"
    counts = call(value, "value_counts", column="city")
    assert [tuple(each.values()) for each in counts["values"]] == [
        *[("Oslo", 2), ("Rome", 2), ("Bonn", 1), (None, 1)]
    ]
    described = call(value, "describe", columns=["price", "day", "city"])["columns"]
    prices = pd.Series(DATA["price"]).describe()
    assert described["price"]["mean"] == pytest.approx(prices["mean"])
    assert described["price"]["25%"] == pytest.approx(prices["25%"])
    assert described["day"]["min"] == "2023-01-31T09:30:00"
    assert described["city"] == {"type": "String", "missing": 1, "distinct": 3}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sample_is_the_same_for_the_same_seed(engine: str) -> None:
    value = table(engine, {"n": [*range(100)]})
    first, again = (call(value, "sample", rows=5, seed=3) for _ in range(2))
    assert first == again
    assert len({row["n"] for row in first["rows"]}) == 5
    assert call(value, "sample", rows=5, seed=4) != first


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("texts", "to", "read"),
    [
        (["1", " 2.5 ", "x", None], "float", [1.0, 2.5, None, None]),
        (["1", "-7", "1.5", None], "int", [1, -7, None, None]),
        (["yes", "No", "maybe", None], "bool", [True, False, None, None]),
        (["2024-01-31 09:30", "soon", None], "datetime", [DAY, None, None]),
        (["2024-01-31", "2024-02-30", None], "date", [DAY.replace(hour=0, minute=0), None, None]),
    ],
)
def test_texts_that_do_not_fit_become_missing_or_are_counted_in_an_error(
    engine: str, texts: list[str | None], to: str, read: list[Any]
) -> None:
    value = table(engine, {"v": texts})
    made = rows(call(value, "cast", column="v", to=to, invalid="null"))
    assert [row["v"] for row in made] == read
    text = failure(value, "cast", column="v", to=to)
    assert text == f"1 values of v are no {to}; with invalid: null they become missing"


@pytest.mark.parametrize("engine", ENGINES)
def test_texts_become_dates_by_a_format(engine: str) -> None:
    value = table(engine, {"v": ["31.01.2024"]})
    made = rows(call(value, "cast", column="v", to="datetime", format="%d.%m.%Y"))
    assert made == [{"v": DAY.replace(hour=0, minute=0)}]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{len(str(case[1]))}")
def test_no_tool_changes_its_input(engine: str, case: Any) -> None:
    value = table(engine)
    before = content_digest(copy.deepcopy(value))
    session = called(value, case[0], **case[1])
    assert content_digest(value) == before
    assert content_digest(session[f"{type(value).__name__}#1"]) == before


def test_a_later_tool_that_changes_its_table_changes_no_other() -> None:
    def spoil(table: Frame) -> None:
        """Change a table in place."""
        table["count"] = 0

    model = Scripted(
        [
            ("tables_select", {"table": "DataFrame#1", "columns": ["count", "city"]}),
            ("spoil", {"table": "DataFrame#2"}),
            "Done.",
        ]
    )
    box, inputs = Toolbox(tables, spoil), {"t": table("pandas")}
    session = Session(box, model, scheme="flat", inputs=inputs, approve="all").tell("Go.").run()
    assert rows(session["DataFrame#1"]) == rows(table("pandas"))
    assert [*session["DataFrame#2"]["count"]] == DATA["count"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("line", {"x": "count", "y": ["price", "unit price"]}),
        ("line", {"x": "day", "y": ["count"]}),
        ("bar", {"x": "city", "y": ["price"]}),
        ("scatter", {"x": "price", "y": ["count"]}),
        ("histogram", {"y": ["price"]}),
        ("box", {"y": ["price", "count"]}),
    ],
)
def test_a_plot_has_labelled_axes(engine: str, kind: str, arguments: Any) -> None:
    figure = call(table(engine), "plot", kind=kind, title="T", **arguments)
    (axes,) = figure.axes
    assert axes.get_ylabel()
    assert axes.get_xlabel() or kind == "box"
    assert axes.get_title(loc="left") == "T"
    assert figure.get_facecolor()[3] == 1
    assert isinstance(figure, Figure)
    assert figure._repr_png_() == pickle.loads(pickle.dumps(figure))._repr_png_()  # type: ignore[attr-defined]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("select", {"columns": ["pric"]}),
        ("filter", {"where": "pric > 1"}),
        ("derive", {"column": "x", "expression": "pric + 1"}),
        ("cast", {"column": "pric", "to": "int"}),
        ("rename", {"names": {"pric": "p"}}),
        ("fill", {"columns": ["pric"], "method": "mean"}),
        ("drop_duplicates", {"columns": ["pric"]}),
        ("drop_nulls", {"columns": ["pric"]}),
        ("sort", {"by": ["pric"]}),
        ("aggregate", {"by": ["city"], "values": {"pric": "sum"}}),
        ("pivot", {"index": ["city"], "on": "fresh", "values": "pric"}),
        ("unpivot", {"columns": ["pric"]}),
        ("plot", {"kind": "box", "y": ["pric"]}),
        ("describe", {"columns": ["pric"]}),
        ("value_counts", {"column": "pric"}),
    ],
)
def test_a_wrong_column_is_answered_with_the_nearest_and_the_list(
    engine: str, name: str, arguments: Any
) -> None:
    assert failure(table(engine), name, **arguments) == (
        "there is no column 'pric'. Did you mean price? "
        "Columns: city, price, count, unit price, fresh, day"
    )


def test_looks_are_read_only_and_everything_else_waits_for_approval() -> None:
    looks = {"schema", "head", "sample", "describe", "value_counts", "missing"}
    assert {tool.name for tool in tables if tool.read_only} == {f"tables_{name}" for name in looks}
    model = Scripted([("tables_head", {}), ("tables_drop_nulls", {})])
    session = Session(tables, model, scheme="flat", inputs={"t": table("pandas")})
    session.tell("Go.").run()
    assert [call.tool for call in session.pending] == ["tables_drop_nulls"]


def test_the_newest_table_is_taken_where_a_model_names_none() -> None:
    model = Scripted([("tables_drop_nulls", {}), ("tables_schema", {}), "Done."])
    session = Session(tables, model, inputs={"t": table("polars")}, approve="all")
    session.tell("Go.").run()
    assert session.deps("DataFrame#2") == ("DataFrame#1",)
    assert session.calls[-1].result["rows_in_table"] == 4


@pytest.mark.parametrize("scheme", ["select", "current", "flat"])
def test_the_toolset_stands_beside_a_function_in_each_scheme(scheme: str) -> None:
    def double(n: int) -> int:
        """Return twice a number."""
        return 2 * n

    toolbox = Toolbox(tables, double)
    steps: list[Any] = [("_use_DataFrame", {"id": "DataFrame#1"})] if scheme == "current" else []
    steps += [("tables_drop_nulls", {}), ("double", {"n": 2}), "Done."]
    session = Session(
        toolbox, Scripted(steps), scheme=scheme, inputs={"t": table("pandas")}, approve="all"
    )
    session.tell("Go.").run()
    results = [call.result for call in session.calls if not call.tool.startswith(("_", "select"))]
    assert results == ["DataFrame#2", 4]


@pytest.mark.parametrize("engine", ENGINES)
def test_nan_is_missing_in_every_engine(engine: str) -> None:
    value = table(engine, {"n": [1.0, float("nan"), 3.0], "m": [1, 2, 3]})
    assert call(value, "missing")["missing"] == {"n": 1}
    described = call(value, "describe")["columns"]["n"]
    assert (described["missing"], described["mean"], described["max"]) == (1, 2.0, 3.0)
    assert [row["n"] for row in rows(call(value, "drop_nulls"))] == [1.0, 3.0]
    filled = call(value, "fill", columns=["n"], method="mean")
    assert [row["n"] for row in rows(filled)] == [1.0, 2.0, 3.0]
    assert [row["m"] for row in rows(call(value, "filter", where="is_null(n)"))] == [2]
    assert [row["m"] for row in rows(call(value, "filter", where="n != null"))] == [1, 3]


def test_an_exported_script_makes_the_same_table_without_a_session(tmp_path: Any) -> None:
    model = Scripted(
        [
            ("tables_filter", {"where": "price > 1.5"}),
            ("tables_fill", {"columns": ["city"], "method": "value", "value": "?"}),
            ("save", {"clean": "$DataFrame"}),
        ]
    )
    session = Session(
        tables,
        model,
        scheme="flat",
        inputs={"df": table("pandas")},
        outputs={"clean": Frame},
        approve="all",
    )
    session.tell("Go.").run()
    script = tmp_path / "clean.py"
    session.export(script)
    variables: dict[str, Any] = {"df": table("pandas")}
    missing = re.compile(r"(?s)dataframe_1 = _fill_in\(.*?\n?\)$", re.M)
    code = missing.sub("dataframe_1 = df", script.read_text())
    exec(compile(code, "clean.py", "exec"), variables)
    assert rows(variables["clean"]) == rows(session.outputs["clean"])
