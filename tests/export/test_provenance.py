"""Why something is there: in words, and as the smallest code, which makes it again."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.kitchen import FRIES, Oven, Plate, Potato, Sink, kitchen
from tests.example_tools import fries_session
from tests.examples import examples
from tests.export.worlds import Plan, Sheet, Wall, new_folder, plain, plans, play, run

many = settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    phases=[Phase.generate],
)


def made_by(script: str) -> dict[str, Any]:
    path = new_folder() / "why.py"
    path.write_text(script)
    return run(path)


# -- laws -----------------------------------------------------------------------------------


@given(plans)
@many
def test_the_code_of_an_object_makes_that_object_and_nothing_it_does_without(plan: Plan) -> None:
    session = play(plan)
    for name in session.objects:
        why = session.why(name)
        variable = name.lower().replace("#", "_")
        assert plain(made_by(why.script)[variable]) == plain(session[name])
        for line in why.code.splitlines():
            to = line.partition(" = ")[0]
            needed = why.code.partition(f"{line}\n")[2]
            if re.fullmatch(r"\w+", to) and to != variable and not to.startswith("result"):
                assert re.search(rf"\b{to}\b", needed), (line, why.code)
    event(f"{len(session.objects) // 4 * 4} objects and more")


@given(plans)
@many
def test_what_an_object_came_of_is_what_goes_into_it_step_by_step(plan: Plan) -> None:
    session = play(plan)
    for name in session.objects:
        deps, users = session.deps(name, all=True), session.users(name, all=True)
        near = session.deps(name)
        assert set(deps) == {*near, *(far for each in near for far in session.deps(each, all=True))}
        assert deps[: len(near)] == near
        assert len(set(deps)) == len(deps)
        assert name not in deps
        assert set(deps).isdisjoint(users)
        assert all(name in session.users(each, all=True) for each in deps)
        assert all(name in session.users(each) for each in near)
        assert all(name in session.deps(each, all=True) for each in users)


@given(plans)
@many
def test_words_of_a_model_are_shown_and_are_no_markup(plan: Plan) -> None:
    session = play(plan)
    for name in (*session.objects, *(call.id for call in session.calls)):
        why = session.why(name)
        assert all(line.isprintable() for line in str(why).splitlines())
        for line in why._repr_markdown_().partition("```")[0].splitlines():
            bare = re.sub(r"^(- |\*\*(?=.*\*\*$)|You asked: )", "", line).removesuffix("**")
            assert re.fullmatch(r"(\\[!-/:-@\[-`{-~]|[^!-/:-@\[-`{-~])*", bare), line


# -- what is said ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def session() -> Session:
    given = {"potato": (Potato(), "of my own"), "sink": Sink(), "oven": Oven(), "plate": Plate()}
    return (
        fries_session(FRIES, inputs=given)
        .tell("Bake me some fries.")
        .edit("call_4", shape="SLICES")
        .run()
    )


def test_an_output_is_told_from_the_beginning_to_what_was_saved(session: Session) -> None:
    why = session.why("fries")
    assert str(why) == (
        """\
fries is Plate#2. Plate#2: a Plate, saved as fries
  Potato#1 was there at the start, as potato: of my own
  Sink#1 was there at the start, as sink
  Oven#1 was there at the start, as oven
  Plate#1 was there at the start, as plate
You asked: Bake me some fries.
  2 Potato_rinse(Potato='Potato#1', sink='Sink#1') made Potato#2; asked by scripted:kitchen in \
turn 2, allowed by the policy
  3 Potato_peel(Potato='Potato#2') made Potato#3; asked by scripted:kitchen in turn 3, allowed by \
the policy
  4 Potato_slice(Potato='Potato#3', shape='SLICES') made Potato#4; asked by scripted:kitchen in \
turn 4, changed by you from shape='STICKS'
  5 Oven_bake(Oven='Oven#1', item='Potato#4') made Fries#1; asked by scripted:kitchen in turn 5, \
allowed by the policy
  7 Fries_plate(Fries='Fries#1', plate='Plate#1') made Plate#2; asked by scripted:kitchen in \
turn 7, allowed by the policy
  8 save handed it over as fries; asked by scripted:kitchen in turn 8

potato_1 = Potato()  # of my own
sink_1 = Sink()
oven_1 = Oven()
plate_1 = Plate()
potato_2 = potato_1.rinse(sink=sink_1)
potato_3 = potato_2.peel()
# 4 You changed this call: shape was 'STICKS'
potato_4 = potato_3.slice(shape="SLICES")
fries_1 = oven_1.bake(item=potato_4)
plate_2 = fries_1.plate(plate=plate_1)"""
    )
    assert repr(why) == str(why)


def test_a_call_is_told_by_its_id_or_as_itself_whatever_came_of_it() -> None:
    said = Scripted([("Potato_slice", {"shape": "SLICES"}), ("Potato_peel", {}), "Done."])
    session = Session(kitchen(), said, scheme="flat", inputs={"potato": Potato()}).tell("Slice.")
    session.decide("call_1").run().decide("call_2", "reject", reason="I like the skin").run()
    failed = str(session.why("call_1"))
    assert "1 Potato_slice(Potato='Potato#1', shape='SLICES') failed: ValueError: peel" in failed
    assert "in turn 1, approved by you" in failed
    assert str(session.why(session.calls[1])).splitlines()[0] == (
        "call_2: 2 Potato_peel() was rejected: I like the skin"
    )


def test_an_instance_brings_all_that_it_went_on_with() -> None:
    hung = [("Wall_hang", {"sheet": "Sheet#1"}), ("Wall_hang", {"sheet": "Sheet#2"})]
    script = Scripted([*hung, ("Sheet_turned", {"Sheet": "Sheet#1"}), ("Wall_last", {}), "Done."])
    inputs = {"one": Sheet(marks=["one"]), "two": Sheet(marks=["two"])}
    box = Toolbox(Sheet, Wall())
    session = Session(box, script, scheme="flat", approve="all", inputs=inputs).tell("Hang them.")
    why = session.why(session.objects[-1])
    assert "Wall was there at the start, with a state of its own" in str(why)
    assert "wall.hang(" in why.code
    assert why.code.count("wall.hang(") == 2
    assert "turned" not in why.code
    assert made_by(why.script)[f"sheet_{len(session.objects)}"].marks == ["two"]


def test_the_code_runs_in_the_notebook_where_what_its_tools_are_is_at_hand() -> None:
    script = Scripted([("Wall_hang", {"sheet": "Sheet#1"}), ("Wall_last", {}), "Done."])
    given = {"one": Sheet(marks=["one"])}
    session = Session(Toolbox(Sheet, Wall()), script, scheme="flat", approve="all", inputs=given)
    why = session.tell("Hang it.").why("call_1")
    assert "deepcopy(" in why.code
    exec(why.code, {"Wall": Wall, "Sheet": Sheet, "wall": Wall(), **given})


def test_a_type_has_its_article() -> None:
    session = Session(kitchen(), Scripted([]), inputs={"oven": Oven(), "plate": Plate()})
    assert str(session.why("Oven#1")).startswith("Oven#1: an Oven")
    assert str(session.why("Plate#1")).startswith("Plate#1: a Plate")


def test_prompts_stand_above_the_calls_that_they_led_to() -> None:
    script = Scripted([("Potato_peel", {}), "Done.", ("Potato_slice", {"shape": "STICKS"})])
    session = Session(kitchen(), script, scheme="flat", approve="all", inputs={"p": Potato()})
    session.tell("Peel it.").tell("Slice it.\nIn sticks.")
    lines = str(session.why("Potato#3")).splitlines()
    asked = ["You asked: Peel it.", "You asked: Slice it.", "  In sticks."]
    assert lines[2:3] + lines[4:6] == asked
    assert session.why("Potato#3")._repr_markdown_().count("You asked: ") == 2


def test_a_value_that_a_model_wrote_down_is_its_own_word() -> None:
    script = Scripted([("Potato_peel", {}), ("save", {"verdict": 'good "so"', "size": 3})])
    options: dict[str, Any] = {"inputs": {"p": Potato()}, "outputs": {"verdict": str, "size": int}}
    why = fries_session(script, "flat", **options).tell("Judge it.").why("verdict")
    first = str(why).splitlines()[0]
    assert first == "verdict is 'good \"so\"': a value that the model wrote down itself"
    assert "2 save handed it over as verdict" in str(why)
    assert made_by(why.script)["verdict"] == 'good "so"'


def test_a_person_in_the_models_place_and_a_program_are_told() -> None:
    session = Session(kitchen(), "person", scheme="flat", inputs={"p": Potato()}).ask("Peel it.")
    session.reply("", ("Potato_peel", {})).run()
    session.tool_call_result("call_1", Potato(peeled=True))
    assert "asked by you, in the model's place in turn 1, answered by your program" in str(
        session.why("Potato#2")
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("potato#2", "nothing is called 'potato#2' here. Did you mean Potato#2?"),
        ("frise", "nothing is called 'frise' here. Did you mean fries?"),
        ("cal_4", "nothing is called 'cal_4' here. Did you mean call_4?"),
        ("x\ny", "nothing is called 'x\\ny' here. There are Plate#2, Fries#1, Potato#4, "),
    ],
)
def test_a_name_that_there_is_not_is_told_in_one_line_with_the_nearest(
    session: Session, name: str, said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        session.why(name)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("which", ["deps", "users"])
def test_an_unknown_name_is_reported_with_the_nearest(session: Session, which: str) -> None:
    nearest = r"^there is no object 'potato#2'. Did you mean Potato#2\?$"
    with pytest.raises(UsageError, match=nearest):
        getattr(session, which)("potato#2")
    with pytest.raises(UsageError, match=r"^there is no object 'x'. There are .*Plate#2$"):
        getattr(session, which)("x", all=True)
