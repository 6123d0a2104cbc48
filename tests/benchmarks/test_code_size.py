"""`make size` counts lines of code, and fails where a part of the project is above its limit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "code_size.py"
SOURCE = '"""A docstring."""\n\n# A comment.\ndef f():\n    """Another."""\n    return [\n1\n]\n'


def size(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAM), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def table(printed: str) -> dict[str, tuple[int, int]]:
    """Return what is there, and what may be there, of each row."""
    rows = [line.rsplit(maxsplit=2) for line in printed.splitlines()[1:]]
    return {
        name: (int(now.replace(",", "")), int(limit.replace(",", ""))) for name, now, limit in rows
    }


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
    done = size(project)
    counts = {name: now for name, (now, _) in table(done.stdout).items() if now}
    assert done.returncode == 0
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
def test_it_fails_above_a_limit_and_says_where_and_by_how_much(
    project: Path, name: str, row: str
) -> None:
    limit = table(size(project).stdout)[row][1]
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("1\n" * (limit + 7))
    done = size(project)
    excess = table(done.stdout)[row][0] - limit
    assert excess >= 7
    assert done.returncode == 1
    assert f"{row}: {excess:,} above the limit" in done.stderr.splitlines()


def test_a_file_that_belongs_to_no_part_is_named(project: Path) -> None:
    (project / "jupyter_toolcall" / "elsewhere.py").write_text("1\n")
    done = size(project)
    assert done.returncode == 1
    assert "elsewhere.py belongs to no part" in done.stderr


def test_every_part_of_this_project_is_counted_once() -> None:
    rows = {name: now for name, (now, _) in table(size().stdout).items()}
    total = rows.pop("all")
    parts = [now for name, now in rows.items() if not name.startswith(("Python ", "TypeScript"))]
    assert sum(parts) == total > 10_000
