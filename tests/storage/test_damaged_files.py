"""Files of others: whatever they hold is refused in one line, and printed without its controls."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_toolcall import Scripted, Session, Toolbox, cli
from jupyter_toolcall.core import journal_entries
from jupyter_toolcall.core.events import from_json
from jupyter_toolcall.core.journal_entries import name
from jupyter_toolcall.core.json_data import json_texts
from jupyter_toolcall.export.formats import FORMATS
from jupyter_toolcall.storage.notebook_files import MIME, with_parsed_rows
from jupyter_toolcall.view.saved_output import row_texts
from tests.example_tools import run_calls

ESCAPES = "\x1b]0;title\x07 \x1b[2J \u202e \u2066 \x9b31m \ud800"


def make(text: str) -> list[str]:
    return [text]


def fail(text: str) -> str:
    raise ValueError(text)


def session() -> Session:
    return run_calls(make, fail, calls=[[("make", {"text": "a"}), ("fail", {"text": "b"})]])


def notebook_of(bundle: dict[str, Any]) -> dict[str, Any]:
    output = nbformat.v4.new_output("display_data", data=bundle)
    source = "%%toolchat -m model -t make\nGo."
    cell = nbformat.v4.new_code_cell(source, outputs=[output], execution_count=1)
    found: dict[str, Any] = json.loads(json.dumps(nbformat.v4.new_notebook(cells=[cell])))
    return found


@pytest.fixture(scope="module")
def notebook() -> dict[str, Any]:
    bundle = session()._repr_mimebundle_()
    return notebook_of({**bundle, MIME: with_parsed_rows(bundle[MIME])})


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    path = tmp_path_factory.mktemp("journal") / "s.jsonl"
    session().save(path)
    return journal_rows([json.loads(line) for line in path.read_text().splitlines()])


def journal_rows(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines of a journal, each with its parent, and without its sum and its seal."""
    above = None
    for line in found:
        if "event" in line:
            # A line that follows the one above names no parent.
            line.setdefault("parent", above)
            above = line["id"]
    return [{k: v for k, v in line.items() if k not in ("sum", "seal")} for line in found]


@pytest.fixture(autouse=True)
def nobody_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())


# -- about a hundred broken files ---------------------------------------------------------------

DEEP = "[" * 100_000 + "]" * 100_000
ODD: tuple[Any, ...] = (
    *(None, True, -1, 10**400, 1e308, "", "\ud800", "x" * 70_000, [], [[]], {}, {"a": {}}),
)


def places(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where something stands in data."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        yield (*at, key)
        if isinstance(value, (dict, list)):
            yield from places(value, (*at, key))


def put(data: Any, at: tuple[Any, ...], value: Any) -> None:
    for key in at[:-1]:
        data = data[key]
    data[at[-1]] = value


def forged(part: Any) -> None:
    """Compute the ids of a saved session again, as a forger does who knows the format."""
    ids: list[str] = []
    for parent, event, *_ in part["events"]:
        ids.append(name(part["parent"] if parent < 0 else ids[parent], from_json(event)))
    part["head"] = ids[-1]


def resealed(rows: list[dict[str, Any]]) -> str:
    """Write a journal's lines with names and sums that fit, as far as they can be made."""
    known: dict[Any, str] = {}
    for row in rows:
        try:
            old, row["parent"] = row["id"], known.get(row["parent"], row["parent"])
            row["id"] = known[old] = name(row["parent"], from_json(row["event"]))
        except Exception:
            continue
    return "".join(f"{journal_entries.line(row)}\n" for row in rows)


def commands(path: Path) -> Iterator[list[str]]:
    yield ["show", str(path)]
    yield ["verify", str(path)]
    yield ["check", str(path)]
    for to in FORMATS:
        yield [
            "export",
            str(path),
            "--to",
            to,
            "--output",
            str(path.parent / f"out.{to}"),
            "--force",
        ]


def obeys(path: Path, capsys: pytest.CaptureFixture[str], broken: bool = False) -> None:
    """Each command succeeds, or says one line and fails; a traceback is raised through here."""
    for command in commands(path):
        capsys.readouterr()
        status = cli.main(command)
        captured = capsys.readouterr()
        told = captured.err.splitlines()
        if command[0] == "verify" and status == 1:
            told += captured.out.splitlines()
        assert len(told) == (status != 0), (command, told[:3])
        assert status or not broken, command
        assert all(c.isprintable() or c == "\n" for c in captured.out + captured.err), command


def test_a_notebook_with_anything_in_any_place_gives_one_line(
    notebook: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance, path = random.Random(7), tmp_path / "a.ipynb"
    found = list(places(notebook))
    inner = [at for at in found if MIME in at and "journal" in at]
    for number in range(70):
        made = json.loads(json.dumps(notebook))
        put(made, chance.choice(inner if number % 2 else found), chance.choice(ODD))
        if number % 3 == 0:
            with contextlib.suppress(Exception):
                forged(made["cells"][0]["outputs"][0]["data"][MIME]["journal"])
        if number % 4 < 2:
            with contextlib.suppress(Exception):
                # Each row and each entry is a JSON text, as a cell leaves them.
                part = made["cells"][0]["outputs"][0]["data"][MIME]
                part["journal"]["events"] = json_texts(part["journal"]["events"])
                part["rows"] = row_texts(part["rows"])
        path.write_text(json.dumps(made), encoding="utf-8")
        obeys(path, capsys)


def test_a_journal_with_anything_in_any_place_gives_one_line(
    lines: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance, path = random.Random(11), tmp_path / "a.jsonl"
    found = [at for at in places(lines) if len(at) > 1]
    for _ in range(70):
        made = json.loads(json.dumps(lines))
        put(made, chance.choice(found), chance.choice(ODD))
        path.write_text(resealed(made), encoding="utf-8")
        obeys(path, capsys)


@dataclass
class Shelf:
    """A record that holds objects."""

    best: Single
    others: list[Single]


class Single:
    """An object."""


def fill() -> dict[str, Any]:
    """Return objects at many places."""
    return {"shelf": Shelf(Single(), [Single()]), "set": {Single()}, "by number": {7: Single()}}


HOSTILE_STEPS: tuple[Any, ...] = (
    *("__class__", "__class__.__init__", "a]; import os #", "shelf", "", "\n", -1, 10**9, True),
    *(1.5, None, [], {}, ["shelf", "best"], "x" * 70_000),
)


@pytest.mark.parametrize("part", ["paths", "access", "data", "objects", "unnamed", "untracked"])
def test_a_result_whose_objects_stand_anywhere_gives_one_line_and_no_code_of_the_file(
    part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance, path, script = random.Random(part), tmp_path / "a.jsonl", tmp_path / "out.py"
    run_calls(fill, calls=[("fill", {})]).save(path)
    lines = journal_rows([json.loads(line) for line in path.read_text().splitlines()])
    found = [at for at in places(lines) if part in at]
    assert found or part in ("unnamed", "untracked")
    for _ in range(12):
        script.unlink(missing_ok=True)
        made = json.loads(json.dumps(lines))
        if found:
            put(made, chance.choice(found), chance.choice(HOSTILE_STEPS))
        else:
            ends = (row["event"] for row in made if "event" in row and "outcome" in row["event"])
            next(ends)["outcome"][part] = chance.choice(HOSTILE_STEPS)
        path.write_text(resealed(made), encoding="utf-8")
        obeys(path, capsys)
        if script.exists():
            nodes = [*ast.walk(ast.parse(script.read_text(encoding="utf-8")))]
            assert not [node for node in nodes if isinstance(node, ast.Import)]
            names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
            assert not [name for name in names if name.startswith("__")]


BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "one byte": lambda data: b"\x00",
    "cut in half": lambda data: data[: len(data) // 2],
    "not UTF-8": lambda data: b"\xff\xfe" + data,
    "a number": lambda data: b"7",
    "a number of 10,000 digits": lambda data: b"7" * 10_000,
    "nested deeply": lambda data: DEEP.encode(),
    "objects nested deeply": lambda data: b'{"cells":' * 50_000,
    "cells nested deeply": lambda data: b'{"cells": [' + DEEP.encode() + b"]}",
    "UTF-16": lambda data: data.decode().encode("utf-16"),
}


@pytest.mark.parametrize("ending", [".ipynb", ".jsonl"])
@pytest.mark.parametrize("damage", BROKEN)
def test_a_broken_file_gives_one_line_and_fails(
    damage: str,
    ending: str,
    notebook: dict[str, Any],
    lines: list[dict[str, Any]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / f"a{ending}"
    whole = json.dumps(notebook) if ending == ".ipynb" else resealed(json.loads(json.dumps(lines)))
    path.write_bytes(BROKEN[damage](whole.encode()))
    # An empty journal is one without entries: it can be shown, and nothing of it differs.
    obeys(path, capsys, broken=(damage, ending) != ("empty", ".jsonl"))


@pytest.mark.parametrize("ending", [".ipynb", ".jsonl"])
def test_a_folder_and_a_file_that_is_missing_or_unreadable_give_one_line(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / f"folder{ending}").mkdir()
    (tmp_path / f"loop{ending}").symlink_to(tmp_path / f"loop{ending}")
    (tmp_path / f"closed{ending}").touch(0)
    obeys(tmp_path / f"folder{ending}", capsys, broken=True)
    obeys(tmp_path / f"loop{ending}", capsys, broken=True)
    obeys(tmp_path / f"missing\x1b[2J\n{ending}", capsys, broken=True)
    if os.geteuid():
        obeys(tmp_path / f"closed{ending}", capsys, broken=True)


# -- what is printed ----------------------------------------------------------------------------


def test_show_prints_no_control_and_no_bidi_character(
    notebook: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = json.loads(json.dumps(notebook))
    made["cells"][0]["outputs"][0]["data"]["text/plain"] = f"Finished\n{ESCAPES}\r\x0b\u2028end"
    made["cells"][0]["source"] = f"%%toolchat\n{ESCAPES}"
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(made), encoding="utf-8")
    assert cli.main(["show", str(path)]) == 0
    said = capsys.readouterr().out
    assert all(c.isprintable() or c == "\n" for c in said)
    assert "\\u001b]0;title\\u0007" in said
    assert "\\u202e" in said
    said.encode()


def test_the_magics_print_no_control_or_bidi_characters(capsys: pytest.CaptureFixture[str]) -> None:
    from jupyter_toolcall.jupyter.cells import Cells
    from jupyter_toolcall.jupyter.subcommands import carry_out

    def described(n: int) -> int:
        return n

    described.__doc__ = f"Describe {ESCAPES[:-1]}"
    model = Scripted([("described", {"n": 1}), f"Done {ESCAPES[:-1]}"])
    cells = Cells()
    cells.keep(Session(Toolbox(described), model, scheme="flat", approve="all").tell("Go."))
    for words in (["status"], ["tools"], ["objects"], ["sessions"], ["branch"], ["outdated"]):
        carry_out(words, cells, {})
    said = capsys.readouterr().out
    assert all(c.isprintable() or c in "\n\t" for c in said)
    assert "\\u001b" in said


def test_an_error_in_a_cell_has_no_control_and_no_bidi_character() -> None:
    from jupyter_toolcall.core.errors import UsageError

    [line] = UsageError(f"no tool {ESCAPES}")._render_traceback_()
    assert line.isprintable()


# -- half characters ----------------------------------------------------------------------------


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("kind", [".ipynb", ".jsonl"])
def test_every_export_takes_half_a_character_in_every_text(
    to: str,
    kind: str,
    notebook: dict[str, Any],
    lines: list[dict[str, Any]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = {"Go.": "Go \ud800", "Done.": "\udfffDone", "a": "a\ud800", "b": "\udc00b"}

    def halved(data: Any, key: str = "") -> Any:
        if isinstance(data, dict):
            return {each: halved(value, each) for each, value in data.items()}
        if isinstance(data, list):
            return [halved(each) for each in data]
        return texts.get(data, data) if isinstance(data, str) and key in ("text", "") else data

    path = tmp_path / f"a{kind}"
    if kind == ".ipynb":
        made = halved(notebook)
        forged(made["cells"][0]["outputs"][0]["data"][MIME]["journal"])
        path.write_text(json.dumps(made), encoding="utf-8")
    else:
        path.write_text(resealed(halved(lines)), encoding="utf-8")
    assert cli.main(["export", str(path), "--to", to, "--output", str(tmp_path / "out")]) == 0
    written = (tmp_path / "out").read_text(encoding="utf-8")
    assert written
    assert not re.search("[\ud800-\udfff]", written)
    assert cli.main(["show", str(path)]) == 0


def test_a_session_that_holds_half_a_character_is_saved_in_a_notebook() -> None:
    model = Scripted([("make", {"text": "a"}), "Done \ud800"])
    found = Session(Toolbox(make), model, scheme="flat", approve="all").tell("Go \udc00")
    json.dumps(found._repr_mimebundle_(), ensure_ascii=False).encode()


def test_a_notebook_with_half_a_character_is_executed_and_written(tmp_path: Path) -> None:
    path, source = tmp_path / "a.ipynb", "x = '\ud800'\nprint('ran')"
    cells = [nbformat.v4.new_code_cell(source)]
    path.write_text(json.dumps(nbformat.v4.new_notebook(cells=cells)), encoding="utf-8")
    assert cli.main(["run", "--trust", str(path), "--output", str(path)]) == 0
    assert nbformat.read(path, as_version=4).cells[0].outputs[0].text == "ran\n"
