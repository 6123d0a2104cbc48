"""Read-only calls of one reply that run together: the journal is that of calls which run one
after the other, in whatever order they end.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import CallError, UsageError
from jupyter_toolcall.core.events import Decision
from jupyter_toolcall.engine.cursor import SessionHooks
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.tools.running_tool import (
    InputRequest,
    InputRequired,
    OutcomeUnknown,
    report_progress,
)
from tests.example_tools import ask_calls, interrupted, panel_of, prints_of, run_calls
from tests.examples import examples

Calls = list[tuple[str, dict[str, Any]]]


class Potato:
    """A potato with a weight."""

    def __init__(self, weight: int) -> None:
        self.weight = weight


@dataclass
class DrawnOrder(Executor, SessionHooks):
    """An executor that ends one call each time that the session waits, in a drawn order."""

    draw: Callable[[int], int]
    """Returns which of so many calls ends."""
    held: list[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = field(
        default_factory=list
    )
    most: int = 0
    """How many calls ran together at most."""
    is_waiting: bool = False
    """Whether the session waits already: it runs one call alone."""
    interrupts_at: int = -1
    """The wait in which the kernel is interrupted in place of a call that ends."""
    waits: int = 0
    trace: list[str] = field(default_factory=list)
    """Which calls began and ended, in that order, such as `+1 +2 -2 -1`."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        self.held.append((Future(), function, args))
        self.most = max(self.most, len(self.held))
        future = self.held[-1][0]
        if self.is_waiting:
            self.end(0)
        return future

    @contextmanager
    def while_running(self) -> Iterator[None]:
        self.held = [call for call in self.held if not call[0].cancelled()]
        if self.waits == self.interrupts_at:
            os.kill(os.getpid(), signal.SIGINT)
        elif self.held:
            self.end(self.draw(len(self.held)))
        self.waits += 1
        self.is_waiting = True
        try:
            yield
        finally:
            self.is_waiting = False

    @contextmanager
    def around_execution(self, call: Any) -> Iterator[Callable[[Any], None]]:
        number = call.call_id.rpartition("_")[2]
        self.trace.append(f"+{number}")
        yield lambda outcome: None
        self.trace.append(f"-{number}")

    def end(self, number: int) -> None:
        """Run a call, and end it."""
        future, function, args = self.held.pop(number)
        future.set_running_or_notify_cancel()
        future.set_result(function(*args))


def kitchen(pool: DrawnOrder | None, ran: list[str]) -> Toolbox:
    """Return tools that note what they run, on an executor or in the kernel."""
    read = tool(executor=True if pool is None else pool, read_only=True)

    @read
    def weigh(potato: Potato) -> int:
        ran.append(f"weigh {potato.weight}")
        return potato.weight

    @read
    def grow(weight: int) -> Potato:
        """Return a new potato."""
        ran.append(f"grow {weight}")
        return Potato(weight)

    @read
    def halves(potato: Potato) -> list[Potato]:
        ran.append(f"halves {potato.weight}")
        return [Potato(potato.weight // 2), Potato(potato.weight - potato.weight // 2)]

    @read
    def wash(potato: Potato) -> None:
        """Change a potato in place, though it says that it does not."""
        ran.append(f"wash {potato.weight}")
        potato.weight += 1

    @read
    def drop(weight: int) -> Potato:
        ran.append(f"drop {weight}")
        raise ValueError(f"dropped {weight}")

    @tool
    def peel(potato: Potato) -> Potato:
        """Return a potato that weighs less."""
        ran.append(f"peel {potato.weight}")
        return Potato(potato.weight - 1)

    return Toolbox(Potato, weigh, grow, halves, wash, drop, peel)


def cooking(
    replies: list[Calls], pool: DrawnOrder | None, jobs: int, approve: str = "all"
) -> tuple[Session, list[str]]:
    """Return a session in which the replies will run, and what its tools ran."""
    ran = list[str]()
    options: dict[str, Any] = {"approve": approve, "jobs": jobs, "inputs": {"potato": Potato(80)}}
    session = ask_calls(*kitchen(pool, ran), calls=replies, **options)
    if pool is not None:
        session.cursor.context.hooks += (pool,)
    return session, ran


def cooked(
    replies: list[Calls], pool: DrawnOrder | None, jobs: int, approve: str = "all"
) -> tuple[Session, list[str]]:
    """Return a session in which the replies ran, and what its tools ran."""
    session, ran = cooking(replies, pool, jobs, approve)
    return session.run(), ran


def recorded(session: Session) -> list[Any]:
    """Return the entries of the journal, without times, and the messages that the model is sent."""
    entries = [
        (entry.id, entry.event, {key: entry.meta[key] for key in entry.meta.keys() - {"ms", "at"}})
        for entry in session.journal
    ]
    messages = [repr(message) for message in session.cursor.request.messages]
    return [entries, messages, [(name, session.state.objects[name]) for name in session.objects]]


NAMES = st.integers(1, 7).map(lambda number: {"potato": f"Potato#{number}"})
WEIGHTS = st.integers(1, 9).map(lambda weight: {"weight": weight})
CALLS = st.one_of(
    st.tuples(st.sampled_from(["weigh", "halves", "wash", "peel"]), NAMES),
    st.tuples(st.sampled_from(["grow", "grow", "drop"]), WEIGHTS),
)
REPLIES = st.lists(st.lists(CALLS, min_size=1, max_size=5), min_size=1, max_size=3)


@given(replies=REPLIES, jobs=st.integers(2, 5), data=st.data())
@settings(deadline=None, max_examples=examples(20))
def test_a_session_is_the_same_whichever_call_ends_first(
    replies: list[Calls], jobs: int, data: st.DataObject
) -> None:
    alone, ran_alone = cooked(replies, None, 1)
    pool = DrawnOrder(lambda count: data.draw(st.integers(0, count - 1)))
    session, ran = cooked(replies, pool, jobs)
    assert recorded(session) == recorded(alone)
    assert sorted(ran) == sorted(ran_alone)
    assert pool.most <= jobs

    length = len(session.journal)
    assert session.replay().run().head == session.head
    assert len(session.journal) == length
    assert session.verify()
    assert len(session.journal) == length

    edits = [call for call in alone.calls if "weight" in call.arguments and call.objects]
    for call in edits[-2:]:
        ran_alone.clear()
        ran.clear()
        one, other = (
            each.edit(call.id, weight=call.arguments["weight"] + 20).run()
            for each in (alone, session)
        )
        assert recorded(other) == recorded(one)
        assert sorted(ran) == sorted(ran_alone)


@given(
    calls=st.lists(
        st.one_of(
            st.tuples(
                st.sampled_from(["weigh", "halves", "wash"]), st.just({"potato": "Potato#1"})
            ),
            st.tuples(st.sampled_from(["grow", "drop"]), WEIGHTS),
        ),
        min_size=2,
        max_size=4,
    ),
    jobs=st.integers(2, 4),
    data=st.data(),
)
@settings(deadline=None, max_examples=25)
def test_every_call_has_one_result_wherever_the_kernel_is_killed(
    calls: Calls, jobs: int, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def draw(count: int) -> int:
        return data.draw(st.integers(0, count - 1))

    alone, _ = cooked([calls], None, 1)
    session, _ = cooked([calls], DrawnOrder(draw), jobs)
    lines = session.journal.dumps().splitlines(keepends=True)
    path = tmp_path_factory.mktemp("killed") / "session.jsonl"
    ends = [n for n, line in enumerate(lines) if '"started"' in line or '"finished"' in line]
    for end in ends:
        path.write_text("".join(lines[: end + 1]))
        pool = DrawnOrder(draw)
        box, model, inputs = kitchen(pool, []), Scripted([calls, "Done."]), {"potato": Potato(80)}
        again = Session.load(path, box, model, approve="all", jobs=jobs, inputs=inputs)
        again.cursor.context.hooks += (pool,)
        again = again.run()
        while again.pending:
            again = again.decide(again.pending[0], "approve").run()
        results = again.cursor.request.messages[2].results  # type: ignore[union-attr]
        assert [each.call_id for each in results] == [call.id for call in alone.calls]
        assert recorded(again)[1:] == recorded(alone)[1:]


@given(calls=st.lists(CALLS, min_size=2, max_size=6), jobs=st.integers(2, 4), data=st.data())
@settings(deadline=None, max_examples=25)
def test_a_person_who_decides_some_of_them_sees_the_same_session(
    calls: Calls, jobs: int, data: st.DataObject
) -> None:
    pool = DrawnOrder(lambda count: data.draw(st.integers(0, count - 1)))
    sessions = [cooked([calls], None, 1, "ask")[0], cooked([calls], pool, jobs, "ask")[0]]
    while sessions[0].pending:
        count = data.draw(st.integers(1, len(sessions[0].pending)))
        decision: Decision = data.draw(st.sampled_from(["approve", "approve", "reject"]))
        for session in sessions:
            for call in session.pending[:count]:
                # What names an object that is not there yet cannot be approved yet.
                with suppress(CallError):
                    session.decide(call, decision)
            session.run()
        assert recorded(sessions[0]) == recorded(sessions[1])


@given(
    calls=st.lists(st.tuples(st.just("grow"), WEIGHTS), min_size=2, max_size=5),
    jobs=st.integers(2, 4),
    data=st.data(),
)
@settings(deadline=None, max_examples=25)
def test_an_interrupt_records_what_a_person_would_who_interrupts_each_of_them(
    calls: Calls, jobs: int, data: st.DataObject
) -> None:
    pool = Cancelling(lambda count: data.draw(st.integers(0, count - 1)))
    pool.interrupts_at = data.draw(st.integers(0, len(calls) - 1))
    session = interrupted(cooking([calls], pool, jobs)[0])
    stopped = [call.id for call in session.calls if call.status == "interrupted"]
    assert stopped
    assert session.run().text == "Done."

    alone = cooking([calls], None, 1)[0]
    alone.cursor.context.hooks += (Stops({*stopped}),)
    for _ in stopped:
        interrupted(alone)
    assert recorded(alone.run()) == recorded(session)


class Cancelling(DrawnOrder, ThreadPoolExecutor):
    """What is cancelled here does not run. Of pools of another kind than the standard library's
    nobody knows that."""


@dataclass
class Stops(SessionHooks):
    """Interrupts the kernel as these calls begin."""

    ids: set[str]

    @contextmanager
    def around_execution(self, call: Any) -> Iterator[Callable[[Any], None]]:
        if call.call_id in self.ids:
            os.kill(os.getpid(), signal.SIGINT)
        yield lambda outcome: None


# -- which calls run together -----------------------------------------------------------------


def together(
    *tools: Any, calls: Calls, pool: DrawnOrder | None = None, **options: Any
) -> tuple[Session, DrawnOrder]:
    """Return a session whose one reply asks for these calls; the last one that began ends first."""
    pool = pool or DrawnOrder(lambda count: count - 1)
    session = ask_calls(*tools, calls=[calls], **{"jobs": 4, "executor": pool, **options})
    session.cursor.context.hooks += (pool,)
    return session, pool


@tool(executor=True, read_only=True)
def one(n: int) -> int:
    return n


@tool(executor=True)
def write(n: int) -> int:
    return n


ONES: Calls = [("one", {"n": n}) for n in range(4)]
WRITE = ("write", {"n": 9})


class Bag:
    """What holds numbers."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = [*numbers]

    @tool(executor=True, read_only=True)
    def more(self, n: int) -> Bag:
        """Return a bag with one more number."""
        return Bag(*self.numbers, n)


class Register:
    """A stateful instance."""

    def __init__(self) -> None:
        self.reads = 0

    @tool(executor=True, read_only=True)
    def look(self) -> int:
        """Count."""
        self.reads += 1
        return self.reads


LOOK: Calls = [("Register_look", {})]


@pytest.mark.parametrize(
    ("tools", "calls", "options", "order"),
    [
        ((one,), ONES, {"jobs": 1}, "+1 -1 +2 -2 +3 -3 +4 -4"),
        ((one,), ONES, {"jobs": 3}, "+1 +2 +3 -3 +4 -4 -2 -1"),
        ((one,), ONES, {}, "+1 +2 +3 +4 -4 -3 -2 -1"),
        ((one, write), [*ONES[:2], WRITE, *ONES[2:]], {}, "+1 +2 -2 -1 +3 -3 +4 +5 -5 -4"),
        ((Bag,), [("Bag_more", {"n": 1})] * 2, {"inputs": {"bag": Bag()}}, "+1 -1 +2 -2"),
        ((Register(),), LOOK * 2, {}, "+1 -1 +2 -2"),
    ],
    ids=["one job", "three jobs", "four jobs", "a write", "the newest object", "an instance"],
)
def test_so_many_calls_run_together_and_none_before_one_that_it_depends_on(
    tools: Any, calls: Calls, options: Any, order: str
) -> None:
    session, pool = together(*tools, calls=calls, **options)
    assert str(session.run()) == "Done."
    assert " ".join(pool.trace) == order


# -- in threads and in the loop ---------------------------------------------------------------


def test_async_tools_run_in_one_loop_and_their_prints_are_their_own() -> None:
    met: list[asyncio.Event] = []

    @tool(read_only=True)
    async def meet(n: int) -> str:
        """Return the thread once all have printed."""
        print("first", n)
        met.append(asyncio.Event())
        if len(met) == 3:
            for event in met:
                event.set()
        await met[-1].wait() if len(met) < 3 else None
        print("second", n)
        return threading.current_thread().name

    session = run_calls(meet, calls=[[("meet", {"n": n}) for n in range(3)]], jobs=4)
    assert {call.result for call in session.calls} == {"toolcall-async"}
    assert prints_of(session) == [f"first {n}\nsecond {n}\n" for n in range(3)]


FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def test_what_runs_beside_a_call_that_asks_for_input_waits_for_it_in_memory() -> None:
    ran = list[int]()

    def grow_for(state: Any, responses: Any, arguments: Any) -> Potato:
        return Potato(len(responses["who"].content["name"]))

    @tool(read_only=True, resume=grow_for)
    def ask() -> Potato:
        raise InputRequired({"who": InputRequest("For whom?", FORM)})

    @tool(read_only=True)
    def plant(weight: int) -> Potato:
        ran.append(weight)
        return Potato(weight)

    calls: Calls = [("ask", {}), ("plant", {"weight": 8}), ("plant", {"weight": 9})]
    session = run_calls(Potato, ask, plant, calls=[calls], jobs=4)
    assert [call.status for call in session.calls] == ["input required", "proposed", "proposed"]
    assert session.objects == ()
    assert sorted(ran) == [8, 9]
    session = session.decide(session.pending[0], "answer", result={"name": "Ada"}).run()
    assert [call.object for call in session.calls] == ["Potato#1", "Potato#2", "Potato#3"]
    assert [session[name].weight for name in session.objects] == [3, 8, 9]
    assert sorted(ran) == [8, 9]


def test_an_unknown_outcome_of_one_waits_for_a_person_and_the_others_follow() -> None:
    @tool(read_only=True)
    def lose() -> int:
        """Lose its connection."""
        raise OutcomeUnknown("the server stopped")

    session = run_calls(lose, one, calls=[[("lose", {}), *ONES[:2]]], jobs=4)
    assert [call.status for call in session.calls] == ["unknown", "proposed", "proposed"]
    done = session.decide(session.pending[0], "reject", reason="Leave it.").run()
    assert [call.status for call in done.calls] == ["rejected", "succeeded", "succeeded"]
    assert str(done) == "Done."


# -- the panel --------------------------------------------------------------------------------


def test_the_panel_shows_all_that_run_and_the_progress_of_each() -> None:
    barrier = threading.Barrier(3)

    @tool(read_only=True)
    def copy(n: int) -> int:
        """Report the progress, and wait for the others."""
        report_progress(f"file {n}")
        barrier.wait(60)
        return n

    session = ask_calls(copy, calls=[[("copy", {"n": n}) for n in range(3)]], jobs=3)
    controller, shown = panel_of(session)
    controller.run_to_pause()
    rows = [row for notice in shown for row in notice.rows.calls]
    running = [row for row in rows if row.status == "running"]
    assert {row.step for row in running} == {1, 2, 3}
    assert {"file 0", "file 1", "file 2"} & {row.change for row in running}
    assert "Running 3 calls" in [row.says for notice in shown for row in notice.rows.session]
    assert [row.status for row in rows if row.step == 3][-1] == "succeeded"


def test_the_panel_shows_that_a_call_has_ended_while_one_before_it_runs() -> None:
    controller, shown = panel_of(together(one, calls=ONES[:2], jobs=2)[0])
    controller.rate.interval = 0
    controller.run_to_pause()
    statuses = [{row.step: row.status for row in notice.rows.calls} for notice in shown]
    at = statuses.index({1: "running", 2: "running"})
    assert statuses[at + 1 :][:2] == [{2: "succeeded"}, {1: "succeeded", 2: "succeeded"}]


def test_the_rows_of_results_that_waited_have_their_names_and_what_their_tools_printed() -> None:
    @tool(executor=True, read_only=True)
    def plant(weight: int) -> Potato:
        """Print, and return a potato."""
        print("plants", weight)
        return Potato(weight)

    calls = [("plant", {"weight": weight}) for weight in (1, 2, 3)]
    controller, shown = panel_of(together(Potato, plant, calls=calls)[0])
    controller.run_to_pause()
    last = {row.step: row.prints for notice in shown for row in notice.rows.calls}
    assert last == {step: f"plants {step}\n" for step in (1, 2, 3)}
    rows = controller.whole()
    assert [row.name for row in rows.objects] == ["Potato#1", "Potato#2", "Potato#3"]
    tools = [row.text for row in rows.messages if row.role == "tool"]
    assert [f"Potato#{n}" in text for n, text in enumerate(tools, 1)] == [True] * 3


# -- interrupts -------------------------------------------------------------------------------


def test_an_interrupt_ends_the_wait_for_all_that_run_and_the_session_continues() -> None:
    barrier, release, cancelled = threading.Barrier(3), threading.Event(), threading.Event()

    @tool(read_only=True)
    def hang(n: int) -> int:
        """Wait for the test; the last one interrupts the kernel."""
        barrier.wait(60)
        if n == 0:
            os.kill(os.getpid(), signal.SIGINT)
        release.wait(60)
        return n

    @tool(read_only=True)
    async def sleep() -> int:
        """Sleep until it is cancelled."""
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return 1

    calls: Calls = [("sleep", {}), *(("hang", {"n": n}) for n in range(3)), ("one", {"n": 7})]
    session = interrupted(ask_calls(hang, sleep, one, calls=[calls], jobs=4))
    # The async tool was cancelled; the others go on in their threads.
    assert cancelled.wait(60)
    assert [call.status for call in session.calls] == ["interrupted"] * 4 + ["proposed"]
    done = session.run()
    assert [call.status for call in done.calls][-1] == "succeeded"
    assert str(done) == "Done."
    release.set()


def test_calls_that_ended_before_an_interrupt_keep_results_and_others_are_cancelled() -> None:
    pool = Cancelling(lambda count: 1)
    pool.interrupts_at = 1
    session = interrupted(together(one, calls=ONES, pool=pool)[0])
    statuses = [call.status for call in session.calls]
    assert statuses == ["interrupted", "succeeded", "interrupted", "interrupted"]
    assert all(future.cancelled() for future, _, _ in pool.held)
    not_begun = "It was interrupted before it began, so it did not run."
    errors = [row.error for row in panel_of(session)[0].whole().calls]
    assert errors == [not_begun, "", not_begun, not_begun]
    done = session.run()
    assert str(done) == "Done."
    results = done.cursor.request.messages[2].results  # type: ignore[union-attr]
    text = "A person interrupted this call before it began: it did not run."
    assert [text in result.content for result in results] == [True, False, True, True]


# -- options ----------------------------------------------------------------------------------


def test_a_line_says_how_many_run_together_and_a_setting_does_where_it_does_not() -> None:
    assert parse_options("--jobs 4").jobs == 4
    assert parse_options("", {"jobs": 3}).jobs == 3
    assert parse_options("").jobs == 1
    with pytest.raises(UsageError, match="--jobs is 0; give a whole number"):
        parse_options("--jobs 0")


def test_a_session_that_is_loaded_takes_how_many_run_together(tmp_path: Path) -> None:
    together(one, calls=ONES)[0].run().save(tmp_path / "ones.jsonl")
    pool = DrawnOrder(lambda count: count - 1)
    model = Scripted([ONES, "Done.", ONES, "Done."])
    again = Session.load(tmp_path / "ones.jsonl", Toolbox(one), model, executor=pool, jobs=2)
    again.cursor.context.hooks += (pool,)
    again.tell("Again.")
    assert " ".join(pool.trace) == "+1 +2 -2 +3 -3 +4 -4 -1"
