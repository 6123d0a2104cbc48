"""What a task is, and how a file of tasks is read. A tasks file is Python, and is executed."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import ToolcallError, UsageError
from ..state.call import SAVE
from ..tools import Toolbox
from ..tools.kinds import kind_name

Step = tuple[str, Mapping[str, Any]]
"""A tool and its arguments, in which `"$Potato"` is the newest object of that type."""
_SCALARS = (str, int, float, bool, "str", "int", "float", "bool")


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

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise UsageError(f"task {self.name!r:.60}: {problem}")

    @property
    def course(self) -> tuple[Step, ...]:
        """The plan, and `save` of the newest objects where it does not end with a `save`."""
        if not self.plan or not self.outputs or self.plan[-1][0] == SAVE:
            return tuple(self.plan)
        return (*self.plan, (SAVE, {name: f"${kind}" for name, kind in _kinds(self.outputs)}))

    def accepts(self, outputs: Mapping[str, Any], text: str) -> bool:
        """Return what the check says. It may raise anything."""
        if self.check is None:
            return True
        parameters = inspect.signature(self.check).parameters
        return bool(self.check(outputs, text) if len(parameters) > 1 else self.check(outputs))


def _problem(task: Task) -> str:
    for key, text in (("name", task.name), ("prompt", task.prompt)):
        if not str(text).strip():
            return f"its {key} is empty"
    if not isinstance(task.toolbox, Toolbox):
        return f"its toolbox is {task.toolbox!r:.40}; write Toolbox(...)"
    if task.check is not None and not callable(task.check):
        return f"its check is {task.check!r:.40}; give a function that takes the outputs"
    if task.check is None and not task.outputs:
        return "nothing tells whether it is solved; give outputs={...}, or check=..."
    return _problem_of_plan(task)


def _problem_of_plan(task: Task) -> str:
    for number, step in enumerate(task.plan, 1):
        match step:
            case (str(), Mapping()):
                continue
        return f"step {number} of its plan is {step!r:.60}; a step is (tool, {{argument: value}})"
    scalars = [name for name, kind in _kinds(task.outputs) if kind in _SCALARS]
    if task.plan and scalars and task.plan[-1][0] != SAVE:
        return (
            f"its plan has to end with ({SAVE!r}, {{...}}) that says {scalars[0]!r}: "
            "only objects are saved by themselves"
        )
    return ""


def _kinds(outputs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each output with the name of its type; an output may be a pair with a text."""
    for name, output in outputs.items():
        kind = output[0] if isinstance(output, tuple) else output
        yield name, kind_name(kind) if isinstance(kind, type) else str(kind)


def tasks_in(path: Path) -> tuple[Task, ...]:
    """Return the tasks of a file: its `TASKS`.

    Raises UsageError, which says in one line what is wrong and where.
    """
    found = getattr(_executed(path), "TASKS", None)
    if not isinstance(found, (list, tuple)) or not found:
        raise UsageError(f"{path}: it has no tasks; write TASKS = [Task(...), ...]")
    for index, task in enumerate(found):
        if not isinstance(task, Task):
            raise UsageError(f"{path}: TASKS[{index}] is {task!r:.60}, and not a Task(...)")
    names = [task.name for task in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{path}: two tasks are named {twice!r}; the table tells them by name")
    return tuple(found)


def _executed(path: Path) -> ModuleType:
    """A dataclass of the file looks its module up by name, so the module stays."""
    name = f"toolcall_tasks_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: a file of tasks is Python, and its name ends in .py")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        with _beside(path):
            spec.loader.exec_module(module)
    except OSError as error:
        if error.filename == str(path):
            raise
        raise UsageError(_said(path, error)) from None
    except (Exception, SystemExit) as error:
        raise UsageError(_said(path, error)) from None
    return module


@contextmanager
def _beside(path: Path) -> Iterator[None]:
    """A file of tasks may import what lies beside it, as a script may."""
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _said(path: Path, error: BaseException) -> str:
    first = next(iter(str(error).splitlines()), "")
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{path}, line {error.lineno}: {error.msg}"
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    where = f"{path}, line {lines[-1]}" if lines else str(path)
    name = "" if isinstance(error, ToolcallError) else f"{type(error).__name__}: "
    return f"{where}: {name}{first}"
