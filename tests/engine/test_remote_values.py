"""Large results of read-only tools that stay on a Dask cluster until they are needed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from distributed import Client, LocalCluster

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import Absent
from jupyter_toolcall.tools.dask_executor import DaskExecutor

pytestmark = pytest.mark.filterwarnings(
    # Of sockets and loops of distributed, where its processes are killed.
    "ignore::ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)
STAY, ROWS = 10_000, 5_000
"""The bytes from which a result stays, and the rows of a table that is larger."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as opened:
        yield opened


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster, set_as_default=False) as opened:
        yield opened


@tool(executor=True, read_only=True)
def numbers(rows: int) -> pd.DataFrame:
    """Return a table of numbers."""
    return pd.DataFrame({"n": range(rows)})


@tool(executor=True, read_only=True)
def doubled(table: pd.DataFrame) -> pd.DataFrame:
    """Double all numbers."""
    return table * 2


@tool(executor=True, read_only=True)
def total(table: pd.DataFrame) -> int:
    """Add all numbers."""
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


TOOLS = numbers, doubled, total, same, changed, total_here, written, numbers_once
CHAIN: list[Any] = [
    ("numbers", {"rows": ROWS}),
    ("doubled", {"table": "DataFrame#1"}),
    ("total", {"table": "DataFrame#2"}),
]


def session(client: Client, calls: list[Any], stay: float = STAY, **options: Any) -> Session:
    """Return a session in which these calls ran, each one in a turn of its own."""
    model = Scripted([*calls, "Done."])
    executor = DaskExecutor(client, stay=stay)
    return Session(
        Toolbox(*TOOLS), model, scheme="flat", approve="all", executor=executor, **options
    ).tell("Go.")


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


def lose(client: Client) -> None:
    """Kill the workers that hold results."""
    for pid in client.run(os.getpid, workers=[*set(held(client))]).values():
        os.kill(pid, signal.SIGKILL)


def test_large_results_of_read_only_tools_stay_and_the_next_call_takes_them_there(
    client: Client,
) -> None:
    done = session(client, CHAIN)
    assert [call.error for call in done.calls] == [""] * 3
    assert done.calls[2].result == ROWS * (ROWS - 1)
    assert len(held(client)) == 2


def test_a_value_that_is_looked_at_comes_home(client: Client) -> None:
    done = session(client, CHAIN)
    looked_at = done.value("DataFrame#2")
    lose(client)
    pd.testing.assert_frame_equal(done.value("DataFrame#2"), looked_at)
    pd.testing.assert_frame_equal(looked_at, pd.DataFrame({"n": range(ROWS)}) * 2)
    assert note(done, "DataFrame#2") == ""


def test_a_tool_in_the_kernel_gets_the_value(client: Client) -> None:
    done = session(client, [*CHAIN[:1], ("total_here", {"table": "DataFrame#1"})])
    assert done.calls[1].result == ROWS * (ROWS - 1) // 2


def test_digests_and_events_are_those_of_results_that_come_home(client: Client) -> None:
    calls = [*CHAIN, ("same", {"table": "DataFrame#1"}), ("changed", {"table": "DataFrame#2"})]
    remote, at_home = session(client, calls), session(client, calls, stay=float("inf"))
    assert [call.error for call in remote.calls] == [""] * 5
    assert digests(remote) == digests(at_home)
    assert [e.event for e in remote.journal] == [e.event for e in at_home.journal]
    assert remote.value("DataFrame#3").loc[0, "n"] == 100
    assert remote.value("DataFrame#2").loc[0, "n"] == 0


def test_a_replay_of_what_stays_adds_nothing(client: Client) -> None:
    done = session(client, CHAIN)
    before = len(done.journal)
    done.replay().run()
    assert len(done.journal) == before
    assert len(held(client)) == 2


def test_small_results_and_those_of_other_tools_come_home(client: Client) -> None:
    done = session(client, [("numbers", {"rows": 3}), ("written", {"rows": ROWS})])
    assert held(client) == []
    assert len(done.value("DataFrame#2")) == ROWS


def test_calls_that_run_together_leave_their_results_too(client: Client) -> None:
    both = [("numbers", {"rows": ROWS}), ("numbers", {"rows": ROWS + 1})]
    done = session(client, [both], jobs=2)
    assert len(held(client)) == 2
    assert [len(done.value(name)) for name in ("DataFrame#1", "DataFrame#2")] == [ROWS, ROWS + 1]


def test_a_value_whose_worker_is_lost_is_computed_again_and_says_so(client: Client) -> None:
    done = session(client, CHAIN)
    before, entries = digests(done), len(done.journal)
    lose(client)
    pd.testing.assert_frame_equal(done.value("DataFrame#2"), pd.DataFrame({"n": range(ROWS)}) * 2)
    assert note(done, "DataFrame#2") == "computed again: its worker was lost"
    assert (digests(done), len(done.journal)) == (before, entries)


def test_a_lost_value_that_cannot_be_computed_again_is_absent(
    client: Client, tmp_path: Path
) -> None:
    path = tmp_path / "number"
    path.write_text("7")
    done = session(client, [("numbers_once", {"path": str(path)})])
    path.write_text("8")
    lose(client)
    with pytest.raises(Absent, match=r"lost with its worker, and numbers_once cannot make it ag"):
        done.value("DataFrame#1")
