"""Runs that overlap, results that are kept and continued, and the plot of them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from distributed import Client, LocalCluster

from jupyter_toolcall import Toolbox, cli
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.core.events import Usage
from jupyter_toolcall.evaluation import Run, Task, compare, tasks_in
from jupyter_toolcall.evaluation.comparison import ResultsFolder
from jupyter_toolcall.evaluation.run_table import plot
from jupyter_toolcall.schemes.messages import Reply, Request
from jupyter_toolcall.tools.executors import executor_named
from tests.evaluation.test_evaluation import add
from tests.standin.openai_api import KEY, MODEL, StandIn
from tests.standin.turns import says

FILE = Path(__file__).parents[1] / "tasks.py"
SCHEMES = ["flat", "select"]
KILLING = """
import os, signal
from pathlib import Path
from jupyter_toolcall import Toolbox
from jupyter_toolcall.evaluation import Task

LOG = Path(__file__).with_name("log")

def add(a: int, b: int) -> int:
    "Add two numbers."
    with LOG.open("a") as log:
        log.write(f"{a}\\n")
    kill = Path(__file__).with_name("kill")
    if kill.exists() and len(LOG.read_text().split()) == 4:
        kill.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return a + b

TASKS = [
    Task(f"sum {n}", f"Add {n} and 2.", Toolbox(add), outputs={"total": int},
         plan=[("add", {"a": n, "b": 2}), ("save", {"total": n + 2})])
    for n in range(6)
]
"""


def sum_task(**changes: Any) -> Task:
    plan = [("add", {"a": 1, "b": 2}), ("save", {"total": 3})]
    task = Task("sum", "Add 1 and 2.", Toolbox(add), outputs={"total": int}, plan=plan)
    return replace(task, **changes)


def untimed(runs: Iterator[Run]) -> list[Run]:
    """Runs without their times, in an order of their own."""
    return sorted((replace(run, seconds=0) for run in runs), key=repr)


def test_runs_that_overlap_come_to_the_same_as_one_after_the_other() -> None:
    tasks = tasks_in(FILE)
    executor_named("processes", "executor").shutdown()
    alone = untimed(compare(tasks, SCHEMES, attempts=2))
    others: list[dict[str, Any]] = [{"jobs": 5}, {"executor": "threads"}, {"executor": "processes"}]
    for options in others:
        assert untimed(compare(tasks, SCHEMES, attempts=2, **options)) == alone


def test_requests_of_runs_overlap() -> None:
    together = threading.Barrier(3, timeout=30)

    def model(request: Request) -> Reply:
        together.wait()
        return Reply("3", usage=Usage(10, 1))

    task = sum_task(outputs={}, plan=(), check=lambda outputs, text: text == "3")
    runs = list(compare([task], ["flat"], [model], attempts=3, jobs=3))
    assert [run.solved for run in runs] == [True] * 3


def test_a_task_that_is_no_file_s_is_refused_for_processes() -> None:
    with pytest.raises(UsageError, match="name a file of tasks"):
        compare([sum_task()], ["flat"], executor="processes")


@pytest.mark.parametrize(
    ("options", "expected"),
    [({"jobs": 0}, "jobs is 0"), ({"executor": "thread"}, "Did you mean threads")],
)
def test_a_wrong_option_is_refused_before_any_run(options: dict[str, Any], expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        compare([sum_task()], ["flat"], **options)


# -- results that are kept -------------------------------------------------------------------


def evaluated(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "import sys; from jupyter_toolcall import cli; cli.main()"]
    words = ["eval", str(path), "--schemes", "flat", "--results", str(path.parent / "results")]
    return subprocess.run([*command, *words, *options], capture_output=True, text=True)


@pytest.mark.parametrize("options", [(), ("--jobs", "2")])
def test_after_a_kill_the_runs_that_had_ended_are_not_run_again(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    path = tmp_path / "killing.py"
    path.write_text(KILLING)
    (tmp_path / "kill").touch()
    assert evaluated(path, *options).returncode == -signal.SIGKILL
    kept = {json.loads(line)["run"]["task"] for line in kept_lines(tmp_path)}
    before = len((tmp_path / "log").read_text().split())
    assert "6/6" in evaluated(path, *options).stdout
    repeated = {f"sum {n}" for n in (tmp_path / "log").read_text().split()[before:]}
    assert repeated == {f"sum {n}" for n in range(6)} - kept
    assert 0 < len(repeated) < 6


def kept_lines(folder: Path) -> list[str]:
    return (folder / "results" / "runs.jsonl").read_text().splitlines()


def test_a_partly_written_line_is_cut_off_and_its_run_repeated(tmp_path: Path) -> None:
    def runs() -> list[Run]:
        with ResultsFolder.opened(tmp_path) as results:
            return list(compare([sum_task()], SCHEMES, results=results))

    first = runs()
    path = tmp_path / "runs.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    again = runs()
    assert again[0] == first[0]
    assert again[1].solved
    assert runs() == again


def test_a_task_that_was_changed_is_run_again(tmp_path: Path) -> None:
    asked = []

    def model(request: Request) -> Reply:
        asked.append(request)
        return Reply("3")

    def solved(task: Task) -> list[Run]:
        with ResultsFolder.opened(tmp_path) as results:
            return list(compare([task], ["flat"], [model], results=results))

    task = sum_task(outputs={}, plan=(), check=lambda outputs, text: text == "3")
    assert solved(task) == solved(task)
    assert len(asked) == 1
    solved(replace(task, prompt="Add 1 and 2, please."))
    assert len(asked) == 2


def test_another_server_makes_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = sum_task(outputs={}, plan=(), check=lambda outputs, text: text == "3")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with StandIn([says("3")]) as first, StandIn([says("3")]) as second:
        for server in (first, first, second, second):
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            with ResultsFolder.opened(tmp_path) as results:
                models = [f"openai:{MODEL}"]
                [run] = compare([task], ["flat"], models, approve="all", results=results)
            assert run.solved
        assert len(first.asked) == len(second.asked) == 1


def test_a_folder_is_written_by_one_evaluation_at_a_time(tmp_path: Path) -> None:
    with (
        ResultsFolder.opened(tmp_path),
        pytest.raises(UsageError, match="another evaluation writes"),
        ResultsFolder.opened(tmp_path),
    ):
        pass


def test_the_folder_has_the_table_and_a_plot_of_each_scheme_and_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["eval", str(FILE), "--schemes", "select,flat", "--results", str(tmp_path)]
    assert cli.main([*words, "--jobs", "3"]) == 0
    printed = capsys.readouterr().out
    assert (tmp_path / "table.txt").read_text() == printed
    assert "cost" in printed
    texts = ["".join(each.itertext()) for each in svg(tmp_path / "plot.svg")]
    for text in ("Solved", "Calls", "Turns", "Input tokens", "Cost", "Time", "100%"):
        assert text in texts
    assert texts.index("select, ideal") < texts.index("flat, ideal")


def svg(path: Path) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(path.read_text()))


def test_a_plot_of_hostile_names_is_well_formed(tmp_path: Path) -> None:
    (run,) = compare([sum_task()], ["flat"])
    path = tmp_path / "plot.svg"
    path.write_text(plot([replace(run, model='<script>"&\x1b]0;'), replace(run, solved=False)]))
    assert {each.tag.rpartition("}")[2] for each in svg(path)} == {"style", "rect", "text"}


def test_a_run_has_its_price_and_its_time() -> None:
    class Claude:
        name = "anthropic:claude-opus-5-5"

        def __call__(self, request: Request) -> Reply:
            return Reply("3", usage=Usage(1_000_000, 1_000_000))

    task = sum_task(outputs={}, plan=(), check=lambda outputs, text: text == "3")
    (run,) = compare([task], ["flat"], [Claude()], approve="all")
    assert run.dollars == 24
    assert run.seconds > 0
    (free,) = compare([sum_task()], ["flat"])
    assert free.dollars is None


@pytest.fixture
def client() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, set_as_default=False) as opened,
    ):
        yield opened


@pytest.mark.filterwarnings(
    # Of sockets and loops of distributed, where its processes are killed.
    "ignore::ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)
@pytest.mark.parametrize(
    ("kind", "reason"), [("dask", "the worker tcp://"), ("processes", "its worker was lost")]
)
def test_a_run_whose_worker_is_killed_starts_once_and_runs_next_time(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, reason: str
) -> None:
    path = tmp_path / "killing.py"
    path.write_text(KILLING)
    (tmp_path / "kill").touch()
    tasks = tasks_in(path)
    executor_named("processes", "executor").shutdown()
    client = request.getfixturevalue("client") if kind == "dask" else None
    options: dict[str, Any] = {"executor": executor_named(client, "executor") if client else kind}
    options["jobs"] = 1
    with ResultsFolder.opened(tmp_path / "results") as results:
        runs = list(compare(tasks, ["flat"], results=results, **options))
        (lost,) = [run for run in runs if not run.solved]
        assert reason in lost.reason
        assert not (tmp_path / "kill").exists()
        assert len((tmp_path / "log").read_text().split()) == 6
        again = list(compare(tasks, ["flat"], results=results, **options))
    assert [run.solved for run in again] == [True] * 6
    assert len((tmp_path / "log").read_text().split()) == 7


def test_an_executor_that_takes_no_runs_is_named_before_anything_runs() -> None:
    with ProcessPoolExecutor(1) as closed:
        pass
    with pytest.raises(UsageError, match=r"^executor: a worker cannot run tasks \(.*shutdown"):
        compare([sum_task()], ["flat"], executor=closed)


def test_results_are_kept_in_a_folder_and_not_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "results").touch()
    (line,) = evaluated(FILE, "--results", str(tmp_path / "results")).stderr.splitlines()
    assert line == f"toolcall: {tmp_path / 'results'} is a file; results are kept in a folder"


def test_runs_of_other_tasks_stay_in_the_folder_and_are_counted(tmp_path: Path) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text(KILLING)
    other.write_text(KILLING.replace("sum {n}", "other {n}").replace("range(6)", "range(2)"))
    evaluated(one)
    ran = evaluated(other)
    assert ran.stderr.splitlines()[-1] == (
        "toolcall: 6 other runs (other tasks, schemes, models or settings) stay there, not in the "
        "table"
    )
    assert len((tmp_path / "results" / "runs.jsonl").read_text().splitlines()) == 8


def test_a_silent_scheduler_is_named_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["eval", str(FILE), "--executor", "dask:tcp://127.0.0.1:9"]
    assert cli.main(words) != 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("toolcall: executor: no Dask scheduler answers at tcp://127.0.0.1:9 (")
