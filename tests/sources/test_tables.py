"""Each tool of the toolset `tables` does on three libraries what pandas does."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from datetime import UTC
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from jupyter_toolcall.tools.value_digests import content_digest
from jupyter_toolcall.toolsets import tables
from tests.example_tools import play
from tests.sources.tables import DATA, DAY, ENGINES, call, called, failure, rows, table

Case = tuple[str, dict[str, Any], Callable[[Any], Any]]


def filled(method: str, *columns: str, by: Callable[[Any], Any], **more: Any) -> Case:
    """Return a case of `fill`, in which pandas fills each column."""
    arguments = {"columns": [*columns], "method": method, **more}
    return "fill", arguments, lambda t: t.assign(**{name: by(t[name]) for name in columns})


def grouped(t: pd.DataFrame) -> pd.DataFrame:
    results = {"price_mean": ("price", "mean"), "city_distinct": ("city", "nunique")}
    return t.groupby("fresh").agg(**results).reset_index()


def pivoted(t: pd.DataFrame) -> pd.DataFrame:
    wide = t.pivot_table(index="fresh", columns="city", values="count", aggfunc="sum")
    return wide.reset_index().rename_axis(columns=None)


PIVOT = {"index": ["fresh"], "on": "city", "values": "count", "aggregate": "sum"}
GROUPS = {"by": ["fresh"], "values": {"price": "mean", "city": "distinct"}}
CASES: list[Case] = [
    ("select", {"columns": ["price", "city"]}, lambda t: t[["price", "city"]]),
    ("cast", {"column": "count", "to": "float"}, lambda t: t.astype({"count": "float64"})),
    ("cast", {"column": "count", "to": "str"}, lambda t: t.astype({"count": "str"})),
    ("cast", {"column": "day", "to": "date"}, lambda t: t.assign(day=t["day"].dt.normalize())),
    ("rename", {"names": {"city": "town"}}, lambda t: t.rename(columns={"city": "town"})),
    filled("value", "city", by=lambda cells: cells.fillna("?"), value="?"),
    filled("forward", "price", "city", by=pd.Series.ffill),
    filled("backward", "price", by=pd.Series.bfill),
    filled("mean", "price", by=lambda cells: cells.fillna(cells.mean())),
    filled("median", "price", by=lambda cells: cells.fillna(cells.median())),
    ("drop_duplicates", {"columns": ["city"]}, lambda t: t.drop_duplicates(["city"])),
    ("drop_nulls", {}, lambda t: t.dropna()),
    ("drop_nulls", {"columns": ["price"]}, lambda t: t.dropna(subset=["price"])),
    ("aggregate", GROUPS, grouped),
    ("pivot", PIVOT, pivoted),
]
"""A tool, its arguments, and the same by pandas."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{len(str(case[1]))}")
def test_a_tool_does_as_pandas_on_each_library_and_changes_no_input(engine: str, case: Any) -> None:
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


def test_groups_of_pandas_are_numbered_from_zero() -> None:
    wide = {**PIVOT, "index": ["city"], "on": "fresh"}
    for tool, arguments in (("aggregate", {"by": ["city"]}), ("pivot", wide)):
        assert [*call(table("pandas"), tool, **arguments).index] == [0, 1, 2, 3]


@pytest.mark.parametrize("engine", ENGINES)
def test_looks_are_plain_json_with_dates_as_iso_texts(engine: str) -> None:
    value = table(engine)
    assert call(value, "head", rows=2)["rows"][0]["day"] == "2024-01-31T09:30:00"
    expected = dict(zip(DATA, (None, 1.0, 3, 3.5, True, None), strict=True))
    assert call(value, "head", rows=3)["rows"][2] == expected
    missing = {"city": 1, "price": 1, "day": 1}
    assert call(value, "missing") == {"rows_in_table": 6, "missing": missing}
    assert call(value, "schema")["columns"]["unit price"] == "Float64"
    counts = call(value, "value_counts", column="city")
    assert [*map(tuple, map(dict.values, counts["values"]))] == [
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
        *((name, {"columns": ["pric"]}) for name in ("select", "drop_duplicates", "drop_nulls")),
        *((name, {"columns": ["pric"]}) for name in ("unpivot", "describe")),
        *(("filter", {"where": "pric > 1"}), ("derive", {"column": "x", "expression": "pric + 1"})),
        *(("cast", {"column": "pric", "to": "int"}), ("rename", {"names": {"pric": "p"}})),
        *(("fill", {"columns": ["pric"], "method": "mean"}), ("sort", {"by": ["pric"]})),
        ("aggregate", {"by": ["city"], "values": {"pric": "sum"}}),
        ("pivot", {"index": ["city"], "on": "fresh", "values": "pric"}),
        *(("plot", {"kind": "box", "y": ["pric"]}), ("value_counts", {"column": "pric"})),
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
    calls: list[Any] = [("tables_head", {}), ("tables_drop_nulls", {})]
    session = play(tables, *calls, inputs={"t": table("pandas")}, approve="ask")
    assert [call.tool for call in session.pending] == ["tables_drop_nulls"]


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


NOTES: list[tuple[str, dict[str, Any], str]] = [
    ("drop_duplicates", {"columns": ["city"]}, "kept 4 of 6 rows"),
    (
        "filter",
        {"where": "city <> 'Rome'"},
        "kept 3 of 6 rows; the condition is NULL for 1 of the others",
    ),
    ("derive", {"column": "x", "expression": "nullif(price, 2)"}, "x is NULL in 3 rows"),
    ("fill", {"columns": ["city"], "method": "value", "value": "?"}, "filled 1 value"),
    (
        *("cast", {"column": "typed", "to": "date", "format": "%d.%m.%Y", "invalid": "null"}),
        "2 values of typed did not fit, and are missing now",
    ),
    (
        *("aggregate", {"by": ["fresh"], "values": {"price": "sum", "count": "count"}}),
        "6 rows in 2 groups; 1 row without price, and count for nothing",
    ),
    *(("rename", {"names": {"city": "town"}}, ""), ("sort", {"by": ["count"]}, "")),
]
"""A tool, its arguments, and what is said beside the table that it made."""


@pytest.mark.parametrize(("name", "arguments", "note"), NOTES)
def test_a_call_says_what_it_left_out_and_filled_in(name: str, arguments: Any, note: str) -> None:
    typed = ["31.01.2024", "30.02.2024", None, "soon", "01.02.2024", "02.02.2024"]
    (call,) = called(table("pandas", {**DATA, "typed": typed}), name, **arguments).calls
    assert [made.description for made in call.produced] == [note]
