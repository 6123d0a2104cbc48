"""GraphQL: names of objects as ids, and which fields are read-only, in schemas of any size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox, from_graphql
from jupyter_toolcall.core.errors import DefinitionError
from jupyter_toolcall.schemes import Native
from jupyter_toolcall.schemes.scheme import Flat
from tests.example_tools import play
from tests.standin.graphql_server import BAKERY, Server, engine, serving

COMMON = """
scalar HTML
interface Node { id: ID! }
type Note { text: String!, length: Int! }
type AddCommentPayload { ok: Boolean!, clientMutationId: String }
input MoveInput { cardId: ID!, columnId: ID, anything: HTML, note: String }
extend type Query { node(id: ID!): Node, search(text: String!): Note! }
extend type Mutation {
  addComment(subjectId: ID!, body: String!, others: [ID!]): AddCommentPayload
  moveCard(input: MoveInput!): AddCommentPayload
}
"""


def forge(kinds: int) -> str:
    """Return a schema with so many kinds of object that have an id; `Issue` is the first."""
    parts = [COMMON]
    for name in ("Issue", *(f"Thing{number}" for number in range(1, kinds))):
        parts += [
            f"type {name} implements Node {{ id: ID!, number: Int!, title: String! }}",
            f"extend type {name} {{ labels: [String!], parts(first: Int): {name}Connection! }}",
            f"type {name}Connection {{ nodes: [{name}], totalCount: Int! }}",
            f"input Close{name}Input {{ id: ID!, reason: String }}",
            f"extend type Query {{ find{name}(number: Int!): {name} }}",
            f"extend type Mutation {{ close{name}(input: Close{name}Input!): {name} }}",
        ]
    return "\n".join([*parts, "type Query", "type Mutation"])


SDL = forge(30)
ISSUE = ("findIssue", {"number": 1})
ISSUE_ID = '"/findIssue(number: 1)/id"'
"""The id that the stand-in gives that object, as a query writes it."""


@pytest.fixture(scope="module")
def forge_server() -> Iterator[Server]:
    with serving(SDL, resolver=engine) as server:
        yield server


@pytest.fixture
def server(forge_server: Server) -> Server:
    forge_server.requests.clear()
    return forge_server


@pytest.fixture(scope="module")
def box(forge_server: Server) -> Toolbox:
    return from_graphql(SDL, endpoint=forge_server.url)


@pytest.mark.parametrize("kinds", [1, 20, 21, 120])
def test_an_object_is_an_id_by_its_name_however_many_types_have_ids(kinds: int) -> None:
    with serving(forge(kinds), resolver=engine) as server:
        box = from_graphql(forge(kinds), endpoint=server.url)
        session = play(box, ISSUE, ("addComment", {"subjectId": "Issue#1", "body": "Hi"}))
    assert session.calls[1].status == "succeeded"
    assert server.queries == [
        "{ findIssue(number: 1) { id } }",
        f'mutation {{ addComment(subjectId: {ISSUE_ID}, body: "Hi") {{ ok clientMutationId }} }}',
    ]


def test_the_schema_of_an_id_does_not_grow_with_the_number_of_types(box: Toolbox) -> None:
    small = from_graphql(forge(1))
    assert dict(box["addComment"].parameters) == dict(small["addComment"].parameters)
    subject = box["addComment"].parameters["properties"]["subjectId"]
    assert subject["description"] == "An object that has an id is given by its name."


def test_a_prompt_with_calls_as_xml_says_that_an_id_may_be_a_name(box: Toolbox) -> None:
    system = Session(box, Scripted([]), scheme=Native(Flat())).cursor.request.system
    assert '"subjectId" type="str | name such as Type#1"' in system


def test_names_in_lists_and_in_input_objects_are_ids_too(box: Toolbox, server: Server) -> None:
    # A text that contains a name is a text.
    comment = {"subjectId": "x", "body": "See Issue#1", "others": ["Issue#1", "y", "Issue#1"]}
    move = ("moveCard", {"input": {"cardId": "Issue#1", "columnId": "Issue#1"}})
    play(box, ISSUE, ("addComment", comment), move)
    assert 'body: "See Issue#1"' in server.queries[1]
    assert f'others: [{ISSUE_ID}, "y", {ISSUE_ID}]' in server.queries[1]
    assert f"input: {{cardId: {ISSUE_ID}, columnId: {ISSUE_ID}}}" in server.queries[2]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("Note#1", "Note#1 has no id, since a Note has none; name another object, or an id"),
        ("Issue#7", "there is no object 'Issue#7'; objects of that type: Issue#1"),
    ],
)
def test_an_object_that_has_no_id_and_one_that_does_not_exist_are_errors_in_one_line(
    box: Toolbox, server: Server, name: str, error: str
) -> None:
    comment = ("addComment", {"subjectId": name, "body": "Hi"})
    session = play(box, ISSUE, ("search", {"text": "x"}), comment)
    assert session.calls[2].error == f"addComment: subjectId: {error}"
    assert server.queries == []


def test_an_id_that_looks_like_a_name_is_sent_as_it_is(box: Toolbox, server: Server) -> None:
    session = play(box, ("addComment", {"subjectId": "USER#12", "body": "Hi"}))
    assert session.calls[0].status == "succeeded"
    assert 'subjectId: "USER#12"' in server.queries[0]


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ({"cardId": "x", "note": "Issue#1"}, "input.note: Issue#1 is an object, and a S"),
        ({"cardId": "x", "anything": "Issue#1"}, "input.anything: Issue#1 is an object, and a H"),
        ({"cardId": "x", "anything": {"a": [1, "Issue#1"]}}, "input.anything: Issue#1 is an ob"),
    ],
)
def test_the_name_of_an_object_where_no_id_is_taken_is_an_error(
    box: Toolbox, server: Server, arguments: dict[str, Any], where: str
) -> None:
    comment = ("addComment", {"subjectId": "x", "body": "Issue#1"})
    _, failed, moved = play(box, ISSUE, comment, ("moveCard", {"input": arguments})).calls
    assert failed.error.startswith("addComment: body: Issue#1 is an object, and a S")
    assert moved.error.startswith(f"moveCard: {where}")
    assert "\n" not in failed.error + moved.error
    assert server.queries == []


def test_a_text_that_is_an_input_is_an_id_by_its_name(box: Toolbox, server: Server) -> None:
    inputs = {"subject": "I_kw2"}
    play(box, ("addComment", {"subjectId": "str#1", "body": "Hi"}), inputs=inputs)
    assert 'subjectId: "I_kw2"' in server.queries[0]


def test_a_call_depends_on_the_objects_that_are_its_ids(box: Toolbox, server: Server) -> None:
    comment = ("addComment", {"subjectId": "Issue#1", "body": "Hi"})
    session = play(box, ISSUE, comment, ("findThing1", {"number": 5}))
    edited = session.edit(session.calls[0], number=2).run()
    assert [call.status for call in edited.calls] == ["succeeded"] * 3
    assert [query[:40] for query in server.queries[2:]] == [
        "{ findIssue(number: 2) { id } }",
        'mutation { addComment(subjectId: "/findI',
    ]
    assert "number: 2" in server.queries[3]


@pytest.mark.parametrize(
    ("scheme", "before", "name"),
    [
        ("flat", [], "Issue#1"),
        ("select", [("selectTools", {"tools": ["findIssue", "addComment"]})], "Issue#1"),
        ("current", [], "Issue#1"),
        # A name that the model gave the object.
        ("current", [ISSUE, ("_saveAs", {"name": "bug"})], "$bug"),
    ],
)
def test_every_scheme_takes_the_name_of_an_object_for_an_id(
    box: Toolbox, server: Server, scheme: str, before: list[Any], name: str
) -> None:
    comment = ("addComment", {"subjectId": name, "body": "Hi"})
    assert play(box, *before, ISSUE, comment, scheme=scheme).calls[-1].status == "succeeded"
    assert ISSUE_ID in server.queries[-1]


def test_a_text_of_the_servers_own_for_an_id_needs_an_object_only_where_that_is_its_id() -> None:
    sdl = (
        "scalar GitObjectID type GitObject { id: ID!, oid: GitObjectID! } "
        "type Query { object(oid: GitObjectID!): GitObject }"
    )
    session = play(from_graphql(sdl), ("object", {"oid": "4b825dc"}))
    assert session.calls[0].result == "GitObject#1"


NAMES = st.sampled_from(["Issue#1", "Thing1#1", "Note#1", "x", "Issue#1 ", "See Issue#1", ""])
TREES = st.recursive(
    NAMES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("a"), inner)
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(NAMES, NAMES, st.lists(NAMES, max_size=3), TREES)
def test_the_name_of_an_object_never_reaches_a_server(
    box: Toolbox, server: Server, subject: str, body: str, others: list[str], tree: Any
) -> None:
    server.requests.clear()
    play(
        box,
        [ISSUE, ("findThing1", {"number": 1}), ("search", {"text": "x"})],
        ("addComment", {"subjectId": subject, "body": body, "others": others}),
        ("moveCard", {"input": {"cardId": subject, "anything": tree, "note": body}}),
    )
    for asked in server.requests:
        for name in ("Issue#1", "Thing1#1", "Note#1"):
            assert f'"{name}"' not in asked.query
            assert f"'{name}'" not in repr(asked.variables)


# -- which fields are read-only -----------------------------------------------------------


def read_only(*globs: str, sdl: str = SDL) -> set[str]:
    return {tool.name for tool in from_graphql(sdl, read_only=globs) if tool.read_only}


def test_globs_over_type_and_field_mark_fields_as_read_only() -> None:
    assert read_only("Query.version", sdl=BAKERY) - read_only(sdl=BAKERY) == {"version"}
    marked = read_only("Issue.l*", "Note.text", "*.title") - read_only()
    assert {"Issue_labels", "Note_text", "Issue_title", "Thing29_title"} <= marked
    assert marked.isdisjoint({"Issue_number", "Note_length", "Thing29_labels"})
    assert read_only("Dough.*", sdl=BAKERY) >= {"Dough_weight", "Dough_parts", "Dough_story"}


def test_query_with_a_star_is_every_query_whatever_it_leads_to() -> None:
    assert {"version", "Dough_weight", "shelf"} <= read_only("Query.*", sdl=BAKERY)
    assert read_only("Query.*", sdl=BAKERY).isdisjoint({"bake", "rename", "Mutation_version"})
    assert read_only("Query.*") == read_only("*")
    assert "Dough_weight" not in read_only("Query.d*", sdl=BAKERY)


def test_a_mutation_is_never_read_only() -> None:
    mutations = {"addComment", "moveCard", "closeIssue"}
    assert read_only("*", "*.*").isdisjoint(mutations)
    assert {"Issue_title", "Note_text", "findIssue"} <= read_only("*")
    for glob in ("Mutation.*", "Mutation.close*", "*.closeIssue"):
        with pytest.raises(DefinitionError, match="fits mutations, which are never read-only"):
            read_only(glob)
    renamed = "schema { query: Query, mutation: Acts } type Query { a: Int } type Acts { b: Int }"
    assert read_only("*", sdl=renamed) == {"a"}
    shared = "schema { query: All, mutation: All } type All { a: Int }"
    assert read_only("All.*", sdl=shared) == {"a"}


@pytest.mark.parametrize(
    ("globs", "error"),
    [
        (("Qery.*",), "read_only: no field fits 'Qery.*'. Did you mean Query.*?"),
        (("Issue.titel",), "read_only: no field fits 'Issue.titel'. Did you mean Issue.title?"),
        (("Query.*", "Nothing"), "read_only: no field fits 'Nothing'."),
        (True, "read_only takes globs, which are texts, not True"),
        ((3,), "read_only takes globs, which are texts, not 3"),
    ],
)
def test_a_glob_that_fits_no_field_is_named_with_the_nearest(globs: Any, error: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        from_graphql(SDL, read_only=globs)
    assert str(caught.value).startswith(error)
    assert "\n" not in str(caught.value)


def test_the_policy_read_only_runs_reads_unasked_and_rejects_mutations(server: Server) -> None:
    box = from_graphql(SDL, endpoint=server.url, read_only=("Query.*",))
    script: list[Any] = [("findIssue", {"number": 1}), ("Issue_title", {})]
    script += [("Issue_parts", {"first": 2}), ("IssueConnection_totalCount", {})]
    close = ("closeIssue", {"input": {"id": "Issue#1"}})
    session = play(box, *script, close, approve="read-only")
    assert [call.status for call in session.calls] == ["succeeded"] * 4 + ["rejected"]
    assert [query for query in server.queries if "mutation" in query] == []
