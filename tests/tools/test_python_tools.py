"""Functions and classes as tools: what a model is shown of them, and what reaches them."""

from __future__ import annotations

import asyncio
import functools
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, Flag, IntEnum, IntFlag
from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict, Unpack, cast

import pytest
import typing_extensions
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field, field_validator

from jupyter_toolcall import Tool, Toolbox, tool
from jupyter_toolcall.core.errors import CallError, DefinitionError, UsageError
from jupyter_toolcall.tools.object_references import references, replace_names
from tests.example_tools import run_calls


class Potato:
    """An object."""

    def peel(self, knife: str = "small") -> Potato:
        """Take the skin off.

        Args:
            knife: Which knife.
        """
        return self

    @staticmethod
    def plant(row: int) -> Potato:
        """Plant one."""
        return Potato()

    def _secret(self) -> None: ...


class Sweet(Potato):
    """A kind of potato."""


@dataclass
class Bag:
    potato: Potato
    more: list[Potato] = field(default_factory=list)
    note: str = ""


class Crate(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    bag: Bag
    count: int = 1


class Order(TypedDict):
    potato: Potato
    count: NotRequired[int]


@dataclass
class Tray:
    first: Any
    rest: list = field(default_factory=list)  # type: ignore[type-arg]


POTATO, SWEET = Potato(), Sweet()


def lambda_named() -> int:
    return 2


class Options(TypedDict, total=False):
    x: Required[int]
    y: str


class Color(Enum):
    RED = "red"


def resolve(name: str, types: tuple[type, ...]) -> Any:
    if name not in ("Potato#1", "Sweet#1"):
        raise CallError(f"there is no object {name!r}")
    return POTATO if name == "Potato#1" else SWEET


def check(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what reaches a function."""
    return Toolbox(Potato, Sweet, function)[function.__name__].check(arguments, resolve)


def taking(annotation: Any) -> Any:
    """Return a function with a parameter `x` of a type."""

    def use(x: Any) -> None: ...

    use.__annotations__["x"] = annotation
    return use


def only(source: Any) -> Tool:
    (found,) = Toolbox(source)
    return found


def results(source: Any, *calls: tuple[str, dict[str, Any]], **inputs: Any) -> list[Any]:
    """Return what calls come to, in a session."""
    session = run_calls(source, calls=calls, inputs=inputs)
    return [call.error or call.result for call in session.calls]


@pytest.mark.parametrize(
    ("annotation", "given", "reached", "places"),
    [
        (Potato, "Sweet#1", SWEET, {"x": "Sweet#1"}),
        (Potato | None, None, None, {}),
        (Potato | Sweet, "Sweet#1", SWEET, {"x": "Sweet#1"}),
        (list[Potato | None], [None, "Potato#1"], [None, POTATO], {"x.1": "Potato#1"}),
        (dict[str, Potato], {"a": "Potato#1"}, {"a": POTATO}, {"x.a": "Potato#1"}),
        (tuple[int, Potato], [1, "Potato#1"], (1, POTATO), {"x.1": "Potato#1"}),
        (
            Crate,
            {"bag": {"potato": "Potato#1", "more": ["Sweet#1"]}, "count": "2"},
            Crate(bag=Bag(POTATO, [SWEET]), count=2),
            {"x.bag.potato": "Potato#1", "x.bag.more.0": "Sweet#1"},
        ),
        (
            list[Order] | None,
            [{"potato": "Potato#1"}],
            [{"potato": POTATO}],
            {"x.0.potato": "Potato#1"},
        ),
        *((str, "Potato#1", "Potato#1", {}), (object, "Potato#1", POTATO, {"x": "Potato#1"})),
        (Any, {"a": ["Sweet#1", 2]}, {"a": [SWEET, 2]}, {"x.a.0": "Sweet#1"}),
        (Any | None, "a Potato#1", "a Potato#1", {}),
        (
            Tray,
            {"first": "Potato#1", "rest": [{"a": "Sweet#1"}, "Sweet"]},
            Tray(POTATO, [{"a": SWEET}, "Sweet"]),
            {"x.first": "Potato#1", "x.rest.0.a": "Sweet#1"},
        ),
        (Tray, {"first": "Potato#1 is good"}, Tray("Potato#1 is good"), {}),
        (dict, {"a": "Potato#1"}, {"a": POTATO}, {"x.a": "Potato#1"}),
    ],
)
def test_objects_are_taken_by_name_at_any_depth(
    annotation: Any, given: Any, reached: Any, places: dict[str, str]
) -> None:
    use = taking(annotation)
    assert check(use, {"x": given}) == {"x": reached}
    schema = Toolbox(Potato, Sweet, use)["use"].parameters
    assert dict(references(schema, {"x": given})) == places
    # Each name is renamed once, whatever unions it stands in.
    again = replace_names(schema, {"x": given}, lambda _, name: f"{name}0")
    assert dict(references(schema, again)) == {place: f"{name}0" for place, name in places.items()}


@pytest.mark.parametrize(
    ("annotation", "given", "problem"),
    [
        (Bag, {"potato": "Potato#7"}, r"x\.potato: there is no object 'Potato#7'"),
        (Bag, {"potato": 7}, r"x\.potato: must be the name of an object, such as Potato#1"),
        (Literal["STICKS", "SLICES"], ..., "Choose a x, such as 'STICKS' or 'SLICES'"),
        (Color, ..., "Choose a x, such as 'red'"),
        *((Potato, ..., "Choose a x, such as Potato#1"), (int, ..., "x: Give a value")),
    ],
)
def test_an_argument_that_does_not_fit_is_told_by_its_place_and_one_left_out_with_a_choice(
    annotation: Any, given: Any, problem: str
) -> None:
    with pytest.raises(CallError, match=problem):
        check(taking(annotation), {} if given is ... else {"x": given})


def test_every_kind_of_parameter_is_called_as_it_must_be() -> None:
    def f(a: int, /, b: int = 2, *rest: int, c: int = 3, **more: Unpack[Options]) -> Any:
        return a, b, rest, c, more

    for first in ({"a": 1, "b": 2}, {"a": 1}):
        values = only(f).check({**first, "rest": [7, 8], "more": {"x": "9"}}, resolve)
        assert only(f).function(**values) == (1, 2, (7, 8), 3, {"x": 9})
    with pytest.raises(CallError, match=r"more\.z: there is no"):
        check(f, {"a": 1, "more": {"x": 1, "z": 2}})


def with_other_names(function: Callable[..., Any]) -> Any:
    return functools.wraps(function)(lambda *values: function(*values))


@with_other_names
@tool(read_only=True)
def plus(a: int, b: int = 2) -> int:
    return a + b


@functools.singledispatch
def kind(value: int | str, end: str = ".") -> str:
    return f"{value}{end}"


@kind.register
def _(value: str, end: str = ".") -> str:
    return f"text {value}{end}"


class Shape:
    def __init__(self, side: int = 1) -> None:
        self.side = side

    @functools.lru_cache  # noqa: B019
    def times(self, by: int) -> int:
        return self.side * by

    @functools.singledispatchmethod
    def kind(self, value: int | str) -> str:
        return f"{value} {self.side}"

    @kind.register
    def _(self, value: str) -> str:
        return f"text {value} {self.side}"

    def grown(self, by: int, more: int) -> int:
        return self.side + by + more

    twice: Any = tool(read_only=True)(cast(Any, functools.partialmethod(grown, more=2)))
    once = tool(read_only=True)(staticmethod(lambda_named))


class Square(Shape):
    def grown(self, *amounts: int, **named: int) -> int:
        return -1

    @staticmethod
    def times(by: int) -> int:  # type: ignore[override]
        return -by

    @functools.singledispatchmethod
    def kind(self, value: int | str) -> str:
        return f"square {value}"


@pytest.mark.parametrize("source", [Shape, Shape(3)], ids=["a class", "an instance"])
def test_what_functools_makes_of_a_function_or_a_method_is_a_tool(source: Any) -> None:
    calls: list[Any] = [("plus", {"a": 1}, 3), ("kind", {"value": 4, "end": "!"}, "4!")]
    calls += [("kind", {"value": "a"}, "text a."), ("Shape_times", {"by": 2}, 6)]
    calls += [("Shape_kind", {"value": 4}, "4 3"), ("Shape_kind", {"value": "a"}, "text a 3")]
    calls += [("Shape_grown", {"by": 1, "more": 2}, 6), ("Shape_twice", {"by": 1}, 6)]
    box = Toolbox(plus, kind, source)
    assert results(box, *(call[:2] for call in calls), s=Shape(3)) == [call[2] for call in calls]
    assert {found.name for found in box if found.read_only} == {"plus", "Shape_twice", "Shape_once"}


def test_an_object_of_a_subclass_has_its_own_method_which_counts_as_code() -> None:
    calls: list[Any] = [("Shape_grown", {"by": 1, "more": 2}), ("Shape_times", {"by": 2})]
    calls += [("Shape_kind", {"value": 4})]
    session = run_calls(Shape, calls=calls, inputs={"s": Square()})
    assert [call.result for call in session.calls] == [-1, -2, "square 4"]
    parts = (box["Shape_grown"].parts() for box in (session.toolbox, Toolbox(Shape)))
    assert next(parts).keys() - next(parts).keys() == {"Square.grown"}


@pytest.mark.parametrize(
    "marked", [Potato, POTATO.peel, len, Toolbox(Potato)["Potato_peel"]], ids=type
)
def test_a_mark_on_what_keeps_none_is_refused(marked: Any) -> None:
    with pytest.raises(DefinitionError, match="keeps no options; mark a function"):
        tool(read_only=True)(marked)


def test_a_function_that_is_marked_twice_is_two_tools() -> None:
    def price(item: str, *, times: int = 1) -> str:
        return f"{item}: {number * times}"

    number = 3
    for function in (price, functools.partial(price, times=2)):
        looked = tool(read_only=True)(function)
        assert looked is function
        box = Toolbox(looked, tool(name="buy", destructive=True)(function))
        marks = [(found.name, found.read_only, found.destructive) for found in box]
        assert marks == [("price", True, False), ("buy", False, True)]
        calls = [(name, {"item": "a"}) for name in ("price", "buy")]
        assert results(box, *calls) == [function("a")] * 2


def test_a_class_gives_a_tool_for_each_public_method() -> None:
    box = Toolbox(Potato)
    assert box.names == ("Potato_peel", "Potato_plant")
    peel, plant = box
    assert [*peel.parameters["properties"]] == ["Potato", "knife"]
    assert (peel.receiver, plant.receiver, peel.kind) == ("Potato", "", "Potato")
    assert Toolbox(Sweet).names == ("Sweet_peel", "Sweet_plant")


def test_hints_say_what_a_function_does_not() -> None:
    @tool(read_only=True, idempotent=True, name="look", description="Look at it.")
    def f() -> int:
        """Something else."""
        return 1

    found = only(f)
    assert (found.read_only, found.idempotent) == (True, True)
    assert (found.name, found.description, f()) == ("look", "Look at it.", 1)
    plain = only(tool(lambda_named))
    assert (plain.read_only, plain.idempotent) == (False, False)


def test_a_toolbox_says_the_nearest_name_of_one_that_it_has_not() -> None:
    with pytest.raises(UsageError, match=r"no tool 'Potato_peal'\. Did you mean Potato_peel\?"):
        Toolbox(Potato)["Potato_peal"]


def test_a_parameter_that_is_named_as_its_type_is_refused() -> None:
    class Pot:
        def stir(self, Pot: int) -> None: ...

    with pytest.raises(DefinitionError, match="the parameter 'Pot' is named as its own type"):
        Toolbox(Pot)


def test_a_default_that_is_no_json_is_not_told_but_holds() -> None:
    def f(x: float = float("nan"), y: object = object) -> float:
        return x

    assert "default" not in Toolbox(tool(f))["f"].parameters["properties"]["x"]


def test_what_a_reload_changes_in_a_function_is_read_again() -> None:
    def cook(minutes: int) -> str:
        """Cook it."""
        return str(minutes)

    assert only(cook).description == "Cook it."
    cook.__doc__, cook.__defaults__ = "Cook it for long.", (5,)
    assert only(cook).description == "Cook it for long."
    assert only(cook).parameters["properties"]["minutes"]["default"] == 5


def test_what_a_reload_changes_in_a_dataclass_is_read_again() -> None:
    @dataclass
    class Dish:
        name: str

    @dataclass
    class Reloaded:
        name: str
        guests: int

    assert "guests" not in str(only(taking(Dish)).parameters)
    for name in ("__annotations__", "__dataclass_fields__", "__init__"):
        setattr(Dish, name, vars(Reloaded)[name])
    assert "guests" in str(only(taking(Dish)).parameters)


DOCUMENTED = [
    "Args:\n    city: The city\n        of the weather.\n    days (int): How many days.\n\n"
    "Returns:\n    What it is like.",
    "Parameters\n----------\ncity : str\n    The city\n    of the weather.\n"
    "days : int, optional\n    How many days.",
    ":param city: The city\n    of the weather.\n:param int days: How many days.\n:returns: It.",
]
"""Parameters as Google, numpy and Sphinx describe them."""


@pytest.mark.parametrize("text", DOCUMENTED)
def test_a_docstring_describes_a_function_and_each_parameter(text: str) -> None:
    def weather(
        city: str, days: int = 1, unit: Annotated[str, "C or F."] = "C", *of: Annotated[str, "A."]
    ) -> None: ...

    weather.__doc__ = f"Tell the weather.\n\nFor some days.\n\n{text}"
    assert only(weather).description == "Tell the weather.\n\nFor some days."
    properties = only(weather).parameters["properties"]
    told = [properties[name]["description"] for name in ("city", "days", "unit")]
    assert told == ["The city of the weather.", "How many days.", "C or F."]
    assert properties["of"]["items"]["description"] == "A."


def test_an_annotation_says_more_than_a_docstring() -> None:
    def f(city: Annotated[str, "From the hint."]) -> None:
        """Do.

        Args:
            city: From the docstring.
        """

    assert only(f).parameters["properties"]["city"]["description"] == "From the hint."


def now() -> str:
    return "12:00"


async def wait(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "waited"


@pytest.mark.parametrize(
    ("function", "arguments", "result"),
    [
        (now, {}, "12:00"),
        (wait, {"seconds": "0"}, "waited"),
        (functools.partial(wait, seconds=0), {}, "waited"),
    ],
)
def test_a_bare_function_and_one_that_is_awaited_are_tools(
    function: Any, arguments: dict[str, Any], result: str
) -> None:
    assert only(function).description == ""
    assert results(function, (only(function).name, arguments)) == [result]


# -- schemas -------------------------------------------------------------------------------


CITY = Annotated[str | None, Field(description="The city to filter by")]


@pytest.mark.parametrize("module", [typing, typing_extensions])
def test_a_function_has_a_schema_in_which_a_typed_dict_is_described(module: Any) -> None:
    filters = module.TypedDict("Filters", {"city": CITY, "age": int | None})
    schema = only(taking(filters)).parameters
    assert (schema["type"], schema["required"]) == ("object", ["x"])
    assert schema["additionalProperties"] is False
    part = schema["properties"]["x"]
    if "$ref" in part:
        part = schema["$defs"][part["$ref"].rpartition("/")[2]]
    assert (part["type"], part["required"]) == ("object", ["city", "age"])
    city, age = (part["properties"][name] for name in ("city", "age"))
    assert city["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert city["description"] == "The city to filter by"
    assert age["anyOf"] == [{"type": "integer"}, {"type": "null"}]


class Level(IntEnum):
    LOW = 1
    HIGH = 2


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


HOME = {"street": "main street", "number": "3"}


@pytest.mark.parametrize(
    ("hint", "given", "reached"),
    [
        (Address, HOME, Address(street="Main Street", number=3)),
        (list[Address], [HOME], [Address(street="Main Street", number=3)]),
        *((Level, 2, Level.HIGH), (Color, "red", Color.RED), (Point, {"x": 1}, Point(1.0))),
        (Annotated[set[str], Field(min_length=1)], ["x", "x"], {"x"}),
    ],
)
def test_the_data_of_a_hint_come_out_as_its_values(hint: Any, given: Any, reached: Any) -> None:
    assert check(taking(hint), {"x": given}) == {"x": reached}


@pytest.mark.parametrize("kind", [Flag, IntFlag])
@pytest.mark.parametrize("bits", [[1, 2, 8], [1, 2, 4, 1 << 40]])
def test_flags_are_offered_and_taken_alone_and_combined(kind: Any, bits: list[int]) -> None:
    flags = kind("Flags", [(f"F{bit}", bit) for bit in bits])
    mix = only(taking(flags))
    for value in (bits[0], bits[0] | bits[-1], sum(bits)):
        Draft202012Validator(dict(mix.parameters)).validate({"x": value})
        assert mix.check({"x": value}, resolve) == {"x": flags(value)}
    assert not Draft202012Validator(dict(mix.parameters)).is_valid({"x": 2 * sum(bits)})
    assert f"F{bits[-1]} = {bits[-1]}" in str(mix.parameters)


# -- classes of tools --------------------------------------------------------------------


class Counter:
    """Counts."""

    name = "counter"
    description = "Counts things."

    def __init__(self, name: str = "", start: int = 0) -> None:
        self.count = start
        if name:
            self.name = name

    def add(self, by: int) -> int:
        """Add some."""
        self.count += by
        return self.count

    async def later(self, by: int) -> int:
        """Add some, later."""
        await asyncio.sleep(0)
        return self.add(by)

    @classmethod
    def kind(cls) -> str:
        return cls.__name__


class Room:
    """A room, whose properties are its name and its description."""

    name = property(lambda self: "room")
    description = property(lambda self: "A room.")

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


@pytest.mark.parametrize(
    ("source", "names", "group", "about"),
    [
        (Counter(), "counter_add counter_later counter_kind", "counter", "Counts things."),
        (Room(), "room_look", "room", "A room."),
        (Lamp(), "Lamp_on", "Lamp", "Gives light.\n\nMuch of it."),
        (Lamp, "Lamp_on", "Lamp", "Gives light.\n\nMuch of it."),
        (Door(), "door_shut", "door", "A door."),
        (Person(), "Person_greet", "Person", "A person."),
        (Named(), "Named_name Named_description", "Named", "What has methods of these names."),
        # No name of a class hides its methods.
        *((type(name, (Lamp,), {})(), f"{name}_on", name, "") for name in ("T", "To", "Tool")),
    ],
)
def test_tools_are_named_and_described_by_what_their_class_says_else_by_the_class(
    source: Any, names: str, group: str, about: str
) -> None:
    box = Toolbox(source)
    assert box.names == tuple(names.split())
    assert {(found.group, found.about) for found in box} == {(group, about)}


@pytest.mark.parametrize(
    ("name", "description", "said"),
    [
        ("", "x", r"Bad\.name is ''; it has to be letters"),
        *(("  ", "x", r"Bad\.name is '  '"), (3, "x", r"Bad\.name is 3")),
        ("two words", "x", "such as name = 'weather'"),
        ("bad", 3, r"Bad\.description is 3; it has to be a text"),
        ("bad", "", r"Bad\.description is ''"),
    ],
)
def test_a_name_that_is_none_is_refused(name: Any, description: Any, said: str) -> None:
    space = {"name": name, "description": description, "do": lambda self: "done"}
    with pytest.raises(DefinitionError, match=said):
        Toolbox(type("Bad", (), space)())


STATEFUL = {"counter_add": 0, "other_add": 1, "counter_later": 0, "add": 0, "later": 1}
"""By the name of a tool: which instance it works on."""


@given(st.lists(st.tuples(st.sampled_from([*STATEFUL]), st.integers(0, 9)), min_size=1), st.data())
def test_tools_and_bound_methods_of_an_instance_share_its_state_also_after_an_edit(
    calls: list[tuple[str, int]], data: st.DataObject
) -> None:
    def sums(amounts: list[int]) -> list[int]:
        counts, found = [0, 10], list[int]()
        for (name, _), by in zip(calls, amounts, strict=True):
            counts[STATEFUL[name]] += by
            found.append(counts[STATEFUL[name]])
        return found

    first, other = Counter(), Counter("other", start=10)
    script = [(name, {"by": by}) for name, by in calls]
    session = run_calls(first, other, first.add, other.later, calls=script)
    amounts = [by for _, by in calls]
    assert [call.result for call in session.calls] == sums(amounts)
    before = len(session.journal)
    assert session.replay().run().head == session.head
    assert len(session.journal) == before
    edited = data.draw(st.integers(0, len(calls) - 1))
    amounts[edited] = 7
    session = session.edit(session.calls[edited], by=7).run()
    assert [call.result for call in session.calls] == sums(amounts)
    assert (first.count, other.count) == (0, 10)


def test_two_of_a_class_without_names_are_told_apart_by_nothing() -> None:
    with pytest.raises(DefinitionError, match="two tools are named 'counter_add'"):
        Toolbox(Counter(), Counter())


class Town(str):
    """A kind of text; no name is empty."""

    def __new__(cls, name: str) -> Town:
        if not name:
            raise TypeError("no name")
        return super().__new__(cls, name)


def test_a_subclass_of_data_is_written_as_its_base_and_reaches_the_tool_as_itself() -> None:
    def visit(towns: list[Town], first: Town | None = None) -> str:
        """Visit them."""
        return f"{[*towns, first]} {type(towns[0]) is type(first) is Town}"

    calls = [("visit", {"towns": ["Bonn"], "first": "Ulm"}), ("visit", {"towns": [""]})]
    session = run_calls(visit, calls=calls)
    assert session.calls[0].result == "['Bonn', 'Ulm'] True"
    assert session.calls[1].error == "visit: an argument cannot be read: TypeError: no name"


@pytest.mark.parametrize("method", ["__hash__", "__getattribute__"])
def test_a_call_that_ran_does_not_fail_where_the_class_of_its_result_raises(method: str) -> None:
    def refuse(cls: type, *args: Any) -> Any:
        raise RuntimeError("refused")

    cls = type("Meta", (type,), {method: refuse})("Odd", (), {})

    def make() -> Any:
        """Make one."""
        return object.__new__(cls)

    assert run_calls(make, calls=[("make", {})]).calls[0].status == "succeeded"
