"""A replay that runs every call again, and lists what differs."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.input_line import split
from jupyter_toolcall.jupyter.subcommands import carry_out


class Dough:
    def __init__(self, grams: int) -> None:
        self.grams = grams


class Scales:
    """A stateful instance that counts how often it weighs."""

    def __init__(self) -> None:
        self.times = 0

    def weigh(self, dough: Dough) -> int:
        """Weigh dough."""
        self.times += 1
        return dough.grams + self.times


class Bakery:
    """Tools of which one is not the same every day."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.today = 1

        def mix(grams: int) -> Dough:
            """Mix dough."""
            self.ran.append("mix")
            return Dough(grams)

        def rise(dough: Dough) -> Dough:
            """Let it rise, as warm as it is today."""
            self.ran.append("rise")
            return Dough(dough.grams + self.today)

        def look(dough: Dough) -> str:
            """Look."""
            self.ran.append("look")
            return "fine"

        self.box = Toolbox(mix, rise, look, Dough, Scales())

    def session(self) -> Session:
        script: list[Any] = [
            *(("mix", {"grams": 1}), ("rise", {"dough": "$Dough"}), ("look", {"dough": "Dough#1"})),
            *(("Scales_weigh", {"dough": "Dough#2"}), "done"),
        ]
        return Session(self.box, Scripted(script), scheme="flat", approve="all").tell("Go.")


def test_what_came_out_otherwise_is_told_by_type_with_what_follows_from_it() -> None:
    bakery = Bakery()
    session = bakery.session()
    bakery.today = 5
    again = session.replay(fresh=True).run()
    assert bakery.ran == ["mix", "rise", "look"] * 2
    report = again.came_out()
    assert [pair.tool for pair in report.calls if not pair.same] == ["rise", "Scales_weigh"]
    assert "2 of 4 calls differ" in str(report)
    assert "3 → 7 (+4)" in str(report)
    assert [call.result for call in session.calls] == ["Dough#1", "Dough#2", "fine", 3]
    assert [call.result for call in again.calls] == ["Dough#1", "Dough#2", "fine", 7]
    # What the model said to another number may be stale, and is marked.
    assert again.state.stale


def test_a_fresh_replay_can_begin_at_a_call() -> None:
    bakery = Bakery()
    session = bakery.session()
    session.replay("call_3", fresh=True).run()
    assert bakery.ran == ["mix", "rise", "look", "look"]


def test_an_unchanged_replay_came_out_the_same_and_a_session_of_its_own_is_no_replay() -> None:
    session = Bakery().session()
    assert session.replay().run().came_out().same
    with pytest.raises(UsageError, match=r"is no replay; session\.replay\(fresh=True\)"):
        session.came_out()


def test_the_line_tells_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    bakery = Bakery()
    cells = Cells()
    cells.keep(bakery.session())
    bakery.today = 5
    carry_out(split("replay --fresh"), cells, {})
    assert "2 of 4 calls differ" in capsys.readouterr().out
    carry_out(split("replay"), cells, {})
    assert capsys.readouterr().out == ""
