"""`jupyter toolcall verify`: files come out as recorded, or the first divergence is told."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from jupyter_toolcall import Session, cli
from jupyter_toolcall.kitchen import FRIES, Oven, Plate, Potato, Sink, kitchen
from jupyter_toolcall.session.verify_files import verify
from jupyter_toolcall.storage.notebook_files import MIME, execute

LOAD = "%load_ext jupyter_toolcall\nfrom jupyter_toolcall import Scripted"
TOOLS = """GRAMS = 10
class Loaf:
    def __init__(self, grams): self.grams = grams
    def slice(self, number: int) -> "Loaf":
        "Cut off so many slices."
        return Loaf(self.grams - number * GRAMS)
    def weigh(self) -> int:
        "Weigh it."
        return self.grams

loaf = Loaf(500)
"""
MODEL = """model = Scripted([
    [("Loaf_slice", {"number": 2}), ("Loaf_weigh", {})],
    ("Loaf_slice", {"number": 1}),
    "Done.",
])"""
CELL = "%%toolchat -m model -t Loaf -i loaf --scheme flat --approve {}\nCut {{loaf}}."


def written(path: Path, *sources: str) -> Path:
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def recorded(path: Path, *sources: str) -> Path:
    execute(written(path, *sources)).write(path)
    return path


@pytest.fixture(scope="module")
def recorded_lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lesson") / "lesson.ipynb"
    return recorded(path, LOAD, TOOLS, MODEL, CELL.format("all"))


@pytest.fixture
def lesson(tmp_path: Path, recorded_lesson: Path) -> Path:
    return Path(shutil.copy(recorded_lesson, tmp_path / "lesson.ipynb"))


def changed(path: Path, old: str, new: str) -> Path:
    notebook = nbformat.read(path, as_version=4)
    assert any(old in cell.source for cell in notebook.cells)
    for cell in notebook.cells:
        cell.source = cell.source.replace(old, new)
    nbformat.write(notebook, path)
    return path


def ran(capfd: pytest.CaptureFixture[str], *words: Any) -> tuple[int, list[str], str]:
    """Exit status, lines, and what is on standard error, a kernel's words too.

    Not what is said before anything is executed.
    """
    status = cli.main(["verify", "--trust", *map(str, words)])
    captured = capfd.readouterr()
    said = captured.err.splitlines(keepends=True)
    first = said.pop(0) if said else ""
    assert re.fullmatch("toolcall: verify executes the code of .* with your rights.\n|", first)
    return status, captured.out.splitlines(), "".join(said)


# -- the command line -------------------------------------------------------------------------


def test_every_file_has_one_line_and_one_that_differs_is_exit_1(
    tmp_path: Path, lesson: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other, failing = (
        Path(shutil.copy(lesson, tmp_path / f"{name}.ipynb")) for name in ("other", "failing")
    )
    changed(other, "GRAMS = 10", "GRAMS = 11")
    # Another Python compiles a tool to other code: its results are compared.
    changed(lesson, "return Loaf(self.grams - number * GRAMS)", "return Loaf(self.grams-number*10)")
    changed(failing, "loaf = Loaf(500)", "raise RuntimeError('no flour')")
    capfd.readouterr()
    status, lines, said = ran(capfd, lesson, other, failing, tmp_path / "none.ipynb")
    assert (status, said, len(lines)) == (1, "", 4)
    content = "call_1_1, Loaf_slice: outcome.content was '"
    assert lines[0] == f"same     {lesson}: 1 session, 3 calls"
    assert lines[1].startswith(f"differs  {other}: cell 4: Cut {{loaf}}.: {content}")
    assert lines[2] == f"differs  {failing}: RuntimeError: no flour"
    assert lines[3] == f"differs  {tmp_path / 'none.ipynb'}: No such file or directory"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Cut off so many slices.", "Cut it.", "offered.Loaf_slice.description was 'Cut off so"),
        ('"number": 1', '"number": 3', "entry: calls.0.arguments.number was 1, and is 3"),
        ("return self.grams", "return self.grams / 7", "Loaf_weigh: outcome.data was 480, and is"),
        ("return self.grams", "return self.grams / 0", "was data: 480, and is failed: 'ZeroDiv"),
        ('"Done."', '("Loaf_weigh", {}), "Done."', "the replied entry: "),
    ],
)
def test_what_differs_is_told_by_its_place(lesson: Path, old: str, new: str, said: str) -> None:
    found = verify(changed(lesson, old, new))
    assert not found
    assert said in str(found)
    assert "\x1b" not in str(found)


def test_a_session_more_and_a_session_less_are_told(lesson: Path) -> None:
    notebook = nbformat.read(lesson, as_version=4)
    notebook.cells[3].outputs = []
    notebook.cells.append(nbformat.v4.new_code_cell(CELL.format("all")))
    nbformat.write(notebook, lesson)
    assert str(verify(lesson)) == "it holds no session"
    execute(lesson).write(lesson)
    notebook = nbformat.read(lesson, as_version=4)
    notebook.cells[3].source = "1"
    nbformat.write(notebook, lesson)
    assert str(verify(lesson)) == "cell 5: Cut {loaf}.: its session did not come out"


def test_a_changed_record_is_no_record(lesson: Path) -> None:
    recorded, changed = '\\"data\\":480', '\\"data\\":481'
    assert recorded in lesson.read_text()
    lesson.write_text(lesson.read_text().replace(recorded, changed))
    assert "does not fit its own digests" in str(verify(lesson))


def test_a_journal_is_checked_in_itself(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = {"potato": Potato(), "sink": Sink(), "oven": Oven(), "plate": Plate()}
    session = Session(kitchen(), FRIES, approve="all", inputs=given, outputs={"fries": Plate})
    session.tell("Bake.").save(path := tmp_path / "s.jsonl")
    entries = len(session.journal)
    line = (
        f"same     {path}: {entries} entries, 8 calls follow one another; a journal holds no "
        "tools, so none ran"
    )
    assert ran(capfd, path)[:2] == (0, [line])
    path.write_text(path.read_text().replace("Bake.", "Boil."))
    status, lines, _ = ran(capfd, path)
    assert status == 1
    assert "of the journal is torn or was changed" in lines[0]
    path.write_text("")
    assert ran(capfd, path)[:2] == (1, [f"differs  {path}: it holds no session"])


# -- what a person decided by hand ------------------------------------------------------------

BY_HAND = """
from jupyter_toolcall.jupyter.notebook import current_notebook as _here

def _say(*acts):
    notebook = _here()
    drive = notebook.controllers[""]
    for act in acts:
        found = act(drive.session)
        drive.session = drive.session if found is None else found
        drive.run_to_pause()
    notebook._leave(drive)

def _cut_off(session, call_id):
    from jupyter_toolcall.engine.turn import start_of
    cursor = session.decide(call_id).cursor
    call = cursor.state.calls[call_id]
    cursor.write(start_of(call, cursor.prepared(call, cursor.state)[0]))
"""


def by_hand(path: Path, *acts: str, cell: str = CELL.format("ask"), own: bool) -> Path:
    """Record what clicks in a panel leave: decisions that no cell of the notebook makes."""
    hidden = f"{BY_HAND}\n_say({', '.join(f'lambda s: {act}' for act in acts)})"
    waiting = cell.replace("%%toolchat", "%%toolchat --no-wait", 1)
    written(path, LOAD, TOOLS, MODEL, waiting, hidden)
    if own:
        # As a front end starts a kernel: it knows its notebook, and writes to the user's data.
        notebook = nbformat.read(path, as_version=4)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("JPY_SESSION_NAME", os.path.abspath(path))
            NotebookClient(notebook, resources={"metadata": {"path": str(path.parent)}}).execute()
    else:
        notebook = execute(path).notebook
    notebook.cells = notebook.cells[:4]
    notebook.cells[3].source = cell
    nbformat.write(notebook, path)
    return path


FIRST, SECOND, THIRD = (f"s.decide('{call}')" for call in ("call_1_1", "call_1_2", "call_2"))
CUT_OFF = "_cut_off(s, 'call_1_2')"
REJECTED = "s.decide('call_1_2', 'reject', reason='no scales')"
ACTS = {
    "edited": (
        "s.decide('call_1_1', 'edit', arguments={'Loaf': 'Loaf#1', 'number': 4}, reason='more')",
        "s.decide('call_1_2', 'answer', result=7)",
        "s.decide('call_2', 'reject', reason='enough')",
    ),
    "edited afterwards": (FIRST, SECOND, THIRD, "s.edit('call_1_1', number=5)"),
    "decided again": (FIRST, REJECTED, THIRD, "s.decide_anew('call_1_2', 'answer', result=1)"),
    "still waiting": (FIRST, CUT_OFF),
}


@pytest.mark.parametrize("acts", ACTS.values(), ids=ACTS)
def test_what_a_person_decided_here_is_decided_again(tmp_path: Path, acts: tuple[str, ...]) -> None:
    found = str(verify(by_hand(tmp_path / "hand.ipynb", *acts, own=True)))
    assert found.startswith("1 session, ")
    assert "by hand" not in found


def test_what_was_cut_off_is_not_run_again_to_verify_what_a_person_answered(tmp_path: Path) -> None:
    answered = "s.decide('call_1_2', 'answer', result=480)"
    path = by_hand(tmp_path / "hand.ipynb", FIRST, CUT_OFF, answered, THIRD, own=True)
    ran = tmp_path / "ran"
    changed(path, "return self.grams", f"return open({str(ran)!r}, 'w').write('')")
    found = verify(path, allow=True)
    assert not ran.exists()
    assert str(found) == "1 session, 3 calls"


def test_what_was_cut_off_and_run_once_more_comes_out_as_it_did_then(tmp_path: Path) -> None:
    path = by_hand(tmp_path / "hand.ipynb", FIRST, CUT_OFF, SECOND, THIRD, own=True)
    assert str(verify(path)) == "1 session, 3 calls"
    found = verify(changed(path, "return self.grams", "return self.grams + 1"), allow=True)
    assert "call_1_2, Loaf_weigh: " in str(found)


def test_what_another_machine_approved_runs_only_where_it_is_allowed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = by_hand(tmp_path / "hand.ipynb", FIRST, SECOND, THIRD, own=False)
    capfd.readouterr()
    status, lines, said = ran(capfd, path)
    assert (status, said) == (1, "")
    assert lines == [
        f"differs  {path}: Loaf_slice (call_1_1) waits for a person, and this run has none. It "
        "may change something: the tool is not marked read-only. Use --approve all, mark the tool "
        "read-only, or run the cell in a notebook (3 decisions by "
        "hand came from another machine, another notebook or an older version; --allow takes them)"
    ]
    assert ran(capfd, path, "--allow") == (0, [f"same     {path}: 1 session, 3 calls"], "")
    # A result behind a decision by hand is compared too.
    changed(path, "loaf = Loaf(500)", "loaf = Loaf(501)")
    assert "content was" in verify(path, allow=True).divergence


def test_an_approval_holds_for_exactly_what_was_approved(tmp_path: Path) -> None:
    path = by_hand(tmp_path / "hand.ipynb", FIRST, SECOND, THIRD, own=True)
    found = str(verify(path))
    assert found.startswith("1 session, ")
    assert "by hand" not in found
    changed(path, "return Loaf(self.grams - number * GRAMS)", "return Loaf(open('/x'))")
    assert "Loaf_slice (call_1_1) waits for a person" in str(verify(path))


def test_what_a_person_said_in_the_models_place_is_said_again(tmp_path: Path) -> None:
    cell = CELL.format("all").replace("-m model", "-m person")
    path = by_hand(
        tmp_path / "person.ipynb",
        "s.reply('I cut it.', ('Loaf_slice', {'number': 3}))",
        "s.reply('Done.')",
        cell=cell,
        own=False,
    )
    assert "the model is a person" in str(verify(path))
    assert verify(path, allow=True)


def test_a_decision_in_a_cell_of_its_own_is_that_cells(tmp_path: Path) -> None:
    cell = CELL.format("ask").replace("%%toolchat", "%%toolchat --no-wait", 1)
    lines = ("%toolchat approve", "%toolchat reject 2 no", "%toolchat approve")
    path = recorded(tmp_path / "lines.ipynb", LOAD, TOOLS, MODEL, cell, *lines)
    assert str(verify(path, allow=True)) == "4 sessions, 10 calls"
    assert sum(MIME in str(cell.outputs) for cell in nbformat.read(path, 4).cells) == 4
