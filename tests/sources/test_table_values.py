"""Random tables of each type: what the table tools compute is what SQL's logic says of the rows.

The oracle is plain Python over rows: None is NULL, AND, OR and NOT are three-valued, integers are
exact, and a missing value equals nothing. A column that SQL does not have is an error in one line.
"""

from __future__ import annotations

import datetime
import decimal
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_toolcall.core.errors import CallError
from jupyter_toolcall.tools.value_digests import content_digest
from tests.sources.tables import Rows, exact_rows, tools

_YEARS = datetime.datetime(1900, 1, 1), datetime.datetime(2200, 1, 1)
INTEGERS = {
    f"{sign}int{bits}": (0 if sign else -(2 ** (bits - 1)), 2 ** (bits - (not sign)) - 1)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
PAIRS = st.fixed_dictionaries({"x": st.integers(0, 2), "y": st.sampled_from("ab")})
UTC = st.just(datetime.UTC)
DAYS = datetime.timedelta(9999)
TYPES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    **{name: (pa.type_for_alias(name), st.integers(*ends)) for name, ends in INTEGERS.items()},
    "float": (pa.float64(), st.floats(allow_infinity=False, width=64)),
    "float32": (pa.float32(), st.floats(allow_infinity=False, width=32)),
    "bool": (pa.bool_(), st.booleans()),
    "text": (pa.string(), st.sampled_from(["a", "B", 'it\'s "x"', "🥔 é", "", "2", " "])),
    "category": (pa.dictionary(pa.int32(), pa.string()), st.sampled_from(["low", "high", "é"])),
    "date": (pa.date32(), st.dates(datetime.date(1900, 1, 1), datetime.date(2200, 1, 1))),
    "datetime": (pa.timestamp("us"), st.datetimes(*_YEARS)),
    "zoned": (pa.timestamp("us", "Europe/Rome"), st.datetimes(*_YEARS, timezones=UTC)),
    "decimal": (pa.decimal128(20, 3), st.decimals(-(10**9), 10**9, places=3)),
    "duration": (pa.duration("us"), st.timedeltas(-DAYS, DAYS)),
    "time": (pa.time64("us"), st.times()),
    "list": (pa.list_(pa.int64()), st.lists(st.integers(0, 3), max_size=2)),
    "struct": (pa.struct({"x": pa.int64(), "y": pa.string()}), PAIRS),
}
NAMES = st.sampled_from(["n", "N", "a b", 'a"b', "🥔", "select", "0", "c0", "pos", "a.b", "t"])
ENGINES: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": lambda table: as_pandas(table),
    "pandas with types of Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda table: pl.from_arrow(table),
    "pyarrow": lambda table: table,
}


def as_pandas(table: pa.Table) -> pd.DataFrame:
    """Return a table in the types of numpy, but integers with missing values in nullable ones."""
    nullable = {array.type for array in table.columns if array.null_count}
    names = {name: name.replace("int", "Int").replace("uI", "UI") for name in INTEGERS}
    types = {pa.type_for_alias(old): pd.api.types.pandas_dtype(new) for old, new in names.items()}
    mapped = {type_: dtype for type_, dtype in types.items() if type_ in nullable}
    frame: pd.DataFrame = table.to_pandas(types_mapper=mapped.get)
    return frame


@st.composite
def arrow_tables(draw: st.DrawFn, types: Sequence[str] = tuple(TYPES), rows: int = 8) -> pa.Table:
    """Draw a table of one to four columns of types, with missing values, or without rows."""
    count = draw(st.integers(0, rows))
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    columns = []
    for _ in names:
        type_, values = TYPES[draw(st.sampled_from(types))]
        cells = draw(st.lists(st.none() | values, min_size=count, max_size=count))
        columns.append(pa.array(cells, type_))
    return pa.Table.from_arrays(columns, names=names)


def is_same(first: Any, second: Any) -> bool:
    """Return whether two cells are the same value; floats of 32 bits came through a wider type."""
    if isinstance(first, float) and isinstance(second, float):
        return first == second or math.isclose(first, second, rel_tol=1e-6)
    if isinstance(first, int | float) and isinstance(second, decimal.Decimal):
        return decimal.Decimal(first) == second
    return bool(first == second)


def assert_same(result: Any, expected: Rows) -> None:
    made = exact_rows(result)
    assert len(made) == len(expected)
    for row, other in zip(made, expected, strict=True):
        assert row.keys() == other.keys()
        assert all(is_same(row[name], other[name]) for name in row), (row, other)


def table_or_error(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the table that a tool returns, or the text of its error."""
    try:
        return function(*arguments)
    except CallError as error:
        return str(error)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


engines = pytest.mark.parametrize("engine", ENGINES)
random_tables = settings(max_examples=12, deadline=None)


@engines
@random_tables
@given(data=st.data())
def test_columns_through_sql_have_the_same_values(engine: str, data: st.DataObject) -> None:
    table = ENGINES[engine](data.draw(arrow_tables()))
    rows = exact_rows(table)
    for name in rows[0] if rows else ():
        result = tools.derive_column(table, "a copy", quoted(name))
        assert_same(result, [{**row, "a copy": row[name]} for row in rows])
    assert_same(table, rows)


@engines
@random_tables
@given(data=st.data())
def test_a_table_that_loses_no_row_has_the_same_content(engine: str, data: st.DataObject) -> None:
    table = ENGINES[engine](data.draw(arrow_tables()))
    kept = tools.filter_rows(table, "1 = 1")
    assert kept is not table
    assert content_digest(kept) == content_digest(table)


# -- conditions ---------------------------------------------------------------------------------

Truth = bool | None
Condition = tuple[str, Callable[[dict[str, Any]], Truth]]


def negated(value: Truth) -> Truth:
    return None if value is None else not value


def both(first: Truth, second: Truth) -> Truth:
    if first is False or second is False:
        return False
    return None if first is None or second is None else True


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
}


def conditions(names: Sequence[str]) -> st.SearchStrategy[Condition]:
    """Draw a condition on columns of integers, and the same in Python."""

    def compared(left: str, symbol: str, right: str | int) -> Condition:
        def truth(row: dict[str, Any]) -> Truth:
            first, second = row[left], row[right] if isinstance(right, str) else right
            if first is None or second is None:
                return None
            return COMPARISONS[symbol](first, second)

        other = quoted(right) if isinstance(right, str) else str(right)
        return f"{quoted(left)} {symbol} {other}", truth

    column, small = st.sampled_from([*names]), st.integers(-3, 130)
    base = st.builds(compared, column, st.sampled_from([*COMPARISONS]), column | small) | st.builds(
        lambda name: (f"{quoted(name)} IS NULL", lambda row: row[name] is None), column
    )
    return st.recursive(
        base,
        lambda inner: (
            st.builds(lambda c: (f"NOT ({c[0]})", lambda row: negated(c[1](row))), inner)
            | st.builds(
                lambda a, b: (f"({a[0]}) AND ({b[0]})", lambda row: both(a[1](row), b[1](row))),
                *(inner, inner),
            )
            | st.builds(
                lambda a, b: (
                    f"({a[0]}) OR ({b[0]})",
                    lambda row: negated(both(negated(a[1](row)), negated(b[1](row)))),
                ),
                *(inner, inner),
            )
        ),
        max_leaves=4,
    )


@engines
@random_tables
@given(data=st.data())
def test_a_filter_keeps_rows_whose_condition_is_true(engine: str, data: st.DataObject) -> None:
    arrow = data.draw(arrow_tables([*INTEGERS]))
    text, truth = data.draw(conditions(arrow.column_names))
    expected = [row for row in exact_rows(arrow) if truth(row) is True]
    assert_same(tools.filter_rows(ENGINES[engine](arrow), text), expected)


@engines
@random_tables
@given(data=st.data())
def test_arithmetic_on_integers_is_exact_or_an_error(engine: str, data: st.DataObject) -> None:
    arrow = data.draw(arrow_tables([*INTEGERS]))
    names = st.sampled_from(arrow.column_names)
    left, right = data.draw(names), data.draw(names)
    symbol = data.draw(st.sampled_from("+-*"))
    compute = {"+": operator.add, "-": operator.sub, "*": operator.mul}[symbol]
    expression = f"{quoted(left)} {symbol} {quoted(right)}"
    result = table_or_error(tools.derive_column, ENGINES[engine](arrow), "x", expression)
    expected = [
        None if row[left] is None or row[right] is None else compute(row[left], row[right])
        for row in exact_rows(arrow)
    ]
    if isinstance(result, str):
        ends = [INTEGERS[str(arrow[name].type)] for name in (left, right)]
        low, high = max(end[0] for end in ends), min(end[1] for end in ends)
        assert "out of range" in result or "does not fit" in result
        assert any(value is not None and not low <= value <= high for value in expected)
    else:
        assert [row["x"] for row in exact_rows(result)] == expected


# -- order, groups and joins --------------------------------------------------------------------

KEYS = [name for name in TYPES if name not in ("list", "struct", "category")]


def key_of(cell: Any) -> tuple[bool, Any]:
    """Return what a cell is sorted by: missing ones come last."""
    return cell is None, 0 if cell is None else cell.encode() if isinstance(cell, str) else cell


@engines
@random_tables
@given(data=st.data(), descending=st.booleans())
def test_sorting_is_stable_with_missing_values_last(
    engine: str, data: st.DataObject, descending: bool
) -> None:
    arrow = data.draw(arrow_tables(KEYS))
    table = ENGINES[engine](arrow)
    name = data.draw(st.sampled_from(arrow.column_names))
    rows = exact_rows(table)
    present = [row for row in rows if row[name] is not None]
    present.sort(key=lambda row: key_of(row[name]), reverse=descending)
    if descending:
        # `reverse` keeps equal rows in their order, as SQL with the position does.
        present = sorted(present, key=lambda row: key_of(row[name]), reverse=True)
    expected = [*present, *[row for row in rows if row[name] is None]]
    assert_same(tools.sort_rows(table, [name], descending), expected)


@engines
@random_tables
@given(data=st.data())
def test_groups_have_each_row_once_and_missing_values_count_for_nothing(
    engine: str, data: st.DataObject
) -> None:
    arrow = data.draw(arrow_tables([*INTEGERS, "text", "bool"]))
    table = ENGINES[engine](arrow)
    rows = exact_rows(arrow)
    key = data.draw(st.sampled_from(arrow.column_names))
    numbers = [n for n in arrow.column_names if pa.types.is_integer(arrow[n].type) and n != key]
    groups = list[Rows]()
    for row in sorted(rows, key=lambda row: key_of(row[key])):
        if not (groups and groups[-1][0][key] == row[key]):
            groups.append([])
        groups[-1].append(row)
    counted = tools.aggregate(table, [key])
    assert_same(counted, [{key: group[0][key], "rows": len(group)} for group in groups])
    for name in numbers:
        present = [[row[name] for row in group if row[name] is not None] for group in groups]
        sums = [sum(cells) if cells else None for cells in present]
        expected = [{key: g[0][key], f"{name}_sum": s} for g, s in zip(groups, sums, strict=True)]
        result = table_or_error(tools.aggregate, table, [key], {name: "sum"})
        if isinstance(result, str):
            assert any(total is not None and abs(total) >= 2**63 for total in sums)
        else:
            assert_same(result, expected)


@engines
@random_tables
@given(data=st.data(), how=st.sampled_from(["inner", "left", "full", "semi", "anti"]))
def test_a_join_has_the_pairs_of_rows_with_equal_keys_and_loses_no_other(
    engine: str, data: st.DataObject, how: Any
) -> None:
    small = st.none() | st.integers(0, 3)
    left = data.draw(st.lists(small, max_size=6))
    right = data.draw(st.lists(small, max_size=6))
    keys = st.sampled_from(["int8", "int64", "uint16", "float"])
    key = data.draw(keys)
    types = TYPES[key][0], TYPES[data.draw(st.just(key) | keys)][0]
    first = pa.table({"k": pa.array(left, types[0]), "a": pa.array(range(len(left)), "int64")})
    second = pa.table({"k": pa.array(right, types[1]), "b": pa.array(range(len(right)), "int64")})
    pairs = [(m, n) for m, a in enumerate(left) for n, b in enumerate(right) if a == b is not None]
    matched = {m for m, _ in pairs}
    if how in ("semi", "anti"):
        keep = [m for m in range(len(left)) if (m in matched) == (how == "semi")]
        expected: Rows = [{"k": left[m], "a": m} for m in keep]
    else:
        everywhere: list[tuple[int | None, int | None]] = [*pairs]
        if how != "inner":
            everywhere += [(m, None) for m in range(len(left)) if m not in matched]
            everywhere.sort(key=lambda pair: (pair[0] or 0, pair[1] or 0))
        if how == "full":
            everywhere += [(None, n) for n in range(len(right)) if n not in {n for _, n in pairs}]
        expected = [
            {"k": right[n or 0] if m is None else left[m], "a": m, "b": n} for m, n in everywhere
        ]
    tables = ENGINES[engine](first), ENGINES[engine](second)
    result = table_or_error(tools.join_tables, *tables, ["k"], how)
    if isinstance(result, str):
        assert how == "full"
        assert types[0] != types[1]
        assert result == "k has two types; cast one first"
    else:
        assert_same(result, expected)


@engines
@random_tables
@given(data=st.data())
def test_long_and_wide_again_is_the_same_table(engine: str, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 5))
    cells = st.lists(st.none() | st.integers(-9, 9), min_size=count, max_size=count)
    columns = {"id": range(count), "x": data.draw(cells), "y": data.draw(cells)}
    arrow = pa.table({name: pa.array(column, "int64") for name, column in columns.items()})
    long = tools.unpivot(ENGINES[engine](arrow), ["x", "y"])
    assert len(exact_rows(long)) == 2 * count
    assert_same(tools.pivot(long, ["id"], "name", "value"), exact_rows(arrow))
    assert_same(tools.drop_duplicates(long), exact_rows(long))
