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


def test_a_call_that_waits_again_after_an_edit_can_be_decided_as_it_was_edited() -> None:
    def half(x: Number) -> Number:
        """Halve a number."""
        return Number(x.value / 2)

    def add(x: Number, by: int) -> Number:
        """Add to a number."""
        return Number(x.value + by)

    script = Scripted([("half", {"x": "Number#1"}), ("add", {"x": "Number#2", "by": 1}), "Done."])
    inputs = {"start": Number(8)}
    session = Session(Toolbox(half, add), script, inputs=inputs, scheme="flat").tell("go")
    session = session.decide(session.pending[0], "approve").run()
    wish = {"x": "Number#2", "by": 3}
    session = session.decide(session.pending[0], "edit", arguments=wish).run()
    branch = session.decide_anew(session.calls[0], "answer", result=Number(5)).run()
    assert [call.id for call in branch.pending] == ["call_2"]
    rows = [row for row in all_rows(branch.cursor, branch.name).calls if not row.branch]
    assert (rows[1].status, dict(rows[1].arguments)) == ("proposed", wish)
