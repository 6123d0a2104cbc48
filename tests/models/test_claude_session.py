"""A whole session on Claude, over real HTTP: each request of it is one that the API takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.kitchen import Plate, Potato
from tests.example_tools import fries_session, make_fries_after_a_fault
from tests.standin.anthropic_api import StandIn
from tests.standin.anthropic_memory import in_memory
from tests.standin.anthropic_turns import Think, Turn, Use, says
from tests.standin.anthropic_words import Json
from tests.standin.talk import KEY, a_claude

TOOLS = ["Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake", "Fries_plate"]
COOKED = (
    says(Think("Which tools?"), "First the tools.", Use("selectTools", {"tools": TOOLS})),
    says(Think("Rinse."), Use("Potato_rinse", {"Potato": "Potato#1", "sink": "Sink#1"})),
    says(Think("Peel."), Use("Potato_peel", {"Potato": "Potato#2"})),
    says(Think("Cut."), Use("Potato_slice", {"Potato": "Potato#3", "shape": "STICKS"})),
    says(Think("Bake."), Use("Oven_bake", {"Oven": "Oven#1", "item": "Potato#4"})),
    says(Use("Fries_plate", {"Fries": "Fries#1", "plate": "Plate#1"})),
    says("On the plate.", Use("save", {"fries": "Plate#2"})),
)


@contextmanager
def cooking(
    server: StandIn, *turns: Turn, scheme: str = "select", speak: Any = a_claude
) -> Iterator[Session]:
    server.turns += turns
    with speak(server) as model:
        yield fries_session(model, scheme)


@pytest.mark.parametrize("scheme", ["select", "flat"])
def test_the_kitchen_is_cooked_and_no_request_is_refused(server: StandIn, scheme: str) -> None:
    turns = COOKED if scheme == "select" else COOKED[1:]
    with cooking(server, *turns, scheme=scheme) as session:
        session.tell("Make fries.")
    assert str(session) == "On the plate."
    assert session.outputs["fries"] == Plate("fries: sticks")
    assert server.refused == []
    assert [asked.dropped for asked in server.asked] == [()] * len(turns)
    tools = [[tool["name"] for tool in asked.body["tools"]] for asked in server.asked]
    assert tools == [tools[0]] * len(turns)


STATUSES = (400, 401, 403, 404, 408, 409, 413, 429, 500, 502, 503, 504, 529)
FAULTS: list[dict[str, Any]] = [
    *({"status": status} for status in STATUSES),
    *({"cut": 400, "hard": True}, {"cut": 400}, {"breaks_after": 1}, {"breaks_after": 4}),
    *({"raw": b""}, {"raw": b"data: {nonsense\n\n"}, {"stop": None}, {"stop": "tired"}),
]


@pytest.mark.parametrize("turn", [0, 1, 3, 6])
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_after_a_fault_at_any_turn_running_again_continues(
    turn: int, fault: dict[str, Any]
) -> None:
    broken, server = replace(COOKED[turn], **fault), StandIn(key=KEY)
    turns = (*COOKED[:turn], broken, *COOKED[turn:])
    with cooking(server, *turns, speak=in_memory) as session:
        make_fries_after_a_fault(session, turn)
    assert [call.status for call in session.calls] == ["succeeded"] * len(COOKED)
    assert server.refused == []


def test_a_broken_unknown_or_refused_call_is_told_and_the_session_continues(
    server: StandIn,
) -> None:
    wrong = says(
        Think("Hm."),
        Use("Potato_peel", raw='{"Potato": NaN}'),
        Use("Potato_juggle", {"Potato": "Potato#1"}),
        Use("Potato_slice", {"Potato": "Potato#1", "shape": "CUBES"}),
        Use("Potato_peel", {"Potato": "Potato#99"}),
        Use("Potato_slice", {"Potato": "Potato#1", "shape": "STICKS"}),
    )
    with cooking(server, COOKED[0], wrong, says("I give up."), says("Sorry.")) as session:
        session.tell("Make fries.")
    assert [call.status for call in session.calls[1:]] == ["failed"] * 5
    results = server.asked[2].body["messages"][-1]["content"]
    assert [result["is_error"] for result in results] == [True] * 5
    assert "NaN" in results[0]["content"]
    assert server.refused == []


def test_an_edited_call_keeps_a_history_that_the_api_takes(server: StandIn) -> None:
    with cooking(server, *COOKED) as session:
        session.tell("Make fries.")
        cut = next(call for call in session.calls if call.tool == "Potato_slice")
        edited = session.edit(cut.id, shape="SLICES").run()
        server.turns += [says("You had"), says("slices.")]
        edited.tell("What did I get?")
    assert edited.outputs["fries"] == Plate("fries: slices")
    assert str(edited) == "slices."
    assert server.refused == []
    assert server.asked[-1].dropped, "the edit changed nothing that thinking was bound to"


def test_a_fork_continues_with_a_history_that_the_api_takes(server: StandIn) -> None:
    with cooking(server, *COOKED) as session:
        session.tell("Make fries.")
        peeled = next(call for call in session.calls if call.tool == "Potato_peel")
        server.turns += [says("Peeled it is."), says("No more.")]
        fork = session.fork(peeled.id).tell("Stop here.")
    assert server.refused == []
    assert [asked.dropped for asked in server.asked[-2:]] == [(), ()]
    assert session.outputs["fries"] == Plate("fries: sticks")
    assert len(fork.calls) < len(session.calls)


def test_ids_that_come_twice_still_have_one_result_each(server: StandIn) -> None:
    rinse = Use("Potato_rinse", {"Potato": "Potato#1", "sink": "Sink#1"}, id="a")
    peel = Use("Potato_peel", {"Potato": "Potato#2"}, id="a")
    with cooking(server, says(rinse), says(peel), says("ok"), says("ok"), scheme="flat") as session:
        session.tell("Go.")
    assert [call.status for call in session.calls] == ["succeeded"] * 2
    assert server.refused == []


def test_each_of_five_hundred_calls_of_one_reply_has_one_result_in_their_order() -> None:
    def add(a: int) -> int:
        return a + 1

    server = StandIn([says(*[Use("add", {"a": n}) for n in range(500)]), says("Done.")], key=KEY)
    with in_memory(server) as model:
        session = Session(Toolbox(add), model, scheme="flat", approve="all").tell("Add.")
    assert [call.result for call in session.calls] == list(range(1, 501))
    assert server.refused == []
    asked, told = server.asked[1].body["messages"][-2:]
    ids = [block["id"] for block in asked["content"]]
    assert ids == [block["tool_use_id"] for block in told["content"]]
    assert len(set(ids)) == 500


def test_fifty_turns_of_a_tool_of_ones_own_are_taken(server: StandIn) -> None:
    def add(a: int, b: int) -> int:
        return a + b

    turns = [says(Think(str(n)), Use("add", {"a": n, "b": 1})) for n in range(50)]
    server.turns += [*turns, says("fifty")]
    with a_claude(server) as model:
        session = Session(Toolbox(add), model, scheme="flat", approve="all").tell("Count.")
    assert [call.result for call in session.calls] == list(range(1, 51))
    assert server.refused == []
    assert not any(asked.dropped for asked in server.asked)


def test_results_that_were_given_out_of_order_make_a_request_that_the_api_takes(
    server: StandIn,
) -> None:
    three = says(
        Think("All at once."),
        Use("Potato_rinse", {"Potato": "Potato#1", "sink": "Sink#1"}, id="a"),
        Use("Potato_peel", {"Potato": "Potato#1"}, id="b"),
        Use("Potato_juggle", {"Potato": "Potato#1"}, id="c"),
    )
    with cooking(server, three, says("ok"), says("ok"), scheme="flat") as session:
        session.ask("Go.").step()
        session.tool_call_result("c", RuntimeError("dropped it"))
        session.tool_call_result("b", Potato(peeled=True))
        session.call_tool("a")
        session.run()
    assert server.refused == []
    results = [
        part for part in server.asked[1].body["messages"][-1]["content"] if "tool_use_id" in part
    ]
    assert [result["tool_use_id"] for result in results] == ["a", "b", "c"]
    assert "dropped it" in results[2]["content"]
    assert [call.object for call in session.calls] == ["Potato#3", "Potato#2", ""]


def test_a_question_beside_the_work_is_asked_with_requests_that_the_api_takes(
    server: StandIn,
) -> None:
    asked = (
        says(Think("Look."), Use("save", {"result": "a raw one"})),
        says("Off it comes.", Use("Potato_peel", {"Potato": "Potato#1"})),
        says(Use("save", {"result": "Potato#2"})),
    )
    plate = says(Use("save", {"fries": "Plate#1"}))
    with cooking(server, plate, *asked, scheme="flat") as session:
        session.tell("An empty plate will do.")
        assert session.query("Potato#1", "What is it?") == "a raw one"
        assert session.transform("Potato#1", "Peel it.") == Potato(peeled=True)
    assert server.refused == []
    due = [list(_save(each.body)["input_schema"]["properties"]) for each in server.asked]
    assert due == [["fries"], ["result"], ["result"], ["result"]]
    assert session.outputs == {"fries": Plate()}


def _save(body: Json) -> Json:
    """Return `save` as it was defined last: at the start, or in the conversation."""
    later = [
        block["tool"]["definition"]
        for turn in body["messages"]
        for block in turn["content"]
        if block["type"] == "tool_addition"
    ]
    return next(tool for tool in reversed([*body["tools"], *later]) if tool["name"] == "save")
