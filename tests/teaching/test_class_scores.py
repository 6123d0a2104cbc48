"""The scores of a class: one table of what the notebooks show, read without executing anything."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output, writes

from jupyter_toolcall.cli import main
from jupyter_toolcall.teaching.exercise_checks import MIME

LESSONS = Path(__file__).parents[2] / "notebooks"


def notebook(path: Path, *results: tuple[str, int, int]) -> None:
    """Write a notebook that shows these results of checks: an exercise, points, and of how many."""
    data = [{"exercise": name, "held": held, "of": of} for name, held, of in results]
    cells = [new_code_cell("", outputs=[new_output("display_data", {MIME: each})]) for each in data]
    path.parent.mkdir(parents=True)
    path.write_text(writes(new_notebook(cells=cells)))


def test_a_class_is_one_table_with_the_last_check_of_each_exercise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook(tmp_path / "ann" / "fries.ipynb", ("cut", 1, 4), ("cut", 4, 4), ("label", 2, 3))
    notebook(tmp_path / "=bo" / "fries.ipynb", ("label", 3, 3))
    (tmp_path / "ann" / ".ipynb_checkpoints").mkdir()
    shutil.copy(tmp_path / "ann" / "fries.ipynb", tmp_path / "ann" / ".ipynb_checkpoints")
    (tmp_path / "torn.ipynb").write_text("{")
    assert main(["scores", str(tmp_path), "--csv", str(tmp_path / "table.csv")]) == 0
    lines = [line.replace(str(tmp_path), "") for line in capsys.readouterr().out.splitlines()]
    assert [re.split("  +", line) for line in lines] == [
        ["notebook", "cut", "label", "guesses"],
        ["/=bo/fries.ipynb", "-", "3 of 3", "-"],
        ["/ann/fries.ipynb", "4 of 4", "2 of 3", "-"],
        ["/torn.ipynb", "-", "-", "cannot be read (ToolcallError)"],
    ]
    with (tmp_path / "table.csv").open() as file:
        assert [len(row) for row in csv.reader(file)] == [4] * 4


def test_a_lesson_shows_its_scores(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scores", str(LESSONS / "00_first_call.ipynb")]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.split()[1:] == ["slices", "guesses"]
    assert "0 of 4" in row
