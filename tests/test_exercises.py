"""Exercises: read from Markdown, held against a session, hints that come one by one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from jupyter_client.manager import start_new_kernel

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.errors import ModelError, UsageError
from jupyter_toolcall.kitchen import Fries, Oven, Plate, Potato, Sink
from jupyter_toolcall.magics import lines
from jupyter_toolcall.magics.cells import Cells
from jupyter_toolcall.magics.prompting import filled, say
from jupyter_toolcall.models.recorded import Recording
from jupyter_toolcall.options.line import options
from jupyter_toolcall.teaching import guesses
from jupyter_toolcall.teaching.checking import Verdict, checked
from jupyter_toolcall.teaching.conditions import Condition, OffersMany
from jupyter_toolcall.teaching.magics import Teaching
from jupyter_toolcall.teaching.reading import Exercise, Plant, exercise
from jupyter_toolcall.teaching.registration import register_teaching
from jupyter_toolcall.teaching.scene import Scene
from jupyter_toolcall.teaching.scoring import Points
from jupyter_toolcall.teaching.sentences import FORMS, condition
from jupyter_toolcall.teaching.showing import Page

BOX = Toolbox(Potato, Oven, Fries)
SCRIPT = [
    ("Potato_rinse", {"sink": "Sink#1"}),
    ("Potato_peel", {}),
    ["It can be cut now.", ("Potato_slice", {"shape": "STICKS"})],
    ("Oven_bake", {"item": "Potato#4"}),
    ("Fries_plate", {"plate": "Plate#1"}),
    ["Golden, and in sticks.", ("save", {"fries": "Plate#2"})],
]
INPUTS = {"potato": Potato(), "sink": Sink(), "oven": Oven(), "plate": Plate()}
TEN_LINES = """\
# Fries in sticks

Bake the potato, and save it as `fries`.

## Checks
- `fries.food` is `"fries: sticks"`
  - What says how a potato is cut?

## Hints
1. Look at each call.
"""


def cooked(*script: Any, **more: Any) -> Session:
    settings = {"scheme": "flat", "approve": "all", "inputs": INPUTS, **more}
    settings.setdefault("outputs", {"fries": Plate})
    model = settings.pop("model", Scripted(script or SCRIPT))
    return Session(BOX, model, **settings).tell("Fries, please.")


COOKED = cooked()


def read(*checks: str, **sections: str) -> Exercise:
    more = "\n".join(f"## {name.title()}\n{text}" for name, text in sections.items())
    listed = "\n".join(f"- {check}" for check in checks)
    return exercise(f"# It\n\nDo it.\n\n## Checks\n{listed}\n{more}", "it.md")


def against(*checks: str, session: Session | None = COOKED, **variables: Any) -> Verdict:
    return checked(read(*checks), Scene(session, variables))


# -- reading ----------------------------------------------------------------------------------


def test_ten_lines_of_markdown_are_an_exercise() -> None:
    found = exercise(TEN_LINES, "fries.md")
    assert (found.title, found.text) == (
        "Fries in sticks",
        "Bake the potato, and save it as `fries`.",
    )
    (check,) = found.checks
    assert check.hints == ("What says how a potato is cut?",)
    assert found.hints == ("Look at each call.",)
    assert len(TEN_LINES.splitlines()) == 10


def test_a_session_and_a_solution_have_sections_of_their_own() -> None:
    found = read(
        "`fries` is saved",
        session='- Replays `fries.jsonl`.\n- In call 3, `shape="SLICES"`.\n- Session is `main`',
        solution="<details><summary>Show</summary>\n\nThis:\n\n```python\na = 1\n```\n"
        "and\n~~~\n# ```\n%toolchat edit 3 shape=STICKS\n~~~\n</details>",
    )
    assert (found.replays, found.session) == ("fries.jsonl", "main")
    assert found.plants == (Plant(3, {"shape": "SLICES"}),)
    assert found.cells == ("a = 1", "# ```\n%toolchat edit 3 shape=STICKS")
    assert "details" not in found.solution


def test_what_is_no_section_is_for_the_learner() -> None:
    text = "# It\nOne.\n## Background\n\nTwo.\n```\n## Checks\n```\n## Checks\n* call 1 was edited"
    found = exercise(text, "it.md")
    assert found.text == "One.\n## Background\n\nTwo.\n```\n## Checks\n```"
    assert len(found.checks) == 1


def test_words_of_the_teachers_own_may_sound_like_a_condition() -> None:
    (check,) = read('Dinner is served: `fries.food` is `"fries: sticks"`').checks
    assert (check.words, check.veiled) == ("Dinner is served", True)
    with pytest.raises(UsageError, match="line 6: 'two words' is no value"):
        read("Dinner is served: `fries.food` is two words")


def test_items_go_on_in_the_next_line() -> None:
    (check,) = read("`fries` is\n  saved\n  - A hint\n    that is long").checks
    assert (check.words, check.hints) == ("`fries` is saved", ("A hint that is long",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Nothing", "it.md has no title"),
        ("# It\n## Hints\n- x", "has nothing to check"),
        ("# It\n## Checks\nfries is saved", "line 3: write this as a list"),
        ("# It\n## Checks\n\n- fries was eaten", "line 4: 'fries was eaten' is nothing that can"),
        ("# It\n## Checks\n- `x` is `y z`", "line 3: 'y z' is no value"),
        ("# It\n## Checks\n- x is 5 km: the way is 5 km", "line 3: 'the way is 5 km' is nothing"),
        ("# It\n- Replays `a.jsonl`\n## Checks\n- x is 1", "write it below a heading ## Session"),
        ("# It\n- In call 3, `a=1`\n## Checks\n- x is 1", "write it below a heading ## Session"),
        ("# It\n## Checks\n- `f(1)` gives `2`", "line 3: '1' is no argument"),
        ("# It\n## Checks\n- call 1 has `a`", "line 3: 'a' is no argument"),
        ("# It\n## Checks\n- x is 1\n## Session\n- Loud", "line 5: of a session it can be said"),
        ("# It\n## Checks\n- x is 1\n## Session\n- In call 1, `a=1`", "say - Replays `FILE`"),
        ("# It\n## Checks\n- x is 1\n## Session\n- In call 1, odd", "line 5: 'odd' is no argument"),
    ],
)
def test_a_mistake_is_found_when_it_is_read_and_names_its_line(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        exercise(text, "it.md")


def test_every_form_that_is_listed_can_be_written_so() -> None:
    examples = {
        "`Potato_peel` was called once, twice, 3 times, at most 3 times, at least 3 times": [
            f"`Potato_peel` was called {often}"
            for often in ("once", "twice", "3 times", "at most 3 times", "at least 3 times")
        ],
        "no call failed; no call was edited, rejected, answered": [
            f"No call {came}." for came in ("failed", "was edited", "was rejected", "was answered")
        ],
        "`table` has 3 rows, items, characters": [
            "`table` has 3 rows",
            "table has at least 1 item",
            "table has at most 3 characters",
        ],
    }
    for form, _, _ in FORMS:
        for sentence in examples.get(form, form.split("; ")):
            found = condition(sentence)
            assert found is not None, sentence
            plain = sentence.replace("`", "").rstrip(".")
            assert type(condition(f"{plain}.")) is type(found), sentence


# -- checking ---------------------------------------------------------------------------------

HOLD = [
    "`fries` is saved",
    "`fries` is a `Plate`",
    '`fries.food` is `"fries: sticks"`',
    "`Potato#3.peeled` is true",
    "`Potato#3.peeled` is True",
    "`fries` comes from `potato`",
    "`fries` comes from `Potato#2`",
    "`Potato_peel` was called",
    "`Potato_peel` was called once",
    "`Potato_peel` was called at most 1 time",
    "`Potato_burn` was not called",
    '`Potato_slice` was called with `shape="STICKS"`',
    "`Potato_slice` was called with shape=STICKS, Potato=Potato#3",
    "`Potato_peel` was called before `Potato_slice`",
    "at most 6 calls",
    "exactly 6 calls",
    "at least 2 calls",
    "no call failed",
    "no call was edited",
    'call 3 is `Potato_slice(shape="STICKS")`',
    'call 3 has `shape="STICKS"`',
    "the answer says `golden`",
    "the answer is `Golden, and in sticks.`",
    "the scheme is `flat`",
    "turn 1 offers `Potato_peel`",
    "turn 1 does not offer `selectTools`",
    "turn 1 offers at most 9 tools",
    "`rows` has 3 items",
    "`rows[1].name` is `two`",
    "`table[key].x` is 2.5",
    "`rows` has at least 1 row",
]
VARIABLES: dict[str, Any] = {
    "rows": [Session, type("Row", (), {"name": "two"})(), 3],
    "table": {"key": type("Row", (), {"x": 2.5})()},
}


@pytest.mark.parametrize("sentence", HOLD)
def test_what_is_so_holds(sentence: str) -> None:
    verdict = against(sentence, **VARIABLES)
    assert verdict.passed, verdict.found


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("`chips` is saved", "it was not saved"),
        ("`fries` is a `Potato`", "it is a `Plate`"),
        ('`fries.food` is `"fries: slices"`', 'it is `"fries: sticks"`'),
        ("`fries.colour` is `gold`", "`fries.colour` cannot be read: `AttributeError"),
        ("`frise` is `gold`", "there is no `frise` yet. Did you mean fries?"),
        ("`Potato#3.peeled` is false", "it is `true`"),
        ("`Potato#1` comes from `fries`", "Potato#1 was not made from Plate#2"),
        ("`Potato#9` comes from `fries`", "`there is no object 'Potato#9'"),
        ("`Potato_burn` was called", "it was not called"),
        ("`Potato_peel` was not called", "it was called once"),
        ("`Potato_peel` was called twice", "it was called once"),
        ("`Potato_slice` was called with `shape=SLICES`", "it was called so: `Potato_slice("),
        ("`Potato_slice` was called before `Potato_peel`", "`Potato_peel` came first"),
        ("`Potato_slice` was called before `Potato_burn`", "`Potato_burn` was not called"),
        ("at most 5 calls", "there are 6"),
        ("call 3 was edited", "no call was edited"),
        ("call 9 has `a=1`", "there are 6 calls"),
        ("call 3 is `Potato_peel()`", "it is `Potato_slice("),
        ("the answer says `raw`", 'it says `"Golden'),
        ("the scheme is `select`", "it is `flat`"),
        ("turn 1 offers `selectTools`", "it offers `"),
        ("turn 9 offers `Potato_peel`", "there were 6 turns"),
        ("turn 1 offers at most 2 tools", "it offers 6: `"),
        ("`rows` has 4 items", "it has 3"),
        ("`rows[2]` has 4 items", "it is `3`, which has no parts"),
    ],
)
def test_what_is_not_so_says_what_was_found(sentence: str, found: str) -> None:
    verdict = against(sentence, **VARIABLES)
    assert verdict.found.startswith(found), verdict.found


def test_a_call_that_failed_or_was_rejected_was_not_called() -> None:
    session = cooked(("Potato_slice", {"shape": "STICKS"}), ("Potato_peel", {}), approve="ask")
    session.decide(session.pending[0]).run()
    session.decide(session.pending[0], "reject").run()
    assert against("`Potato_slice` was called", session=session).found == "call 1 failed"
    assert against("`Potato_peel` was called", session=session).found == "call 2 was rejected"
    assert against("no call failed", session=session).found == "call 1 failed"
    assert against("call 2 was rejected", "`Potato_peel` was not called", session=session).passed


def test_the_first_that_does_not_hold_is_told_and_what_holds_before_it() -> None:
    verdict = against("`fries` is saved", "at most 1 call", "at most 2 calls")
    assert [check.words for check in verdict.held] == ["`fries` is saved"]
    assert verdict.fails is not None
    assert verdict.fails.words == "at most 1 call"


def test_words_of_the_teachers_own_give_nothing_away() -> None:
    verdict = against("You found it: only call 2 was edited")
    assert verdict.fails is not None
    assert (verdict.fails.words, verdict.found) == ("You found it", "")


def test_without_a_session_it_says_what_to_do() -> None:
    said = "there is no session yet: run the cell that begins with %%toolchat"
    assert against("`fries` is saved", session=None).found == said
    assert against("You made them: `fries` is saved", session=None).found == said
    assert against("`fries` is `1`", session=None, fries=1).passed


def test_values_that_are_not_in_this_kernel_are_asked_for() -> None:
    loaded = Session.here(Session(BOX, None, scheme="flat", inputs=INPUTS).cursor, "")
    loaded.ask("Go.").cursor.desk.memory.values.clear()
    verdict = against("`Potato#1.peeled` is false", session=loaded)
    assert verdict.found == "its value is not in this kernel: run the cells above first"


def test_points_that_were_guessed_count() -> None:
    scene = Scene(COOKED, {}, Points(5, 8))
    assert checked(read("at least 5 points were guessed"), scene).passed
    assert checked(read("at least 62 % was guessed"), scene).passed
    assert checked(read("at least 63 % was guessed"), scene).found == "you have 5 of 8 points"
    assert against("at least 1 point was guessed").found == "you have 0 of 0 points"


# -- a tool of the learner's own -----------------------------------------------------------------


@tool(read_only=True)
def weigh(potato: Potato, unit: str = "g") -> float:
    """Weigh a potato.

    Args:
        potato: What to weigh.
        unit: g or kg.
    """
    return 180.0 if unit == "g" else 0.18


def bare(number: int) -> Potato:
    if number < 0:
        raise ValueError("`no` [such](http://x) number")
    return Potato(peeled=True)


def untyped(number):  # type: ignore[no-untyped-def]
    return number


TOOLS: dict[str, Any] = {
    "Potato": Potato,
    "Plate": Plate,
    "weigh": weigh,
    "bare": bare,
    "untyped": untyped,
    "potato": Potato(),
    "kilo": "kg",
}


@pytest.mark.parametrize(
    "sentence",
    [
        "`weigh` is a tool",
        "`weigh` is a read-only tool",
        "`weigh` takes `unit`",
        "`weigh` is described",
        "`weigh(potato=potato)` gives `180.0`",
        '`weigh(potato=potato, unit="kg")` gives `0.18`',
        "`weigh(potato=potato, unit=kilo)` gives `0.18`",
        "`bare(number=1)` gives a `Potato`",
        "`Potato_peel` is a tool",
    ],
)
def test_a_tool_is_looked_at_and_tried(sentence: str) -> None:
    verdict = against(sentence, **TOOLS)
    assert verdict.passed, verdict.found


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("`wiegh` is a tool", "there is no tool `wiegh` yet. Did you mean weigh?"),
        ("`untyped` is a tool", "`untyped: the parameter 'number' has no type"),
        ("`bare` is a read-only tool", "it is not marked: write @tool(read_only=True)"),
        ("`bare` is described", "it has no docstring"),
        ("`weigh` takes `unti`", "it takes `potato`, `unit`"),
        ("`weigh(potato=potato)` gives `181`", "it gives `180.0`"),
        ("`weigh(unit=kilo)` gives `1`", "it fails: `weigh: potato"),
        ("`bare(number=-1)` gives a `Potato`", "it fails: `ValueError: 'no' [such](http://x)"),
        ("`bare(number=1)` gives a `Plate`", 'it gives `{"rinsed": false'),
    ],
)
def test_what_is_not_so_of_a_tool_is_told_as_code(sentence: str, found: str) -> None:
    assert against(sentence, **TOOLS).found.startswith(found), against(sentence, **TOOLS).found


# -- in a notebook -----------------------------------------------------------------------------


class Kernel:
    """A kernel beside a folder with exercises in it."""

    def __init__(self, folder: Path, **files: str) -> None:
        (folder / "exercises").mkdir()
        for name, text in files.items():
            (folder / "exercises" / f"{name}.md").write_text(text)
        register_teaching()
        self.cells = Cells(str(folder / "a.ipynb"))
        self.variables: dict[str, Any] = {
            **INPUTS,
            **{each.__name__: each for each in (Potato, Oven, Fries, Plate)},
        }

    @property
    def teaching(self) -> Teaching:
        found = self.cells.extensions["teaching"]
        assert isinstance(found, Teaching)
        return found

    def run(self, line: str, text: str = "Fries, please.") -> Session:
        session = self.cells.session(options(line), self.variables).ask(text)
        return self.cells.keep(session.run())

    def page(self, *words: str) -> Page:
        made = lines.carry_out([*words], self.cells, {}, self.variables)
        assert isinstance(made, Page)
        return made

    def said(self, *words: str) -> str:
        return str(self.page(*words))


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    made = Kernel(tmp_path, fries=TEN_LINES, spot=SPOT)
    cooked(model=Recording(Scripted(SCRIPT), tmp_path / "exercises" / "fries.jsonl"))
    return made


SPOT = """\
# Spot the error

## Session
- Replays `fries.jsonl`
- In call 3, `shape="SLICES"`

## Checks
- Sticks it is: `fries.food` is `"fries: sticks"`
- You left alone what was right: only call 3 was edited
  - One edit is enough.

## Hints
1. What should come out?
2. Which call cuts?

## Solution
```
%toolchat edit 3 shape=STICKS
```
"""
IMPORTS = (
    "from jupyter_toolcall.kitchen import *\n"
    "potato, sink, oven, plate = Potato(), Sink(), Oven(), Plate()"
)
OPEN = "-t Potato Oven Fries -i potato sink oven plate -o fries:Plate --scheme flat --approve all"


def test_checking_again_asks_for_a_hint_and_the_first_check_gives_none(kernel: Kernel) -> None:
    kernel.variables["m"] = Scripted([*SCRIPT[:2], "no"])
    kernel.run(f"-m m {OPEN}")
    said = [kernel.said("check", "fries").splitlines() for _ in range(4)]
    assert said[0][0] == "Not done yet: Fries in sticks"
    assert '✗ `fries.food` is `"fries: sticks"`: there is no `fries` yet.' in said[0][2]
    assert [lines[-1] for lines in said] == [
        "Check again for a hint: there are 2.",
        "Hint 1 of 2: What says how a potato is cut?",
        "Hint 2 of 2: Look at each call.",
        "There are no more hints.",
    ]


def test_a_check_without_any_hint_says_so(kernel: Kernel) -> None:
    (kernel.cells.folder / "exercises" / "bare.md").write_text("# It\n## Checks\n- `x` is 1\n")
    assert kernel.said("check", "bare").splitlines()[-1] == "There are no hints."


def test_a_page_has_markdown_for_the_eye_and_data_for_a_program(kernel: Kernel) -> None:
    kernel.cells.keep(COOKED)
    bundle = kernel.page("check", "fries")._repr_mimebundle_()
    assert bundle["text/markdown"].startswith("**Passed: Fries in sticks**")
    assert bundle["application/vnd.jupyter-toolcall.check+json"] == {
        "exercise": "fries",
        "passed": True,
        "held": 1,
        "of": 1,
    }


def test_what_is_asked_tells_nothing_of_how_it_is_checked(kernel: Kernel) -> None:
    shown = kernel.said("exercise", "fries")
    assert "Bake the potato" in shown
    assert "%toolchat check fries" in shown
    assert "sticks" not in shown.replace("Fries in sticks", "")
    assert "%toolchat edit 3" in kernel.said("solution", "spot")


def test_the_exercise_that_was_shown_last_is_the_one_that_is_checked(kernel: Kernel) -> None:
    with pytest.raises(UsageError, match="check needs the name of an exercise"):
        kernel.said("check")
    kernel.said("exercise", "spot")
    assert "Not done yet: Spot the error" in kernel.said("check")


# -- which cell is an exercise's own ------------------------------------------------------------


def exercise_of(kernel: Kernel, cell: str, line: str = "") -> str:
    """Return the exercise that a cell's panel would show; each cell is known by an id."""
    kernel.variables["m"] = Scripted(SCRIPT)
    session = kernel.run(line if "-m" in line or "--replay" in line else f"-m m {OPEN} {line}")
    replayed = options(line).replay
    return kernel.teaching.exercise_of(replayed, session, cell)


def test_no_cell_is_for_an_exercise_before_one_is_shown(kernel: Kernel) -> None:
    assert exercise_of(kernel, "one") == ""


def test_an_exercise_belongs_to_the_first_cell_after_it_and_to_no_other(kernel: Kernel) -> None:
    kernel.said("exercise", "fries")
    assert [exercise_of(kernel, cell) for cell in ("one", "two", "one")] == ["fries", "", "fries"]
    kernel.said("exercise", "fries")
    assert exercise_of(kernel, "two") == ""


def test_an_exercise_that_names_its_session_belongs_to_that_alone(kernel: Kernel) -> None:
    named = f"{TEN_LINES}\n## Session\n- The session is `mine`\n"
    (kernel.cells.folder / "exercises" / "fries.md").write_text(named)
    kernel.said("exercise", "fries")
    cells = [("one", "-n other"), ("two", "-n mine"), ("three", "-n mine")]
    assert [exercise_of(kernel, *cell) for cell in cells] == ["", "fries", "fries"]


def test_an_exercise_that_replays_belongs_to_the_cell_that_replays_it(kernel: Kernel) -> None:
    kernel.said("exercise", "spot")
    assert exercise_of(kernel, "one") == ""
    assert exercise_of(kernel, "two", f"--replay exercises/spot.md {OPEN}") == "spot"
    kernel.said("exercise", "fries")
    assert exercise_of(kernel, "two", f"--replay exercises/spot.md {OPEN}") == "spot"


@pytest.mark.parametrize(
    ("checks", "about"),
    [
        ("`weigh` is a tool", False),
        ("`plan` has 4 items", False),
        ("`winner` is `1`", False),
        ("`fries` is saved", True),
        ("`Potato#2` is a `Potato`", True),
        ("the answer is `done`", True),
        ("`Potato_peel` was called", True),
    ],
)
def test_what_is_checked_says_whether_a_session_is_meant(
    kernel: Kernel, checks: str, about: bool
) -> None:
    (kernel.cells.folder / "exercises" / "it.md").write_text(f"# It\n## Checks\n- {checks}\n")
    kernel.said("exercise", "it")
    assert (exercise_of(kernel, "one") == "it") == about


@pytest.mark.parametrize("name", ["cake", "../fries", "/etc/passwd", "a b"])
def test_only_what_is_in_the_folder_is_an_exercise(kernel: Kernel, name: str) -> None:
    with pytest.raises(UsageError, match="here; there are fries, spot"):
        kernel.said("check", name)


def test_the_error_is_planted_where_the_teacher_says_and_found_by_an_edit(kernel: Kernel) -> None:
    session = kernel.run(f"--replay exercises/spot.md {OPEN}")
    assert session.calls[2].arguments["shape"] == "SLICES"
    assert session.outputs["fries"].food == "fries: slices"
    assert "fries.md" not in str(session.state.opened.model)
    assert kernel.said("check", "spot").splitlines()[2:] == [
        "- ✗ Sticks it is",
        "",
        "Check again for a hint: there are 2.",
    ]
    assert kernel.said("check", "spot").endswith("Hint 1 of 2: What should come out?")
    kernel.cells.keep(session.edit(session.calls[2], shape="STICKS").run())
    assert kernel.said("check", "spot").splitlines() == [
        "Passed: Spot the error",
        "",
        "- ✓ Sticks it is",
        "- ✓ You left alone what was right",
    ]


def test_an_edit_too_many_is_seen(kernel: Kernel) -> None:
    session = kernel.run(f"--replay exercises/spot.md {OPEN}")
    session = session.edit(session.calls[0], sink="Sink#1").run()
    kernel.cells.keep(session.edit(session.calls[2], shape="STICKS").run())
    assert kernel.said("check", "spot").splitlines()[3:] == [
        "- ✗ You left alone what was right",
        "",
        "Check again for a hint: there are 3.",
    ]
    assert kernel.said("check", "spot").endswith("Hint 1 of 3: One edit is enough.")


def test_another_call_can_be_planted_and_a_replay_says_it_again(kernel: Kernel) -> None:
    other = SPOT.replace('In call 3, `shape="SLICES"`', "In call 2, `Potato_rinse(sink=Sink#1)`")
    (kernel.cells.folder / "exercises" / "spot.md").write_text(other)
    session = kernel.run(f"--replay exercises/spot.md {OPEN}")
    assert [call.tool for call in session.calls[:2]] == ["Potato_rinse"] * 2
    assert [call.status for call in session.calls[2:]] == ["failed"] * 4
    before = len(session.journal)
    session.replay().run()
    assert len(session.journal) == before


def test_an_exercise_that_replays_can_be_begun_anew(kernel: Kernel) -> None:
    for name, fresh in (("", ""), ("-n mine ", ""), ("", " --fresh"), ("-n mine ", " --fresh")):
        chosen = options(f"{name}--replay exercises/spot.md {OPEN}{fresh}")
        opened = kernel.cells.session(chosen, kernel.variables)
        begun = kernel.cells.keep(say(opened, "Fries, please.", chosen.fresh).run())
        assert begun.outputs["fries"].food == "fries: slices"
        assert len(begun.calls) == 6


def test_a_planted_recording_still_says_where_the_lesson_differs_from_it(kernel: Kernel) -> None:
    with pytest.raises(ModelError, match=r"turn 1 differs from fries\.jsonl in the prompt"):
        kernel.run(f"--replay exercises/spot.md {OPEN}", "Chips, please.")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("In call 3", "In call 9", "there is no call 9; it has 6 calls"),
        ("fries.jsonl", "lost.jsonl", r"not beside it; there are fries.jsonl"),
        ('- Replays `fries.jsonl`\n- In call 3, `shape="SLICES"`', "", "replays nothing"),
    ],
)
def test_a_session_that_cannot_be_replayed_says_why(
    kernel: Kernel, old: str, new: str, said: str
) -> None:
    assert old in SPOT
    (kernel.cells.folder / "exercises" / "spot.md").write_text(SPOT.replace(old, new))
    with pytest.raises(UsageError, match=said):
        kernel.run(f"--replay exercises/spot.md {OPEN}")


def test_an_exercise_may_look_at_a_session_by_name_or_in_a_variable(tmp_path: Path) -> None:
    text = "# It\n## Session\n- The session is `mine`\n## Checks\n- `fries` is saved"
    kernel = Kernel(tmp_path, it=text)
    kernel.cells.keep(cooked("no"))
    assert "there is no session `mine` yet" in kernel.said("check", "it")
    kernel.variables["mine"] = COOKED
    assert "Passed" in kernel.said("check", "it")


def test_a_guessed_score_is_what_is_checked(tmp_path: Path) -> None:
    text = "# It\n## Checks\n- at least 2 points were guessed"
    kernel = Kernel(tmp_path, it=text)
    kernel.variables["m"] = Scripted([("Potato_peel", {}), "done"])
    session = kernel.cells.session(options(f"-m m {OPEN}"), kernel.variables).ask("Peel.")
    kernel.teaching.guesses[""] = guesses.begin(session)
    kernel.cells.keep(session.run())
    assert "you have 0 of 0 points" in kernel.said("check", "it")
    lines.carry_out(["guess", "Potato_peel"], kernel.cells, {})
    assert "Passed" in kernel.said("check", "it")


def test_exercises_and_the_tools_of_a_guess_complete_with_tab(kernel: Kernel) -> None:
    manager, client = start_new_kernel(cwd=str(kernel.cells.folder))
    setup = f"%load_ext jupyter_toolcall\n{IMPORTS}"
    cell = f"%%toolchat -m scripted:kitchen {OPEN} --predict --no-wait\nFries, please."

    def offered(code: str) -> list[str]:
        return list(client.complete(code, reply=True, timeout=60)["content"]["matches"])

    try:
        for source in (setup, cell):
            reply = client.execute_interactive(source, timeout=60, allow_stdin=False)
            assert reply["content"]["status"] == "ok"
        assert offered("%toolchat check ") == ["fries", "spot"]
        assert offered("%toolchat solution s") == ["spot"]
        assert offered("%%toolchat --replay exercises/s") == ["exercises/spot.md"]
        assert offered("%toolchat guess Potato_r") == ["Potato_rinse"]
        assert "guess" in offered("%toolchat gu")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


# -- the page for teachers -------------------------------------------------------------------------

PAGE = (Path(__file__).parent.parent / "docs" / "teaching.md").read_text()


def test_the_exercises_on_the_page_for_teachers_can_be_read() -> None:
    found = re.findall(r"^```markdown\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    fries, spot = (exercise(text, "docs/teaching.md") for text in found)
    assert len(found[0].splitlines()) == 10
    assert [len(fries.checks), len(fries.hints), fries.cells] == [1, 1, ()]
    assert (spot.plants, spot.cells) == (
        (Plant(4, {"shape": "SLICES"}),),
        ("%toolchat edit 4 shape=STICKS",),
    )


def test_who_follows_the_page_for_teachers_has_a_recording_and_an_error_to_find(
    tmp_path: Path,
) -> None:
    fries, spot = re.findall(r"^```markdown\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    teacher = Kernel(tmp_path, fries=fries, spot=spot)
    cells = re.findall(r"^```\n%%toolchat (.*)\n(.*)\n```$", PAGE, re.MULTILINE)
    record, predict, planted = ((line.replace("--predict ", ""), body) for line, body in cells)

    def run(line: str, body: str) -> Session:
        opened = teacher.cells.session(options(line), teacher.variables)
        said = opened.ask(filled(body, opened, teacher.variables))
        return teacher.cells.keep(said.run())

    for cell in (record, predict):
        assert run(*cell).outputs["fries"].food == "fries: sticks"
        assert teacher.said("check", "fries").startswith("Passed")
    found = run(*planted)
    assert teacher.said("check", "spot").startswith("Not done yet")
    teacher.cells.keep(found.edit(found.calls[3], shape="STICKS").run())
    assert teacher.said("check", "spot").startswith("Passed")


def test_the_page_for_teachers_tells_of_all_that_can_be_checked() -> None:
    table = PAGE.partition("## What can be checked")[2].partition("\n## ")[0]
    rows = [row.split(" | ") for row in re.findall(r"^\| (.*) \|$", table, re.MULTILINE)][1:]
    made = {type(condition(sentence)) for sentence, _ in rows}
    told = {*made, OffersMany}
    assert told == {*get_args(Condition)}
    kinds = PAGE.partition("## Six kinds")[2].partition("\n## ")[0]
    assert all(condition(found) for found in re.findall(r"\| ([^|]*) \|$", kinds, re.MULTILINE)[1:])
