"""The recipe for a tutorial's CI, run as it is written: docs/ci.md."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall.core.events import from_json
from jupyter_toolcall.core.journal_entries import name
from jupyter_toolcall.storage.notebook_files import MIME, check_session, execute, with_parsed_rows
from tests.notebooks import write_notebook

RECIPE = (Path(__file__).parent.parent / "docs" / "ci.md").read_text(encoding="utf-8")
CELLS = (
    "%load_ext jupyter_toolcall\nfrom jupyter_toolcall import Scripted\n"
    'def double(n: int) -> int:\n    "Double it."\n    return 2 * n',
    'model = Scripted([("double", {"n": 21}), "Done."])',
    "%%toolchat -m model -t double --scheme flat --approve all\nDouble.",
)


def block(language: str) -> str:
    found = re.findall(rf"^```{language}\n(.*?)^```", RECIPE, re.M | re.S)
    assert len(found) == 1
    return str(found[0])


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = write_notebook(tmp_path_factory.mktemp("recorded") / "lesson.ipynb", *CELLS)
    execute(path).write(path)
    return path.read_text(encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path, recorded: str) -> Path:
    """A project as its author would have it: one recorded notebook, and the recipe."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "lesson.ipynb").write_text(recorded, encoding="utf-8")
    (tmp_path / "test_notebooks.py").write_text(block("python"), encoding="utf-8")
    return tmp_path


def ran(project: Path) -> tuple[int, str]:
    """Exit status and words of pytest, in a process of its own."""
    pytest_ = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=."],
        cwd=project,
        env={**os.environ, "JUPYTER_TOOLCALL_DATA": str(project / "data")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return pytest_.returncode, pytest_.stdout + pytest_.stderr


def altered(project: Path, alter: Callable[[dict[str, Any]], None]) -> None:
    """Write a copy of a project's notebook with a change in what it has saved."""
    notebook = json.loads((project / "notebooks" / "lesson.ipynb").read_text(encoding="utf-8"))
    saved = [
        output["data"][MIME] for output in notebook["cells"][2]["outputs"] if MIME in output["data"]
    ]
    assert len(saved) == 1
    saved[0].update(with_parsed_rows(saved[0]))
    alter(saved[0])
    path = project / "notebooks" / f"{alter.__name__}.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")


def other_result(saved: dict[str, Any]) -> None:
    events = [event for _, event, *_ in saved["journal"]["events"] if event["type"] == "finished"]
    assert events[0]["outcome"]["data"] == 42
    events[0]["outcome"]["data"] = 43


def other_result_with_new_digests(saved: dict[str, Any]) -> None:
    """A forger who knows the format: every entry's id is computed again."""
    other_result(saved)
    part, ids = saved["journal"], list[str]()
    for parent, event, *_ in part["events"]:
        ids.append(name(part["parent"] if parent < 0 else ids[parent], from_json(event)))
    part["head"] = ids[-1]
    check_session(saved)


def test_the_recipe_passes_on_what_comes_out_as_recorded_and_says_which_result_was_altered(
    project: Path,
) -> None:
    altered(project, other_result)
    altered(project, other_result_with_new_digests)
    status, said = ran(project)
    assert status == 1, said
    assert "a saved session does not fit its own digests: it was changed" in said
    assert "call_1, double: outcome.data was 43, and is 42" in said
    assert "2 failed, 1 passed" in said
    failed = re.findall(r"FAILED .*\[.*?(\w+)(?:\.ipynb)?\]", said)
    assert {*failed} == {"other_result", "other_result_with_new_digests"}


def test_the_step_of_github_actions_names_commands_and_options_that_there_are() -> None:
    from jupyter_toolcall.cli import parser

    lines = re.findall(r"- run: jupyter toolcall (.*?)(?: +#.*)?$", block("yaml"), re.M)
    assert [line.split()[0] for line in lines] == ["verify", "check"]
    for line in lines:
        assert parser().parse_args(line.split()).act
    assert parser().parse_args(["verify", "--allow", "a.ipynb"]).allow
    assert all("--trust" in line.split() for line in lines)
