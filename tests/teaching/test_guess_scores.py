"""A guess and its score: laws that hold for every call, and what counts alike."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from jupyter_toolcall import Scripted, Session, Toolbox, from_definition
from jupyter_toolcall.core.events import Call
from jupyter_toolcall.engine.cursor import Cursor
from jupyter_toolcall.kitchen import Fries, Oven, Potato, Sink
from jupyter_toolcall.teaching.guesses import recorded_answers, score_guess
from jupyter_toolcall.teaching.panel_rows import Guess, GuessRow


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


class Spot(BaseModel):
    x: int
    y: float = 0.5


@dataclass(frozen=True)
class Jar:
    """Something to name."""

    grams: int = 1

    def pour(self, into: Jar, grams: int = 5, unit: Literal["g", "kg"] = "g") -> Jar:
        """Pour it."""
        return Jar(grams)


def mix(
    amount: Annotated[float, Field(ge=0)],
    size: Size,
    names: list[str],
    spot: Spot | None = None,
    jar: Jar | None = None,
    note: str = "plain",
) -> str:
    """Mix it."""
    return note


def idle() -> str:
    """Do nothing."""
    return ""


BOX = Toolbox(Jar, mix, idle)
HERE = Session(BOX, scheme="flat", inputs={"one": Jar(1), "two": Jar(2)}).ask("Go on.").cursor

JARS = st.sampled_from(["Jar#1", "Jar#2"])
SPOTS = st.fixed_dictionaries({"x": st.integers(-9, 9)}, optional={"y": st.floats(0, 1)})
POURS = st.fixed_dictionaries(
    {"into": JARS},
    optional={"Jar": JARS, "grams": st.integers(0, 9), "unit": st.sampled_from(["g", "kg"])},
)
MIXES = st.fixed_dictionaries(
    {
        "amount": st.floats(0, 9) | st.integers(0, 9),
        "size": st.sampled_from(["small", "large"]),
        "names": st.lists(st.text(max_size=3), max_size=3),
    },
    optional={"spot": st.none() | SPOTS, "jar": JARS | st.none(), "note": st.text(max_size=4)},
)
ANYTHING = st.dictionaries(
    st.sampled_from(["into", "Jar", "grams", "amount", "odd"]),
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.lists(st.integers()),
)
CALLS = st.one_of(
    st.tuples(st.just("Jar_pour"), POURS),
    st.tuples(st.just("mix"), MIXES),
    st.tuples(st.just("idle"), st.just({})),
    st.tuples(st.sampled_from(["Jar_pour", "mix", "unheard_of"]), ANYTHING),
).map(lambda pair: Call("call_1", *pair))
GUESSES = st.one_of(CALLS.map(lambda call: Guess(call.tool, call.arguments)), st.just(Guess()))


def beside(guess: Guess, *calls: Call, here: Cursor = HERE) -> GuessRow:
    return score_guess(here, guess, calls, here)


def points(row: GuessRow) -> tuple[int, int]:
    return row.right, row.of


# -- laws -----------------------------------------------------------------------------------


@given(CALLS)
def test_a_perfect_guess_has_all_points(call: Call) -> None:
    one = beside(Guess(call.tool, call.arguments), call)
    assert one.right == one.of >= 1


@given(GUESSES, CALLS)
def test_another_tool_has_no_point_and_a_right_one_at_least_one(guess: Guess, call: Call) -> None:
    one = beside(guess, call)
    assert (one.right == 0) == (guess.tool != call.tool)
    assert 0 <= one.right <= one.of


@given(GUESSES, CALLS, st.randoms(use_true_random=False))
def test_the_order_of_arguments_does_not_matter(guess: Guess, call: Call, random: Any) -> None:
    def mixed(arguments: Mapping[str, Any]) -> dict[str, Any]:
        items = list(arguments.items())
        random.shuffle(items)
        return dict(items)

    other = beside(
        Guess(guess.tool, mixed(guess.arguments)), Call(call.id, call.tool, mixed(call.arguments))
    )
    assert points(other) == points(beside(guess, call))


@given(CALLS, st.data())
def test_one_argument_more_that_is_right_is_one_point_more(call: Call, data: Any) -> None:
    kept = {name: v for name, v in call.arguments.items() if data.draw(st.booleans())}
    one = beside(Guess(call.tool, kept), call)
    for name in call.arguments.keys() - kept.keys():
        more = beside(Guess(call.tool, {**kept, name: call.arguments[name]}), call)
        was = next(mark.right for mark in one.marks if mark.name == name)
        assert points(more) == (one.right + (not was), one.of)


@given(st.lists(CALLS, max_size=3), GUESSES)
def test_of_several_calls_the_nearest_counts(calls: list[Call], guess: Guess) -> None:
    one = beside(guess, *calls)
    rows = [beside(guess, call) for call in calls]
    best = max((row.right / row.of for row in rows), default=None)
    if best is None:
        assert points(one) == (int(guess.tool == ""), 1)
    else:
        assert one.right / one.of == best


@given(POURS, st.lists(st.sampled_from(["Jar", "grams", "unit"])))
def test_what_is_said_and_a_default_count_alike(arguments: dict[str, Any], left: list[str]) -> None:
    default = {"Jar": "Jar#2", "grams": 5, "unit": "g"}
    full = {**default, **arguments}
    less = {key: v for key, v in full.items() if not (key in left and v == default[key])}
    for said, guessed in ((full, less), (less, full)):
        one = beside(Guess("Jar_pour", guessed), Call("c", "Jar_pour", said))
        assert one.right == one.of


# -- what counts alike, and what does not -------------------------------------------------------


@pytest.mark.parametrize(
    ("guessed", "came"),
    [
        ({"amount": "3"}, {"amount": 3.0}),
        ({"amount": 3}, {"amount": 3.0}),
        ({"spot": {"x": "1"}}, {"spot": {"y": 0.5, "x": 1}}),
        ({"note": "plain"}, {}),
        ({}, {"note": "plain"}),
        ({"jar": None}, {}),
    ],
)
def test_a_value_counts_as_the_tool_takes_it(guessed: Any, came: Any) -> None:
    common = {"amount": 1, "size": "small", "names": ["a"]}
    one = beside(Guess("mix", {**common, **guessed}), Call("c", "mix", {**common, **came}))
    assert one.right == one.of


@pytest.mark.parametrize(
    "guessed",
    [{"size": "SMALL"}, {"names": ["b", "a"]}, {"jar": "Jar#2"}, {"note": "Plain"}, {"amount": -1}],
)
def test_another_value_is_one_point_less_and_no_more(guessed: Any) -> None:
    came = {"amount": 1, "size": "small", "names": ["a", "b"], "jar": "Jar#1", "note": "plain"}
    one = beside(Guess("mix", {**came, **guessed}), Call("c", "mix", came))
    assert points(one) == (5, 6)
    assert [mark.name for mark in one.marks if not mark.right] == [*guessed]


def test_what_is_said_too_much_is_a_point_lost_unless_it_is_the_default() -> None:
    call = Call("c", "Jar_pour", {"into": "Jar#1"})
    assert points(beside(Guess("Jar_pour", {"into": "Jar#1", "grams": 5}), call)) == (3, 3)
    assert points(beside(Guess("Jar_pour", {"into": "Jar#1", "grams": 6}), call)) == (3, 4)


def test_an_equal_object_is_another_object() -> None:
    same = Session(Toolbox(Jar), scheme="flat", inputs={"a": Jar(1), "b": Jar(1)}).ask("Go.").cursor
    call = Call("c", "Jar_pour", {"into": "Jar#1"})
    assert points(beside(Guess("Jar_pour", {"into": "Jar#2"}), call, here=same)) == (2, 3)


def test_the_names_that_are_selected_have_no_order() -> None:
    here = Session(BOX, inputs={"one": Jar()}).ask("Go.").cursor
    call = Call("c", "selectTools", {"tools": ["mix", "idle"]})
    guess = Guess("selectTools", {"tools": ["idle", "mix"]})
    assert beside(guess, call, here=here).right == 2


def test_in_the_scheme_current_a_name_of_ones_own_stands_for_its_object() -> None:
    options: Any = {"scheme": "current", "approve": "all"}
    inputs = {"potato": Potato(), "sink": Sink()}
    session = Session(Toolbox(Potato, Oven, Fries), "person", inputs=inputs, **options)
    session.ask("Rinse it.").run()
    uses = {"_use_Sink": {"id": "Sink#1"}, "_saveAs": {"name": "basin"}}
    for written in {**uses, "_use_Potato": {"id": "Potato#1"}}.items():
        session.reply("", written).run()
    call = Call("c", "Potato_rinse", {"sink": "$basin"})
    guess = Guess("Potato_rinse", {"sink": "Sink#1"})
    assert points(beside(guess, call, here=session.cursor)) == (3, 3)


def test_a_definition_fills_in_for_both_alike() -> None:
    properties = {"city": {"type": "string"}, "nights": {"type": "integer"}}
    function = {"name": "book", "parameters": {"type": "object", "properties": properties}}
    book = from_definition({"tool": {"function": function}, "defaults": {"nights": "@default 2"}})
    here = Session(Toolbox(book), scheme="flat").ask("A room.").cursor
    call = Call("c", "book", {"city": "Bronx"})
    assert beside(Guess("book", {"city": "Bronx", "nights": 2}), call, here=here).of == 2


@given(POURS.map(lambda given: ("Jar_pour", given)) | MIXES.map(lambda given: ("mix", given)))
def test_a_page_counts_as_right_what_a_kernel_counts_as_right(call: tuple[str, Any]) -> None:
    inputs = {"one": Jar(1), "two": Jar(2)}
    model = Scripted([call, "Done."])
    session = Session(BOX, model, scheme="flat", inputs=inputs, approve="all").tell("Go on.")
    answer, last = recorded_answers(session.cursor)
    assert last.calls == ()
    (recorded,), asked = answer.calls, Call("c", *call)
    assert recorded.call.tool == call[0]
    for argument in recorded.arguments:
        left_out, values = "" in argument.values, [*filter(None, argument.values)]
        for guessed in ({argument.name: json.loads(text)} for text in values):
            assert right_argument(argument.name, guessed, asked)
        assert right_argument(argument.name, {}, asked) == (left_out or argument.optional)
        is_written = not argument.optional and argument.name in call[1]
        assert values if is_written else left_out


def right_argument(name: str, guessed: Mapping[str, Any], call: Call) -> bool:
    """Return whether a guess of one argument costs no point."""
    marks = {mark.name: mark.right for mark in beside(Guess(call.tool, guessed), call).marks}
    return marks.get(name, True)
