"""What a model reads of a result: JSON, in which the names of objects stand; and how it passes
such a result on."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import io
import json
import pathlib
import types
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, RootModel

from jupyter_toolcall import Session, Toolbox
from tests.example_tools import results as sent_results
from tests.example_tools import run_calls


class Potato:
    def __init__(self, grams: int = 100) -> None:
        self.grams = grams

    def weigh(self) -> int:
        return self.grams

    def __eq__(self, other: object) -> bool:
        return type(other) is Potato and other.grams == self.grams

    def __hash__(self) -> int:
        return self.grams


class Size(enum.IntEnum):
    SMALL = 1


class Way(enum.Enum):
    UP = "up"


class Stamp(datetime.datetime):
    """A time of a class of one's own."""


class Moment(pd.Timestamp):
    """A time of pandas, of a class of one's own."""


class Point(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass
class Weather:
    """A record without objects."""

    city: str
    at: datetime.date


def results(session: Session) -> list[Any]:
    """Return what the model was told of each call, in order."""
    return [json.loads(result.content) for result in sent_results(session)]


def ran(*calls: Any, tools: tuple[Any, ...], **options: Any) -> Session:
    """Return a session in which a model made these calls."""
    named = [(call, {}) if isinstance(call, str) else call for call in calls]
    return run_calls(Potato, *tools, calls=named, **options)


def told(value: Any) -> Any:
    """Return what the model is told of a tool that returns a value."""

    def give() -> Any:
        return value

    (data,) = results(ran("give", tools=(give,)))
    return data


# -- JSON -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (Size.SMALL, 1),
        (Way.UP, "up"),
        (datetime.time(3, 4), "03:04:00"),
        (datetime.timedelta(hours=1), "PT1H"),
        (decimal.Decimal("1.10"), "1.10"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (pathlib.PurePosixPath("/a/b"), "/a/b"),
        (np.str_("a"), "a"),
        (np.datetime64("2024-01-02"), "2024-01-02"),
        (np.timedelta64(2, "D"), "P2D"),
        (np.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
        (np.array(["2024-01-02", "NaT"], "M8[D]"), ["2024-01-02", None]),
        (pd.Timedelta("1D"), "P1DT0H0M0S"),
        (pd.Period("2024-01"), "2024-01"),
        (pa.scalar(5), 5),
        (pa.scalar([datetime.date(2024, 1, 2), None]), ["2024-01-02", None]),
        (pl.Series([datetime.date(2024, 1, 2)])[0], "2024-01-02"),
        (Weather("Bonn", datetime.date(2024, 1, 2)), {"city": "Bonn", "at": "2024-01-02"}),
        (b"\x89PNG", r"4 bytes: b'\x89PNG'"),
        (Stamp(2024, 1, 2), "2024-01-02T00:00:00"),
        (Moment(2024, 1, 2), "2024-01-02T00:00:00"),
        (range(2), [0, 1]),
        (pd.Index(["a", None], dtype=object), ["a", None]),
        (np.array([1, -2], dtype=object), [1, -2]),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (Point(1, None), {"x": 1, "y": None}),
        (collections.deque([True]), [True]),
        ({"k": Stamp(2024, 1, 2)}.values(), ["2024-01-02T00:00:00"]),
        ({"k": range(1)}.items(), [["k", [0]]]),
        (types.MappingProxyType({"k": Point(1, 2)}), {"k": {"x": 1, "y": 2}}),
    ],
)
def test_what_json_can_hold_is_told_as_json_also_within_rows(value: Any, data: Any) -> None:
    assert told(value) == {"result": data}
    assert told([{"a": value, "b": 1}]) == {"result": [{"a": data, "b": 1}]}
    assert told({"rows": ({"a": [value]},)}) == {"result": {"rows": [{"a": [data]}]}}


def test_a_number_that_is_missing_is_null_in_every_library_and_infinity_is_a_text() -> None:
    table = pd.DataFrame({"n": [1.0, float("nan")]})
    assert told(table.to_dict("records"))["result"] == [{"n": 1.0}, {"n": None}]
    values = [float("nan"), np.float32("nan"), pd.NA, pd.NaT, float("inf"), "NaN"]
    assert told(values)["result"] == [None, None, None, None, "Infinity", "NaN"]
    assert told({"a": np.array([1.0, np.nan])})["result"] == {"a": [1.0, None]}


def test_keys_that_are_equal_as_texts_keep_their_values() -> None:
    both: dict[Any, str] = {1: "a", "1": "b", 1.5: "c"}
    assert told(both)["result"] == {"1 (int)": "a", "1": "b", "1.5": "c"}
    three: dict[Any, str] = {1: "a", "1": "b", "1 (int)": "c"}
    assert told(three)["result"] == {"1 (int 2)": "a", "1": "b", "1 (int)": "c"}

    def give() -> Any:
        return {1: Potato(1), "1": Potato(2)}

    session = ran(("give", {}), tools=(give,))
    assert results(session) == [{"result": {"1 (int)": "Potato#1", "1": "Potato#2"}}]
    assert [session[name].grams for name in ("Potato#1", "Potato#2")] == [1, 2]


class Pair(NamedTuple):
    """A record whose fields stand in their order."""

    best: Potato
    note: str = "none"


def test_a_named_tuple_is_taken_as_a_list_too() -> None:
    taken: list[Any] = []

    def take(pair: Pair, more: list[Pair]) -> str:
        taken.append((pair, more))
        return "ok"

    calls = [
        ("take", {"pair": ["Potato#1", "big"], "more": [["Potato#1"]]}),
        ("take", {"pair": ["Potato#1", "big", 3], "more": []}),
        ("take", {"pair": [], "more": []}),
        ("take", {"pair": {"best": "Potato#1", "note": "big"}, "more": [{"best": "Potato#1"}]}),
        ("take", {"pair": {"note": "big"}, "more": []}),
    ]
    session = ran(*calls, tools=(take,), inputs={"potato": Potato(7)})
    assert taken == [(Pair(Potato(7), "big"), [Pair(Potato(7))])] * 2
    assert type(taken[0][0]) is Pair
    assert set(session.calls[0].uses) == {"pair.0", "more.0.0"}
    assert set(session.calls[3].uses) == {"pair.best", "more.0.best"}
    ended = ["succeeded", "failed", "failed", "succeeded", "failed"]
    assert [call.status for call in session.calls] == ended


# -- objects --------------------------------------------------------------------------------


def pick() -> Any:
    """Return objects in a dict."""
    return {"best": Potato(1), "others": [Potato(2)], "n": 2}


def test_a_value_of_a_class_that_json_cannot_hold_gets_a_name_inside_a_structure_too() -> None:
    frame = pd.DataFrame({"a": [1]})
    assert told({"table": frame, "n": 1}) == {"result": {"table": "DataFrame#1", "n": 1}}


def test_fifty_objects_of_a_result_are_named_and_the_others_counted() -> None:
    many = told([Potato(n) for n in range(60)])
    assert many == {"objects": [f"Potato#{n}" for n in range(1, 51)], "unnamed": {"Potato": 10}}
    mixed = told({"all": [Potato(n) for n in range(52)], "one": Potato(1)})
    names = [f"Potato#{n}" for n in range(1, 51)]
    assert mixed == {"result": {"all": names, "one": None}, "unnamed": {"Potato": 3}}


def test_an_argument_inside_a_result_keeps_its_name() -> None:
    def pair(potato: Potato) -> dict[str, Any]:
        return {"old": potato, "new": Potato(5)}

    session = ran(("pair", {"potato": "Potato#1"}), tools=(pair,), inputs={"potato": Potato(1)})
    assert results(session) == [{"result": {"old": "Potato#1", "new": "Potato#2"}}]
    assert session.objects == ("Potato#1", "Potato#2")


def test_a_name_inside_a_structure_that_there_is_not_is_told_in_one_line() -> None:
    def take(potatoes: dict[str, Potato]) -> int:
        return len(potatoes)

    session = ran("pick", ("take", {"potatoes": {"a": "Potato#9"}}), tools=(pick, take))
    assert session.calls[1].status == "failed"
    assert session.calls[1].error == (
        "take: potatoes.a: there is no object 'Potato#9'; objects of that type: Potato#2, Potato#1"
    )


def test_nested_objects_are_saved_loaded_replayed_edited_and_verified(tmp_path: Any) -> None:
    def pick_more(n: int) -> dict[str, Any]:
        return {"best": Potato(n), "others": [Potato(n + 1)]}

    tools = (pick_more,)
    calls = [("pick_more", {"n": 1}), ("Potato_weigh", {"Potato": "Potato#2"})]
    session = ran(*calls, tools=tools)
    assert session.verify()
    assert session.replay(fresh=True).run().calls == session.calls
    path = tmp_path / "a.jsonl"
    session.save(path)
    assert Session.load(path, Toolbox(Potato, *tools)).calls == session.calls
    assert "pick_more(n=1) made Potato#1, Potato#2" in str(session.why("Potato#2"))
    edited = session.edit(session.calls[0].id, n=5).run()
    assert edited.calls[1].result == 6
    assert [(pair.left, pair.right, pair.same) for pair in session.diff(edited).objects] == [
        ("Potato#1", "Potato#1", False),
        ("Potato#2", "Potato#2", False),
    ]


def test_a_person_answers_with_a_structure_of_names_and_objects() -> None:
    session = ran("pick", tools=(pick,), inputs={"potato": Potato(1)}, approve="ask")
    answer = {"best": "Potato#1", "others": [Potato(2)], "n": 2}
    session.decide(session.pending[0], "answer", result=answer).run()
    assert session.calls[0].result == {"best": "Potato#1", "others": ["Potato#2"], "n": 2}
    assert session["Potato#2"].grams == 2


# -- no call is failed after it ran ----------------------------------------------------------


def test_a_short_iterator_is_read() -> None:
    def count() -> Iterator[Any]:
        yield 1
        yield Potato(2)

    async def count_later() -> AsyncIterator[int]:
        yield 1
        yield 2

    session = ran("count", "count_later", tools=(count, count_later))
    assert results(session) == [{"result": [1, "Potato#1"]}, {"result": [1, 2]}]
    assert told(map(str, [1, 2])) == {"result": ["1", "2"]}


@pytest.mark.parametrize("kind", [io.StringIO, lambda text: io.BytesIO(text.encode())])
def test_a_file_is_an_object_and_nothing_of_it_is_read(kind: Any) -> None:
    file = kind("one\ntwo\n")
    assert (told(file)["result"], file.tell()) == (f"{type(file).__name__}#1", 0)


def test_a_long_iterator_and_one_that_raises_are_told_as_what_they_are_with_the_reason() -> None:
    assert told(iter(range(5_000)))["result"].startswith(
        "range_iterator, which can be read only once, and has more than 1,000 items; the first are"
    )
    assert told(map(int, ["1", "x"]))["result"] == (
        "map, which can be read only once, and raised ValueError after 1 items"
    )


# -- a law ----------------------------------------------------------------------------------

scalars = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text("ab ", max_size=3))
potatoes = st.builds(Potato, st.integers(1, 99))
keys = st.text("abc", min_size=1, max_size=3)
shapes = st.recursive(
    st.one_of(st.just(("potato",)), st.just(("scalar",))),
    lambda inner: st.one_of(
        st.tuples(st.just("list"), inner),
        st.tuples(st.just("tuple"), st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.tuples(st.just("dict"), inner),
        st.tuples(st.just("root"), st.tuples(st.sampled_from(["list", "dict"]), inner)),
        st.tuples(
            st.sampled_from(["dataclass", "named tuple", "model"]),
            st.lists(inner, min_size=1, max_size=3).map(tuple),
        ),
    ),
    max_leaves=5,
)


named_tuple: Any = NamedTuple


def typed(shape: Any) -> tuple[Any, st.SearchStrategy[Any]]:
    """Return the type that a shape stands for, and its values."""
    cls: Any
    match shape:
        case ("potato",):
            return Potato, potatoes
        case ("scalar",):
            return None | bool | int | str, scalars
        case ("list", inner):
            cls, values = typed(inner)
            return types.GenericAlias(list, (cls,)), st.lists(values, max_size=3)
        case ("dict", inner):
            cls, values = typed(inner)
            return types.GenericAlias(dict, (str, cls)), st.dictionaries(keys, values, max_size=3)
        case ("root", inner):
            cls, values = typed(inner)
            root = model(RootModel, root=cls)
            return root, st.builds(root, values)
    parts = [typed(each) for each in shape[1]]
    if shape[0] == "tuple":
        hint = types.GenericAlias(tuple, tuple(cls for cls, _ in parts))
        return hint, st.tuples(*(each for _, each in parts))
    names = [f"field_{n}" for n in range(len(parts))]
    hints = {name: cls for name, (cls, _) in zip(names, parts, strict=True)}
    record: Any
    match shape[0]:
        case "dataclass":
            record = dataclasses.make_dataclass("Record", [*hints.items()])
        case "named tuple":
            record = named_tuple("Record", [*hints.items()])
        case _:
            record = model(BaseModel, **hints)
    fields = {name: each for name, (_, each) in zip(names, parts, strict=True)}
    return record, st.builds(record, **fields)


def model(base: type, **hints: Any) -> Any:
    """Return a class of models with these fields, which may be of any class."""
    loose = ConfigDict(arbitrary_types_allowed=True)
    body = {"__annotations__": hints, "__module__": __name__, "model_config": loose}
    return type("Model", (base,), body)


@given(st.data(), shapes)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_a_result_that_the_model_passes_back_is_the_same_value(data: Any, shape: Any) -> None:
    cls, values = typed(shape)
    value = data.draw(values)
    came_back: list[Any] = []

    def give() -> Any:
        return value

    def take(value: Any) -> bool:
        came_back.append(value)
        return True

    take.__annotations__["value"] = cls
    session = ran("give", tools=(give, take))
    (result,) = results(session)
    if "objects" in result:
        result = {"result": result["objects"]}

    def read(part: Any) -> Any:
        """Return what a structure tells, read back by the names of its objects."""
        match part:
            case dict():
                return {key: read(each) for key, each in part.items()}
            case list():
                return [read(each) for each in part]
            case str() if part in session.objects:
                return session[part]
        return part

    assert read(result["result"]) == plain(value)
    again = ran("give", ("take", {"value": result["result"]}), tools=(give, take))
    assert again.calls[1].result is True, again.calls[1].error
    assert len(again.calls[1].uses) == len(session.objects)
    assert came_back == [value]
    assert type(came_back[0]) is type(value)


def plain(value: Any) -> Any:
    """Return a value with its records as dicts, and its tuples as lists."""
    if isinstance(value, RootModel):
        return plain(value.root)
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, BaseModel):
        return {name: plain(getattr(value, name)) for name in type(value).model_fields}
    if dataclasses.is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    match value:
        case dict():
            return {key: plain(each) for key, each in value.items()}
        case list() | tuple():
            return [plain(each) for each in value]
    return value
