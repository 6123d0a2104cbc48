"""The kernel's interrupt, and a kernel that died: the session continues from what is on disk."""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import Absent, BrokenJournal, UsageError
from jupyter_toolcall.core.events import Finished, Interrupted, Started
from jupyter_toolcall.core.interrupts import Hold
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.core.state_fold import state_at
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.schemes.messages import Reply, Request
from jupyter_toolcall.storage.value_store import SETTING
from tests.example_tools import ask_calls, interrupted, run_calls


class Potato:
    def __init__(self, mass: int) -> None:
        self.mass = mass


def interrupt_soon() -> None:
    """Send what the kernel sends, once the main thread is in the tool."""
    threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()


def busy() -> int:
    interrupt_soon()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        pass
    return 1


CANCELLED = threading.Event()


async def sleeping() -> int:
    interrupt_soon()
    try:
        await asyncio.sleep(30)
    finally:
        CANCELLED.set()
    return 1


@pytest.mark.parametrize("work", [busy, sleeping])
def test_an_interrupted_tool_is_written_down_and_the_session_continues(work: Any) -> None:
    session = ask_calls(work, calls=[(work.__name__, {})])
    interrupted(session)
    assert work is busy or CANCELLED.wait(5), "an async tool is cancelled at once"
    assert session.calls[0].status == "interrupted"
    assert session.run().text == "Done."
    told = session.cursor.request.messages[2].results[0]  # type: ignore[union-attr]
    assert told.error
    assert "interrupted this call while it ran" in told.content


@pytest.mark.parametrize(
    "asks", [Session.ask, lambda session, text: add_prompt(session, text, fresh=False)]
)
def test_a_new_prompt_after_an_interrupt_records_that_the_other_calls_did_not_run(
    asks: Callable[[Session, str], Session],
) -> None:
    ran: list[int] = []

    def stop() -> None:
        raise KeyboardInterrupt

    def work(n: int) -> int:
        ran.append(n)
        return n

    model = Scripted([[("stop", {}), ("work", {"n": 1})], "one", "two"])
    session = Session(Toolbox(stop, work), model, scheme="flat", approve="all")
    interrupted(asks(session, "go"))
    session.checkout(session.branches[-1])
    session = asks(session, "Something else.").run()
    assert (session.text, ran) == ("one", [])
    assert [call.outcome for call in session.calls] == [Interrupted(), Interrupted(ran=False)]


def test_an_interrupt_in_the_model_leaves_nothing_behind() -> None:
    turns = [Reply("done")]

    def model(request: Request) -> Reply:
        if turns:
            turns.pop()
            raise KeyboardInterrupt
        return Reply("done")

    session = Session(Toolbox(), model).ask("go")
    count = len(session.journal)
    interrupted(session)
    assert len(session.journal) == count
    assert session.run().text == "done"


def test_an_interrupt_at_any_function_call_leaves_a_session_that_continues() -> None:
    ran: list[int] = []

    def work(potato: Potato, by: int) -> Potato:
        ran.append(by)
        return Potato(potato.mass + by)

    def make() -> Session:
        calls = [("work", {"potato": n, "by": by}) for by, n in ((2, "$Potato"), (3, "Potato#9"))]
        first = ("work", {"potato": "$Potato", "by": 1})
        return ask_calls(work, calls=[first, calls], inputs={"potato": Potato(1)})

    calls = interrupted_at(make(), sys.maxsize)
    assert calls > 500
    for point in range(0, calls, 7):
        session = make()
        ran.clear()
        interrupted_at(session, point)
        assert Journal.loads(session.journal.dumps()).dumps() == session.journal.dumps()
        for _ in range(5):
            session.run()
            for call in session.pending[:1]:
                assert call.status == "unknown"
                session.decide(call)
        assert session.text == "Done."
        assert session.calls[-1].status == "failed"
        # What ran twice was interrupted in its run, and a person said so.
        path = session.journal.path(session.head)
        assert len(ran) <= min(3, sum(isinstance(entry.event, Started) for entry in path))


def interrupted_at(session: Session, point: int) -> int:
    """Run a session, and interrupt it at a call of a function; return how many calls there were."""
    seen = 0

    def strike(frame: Any, event: str, arg: Any) -> None:
        nonlocal seen
        if event == "call" and "jupyter_toolcall" in frame.f_code.co_filename:
            seen += 1
            # What a generator raises while it is closed is lost in any program. No signal is
            # raised where a hold begins or ends: its handler waits for the next place.
            atomic = (Hold.__enter__.__code__, Hold.__exit__.__code__)
            generator = frame.f_code.co_flags & inspect.CO_GENERATOR
            if seen >= point and frame.f_code not in atomic and not generator:
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(strike)
    try:
        with suppress(KeyboardInterrupt):
            session.run()
    finally:
        sys.setprofile(None)
    assert Hold.innermost is None
    return seen


# -- a kernel that died ---------------------------------------------------------------------


class World:
    """A tool with an effect, and a session whose kernel dies while it runs."""

    def __init__(self, path: Path, idempotent: bool = False) -> None:
        self.path, self.ran = path, 0

        @tool(idempotent=idempotent)
        def work(potato: Potato) -> Potato:
            self.ran += 1
            return Potato(potato.mass + 1)

        self.box = Toolbox(work)
        self.model = Scripted([("work", {"potato": "$Potato"}), "done"])

    def run(self) -> Session:
        """Return a session that has ended, and is saved."""
        options: dict[str, Any] = {"approve": "all", "inputs": {"potato": Potato(1)}}
        session = Session(self.box, self.model, scheme="flat", **options).tell("go")
        session.save(self.path)
        return session

    def die(self) -> World:
        """Leave a journal whose last entry is a start."""
        self.run()
        written = self.path.read_text().splitlines(keepends=True)
        last = next(i for i, line in enumerate(written) if '"started"' in line)
        self.path.write_text("".join(written[: last + 1]))
        self.ran = 0
        return self

    def load(self, **options: Any) -> Session:
        given = {"inputs": {"potato": Potato(1)}, "approve": "all", **options}
        return Session.load(self.path, self.box, self.model, **given)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "journal.jsonl").die()


def test_without_a_panel_a_person_reads_that_it_had_started_before_they_let_it_run_again(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    session = world.load().run()
    cells = Cells()
    cells.keep(session)
    carry_out(["status"], cells, {})
    shown = capsys.readouterr().out
    assert "? 1 work(potato Potato#1) (outcome unknown)" in shown
    assert "its end was not recorded" in shown
    assert "approve runs it again, answer says how it ended" in shown
    assert "… 1 work" not in shown


@pytest.mark.parametrize(
    ("decision", "said", "status"),
    [
        ("answer", {"result": "Potato#1"}, "answered"),
        ("reject", {"reason": "the power was out"}, "rejected"),
    ],
)
def test_a_person_says_how_it_ended(world: World, decision: Any, said: Any, status: str) -> None:
    session = world.load().run().decide("call_1", decision, **said).run()
    assert (world.ran, session.calls[0].status) == (0, status)
    [text] = said.values()
    assert text in session.cursor.request.messages[2].results[0].content  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("word", "runs"),
    [({"decision": "answer", "result": 7}, 0), ({"decision": "approve"}, 1), ({}, 0)],
)
def test_what_was_cut_off_runs_as_often_as_a_person_says_also_where_all_runs_again(
    world: World, word: dict[str, Any], runs: int
) -> None:
    session = world.load().run()
    if word:
        session.decide("call_1", **word).run()
    world.ran = 0
    assert (str(session.verify()), world.ran) == ("1 call came out as recorded", runs)
    assert (session.replay(fresh=True).run().head, world.ran) == (session.head, 2 * runs)


@pytest.mark.parametrize("approve", ["none", "read-only", "ask", "all"])
def test_an_idempotent_tool_runs_again_unless_changed(tmp_path: Path, approve: str) -> None:
    world = World(tmp_path / "journal.jsonl", idempotent=True).die()
    assert [call.status for call in world.load(inputs={}).run().pending] == ["unknown"]
    assert world.ran == 0
    again = world.load().run()
    assert (world.ran, again.pending, again.text) == (1, (), "done")
    world.ran = 0

    @tool(idempotent=True)
    def work(potato: Potato) -> Potato:
        world.ran += 1
        return Potato(potato.mass - 1)

    world.box = Toolbox(work)
    session = world.load(approve=approve).run()
    assert [(call.id, call.status) for call in session.pending] == [("call_1", "unknown")]
    assert world.ran == 0
    assert session.decide("call_1").run().calls[0].object == "Potato#2"


def test_a_loaded_session_without_its_inputs_says_which_to_give(world: World) -> None:
    session = world.load(inputs={}).run()
    assert [call.status for call in session.pending] == ["unknown"]
    with pytest.raises(Absent, match=r"the input 'potato' is not here.*inputs="):
        session["Potato#1"]
    with pytest.raises(Absent, match="the input 'potato'"):
        world.load(inputs={"potato": Potato(2)})["Potato#1"]


def test_a_file_that_is_no_whole_journal_says_what_to_do(world: World, tmp_path: Path) -> None:
    whole = world.path.read_text().splitlines(keepends=True)
    damaged = [*whole[:-1], whole[-1].replace("call_1", "call_2")]
    for text, said in (
        ("".join(damaged), rf"journal.jsonl: line {len(whole)} .*alone loads"),
        ("root:x:0\n", r"journal\.jsonl: this is no journal"),
        ("{}\n", "this is no journal of a session"),
        ("", "holds no session"),
    ):
        world.path.write_text(text)
        with pytest.raises(BrokenJournal, match=said):
            world.load()
    world.path.write_text("".join(whole[:-1]))
    assert world.load().calls[0].status == "proposed"
    with pytest.raises(UsageError, match=r"nowhere/s\.jsonl: there is no folder"):
        Session(world.box).save(tmp_path / "nowhere" / "s.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["journal.jsonl"]


def test_values_come_back_by_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, "0")
    world = World(tmp_path / "journal.jsonl")
    session, loaded = world.run(), world.load()
    with pytest.raises(Absent, match=r"call_1 made.*session.replay\(\).run\(\)"):
        loaded["Potato#2"]
    again = loaded.replay().run()
    assert (again["Potato#2"].mass, again.head, world.ran) == (2, session.head, 2)


def test_events_that_cannot_follow_one_another_are_refused(world: World) -> None:
    journal = Journal()
    for entry in Journal.loads(world.path.read_text()):
        journal.append(entry.parent, entry.event)
    last = journal.leaves()[0]
    journal.append(last, Finished("call_7", Interrupted()))
    world.path.write_text(journal.dumps())
    with pytest.raises(BrokenJournal, match="call_7"):
        world.load()
    assert state_at(journal, last).open == ("call_1",)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_an_async_tool_runs_in_a_process_that_was_forked_behind_another_one() -> None:
    async def work() -> int:
        return 1

    call: Any = ("work", {})
    assert run_calls(work, calls=[call]).calls[0].result == 1
    child = os.fork()
    if child == 0:
        os._exit(7 if run_calls(work, calls=[call]).calls[0].result == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


COLLECTS = """import gc, sys, threading, time
from jupyter_toolcall.core.interrupts import end_thread

class Garbage:
    def __init__(self):
        self.itself = self

    def __del__(self):
        for _ in range(1000):
            pass

def starts_threads():
    while True:
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()

sys.setswitchinterval(1e-5)
gc.set_threshold(3)
for _ in range(6):
    threading.Thread(target=starts_threads, daemon=True).start()
end = time.monotonic() + 3
while time.monotonic() < end:
    for _ in range(3):
        Garbage()
    end_thread(0)
print("ended")
"""


def test_a_thread_is_ended_while_others_end_and_garbage_is_collected() -> None:
    command = [sys.executable, "-c", COLLECTS]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ran.stdout == "ended\n", ran.stderr
