"""GraphQL: which fields are read-only, and what the approval policies do with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, from_graphql
from jupyter_toolcall.core.errors import DefinitionError
from tests.standin.graphql_schemas import forge
from tests.standin.graphql_server import BAKERY, Server, engine, serving

SDL = forge(30, 9)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(SDL, resolver=engine) as server:
        yield server


def read_only(*globs: str, sdl: str = SDL) -> set[str]:
    return {tool.name for tool in from_graphql(sdl, read_only=globs) if tool.read_only}


def test_by_default_only_what_sends_nothing_is_read_only() -> None:
    assert {"findIssue", "Issue_owner", "search"} <= read_only()
    assert read_only().isdisjoint({"Issue_title", "addComment", "closeIssue"})
    assert "Dough_weight" not in read_only(sdl=BAKERY)


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
    server.requests.clear()
    box = from_graphql(SDL, endpoint=server.url, read_only=("Query.*",))
    script = [
        ("findIssue", {"number": 1}),
        ("Issue_title", {}),
        ("Issue_parts", {"first": 2}),
        ("IssueConnection_totalCount", {}),
        ("closeIssue", {"input": {"id": "Issue#1"}}),
        "done",
    ]
    session = Session(box, Scripted(script), scheme="flat", approve="read-only").tell("go")
    statuses = [call.status for call in session.calls]
    assert statuses == ["succeeded"] * 4 + ["rejected"]
    assert [query for query in server.queries if "mutation" in query] == []
