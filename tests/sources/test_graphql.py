"""GraphQL: objects are query paths, a scalar sends one request, and ids are asked for once."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox, from_graphql
from tests.example_tools import play
from tests.standin.graphql_server import BAKERY, Bakery, Server, serving

STORY: tuple[str, dict[str, Any]] = ("Dough_story", {})
DOUGH: tuple[str, dict[str, Any]] = ("dough", {})


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(BAKERY, Bakery()) as found:
        yield found


@pytest.fixture
def box(server: Server) -> Toolbox:
    return from_graphql(BAKERY, endpoint=server.url)


def results(session: Session) -> list[Any]:
    return [call.result if call.status == "succeeded" else call.error for call in session.calls]


# -- chains ---------------------------------------------------------------------------


def test_a_chain_sends_nothing_and_its_scalar_sends_one_request(
    box: Toolbox, server: Server
) -> None:
    script = [("dough", {"flour": "oat"}), ("Dough_knead", {"minutes": 3}), ("Dough_knead", {})]
    session = play(box, *script)
    assert results(session) == ["Dough#1", "Dough#2", "Dough#3"]
    assert server.queries == []
    session = play(box, *script, ("Dough_weight", {}))
    assert session.calls[-1].result == 43
    assert server.queries == ['{ dough(flour: "oat") { knead(minutes: 3) { knead { weight } } } }']


def test_an_object_reads_as_its_path(box: Toolbox) -> None:
    script = [("dough", {"flour": "oat"}), ("Dough_import", {"from": 'a "b"', "except": ["c"]})]
    session = play(box, *script, ("Dough_mix", {"with": "Dough#1"}))
    value = session["Dough#3"]
    assert str(value) == 'dough("oat").import("a \\"b\\"", except: ["c"]).mix(dough)'
    assert type(value).__name__ == "Dough"
    assert value._repr_mimebundle_() == {"text/plain": str(value)}
    with pytest.raises(AttributeError, match="never changes"):
        value.step = None
    # Journals hold these contents: a call of an older version comes out as it was recorded.
    contents = [session[f"Dough#{number}"].__content__() for number in (1, 2, 3)]
    assert [content[:8] for content in contents] == ["826db574", "d79e7242", "22b4682e"]


def test_a_long_path_is_shown_by_its_ends(box: Toolbox) -> None:
    session = play(box, ("dough", {}), *[("Dough_knead", {"minutes": n}) for n in range(20)])
    shown = str(session["Dough#21"])
    assert shown.startswith("dough.knead(0).knead(1).…13 more….")
    assert shown.endswith(".knead(18).knead(19)")


def test_an_object_in_an_argument_is_asked_for_its_id_once(box: Toolbox, server: Server) -> None:
    script: list[Any] = [("Dough_mixAll", {"others": ["Dough#1", "Dough#1"]}), STORY]
    script += [("Dough_mix", {"with": "Dough#1"}), ("Dough_weight", {})]
    session = play(box, ("dough", {"flour": "oat"}), ("dough", {}), *script)
    assert server.queries == [
        '{ dough(flour: "oat") { id } }',
        '{ dough { mixAll(others: ["dough:oat", "dough:oat"]) { story } } }',
        '{ dough { mixAll(others: ["dough:oat", "dough:oat"]) { mix(with: "dough:oat") '
        "{ weight } } } }",
    ]
    assert session.deps("Dough#3") == ("Dough#2", "Dough#1")


def test_equal_paths_of_two_calls_are_two_objects(box: Toolbox, server: Server) -> None:
    script = [("dough", {}), ("dough", {}), ("Dough_mixAll", {"others": ["Dough#1", "Dough#2"]})]
    session = play(box, *script, ("Dough_story", {}))
    assert server.queries[:2] == ["{ dough { id } }", "{ dough { id } }"]
    one, two = (session.state.resolve(name) for name in ("Dough#1", "Dough#2"))
    assert one.content == two.content != ""


def test_an_argument_with_ids_is_asked_for_from_the_inside(box: Toolbox, server: Server) -> None:
    mixes = [("Dough_mix", {"Dough": "Dough#1", "with": "$Dough"}) for _ in range(200)]
    session = play(box, ("dough", {}), *mixes, ("Dough_weight", {}))
    assert session.calls[-1].status == "succeeded"
    assert len(server.queries) == 201
    assert server.queries[1] == '{ dough { mix(with: "dough:rye") { id } } }'


def test_optional_objects_lists_and_nothing_of_them(box: Toolbox, server: Server) -> None:
    two = ["Dough#1", "Dough#1"]
    mixes: list[Any] = [("Dough_mix", {}), ("Dough_mix", {"with": None})]
    mixes += [("Dough_mixAll", {"others": [], "spare": None})]
    mixes += [("Dough_mixAll", {"others": ["Dough#1"], "spare": two})]
    play(box, ("dough", {}), *mixes, ("Dough_weight", {}))
    assert server.queries[-1] == (
        '{ dough { mix { mix(with: null) { mixAll(others: []) { mixAll(others: ["dough:rye"], '
        'spare: ["dough:rye", "dough:rye"]) { weight } } } } } }'
    )


def test_enums_input_objects_and_defaults_arrive_as_they_are(box: Toolbox, server: Server) -> None:
    top = {"toppings": [{"name": 'sal"t', "layers": [{}]}], "main": {"name": "x", "inner": None}}
    shape = ("Dough_shape", {"as": "LONG", "more": ["BATON"]})
    session = play(box, ("dough", {}), shape, ("Dough_top", top), ("Dough_top", {}), STORY)
    said = session.calls[-1].result
    assert 'shape{"as": "LONG", "more": ["BATON"]}' in said
    assert '"name": "sal\\"t", "grams": 10, "layers": [{"name": "cream", "thick": false}]' in said
    assert server.queries[-1].count("top") == 3  # `toppings` is one of them


def test_a_scalar_of_the_servers_own_takes_any_json(box: Toolbox, server: Server) -> None:
    data = {"a-b": [1, {"c": None}], "": "é\n"}
    script: list[Any] = [("Dough_noted", {"data": value}) for value in (data, "text", 3, [1.5])]
    assert results(play(box, ("dough", {}), *script))[1:] == [data, "text", 3, [1.5]]
    assert server.requests[0].variables == {"v1": data}
    assert server.queries[0] == "query($v1: JSON!) { dough { noted(data: $v1) } }"


# -- what fields come to --------------------------------------------------------------


def test_a_list_of_objects_is_many_found_by_their_ids(box: Toolbox, server: Server) -> None:
    session = play(box, ("dough", {}), ("Dough_parts", {}), ("Dough_story", {"Dough": "Dough#2"}))
    assert results(session)[1:] == [["Dough#2", "Dough#3"], "rye crust"]
    assert server.queries == [
        "{ dough { parts { __typename ... on Dough { id_Dough: id } } } }",
        '{ loadDoughFromID(id: "dough:rye crust") { story } }',
    ]
    assert str(session["Dough#2"]) == 'Dough("dough:rye crust")'


def test_a_list_without_ids_is_many_found_by_their_places(box: Toolbox, server: Server) -> None:
    session = play(box, ("dough", {}), ("Dough_holes", {}), ("Half_of", {"Half": "Half#2"}))
    assert results(session)[1:] == [["Half#1", "Half#2"], "right"]
    assert str(session["Half#2"]) == "dough.holes[2]"
    assert server.queries[-1] == "{ dough { holes { of } } }"


def test_an_interface_and_a_union_come_to_what_they_are(box: Toolbox, server: Server) -> None:
    found = [("find", {"name": "cake x"}), ("Cake_name", {}), ("find", {"name": "loaf"})]
    session = play(box, ("shelf", {}), ("Cake_tiers", {}), *found, ("Bread_slices", {"count": 1}))
    expected = [["Bread#1", "Cake#1"], 3, "Cake#2", "cake x", "Bread#2", ["Slice#1"]]
    assert results(session) == expected
    assert server.queries[1] == '{ node(id: "Cake:cake of nuts") { ... on Cake { tiers } } }'
    assert server.queries[3] == '{ find(name: "cake x") { ... on Cake { name } } }'


def test_an_id_by_directive_takes_an_object_and_returns_one(box: Toolbox, server: Server) -> None:
    found: list[Any] = [("best", {}), ("Bread_name", {}), ("find", {"name": "cake x"})]
    weigh = ("weigh", {"breads": ["Bread#1", "Bread#1"], "any": "Cake#1"})
    session = play(box, *found, weigh)
    assert results(session) == ["Bread#1", "best", "Cake#1", 200 + len("Cake:cake x")]
    assert box["weigh"].parameters["properties"]["any"]["pattern"] == "^(Bread|Cake)#[1-9][0-9]*$"


def test_a_field_that_returns_an_own_id_returns_the_object(box: Toolbox) -> None:
    session = play(box, ("dough", {}), ("Dough_twin", {}), ("Dough_story", {}))
    assert results(session)[1:] == ["Dough#2", "rye twin"]


def test_a_bare_id_takes_a_text_or_an_object(box: Toolbox) -> None:
    echoes = [("echo", {"id": value}) for value in ("Bread#1", "x", 7)]
    session = play(box, ("best", {}), *echoes)
    assert results(session)[1:] == ["Bread:best", "x", "7"]
    assert session.cursor.state.calls[session.calls[1].id].started is not None


def test_an_object_that_is_null_is_told_when_something_is_asked_of_it(box: Toolbox) -> None:
    nobody = ("bread", {"named": "nobody"})
    session = play(box, nobody, ("Bread_name", {}), ("find", {"name": "nobody"}))
    assert results(session)[0] == "Bread#1"
    assert session.calls[1].error == "bread is null, so it has no name"
    assert results(session)[2] is None


def test_void_and_null_scalars_are_null(box: Toolbox) -> None:
    assert results(play(box, DOUGH, ("Dough_rest", {}), ("Dough_note", {})))[1:] == [None, None]


def test_a_mutation_is_sent_once_and_gives_an_object_or_data(box: Toolbox, server: Server) -> None:
    script = [("bake", {"dough": "Dough#1"}), ("Bread_name", {}), ("Bread_name", {})]
    script += [("rename", {"bread": "$Bread", "name": "z"}), ("clean", {}), ("count", {})]
    session = play(box, DOUGH, *script)
    assert results(session)[1:] == ["Bread#1", "rye", "rye", {"ok": True, "name": "z"}, None, 3]
    assert server.root.done == ["bake dough:rye", "rename Bread:rye", "clean"]
    heads = ["mutation { bake", "mutation { rename", "mutation { clean }", "mutation { count }"]
    mutations = [query for query in server.queries if query.startswith("mutation")]
    assert [query.partition("(")[0] for query in mutations] == heads


def test_a_mutation_named_as_a_query_field_is_renamed(box: Toolbox, server: Server) -> None:
    play(box, ("version", {}), ("Mutation_version", {}))
    assert server.queries == ["{ version }", "mutation { version }"]


# -- which tools there are ------------------------------------------------------------


def test_only_what_sends_nothing_is_read_only(box: Toolbox) -> None:
    lazy = {tool.name for tool in box if tool.read_only}
    assert {"dough", "Dough_knead", "Dough_burn", "Slice_butter"} <= lazy
    assert lazy.isdisjoint({"find", "shelf", "best", "bake", "Dough_weight", "Dough_parts"})


def test_what_is_left_out_by_default_is_there_by_its_full_name(server: Server) -> None:
    names = set(from_graphql(BAKERY).names)
    left_out = {"Dough_id", "Dough_sync", "Dough__secret", "Dough_old", "loadDoughFromID", "node"}
    assert names.isdisjoint({*left_out, "old", "smell"})
    box = from_graphql(BAKERY, endpoint=server.url, include=["dough", "Dough_*", "Dough_old"])
    assert left_out.isdisjoint({*box.names} - {"Dough_old"})
    assert results(play(box, ("dough", {}), ("Dough_old", {})))[1] is not None


def test_globs_choose_tools() -> None:
    assert from_graphql(BAKERY, include=["dough", "Dough_*"], exclude=["*_m*"]).names == (
        *("dough", "Dough_knead", "Dough_top", "Dough_shape", "Dough_import", "Dough_weight"),
        *("Dough_story", "Dough_note", "Dough_noted", "Dough_rest", "Dough_twin", "Dough_lost"),
        *("Dough_parts", "Dough_holes", "Dough_burn", "Dough_never"),
    )


def test_a_tool_says_what_it_does_takes_and_returns(box: Toolbox) -> None:
    tool = box["Dough_knead"]
    assert tool.description == "Kneads it.\n\nTakes a while.\n\nReturns Dough!"
    assert (tool.group, tool.about, tool.returns) == ("Dough", "Flour and water.", "Dough")
    parameters = json.loads(json.dumps(tool.definition()["parameters"]))
    receiver = {"type": "string", "pattern": "^Dough#[1-9][0-9]*$"}
    receiver["description"] = "The Dough to work on. If left out: the newest Dough."
    minutes = {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1, "default": 5}
    properties = {"Dough": receiver, "minutes": minutes}
    closed = {"required": [], "additionalProperties": False}
    assert parameters == {"type": "object", "properties": properties, **closed}


def test_parameters_hold_enums_defaults_and_nested_objects(box: Toolbox) -> None:
    shape = box["Dough_shape"].parameters
    shapes = ["ROUND", "LONG", "BATON"]
    assert shape["properties"]["as"] == {"type": "string", "enum": shapes, "default": "ROUND"}
    top = box["Dough_top"].parameters
    assert top["properties"]["toppings"]["items"] == {"$ref": "#/$defs/Topping"}
    assert top["$defs"]["Topping"]["required"] == ["name"]
    assert top["$defs"]["Topping"]["properties"]["layers"]["default"] == [{"name": "jam"}]
    assert set(top["$defs"]) == {"Topping", "Layer"}


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("dough", {"flor": "x"}, "flor: there is no such argument; there are: flour. Did you mean"),
        ("Dough_knead", {"minutes": "much"}, 'minutes: "much" is not of types "null", "integer"'),
        ("Dough_shape", {"as": "LNG"}, 'as: "LNG" is not one of "ROUND", "LONG", "BATON"'),
        ("Dough_top", {"toppings": [{}]}, "toppings.0.name: is missing"),
        ("Dough_top", {"main": "x"}, 'main: "x" is not of types "null", "object"'),
        ("Dough_top", {"main": {"inner": {"grams": 1}}}, "main.inner.name: is missing"),
        ("Dough_mixAll", {"others": None}, 'others: null is not of type "array"'),
        ("Dough_mixAll", {"others": ["Dough#9"]}, "others.0: there is no object 'Dough#9'"),
        ("Dough_mix", {"with": 3}, "with: must be the name of a Dough, such as Dough#1, not 3"),
        ("Dough_mix", {"with": "Bread#1"}, "with: Bread#1 is a Bread, not a Dough"),
        ("Half_of", {}, "Half: there is no Half yet; make one first"),
        ("Dough_weight", {"Dough": 3}, "Dough: must be the name of an object, such as Dough#1"),
    ],
)
def test_wrong_arguments_are_named_with_what_is_allowed(
    box: Toolbox, server: Server, tool: str, arguments: dict[str, Any], said: str
) -> None:
    session = play(box, ("dough", {}), ("best", {}), (tool, arguments))
    assert session.calls[-1].status == "failed"
    assert said in session.calls[-1].error
    assert "\n" not in session.calls[-1].error
    assert server.queries == ["{ best }"]


@pytest.mark.parametrize("number", [10**400, -(10**400), "1e999", float(2**1023) * 1.5])
def test_a_number_that_is_no_float_is_refused_and_any_other_arrives(number: Any) -> None:
    sdl = "type Query { half(of: Float): Float }"
    error = play(from_graphql(sdl), ("half", {"of": number})).calls[0].error
    fits = isinstance(number, float)
    assert error.startswith("half: of: ") is not fits
    assert ("has no endpoint" in error) is fits


WHOLE = """
input Side { n: Int }
type Query { whole(n: Int!): Int, wholes(of: [[Int!]]): Int, side(side: Side): Int }
"""


@given(st.integers() | st.sampled_from([2**31 - 1, 2**31, -(2**31), -(2**31) - 1]), st.booleans())
def test_an_int_beyond_32_bits_is_refused_and_any_other_arrives(number: int, text: bool) -> None:
    box, n = from_graphql(WHOLE), str(number) if text else number
    cases = [("whole", {"n": n}), ("wholes", {"of": [[n]]}), ("side", {"side": {"n": n}})]
    offered = box["whole"].parameters["properties"]["n"]
    assert (offered["minimum"], offered["maximum"]) == (-2147483648, 2147483647)
    for tool, arguments in cases:
        error = str(play(box, (tool, arguments)).calls[0].error)
        assert ("has no endpoint" in error) is (-(2**31) <= number < 2**31), error
        assert "\n" not in error


def test_a_text_that_spells_a_value_is_that_value(box: Toolbox, server: Server) -> None:
    others = ("Dough_mixAll", {"others": '["Dough#1"]'})
    play(box, ("dough", {"flour": 3}), ("Dough_knead", {"minutes": "3"}), others, STORY)
    assert server.queries[-1] == (
        '{ dough(flour: "3") { knead(minutes: 3) { mixAll(others: ["dough:3"]) { story } } } }'
    )


# -- replay ---------------------------------------------------------------------------


def test_an_edit_sends_what_depends_on_it_and_nothing_else(box: Toolbox, server: Server) -> None:
    knead = ("Dough_knead", {"Dough": "Dough#1", "minutes": 1})
    stories = [("Dough_story", {"Dough": name}) for name in ("Dough#3", "Dough#2")]
    session = play(box, ("dough", {"flour": "oat"}), DOUGH, knead, *stories)
    sent = len(server.queries)
    edited = session.edit(session.calls[2], minutes=9, Dough="Dough#1").run()
    assert server.queries[sent:] == ['{ dough(flour: "oat") { knead(minutes: 9) { story } } }']
    assert results(edited)[3:] == ['oat knead{"minutes": 9}', "rye"]


def test_a_saved_session_continues_elsewhere(box: Toolbox, server: Server, tmp_path: Any) -> None:
    play(box, ("dough", {}), ("Dough_parts", {})).save(tmp_path / "s.jsonl")
    again = from_graphql(BAKERY, endpoint=server.url)
    script = Scripted(["x", "x", "x", ("Dough_story", {}), "done"])
    loaded = Session.load(tmp_path / "s.jsonl", again, script, approve="all").replay().run()
    assert loaded.tell("more").calls[-1].result == "rye crumb"


# -- secrets --------------------------------------------------------------------------


def everything(session: Session) -> str:
    shown = session._repr_mimebundle_()
    values = [str(session[name]) + repr(vars(type(session[name]))) for name in session.objects]
    return json.dumps(shown) + session.journal.dumps() + "".join(values) + repr(session.toolbox)


@pytest.mark.parametrize("status", [200, 403, 500])
def test_secrets_are_filled_in_when_sending_and_are_nowhere_else_though_a_server_says_them_back(
    server: Server, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("BAKERY_DOOR", "canary-4714")
    url = server.url.replace("//", "//user:canary-4715@")
    headers = {"X-Key": "key=${BAKERY_DOOR};v=1", "X-Plain": "Bearer ${NOT_SET:-canary-4713}"}
    box = from_graphql(BAKERY, endpoint=url, headers=headers)
    message = "no canary-4714 nor user:canary-4715, canary-4715 or canary-4713"
    error = {"message": message, "extensions": {"sent": "Bearer canary-4713"}}
    server.answer = lambda: (status, json.dumps({"errors": [error]}).encode())
    session = play(box, DOUGH, STORY)
    sent = [server.requests[0].headers[name] for name in ("x-key", "x-plain", "authorization")]
    password = f"Basic {base64.b64encode(b'user:canary-4715').decode()}"
    assert sent == ["key=canary-4714;v=1", "Bearer canary-4713", password]
    said = "no [secret] nor [secret], [secret] or [secret]"
    assert session.calls[-1].error == f'{said} (sent: "[secret]")'
    assert "canary" not in everything(session)


@pytest.mark.parametrize("value", ["${NOT_SET_AT_ALL}", "Bearer $NOT_SET_AT_ALL"])
def test_a_variable_that_is_not_set_is_named(server: Server, value: str) -> None:
    box = from_graphql(BAKERY, endpoint=server.url, headers={"X-Key": value})
    assert "needs NOT_SET_AT_ALL, which is not set" in play(box, DOUGH, STORY).calls[-1].error
    assert server.queries == []


# -- failures -------------------------------------------------------------------------


def test_an_error_has_its_path_and_what_else_is_told_sorted_and_cut(box: Toolbox) -> None:
    said = play(box, ("dough", {}), ("Dough_burn", {}), ("Dough_story", {})).calls[-1].error
    start = 'the oven is on fire (at dough.burn; exitCode: 3; stderr: "hot\\nhotter"; stdout: …xxx'
    assert said.startswith(start)
    assert said.endswith('xash")')
    assert len(said) < 2_200


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (503, b"<h1>busy</h1>", "answered with status 503: <h1>busy</h1>"),
        (404, b"", "answered with status 404: no text"),
        (200, b"hello\nworld", "answered with something that is no JSON: hello world"),
        (200, b"[1]", "answered with something that is no JSON: [1]"),
        (200, b"[" * 100_000, "answered with something that is no JSON"),
        (200, b'{"data": null}', "answered with neither data nor errors"),
        (200, b'{"data": {}}', "the answer is not what was asked for, so it has no dough"),
        (200, b'{"data": {"dough": null}}', "dough is null, so it has no story"),
        (200, b'{"data": {"dough": 3}}', "dough is not what was asked for, so it has no story"),
        (200, b'{"data": {"dough": {}}, "errors": [{"message": "half"}]}', "half"),
        (400, b'{"errors": [{"message": "bad"}, "worse", 3, 4]}', "bad; worse; 3; and 1 more"),
        (200, b'{"errors": [{}]}', "an error without a message"),
        (200, b'{"data": {"dough": {"story": null}}, "errors": "half"}', "half"),
        (200, b'{"data": null, "errors": [{"message": "all"}]}', "all"),
        (200, b'{"errors": [{"message": "no", "path": ["a\\nb"]}]}', "no (at a b)"),
        (200, b'{"errors": [{"message": "no", "extensions": {"a\\nb": 1}}]}', "no (a b: 1)"),
    ],
)
def test_a_broken_answer_is_told_in_one_line(
    box: Toolbox, server: Server, status: int, body: bytes, said: str
) -> None:
    server.answer = lambda: (status, body)
    session = play(box, DOUGH, STORY)
    assert session.calls[-1].status == "failed"
    assert said in session.calls[-1].error
    assert "\n" not in session.calls[-1].error


def test_a_list_that_became_shorter_is_told(box: Toolbox, server: Server) -> None:
    session = play(box, ("dough", {}), ("Dough_holes", {}))
    server.answer = lambda: (200, b'{"data": {"dough": {"holes": []}}}')
    session.cursor.context.model = Scripted(["x", "x", "x", ("Half_of", {}), "done"])
    assert session.tell("more").calls[-1].error == "holes has no item 2 any more"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"__typename": "Brick"}, "a Brick, which its schema does not name here"),
        ({"__typename": ["Bread"]}, "which its schema does not name here"),
        ({"__typename": "Bread"}, "a Bread without an id"),
        ({"__typename": "Bread", "id_Bread": {"a": 1}}, "{'a': 1} as the id of a Bread"),
        ({"__typename": "Bread", "id_Bread": True}, "True as the id of a Bread"),
        ({"__typename": "Bread", "id_Bread": 1.5}, "1.5 as the id of a Bread"),
    ],
)
def test_an_object_that_is_not_what_the_schema_says_is_refused(
    box: Toolbox, server: Server, found: Any, said: str
) -> None:
    server.answer = lambda: (200, json.dumps({"data": {"shelf": [found]}}).encode())
    call = play(box, ("shelf", {})).calls[-1]
    assert said in call.error
    assert call.error.startswith("the server gave ")


def test_two_servers_with_one_type_are_told_apart(server: Server) -> None:
    one = from_graphql(BAKERY, endpoint=server.url, include=["dough"])
    two = from_graphql(BAKERY, endpoint="http://elsewhere.test/graphql", include=["Dough_story"])
    with pytest.raises(Exception, match="two types are named"):
        Toolbox(one, two)


def test_an_answer_that_is_too_big_is_a_failure(box: Toolbox, server: Server) -> None:
    server.answer = lambda: (200, b'{"data": {"dough": {"story": "' + b"x" * 50_000_000 + b'"}}}')
    call = play(box, DOUGH, STORY).calls[-1]
    assert call.status == "failed"
    assert "50,000,000 bytes" in call.error
