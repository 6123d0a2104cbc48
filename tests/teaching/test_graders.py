"""The assignments of `docs/teaching.md`: as they stand, and in both graders from PyPI."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_toolcall.teaching.exercise_proofs import checked_exercises

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "teaching.md").read_text()
FORGED = "# Mine\n\n## Checks\n" + "- All is well: `True`\n" * 4


def blocks(title: str, language: str) -> list[str]:
    """The fenced blocks of a section of the page."""
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)\n```$", section, re.DOTALL | re.MULTILINE)


CONFIG, *PLAIN, ANSWER, TEST_CELL = blocks("Grade with nbgrader", "ipython")
RAW = blocks("Grade with otter-grader", "yaml")
OTTER_ANSWER, FIRST_TEST = blocks("Grade with otter-grader", "ipython")
OTTER_TESTS = [
    FIRST_TEST.replace("test_1", f"test_{n}").replace(">= 1", f">= {n}") for n in range(1, 5)
]
RIGHT = "\n".join(line for line in ANSWER.splitlines() if not line.startswith("#"))
SKIN_FIRST = f"%toolchat call Potato_slice shape=SLICES\n{RIGHT}"
ANSWERS = {"right": RIGHT, "skin": SKIN_FIRST, "sticks": RIGHT.replace("SLICES", "STICKS")}
POINTS = {"right": 4, "skin": 3, "sticks": 1}
"""What each answer deserves."""
MESSAGES = re.findall(r"\| ``? ?((?:Passed|Not done yet).*?)``? \|$", PAGE, re.MULTILINE)
MESSAGE = dict(zip(ANSWERS, MESSAGES, strict=True))


@pytest.fixture(scope="module")
def graders(tmp_path_factory: pytest.TempPathFactory) -> Graders:
    """Both graders, installed beside what is installed here."""
    return Graders(tmp_path_factory.mktemp("graders"))


class Graders:
    """Both graders from PyPI, in a folder. JupyterLab would load their extensions here."""

    def __init__(self, folder: Path) -> None:
        packages = sysconfig.get_path("purelib", vars={"base": str(folder)})
        command = (sys.executable, "-m", "pip", "install", "--quiet", "--prefix", str(folder))
        done = subprocess.run(
            [*command, "nbgrader", "otter-grader"], capture_output=True, text=True
        )
        if done.returncode:
            pytest.fail(f"pip cannot install the graders; is the index reachable? {done.stderr}")
        self.scripts = Path(sysconfig.get_path("scripts", vars={"base": str(folder)}))
        programs = (str(self.scripts), str(Path(sys.executable).parent), os.environ["PATH"])
        self.environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([packages, str(ROOT)]),
            "PATH": os.pathsep.join(programs),
            "HOME": str(folder),
            "JUPYTER_DATA_DIR": str(folder / "data"),
        }

    def run(self, folder: Path, command: str, *words: str) -> str:
        """Run a program of a grader in a folder; return what it printed."""
        done = subprocess.run(
            [self.scripts / command, *words],
            cwd=folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout


def code(source: str, **nbgrader: Any) -> Any:
    """A code cell, with the metadata that nbgrader's Create Assignment writes."""
    defaults = {"schema_version": 3, "cell_type": "code", "grade": False, "solution": False}
    defaults |= {"locked": False, "task": False}
    metadata = {"nbgrader": {**defaults, **nbgrader}} if nbgrader else {}
    return nbformat.v4.new_code_cell(source, metadata=metadata)


@pytest.mark.parametrize("answer", ANSWERS)
def test_the_page_says_what_each_answer_gets(answer: str) -> None:
    points = f"| {POINTS[answer]} of 4 | "
    assert any(points in line and MESSAGE[answer] in line for line in PAGE.splitlines())


def test_the_solution_is_the_same_for_both_graders() -> None:
    assert [line for line in OTTER_ANSWER.splitlines() if line[0] != "#"] == RIGHT.splitlines()


def write_assignment(folder: Path, cells: list[Any]) -> None:
    """Write the notebook and its exercise, without the solution."""
    (folder / "exercises").mkdir(parents=True)
    (lesson,) = checked_exercises(ROOT / "notebooks" / "00_first_call.ipynb")
    (folder / "exercises" / "slices.md").write_text(
        lesson.exercise.source.partition("## Solution")[0]
    )
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, folder / "fries.ipynb")


def submit(released: Path, submitted: Path, cell: int, source: str) -> None:
    """Write the learners' version with a learner's code in one cell."""
    notebook = nbformat.read(released, as_version=4)
    assert "Potato_peel" not in notebook.cells[cell].source
    notebook.cells[cell].source = source
    nbformat.write(notebook, submitted)


@pytest.mark.long
def test_nbgrader_gives_a_point_for_each_check_that_holds(graders: Graders, tmp_path: Path) -> None:
    course = tmp_path / "course"
    cells = [
        *map(code, PLAIN),
        code(ANSWER, grade_id="calls", solution=True),
        code(TEST_CELL, grade_id="check", grade=True, locked=True, points=4),
    ]
    write_assignment(course / "source" / "fries", cells)
    (course / "nbgrader_config.py").write_text(CONFIG)
    graders.run(course, "nbgrader", "generate_assignment", "fries")
    for learner, source in ANSWERS.items():
        submission = course / "submitted" / learner / "fries"
        shutil.copytree(course / "release" / "fries", submission)
        submit(submission / "fries.ipynb", submission / "fries.ipynb", 3, source)
        (submission / "exercises" / "slices.md").write_text(FORGED)
    graders.run(course, "nbgrader", "autograde", "fries")
    graders.run(course, "nbgrader", "export", "--to=grades.csv")
    with (course / "grades.csv").open() as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    points = {name: (float(row["score"]), float(row["max_score"])) for name, row in rows.items()}
    assert points == {name: (deserved, 4) for name, deserved in POINTS.items()}
    for learner, message in MESSAGE.items():
        graded = nbformat.read(course / f"autograded/{learner}/fries/fries.ipynb", as_version=4)
        assert graded.cells[4].outputs[0].text == f"{message}\n"


@pytest.mark.long
def test_otter_gives_a_point_for_each_check_that_holds(graders: Graders, tmp_path: Path) -> None:
    config, question, solution, end_solution, tests, end_tests, end_question = map(
        nbformat.v4.new_raw_cell, RAW
    )
    cells = [
        *(config, *map(code, PLAIN), question, solution, code(OTTER_ANSWER), end_solution),
        *(tests, *map(code, OTTER_TESTS), end_tests, end_question),
    ]
    write_assignment(tmp_path, cells)
    graders.run(tmp_path, "otter", "assign", "fries.ipynb", "dist")
    (grader,) = (tmp_path / "dist" / "autograder").glob("fries-autograder_*.zip")
    released = tmp_path / "dist" / "student" / "fries.ipynb"
    sources = [cell.source for cell in nbformat.read(released, as_version=4).cells]
    scores, outputs = {}, {}
    for learner, source in ANSWERS.items():
        submit(released, tmp_path / f"{learner}.ipynb", sources.index("..."), source)
        (tmp_path / learner).mkdir()
        output = ("-o", learner, f"{learner}.ipynb")
        graders.run(tmp_path, "otter", "run", "-a", str(grader), *output)
        results = json.loads((tmp_path / learner / "results.json").read_text())["tests"]
        scores[learner] = [
            (each["score"], each["max_score"]) for each in results if "score" in each
        ]
        outputs[learner] = results[0]["output"]
    assert scores == {name: [(deserved, 4)] for name, deserved in POINTS.items()}
    assert MESSAGE["sticks"] in outputs["sticks"]
