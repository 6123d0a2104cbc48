"""Calls on clusters: workers and schedulers of Dask that are killed, and ipyparallel's engines."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

from jupyter_toolcall import Session, Toolbox, tool
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.core.events import Finished, Interrupted, Started
from jupyter_toolcall.tools.executors import executor_named
from tests.engine.killed_workers import (
    KILLED,
    PROCESS,
    assert_nothing_runs_twice_or_is_lost,
    die,
    die_or_again,
    die_reading,
    in_kernel,
    lock,
    process,
)
from tests.example_tools import ask_calls, interrupted, notes_of, prints_of, run_calls

pytestmark = KILLED


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, set_as_default=False) as opened,
    ):
        yield opened


def address_of(client: Client) -> str:
    assert client.scheduler
    return str(client.scheduler.address)


def _wait(started: str, release: str) -> str:
    # A pipe opens as soon as somebody has opened its other end.
    for pipe, mode in ((started, "w"), (release, "r")):
        with open(pipe, mode):
            pass
    return "late"


@tool(executor=True)
def wait(started: str, release: str) -> str:
    """Say that it started, and wait for a signal."""
    return _wait(started, release)


# -- where a call runs ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["client", "executor", "address"])
def test_a_cluster_is_given_by_client_executor_or_address(client: Client, kind: str) -> None:
    address = address_of(client)
    kinds = {"client": client, "executor": client.get_executor(), "address": f"dask:{address}"}
    done = run_calls(process, in_kernel, executor=kinds[kind], calls=[PROCESS, ("in_kernel", {})])
    worker, kernel = (call.result for call in done.calls)
    assert worker in client.run(os.getpid).values()
    assert kernel == os.getpid()
    assert prints_of(done) == [f"in {worker}\n"]
    (note,) = notes_of(done)
    assert note.removeprefix("ran on ").removesuffix(" (dask)") in client.run(os.getpid)


@tool(executor=True, read_only=True)
def say(text: str, started: str, release: str) -> None:
    """Print before and after others start."""
    print(text, "begins")
    _wait(started, release)
    print(text, "ends")


def test_calls_that_run_together_in_threads_of_one_worker_have_their_own_prints(
    scheduler_address: str, tmp_path: Path
) -> None:
    pairs = {text: pipes_in(tmp_path, text) for text in ("one", "two")}

    def let_end() -> None:
        for started, _ in pairs.values():
            opened(started)
        for _, release in pairs.values():
            opened(release, "w")

    calls = [("say", {"text": text, "started": a, "release": b}) for text, (a, b) in pairs.items()]
    thread = threading.Thread(target=let_end)
    with worker(scheduler_address, threads=2):
        thread.start()
        done = run_calls(say, calls=[calls], jobs=2, executor=f"dask:{scheduler_address}")
        thread.join()
    assert {*prints_of(done)} == {f"{text} begins\n{text} ends\n" for text in pairs}
    assert len(notes_of(done)) == 2


def test_functions_and_objects_of_no_module_run_on_dask_and_come_back(client: Client) -> None:
    class Box:
        def __init__(self, size: int) -> None:
            self.size = size

        @tool(executor=True)
        def grow(self) -> Box:
            """Return a larger one."""
            return Box(self.size + 1)

    factor = 3
    triple = tool(executor=True, name="triple")(lambda: 7 * factor)
    calls: Any = [("Box_grow", {}), ("Box_grow", {}), ("triple", {})]
    done = run_calls(Box, triple, executor=client, calls=calls, inputs={"box": Box(1)})
    assert [call.object or call.result for call in done.calls] == ["Box#2", "Box#3", 21]
    assert type(done["Box#3"]) is Box
    assert done["Box#3"].size == 3


# -- what does not run ----------------------------------------------------------------------------


def test_a_scheduler_that_does_not_answer_is_named_with_the_timeout() -> None:
    text = r"^executor: no Dask scheduler answers at tcp://127\.0\.0\.1:9 \(.*timeout 10 s\); start"
    with pytest.raises(UsageError, match=text):
        Session(Toolbox(process), None, executor="dask:tcp://127.0.0.1:9")
    # A tool with an address connects at its first call.
    far = tool(executor="dask:tcp://127.0.0.1:9", name="far")(lambda: 1)
    (call,) = run_calls(far, executor=None, calls=[("far", {})]).calls
    assert call.error.startswith("not run: no Dask scheduler answers at tcp://127.0.0.1:9")


def test_without_dask_the_command_that_installs_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    text = r"^executor: distributed is missing: pip install distributed$"
    with pytest.raises(UsageError, match=text):
        Session(Toolbox(process), None, executor="dask")


def test_what_cannot_be_pickled_is_named(client: Client) -> None:
    held = threading.Lock()
    holding = tool(executor=True, name="holding")(lambda: str(held))
    done = run_calls(holding, lock, executor=client, calls=[("holding", {}), ("lock", {})])
    assert done.calls[0].error.startswith("not run: the tool holding cannot be pickled")
    assert done.calls[1].status == "succeeded"
    assert done.calls[1].result.startswith("a Locked, which cannot be pickled")


SERVER = """{before}
import asyncio
from distributed import {kind}

async def main():
    async with {kind}({arguments}, dashboard=False) as server:
        print(server.address, flush=True)
        await server.finished()

asyncio.run(main())
"""


@contextmanager
def server(
    kind: str, arguments: str, before: str = "", path: str = "", **options: Any
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start a scheduler or a worker, and yield its process and address."""
    code = SERVER.format(before=before, kind=kind, arguments=arguments)
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join([path, *sys.path])}
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=paths, **options) as started:
        assert started.stdout
        try:
            yield started, started.stdout.readline().decode().strip()
        finally:
            started.kill()


def scheduler(folder: Path, port: int = 0) -> Any:
    return server("Scheduler", f"port={port}", cwd=folder)


def worker(address: str, before: str = "", path: str = "", threads: int = 1) -> Any:
    """Start a worker in which some code ran before."""
    return server("Worker", f"{address!r}, nthreads={threads}", before, path)


@pytest.fixture(scope="module")
def scheduler_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with scheduler(tmp_path_factory.mktemp("scheduler")) as (_, address):
        yield address


@pytest.mark.long
def test_a_worker_without_the_package_says_what_to_install(scheduler_address: str) -> None:
    without = "import sys; sys.modules['jupyter_toolcall'] = None"
    with worker(scheduler_address, without):
        (call,) = run_calls(process, executor=f"dask:{scheduler_address}", calls=[PROCESS]).calls
    assert call.status == "failed"
    assert call.error.startswith("not run: a worker cannot import jupyter-toolcall (")
    assert call.error.endswith("; install the version that the kernel has on all workers")


OTHER = """
from pathlib import Path

def price(n: int) -> int:
    return {factor} * n

def sell(path: str) -> int:
    '''Sell.'''
    Path(path).write_text("sold")
    return price(3)
"""


@pytest.mark.long
def test_a_worker_with_another_version_of_a_tool_runs_nothing(
    scheduler_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    effect = tmp_path / "effect"
    folders = tmp_path / "kernel", tmp_path / "worker"
    for factor, folder in enumerate(folders, 2):
        folder.mkdir()
        (folder / "shop_prices.py").write_text(OTHER.replace("{factor}", str(factor)))
    monkeypatch.syspath_prepend(folders[0])
    sell = tool(executor=True)(importlib.import_module("shop_prices").sell)
    calls = [("sell", {"path": str(effect)})]
    with worker(scheduler_address, path=str(folders[1])):
        (call,) = run_calls(sell, executor=f"dask:{scheduler_address}", calls=calls).calls
    assert call.error == (
        "not run: the worker has another version of the tool than the kernel (price); restart the "
        "workers, with the code that the kernel has"
    )
    assert not effect.exists()
    with worker(scheduler_address, path=str(folders[0])):
        (call,) = run_calls(sell, executor=f"dask:{scheduler_address}", calls=calls).calls
    assert call.result == 6


# -- workers and schedulers that are lost ---------------------------------------------------------


@pytest.mark.parametrize("killed", [die, die_reading])
def test_a_killed_worker_leaves_the_outcome_unknown_and_one_effect(
    client: Client, tmp_path: Path, killed: Any
) -> None:
    path = tmp_path / "effect"
    done = run_calls(killed, executor=client, calls=[(killed.__name__, {"path": str(path)})])
    (call,) = done.pending
    assert call.status == "unknown"
    assert call.unknown_reason.startswith("the worker tcp://")
    assert call.unknown_reason.endswith(f" that ran {killed.__name__} was lost")
    done.decide(call, "reject", reason="I look myself.").run()
    assert path.read_text() == "ran\n"


def test_a_call_that_may_run_again_does_so_once_and_says_it(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "effect"
    done = run_calls(die_or_again, executor=client, calls=[("die_or_again", {"path": str(path)})])
    assert (done.calls[0].status, done.calls[0].result) == ("succeeded", "twice")
    assert len([entry for entry in done.journal if isinstance(entry.event, Started)]) == 2
    again, where = notes_of(done)
    assert again.startswith("ran again: the worker tcp://")
    assert where.startswith("ran on tcp://")


@pytest.mark.long
def test_the_last_killed_worker_leaves_no_waiting(scheduler_address: str, tmp_path: Path) -> None:
    path = tmp_path / "effect"
    with worker(scheduler_address):
        done = run_calls(
            die, executor=f"dask:{scheduler_address}", calls=[("die", {"path": str(path)})]
        )
    assert [call.status for call in done.pending] == ["unknown"]
    assert path.read_text() == "ran\n"


def pipes_in(folder: Path, prefix: str = "") -> tuple[str, str]:
    """Return the pipes on which a tool says that it started, and waits for its release."""
    names = str(folder / f"{prefix}started"), str(folder / f"{prefix}release")
    for name in names:
        os.mkfifo(name)
    return names


@pytest.fixture
def pipes(tmp_path: Path) -> tuple[str, str]:
    return pipes_in(tmp_path)


def when_started(pipe: str, then: Callable[[], object]) -> threading.Thread:
    """Do something as soon as a tool says that it started."""

    def watch() -> None:
        opened(pipe)
        then()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


@pytest.mark.long
def test_a_scheduler_that_dies_leaves_the_outcome_unknown_and_takes_no_calls(
    tmp_path: Path, pipes: tuple[str, str]
) -> None:
    started, release = pipes
    with scheduler(tmp_path) as (process_, address), worker(address), Client(address) as opened:
        thread = when_started(started, process_.kill)
        calls: Any = [("wait", {"started": started, "release": release}), PROCESS]
        done = run_calls(wait, process, executor=opened, calls=calls)
        (call,) = done.pending
        assert call.status == "unknown"
        assert "its scheduler is lost" in call.unknown_reason
        done.decide(call, "answer", result="late").run()
        thread.join()
    assert done.calls[1].error.startswith("not run: the executor is broken (its Dask client is")


class Submitting(Executor):
    """An executor of which something happens as soon as a call is submitted."""

    def __init__(self, executor: Executor, happens: Callable[[], object]) -> None:
        self.executor, self.happens = executor, happens

    def submit(self, function: Any, /, *args: Any, **named: Any) -> Future[Any]:
        future = self.executor.submit(function, *args, **named)
        self.happens()
        return future


@pytest.mark.long
def test_a_call_that_had_not_begun_when_the_last_worker_was_lost_does_not_run(
    scheduler_address: str, pipes: tuple[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "effect"
    with (
        Client(scheduler_address, set_as_default=False) as client,
        worker(scheduler_address) as (only, _),
    ):
        executor = executor_named(client, "executor")
        run_calls(process, executor=executor, calls=[PROCESS])
        busy = client.submit(_wait, *pipes, pure=False)
        opened(pipes[0])
        (call,) = run_calls(
            die, executor=Submitting(executor, only.kill), calls=[("die", {"path": str(path)})]
        ).calls
        assert call.error == (
            "not run: all workers of the cluster are lost; give the call to a cluster that has some"
        )
        busy.cancel()
    assert not path.exists()


@pytest.mark.long
def test_a_worker_that_is_retired_in_the_middle_of_a_call_does_not_let_it_run_twice(
    scheduler_address: str, pipes: tuple[str, str]
) -> None:
    started, release = pipes
    starts = list[str]()

    def retire() -> None:
        starts.extend(at for at, calls in connected.processing().items() if calls)
        connected.retire_workers(starts)
        opened(release, "w")

    with (
        Client(scheduler_address, set_as_default=False) as connected,
        worker(scheduler_address),
        worker(scheduler_address),
    ):
        thread = when_started(started, retire)
        calls = [("wait", {"started": started, "release": release})]
        done = run_calls(wait, executor=connected, calls=calls)
        thread.join()
    assert len(starts) == 1
    assert [call.status for call in done.calls] in (["unknown"], ["succeeded"])


@pytest.mark.long
def test_an_address_is_connected_to_again_after_its_scheduler_died(tmp_path: Path) -> None:
    with scheduler(tmp_path) as (process_, address):
        with worker(address):
            (call,) = run_calls(process, executor=f"dask:{address}", calls=[PROCESS]).calls
            assert call.status == "succeeded"
        process_.kill()
    with scheduler(tmp_path, int(address.rpartition(":")[2])), worker(address):
        (call,) = run_calls(process, executor=f"dask:{address}", calls=[PROCESS]).calls
        assert call.status == "succeeded"


# -- interrupts -----------------------------------------------------------------------------------


def opened(path: str, mode: str = "r") -> None:
    with open(path, mode):
        pass


def test_an_interrupt_cancels_a_call_without_a_worker(client: Client, tmp_path: Path) -> None:
    pipes = [pipes_in(tmp_path, str(n)) for n in range(2)]
    # A worker that an earlier test has killed may not be back yet.
    client.restart(timeout=60)
    client.wait_for_workers(2, timeout=60)
    # Each on a worker of its own: on one, the second would wait for the first for ever.
    busy = [
        client.submit(_wait, *pair, pure=False, workers=[address])
        for pair, address in zip(pipes, client.scheduler_info()["workers"], strict=True)
    ]
    for started, _ in pipes:
        opened(started)
    path = tmp_path / "effect"
    executor = Submitting(
        executor_named(client, "executor"), lambda: signal.raise_signal(signal.SIGINT)
    )
    asked = ask_calls(die, calls=[("die", {"path": str(path)})], executor=executor)
    interrupted(asked)
    assert [call.outcome for call in asked.calls] == [Interrupted(ran=False)]
    for _, release in pipes:
        opened(release, "w")
    assert client.gather(busy) == ["late", "late"]
    assert client.submit(os.getpid, pure=False).result()
    assert not path.exists()


def test_an_interrupt_leaves_a_call_that_runs_unknown_and_its_late_result_unrecorded(
    client: Client, pipes: tuple[str, str]
) -> None:
    started, release = pipes
    thread = when_started(started, lambda: os.kill(os.getpid(), signal.SIGINT))
    calls = [("wait", {"started": started, "release": release})]
    asked = ask_calls(wait, calls=calls, executor=client)
    interrupted(asked)
    thread.join()
    (call,) = asked.pending
    assert call.status == "unknown"
    assert call.unknown_reason.startswith("you stopped waiting for it, and it may still run on tcp")
    with open(release, "w"):
        asked.decide(call, "answer", result="mine").run()
    assert run_calls(process, executor=client, calls=[PROCESS]).calls[0].result
    assert [call.result for call in asked.calls] == ["mine"]
    assert len([entry for entry in asked.journal if isinstance(entry.event, Finished)]) == 1


# -- ipyparallel ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def engines() -> Iterator[Any]:
    ipyparallel = pytest.importorskip("ipyparallel")
    with ipyparallel.Cluster(n=2, log_level=40) as opened:
        yield opened


@pytest.mark.parametrize("kind", ["client", "executor", "view"])
def test_engines_of_ipyparallel_are_given_by_client_or_executor(engines: Any, kind: str) -> None:
    executor = {
        "client": lambda: engines,
        "executor": engines.executor,
        "view": lambda: engines.load_balanced_view().executor,
    }[kind]()
    done = run_calls(process, executor=executor, calls=[PROCESS] * 2)
    assert {call.result for call in done.calls} <= set(engines[:].apply_sync(os.getpid))
    assert all(note.endswith("(ipyparallel)") for note in notes_of(done))


def test_a_killed_engine_leaves_one_effect_of_unknown_end(engines: Any, tmp_path: Path) -> None:
    path = tmp_path / "effect"
    (call,) = run_calls(die, executor=engines, calls=[("die", {"path": str(path)})]).pending
    assert call.status == "unknown"
    assert "lost the call: RemoteError: [Engine Exception] EngineError" in call.unknown_reason
    assert path.read_text() == "ran\n"


# -- workers that are killed at any moment ---------------------------------------------------------


FORKING = """
import asyncio, os, sys
import jupyter_toolcall.tools.dask_executor
from distributed import Worker

async def live():
    async with Worker(sys.argv[1], nthreads=1, dashboard=False) as worker:
        await worker.finished()

alive = 0
while True:
    while alive < 3:
        alive += 1
        if os.fork() == 0:
            asyncio.run(live())
            os._exit(0)
    os.wait()
    alive -= 1
"""
"""Starts workers of a scheduler, and another one for each that dies. A fork has all modules."""


@contextmanager
def forked_workers(address: str) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-c", FORKING, address],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
    )
    with process:
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.long
def test_of_200_killed_workers_none_has_an_effect_twice_or_loses_a_result(tmp_path: Path) -> None:
    with (
        scheduler(tmp_path) as (_, address),
        forked_workers(address),
        Client(address, set_as_default=False) as client,
    ):
        # A call that no worker takes is failed.
        ends = {"succeeded", "rejected", "failed"}
        assert_nothing_runs_twice_or_is_lost(tmp_path, client, 260, 5e-3, ends)
