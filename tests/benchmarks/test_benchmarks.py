"""Every benchmark runs: each once, at a tiny size, which is its only argument."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
IN_A_BROWSER = ("bench_page",)
SLOW = {"bench_executors", "bench_many_sessions", "bench_mcp", "bench_tables"}
NAMES = sorted(path.stem for path in FOLDER.glob("bench_*.py"))
TINY = "10"


@pytest.mark.parametrize(
    "name",
    [
        *(name for name in NAMES if name not in SLOW | {*IN_A_BROWSER}),
        *(pytest.param(name, marks=pytest.mark.long) for name in sorted(SLOW)),
        *(pytest.param(name, marks=[pytest.mark.e2e, pytest.mark.long]) for name in IN_A_BROWSER),
    ],
)
def test_it_runs_at_a_tiny_size(name: str) -> None:
    command = [sys.executable, str(FOLDER / f"{name}.py"), TINY]
    root = FOLDER.parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
