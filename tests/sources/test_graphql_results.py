"""GraphQL: what a server returns is checked against the types of its schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Toolbox, from_graphql
from jupyter_toolcall.core.call_record import CallRecord
from tests.example_tools import play
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
    return play(box, (field, {})).calls[0]


GOOD = {"ok": True}
SENT = "; the mutation was sent, so look at what it did before you repeat it"


MISFITS: list[tuple[str, Any, str, str, str]] = [
    *(("whole", "7", "", '"7"', "Int!"), ("whole", 7.5, "", "7.5", "Int!")),
    *(("whole", True, "", "true", "Int!"), ("whole", None, "", "null", "Int!")),
    *(("maybe", {"a": 1}, "", '{"a": 1}', "Int"), ("half", "0.5", "", '"0.5"', "Float!")),
    *(("text", 3, "", "3", "String!"), ("yes", 1, "", "1", "Boolean!")),
    *(("id", 1.5, "", "1.5", "ID!"), ("shape", "SQUARE", "", '"SQUARE"', "Shape! (ROUND, LONG)")),
    *(("any", None, "", "null", "JSON!"), ("many", [1, None], "[1]", "null", "Int!")),
    *(("holes", [None, "x"], "[1]", '"x"', "Int"), ("grid", [[1], ["x"]], "[1][0]", '"x"', "Int!")),
    *(("pots", [None], "[0]", "null", "Pot!"), ("pots", ["loaf"], "[0]", '"loaf"', "Pot!")),
    *(("lids", [[]], "[0]", "[]", "Lid"), ("count", "3", "", '"3"', "Int!")),
    *(("set", 3, "", "3", "Reply"), ("set", {"ok": "yes"}, ".ok", '"yes"', "Boolean!")),
    *(("set", {}, ".ok", "null", "Boolean!"), ("setAll", [None], "[0]", "null", "Reply!")),
    ("set", {"ok": True, "tags": ["a", 1]}, ".tags[1]", "1", "String!"),
    ("setAll", [GOOD, {**GOOD, "shape": "FLAT"}], "[1].shape", '"FLAT"', "Shape (ROUND, LONG)"),
    ("add", None, "", "null", "Pot!"),
]
"""A field, its answer, and the place in it at which the value is not of the type."""


@pytest.mark.parametrize(("field", "answer", "place", "value", "kind"), MISFITS)
def test_what_does_not_fit_the_schema_fails_in_a_line_that_says_where_and_whether_it_was_sent(
    box: Toolbox, server: Server, field: str, answer: Any, place: str, value: str, kind: str
) -> None:
    failed = call(box, server, field, answer)
    root, end = ("Mutation", SENT) if field in ("count", "set", "setAll", "add") else ("Query", "")
    said = f"{root}.{field}{place}: the server answered {value}, and the schema says {kind}{end}"
    assert (failed.status, failed.error) == ("failed", said)


def test_an_answer_that_does_not_fit_is_shown_in_a_short_line(box: Toolbox, server: Server) -> None:
    error = str(call(box, server, "text", {"a\nb": "x" * 99}).error)
    assert error.startswith('Query.text: the server answered {"a\\nb": "xxx')
    assert len(error) < 150


@pytest.mark.parametrize(
    ("field", "answer"),
    [
        *[("whole", 7), ("whole", 2**40), ("maybe", None), ("half", 3), ("half", 0.5)],
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
    errors = [f"half (at {field}.1)"]
    assert play(box, (field, {})).calls[0].result == {"data": result, "errors": errors}


LEAVES = st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5)
TREES = st.recursive(
    LEAVES | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
)


@given(TREES.filter(lambda tree: tree is not None))
def test_a_custom_scalar_may_be_any_json(box: Toolbox, server: Server, tree: Any) -> None:
    assert call(box, server, "any", tree).result == tree
