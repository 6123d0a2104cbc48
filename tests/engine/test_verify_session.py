"""`session.verify()`: a branch runs again on a copy, and the first difference is named."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import Unfinished
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.subcommands import carry_out


@dataclass(frozen=True)
class Loaf:
    grams: int


class Oven:
    """An oven that gets hotter."""

    def __init__(self) -> None:
        self.heat = 0

    def warm(self, by: int) -> int:
        """Warm it."""
        self.heat += by
        return self.heat


class Bakery:
    """Tools that note what ran, and can come to something else."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.loss = 10

    def box(self) -> Toolbox:
        def bake(loaf: Loaf) -> Loaf:
            """Bake a loaf."""
            self.ran.append("bake")
            return Loaf(loaf.grams - self.loss)

        def weigh(loaf: Loaf) -> int:
            """Weigh a loaf."""
            self.ran.append("weigh")
            return loaf.grams

        return Toolbox(bake, weigh, Oven())

    def session(self, approve: str = "ask") -> Session:
        model = Scripted(
            [
                ("bake", {"loaf": "Loaf#1"}),
                [("weigh", {"loaf": "Loaf#2"}), ("weigh", {"loaf": "Loaf#9"})],
                ("Oven_warm", {"by": 3}),
                "Done.",
            ]
        )
        inputs = {"loaf": Loaf(500)}
        return Session(self.box(), model, scheme="flat", inputs=inputs, approve=approve).tell("Go.")


def test_a_session_that_comes_out_the_same_is_verified_and_nothing_is_added() -> None:
    bakery = Bakery()
    session = bakery.session("all")
    entries, bakery.ran = len(session.journal), []
    found = session.verify()
    assert found
    assert str(found) == "4 calls came out as recorded"
    assert bakery.ran == ["bake", "weigh"]
    assert len(session.journal) == entries


def test_the_first_call_that_comes_out_otherwise_is_told() -> None:
    bakery = Bakery()
    session = bakery.session("all")
    bakery.loss = 20
    found = session.verify()
    assert not found
    assert found.divergence == "call 1, bake: its tool bake uses what was changed: self.loss"
    # What was verified is what it was.
    assert session["Loaf#2"] == Loaf(490)


@given(st.lists(st.sampled_from(["approve", "reject", "answer"]), min_size=3, max_size=3))
def test_whatever_a_person_decided_is_verified(verdicts: list[str]) -> None:
    session = Bakery().session()
    for verdict in verdicts:
        if session.pending:
            call = session.pending[0]
            answer = "Loaf#1" if call.tool == "bake" else 7
            session.decide(call, verdict, result=answer).run()  # type: ignore[arg-type]
    assert session.verify(), str(session.verify())


def test_a_line_verifies_a_session_and_fails_its_cell_where_it_comes_out_otherwise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bakery = Bakery()
    cells = Cells()
    cells.keep(bakery.session("all"))
    carry_out(["verify"], cells, {})
    assert "4 calls came out as recorded" in capsys.readouterr().out
    bakery.loss = 20
    with pytest.raises(Unfinished, match="comes out otherwise: call 1, bake"):
        carry_out(["verify"], cells, {})
