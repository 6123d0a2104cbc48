"""Calls of clients of the served session: they wait as any other, the scheme's own tools too."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.engine.client_calls import record_client_call


class Jar:
    """A jar."""


@tool(read_only=True)
def weigh(jar: Jar) -> int:
    return 100


def session(scheme: str, approve: Any) -> Session:
    """Return a session that is through, with a jar and an output."""
    model = Scripted(["Ready."])
    inputs, outputs = {"jar": Jar()}, {"out": Jar}
    box = Toolbox(weigh)
    options: Any = {"scheme": scheme, "approve": approve, "inputs": inputs, "outputs": outputs}
    return Session(box, model, **options).tell("Look after {jar}.")


def after_call(before: Session, name: str, arguments: dict[str, Any]) -> Session:
    record_client_call(before.cursor, "mcp_1", name, arguments, "mcp:agent")
    return before.run()


OWN = [
    ("flat", "save", {"out": "Jar#1"}),
    ("select", "selectTools", {"tools": ["weigh"]}),
    ("select", "save", {"out": "Jar#1"}),
    ("current", "_use_Jar", {"id": "Jar#1"}),
    ("current", "save", {"out": "Jar#1"}),
]


@pytest.mark.parametrize(("scheme", "name", "arguments"), OWN)
@pytest.mark.parametrize(
    ("approve", "status"), [("ask", "proposed"), ("none", "proposed"), ("read-only", "rejected")]
)
def test_the_schemes_own_tools_wait_where_a_client_asks_for_them(
    scheme: str, name: str, arguments: dict[str, Any], approve: str, status: str
) -> None:
    done = after_call(session(scheme, approve), name, arguments)
    assert (done.state.calls["mcp_1"].status, done.outputs) == (status, {})


@pytest.mark.parametrize("approve", ["ask", "all"])
def test_what_the_person_approves_is_saved_and_a_replay_keeps_it(approve: str) -> None:
    done = after_call(session("flat", approve), "save", {"out": "Jar#1"})
    if approve == "ask":
        assert [call.id for call in done.pending] == ["mcp_1"]
        done = done.decide("mcp_1", "approve").run()
    assert [*done.outputs] == ["out"]
    entries = len(done.journal)
    again = done.replay().run()
    assert ([*again.outputs], len(again.journal), again.pending) == (["out"], entries, ())


def test_a_call_of_a_client_that_reads_runs_as_one_of_the_model() -> None:
    done = after_call(session("flat", "ask"), "weigh", {"jar": "Jar#1"})
    assert done.state.calls["mcp_1"].result == 100
