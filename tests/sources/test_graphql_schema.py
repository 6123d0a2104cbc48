"""Reading a GraphQL schema: from SDL, an introspection result, a file or a server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from graphql import build_schema, introspection_from_schema

from jupyter_toolcall import from_graphql
from jupyter_toolcall.core.errors import DefinitionError
from tests.example_tools import play
from tests.standin.graphql_server import BAKERY, Bakery, serving

TINY = "type Query { pot: Pot! } type Pot { size: Int! }"


def introspected(sdl: str) -> dict[str, Any]:
    return dict(introspection_from_schema(build_schema(sdl)))


def definitions(source: Any) -> list[Any]:
    return [json.loads(json.dumps(tool.definition())) for tool in from_graphql(source)]


# -- where a schema comes from --------------------------------------------------------


def test_all_sources_of_one_schema_give_the_same_tools(tmp_path: Path) -> None:
    # What an introspection result cannot tell: directives, and a default before it is completed.
    sdl = BAKERY.replace('[{name: "jam"}]', "[]")
    for kind in ("Bread", "Baked"):
        sdl = sdl.replace(f'@expectedType(name: "{kind}")', "")
    data = introspected(sdl)
    (tmp_path / "s.graphqls").write_text(sdl)
    (tmp_path / "s.json").write_text(json.dumps({"data": data}), encoding="utf-8-sig")
    expected = sorted(definitions(sdl), key=str)
    sources: list[Any] = [
        *(data, {"data": data}, data["__schema"], f"\ufeff{json.dumps(data)}"),
        *(tmp_path / "s.graphqls", str(tmp_path / "s.json")),
    ]
    for source in sources:
        assert sorted(definitions(source), key=str) == expected


def test_a_url_is_asked_for_its_schema_once_and_gets_the_requests() -> None:
    with serving(BAKERY, Bakery()) as server:
        box = from_graphql(server.url, headers={"X-Key": "open sesame"})
        assert len(server.requests) == 1
        assert server.requests[0].headers["x-key"] == "open sesame"
        assert play(box, ("dough", {}), ("Dough_story", {})).calls[-1].result == "rye"


@pytest.mark.parametrize("word", ["directives", "appliedDirectives"])
def test_a_server_that_tells_of_its_directives_is_asked_for_them(word: str) -> None:
    data = introspected("type Query { best: ID!, a: A } type A { id: ID! }")
    query = next(each for each in data["__schema"]["types"] if each["name"] == "Query")
    given = [{"name": "expectedType", "args": [{"name": "name", "value": '"A"'}]}]
    query["fields"][0][word] = given
    with serving(TINY) as server:

        def answer() -> tuple[int, bytes]:
            known = {"fields": [{"name": word}]}
            return 200, json.dumps({"data": {**data, "__type": known}}).encode()

        server.answer = answer
        assert from_graphql(server.url)["best"].returns == "A"
        applied = f"{word} {{ name args"
        assert [applied in query for query in server.queries] == [False, True]


def test_an_extension_adds_to_its_type() -> None:
    box = from_graphql(
        "schema { query: Root } type Root { pot: Pot! } type Pot { size: Int! }"
        " extend type Pot { lid: Lid } enum Lid { GLASS } extend enum Lid { WOOD }"
        " extend type Root { fits(lid: Lid): Boolean }"
    )
    assert box.names == ("pot", "fits", "Pot_size", "Pot_lid")
    assert box["fits"].parameters["properties"]["lid"]["enum"] == ["GLASS", "WOOD"]


SERVICES = {
    "federation": """
        extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
        extend type Query { me: User _entities(of: [_Any!]!): [_Entity]! }
        type User @key(fields: "id") @key(fields: "name", resolvable: false) @shareable {
          id: ID! @external  name(in: Words @tag(name: "x")): String @requires(fields: "id")
        }
        enum Words { LONG @inaccessible }""",
    "AppSync": """
        type Query @aws_api_key { me(at: AWSDateTime): User @aws_auth(cognito_groups: ["a"]) }
        type User @aws_iam { id: ID! name: AWSEmail }""",
    "Hasura": "type Query { me(of: by): User } type User { name: jsonb } input by { _eq: uuid @x }",
    "others": """type Query { me(at: Bytes, since: LocalDateTime, v: Vector): User }
        type User { name: Email }""",
    "twice": """type Query { "One." me: User "Two." me: User } type User { name: String }
        interface Named @x { a: Int } union All @y = User scalar S @z extend scalar Odd @z""",
}


@pytest.mark.parametrize("sdl", SERVICES.values(), ids=SERVICES)
def test_what_services_leave_undeclared_is_accepted(sdl: str) -> None:
    assert from_graphql(sdl).names == ("me", "User_name")


def test_an_interface_stands_for_its_objects_without_the_root() -> None:
    box = from_graphql(
        "interface Node { id: ID! } type Query implements Node { id: ID! nodes: [Node]! } "
        "type A implements Node { id: ID! } type B implements Node { id: ID! }"
    )
    assert box["nodes"].makes == ("A", "B")


def test_an_input_that_takes_one_of_its_fields_is_checked_before_it_is_sent() -> None:
    box = from_graphql("input By @oneOf { id: ID name: String } type Query { find(by: By!): Int }")
    session = play(box, *(("find", {"by": by}) for by in ({}, {"id": "a", "name": "b"})))
    assert ["1 property" in call.error for call in session.calls] == [True, True]


def test_a_receiver_never_takes_the_name_of_an_argument() -> None:
    box = from_graphql("type Query { pot: pot! } type pot { into(pot: Int, pot_: Int): pot! }")
    session = play(box, ("pot", {}), ("pot_into", {"pot": 3}))
    assert box["pot_into"].receiver == "pot__"
    assert str(session["pot#2"]) == "pot.into(3)"


# -- what is wrong is said at once ----------------------------------------------------


@pytest.mark.parametrize(
    ("sdl", "said"),
    [
        ("type Query {", "the schema, line 1: Syntax Error"),
        ("type Query {\n  a: Foo\n}", "the schema, line 2: Unknown type 'Foo'"),
        ("type Query { a: Int }\ntype Query { b: Int }", "There can be only one type named"),
        ("type Query {\n a: Int\n a: Int! }", "the schema, line 2: Field 'Query.a' can only be"),
        ("type Pot { a: Int }", "the schema has no Query type, so there is nothing to call"),
        ("scalar Query", "the root type 'Query' of the schema is no object type"),
        ("hello", "the schema, line 1: Syntax Error: Unexpected Name"),
    ],
)
def test_a_mistake_in_sdl_is_found_when_it_is_read_and_has_its_line(sdl: str, said: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        from_graphql(sdl)
    assert said.lower().replace('"', "'") in str(caught.value).lower().replace('"', "'")
    assert "\n" not in str(caught.value)


Change = Callable[[dict[str, Any]], object]


def _of(data: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in data["__schema"]["types"] if each["name"] == name)


def _arg(data: dict[str, Any], name: str) -> None:
    text = {"kind": "SCALAR", "name": "String"}
    _of(data, "Pot")["fields"][0]["args"].append({"name": name, "type": text})


def _lists(depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {"kind": "SCALAR", "name": "Int"}
    for _ in range(depth):
        made = {"kind": "LIST", "name": None, "ofType": made}
    return made


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.pop("__schema"), "it has no __schema with types"),
        (lambda d: d["__schema"].pop("queryType"), "the schema has no Query type"),
        (lambda d: d["__schema"].update(queryType=3), "cannot be read: 'int' object"),
        (lambda d: _of(d, "Pot").pop("kind"), "'name': 'Pot'"),
        (lambda d: _of(d, "Pot")["fields"][0].pop("type"), "Pot fields cannot be resolved"),
        (lambda d: _of(d, "Pot")["fields"][0]["args"].append({"name": "x"}), "Pot fields"),
        (lambda d: _of(d, "Pot")["fields"][0]["type"].update(kind="LIST"), None),
        (lambda d: _of(d, "Pot").update(name="Pit"), "Query fields cannot be resolved"),
        (lambda d: _of(d, "Pot")["fields"][0].update(name="a} x{b"), "Pot: 'a} x{b' is no name"),
        (lambda d: _of(d, "Pot")["fields"][0].update(name=None), "Pot: None is no name"),
        (lambda d: _of(d, "Pot").update(name="P\0"), r"types: 'P\x00' is no name"),
        (lambda d: _arg(d, "x: 1) { secret } b(y"), "Pot.size: 'x: 1) { secret } b(y' is no name"),
        (lambda d: _of(d, "Pot").update(kind="ENUM", enumValues=[{"name": "A)"}]), "'A)' is no"),
        (lambda d: _of(d, "Pot")["fields"][0].update(type=_lists(5_000)), "nested too deep"),
    ],
)
def test_a_broken_introspection_result_names_the_place(change: Change, said: str | None) -> None:
    data = introspected(TINY)
    change(data)
    if said is None:
        assert from_graphql(data)["Pot_size"].description == "Returns [Int]"
        return
    with pytest.raises(DefinitionError) as caught:
        from_graphql(data)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        (3, {}, "3 is no schema; give a URL, SDL"),
        *(("", {}, "'' is no schema"), ("missing.graphql", {}, "missing.graphql cannot be read")),
        ("{not json", {}, "the introspection result is no JSON"),
        (TINY, {"endpoint": "localhost:80"}, "the endpoint is no URL such as https"),
        (TINY, {"endpoint": "https://[x"}, "the endpoint is no URL"),
        (TINY, {"endpoint": "http://h/", "headers": {"a": 3}}, "headers: 'a' must be a text"),
        (TINY, {"include": ["Pot_siz"]}, "no tool is named 'Pot_siz'. Did you mean Pot_size?"),
        (TINY, {"exclude": "Pan_*"}, "no tool is named 'Pan_*'."),
        ("http://127.0.0.1:1/graphql", {}, "http://127.0.0.1/graphql did not tell its schema"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_to_give(
    source: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(DefinitionError) as caught:
        from_graphql(source, **options)
    assert said in str(caught.value)


def test_a_server_that_forbids_introspection_is_named_without_its_password() -> None:
    with serving(TINY) as server:
        server.answer = lambda: (200, b'{"errors": [{"message": "introspection is off"}]}')
        with pytest.raises(DefinitionError, match="did not tell its schema: introspection is off"):
            from_graphql(server.url.replace("//", "//me:canary@"))


def test_half_a_character_in_a_schema_stops_no_request() -> None:
    data = introspected("type Query { a(x: Int): Int }")
    field = _of(data, "Query")["fields"][0]
    field["description"] = field["args"][0]["description"] = "half \ud83d"
    definition = from_graphql(data)["a"].definition()
    assert json.loads(json.dumps(definition, ensure_ascii=False).encode()) == definition
    assert definition["parameters"]["properties"]["x"]["description"] == "half \ufffd"


@pytest.mark.parametrize("default", ["§", "1e999", "-1e999", "[" * 100_000, 5, ["x"]])
def test_a_default_that_cannot_be_read_is_left_out(default: Any) -> None:
    data = introspected("type Query { a(x: Int = 3): Int }")
    _of(data, "Query")["fields"][0]["args"][0]["defaultValue"] = default
    assert "default" not in from_graphql(data)["a"].parameters["properties"]["x"]
    assert from_graphql(data)["a"].parameters["required"] == []
