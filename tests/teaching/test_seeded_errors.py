"""`jupyter toolcall seed` proposes wrong calls, and keeps those that the checks notice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jupyter_toolcall.cli import main
from jupyter_toolcall.core.events import Call
from jupyter_toolcall.models.recording_file import Course, Turn
from jupyter_toolcall.schemes.messages import Reply
from jupyter_toolcall.teaching.exercise_file import read_exercise
from jupyter_toolcall.teaching.exercise_proofs import proposed_errors
from tests.notebooks import write_notebook

SET_UP = """\
%load_ext jupyter_toolcall
from jupyter_toolcall.kitchen import Fries, Oven, Plate, Potato, Sink

potato, sink, oven, plate = Potato(), Sink(), Oven(), Plate()
"""
LINE = "-t Potato Oven Fries -i potato sink oven plate -o fries:Plate --approve all --no-wait"
PROMPT = "Bake me some fries from {potato}. Save them as fries."
EXERCISE = """\
# Spot the error

## Session
- Replays `fries.jsonl`

## Checks
- No call failed: `all(call.status != "failed" for call in session.calls)`
- The fries are in sticks: `fries.food == "fries: sticks"`
"""


def lesson(folder: Path) -> Path:
    """Write a lesson with an exercise that replays a recording, and return its notebook."""
    (folder / "exercises").mkdir()
    (folder / "exercises" / "spot.md").write_text(EXERCISE)
    record = f"%%toolchat -m scripted:kitchen --record exercises/fries.jsonl {LINE}\n{PROMPT}"
    recording = write_notebook(folder / "record.ipynb", SET_UP, record)
    assert main(["run", "--trust", str(recording)]) == 0
    replay = f"%%toolchat --replay exercises/spot.md {LINE}\n{PROMPT}"
    return write_notebook(folder / "spot.ipynb", SET_UP, replay, "%toolchat check spot")


def test_five_wrong_calls_that_the_checks_notice_are_lines_of_an_exercise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = lesson(tmp_path)
    capsys.readouterr()
    assert main(["seed", "--trust", str(path), "spot"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    for line in lines:
        parts = re.fullmatch(r"(In call .*)  \(noticed: (.*)\)", line)
        assert parts is not None
        kept, notice = parts.groups()
        assert notice in EXERCISE
        seeded = EXERCISE.replace("\n\n## Checks", f"\n- {kept}\n\n## Checks")
        assert len(read_exercise(seeded, "spot.md").seeded_errors) == 1
    assert any("shape='SLICES'" in line and "in sticks" in line for line in lines)


def test_an_exercise_in_a_cell_gets_no_proposals_and_the_error_says_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exercise = "%%toolchat exercise spot\n# Spot\n## Checks\n- It is 1: `1 == 1`"
    cells = "%load_ext jupyter_toolcall", exercise, "%toolchat check spot"
    path = write_notebook(tmp_path / "spot.ipynb", *cells)
    assert main(["seed", "--trust", str(path), "spot"]) == 1
    assert "spot is an exercise in a cell: seed needs one in a file" in capsys.readouterr().err


def test_no_proposal_is_the_call_itself() -> None:
    same = Call("a", "add", {"x": 1, "y": 1}), Call("b", "add", {"x": 1, "y": 1})
    errors = proposed_errors(Course((Turn(1, Reply("", same), 0),)))
    assert {(e.step, *e.arguments.items()) for e in errors} == {
        (step, (name, 2)) for step in (1, 2) for name in "xy"
    }


def test_arguments_of_one_type_are_swapped_and_a_step_is_left_out() -> None:
    calls = Call("a", "move", {"to": "A#1", "at": "B#3"}), Call("b", "stop", {"now": True})
    course = Course((Turn(1, Reply("", calls), 0),))
    found = [(error.step, error.arguments, error.tool) for error in proposed_errors(course)]
    assert (1, {"to": "B#3", "at": "A#1"}, "") in found
    assert (1, {"now": True}, "stop") in found
    assert (2, {"now": False}, "") in found
