"""How often the panels of a running session get updates."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.schemes.messages import Reply, Request
from jupyter_toolcall.view.contract import Delta, Notice, Whole

CALLS = 400


def double(number: int) -> int:
    """Twice as much."""
    return 2 * number


def controller(*tools: Any, model: Any) -> tuple[PanelController, list[Notice]]:
    """Return what runs a session of fast calls, and what its panel hears."""
    heard: list[Notice] = []
    box = Toolbox(*tools)
    session = Session(box, model, scheme="flat", approve="all", max_turns=CALLS + 2)
    return PanelController(session.ask("Go."), heard.append), heard


def sent_calls(heard: list[Notice]) -> dict[str, str]:
    """Return the status of each call that a panel was sent, as it heard last."""
    rows = [row for each in heard if isinstance(each, Delta | Whole) for row in each.rows.calls]
    return {row.call: row.status for row in rows}


def fast_calls() -> list[tuple[str, dict[str, int]]]:
    return [("double", {"number": number}) for number in range(CALLS)]


def test_a_fast_session_sends_fewer_updates_than_it_has_calls_and_every_call() -> None:
    drive, heard = controller(double, model=Scripted([*fast_calls(), "Done."]))
    drive.greet()
    asyncio.run(drive.run())
    assert len(heard) < CALLS
    assert len(sent_calls(heard)) == CALLS
    assert set(sent_calls(heard).values()) == {"succeeded"}
    numbers = [notice.number for notice in heard if isinstance(notice, Delta)]
    assert numbers == [*range(1, len(numbers) + 1)]


def test_a_tool_that_takes_long_after_many_fast_ones_is_shown_while_it_runs() -> None:
    shown = threading.Event()

    def slow() -> str:
        """Wait until the panel shows that this runs."""
        return "seen" if shown.wait(30) else "not seen"

    drive, heard = controller(double, slow, model=Scripted([*fast_calls(), ("slow", {}), "Done."]))
    hear = drive.updates.send

    def send(notice: Notice) -> None:
        hear(notice)
        if "running" in sent_calls([notice]).values() and len(sent_calls(heard)) == CALLS + 1:
            shown.set()

    drive.updates.send = send
    session = asyncio.run(drive.run())
    assert session.calls[-1].result == "seen"


def test_a_model_that_takes_long_after_many_fast_replies_is_shown_as_thinking() -> None:
    shown = threading.Event()
    script = Scripted([*fast_calls(), "Done."])

    def model(request: Request) -> Reply | None:
        if len(drive.session.calls) == CALLS:
            assert shown.wait(30)
        return script(request)

    drive, heard = controller(double, model=model)
    hear = drive.updates.send

    def send(notice: Notice) -> None:
        hear(notice)
        session = notice.rows.session if isinstance(notice, Delta | Whole) else ()
        ended = [*sent_calls(heard).values()].count("succeeded") == CALLS
        if ended and session and session[0].phase == "thinking":
            shown.set()

    drive.updates.send = send
    session = asyncio.run(drive.run())
    assert session.text == "Done."


DRAWN_BY = list[threading.Thread]()


class Bead:
    """A value that shows itself by code of its own."""

    def __init__(self, number: int) -> None:
        self.number = number

    def _repr_html_(self) -> str:
        DRAWN_BY.append(threading.current_thread())
        return f"<b>{self.number}</b>"


def test_a_value_shows_itself_in_the_main_thread_where_an_update_is_sent_late() -> None:
    DRAWN_BY.clear()
    shown = threading.Event()

    def bead(number: int) -> Bead:
        """Make a bead."""
        return Bead(number)

    def slow() -> str:
        """Wait until the panel shows that this runs."""
        return "seen" if shown.wait(30) else "not seen"

    calls = [("bead", {"number": number}) for number in range(CALLS)]
    drive, heard = controller(bead, slow, model=Scripted([*calls, ("slow", {}), "Done."]))
    hear = drive.updates.send

    def send(notice: Notice) -> None:
        hear(notice)
        if "running" in sent_calls([notice]).values() and len(sent_calls(heard)) == CALLS + 1:
            shown.set()

    drive.updates.send = send
    session = asyncio.run(drive.run())
    assert session.calls[-1].result == "seen"
    assert len(DRAWN_BY) >= CALLS
    assert {*DRAWN_BY} == {threading.main_thread()}
