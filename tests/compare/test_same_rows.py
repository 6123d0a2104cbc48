"""Which rows of two tables are the same rows: a table of groups has none of the table's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jupyter_toolcall.compare.differences import CHANGED, Tables, in_a_line
from jupyter_toolcall.compare.values import difference
from tests.compare.mirrored import mirrored

Change = Callable[[pd.DataFrame], pd.DataFrame]
FUNCTIONS = st.sampled_from(["sum", "min", "max", "first", "last", "count", "nunique", "size"])


def column(cells: st.SearchStrategy[Any], height: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(cells, min_size=height, max_size=height)


@st.composite
def tables(draw: Any) -> pd.DataFrame:
    """Draw a table with two columns to group by, a key or none, and columns of numbers."""
    height = draw(st.integers(2, 8))
    names = draw(st.permutations(["k", "l", "v", "w", "id"]))
    kinds = {
        "k": st.sampled_from("abcd"),
        "l": st.integers(0, 3),
        "v": st.integers(0, 9),
        "w": st.none() | st.floats(0, 9).map(lambda number: round(number, 1)),
    }
    table = pd.DataFrame({name: draw(column(cells, height)) for name, cells in kinds.items()})
    table["id"] = draw(st.permutations(range(height))) if draw(st.booleans()) else 0
    shuffled: pd.DataFrame = table[names].astype({"w": float})
    return shuffled


@st.composite
def summaries(draw: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw a table, and groups of its rows that are fewer, a pivot, or an aggregate of it."""
    table: Any = draw(tables())
    keys = draw(st.sampled_from([["k"], ["l"], ["l", "k"]]))
    others = [name for name in table.columns if name not in keys]
    functions = {
        name: draw(FUNCTIONS) for name in draw(st.lists(st.sampled_from(others), min_size=1))
    }
    match draw(st.sampled_from(["groups", "pivot", "aggregate"])):
        case "groups":
            groups = table.groupby(keys).agg(functions)
        case "pivot":
            groups = table.pivot_table(index="k", columns="l", values="v", aggfunc="sum")
        case _:
            groups = table[others].agg(["min", "max", "nunique"])
    if draw(st.booleans()):
        groups = groups.reset_index()
        if draw(st.booleans()):
            by = draw(st.sampled_from([*groups.columns]))
            groups = groups.sort_values(by, key=lambda cells: cells.map(str), ascending=False)
    assume(len(groups) < len(table))
    return (table, groups)


@given(summaries())
def test_of_groups_a_pivot_or_an_aggregate_no_cell_is_told_as_changed(
    both: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    found = difference(*both)
    assert not (isinstance(found, Tables) and found.changed), in_a_line(found)


@st.composite
def one_change(draw: Any) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Draw a table, what one call makes of it, and all that it changed in words."""
    table: Any = draw(tables())
    height, width = table.shape
    shown = f"{height} × {width} → "
    match draw(st.sampled_from(["drop", "fill", "convert", "add", "rename", "sort"])):
        case "drop":
            kept = sorted(draw(st.sets(st.integers(0, height - 1), min_size=1, max_size=height)))
            count = height - len(kept)
            says = f"{shown}{len(kept)} × {width}; {count} row{'s' * (count > 1)} removed"
            after, says = table.iloc[kept], says if count else "changed nothing"
        case "fill":
            count = int(table["w"].isna().sum())
            after = table.fillna(99)
            says = f"w: {count} cell{'s' * (count > 1)} filled" if count else "changed nothing"
        case "convert":
            after, says = table.astype({"v": str}), "v: int64 → str"
        case "add":
            after, says = table.assign(new=draw(column(st.integers(), height))), "added: new"
            says = f"{shown}{height} × {width + 1}; {says}"
        case "rename":
            after, says = table.rename(columns={"w": "x"}), "removed: w; added: x"
        case _:
            by = draw(st.sampled_from([*table.columns]))
            after = table.sort_values(by, ignore_index=True, kind="stable")
            is_sorted = after.equals(table)
            says = "changed nothing" if is_sorted else "rows in another order"
    if draw(st.booleans()):
        after = after.reset_index(drop=True)
    return table, after, says


@given(one_change())
def test_of_one_change_of_a_table_exactly_that_is_told(
    change: tuple[pd.DataFrame, pd.DataFrame, str],
) -> None:
    before, after, says = change
    found = difference(before, after)
    assert in_a_line(found, CHANGED) == says
    assert difference(after, before) == mirrored(found)


ORDERS = pd.DataFrame(
    {
        "order": range(1001, 1007),
        "customer": ["Anna", "Bob", "Anna", "Cora", "Bob", "Dan"],
        "total": [249.9, 178.0, 117.8, 45.0, 45.0, 18.2],
    }
)


GROUPS = "6 rows → 4, one for each customer"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.groupby("customer")["total"].sum().reset_index(), GROUPS),
        (lambda t: t.groupby("customer")["total"].sum().to_frame(), "a new table, 4 × 1"),
        (lambda t: t["customer"].value_counts().reset_index(), GROUPS),
        (
            lambda t: t[t.total > 20].assign(total=t.total.replace(45.0, 50.0)),
            "total: 2 cells changed; 6 × 3 → 5 × 3; 1 row removed",
        ),
        (
            lambda t: t[t.total > 20].reset_index(drop=True).assign(new=1),
            "6 × 3 → 5 × 4; 1 row removed; added: new",
        ),
        (lambda t: t.set_index("order") * 2, "a new table, 6 × 2"),
    ],
)
def test_rows_are_the_same_by_a_key_and_not_where_they_were_summed(
    change: Change, says: str
) -> None:
    assert in_a_line(difference(ORDERS, change(ORDERS)), CHANGED) == says
