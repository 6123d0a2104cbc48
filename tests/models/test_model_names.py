"""Models by name: which there are, what each lacks, who answers, and scripts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import ModelError, UsageError
from jupyter_toolcall.core.events import Call, Usage
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.options import model_for_cell, parse_options
from jupyter_toolcall.jupyter.subcommands import carry_out, subcommands, subcommands_help
from jupyter_toolcall.kitchen import FRIES
from jupyter_toolcall.models import Recording
from jupyter_toolcall.models.named import (
    MIDDLE,
    PROVIDERS,
    completions,
    default,
    model_named,
    models,
    table,
)
from jupyter_toolcall.schemes.messages import Reply, Request

REQUEST = Request("", (), (), turn=0, newest={"Potato": "Potato#3"})


def test_a_turn_is_a_text_a_call_or_a_list_of_these() -> None:
    model = Scripted(["hello", ("f", {"x": 1}), ["see", ("f", {}), ("g", {})]])
    replies = [model(Request("", (), (), turn=turn)) for turn in range(4)]
    assert [reply.text for reply in replies] == ["hello", "", "see", ""]
    assert replies[1] == Reply("", (Call("call_2", "f", {"x": 1}),), "tools")
    assert [call.id for call in replies[2].calls] == ["call_3_1", "call_3_2"]
    assert replies[3] == Reply()
    assert Scripted("Done.").items == Scripted(["Done."]).items


def test_a_dollar_is_the_newest_object_of_a_type_at_any_depth() -> None:
    model = Scripted([("f", {"x": "$Potato", "y": [{"z": "$Potato"}], "cost": "$5", "n": "$Pot"})])
    (call,) = model(REQUEST).calls
    assert call.arguments == {"x": "Potato#3", "y": [{"z": "Potato#3"}], "cost": "$5", "n": "$Pot"}


@pytest.mark.parametrize("item", [5, None, {"a": 1}, [5]])
def test_what_is_no_turn_is_refused_when_the_script_is_made(item: Any) -> None:
    with pytest.raises(UsageError, match="is no turn of a script"):
        Scripted([item])


def test_a_model_is_a_name_or_a_function() -> None:
    assert model_named("scripted:kitchen") is FRIES
    assert model_named(None) is None
    assert model_named(FRIES) is FRIES
    with pytest.raises(UsageError, match=r"no script 'nothing'; there are scripted:kitchen"):
        model_named("scripted:nothing")
    with pytest.raises(UsageError, match=r"'antropic:x' is no model.* Did you mean anthropic\?"):
        model_named("antropic:x")


def test_a_session_without_a_model_says_what_to_give() -> None:
    with pytest.raises(UsageError, match="has no model; give one"):
        Session(Toolbox()).tell("hello")
    with pytest.raises(UsageError, match="has no model; give one"):
        Session(Toolbox()).generate()


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("text", "a model returns a Reply or None"),
        (Reply(raw=float("nan")), "cannot be written down"),
        # A journal with these could not be read again.
        (Reply(3), "cannot be written down"),  # type: ignore[arg-type]
        (Reply("x", stop=3), r"Expected `str`, got `int` - at `\$.stop`"),  # type: ignore[arg-type]
        (Reply("x", usage=Usage(1.5)), r"at `\$.usage.input`"),  # type: ignore[arg-type]
        (Reply("", (Call("1", "f", {}, 3),)), r"at `\$.calls\[0\].broken`"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_reply_is_refused_and_nothing_is_kept(reply: Any, said: str) -> None:
    session = Session(Toolbox(), lambda request: reply).ask("hello")
    count = len(session.journal)
    with pytest.raises(ModelError, match=said):
        session.run()
    assert len(session.journal) == count


def test_a_run_stops_at_its_last_turn_and_a_prompt_gives_it_more() -> None:
    def f() -> int:
        return 1

    session = Session(
        Toolbox(f), Scripted([("f", {})] * 9), scheme="flat", approve="all", max_turns=2
    ).tell("go")
    assert len(session.calls) == 2
    assert session.tell("on").state.turns == 4


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
