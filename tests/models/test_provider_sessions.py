"""Whole sessions on Claude and on OpenAI: each request is one that the API takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from jupyter_toolcall import Session
from jupyter_toolcall.kitchen import Oven, Plate, Potato, Sink
from tests.example_tools import fries_session, make_fries_after_a_fault
from tests.standin.model_api import StandIn
from tests.standin.turns import Think, Turn, Use, says

TOOLS = ["Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake", "Fries_plate"]


def spoken(tool: str, function: str, **arguments: str) -> str:
    given = "".join(f'<parameter name="{name}">{v}</parameter>' for name, v in arguments.items())
    call = f'<tool-call tool="{tool}" function="{function}">{given}</tool-call>'
    return f"<tool-calls>{call}</tool-calls>"


RINSE = Use("Potato_rinse", {"Potato": "Potato#1", "sink": "Sink#1"})
FLAT = (
    says(Think("Hm."), "Rinse.", RINSE),
    says(Think("Peel."), Use("Potato_peel", {"Potato": "Potato#2"})),
    says("Zwei 🥔: cut.", Use("Potato_slice", {"Potato": "Potato#3", "shape": "STICKS"})),
    says(Think("Bake."), Use("Oven_bake", {"Oven": "Oven#1", "item": "Potato#4"})),
    says(Use("Fries_plate", {"Fries": "Fries#1", "plate": "Plate#1"})),
    says("On the plate.", Use("save", {"fries": "Plate#2"})),
)
COOKED: Mapping[str, tuple[Turn, ...]] = {
    "flat": FLAT,
    "select": (
        says(Think("Which?"), "First the tools.", Use("selectTools", {"tools": TOOLS[:3]})),
        *FLAT[:3],
        says("And these.", Use("selectTools", {"tools": TOOLS[3:]})),
        *FLAT[3:],
    ),
    "current": (
        says(Use("_use_Potato", {"id": "Potato#1"})),
        says(Use("Potato_rinse", {"sink": "Sink#1"})),
        says(Think("Peel."), Use("Potato_peel", {})),
        says(Use("Potato_slice", {"shape": "STICKS"})),
        says(Use("_use_Oven", {"id": "Oven#1"}), Use("Oven_bake", {"item": "Potato#4"})),
        says(Use("Fries_plate", {"plate": "Plate#1"})),
        says("On the plate.", Use("save", {"fries": "Plate#2"})),
    ),
    "native": (
        says(Think("Hm."), "First: ", spoken("Potato", "rinse", Potato="Potato#1", sink="Sink#1")),
        says(Think("Peel."), spoken("Potato", "peel", Potato="Potato#2")),
        says("Now I cut. ", spoken("Potato", "slice", shape="STICKS")),
        says(spoken("Oven", "bake", item="Potato#4")),
        says(spoken("Fries", "plate", plate="Plate#1")),
        says("On the plate. ", spoken("save", "save", fries="Plate#2")),
    ),
}


def given() -> dict[str, object]:
    return {"potato": Potato(), "sink": Sink(), "oven": Oven(), "plate": Plate()}


@contextmanager
def cooking(api: StandIn, *turns: Turn, scheme: str = "flat", **options: Any) -> Iterator[Session]:
    """Give a session that is to make fries; no request of it may be refused."""
    api.turns += turns
    with api.model(**options) as model:
        yield fries_session(model, scheme)
    assert api.refused == []


@pytest.mark.parametrize("scheme", COOKED)
def test_the_kitchen_is_cooked_in_each_scheme(server: StandIn, scheme: str) -> None:
    with cooking(server, *COOKED[scheme], scheme=scheme) as session:
        session.tell("Make fries.")
        assert [turn.body for turn in session.requests] == server.bodies
    assert session.outputs["fries"] == Plate("fries: sticks")
    assert str(session).startswith("On the plate.")
    assert {call.status for call in session.calls} == {"succeeded"}
    assert len(server.asked) == len(COOKED[scheme])
    assert [asked.dropped for asked in server.asked] == [()] * len(COOKED[scheme])
    assert ("tools" in server.bodies[0]) == (scheme != "native")


@pytest.mark.parametrize("fault", [{"cut": 300}, {"status": 529}, {"stop": "tired"}], ids=str)
@pytest.mark.parametrize("turn", range(len(FLAT)))
def test_after_a_fault_at_any_turn_nothing_of_it_ran_and_running_again_continues(
    api: StandIn, fault: dict[str, Any], turn: int
) -> None:
    broken = replace(FLAT[turn], **fault)
    with cooking(api, *FLAT[:turn], broken, *FLAT[turn:]) as session:
        make_fries_after_a_fault(session, turn)
    assert [call.status for call in session.calls] == ["succeeded"] * len(FLAT)
    ids = [call.id for call in session.calls[:-1]]
    assert api.call_ids() == [result.call for result in api.results()] == ids


def test_broken_unknown_and_refused_calls_are_told_and_the_session_continues(api: StandIn) -> None:
    wrong = says(
        Think("Hm."),
        Use("Potato_peel", raw='{"Potato": NaN}'),
        Use("Potato_peel", raw='{"Potato": "Potato#1",}'),
        # No API takes such a name back.
        Use("juggle it!", {"Potato": "Potato#1"}),
        Use("Potato_slice", {"Potato": "Potato#1", "shape": "CUBES"}),
        Use("Potato_peel", {"Potato": "Potato#99"}),
        Use("Potato_slice", {"Potato": "Potato#1", "shape": "STICKS"}),
    )
    with cooking(api, wrong, says("Sorry.", RINSE), says("I give up."), says("So.")) as session:
        session.tell("Make fries.")
    assert [call.status for call in session.calls] == [*["failed"] * 6, "succeeded"]
    results = api.results(1)
    assert [result.error for result in results] == [True] * 6
    assert "NaN" in results[0].text
    assert "not valid JSON" in results[1].text


def test_an_edited_call_a_fork_and_a_replay_keep_a_history_that_the_api_takes(api: StandIn) -> None:
    with cooking(api, *FLAT) as session:
        session.tell("Make fries.")
        cut = next(call for call in session.calls if call.tool == "Potato_slice")
        edited = session.edit(cut.id, shape="SLICES").run()
        api.turns += [says("You had"), says("slices.")]
        edited.tell("What did I get?")
        history = json.dumps(api.asked[-2].body["messages"])
        # What Claude thought is bound to the call that was edited.
        is_dropped = bool(api.asked[-2].dropped)
        api.turns += [says("Left "), says("as it is.")]
        forked = session.fork(cut.id).run()
        asked = len(api.asked)
        assert session.replay().run().head == session.head
    assert edited.outputs["fries"] == Plate("fries: slices")
    assert str(edited) == "slices."
    assert all(shape in history for shape in ("SLICES", "STICKS"))
    assert is_dropped == (api.name == "anthropic")
    assert [each.dropped for each in api.asked[-2:]] == [(), ()]
    assert len(forked.calls) < len(session.calls)
    assert session.outputs["fries"] == Plate("fries: sticks")
    assert len(api.asked) == asked


def test_a_question_beside_the_work_is_asked_with_requests_that_the_api_takes(api: StandIn) -> None:
    turns = (
        says(Use("save", {"fries": "Plate#1"})),
        says(Think("Look."), Use("save", {"result": "a raw one"})),
        says("Off it comes.", Use("Potato_peel", {"Potato": "Potato#1"})),
        says(Use("save", {"result": "Potato#2"})),
    )
    with cooking(api, *turns) as session:
        session.tell("An empty plate will do.")
        assert session.query("Potato#1", "What is it?") == "a raw one"
        assert session.transform("Potato#1", "Peel it.") == Potato(peeled=True)
    saves = [api.sent_tools(number)["save"]["parameters"] for number in range(4)]
    due = [list(parameters["properties"]) for parameters in saves]
    assert due == [["fries"], ["result"], ["result"], ["result"]]
    assert session.outputs == {"fries": Plate()}


@pytest.mark.parametrize("stop", ["length", "refused"])
def test_a_person_is_told_which_calls_were_lost(api: StandIn, stop: str) -> None:
    lost = [Use("Potato_peel", {"Potato": "Potato#1"}), Use("Potato_peel", raw='{"Potato": "b')]
    turns = says("I peel", *lost, stop=stop), says("Again."), says("Done.")
    with cooking(api, *turns) as session:
        session.tell("Peel it.")
        assert session.calls == ()
        assert str(session).startswith("I peel")
        if stop == "length" or api.name == "anthropic":
            assert "Its calls did not run: Potato_peel, Potato_peel.]" in str(session)
        api.turns[:] = [says(RINSE), says("Done."), says("So.")]
        assert [call.status for call in session.tell("Go on.").calls] == ["succeeded"]
    assert api.call_ids(1) == []
