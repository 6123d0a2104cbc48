"""A saved session that somebody changed by hand is refused by every command, in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_toolcall import cli, verify
from jupyter_toolcall.storage.notebook_files import MIME

ASKED = {"type": "asked", "text": "Peel it."}
FORGED: dict[str, Any] = {
    "a list": [],
    "nothing in it": {},
    "a journal that is a number": {"journal": 7},
    "events that are a number": {"events": 7},
    "events by name": {"events": {"a": 1}},
    "an entry that is a number": {"events": [7]},
    "an entry of one item": {"events": [[0]]},
    "an entry of none": {"events": [[]]},
    "a parent that is a text": {"events": [["x", ASKED]]},
    "a parent that is none": {"events": [[None, ASKED]]},
    "a parent to come": {"events": [[5, ASKED]]},
    "an event that is a text": {"events": [[-1, "asked"]]},
    "an event of a kind that is none": {"events": [[-1, {"type": "ran"}]]},
    "a kind that is a list": {"events": [[-1, {"type": ["asked"]}]]},
    "a field of two lines": {"events": [[-1, {**ASKED, "a\nb\x1b[2J": 1}]]},
    "a kind without an end": {"events": [[-1, {"type": "{" * 1_000_000}]]},
    "calls that are lists": {"events": [[-1, {"type": "replied", "calls": [[1]]}]]},
    "a text that is an object": {"events": [[-1, {**ASKED, "text": {"a": [1]}}]]},
    "half a character": {"events": [[-1, {**ASKED, "text": "\ud800"}]]},
    "an entry that is no JSON": {"events": ["[-1, {"]},
    "an entry that is the JSON of a number": {"events": ["7"]},
    "an entry that is an empty text": {"events": [""]},
    "an entry of ten million digits": {"events": ["7" * 10_000_000]},
    "an entry that is nested deeply": {"events": ["[" * 100_000 + "]" * 100_000]},
    "an event that is nested deeply": {"events": ["[-1," + '{"a":' * 100_000]},
    "a head that was moved": {"events": [[-1, ASKED]], "head": "f" * 32},
    "a head that is a list": {"events": [[-1, ASKED]], "head": []},
}


@pytest.fixture(params=FORGED)
def notebook(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = FORGED[request.param]
    if "events" in made:
        made = {"journal": {"head": "a", "parent": "b", **made}, "rows": {}, "version": 1}
    output = nbformat.v4.new_output("display_data", data={MIME: made, "text/plain": "a session"})
    source = "open('ran', 'w').close()"
    cell = nbformat.v4.new_code_cell(source, outputs=[output], execution_count=1)
    path = tmp_path / "forged.ipynb"
    # As escapes: half a character cannot be written in UTF-8, and can be read.
    path.write_text(json.dumps(nbformat.v4.new_notebook(cells=[cell])), encoding="utf-8")
    return path


@pytest.mark.parametrize("command", [["show"], ["verify"], ["export", "--to", "json"]])
def test_it_is_refused_in_one_line_before_anything_runs(
    notebook: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*command[:1], str(notebook), *command[1:]]) == 1
    captured = capsys.readouterr()
    [line] = (captured.out + captured.err).strip().splitlines()
    assert len(line) < 600
    assert "Traceback" not in captured.err
    assert not (notebook.parent / "ran").exists()


def test_it_is_not_verified(notebook: Path) -> None:
    found = verify(notebook)
    assert not found
    assert str(found)
