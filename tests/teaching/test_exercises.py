"""Exercises: read from Markdown, held against a session, hints that come one by one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import ModelError, UsageError
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.extensions import CellRun
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.kitchen import Fries, Oven, Plate, Potato, Sink
from jupyter_toolcall.models.recorded import Recording
from jupyter_toolcall.storage.notebook_files import execute
from jupyter_toolcall.teaching import register_teaching
from jupyter_toolcall.teaching.exercise_checks import (
    CheckContext,
    CheckResult,
    Page,
    check_exercise,
)
from jupyter_toolcall.teaching.exercise_file import Exercise, SeededError, read_exercise
from jupyter_toolcall.teaching.magic_commands import Teaching
from jupyter_toolcall.teaching.panel_rows import Check as CheckCommand
from jupyter_toolcall.teaching.panel_rows import Task
from tests.notebooks import write_notebook

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
- The fries are in sticks: `fries.food == "fries: sticks"`
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
    items = "\n".join(f"- {check}" for check in checks)
    return read_exercise(f"# It\n\nDo it.\n\n## Checks\n{items}\n{more}", "it.md")


def against(
    *expressions: str, session: Session | None = COOKED, limit: float = 5.0, **variables: Any
) -> CheckResult:
    checks = (f"Check {number}: `{text}`" for number, text in enumerate(expressions, 1))
    return check_exercise(read(*checks), CheckContext(session, variables), limit)


# -- reading ----------------------------------------------------------------------------------


def test_a_session_and_a_solution_have_sections_of_their_own() -> None:
    found = read(
        "It is saved: `session.outputs`",
        session='- Replays `fries.jsonl`.\n- In call 3, `shape="SLICES"`.\n- Session is `main`',
        solution="<details><summary>Show</summary>\n\nThis:\n\n```python\na = 1\n```\n"
        "and\n~~~\n# ```\n%toolchat edit 3 shape=STICKS\n~~~\n</details>",
    )
    assert (found.replays, found.session) == ("fries.jsonl", "main")
    assert found.seeded_errors == (SeededError(3, {"shape": "SLICES"}),)
    assert found.cells == ("a = 1", "# ```\n%toolchat edit 3 shape=STICKS")
    assert "details" not in found.solution


@pytest.mark.parametrize(
    ("item", "sentence", "expression", "hints"),
    [
        ("`fries`: in sticks: `x == 1`", "`fries`: in sticks", "x == 1", ()),
        ("Dinner is served: `fries[{'a': 1}]`.", "Dinner is served", "fries[{'a': 1}]", ()),
        ("It has a mark: ``x == '`'``", "It has a mark", "x == '`'", ()),
        ("It goes\n  on: `x ==\n  1`", "It goes on", "x == 1", ()),
        ("It is: `x`\n  - A hint\n    that is long", "It is", "x", ("A hint that is long",)),
    ],
)
def test_a_check_is_a_sentence_and_an_expression_and_has_hints(
    item: str, sentence: str, expression: str, hints: tuple[str, ...]
) -> None:
    (check,) = read(item).checks
    assert (check.sentence, check.expression, check.hints) == (sentence, expression, hints)


SENTENCE = "write a sentence, a colon, and a Python"
CHECKED = "# It\n## Checks\n- x: `1`\n## Session\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Nothing", "it.md has no title"),
        ("# It\n## Hints\n- x", "has nothing to check"),
        ("# It\n## Checks\nfries is saved", f"line 3: {SENTENCE}"),
        ("# It\n## Checks\n\n- fries is saved", f"line 4: {SENTENCE}"),
        ("# It\n## Checks\n- `x == 1`", f"line 3: {SENTENCE}"),
        ("# It\n## Checks\n- A: `1`\n- X: `f(`", "line 4: 'f\\(' is no Python expression"),
        ("# It\n## Checks\n- X: `x is 1`", "line 3: 'x is 1' is no Python expression"),
        ("# It\n## Checks\n- X: `y = 1`", "line 3: 'y = 1' is no Python expression"),
        (f"{CHECKED}- Loud", "line 5: write such a line: - Replays"),
        (f"{CHECKED}- In call 1, odd", "line 5: 'odd' is no argument"),
        (f"{CHECKED}- In call 1, `f(1)`", "line 5: 'f\\(1\\)' is no"),
        (f"{CHECKED}- In call 1, `a=b`", "line 5: 'a=b' is no arg"),
    ],
)
def test_a_mistake_is_found_when_it_is_read_and_names_its_line(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_exercise(text, "it.md")


# -- checking ---------------------------------------------------------------------------------

HOLD = [
    'type(fries).__name__ == "Plate"',
    '"Potato#2" in session.made_from("Plate#2")',
    'session.called("Potato_slice", shape="STICKS", Potato="Potato#3")',
    'session.called("Potato_peel")[0].step < session.called("Potato_slice")[0].step',
    "len(session.offered[0]) <= 9 and len(session.offered) == 6",
    '"Potato#4" in session.objects',
    "len(rows) == 3 and rows[1].name == 'two' and table['key'].x == 2.5",
    "[item for item in range(3) if item in numbers] == (lambda: numbers)() == [1, 2]",
    'other.called("Potato_peel") and other.scheme == "flat"',
    "fries is not plain and plain == 1",
    "re.escape('a') == 'a' and lines",
]
FAIL = [
    'session.outputs["fries"].food == "fries: slices"',
    'session.called("Potato_slice", shape="SLICES")',
    'session.called("Potato_slice", size=None)',
    *("score.percent >= 1", "[]", "None"),
]
VARIABLES: dict[str, Any] = {
    "rows": [Session, type("Row", (), {"name": "two"})(), 3],
    "table": {"key": type("Row", (), {"x": 2.5})()},
    "numbers": [1, 2],
    "other": COOKED,
    "plain": 1,
    "re": re,
    "lines": iter("what cannot be copied is used as it is"),
    "fries": "an output comes before a variable",
    "score": "never a variable",
}


@pytest.mark.parametrize("expression", [*HOLD, *FAIL])
def test_a_true_expression_holds_and_a_false_one_gives_nothing_away(expression: str) -> None:
    verdict = against(expression, **VARIABLES)
    assert (verdict.passed, verdict.problem) == (expression in HOLD, "")


class Odd:
    """Nobody can say whether it is true, or what it is."""

    def __bool__(self) -> bool:
        raise ValueError("two\nlines, `code` and [a link](http://x)")


def raises(error: BaseException) -> None:
    raise error


def deep() -> Any:
    return deep()


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("frise.food", "there is no `frise` yet. Did you mean fries?"),
        ("fries.colour", "a `Plate` has no `colour`"),
        ("session.calls[8].tool", "there are fewer items than the task asks for"),
        ("session.calls[2].arguments['size']", "there is no `'size'`"),
        ("session['Potato#9'].peeled", "`there is no object 'Potato#9'"),
        ("odd", "`ValueError: two lines, 'code' and [a link](http://x)`"),
        ("1 / 0", "`ZeroDivisionError: division by zero`"),
        ("raises(SystemExit(3))", "`SystemExit: 3`"),
        ("deep()", "`RecursionError: "),
        ("'x' * 1000 + 1", "`TypeError: "),
        ("raises(KeyError('size'))", "`KeyError: 'size'`"),
    ],
)
def test_what_an_expression_raises_is_one_line(expression: str, problem: str) -> None:
    errors: dict[str, Any] = {"SystemExit": SystemExit, "KeyError": KeyError}
    verdict = against(expression, odd=Odd(), raises=raises, deep=deep, **errors)
    assert not verdict.passed
    assert verdict.problem.startswith(problem), verdict.problem
    assert len(verdict.problem.splitlines()) == 1
    assert len(verdict.problem) < 200


def test_a_call_that_failed_or_was_rejected_was_not_called() -> None:
    session = cooked(("Potato_slice", {"shape": "STICKS"}), ("Potato_peel", {}), approve="ask")
    session.decide(session.pending[0]).run()
    session.decide(session.pending[0], "reject").run()
    for name in ("Potato_slice", "Potato_peel"):
        assert not against(f'session.called("{name}")', session=session).passed
    statuses = '[call.status for call in session.calls] == ["failed", "rejected"]'
    assert against(statuses, session=session).passed


def test_the_first_that_does_not_hold_is_told_and_what_holds_before_it() -> None:
    verdict = against("fries", "len(session.calls) < 2", "len(session.calls) < 3")
    assert verdict.points == 1
    assert verdict.fails is not None
    assert verdict.fails.sentence == "Check 2"


def test_without_a_session_or_its_values_it_says_what_to_do() -> None:
    problem = "there is no session yet: run the cell that begins with %%toolchat"
    assert against("session.outputs", session=None).problem == problem
    assert against("fries == 1", session=None, fries=1).passed
    loaded = Session.here(Session(BOX, None, scheme="flat", inputs=INPUTS).cursor, "")
    loaded.ask("Go.").cursor.context.values.by_digest.clear()
    verdict = against("not session['Potato#1'].peeled", session=loaded)
    assert verdict.problem == "its value is not in this kernel: run the cells above first"


def test_a_variable_called_session_is_not_the_session_that_is_checked() -> None:
    check, variables = read("It: `session.called('Potato_peel')`"), {"session": COOKED}
    assert not check_exercise(check, CheckContext(cooked("no"), variables)).passed
    verdict = check_exercise(check, CheckContext(None, variables, session_name="mine"))
    assert verdict.problem == "there is no session `mine` yet"


# -- copies, and the time limit ------------------------------------------------------------------


def test_a_check_changes_no_variable_and_no_object() -> None:
    numbers = [1, 2]
    before = COOKED.head, COOKED.calls[2].arguments["shape"], len(COOKED.journal)
    for change in (
        *("numbers.clear()", "session.calls[2].arguments.update(shape='SLICES')"),
        *("session.ask('More.')", "other.ask('More.')"),
    ):
        against(change, other=COOKED, numbers=numbers)
    assert numbers == [1, 2]
    assert (COOKED.head, COOKED.calls[2].arguments["shape"], len(COOKED.journal)) == before
    assert COOKED.outputs["fries"].food == "fries: sticks"


class Slow:
    def __reduce__(self) -> Any:
        while True:
            pass


class Key: ...


def forever(number: int = 0) -> int:
    """Never end, and drop objects that are held weakly."""
    held, kept = WeakKeyDictionary[Key, int](), WeakSet[Key]()
    while True:
        held[Key()] = 1
        kept.add(Key())


@pytest.mark.parametrize("check", ["forever()", "slow", "run_tool(forever, number=1)"])
def test_what_never_ends_does_not_hold_and_leaves_a_session_that_works(check: str) -> None:
    for _ in range(3):
        verdict = against(check, limit=0.1, forever=forever, slow=Slow())
        assert verdict.problem == "it took longer than 0.1 seconds"
    assert against("fries").passed
    assert cooked().outputs["fries"].food == "fries: sticks"


# -- a tool of the learner's own -----------------------------------------------------------------


@tool(read_only=True)
def weigh(potato: Potato) -> int:
    return 180


def bare(number: int) -> Potato:
    if number < 0:
        raise ValueError("`no` [such](http://x) number")
    return Potato(peeled=True)


def untyped(number):  # type: ignore[no-untyped-def]
    return number


TOOLS: dict[str, Any] = {"Potato": Potato, "weigh": weigh, "bare": bare, "untyped": untyped}


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("tool_of(wiegh)", "there is no `wiegh` yet. Did you mean weigh?"),
        ("tool_of(untyped)", "`DefinitionError: untyped: the parameter 'number' has no type"),
        ("tool_of(Potato)", "`UsageError: it holds "),
        ("tool_of(bare).read_only", ""),
        ("tool_of(bare).description", ""),
        ("bare(-1)", "`ValueError: 'no' [such](http://x)"),
        ("run_tool(bare, number=-1)", "`ValueError: 'no' [such](http://x)"),
        ("run_tool(bare, number='x')", "`bare: number"),
    ],
)
def test_what_is_wrong_with_a_tool_is_told_as_code(expression: str, problem: str) -> None:
    verdict = against(expression, **TOOLS)
    assert not verdict.passed
    assert verdict.problem.startswith(problem), verdict.problem


# -- in a notebook -----------------------------------------------------------------------------


class Kernel:
    """A kernel beside a folder with exercises in it."""

    def __init__(self, folder: Path, **files: str) -> None:
        self.exercises = folder / "exercises"
        self.exercises.mkdir()
        for name, text in files.items():
            self.write(name, text)
        register_teaching()
        self.cells = Cells(str(folder / "a.ipynb"))
        classes = {cls.__name__: cls for cls in (Potato, Oven, Fries, Plate)}
        self.variables: dict[str, Any] = {**INPUTS, **classes}

    def write(self, name: str, text: str) -> None:
        (self.exercises / f"{name}.md").write_text(text)

    @property
    def teaching(self) -> Teaching:
        found = self.cells.extensions["teaching"]
        assert isinstance(found, Teaching)
        return found

    def run(self, line: str, text: str = "Fries, please.") -> Session:
        session = self.cells.session(parse_options(line), self.variables).ask(text)
        return self.cells.keep(session.run())

    def page(self, *words: str) -> Page:
        made = carry_out([*words], self.cells, {}, self.variables)
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
- Sticks it is: `fries.food == "fries: sticks"`
- You left alone what was right: `[call.step for call in session.calls if call.edited] == [3]`
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


SPOT_LINE = f"--replay exercises/spot.md {OPEN}"


def test_checking_again_asks_for_a_hint_and_the_first_check_gives_none(kernel: Kernel) -> None:
    kernel.variables["m"] = Scripted([*SCRIPT[:2], "no"])
    kernel.run(f"-m m {OPEN}")
    said = [kernel.said("check", "fries").splitlines() for _ in range(4)]
    assert said[0][0] == "Not done yet: Fries in sticks"
    assert "✗ The fries are in sticks: there is no `fries` yet." in said[0][2]
    assert [lines[-1] for lines in said] == [
        "Check again for a hint: there are 2.",
        "Hint 1 of 2: What says how a potato is cut?",
        "Hint 2 of 2: Look at each call.",
        "There are no more hints.",
    ]
    kernel.write("bare", "# It\n## Checks\n- One: `x == 1`\n")
    assert kernel.said("check", "bare").splitlines()[-1] == "There are no hints."


def test_what_is_asked_tells_nothing_of_how_it_is_checked(kernel: Kernel) -> None:
    shown = kernel.said("exercise", "fries")
    assert "Bake the potato" in shown
    assert "%toolchat check fries" in shown
    assert "sticks" not in shown.replace("Fries in sticks", "")
    assert "%toolchat edit 3" in kernel.said("solution", "spot")


def test_nothing_of_an_exercise_runs_before_somebody_checks_it(kernel: Kernel) -> None:
    ran: list[str] = []
    kernel.variables["touch"] = lambda text: ran.append(text)
    text = SPOT.replace("## Checks\n", "## Checks\n- It ran: `touch('x') is None`\n")
    kernel.write("spot", text)
    kernel.said("exercise", "spot")
    kernel.said("solution", "spot")
    kernel.teaching.complete_subcommand("check")
    assert exercise_of(kernel, SPOT_LINE) == "spot"
    assert ran == []
    kernel.said("check", "spot")
    assert ran == ["x"]


# -- which cell is an exercise's own ------------------------------------------------------------


def exercise_of(kernel: Kernel, line: str = "") -> str:
    """Return the exercise that a cell's panel would show."""
    kernel.variables["m"] = Scripted(SCRIPT)
    session = kernel.run(line if "-m" in line or "--replay" in line else f"-m m {OPEN} {line}")
    exercise = kernel.teaching.exercise_for(parse_options(line).replay, session)
    return exercise.name if exercise is not None else ""


def test_an_exercise_belongs_to_its_named_session_or_the_replaying_cell(kernel: Kernel) -> None:
    kernel.said("exercise", "mine", f"{TEN_LINES}\n## Session\n- The session is `mine`\n")
    lines = ("", "-n other", "-n mine", SPOT_LINE)
    assert [exercise_of(kernel, line) for line in lines[:3]] == ["", "", "mine"]
    for shown in ("fries", "spot"):
        kernel.said("exercise", shown)
        assert [exercise_of(kernel, line) for line in lines] == ["", "", "", "spot"]


def test_the_panel_shows_an_exercise_and_after_a_check_how_it_stands(kernel: Kernel) -> None:
    chosen = parse_options(SPOT_LINE)
    session = kernel.run(SPOT_LINE)
    panel = kernel.teaching.attach(session, CellRun(chosen, "one", kernel.variables, panel=True))
    assert panel is not None
    assert panel.row(session, "finished").task == Task("Spot the error")
    assert panel.apply(session, CheckCommand()) is False
    hint = "Check again for a hint: there are 2."
    assert panel.row(session, "finished").task == Task("Spot the error", f"✗ Sticks it is\n{hint}")
    panel.apply(session.edit(session.calls[2], shape="STICKS").run(), CheckCommand())
    task = panel.row(session, "finished").task
    assert task is not None
    assert (task.passed, task.says) == (True, "✓ Sticks it is\n✓ You left alone what was right")


@pytest.mark.parametrize("name", ["cake", "../fries", "/etc/passwd", "a b"])
def test_only_what_is_in_the_folder_is_an_exercise(kernel: Kernel, name: str) -> None:
    with pytest.raises(UsageError, match="check needs the name of an exercise"):
        kernel.said("check")
    with pytest.raises(UsageError, match="here; there are fries, spot"):
        kernel.said("check", name)
    # The one that was shown last is checked where none is named.
    kernel.said("exercise", "spot")
    assert "Not done yet: Spot the error" in kernel.said("check")


HINT = "Check again for a hint: there are {}."


def test_the_error_is_seeded_where_the_teacher_says_and_found_by_an_edit(kernel: Kernel) -> None:
    session = kernel.run(SPOT_LINE)
    assert session.calls[2].arguments["shape"] == "SLICES"
    assert session.outputs["fries"].food == "fries: slices"
    assert "fries.md" not in str(session.state.opened.model)
    said = kernel.said("check", "spot").splitlines()
    assert said[2:] == ["- ✗ Sticks it is", "", HINT.format(2)]
    assert kernel.said("check", "spot").endswith("Hint 1 of 2: What should come out?")
    kernel.cells.keep(session.edit(session.calls[2], shape="STICKS").run())
    said = kernel.said("check", "spot").splitlines()
    passed = ["- ✓ Sticks it is", "- ✓ You left alone what was right"]
    assert said == ["Passed: Spot the error", "", *passed]


def test_an_edit_too_many_is_seen(kernel: Kernel) -> None:
    session = kernel.run(SPOT_LINE)
    session = session.edit(session.calls[0], sink="Sink#1").run()
    kernel.cells.keep(session.edit(session.calls[2], shape="STICKS").run())
    said = kernel.said("check", "spot").splitlines()
    assert said[3:] == ["- ✗ You left alone what was right", "", HINT.format(3)]
    assert kernel.said("check", "spot").endswith("Hint 1 of 3: One edit is enough.")


def test_another_call_can_be_seeded_and_a_replay_says_it_again(kernel: Kernel) -> None:
    other = "In call 2, `Potato_rinse(sink='Sink#1')`"
    kernel.write("spot", SPOT.replace('In call 3, `shape="SLICES"`', other))
    session = kernel.run(SPOT_LINE)
    assert [call.tool for call in session.calls[:2]] == ["Potato_rinse"] * 2
    assert [call.status for call in session.calls[2:]] == ["failed"] * 4
    before = len(session.journal)
    session.replay().run()
    assert len(session.journal) == before


def test_an_exercise_that_replays_can_be_begun_again(kernel: Kernel) -> None:
    for line in (SPOT_LINE, f"-n mine {SPOT_LINE}"):
        for options in (line, f"{line} --fresh"):
            chosen = parse_options(options)
            opened = kernel.cells.session(chosen, kernel.variables)
            begun = kernel.cells.keep(add_prompt(opened, "Fries, please.", chosen.fresh).run())
            assert begun.outputs["fries"].food == "fries: slices"
            assert len(begun.calls) == 6


def test_a_recording_with_an_error_still_says_where_the_lesson_differs(kernel: Kernel) -> None:
    with pytest.raises(ModelError, match=r"differs from exercises/fries\.jsonl in the prompt"):
        kernel.run(SPOT_LINE, "Chips, please.")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("In call 3", "In call 9", "there is no call 9; it has 6 calls"),
        ("fries.jsonl", "lost.jsonl", r"--record exercises/lost\.jsonl makes one"),
        ('- Replays `fries.jsonl`\n- In call 3, `shape="SLICES"`', "", "replays nothing"),
    ],
)
def test_a_failing_replay_says_why(kernel: Kernel, old: str, new: str, said: str) -> None:
    assert old in SPOT
    kernel.write("spot", SPOT.replace(old, new))
    with pytest.raises(UsageError, match=said):
        kernel.run(SPOT_LINE)


def test_an_exercise_may_look_at_a_session_by_name_or_in_a_variable(tmp_path: Path) -> None:
    text = "# It\n## Session\n- The session is `mine`\n## Checks\n- Saved: `session.outputs`"
    kernel = Kernel(tmp_path, it=text)
    kernel.cells.keep(cooked("no"))
    assert "there is no session `mine` yet" in kernel.said("check", "it")
    kernel.variables["mine"] = COOKED
    assert "Passed" in kernel.said("check", "it")


def test_a_graders_test_cell_gets_points_and_a_message_before_load_ext_too(kernel: Kernel) -> None:
    checked = "result = check('fries'); print(result.points, result.message)"
    cells = [
        f"{IMPORTS}\nfrom jupyter_toolcall.teaching import check\n{checked}",
        "%load_ext jupyter_toolcall",
        f"%toolchat exercise fries\n{checked}",
        f"%%toolchat -m scripted:kitchen {OPEN}\nFries, please.",
        checked,
    ]
    path = write_notebook(kernel.cells.folder / "a.ipynb", *cells)
    outputs = [output for cell in execute(path).notebook.cells for output in cell.outputs]
    first, _, second, last = (output.text for output in outputs if output.output_type == "stream")
    assert first == second
    assert first.startswith("0 Not done yet: 0 of 1 checks hold. ✗ The fries are in sticks")
    assert last == "1 Passed: 1 of 1 checks hold.\n"


def test_exercises_and_the_tools_of_a_guess_can_be_completed(kernel: Kernel) -> None:
    assert kernel.teaching.complete_subcommand("check") == ["fries", "spot"]
    kernel.said("exercise", "mine", TEN_LINES)
    assert kernel.teaching.complete_subcommand("solution") == ["fries", "mine", "spot"]
    assert "exercises/mine.md" in kernel.teaching.replay_files()
    kernel.variables["m"] = Scripted(["no"])
    kernel.run(f"-m m {OPEN}")
    tools = kernel.teaching.complete_subcommand("guess")
    assert {"Potato_rinse", "save", "none", "skip"} <= {*tools}


def test_a_mistake_in_a_cell_names_the_line_of_the_cell(kernel: Kernel) -> None:
    with pytest.raises(UsageError, match="the exercise mine, line 4: 'y z' is no Python"):
        kernel.said("exercise", "mine", "# It\n## Checks\n- X: `y z`")
