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


def notebook(path: Path, *results: tuple[str, float, int]) -> None:
    """Write a notebook that shows these results of checks: an exercise, points, and of how many."""
    data = [{"exercise": name, "held": held, "of": of} for name, held, of in results]
    cells = [new_code_cell("", outputs=[new_output("display_data", {MIME: each})]) for each in data]
    path.parent.mkdir(parents=True)
    path.write_text(writes(new_notebook(cells=cells)))


def test_a_class_is_one_table_with_the_last_check_of_each_exercise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    notebook(Path("ann", "fries.ipynb"), ("cut", 1, 4), ("cut", 4, 4), ("guesses", 2, 3))
    notebook(Path("=bo", "fries.ipynb"), ("-cut", 3, 3))
    notebook(Path("eve", "fries.ipynb"), ("cut", float("inf"), 4))
    Path("ann", ".ipynb_checkpoints").mkdir()
    shutil.copy("ann/fries.ipynb", "ann/.ipynb_checkpoints")
    Path("torn.ipynb").write_text("{")
    assert main(["scores", "."]) == 0
    assert [re.split("  +", line) for line in capsys.readouterr().out.splitlines()] == [
        ["notebook", "-cut", "cut", "guesses", "guesses"],
        ["=bo/fries.ipynb", "3 of 3", "-", "-", "-"],
        ["ann/fries.ipynb", "-", "4 of 4", "2 of 3", "-"],
        ["eve/fries.ipynb", "-", "-", "-", "cannot be read (OverflowError)"],
        ["torn.ipynb", "-", "-", "-", "cannot be read (ToolcallError)"],
    ]
    assert main(["scores", "no"]) == 1
    assert capsys.readouterr().err == "toolcall: there is no no\n"
    assert main(["scores", ".", "--csv"]) == 0
    head, bo, *_ = csv.reader(capsys.readouterr().out.splitlines())
    assert (head[1], bo) == ("'-cut", ["'=bo/fries.ipynb", "3 of 3", "-", "-", "-"])
