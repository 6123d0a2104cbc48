"""Answers and outputs that are lists or records, and the current value of what has a name."""

# mypy: disable-error-code="valid-type, operator, no-any-return, misc, call-overload"

from __future__ import annotations

import enum
from dataclasses import dataclass, make_dataclass
from types import SimpleNamespace
from typing import Any, NewType

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, create_model
from typing_extensions import TypedDict

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import CallError, UsageError
from jupyter_toolcall.engine.decisions import check_answer
from jupyter_toolcall.schemes.messages import User
from jupyter_toolcall.view.view_rows import all_rows
from tests.example_tools import ask_calls, last_question, run_calls


class Mood(enum.Enum):
    GOOD = "good"


@dataclass
class Person:
    name: str
    age: int = 0

    def __post_init__(self) -> None:
        if self.name == "nobody":
            raise KeyError("nobody has no name")


class Order(BaseModel):
    id: int
    people: list[Person] = []


class Shelf:
    """A shelf that keeps what is put on it."""

    def __init__(self) -> None:
        self.items: list[str] = []

    def put(self, item: str) -> int:
        """Put an item on the shelf."""
        self.items.append(item)
        return len(self.items)


class Jar:
    """Something with a method."""

    def shake(self) -> Jar:
        return self

    def __repr__(self) -> str:
        return "a jar of jam"


class Opaque:
    def __repr__(self) -> str:
        return "<an opaque thing>"


def look(x: int) -> int:
    return x


BOX = Toolbox(look)


def asked(obj: Any, returns: Any, *saved: Any) -> tuple[Session, Any]:
    script = [("save", {"result": each}) for each in saved]
    session = Session(BOX, Scripted(script), scheme="flat", approve="all")
    answer = session.query(obj, "What?", returns)
    return last_question(session), answer


def question(session: Session) -> str:
    messages = last_question(session).requests[0].request.messages
    return next(message.text for message in messages if isinstance(message, User))


@pytest.mark.parametrize(
    ("returns", "saved", "answer"),
    [
        ("list[str]", ["a"], ["a"]),
        (list, [1, "a", None], [1, "a", None]),
        (Person, {"name": "Ann", "age": "3"}, Person("Ann", 3)),
        (Order, {"id": "7", "people": [{"name": "Ann"}]}, Order(id=7, people=[Person("Ann")])),
        (Mood, "good", Mood.GOOD),
        (int, "13", 13),
        (float, 3, 3.0),
        (bool, "true", True),
        (NewType("Years", int), "13", 13),
    ],
)
def test_an_answer_is_coerced_to_its_type(returns: Any, saved: Any, answer: Any) -> None:
    session, result = asked({"any": "data"}, returns, saved)
    assert result == answer
    assert type(result) is type(answer)
    assert session.replay().run().head == session.head


@pytest.mark.parametrize(
    ("returns", "wrong", "right", "told"),
    [
        (list[str], ["a", 3], ["a"], "must be a list[str]; 1: input should be a valid string"),
        (list[str], "a", ["a"], "must be a list[str]; input should be a valid list"),
        (Person, {"age": 3}, {"name": "Ann"}, "must be a Person; name: Give a value"),
        (Person, {"name": "nobody"}, {"name": "Ann"}, "KeyError: 'nobody has no name'"),
        (dict[str, int], {"a": "x"}, {"a": 1}, "a: input should be a valid integer"),
        (int, "nine", 9, "must be a int, not 'nine'"),
        (int, True, 9, "must be a int, not True"),
    ],
)
def test_a_wrong_answer_is_asked_for_again(returns: Any, wrong: Any, right: Any, told: str) -> None:
    session, _ = asked({"any": "data"}, returns, wrong, right)
    assert [call.status for call in session.calls] == ["failed", "succeeded"]
    assert told in session.calls[0].error
    assert "\n" not in session.calls[0].error


def test_the_model_is_sent_the_schema_of_a_record() -> None:
    session, _ = asked({"any": "data"}, list[Order], [])
    save = next(tool for tool in session.requests[0].request.tools if tool.name == "save")
    assert save.parameters["properties"]["result"]["items"] == {"$ref": "#/$defs/Order"}
    assert {*save.parameters["$defs"]} == {"Order", "Person"}


def test_the_name_of_an_input_is_saved_as_its_value() -> None:
    save = ("save", {"names": ["str#1", "b"], "text": "str#1", "n": "str#2"})
    outputs = {"names": list[str], "text": str, "n": int}
    session = run_calls(look, calls=[save], inputs={"x": "first", "y": "12"}, outputs=outputs)
    assert session.outputs == {"names": ["first", "b"], "text": "first", "n": 12}


class Egg(SimpleNamespace):
    """Something that is no plain data."""


@st.composite
def declared(draw: st.DrawFn, depth: int = 2) -> tuple[Any, Any, Any]:
    """Draw a type of an output, what the model saves as it, and what comes of that."""
    one = st.sampled_from([(Egg, "Egg#1", Egg(n=1)), (int, "3", 3), (str, "Egg#1", "Egg#1")])
    hint, saved, value = draw(one if depth == 0 else declared(depth - 1))
    record = make_dataclass("Nest", [("of", hint), ("more", Any, None)])
    model = create_model("Nest", __config__={"arbitrary_types_allowed": True}, of=(hint, ...))
    both, read = {"of": saved, "more": ["Egg#2", {"a": "Egg#9"}]}, [Egg(n=2), {"a": "Egg#9"}]
    deep = {"a": ["Egg#1", 1, None, ["Egg#2"]]}, {"a": [Egg(n=1), 1, None, [Egg(n=2)]]}
    choices: list[tuple[Any, Any, Any]] = [
        (hint, saved, value),
        (list[hint], [saved, saved], [value, value]),
        (dict[str, hint], {"a": saved}, {"a": value}),
        (tuple[hint, int], [saved, 1], (value, 1)),
        (hint | None, *draw(st.sampled_from([(saved, value), (None, None)]))),
        (record, both, record(value, read)),
        (TypedDict("Nest", {"of": hint}), {"of": saved}, {"of": value}),
        (model, {"of": saved}, model(of=value)),
        *((cls, *deep) for cls in (Any, object, dict, dict[str, Any])),
    ]
    return draw(st.sampled_from(choices))


@given(declared())
def test_an_output_of_any_type_is_saved_with_objects_it_names(case: tuple[Any, Any, Any]) -> None:
    def lay(n: int) -> Egg:
        return Egg(n=n)

    hint, saved, value = case
    calls = [("lay", {"n": 1}), ("lay", {"n": 2}), ("save", {"x": saved})]
    session = run_calls(lay, calls=calls, outputs={"x": (hint, "what comes of it")})
    assert [call.error for call in session.calls] == [""] * 3
    assert session.outputs == {"x": value}


def test_what_a_person_does_with_an_output_changes_nothing() -> None:
    session = run_calls(look, calls=[("save", {"data": {"a": [1]}})], outputs={"data": dict})
    session.outputs["data"]["a"].append(2)
    session.value("data")["a"].append(2)
    assert session.outputs == {"data": {"a": [1]}}


@pytest.mark.parametrize("kind", ["list[Nobody]", "set[", Opaque])
def test_an_output_of_no_known_type_is_refused_or_made_by_a_tool(kind: Any) -> None:
    if isinstance(kind, type):
        assert Session(BOX, outputs={"x": kind}).state.opened.outputs["x"].schema == {}
        return
    with pytest.raises(UsageError, match="not known here") as error:
        Session(BOX, outputs={"x": kind})
    assert "\n" not in str(error.value)


# -- what an object holds ---------------------------------------------------------------------

ROWS = {"n": list(range(30)), "word": ["x", "y", "z"] * 10}


@pytest.mark.parametrize("table", [pd.DataFrame(ROWS), pl.DataFrame(ROWS), pa.table(ROWS)])
def test_a_question_about_a_table_shows_its_first_rows(table: Any) -> None:
    session, _ = asked(table, str, "fine")
    assert "holds the first 20 of 30 rows, 2 columns:" in question(session)
    assert "19" in question(session)
    assert "20," not in question(session)


@pytest.mark.parametrize(
    ("obj", "content"),
    [
        (Person("Ann", 3), '{"name":"Ann","age":3}'),
        (Order(id=7), '{"id":7,"people":[]}'),
        ([{"a": None}], '[{"a":null}]'),
        (Opaque(), "Opaque#1 holds <an opaque thing>"),
    ],
)
def test_a_question_shows_what_an_object_without_methods_holds(obj: Any, content: str) -> None:
    session, _ = asked(obj, str, "fine")
    assert content in question(session)


@pytest.mark.parametrize("ask", ["query", "transform"])
def test_what_an_object_holds_is_shown_with_and_without_methods_and_capped(ask: str) -> None:
    class Long:
        def __repr__(self) -> str:
            return "ab" * 50_000

    session, _ = asked(Long(), str, "fine")
    assert len(question(session)) < 12_000
    model = Scripted([("save", {"result": "Jar#1"})])
    named = Session(Toolbox(Jar), model, scheme="flat", inputs={"jar": Jar()})
    getattr(named, ask)("Jar#1", "What?")
    assert "Jar#1 holds a jar of jam" in question(named)


def test_a_plain_input_is_asked_about_and_transformed_by_its_name() -> None:
    saves = [("save", {"result": each}) for each in ("fine", [2, 1], "A")]
    inputs = {"rows": [1, 2], "text": "a"}
    session = Session(BOX, Scripted(saves), scheme="flat", inputs=inputs)
    session.query("list#1", "What?")
    assert "list#1 holds [1,2]" in question(session)
    assert session.transform("list#1", "Turn it round.") == [2, 1]
    assert session.transform("str#1", "In capitals.") == "A"


# -- the current value of a name --------------------------------------------------------------


def test_value_gives_objects_outputs_and_instances_as_they_are_after_the_run() -> None:
    shelf, calls = Shelf(), [("Shelf_put", {"item": "a"}), ("save", {"names": ["b"]})]
    given: Any = {"inputs": {"text": "hello"}, "outputs": {"names": list[str]}}
    session = ask_calls(shelf, calls=calls, **given)
    assert session.value("Shelf").items == []
    with pytest.raises(UsageError, match="the output 'names' is not saved yet"):
        session.value("names")
    session.run()
    assert session.value("Shelf").items == session["Shelf#1"].items == ["a"]
    assert session.value("names") == ["b"]
    assert session.value("str#1") == "hello"
    session.value("Shelf").items.append("b")
    session["Shelf#1"].items.append("b")
    assert session.value("Shelf").items == ["a"]
    assert shelf.items == []


@pytest.mark.parametrize(
    ("name", "nearest"), [("Shelfs", "Shelf"), ("str#3", "str#1"), ("name", "names")]
)
def test_value_names_the_nearest_where_there_is_none(name: str, nearest: str) -> None:
    session = Session(Toolbox(Shelf()), inputs={"text": "a"}, outputs={"names": list[str]})
    with pytest.raises(UsageError, match=f"Did you mean {nearest}") as error:
        session.value(name)
    assert "\n" not in str(error.value)
    with pytest.raises(CallError, match="Did you mean Shelf#1"):
        session["Shelff#1"]


def test_an_answer_names_an_object_that_exists_and_nothing_has_changed() -> None:
    def parse(table: pd.DataFrame) -> pd.DataFrame:
        """Parse the dates of a table."""
        return table.assign(day=1)

    inputs = {"orders": pd.DataFrame({"a": [1, 2]}), "rates": pd.DataFrame({"b": [3]})}
    calls = [("parse", {"table": "DataFrame#2"})]
    session = run_calls(parse, calls=calls, inputs=inputs, approve="ask")
    with pytest.raises(CallError, match=r"no object 'orders'; the input orders is DataFrame#1$"):
        check_answer(session.cursor, "call_1", "orders")
    session.decide(session.pending[0], "answer", result="DataFrame#1").run()
    row = all_rows(session.cursor, "").calls[0]
    assert (row.status, row.before, row.change) == ("answered", "", "")
