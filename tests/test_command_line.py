"""The command line on a computer whose console has few characters."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from jupyter_toolcall.cli import main

NOTEBOOK = Path(__file__).parent.parent / "notebooks" / "00_first_call.ipynb"


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_a_session_is_printed_in_the_encoding_of_the_console(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = io.TextIOWrapper(io.BytesIO(), encoding)
    monkeypatch.setattr("sys.stdout", console)
    assert main(["show", str(NOTEBOOK)]) == 0
    console.seek(0)
    arrow = "→" if encoding == "utf-8" else r"\u2192"
    assert f"2 Potato_rinse(Potato#1, sink Sink#1) {arrow} Potato#2" in console.read()
