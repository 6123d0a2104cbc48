"""Exercises of a notebook, proven: their solutions pass, and nothing passes without them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox, cli
from jupyter_toolcall.core.errors import ToolcallError
from jupyter_toolcall.kitchen import Potato, Sink
from jupyter_toolcall.models.recorded import Recording
from jupyter_toolcall.teaching.exercise_proofs import prove
from tests.notebooks import write_notebook

LOAD = """%load_ext jupyter_toolcall
from jupyter_toolcall.kitchen import Potato, Sink
potato, sink = Potato(), Sink()"""
TOOLS = "-t Potato -i potato sink --scheme flat --approve all --no-wait"
SCRIPT = [("Potato_peel", {}), ("Potato_slice", {"shape": "STICKS"}), "Sticks."]
SPOT = """# Spot the error
## Session
- Replays `tape.jsonl`
- In call 2, `shape="SLICES"`
## Checks
- Sticks it is: `session.calls[1].arguments["shape"] == "STICKS"`
- The rest is as it was: `[call.step for call in session.calls if call.edited] == [2]`
## Solution
```
%toolchat edit 2 shape=STICKS
```
"""
PLAY = """# You are the model
## Checks
- There are slices: `session.called("Potato_slice", shape="SLICES")`
- No call failed: `all(call.status != "failed" for call in session.calls)`
- Two calls are enough: `len(session.calls) <= 2`
## Solution
```
%toolchat call Potato_peel
```
Then:
```
%toolchat call Potato_slice shape=SLICES
```
"""
WRITE = """# A tool of yours
## Checks
- It changes nothing: `tool_of(weigh).read_only`
- It weighs: `weigh(potato) == 180`
- It was called: `session.called("weigh")`
## Solution
```python
from jupyter_toolcall import Scripted, tool

@tool(read_only=True)
def weigh(potato: Potato) -> int:
    return 180

script = Scripted([("weigh", {"potato": "Potato#1"}), "Done."])
```
"""
PREDICT = """# Predict
## Session
- Replays `tape.jsonl`
## Checks
- Four points: `score.right >= 4`
## Solution
```
%toolchat guess Potato_peel
```
```
%toolchat guess Potato_slice shape=STICKS
```
"""
EXERCISES = {"spot": SPOT, "play": PLAY, "write": WRITE, "predict": PREDICT}
CELLS = {
    "spot": [
        f"%%toolchat exercise spot\n{SPOT}",
        f"%%toolchat --replay exercises/spot.md {TOOLS}\nSticks, please.",
        "%toolchat check spot",
    ],
    "play": [
        f"%%toolchat -m person {TOOLS}\nSlices, please.",
        "# your turn",
        "%toolchat check play",
    ],
    "write": [
        f"%%toolchat exercise write\n{WRITE}",
        "# write `weigh` here",
        "%%toolchat -m script -t weigh -i potato --scheme flat --approve all\nWeigh it.",
        "%toolchat check",
    ],
    "predict": [
        f"%%toolchat --predict --replay exercises/predict.md {TOOLS}\nSticks, please.",
        "%toolchat check predict",
    ],
}


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two exercises, which the others have in cells, and with what they replay."""
    folder = tmp_path_factory.mktemp("lesson")
    (folder / "exercises").mkdir()
    for name, text in (("play", PLAY), ("predict", PREDICT)):
        (folder / "exercises" / f"{name}.md").write_text(text)
    tape = Recording(Scripted(SCRIPT), folder / "exercises" / "tape.jsonl")
    inputs = {"potato": Potato(), "sink": Sink()}
    Session(Toolbox(Potato), tape, scheme="flat", inputs=inputs, approve="all").tell(
        "Sticks, please."
    )
    return folder


def test_every_kind_of_exercise_passes_by_its_solution_and_not_without(
    lesson: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [cell for name in EXERCISES for cell in CELLS[name]]
    path = write_notebook(lesson / "lesson.ipynb", LOAD, *cells)
    assert cli.main(["check", "--trust", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [f"passes  {path}: {name}" for name in EXERCISES]


def test_a_solution_that_does_not_pass_and_a_check_that_checks_nothing_are_named(
    lesson: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "lesson"
    shutil.copytree(lesson, folder)
    nothing = "# None\n## Checks\n- No calls: `not session.calls`\n## Solution\n```\n1 + 1\n```\n"
    (folder / "exercises" / "none.md").write_text(nothing)
    wrong = SPOT.replace("=STICKS", "=SLICES")
    path = write_notebook(
        folder / "lesson.ipynb", LOAD, f"%%toolchat exercise spot\n{wrong}", *CELLS["spot"][1:]
    )
    assert cli.main(["check", "--trust", str(path)]) == 1
    assert capsys.readouterr().out == f"fails   {path}: spot (its solution does not pass)\n"
    person = f"%%toolchat -m person {TOOLS}\nWell?"
    found = prove(write_notebook(folder / "lesson.ipynb", LOAD, person, "%toolchat check none"))
    assert found == {"none": "it passes before its solution is there"}


def test_a_notebook_without_a_check_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(ToolcallError, match="a cell has to say %toolchat check NAME"):
        prove(write_notebook(tmp_path / "lesson.ipynb", "1 + 1"))
