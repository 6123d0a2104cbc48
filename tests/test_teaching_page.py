"""`docs/teaching.md`: its exercises, cells and checks run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, tool
from jupyter_toolcall.jupyter.cell_prompts import filled_prompt
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.kitchen import Potato
from jupyter_toolcall.teaching import exercise_checks as checks
from jupyter_toolcall.teaching.exercise_file import Check, Exercise, SeededError, read_exercise
from jupyter_toolcall.teaching.guesses import Points
from tests.teaching.test_exercises import Kernel

PAGE = (Path(__file__).parent.parent / "docs" / "teaching.md").read_text()
FRIES, SPOT = re.findall(r"^```markdown\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
RECORD, PREDICT, WITH_ERROR = re.findall(r"^```\n%%toolchat (.*)\n(.*)\n```$", PAGE, re.MULTILINE)


@tool(read_only=True)
def weigh(potato: Potato) -> float:
    """Weigh a potato.

    Args:
        potato: What to weigh.
    """
    return 180.0


def double(number: int) -> int:
    """Double a number."""
    return 2 * number


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def last_column(title: str) -> list[str]:
    """The expressions in the table of a section."""
    return re.findall(r"\| `([^`]+)` \|$", section(title), re.MULTILINE)


class Teacher(Kernel):
    """A teacher who does in a notebook what the page says."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, fries=FRIES, spot=SPOT)
        self.variables |= {"weigh": weigh, "double": double}

    def run_cell(self, cell: tuple[str, str]) -> Session:
        session = self.cells.session(
            parse_options(cell[0].replace("--predict ", "")), self.variables
        )
        return self.cells.keep(session.ask(filled_prompt(cell[1], session, self.variables)).run())

    def check(self, name: str) -> str:
        return str(carry_out(["check", name], self.cells, {}, self.variables))


@pytest.fixture
def teacher(tmp_path: Path) -> Teacher:
    return Teacher(tmp_path)


def test_the_exercises_can_be_read() -> None:
    fries, spot = (read_exercise(text, "docs/teaching.md") for text in (FRIES, SPOT))
    assert len(FRIES.splitlines()) == 10
    assert [len(fries.checks), len(fries.hints), fries.cells] == [1, 1, ()]
    assert (spot.seeded_errors, spot.cells) == (
        (SeededError(4, {"shape": "SLICES"}),),
        ("%toolchat edit 4 shape=STICKS",),
    )


def test_who_follows_the_page_has_a_recording_and_an_error_to_find(teacher: Teacher) -> None:
    for cell in (RECORD, PREDICT):
        assert teacher.run_cell(cell).outputs["fries"].food == "fries: sticks"
        assert teacher.check("fries").startswith("Passed")
    session = teacher.run_cell(WITH_ERROR)
    assert teacher.check("spot").startswith("Not done yet")
    teacher.cells.keep(session.edit(session.calls[3], shape="STICKS").run())
    assert teacher.check("spot").startswith("Passed")


def test_every_expression_on_the_page_holds_for_the_session_on_the_page(teacher: Teacher) -> None:
    session = teacher.run_cell(RECORD)
    sessions = session, session.edit(session.calls[3], shape="SLICES").run()
    inline = re.findall(r"`([^`|]+ == [^`|]+)`", section("What can be checked"))
    expressions = [*last_column("What can be checked"), *last_column("Six kinds"), *inline]
    assert len(expressions) > 18
    for expression in expressions:
        exercise = Exercise("It", checks=(Check("It holds", expression),))
        contexts = [checks.CheckContext(each, teacher.variables, Points(5, 8)) for each in sessions]
        verdicts = [checks.check_exercise(exercise, each) for each in contexts]
        assert any(each.passed for each in verdicts), (expression, verdicts[0].problem)


def test_every_name_that_an_expression_can_use_is_on_the_page() -> None:
    table = section("What can be checked")
    members = [*checks.COPIED, *vars(checks.CheckedSession)]
    members = [name for name in members if not name.startswith("_")]
    assert len(members) == 8
    for name in (*(f"session.{member}" for member in members), "score", "tool_of", "run_tool"):
        assert f"`{name}" in table


def test_the_model_that_is_written_down_on_the_page_does_what_it_says(teacher: Teacher) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    exec(code, teacher.variables)
    options, prompt = RECORD
    session = teacher.run_cell((options.replace("scripted:kitchen", "cook"), prompt))
    assert {call.status for call in session.calls} == {"succeeded"}
    assert session.outputs["fries"].food == "fries: sticks"
    assert teacher.run_cell(PREDICT).outputs == session.outputs
    assert session.verify()


def test_a_script_cleans_a_table_under_the_default_scheme_of_a_cell(teacher: Teacher) -> None:
    pandas = pytest.importorskip("pandas")

    def without_gaps(table: Any) -> Any:
        """Drop the rows with gaps."""
        return table.dropna()

    without_gaps.__annotations__ = dict.fromkeys(("table", "return"), pandas.DataFrame)
    teacher.variables |= {
        "DataFrame": pandas.DataFrame,
        "without_gaps": without_gaps,
        "df": pandas.DataFrame({"price": [1.0, None, 3.0]}),
        "script": Scripted(
            [("without_gaps", {"table": "$DataFrame"}), ("save", {"clean": "$DataFrame"})]
        ),
    }
    line = "-m script -t without_gaps -i df -o clean:DataFrame --approve all"
    session = teacher.run_cell((line, "Clean {df}."))
    assert [call.status for call in session.calls] == ["succeeded"] * 3
    assert list(session.outputs["clean"]["price"]) == [1.0, 3.0]
