"""Runs of tasks in schemes and models, and the folder in which they are kept.

A run is known by its task, scheme, model and attempt, and by what these were: where a task is
changed, its runs are run again.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from ..core.digests import digest
from ..core.errors import UsageError
from ..core.interrupts import attempt
from ..core.text import progress_bar
from ..engine.opening import checked_count
from ..maps.workers import demand_pickles
from ..models.named import model_named
from ..schemes import scheme_named
from ..schemes.messages import Model, server_digest
from ..schemes.scheme import Scheme
from ..storage.file_system import DISK
from ..tools.executors import executor_named
from ..tools.value_digests import content_digest
from .task_runs import (
    IDEAL,
    PlannedRun,
    Run,
    is_in_this_process,
    label,
    once_executor,
    run_planned,
    runs_on_workers,
    runs_together,
)
from .tasks import Task

Schemes = Sequence[str | Scheme]
Models = Sequence[str | Model]
SCHEMES = ("select", "current", "flat", "native")
"""`native` is `native(flat)`: every tool stands in the text."""
OFFLINE = ("scripted:", "recorded:")
MAX_TURNS = 50
REMEDY = "name a file of tasks, and schemes and models by their names"


def compare(
    tasks: Sequence[Task],
    schemes: Schemes = SCHEMES,
    models: Models = (IDEAL,),
    *,
    attempts: int = 1,
    approve: str = "",
    max_turns: int = MAX_TURNS,
    jobs: int | None = None,
    executor: Executor | str | None = None,
    results: ResultsFolder | None = None,
) -> Iterator[Run]:
    """Run each task in each scheme and model, and yield each run.

    Args:
        tasks: What is to be done, each a `Task`.
        schemes: The schemes, as for `Session`.
        models: The models, as for `Session`; "ideal" follows each task's plan.
        attempts: How often each task is run.
        approve: "all" or "read-only". It may be left out where no model is a provider's.
        max_turns: The most replies of a run.
        jobs: How many runs execute at the same time: their requests overlap, their tools run one
            after the other.
        executor: Where whole runs execute.
        results: A folder of runs; those that are in it are not run again.

    Raises:
        UsageError: An argument is wrong. After the first run, each error is in its run.
    """
    _check_models(tasks, schemes, models, approve)
    counts = {"attempts": attempts, "max_turns": max_turns, "jobs": 1 if jobs is None else jobs}
    for option, count in counts.items():
        checked_count(count, option)
    every = product(schemes, models, tasks, range(1, attempts + 1))
    planned = [PlannedRun(*parts, approve or "all", max_turns) for parts in every]
    if not planned:
        raise UsageError("there is nothing to run: give a task, a scheme, a model, an attempt")
    chosen = None if executor is None else executor_named(executor, "executor")
    chosen = chosen and once_executor(chosen)
    if chosen is not None and is_in_this_process(chosen):
        chosen, jobs = None, jobs or 2 * getattr(chosen, "_max_workers", 2)
    if chosen is not None:
        parts: dict[str, Any] = {f"the scheme {label(scheme)}": scheme for scheme in schemes}
        parts |= {f"the model {label(model)}": model for model in models}
        parts |= {f"task {task.name!r}": task for task in tasks}
        demand_pickles(parts, lambda name: REMEDY)
    # What is wrong is said here, before the first run is asked for.
    return _runs(planned, jobs, chosen, results)


def _runs(
    planned: Sequence[PlannedRun],
    jobs: int | None,
    executor: Executor | None,
    results: ResultsFolder | None,
) -> Iterator[Run]:
    """Yield the runs that are recorded, and then the others as they end."""
    with progress_bar(len(planned), "eval", "run", leave=False) as progress:
        due = []
        for planned_run in planned:
            recorded = results.runs.get(results.key(planned_run)) if results is not None else None
            if recorded is None:
                due.append(planned_run)
                continue
            progress.update()
            yield msgspec.convert(recorded, Run)

        def keep(planned_run: PlannedRun, run: Run) -> Run:
            if results is not None and not run.lost:
                results.add(results.key(planned_run), asdict(run))
            progress.update()
            return run

        if executor is not None:
            for planned_run, run in runs_on_workers(executor, due, jobs):
                yield keep(planned_run, run)
        elif jobs is None or jobs == 1:
            for planned_run in due:
                yield keep(planned_run, run_planned(planned_run))
        else:
            yield from runs_together(due, jobs, keep)


def _check_models(tasks: Sequence[Any], schemes: Schemes, models: Models, approve: str) -> None:
    """Raise UsageError for what cannot run, and for what would run unasked."""
    for option, listed in (("tasks", tasks), ("schemes", schemes), ("models", models)):
        if isinstance(listed, str) or not isinstance(listed, Sequence):
            raise UsageError(f"{option}: {listed!r:.60} is no list")
    if wrong := [task for task in tasks if not isinstance(task, Task)]:
        raise UsageError(f"tasks: {wrong[0]!r:.60} is no Task(...)")
    for model in [model for model in models if model != IDEAL]:
        name = label(model)
        # A model that is a function of the caller's is taken for offline.
        offline = name.startswith(OFFLINE) or (not isinstance(model, str) and ":" not in name)
        if not offline and not approve:
            raise UsageError(
                f"what {name} asks for would run without waiting for you: say --approve all to "
                "allow that, or --approve read-only"
            )
        model_named(model)
    if approve not in ("", "all", "read-only"):
        raise UsageError(f"approve={approve!r}: nobody is there to ask; give all or read-only")
    names = [scheme_named(scheme).name for scheme in schemes]
    for name in names if IDEAL in models else ():
        if name.startswith("native(") and name != "native(flat)":
            raise UsageError(f"the model {IDEAL} cannot speak {name}; give native, or other models")
    for task in tasks if IDEAL in models else ():
        if not task.plan:
            raise UsageError(
                f"task {task.name!r} has no plan, and the model {IDEAL} goes by it: give "
                "plan=[...], or other models"
            )


# -- the folder of an evaluation: a later one continues from there ------------------------------

RUNS = "runs.jsonl"
TABLE = "table.txt"
PLOT = "plot.svg"


@dataclass
class ResultsFolder:
    """The runs of a folder, by key."""

    path: Path
    runs: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    digests: dict[int, str] = field(default_factory=dict)
    """Of tasks, and of models with the addresses of their servers, by `id`."""

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[ResultsFolder]:
        """Open a folder, which this process alone writes; it is created where there is none.

        Raises UsageError for a file, and where another process writes it.
        """
        if path.is_file():
            raise UsageError(f"{path} is a file; results are kept in a folder")
        path.mkdir(parents=True, exist_ok=True)
        release = DISK.lock(path / RUNS)
        if release is None:
            raise UsageError(f"{path}: another evaluation writes its results there")
        try:
            yield cls(path, dict(_read(path / RUNS)))
        finally:
            release()

    def key(self, planned: PlannedRun) -> str:
        """Return the key of a run, in which is all that it depends on."""
        task, model = planned.task, planned.model
        # A digest reads the inputs of a task, so each task gets one.
        if id(task) not in self.digests:
            self.digests[id(task)] = task_digest(task)
        if id(model) not in self.digests:
            server = "" if model == IDEAL else server_digest(model_named(model))
            self.digests[id(model)] = label(model) + server
        parts = label(planned.scheme), self.digests[id(model)], planned.attempt
        settings = planned.approve, str(planned.max_turns)
        return digest("run", self.digests[id(task)], *parts, *settings)[:20]

    def add(self, key: str, run: Mapping[str, object]) -> None:
        """Keep a run; it is on disk when this returns."""
        self.runs[key] = run
        with (self.path / RUNS).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "run": run}) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def write(self, table: str, plot: str) -> None:
        """Write the table and the plot of all that was run."""
        (self.path / TABLE).write_text(f"{table}\n", encoding="utf-8")
        (self.path / PLOT).write_text(plot, encoding="utf-8")


def _read(path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the runs of a file; a partly written line, which a kill leaves, is cut off."""
    if not path.exists():
        return
    data, whole = path.read_bytes(), 0
    for line in data.splitlines(keepends=True):
        try:
            kept = json.loads(line)
            key, run = str(kept["key"]), kept["run"]
        except (ValueError, KeyError, TypeError):
            break
        if not line.endswith(b"\n"):
            break
        whole += len(line)
        yield key, run
    if whole < len(data):
        os.truncate(path, whole)


def task_digest(task: Task) -> str:
    """Return the digest of a task: of its texts, tools, inputs, outputs, plan and check."""
    tools = [tool.definition() for tool in task.toolbox]
    inputs = {name: attempt(content_digest, value)[0] or "" for name, value in task.inputs.items()}
    outputs = {name: str(value) for name, value in task.outputs.items()}
    check = attempt(inspect.getsource, task.check)[0] or "" if task.check is not None else ""
    texts = task.name, task.prompt, task.system, repr(tuple(task.plan)), check
    return digest("task", *texts, tools, inputs, outputs)
