"""A session spoken in XML on Claude: no tools are sent, and what it said goes back."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_toolcall import Session
from jupyter_toolcall.kitchen import Plate
from tests.example_tools import fries_session
from tests.standin.anthropic_api import StandIn
from tests.standin.anthropic_turns import Think, Turn, says
from tests.standin.talk import KEY, a_claude


def call(tool: str, function: str, **arguments: str) -> str:
    given = "".join(f'<parameter name="{name}">{v}</parameter>' for name, v in arguments.items())
    return (
        f'<tool-calls><tool-call tool="{tool}" function="{function}">{given}'
        "</tool-call></tool-calls>"
    )


COOKED = (
    says(Think("Rinse."), f"First:\n{call('Potato', 'rinse', Potato='Potato#1', sink='Sink#1')}"),
    says(Think("Peel."), call("Potato", "peel", Potato="Potato#2").replace("</parameter>", "")),
    says(Think("Again."), call("Potato", "peel", Potato="Potato#2")),
    says(Think("Cut."), "Now I cut. ", call("Potato", "slice", shape="STICKS")),
    says(call("Oven", "bake", item="Potato#4")),
    says(call("Fries", "plate", plate="Plate#1")),
    says("On the plate.", call("save", "save", fries="Plate#2")),
)


def cooked(server: StandIn, *turns: Turn, scheme: str = "native") -> Session:
    server.turns += turns
    with a_claude(server) as model:
        return fries_session(model, scheme).tell("Make fries.")


def sent(server: StandIn, turn: int) -> list[Any]:
    """Return what the model said, as it came back in the last request."""
    blocks = server.asked[-1].body["messages"][2 * turn + 1]["content"]
    return [block.get("thinking", block.get("text")) for block in blocks]


def test_a_whole_session_is_spoken_and_no_request_is_refused() -> None:
    with StandIn(key=KEY) as server:
        session = cooked(server, *COOKED)
    assert session.outputs["fries"] == Plate("fries: sticks")
    assert str(session) == "On the plate."
    statuses = [call.status for call in session.calls]
    assert statuses == ["succeeded", "failed", *["succeeded"] * 5]
    assert server.refused == []
    assert ["tools" in asked.body for asked in server.asked] == [False] * len(COOKED)


def test_what_it_said_and_thought_goes_back_as_it_came() -> None:
    with StandIn(key=KEY) as server:
        cooked(server, *COOKED)
    assert [asked.dropped for asked in server.asked] == [()] * len(COOKED)
    for turn, said in enumerate(COOKED[:-1]):
        blocks = [getattr(block, "text", None) for block in said.blocks]
        assert sent(server, turn) == blocks
    systems = [asked.body["system"] for asked in server.asked]
    assert systems == [systems[0]] * len(COOKED)


def test_the_results_are_told_as_text_of_the_person() -> None:
    with StandIn(key=KEY) as server:
        cooked(server, *COOKED)
    [told] = server.asked[1].body["messages"][-1]["content"]
    assert told["type"] == "text"
    assert told["text"].startswith("<tool-results>")


def test_an_edit_is_a_history_that_the_api_takes() -> None:
    with StandIn(key=KEY) as server:
        session = cooked(server, *COOKED)
        server.turns += [says("You had slices.")] * 2
        cut = next(call for call in session.calls if call.tool == "Potato_slice")
        with a_claude(server) as model:
            session.cursor.context.model = model
            edited = session.edit(cut.id, shape="SLICES").run().tell("What did I get?")
    assert edited.outputs["fries"] == Plate("fries: slices")
    assert str(edited) == "You had slices."
    assert server.refused == []


@pytest.mark.parametrize("scheme", ["native(select)", "native(current)"])
def test_a_scheme_whose_tools_change_is_spoken_too(scheme: str) -> None:
    first = {
        "native(select)": call("selectTools", "selectTools", tools='["Potato_peel"]'),
        "native(current)": call("_use_Potato", "_use_Potato", id="Potato#1"),
    }
    turns = (
        says(Think("Hm."), first[scheme]),
        says(Think("Peel."), call("Potato", "peel")),
        says("Enough."),
        says("Sorry."),
    )
    with StandIn(key=KEY) as server:
        session = cooked(server, *turns, scheme=scheme)
    assert session.objects[-1] == "Potato#2", [call.error for call in session.calls]
    assert server.refused == []
