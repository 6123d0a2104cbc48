"""Runs of tasks in schemes and models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import asdict
from itertools import product
from typing import Any

import msgspec

from ..core.errors import UsageError
from ..core.text import progress_bar
from ..maps.workers import demand_pickles
from ..models.named import model_named
from ..schemes import scheme_named
from ..schemes.messages import Model
from ..schemes.scheme import Scheme
from ..tools.executors import executor_named
from .results_folder import ResultsFolder
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
    if jobs is not None and jobs < 1:
        raise UsageError(f"jobs={jobs}: how many runs are under way at once, at least 1")
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
        for attempt in planned:
            recorded = results.runs.get(results.key(attempt)) if results is not None else None
            if recorded is None:
                due.append(attempt)
                continue
            progress.update()
            yield msgspec.convert(recorded, Run)

        def keep(attempt: PlannedRun, run: Run) -> Run:
            if results is not None and not run.lost:
                results.add(results.key(attempt), asdict(run))
            progress.update()
            return run

        yield from _new_runs(due, jobs, executor, keep)


def _new_runs(
    due: Sequence[PlannedRun],
    jobs: int | None,
    executor: Executor | None,
    keep: Callable[[PlannedRun, Run], Run],
) -> Iterator[Run]:
    """Yield runs; each is kept when it ends."""
    if executor is not None:
        for attempt, run in runs_on_workers(executor, due, jobs):
            yield keep(attempt, run)
    elif jobs is None or jobs == 1:
        for attempt in due:
            yield keep(attempt, run_planned(attempt))
    else:
        yield from runs_together(due, jobs, keep)


def _check_models(tasks: Sequence[Task], schemes: Schemes, models: Models, approve: str) -> None:
    """Raise UsageError for what cannot run, and for what would run unasked."""
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
