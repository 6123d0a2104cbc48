"""Whole sessions over chat completions, over real HTTP: each request is one that servers take."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Session, Toolbox, tool
from jupyter_toolcall.kitchen import Oven, Plate, Potato, Sink, kitchen
from jupyter_toolcall.models.openai import OpenAI
from jupyter_toolcall.models.retrying import Patience
from tests.example_tools import fries_session, make_fries_after_a_fault
from tests.standin.openai_api import MODEL, StandIn, a_model
from tests.standin.openai_turns import DIALECTS, Turn, Use, says

TOOLS = ["Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake", "Fries_plate"]


def spoken(tool: str, function: str, **arguments: str) -> str:
    given = "".join(f'<parameter name="{name}">{v}</parameter>' for name, v in arguments.items())
    call = f'<tool-call tool="{tool}" function="{function}">{given}</tool-call>'
    return f"<tool-calls>{call}</tool-calls>"


FLAT = (
    says("Rinse.", Use("Potato_rinse", {"Potato": "Potato#1", "sink": "Sink#1"}), thought="Hm."),
    says(Use("Potato_peel", {"Potato": "Potato#2"})),
    says("Zwei 🥔: cut.", Use("Potato_slice", {"Potato": "Potato#3", "shape": "STICKS"})),
    says(Use("Oven_bake", {"Oven": "Oven#1", "item": "Potato#4"})),
    says(Use("Fries_plate", {"Fries": "Fries#1", "plate": "Plate#1"})),
    says("On the plate.", Use("save", {"fries": "Plate#2"})),
)
COOKED: Mapping[str, tuple[Turn, ...]] = {
    "flat": FLAT,
    "select": (
        says("First the tools.", Use("selectTools", {"tools": TOOLS[:3]})),
        *FLAT[:3],
        says("And these.", Use("selectTools", {"tools": TOOLS[3:]})),
        *FLAT[3:],
    ),
    "current": (
        says(Use("_use_Potato", {"id": "Potato#1"})),
        says(Use("Potato_rinse", {"sink": "Sink#1"})),
        says(Use("Potato_peel", {})),
        says(Use("Potato_slice", {"shape": "STICKS"})),
        says(Use("_use_Oven", {"id": "Oven#1"}), Use("Oven_bake", {"item": "Potato#4"})),
        says(Use("Fries_plate", {"plate": "Plate#1"})),
        says("On the plate.", Use("save", {"fries": "Plate#2"})),
    ),
    "native": (
        says("First: ", spoken("Potato", "rinse", Potato="Potato#1", sink="Sink#1")),
        says(spoken("Potato", "peel", Potato="Potato#2")),
        says("Now I cut. ", spoken("Potato", "slice", shape="STICKS")),
        says(spoken("Oven", "bake", item="Potato#4")),
        says(spoken("Fries", "plate", plate="Plate#1")),
        says("On the plate. ", spoken("save", "save", fries="Plate#2")),
    ),
}


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as server:
        yield server


def given() -> dict[str, object]:
    return {"potato": Potato(), "sink": Sink(), "oven": Oven(), "plate": Plate()}


@contextmanager
def cooking(
    server: StandIn, *turns: Turn, scheme: str = "flat", **options: Any
) -> Iterator[Session]:
    server.turns += turns
    with a_model(server, **options) as model:
        yield fries_session(model, scheme)


def roles(server: StandIn) -> list[str]:
    return [message["role"] for message in server.asked[-1].body["messages"]]


@pytest.mark.parametrize("scheme", COOKED)
def test_the_kitchen_is_cooked_in_each_scheme_and_no_request_is_refused(
    server: StandIn, scheme: str
) -> None:
    with cooking(server, *COOKED[scheme], scheme=scheme) as session:
        session.tell("Make fries.")
    assert session.outputs["fries"] == Plate("fries: sticks")
    assert "On the plate." in str(session)
    assert {call.status for call in session.calls} == {"succeeded"}
    assert server.refused == []
    assert len(server.asked) == len(COOKED[scheme])
    assert roles(server)[:2] == ["system", "user"]
    assert [turn.body for turn in session.requests] == [heard.body for heard in server.asked]
    assert ("tools" in server.asked[0].body) == (scheme != "native")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_kitchen_is_cooked_whatever_the_server_speaks(server: StandIn, dialect: str) -> None:
    turns = [replace(turn, dialect=dialect) for turn in COOKED["select"]]
    with cooking(server, *turns, scheme="select") as session:
        session.tell("Make fries.")
    assert session.outputs["fries"] == Plate("fries: sticks")
    assert server.refused == []


def test_each_request_continues_from_the_last_one_and_new_tools_stand_behind(
    server: StandIn,
) -> None:
    with cooking(server, *COOKED["select"], scheme="select") as session:
        session.tell("Make fries.")
    bodies = [heard.body for heard in server.asked]
    for before, after in pairwise(bodies):
        assert after["messages"][: len(before["messages"])] == before["messages"]
        assert after["tools"][: len(before["tools"])] == before["tools"]
    names = [tool["function"]["name"] for tool in bodies[-1]["tools"]]
    assert names == ["save", "selectTools", *sorted(TOOLS[:3]), *sorted(TOOLS[3:])]


@pytest.mark.parametrize("turn", range(len(FLAT)))
@pytest.mark.parametrize(
    "fault",
    [
        {"status": 400},
        {"status": 503},
        {"cut": 300, "hard": True},
        {"cut": 300},
        {"breaks_after": 2},
        {"finish": None},
        {"raw": b"<html>Bad gateway</html>"},
    ],
    ids=str,
)
def test_after_a_fault_at_any_turn_running_again_continues(
    server: StandIn, turn: int, fault: dict[str, Any]
) -> None:
    broken = replace(FLAT[turn], **fault)
    with cooking(server, *FLAT[:turn], broken, *FLAT[turn:]) as session:
        make_fries_after_a_fault(session, turn)
    assert server.refused == []


def test_broken_unknown_and_refused_calls_are_told_and_the_session_continues(
    server: StandIn,
) -> None:
    wrong = says(
        Use("Potato_peel", raw='{"Potato": NaN}'),
        Use("Potato_juggle", {"Potato": "Potato#1"}),
        Use("Potato peel!", {"Potato": "Potato#1"}),
        Use("Potato_slice", {"Potato": "Potato#1", "shape": "CUBES"}),
        Use("Potato_peel", {"Potato": "Potato#99"}),
        Use("Potato_slice", {"Potato": "Potato#1", "shape": "STICKS"}),
    )
    with cooking(server, wrong, says("I give up."), says("Sorry.")) as session:
        session.tell("Make fries.")
    assert [call.status for call in session.calls] == ["failed"] * 6
    answers = [m for m in server.asked[1].body["messages"] if m["role"] == "tool"]
    assert [set(json.loads(answer["content"])) for answer in answers] == [{"error"}] * 6
    assert "NaN" in answers[0]["content"]
    assert server.refused == []


def test_arguments_that_are_no_json_are_asked_for_again_and_never_guessed(server: StandIn) -> None:
    almost = says("Peel.", Use("Potato_peel", raw='{"Potato": "Potato#1",}'))
    better = says("Sorry.", Use("Potato_peel", {"Potato": "Potato#1"}))
    with cooking(server, almost, better, says("Peeled."), says("Enough.")) as session:
        session.tell("Peel it.")
    first, second = session.calls
    assert (first.status, second.status) == ("failed", "succeeded")
    assert first.error is not None
    assert "not valid JSON" in first.error
    asked_again = server.asked[1].body["messages"]
    assert asked_again[-2]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert "not valid JSON" in asked_again[-1]["content"]
    assert session["Potato#2"] == Potato(peeled=True)
    assert server.refused == []


def test_an_edited_call_a_fork_and_a_replay_keep_a_history_that_servers_take(
    server: StandIn,
) -> None:
    with cooking(server, *FLAT) as session:
        session.tell("Make fries.")
        cut = next(call for call in session.calls if call.tool == "Potato_slice")
        edited = session.edit(cut.id, shape="SLICES").run()
        assert edited.outputs["fries"] == Plate("fries: slices")
        server.turns += [says("You had"), says("slices.")]
        edited.tell("What did I get?")
        told = server.asked[-2].body["messages"]
        forked = session.fork(cut.id)
        server.turns += [says("Left "), says("as it is.")]
        forked.run()
        asked = len(server.asked)
        assert session.replay().run().head == session.head
    assert str(edited) == "slices."
    note = next(m["content"] for m in told if m["role"] == "tool" and "SLICES" in m["content"])
    assert "STICKS" in json.dumps(told)
    assert "Potato#" in note
    assert len(server.asked) == asked
    assert server.refused == []


def test_a_kernel_that_comes_later_sends_the_same_bytes(server: StandIn, tmp_path: Path) -> None:
    with cooking(server, *COOKED["select"][:-1], scheme="select") as session:
        session.ask("Make fries.")
        while len(session.calls) < len(COOKED["select"]) - 1:
            session.step()
        session.save(tmp_path / "session.jsonl")
        sent = OpenAI(MODEL).body(session.cursor.request)
    again = Session.load(tmp_path / "session.jsonl", kitchen(), inputs=given())
    assert OpenAI(MODEL).body(again.cursor.request) == sent


def test_an_interrupt_while_the_server_is_waited_for_leaves_a_session_that_continues(
    server: StandIn,
) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    busy = says(status=503)
    with cooking(server, busy, *FLAT, patience=Patience(sleep=interrupted)) as session:
        session.ask("Make fries.")
        with pytest.raises(KeyboardInterrupt):
            session.run()
        assert session.calls == ()
        session.run()
    assert session.outputs["fries"] == Plate("fries: sticks")
    assert server.refused == []


def test_a_server_that_was_busy_is_told_of_in_the_session(server: StandIn) -> None:
    busy = says(status=503, message="Loading", headers=(("retry-after-ms", "1"),))
    patience = Patience(sleep=lambda seconds: None)
    with cooking(server, busy, *FLAT, patience=patience) as session:
        session.tell("Make fries.")
    assert [len(turn.attempts) for turn in session.requests] == [1, 0, 0, 0, 0, 0]
    assert "Loading" in session.requests[0].attempts[0].said
    assert session.requests[0].attempts[0].waited == 0.001


def test_ids_that_come_twice_or_not_at_all_are_told_apart_in_the_session(server: StandIn) -> None:
    twice = says(
        Use("Potato_peel", {"Potato": "Potato#1"}, id="a"),
        Use("Potato_peel", {"Potato": "Potato#1"}, id="a"),
        Use("Potato_peel", {"Potato": "Potato#1"}, id=""),
        Use("Potato_peel", {"Potato": "Potato#1"}, id="an id with blanks"),
        dialect="whole",
    )
    again = says(Use("Potato_peel", {"Potato": "Potato#1"}, id="a"))
    with cooking(server, twice, again, says("Peeled."), says("Enough.")) as session:
        session.tell("Peel it.")
    ids = [call.id for call in session.calls]
    assert len(set(ids)) == 5
    assert {call.status for call in session.calls} == {"succeeded"}
    told = server.asked[-1].body["messages"]
    assert [m["tool_call_id"] for m in told if m["role"] == "tool"] == ids
    assert server.refused == []


def test_a_reply_with_500_calls_is_answered_500_times_in_order(server: StandIn) -> None:
    done: list[int] = []

    @tool
    def note(number: int) -> int:
        """Keep a number."""
        done.append(number)
        return number

    many = says(*(Use("note", {"number": number}) for number in range(500)), piece=100)
    server.turns += [many, says("Kept.")]
    with a_model(server) as model:
        session = Session(Toolbox(note), model, scheme="flat", approve="all").tell("Count.")
    told = [m["content"] for m in server.asked[1].body["messages"] if m["role"] == "tool"]
    assert [json.loads(content)["result"] for content in told] == done == list(range(500))
    assert str(session) == "Kept."
    assert server.refused == []


def test_an_empty_reply_ends_the_turn_and_leaves_nothing_in_the_history(server: StandIn) -> None:
    server.turns += [says(""), says("Now.")]
    with a_model(server) as model:
        session = Session(Toolbox(), model, scheme="flat").tell("Go.")
        assert str(session) == "[The reply has no text: the model stopped without one.]"
        assert str(session.tell("And?")) == "Now."
    told = server.asked[-1].body["messages"]
    assert [message["role"] for message in told if message["role"] != "system"] == ["user"]
    assert told[-1]["content"] == "Go.\n\nAnd?"
    assert server.refused == []


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_calls_of_a_reply_that_was_cut_short_do_not_run(server: StandIn, finish: str) -> None:
    short = replace(FLAT[1], text="Peel.", finish=finish)
    server.turns += [short, says("Again."), says("Done.")]
    with cooking(server) as session:
        session.tell("Peel it.")
        assert session.calls == ()
        session.tell("Well?")
    assert "tool_calls" not in json.dumps(server.asked[-1].body["messages"])
    assert server.refused == []
