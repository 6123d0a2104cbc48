"""Running a recorded branch again: `session.verify()` names the first difference and adds nothing;
`session.replay(fresh=True)` is a new branch, and lists what differs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Rule, Session, Toolbox, tool
from jupyter_toolcall.core.errors import Unfinished, UsageError
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.input_line import split
from jupyter_toolcall.jupyter.subcommands import carry_out
from tests.example_tools import run_calls


class Dough:
    def __init__(self, grams: int) -> None:
        self.grams = grams


class Scales:
    """A stateful instance that counts how often it weighs."""

    def __init__(self) -> None:
        self.times = 0

    def weigh(self, dough: Dough) -> int:
        self.times += 1
        return dough.grams + self.times


class Bakery:
    """Tools that note what ran, and of which one is not the same every day."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.today = 1

    def session(self, approve: Any = "all") -> Session:
        def mix(grams: int) -> Dough:
            """Mix dough."""
            self.ran.append("mix")
            return Dough(grams)

        def rise(dough: Dough) -> Dough:
            """Let it rise, as warm as it is today."""
            self.ran.append("rise")
            return Dough(dough.grams + self.today)

        def look(dough: Dough) -> str:
            self.ran.append("look")
            return "fine"

        calls: list[Any] = [
            *(("mix", {"grams": 1}), ("rise", {"dough": "$Dough"})),
            [("look", {"dough": "Dough#1"}), ("look", {"dough": "Dough#9"})],
            ("Scales_weigh", {"dough": "Dough#2"}),
        ]
        return run_calls(mix, rise, look, Dough, Scales(), calls=calls, approve=approve)


def cells_of(session: Session) -> Cells:
    cells = Cells()
    cells.keep(session)
    return cells


def test_the_same_outcome_is_verified_and_adds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    bakery = Bakery()
    session = bakery.session()
    entries, bakery.ran = len(session.journal), []
    found = session.verify()
    assert found
    assert str(found) == "5 calls came out as recorded"
    assert bakery.ran == ["mix", "rise", "look"]
    assert len(session.journal) == entries
    carry_out(["verify"], cells_of(session), {})
    assert "5 calls came out as recorded" in capsys.readouterr().out


def test_the_first_call_that_comes_out_otherwise_is_told_and_fails_its_cell() -> None:
    bakery = Bakery()
    session = bakery.session()
    bakery.today = 5
    found = session.verify()
    assert not found
    assert found.divergence == "call 2, rise: its tool rise uses what was changed: self.today"
    # What was verified is what it was.
    assert session["Dough#2"].grams == 2
    with pytest.raises(Unfinished, match="comes out otherwise: call 2, rise"):
        carry_out(["verify"], cells_of(session), {})


@given(st.lists(st.sampled_from(["approve", "reject", "answer"]), min_size=5, max_size=5))
def test_whatever_a_person_decided_is_verified(verdicts: list[Any]) -> None:
    session = Bakery().session("ask")
    for verdict in verdicts:
        if session.pending:
            call = session.pending[0]
            answer = Dough(7) if call.tool in ("mix", "rise") else 7
            session.decide(call, verdict, result=answer if verdict == "answer" else None).run()
    assert session.verify(), str(session.verify())


def test_which_rule_let_a_call_run_is_no_divergence(tmp_path: Path) -> None:
    session = Bakery().session([Rule("*", "run")])
    session.save(tmp_path / "s.jsonl")
    tools = [tool for tool in session.cursor.context.toolbox if tool.name != "save"]
    loaded = Session.load(tmp_path / "s.jsonl", Toolbox(*tools), approve="all")
    assert loaded.verify(), str(loaded.verify())


def test_a_number_that_became_another_type_is_a_divergence(monkeypatch: pytest.MonkeyPatch) -> None:
    @tool(read_only=True)
    def count() -> Any:
        """Count."""
        return json.loads(os.environ["COUNT"])

    monkeypatch.setenv("COUNT", "1")
    session = run_calls(count, calls=[("count", {})])
    assert session.verify()
    for now in ("true", "1.0"):
        monkeypatch.setenv("COUNT", now)
        assert f"data was 1, and is {json.loads(now)}" in str(session.verify())


def test_what_differs_is_told_by_type_with_what_follows(capsys: pytest.CaptureFixture[str]) -> None:
    bakery = Bakery()
    session = bakery.session()
    bakery.today = 5
    again = session.replay(fresh=True).run()
    assert bakery.ran == ["mix", "rise", "look"] * 2
    report = again.came_out()
    assert [pair.tool for pair in report.calls if not pair.same] == ["rise", "Scales_weigh"]
    assert "2 of 5 calls differ" in str(report)
    assert "3 → 7 (+4)" in str(report)
    assert [call.result for call in session.calls] == ["Dough#1", "Dough#2", "fine", None, 3]
    assert [call.result for call in again.calls] == ["Dough#1", "Dough#2", "fine", None, 7]
    # What the model said to another number may be stale, and is marked.
    assert again.state.stale
    cells = cells_of(session)
    carry_out(split("replay --fresh"), cells, {})
    assert "2 of 5 calls differ" in capsys.readouterr().out
    carry_out(split("replay"), cells, {})
    assert capsys.readouterr().out == ""


def test_a_fresh_replay_can_begin_at_a_call() -> None:
    bakery = Bakery()
    bakery.session().replay("call_3_1", fresh=True).run()
    assert bakery.ran == ["mix", "rise", "look", "look"]


def test_an_unchanged_replay_came_out_the_same_and_a_session_of_its_own_is_no_replay() -> None:
    session = Bakery().session()
    assert session.replay().run().came_out().same
    with pytest.raises(UsageError, match=r"is no replay; session\.replay\(fresh=True\)"):
        session.came_out()
