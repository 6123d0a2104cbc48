"""How values of each kind differ: frames of three libraries, arrays, images, figures, models."""

from __future__ import annotations

import dataclasses
import json
import random
import re
import sys
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pydantic
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from PIL import Image, ImageDraw
from pydantic import TypeAdapter

from jupyter_toolcall.compare.comparison_rows import DifferenceRow, difference_row
from jupyter_toolcall.compare.differences import (
    CHANGED,
    Arrays,
    Fields,
    Images,
    Same,
    Tables,
    Unknown,
    in_a_line,
)
from jupyter_toolcall.compare.values import difference
from jupyter_toolcall.core.digests import encode
from jupyter_toolcall.core.json_data import sendable_data
from tests.compare.mirrored import mirrored

Maker = Callable[[dict[str, list[Any]]], Any]


def pandas_table(columns: dict[str, list[Any]]) -> Any:
    return pd.DataFrame(
        {name: pd.Series(cells, dtype=kind(cells)) for name, cells in columns.items()}
    )


def kind(cells: list[Any]) -> str:
    if any(isinstance(each, str) for each in cells):
        return "str"
    return "Int64" if all(isinstance(each, int) for each in cells) else "float64"


def polars_table(columns: dict[str, list[Any]]) -> Any:
    names = {"str": pl.String, "Int64": pl.Int64, "float64": pl.Float64}
    return pl.DataFrame(columns, schema={n: names[kind(cells)] for n, cells in columns.items()})


def arrow_table(columns: dict[str, list[Any]]) -> Any:
    names = {"str": pa.string(), "Int64": pa.int64(), "float64": pa.float64()}
    return pa.table({n: pa.array(cells, names[kind(cells)]) for n, cells in columns.items()})


def records(columns: dict[str, list[Any]]) -> Any:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


MAKERS: list[Maker] = [pandas_table, polars_table, arrow_table]
CELLS: list[st.SearchStrategy[Any]] = [
    st.integers(-3, 3),
    st.none() | st.sampled_from([-1.0, 0.5, 2.0]),
    st.none() | st.sampled_from(["a", "b", "–"]),
]


@st.composite
def two_tables(draw: Any) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Draw two tables of one height, the columns of each of one kind."""
    height = draw(st.integers(1, 6))
    kinds = draw(st.lists(st.sampled_from(CELLS), min_size=1, max_size=4))
    left, right = (
        {
            f"c{n}": draw(st.lists(each, min_size=height, max_size=height))
            for n, each in enumerate(kinds)
        }
        for _ in range(2)
    )
    return left, right


@given(two_tables())
def test_frames_of_all_libraries_differ_in_the_cells_that_a_loop_counts(
    tables: tuple[dict[str, list[Any]], dict[str, list[Any]]],
) -> None:
    left, right = tables
    found = [difference(make(left), make(right)) for make in MAKERS]
    facts = [
        {(e.name, e.changed, e.filled, e.emptied, e.by) for e in each.by_column if e.changed}
        for each in found
        if isinstance(each, Tables)
    ]
    if any(isinstance(each, Tables) and each.moved for each in found):
        return
    assert facts in ([], [facts[0]] * 3 if facts else [])
    pairs = {name: [*zip(left[name], right[name], strict=True)] for name in left}
    counted = {name: sum(x != y for x, y in cells) for name, cells in pairs.items()}
    differing = {name: count for name, count in counted.items() if count}
    assert {name: changed for name, changed, *_ in (facts[0] if facts else set())} == differing
    # Tables of two kinds are compared cell by cell.
    for make, other in permutations([*MAKERS, records], 2):
        mixed = difference(make(left), other(right))
        columns = mixed.by_column if isinstance(mixed, Tables) else ()
        assert {column.name: column.changed for column in columns} == differing
    for name, _, filled, emptied, _ in facts[0] if facts else ():
        assert filled == sum(x is None and y is not None for x, y in pairs[name])
        assert emptied == sum(y is None and x is not None for x, y in pairs[name])


@given(two_tables(), st.sampled_from(MAKERS))
def test_a_difference_of_frames_reads_from_either_side_and_a_copy_is_the_same(
    tables: tuple[dict[str, list[Any]], dict[str, list[Any]]], make: Maker
) -> None:
    left, right = make(tables[0]), make(tables[1])
    assert difference(right, left) == mirrored(difference(left, right))
    assert difference(left, make(tables[0])) == Same()


SALES: dict[str, list[Any]] = {
    "id": [5, 6, 7, 8],
    "price": [None, 1.0, None, 2.0],
    "y": [1, 2, 3, 4],
    "of": ["a", "b", "c", "c"],
}


def rows(*numbers: int) -> dict[str, list[Any]]:
    return {name: [cells[n] for n in numbers] for name, cells in SALES.items()}


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("after", "says"),
    [
        (SALES | {"price": [0.0, 1.0, 0.0, 2.0]}, "price: 2 cells filled"),
        (SALES | {"price": [None, 1.0, None, None]}, "price: 1 cell emptied"),
        (SALES | {"y": [98, 99, 100, 101]}, "y: +97 in all 4 rows"),
        (SALES | {"of": ["a", "b", "c", "d"]}, "of: 1 cell changed"),
        (SALES | {"new": [1, 1, 1, 1]}, "4 × 4 → 4 × 5; added: new"),
        (rows(0, 2, 3), "4 × 4 → 3 × 4; 1 row removed"),
        (rows(3, 2, 1, 0), "rows in another order"),
        ({name: SALES[name] for name in ("y", "id", "price", "of")}, "columns in another order"),
    ],
)
def test_what_a_call_did_to_a_frame_is_said_in_one_line(
    make: Maker, after: dict[str, list[Any]], says: str
) -> None:
    found = difference(make(SALES), make(after))
    assert in_a_line(found, CHANGED) == says
    assert difference(make(after), make(SALES)) == mirrored(found)


@pytest.mark.parametrize("make", [polars_table, arrow_table])
def test_cells_are_compared_without_numpy(make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    found = difference(make(SALES), make(SALES | {"price": [0.0, 1.0, 0.0, 2.0]}))
    assert in_a_line(found, CHANGED) == "price: 2 cells filled"


@pytest.mark.parametrize("make", MAKERS)
def test_rows_that_nothing_names_belong_together_by_what_stands_in_them(make: Maker) -> None:
    twice: dict[str, list[Any]] = {"of": ["a", "b", "b", "c"], "x": [0.5, 1.0, 1.0, 2.0]}
    fewer = {name: [cells[0], *cells[2:]] for name, cells in twice.items()}
    found = difference(make(twice), make(fewer))
    assert in_a_line(found, CHANGED) == "4 × 2 → 3 × 2; 1 row removed"
    assert difference(make(fewer), make(twice)) == mirrored(found)


def test_a_type_of_a_column_that_changed_is_named() -> None:
    polars, arrow = polars_table(SALES), arrow_table(SALES)
    cast = arrow.set_column(2, "y", arrow["y"].cast(pa.float64()))
    assert in_a_line(difference(arrow, cast)) == "y: int64 → double"
    assert in_a_line(difference(polars, polars.cast({"y": pl.Float64}))) == "y: Int64 → Float64"
    assert in_a_line(difference(polars, polars.cast({"y": pl.String}))) == "y: Int64 → String"


def objects_table(columns: dict[str, list[Any]]) -> Any:
    """Return a pandas frame whose texts are Python objects, as pandas 2 keeps them."""
    frame = pandas_table(columns)
    return frame.astype({name: object for name in columns if kind(columns[name]) == "str"})


@pytest.mark.parametrize("make", [*MAKERS, objects_table])
@pytest.mark.parametrize(
    ("texts", "numbers", "says"),
    [
        (["4.50", None, "-1e3"], [4.5, 2.0, -1000.0], "1 cell filled, "),
        (["4.50", None, "x"], [4.5, None, 0.0], "1 cell changed, "),
        (["9007199254740993", "12", "3"], [9007199254740993, 12, 3], ""),
        (["9007199254740993", "12", "3"], [9007199254740992, 12, 3], "1 cell changed, "),
        (["007", "", "3"], [7, 0, 3], "2 cells changed, "),
    ],
)
def test_texts_that_become_the_same_numbers_are_not_counted_as_changed(
    make: Maker, texts: list[Any], numbers: list[Any], says: str
) -> None:
    before, after = make({"price": texts}), make({"price": numbers})
    changed = difference(before, after)
    assert in_a_line(changed, CHANGED).startswith(f"price: {says}")
    assert ("changed" in in_a_line(changed)) == ("changed" in says)
    assert isinstance(changed, Tables)
    assert len(changed.cells) == changed.changed
    assert difference(after, before) == mirrored(changed)


def test_texts_that_become_the_same_bools_are_not_counted_as_changed() -> None:
    columns: list[Any] = [["True", "false", "yes"], [True, False, True]]
    makers: list[Callable[[Any], Any]] = [pd.DataFrame, pl.DataFrame, pa.table]
    for make in makers:
        texts, bools = (make({"x": cells}) for cells in columns)
        for changed in (difference(texts, bools), difference(bools, texts)):
            assert in_a_line(changed).startswith("x: 1 cell changed, ")


@given(st.lists(st.none() | st.floats(-1e6, 1e6), min_size=1, max_size=6), st.data())
def test_libraries_and_objects_agree_on_which_texts_are_the_numbers(
    numbers: list[float | None], data: st.DataObject
) -> None:
    odd = st.sampled_from([None, "a", " 1.0", "1_0", "nan", "inf", "0x1", "١"])
    texts = [data.draw(odd | st.just(None if n is None else f"{n:.2f}")) for n in numbers]
    assume(any(texts) and any(n is not None for n in numbers))
    tables: list[dict[str, list[Any]]] = [{"x": texts}, {"x": numbers}]
    found = [difference(*map(make, tables)) for make in (*MAKERS, objects_table)]
    same = sum(map(is_text_of, texts, numbers))
    assert [isinstance(each, Tables) and each.changed for each in found] == [len(texts) - same] * 4


def is_text_of(text: str | None, number: float | None) -> bool:
    if text is None or number is None:
        return text is None and number is None
    return re.fullmatch("-?[0-9]+[.][0-9]{2}", text) is not None and float(text) == number


def test_texts_that_become_the_same_dates_are_not_counted_and_a_date_is_shown_as_iso_text() -> None:
    texts = pd.DataFrame({"day": ["2024-01-31", "1.2.24"]})
    dates = pd.DataFrame({"day": [pd.Timestamp("2024-01-31"), pd.Timestamp("2024-02-01 09:30")]})
    changed = difference(texts, dates)
    assert isinstance(changed, Tables)
    assert [(each.left, each.right) for each in changed.cells] == [
        ("1.2.24", "2024-02-01 09:30:00")
    ]
    assert in_a_line(changed).startswith("day: 1 cell changed, ")


def test_a_single_column_is_compared_like_a_frame() -> None:
    assert (
        in_a_line(difference(pl.Series("n", [1, 2]), pl.Series("n", [1, 5]))) == "n: 1 cell changed"
    )
    assert in_a_line(difference(pa.array([1, 2]), pa.array([2, 3]))).endswith("+1 in all 2 rows")


@pytest.mark.parametrize("make", MAKERS)
def test_a_sample_of_a_large_frame_says_so_and_never_that_nothing_changed(make: Maker) -> None:
    numbers = [*range(200_000)]
    large = make({"id": numbers, "y": numbers})
    shifted = difference(large, make({"id": numbers, "y": [n + 1 for n in numbers]}))
    assert in_a_line(shifted) == "y: +1 in all 10,000 rows (a sample of 10,000 of 200,000 rows)"
    same = difference(large, make({"id": numbers, "y": numbers}))
    assert same == Unknown("no difference in a sample of 10,000 of 200,000 rows")


def test_of_a_wide_frame_the_first_columns_are_compared_and_it_says_so() -> None:
    wide = pd.DataFrame(np.zeros((3, 1_000)), columns=[f"c{n:04}" for n in range(1_000)])
    assert difference(wide, wide.copy()) == Unknown(
        "no difference in the first 200 of 1,000 columns"
    )
    found = difference(wide, wide.assign(c0001=1.0))
    assert in_a_line(found) == "c0001: +1 in all 3 rows (the first 200 of 1,000 columns)"


class Hostile:
    """A value whose own code raises what is no Exception, whatever it is asked."""

    def __eq__(self, other: object) -> bool:
        raise SystemExit("eq")

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    __hash__ = None  # type: ignore[assignment]


class Unequal(Hostile):
    """Of a hostile value in a frame of Polars, Polars prints what its `repr` raises."""

    def __repr__(self) -> str:
        return "unequal"


def hostile_array() -> Any:
    made = np.empty(3, dtype=object)
    made[0] = Hostile()
    return made


def odd_frames() -> list[Any]:
    """Return frames with what real ones have: labels of levels, names twice, zones, categories."""
    times = pd.date_range("2026-01-01", periods=3, tz="Europe/Berlin")
    return [
        pd.DataFrame({"x": [Hostile(), Hostile(), 1]}),
        pd.DataFrame({"x": [1, "a", None]}, dtype=object),
        pd.DataFrame({"x": [[1], {"a": 2}, {3}]}),
        pd.DataFrame([[1, 2], [3, 4], [5, 6]], columns=["x", "x"]),
        pd.DataFrame({("a", "b"): [1, 2, 3]}),
        pd.DataFrame({"x": [1, 2, 3]}, index=pd.MultiIndex.from_product([["a"], [1, 2, 3]])),
        pd.DataFrame({"x": [1, 2, 3]}, index=[0, 0, 0]),
        pd.DataFrame({"x": times}),
        pd.DataFrame({"x": times.tz_localize(None)}),
        pd.DataFrame({"x": times}, index=times),
        pd.DataFrame({"x": pd.Categorical(["a", "b", None])}),
        pd.DataFrame({"x": pd.array([1, None, 3], dtype="Int64")}),
        pd.DataFrame({"x": [float("nan"), float("inf"), -0.0]}),
        pd.DataFrame({"x": [pd.NaT, pd.NA, None]}, dtype=object),
        pd.DataFrame({"x": pd.arrays.SparseArray([0, 0, 1])}),
        pd.DataFrame({"x": pd.period_range("2026-01", periods=3)}),
        pd.DataFrame({1: [1, 2, 3], "1": [4, 5, 6]}),
        pd.DataFrame(),
        pd.DataFrame(index=range(3)),
        pl.DataFrame({"x": [1.0, float("nan"), None]}),
        pl.DataFrame({"x": [[1], [2, 3], None]}),
        pl.DataFrame({"x": [{"a": 1}, {"a": 2}, None]}),
        pl.DataFrame({"x": pl.Series([Unequal(), 1, None], dtype=pl.Object)}),
        pl.DataFrame({"x": pl.Series(["a", "b", None], dtype=pl.Categorical)}),
        pl.DataFrame({"x": pl.Series([*times])}),
        pl.DataFrame(),
        pa.table({"x": [[1], [2, 3], None]}),
        pa.table({"x": pa.array(["a", "b", None]).dictionary_encode()}),
        pa.table({"x": [{"a": 1}, {"a": 2}, None]}),
        pa.table({"x": pa.nulls(3)}),
        pa.table([[1, 2, 3], [4, 5, 6]], names=["x", "x"]),
        pa.table({"x": [1.0, float("nan"), None]}),
        pa.table({"x": times}),
        hostile_array(),
        np.array([("a", 1), ("b", 2)], dtype=[("n", "U1"), ("m", int)]),
        np.array(["2026-01-01", "NaT"], dtype="datetime64[D]"),
        np.array(1.5),
        np.zeros((0, 3)),
        np.zeros((2, 3, 4)),
        np.array([1 + 2j, float("nan")]),
        np.ma.masked_array([1, 2, 3], mask=[False, True, False]),
        Hostile(),
        Image.new("I;16", (4, 4)),
        Image.new("P", (4, 4)),
        Image.new("RGBA", (0, 4)),
        b"\x89PNG\r\n\x1a\n broken",
    ]


def test_no_pair_of_odd_values_raises_and_each_is_told_in_few_words() -> None:
    frames = odd_frames()
    for left in frames:
        for right in frames:
            found = difference(left, right)
            assert isinstance(in_a_line(found), str)
            assert size(found) <= 20_000


def test_an_odd_value_is_never_said_to_differ_in_a_cell_from_itself() -> None:
    for one, other in zip(odd_frames(), odd_frames(), strict=True):
        found = difference(one, other)
        if isinstance(found, Tables):
            raise AssertionError(in_a_line(found))


def size(found: Any) -> int:
    return len(encode(sendable_data(difference_row("a b", found))))


def test_both_of_two_columns_of_one_name_are_compared() -> None:
    twice = pd.DataFrame([[1, 2], [3, 4]], columns=["x", "x"])
    other = pd.DataFrame([[1, 2], [3, 5]], columns=["x", "x"])
    assert in_a_line(difference(twice, other)) == "x_2: 1 cell changed"


# -- arrays ---------------------------------------------------------------------------------


def test_arrays_differ_in_shape_type_elements_and_range() -> None:
    a = np.zeros((20, 20, 20))
    b = a.copy()
    b[0, 0, :4] = 2.0
    assert in_a_line(difference(a, b)) == "4 of 8,000 elements differ; mean 0 → 0.001; max 0 → 2"
    assert in_a_line(difference(a, a + 97)).startswith("+97 in all 8,000 elements; min 0 → 97")
    assert in_a_line(difference(a, a[:5])) == "20 × 20 × 20 → 5 × 20 × 20"
    assert in_a_line(difference(a, a.astype("float32"))) == "float64 → float32"
    assert difference(a, a.copy()) == Same()
    assert isinstance(difference(np.eye(3), np.zeros((3, 3))), Tables)


@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=3),
    st.sampled_from(["int64", "float64", "bool", "U3", "datetime64[s]", "object", "complex128"]),
    st.integers(0, 2**32),
)
def test_so_many_elements_differ_as_a_loop_counts(shape: list[int], kind: str, seed: int) -> None:
    numbers = np.random.default_rng(seed)
    a, b = (numbers.integers(0, 2, (300, *shape)).astype(kind) for _ in range(2))
    found = difference(a, b)
    count = sum(x != y for x, y in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True))
    assert (found.changed if isinstance(found, Arrays) else 0) == count
    assert difference(b, a) == mirrored(found)


def test_a_sample_of_a_large_array_says_that_it_is_one() -> None:
    large = np.zeros((3_000, 2_000))
    assert isinstance(difference(large, large.copy()), Unknown)
    assert in_a_line(difference(large, large + 1)).endswith("(a sample)")


# -- images and figures ---------------------------------------------------------------------


def test_images_are_shown_side_by_side_and_where_they_differ() -> None:
    a = Image.new("RGB", (400, 300), "white")
    b = a.copy()
    ImageDraw.Draw(b).rectangle((0, 0, 199, 299), fill="blue")
    found = difference(a, b)
    assert isinstance(found, Images)
    assert in_a_line(found) == "about 50 % of the pixels differ"
    assert all(each.address.startswith("data:image/") for each in (found.left, found.where))
    assert size(found) <= 20_000
    one = a.copy()
    one.putpixel((17, 23), (254, 255, 255))
    assert in_a_line(difference(a, one)) == "less than 1 % of the pixels differ"
    assert difference(a, a.copy()) == Same()


def test_a_large_image_is_compared_in_a_sample_that_never_says_the_same() -> None:
    large = Image.effect_noise((2_500, 2_000), 90)
    assert isinstance(difference(large, large.copy()), Unknown)
    found = difference(large, large.transpose(Image.Transpose.ROTATE_180))
    assert isinstance(found, Images)
    assert "a sample of" in in_a_line(found)
    assert size(found) <= 20_000


def test_a_figure_is_compared_by_its_picture() -> None:
    from matplotlib.figure import Figure

    def drawn(numbers: list[int]) -> Figure:
        figure = Figure()
        figure.subplots().plot(numbers)
        return figure

    found = difference(drawn([1, 2, 3]), drawn([3, 2, 1]))
    assert isinstance(found, Images)
    assert re.fullmatch(r"about \d+ % of the pixels differ", in_a_line(found))
    assert found.where.address
    assert difference(drawn([1, 2]), drawn([1, 2])) == Same()


# -- values of parts ------------------------------------------------------------------------


class Lid(pydantic.BaseModel):
    """A model with a field that nobody declared."""

    model_config = pydantic.ConfigDict(extra="allow")
    size: int = 1


class Kettle(pydantic.BaseModel):
    """A model of models."""

    name: str = "red"
    lid: Lid = Lid()
    tags: list[str] = []


@dataclasses.dataclass(slots=True)
class Spoon:
    """A dataclass without a dictionary."""

    length: int = 1
    owner: Any = None


class Slots:
    """A plain class without a dictionary."""

    __slots__ = ("a", "b")

    def __init__(self, a: int) -> None:
        self.a = a


def test_models_and_dataclasses_differ_field_by_field() -> None:
    for left, right, says in (
        (Kettle(), Kettle(name="blue"), 'name: "red" → "blue"'),
        (Kettle(), Kettle(lid=Lid(size=2)), "lid.size: 1 → 2 (+1)"),
        (Lid(), Lid.model_validate({"color": "red"}), 'color: nothing → "red"'),
        (Spoon(), Spoon(owner=Spoon(2)), "owner: null → Spoon(length=2, owner=None)"),
        (Spoon(owner=Kettle()), Spoon(owner=Kettle(tags=["a"])), "owner.tags: 1 line differs"),
        (Slots(1), Slots(2), "a: 1 → 2 (+1)"),
    ):
        found = difference(left, right)
        assert isinstance(found, Fields)
        assert in_a_line(found) == says


# -- size -----------------------------------------------------------------------------------


def test_a_difference_is_sent_in_at_most_20_kB() -> None:
    noise = random.Random(7)
    wide = {f"column {n} {'x' * 99}": [noise.random() for _ in range(300)] for n in range(90)}
    other = {name: [-each for each in cells] for name, cells in wide.items()}
    text = "\n".join("z" * noise.randrange(400) for _ in range(9_000))
    deep = {f"k{n}": {"text": text, "table": polars_table(SALES)} for n in range(60)}
    deeper = {name: {"text": text[::-1], "table": polars_table(rows(0, 1))} for name in deep}
    pairs = [(make(wide), make(other)) for make in MAKERS]
    pairs += [(text, text[::-1]), (deep, deeper)]
    pairs += [
        (Image.effect_noise((900, n), 90), Image.effect_noise((900, n), 9)) for n in (90, 900)
    ]
    for left, right in pairs:
        assert size(difference(left, right)) <= 20_000
    assert json.loads(encode(sendable_data(difference_row("a b", difference(text, "")))))


@pytest.mark.parametrize(
    ("value", "changed", "says"),
    [
        ([*range(20_000)], [-1, *range(1, 20_000)], "value: 1 cell changed"),
        (
            [*range(200_000)],
            [-1, *range(1, 200_000)],
            "value: 1 cell changed (a sample of 10,000 of 200,000 rows)",
        ),
        (
            [{"n": n} for n in range(200_000)],
            [{"n": n or -1} for n in range(200_000)],
            "n: 1 cell changed (a sample of 10,000 of 200,000 rows)",
        ),
        (
            {str(n): n for n in range(20_000)},
            {str(n): n or -1 for n in range(20_000)},
            "0: 0 → -1 (-1); …: 10,000 more parts were not compared",
        ),
    ],
    ids=["a list", "a large list", "records", "a dictionary"],
)
def test_of_a_large_value_of_plain_python_a_part_is_compared_and_it_says_so(
    value: Any, changed: Any, says: str
) -> None:
    assert in_a_line(difference(value, changed)) == says
    is_part = " of " in says or "not compared" in says
    assert isinstance(difference(value, value.copy()), Same) != is_part


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (pd.DataFrame({"a": [1.0, None]}), pd.DataFrame({"a": [None, 2.0]})),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1, 2]})),
        (pd.DataFrame({"a": ["x"]}), pd.DataFrame({"a": [1]})),
        ({"a": 1, "b": [1, 2]}, {"a": None, "c": [2]}),
        *(("one\ntwo", "one\nthree"), (1, "1"), (None, 1), ([1, 2], [2, 1]), (object(), 1)),
    ],
)
def test_a_difference_in_a_notebook_is_read_as_it_was_written(left: Any, right: Any) -> None:
    row = difference_row("left right", difference(left, right))
    assert TypeAdapter(DifferenceRow).validate_python(sendable_data(row)) == row
