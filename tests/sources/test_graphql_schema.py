"""Reading a GraphQL schema: from SDL, an introspection result, a file or a server."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from graphql import build_schema, introspection_from_schema, parse_value, value_from_ast_untyped
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, from_graphql
from jupyter_toolcall.core.errors import DefinitionError
from jupyter_toolcall.sources import graphql_tools
from jupyter_toolcall.sources.graphql_schema_readers import read_literal as read
from tests.standin.graphql_server import BAKERY, bakery, serving

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
    (tmp_path / "s.json").write_text(json.dumps({"data": data}))
    expected = sorted(definitions(sdl), key=str)
    sources: list[Any] = [
        *(data, {"data": data}, data["__schema"], json.dumps(data)),
        *(tmp_path / "s.graphqls", str(tmp_path / "s.json")),
    ]
    for source in sources:
        assert sorted(definitions(source), key=str) == expected


def test_a_url_is_asked_for_its_schema_once_and_gets_the_requests() -> None:
    with bakery() as (server, _):
        box = from_graphql(server.url, headers={"X-Key": "open sesame"})
        assert len(server.requests) == 1
        assert server.requests[0].headers["x-key"] == "open sesame"
        script = Scripted([("dough", {}), ("Dough_story", {}), "done"])
        session = Session(box, script, scheme="flat", approve="all").tell("go")
        assert session.calls[-1].result == "rye"


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
        assert [word in query for query in server.queries] == [False, True]


def test_sdl_needs_graphql_core_and_an_introspection_result_does_not() -> None:
    code = """
import sys
sys.modules["graphql"] = None
from jupyter_toolcall import from_graphql
import json
print(len(from_graphql(json.loads(sys.argv[1]))))
try:
    from_graphql("type Query { a: Int }")
except Exception as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(introspected(TINY))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "2",
        "reading SDL needs graphql-core: pip install 'jupyter-toolcall[graphql]'",
    ]


def test_an_extension_adds_to_its_type() -> None:
    box = from_graphql(
        "schema { query: Root } type Root { pot: Pot! } type Pot { size: Int! }"
        " extend type Pot { lid: Lid } enum Lid { GLASS } extend enum Lid { WOOD }"
        " extend type Root { fits(lid: Lid): Boolean }"
    )
    assert box.names == ("pot", "fits", "Pot_size", "Pot_lid")
    assert box["fits"].parameters["properties"]["lid"]["enum"] == ["GLASS", "WOOD"]


def test_a_receiver_never_takes_the_name_of_an_argument() -> None:
    box = from_graphql("type Query { pot: pot! } type pot { into(pot: Int, pot_: Int): pot! }")
    session = Session(
        box, Scripted([("pot", {}), ("pot_into", {"pot": 3}), "done"]), scheme="flat", approve="all"
    ).tell("go")
    assert box["pot_into"].receiver == "pot__"
    assert str(session["pot#2"]) == "pot.into(3)"


# -- what is wrong is said at once ----------------------------------------------------


@pytest.mark.parametrize(
    ("sdl", "said"),
    [
        ("type Query {", "the schema, line 1: Syntax Error"),
        ("type Query {\n  a: Foo\n}", "the schema, line 2: Unknown type 'Foo'"),
        ("type Query { a: Int }\ntype Query { b: Int }", "There can be only one type named"),
        ("type Query {\n a: Int\n a: Int }", "the schema, line 2: Field 'Query.a' can only be"),
        ("type Pot { a: Int }", "the schema has no Query type, so there is nothing to call"),
        ("scalar Query", "the schema's root type 'Query' is no object type"),
        ("type Query { a: Int @nope }", "Unknown directive '@nope'"),
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


def _type(data: dict[str, Any], **changes: Any) -> None:
    _of(data, "Pot")["fields"][0]["type"] = {"name": None, **changes}


def _no_type() -> dict[str, Any]:
    return {"kind": "NON_NULL", "name": None}


def _lists(depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {"kind": "SCALAR", "name": "Int"}
    for _ in range(depth):
        made = {"kind": "LIST", "name": None, "ofType": made}
    return made


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.pop("__schema"), "it has no __schema with types"),
        (lambda d: d["__schema"].update(types={}), "it has no __schema with types"),
        (lambda d: d["__schema"].pop("queryType"), "the schema has no Query type"),
        (lambda d: d["__schema"].update(queryType=3), "cannot be read at its root types"),
        (lambda d: _of(d, "Pot").pop("kind"), "cannot be read at types.Pot"),
        (lambda d: _of(d, "Pot")["fields"][0].pop("type"), "at types.Pot.fields.size"),
        (lambda d: _of(d, "Pot")["fields"].append(3), "at types.Pot.fields.1"),
        (lambda d: _of(d, "Pot")["fields"][0]["args"].append({"name": "x"}), "size.args.x"),
        (lambda d: _of(d, "Pot")["fields"][0]["type"].update(kind="LIST"), None),
        (lambda d: _of(d, "Pot").update(name="Pit"), "Query.pot: there is no type 'Pot'. Did you"),
        (lambda d: _of(d, "Pot")["fields"][0].update(name="a} x{b"), "Pot: 'a} x{b' is no name"),
        (lambda d: _of(d, "Pot")["fields"][0].update(name=""), "Pot: '' is no name"),
        (lambda d: _of(d, "Pot")["fields"][0].update(name=None), "Pot: None is no name"),
        (lambda d: _of(d, "Pot").update(name="P\0"), r"types: 'P\x00' is no name"),
        (lambda d: _arg(d, "x: 1) { secret } b(y"), "Pot.size: 'x: 1) { secret } b(y' is no name"),
        (lambda d: _of(d, "Pot").update(kind="ENUM", enumValues=[{"name": "A)"}]), "'A)' is no"),
        (lambda d: _type(d, kind="NON_NULL", ofType=_no_type()), "there is no type None"),
        (lambda d: _type(d, kind="LIST", ofType=_lists(5_000)), "at types.Pot.fields.size"),
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
        ("", {}, "'' is no schema"),
        ("missing.graphql", {}, "missing.graphql cannot be read"),
        ("{not json", {}, "the introspection result is no JSON"),
        (TINY, {"endpoint": "localhost:80"}, "must be a URL that begins with http"),
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


# -- literals -------------------------------------------------------------------------

_NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
_FLOATS = st.floats(allow_nan=False, allow_infinity=False)
_PLAIN = st.none() | st.booleans() | st.integers() | st.text() | _FLOATS
_VALUES = st.recursive(
    _PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=4)
)


def literal(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{key}: {literal(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + " ".join(map(literal, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


@given(_VALUES)
def test_a_literal_that_was_written_is_read_as_it_was(value: Any) -> None:
    assert read(literal(value)) == value


@pytest.mark.parametrize(
    "text", ["SUCCESS", "[A, B]", '"""a "quoted" word"""', "{a: {b: [1.5e3 -2]}}", '"\\u00e9\\/"']
)
def test_a_literal_is_read_as_graphql_core_reads_it(text: str) -> None:
    assert read(text) == value_from_ast_untyped(parse_value(text))


@pytest.mark.parametrize("text", ["", "[", "{a}", "{a: }", "1 2", "$x", '"a', "]", "{1: 2}", "--1"])
def test_what_is_no_literal_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no|ends too"):
        read(text)


@pytest.mark.parametrize("default", ["§", "1e999", "-1e999", "[" * 100_000, 5, ["x"]])
def test_a_default_that_cannot_be_read_is_left_out(default: Any) -> None:
    data = introspected("type Query { a(x: Int = 3): Int }")
    _of(data, "Query")["fields"][0]["args"][0]["defaultValue"] = default
    assert from_graphql(data)["a"].parameters["properties"]["x"] == {"type": "integer"}
    assert from_graphql(data)["a"].parameters["required"] == []


def test_the_examples_of_the_docstrings_run() -> None:
    result = doctest.testmod(graphql_tools)
    assert result.attempted > 0
    assert result.failed == 0
