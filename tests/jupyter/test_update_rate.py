"""How often the panels of a running session get updates."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, ClassVar

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.view.contract import Delta, Notice, Whole
from tests.jupyter.test_panel_controller import double

CALLS = 400


def controller(*tools: Any, model: Any) -> tuple[PanelController, list[Notice]]:
    """Return a controller of a session of fast calls, and the notices that its panel gets."""
    notices: list[Notice] = []
    box = Toolbox(*tools)
    session = Session(box, model, scheme="flat", approve="all", max_turns=CALLS + 2)
    return PanelController(session.ask("Go."), notices.append), notices


def sent_calls(notices: list[Notice]) -> dict[str, str]:
    """Return the last status of each call that a panel was sent."""
    updates = [notice for notice in notices if isinstance(notice, Delta | Whole)]
    return {row.call: row.status for update in updates for row in update.rows.calls}


def fast_calls(tool: str) -> list[tuple[str, dict[str, int]]]:
    return [(tool, {"number": number}) for number in range(CALLS)]


def run_with_slow_tool(tool: Callable[..., Any]) -> Session:
    """Run many calls of a tool, then a tool that waits until the panel shows that it runs."""
    shown = threading.Event()

    def slow() -> str:
        """Wait until the panel shows that this runs."""
        return "seen" if shown.wait(30) else "not seen"

    script = [*fast_calls(tool.__name__), ("slow", {}), "Done."]
    drive, notices = controller(tool, slow, model=Scripted(script))
    send = drive.updates.send

    def send_and_look(notice: Notice) -> None:
        send(notice)
        if "running" in sent_calls([notice]).values() and len(sent_calls(notices)) == CALLS + 1:
            shown.set()

    drive.updates.send = send_and_look
    return asyncio.run(drive.run())


def test_a_fast_session_sends_fewer_updates_than_it_has_calls_and_every_call() -> None:
    drive, notices = controller(double, model=Scripted([*fast_calls("double"), "Done."]))
    drive.greet()
    asyncio.run(drive.run())
    assert len(notices) < CALLS
    assert len(sent_calls(notices)) == CALLS
    assert set(sent_calls(notices).values()) == {"succeeded"}
    numbers = [notice.number for notice in notices if isinstance(notice, Delta)]
    assert numbers == [*range(1, len(numbers) + 1)]


def test_a_tool_that_takes_long_after_many_fast_ones_is_shown_while_it_runs() -> None:
    assert run_with_slow_tool(double).calls[-1].result == "seen"


class Bead:
    """A value that shows itself by code of its own."""

    drawn_by: ClassVar[list[threading.Thread]] = []

    def _repr_html_(self) -> str:
        self.drawn_by.append(threading.current_thread())
        return "<b>bead</b>"


def bead(number: int) -> Bead:
    """Make a bead."""
    return Bead()


def test_a_value_shows_itself_in_the_main_thread_where_an_update_is_sent_late() -> None:
    Bead.drawn_by.clear()
    assert run_with_slow_tool(bead).calls[-1].result == "seen"
    assert len(Bead.drawn_by) >= CALLS
    assert {*Bead.drawn_by} == {threading.main_thread()}
