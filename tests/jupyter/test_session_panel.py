"""`session.panel` is a widget for any page: its traits follow the session, and clicks decide."""

from __future__ import annotations

import asyncio
from typing import Any

import ipywidgets

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.models import Reply
from jupyter_toolcall.view.view_rows import all_rows


class Number:
    def __init__(self, value: float) -> None:
        self.value = value


def double(x: int) -> int:
    """Return twice a number."""
    return 2 * x


def opened() -> Session:
    model = Scripted([("double", {"x": 4}), ("double", {"x": 5}), "Done."])
    return Session(Toolbox(double), model, scheme="flat").tell("go")


def click(session: Session, command: str, **fields: Any) -> None:
    """Send a command of the page, and let the session go on until it pauses."""
    call = session.panel.session.pending[0]
    cursor = session.panel.session.cursor
    shown = cursor.prepared(cursor.state.calls[call.id], cursor.state)[0].approval_digest
    message = {"type": command, "call": call.id, "approval_digest": shown, **fields}

    async def receive() -> None:
        before = session.panel.head
        session.panel._handle_custom_msg(message, [])
        while session.panel.head == before or session.panel.status in ("thinking", "running"):
            await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(receive(), 20))


def test_a_session_has_one_panel_which_stands_in_any_box() -> None:
    session = opened()
    assert session.panel is session.panel
    assert ipywidgets.VBox([session.panel]).children == (session.panel,)


def test_a_model_that_is_a_function_is_shown_by_its_name() -> None:
    def careful(request: object) -> Reply:
        return Reply("Done.")

    session = Session(Toolbox(), careful, scheme="flat").tell("go")
    assert session.panel.controller.model == "careful"


def test_the_traits_follow_the_session_and_can_be_observed() -> None:
    session, seen = opened(), list[Any]()
    panel = session.panel
    panel.observe(
        lambda change: seen.append((change.name, change.new)), names=["status", "pending"]
    )
    assert (panel.status, panel.pending, panel.calls) == ("waiting", ("call_1",), ("call_1",))
    click(session, "approve")
    assert (panel.status, panel.pending, panel.calls) == (
        *("waiting", ("call_2",)),
        ("call_1", "call_2"),
    )
    assert panel.head == session.head
    click(session, "reject", reason="no")
    assert (panel.status, panel.pending) == ("finished", ())
    assert [call.status for call in session.calls] == ["succeeded", "rejected"]
    assert ("pending", ("call_2",)) in seen
    assert seen[-1] == ("status", "finished")


def test_what_a_program_does_is_shown_after_its_cell() -> None:
    session = opened()
    panel = session.panel
    session.decide(session.pending[0]).run()
    panel.refresh()
    assert (panel.pending, panel.head) == (("call_2",), session.head)


def edited() -> Session:
    """Return a finished session: a call was approved, and the one that takes its result edited."""

    def half(x: Number) -> Number:
        """Halve a number."""
        return Number(x.value / 2)

    def add(x: Number, by: int) -> Number:
        """Add to a number."""
        return Number(x.value + by)

    script = [("half", {"x": "Number#1"}), ("add", {"x": "Number#2", "by": 1}), "Done."]
    box, inputs = Toolbox(half, add), {"start": Number(8)}
    session = Session(box, Scripted(script), inputs=inputs, scheme="flat").tell("go")
    session = session.decide(session.pending[0], "approve").run()
    return session.decide(session.pending[0], "edit", arguments={"x": "Number#2", "by": 3}).run()


def shown(session: Session) -> list[tuple[str, Any]]:
    """Return the status and the arguments of each call of the current branch in the panel."""
    rows = all_rows(session.cursor, session.name).calls
    return [(row.status, dict(row.arguments)) for row in rows if not row.branch]


def test_a_call_that_waits_again_after_an_edit_can_be_decided_as_it_was_edited() -> None:
    session = edited()
    branch = session.decide_anew(session.calls[0], "answer", result=Number(5)).run()
    assert [call.id for call in branch.pending] == ["call_2"]
    assert shown(branch)[1] == ("proposed", {"x": "Number#2", "by": 3})


def test_a_paused_replay_has_its_own_name_and_its_answer_with_an_object_waits_for_nobody() -> None:
    branch = edited().decide_anew("call_1", "answer", result=Number(5)).run()
    session = branch.decide(branch.pending[0], "approve").run().replay()
    while not session.calls:
        session = session.step()
    rows = all_rows(session.cursor, session.name)
    assert rows.calls[0].status == "answered"
    names = [row.name for row in rows.branches if row.current]
    assert names == ["replay of answered Number#2 (call 1)"]


def test_a_replay_shows_a_call_as_it_will_repeat_it() -> None:
    session, seen = edited().replay(), set[str]()
    while len(session.calls) < 2 or session.calls[1].status != "succeeded":
        session = session.step()
        if len(calls := shown(session)) == 2:
            seen.add(calls[1][0])
            assert calls[1][1] == {"x": "Number#2", "by": 3}
    assert seen == {"approved", "unknown", "succeeded"}
