"""What a panel asks for is checked as strictly as what a model asks for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import Absent, CallError, NotYourTurn, UsageError
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.jupyter.panel_commands import apply_command, parse_command
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.storage.value_store import SETTING
from jupyter_toolcall.view.contract import Notice, Whole


class Size(TypedDict):
    width: int
    name: str
    tags: list[str]


@dataclass(frozen=True)
class Egg:
    """An object."""

    boiled: int = 0

    def boil(self) -> Egg:
        """Boil it."""
        return Egg(self.boiled + 1)


def beat(egg: Egg):  # type: ignore[no-untyped-def]
    """Beat an egg: what it returns is not said."""
    return Egg(egg.boiled)


def same(egg: Egg) -> Egg:
    """Return an egg that is as it was."""
    return Egg(egg.boiled)


BOIL: tuple[str, dict[str, Any]] = ("Egg_boil", {})


def make(*script: Any, approve: Any = "all", **more: Any) -> Session:
    more = {"scheme": "flat", "inputs": {"egg": Egg()}, **more}
    box = Toolbox(*more.pop("tools", (Egg,)))
    return Session(box, Scripted([*script, "done"]), approve=approve, **more).tell("Go.")


def answer(session: Session, call: str, result: Any, digest: str | None = None) -> Session:
    if digest is None:
        digest = next(row.approval_digest for row in told(session) if row.call == call)
    wish = {"type": "answer", "call": call, "result": result, "approval_digest": digest}
    return apply_command(session, parse_command(wish)).run()


@pytest.mark.parametrize("approve", ["ask", "all"])
@pytest.mark.parametrize(
    ("result", "told", "objects"),
    [
        # Of the call that ran `Egg#2` is the first object, which no other part of it becomes.
        ("Egg#1", "Egg#1", 1),
        (Egg(7), "Egg#2", 2),
        (["Egg#1", Egg(7)], ["Egg#1", {"ask": "Egg#2", "all": "Egg#3"}], 2),
        ([Egg(7), Egg(7)], ["Egg#2", "Egg#3"], 3),
        (["Egg#1", 5], ["Egg#1", 5], 1),
        ([], [], 1),
        ("an egg", "an egg", 1),
    ],
)
def test_an_answer_is_read_alike_always(approve: str, result: Any, told: Any, objects: int) -> None:
    session = make(("beat", {"egg": "Egg#1"}), approve=approve, tools=(Egg, beat))
    answered = answer(session, "call_1", result)
    assert answered.calls[0].status == "answered"
    parts = [part[approve] if isinstance(part, dict) else part for part in told]
    assert answered.calls[0].result == (parts if isinstance(told, list) else told)
    assert len(answered.objects) == objects
    assert answered.text == "done"


@pytest.mark.parametrize(
    ("tool", "result", "problem"),
    [
        ("Egg_boil", "", "no object ''"),
        ("Egg_boil", "an egg", "no object 'an egg'"),
        ("Egg_boil", 5, "must be the name of an object, such as Egg#1"),
        ("weigh", "heavy", "valid integer"),
        ("weigh", "Egg#1", "valid integer"),
    ],
)
def test_an_answer_that_does_not_fit_what_the_tool_returns_is_refused_at_its_field(
    tool: str, result: Any, problem: str
) -> None:
    calls = [("weigh", {"egg": "Egg#1"}), BOIL]
    session = make([call for call in calls if call[0] == tool], approve="ask", tools=(Egg, weigh))
    with pytest.raises(CallError, match=f"{tool} returns (Egg|int)") as refused:
        answer(session, "call_1", result)
    assert problem in refused.value.fields["result"]
    fitting = "Egg#1" if tool == "Egg_boil" else 7
    assert answer(session, "call_1", fitting).calls[0].result == fitting


def test_a_wrong_answer_is_told_with_an_example_of_what_fits_or_with_the_part_that_is_wrong() -> (
    None
):
    def settings() -> dict[str, Any]:
        """Return settings."""
        return {}

    def sizes() -> list[Size]:
        """Return sizes."""
        return []

    def problem(tool: Any, result: Any) -> str:
        with pytest.raises(CallError) as refused:
            answer(make((tool.__name__, {}), approve="ask", tools=(tool,)), "call_1", result)
        return refused.value.fields["result"]

    assert problem(settings, "bar") == 'give JSON, such as {"name": "text"}'
    several = '[{"width": 1, "name": "text", "tags": ["text"]}]'
    assert problem(sizes, {"width": 1}) == f"give JSON, such as {several}"
    wide = [{"width": "wide", "name": "", "tags": []}]
    assert problem(sizes, wide).startswith("0.width: input should be a valid integer")


def test_an_empty_answer_fits_a_text() -> None:
    def name(egg: Egg) -> str:
        """Name an egg."""
        return "egg"

    session = make(("name", {"egg": "Egg#1"}), approve="ask", tools=(Egg, name))
    assert answer(session, "call_1", "").calls[0].result == ""


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
    (row,) = told(session)
    session.decide("call_1", "edit", arguments={"Egg": "Egg#1"}).run()
    with pytest.raises(NotYourTurn, match="look at it and decide again"):
        answer(session, "call_1", "Egg#1", digest=f"{row.approval_digest}, but another")
    digest = session.state.call("call_1").approval_digest
    assert answer(session, "call_1", "Egg#1", digest=digest).text == "done"


# -- a session whose values are not here ------------------------------------------------


def told(session: Session, table: str = "calls") -> tuple[Any, ...]:
    """Return the rows of a table that a panel gets."""
    notices: list[Notice] = []
    PanelController(session, notices.append).publish("waiting")
    (whole,) = notices
    assert isinstance(whole, Whole)
    rows: tuple[Any, ...] = getattr(whole.rows, table)
    return rows


def loaded(path: Path) -> Session:
    session = make(BOIL, BOIL, approve=[("Egg_boil(*", "ask")])
    with pytest.MonkeyPatch.context() as here:
        here.setenv(SETTING, "0")
        session.decide("call_1").run().save(path / "s.jsonl")
        return Session.load(path / "s.jsonl", Toolbox(Egg), Scripted([BOIL, BOIL, "done"]))


@pytest.mark.parametrize("verdict", ["reject", "answer"])
def test_a_call_without_its_values_is_shown_with_the_remedy_and_can_be_decided(
    tmp_path: Path, verdict: Any
) -> None:
    session = loaded(tmp_path)
    assert [call.id for call in session.pending] == ["call_2"]
    row = told(session)[1]
    assert (row.status, row.approval_digest) == ("proposed", "")
    assert "session.replay().run() makes it again" in row.why
    assert "Egg_boil" in session._repr_mimebundle_()["text/plain"]
    with pytest.raises(Absent):
        session.decide("call_2")
    result = "Egg#1" if verdict == "answer" else None
    session.decide("call_2", verdict, result=result, reason="no", approval_digest="").run()
    assert session.text == "done"
    assert session.calls[1].status == {"reject": "rejected", "answer": "answered"}[verdict]


# -- what is outdated --------------------------------------------------------------------


def weigh(egg: Egg) -> int:
    """Weigh an egg."""
    return 50 + egg.boiled


def guessed() -> Session:
    """Return a session of which the second reply was made up of a number that was edited since."""
    calls = [("Egg_boil", {}), ("weigh", {"egg": "$Egg"}), "It weighs 51.", "It weighs something."]
    session = make(*calls, tools=(Egg, weigh), inputs={"egg": Egg(), "other": Egg(8)})
    assert session.text == "It weighs 51."
    return session.edit("call_2", egg="Egg#2").run()


def test_a_stale_reply_is_marked_with_all_its_parts_and_the_model_is_asked_again() -> None:
    edited = guessed()
    rows = told(edited, "messages")
    assert {row.text for row in rows if row.stale} == {"It weighs 51."}
    again = apply_command(edited, parse_command({"type": "ask", "turn": 3})).run()
    assert again.text == "It weighs 51."
    assert not any(row.stale for row in told(again, "messages"))
    assert [call.result for call in again.calls] == [call.result for call in edited.calls]
    assert not Journal.loads(again.journal.dumps())[again.head].meta.get("stale")


def test_of_the_calls_that_were_asked_for_before_a_change_the_first_one_is_marked() -> None:
    calls, inputs = [BOIL, ("weigh", {"egg": "$Egg"}), BOIL, BOIL], {"egg": Egg(), "other": Egg(8)}
    edited = make(*calls, tools=(Egg, weigh), inputs=inputs).edit("call_2", egg="Egg#2").run()
    marks = [row.warning and row.warning.kind for row in told(edited) if not row.branch]
    assert marks == [None, None, "asked before a change", None]


@pytest.mark.parametrize("turn", [0, 4, -1])
def test_there_is_no_other_turn_to_ask_again(turn: int) -> None:
    with pytest.raises(NotYourTurn, match=f"there is no turn {turn} on this branch; it has 3"):
        apply_command(guessed(), parse_command({"type": "ask", "turn": turn}))


def test_rows_and_text_say_what_is_outdated_and_why() -> None:
    session = guessed()

    def otherwise(self: Egg) -> Egg:
        return Egg(self.boiled + 2)

    later = Toolbox(type("Egg", (), {"boil": otherwise, "__module__": Egg.__module__}), weigh)
    session.cursor.context.toolbox = later.with_types([Egg])
    why = "its tool Egg_boil was changed"
    calls = {row.call: row.outdated for row in told(session, "calls")}
    assert calls == {"call_1": why, "call_2": ""}
    assert {row.name: row.outdated for row in told(session, "objects") if row.outdated} == {
        "Egg#3": why
    }
    text = session._repr_mimebundle_()["text/plain"]
    assert "Egg_boil(Egg#2) → Egg#3 (cached) (outdated)\n" in text
    assert f"  1 Egg_boil: outdated: {why}" in text


# -- deciding again ----------------------------------------------------------------------


def test_a_call_that_has_its_result_is_decided_on_again_as_one_that_waits_is() -> None:
    session = make(BOIL, ("weigh", {"egg": "$Egg"}), tools=(Egg, weigh))
    count = len(session.journal)
    rejected = session.decide_anew("call_1", "reject", reason="raw, please").run()
    assert [call.status for call in rejected.calls] == ["rejected", "failed"]
    answered = session.decide_anew(session.calls[0], "answer", result=Egg(9)).run()
    assert [call.result for call in answered.calls] == ["Egg#2", 59]
    assert answered["Egg#2"] == Egg(9)
    edited = session.decide_anew("call_2", "edit", arguments={"egg": "Egg#1"}).run()
    assert [call.result for call in edited.calls] == ["Egg#2", 50]
    assert rejected.decide_anew("call_1", "approve").run().calls[0].status == "succeeded"
    assert [call.result for call in session.calls] == ["Egg#2", 51]
    assert len(session.journal) > count


def test_an_edit_of_nothing_runs_a_call_that_failed_with_the_tool_as_it_is_now() -> None:
    def edited(session: Session) -> Session:
        digest = told(session)[0].approval_digest
        wish = {"type": "edit", "call": "call_1", "arguments": {}, "approval_digest": digest}
        return apply_command(session, parse_command(wish))

    works: list[str] = []

    def boil() -> str:
        """Boil."""
        if not works:
            raise ValueError("no gas")
        return works[0]

    session = make(("boil", {}), tools=(boil,))
    works.append("boiled")
    again = edited(session).run()
    assert [call.result for call in again.calls] == ["boiled"]
    assert [*again.branch_names] == ["main", "retry (call 1)"]
    assert edited(again) is again


def test_a_failed_call_is_retried_with_its_changed_tool_and_with_the_same_one_only_if_asked(
    tmp_path: Path,
) -> None:
    gas = tmp_path / "gas"

    def boil() -> str:
        """Boil."""
        return gas.read_text()

    session = make(("boil", {}), tools=(boil,))
    wish = {"type": "retry", "call": "call_1", "approval_digest": told(session)[0].approval_digest}
    gas.write_text("boiled")
    with pytest.raises(UsageError, match="has not changed since the call failed"):
        apply_command(session, parse_command(wish))
    assert [*session.branch_names] == ["main"]
    again = apply_command(session, parse_command({**wish, "unchanged": True})).run()
    assert [call.result for call in again.calls] == ["boiled"]


def test_a_call_of_a_tool_that_does_not_exist_runs_the_one_that_was_meant() -> None:
    session = make(("wiegh", {"egg": "Egg#1", "unit": "g"}), ("fry", {}), tools=(weigh,))
    rows = told(session)
    assert [row.suggested_tool for row in rows] == ["weigh", ""]
    assert [row.id for row in told(session, "tools")] == ["weigh"]
    wish = {"type": "edit", "call": "call_1", "approval_digest": "", "tool": "weigh"}
    edited = apply_command(session, parse_command({**wish, "arguments": {"egg": "Egg#1"}})).run()
    row = next(row for row in told(edited) if row.call == "call_1" and not row.branch)
    assert (row.tool, row.asked_tool, row.result, row.edited) == ("weigh", "wiegh", "50", True)
    assert [*edited.branch_names] == ["main", "weigh, no unit (call 1)"]
    with pytest.raises(CallError, match="egg: Choose an egg"):
        apply_command(session, parse_command({**wish, "arguments": {}}))


@pytest.mark.parametrize("saved", ["Egg#1", "Egg#2"])
def test_what_a_repaired_call_made_is_told_as_unused_with_the_output_that_has_an_older_one(
    saved: str,
) -> None:
    boil = ("Egg_boil", {"Egg": "Egg#1", "long": True})
    script = [boil, ("Egg_boil", {"Egg": "Egg#1"}), ("save", {"egg": saved})]
    session = make(*script, tools=(Egg,), outputs={"egg": "Egg"})
    drive = PanelController(session, lambda notice: None)
    drive.publish("finished")
    assert drive.whole().session[0].repair is None
    drive.session = session.decide_anew("call_1", "edit", arguments={"Egg": "Egg#1"}).run()
    drive.publish("finished")
    repair = drive.whole().session[0].repair
    assert repair is not None
    calls = {row.call: row.id for row in told(drive.session) if not row.branch}
    save = calls["call_3"] if saved == "Egg#1" else ""
    assert (repair.is_unused, repair.ask_turn) == (True, 2)
    assert (repair.save, repair.output) == (save, "egg" if save else "")
    taken = drive.session.edit("call_3", egg=repair.object).run()
    drive.session = taken
    drive.publish("finished")
    again = drive.whole().session[0].repair
    assert again is not None
    assert (again.is_unused, again.ask_turn, again.save) == (False, 0, "")


def test_the_row_of_a_call_whose_object_is_as_the_one_before_says_that_it_changes_nothing() -> None:
    session = make(BOIL, ("same", {"egg": "$Egg"}), tools=(Egg, same))
    assert [row.changes_nothing for row in told(session)] == [False, True]


def test_the_row_of_a_call_that_failed_its_check_says_what_is_wrong_at_each_argument() -> None:
    egg = {"egg": "Egg#1"}
    session = make(("weigh", {**egg, "unit": "g"}), ("weigh", egg), tools=(weigh,))
    wrong, right = told(session)
    assert wrong.wrong == {"unit": "there is no such argument; there is egg"}
    assert (right.status, right.wrong) == ("succeeded", {})


@pytest.mark.parametrize(
    ("call", "verdict", "fields", "error", "said"),
    [
        ("call_1", "forget", {}, UsageError, "'forget' is no decision; there are approve, edit"),
        ("call_1", "edit", {}, UsageError, "an edit needs the arguments"),
        ("call_1", "edit", {"arguments": {"egg": 5}}, CallError, "there is no such argument"),
        ("call_1", "answer", {"result": "Egg#9"}, CallError, "there is no object 'Egg#9'"),
        ("call_7", "reject", {}, NotYourTurn, "there is no call 'call_7'"),
    ],
)
def test_a_decision_again_that_cannot_be_changes_nothing(
    call: str, verdict: Any, fields: dict[str, Any], error: type[Exception], said: str
) -> None:
    session = make(BOIL)
    count = len(session.journal)
    with pytest.raises(error, match=said):
        session.decide_anew(call, verdict, **fields)
    with pytest.raises(NotYourTurn, match=r"succeeded already; decide_anew\('call_1', ...\)"):
        session.decide("call_1", "reject")
    assert len(session.journal) == count
