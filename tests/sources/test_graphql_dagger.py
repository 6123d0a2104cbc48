"""Dagger's real schema, served by an engine that answers any field with how it was reached."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Toolbox, from_graphql
from tests.example_tools import play
from tests.standin.graphql_server import Server, engine, serving

NAME = "dagger-2025-04.graphqls"
FILE = Path(
    os.environ.get("JUPYTER_TOOLCALL_DAGGER_SCHEMA")
    or Path(__file__).parents[3] / "shared" / "data" / NAME
)
pytestmark = pytest.mark.skipif(
    not FILE.exists(),
    reason=f"{NAME} is not here; JUPYTER_TOOLCALL_DAGGER_SCHEMA may name Dagger's schema",
)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(FILE.read_text(encoding="utf-8"), resolver=engine) as found:
        yield found


@pytest.fixture
def box(server: Server) -> Toolbox:
    return from_graphql(FILE, endpoint=server.url)


def test_the_whole_schema_becomes_tools(box: Toolbox) -> None:
    assert len(box) == 385
    assert len(box.kinds) == 44
    names = set(box.names)
    assert {"container", "Container_from", "Container_import", "Directory_withFiles"} <= names
    assert not [name for name in names if name.endswith("_id") or name.startswith("load")]
    assert not names & {"setSecretFile", "Container_sync"}
    assert max(map(len, names)) == 42


def test_a_whole_session_selects_builds_saves_and_replays(box: Toolbox, server: Server) -> None:
    names = ["container", "directory", "Directory_withNewFile", "Container_from"]
    more = ["Container_withDirectory", "Container_withExec", "Container_stdout"]
    script: list[Any] = [
        ("selectTools", {"tools": names}),
        [("container", {}), ("directory", {})],
        ("Directory_withNewFile", {"path": "main.go", "contents": "package main"}),
        ("Container_from", {"address": "golang"}),
        ("selectTools", {"tools": more}),
        ("Container_withDirectory", {"path": "/src", "directory": "$Directory"}),
        ("Container_withExec", {"args": ["go", "build"], "expect": "ANY"}),
        ("Container_stdout", {}),
        ("save", {"built": "$Container"}),
    ]
    outputs = {"built": (box.type_named("Container"), "the built container")}
    session = play(box, *script, scheme="select", outputs=outputs)
    assert [call.error for call in session.calls if call.status != "succeeded"] == []
    assert "withExec" in str(session.outputs["built"])
    assert session.deps("Container#3") == ("Container#2", "Directory#2")
    assert len(server.queries) == 2

    entries = len(session.journal)
    session.replay().run()
    assert (len(session.journal), len(server.queries)) == (entries, 2)

    [exec_call] = [call for call in session.calls if call.tool == "Container_withExec"]
    edited = session.edit(exec_call, args=["go", "test"], Container="Container#3").run()
    assert len(server.queries) == 3
    assert 'withExec(args: ["go", "test"], expect: ANY) { stdout }' in server.queries[2]
    assert edited.calls[-2].result != session.calls[-2].result
