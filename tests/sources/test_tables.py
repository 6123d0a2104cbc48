"""Each tool of the toolset `tables` does on three libraries what pandas does."""

from __future__ import annotations

import copy
import io
import pickle
import re
from collections.abc import Callable
from datetime import UTC
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.tools.value_digests import content_digest
from jupyter_toolcall.toolsets import tables
from tests.sources.tables import DATA, DAY, ENGINES, call, failure, rows, table

Frame = pd.DataFrame
CASES: list[tuple[str, dict[str, Any], Callable[[Any], Any]]] = [
    ("select", {"columns": ["price", "city"]}, lambda t: t[["price", "city"]]),
    (
        *("derive", {"column": "city", "expression": "upper(city) || '!'"}),
        lambda t: t.assign(city=t["city"].str.upper() + "!"),
    ),
    ("cast", {"column": "count", "to": "float"}, lambda t: t.astype({"count": "float64"})),
    ("cast", {"column": "count", "to": "str"}, lambda t: t.astype({"count": "str"})),
    ("cast", {"column": "day", "to": "date"}, lambda t: t.assign(day=t["day"].dt.normalize())),
    ("rename", {"names": {"city": "town"}}, lambda t: t.rename(columns={"city": "town"})),
    (
        *("fill", {"columns": ["city"], "method": "value", "value": "?"}),
        lambda t: t.assign(city=t["city"].fillna("?")),
    ),
    (
        *("fill", {"columns": ["price", "city"], "method": "forward"}),
        lambda t: t.assign(price=t["price"].ffill(), city=t["city"].ffill()),
    ),
    (
        *("fill", {"columns": ["price"], "method": "backward"}),
        lambda t: t.assign(price=t["price"].bfill()),
    ),
    (
        *("fill", {"columns": ["price"], "method": "mean"}),
        lambda t: t.assign(price=t["price"].fillna(t["price"].mean())),
    ),
    (
        *("fill", {"columns": ["price"], "method": "median"}),
        lambda t: t.assign(price=t["price"].fillna(t["price"].median())),
    ),
    ("drop_duplicates", {"columns": ["city"]}, lambda t: t.drop_duplicates(["city"])),
    ("drop_nulls", {}, lambda t: t.dropna()),
    ("drop_nulls", {"columns": ["price"]}, lambda t: t.dropna(subset=["price"])),
    (
        *("aggregate", {"by": ["fresh"], "values": {"price": "mean", "city": "distinct"}}),
        lambda t: (
            t.groupby("fresh")
            .agg(price_mean=("price", "mean"), city_distinct=("city", "nunique"))
            .reset_index()
        ),
    ),
    (
        *("pivot", {"index": ["fresh"], "on": "city", "values": "count", "aggregate": "sum"}),
        lambda t: (
            t.pivot_table(index="fresh", columns="city", values="count", aggfunc="sum")
            .reset_index()
            .rename_axis(columns=None)
        ),
    ),
]
"""A tool, its arguments, and the same by pandas."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{len(str(case[1]))}")
def test_a_tool_does_on_each_library_what_pandas_does_and_changes_no_input(
    engine: str, case: Any
) -> None:
    name, arguments, expected = case
    value = table(engine)
    before = content_digest(copy.deepcopy(value))
    result = call(value, name, **arguments)
    assert type(result) is type(value)
    assert rows(result) == rows(expected(table("pandas")))
    assert content_digest(value) == before


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
        *(("bar", {"x": "city", "y": ["price"]}), ("scatter", {"x": "price", "y": ["count"]})),
        *(("scatter", {"x": "time", "y": ["count"]}), ("histogram", {"y": ["price"]})),
        ("box", {"y": ["price", "count"]}),
    ],
)
def test_a_plot_has_labelled_axes(engine: str, kind: str, arguments: Any) -> None:
    times = [day and day.replace(tzinfo=UTC) for day in DATA["day"]]
    figure = call(table(engine, {**DATA, "time": times}), "plot", kind=kind, title="T", **arguments)
    (axes,) = figure.axes
    assert axes.get_ylabel()
    assert axes.get_xlabel() or kind == "box"
    assert (axes.get_title(loc="left"), figure.get_facecolor()[3]) == ("T", 1)
    assert isinstance(figure, Figure)
    if engine == ENGINES[0]:
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
    assert [row["m"] for row in rows(call(value, "filter", where="n is null"))] == [2]
    assert [row["m"] for row in rows(call(value, "filter", where="n is not null"))] == [1, 3]


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


MESSY = """\ufeff Datum ,Shop,Shop,"Umsatz (€)",Note
31.01.2024,rome ,A,"1.234,50",ok
31.01.2024,rome ,A,"1.234,50",ok
01.02.2024,ROME,B,n/a,
,,,,
02.02.2024,Oslo,B,"90,00","wet; cold"
30.02.2024,oslo,,"-7,5",🥔
03.02.2024,Bonn,C,,ok
"""


def test_a_messy_csv_is_cleaned_by_ten_calls() -> None:
    messy = pd.read_csv(io.StringIO(MESSY), encoding="utf-8", header=None, skiprows=1)
    number = "TRY_CAST(replace(replace(\"3\", '.', ''), ',', '.') AS DOUBLE)"
    names = {"0": "day", "1": "city", "2": "branch", "4": "note", "sold": "euro"}
    steps = [
        ("tables_schema", {}),
        ("tables_drop_duplicates", {}),
        ("tables_derive", {"column": "sold", "expression": number}),
        ("tables_rename", {"names": names}),
        ("tables_cast", {"column": "day", "to": "date", "format": "%d.%m.%Y", "invalid": "null"}),
        ("tables_derive", {"column": "city", "expression": "upper(trim(city))"}),
        ("tables_filter", {"where": "city IS NOT NULL"}),
        ("tables_fill", {"columns": ["branch"], "method": "value", "value": "?"}),
        ("tables_aggregate", {"by": ["city"], "values": {"euro": "sum", "branch": "count"}}),
        ("tables_sort", {"by": ["euro_sum"], "descending": True}),
    ]
    session = Session(
        tables, Scripted([*steps, "Done."]), scheme="flat", inputs={"t": messy}, approve="all"
    )
    session.tell("Clean the table.").run()
    assert [call.error for call in session.calls] == [""] * 10
    assert session.calls[0].result["columns"] == dict.fromkeys("01234", "String")
    about = [made.description for call in session.calls for made in call.produced]
    assert about == [
        "kept 6 of 7 rows",
        "sold is NULL in 3 rows",
        "",
        "1 values of day did not fit, and are missing now",
        "city is NULL in 1 row",
        "kept 5 of 6 rows",
        "filled 1 value",
        "5 rows in 3 groups; 2 rows without euro, and count for nothing",
        "",
    ]
    clean = session[f"DataFrame#{len(session.calls)}"]
    assert clean.to_dict("records") == [
        {"city": "ROME", "euro_sum": 1234.5, "branch_count": 2},
        {"city": "OSLO", "euro_sum": 82.5, "branch_count": 2},
        {"city": "BONN", "euro_sum": pytest.approx(float("nan"), nan_ok=True), "branch_count": 1},
    ]
    assert len(messy) == 7
