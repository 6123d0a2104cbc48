"""What a task is, and how a file of tasks is read. A tasks file is Python, and is executed."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from ..core.call_record import SAVE
from ..core.errors import ToolcallError, UsageError
from ..tools.object_types import kind_name
from ..tools.toolbox import Toolbox

Step = tuple[str, Mapping[str, Any]]
"""A tool and its arguments, in which `"$Potato"` is the newest object of that type."""
_SCALARS = ("str", "int", "float", "bool")


@dataclass(frozen=True, slots=True)
class Task:
    """Something to be done with tools, and how to tell whether it was.

    `inputs` and `outputs` are those of a `Session`. `check` takes the session's outputs
    (and what the model said last, where it has a second parameter); without it a task is
    solved where all outputs are saved. `plan` is the course of it as if every tool were
    always at hand, for the model `ideal`. Raises UsageError for what makes no task.
    """

    name: str
    prompt: str
    toolbox: Toolbox
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    check: Callable[..., Any] | None = None
    plan: Sequence[Step] = ()
    system: str = ""
    file: str = field(default="", compare=False)
    """The file that it is read from, by which another process gets it; "" without one."""

    def __reduce__(self) -> Any:
        # Tools hold functions of ours that have no pickle.
        if self.file:
            return task_in, (self.file, self.name)
        return Task, tuple(getattr(self, part.name) for part in fields(self))

    def __post_init__(self) -> None:
        if problem := _problem(self) or _problem_of_plan(self):
            raise UsageError(f"task {self.name!r:.60}: {problem}")

    @property
    def course(self) -> tuple[Step, ...]:
        """The plan, and `save` of the newest objects where it does not end with a `save`."""
        if not self.plan or not self.outputs or self.plan[-1][0] == SAVE:
            return tuple(self.plan)
        saved = {name: f"${kind}" for name, kind in _types(self.outputs).items()}
        return (*self.plan, (SAVE, saved))

    def accepts(self, outputs: Mapping[str, object], text: str) -> bool:
        """Return the result of the check. It may raise anything."""
        if self.check is None:
            return True
        parameters = inspect.signature(self.check).parameters
        return bool(self.check(outputs, text) if len(parameters) > 1 else self.check(outputs))


def _problem(task: Task) -> str:
    for key, text in (("name", task.name), ("prompt", task.prompt)):
        if not str(text).strip():
            return f"its {key} is empty"
    for key, kind in (("inputs", Mapping), ("outputs", Mapping), ("plan", Sequence)):
        if not isinstance(value := getattr(task, key), kind):
            return f"its {key} is {value!r:.40}; give a {'list' if key == 'plan' else 'dict'}"
    if not isinstance(task.toolbox, Toolbox):
        return f"its toolbox is {task.toolbox!r:.40}; write Toolbox(...)"
    if task.check is not None and not callable(task.check):
        return f"its check is {task.check!r:.40}; give a function that takes the outputs"
    if task.check is None and not task.outputs:
        return "nothing tells whether it is solved; give outputs={...}, or check=..."
    return ""


def _problem_of_plan(task: Task) -> str:
    for number, step in enumerate(task.plan, 1):
        match step:
            case (str(), Mapping()):
                continue
        return f"step {number} of its plan is {step!r:.60}; a step is (tool, {{argument: value}})"
    types = _types(task.outputs).items()
    scalars = [name for name, kind in types if kind in _SCALARS or "[" in kind]
    if task.plan and scalars and task.plan[-1][0] != SAVE:
        return (
            f"its plan has to end with ({SAVE!r}, {{...}}) that says {scalars[0]!r}: "
            "only objects are saved by themselves"
        )
    return ""


def _types(outputs: Mapping[str, object]) -> dict[str, str]:
    """Return the name of each output's type; an output may be a pair with a text."""
    types = {n: output[0] if isinstance(output, tuple) else output for n, output in outputs.items()}
    return {n: kind_name(t) if isinstance(t, type) else str(t) for n, t in types.items()}


def tasks_in(path: Path) -> tuple[Task, ...]:
    """Return the tasks of a file: its `TASKS`.

    Raises UsageError, in one line, with what is wrong and where.
    """
    tasks = getattr(_executed(path), "TASKS", None)
    if not isinstance(tasks, (list, tuple)) or not tasks:
        raise UsageError(f"{path}: it has no tasks; write TASKS = [Task(...), ...]")
    for index, task in enumerate(tasks):
        if not isinstance(task, Task):
            raise UsageError(f"{path}: TASKS[{index}] is {task!r:.60}, and not a Task(...)")
    names = [task.name for task in tasks]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"{path}: two tasks are named {twice[0]!r}; the table tells them by name")
    return tuple(replace(task, file=str(path.resolve())) for task in tasks)


def task_in(file: str, name: str) -> Task:
    """Return a task of a file by its name."""
    return next(task for task in _tasks_once(file) if task.name == name)


@lru_cache(maxsize=8)
def _tasks_once(file: str) -> tuple[Task, ...]:
    return tasks_in(Path(file))


def _executed(path: Path) -> ModuleType:
    name, folder = f"toolcall_tasks_{path.stem}", str(path.resolve().parent)
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: a file of tasks is Python, and its name ends in .py")
    # The module stays: a dataclass of the file looks it up by its name.
    module = sys.modules[name] = module_from_spec(spec)
    # As a script may, a file of tasks may import what is beside it.
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        if isinstance(error, OSError) and error.filename == str(path):
            raise
        raise UsageError(_located(path, error)) from None
    finally:
        sys.path.remove(folder)
    return module


def _located(path: Path, error: BaseException) -> str:
    """Return an error in one line, with the line of the file that raised it."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{path}, line {error.lineno}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    where = f"{path}, line {lines[-1]}" if lines else str(path)
    name = "" if isinstance(error, ToolcallError) else f"{type(error).__name__}: "
    return f"{where}: {name}{next(iter(str(error).splitlines()), '')}"
