"""A lesson that begins with `%toolchat lesson restart` is the same each time it is opened."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import nbformat

from jupyter_toolcall.storage.journal_file import journal_file
from jupyter_toolcall.storage.notebook_files import MIME, execute

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
    path = folder / "lesson.ipynb"
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    nbformat.write(notebook, path)
    environment = {"JUPYTER_TOOLCALL_DATA": str(data), "JPY_SESSION_NAME": str(path)}
    executed = execute(path, environment)
    executed.write(path)
    return [
        output["data"]["text/plain"] if "data" in output else output["text"]
        for cell in executed.notebook.cells
        for output in cell.outputs
        if MIME in output.get("data", {}) or output.output_type == "stream"
    ]


def test_a_lesson_is_the_same_when_it_is_opened_again_and_in_a_copied_folder(
    tmp_path: Path,
) -> None:
    folder, copy, data = tmp_path / "a", tmp_path / "b", tmp_path / "data"
    folder.mkdir()
    first = opened(folder, data, SET_UP, SESSION, CALLS, EDIT)
    again = opened(folder, data, SET_UP, SESSION, CALLS, EDIT)
    notice = "This lesson begins anew. What was done in it before is set aside.\n"
    assert again == [notice, *first]
    shutil.copytree(folder, copy)
    assert opened(copy, data, SET_UP, SESSION, CALLS, EDIT) == first


def test_what_was_done_before_is_set_aside_and_not_lost(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    restart = "%toolchat lesson restart"
    *_, notice = opened(tmp_path, tmp_path / "data", SET_UP, SESSION, CALLS, restart)
    assert notice == "This lesson begins anew. What was done in it before is set aside.\n"
    journal = journal_file(str(tmp_path / "lesson.ipynb"), "")
    assert [path.name for path in journal.parent.glob("*.aside")] == ["cells.1.aside"]
