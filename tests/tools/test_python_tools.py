"""Tools from Python: what a model is shown of a function, and what reaches the function."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, NotRequired, Required, TypedDict, Unpack, cast

import pytest
from pydantic import BaseModel, ConfigDict

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import CallError, DefinitionError, UsageError
from jupyter_toolcall.tools.object_references import references, replace_names


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


def resolve(name: str, types: tuple[type, ...]) -> Any:
    if name not in ("Potato#1", "Sweet#1"):
        raise CallError(f"there is no object {name!r}")
    return POTATO if name == "Potato#1" else SWEET


def check(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what reaches a function."""
    box = Toolbox(Potato, Sweet, function)
    return box[function.__name__].check(arguments, resolve)


@pytest.mark.parametrize(
    ("annotation", "given", "reached", "places"),
    [
        (Potato, "Potato#1", POTATO, {"x": "Potato#1"}),
        *((Potato, "Sweet#1", SWEET, {"x": "Sweet#1"}), (Potato | None, None, None, {})),
        (Potato | None, "Potato#1", POTATO, {"x": "Potato#1"}),
        (Potato | Sweet, "Sweet#1", SWEET, {"x": "Sweet#1"}),
        (
            list[Potato],
            ["Potato#1", "Sweet#1"],
            [POTATO, SWEET],
            {"x.0": "Potato#1", "x.1": "Sweet#1"},
        ),
        (list[Potato | None], [None, "Potato#1"], [None, POTATO], {"x.1": "Potato#1"}),
        (dict[str, Potato], {"a": "Potato#1"}, {"a": POTATO}, {"x.a": "Potato#1"}),
        (tuple[int, Potato], [1, "Potato#1"], (1, POTATO), {"x.1": "Potato#1"}),
        (
            Bag,
            {"potato": "Potato#1", "more": ["Sweet#1"]},
            Bag(POTATO, [SWEET]),
            {"x.potato": "Potato#1", "x.more.0": "Sweet#1"},
        ),
        (Order, {"potato": "Potato#1"}, {"potato": POTATO}, {"x.potato": "Potato#1"}),
        (
            list[Order] | None,
            [{"potato": "Potato#1"}],
            [{"potato": POTATO}],
            {"x.0.potato": "Potato#1"},
        ),
        *((str, "Potato#1", "Potato#1", {}), (object, "Potato#1", POTATO, {"x": "Potato#1"})),
        (Any, {"a": ["Sweet#1", 2]}, {"a": [SWEET, 2]}, {"x.a.0": "Sweet#1"}),
        (Any | None, "a Potato#1", "a Potato#1", {}),
        (list, [1, "Potato#1"], [1, POTATO], {"x.1": "Potato#1"}),
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
    def use(x: Any) -> None: ...

    use.__annotations__["x"] = annotation
    assert check(use, {"x": given}) == {"x": reached}
    schema = Toolbox(Potato, Sweet, use)["use"].parameters
    assert dict(references(schema, {"x": given})) == places
    # Each name is renamed once, whatever unions it stands in.
    again = replace_names(schema, {"x": given}, lambda _, name: f"{name}0")
    assert dict(references(schema, again)) == {place: f"{name}0" for place, name in places.items()}


def test_a_model_that_holds_what_holds_an_object_comes_out_as_itself() -> None:
    def use(crate: Crate) -> None: ...

    found = check(use, {"crate": {"bag": {"potato": "Potato#1"}, "count": "2"}})["crate"]
    assert isinstance(found, Crate)
    assert (found.bag, found.count) == (Bag(POTATO), 2)
    schema = Toolbox(Potato, Sweet, use)["use"].parameters
    assert list(references(schema, {"crate": {"bag": {"potato": "Potato#1"}}})) == [
        ("crate.bag.potato", "Potato#1")
    ]


def test_an_object_that_there_is_not_is_told_by_its_place() -> None:
    def use(bag: Bag) -> None: ...

    with pytest.raises(CallError, match=r"bag.potato: there is no object 'Potato#7'"):
        check(use, {"bag": {"potato": "Potato#7"}})
    with pytest.raises(
        CallError, match=r"bag.potato: must be the name of an object, such as Potato#1"
    ):
        check(use, {"bag": {"potato": 7}})


class Options(TypedDict, total=False):
    x: Required[int]
    y: str


def test_named_arguments_of_a_typed_dict_are_checked_by_its_keys() -> None:
    def set_up(**more: Unpack[Options]) -> None: ...

    assert check(set_up, {"more": {"x": "1"}}) == {"more": {"x": 1}}
    for given, said in (({"more": {"x": 1, "z": 2}}, "more.z: there is no"), ({}, "more: Give")):
        with pytest.raises(CallError, match=said):
            check(set_up, given)


def test_every_kind_of_parameter_is_called_as_it_must_be() -> None:
    def f(a: int, /, b: int = 2, *rest: int, c: int = 3, **more: int) -> Any:
        return a, b, rest, c, more

    made = Toolbox(f)["f"]
    for given in ({"a": 1, "b": 2}, {"a": 1}):
        values = made.check({**given, "rest": [7, 8], "more": {"z": 9}}, resolve)
        assert made.function(**values) == (1, 2, (7, 8), 3, {"z": 9})


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
    calls = [("plus", {"a": 1}, 3), ("kind", {"value": 4, "end": "!"}, "4!")]
    calls += [("kind", {"value": "a"}, "text a."), ("Shape_times", {"by": 2}, 6)]
    calls += [("Shape_kind", {"value": 4}, "4 3"), ("Shape_kind", {"value": "a"}, "text a 3")]
    calls += [("Shape_grown", {"by": 1, "more": 2}, 6), ("Shape_twice", {"by": 1}, 6)]
    box = Toolbox(plus, kind, source)
    model = Scripted([*(call[:2] for call in calls), "Done."])
    inputs = {"shape": Shape(3)}
    session = Session(box, model, scheme="flat", inputs=inputs, approve="all").tell("Go.")
    assert [call.error or call.result for call in session.calls] == [call[2] for call in calls]
    assert {made.name for made in box if made.read_only} == {"plus", "Shape_twice", "Shape_once"}


def test_an_object_of_a_subclass_has_its_own_method_which_counts_as_code() -> None:
    calls = [("grown", {"by": 1, "more": 2}), ("times", {"by": 2}), ("kind", {"value": 4})]
    model = Scripted([*((f"Shape_{name}", arguments) for name, arguments in calls), "Done."])
    session = Session(Toolbox(Shape), model, scheme="flat", inputs={"s": Square()}, approve="all")
    assert [call.result for call in session.tell("Go.").calls] == [-1, -2, "square 4"]
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
        marks = [(made.name, made.read_only, made.destructive) for made in box]
        assert marks == [("price", True, False), ("buy", False, True)]
        model = Scripted([("price", {"item": "a"}), ("buy", {"item": "a"}), "Done."])
        session = Session(box, model, scheme="flat", approve="all").tell("Go.")
        assert session.calls[0].result == session.calls[1].result == function("a")


def test_a_class_gives_a_tool_for_each_public_method() -> None:
    box = Toolbox(Potato)
    assert box.names == ("Potato_peel", "Potato_plant")
    peel = box["Potato_peel"]
    assert list(peel.parameters["properties"]) == ["Potato", "knife"]
    assert peel.parameters["properties"]["knife"]["description"] == "Which knife."
    assert (peel.receiver, peel.kind, peel.description) == (
        "Potato",
        "Potato",
        "Take the skin off.",
    )
    assert box["Potato_plant"].receiver == ""
    assert Toolbox(Sweet).names == ("Sweet_peel", "Sweet_plant")


def test_hints_say_what_a_function_does_not() -> None:
    @tool(read_only=True, idempotent=True, name="look", description="Look at it.")
    def f() -> int:
        """Something else."""
        return 1

    made = Toolbox(f)["look"]
    assert (made.read_only, made.idempotent, made.description) == (True, True, "Look at it.")
    assert f() == 1
    plain = Toolbox(tool(lambda_named))["lambda_named"]
    assert (plain.read_only, plain.idempotent) == (False, False)


def test_no_tool_is_read_only_and_destructive() -> None:
    with pytest.raises(DefinitionError, match="read_only and pure say that a call changes nothing"):
        tool(read_only=True, destructive=True)


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

    properties = Toolbox(tool(f))["f"].parameters["properties"]
    assert "default" not in properties["x"]


def test_what_a_reload_changes_in_a_function_is_read_again() -> None:
    def cook(minutes: int) -> str:
        """Cook it."""
        return str(minutes)

    assert Toolbox(cook)["cook"].description == "Cook it."
    cook.__doc__, cook.__defaults__ = "Cook it for long.", (5,)
    again = Toolbox(cook)["cook"]
    assert again.description == "Cook it for long."
    assert again.parameters["properties"]["minutes"]["default"] == 5


def test_what_a_reload_changes_in_a_dataclass_is_read_again() -> None:
    @dataclass
    class Order:
        dish: str

    @dataclass
    class Reloaded:
        dish: str
        guests: int

    def serve(order: Any) -> str:
        return str(order.dish)

    serve.__annotations__["order"] = Order
    assert "guests" not in str(Toolbox(serve)["serve"].parameters)
    for name in ("__annotations__", "__dataclass_fields__", "__init__"):
        setattr(Order, name, vars(Reloaded)[name])
    assert "guests" in str(Toolbox(serve)["serve"].parameters)


def test_a_text_beside_the_type_of_many_arguments_describes_each() -> None:
    def join(*parts: Annotated[str, "A part."]) -> str:
        return "".join(parts)

    parts = Toolbox(join)["join"].parameters["properties"]["parts"]
    assert parts["items"]["description"] == "A part."
