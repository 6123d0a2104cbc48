"""What a call costs, counted in function calls, runs, bytes and syncs: it does not grow.

Times are in the benchmarks.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import Stopped
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.storage.journal_file import open_journal
from jupyter_toolcall.storage.notebook_files import MIME
from jupyter_toolcall.storage.signatures import signer
from tests.benchmarks.workload import RAN, Counting, graph, step, steps
from tests.example_tools import ask_calls


@pytest.fixture
def files() -> Counting:
    return Counting()


@pytest.fixture
def journal(tmp_path: Path, files: Counting) -> Journal:
    return open_journal(tmp_path / "journal.jsonl", signer(tmp_path), files).journal


def test_what_an_edit_repeats_is_synced_by_the_dozen(journal: Journal, files: Counting) -> None:
    session = graph(300, range(150, 161), journal)
    files.syncs = 0
    RAN.clear()
    session.edit(session.calls[150], number=-7).run()
    assert len(RAN) == 11
    # One before each call that runs, and the others in few.
    assert files.syncs < 11 + 4 * 150 // 32


@pytest.mark.parametrize(
    ("options", "syncs"), [({}, 100), ({"read_only": True}, 5), ({"idempotent": True}, 5)]
)
def test_a_call_is_synced_once_before_its_tool_runs_unless_it_may_run_twice_in_a_kilobyte(
    tmp_path: Path, journal: Journal, files: Counting, options: dict[str, bool], syncs: int
) -> None:
    path = tmp_path / "journal.jsonl"
    calls = [("step", {"x": n}) for n in range(100)]
    session = ask_calls(tool(step, **options), calls=calls, journal=journal)
    files.syncs, before = 0, path.stat().st_size
    session.run()
    assert files.syncs in (syncs, syncs + 1)
    assert (path.stat().st_size - before) / 100 <= 1_024


def test_a_saved_notebook_grows_by_less_than_a_kilobyte_a_call() -> None:
    few, many = (
        len(json.dumps(steps(count).run()._repr_mimebundle_()[MIME])) for count in (50, 150)
    )
    assert (many - few) / 100 <= 1_024


# -- a call costs the same, however many went before: counted in function calls -------------------


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
    ("scheme", "together"), [("flat", False), ("select", False), ("current", False), ("flat", True)]
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
