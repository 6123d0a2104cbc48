"""A call costs the same, however many went before: counted in function calls, not in time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import Stopped
from jupyter_toolcall.jupyter.panel_controller import PanelController


class Count:
    """How many functions are called until `close`, C functions included."""

    def __init__(self) -> None:
        self.calls = 0
        sys.setprofile(self._note)

    def _note(self, frame: Any, event: str, arg: Any) -> None:
        self.calls += event in ("call", "c_call")

    def close(self) -> int:
        sys.setprofile(None)
        return self.calls


def work(function: Callable[[], object]) -> int:
    """Return how many functions a function calls, C functions included."""
    count = Count()
    try:
        function()
    finally:
        count.close()
    return count.calls


class Thing:
    def __init__(self, n: int = 0) -> None:
        self.n = n

    def next(self, by: int) -> Thing:
        return Thing(self.n + by)


THING = {"thing": Thing()}


def session_of(count: int, scheme: str = "flat", together: bool = False) -> Session:
    """Return a session whose model asks for so many calls, each in a reply or all in one."""
    script: list[Any] = [("selectTools", {"tools": ["Thing_next"]})] if scheme == "select" else []
    script += [("_use_Thing", {"id": "Thing#1"})] if scheme == "current" else []
    named = {"Thing": "Thing#1"} if together else {}
    calls = [("Thing_next", {**named, "by": n}) for n in range(count)]
    model = Scripted([*script, *([calls] if together else calls), "done"])
    return Session(Toolbox(Thing), model, scheme=scheme, approve="all", inputs=THING).ask("go")


@pytest.mark.parametrize(
    ("scheme", "together"),
    [("flat", False), ("select", False), ("current", False), ("flat", True)],
)
def test_a_call_costs_the_same_late_as_early_also_in_one_reply(scheme: str, together: bool) -> None:
    work(session_of(10, scheme, together).run)
    few, many = (work(session_of(count, scheme, together).run) for count in (50, 400))
    assert many / few < 8.4


def watched(length: int) -> int:
    """Return what ten calls cost with a panel, in a reply of so many calls."""
    counts = list[Count]()

    class Counted(Thing):
        """An object, whose calls 100 to 110 are counted; the others do not run."""

        def next(self, by: int) -> Counted:
            if by == 98:
                # Every update is sent: how many are put off depends on the clock.
                drive.rate.interval = 0
            if by == 100:
                counts.append(Count())
            if by == 110:
                counts[0].close()
                raise KeyboardInterrupt
            return Counted(self.n + by)

    calls = [("Counted_next", {"Counted": "Counted#1", "by": n}) for n in range(length)]
    model, given = Scripted([calls, "done"]), {"thing": Counted()}
    session = Session(Toolbox(Counted), model, scheme="flat", approve="all", inputs=given)
    drive = PanelController(session.ask("go"), lambda notice: None)
    drive.rate.interval = 60
    drive.greet()
    with suppress(Stopped):
        drive.run_to_pause()
    return counts[0].calls


def test_a_panel_adds_the_same_to_a_call_of_a_long_reply() -> None:
    # Both are more than the 60 calls that are drawn; a pass over all calls at each update is 1.29.
    assert watched(400) / watched(120) < 1.25


def test_a_replay_is_linear_too() -> None:
    few, many = session_of(50).run(), session_of(400).run()
    assert work(many.replay().run) / work(few.replay().run) < 8.4
    assert many.calls[-1].object == "Thing#401"
