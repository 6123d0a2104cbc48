"""Large results of read-only tools that stay on a Dask cluster until they are needed."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from distributed import Client, LocalCluster
from IPython.core.interactiveshell import InteractiveShell

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import Absent, Lost
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.schemes.messages import Reply, Request
from jupyter_toolcall.tools.dask_executor import DaskExecutor
from jupyter_toolcall.view.contract import Displayed, Refused
from jupyter_toolcall.view.contract_rows import ObjectRow
from tests.engine.killed_workers import KILLED
from tests.example_tools import panel_of, run_calls

pytestmark = KILLED
STAY, ROWS = 10_000, 5_000
"""The bytes from which a result stays, and the rows of a table that is larger."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as opened:
        yield opened


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster, set_as_default=False) as opened:
        # A test before may have killed some. One that is killed while it starts is not started
        # again by its nanny before the cluster gives it up, after 15 seconds: others replace it.
        with suppress(TimeoutError):
            opened.wait_for_workers(2, timeout=4)
        if len(opened.scheduler_info()["workers"]) < 2:
            cluster.scale(0)
        cluster.scale(2)
        opened.wait_for_workers(2, timeout=30)
        yield opened


@tool(executor=True, read_only=True)
def numbers(rows: int) -> pd.DataFrame:
    """Return a table of numbers."""
    return pd.DataFrame({"n": range(rows)})


@tool(executor=True, read_only=True)
def doubled(table: pd.DataFrame) -> pd.DataFrame:
    return table * 2


@tool(executor=True, read_only=True)
def total(table: pd.DataFrame) -> int:
    return int(table["n"].sum())


@tool(executor=True, read_only=True)
def same(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table itself."""
    return table


@tool(executor=True)
def changed(table: pd.DataFrame) -> None:
    """Change the first number of the table."""
    table.loc[0, "n"] = 100


@tool
def total_here(table: pd.DataFrame) -> int:
    """Add all numbers, in the kernel."""
    return int(table["n"].sum())


@tool(executor=True)
def written(rows: int) -> pd.DataFrame:
    """Return a table of numbers; nothing says that the tool is read-only."""
    return pd.DataFrame({"n": range(rows)})


@tool(executor=True, read_only=True)
def numbers_once(path: str) -> pd.DataFrame:
    """Return a table of numbers, as long as there is a file."""
    return pd.DataFrame({"n": [int(Path(path).read_text())] * ROWS})


@tool(executor=True, read_only=True)
def numbers_slowly(folder: str) -> pd.DataFrame:
    """Return a table of numbers; all but the first time, say that it started and wait."""
    with open(f"{folder}/runs", "a+") as file:
        file.write(".")
        file.seek(0)
        is_first = file.read() == "."
    # A pipe opens as soon as somebody has opened its other end.
    for name, mode in () if is_first else (("started", "w"), ("release", "r")):
        with open(f"{folder}/{name}", mode):
            pass
    return pd.DataFrame({"n": range(ROWS)})


TOOLS = (
    *(numbers, doubled, total, same, changed, total_here, written, numbers_once),
    numbers_slowly,
)
UNCOMPARED = "not compared: on the cluster"
CHAIN: list[Any] = [
    ("numbers", {"rows": ROWS}),
    ("doubled", {"table": "DataFrame#1"}),
    ("total", {"table": "DataFrame#2"}),
]


def session(client: Client, calls: list[Any], stay: float = STAY, **options: Any) -> Session:
    """Return a session in which these calls ran, each one in a turn of its own."""
    return run_calls(*TOOLS, calls=calls, executor=DaskExecutor(client, stay=stay), **options)


def held(client: Client) -> list[str]:
    """Return the workers that hold results, one for each result."""
    return [
        holder
        for key, holders in client.who_has().items()
        if key in client.futures and str(key).startswith("result-")
        for holder in holders
    ]


def digests(done: Session) -> list[tuple[str, str]]:
    return [(made.digest, made.content) for made in done.state.objects.values()]


def note(done: Session, name: str) -> str:
    return done.cursor.context.values.note(done.state.objects[name])


def on_cluster(done: Session, name: str) -> Any:
    """Return the value of an object as it is on its cluster; None where it is in the kernel."""
    return done.cursor.context.values.remote(done.state.objects[name])


DOUBLED = pd.DataFrame({"n": range(ROWS)}) * 2


def lose(client: Client) -> None:
    """Kill the workers that hold results."""
    for pid in client.run(os.getpid, workers=[*set(held(client))]).values():
        os.kill(pid, signal.SIGKILL)


def test_large_read_only_results_stay_and_the_next_call_takes_them_there(client: Client) -> None:
    done = session(client, CHAIN)
    assert [call.error for call in done.calls] == [""] * 3
    assert done.calls[2].result == ROWS * (ROWS - 1)
    assert len(held(client)) == 2
    before = len(done.journal)
    assert len(done.replay().run().journal) == before
    assert len(held(client)) == 2


def test_a_value_that_is_looked_at_comes_home(client: Client) -> None:
    done = session(client, CHAIN)
    pd.testing.assert_frame_equal(done.value("DataFrame#2"), DOUBLED)
    lose(client)
    pd.testing.assert_frame_equal(done.value("DataFrame#2"), DOUBLED)
    assert note(done, "DataFrame#2") == ""


def test_digests_and_events_are_those_of_results_that_come_home(client: Client) -> None:
    names = ("same", "DataFrame#1"), ("changed", "DataFrame#2"), ("total_here", "DataFrame#1")
    calls = [*CHAIN, *((name, {"table": table}) for name, table in names)]
    calls.append(("written", {"rows": ROWS}))
    remote, at_home = session(client, calls), session(client, calls, stay=float("inf"))
    assert [call.error for call in remote.calls] == [""] * 7
    # What a tool in the kernel took is here, and so is what no read-only tool made.
    stays = [on_cluster(remote, name) is not None for name in remote.objects]
    assert stays == [False, True, False, False]
    assert digests(remote) == digests(at_home)
    assert [e.event for e in remote.journal] == [e.event for e in at_home.journal]
    assert remote.value("DataFrame#3").loc[0, "n"] == 100
    assert remote.value("DataFrame#2").loc[0, "n"] == 0


def test_calls_that_run_together_leave_their_results_too(client: Client) -> None:
    sizes = [ROWS, ROWS + 1, 3]
    done = session(client, [[("numbers", {"rows": rows}) for rows in sizes]], jobs=3)
    # What is small comes home.
    assert len(held(client)) == 2
    assert [len(done.value(name)) for name in done.objects] == sizes


def test_a_value_whose_worker_is_lost_is_computed_again_and_says_so(client: Client) -> None:
    done = session(client, CHAIN)
    before, entries = digests(done), len(done.journal)
    lose(client)
    pd.testing.assert_frame_equal(done.value("DataFrame#2"), DOUBLED)
    assert note(done, "DataFrame#2") == "computed again: its worker was lost"
    assert (digests(done), len(done.journal)) == (before, entries)


def lost(client: Client, folder: Path, *calls: Any) -> Session:
    """Return a session whose only object is lost, and cannot be computed again."""
    path = folder / "number"
    path.write_text("7")
    done = session(client, [("numbers_once", {"path": str(path)}), "There it is.", *calls])
    lose(client)
    path.write_text("8")
    return done


def test_calls_that_take_a_lost_value_do_not_run_others_do(client: Client, tmp_path: Path) -> None:
    table = {"table": "DataFrame#1"}
    again = ("numbers_once", {"path": str(tmp_path / "number")})
    calls = ("total_here", table), ("total", table), again, ("total", {"table": "DataFrame#2"})
    done = lost(client, tmp_path, *calls).tell("Add them.")
    statuses = ["succeeded", "failed", "failed", "succeeded", "succeeded"]
    assert [call.status for call in done.calls] == statuses
    text = "not run: the DataFrame that call_1 made is lost with its worker, and numbers_once"
    assert all(call.error.startswith(text) for call in done.calls[1:3])
    assert done.calls[4].result == 8 * ROWS


def test_a_replay_computes_a_lost_value_that_changed(client: Client, tmp_path: Path) -> None:
    done = lost(client, tmp_path)
    with pytest.raises(Lost, match=r"lost with its worker, and numbers_once cannot make it again"):
        done.value("DataFrame#1")
    again = done.replay().run()
    assert list(again.value("DataFrame#1")["n"]) == [8] * ROWS


# -- what looks at it ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shell() -> Iterator[InteractiveShell]:
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def run_cells(shell: InteractiveShell, client: Client, call: Any, *cells: str, **more: Any) -> None:
    """Run a cell in which a tool makes the output `table`, and then others."""
    model = Scripted([call, ("save", {"table": "DataFrame#1"}), "Done."])
    executor = DaskExecutor(client, stay=STAY)
    variables = {"model": model, "pool": executor, call[0]: globals()[call[0]]}
    shell.user_ns.update({**variables, **more})
    shell.run_line_magic("load_ext", "jupyter_toolcall")
    options = f"-m model -t {call[0]} -o table:DataFrame --scheme flat --executor pool"
    for cell in (f"%%toolchat {options} --approve all\nGo.", *cells):
        shell.run_cell(cell).raise_error()


def test_an_output_that_stays_is_a_variable(client: Client, shell: InteractiveShell) -> None:
    run_cells(shell, client, ("numbers", {"rows": ROWS}), "added = int(table['n'].sum())")
    assert shell.user_ns["added"] == ROWS * (ROWS - 1) // 2


def test_a_cell_says_which_output_is_lost(
    client: Client, shell: InteractiveShell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "number"
    path.write_text("7")
    call = "numbers_once", {"path": str(path)}
    scripted = Scripted([call, ("save", {"table": "DataFrame#1"}), "Done."])

    def model(request: Request) -> Reply | None:
        if held(client):
            path.write_text("8")
            lose(client)
        return scripted(request)

    shell.user_ns.pop("table", None)
    run_cells(shell, client, call, model=model)
    assert "table" not in shell.user_ns
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "is lost" in line]
    assert line.startswith(
        "toolchat: the variable table is not set: the DataFrame that call_1 made is lost with its "
    )


def row(controller: PanelController, name: str) -> ObjectRow:
    return next(row for row in controller.whole().objects if row.name == name)


def open_card(controller: PanelController, name: str) -> None:
    """Ask for an object as large as may be, as a click on its picture does."""
    controller.receive({"type": "show_object", "object": row(controller, name).id})
    asyncio.run(controller.resume())


def test_the_panel_shows_a_value_that_stays_and_fetches_it_to_show_it_large(client: Client) -> None:
    done = session(client, CHAIN)
    controller, sent = panel_of(done)
    assert row(controller, "DataFrame#2").preview.caption == "5000 × 1"
    assert on_cluster(done, "DataFrame#2")
    assert [call.change for call in controller.whole().calls] == ["", UNCOMPARED, ""]
    for name in ("DataFrame#1", "DataFrame#2"):
        open_card(controller, name)
    assert controller.whole().calls[1].change.startswith("n: 4,999 cells changed")
    assert isinstance(sent[-1], Displayed)
    assert sent[-1].preview.caption == "5000 × 1"
    assert on_cluster(done, "DataFrame#2") is None


def test_the_panel_computes_a_lost_value_again_only_to_show_it_large(client: Client) -> None:
    done = session(client, CHAIN)
    lose(client)
    controller, sent = panel_of(done)
    drawn = row(controller, "DataFrame#2")
    assert (drawn.preview.text, drawn.note) == ("its value is not in this kernel", "on the cluster")
    assert on_cluster(done, "DataFrame#2")
    open_card(controller, "DataFrame#2")
    assert isinstance(sent[-1], Displayed)
    drawn = row(controller, "DataFrame#2")
    assert drawn.preview.caption == "5000 × 1"
    assert drawn.note == "computed again: its worker was lost"


def test_the_panel_says_in_one_line_that_a_value_is_lost(client: Client, tmp_path: Path) -> None:
    done = lost(client, tmp_path, "Yes.")
    controller, sent = panel_of(done)
    for _ in range(2):
        open_card(controller, "DataFrame#1")
        assert isinstance(sent[-1], Refused)
        text = "the value of that object is not in this kernel; a replay makes it"
        assert sent[-1].reason == text
    drawn = row(controller, "DataFrame#1")
    assert drawn.preview.text == "its value is not in this kernel"
    assert drawn.note == "lost with its worker; a replay runs its call again"
    assert str(done.tell("Still there?")) == "Yes."


# -- clusters by their names -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["address", "local"])
def test_results_stay_on_clusters_that_are_named(client: Client, kind: str) -> None:
    assert client.scheduler
    name = "dask" if kind == "local" else f"dask:{client.scheduler.address}"
    calls: list[Any] = [("numbers", {"rows": 1_300_000}), *CHAIN[1:]]
    done = run_calls(*TOOLS, calls=calls, executor=name)
    remote = on_cluster(done, "DataFrame#2")
    assert done.calls[2].result == 1_300_000 * 1_299_999
    (holder,) = remote.client.who_has([remote.future])[remote.key]
    os.kill(remote.client.run(os.getpid, workers=[holder])[holder], signal.SIGKILL)
    assert len(done.value("DataFrame#2")) == 1_300_000


# -- interrupts ------------------------------------------------------------------------------------


@contextmanager
def opening(folder: Path, *names: str, then: Callable[[], object] = int) -> Iterator[None]:
    """Open these pipes beside, each as soon as `numbers_slowly` has its other end, and then act."""

    def watch() -> None:
        for name in names:
            with open(folder / name, "r" if name == "started" else "w"):
                pass
        then()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    yield
    thread.join()


def interrupting(folder: Path) -> Any:
    """Interrupt the kernel as soon as `numbers_slowly` says that it started."""
    return opening(folder, "started", then=lambda: os.kill(os.getpid(), signal.SIGINT))


def releasing(folder: Path) -> Any:
    """Let each run of `numbers_slowly` end that waits, or that follows."""
    return opening(folder, "release", "started", "release")


@pytest.fixture
def slow(client: Client, tmp_path: Path) -> Session:
    """Return a session whose only object is lost, and is computed again slowly."""
    for name in ("started", "release"):
        os.mkfifo(tmp_path / name)
    table = {"table": "DataFrame#1"}
    calls = [("numbers_slowly", {"folder": str(tmp_path)}), "Made.", ("total_here", table)]
    done = session(client, [*calls, ("total_here", table)])
    lose(client)
    return done


def test_an_interrupted_second_computation_changes_nothing(slow: Session, tmp_path: Path) -> None:
    entries = len(slow.journal)
    with interrupting(tmp_path), pytest.raises(KeyboardInterrupt):
        slow.value("DataFrame#1")
    assert (len(slow.journal), on_cluster(slow, "DataFrame#1").lost) == (entries, "")
    with releasing(tmp_path):
        assert len(slow.value("DataFrame#1")) == ROWS


def test_a_call_that_waits_for_a_lost_value_is_interrupted(slow: Session, tmp_path: Path) -> None:
    asked = slow.ask("Add them.")
    with interrupting(tmp_path), pytest.raises(KeyboardInterrupt):
        asked.run()
    assert [call.status for call in asked.calls] == ["succeeded", "interrupted"]
    with releasing(tmp_path):
        done = asked.run()
    assert done.calls[2].result == ROWS * (ROWS - 1) // 2


def test_the_panel_says_that_recomputing_was_interrupted(slow: Session, tmp_path: Path) -> None:
    controller, sent = panel_of(slow)
    with interrupting(tmp_path):
        open_card(controller, "DataFrame#1")
    assert isinstance(sent[-1], Refused)
    assert sent[-1].reason == "Interrupted"
    with open(tmp_path / "release", "w"):
        pass


# -- what is left of it ----------------------------------------------------------------------------


def test_in_a_new_kernel_a_replay_runs_read_only_calls(client: Client, tmp_path: Path) -> None:
    done = session(client, CHAIN)
    done.save(tmp_path / "s.jsonl")
    executor = DaskExecutor(client, stay=STAY)
    loaded = Session.load(tmp_path / "s.jsonl", Toolbox(*TOOLS), executor=executor)
    text = r"^the DataFrame that call_2 made is not in this kernel; session\.replay\(\)\.run\(\)"
    with pytest.raises(Absent, match=text):
        loaded.value("DataFrame#2")
    replayed = loaded.replay().run()
    runs = [entry for entry in replayed.journal.path(replayed.head) if entry.meta.get("notes")]
    assert [entry.meta["notes"][0].partition(" tcp://")[0] for entry in runs] == ["ran on"] * 3
    pd.testing.assert_frame_equal(replayed.value("DataFrame#2"), done.value("DataFrame#2"))
    assert digests(replayed) == digests(done)


def test_a_value_behind_a_closed_client_is_named_with_what_to_do(cluster: LocalCluster) -> None:
    with Client(cluster, set_as_default=False) as other:
        done = session(other, [CHAIN[0], "There it is.", ("total", {"table": "DataFrame#1"})])
    reason = (
        "the DataFrame that call_1 made is lost with its worker, and numbers cannot make it "
        "again (not run: the executor is broken (its Dask client is closed, or has lost its "
        "scheduler); give the session a new one with executor=)"
    )
    with pytest.raises(Lost, match=f"^{re.escape(reason)}$"):
        done.value("DataFrame#1")
    assert done.tell("Add them.").calls[1].error == f"not run: {reason}"
