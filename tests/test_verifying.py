"""A notebook of a real model's is verified without it, and said again in another notebook."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from jupyter_toolcall import cli
from jupyter_toolcall.courses import courses
from jupyter_toolcall.errors import Unfinished, UsageError
from jupyter_toolcall.models import Recorded
from jupyter_toolcall.notebooks import Executed, execute, recorded, verify

from .standin.anthropic_api import StandIn
from .standin.anthropic_turns import Think, Use, says
from .standin.talk import KEY

LOAD = """%load_ext jupyter_toolcall
from jupyter_toolcall import Session, Toolbox

def double(x: int) -> int:
    "Twice a number."
    return 2 * x
"""
LIVE = "-m anthropic:claude-sonnet-5-5"
CELLS = (
    LOAD,
    f"%%toolchat {LIVE} -t double --scheme flat --approve all -n a\nTwice 4?",
    "%%toolchat -n a --system Briefly.\nAnd twice 5?",
    f'Session(Toolbox(double), "{LIVE[3:]}", scheme="flat", approve="all").tell("Twice 6?")',
    f"%%toolchat {LIVE} -t double --scheme flat --approve all -n b\nGuess.",
    f"%%toolchat {LIVE} -t double --scheme flat --approve all -n c\nGuess.",
)
TURNS = (
    says(Think("A tool."), "I double it.", Use("double", {"x": 4})),
    says("It is 8."),
    says(Use("double", {"x": 5})),
    says("It is 10."),
    says(Use("double", {"x": 6})),
    says("It is 12."),
    says("One?"),
    says("Two?"),
)


def written(path: Path, *sources: str) -> Path:
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources]),
        path,
    )
    return path


def said(done: Executed) -> list[str]:
    return [session.text.splitlines()[-1] for session in done.sessions]


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A notebook that was executed with a real model, or what looks like one from here."""
    path = written(tmp_path_factory.mktemp("lesson") / "lesson.ipynb", *CELLS)
    with StandIn(TURNS, key=KEY) as server:
        environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        done = execute(path, environment=environment)
        assert server.refused == []
        assert len(server.asked) == len(TURNS)
    done.write(path)
    assert said(done) == ["It is 8.", "It is 10.", "It is 12.", "One?", "Two?"]
    assert KEY not in path.read_text()
    return path


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def changed(lesson: Path, folder: Path, old: str, new: str) -> Path:
    """The notebook with another first cell, its outputs as they were."""
    text = lesson.read_text()
    assert json.dumps(old)[1:-1] in text
    path = folder / "lesson.ipynb"
    path.write_text(text.replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1], 1))
    return path


def test_a_real_models_notebook_is_verified_without_key_and_network(
    lesson: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["verify", str(lesson)]) == 0
    assert "same" in capsys.readouterr().out


def test_a_tool_that_comes_to_something_else_is_named(
    lesson: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = changed(lesson, tmp_path, "return 2 * x", "return 3 * x")
    assert cli.main(["verify", str(path)]) == 1
    told = capsys.readouterr()
    assert "turn 2 differs from lesson.ipynb in the result of double" in told.out + told.err
    assert f"recorded “{8}”" in told.out + told.err
    assert "12" in told.out + told.err


def test_a_tool_that_is_described_otherwise_is_named(lesson: Path, tmp_path: Path) -> None:
    path = changed(lesson, tmp_path, "Twice a number.", "A number, twice.")
    with pytest.raises(Unfinished, match="in the description of tool double"):
        verify(path)


def test_a_real_model_cannot_be_asked_while_a_notebook_is_verified(tmp_path: Path) -> None:
    source = (
        "import socket\n"
        "for act in (lambda: socket.create_connection(('192.0.2.1', 80), 1),\n"
        "            lambda: socket.socket().connect_ex(('192.0.2.1', 80)),\n"
        "            lambda: socket.getaddrinfo('example.org', 80)):\n"
        "    try:\n"
        "        act()\n"
        "    except OSError as error:\n"
        "        assert 'the network is off' in str(error), error\n"
        "    else:\n"
        "        raise AssertionError('the network is on')\n"
    )
    kitchen = "%%toolchat -m scripted:kitchen -t Potato -i potato --approve all --scheme flat\nGo."
    load = "%load_ext jupyter_toolcall\nfrom jupyter_toolcall.kitchen import Potato\n"
    path = written(tmp_path / "a.ipynb", f"{load}potato = Potato()", kitchen)
    done = execute(path)
    done.notebook.cells.append(nbformat.v4.new_code_cell(source))
    done.write(path)
    assert verify(path).divergence == ""


def test_a_notebooks_sessions_are_said_again_in_another(lesson: Path, tmp_path: Path) -> None:
    (tmp_path / "lesson.ipynb").write_bytes(lesson.read_bytes())
    again = [
        CELLS[1].replace(LIVE, "--replay lesson.ipynb"),
        CELLS[2],
        CELLS[1].replace(LIVE, "-m recorded:lesson.ipynb#a").replace("-n a", "-n z"),
        CELLS[5].replace(LIVE, "--replay lesson.ipynb#c"),
    ]
    done = execute(written(tmp_path / "other.ipynb", LOAD, *again))
    assert said(done) == ["It is 8.", "It is 10.", "It is 8.", "Two?"]


def test_a_part_of_a_notebook_is_named_by_its_cell_or_its_session(lesson: Path) -> None:
    assert len(courses(lesson, "lesson.ipynb", "b")) == 1
    assert courses(lesson, "lesson.ipynb", "b") == courses(lesson, "lesson.ipynb", "5")
    with pytest.raises(UsageError, match="there is no session x; there are 2, a, 3, 4, 5, b"):
        Recorded(f"{lesson}#x")


def test_a_session_goes_over_the_cells_that_it_has(lesson: Path) -> None:
    [course] = courses(lesson, "lesson.ipynb", "a")
    assert [turn.number for turn in course.turns] == [1, 2, 3, 4]
    assert [turn.model for turn in course.turns] == ["anthropic:claude-sonnet-5-5"] * 4


def test_what_opened_a_session_is_in_its_notebook(lesson: Path) -> None:
    parts = [session.data["journal"] for session in recorded(lesson)]
    assert [part.get("opened", [None, {"scheme": ""}])[1]["scheme"] for part in parts] == [
        *["flat"] * 2,
        "",
        *["flat"] * 2,
    ]
    assert parts[1]["opened"][0] == parts[0]["head"]
    assert parts[2]["parent"] is None


def test_a_notebook_that_was_changed_is_no_recording(lesson: Path, tmp_path: Path) -> None:
    text = lesson.read_text()
    first, mark, rest = text.partition('"texts": {')
    path = tmp_path / "lesson.ipynb"
    path.write_text(first + mark + rest.replace("Twice a number.", "A number.", 1))
    with pytest.raises(UsageError, match="a text does not fit its digest"):
        Recorded(path)


KITCHEN = """%load_ext jupyter_toolcall
from jupyter_toolcall.kitchen import Fries, Oven, Plate, Potato, Sink
potato, sink, oven, plate = Potato(), Sink(), Oven(), Plate()
"""


def fries(options: str, prompt: str = "Make fries.") -> str:
    tools = "-t Potato Oven Fries -i potato sink oven plate -o fries:Plate --approve all"
    return f"%%toolchat {options} {tools}\n{prompt}"


def test_a_notebook_records_a_session_and_says_it_again(tmp_path: Path) -> None:
    record = fries("-m scripted:kitchen --record takes/tape.jsonl")
    path = written(
        tmp_path / "a.ipynb",
        KITCHEN,
        record,
        fries("--replay takes/tape.jsonl"),
        "print(fries)",
        "%toolchat models",
        "%toolchat replay --fresh",
    )
    done = execute(path)
    done.write(path)
    tape = (tmp_path / "takes" / "tape.jsonl").read_bytes()
    assert tape.count(b"\n") == 8
    first, again, fresh = done.sessions
    assert first.data["journal"]["events"] != []
    assert [row[1] for row in again.data["journal"]["events"]] == [
        row[1] for row in first.data["journal"]["events"]
    ]
    assert again.data["rows"]["session"][0]["model"] == "recorded:takes/tape.jsonl"
    assert fresh.text.splitlines()[:2] == first.text.splitlines()[:2]
    assert done.notebook.cells[3].outputs[0].text == "fries: sticks\n"
    assert "scripted:kitchen" in done.notebook.cells[4].outputs[0].text
    assert verify(path).divergence == ""
    assert (tmp_path / "takes" / "tape.jsonl").read_bytes() == tape


def test_a_cell_that_is_told_something_else_fails_in_two_lines(tmp_path: Path) -> None:
    record = fries("-m scripted:kitchen --record tape.jsonl")
    other = fries("--replay tape.jsonl", "Make chips.")
    path = written(tmp_path / "a.ipynb", KITCHEN, record, other)
    with pytest.raises(Unfinished, match=r"turn 1 differs from tape.jsonl in the prompt"):
        execute(path)
