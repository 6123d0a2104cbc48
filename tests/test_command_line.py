"""The command line on a computer whose console has few characters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parent.parent / "notebooks" / "00_first_call.ipynb"
SHOW = "from jupyter_toolcall.cli import main; raise SystemExit(main())"


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_a_session_is_printed_in_the_encoding_of_the_console(encoding: str) -> None:
    shown = subprocess.run(
        [sys.executable, "-c", SHOW, "show", str(NOTEBOOK)],
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        capture_output=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    arrow = "→" if encoding == "utf-8" else r"\u2192"
    assert f"2 Potato_rinse(Potato#1, sink Sink#1) {arrow} Potato#2" in shown.stdout.decode(
        encoding
    )
