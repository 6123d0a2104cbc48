"""Tool definitions: what each of them means, what is wrong with others, and the way back."""

from __future__ import annotations

import dataclasses
import json
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from pydantic import SecretStr

from jupyter_toolcall import (
    Session,
    Tool,
    Toolbox,
    from_definition,
    from_definitions,
    to_definition,
)
from jupyter_toolcall.core.errors import DefinitionError
from tests.example_tools import prints_of, run_calls
from tests.standin.web import Web

SET_LANGUAGE = {
    "type": "context",
    "tool": {
        "function": {
            "name": "set_language",
            "parameters": {
                "language": {"type": "string", "description": "Such as 'en-US'."},
                "message": {"type": "string", "description": "What to say in it."},
            },
        }
    },
}
"""The example of the document, which gives no description and a bare map of properties."""
REMOVE = {"transform": {"action": "remove"}}
BRONX = {
    "transform": {
        "when": {"operator": "eq", "key": "city", "value": "Bronx"},
        "action": "override",
        "format": "The {city}",
    }
}


def definition(defaults: Any = None, parameters: Any = None, **more: Any) -> dict[str, Any]:
    function = {"name": "f", "description": "Do it.", "parameters": parameters or {}}
    said = {} if defaults is None else {"defaults": defaults}
    return {"tool": {"type": "function", "function": function}, **said, **more}


def echo(**values: Any) -> dict[str, Any]:
    return values


def called(tool: Tool, arguments: dict[str, Any]) -> Session:
    return run_calls(tool, calls=[(tool.name, arguments)])


def properties(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return parameters that take these arguments."""
    kinds = {bool: "boolean", int: "integer", str: "string", dict: "object"}
    return {
        key: {"type": [kinds[type(value)], "null"]} if value is not None else {}
        for key, value in arguments.items()
    }


# -- defaults and transforms ------------------------------------------------------------

Q = {"hospital": "Queens Hospital"}
TO_DICT = {"tags.hospital": "{vars.hospital}", "tags.foo": "{params.foo}"}
TAGS = {"tags": {"hospital": "Queens Hospital", "foo": "bar"}}
BRACES = 'a{ {} {0} {a b} {"k": 1}'
HELLO = {"hello": {"transform": {"format": "Hello, {name}!"}}}


def guarded(key: str, equals: str, **transform: Any) -> dict[str, Any]:
    """Return a transform with a condition."""
    return {"transform": {"when": {"key": key, "value": equals}, **transform}}


VALUE = "<value>"
WORKED: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    # A constant stands for what the model does not say, and false and 0 are said.
    (Q, {"name": "Ann"}, {"name": "Ann", **Q}),
    (Q, {"hospital": "Mercy"}, {"hospital": "Mercy"}),
    (Q, {"hospital": ""}, Q),
    (Q, {"hospital": None}, Q),
    ({"flag": True, "n": 5}, {"flag": False, "n": 0}, {"flag": False, "n": 0}),
    ({"to": {"transform": {"value": "@ann"}}}, {}, {"to": "@ann"}),
    ({"x": {"transform": {}, "more": 1}}, {}, {"x": {"transform": {}, "more": 1}}),
    # What is removed is gone, and can be read by others.
    ({"hospital": REMOVE}, {"hospital": "M", "name": "Ann"}, {"name": "Ann"}),
    ({"foo": "@remove"}, {"foo": 1, "a": 2}, {"a": 2}),
    ({"foo": "@remove"}, {"a": 2}, {"a": 2}),
    ({"a.b": "@remove"}, {"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}),
    ({**TO_DICT, "foo": REMOVE}, {"foo": "bar"}, TAGS),
    # A reference alone keeps its type; one to nothing leaves all as it is.
    ({"t.n": "{params.n}", "label": "n={n}"}, {"n": 7}, {"n": 7, "t": {"n": 7}, "label": "n=7"}),
    ({"t.x": "{vars.x}", "t.a": "{params.a}"}, {"a": "b"}, {"a": "b", "t": {"a": "b"}}),
    ({"t.h": "{vars.hospital}"}, {"t": {"x": 1}}, {"t": {"x": 1, "h": "Queens Hospital"}}),
    ({"x": "{params.a.b}"}, {"a": {"b": [1]}}, {"a": {"b": [1]}, "x": [1]}),
    ({"a": "@override {vars.x}"}, {"a": "1"}, {"a": "1"}),
    # Parents are written before what is in them.
    ({"t.a": 1, "t": {"b": 2}}, {}, {"t": {"b": 2, "a": 1}}),
    # A format is a default, or overrides; it reads what the model said.
    (HELLO, {"name": "Ann"}, {"name": "Ann", "hello": "Hello, Ann!"}),
    (HELLO, {"name": "Ann", "hello": "Hey"}, {"name": "Ann", "hello": "Hey"}),
    (HELLO, {}, {}),
    ({"name": "@override Hello, {name}!"}, {"name": "Ann"}, {"name": "Hello, Ann!"}),
    ({"hello": "@default Hi, {name}"}, {"name": "A"}, {"name": "A", "hello": "Hi, A"}),
    ({"a": "@override {b}", "b": "@override {a}"}, {"a": "1", "b": "2"}, {"a": "2", "b": "1"}),
    # Other braces are braces.
    ({"x": BRACES}, {}, {"x": BRACES}),
    ({"x": "@override {{{n}}}"}, {"n": 1}, {"n": 1, "x": "{1}"}),
    ({"x": "@override {n:03d}|{s!r:>5}"}, {"n": 7, "s": "a"}, {"n": 7, "s": "a", "x": "007|  'a'"}),
    # A condition reads arguments, what is inside of them, and variables.
    ({"city": BRONX}, {"city": "Bronx"}, {"city": "The Bronx"}),
    ({"city": BRONX}, {"city": "Queens"}, {"city": "Queens"}),
    ({"city": BRONX}, {}, {}),
    ({"a": guarded("b", "x", action="remove")}, {"a": 1, "b": "y"}, {"a": 1, "b": "y"}),
    ({"a": guarded("b.c", "true", value=1)}, {"b": {"c": True}}, {"b": {"c": True}, "a": 1}),
    ({"a": guarded("vars.hospital", Q["hospital"], value=1)}, {}, {"a": 1}),
    ({"a": guarded("vars.hospital", "M", value=1)}, {}, {}),
    # A name may have a dot of its own, or angle brackets.
    ({"a.b": "@override {params.a.b}!"}, {"a.b": "x"}, {"a.b": "x!"}),
    ({}, {VALUE: "a"}, {VALUE: "a"}),
    ({"x": "{<value>}"}, {VALUE: "a"}, {VALUE: "a", "x": "a"}),
    ({"x": "{params.<value>}", VALUE: "@remove"}, {VALUE: "a"}, {"x": "a"}),
    ({VALUE: "@override {<value>}{<value>}"}, {VALUE: "a"}, {VALUE: "aa"}),
    ({VALUE: guarded(VALUE, "a", action="override", value="b")}, {VALUE: "a"}, {VALUE: "b"}),
]


@pytest.mark.parametrize(("defaults", "asked", "runs"), WORKED)
def test_what_the_model_says_and_what_runs(
    defaults: dict[str, Any], asked: dict[str, Any], runs: dict[str, Any]
) -> None:
    made = definition(defaults, properties(asked))
    call = called(from_definition(made, variables=Q, action=echo), asked).calls[0]
    assert (call.error, call.arguments, call.result) == ("", runs, runs)


@given(st.permutations([*{**TO_DICT, "foo": REMOVE, "t": "{params.foo}"}.items()]))
def test_the_order_of_the_defaults_means_nothing(items: list[tuple[str, Any]]) -> None:
    made = definition(dict(items), {"foo": {"type": "string"}})
    tool = from_definition(made, variables=Q, action=echo)
    assert tool.fill({"foo": "bar"}, Q) == {**TAGS, "t": "bar"}


def test_null_for_a_removed_parameter_is_as_if_it_was_left_out() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    tool = from_definition(definition({"a": "@remove"}, schema), action=echo)
    assert called(tool, {"a": None, "b": 1}).calls[0].result == {"b": 1}


def test_what_could_not_be_filled_in_is_printed() -> None:
    tool = from_definition(definition(TO_DICT, {"foo": {}}), action=echo)
    assert prints_of(called(tool, {"foo": "bar"})) == [
        "tags.hospital is left as it is: vars.hospital is not set\n"
    ]


@pytest.mark.parametrize(
    ("parameter", "said", "runs"),
    [
        *(({"type": "integer"}, "7", 7), ({"type": "number"}, "-1.5e3", -1500.0)),
        *(({"type": "boolean"}, "True", True), ({"type": "string"}, 7, "7")),
        ({"type": "array", "items": {"type": "integer"}}, '["1", 2]', [1, 2]),
        ({"type": "object", "properties": {"n": {"type": "integer"}}}, '{"n": "1"}', {"n": 1}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "7", 7),
        ({"type": ["string", "integer"]}, "7", "7"),
        ({"type": "integer"}, "7.5", 'f: x: "7.5" is not of type "integer"'),
        ({"enum": ["a", "b"]}, "c", 'f: x: "c" is not one of "a", "b"'),
    ],
)
def test_what_a_text_spells_is_taken_as_that(parameter: Any, said: Any, runs: Any) -> None:
    tool = from_definition(definition(parameters={"x": parameter}), action=echo)
    call = called(tool, {"x": said}).calls[0]
    assert (call.error or call.result["x"]) == runs


def test_coercion_comes_before_the_transforms() -> None:
    made = definition({"next": "@override {n:+d}"}, {"n": {"type": "integer"}})
    assert called(from_definition(made, action=echo), {"n": "7"}).calls[0].result["next"] == "+7"


TYPED = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["city"],
}
SPELLED = "citty: there is no such argument; there are: city, n. Did you mean city?"
BLOCKED = "tags is 'x', which has no parts, so tags.a cannot be set"


@pytest.mark.parametrize(
    ("defaults", "parameters", "asked", "said"),
    [
        (None, TYPED, {"citty": "x", "city": "y"}, SPELLED),
        (None, TYPED, {}, "city: is missing"),
        (None, TYPED, {"city": "x", "n": "many"}, 'n: "many" is not of type "integer"'),
        ({"tags.a": 1}, {"tags": {}}, {"tags": "x"}, BLOCKED),
        ({"x": "@override {s:d}"}, {"s": {}}, {"s": "a"}, "s: 'a' does not fit its format"),
    ],
)
def test_a_wrong_call_is_told_what_is_right(
    defaults: Any, parameters: dict[str, Any], asked: dict[str, Any], said: str
) -> None:
    call = called(from_definition(definition(defaults, parameters), action=echo), asked).calls[0]
    assert call.status == "failed"
    assert said in call.error


def test_required_is_held_against_what_runs() -> None:
    schema = {"type": "object", "properties": {"hospital": {}}, "required": ["hospital"]}
    tool = from_definition(definition(Q, schema), action=echo)
    assert called(tool, {}).calls[0].result == Q
    assert tool.parameters["required"] == []


def test_a_persons_own_arguments_run_as_they_are() -> None:
    tool = from_definition(definition({"city": BRONX}, {"city": {"type": "string"}}), action=echo)
    session = run_calls(tool, calls=[("f", {"city": "Bronx"})], approve="ask")
    assert session.pending[0].arguments == {"city": "The Bronx"}
    session.decide(session.pending[0], "edit", arguments={"city": "Bronx"}).run()
    assert session.calls[0].result == {"city": "Bronx"}


# -- what the model is told -------------------------------------------------------------


@pytest.mark.parametrize(
    ("defaults", "shown"),
    [
        *(({"a": said}, ["b"]) for said in ("@remove", "@override always", "@override {vars.x}")),
        ({"a": {"transform": {"action": "override", "value": 1}}}, ["b"]),
        *(({"a": said}, ["a", "b"]) for said in ("@override {a}!", "a default")),
        ({"a": "@remove", "b": "{params.a}"}, ["a", "b"]),
        ({"a": guarded("b", "1", action="remove")}, ["a", "b"]),
    ],
)
def test_the_model_sees_no_settled_parameter(defaults: dict[str, Any], shown: list[str]) -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]}
    tool = from_definition(definition(defaults, schema))
    assert list(tool.parameters["properties"]) == shown
    assert set(tool.parameters["required"]) <= set(shown)


def test_a_bare_map_of_properties_is_a_schema() -> None:
    tool = from_definition(SET_LANGUAGE)
    assert tool.parameters["type"] == "object"
    assert list(tool.parameters["properties"]) == ["language", "message"]
    assert tool.definition()["description"] == ""


def test_parameters_that_are_named_as_words_of_json_schema_are_parameters() -> None:
    bare = {"type": {"type": "string"}, "properties": {"type": "object"}}
    tool = from_definition(definition(parameters=bare))
    assert list(tool.parameters["properties"]) == ["type", "properties"]


def test_no_schema_at_all_takes_anything() -> None:
    session = called(from_definition(definition(parameters={}), action=echo), {"x": [1]})
    assert session.calls[0].result == {"x": [1]}


def test_static_parameters_are_not_the_models_to_say() -> None:
    static = [{"name": "env", "required": True, "type": "string", "default": "test"}]
    made = definition({"tag": "{env}-1"}, {"env": {}, "a": {}}, static_parameters=static)
    tool = from_definition(made, action=echo)
    assert list(tool.parameters["properties"]) == ["a"]
    runs = {"env": "test", "a": 1, "tag": "test-1"}
    assert called(tool, {"a": 1, "env": "live"}).calls[0].arguments == runs


# -- mistakes ---------------------------------------------------------------------------

ENDPOINT = {"url": "https://api.example.org/x", "method": "get", "argument_location": "query"}
NAME = {"name": {"type": "string"}}


def wrong(**more: Any) -> dict[str, Any]:
    return definition(None, NAME, **more)


def defaulted(said: Any) -> dict[str, Any]:
    return definition({"name": said}, {**NAME, "n": {"type": "integer"}})


def transform(**said: Any) -> dict[str, Any]:
    return defaulted({"transform": said})


def endpoint(**said: Any) -> dict[str, Any]:
    return wrong(type="endpoint", endpoint={**ENDPOINT, **said})


def function(**said: Any) -> dict[str, Any]:
    return {"tool": {"function": {"name": "f", "parameters": {}, **said}}}


def test_the_placeholder_of_the_specifications_example_is_the_name_without_its_brackets() -> None:
    example = {"tool": {"function": {"name": "<value>", "description": "d", "parameters": {}}}}
    assert from_definition(example).name == "value"
    assert to_definition(from_definition(example))["tool"]["function"]["name"] == "value"


STATIC = {"name": "a", "type": "int"}
MISTAKES: list[tuple[Any, str]] = [
    # The definition as such.
    ([], r"'\[\]' is neither a JSON object nor a \.json file|\[\] is no object"),
    ("nothing.txt", "'nothing.txt' is neither a JSON object nor a .json file"),
    ("nothing.json", "'nothing.json' cannot be read"),
    ('{"tool": ', "the definition is no JSON"),
    ('{"tool": 1, "tool": 2}', "the key 'tool' is twice"),
    ('{"tool": NaN}', "NaN is not JSON"),
    ({"tool": object()}, "the definition is no JSON"),
    ({}, "tool: is missing"),
    ([{"tool": {}}, {}], "there are 2 definitions; from_definitions"),
    ({"type": "function", "function": {}}, "function.name: is missing"),
    ({"type": "web_search", "name": "f"}, "type: 'web_search' is not known here"),
    ({"name": "f", "paramters": {}}, "paramters: .* Did you mean parameters?"),
    ({"name": "f", "input_schema": {"type": "array"}}, "input_schema.type: 'array'; arguments"),
    (wrong(tpye="action"), "tpye: there is no such key; .* Did you mean type?"),
    (wrong(type="log"), "type: 'log' is not known; there is action or endpoint or context"),
    (wrong(result="x"), "result: is only for context tools"),
    # tool.function
    ({"tool": []}, "tool: .* is no object"),
    ({"tool": {}}, "tool.function: is missing"),
    ({"tool": {"type": "tool", "function": {}}}, "tool.type: 'tool' is not known"),
    (function(name=""), "tool.function.name: '' is no name"),
    (function(name="a\nb"), "tool.function.name: 'a.nb' is no name"),
    (function(name="<>"), "tool.function.name: '<>' is no name"),
    ({"tool": {"function": {"parameters": {}}}}, "tool.function.name: is missing"),
    ({"tool": {"function": {"name": "f"}}}, "tool.function.parameters: is missing"),
    (function(description=1), "tool.function.description: 1 is no text"),
    # tool.function.parameters
    (function(parameters="x"), "tool.function.parameters: 'x' is no JSON Schema"),
    (function(parameters={"a": "string"}), "tool.function.parameters.a: "),
    (function(parameters={"a": {"type": "strng"}}), 'a.type: "strng" is not one of "array", "bool'),
    (function(parameters={"type": "array"}), "tool.function.parameters.type: 'array'; "),
    (function(parameters={"a": {"$ref": "#/$defs/A"}}), r"a.\$ref: '#/\$defs/A' leads to nothing"),
    (function(parameters={"a": {"$ref": "https://x.test/s"}}), r"a.\$ref: .* leads to nothing"),
    # defaults
    (definition([]), "defaults: \\[\\] is no object"),
    (definition({"a..b": 1}), "defaults.a..b: 'a..b' is no name"),
    (definition({"a": "x", "a.b": 1}), "defaults.a.b: a is set to what has no parts"),
    (definition({"name.x": 1}, NAME), "defaults.name.x: name is no object"),
    (definition({"n": "five"}, {"n": {"type": "integer"}}), 'defaults.n: "five" is not of type'),
    (definition({"nmae": "@remove"}, NAME), "defaults.nmae: .* Did you mean name?"),
    (defaulted("{nmae}"), "defaults.name: there is no parameter 'nmae'. Did you mean name?"),
    (defaulted("{params.n.x}"), "defaults.name: n.x: n is no object"),
    (defaulted("{params.__class__}"), "defaults.name: {params.__class__} is no name"),
    (defaulted("@overide x"), "defaults.name: '@overide x' is no short form; .* mean override?"),
    (defaulted("@remove x"), "defaults.name: '@remove x' is no short form"),
    (defaulted("@override {"), "defaults.name: '{': "),
    (transform(), "defaults.name.transform: give either value or format, and not both"),
    (transform(action="remove", value=1), "defaults.name.transform.value: what is removed"),
    (transform(action="delete"), "defaults.name.transform.action: 'delete' is not known"),
    (transform(format=1), "defaults.name.transform.format: 1 is no text"),
    (transform(format="{params.__class__}"), "defaults.name.transform.format: {params.__class__}"),
    (transform(format="{name.upper}"), "{name.upper} is no name"),
    (transform(format="{b[0]}"), r"{b\[0\]} is no name"),
    (transform(format="{_x}"), "{_x} is no name"),
    (transform(format="{a"), "expected '}' before end of string"),
    (transform(format="a}"), "single '}' encountered"),
    (transform(format="{n:{n}}"), "is too wide, or has names in it"),
    (transform(format="{n:99999999}"), "is too wide"),
    (transform(value=1, when=[]), r"defaults.name.transform.when: \[\] is no object"),
    (transform(value=1, when={"key": "n"}), "defaults.name.transform.when.value: is missing"),
    (transform(value=1, when={"key": "n", "value": "1", "operator": "ne"}), "operator: 'ne' is"),
    (transform(value=1, when={"key": "_n", "value": "1"}), "transform.when.key: '_n' is no name"),
    (transform(value=1, when={"key": "n", "value": []}), "transform.when.value: .* is no text"),
    (transform(value=1, when={"kye": "n"}), "transform.when.kye: .* Did you mean key?"),
    (transform(value=1, when={"key": "nmae", "value": "x"}), "there is no parameter 'nmae'"),
    # endpoint
    (wrong(type="endpoint"), "endpoint: is missing; type 'endpoint' needs it"),
    (wrong(endpoint=ENDPOINT), "endpoint: is only for endpoint tools"),
    (endpoint(url=None), "endpoint.url: is missing"),
    (endpoint(method="patch"), "endpoint.method: 'patch' is not known; there is get or post"),
    (endpoint(argument_location="header"), "endpoint.argument_location: 'header' is not known"),
    (endpoint(argument_location="body"), "endpoint.argument_location: a get has no body"),
    (endpoint(method="delete", argument_location="form"), "a delete has no body for 'form'"),
    (endpoint(headers={}), "endpoint.headers: there is no such key"),
    (endpoint(timeout=0), "endpoint.timeout: 0; give seconds"),
    (endpoint(timeout=True), "endpoint.timeout: True; give seconds"),
    (endpoint(url="ftp://x/y"), "endpoint.url: 'ftp://x/y' is no URL"),
    (endpoint(url="https://x:y/"), "endpoint.url: 'https://x:y/' is no URL"),
    (endpoint(url="https://me:pw@x/y"), "endpoint.url: has a password"),
    (endpoint(url="https://x/{name}"), "{name} is filled in only with argument_location 'path'"),
    (endpoint(url="https://x/{nmae}", argument_location="path"), "url: .*'nmae' .* mean name?"),
    (endpoint(url="https://{name}/x", argument_location="path"), "braces stand in the path alone"),
    (endpoint(url="https://x/{name", argument_location="path"), "braces stand in the path alone"),
    # static_parameters and context
    (wrong(static_parameters={}), "static_parameters: {} is no list"),
    (wrong(static_parameters=[{"type": "string"}]), "static_parameters.0.name: is missing"),
    (wrong(static_parameters=[{"name": "a", "type": "str"}]), "static_parameters.0.type: 'str'"),
    (wrong(static_parameters=[{**STATIC, "required": True}]), "0.default: is missing, and a is"),
    (wrong(static_parameters=[{**STATIC, "default": "1"}]), "parameters.0.default: '1' is no int"),
    (wrong(type="context"), "tool.function.parameters.name: a context tool sets language, say"),
]


@pytest.mark.parametrize(("made", "said"), MISTAKES)
def test_a_mistake_is_found_when_the_definition_is_read(made: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=said) as caught:
        from_definition(made)
    assert len(str(caught.value).splitlines()) == 1


def test_each_key_that_is_null_says_nothing() -> None:
    keys = ("type", "endpoint", "defaults", "static_parameters", "result", "context", "options")
    assert from_definition({**definition(None, NAME), **dict.fromkeys(keys)}).for_person


def test_what_was_read_does_not_change_with_the_dict() -> None:
    made = definition({"a": 1}, NAME)
    tool = from_definition(made, action=echo)
    made["defaults"]["a"] = 2
    assert called(tool, {}).calls[0].result == {"a": 1}


# -- the forms and dialects of others -----------------------------------------------------

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FORMS: dict[str, dict[str, Any]] = {
    "OpenAI": {"type": "function", "function": {"name": "f", "parameters": CITY, "strict": True}},
    "OpenAI, bare": {"type": "function", "name": "f", "parameters": CITY, "strict": True},
    "Anthropic": {"name": "f", "input_schema": CITY, "cache_control": {"type": "ephemeral"}},
    "MCP": {"name": "f", "inputSchema": CITY, "annotations": {"readOnlyHint": True}},
    "ToolDefinition": {"tool": {"function": {"name": "f", "parameters": CITY}}},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_is_read_bare_in_a_list_and_in_a_file(
    form: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps({"tools": [form]}), encoding="utf-8-sig")
    for source in (form, [form], f"\ufeff{json.dumps([form])}", path):
        tool = from_definition(source, action=echo)
        assert (tool.name, dict(tool.parameters)) == ("f", CITY)
        assert from_definitions(source).names == ("f",)
        assert bool(tool.notes) is ("tool" not in form)
        assert called(tool, {"city": "Rome"}).calls[0].result == {"city": "Rome"}


def test_a_mistake_in_a_list_has_its_number_and_an_action_its_name() -> None:
    with pytest.raises(DefinitionError, match=r"definition 2 of 2: name: '' is no name"):
        from_definitions([FORMS["MCP"], {"name": ""}])
    with pytest.raises(DefinitionError, match="no definition is named 'ff'"):
        from_definitions(FORMS["MCP"], actions={"ff": echo})
    names = ["shop.price", "shop price", "shop_price", "shop/price", "x" * 90]
    tools = [{**FORMS["MCP"], "name": name} for name in names]
    box = from_definitions(tools, actions={name: lambda city, own=name: own for name in names})
    session = run_calls(*box, calls=[(name, {"city": "x"}) for name in names])
    assert [(call.tool, call.result) for call in session.calls] == [(n, n) for n in names]


EITHER = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
PLACE = "#/allOf/0/properties/a"
HOLDING = {"properties": {"n": {"$ref": "#/properties/c"}}}
INT, CLOSED = {"type": "integer"}, {"type": "object", "additionalProperties": False}
OLD_ID = {"type": "object", "$defs": {"n": {"$id": "#n", **INT}}}
NESTED = {"type": "object", "properties": {"n": INT, "a": {"$recursiveRef": "#"}}}
DIALECTS: list[tuple[dict[str, Any], Any, Any]] = [
    ({"type": "dict", "properties": {"a": {"type": "float"}}}, {"a": 1.5}, {"a": "x"}),
    ({"a": {"type": "tuple", "items": {"type": "long"}}}, {"a": [1]}, {"a": [1.5]}),
    ({"a": {"type": "HashMap"}, "b": {"type": "any"}}, {"a": {}, "b": [1]}, {"a": []}),
    ({"a": {"type": "char", "required": True}}, {"a": "x"}, {}),
    ({"a": {"type": "string", "nullable": True, "enum": ["x"]}}, {"a": None}, {"a": "y"}),
    ({"a": {"allOf": [{"type": "integer"}], "nullable": True}}, {"a": None}, {"a": "y"}),
    ({"a": {"minimum": 1, "exclusiveMinimum": True}}, {"a": 2}, {"a": 1}),
    ({"a": {"items": [{"type": "integer"}], "additionalItems": False}}, {"a": [1]}, {"a": [1, 2]}),
    ({"a": {"type": "array", "additionalItems": {"type": None}}}, {"a": [1]}, {"a": 1}),
    ({"a": {"divisibleBy": 2}, "b": {"extends": {"type": "integer"}}}, {"a": 4, "b": 1}, {"a": 3}),
    ({"a": {"disallow": ["string", {"maximum": 2}]}}, {"a": 3}, {"a": 2}),
    ({"a": {"type": ["null", {"maximum": 2}]}}, {"a": None}, {"a": 3}),
    ({**OLD_ID, "properties": {"a": {"$ref": "#n"}}}, {"a": 1}, {"a": {}}),
    ({**NESTED, "$recursiveAnchor": True}, {"n": 1, "a": {"n": 2}}, {"a": {"n": "x"}}),
    ({"properties": {"a": {}}, "patternProperties": {"^b": {}}, **CLOSED}, {"a": 1}, {"c": 1}),
    (CLOSED, {}, {"a": 1}),
    ({"properties": {"a": {}, "b": {}}, **EITHER}, {"b": 1}, {}),
    ({"oneOf": [{"properties": {"a": {"type": "integer"}}}]}, {"a": 1}, {"b": 1}),
    ({"$ref": "#/definitions/A", "definitions": {"A": CITY}}, {"city": "x"}, {"a": 1}),
    ({"allOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": CITY}}, {"city": "x"}, {}),
    ({"a": {"items": [INT]}, "b": {"$ref": "#/properties/a/items/0"}}, {"b": 1}, {"b": "x"}),
    ({"allOf": [{"properties": {"a": INT, "b": {"$ref": PLACE}}}]}, {"b": 1}, {"b": "x"}),
    ({"b": {"$ref": "#/properties/a"}, "a": HOLDING, "c": INT}, {"b": {"n": 1}}, {"b": {"n": "x"}}),
    ({"type": ["object", "null"], "properties": {"a": {"type": "integer"}}}, {"a": 1}, {"a": "x"}),
    ({**CITY, "required": ["city", "b"]}, {"city": "x", "b": [2]}, {"city": "x"}),
    ({**CITY, "required": ["a"], "allOf": [{"properties": {"a": INT}}]}, {"a": 1}, {"a": "x"}),
    ({"properties": {"c": {}}, **EITHER}, {"b": 1}, {"c": 1}),
    ({**CITY, "dependentRequired": {"city": ["b"]}}, {"city": "x", "b": 1}, {"city": "x"}),
    ({**CITY, "dependencies": {"city": "b"}}, {"city": "x", "b": 1}, {"city": "x"}),
    ({**CITY, "dependentSchemas": {"city": {"properties": {"b": INT}}}}, {"city": "x", "b": 1}, {}),
]


@pytest.mark.parametrize(("parameters", "fits", "misfit"), DIALECTS)
def test_a_schema_of_any_dialect_checks_calls_and_is_sent_as_providers_take_it(
    parameters: dict[str, Any], fits: dict[str, Any], misfit: dict[str, Any]
) -> None:
    tool = from_definition({"name": "f", "parameters": parameters}, action=echo)
    taken, refused = run_calls(tool, calls=[("f", fits), ("f", misfit)]).calls
    assert (taken.result, refused.status) == (fits, "failed")
    sent = tool.parameters
    assert Draft202012Validator(dict(sent)).is_valid(fits)
    assert sent["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf", "$ref"} & set(sent)
    assert set(fits) <= set(sent.get("properties", ()))


# -- variables and secrets ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "reference", "value"),
    [
        *(({"hospital": 7}, "hospital", 7), ({"vars.hospital": 7}, "hospital", 7)),
        *(({"session.id": "s1"}, "session.id", "s1"), ({"user": {"id": "Ann"}}, "user.id", "Ann")),
    ],
)
def test_a_variable_has_a_prefix_or_none_and_may_have_dots_or_parts(
    variables: dict[str, Any], reference: str, value: Any
) -> None:
    made = definition({"h": f"{{vars.{reference}}}"})
    tool = from_definition(made, variables=variables, action=echo)
    assert called(tool, {}).calls[0].result == {"h": value}


@pytest.mark.parametrize(
    "value", [SecretStr("x"), {"a": [SecretStr("x")]}, "sk-1234567890ab", "Bearer sk-1234567890ab"]
)
def test_a_secret_variable_is_refused(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-1234567890ab")
    with pytest.raises(DefinitionError, match=r"variables\.token: this is a secret") as caught:
        from_definition(definition(), variables={"vars.token": value})
    assert "sk-1234567890ab" not in str(caught.value)


def test_a_definition_that_quotes_a_secret_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-1234567890ab")
    with pytest.raises(DefinitionError, match="defaults: holds a secret"):
        from_definition(definition({"key": "sk-1234567890ab"}))


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"a": object()}, "variables.a: .* is no JSON"),
        ({"a": float("nan")}, "variables.a: nan is no JSON"),
        ({"a": 1, "vars.a": 2}, "one name is there twice"),
        ({"a b": 1}, "variables: 'a b' is no name"),
        ([1], r"variables: \[1\] is no object"),
    ],
)
def test_variables_are_names_and_json(variables: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        from_definition(definition(), variables=variables)


# -- action -------------------------------------------------------------------------------


def test_a_function_gets_what_its_types_say() -> None:
    seen = []

    def cut(shape: Shape) -> str:
        seen.append(shape)
        return shape.name

    tool = from_definition(definition(None, {"shape": {"type": "string"}}), action=cut)
    assert called(tool, {"shape": "sticks"}).calls[0].result == "STICKS"
    assert seen == [Shape.STICKS]
    assert called(tool, {"shape": "cubes"}).calls[0].status == "failed"


def test_an_async_function_may_do_it() -> None:
    async def cut(name: str) -> str:
        return name.upper()

    tool = from_definition(definition(None, NAME), action=cut)
    assert called(tool, {"name": "ann"}).calls[0].result == "ANN"


@pytest.mark.parametrize(
    ("made", "action", "said"),
    [
        (wrong(), lambda: 1, "the function takes .* got an unexpected keyword argument 'name'"),
        (wrong(), lambda name, more: 1, "the function takes .* missing a required argument: 'mo"),
        *((wrong(), 7, "7 is no function"), (SET_LANGUAGE, echo, "set_language is of type cont")),
    ],
)
def test_a_function_has_to_take_what_an_action_has(made: Any, action: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=f"action: {said}"):
        from_definition(made, action=action)


# -- context ------------------------------------------------------------------------------


def test_the_language_of_the_session_is_changed_and_seen_by_what_comes_later() -> None:
    made = definition({"lang": "{vars.language}", "note": "@override {vars.say}"}, NAME)
    order = from_definition(made, variables={"vars.language": "de"}, action=echo)
    # What an edit of a variable runs again.
    assert {*order.reads} == {"language", "say"}
    change = ("set_language", {"language": "en-US", "message": "Hello!"})
    script = [("f", {"name": "before"}), change, ("f", {"name": "after"})]
    session = run_calls(from_definition(SET_LANGUAGE), order, calls=script)
    before, changed, after = session.calls
    assert before.result == {"name": "before", "lang": "de"}
    assert changed.result == {"ok": True, "language": "en-US", "say": "Hello!"}
    assert after.result == {"name": "after", "lang": "en-US", "note": "Hello!"}
    assert dict(session.state.variables) == {"language": "en-US", "say": "Hello!"}
    assert session.value("language") == "en-US"


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ("Now in {language}.", "Now in en."),
        ("{vars.language} after {vars.before}", "en after de"),
        ({"text": "{message}", "all": ["{vars.say}", 0]}, {"text": "Hi", "all": ["Hi", 0]}),
        ("{vars.nothing}|{language}", "|en"),
        ("{vars.nothing}", None),
        ({}, {}),
        (False, False),
    ],
)
def test_a_result_is_told_after_the_change(result: Any, told: Any) -> None:
    tool = from_definition({**SET_LANGUAGE, "result": result}, variables={"before": "de"})
    assert called(tool, {"language": "en", "message": "Hi"}).calls[0].result == told


def test_defaults_say_what_a_message_is_in_so_many_words() -> None:
    made = {**SET_LANGUAGE, "defaults": {"say": "{params.message}", "message": "@remove"}}
    session = called(from_definition(made), {"language": "en", "message": "Hi"})
    assert session.calls[0].result == {"ok": True, "language": "en", "say": "Hi"}


# -- the way out, and back ----------------------------------------------------------------


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Colour(Enum):
    RED = "red"


class Shape(Enum):
    STICKS = "sticks"


def move(points: list[Point], by: dict[str, float], colour: Colour = Colour.RED) -> int:
    """Move points.

    Args:
        points: What to move.
    """
    return sum(point.x for point in points)


def test_a_function_goes_out_and_comes_back_without_loss() -> None:
    made = to_definition(move)
    assert json.loads(json.dumps(made)) == made
    assert made["type"] == "action"
    (tool,) = Toolbox(move)
    assert from_definition(made).definition() == tool.definition()
    assert to_definition(tool) == made


class Box:
    """An object."""

    def open(self) -> str:
        """Open it."""
        return "open"

    def close(self) -> str:
        """Close it."""
        return "closed"


def test_a_class_is_many_definitions_and_each_of_its_tools_one() -> None:
    with pytest.raises(DefinitionError, match=r"2 tools are not one definition; .*'Box_open'"):
        to_definition(Box)
    made = to_definition(Toolbox(Box)["Box_open"])
    box = made["tool"]["function"]["parameters"]["properties"]["Box"]
    assert box["pattern"] == "^Box#[1-9][0-9]*$"


NAMES = st.text("abcdefgh_", min_size=1, max_size=6).filter(lambda name: name[0] != "_")
PARTS = st.recursive(
    st.sampled_from([{"type": "string"}, {"type": "integer", "default": 3}, {"enum": ["a", 1]}]),
    lambda part: st.one_of(
        part.map(lambda items: {"type": "array", "items": items}),
        st.dictionaries(NAMES, part, max_size=3).map(
            lambda found: {"type": "object", "properties": found}
        ),
        st.lists(part, min_size=1, max_size=2).map(lambda found: {"anyOf": found}),
    ),
    max_leaves=4,
)


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.dictionaries(NAMES, PARTS, max_size=4))
    schema: dict[str, Any] = {"type": "object", "properties": dict(names)}
    if names:
        schema["required"] = draw(st.lists(st.sampled_from(sorted(names)), unique=True))
    if draw(st.booleans()):
        schema["$defs"] = {"Part": draw(PARTS)}
        schema["properties"]["ref"] = {"$ref": "#/$defs/Part"}
    return schema


@st.composite
def definitions(draw: st.DrawFn) -> dict[str, Any]:
    """Definitions as they are written: every key in its one spelling."""
    kind = draw(st.sampled_from(["action", "endpoint"]))
    schema = draw(schemas())
    says = st.sampled_from(
        ["@remove", "@override Hello", "{vars.x}", 1, None, [1], {"a": {"transform": 1}}, REMOVE]
    )
    made: dict[str, Any] = {
        "type": kind,
        "tool": {
            "type": "function",
            "function": {
                "name": draw(NAMES),
                "description": draw(st.text(st.characters(codec="utf-8"), max_size=20)),
                "parameters": schema,
            },
        },
    }
    if kind == "endpoint":
        method = draw(st.sampled_from(["get", "post", "put", "delete"]))
        places = ["query", "path"] + ["body", "form"] * (method in ("post", "put"))
        made["endpoint"] = {
            "url": draw(st.sampled_from(["https://a.example/x", "http://b.example:1/?q=1"])),
            "method": method,
            "argument_location": draw(st.sampled_from(places)),
            **draw(st.sampled_from([{}, {"timeout": 1.5}, {"timeout": 30}])),
        }
    # Names that are near none of the parameters: to remove what is near one is a mistake.
    keys = NAMES.map(lambda name: f"{name.upper().replace('_', 'Y')}X")
    defaults = draw(st.dictionaries(keys, says, max_size=3))
    return {**made, "defaults": defaults} if defaults else made


@given(definitions())
def test_a_definition_comes_back_as_it_was(made: dict[str, Any]) -> None:
    assert to_definition(from_definition(made)) == made


@given(NAMES, st.text(st.characters(codec="utf-8"), max_size=20), schemas())
def test_a_tool_comes_back_as_it_was(name: str, said: str, schema: dict[str, Any]) -> None:
    tool = Tool(name=name, description=said, parameters=schema)
    assert from_definition(to_definition(tool)).definition() == tool.definition()


def test_every_spelling_of_a_definition_is_written_as_one() -> None:
    location = {"argumentLocation": "query", "argument_location": None, "timeout": None}
    made = endpoint(**location) | {"staticParameters": []}
    once = to_definition(from_definition(made))
    assert once["endpoint"]["argument_location"] == "query"
    assert list(once) == ["type", "tool", "endpoint"]
    assert to_definition(from_definition(once)) == once


# -- definitions that mean harm ---------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "place"),
    [
        ({"default": {"$ref": "file:///etc/x.json"}}, "default.$ref"),
        ({"enum": {"$ref": "http://127.0.0.1:9/x"}}, "enum.$ref"),
        ({"type": "object", "$defs": {"const": {"$ref": "http://h/x"}}}, "$defs.const.$ref"),
        ({"a": {"type": "string", "pattern": "((("}}, "a.pattern"),
        ({"a": {"$id": "http://h/x", "$ref": "#/properties/b"}, "b": {}}, "Pointer"),
    ],
)
def test_a_schema_that_leads_elsewhere_or_cannot_be_checked_is_refused_when_it_is_read(
    parameters: dict[str, Any], place: str
) -> None:
    with pytest.raises(DefinitionError) as raised:
        from_definition(definition(parameters=parameters))
    assert str(raised.value).startswith("tool.function.parameters")
    assert place in str(raised.value)
    assert "\n" not in str(raised.value)


def test_nothing_is_fetched_for_a_schema_that_names_an_address() -> None:
    with Web() as web:
        inner = {"a": {"$schema": f"{web.url}/inner", "type": "string"}}
        schema = {"type": "object", "$schema": f"{web.url}/outer", "properties": inner}
        tool = from_definition(definition(parameters=schema), action=echo)
        assert called(tool, {"a": "x"}).calls[0].result == {"a": "x"}
    assert web.asked == []


@pytest.mark.parametrize("width", ["00000000000999999999", "9999999999", "1001"])
def test_a_format_pads_to_no_more_than_its_limit_however_its_width_is_spelled(width: str) -> None:
    with pytest.raises(DefinitionError, match="too wide"):
        from_definition(definition({"x": f"@override {{x:>{width}}}"}, {"x": {}}))


@pytest.mark.parametrize(
    ("choice", "taken"),
    [
        # Anything fits a choice that leads back to itself, so the text stays a text.
        ({"anyOf": [{"$ref": "#/properties/x"}, {"type": "integer"}]}, "7"),
        ({"anyOf": [{"$ref": "#/properties/other"}, {"type": "integer"}]}, 7),
    ],
)
def test_a_choice_that_leads_back_to_itself_or_elsewhere_still_takes_a_value(
    choice: dict[str, Any], taken: Any
) -> None:
    parameters = {"x": choice, "other": {"type": "boolean"}}
    defined = {"properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": choice}}
    for schema in (parameters, {**defined, "properties": {**parameters, **defined["properties"]}}):
        tool = from_definition(definition(parameters=schema), action=echo)
        assert called(tool, {"x": "7"}).calls[0].result == {"x": taken}


@pytest.mark.parametrize("depth", [70, 500, 100_000])
def test_what_is_nested_too_deep_is_refused_in_one_line(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    text = json.dumps(definition(parameters={"say": {}}, type="context", result="DEEP"))
    with pytest.raises(DefinitionError, match="deeper than 64 levels"):
        from_definition(text.replace('"DEEP"', deep))
    if depth < 1000:
        with pytest.raises(DefinitionError, match=r"variables\.v: is nested deeper"):
            from_definition(definition(), variables={"v": json.loads(deep)})


def test_a_text_that_doubles_itself_ends_at_the_length_that_arguments_may_have() -> None:
    made = definition({"say": "@override {vars.say}{vars.say}"}, {"say": {}}, type="context")
    twice = from_definition(made, variables={"say": "x" * 100_000})
    calls = run_calls(twice, calls=[[("f", {})] * 5]).calls
    assert [call.status for call in calls] == ["succeeded"] * 3 + ["failed"] * 2
    assert "longer than 1,000,000 characters" in calls[3].error


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31m", "\u202e", "n" * 3_000])
def test_a_name_that_a_model_made_up_is_told_in_one_line_of_plain_text(name: str) -> None:
    def plain(x: str) -> str:
        return x

    made = from_definition(definition(parameters={"x": {}}), action=echo)
    script = [[("f", {name: 1}), ("plain", {name: 1})]]
    for call in run_calls(Toolbox(plain)["plain"], made, calls=script).calls:
        assert call.status == "failed"
        assert call.error.isprintable()
        assert "there is no such argument" in call.error
        assert len(call.error) < 500
