"""`make size` counts lines of code, and fails where a part of the project is above its limit."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from tests.benchmarks import code_size

SOURCE = '"""A docstring."""\n\n# A comment.\ndef f():\n    """Another."""\n    return [\n1\n]\n'


def size(project: Path) -> tuple[str, str]:
    """Return what `make size` prints of a project, and its error; "" where there is none."""
    printed, error = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            code_size.main(str(project))
        except SystemExit as exit_:
            error = str(exit_)
    return printed.getvalue(), error


def table(printed: str) -> dict[str, tuple[int, ...]]:
    """Return what is there, and what may be there, of each row."""
    rows = (line.rsplit(maxsplit=2) for line in printed.splitlines()[1:])
    return {name: tuple(int(size.replace(",", "")) for size in sizes) for name, *sizes in rows}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project: a file of each kind."""
    for name in ("core/journal.py", "maps/table.py", "kitchen.py"):
        path = tmp_path / "jupyter_toolcall" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SOURCE)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_journal.py").write_text(SOURCE * 2)
    (tmp_path / "labextension" / "src" / "generated").mkdir(parents=True)
    (tmp_path / "labextension" / "src" / "generated" / "a.ts").write_text("// A comment.\n\n1\n")
    return tmp_path


def test_each_file_counts_once_and_only_its_lines_of_code(project: Path) -> None:
    printed, error = size(project)
    counts = {name: now for name, (now, _) in table(printed).items() if now}
    assert error == ""
    assert counts == {
        **{"maps + executors": 4, "core + engine + session": 4},
        **{"cli, kitchen, toolsets, __init__": 4, "all": 12},
        **{"Python files": 3, "Python tests": 8, "TypeScript": 3},
    }


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("jupyter_toolcall/core/journal.py", "core + engine + session"),
        ("jupyter_toolcall/tools/executors.py", "maps + executors"),
        ("jupyter_toolcall/view/rows.py", "view"),
        ("tests/test_journal.py", "Python tests"),
        ("labextension/src/index.ts", "TypeScript"),
    ],
)
def test_it_fails_above_a_limit_and_says_by_how_much(project: Path, name: str, row: str) -> None:
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("1\n" * (code_size.LIMITS[row] + 7))
    printed, error = size(project)
    now, limit = table(printed)[row]
    assert now - limit >= 7
    assert f"{row}: {now - limit:,} above the limit" in error.splitlines()


def test_a_file_that_belongs_to_no_part_is_named(project: Path) -> None:
    (project / "jupyter_toolcall" / "elsewhere.py").write_text("1\n")
    assert "elsewhere.py belongs to no part" in size(project)[1]
