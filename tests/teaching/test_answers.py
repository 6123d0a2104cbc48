"""Answers to the exercises of the lessons, judged as a teacher would judge them.

Each is written into its lesson where a learner would write it, and the lesson is run to its check.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.figure import Figure

from jupyter_toolcall.storage.notebook_files import cell_sources
from jupyter_toolcall.teaching import check
from jupyter_toolcall.teaching.exercise_proofs import checked_exercises

LESSONS = Path(__file__).parents[2] / "notebooks"
RAW = re.compile(r"Traceback|(Attribute|Index|Key|Name|Type|Usage|Syntax)Error")
"""What a learner should not have to read."""
SLICES = """\
%toolchat call Potato_peel
%toolchat call Potato_slice shape=SLICES
%toolchat call Oven_bake item=Potato#3
%toolchat call save dinner=Fries#1"""
STICKS = SLICES.replace("SLICES", "STICKS")
SELECTED = '%toolchat edit 1 tools=\'["Text_without", "Text_count"]\''
PENGUINS = "%toolchat -n penguins"
FLIPPERS = f"{PENGUINS} edit 7 values=flipper_mm"
BODY_MASS = "columns='[\"Body Mass (g)\"]'"
COUNTRY = '"country": "@override US"'
ARTICLE = '"city": {"transform": article}'
OTHER_CALL = "%toolchat edit 4 tools='[\"Counts_top\"]'"
READING = 'reading = from_mcp("python library_server.py", {})'
QUARTER = "%toolchat -n seattle edit 1 first=10 last=12"
AGAIN = "%toolchat -n seattle fork 2\n%toolchat -n seattle next"
FULL = """\
mine = opened(analyst).ask(TASK).step()
mine.tool_call_result("a", OSError("no space left on the disk"))
mine.call_tool(mine.tool_calls[0])
mine.run()"""
LABEL = "label = from_definition({'tool': {'function': function}, 'defaults': defaults}, "
LABEL += "action=print_label)"
HEAVIEST = """\
%toolchat call penguins
%toolchat call Penguins_species name=GENTOO
%toolchat call Penguins_heavier grams=6000
%toolchat call save heaviest=Penguins#3"""
STEPS, MASS = HEAVIEST.splitlines(), "%toolchat call Penguins_mass"
ERRAND = """\
errand = Task("errand", "Go.", mill.toolbox, mill.inputs, outputs=done, plan=plan)
runs = list(compare([errand], ("select", "current", "flat")))
winner = min(runs, key=lambda run: run.tokens.input).scheme"""
TOTAL = '''\
@tool(read_only=True)
def total(table: pd.DataFrame, year: Year = 2017) -> int:
    """Return the GWh of a year, from all sources together.

    Args:
        table: Rows with year, source and net_generation (GWh).
        year: The year.
    """
    return int(table[table["year"] == year]["net_generation"].sum())'''
FEW = """\
class Few(Flat):
    def offer(self, state, toolbox):
        done = {call.tool for call in state.all_calls()}
        tools = tuple(tool for tool in toolbox if tool.name not in done)[:2]
        return replace(super().offer(state, toolbox), tools=tools)


lunch = Session(kitchen(), cook, scheme=Few(), inputs=laid, outputs={"fries": Plate}, approve="all")
lunch.tell(fries_task.prompt)"""
XML = """\
%toolchat say <tool-calls>{}</tool-calls>
%toolchat say July is warmer: 65 degrees, and January has 42."""
MONTH = '<tool-call tool="north" function="get_for_month"><parameter name="month">{}</parameter>'
MONTH += "</tool-call>"
JANUARY, JULY = MONTH.format("January"), MONTH.format("July")
GUESSES = """\
%toolchat guess _use_Directory id=Directory#1
%toolchat guess Directory_file name=penguins.csv
%toolchat guess File_appended line="# checked"
%toolchat guess save checked=File#2"""

ANSWERS: list[tuple[str, str, int, str]] = [
    # Lesson, answer, points, and a part of what the learner reads.
    ("00", SLICES, 4, "Passed"),
    ("00", f"{STICKS}\n%toolchat edit 2 shape=SLICES", 4, "Passed"),
    ("00", f"{SLICES}\n%toolchat edit 2 shape=STICKS", 4, "This is the branch"),
    ("00", STICKS, 1, "✗ `dinner` is fries in slices"),
    ("00", f"{SLICES.rpartition(chr(10))[0]}\ndinner = Fries('slices')", 1, "no `dinner` yet"),
    ("00", f"%toolchat call Potato_slice shape=SLICES\n{SLICES}", 3, "Call 1 failed: "),
    ("01", FLIPPERS, 4, "Passed"),
    ("01", f"{PENGUINS} edit 7 values=mass_g aggregate=max", 1, "✗ The means are those of"),
    ("01", f"{PENGUINS} edit 3 {BODY_MASS}\n{FLIPPERS}", 1, "✗ The means are those of the"),
    ("02", SELECTED, 4, "Passed"),
    ("02", OTHER_CALL, 0, "✗ The words are counted"),
    ("02", f"{OTHER_CALL}\n%toolchat checkout main\n{SELECTED}", 4, "Passed"),
    ("02", "", 0, "Call 3 failed: "),
    ("03", GUESSES, 2, "Passed"),
    ("03", "%toolchat guess skip rest", 0, "✗ 60 % of the points"),
    ("04", FULL, 3, "Passed"),
    ("04", FULL.rpartition("\n")[0], 2, "✗ The model wrote its last reply"),
    ("05", XML.format(JANUARY + JULY), 5, "Passed"),
    ("05", XML.format(JULY + JANUARY).replace('"', "'"), 5, "Passed"),
    ("05", XML.format(JANUARY), 1, "✗ You asked for July"),
    ("06", f"defaults = {{{COUNTRY}, {ARTICLE}}}\n{LABEL}", 2, "Passed"),
    ("06", f'defaults = {{"country": "US", {ARTICLE}}}\n{LABEL}', 2, "Passed"),
    ("06", f"defaults = {{{COUNTRY}}}\n{LABEL}", 1, "✗ The Bronx gets its article"),
    ("07", f"{QUARTER}\n{AGAIN}", 3, "Passed"),
    ("07", QUARTER, 1, "✗ The model read the result of call 2"),
    ("08", HEAVIEST, 6, "Passed"),
    ("08", "\n".join(STEPS[n] for n in (0, 2, 1, 3)), 6, "Passed"),
    ("08", "\n".join([*STEPS[:3], MASS, STEPS[3]]), 5, "✗ The server got no request"),
    ("09", f'plan = [("Stage0_work", {{"Stage0": "Stage0#1"}})] * 6\n{ERRAND}', 3, "Passed"),
    ("10", TOTAL, 6, "Passed"),
    ("10", re.sub(r' {4}""".*?"""\n', "", TOTAL, flags=re.DOTALL), 5, "have a description"),
    ("11", FEW, 8, "Passed"),
    ("11", FEW.replace("[:2]", "[:3]"), 1, "✗ The first turn offers at most three tools"),
    ("12", READING.format('exclude=["reserve_*"]'), 2, "Passed"),
    ("12", READING.format('exclude="reserve_book"'), 0, "no `reading` yet"),
    ("12", "reading = library", 1, "✗ `reading` has the two tools that read"),
]


SAVEFIG = Figure.savefig


def saved_coarsely(figure: Figure, target: Any, **options: Any) -> None:
    """Draw a plot without its axes and its layout, which take the most time: no check sees them."""
    figure.set_layout_engine("none")
    with pytest.MonkeyPatch.context() as patch:
        for axes in figure.axes:
            patch.setattr(axes, "axison", False)
        SAVEFIG(figure, target, **{**options, "dpi": 20})


@pytest.fixture(scope="module")
def shell() -> Iterator[InteractiveShell]:
    """A shell that runs the cells of lessons, in the folder of the lessons."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(LESSONS)
        # Other code may have its own `_` there, as gettext and doctest do: IPython sets none then.
        patch.setattr(builtins, "_", None, raising=False)
        patch.setattr(Figure, "savefig", saved_coarsely)
        yield InteractiveShell.instance()
        InteractiveShell.clear_instance()


def answered(shell: InteractiveShell, lesson: str, answer: str) -> Any:
    """Run a lesson with an answer, and return the result of its check."""
    (path,) = LESSONS.glob(f"{lesson}_*.ipynb")
    (checked,) = checked_exercises(path)
    cells, hidden = cell_sources(path)[: checked.check_cell], shell.user_ns_hidden
    for name in [name for name in shell.user_ns if name[0] != "_" and name not in hidden]:
        del shell.user_ns[name]
    for number, cell in enumerate(cells):
        if number == checked.answer_cell:
            shell.run_cell(answer)
        assert shell.run_cell(cell or "").success, cell
    if checked.answer_cell == checked.check_cell:
        shell.run_cell(answer)
    return check(checked.exercise.name)


@pytest.mark.parametrize(("lesson", "answer", "points", "part"), ANSWERS)
def test_an_answer_is_judged_as_a_teacher_would(
    shell: InteractiveShell, lesson: str, answer: str, points: int, part: str
) -> None:
    result = answered(shell, lesson, answer)
    assert (result.points, result.passed) == (points, part == "Passed" or "branch" in part)
    assert part in str(result.page)
    assert not RAW.search(str(result.page))
