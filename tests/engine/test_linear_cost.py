"""A call costs the same, however many went before: counted in function calls, not in time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.jupyter.panel_controller import PanelController


def work(function: Callable[[], object]) -> int:
    """Return how many functions a function calls, C functions included."""
    seen = [0]

    def note(frame: Any, event: str, arg: Any) -> None:
        if event in ("call", "c_call"):
            seen[0] += 1

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return seen[0]


class Thing:
    """An object."""

    def __init__(self, n: int = 0) -> None:
        self.n = n

    def next(self, by: int) -> Thing:
        """Make the next one."""
        return Thing(self.n + by)


THING = {"thing": Thing()}


def session_of(count: int, scheme: str) -> Session:
    script: list[Any] = [("selectTools", {"tools": ["Thing_next"]})] if scheme == "select" else []
    script += [("_use_Thing", {"id": "Thing#1"})] if scheme == "current" else []
    script += [("Thing_next", {"by": n}) for n in range(count)]
    return Session(
        Toolbox(Thing),
        Scripted([*script, "done"]),
        scheme=scheme,
        approve="all",
        inputs=THING,
    ).ask("go")


@pytest.mark.parametrize("scheme", ["flat", "select", "current"])
def test_a_call_costs_the_same_late_as_early(scheme: str) -> None:
    work(session_of(10, scheme).run)
    few, many = (work(session_of(count, scheme).run) for count in (100, 800))
    assert many / few < 8.4


def one_reply(count: int) -> Session:
    """Return a session whose model asks for so many calls in one reply."""
    calls = [("Thing_next", {"Thing": "Thing#1", "by": n}) for n in range(count)]
    return Session(
        Toolbox(Thing), Scripted([calls, "done"]), scheme="flat", approve="all", inputs=THING
    ).ask("go")


def test_a_call_of_a_long_reply_costs_what_one_of_a_short_reply_costs() -> None:
    work(one_reply(10).run)
    few, many = (work(one_reply(count).run) for count in (100, 800))
    assert many / few < 8.4


def test_a_panel_adds_the_same_to_a_call_of_a_long_reply() -> None:
    def watched(count: int) -> int:
        drive = PanelController(one_reply(count), lambda notice: None)
        # Every update is sent: how many are put off depends on the clock.
        drive.rate.interval = 0
        drive.greet()
        return work(drive.run_to_pause)

    watched(10)
    # 8 times the calls: 64 times the work would be quadratic.
    assert watched(400) / watched(50) < 12


def test_a_replay_is_linear_too() -> None:
    few, many = session_of(100, "flat").run(), session_of(800, "flat").run()
    assert work(many.replay().run) / work(few.replay().run) < 8.4
    assert many.calls[-1].object == "Thing#801"
