"""Rules in files: of this computer, of strangers, and the commands that write them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Rule, Scripted, Session, Toolbox, cli
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.jupyter import subcommands
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.options import context_for_cell, parse_options
from jupyter_toolcall.rules.person_rules import PersonRules
from jupyter_toolcall.rules.rule_files import METADATA, carry_out, rules_named
from jupyter_toolcall.storage.journal_file import journals_folder
from jupyter_toolcall.view.view_rows import all_rows
from tests.rules.test_rules import pay


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the data directory of this computer."""
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "home"))
    return tmp_path / "home"


def session(named: str, folder: Path, **arguments: Any) -> Session:
    """Return a session with one call of `pay` under the rules of a name or a file."""
    turns = Scripted([("pay", {"to": "Anna", **arguments}), "Done."])
    rules = rules_named(named, folder)
    return Session(Toolbox(pay), turns, scheme="flat", approve=rules).tell("Pay Anna.")


def why(waiting: Session) -> str:
    assert waiting.calls[0].status == "proposed"
    return all_rows(waiting.cursor, "").calls[0].why


def written(path: Path, *rules: Any, **more: Any) -> Path:
    path.write_text(json.dumps({"rules": rules, **more}), encoding="utf-8")
    return path


ANNA = {"tool": "pay", "decision": "run", "arguments": {"to": {"const": "Anna"}}}


def test_rules_of_this_computer_run_calls_in_their_order(tmp_path: Path) -> None:
    carry_out(["add", "daily", "refuse", "pay", 'amount={"minimum": 100}'])
    text = carry_out(["add", "daily", "run", "p*", "to=Anna"])
    assert '2 run p* to={"const": "Anna"}' in text.replace('":"', '": "')
    assert session("daily", tmp_path).calls[0].status == "succeeded"
    assert session("daily", tmp_path, amount=100).calls[0].status == "rejected"
    assert session("daily", tmp_path, to="Bob").calls[0].status == "proposed"
    assert carry_out([]) == text
    assert "refuse" not in carry_out(["remove", "daily", "1"])
    assert session("daily", tmp_path, amount=100).calls[0].status == "succeeded"


def test_a_file_of_a_folder_only_tightens(tmp_path: Path) -> None:
    path = written(tmp_path / "rules.json", {**ANNA, "decision": "refuse"}, ANNA)
    assert session("rules.json", tmp_path).calls[0].status == "rejected"
    written(path, ANNA)
    assert "The rule 'pay' in rules.json is not of this computer." in why(
        session("rules.json", tmp_path)
    )


def test_rules_of_another_computer_ask_again(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carry_out(["add", "daily", "run", "pay"])
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "other"))
    shutil.copytree(home / "rules", tmp_path / "other" / "rules")
    assert "is not of this computer" in why(session("daily", tmp_path))
    assert "it runs no call" in carry_out([])
    with pytest.raises(UsageError, match="was not written on this computer, or changed since"):
        carry_out(["add", "daily", "run", "pay"])


@pytest.mark.parametrize("change", ["rule", "name"])
def test_rules_that_somebody_changed_ask(home: Path, tmp_path: Path, change: str) -> None:
    carry_out(["add", "daily", "run", "pay", "to=Bob"])
    path = home / "rules" / "daily.json"
    if change == "rule":
        path.write_text(path.read_text().replace("Bob", "Anna"))
    else:
        path.rename(home / "rules" / "other.json")
        carry_out(["add", "daily", "ask", "none"])
    name = "daily" if change == "rule" else "other"
    to = "Anna" if change == "rule" else "Bob"
    assert "is not of this computer" in why(session(name, tmp_path, to=to))


def test_rules_that_contradict_each_other_ask(tmp_path: Path) -> None:
    carry_out(["add", "daily", "run", "pay", "to=Anna"])
    carry_out(["add", "daily", "refuse", "pay", "to=Anna"])
    assert why(session("daily", tmp_path)) == "Two rules for 'pay' contradict each other."


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ([{"tool": "pay"}], "rule 1 needs a tool and a decision"),
        ([ANNA, {**ANNA, "decision": "allow"}], "'allow' is no decision of a rule"),
        ([{**ANNA, "untill": "x"}], "has no key 'untill'. Did you mean until"),
        ([{**ANNA, "arguments": []}], "arguments is .*, which is no dict"),
        ([{**ANNA, "arguments": {"to": 3}}], "is no JSON Schema"),
        ([{**ANNA, "origins": ["untrusted"]}], "is written in Python alone"),
        ("pay", "is no file of rules"),
    ],
)
def test_what_is_no_rule_is_named(tmp_path: Path, rules: Any, said: str) -> None:
    (tmp_path / "rules.json").write_text(json.dumps({"rules": rules}), encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        rules_named("rules.json", tmp_path)


def test_a_name_without_rules_is_told_with_the_nearest(tmp_path: Path) -> None:
    carry_out(["add", "daily", "run", "pay"])
    with pytest.raises(UsageError, match=r"there are no such rules.*daily"):
        rules_named("dayly", tmp_path)
    with pytest.raises(UsageError, match="this is written as\n  rules  "):
        carry_out(["add", "daily", "allow", "pay"])


def test_a_cell_decides_by_its_rules_and_then_by_its_policy(tmp_path: Path) -> None:
    written(tmp_path / "rules.json", {"tool": "pay", "decision": "refuse"})
    options = parse_options("-t pay -m model --rules rules.json --approve all")
    variables = {"pay": pay, "model": Scripted([])}
    context, _ = context_for_cell(options, variables, Journal(), tmp_path)
    assert context.policy(context.toolbox["pay"], {"to": "Anna"})[0] == "reject"


def test_a_rule_keeps_the_code_of_a_function_also_before_the_first_cell(tmp_path: Path) -> None:
    words = ["rules", "add", "daily", "run", "pay", "to=Anna"]
    for variables in ({}, {"pay": 3}, {"pay": lambda to: to}):
        subcommands.carry_out(words, Cells(), {}, variables)
    subcommands.carry_out(words, Cells(), {}, {"pay": pay})
    codes = [rule.code for rule in rules_named("daily", tmp_path)]
    assert codes == ["", "", "", Toolbox(pay)["pay"].version()]


def test_the_command_line_lists_and_adds_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["rules", "add", "daily", "run", "pay", "to=Anna"]) == 0
    assert "1 run pay to=" in capsys.readouterr().out


def test_the_rules_of_a_notebook_hold_in_it_and_on_this_computer_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, copied = tmp_path / "a.ipynb", tmp_path / "b.ipynb"

    def add_rule() -> None:
        rules = PersonRules.of(str(here))
        rules.add(Rule("pay", "run"), "notebook", "removed")
        metadata = {METADATA: json.loads(rules.for_metadata)}
        file = {"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": metadata}
        here.write_text(json.dumps(file))
        assert PersonRules.of(str(here)).rules == rules.rules

    def status(path: Path) -> str:
        turns = Scripted([("pay", {"to": "Anna"}), "Done."])
        session = Session(Toolbox(pay), turns, scheme="flat")
        session.cursor.context.person_rules = PersonRules.of(str(path))
        return session.tell("Pay Anna.").calls[0].status

    add_rule()
    shutil.copy(here, copied)
    assert [status(here), status(copied)] == ["succeeded", "proposed"]
    # Another computer has a key of its own: it asks, until somebody adds the rule there.
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "other"))
    journals_folder().mkdir(parents=True)
    assert status(here) == "proposed"
    add_rule()
    assert status(here) == "succeeded"
