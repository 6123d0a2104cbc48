"""GraphQL: what a server returns is checked against the types of its schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox, from_graphql
from jupyter_toolcall.core.call_record import CallRecord
from tests.standin.graphql_server import Server, serving

SDL = """
scalar JSON
enum Shape { ROUND LONG }
type Pot { id: ID!, size: Int! }
type Lid { of: String! }
type Reply { ok: Boolean!, count: Int, shape: Shape, tags: [String!] }
type Query {
  whole: Int!, maybe: Int, half: Float!, text: String!, yes: Boolean!, id: ID!, shape: Shape!
  any: JSON!, anyMaybe: JSON, many: [Int!]!, holes: [Int], grid: [[Int!]!]!, anyMany: [JSON!]!
  pots: [Pot!]!, lids: [Lid], pot: Pot!, node(id: ID!): Pot
}
type Mutation { count: Int!, set: Reply, setAll: [Reply!]!, add: Pot! }
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(SDL) as server:
        yield server


@pytest.fixture(scope="module")
def box(server: Server) -> Toolbox:
    return from_graphql(SDL, endpoint=server.url)


def call(box: Toolbox, server: Server, field: str, answer: Any) -> CallRecord:
    """Return the call of a root field that a server answers with this."""
    server.answer = lambda: (200, json.dumps({"data": {field: answer}}).encode())
    script = Scripted([(field, {}), "done"])
    return Session(box, script, scheme="flat", approve="all").tell("go").calls[0]


SENT = "; the mutation was sent, so look at what it did before you repeat it"


@pytest.mark.parametrize(
    ("field", "answer", "error"),
    [
        ("whole", "7", 'Query.whole: the server answered "7", and the schema says Int!'),
        ("whole", 7.5, "Query.whole: the server answered 7.5, and the schema says Int!"),
        ("whole", True, "Query.whole: the server answered true, and the schema says Int!"),
        ("whole", None, "Query.whole: the server answered null, and the schema says Int!"),
        ("maybe", {"a": 1}, 'Query.maybe: the server answered {"a": 1}, and the schema says Int'),
        ("half", "0.5", 'Query.half: the server answered "0.5", and the schema says Float!'),
        ("text", 3, "Query.text: the server answered 3, and the schema says String!"),
        ("yes", 1, "Query.yes: the server answered 1, and the schema says Boolean!"),
        ("id", 1.5, "Query.id: the server answered 1.5, and the schema says ID!"),
        (
            "shape",
            "SQUARE",
            'Query.shape: the server answered "SQUARE", and the schema says Shape! (ROUND, LONG)',
        ),
        ("any", None, "Query.any: the server answered null, and the schema says JSON!"),
        ("many", [1, None], "Query.many[1]: the server answered null, and the schema says Int!"),
        ("holes", [None, "x"], 'Query.holes[1]: the server answered "x", and the schema says Int'),
        ("grid", [[1], [2, "x"]], 'Query.grid[1][1]: the server answered "x", and the schema say'),
        ("pots", [None], "Query.pots[0]: the server answered null, and the schema says Pot!"),
        ("lids", [[]], "Query.lids[0]: the server answered [], and the schema says Lid"),
        ("pots", ["loaf"], 'Query.pots[0]: the server answered "loaf", and the schema says Pot!'),
        ("text", {"a\nb": "x" * 99}, 'Query.text: the server answered {"a\\nb": "xxx'),
        ("count", "3", 'Mutation.count: the server answered "3", and the schema says Int!'),
        ("set", 3, "Mutation.set: the server answered 3, and the schema says Reply"),
        ("set", {"ok": "yes"}, 'Mutation.set.ok: the server answered "yes", and the schema says B'),
        ("set", {}, "Mutation.set.ok: the server answered null, and the schema says Boolean!"),
        (
            "set",
            {"ok": True, "tags": ["a", 1]},
            "Mutation.set.tags[1]: the server answered 1, and the schema says String!",
        ),
        (
            "setAll",
            [{"ok": True}, {"ok": True, "shape": "FLAT"}],
            'Mutation.setAll[1].shape: the server answered "FLAT", and the schema says Shape (RO',
        ),
        ("setAll", [None], "Mutation.setAll[0]: the server answered null, and the schema says R"),
        ("add", None, "Mutation.add: the server answered null, and the schema says Pot!"),
    ],
)
def test_what_does_not_fit_the_schema_fails_in_a_line_that_says_where_and_whether_it_was_sent(
    box: Toolbox, server: Server, field: str, answer: Any, error: str
) -> None:
    failed = call(box, server, field, answer)
    assert failed.status == "failed"
    assert failed.error is not None
    assert failed.error.startswith(error)
    assert failed.error.endswith(SENT) is error.startswith("Mutation.")
    assert len(failed.error.removesuffix(SENT)) < 150
    assert "\n" not in failed.error


@pytest.mark.parametrize(
    ("field", "answer"),
    [
        *[("whole", 7), ("whole", 7.0), ("maybe", None), ("half", 3), ("half", 0.5)],
        *[("text", ""), ("yes", False), ("id", "x"), ("id", 7), ("shape", "LONG")],
        *[("many", []), ("holes", [None, 1]), ("holes", None), ("grid", [[], [1, 2]])],
        *[("anyMany", [1, {"a": None}, []]), ("anyMaybe", None)],
        ("set", {"ok": True, "count": None, "shape": "ROUND", "tags": ["a"]}),
        ("setAll", [{"ok": False, "count": 1, "shape": None, "tags": None}]),
    ],
)
def test_what_fits_the_schema_is_the_result(
    box: Toolbox, server: Server, field: str, answer: Any
) -> None:
    assert call(box, server, field, answer).result == answer


@pytest.mark.parametrize(
    ("field", "answer", "result"),
    [
        ("text", "", ""),
        ("many", [1, None], [1, None]),
        ("grid", [[1, None], None], [[1, None], None]),
        ("lids", [{"__typename": "Lid"}, None], ["Lid#1", None]),
        ("pots", [None, {"__typename": "Pot", "id_Pot": "7"}], [None, "Pot#1"]),
        ("set", {"ok": True, "count": None}, {"ok": True, "count": None}),
        ("setAll", [{"ok": True}, None], [{"ok": True}, None]),
    ],
)
def test_what_came_beside_errors_is_the_result_with_the_errors(
    box: Toolbox, server: Server, field: str, answer: Any, result: Any
) -> None:
    body = {"data": {field: answer}, "errors": [{"message": "half", "path": [field, 1]}]}
    server.answer = lambda: (200, json.dumps(body).encode())
    session = Session(box, Scripted([(field, {}), "done"]), scheme="flat", approve="all").tell("go")
    assert session.calls[0].result == {"data": result, "errors": [f"half (at {field}.1)"]}


LEAVES = st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5)
TREES = st.recursive(
    LEAVES | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
)


@given(TREES.filter(lambda tree: tree is not None))
def test_a_scalar_of_the_servers_own_may_be_any_json(
    box: Toolbox, server: Server, tree: Any
) -> None:
    assert call(box, server, "any", tree).result == tree
