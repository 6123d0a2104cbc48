"""The schemes: what a model is offered, and what it is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.errors import NotYourTurn
from jupyter_toolcall.kitchen import FRIES, Oven, Plate, Potato, Sink, kitchen
from jupyter_toolcall.request import Results


def open_kitchen(script: Any = FRIES, **options: Any) -> Session:
    model = script if isinstance(script, Scripted) else Scripted(script)
    given: dict[str, Any] = {
        "inputs": {
            "potato": (Potato(), "The raw potato."),
            "sink": Sink(),
            "oven": Oven(),
            "plate": Plate(),
        },
        "outputs": {"fries": (Plate, "the fries on their plate")},
        "approve": "all",
        **options,
    }
    return Session(kitchen(), model, **given)


def told(session: Session) -> list[str]:
    messages = session.cursor.request.messages
    return [r.content for m in messages if isinstance(m, Results) for r in m.results]


def test_the_kitchen_makes_fries() -> None:
    session = open_kitchen().tell("Make fries")
    assert session.outputs == {"fries": Plate("fries: sticks")}
    assert session.deps("Plate#2", all=True)[:2] == ("Fries#1", "Plate#1")
    assert "Potato#1" in session.deps("Plate#2", all=True)
    assert session.text


def test_select_offers_what_was_selected_and_lists_what_has_an_object() -> None:
    session = open_kitchen().ask("go")
    request = session.cursor.request
    assert [tool.name for tool in request.tools] == ["selectTools", "save"]
    listed = request.tools[0].description
    assert "- Potato#1: The raw potato." in listed
    assert "- Oven_bake" in listed
    assert "- Fries_plate" not in listed
    session.step()
    session.step()
    request = session.cursor.request
    assert [tool.name for tool in request.tools][2:] == [
        *("Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake")
    ]
    assert [tool.name for tool in request.deferred] == ["Fries_plate"]
    assert told(session) == ["ok"]
    assert told(session.run())[4].endswith('"hint": "New tools to select: Fries_plate"}')


def test_select_names_what_it_does_not_know_and_selects_the_rest() -> None:
    session = open_kitchen([("selectTools", {"tools": ["Oven_bake", "Potato_peal"]}), "x"]).tell(
        "go"
    )
    assert told(session) == [
        "Selected: Oven_bake. There is no tool 'Potato_peal'. Did you mean Potato_peel?"
    ]


@pytest.mark.parametrize("arguments", [{}, {"tools": []}, {"tools": "x"}, {"tools": [1]}, {"a": 1}])
def test_select_says_what_it_takes(arguments: dict[str, Any]) -> None:
    session = open_kitchen([("selectTools", arguments), "x"]).tell("go")
    assert session.calls[0].status == "failed"
    assert "selectTools" in session.calls[0].error


def test_flat_offers_every_tool_and_names_the_objects_of_the_start() -> None:
    session = open_kitchen(scheme="flat").ask("go")
    assert len(session.cursor.request.tools) == 1 + len(kitchen())
    assert "- Potato#1: The raw potato." in session.cursor.request.system


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "fries: is missing; it must be a Plate"),
        ({"fries": "Potato#1"}, "fries: must be a Plate; Potato#1 is a Potato"),
        (
            {"fries": "Plate#9"},
            "fries: there is no object 'Plate#9'; objects of that type: Plate#1",
        ),
        ({"fries": 3}, "fries: must be the name of a Plate, such as Plate#1, not 3"),
        ({"fries": "Plate#1", "more": 1}, "more: there is no such output"),
    ],
)
def test_save_is_all_or_nothing_and_says_what_is_wrong(arguments: Any, said: str) -> None:
    session = open_kitchen([("save", arguments), "x"]).tell("go")
    assert session.outputs == {}
    assert said in session.calls[0].error
    assert session.calls[0].error.startswith("Nothing was saved.")


def test_save_checks_plain_values_exactly() -> None:
    outputs = {"n": int, "x": float, "s": str, "b": bool}
    good = {"n": 1, "x": 2, "s": "t", "b": True}
    for name, wrong in (("n", True), ("n", 1.5), ("x", "1"), ("s", 1), ("b", 1)):
        session = open_kitchen([("save", {**good, name: wrong}), "x"], outputs=outputs).tell("go")
        assert f"{name}: must be a" in session.calls[0].error
    assert open_kitchen([("save", good)], outputs=outputs).tell("go").outputs == good


def test_save_ends_the_run_and_is_due_again_after_the_next_prompt() -> None:
    script = [("save", {"fries": "Plate#1"}), "I stop.", ("save", {"fries": "Plate#1"})]
    session = open_kitchen(script).tell("go")
    assert session.state.done
    assert len(session.calls) == 1
    session.tell("again")
    assert [call.status for call in session.calls] == ["succeeded", "succeeded"]


def test_a_model_that_stops_without_save_is_reminded_once() -> None:
    session = open_kitchen(["I am done.", "Really."]).tell("go")
    users = [m.text for m in session.cursor.request.messages if hasattr(m, "text")]
    assert users[2] == "You have not called save yet. Outputs that are due: fries (Plate)."
    assert session.text == "Really."
    assert session.pending == ()


def test_the_tools_of_the_scheme_never_wait() -> None:
    script = [("selectTools", {"tools": ["Oven_bake"]}), ("save", {"fries": "Plate#1"})]
    session = open_kitchen(script, approve="none").tell("go")
    assert [call.status for call in session.calls] == ["succeeded", "succeeded"]


def test_a_result_is_json_that_names_objects() -> None:
    script = [("Potato_peel", {}), ("Potato_slice", {"Potato": "Potato#1", "shape": "STICKS"}), "x"]
    session = open_kitchen(script, scheme="flat").tell("go")
    assert [json.loads(text) for text in told(session)] == [
        {"result": "Potato#2"},
        {"error": "ValueError: peel the potato before you cut it"},
    ]


def test_a_long_result_is_cut_where_the_model_is_told() -> None:
    def long() -> str:
        return "x" * 300_000

    session = Session(
        Toolbox(long), Scripted([("long", {}), "x"]), scheme="flat", approve="all"
    ).tell("go")
    assert len(told(session)[0]) < 101_000
    assert len(session.calls[0].result) == 300_000


def test_a_session_reads_as_what_it_is() -> None:
    session = open_kitchen(name="lunch").tell("go")
    assert repr(session) == "<Session lunch: 8 calls, 9 objects>"
    assert str(session) == session.text
    assert session.branches == (session.head,)
    assert session.generate() is not None
    with pytest.raises(NotYourTurn):
        open_kitchen(approve="none").tell("go").ask("more")
