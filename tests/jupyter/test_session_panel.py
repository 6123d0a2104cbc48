"""`session.panel` is a widget for any page: its traits follow the session, and clicks decide."""

from __future__ import annotations

import asyncio
from typing import Any

import ipywidgets

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.models import Reply


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
    message = {"type": command, "call": call.id, "bound": shown, **fields}

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
