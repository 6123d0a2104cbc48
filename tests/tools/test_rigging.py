"""Functions and classes as tools: what a model is shown of them, and what reaches them."""

from __future__ import annotations

import asyncio
import functools
import typing
from dataclasses import dataclass
from enum import Enum, Flag, IntEnum, IntFlag
from typing import Annotated, Any, Literal

import pytest
import typing_extensions
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from pydantic import BaseModel, Field, field_validator

from jupyter_toolcall import Scripted, Session, Tool, Toolbox, tool
from jupyter_toolcall.core.errors import CallError, DefinitionError
from tests.tools.test_python_tools import Potato, resolve


class Filters(typing_extensions.TypedDict):
    city: Annotated[str | None, Field(description="The city to filter by")]
    age: int | None


class Plain(typing.TypedDict):
    city: Annotated[str | None, Field(description="The city to filter by")]
    age: int | None


def lookup_person(name: Annotated[str, "Full name"], filters: Filters) -> str:
    "Search the database for a person"
    return f"{name} in {filters['city']}"


def look_up(name: Annotated[str, "Full name"], filters: Plain) -> str:
    "Search the database for a person"
    return f"{name} in {filters['city']}"


def only(source: Any) -> Tool:
    [made] = Toolbox(source)
    return made


def ran(source: Any, **arguments: Any) -> Any:
    """Return what a call of a tool came to, in a session."""
    box = Toolbox(source)
    [made] = box
    session = Session(box, Scripted([(made.name, arguments)]), scheme="flat", approve="all")
    [call] = session.tell("go").calls
    assert not call.error, call.error
    return call.result


@pytest.mark.parametrize("function", [lookup_person, look_up])
def test_a_function_has_a_name_a_description_and_a_schema(function: Any) -> None:
    made = only(function)
    assert made.name == function.__name__
    assert made.description == "Search the database for a person"
    schema = made.parameters
    assert schema["type"] == "object"
    assert schema["required"] == ["name", "filters"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["name"] == {"type": "string", "description": "Full name"}
    filters = schema["properties"]["filters"]
    if "$ref" in filters:
        filters = schema["$defs"][filters["$ref"].rpartition("/")[2]]
    assert filters["type"] == "object"
    assert filters["required"] == ["city", "age"]
    assert filters["properties"]["city"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert filters["properties"]["city"]["description"] == "The city to filter by"
    assert filters["properties"]["age"]["anyOf"] == [{"type": "integer"}, {"type": "null"}]


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Color(Enum):
    RED = "red"


class Address(BaseModel):
    street: str
    number: int = Field(ge=1)

    @field_validator("street")
    @classmethod
    def capital(cls, value: str) -> str:
        return value.title()


@dataclass
class Point:
    x: float
    y: float = 0.0


def test_all_kinds_of_hints_are_schemas_and_come_out_as_values() -> None:
    def place(
        address: Address,
        level: Level,
        color: Color,
        point: Point,
        many: list[Address],
        how: Literal["car", 2] = "car",
        note: str | None = None,
        tags: Annotated[set[str], Field(min_length=1)] = frozenset({"a"}),  # type: ignore[assignment]
        limit: Annotated[int, Field(ge=1, le=9, description="At most.")] = 5,
    ) -> str:
        return ""

    made = only(place)
    given = {
        "address": {"street": "main street", "number": "3"},
        "level": 2,
        "color": "red",
        "point": {"x": 1},
        "many": [{"street": "a", "number": 1}],
        "limit": "7",
        "tags": ["x", "x"],
    }
    assert made.check(given, resolve) == {
        "address": Address(street="Main Street", number=3),
        "level": Level.HIGH,
        "color": Color.RED,
        "point": Point(1.0),
        "many": [Address(street="A", number=1)],
        "limit": 7,
        "tags": {"x"},
    }
    with pytest.raises(CallError, match="limit: input should be greater than or equal to 1"):
        made.check({**given, "limit": 0}, resolve)
    properties = made.parameters["properties"]
    assert properties["limit"]["description"] == "At most."
    assert (properties["limit"]["minimum"], properties["limit"]["default"]) == (1, 5)
    assert properties["how"]["enum"] == ["car", 2]
    assert properties["note"]["default"] is None
    assert made.parameters["required"] == ["address", "level", "color", "point", "many"]


@pytest.mark.parametrize("kind", [Flag, IntFlag])
@pytest.mark.parametrize("bits", [[1, 2, 8], [1, 2, 4, 1 << 40]])
def test_flags_are_offered_and_taken_alone_and_combined(kind: Any, bits: list[int]) -> None:
    flags = kind("Flags", [(f"F{bit}", bit) for bit in bits])

    def mix(flags):  # type: ignore[no-untyped-def]
        return str(flags)

    mix.__annotations__["flags"] = flags
    made = only(mix)
    for value in (bits[0], bits[0] | bits[-1], sum(bits)):
        Draft202012Validator(dict(made.parameters)).validate({"flags": value})
        assert made.check({"flags": value}, resolve) == {"flags": flags(value)}
    assert not Draft202012Validator(dict(made.parameters)).is_valid({"flags": 2 * sum(bits)})
    assert f"F{bits[-1]} = {bits[-1]}" in str(made.parameters)


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        (Literal["STICKS", "SLICES"], "Choose a shape, such as 'STICKS' or 'SLICES'"),
        (Color, "Choose a shape, such as 'red'"),
        (Potato, "Choose a shape, such as Potato#1"),
        (int, "Give a value"),
    ],
)
def test_the_model_is_told_to_choose_what_it_left_out(hint: Any, said: str) -> None:
    def cut(shape: Any) -> None: ...

    cut.__annotations__["shape"] = hint
    with pytest.raises(CallError) as error:
        Toolbox(Potato, cut)["cut"].check({}, resolve)
    assert error.value.fields == {"shape": said}


def test_an_unknown_argument_is_refused_with_the_nearest_that_there_is() -> None:
    with pytest.raises(CallError, match=r"nme: there is no such argument; .* mean name\?"):
        only(lookup_person).check({"nme": "Ann"}, resolve)


def google(city: str, days: int = 1) -> str:
    """Tell the weather.

    For some days.

    Args:
        city: The city
            of the weather.
        days (int): How many days.

    Returns:
        What it is like.
    """
    return city


def numpy(city: str, days: int = 1) -> str:
    """Tell the weather.

    For some days.

    Parameters
    ----------
    city : str
        The city
        of the weather.
    days : int, optional
        How many days.
    """
    return city


def sphinx(city: str, days: int = 1) -> str:
    """Tell the weather.

    For some days.

    :param city: The city
        of the weather.
    :param int days: How many days.
    :returns: What it is like.
    """
    return city


@pytest.mark.parametrize("function", [google, numpy, sphinx])
def test_a_docstring_describes_a_function_and_each_parameter(function: Any) -> None:
    made = only(function)
    assert made.description == "Tell the weather.\n\nFor some days."
    said = {name: part["description"] for name, part in made.parameters["properties"].items()}
    assert said == {"city": "The city of the weather.", "days": "How many days."}


def test_an_annotation_says_more_than_a_docstring() -> None:
    def f(city: Annotated[str, "From the hint."]) -> str:
        """Do.

        Args:
            city: From the docstring.
        """
        return city

    assert only(f).parameters["properties"]["city"]["description"] == "From the hint."


def test_a_function_without_a_docstring_or_parameters_is_a_tool() -> None:
    def now() -> str:
        return "12:00"

    assert (only(now).description, only(now).parameters["properties"]) == ("", {})
    assert ran(now) == "12:00"


def test_async_functions_are_awaited() -> None:
    async def wait(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "waited"

    assert ran(wait, seconds="0") == "waited"
    assert ran(functools.partial(wait, seconds=0)) == "waited"


# -- classes of tools --------------------------------------------------------------------


class Counter:
    """Counts."""

    name = "counter"
    description = "Counts things."

    def __init__(self, name: str = "", start: int = 0) -> None:
        self.count = start
        if name:
            self.name = name

    def add(self, by: Annotated[int, "How many."]) -> int:
        """Add some."""
        self.count += by
        return self.count

    async def later(self, by: int) -> int:
        """Add some, later."""
        await asyncio.sleep(0)
        self.count += by
        return self.count

    @staticmethod
    def unit() -> str:
        return "pieces"

    @classmethod
    def kind(cls) -> str:
        return cls.__name__

    def _secret(self) -> None: ...


class Sub(Counter):
    """Counts down too."""

    name = "sub"

    def less(self, by: int) -> int:
        self.count -= by
        return self.count


class Room:
    """A room, whose properties are its name and its description."""

    @property
    def name(self) -> str:
        return "room"

    @property
    def description(self) -> str:
        return "A room."

    def look(self) -> str:
        return "dark"


class Lamp:
    """Gives light.

    Much of it.
    """

    def on(self) -> str:
        return "bright"


class Door:
    name = "door"
    description = "A door."

    @tool(name="shut", read_only=True)
    def close(self) -> str:
        return "shut"


class Person:
    """A person."""

    def __init__(self) -> None:
        self.name = "Ann Smith"

    def greet(self) -> str:
        return f"I am {self.name}"


class Named:
    """What has methods of these names."""

    def name(self) -> str:
        return "no attribute, but a tool"

    def description(self) -> str:
        return "so is this"


COUNTS = ("counter_add", "counter_later", "counter_unit", "counter_kind")


@pytest.mark.parametrize(
    ("source", "names", "group", "about"),
    [
        (Counter(), COUNTS, "counter", "Counts things."),
        (Room(), ("room_look",), "room", "A room."),
        (Lamp(), ("Lamp_on",), "Lamp", "Gives light.\n\nMuch of it."),
        (Lamp, ("Lamp_on",), "Lamp", "Gives light.\n\nMuch of it."),
        (Door(), ("door_shut",), "door", "A door."),
        (Person(), ("Person_greet",), "Person", "A person."),
        (Named(), ("Named_name", "Named_description"), "Named", "What has methods of these names."),
    ],
    ids=["attributes", "properties", "an instance", "a class", "a named method", "data", "methods"],
)
def test_tools_are_named_and_described_by_what_their_class_says_else_by_the_class(
    source: Any, names: tuple[str, ...], group: str, about: str
) -> None:
    box = Toolbox(source)
    assert box.names == names
    assert {(made.group, made.about) for made in box} == {(group, about)}


@pytest.mark.parametrize(
    ("name", "description", "said"),
    [
        ("", "x", r"Bad\.name is ''; it has to be letters"),
        ("  ", "x", r"Bad\.name is '  '"),
        (3, "x", r"Bad\.name is 3"),
        ("two words", "x", "such as name = 'weather'"),
        ("bad", 3, r"Bad\.description is 3; it has to be a text"),
        ("bad", "", r"Bad\.description is ''"),
    ],
)
def test_a_name_that_is_none_is_refused(name: Any, description: Any, said: str) -> None:
    space = {"name": name, "description": description, "do": lambda self: "done"}
    with pytest.raises(DefinitionError, match=said):
        Toolbox(type("Bad", (), space)())


STATEFUL = {"counter_add": 0, "other_add": 1, "counter_later": 0, "add": 0, "less": 2, "later": 1}
"""By the name of a tool: which instance it works on."""


@given(st.lists(st.tuples(st.sampled_from([*STATEFUL]), st.integers(0, 9)), min_size=1), st.data())
def test_tools_and_bound_methods_of_an_instance_share_its_state_also_after_an_edit(
    calls: list[tuple[str, int]], data: st.DataObject
) -> None:
    def results(amounts: list[int]) -> list[int]:
        counts, found = [0, 10, 100], list[int]()
        for (name, _), by in zip(calls, amounts, strict=True):
            counts[STATEFUL[name]] += -by if name == "less" else by
            found.append(counts[STATEFUL[name]])
        return found

    first, other, down = Counter(), Counter("other", start=10), Sub("counter", start=100)
    box = Toolbox(first, other, first.add, down.less, other.later)
    script = [(name, {"by": by}) for name, by in calls]
    session = Session(box, Scripted(script), scheme="flat", approve="all").tell("go")
    amounts = [by for _, by in calls]
    assert [call.result for call in session.calls] == results(amounts)
    before = len(session.journal)
    assert session.replay().run().head == session.head
    assert len(session.journal) == before
    edited = data.draw(st.integers(0, len(calls) - 1))
    amounts[edited] = 7
    session = session.edit(session.calls[edited], by=7).run()
    assert [call.result for call in session.calls] == results(amounts)
    assert (first.count, other.count, down.count) == (0, 10, 100)


def test_two_of_a_class_without_names_are_told_apart_by_nothing() -> None:
    with pytest.raises(DefinitionError, match="two tools are named 'counter_add'"):
        Toolbox(Counter(), Counter())


@pytest.mark.parametrize("name", ["T", "To", "Too", "Tool"])
def test_no_name_of_a_class_hides_its_methods(name: str) -> None:
    assert Toolbox(type(name, (), {"go": lambda self: "gone"})()).names == (f"{name}_go",)
