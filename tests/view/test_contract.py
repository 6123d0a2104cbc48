"""The contract between Python and TypeScript is one: generating it again changes nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_types_that_are_checked_in_are_those_of_the_rows() -> None:
    command = [sys.executable, str(ROOT / "labextension" / "contract.py"), "--check"]
    made = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
