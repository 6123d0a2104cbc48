"""The grammar of a local model's turn: whatever it allows is a valid call, or plain text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from jupyter_toolcall import Toolbox
from jupyter_toolcall.core.errors import CallError
from jupyter_toolcall.core.events import Call
from jupyter_toolcall.kitchen import Fries, Oven, Plate, Potato, Sink
from jupyter_toolcall.models.local_grammar import LINE, LINES, turn_grammar
from jupyter_toolcall.models.local_wire import End, reply
from jupyter_toolcall.schemes.messages import Request
from jupyter_toolcall.tools.arguments import parse_json
from jupyter_toolcall.tools.tool import Tool
from tests.standin.sampler import samples

KITCHEN = Toolbox(Potato, Oven, Fries, types=(Sink, Plate))
NEWEST = {"Potato": "Potato#12", "Sink": "Sink#1", "Oven": "Oven#1"}
VALUES = {"Potato": Potato(), "Sink": Sink(), "Oven": Oven(), "Plate": Plate(), "Fries": Fries("")}


def offered(request: Request) -> dict[str, Any]:
    """Return the tools that the grammar of a request allows, each with its argument schema."""
    found = {}
    for line in turn_grammar(request).split("\n"):
        rule, _, schema = line.partition(" %json ")
        if schema:
            begin = json.loads(rule.partition(": ")[2])
            name = json.loads(begin + "{}}")["tool"]
            found[name] = json.JSONDecoder().raw_decode(schema)[0]
    return found


def allows(request: Request, tool: str, arguments: Any) -> bool:
    return jsonschema_rs.validator_for(offered(request)[tool]).is_valid(arguments)


def turns(request: Request, count: int = 40, force: bool = False) -> list[str]:
    """Return turns that a request's grammar allows, at random, the same each time."""
    return samples(turn_grammar(request, force=force), range(count))


def calls(request: Request, count: int = 40) -> list[Call]:
    """Return the calls of these turns, as they are read."""
    found = [
        call
        for text in turns(request, count, force=True)
        for call in reply([text, End("stop")], 0, True, len).calls
    ]
    assert len(found) >= count
    assert not [call for call in found if call.broken]
    return found


def resolve(newest: Mapping[str, str]) -> Any:
    def found(name: str, types: tuple[type, ...]) -> Any:
        kind, _, number = name.partition("#")
        assert 1 <= int(number) <= int(newest[kind].partition("#")[2])
        assert not types or kind in {cls.__name__ for cls in types}
        return VALUES[kind]

    return found


def checked(box: Sequence[Tool] | Toolbox, newest: Mapping[str, str], count: int = 40) -> set[str]:
    """Check that each call of a turn passes the check of its tool; return the tools called."""
    request = Request("", tuple(box), (), newest=newest)
    tools = {tool.name: tool for tool in box}
    made = calls(request, count)
    for call in made:
        given = {**call.arguments}
        tool = tools[call.tool]
        if tool.receiver:
            given.setdefault(tool.receiver, newest.get(tool.kind))
        tool.check(given, resolve(newest))
    return {call.tool for call in made}


def test_a_call_names_objects_that_are_there_and_passes_its_tools_check() -> None:
    assert checked(KITCHEN, NEWEST | {"Plate": "Plate#1", "Fries": "Fries#3"}, 80) == {
        *("Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake", "Fries_plate")
    }


def test_a_tool_that_no_object_fits_is_not_called() -> None:
    def callable_with(newest: Mapping[str, str]) -> set[str]:
        return set(offered(Request("", tuple(KITCHEN), (), newest=newest)))

    assert callable_with(NEWEST) == {"Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake"}
    assert checked(KITCHEN, NEWEST) == callable_with(NEWEST)
    assert checked(KITCHEN, {"Potato": "Potato#1"}) == {"Potato_peel", "Potato_slice"}


@pytest.mark.parametrize("newest", [1, 7, 10, 12, 99, 100, 205, 1_000])
def test_every_object_of_a_type_can_be_named_and_no_other(newest: int) -> None:
    request = Request("", (KITCHEN["Potato_peel"],), (), newest={"Potato": f"Potato#{newest}"})
    names = [f"Potato#{number}" for number in range(newest + 110)]
    allowed = [name for name in names if allows(request, "Potato_peel", {"Potato": name})]
    assert allowed == names[1 : newest + 1]
    assert not allows(request, "Potato_peel", {"Potato": "Potato#01"})
    assert not allows(request, "Potato_peel", {"Potato": "Oven#1"})


def test_an_argument_that_no_object_fits_is_left_out() -> None:
    def serve(potato: Potato, plate: Plate | None = None, sinks: list[Sink] = []) -> str:  # noqa: B006
        return "done"

    (tool,) = Toolbox(serve, types=(Potato, Plate, Sink))
    request = Request("", (tool,), (), newest={"Potato": "Potato#1"})
    assert allows(request, "serve", {"potato": "Potato#1", "plate": None, "sinks": []})
    assert not allows(request, "serve", {"potato": "Potato#1", "plate": "Plate#1"})
    assert not allows(request, "serve", {"potato": "Potato#1", "sinks": ["Sink#1"]})


def test_where_nothing_can_be_called_there_is_text_even_by_force() -> None:
    request = Request("", tuple(KITCHEN), ())
    assert turn_grammar(request, force=True) == turn_grammar(request)
    for text in turns(request, force=True):
        assert not reply([text, End("stop")], 0, True, len).calls


def test_by_force_a_turn_begins_with_a_call() -> None:
    request = Request("", tuple(KITCHEN), (), newest=NEWEST)
    assert all(text.startswith('{"tool":') for text in turns(request, force=True))
    assert not all(text.startswith('{"tool":') for text in turns(request))


def test_a_model_whose_tools_are_spoken_is_bound_by_nothing() -> None:
    assert turn_grammar(Request("The tools are told here.", (), ())) == ""


class Cut(Enum):
    THICK = "thick"
    THIN = 'th"in\\'


class Heat(IntEnum):
    LOW = 1
    HIGH = 9


class Spice(BaseModel):
    name: str = Field(min_length=2, max_length=5)
    grams: float = Field(ge=0, le=20)
    with_: list[Spice] = Field(default=[], max_length=2)


class Order(TypedDict):
    table: int
    spices: list[Spice]


@dataclass
class Bill:
    total: Annotated[int, Field(ge=-40, lt=1000)]
    tip: float | None = None
    paid: bool = False


def everything(
    text: str,
    cut: Cut,
    heat: Heat,
    word: Literal["a", 7, None, True],
    few: Annotated[list[Annotated[int, Field(gt=17, le=1234)]], Field(min_length=2, max_length=4)],
    pair: tuple[int, str],
    order: Order,
    bill: Bill | None,
    day: date,
    at: datetime,
    key: UUID,
    code: Annotated[str, Field(pattern=r"^[A-Z]{2}-\d+(x|y)?$")],
    potatoes: list[Potato],
    either: int | str | list[bool] = 3,
    plate: Plate | None = None,
    *,
    loud: bool = False,
) -> str:
    """Take one of each."""
    return "done"


def nothing() -> int:
    return 1


def all_optional(a: int = 1, b: str = "", c: bool = False, d: float = 0.5) -> int:
    return 1


def test_what_a_schema_can_ask_for_is_held_to() -> None:
    box = Toolbox(everything, nothing, all_optional, types=(Potato, Plate))
    assert checked(box, NEWEST, 120) == {"everything", "nothing", "all_optional"}


def test_optional_arguments_come_in_every_combination() -> None:
    request = Request("", tuple(Toolbox(all_optional)), ())
    assert len({tuple(call.arguments) for call in calls(request, 600)}) == 16


@pytest.mark.parametrize(
    ("least", "most"), [(0, 0), (1, 7), (9, 11), (-3, 3), (-120, -98), (95, 104), (-1, 0)]
)
def test_the_model_can_write_any_whole_number_between_the_bounds_and_no_other(
    least: int, most: int
) -> None:
    schema = {"type": "integer", "minimum": least, "maximum": most}
    written = {call.arguments["n"] for call in calls(asking(schema), 300)}
    assert written == set(range(least, most + 1))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "(?=a)b"},
        {"type": "string", "pattern": r"^\bword$"},
        {"type": "string", "pattern": r"(a)\1"},
        {"type": "string", "pattern": "["},
        {"type": "string", "format": "binary"},
        {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
        {"type": "number", "minimum": 0.2, "maximum": 0.3},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "properties": {"a": {"type": "null"}}, "dependentRequired": {"a": []}},
        {"type": "float"},
        {"not": {"type": "string"}, "type": "integer"},
        {"$ref": "#/$defs/Gone"},
        {"oneOf": [{"type": "integer"}, {"type": "number", "maximum": 3}]},
        {"type": "integer", "multipleOf": 5},
    ],
)
def test_what_no_grammar_can_ask_for_is_json_all_the_same(schema: Any) -> None:
    for text in turns(asking(schema), force=True):
        for line in text.split("\n"):
            assert "n" in json.loads(line)["arguments"]


@pytest.mark.parametrize("schema", [False, {"enum": []}, {"type": "array", "minItems": 1}])
def test_a_tool_whose_schema_nothing_fits_is_not_called(schema: Any) -> None:
    impossible = {**schema, "items": False} if isinstance(schema, dict) else schema
    assert not offered(asking(impossible))


def test_a_text_or_list_without_a_bound_of_its_own_ends_all_the_same() -> None:
    request = asking({"type": "array", "items": {"type": "string"}})
    assert allows(request, "take", {"n": ["a" * 200] * 8})
    assert not allows(request, "take", {"n": ["a" * 201]})
    assert not allows(request, "take", {"n": ["a"] * 9})
    assert allows(asking({"type": "string", "minLength": 900}), "take", {"n": "a" * 900})
    assert allows(asking({"type": "array", "minItems": 11}), "take", {"n": [1] * 11})


def asking(schema: Any) -> Request:
    """A request with one tool, which takes one argument."""
    parameters = {"type": "object", "properties": {"n": schema}, "required": ["n"]}
    return Request("", (Tool("take", "", parameters),), ())


SCALARS = st.sampled_from(
    [
        {"type": "string", "maxLength": 4},
        {"type": "string", "enum": ["a", 'q"', "\\", "é\n", ""]},
        {"const": {"a": [1, None, "€"]}},
        {"type": "integer"},
        {"type": "integer", "minimum": 3},
        {"type": "integer", "exclusiveMaximum": 3, "minimum": -100_001},
        {"type": "number"},
        {"type": "number", "minimum": -2, "maximum": 10},
        {"type": "number", "maximum": -3},
        {"type": "boolean"},
        {"type": ["null", "integer"]},
        {"type": "string", "pattern": '^(a|b[^c]){1,3}\\.[\\w-]?"$'},
        {"type": "string", "format": "date-time"},
    ]
)


def nested(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.sampled_from(["a", "b b", 'c"', "d\\", "é"])
    several = st.dictionaries(names, inner, min_size=1, max_size=4)
    objects = several.flatmap(
        lambda parts: st.lists(st.sampled_from(sorted(parts)), unique=True).map(
            lambda needed: {
                "type": "object",
                "properties": parts,
                "required": needed,
                "additionalProperties": False,
            }
        )
    )
    lists = st.tuples(inner, st.integers(0, 2), st.integers(2, 4)).map(
        lambda t: {"type": "array", "items": t[0], "minItems": t[1], "maxItems": t[2]}
    )
    tuples = st.lists(inner, min_size=1, max_size=3).map(
        lambda parts: {"type": "array", "prefixItems": parts, "minItems": len(parts)}
    )
    unions = st.lists(inner, min_size=1, max_size=3).map(lambda options: {"anyOf": options})
    whole = inner.map(lambda schema: {"allOf": [schema]})
    return objects | lists | tuples | unions | whole


SCHEMAS = st.recursive(SCALARS, nested, max_leaves=8)


@settings(max_examples=150, deadline=None)
@given(SCHEMAS, st.integers(0, 1_000_000))
def test_whatever_is_made_from_a_schema_is_strict_json_that_fits_it(schema: Any, seed: int) -> None:
    fits = jsonschema_rs.validator_for(schema)
    for turn in samples(turn_grammar(asking(schema), force=True), range(seed, seed + 2)):
        for line in turn.split("\n"):
            found = parse_json(line)
            assert found["tool"] == "take"
            assert fits.is_valid(found["arguments"]["n"]), (found, schema)


TREE = {
    "type": "object",
    "properties": {
        "leaf": {"type": "integer"},
        "left": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]},
        "more": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
    },
    "required": ["leaf", "left"],
}


def tree(root: Any) -> Request:
    parameters = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Tree"}},
        "required": ["tree"],
        "$defs": {"Tree": root},
    }
    return Request("", (Tool("plant", "", parameters),), ())


def test_a_definition_that_needs_itself_is_not_called_and_one_that_may_hold_itself_is() -> None:
    leaf = {"leaf": 1, "left": None}
    assert allows(tree(TREE), "plant", {"tree": {"leaf": 1, "left": leaf, "more": [leaf, leaf]}})
    assert not allows(tree(TREE), "plant", {"tree": {"leaf": 1}})
    assert {call.tool for call in calls(tree(TREE), 20)} == {"plant"}
    endless = {"type": "object", "properties": {"in": {"$ref": "#/$defs/Tree"}}, "required": ["in"]}
    assert not offered(tree(endless))


def test_definitions_of_one_name_in_two_tools_stay_apart() -> None:
    def tool(name: str, kind: str) -> Tool:
        some = {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}, "required": ["n"]}
        return Tool(name, "", {**some, "$defs": {"N": {"type": kind}}})

    both = Request("", (tool("one", "integer"), tool("two", "boolean")), ())
    assert {(call.tool, type(call.arguments["n"])) for call in calls(both)} == {
        ("one", int),
        ("two", bool),
    }


def test_a_turn_of_text_has_no_line_that_looks_like_a_call_and_no_run_of_white_space() -> None:
    request = Request("", tuple(KITCHEN), (), newest=NEWEST)
    texts = [text for text in turns(request, 200) if '{"tool"' not in text]
    assert len(texts) > 30
    for text in texts:
        assert reply([text, End("stop")], 0, True, len).text == text.strip()
        assert "  " not in text
        assert "\n\n" not in text
        assert len(text) <= LINES * (2 * LINE + 2)


def test_select_tools_names_tools_that_can_be_called_and_are_not_yet_there() -> None:
    chooser = Tool("selectTools", "", {"type": "object", "properties": {"tools": {}}})
    request = Request("", (chooser,), (), deferred=tuple(KITCHEN), newest=NEWEST)
    named = {name for call in calls(request, 60) for name in call.arguments["tools"]}
    assert named == {"Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake"}
    assert not offered(Request("", (chooser,), ()))


def test_the_same_request_has_the_same_grammar_whatever_the_hash_seed() -> None:
    request = Request("", tuple(KITCHEN), (), newest=NEWEST)
    assert turn_grammar(request) == turn_grammar(request)


def test_a_check_that_asks_for_more_than_its_schema_still_says_so() -> None:
    with pytest.raises(CallError):
        KITCHEN["Potato_slice"].check({"Potato": "Potato#1", "shape": "ROUND"}, resolve(NEWEST))
