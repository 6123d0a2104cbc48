"""Scheme `select`, sentence by sentence of what it promises: tools are picked, then called."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.kitchen import Oven, Plate, Potato, Sink, kitchen
from jupyter_toolcall.schemes.messages import User
from jupyter_toolcall.schemes.select import shortened
from tests.example_tools import names, results

COURSE: Sequence[Any] = (
    ("selectTools", {"tools": ["Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake"]}),
    ("Potato_rinse", {"Potato": "Potato#1", "sink": "Sink#1"}),
    ("Potato_peel", {"Potato": "Potato#2"}),
    ("Potato_slice", {"Potato": "Potato#3", "shape": "STICKS"}),
    ("Oven_bake", {"Oven": "Oven#1", "item": "Potato#4"}),
    ("selectTools", {"tools": ["Fries_plate"]}),
    ("Fries_plate", {"Fries": "Fries#1", "plate": "Plate#1"}),
    ("save", {"fries": "Plate#2"}),
)
"""What the model says in the course of the specification, call by call."""


def cook(script: Sequence[Any], toolbox: Toolbox | None = None, **options: Any) -> Session:
    given: dict[str, Any] = {
        "inputs": {
            "oven": (Oven(), "An oven that is warm."),
            "potato": (Potato(), "The potato."),
            "sink": Sink(),
            "plate": Plate(),
        },
        "outputs": {"fries": (Plate, "Fries, on a plate.")},
        "approve": "all",
        **options,
    }
    return Session(toolbox or kitchen(), Scripted(script), **given)


def told(session: Session) -> list[str]:
    return [result.content for result in results(session)]


def listing(session: Session) -> str:
    """What `selectTools` says of itself now."""
    return session.cursor.request.tools[0].description


def section(session: Session, title: str) -> list[str]:
    """The names that are listed under a title."""
    lines = listing(session).partition(f"\n{title}:\n")[2].partition("\n\n")[0].splitlines()
    return [line.removeprefix("- ") for line in lines]


# -- the course ----------------------------------------------------------------------------


def test_the_whole_course_is_answered_as_it_is_written() -> None:
    session = cook(COURSE).tell("Make me some fries.")
    answers: list[Any] = [text if text == "ok" else json.loads(text) for text in told(session)]
    assert answers[:4] == ["ok", *({"result": f"Potato#{n}"} for n in (2, 3, 4))]
    assert answers[4]["result"] == "Fries#1"
    assert answers[5:7] == ["ok", {"result": "Plate#2"}]
    assert session.outputs == {"fries": Plate("fries: sticks")}
    assert session.deps("Plate#2", all=True) == (
        *("Fries#1", "Plate#1", "Oven#1", "Potato#4", "Potato#3", "Potato#2", "Potato#1"),
        "Sink#1",
    )


def test_a_tool_that_was_not_listed_yet_can_be_selected_if_there_is_one() -> None:
    session = cook([("selectTools", {"tools": ["Fries_plate"]})]).ask("go").step()
    assert "Fries_plate" not in section(session, "Tools")
    assert told(session.step()) == ["ok"]
    assert "Fries_plate" in names(session)


# -- selectTools tells of the objects and of the tools ------------------------------------------


def test_select_tools_lists_objects_with_what_they_are_and_tools_by_name_alone() -> None:
    session = cook([]).ask("go")
    objects = ["Oven#1: An oven that is warm.", "Potato#1: The potato.", "Sink#1", "Plate#1"]
    assert section(session, "Objects") == objects
    of_these = ["Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake"]
    assert section(session, "Tools") == of_these


def test_an_object_that_was_made_is_described_by_what_made_it() -> None:
    assert section(cook(COURSE[:5]).tell("go"), "Objects")[4:] == [
        "Potato#2: Potato#1.rinse(sink: Sink#1)",
        "Potato#3: Potato#2.peel()",
        'Potato#4: Potato#3.slice(shape: "STICKS")',
        "Fries#1: Oven#1.bake(item: Potato#4)",
    ]


def test_what_a_person_gave_in_place_of_a_result_is_described_as_that() -> None:
    session = cook(COURSE[:2], approve="none").tell("go")
    session.decide(session.pending[0], "answer", result=Potato(rinsed=True)).run()
    assert section(session, "Objects")[4] == (
        "Potato#2: given by a person for Potato#1.rinse(sink: Sink#1)"
    )


def test_only_the_newest_of_many_made_objects_are_listed_and_the_others_stay_usable() -> None:
    script = [("selectTools", {"tools": ["Potato_peel"]})] + [("Potato_peel", {})] * 12
    session = cook([*script, ("Potato_peel", {"Potato": "Potato#3"})]).tell("go")
    made = [line.partition(":")[0] for line in section(session, "Objects")[4:]]
    assert made == [*(f"Potato#{n}" for n in range(7, 15)), "and older ones"]
    assert session.deps("Potato#14") == ("Potato#3",)


def test_the_tools_of_a_type_are_listed_when_there_is_an_object_of_it_and_the_model_is_told() -> (
    None
):
    session = cook(COURSE[:5]).tell("go")
    assert section(session, "Tools")[-1] == "Fries_plate"
    hint = "New tools to select: Fries_plate"
    assert json.loads(told(session)[4]) == {"result": "Fries#1", "hint": hint}


def test_the_model_is_told_nothing_new_of_tools_that_it_has() -> None:
    select = ("selectTools", {"tools": ["Fries_plate"]})
    assert told(cook([select, *COURSE[:5]]).tell("go"))[5] == '{"result": "Fries#1"}'


def functions(names: Sequence[str]) -> Toolbox:
    """Return a toolbox of plain functions that do nothing, and say so at length."""

    def named(name: str) -> Any:
        def function(x: int) -> int:
            return x

        function.__name__, function.__doc__ = name, "A sentence about it. " * 20
        return function

    return Toolbox(*map(named, names))


def test_plain_functions_are_always_listed_and_cost_their_names_alone() -> None:
    listed = [f"function_{number}" for number in range(482)]
    session = cook([], functions(listed), inputs={}, outputs={}).ask("go")
    assert names(session) == ["selectTools"]
    assert sorted(section(session, "Tools")) == sorted(listed)
    assert len(listing(session)) < 482 * len("- function_123\n") + 200
    assert "Objects:" not in listing(session)


@pytest.fixture(scope="module")
def many() -> Toolbox:
    """Return a toolbox of 2,000 functions: forty verbs, and fifty nouns."""
    return functions([f"verb{v:02}_the_noun_{n:02}" for n in range(50) for v in range(40)])


def test_a_list_of_thousands_of_names_is_shortened_to_patterns(many: Toolbox) -> None:
    script: list[Any] = [("selectTools", {"tools": ["verb07*", "verb12_the_noun_03"]})]
    script.append(("verb12_the_noun_03", {"x": 1}))
    session = cook(script, many, inputs={}, outputs={}).tell("go")
    assert section(session, "Tools")[:2] == ["verb00* (50 tools)", "verb01* (50 tools)"]
    assert len(section(session, "Tools")) == 41
    assert listing(session).endswith("such as NAME*, call selectTools with it.")
    head, _, names = told(session)[0].partition("\nverb07*: ")
    assert head == "Selected: verb12_the_noun_03."
    assert names.split(", ") == [f"verb07_the_noun_{n:02}" for n in range(50)]
    assert [call.status for call in session.calls] == ["succeeded", "succeeded"]


def test_a_pattern_selects_nothing_and_one_that_fits_nothing_is_answered_as_an_unknown_name(
    many: Toolbox,
) -> None:
    script = [("selectTools", {"tools": [pattern]}) for pattern in ("verb07*", "word*")]
    session = cook(script, many, inputs={}, outputs={}).tell("go")
    asked, unknown = results(session)
    assert (asked.error, asked.selected) == (False, ())
    assert asked.content.startswith("Nothing was selected.\nverb07*: verb07_the_noun_00, ")
    assert unknown.error
    assert unknown.content.startswith("Nothing was selected. There is no tool 'word*'.")
    assert names(session) == ["selectTools"]


class Shelf:
    """Holds the books of a library."""


class Book:
    """A book with many pages."""


def _wide(cls: type, result: type) -> None:
    for number in range(500):

        def function(self: Any) -> Any:
            return result()

        function.__name__ = name = f"{cls.__name__.lower()}_function_with_number_{number:03}"
        function.__annotations__ = {"return": result}
        setattr(cls, name, function)


_wide(Shelf, Book)
_wide(Book, Book)


def test_what_was_listed_by_name_stays_where_a_later_type_makes_the_list_too_long() -> None:
    open_shelf = "Shelf_shelf_function_with_number_007"
    script = [("selectTools", {"tools": [open_shelf]}), (open_shelf, {})]
    session = cook(script, Toolbox(Shelf, Book), inputs={"shelf": Shelf()}, outputs={}).ask("go")
    before = section(session, "Tools")
    assert len(before) == 500
    after = section(session.run(), "Tools")
    assert after[:500] == before
    assert after[500:] == [
        *(f"Book_book_function_with_number_{digit}* (100 tools)" for digit in range(5)),
        "To see the names of a pattern such as NAME*, call selectTools with it.",
    ]


NAMES_OF_TOOLS = st.lists(
    st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,30}", fullmatch=True), min_size=1, max_size=60
)


@given(NAMES_OF_TOOLS, st.integers(0, 300))
def test_each_name_of_a_shortened_list_is_found_by_patterns(names: list[str], room: int) -> None:
    names = [*dict.fromkeys(names)]
    listed, asked = shortened(names, room), set[str]()
    while patterns := [each for each in listed if "*" in each]:
        pattern = patterns[0].partition(" ")[0]
        assert pattern not in asked
        asked.add(pattern)
        fitting = [name for name in names if fnmatchcase(name, pattern)]
        listed.remove(patterns[0])
        listed += [each for each in shortened(fitting, 40 * 60) if each not in listed]
    assert set(names) <= set(listed)


# -- selecting ---------------------------------------------------------------------------------


def test_what_is_selected_comes_into_view_and_stays() -> None:
    session = cook([*COURSE[:6], "That is all.", "Really.", "Yes?"]).ask("go")
    assert names(session) == ["selectTools", "save"]
    session.run().tell("And now?")
    assert names(session) == [
        *("selectTools", "save"),
        *("Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake", "Fries_plate"),
    ]


def test_every_tool_is_either_in_view_or_can_come_into_view() -> None:
    request = cook(COURSE[:1]).tell("go").cursor.request
    shown = {tool.name for tool in request.tools} - {"selectTools", "save"}
    assert shown.isdisjoint(tool.name for tool in request.deferred)
    assert shown | {tool.name for tool in request.deferred} == set(kitchen().names)


def test_selecting_twice_and_naming_a_tool_twice_is_ok() -> None:
    twice = ("selectTools", {"tools": ["Oven_bake", "Oven_bake", "save", "selectTools"]})
    session = cook([twice, twice]).tell("go")
    assert told(session)[:2] == ["ok", "ok"]
    assert names(session).count("Oven_bake") == 1


NEAREST = "Did you mean Potato_peel? Potato has: Potato_rinse, Potato_peel, Potato_slice."


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        (["Oven_bake", "Potato_peal"], "Selected: Oven_bake. There is no tool 'Potato_peal'."),
        (["Potato_skin"], f"Nothing was selected. There is no tool 'Potato_skin'. {NEAREST}"),
        ([""], "Nothing was selected. There is no tool ''."),
    ],
)
def test_an_unknown_name_is_told_with_what_there_is(tools: list[str], said: str) -> None:
    session = cook([("selectTools", {"tools": tools})]).tell("go")
    assert told(session)[0].startswith(said)
    assert session.calls[0].status == "succeeded"
    assert results(session)[0].error == said.startswith("Nothing")


def test_a_tool_that_was_not_selected_says_how_to_select_it_and_does_not_run() -> None:
    session = cook([("Potato_peel", {}), ("selectTools", {"tools": ["Oven_bake"]})]).tell("go")
    assert session.calls[0].error == (
        'Potato_peel is not selected yet; call selectTools with ["Potato_peel"] first'
    )
    assert len(session.objects) == 4


def test_a_tool_can_be_called_in_the_turn_in_which_it_is_selected_but_not_before() -> None:
    peel: tuple[str, dict[str, Any]] = ("Potato_peel", {})
    select = ("selectTools", {"tools": ["Potato_peel"]})
    session = cook([[peel, select, peel, peel]]).tell("go")
    assert [call.status for call in session.calls] == ["failed", *["succeeded"] * 3]
    assert session.deps("Potato#3") == ("Potato#2",)


def test_what_a_person_wrote_runs_though_the_model_had_not_selected_it() -> None:
    script = [("Potato_slice", {"shape": "STICKS"}), ("selectTools", {"tools": ["Potato_peel"]})]
    session = cook(script, inputs={"potato": Potato(peeled=True)})
    call = session.tell("go").calls[0]
    assert session.edit(call, shape="SLICES").run()["Potato#2"].cut == "SLICES"


def test_what_reads_the_rest_of_a_long_result_is_in_view_without_being_selected() -> None:
    def page() -> str:
        return "".join(f"line {number}\n" for number in range(20_000))

    read = ("read_result", {"call": "call_2", "search": "line 19999"})
    script = [("selectTools", {"tools": ["page"]}), ("page", {}), read]
    session = cook(script, Toolbox(page), inputs={}, outputs={}).tell("go")
    assert "line 19999" in session.calls[-1].result


# -- a script without selectTools ----------------------------------------------------------------

SHORT = [
    ("Potato_peel", {}),
    ["Now the knife.", ("Potato_slice", {"shape": "STICKS"})],
    [("Oven_bake", {"item": "$Potato"}), ("Fries_plate", {"plate": "$Plate"})],
    ("save", {"fries": "$Plate"}),
]


def test_a_script_without_select_tools_selects_what_it_calls_once() -> None:
    session = cook(SHORT).tell("go")
    first, *others = session.calls
    tools = ["Potato_peel", "Potato_slice", "Oven_bake", "Fries_plate"]
    assert (first.tool, first.arguments) == ("selectTools", {"tools": tools})
    assert [call.tool for call in others] == [*tools, "save"]
    assert {call.status for call in session.calls} == {"succeeded"}
    assert session.outputs == {"fries": Plate("fries: sticks")}


def test_its_session_can_be_verified_replayed_edited_and_forked() -> None:
    session = cook(SHORT).tell("go")
    assert session.verify()
    edited = session.edit(session.calls[2], shape="SLICES").run()
    assert edited.outputs == {"fries": Plate("fries: slices")}
    forked = session.fork(session.calls[1]).run()
    assert [call.tool for call in forked.calls] == [call.tool for call in session.calls]
    for again in (session.replay(), session.replay(fresh=True)):
        assert again.run().outputs == forked.outputs == session.outputs


def test_a_script_without_select_tools_still_calls_what_does_not_exist() -> None:
    session = cook([("Potato_sing", {}), ("Potato_peel", {})]).tell("go")
    assert [call.tool for call in session.calls] == ["Potato_sing", "selectTools", "Potato_peel"]
    assert [call.status for call in session.calls] == ["failed", "succeeded", "succeeded"]


# -- objects -----------------------------------------------------------------------------------


def test_the_receiver_is_named_as_its_type_and_may_be_left_out() -> None:
    session = cook(COURSE[:1]).tell("go")
    peel = next(tool for tool in session.cursor.request.tools if tool.name == "Potato_peel")
    assert "newest Potato" in peel.parameters["properties"]["Potato"]["description"]
    assert "Potato" not in peel.parameters.get("required", ())


def test_a_receiver_that_is_left_out_is_the_most_recent_object_of_its_type() -> None:
    peels = [("Potato_peel", {"Potato": name}) for name in ("Potato#1", None)]
    session = cook([COURSE[0], peels[0], COURSE[1], peels[1]]).tell("go")
    assert session.deps("Potato#4") == ("Potato#3",)
    assert session.calls[-1].arguments == {"Potato": "Potato#3"}


def test_every_call_makes_a_new_object_also_an_equal_one_and_changes_none() -> None:
    script = [COURSE[0], *[("Potato_peel", {"Potato": "Potato#1"})] * 2]
    session = cook(script).tell("go")
    assert session.objects[-2:] == ("Potato#2", "Potato#3")
    assert session["Potato#2"] == session["Potato#3"]
    assert not session["Potato#1"].peeled


@dataclass(frozen=True)
class Sheet:
    """A sheet of paper."""

    said: str = ""

    def cut(self, parts: int = 2) -> list[Sheet]:
        """Cut it in parts."""
        return [Sheet(f"{self.said}{n}") for n in range(parts)]


class Pile(BaseModel):
    """Sheets that lie on one another."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    sheets: list[Sheet]
    cover: Sheet


def bind(pile: Pile) -> Sheet:
    """Bind a pile."""
    return Sheet("+".join(sheet.said for sheet in pile.sheets) + f" in {pile.cover.said}")


def test_a_list_of_objects_names_each_and_each_can_be_used() -> None:
    pile = {"sheets": ["Sheet#2", "Sheet#3"], "cover": "Sheet#1"}
    select = ("selectTools", {"tools": ["Sheet_cut", "bind"]})
    script, inputs = [select, ("Sheet_cut", {}), ("bind", {"pile": pile})], {"sheet": Sheet("s")}
    session = cook(script, Toolbox(Sheet, bind), inputs=inputs, outputs={}).tell("go")
    assert told(session)[1:] == ['{"objects": ["Sheet#2", "Sheet#3"]}', '{"result": "Sheet#4"}']
    assert session["Sheet#4"] == Sheet("s0+s1 in s")
    assert session.deps("Sheet#4") == ("Sheet#2", "Sheet#3", "Sheet#1")
    made_by = ["Sheet#2: Sheet#1.cut()[0]", "Sheet#3: Sheet#1.cut()[1]"]
    assert section(session, "Objects")[1:3] == made_by


class Base:
    """Something with a function."""

    def name(self) -> str:
        """Say what it is."""
        return type(self).__name__


class Heir(Base):
    """Something that has the function of another."""


def test_an_object_has_the_functions_of_the_classes_that_its_own_is_made_from() -> None:
    def make() -> Heir:
        """Make one."""
        return Heir()

    script = [("selectTools", {"tools": ["make", "Base_name"]}), ("make", {}), ("Base_name", {})]
    session = cook(script, Toolbox(Base, make), inputs={}, outputs={}).tell("go")
    assert told(session)[1:] == ['{"result": "Heir#1"}', '{"result": "Heir"}']
    assert section(session, "Tools") == ["Base_name", "make"]


# -- save --------------------------------------------------------------------------------------


def test_save_is_there_where_something_is_to_be_made_and_tells_what() -> None:
    save = cook([]).ask("go").cursor.request.tools[1]
    assert "- fries (Plate): Fries, on a plate." in save.description
    assert "Fries, on a plate." in save.parameters["properties"]["fries"]["description"]
    assert save.parameters["required"] == ["fries"]
    assert names(cook([], outputs={}).ask("go")) == ["selectTools"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "fries: is missing; it must be a Plate"),
        ({"fries": "Potato#1"}, "must be a Plate; Potato#1 is a Potato; the newest Plate is Plate"),
        ({"fries": "Plate#9"}, "there is no object 'Plate#9'; objects of that type: Plate#1"),
        ({"fries": 2}, "must be the name of a Plate, not 2"),
        ({"fries": ""}, "there is no object ''; the newest are: "),
        ({"fries": "Plate#1", "more": 1}, "more: there is no such output"),
    ],
)
def test_save_takes_all_outputs_of_the_very_type_or_none(arguments: Any, said: str) -> None:
    session = cook([("save", arguments)]).tell("go")
    assert session.outputs == {}
    assert said in session.calls[0].error
    assert session.calls[0].error.startswith("Nothing was saved.")
    no_plate = cook([("save", {"fries": "Sink#1"})], inputs={"s": Sink()}).tell("go")
    assert "Sink#1 is a Sink; the newest Plate is not made yet" in no_plate.calls[0].error


def test_a_save_that_failed_leaves_what_was_saved_before() -> None:
    outputs = {"fries": Plate, "count": int}
    good, bad = {"fries": "Plate#1", "count": 1}, {"fries": "Plate#1", "count": "two"}
    session = cook([("save", good), ("save", bad), "I stop.", "So."], outputs=outputs).tell("go")
    session.tell("Again")
    assert session.calls[-1].status == "failed"
    assert session.outputs == {"fries": Plate(), "count": 1}


def test_save_ends_the_run_and_is_due_again_after_the_next_prompt() -> None:
    save = ("save", {"fries": "Plate#1"})
    session = cook([save, "I stop.", save, "Never said."]).tell("go")
    assert len(session.calls) == 1
    session.tell("again")
    users = [m.text for m in session.cursor.request.messages if isinstance(m, User)]
    assert len(users) == 3
    assert "have not called save" in users[-1]
    assert [call.status for call in session.calls] == ["succeeded", "succeeded"]
    assert session.text == "I stop."


def test_a_model_that_stops_without_save_is_reminded_once_for_each_prompt() -> None:
    session = cook(["Done.", "Really.", "Done again.", "Really again."]).tell("go")
    assert session.text == "Really."
    session.tell("again")
    users = [m.text for m in session.cursor.request.messages if isinstance(m, User)]
    assert [text.startswith("You have not called save") for text in users] == [False, True] * 2
