"""A session with somebody in front of it: what a panel sends, and what it may not bring about."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest

from jupyter_toolcall import Budget, Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import Stopped, Unfinished
from jupyter_toolcall.engine.forks import FROM_A_LIST
from jupyter_toolcall.engine.person_model import idle_phase
from jupyter_toolcall.jupyter.panel import Panel
from jupyter_toolcall.jupyter.panel_controller import (
    DIFFERS,
    SAME_AGAIN,
    SAME_SO_FAR,
    PanelController,
)
from jupyter_toolcall.kitchen import Potato, Sink
from jupyter_toolcall.view.contract import Delta, Exported, Notice, Refused, Rows, Shown, Whole


def double(number: int) -> int:
    """Twice as much."""
    return 2 * number


TURN = [("double", {"number": 1}), ("double", {"number": 2})]


def seated(*turns: Any, tool: Any = double, **options: Any) -> tuple[PanelController, list[Notice]]:
    """Return a drive at its first pause, and what its panel has been told."""
    heard: list[Notice] = []
    stepping = options.pop("stepping", False)
    script = Scripted([*(turns or (TURN,)), "done"])
    session = Session(Toolbox(tool), script, scheme="flat", **options).ask("Go.")
    drive = PanelController(session, heard.append, stepping=stepping)
    drive.run_to_pause()
    return drive, heard


def bound_of(drive: PanelController, call: str) -> str:
    return next(row.approval_digest for row in drive.whole().calls if row.call == call)


def all_waiting(drive: PanelController) -> dict[str, Any]:
    """Return the message of `Approve all` as the panel would send it now."""
    waiting = [call.id for call in drive.session.pending]
    calls = [{"call": call, "approval_digest": bound_of(drive, call)} for call in waiting]
    return {"type": "approve_all", "calls": calls}


def obeyed(drive: PanelController, *messages: Any) -> None:
    """Send messages to a panel behind which nothing runs, and let it go on where they say so."""
    for message in messages:
        drive.receive(message)
    asyncio.run(drive.resume())


def last_detail(heard: list[Notice]) -> str:
    """Return the line below the status, as the panel was told last."""
    rows = [notice.rows for notice in heard if isinstance(notice, (Delta, Whole))]
    return next(row.session[0].detail for row in reversed(rows) if row.session)


def statuses(drive: PanelController) -> list[str]:
    return [call.status for call in drive.session.calls]


def test_a_whole_turn_is_approved_by_one_word() -> None:
    drive, _ = seated()
    obeyed(drive, all_waiting(drive))
    assert statuses(drive) == ["succeeded", "succeeded"]


def test_who_approves_a_call_that_ran_meanwhile_reads_that_it_ran() -> None:
    drive, heard = seated()
    digest = bound_of(drive, "call_1_1")
    drive.session.decide("call_1_1").run()
    obeyed(drive, {"type": "approve", "call": "call_1_1", "approval_digest": digest})
    assert [each.reason for each in heard if isinstance(each, Refused)] == [
        "This call has run already."
    ]


RECIPIENT = {"to": "bob"}
"""What a tool reads from outside; a person may set it between the look and the click."""


def mail(number: int) -> str:
    """Mail a number."""
    return f"{number} to {RECIPIENT['to']}"


def test_a_call_that_changed_since_it_was_shown_can_be_approved_after_it_was_shown_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drive, heard = seated(("mail", {"number": 1}), tool=mail)
    approve = {"type": "approve", "call": "call_1"}
    digest = bound_of(drive, "call_1")
    heard.clear()
    monkeypatch.setitem(RECIPIENT, "to", "eve")
    obeyed(drive, {**approve, "approval_digest": digest})
    assert statuses(drive) == ["proposed"]
    assert any(isinstance(notice, Refused) for notice in heard)
    sent = [row for notice in heard if isinstance(notice, Delta) for row in notice.rows.calls]
    obeyed(drive, {**approve, "approval_digest": sent[-1].approval_digest})
    assert statuses(drive) == ["succeeded"]


def test_a_panel_knows_whether_a_cell_waits_and_holds_the_kernel() -> None:
    drive, heard = seated()

    def held() -> list[bool]:
        rows = [row for notice in heard if isinstance(notice, Delta) for row in notice.rows.session]
        return [row.holds_kernel for row in rows]

    async def wait_and_stop() -> None:
        heard.clear()
        running = asyncio.create_task(drive.run())
        while not held():
            await asyncio.sleep(0)
        drive.receive({"type": "stop"})
        await running

    assert not any(held())
    with pytest.raises(Stopped):
        asyncio.run(wait_and_stop())
    assert held() == [True, False]


def test_a_forged_word_for_a_whole_turn_approves_nothing() -> None:
    drive, heard = seated()
    forged = all_waiting(drive)
    forged["calls"][-1]["approval_digest"] = "forged"
    obeyed(drive, forged, {"type": "run"})
    assert statuses(drive) == ["proposed", "proposed"]
    assert any(isinstance(notice, Refused) for notice in heard)


def test_a_turn_that_was_approved_is_asked_about_again_on_another_branch() -> None:
    drive, _ = seated()
    reply = drive.session.head
    obeyed(drive, all_waiting(drive))
    obeyed(drive, {"type": "checkout", "branch": reply}, {"type": "run"})
    assert statuses(drive) == ["proposed", "proposed"]


@pytest.mark.parametrize(
    "message",
    [
        {"type": "draw_graph"},
        {"type": "hello"},
        {"type": "nonsense"},
        {"type": "approve", "call": "call_1", "approval_digest": "forged"},
        {"type": "edit", "call": "call_9", "arguments": {}, "approval_digest": ""},
        5,
        None,
        ["stop"],
    ],
)
def test_what_is_no_wish_to_go_on_does_not_wake_a_session_that_was_stopped(message: Any) -> None:
    session = Session(Toolbox(double), Scripted([TURN]), scheme="flat", approve="all").ask("Go.")
    drive = PanelController(session, lambda notice: None)
    obeyed(drive, message)
    assert drive.session.calls == ()


def test_a_panel_is_not_told_that_the_session_runs_after_a_command_that_is_refused() -> None:
    drive, heard = seated()

    async def refused() -> None:
        going = asyncio.ensure_future(drive.run())
        await asyncio.sleep(0.01)
        heard.clear()
        drive.receive({"type": "rm -rf"})
        await asyncio.sleep(0.1)
        drive.receive({"type": "stop"})
        await going

    with pytest.raises(Stopped):
        asyncio.run(refused())
    assert isinstance(heard[0], Refused)
    phases = [row.phase for each in heard if isinstance(each, Delta) for row in each.rows.session]
    assert phases == ["waiting", "stopped"]


def stop_while_it_waits(drive: PanelController) -> None:
    """Run a session that waits for somebody, and stop it meanwhile."""

    async def stopped() -> None:
        going = asyncio.ensure_future(drive.run())
        await asyncio.sleep(0)
        drive.receive({"type": "stop"})
        await going

    with pytest.raises(Stopped):
        asyncio.run(stopped())


def test_a_stop_while_a_call_waits_ends_the_wait_and_loses_nothing() -> None:
    drive, _ = seated()
    stop_while_it_waits(drive)
    assert [call.status for call in drive.session.pending] == ["proposed", "proposed"]
    assert (
        statuses(PanelController(drive.session.decide("call_1_1").run(), print))[0] == "succeeded"
    )


@pytest.mark.parametrize("approve", ["all", "ask"])
def test_a_step_is_one_call_of_a_run_or_of_its_replay_which_says_what_the_next_one_does(
    approve: str,
) -> None:
    drive, heard = paused_between(approve, TURN, ("double", {"number": 3}))
    for ended in range(3):
        assert sum(status in ("succeeded", "rejected") for status in statuses(drive)) == ended
        waiting = all_waiting(drive)["calls"][:1] if approve == "ask" else []
        approval = {"type": "approve_all", "calls": waiting} if waiting else {"type": "step"}
        obeyed(drive, {"type": "reject", **waiting[0]} if waiting and ended == 1 else approval)
    end, length = drive.session.head, len(drive.session.journal)
    obeyed(drive, {"type": "replay", "call": "call_1_1"})
    for number in range(4):
        row, calls = drive.whole().session[0], drive.whole().calls
        told = last_detail(heard)
        repeats = f"The next step repeats call {number + 1} (double): its tool does not run."
        detail = SAME_AGAIN if number == 3 else f"{SAME_SO_FAR} {repeats}"
        succeeded = number - (number > 1 and approve == "ask")
        done = [c.status for c in calls if not c.branch].count("succeeded")
        assert (told, done) == (detail, succeeded)
        assert not row.pending
        assert not any(call.why or call.warning or call.status == "proposed" for call in calls)
        obeyed(drive, {"type": "step"})
    assert (drive.session.head, len(drive.session.journal)) == (end, length)


@dataclass
class Crate:
    """A crate with what was packed into it."""

    content: str

    def pack(self) -> Crate:
        """Pack it for the recipient."""
        return Crate(f"{self.content} {RECIPIENT['to']}")


def test_a_stepped_replay_says_which_call_runs_next_and_draws_no_call_on_another_input_as_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns = [("Crate_pack", {"Crate": "Crate#1"}), ("Crate_pack", {"Crate": "Crate#2"})]
    inputs = {"crate": Crate("of")}
    drive, heard = seated(*turns, tool=Crate, inputs=inputs, approve="all", stepping=True)
    obeyed(drive, {"type": "run"})
    monkeypatch.setitem(RECIPIENT, "to", "eve")
    end = drive.session.head
    obeyed(drive, {"type": "replay", "call": "call_1"})
    obeyed(drive, {"type": "stop"})
    assert (drive.session.head, drive.whole().session[0].phase) == (end, "finished")
    obeyed(drive, {"type": "replay", "call": "call_1"})
    differs = "Replay, on a new branch: call 1 differs from the recorded one."
    for number, so_far in enumerate((SAME_SO_FAR, differs), 1):
        change = "Crate_pack uses what was changed: RECIPIENT"
        detail = f"{so_far} The next step runs call {number} (Crate_pack): {change}."
        rows = drive.whole()
        assert (rows.session[0].detail, rows.session[0].can_go_back) == (detail, True)
        assert not any(row.same for row in rows.calls if row.branch and row.step >= number)
        obeyed(drive, {"type": "step"})
    assert (last_detail(heard), drive.whole().session[0].differs) == (DIFFERS, True)
    assert drive.session["Crate#3"].content == "of eve eve"


@pytest.mark.parametrize("to", ["bob", "eve"])
def test_note_step_and_count_of_a_replay_agree_on_which_call_runs(
    monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    turns = [("Crate_pack", {"Crate": "Crate#1"}), ("save", {"out": "Crate#2"})]
    options = {"inputs": {"crate": Crate("of")}, "outputs": {"out": Crate}, "approve": "all"}
    drive, _ = seated(*turns, tool=Crate, **options)
    recorded = drive.session.head
    monkeypatch.setitem(RECIPIENT, "to", to)
    obeyed(drive, {"type": "replay", "call": "call_1"})
    for number in (1, 2):
        rows = drive.whole()
        ran = rows.session[0].ran
        is_repeated = "its tool does not run" in rows.session[0].detail
        step = next(row for row in rows.calls if row.step == number and not row.branch)
        assert (step.status, step.memory) == ("approved", is_repeated)
        obeyed(drive, {"type": "step"})
        counts = drive.whole().session[0]
        assert is_repeated == (to == "bob")
        assert counts.ran + counts.remembered + counts.inherited == number
        # A replay in which nothing differs ends on the branch that it repeated, where all ran.
        assert counts.ran - ran == (not is_repeated) or drive.session.head == recorded


def test_a_stepped_replay_says_of_no_call_that_a_person_edited_that_its_input_changed() -> None:
    drive, _ = seated(("double", {"number": 1}), stepping=True)
    drive.session.decide("call_1", "edit", arguments={"number": 5}).run()
    obeyed(drive, {"type": "replay", "call": "call_1"})
    while drive.whole().session[0].phase != "finished":
        assert "its input" not in drive.whole().session[0].detail
        obeyed(drive, {"type": "step"})
    assert drive.session.calls[0].result == 10


def test_an_edit_runs_on_after_a_replay_that_was_stepped_to_its_end() -> None:
    turns = [("double", {"number": number}) for number in (1, 2, 3)]
    drive, _ = seated(*turns, approve="all")
    obeyed(drive, {"type": "replay", "call": "call_1"})
    steps = 0
    while (row := drive.whole().session[0]).phase != "finished":
        assert (row.can_go_back, row.recorded_calls) == (True, 3)
        assert (row.ran, row.remembered) == (0, steps)
        obeyed(drive, {"type": "step"})
        steps += 1
    assert row.ran == 3
    digest = drive.session.calls[0].approval_digest
    edit = {"type": "edit", "call": "call_1", "arguments": {"number": 7}}
    obeyed(drive, {**edit, "approval_digest": digest})
    assert (steps, drive.whole().session[0].phase) == (3, "finished")
    assert [call.result for call in drive.session.calls] == [14, 4, 6]


def test_an_edit_in_the_middle_of_a_replay_counts_what_ran_and_the_calls_to_come() -> None:
    turns = [("double", {"number": number}) for number in range(1, 6)]
    drive, heard = seated(*turns, stepping=True)
    obeyed(drive, {"type": "run"})
    for message in (all_waiting(drive) for _ in turns):
        obeyed(drive, message)
    obeyed(drive, {"type": "replay", "call": "call_1"})
    for message in [{"type": "step"}] * 3:
        obeyed(drive, message)
    digest = drive.session.calls[1].approval_digest
    edit = {"type": "edit", "call": "call_2", "arguments": {"number": 7}}
    obeyed(drive, {**edit, "approval_digest": digest})
    row = drive.whole().session[0]
    assert (row.phase, row.recorded_calls, row.ran, row.inherited) == ("ready", 5, 1, 1)
    obeyed(drive, {"type": "run"})
    # That it differs is the person's own doing.
    row = drive.whole().session[0]
    assert (row.phase, row.differs, last_detail(heard)) == ("finished", False, "")


@pytest.mark.parametrize("action", ["hello", "break"])
def test_a_fork_that_comes_out_as_it_was_recorded_says_so_until_the_next_action(
    action: str,
) -> None:
    drive, heard = seated(("double", {"number": 1}), ("double", {"number": 2}), approve="all")
    drive.greet()
    head = drive.session.head
    obeyed(drive, {"type": "fork", "call": "call_1"})
    note = "New branch after call 1. The model continues from here."
    assert last_detail(heard) == f"{note} {FROM_A_LIST}"
    assert drive.whole().session[0].can_go_back
    obeyed(drive, {"type": "run"})
    assert (last_detail(heard), drive.session.head) == (SAME_AGAIN, head)
    assert (drive.whole().session[0].detail, drive.whole().session[0].differs) == ("", False)
    obeyed(drive, {"type": action, **({"tool": "double"} if action == "break" else {})})
    assert last_detail(heard) == ""


def test_a_fork_that_comes_out_as_another_branch_leaves_no_new_one() -> None:
    drive, heard = seated(("double", {"number": 1}), ("double", {"number": 2}), approve="all")
    drive.greet()
    head = drive.session.head
    digest = drive.session.calls[1].approval_digest
    edit = {"type": "edit", "call": "call_2", "arguments": {"number": 5}}
    obeyed(drive, {**edit, "approval_digest": digest})
    assert drive.session.head != head
    obeyed(drive, {"type": "fork", "call": "call_1"}, {"type": "run"})
    assert (last_detail(heard), drive.session.head) == (SAME_AGAIN, head)


@pytest.mark.parametrize("approve", ["all", "ask"])
def test_a_call_that_fails_as_before_says_so_and_leaves_no_branch_on_show(approve: str) -> None:
    errors = ["no gas", "no gas", "no water"]

    def boil() -> str:
        """Boil."""
        raise ValueError(errors.pop(0))

    drive, heard = seated(("boil", {}), tool=boil, approve=approve)
    if approve == "ask":
        obeyed(drive, all_waiting(drive))
    head, digest = drive.session.head, drive.session.calls[0].approval_digest
    retry = {"type": "retry", "call": "call_1", "approval_digest": digest, "unchanged": True}
    obeyed(drive, retry)
    assert (last_detail(heard), drive.session.head) == ("Call 1 fails as before.", head)
    assert [row.name for row in drive.whole().branches if not row.hidden] == ["main"]
    obeyed(drive, retry)
    assert (last_detail(heard), drive.session.head != head) == ("", True)
    assert drive.session.calls[0].error == "ValueError: no water"


def test_the_very_request_of_a_turn_is_shown_when_it_is_asked_for() -> None:
    drive, heard = seated()
    obeyed(drive, {"type": "show_request", "turn": 1})
    (shown,) = [notice for notice in heard if isinstance(notice, Shown)]
    assert shown.turn == 1
    request = json.loads(shown.text)
    assert request["messages"] == [{"role": "user", "text": "Go."}]
    assert [tool["name"] for tool in request["tools"]] == ["double"]
    assert statuses(drive) == ["proposed", "proposed"]


def paused_between(approve: str, *turns: Any) -> tuple[PanelController, list[Notice]]:
    """Return a drive in steps that has heard the first of two calls, and run nothing."""
    return seated(*turns, approve=approve, stepping=True)


def test_the_calls_of_a_tool_with_a_breakpoint_wait_whatever_the_policy() -> None:
    drive, _ = paused_between("all")
    obeyed(drive, {"type": "break", "tool": "double"}, {"type": "run"})
    assert statuses(drive) == ["proposed", "proposed"]
    row = drive.whole().session[0]
    assert (row.phase, row.stops) == ("waiting", ("double",))
    assert drive.whole().calls[0].why == "You set a breakpoint on this tool."


@pytest.mark.parametrize(
    ("to", "says"), [("dot", "digraph"), ("py", "number=1"), ("svg", "<svg"), ("json", '"calls"')]
)
def test_a_session_is_told_as_a_text_of_any_format_and_does_not_go_on(to: str, says: str) -> None:
    drive, heard = seated()
    before = drive.session.head
    obeyed(drive, {"type": "export", "to": to})
    assert drive.session.head == before
    [told] = [notice for notice in heard if isinstance(notice, Exported)]
    assert (told.to, told.name) == (to, drive.session.name or drive.session.cursor.state.root[:6])
    assert says in told.text


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ({"type": "show_request", "turn": 7}, "there is no request 7 on this branch"),
        ({"type": "break", "tool": "duble"}, "double"),
        ({"type": "export", "to": "exe"}, "dot"),
    ],
)
def test_what_there_is_not_is_refused_in_one_line(command: Any, says: str) -> None:
    drive, heard = seated()
    obeyed(drive, command)
    (refused,) = [notice for notice in heard if isinstance(notice, Refused)]
    assert says in refused.reason


def test_a_live_panel_leaves_no_line_where_only_the_saved_picture_is_shown() -> None:
    assert {mime.partition("/")[0] for mime in Panel().bundle()} == {"application"}


def test_a_form_takes_the_name_of_data_for_a_number_and_the_row_shows_the_input() -> None:
    drive, _ = seated(("double", {"number": 1}), inputs={"limit": 21})
    call = drive.session.pending[0].id
    edit = {"type": "edit", "call": call, "arguments": {"number": "int#1"}}
    obeyed(drive, {**edit, "approval_digest": bound_of(drive, call)})
    assert drive.session.calls[0].result == 42
    (row,) = (row for row in drive.whole().calls if row.call == call and not row.branch)
    assert row.arguments == {"number": "int#1"}
    assert [use.object for use in row.uses] == ["input:1:limit"]


AGAIN = "of the last run. Add --fresh to ask the model again."
SCRIPT: list[Any] = [("Potato_rinse", {"sink": "Sink#1"}), ("Potato_peel", {}), "Done."]


def begun(approve: Any = "all", script: list[Any] = SCRIPT) -> Session:
    """Return a session in which the prompt was asked and answered."""
    given = {"potato": Potato(), "sink": Sink()}
    made = Session(Toolbox(Potato), Scripted(script), scheme="flat", inputs=given, approve=approve)
    return made.tell("Prepare it.")


def ran_again(session: Session) -> tuple[str, Rows]:
    """Return what the panel of a cell that runs again says at last, and what the cell saves."""
    told: list[Notice] = []
    drive = PanelController(session.replay(), told.append)
    drive.recorded = frozenset(entry.id for entry in drive.session.cursor.replay_queue.entries)
    drive.run_to_pause()
    return last_detail(told), drive.whole()


def saved(session: Session) -> Rows:
    """Return what a cell saves that runs for the first time."""
    drive = PanelController(session, lambda notice: None)
    drive.run_to_pause()
    return drive.whole()


def test_a_cell_that_ran_before_says_what_is_as_it_was() -> None:
    assert ran_again(begun())[0] == f"2 calls {AGAIN}"


def test_what_a_person_decided_is_counted_also_where_the_cell_still_waits() -> None:
    session = begun("ask")
    session.decide(session.pending[0]).run()
    assert ran_again(session)[0] == f"1 call and 1 decision {AGAIN}"
    session.decide(session.pending[0], "reject", reason="The skin stays on.").run()
    assert ran_again(session)[0] == f"2 calls and 2 decisions {AGAIN}"


def test_an_answer_without_calls_is_said_to_be_the_one_of_before() -> None:
    assert ran_again(begun(script=["Nothing to do."]))[0] == f"The reply {AGAIN}"


def test_what_is_saved_is_the_same_as_the_first_time() -> None:
    first, again = saved(begun()), ran_again(begun())[1]
    assert (first.session, len(first.calls)) == (again.session, len(again.calls))
    assert AGAIN not in str(again)


def test_a_used_up_budget_of_calls_goes_on_with_as_many_again() -> None:
    turns = [("double", {"number": n}) for n in range(8)]
    drive, _ = seated(*turns, approve="all", budget=Budget(calls=2))

    def offers() -> list[tuple[int, int]]:
        return [(row.step, row.budget_calls) for row in drive.whole().calls if row.budget_calls]

    assert offers() == [(3, 2)]
    # A call that a person approves is above the budget, and not counted in what is added.
    bound = bound_of(drive, drive.session.pending[0].id)
    obeyed(
        drive, {"type": "approve", "call": drive.session.pending[0].id, "approval_digest": bound}
    )
    for step in (6, 8):
        obeyed(drive, {"type": "add_budget", "calls": 2})
        assert offers() == [(step, 2)]
    obeyed(drive, {"type": "add_budget", "calls": 2})
    assert drive.session.text == "done"


def test_a_session_at_its_limit_of_turns_continues_when_a_person_says_run() -> None:
    model = Scripted(
        [("Potato_peel", {}), ("Potato_slice", {"pieces": 8}), "Done.", ("Potato_peel", {})]
    )
    potato = {"potato": Potato()}
    session = Session(
        Toolbox(Potato), model, scheme="flat", inputs=potato, approve="all", max_turns=1
    )
    controller = PanelController(session.ask("Peel it."), lambda notice: None)
    with pytest.raises(Unfinished, match="after 1 turn: Run, or %toolchat next, continues"):
        controller.run_to_pause()
    status = "Stopped after 1 turn: Run continues"
    assert idle_phase(controller.session.cursor) == ("stopped", status)
    with pytest.raises(Unfinished, match="after 2 turns"):
        obeyed(controller, {"type": "run"})
    assert not controller.session.run().text
    obeyed(controller, {"type": "run"})
    assert (controller.session.text, len(controller.session.calls)) == ("Done.", 2)
    with pytest.raises(Unfinished, match="after 1 turn:"):
        PanelController(controller.session.ask("Again."), print).run_to_pause()


def test_after_a_cell_a_panel_no_longer_shows_why_a_command_was_refused() -> None:
    drive, heard = seated()
    drive.republish_changed()
    assert not any(isinstance(notice, Refused) for notice in heard)
    obeyed(drive, {"type": "retry", "call": "call_1", "approval_digest": "another"})
    drive.republish_changed()
    drive.republish_changed()
    reasons = [notice.reason for notice in heard if isinstance(notice, Refused)]
    assert [bool(reason) for reason in reasons] == [True, False]


HEAT = "much"


def heat() -> int:
    """How hot the oven is."""
    return int(HEAT)


def test_after_a_cell_a_panel_names_the_failed_call_whose_tool_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drive, heard = seated([("heat", {})], tool=heat, approve="all")
    drive.republish_changed()
    assert last_detail(heard) == ""
    monkeypatch.setattr(f"{__name__}.HEAT", "200")
    drive.republish_changed()
    change = "heat uses what was changed: HEAT. Press Fix and retry at call 1."
    assert last_detail(heard) == change
    count = len(heard)
    drive.republish_changed()
    assert len(heard) == count
    digest = drive.session.calls[0].approval_digest
    obeyed(drive, {"type": "retry", "call": "call_1", "approval_digest": digest})
    assert statuses(drive) == ["succeeded"]
    assert change not in last_detail(heard)
