"""Many sessions at once, each with a journal of its own, continued after kills and interrupts."""

from __future__ import annotations

import asyncio
import functools
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import NotYourTurn, UsageError
from jupyter_toolcall.core.events import Asked, Replied
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.maps.session_map import SessionMap
from jupyter_toolcall.schemes.messages import Reply, Request
from jupyter_toolcall.tools.executors import executor_named
from tests.maps.mapped import (
    CALLS,
    PROMPTS,
    Payer,
    Refuser,
    lines,
    log,
    looks,
    pay,
    pays,
    prompt_of,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MAPPED", str(tmp_path))
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    # The kernel's pool has the data directory of the test that used it first.
    executor_named("processes", "executor").shutdown()
    return tmp_path


@pytest.fixture
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2) as pool:
        yield pool


def paid(**options: Any) -> SessionMap:
    given: dict[str, Any] = {"scheme": "flat", "approve": "all", "name": "bills", **options}
    return Session.map(PROMPTS, pays, Payer, **given)


def recorded_turns(folder: Path) -> Counter[str]:
    """How many replies each prompt's journal has."""
    turns: Counter[str] = Counter()
    for path in folder.glob("*.jsonl"):
        journal, _ = Journal.salvage(path.read_text())
        prompts = [entry.event.text for entry in journal if isinstance(entry.event, Asked)]
        for prompt in prompts:
            turns[prompt] += sum(isinstance(entry.event, Replied) for entry in journal)
    return turns


# -- in the kernel ---------------------------------------------------------------------------


def test_each_prompt_gets_a_session_with_a_journal_of_its_own() -> None:
    sessions = paid()
    assert [each.status for each in sessions] == ["finished"] * len(PROMPTS)
    assert [each.prompt for each in sessions] == PROMPTS
    assert [(each.calls, each.turns) for each in sessions] == [(CALLS, CALLS + 1)] * len(PROMPTS)
    assert len({each.path for each in sessions}) == len(PROMPTS)
    assert all(each.path.is_file() for each in sessions)
    assert sessions[2].session.text == f"{PROMPTS[2]} is paid."


def test_equal_prompts_are_separate_sessions() -> None:
    sessions = Session.map(["Pay."] * 3, pays, Payer, scheme="flat", approve="all")
    assert [each.status for each in sessions] == ["finished"] * 3
    assert len(lines("effects")) == 3 * CALLS


def test_requests_of_different_sessions_overlap_and_tools_run_in_the_main_thread() -> None:
    together = threading.Barrier(3, timeout=30)
    threads = set()

    @tool(read_only=True)
    def thread() -> str:
        """Return the thread's name."""
        threads.add(threading.current_thread())
        return "here"

    class Waiting:
        name = "waiting"

        def __call__(self, request: Request) -> Reply:
            # Nobody gets a reply before three sessions have asked.
            together.wait()
            return Scripted([("thread", {}), "Done."])(request)

    sessions = Session.map(["a", "b", "c"], Toolbox(thread), Waiting(), scheme="flat", jobs=3)
    assert [each.status for each in sessions] == ["finished"] * 3
    assert threads == {threading.main_thread()}


def test_the_same_map_again_asks_no_model_and_runs_no_tool() -> None:
    paid()
    requests, effects = lines("requests"), lines("effects")
    again = paid()
    assert [each.status for each in again] == ["finished"] * len(PROMPTS)
    assert (lines("requests"), lines("effects")) == (requests, effects)


def test_a_longer_list_continues_the_same_sessions() -> None:
    paid()
    before = len(lines("requests"))
    more = Session.map(
        ["Pay the rent.", *PROMPTS], pays, Payer, scheme="flat", approve="all", name="bills"
    )
    assert [each.status for each in more] == ["finished"] * (len(PROMPTS) + 1)
    assert len(lines("requests")) == before + CALLS + 1


def test_without_a_name_other_arguments_are_another_map() -> None:
    one = Session.map(["Pay."], pays, Payer, scheme="flat", approve="all")
    other = Session.map(["Pay."], pays, Payer, scheme="flat", approve="all", system="Be quick.")
    same = Session.map(["Pay."], pays, Payer, scheme="flat", approve="all")
    assert one.folder == same.folder != other.folder


def test_a_name_whose_sessions_were_recorded_otherwise_is_refused_in_their_rows() -> None:
    paid()
    other = paid(system="Be quick.")
    assert dict(other.errors) == {
        "these sessions were recorded with other system; give the map another name": len(PROMPTS)
    }


@pytest.mark.parametrize("kind", [ValueError, asyncio.CancelledError, SystemExit])
def test_errors_of_some_sessions_end_no_others_and_are_grouped(kind: type[BaseException]) -> None:
    model = type("Refuser", (Refuser,), {"refusal": kind("no such bill")})
    sessions = Session.map(PROMPTS, pays, model, scheme="flat", approve="all")
    error = f"{kind.__name__}: no such bill"
    assert dict(sessions.errors) == {error: 2}
    assert dict(sessions.counts) == {"failed": 2, "finished": 4}
    assert f"2 × {error}" in repr(sessions)
    assert f"2 × {error}" in sessions._repr_html_()
    assert sessions[1].error == error


def test_outputs_are_read_from_the_journal(own_folder: Path) -> None:
    model = Scripted([("pay", {"bill": "a", "part": 1}), ("save", {"receipt": "paid 1"})])
    made = Session.map(["Pay."], pays, model, outputs={"receipt": str}, approve="all")
    assert made[0].summary.saved == ("receipt",)
    assert made[0].outputs == {"receipt": "paid 1"}


def test_an_output_that_was_never_saved_is_an_error() -> None:
    made = Session.map(["Pay."], pays, Scripted(["No."] * 3), outputs={"receipt": str})
    assert dict(made.errors) == {"receipt was never saved": 1}


def test_a_session_that_reaches_its_turn_limit_continues_with_a_larger_one() -> None:
    short = Session.map(["Pay."], pays, Payer, scheme="flat", approve="all", name="x", max_turns=2)
    assert "larger max_turns continues" in short[0].error
    more = Session.map(["Pay."], pays, Payer, scheme="flat", approve="all", name="x", max_turns=9)
    assert more[0].status == "finished"
    assert len(lines("requests")) == CALLS + 1


def test_the_table_escapes_what_comes_from_prompts_and_models() -> None:
    bad = "<img src=x onerror=alert(1)>\u202e"
    made = Session.map([bad], pays, Scripted([bad]), scheme="flat")
    assert "<img" not in made._repr_html_()
    assert "\u202e" not in made._repr_html_() + repr(made)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        *(({"prompts": "Pay."}, "give a list"), ({"prompts": 5}, "prompts is 5")),
        *(({"prompts": ["Pay.", " "]}, "prompt 1"), ({"toolbox": pay}, "no toolbox")),
        *(({"jobs": 0}, "jobs is 0"), ({"jobs": "2"}, "jobs is '2'")),
        *(({"name": 3}, "name is 3"), ({"folder": 3}, "3 is no path")),
        ({"sceme": "flat"}, "Did you mean scheme"),
        ({"executor": "proceses"}, "Did you mean processes"),
    ],
)
def test_a_wrong_argument_is_refused_at_once(arguments: dict[str, Any], expected: str) -> None:
    given = {"prompts": ["Pay."], "toolbox": pays, "model": Payer, "scheme": "flat"}
    with pytest.raises(UsageError, match=expected):
        Session.map(**{**given, **arguments})
    assert lines("requests") == []


# -- decisions -------------------------------------------------------------------------------


def test_sessions_that_wait_are_pending_and_continue_after_a_decision() -> None:
    sessions = paid(approve="ask")
    assert [each.index for each in sessions.pending] == list(range(len(PROMPTS)))
    assert lines("effects") == []
    (call,) = sessions[3].pending
    sessions[3].decide(call).run()
    assert lines("effects") == [f"{PROMPTS[3]} 0"]
    assert sessions[3].status == "waiting"
    assert sessions[3].summary.waits_for == ("pay",)


def test_decisions_are_kept_until_all_sessions_continue() -> None:
    sessions = paid(approve="ask")
    sessions[0].decide(decision="reject", reason="too dear")
    sessions[1].approve_all()
    assert (sessions[0].status, sessions[1].status) == ("interrupted", "interrupted")
    # The same map in another kernel knows of the decisions, since they are in the journals.
    again = paid(approve="ask")
    assert lines("effects") == [f"{PROMPTS[1]} 0"]
    assert [each.turns for each in again] == [2, 2, 1, 1, 1, 1]


@dataclass(frozen=True)
class Bill:
    """An object."""

    paid: int = 0

    @tool(read_only=True)
    def add(self, amount: int) -> Bill:
        """Add an amount; it is quick, so nothing keeps its result."""
        log("adds", str(amount))
        return Bill(self.paid + amount)

    def close(self) -> int:
        """Close the bill."""
        return self.paid


def test_values_that_are_gone_are_computed_again_before_a_decision() -> None:
    script = Scripted(
        [("Bill_add", {"amount": 2}), ("Bill_add", {"amount": 3}), ("Bill_close", {})]
    )

    def sessions() -> SessionMap:
        return Session.map(["Close it."], Toolbox(Bill), script, inputs={"bill": Bill()}, name="b")

    assert [call.tool for call in sessions()[0].pending] == ["Bill_close"]
    journal = sessions()[0].path.read_text()
    # Another map has none of the values of the first one.
    again = sessions()
    assert again[0].path.read_text() == journal
    assert again[0].decide().run().session.calls[-1].result == 5
    assert set(lines("adds")) == {"2", "3"}


def test_a_decision_on_a_session_that_does_not_wait_is_refused() -> None:
    sessions = paid()
    assert sessions[0].pending == ()
    with pytest.raises((NotYourTurn, UsageError)):
        sessions[0].decide("call_1")


# -- on workers ------------------------------------------------------------------------------


def test_whole_sessions_run_on_the_workers_of_a_process_pool(pool: Executor) -> None:
    sessions = paid(executor=pool)
    assert [each.status for each in sessions] == ["finished"] * len(PROMPTS)
    assert sorted(lines("effects")) == sorted(f"{p} {part}" for p in PROMPTS for part in range(3))
    assert sessions[0].session.text == f"{PROMPTS[0]} is paid."
    assert sessions[0].session.calls[0].result == "paid 0"


def test_the_functions_that_create_tools_and_models_may_have_defaults_and_be_partials() -> None:
    def tools(also: tuple[Any, ...] = ()) -> Toolbox:
        return Toolbox(pay, *also)

    for toolbox in (tools, functools.partial(tools, also=())):
        made = Session.map(PROMPTS, toolbox, functools.partial(Payer), scheme="flat", approve="all")
        assert dict(made.counts) == {"finished": len(PROMPTS)}


def test_a_toolbox_of_functions_of_a_module_needs_no_function_around_it(pool: Executor) -> None:
    sessions = paid(executor=pool)
    made = Session.map(
        PROMPTS, Toolbox(pay), Payer(), scheme="flat", approve="all", name="bills", executor=pool
    )
    assert made.summaries == sessions.summaries
    assert len(lines("effects")) == len(PROMPTS) * CALLS


@pytest.mark.parametrize(
    ("toolbox", "model", "named"),
    [
        (lambda: Toolbox(pay), Payer, "toolbox cannot be pickled"),
        (pays, lambda request: Reply("x"), "model cannot be pickled"),
    ],
)
def test_what_has_no_pickle_is_named_before_anything_runs(
    pool: Executor, toolbox: Any, model: Any, named: str
) -> None:
    with pytest.raises(UsageError, match=named) as raised:
        Session.map(["Pay."], toolbox, model, scheme="flat", executor=pool)
    assert "\n" not in str(raised.value)
    assert "top level of a module" in str(raised.value)


def test_a_worker_that_is_killed_in_a_tool_leaves_an_unknown_outcome(own_folder: Path) -> None:
    (own_folder / "kill").write_text("tool 5")
    sessions = paid(executor="processes")
    assert (own_folder / "kill").exists() is False
    # Nothing is lost but the outcome of the call that ran, and no part is paid twice.
    # A pool that loses a process ends its others too, which may run calls as well.
    assert set(sessions.counts) == {"waiting", "finished"}
    assert 1 <= len(sessions.pending) <= (os.cpu_count() or 1)
    assert {call.status for each in sessions.pending for call in each.pending} == {"unknown"}
    assert set(Counter(lines("effects")).values()) == {1}


def test_an_idempotent_call_whose_worker_was_killed_runs_again(own_folder: Path) -> None:
    (own_folder / "kill").write_text("tool 5")
    made = Session.map(PROMPTS, looks, Payer, scheme="flat", executor="processes")
    assert [each.status for each in made] == ["finished"] * len(PROMPTS)
    assert max(Counter(lines("looks")).values()) == 2


def test_a_pool_that_broke_leaves_sessions_that_another_one_continues(own_folder: Path) -> None:
    (own_folder / "kill").write_text("model 7")
    with ProcessPoolExecutor(2) as broken:
        sessions = paid(executor=broken)
    assert "Create a new one" in sessions.note
    assert sessions.counts.get("finished", 0) < len(PROMPTS)
    with ProcessPoolExecutor(2) as new:
        counts = paid(executor=new).counts
    # A pool that loses a process ends its other one too, which may run a call.
    assert sum(counts.values()) == counts["finished"] + counts.get("waiting", 0) == len(PROMPTS)
    assert counts.get("waiting", 0) <= 1
    assert set(Counter(lines("effects")).values()) == {1}


def test_threads_are_the_kernels_own_so_sessions_stay_in_it() -> None:
    with ThreadPoolExecutor(2) as threads:
        sessions = paid(executor=threads)
    assert [each.status for each in sessions] == ["finished"] * len(PROMPTS)


@pytest.mark.long
def test_sessions_on_dask_continue_on_another_worker_after_a_kill(own_folder: Path) -> None:
    with (
        LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        (own_folder / "kill").write_text("tool 5")
        sessions = paid(executor=client)
        # Each process runs one session at a time, so one call was running.
        assert dict(sessions.counts) == {"waiting": 1, "finished": len(PROMPTS) - 1}
        (session,) = sessions.pending
        session.decide(decision="answer", result="paid by hand")
        sessions.run()
    assert dict(sessions.counts) == {"finished": len(PROMPTS)}
    assert set(Counter(lines("effects")).values()) == {1}


# -- kills and interrupts --------------------------------------------------------------------


def run_script(*, kills: bool) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.maps.mapped"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ)
    assert ended.returncode == (-signal.SIGKILL if kills else 0), ended.stderr
    return ended


@pytest.mark.parametrize("event", ["model 9", "tool 8", "tool 1", "model 1"])
def test_after_a_kill_no_reply_is_requested_twice_and_no_part_is_paid_twice(
    own_folder: Path, event: str
) -> None:
    (own_folder / "kill").write_text(event)
    run_script(kills=True)
    received = recorded_turns(own_folder / "data" / "maps" / "killed")
    before = len(lines("requests"))
    ended = run_script(kills=False)
    for request in lines("requests")[before:]:
        prompt, _, turn = request.rpartition(" ")
        assert int(turn) >= received[prompt], f"{request} was received before the kill"
    assert set(Counter(lines("effects")).values()) == {1}
    # A call that was running waits for a person, that of the other thread too; the rest is paid.
    waiting = ended.stdout.count("'waiting'")
    least = int(event.startswith("tool"))
    assert least <= waiting <= least + 1
    assert ended.stdout.count("'finished'") == len(PROMPTS) - waiting


class Interrupting(Payer):
    """Presses Ctrl-C while one of the bills is asked about."""

    def __call__(self, request: Request) -> Reply:
        reply = super().__call__(request)
        if prompt_of(request) == PROMPTS[2] and len(lines("interrupts")) == 0:
            (Path(os.environ["MAPPED"]) / "interrupts").write_text("pressed\n")
            signal.raise_signal(signal.SIGINT)
        return reply


def test_an_interrupt_stops_and_what_is_done_is_kept() -> None:
    sessions = Session.map(PROMPTS, pays, Interrupting, scheme="flat", approve="all", jobs=1)
    assert "run() continues" in sessions.note
    assert [each.status for each in sessions[:2]] == ["finished"] * 2
    assert sessions[2].status == "interrupted"
    assert [each.status for each in sessions[3:]] == ["not started"] * 3
    assert sessions.run().note == ""
    assert dict(sessions.counts) == {"finished": len(PROMPTS)}
    assert set(Counter(lines("effects")).values()) == {1}


def test_an_interrupt_stops_sessions_on_workers_after_their_step(pool: Executor) -> None:
    sessions = Session.map(PROMPTS, pays, Payer, scheme="flat", approve="all", name="y")
    assert len(sessions.finished) == len(PROMPTS)
    stopped = SessionMap(sessions.setup, [*PROMPTS, "Pay once more."], pool, 1)
    stopped.on_change.append(lambda index: signal.raise_signal(signal.SIGINT))
    assert "run() continues" in stopped.run().note
    stopped.on_change.clear()
    assert dict(stopped.run().counts) == {"finished": len(PROMPTS) + 1}
    assert set(Counter(lines("effects")).values()) == {1}
