"""What a panel asks for is checked as strictly as what a model asks for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.commands import command, obey
from jupyter_toolcall.driving import Drive
from jupyter_toolcall.errors import Absent, CallError, NotYourTurn, UsageError
from jupyter_toolcall.rows import CallRow, Notice, Whole


@dataclass(frozen=True)
class Egg:
    """An object."""

    boiled: int = 0

    def boil(self) -> Egg:
        """Boil it."""
        return Egg(self.boiled + 1)


BOIL: tuple[str, dict[str, Any]] = ("Egg_boil", {})


def make(*script: Any, approve: Any = "all", **more: Any) -> Session:
    more = {"scheme": "flat", "inputs": {"egg": Egg()}, **more}
    return Session(Toolbox(Egg), Scripted([*script, "done"]), approve=approve, **more).tell("Go.")


def answer(session: Session, call: str, result: Any, bound: str = "") -> Session:
    wish = {"type": "answer", "call": call, "result": result, "bound": bound}
    return obey(session, command(wish)).run()


@pytest.mark.parametrize("approve", ["ask", "all"])
@pytest.mark.parametrize(
    ("result", "told", "objects"),
    [
        ("Egg#1", "Egg#1", 1),
        (Egg(7), "Egg#2", 2),
        (["Egg#1", Egg(7)], ["Egg#1", "Egg#2"], 2),
        ([Egg(7), Egg(7)], ["Egg#2", "Egg#3"], 3),
        (["Egg#1", 5], ["Egg#1", 5], 1),
        ([], [], 1),
        ("an egg", "an egg", 1),
    ],
)
def test_an_answer_is_read_alike_before_and_after_the_call_ran(
    approve: str, result: Any, told: Any, objects: int
) -> None:
    session = make(BOIL, approve=approve)
    answered = answer(session, "call_1", result)
    assert answered.calls[0].status == "answered"
    assert answered.calls[0].result == told
    assert len(answered.objects) == objects
    assert answered.text == "done"


def test_an_answer_names_no_object_that_is_not_there_yet() -> None:
    session = make(BOIL, BOIL)
    with pytest.raises(CallError, match="no object 'Egg#3'"):
        answer(session, "call_1", "Egg#3")
    assert len(session.branches) == 1


@pytest.mark.parametrize("tool", ["selectTools", "save"])
def test_a_call_of_the_schemes_own_takes_no_answer(tool: str) -> None:
    calls = [("selectTools", {"tools": ["Egg_boil"]}), ("save", {"out": "Egg#1"})]
    session = make(*calls, scheme="select", outputs={"out": Egg})
    call = next(call for call in session.calls if call.tool == tool)
    with pytest.raises(UsageError, match=f"{tool} is the scheme's own"):
        answer(session, call.id, "ok")
    assert session.outputs["out"] == Egg()


def test_a_decision_on_a_call_that_ran_meanwhile_as_another_is_refused() -> None:
    session = make(BOIL, approve="ask")
    (row,) = shown(session)
    session.decide("call_1", "edit", arguments={"Egg": "Egg#1"}).run()
    with pytest.raises(NotYourTurn, match="look at it and decide again"):
        answer(session, "call_1", 5, bound=f"{row.bound}, but another")
    assert answer(session, "call_1", 5, bound=session.state.call("call_1").bound).text == "done"


def test_an_argument_may_have_any_name() -> None:
    def call(call_id: str, self: str = "") -> str:
        return call_id + self

    script = Scripted([("call", {"call_id": "a"}), "done"])
    session = Session(Toolbox(call), script, scheme="flat", approve="all").tell("Go.")
    assert session.edit("call_1", call_id="b", self="c").run().calls[0].result == "bc"


# -- a session whose values are not here ------------------------------------------------


def shown(session: Session) -> tuple[CallRow, ...]:
    told: list[Notice] = []
    Drive(session, told.append).publish("waiting")
    (whole,) = told
    assert isinstance(whole, Whole)
    return whole.rows.calls


def loaded(path: Path) -> Session:
    session = make(BOIL, BOIL, approve=[("Egg_boil(*", "ask")])
    session.decide("call_1").run().save(path / "s.jsonl")
    return Session.load(path / "s.jsonl", Toolbox(Egg), Scripted([BOIL, BOIL, "done"]))


def test_a_call_that_waits_for_values_that_are_not_here_is_shown_with_the_remedy(
    tmp_path: Path,
) -> None:
    session = loaded(tmp_path)
    assert [call.id for call in session.pending] == ["call_2"]
    row = shown(session)[1]
    assert (row.status, row.bound) == ("proposed", "")
    assert "session.replay().run() makes it again" in row.why
    assert "Egg_boil" in session._repr_mimebundle_()["text/plain"]


@pytest.mark.parametrize("verdict", ["reject", "answer"])
def test_a_call_whose_values_are_not_here_can_be_rejected_and_answered(
    tmp_path: Path, verdict: Any
) -> None:
    session = loaded(tmp_path)
    with pytest.raises(Absent):
        session.decide("call_2")
    session.decide("call_2", verdict, result=5, reason="no", bound="as it was shown").run()
    assert session.text == "done"
    assert session.calls[1].status == {"reject": "rejected", "answer": "answered"}[verdict]
