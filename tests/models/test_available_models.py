"""Who can answer here: the models that there are, and why some cannot be used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.options import model_for_cell, parse_options
from jupyter_toolcall.jupyter.subcommands import carry_out, subcommands, subcommands_help
from jupyter_toolcall.models import Recording
from jupyter_toolcall.models.named import MIDDLE, PROVIDERS, completions, default, models, table

KEY = "sk-ant-canary-0123456789"


def usable(environment: dict[str, str], folder: Path) -> dict[str, str]:
    """Why each model cannot be used, by name."""
    return {row.name: row.lacks for row in models(environment, folder)}


def test_every_provider_is_listed_with_what_it_lacks(tmp_path: Path) -> None:
    rows = usable({}, tmp_path)
    assert {name.partition(":")[0] for name in rows} == {*PROVIDERS}
    assert rows[MIDDLE] == "neither ANTHROPIC_API_KEY nor ANTHROPIC_AUTH_TOKEN is set"
    assert usable({"ANTHROPIC_API_KEY": ""}, tmp_path) == rows
    assert rows["recorded:FILE"] == "there is none in this folder"
    assert rows["scripted:kitchen"] == ""


@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
def test_a_key_makes_a_model_usable_and_is_not_shown(tmp_path: Path, variable: str) -> None:
    environment = {variable: KEY}
    assert usable(environment, tmp_path)[MIDDLE] == ""
    assert KEY not in table(models(environment, tmp_path), MIDDLE)


def test_an_extra_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    assert usable({"OPENAI_API_KEY": KEY}, tmp_path)["openai:NAME"] == (
        "openai is missing: pip install openai"
    )


def test_the_subcommand_prints_a_line_for_each_and_marks_the_one_that_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("JUPYTER_TOOLCALL_MODEL", raising=False)
    cells = Cells(str(tmp_path / "a.ipynb"))
    for settings, marked in (({}, MIDDLE), ({"model": "scripted:kitchen"}, "scripted:kitchen")):
        assert carry_out(["models"], cells, settings) is None
        printed = capsys.readouterr().out
        lines = printed.splitlines()
        assert len(lines) == 1 + len([*models({}, tmp_path)])
        assert [line.split()[1] for line in lines if line.startswith("*")] == [marked]
        assert KEY not in printed
    assert "models" in subcommands()
    assert "\n  models " in subcommands_help()


# -- who answers where nobody says who -----------------------------------------------------


def test_a_key_chooses_the_middle_model_and_the_environments_own_choice_comes_first() -> None:
    assert default({"ANTHROPIC_API_KEY": KEY}) == MIDDLE
    assert default({"ANTHROPIC_API_KEY": KEY, "JUPYTER_TOOLCALL_MODEL": "m:x"}) == "m:x"
    assert default({}) == ("person" if "person" in PROVIDERS else "")


@pytest.mark.parametrize(
    ("line", "setting", "name"),
    [
        ("", "", MIDDLE),
        ("", "scripted:kitchen", "scripted:kitchen"),
        ("-m mine", "scripted:kitchen", "mine"),
    ],
)
def test_a_cell_says_first_then_a_setting_then_the_key(
    tmp_path: Path, line: str, setting: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("JUPYTER_TOOLCALL_MODEL", raising=False)
    mine = Scripted([], name="mine")
    found = model_for_cell(parse_options(line, {"model": setting}), {"mine": mine}, tmp_path)
    assert name.rpartition(":")[2] in str(getattr(found, "name", "")) + repr(found)


# -- options -------------------------------------------------------------------------------


def test_a_model_and_a_replay_are_two_who_answer() -> None:
    with pytest.raises(UsageError, match="--replay is the model that answers: leave out -m"):
        parse_options("-m scripted:kitchen --replay tape.jsonl")


def test_recordings_of_the_folder_are_models_and_all_are_completed(tmp_path: Path) -> None:
    Session(Toolbox(), Recording(Scripted(["Hi."]), tmp_path / "tape.jsonl")).tell("Hello")
    (tmp_path / "data.jsonl").write_text('{"id": 1}\n')
    rows = usable({}, tmp_path)
    assert [name for name in rows if name.startswith("recorded:")] == ["recorded:tape.jsonl"]
    assert rows["recorded:tape.jsonl"] == ""
    known = completions(tmp_path)
    assert {MIDDLE, "scripted:kitchen", "recorded:tape.jsonl", "anthropic:", "openai:"} <= {*known}
    assert len(known) == len({*known})
