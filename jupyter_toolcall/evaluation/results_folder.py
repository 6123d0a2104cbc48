"""The folder of an evaluation: each run as it ended, so that a later one continues from there.

A run is known by its task, scheme, model and attempt, and by what these were: where a task is
changed, its runs are run again.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.digests import digest
from ..core.errors import UsageError
from ..core.interrupts import attempt
from ..models.named import model_named
from ..schemes.messages import server_digest
from ..storage.file_system import DISK
from ..tools.value_digests import content_digest
from .task_runs import IDEAL, PlannedRun, label
from .tasks import Task

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

    def add(self, key: str, run: Mapping[str, Any]) -> None:
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


def _read(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
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
