"""Digests by content: the same for what is equal, however it is held, laid out, or carried over."""

from __future__ import annotations

import array
import copy
import datetime
import decimal
import functools
import pickle
import re
import subprocess
import sys
import threading
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, PrivateAttr

from jupyter_toolcall.tools.value_copies import private
from jupyter_toolcall.tools.value_digests import content_digest


class Node:
    """A tree whose children know their parent."""

    def __init__(self, name: str, parent: Node | None = None) -> None:
        self.name, self.parent, self.children = name, parent, list[Node]()
        if parent is not None:
            parent.children.append(self)


class Recipe(BaseModel):
    title: str = "fries"
    parts: list[str] = []
    _seen: int = PrivateAttr(default=0)


class Spot(NamedTuple):
    x: int
    y: int


class Circle:
    def __init__(self, r: float) -> None:
        self.r = r

    @functools.cached_property
    def area(self) -> float:
        return 3.14 * self.r**2


@dataclass
class Note:
    text: str
    tags: dict[str, int] = field(default_factory=dict)


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a: int) -> None:
        self.a = a


class Partly:
    """What a class leaves out of its pickle."""

    def __init__(self, n: int) -> None:
        self.n, self.lock = n, threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {}


class Counted:
    """A class that counts its instances."""

    count = 0

    def __init__(self) -> None:
        type(self).count += 1


def closure(n: int) -> Callable[[], int]:
    return lambda: n


def enumeration(n: int) -> Any:
    class Way(Enum):
        UP = n

    Way.__qualname__ = "Way"
    return Way.UP


def constant(n: int) -> type:
    return type("Rate", (), {"rate": n, "__module__": __name__})


def tree(*names: str) -> Node:
    root = Node("root")
    for name in names:
        Node(f"{name}.leaf", Node(name, root))
    return root


def ring(*items: int) -> list[Any]:
    made: list[Any] = [*items]
    made.append(made)
    return made


scalars = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    *(st.binary(max_size=3), st.dates(), st.decimals(), st.uuids(), st.timedeltas()),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.sets(st.text(max_size=2), max_size=4),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.dictionaries(st.text(max_size=2), inner, max_size=3).map(OrderedDict),
        st.lists(st.text(max_size=1), max_size=4).map(Counter),
        st.lists(inner, max_size=3).map(deque),
        st.binary(max_size=4).map(bytearray),
        st.lists(st.integers(0, 9), max_size=3).map(lambda n: array.array("i", n)),
        st.lists(st.text(max_size=2), max_size=2).map(lambda p: Recipe(parts=p)),
        st.builds(Note, st.text(max_size=2), st.dictionaries(st.text(max_size=1), st.integers())),
        st.builds(Spot, st.integers(), st.integers()),
        st.lists(st.text(max_size=2), max_size=2).map(lambda names: tree(*names)),
    ),
    max_leaves=6,
)


@given(values)
def test_what_is_copied_or_carried_over_is_the_same_content(value: Any) -> None:
    content = content_digest(value)
    assert content != ""
    assert content_digest(copy.deepcopy(value)) == content
    assert content_digest(pickle.loads(pickle.dumps(value))) == content


@given(values, values)
def test_only_equal_values_have_equal_digests(one: Any, other: Any) -> None:
    if content_digest([one]) == content_digest([other]):
        assert pickle.dumps(copy.deepcopy(one)) == pickle.dumps(copy.deepcopy(other)) or (
            told(one) == told(other)
        )


def told(value: Any) -> Any:
    """Return a value as what compares by content, a tree as nested tuples."""
    match value:
        case Node():
            return "Node", value.name, [told(child) for child in value.children]
        case set() | frozenset():
            return "set", sorted(value, key=repr)
        case dict() | Counter():
            return "dict", [(k, told(v)) for k, v in value.items()]
        case list() | tuple() | deque():
            return type(value).__name__, [told(item) for item in value]
        case Note():
            return "Note", value.text, told(value.tags)
    return repr(value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ring(1), ring(2)),
        (ring(1), [1, [1]]),
        (tree("a"), tree("b")),
        (tree("a", "b"), tree("b", "a")),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)),
        (defaultdict(int, a=1, b=2), defaultdict(int, b=2, a=1)),
        (Counter("ab"), Counter("ba")),
        (lambda: 1, lambda: 2),
        (lambda a, *, b: (a, b), lambda a, b: (a, b)),
        (closure(1), closure(2)),
        (enumeration(1), enumeration(2)),
        (constant(1)(), constant(2)()),
        (constant(1), constant(2)),
        (Partly(1), Partly(2)),
        (defaultdict(int, a=1), defaultdict(bool, a=1)),
        (bytearray(b"a"), b"a"),
        (array.array("i", [1]), array.array("f", [1])),
        (memoryview(b"abcd"), memoryview(b"abcd").cast("B", (2, 2))),
        (Recipe(title="a"), Recipe(title="b")),
        (Spot(1, 2), Spot(2, 1)),
        (Spot(1, 2), (1, 2)),
        (len, max),
        (int, str),
        (Slotted(1), Slotted(2)),
        (["a"] * 2_000, ["a"] * 1_999 + ["b"]),
        ([1] * 2_000, [True] * 2_000),
        ([1] * 2_000, (1,) * 2_000),
        ("a" * 2_000, "a" * 1_999 + "b"),
        ("a" * 2_000, b"a" * 2_000),
        (decimal.Decimal("1.0"), decimal.Decimal("1.00")),
        (datetime.datetime(2026, 1, 1), datetime.date(2026, 1, 1)),
        (functools.partial(int, base=2), functools.partial(int, base=8)),
        (re.compile("a"), re.compile("a", re.I)),
    ],
)
def test_what_differs_has_digests_that_differ(one: Any, other: Any) -> None:
    assert content_digest(one) != content_digest(other)
    assert "" not in (content_digest(one), content_digest(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ring(1), ring(1)),
        (tree("a", "b"), tree("a", "b")),
        (Recipe(), Recipe(title="fries")),
        (memoryview(b"abcd")[::2], memoryview(b"ac")),
        (Fraction(1, 2), Fraction(2, 4)),
        (PurePosixPath("a/b"), PurePosixPath("a") / "b"),
        (uuid.UUID(int=1), uuid.UUID("0" * 31 + "1")),
    ],
)
def test_what_is_equal_has_digests_that_are(one: Any, other: Any) -> None:
    assert content_digest(one) == content_digest(other) != ""


def test_what_only_spares_a_computation_is_no_content() -> None:
    circle = Circle(2.0)
    before = content_digest(circle)
    assert circle.area > 12
    assert content_digest(circle) == before


def test_what_a_class_changes_by_itself_is_no_content_of_its_instances() -> None:
    counted = Counted()
    before = content_digest(counted)
    Counted()
    assert content_digest(counted) == before


def test_what_is_nested_deeply_has_a_digest_and_a_copy() -> None:
    value: list[Any] = [1]
    for _ in range(5_000):
        value = [value]
    copied, is_whole = private(value)
    assert is_whole
    assert content_digest(copied) == content_digest(value) != ""


def test_what_stands_beside_the_fields_of_a_dataclass_is_content() -> None:
    one, other = Note("a"), Note("a")
    other.__dict__["more"] = 1
    assert content_digest(one) != content_digest(other)


def test_private_attributes_of_a_model_are_content() -> None:
    one, other = Recipe(), Recipe()
    other._seen = 1
    assert content_digest(one) != content_digest(other)


class Wild:
    """A class that raises what nobody expects."""

    def __reduce__(self) -> Any:
        raise OSError("wild")


@pytest.mark.parametrize(
    "made",
    [
        threading.Lock,
        lambda: (n for n in [1]),
        lambda: sys.stdout,
        lambda: sys,
        lambda: [1, {"a": threading.Lock()}],
        Wild,
    ],
)
def test_what_nobody_can_tell_has_no_digest(made: Callable[[], Any]) -> None:
    assert content_digest(made()) == ""


def test_a_chain_of_objects_has_a_digest_as_long_as_it_can_be_copied() -> None:
    chain = first = Node("0")
    for n in range(80):
        first = Node(str(n), first)
    chain.parent = None
    assert content_digest(chain) == content_digest(copy.deepcopy(chain)) != ""


def test_a_digest_does_not_go_by_where_a_process_keeps_things() -> None:
    code = (
        "import tests.tools.test_value_digests as t;"
        "from jupyter_toolcall.tools.value_digests import content_digest;"
        "print([content_digest(v) for v in ({'a', 'b', 'c'}, t.Recipe(title='a', parts=['b']),"
        " t.tree('a', 'b'), t.Note('a', {'b': 1, 'c': 2}), {t.Spot(1, 2), 'x', None})])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(["", *sys.path])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1
    assert "''" not in said.pop()


# -- arrays and tables --------------------------------------------------------------------


def test_an_array_is_what_it_holds_and_not_how_it_lies_in_memory() -> None:
    np = pytest.importorskip("numpy")
    rows = np.arange(12.0).reshape(3, 4)
    equal = [rows, np.asfortranarray(rows), np.arange(24.0).reshape(3, 8)[:, ::2] / 2]
    assert len({content_digest(each) for each in equal}) == 1
    others = [rows.T, rows.astype("f4"), rows.reshape(4, 3), rows + 1, rows.tolist()]
    assert len({content_digest(each) for each in (rows, *others)}) == 6


def many_arrays() -> list[Any]:
    np = pytest.importorskip("numpy")
    return [
        np.array(5),
        np.array([]),
        np.float64(1.5),
        np.array(["a", "bc"]),
        np.array(["a", None, [1]], dtype=object),
        np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
        np.array(["2026-01-01", "NaT"], dtype="datetime64[D]"),
        np.ma.array([1, 2], mask=[False, True]),
        np.random.default_rng(1),
        np.arange(10)[::3],
        np.array([["a"], ["bc"]], dtype=np.dtypes.StringDType()),
    ]


def many_tables() -> list[Any]:
    pd, np = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    plain = pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"], "c": [0.5, np.nan, 1.5]})
    grown = plain.copy()
    grown["d"] = [1, 2, 3]
    grown["e"] = pd.Categorical(["u", "v", "u"])
    grown["f"] = pd.to_datetime(["2026-01-01", None, "2026-01-03"], utc=True)
    grown["g"] = pd.array([1, None, 3], dtype="Int64")
    grown["h"] = [[1], {"k": 2}, None]
    return [
        *(plain, grown, plain["a"], plain["b"], plain.iloc[::2], plain.T),
        *(plain.set_index(["a", "b"]), plain.groupby("a").sum(), plain.index, plain.columns),
        *(pd.Series([1, 2], name="n"), pd.Timestamp("2026-01-01", tz="UTC"), pd.NaT),
        *(pd.period_range("2026", periods=2), pd.interval_range(0, 2), plain.iloc[:0]),
        *(pd.Series(pd.arrays.SparseArray([0, 0, 1])), pd.Series(["a"] * 2_000)),
    ]


def test_arrays_and_tables_that_are_copied_or_carried_over_are_the_same_content() -> None:
    found = {}
    for value in [*many_arrays(), *many_tables()]:
        content = content_digest(value)
        assert content != "", value
        assert content_digest(copy.deepcopy(value)) == content, value
        assert content_digest(pickle.loads(pickle.dumps(value, protocol=5))) == content, value
        found[content] = value
    assert len(found) == len([*many_arrays(), *many_tables()])


def test_a_cell_of_a_table_that_is_changed_in_place_is_another_content() -> None:
    pd = pytest.importorskip("pandas")
    for value in (7, "y", None):
        frame = many_tables()[1].copy(deep=True)
        before = content_digest(frame)
        frame.loc[0, "d" if value == 7 else "b"] = value
        assert content_digest(frame) != before
    nested = pd.DataFrame({"a": [[1], [2]]})
    before = content_digest(nested)
    nested.loc[0, "a"].append(2)
    assert content_digest(nested) != before


def test_the_names_order_and_attributes_of_a_table_are_content() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1], "b": [2]})
    said = frame.copy()
    said.attrs["source"] = "a file"
    others = [frame.rename(columns={"a": "c"}), frame[["b", "a"]], frame.set_axis([5]), said]
    assert len({content_digest(each) for each in (frame, *others)}) == 5


def test_a_picture_is_its_pixels() -> None:
    image = pytest.importorskip("PIL.Image")
    one = image.new("RGB", (4, 3), "red")
    assert content_digest(one) == content_digest(one.copy()) != ""
    other = one.copy()
    other.putpixel((0, 0), (0, 0, 0))
    assert content_digest(other) != content_digest(one)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_a_table_of_arrow_is_the_same_content_carried_over(library: str) -> None:
    tables = pytest.importorskip(library)
    columns = {"a": [1, 2, 3], "b": ["x", None, "z"]}
    one = tables.DataFrame(columns) if library == "polars" else tables.table(columns)
    for each in (private(one)[0], pickle.loads(pickle.dumps(one, protocol=5))):
        assert content_digest(each) == content_digest(one) != ""
    assert content_digest(one[:2]) != content_digest(one)


@pytest.mark.parametrize("missing", ["nan", "NA"])
def test_a_column_of_texts_has_one_digest_whether_or_not_arrow_is_installed(missing: str) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    empty = float("nan") if missing == "nan" else pd.NA
    digests = {
        content_digest(pd.Series(["a", None, "b"], dtype=pd.StringDtype(storage, na_value=empty)))
        for storage in ("python", "pyarrow")
    }
    assert len(digests) == 1
