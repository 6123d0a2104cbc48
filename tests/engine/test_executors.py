"""Calls that run on an executor: threads, processes that are killed, and one that a test drives."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Tool, Toolbox, tool
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.core.events import Interrupted, Started
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.tools.running_tool import (
    InputRequest,
    InputRequired,
    report_progress,
    showing_progress,
)
from tests.engine.killed_workers import (
    PROCESS,
    Locked,
    assert_nothing_runs_twice_or_is_lost,
    die,
    die_or_again,
    in_kernel,
    lock,
    process,
)
from tests.example_tools import ask_calls, interrupted, notes_of, prints_of, run_calls


class Bag:
    """What holds numbers, and changes."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    @tool(executor=True)
    def put(self, number: int) -> None:
        """Put a number into it."""
        print("put", number)
        self.numbers.append(number)

    @tool(executor=True)
    def same(self) -> Bag:
        """Return this one."""
        return self


class Tally:
    """A stateful instance."""

    def __init__(self) -> None:
        self.count = 0

    @tool(executor=True)
    def up(self, *steps: int) -> int:
        self.count += sum(steps)
        return self.count


@tool(executor=True)
async def thread() -> str:
    """Return the thread that it runs in, from an async function."""
    return threading.current_thread().name


@tool(executor=True)
def unlock(locked: Locked) -> str:
    """Take what cannot be pickled."""
    return "unlocked"


@tool(executor=True)
def numbers() -> Iterator[int]:
    """Return an iterator."""
    yield from range(3)


@tool(executor=True)
def fail() -> int:
    """Raise an exception that cannot be pickled."""
    error = ValueError("no")
    error.lock = threading.Lock()  # type: ignore[attr-defined]
    raise error


def _book(state: Any, responses: Any, arguments: Any) -> str:
    return f"{state} for {responses['who'].content['name']}, by {os.getpid()}"


FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@tool(executor=True, resume=_book)
def book(day: str) -> str:
    raise InputRequired({"who": InputRequest("Who?", FORM)}, day)


# -- where a tool runs ------------------------------------------------------------------------


def test_marked_tools_run_on_the_executor_and_the_others_in_the_kernel() -> None:
    calls: Any = [PROCESS, ("in_kernel", {})]
    with ProcessPoolExecutor(1) as pool:
        done = run_calls(process, in_kernel, executor=pool, calls=calls)
    worker, kernel = (call.result for call in done.calls)
    assert worker != os.getpid()
    assert kernel == os.getpid()
    assert run_calls(process, executor=None, calls=[PROCESS]).calls[0].result == os.getpid()


def test_a_tool_may_have_an_executor_of_its_own() -> None:
    with ThreadPoolExecutor(1, "mine") as pool:
        own = tool(executor=pool, name="own")(lambda: threading.current_thread().name)
        assert run_calls(own, executor=None, calls=[("own", {})]).calls[0].result == "mine_0"


@pytest.mark.parametrize("make", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_what_a_worker_changes_returns_or_raises_is_as_in_the_kernel(make: Any) -> None:
    calls: Any = [
        *(("Bag_put", {"number": 1}), ("Bag_same", {}), ("Bag_put", {"number": 2})),
        *(("Tally_up", {"steps": [1, 2]}), ("Tally_up", {"steps": [4]})),
        *(("numbers", {}), ("thread", {}), ("fail", {})),
    ]
    tools, inputs = (Bag, Tally(), numbers, thread, fail), {"bag": Bag()}
    with make(1) as pool:
        done = run_calls(*tools, executor=pool, calls=calls, inputs=inputs)
    assert [call.object for call in done.calls[:3]] == ["Bag#2", "Bag#2", "Bag#3"]
    assert [done[name].numbers for name in ("Bag#1", "Bag#2", "Bag#3")] == [[], [1], [1, 2]]
    assert prints_of(done)[:2] == ["put 1\n", "put 2\n"]
    assert [call.result for call in done.calls[3:7]] == [3, 7, [0, 1, 2], "toolcall-async"]
    assert (done.calls[7].status, done.calls[7].error) == ("failed", "ValueError: no")


@pytest.mark.parametrize("make", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_a_tool_asks_for_input_from_a_worker_and_continues_in_one(make: Any) -> None:
    with make(1) as pool:
        done = run_calls(book, executor=pool, calls=[("book", {"day": "Monday"})])
        done.decide("call_1", "answer", result={"name": "Ada"}).run()
    result = done.calls[0].result
    assert result.startswith("Monday for Ada, by ")
    assert (result == f"Monday for Ada, by {os.getpid()}") == (make is ThreadPoolExecutor)


# -- what cannot be sent ----------------------------------------------------------------------


def test_threads_take_what_cannot_be_pickled() -> None:
    with ThreadPoolExecutor(1) as pool:
        inner = tool(executor=True, name="inner")(lambda: "inside")
        done = run_calls(inner, lock, executor=pool, calls=[("inner", {}), ("lock", {})])
    assert [call.status for call in done.calls] == ["succeeded", "succeeded"]


def test_what_cannot_be_pickled_does_not_run_and_is_named_and_a_result_is_a_text() -> None:
    held = threading.Lock()
    inner = tool(executor=True, name="inner")(lambda: str(held))
    calls = [("inner", {}), ("unlock", {"locked": "Locked#1"}), ("lock", {})]
    with ProcessPoolExecutor(1) as pool:
        inputs = {"locked": Locked()}
        done = run_calls(inner, unlock, lock, executor=pool, calls=calls, inputs=inputs)
    assert [call.error or call.result for call in done.calls] == [
        "not run: the tool inner cannot be pickled for a worker process; define its function at "
        "the top level of a module or cell, or run it without an executor",
        "not run: unlock: locked, a Locked, cannot be pickled for a worker process; run the tool "
        "on threads, or without an executor",
        "a Locked, which cannot be pickled (TypeError), so it stayed in the worker process. "
        "Run the tool on threads, or return data.",
    ]
    assert [call.status for call in done.calls] == ["failed", "failed", "succeeded"]


# -- executors that are none, closed, or lose a worker -----------------------------------------


def test_a_closed_executor_runs_nothing_and_says_so() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    done = run_calls(process, executor=pool, calls=[PROCESS])
    assert done.calls[0].error == (
        "not run: the executor takes no calls (cannot schedule new futures after shutdown); "
        "give the session a new one with executor="
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("thread", r"^executor: no executor 'thread'; give threads, processes, dask or .*threads"),
        (3, r"^executor: 3 is no executor; give a concurrent\.futures\.Executor, a client of"),
        ("dask:", r"^executor: no executor 'dask:'"),
    ],
)
def test_what_is_no_executor_is_refused_with_what_to_write(value: Any, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        Session(Toolbox(process), None, executor=value)
    with pytest.raises(UsageError):
        tool(executor=value)(in_kernel)


def test_an_executor_on_which_no_tool_runs_is_refused() -> None:
    with pytest.raises(UsageError, match=r"mark those that do with @tool\(executor=True\)"):
        Session(Toolbox(in_kernel), None, executor="threads")


def test_a_killed_worker_leaves_the_outcome_unknown_and_one_effect(tmp_path: Path) -> None:
    path = tmp_path / "effect"
    with ProcessPoolExecutor(1) as pool:
        done = run_calls(die, executor=pool, calls=[("die", {"path": str(path)})])
        assert [call.status for call in done.run().pending] == ["unknown"]
    done.decide("call_1", "reject", reason="I look myself.").run()
    assert path.read_text() == "ran\n"
    assert "the worker that ran die was killed" in str(done.requests[-1].request.messages[-1])


def test_a_killed_worker_is_replaced_and_an_idempotent_call_repeated_once(tmp_path: Path) -> None:
    path = tmp_path / "effect"
    calls = [("die_or_again", {"path": str(path)})]
    done = run_calls(die_or_again, executor="processes", calls=calls)
    assert (done.calls[0].status, done.calls[0].result) == ("succeeded", "twice")
    assert len([entry for entry in done.journal if isinstance(entry.event, Started)]) == 2
    assert notes_of(done) == ["ran again: the worker that ran die_or_again was killed"]
    assert path.read_text() == "ran\nran\n"


# -- the line of a cell -------------------------------------------------------------------------


def cell(line: str, **variables: Any) -> Session:
    """Return the session that a cell's line opens."""
    options = parse_options(f"-m m -t process --scheme flat --approve all {line}")
    model = Scripted([PROCESS, "Done."])
    return Cells().session(options, {"process": process, "m": model, **variables})


@pytest.mark.parametrize("name", ["threads", "processes", "pool"])
def test_a_line_names_an_executor(name: str) -> None:
    with ProcessPoolExecutor(1) as pool:
        done = cell(f"--executor {name}", pool=pool).tell("Go.")
    assert (done.calls[0].result == os.getpid()) == (name == "threads")


def test_a_line_that_names_no_executor_names_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"^--executor: no executor 'poo'; .*pool"):
        cell("--executor poo", pool=ThreadPoolExecutor(1))
    with pytest.raises(UsageError, match=r"^--executor: 3 is no executor"):
        cell("--executor number", number=3)


# -- interrupts ---------------------------------------------------------------------------------


@dataclass
class Driven(ThreadPoolExecutor):
    """An executor of which each submission ends as the next of its `ends` says.

    Of a pool of the standard library it is known that what was cancelled did not run.
    """

    ends: list[str]
    disk: list[str] = field(default_factory=list)
    unrecorded: list[str] = field(default_factory=list)
    """The submissions before which no start of the call was on disk."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        end, future = self.ends.pop(0) if self.ends else "ended", Future[Any]()
        if not (self.disk and '"started"' in self.disk[-1]):
            self.unrecorded.append(end)
        match end:
            case "closed":
                raise RuntimeError("cannot schedule new futures after shutdown")
            case "broken":
                raise BrokenExecutor
            case "lost before it began":
                future.set_exception(BrokenExecutor())
            case "dropped":
                future.cancel()
                future.set_running_or_notify_cancel()
            case "stopped before it began":
                signal.raise_signal(signal.SIGINT)
            case _:
                future.set_running_or_notify_cancel()
                sent = pickle.loads(pickle.dumps((function, args, named)))
                ended = pickle.loads(pickle.dumps(sent[0](*sent[1], **sent[2])))
                if end == "lost":
                    future.set_exception(BrokenExecutor())
                elif end != "stopped":
                    future.set_result(ended)
                if end in ("stopped", "stopped as it ended"):
                    signal.raise_signal(signal.SIGINT)
        return future


ENDS = (
    *("ended", "closed", "broken", "lost before it began", "lost", "dropped"),
    *("stopped before it began", "stopped", "stopped as it ended"),
)
RAN: list[int] = []


def note(call: int) -> str:
    """Have an effect."""
    RAN.append(call)
    return f"did {call}"


KINDS = ("plain", "reading", "repeatable")
SCHEMA = {"type": "object", "properties": {"call": {"type": "integer"}}, "required": ["call"]}
PLAIN = Tool("plain", "", SCHEMA, note, executor=True)
BOX = (
    PLAIN,
    replace(PLAIN, name="reading", read_only=True),
    replace(PLAIN, name="repeatable", idempotent=True),
)


def driven(kinds: list[str], ends: list[str]) -> tuple[Session, Driven]:
    """Return a session whose calls ended like this, in which a person rejects what is unknown."""
    RAN.clear()
    executor = Driven([*ends])
    calls = [(kind, {"call": number}) for number, kind in enumerate(kinds, 1)]
    journal = Journal(lambda line, when: executor.disk.append(line))
    done = ask_calls(*BOX, calls=[calls], journal=journal, executor=executor)
    while done.text != "Done.":
        try:
            done.run()
        except KeyboardInterrupt:
            continue
        for call in done.pending:
            assert call.status == "unknown"
            done.decide(call, "reject", reason="I look myself.")
    return done, executor


@given(
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=4),
    st.lists(st.sampled_from(ENDS), max_size=8),
)
def test_one_effect_and_one_result_however_a_call_ends(kinds: list[str], ends: list[str]) -> None:
    done, executor = driven(kinds, ends)
    assert executor.unrecorded == []
    assert [call.tool for call in done.calls] == kinds
    for number, call in enumerate(done.calls, 1):
        times = RAN.count(number)
        assert times <= (1 if call.tool == "plain" else 2)
        match call.status:
            case "succeeded":
                assert times >= 1
                assert call.result == f"did {number}"
            case "failed":
                assert times == 0
                assert call.error.startswith("not run: ")
            case "interrupted":
                assert times == 0 or call.tool != "plain"
                # What may be repeated may have begun in a run that was lost before.
                repeated = call.tool == "repeatable" and call.outcome == Interrupted(ran=True)
                assert repeated or call.outcome == Interrupted(ran=times > 0)
            case status:
                assert status == "rejected"
    ran, head, count = [*RAN], done.head, len(done.journal)
    assert done.replay().run().head == head
    assert (RAN, len(done.journal)) == (ran, count)


@pytest.mark.parametrize(
    ("ends", "kind", "status", "ran"),
    [
        (["stopped before it began"], "plain", "interrupted", 0),
        (["stopped"], "plain", "rejected", 1),
        (["stopped"], "reading", "interrupted", 1),
        (["stopped as it ended"], "plain", "succeeded", 1),
        (["lost before it began"], "plain", "rejected", 0),
        (["lost"], "repeatable", "succeeded", 2),
        # The pool stays broken, so the call is not repeated.
        (["lost", "broken"], "repeatable", "rejected", 1),
        (["lost"], "reading", "rejected", 1),
        (["lost"], "plain", "rejected", 1),
        (["dropped"], "plain", "failed", 0),
        (["broken"], "plain", "failed", 0),
    ],
)
def test_how_a_call_ends_depends_on_whether_it_began_and_may_be_repeated(
    ends: list[str], kind: str, status: str, ran: int
) -> None:
    done, _ = driven([kind], ends)
    assert (done.calls[0].status, len(RAN)) == (status, ran)


def test_an_interrupt_that_comes_as_a_call_fails_stops_the_session() -> None:
    executor = Driven(["stopped as it ended"])
    done = ask_calls(fail, process, calls=[[("fail", {}), PROCESS]], executor=executor)
    interrupted(done)
    assert [call.status for call in done.calls] == ["failed", "proposed"]


def test_a_call_that_ran_before_is_not_recorded_as_one_that_never_began() -> None:
    RAN.clear()
    executor = Driven(["lost", "stopped before it began"])
    session = run_calls(PLAIN, calls=[("plain", {"call": 1})], executor=executor)
    interrupted(session.decide("call_1", "approve"))
    assert (session.calls[0].outcome, RAN) == (Interrupted(ran=True), [1])


def test_a_thread_reports_the_progress_of_its_call() -> None:
    shown: list[str] = []

    @tool(executor=True)
    def copy() -> None:
        report_progress("half")

    with ThreadPoolExecutor(1) as pool, showing_progress(shown.append):
        run_calls(copy, executor=pool, calls=[("copy", {})])
    assert shown == ["half"]


# -- workers that are killed at any moment ------------------------------------------------------


@pytest.mark.long
def test_of_200_killed_workers_none_has_an_effect_twice_or_loses_a_result(tmp_path: Path) -> None:
    assert_nothing_runs_twice_or_is_lost(
        tmp_path, "processes", 300, 6e-4, {"succeeded", "rejected"}
    )
