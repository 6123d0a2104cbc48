"""A lesson that begins with `%toolchat lesson restart` is the same each time it is opened."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.kitchen import Potato
from jupyter_toolcall.storage.journal_file import ELSEWHERE, journal_file
from jupyter_toolcall.storage.notebook_files import MIME, execute
from jupyter_toolcall.teaching.magic_commands import Teaching
from tests.faults.disks import Faulty
from tests.notebooks import write_notebook

SET_UP = """\
%load_ext jupyter_toolcall
%toolchat lesson restart
from jupyter_toolcall.kitchen import Oven, Potato, Sink

potato, oven = Potato(), Oven()
"""
SESSION = """\
%%toolchat -m person -t Potato Oven -i potato oven --scheme flat --approve all --no-wait
Peel {potato}.
"""
CALLS = "%toolchat call Potato_peel\n%toolchat call Potato_slice shape=STICKS"
EDIT = "%toolchat edit 2 shape=SLICES"


def opened(folder: Path, data: Path, *cells: str) -> list[Any]:
    """Return the outputs of the cells of a lesson that is opened in a folder, and run."""
    path = write_notebook(folder / "lesson.ipynb", *cells)
    environment = {"JUPYTER_TOOLCALL_DATA": str(data), "JPY_SESSION_NAME": str(path)}
    executed = execute(path, environment)
    executed.write(path)
    return [
        output["data"]["text/plain"] if "data" in output else output["text"]
        for cell in executed.notebook.cells
        for output in cell.outputs
        if MIME in output.get("data", {}) or output.output_type == "stream"
    ]


def notice(data: Path, folder: Path) -> str:
    """Return what is printed where a lesson in a folder starts over."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_TOOLCALL_DATA", str(data))
        kept = journal_file(str(folder / "lesson.ipynb"), "").parent
    return f"This lesson starts over. What was done in it before is kept in {kept}.\n"


def test_a_lesson_is_the_same_when_opened_again_and_in_a_copied_folder(tmp_path: Path) -> None:
    folder, copy, data = tmp_path / "a", tmp_path / "b", tmp_path / "data"
    folder.mkdir()
    first = opened(folder, data, SET_UP, SESSION, CALLS, EDIT)
    assert "2 branches" in first[-1]
    again = opened(folder, data, SET_UP, SESSION, CALLS, EDIT)
    assert again == [notice(data, folder), *first]
    shutil.copytree(folder, copy)
    assert opened(copy, data, SET_UP, SESSION, CALLS, EDIT) == first


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of all journals, for kernels in this process."""
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path))
    return tmp_path


def continued(cells: Cells, *options: str) -> Session:
    """Run a cell with two calls, and return its session."""
    line = "-m m -t Potato -i potato --scheme flat --approve all"
    model = Scripted([("Potato_peel", {}), ("Potato_slice", {"shape": "STICKS"}), "Done."])
    variables = {"m": model, "Potato": Potato, "potato": Potato()}
    session = cells.session(parse_options(line), variables)
    return cells.keep(add_prompt(session, "Cut it.", False).run())


def test_what_was_done_before_is_kept_and_its_panel_changes_nothing_here(data: Path) -> None:
    cells = Cells(str(data / "lesson.ipynb"))
    before = continued(cells)
    kept = cells.start_over()
    assert kept is not None
    (old,) = kept.glob("*.old")
    assert Journal.loads(old.read_text()).dumps() == before.journal.dumps()
    after = continued(cells)
    # Somebody edits a call in the panel of before.
    cells.keep(before.edit(before.calls[1], shape="SLICES").run())
    assert cells.current() is after
    assert len(after.branch_names) == 1
    (path,) = kept.glob("*.jsonl")
    assert len(Journal.loads(path.read_text())) == len(after.journal)


def test_a_session_that_another_kernel_writes_starts_over_in_memory(data: Path) -> None:
    cells, other = (Cells(str(data / "lesson.ipynb")) for _ in range(2))
    before = continued(other)
    assert cells.start_over() is not None
    after = continued(cells)
    assert cells.notes() == [ELSEWHERE]
    assert (len(after.calls), after.journal is before.journal) == (2, False)
    assert not [*data.rglob("*.old")]


def test_a_lesson_that_cannot_start_over_says_why_in_one_line(data: Path) -> None:
    cells = Cells(str(data / "lesson.ipynb"))
    continued(cells)
    cells.close()
    disk = Faulty(errno.EROFS, "sync folder")
    lesson = Teaching(Cells(str(data / "lesson.ipynb"), files=disk))
    with pytest.raises(UsageError, match="the disk is read-only; make it writable") as raised:
        lesson.subcommand("lesson", ["restart"], "", {})
    assert "\n" not in str(raised.value)
