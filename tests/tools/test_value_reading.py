"""The laws of a value's content: its digest, its private copy, and what the copy shares."""

from __future__ import annotations

import array
import collections
import copy
import ctypes
import datetime
import decimal
import functools
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import PurePosixPath
from typing import Any, ClassVar, NamedTuple, TypeAlias

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.figure import Figure
from PIL import Image
from pydantic import BaseModel, PrivateAttr

from jupyter_toolcall import Toolbox, kitchen
from jupyter_toolcall.core.digests import encode
from jupyter_toolcall.tools.plain_data import plain_data
from jupyter_toolcall.tools.value_copies import private
from jupyter_toolcall.tools.value_digests import content_digest, content_of, is_frozen


class Plain:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Node:
    """A tree whose children know their parent."""

    def __init__(self, name: str, *children: Node) -> None:
        self.name, self.children = name, [*children]
        self.parent: Node | None = None
        for child in children:
            child.parent = self


class Recipe(BaseModel):
    title: str = "fries"
    parts: list[str] = []
    _seen: int = PrivateAttr(default=0)


class Spot(NamedTuple):
    x: int
    y: Any


@attrs.define
class Bowl:
    parts: list[int] = attrs.Factory(list)


class Base:
    __slots__ = ("a",)


class Slotted(Base):
    __slots__ = ("b",)
    a: list[int]
    b: int


@dataclass
class Note:
    text: str
    tags: dict[str, int] = field(default_factory=dict)


@dataclass
class Rows(list[int]):
    name: str = ""


@dataclass(frozen=True)
class Leaf(Base):
    n: int = 0


@dataclass(frozen=True, slots=True)
class Branch:
    leaves: tuple[int, ...] = ()
    notes: list[int] = field(default_factory=list)


class Words(list[str]): ...


class Sheet(pd.DataFrame): ...


class Column(pl.DataFrame): ...


class Metres(np.ndarray[Any, Any]): ...


class Fault(ValueError):
    __slots__ = ("cell",)

    def __init__(self, text: str, cell: list[int]) -> None:
        super().__init__(text)
        self.cell = cell


class Prices(pd.Series):
    _metadata: ClassVar = ["unit"]


class Pair(ctypes.Structure):
    _fields_: ClassVar = [("x", ctypes.c_int), ("y", ctypes.c_int)]


class Side(BaseModel):
    """A part of a tree whose parts know their parent."""

    parts: list[Side] = []
    whole: Side | None = None


class Store:
    """A class that is pickled as the items that it holds."""

    def __init__(self, **items: int) -> None:
        self.items = items

    def __getstate__(self) -> dict[str, int]:
        return self.items

    def __setstate__(self, items: dict[str, int]) -> None:
        self.items = items


class Mark(Enum):
    TAGS = ([1],)


class Way(Enum):
    UP = 1
    DOWN = 2


class Circle:
    def __init__(self, r: float) -> None:
        self.r = [r]

    @functools.cached_property
    def area(self) -> float:
        return 3.14 * self.r[0] ** 2


class Hostile:
    """A class whose comparisons, hashes and texts raise what nobody expects."""

    def fail(self, *of: object) -> Any:
        raise OSError("hostile")

    __eq__ = __hash__ = __repr__ = __bool__ = __len__ = fail


def slotted() -> Slotted:
    value = Slotted()
    value.a, value.b = [1], 2
    return value


def leaf() -> Leaf:
    made = Leaf(1)
    object.__setattr__(made, "a", [1])
    return made


def noted(value: Any, **attributes: Any) -> Any:
    """Return a value with attributes of which its library knows nothing."""
    for name, attribute in attributes.items():
        object.__setattr__(value, name, attribute)
    return value


def caused() -> Fault:
    made = Fault("a", [1])
    made.__cause__ = KeyError([2])
    return made


def side() -> Side:
    inner = Side()
    inner.whole = Side(parts=[inner])
    return inner


def memory_map() -> Any:
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, "i4", "w+", shape=3)


def ring(*items: int) -> list[Any]:
    made: list[Any] = [*items]
    made.append(made)
    return made


def deep(hold: Callable[[Any], Any]) -> Any:
    return functools.reduce(lambda value, _: hold(value), range(5_000), hold([1]))


def closure(n: int) -> Callable[[], int]:
    return lambda: n


def enumeration(n: int) -> Any:
    return Enum("Way", {"UP": n}, module=__name__, qualname="Other").UP  # type: ignore[attr-defined]


def constant(n: int) -> type:
    return type("Rate", (), {"rate": n, "__module__": __name__})


def memoized(n: int) -> Any:
    return functools.lru_cache(closure(n))


def plot(first: float = 1) -> Figure:
    figure = Figure()
    figure.subplots().plot([first, 2])
    return figure


def table(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"], **columns})


def described() -> pd.DataFrame:
    frame = table(f=pd.date_range("2026", periods=3, freq="D", tz="UTC")).set_index("f")
    frame.attrs["source"] = ["a file"]
    return frame.set_flags(allows_duplicate_labels=False)


Make: TypeAlias = Callable[[], Any]
Change: TypeAlias = Callable[[Any], object]


def set_item(key: Any, value: Any) -> Change:
    return lambda container: container.__setitem__(key, value)


def set_cell(frame: Any) -> None:
    frame.loc[frame.index[0], "a"] = 9


def grow(name: str) -> Change:
    return lambda value: getattr(value, name).append(5)


def assign(name: str) -> Change:
    return lambda value: setattr(value, name, "changed")


def assign_number(value: Any) -> None:
    value.x = 9


CHANGES: dict[str, tuple[Make, Change]] = {
    "list": (lambda: [1, [2]], lambda v: v[1].append(3)),
    "dict": (lambda: {"a": 1, "b": 2}, lambda v: v.update(a=v.pop("a"))),
    "set": (lambda: {"a", "b", "c", ("d", 1)}, lambda v: v.add("e")),
    "bytearray": (lambda: bytearray(b"ab"), lambda v: v.append(1)),
    "array": (lambda: array.array("i", [1]), lambda v: v.append(1)),
    "deque": (lambda: collections.deque([1], 3), lambda v: v.append(1)),
    "Counter": (lambda: collections.Counter("ab"), lambda v: v.update("a")),
    "defaultdict": (lambda: collections.defaultdict(list, a=[1]), lambda v: v["b"]),
    "OrderedDict": (lambda: collections.OrderedDict(a=1, b=2), lambda v: v.move_to_end("a")),
    "list with fields": (lambda: Rows("a"), lambda v: v.append(3)),
    "fields of a list": (lambda: Rows("a"), assign("name")),
    "subclass of list": (lambda: Words("ab"), lambda v: v.append("c")),
    "object": (lambda: Plain(a=[1], b="x"), grow("a")),
    "slots of a base": (slotted, grow("a")),
    "dataclass": (lambda: Note("a", {"b": 1}), lambda v: v.tags.update(c=1)),
    "beside the fields": (lambda: Note("a"), assign("more")),
    "frozen with a slot of a base": (leaf, grow("a")),
    "frozen with slots": (lambda: Branch((1,), [2]), grow("notes")),
    "pydantic": (lambda: Recipe(parts=["a"]), grow("parts")),
    "private of pydantic": (Recipe, assign("_seen")),
    "attrs": (lambda: Bowl([1]), grow("parts")),
    "named tuple": (lambda: Spot(1, [2]), grow("y")),
    "structure of C": (lambda: Pair(1, 2), assign_number),
    "view": (lambda: np.arange(20)[::3], set_item(0, 9)),
    "masked": (lambda: np.ma.array([1, 2], mask=[False, True]), set_item(0, 9)),
    "array of objects": (lambda: np.array([[1], None], object), lambda v: v[0].append(2)),
    "texts of numpy": (lambda: np.array(["a", "bc"], np.dtypes.StringDType()), set_item(0, "q")),
    "random numbers": (lambda: np.random.default_rng(1), lambda v: v.random()),
    "table": (table, set_cell),
    "lists in cells": (lambda: table(o=[[1], [2], []]), lambda v: v.loc[0, "o"].append(5)),
    "categories": (lambda: table(c=pd.Categorical(["u", "v", "u"])), set_cell),
    "missing numbers": (lambda: table(n=pd.array([1, None, 3], "Int64")), set_cell),
    "flags, attributes, zone": (described, lambda v: v.attrs["source"].append("two")),
    "index of two levels": (
        lambda: table().set_index(["a", "b"]).index,
        lambda v: v.set_names(["q", "b"], inplace=True),
    ),
    "subclass of a table": (lambda: Sheet({"a": [1]}), set_cell),
    "a table in an object": (lambda: Plain(t=[table()]), lambda v: set_cell(v.t[0])),
    "polars over numpy": (
        lambda: pl.DataFrame({"a": np.arange(3.0)}),
        lambda v: v.insert_column(0, pl.Series("z", [1, 2, 3])),
    ),
    "pyarrow": (lambda: Plain(t=pa.table({"a": [1, None], "b": ["x", "y"]})), assign("t")),
    "image": (lambda: Image.new("RGB", (4, 3), "red"), lambda v: v.putpixel((0, 0), (0, 0, 0))),
    "figure": (plot, lambda v: v.axes[0].plot([2, 1])),
    "a tree with parents": (lambda: Node("r", Node("a"), Node("b")), lambda v: v.children.pop()),
    "holds itself": (lambda: ring(1), set_item(0, 5)),
    "5,000 deep": (lambda: deep(lambda v: [v]), lambda v: v.append(1)),
    "5,000 objects deep": (lambda: deep(lambda v: Plain(a=v)), assign("a")),
    "attribute of an array": (lambda: noted(np.arange(2).view(Metres), unit=[1]), grow("unit")),
    "attribute of polars": (lambda: noted(Column({"a": [1]}), notes=[1]), grow("notes")),
    "attribute of a table": (lambda: noted(Sheet({"a": [1]}), notes=[1]), grow("notes")),
    "cause and slots of an error": (caused, grow("cell")),
    "cause of an error": (caused, lambda v: v.__cause__.args[0].append(3)),
    "pydantic, holds itself": (side, lambda v: v.whole.parts.append(Side())),
    "metadata of a column": (lambda: noted(Prices([1, 2]), unit=["EUR"]), grow("unit")),
    "styled table": (lambda: table().style, lambda v: v.hide()),
    "memory map": (memory_map, set_item(0, 9)),
    "a part of a figure": (lambda: plot().axes[0], lambda v: v.plot([2, 1])),
    "a hostile class": (Hostile, assign("n")),
    "cached property": (lambda: Circle(2.0), grow("r")),
    "an assigned cached property": (lambda: Circle(2.0), assign("area")),
    "functions": (lambda: [set_cell, len, np.mean, re, Circle], lambda v: v.pop()),
    "moments": (lambda: [datetime.date(2026, 1, 1), decimal.Decimal("1.0")], lambda v: v.pop()),
}
"""Values that are made anew, and a change of each."""
HOLD_THEMSELVES = ("a tree with parents", "holds itself", "pydantic, holds itself")
READ: dict[str, Callable[[Any], object]] = {
    "cached property": lambda v: v.area,
    "table": lambda v: (v["a"], v.describe(), v.index.is_unique, v.columns.get_loc("b")),
    "polars over numpy": lambda v: (v["a"].is_sorted(), v.sort("a"), v.describe()),
    "pydantic": lambda v: v.model_dump(),
    "figure": lambda v: v.axes[0].get_xlim(),
}
"""What reads a value, and may keep what it computes."""


@pytest.mark.parametrize("name", CHANGES)
def test_equal_content_has_one_digest_and_a_copy_is_private(name: str) -> None:
    make, change = CHANGES[name]
    value = make()
    content = content_of(value)
    assert content.is_whole
    assert content_of(make()) == content
    # Whatever is shared inside, except in what holds itself.
    shares = content_digest([value, value]) == content_digest([value, make()])
    assert shares != (name in HOLD_THEMSELVES)
    copied, is_whole = private(value)
    assert is_whole
    assert copied is not value
    assert content_of(copied) == content_of(private(copied)[0]) == content
    READ.get(name, id)(value)
    assert content_of(value) == content, "a value that was only read"
    change(copied)
    assert content_of(copied) != content
    assert content_of(value) == content, "the original of a changed copy"


PROBE = """
from tblib import pickling_support
pickling_support.install()
from tests.tools.test_value_reading import CHANGES, Toolbox, content_of, kitchen
print([tool.version() for tool in Toolbox(kitchen.Potato)])
print([content_of(make()) for name, (make, _) in CHANGES.items() if name != "functions"])
"""


def test_a_digest_is_the_same_in_another_process() -> None:
    # The seed of the hashes there is another one, and errors are pickled as Dask has it.
    other = subprocess.run(
        [sys.executable, "-c", PROBE],
        env={"PYTHONHASHSEED": "1", "PYTHONPATH": ":".join(["", *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    here = [content_of(make()) for name, (make, _) in CHANGES.items() if name != "functions"]
    versions = [tool.version() for tool in Toolbox(kitchen.Potato)]
    assert other.stdout == f"{versions}\n{here}\n"


scalars = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    *(st.binary(max_size=3), st.dates(), st.decimals(), st.uuids(), st.timedeltas()),
    *(st.sampled_from(Way), st.builds(Leaf, st.integers(0, 3))),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.sets(st.text(max_size=2), max_size=4),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.lists(inner, max_size=3).map(collections.deque),
        st.lists(st.text(max_size=2), max_size=2).map(lambda p: Recipe(parts=p)),
        st.builds(Note, st.text(max_size=2), st.dictionaries(st.text(max_size=1), st.integers())),
        st.builds(Spot, st.integers(), inner),
        inner.map(lambda item: Plain(item=item)),
        inner.map(lambda item: [item, item]),
    ),
    max_leaves=6,
)


@given(values)
def test_what_is_copied_or_pickled_has_the_same_content_and_its_data_is_json(value: Any) -> None:
    content, (copied, is_whole) = content_digest(value), private(value)
    assert is_whole
    assert content_digest(copied) == content_digest(copy.deepcopy(value)) == content != ""
    assert content_digest(pickle.loads(pickle.dumps(value))) == content
    encode(plain_data(value)).encode("ascii")


def as_text(value: Any) -> str:
    """Return a value as a text that is the same for equal content alone."""
    match value:
        case set():
            return f"set({sorted(map(as_text, value))})"
        case dict():
            return f"dict({[(key, as_text(item)) for key, item in value.items()]})"
        case list() | tuple() | collections.deque():
            return f"{type(value).__name__}({[*map(as_text, value)]})"
        case Plain() | Note():
            return f"{type(value).__name__}({as_text(vars(value))})"
    return f"{type(value).__name__}({value!r})"


@given(values, values)
def test_other_content_has_another_digest(one: Any, other: Any) -> None:
    assert (content_digest(one) == content_digest(other)) == (as_text(one) == as_text(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *((ring(1), [1, [1]]), (0.0, -0.0), (lambda: 1, lambda: 2), (closure(1), closure(2))),
        (lambda a, *, b: (a, b), lambda a, b: (a, b)),
        (enumeration(1), enumeration(2)),
        *((constant(1)(), constant(2)()), (constant(1), constant(2))),
        (collections.defaultdict(int, a=1), collections.defaultdict(bool, a=1)),
        (array.array("i", [1]), array.array("f", [1])),
        (memoryview(b"abcd"), memoryview(b"abcd").cast("B", (2, 2))),
        *(([1] * 2_000, [True] * 2_000), ([1] * 2_000, (1,) * 2_000)),
        *((Store(a=1, b=2), Store(b=2, a=1)), (plot(), plot(1 + 1e-9))),
        (memoized(1), memoized(2)),
        (functools.partialmethod(int, 1), functools.partialmethod(int, 2)),
        (functools.partial(dict, a=1, b=2), functools.partial(dict, b=2, a=1)),
        (functools.partial(int, base=2), functools.partial(int, base=8)),
        (re.compile("a"), re.compile("a", re.I)),
        *((np.arange(6), np.arange(6).reshape(2, 3)), (np.arange(6), np.arange(6.0))),
        (np.ma.array([1, 2], fill_value=7), np.ma.array([1, 2], fill_value=8)),
        *((table(), table().rename(columns={"a": "c"})), (table(), table()[["b", "a"]])),
        *((table(), table().set_axis([5, 6, 7])), (table(), table().astype({"a": "i4"}))),
        *((table(), table().set_flags(allows_duplicate_labels=False)), (table(), Sheet(table()))),
        (pl.DataFrame({"a": [1], "b": [2]}), pl.DataFrame({"b": [2], "a": [1]})),
        (pa.table({"a": [1]}), pa.table({"a": [1]}).replace_schema_metadata({"k": "v"})),
    ],
)
def test_what_is_written_alike_and_differs_has_digests_that_differ(one: Any, other: Any) -> None:
    assert "" != content_digest(one) != content_digest(other) != ""


SORTED = pl.DataFrame({"a": [3, 1, 2]}).sort("a")
TEXTS = pd.Series(["a", None, "b"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Recipe(), Recipe(title="fries")),
        (Plain(a=1, b=2), Plain(b=2, a=1)),
        (memoryview(b"abcd")[::2], memoryview(b"ac")),
        (PurePosixPath("a/b"), PurePosixPath("a") / "b"),
        (np.ones((2, 3)), np.asfortranarray(np.ones((2, 3)))),
        (table(), table()[table()["a"] > 0]),
        (table(), table().set_axis(pd.Index([0, 1, 2]))),
        (TEXTS.astype("string[python]"), TEXTS.astype("string[pyarrow]")),
        (SORTED, pl.DataFrame({"a": [1, 2, 3]})),
        (SORTED, pl.concat([SORTED[:1], SORTED[1:]])),
        (pa.table({"a": [1, 2]}), pa.table({"a": [0, 1, 2]}).slice(1)),
        (pa.table({"a": ["x", "y"]}), pa.concat_tables([pa.table({"a": [t]}) for t in "xy"])),
    ],
)
def test_how_a_value_lies_in_memory_is_no_content(one: Any, other: Any) -> None:
    assert content_digest(one) == content_digest(other) != ""


def test_what_a_class_changes_by_itself_is_no_content_of_its_instances() -> None:
    class Counted:
        count = 0

        def __init__(self) -> None:
            type(self).count += 1

    counted = Counted()
    before = content_digest(counted)
    Counted()
    assert content_digest(counted) == before


def test_models_in_models_are_read_once() -> None:
    value = functools.reduce(lambda inner, _: Side(parts=[inner]), range(60), Side())
    assert content_digest(value) != ""


def test_a_member_of_an_enum_that_changes_is_another_value() -> None:
    before = content_of([Mark.TAGS])
    assert private(Mark.TAGS) == (Mark.TAGS, False)
    Mark.TAGS.value[0].append(2)
    assert content_of([Mark.TAGS]) != before


def test_a_value_that_shares_much_is_read_in_the_time_of_its_parts() -> None:
    value, other = [0], [0]
    for _ in range(30):
        value, other = [value, value], [other, [*other]]  # type: ignore[list-item]
    assert content_digest(value) == content_digest(other) != ""


# -- what cannot be read ----------------------------------------------------------------------


class Wild:
    """A class that raises what nobody expects."""

    def __reduce__(self) -> Any:
        raise OSError("wild")


class Partly:
    """What a class leaves out of its pickle counts, as far as it can be read."""

    def __init__(self, n: int) -> None:
        self.n, self.lock = n, threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize(
    "make",
    [
        threading.Lock,
        lambda: (n for n in [1]),
        lambda: sys.stdout,
        Wild,
        lambda: types.MappingProxyType({}),
    ],
)
def test_what_cannot_be_read_is_shared_and_that_is_said(make: Make) -> None:
    value = make()
    assert content_digest(value) == content_digest([1, {"a": value}]) == ""
    assert private(value) == (value, False)
    # All else is the copy's own, and a change of it is seen.
    holder = Plain(part=value, notes=[1])
    copied, is_whole = private(holder)
    assert (is_whole, copied.part is value) == (False, True)
    assert content_of(copied) == content_of(holder)
    copied.notes.append(2)
    assert content_of(copied) != content_of(holder)


def test_what_a_class_leaves_out_of_its_pickle_is_content() -> None:
    assert "" != content_digest(Partly(1)) != content_digest(Partly(2)) != ""


def test_a_value_whose_class_is_gone_can_be_read_and_copied() -> None:
    module = sys.modules["gone"] = types.ModuleType("gone")
    exec("class Gone:\n    pass", vars(module))
    value = vars(sys.modules.pop("gone"))["Gone"]()
    assert content_digest(value) != ""
    copied, is_whole = private(value)
    assert is_whole
    assert type(copied) is type(value)


def test_a_value_that_changes_while_it_is_read_is_marked_at_most() -> None:
    class Growing:
        def __init__(self) -> None:
            self.parts = list[Any]()

        def __reduce__(self) -> Any:
            self.parts.append([])
            return Growing, (), {"parts": self.parts}

    content_of(Growing())
    private({1: Growing()})


# -- copies -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hold",
    [lambda a: [a], lambda a: pl.DataFrame({"a": a}), lambda a: Plain(t=pd.Series(a, copy=False))],
)
def test_a_copy_has_memory_of_its_own(hold: Callable[[Any], Any]) -> None:
    numbers = np.arange(3.0)
    copied, _ = private(hold(numbers))
    before = content_digest(copied)
    numbers[0] = 9
    assert content_digest(copied) == before


@pytest.mark.parametrize("library", [np.asarray, pd.Series, pa.array])
def test_a_read_only_copy_shares_memory_and_has_the_same_content(library: Any) -> None:
    value = library(np.arange(3.0))
    copied, is_whole = private(value, read_only=True)
    assert is_whole
    assert np.shares_memory(np.asarray(copied), np.asarray(value))
    assert not np.asarray(copied).flags.writeable
    assert content_of(copied) == content_of(value)


@pytest.mark.parametrize("value", [1, (1, "a"), Leaf(), Way.UP, kitchen.Sink()])
@pytest.mark.parametrize("changing", [leaf(), Branch(), [1], ([],), Plain()], ids=type)
def test_only_what_cannot_change_needs_no_copy(value: Any, changing: Any) -> None:
    assert (is_frozen(value), is_frozen(changing)) == (True, False)
    assert private(value)[0] is value
    assert private(changing)[0] is not changing


def test_a_copy_keeps_what_is_shared_inside_and_no_figure_of_it_is_shown() -> None:
    figure, _ = pyplot.subplots()
    numbers = pyplot.get_fignums()
    copied = private([figure, {"again": figure}])[0]
    assert copied[0] is copied[1]["again"] is not figure
    assert pyplot.get_fignums() == numbers
    pyplot.close(figure)
