"""The exported script: run where nothing of ours is, it makes the objects that the session made."""

from __future__ import annotations

import io
import tokenize
from array import array
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import shorten
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, event, given, settings

from jupyter_toolcall import Scripted, Session, Toolbox, from_definition
from jupyter_toolcall.kitchen import FRIES
from tests.example_tools import fries_session
from tests.examples import examples
from tests.export.worlds import (
    Brush,
    Plan,
    Sheet,
    Wall,
    bare,
    exported,
    made_alike,
    plain,
    plans,
    play,
    run,
)

many = settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)


def code(path: Path) -> str:
    """A script without its comments and definitions."""
    return path.read_text().partition("-- What the session began with ")[2].partition("\n")[2]


# -- laws -----------------------------------------------------------------------------------


@given(plans)
@many
def test_running_the_script_makes_equal_objects(plan: Plan) -> None:
    session = play(plan)
    path = exported(session)
    assert "FILL IN" not in path.read_text()
    event(f"{made_alike(session, run(path)) // 4 * 4} objects and more")


def harmless(plan: Plan) -> Plan:
    """The same plan in plain words."""
    known: dict[str, str] = {}

    def word(text: str) -> str:
        return known.setdefault(text, f"word {len(known)}")

    def calm(part: Any, key: str = "") -> Any:
        match part:
            case str() if key in ("text", "why", "label", "notes", "more"):
                return word(part)
            case list():
                return [calm(each, key) for each in part]
            case dict():
                return {name: calm(each, name) for name, each in part.items()}
            case tuple():
                return tuple(calm(each) for each in part)
        return part

    turns = tuple(word(turn) if isinstance(turn, str) else calm(turn) for turn in plan.turns)
    return replace(plan, turns=turns, words=word(plan.words))


@given(plans)
@many
def test_hostile_words_change_nothing_but_literals_and_comments(plan: Plan) -> None:
    text = exported(play(plan)).read_text()
    assert bare(text) == bare(exported(play(harmless(plan))).read_text())
    assert all(line.isprintable() for line in text.splitlines())
    kinds = [token.type for token in tokenize.generate_tokens(io.StringIO(text).readline)]
    assert tokenize.ERRORTOKEN not in kinds


def test_a_file_is_one_statement_a_call_in_order() -> None:
    session = fries_session(FRIES).tell("Bake me some fries from Potato#1.")
    path = exported(session)
    assert plain(run(path)["fries"]) == plain(session.outputs["fries"])
    lines = [line for line in code(path).splitlines() if line and not line.startswith("#")]
    assert lines == [
        *("potato_1 = Potato()", "sink_1 = Sink()", "oven_1 = Oven()", "plate_1 = Plate()"),
        *("potato_2 = potato_1.rinse(sink=sink_1)", "potato_3 = potato_2.peel()"),
        'potato_4 = potato_3.slice(shape="STICKS")',
        "fries_1 = oven_1.bake(item=potato_4)",
        "plate_2 = fries_1.plate(plate=plate_1)",
        "fries = plate_2",
    ]
    assert "# You: Bake me some fries from Potato#1." in path.read_text()
    assert "# Model: It is clean and peeled, so it can be cut now." in path.read_text()


# -- what ran, and what did not ----------------------------------------------------------------


def painted(*script: Any, tools: Any = (), **options: Any) -> Session:
    box = Toolbox(Sheet, Brush, *tools)
    given = {"inputs": {"paper": Sheet()}, "scheme": "flat", "approve": "all", **options}
    return Session(box, Scripted(script), **given).tell("Paint.")


def test_a_call_that_was_edited_stands_as_it_ran_and_says_what_was_asked_for() -> None:
    session = painted(("Sheet_draw", {"text": "a house"}), approve="none")
    tree = {"Sheet": "Sheet#1", "text": "a tree"}
    session.decide("call_1", "edit", arguments=tree, reason="x\ny")
    text = code(exported(session.run()))
    assert 'sheet_2.draw(text="a tree")' in text
    assert "# 1 You changed this call: text was 'a house' (x\\u000ay)" in text


def test_what_failed_was_rejected_or_waits_is_a_comment() -> None:
    session = painted(*(("Sheet_draw", {"text": text}) for text in (1, "b", "c")), approve="none")
    text = code(exported(session.decide(session.pending[0], "reject", reason="not now").run()))
    assert "# 1 Sheet_draw(text=1) failed: " in text
    assert "# 2 Sheet_draw(text='b') was rejected: not now" in text
    assert "# 3 Sheet_draw(text='c') has no result yet" in text
    assert "draw(" not in text.replace("Sheet_draw(", "")


def test_what_a_person_answered_is_there_as_data() -> None:
    session = painted(("Sheet_turned", {}), ("Sheet_draw", {"text": "on it"}), approve="none")
    session.decide("call_1", "answer", result=Sheet(marks=["mine"])).run()
    session.decide("call_2").run()
    path = exported(session)
    assert "# 1 Sheet_turned() does not run here: you gave its result." in path.read_text()
    assert 'sheet_2 = Sheet(marks=["mine"])' in path.read_text()
    assert run(path)["sheet_3"].marks == ["mine", "on it"]


def test_a_call_of_a_tool_that_is_gone_is_there_as_data(tmp_path: Path) -> None:
    session = painted(("send", {"to": "Ann", "language": "en"}), tools=[send])
    session.save(tmp_path / "s.jsonl")
    again = Session.load(tmp_path / "s.jsonl", Toolbox(Sheet, Brush), inputs={"paper": Sheet()})
    assert "it is a tool that is not here, send.\nresult_1 = " in code(exported(again))


def test_what_no_literal_says_is_a_marked_line_that_says_what_it_was() -> None:
    row = array("i", [1, 2])
    session = painted(("use", {"row": "array#1"}), tools=[use], inputs={"row": row})
    path = exported(session)
    text = path.read_text()
    said = " ".join(text.replace("\n#", "").split())
    assert "FILL IN: array#1 was an array, array('i', [1, 2]); it" in said
    assert "\narray_1 = _fill_in(" in text
    with pytest.raises(NotImplementedError) as raised:
        run(path)
    assert str(raised.value) == (
        "array#1, the input row, is not in this script: it is an array; "
        "write the value in place of this _fill_in(...)"
    )
    assert "# Before it runs, write 1 value at the mark FILL IN." in text
    assert "\nresult_1 = use(row=deepcopy(array_1))  # 3\n" in text


def use(row: array) -> int:  # type: ignore[type-arg]
    """Add up a row."""
    return sum(row)


def test_saved_records_are_made_of_their_classes() -> None:
    outputs = {"brush": Brush, "more": list[Brush], "plain": dict[str, int]}
    brush = {"colour": "dark blue", "width": 2}
    model = Scripted([("save", {"brush": brush, "more": [brush, {}], "plain": {"a": 1}})])
    session = Session(Toolbox(), model, scheme="flat", outputs=outputs).tell("Make them.")
    path = exported(session)
    assert "brush = Brush(colour=Colour.DARK_BLUE, width=2.0)" in path.read_text()
    made = run(path)
    assert plain(made["brush"]) == plain(session.outputs["brush"])
    assert plain(made["more"]) == plain(session.outputs["more"])
    assert made["plain"] == {"a": 1}


def test_a_request_to_a_person_or_a_server_is_said_to_be_no_python() -> None:
    takes = {"city": {"type": "string"}}
    function = {"name": "book", "description": "Books a room.", "parameters": takes}
    book = from_definition({"tool": {"function": function}})
    session = Session(Toolbox(book), Scripted([("book", {"city": "Bronx"})]), scheme="flat")
    session.tell("A room.").decide("call_1", "answer", result={"room": 5})
    path = exported(session)
    assert "# 1 book(city='Bronx') does not run here: you gave its result." in path.read_text()
    assert run(path)["result_1"] == {"room": 5}
    # One that is too long for a script is to be filled in.
    session = Session(Toolbox(book), Scripted([("book", {"city": "Bronx"})]), scheme="flat")
    session.tell("A room.").decide("call_1", "answer", result="x" * 90_000)
    assert "write it here" in exported(session).read_text()


def test_a_definition_with_an_action_is_a_call_of_its_function() -> None:
    takes = {"to": {"type": "string"}}
    made = {"function": {"name": "send_letter", "description": "Sends.", "parameters": takes}}
    defaults = {"language": "@override {vars.language}"}
    letter = from_definition(
        {"tool": made, "defaults": defaults}, variables={"language": "de"}, action=send
    )
    session = painted(("send_letter", {"to": "Ann"}), tools=[letter])
    assert 'result_1 = send(to="Ann", language="de")' in code(exported(session))


def send(to: str, language: str) -> str:
    return f"{to} {language}"


def test_library_functions_are_imported() -> None:
    cut = cast(Any, shorten)
    cut.__annotations__ = {"text": str, "width": int, "kwargs": Any}
    try:
        session = painted(("shorten", {"text": "a b c d e f", "width": 7}), tools=[cut])
    finally:
        cut.__annotations__ = {}
    path = exported(session)
    assert "from textwrap import shorten\n" in path.read_text()
    assert 'result_1 = shorten(text="a b c d e f", width=7)' in code(path)
    assert run(path)["result_1"] == session.calls[0].result


def squares(n: int) -> Iterator[int]:
    """Yield squares."""
    yield from (k * k for k in range(n))


async def later(n: int) -> AsyncIterator[int]:
    """Yield squares, one after the other."""
    for square in squares(n):
        yield square


def test_a_generator_runs_in_the_script() -> None:
    calls = (("squares", {"n": 3}), ("later", {"n": 3}))
    made = run(exported(painted(*calls, tools=[squares, later])))
    assert made["result_1"] == made["result_2"] == [0, 1, 4]


def test_a_session_of_what_never_changes_copies_nothing() -> None:
    session = painted(("Brush_wider", {}), inputs={"brush": Brush()})
    assert "deepcopy" not in exported(session).read_text()


def test_an_instance_goes_on_with_its_state_and_begins_as_it_was() -> None:
    wall = Wall()
    wall.hang(Sheet(marks=["before"]))
    session = painted(
        ("Wall_hang", {"sheet": "Sheet#1"}), ("Wall_last", {}), ("Wall_wipe", {}), tools=[wall]
    )
    made = run(exported(session))
    made_alike(session, made)
    assert len(made["wall"].hung) == 2
    assert len(wall.hung) == 1


@pytest.mark.parametrize("name", ["class", "my picture", "é", "deepcopy"])
def test_outputs_stand_at_the_end_under_their_names(name: str) -> None:
    session = painted(("save", {name: "Sheet#1"}), outputs={name: Sheet})
    made = run(exported(session))
    variable = name if name.isidentifier() and name != "class" else "output_1"
    assert plain(made[variable]) == plain(session["Sheet#1"])


def test_names_of_the_script_never_clash() -> None:
    session = painted(("sheet_2", {}), ("Sheet_turned", {}), tools=[sheet_2])
    path = exported(session)
    assert plain(run(path)["sheet_2_"]) == plain(session["Sheet#2"])


def sheet_2() -> Sheet:
    """Make a sheet."""
    return Sheet(marks=["two"])
