"""Every session of the tutorials goes home: its script makes the same objects, alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_toolcall.storage.notebook_files import execute
from tests.lessons import FIRST, REPLAYING, executed

ROOT = Path(__file__).parent.parent.parent
NO_PYTHON = {"08_graphql.ipynb"}
"""Their objects are queries, which no script can write down."""
WITH_TOOLSET = {f"{name}.ipynb" for name in ("01_live_objects", "02_select", "03_current")}
WITH_TOOLSET |= {"12_mcp.ipynb", "04_by_hand.ipynb", "07_replay_edit_fork.ipynb"}
"""Their scripts import the functions of a toolset, or the class of a resource, and say so."""
HANDED_IN = {"04_by_hand.ipynb": 1}
"""The tables that a program handed in: no tool makes them, and no literal says them."""
TakeHome = Callable[[str], tuple[Path, list[Any]]]
TAKE_HOME = """
import json as _json
import sys as _sys
import threading as _threading

_sys.path.insert(0, {root!r})
from jupyter_toolcall import Session as _Session
from jupyter_toolcall.export.statements import variables as _variables
from tests.export.worlds import plain as _plain
from tests.export.worlds import run as _run

_all = [*Out.values(), *list(globals().values())]
_sessions = list({{id(each): each for each in _all if isinstance(each, _Session)}}.values())
_said = []
for _number, _session in enumerate(_sessions):
    _path = _session.export(f"{folder}/{{_number}}.py")
    _session.export(f"{folder}/{{_number}}.ipynb")
    # What a person has to fill in stays open here, so that all else runs.
    _code = _path.read_text()
    _path.write_text(_code.replace("    raise NotImpl", "    return ...; raise NotImpl"))
    _runs = []
    # A script has no event loop around it.
    _alone = _threading.Thread(target=lambda: _runs.append(_run(_path, free={free})))
    _alone.start()
    _alone.join()
    _names = {{n: v for n, v in _variables(_session.objects).items() if n.partition("#")[0]}}
    _made = {{n: _runs[0][v] for n, v in _names.items() if _runs[0][v] is not ...}}
    # What a tool makes that was changed since is another thing, and the script says so.
    _old = {{each.name for each in _session.outdated()}}
    assert not _old or "CHECK: " in open(_path).read()
    _wrong = [n for n in _made if n not in _old and _plain(_made[n]) != _plain(_session[n])]
    _said.append([len(_names), len(_made), _wrong])
print(_json.dumps(_said))
"""


@pytest.fixture(scope="module")
def taken_home(tmp_path_factory: pytest.TempPathFactory) -> TakeHome:
    """Run a lesson, once, and take its sessions home: the folder, and of each session its
    objects, those made, and those that differ."""

    @cache
    def taken(name: str) -> tuple[Path, list[Any]]:
        folder = tmp_path_factory.mktemp("home")
        notebook = nbformat.read(ROOT / "notebooks" / name, as_version=4)
        source = TAKE_HOME.format(root=str(ROOT), folder=str(folder), free=name not in WITH_TOOLSET)
        notebook.cells.append(nbformat.v4.new_code_cell(source))
        at = folder / name
        shutil.copy(ROOT / "notebooks" / "library_server.py", folder)
        nbformat.write(notebook, at)
        outputs = execute(at).notebook.cells[-1].outputs
        return folder, json.loads("".join(output.text for output in outputs).splitlines()[-1])

    return taken


@pytest.mark.parametrize("name", executed(each_time=(FIRST, REPLAYING)))
def test_tutorial_sessions_make_the_same_objects_at_home(name: str, taken_home: TakeHome) -> None:
    folder, said = taken_home(name)
    assert said
    assert [wrong for *_, wrong in said if wrong] == []
    if name not in NO_PYTHON:
        assert sum(objects - made for objects, made, _ in said) == HANDED_IN.get(name, 0)
    for path in folder.glob("[0-9]*.py"):
        text = path.read_text()
        ours = "jupyter_toolcall" in text
        assert ours == ("jupyter-toolcall, whose toolset it imports." in text)
        assert name in WITH_TOOLSET or not ours


@pytest.mark.long
def test_an_exported_notebook_runs_from_cell_to_cell(taken_home: TakeHome) -> None:
    folder, _ = taken_home("05_native_tools.ipynb")
    paths = sorted(folder.glob("[0-9].ipynb"))
    assert len(paths) >= 3
    for path in paths:
        done = execute(path).notebook
        assert all(cell.get("execution_count") for cell in done.cells if cell.cell_type == "code")
    assert any("await north.history()" in path.read_text() for path in paths)


def test_an_exported_notebook_ends_with_the_output_of_its_session(taken_home: TakeHome) -> None:
    folder, _ = taken_home("00_first_call.ipynb")
    ends = [
        execute(path).notebook.cells[-1].outputs
        for path in sorted(folder.glob("[0-9].ipynb"))
        if "fries_1" in path.read_text()
    ]
    shown = [outputs[0].data["text/plain"] for outputs in ends if outputs]
    assert set(shown) == {"Plate(food='fries: sticks')"}
