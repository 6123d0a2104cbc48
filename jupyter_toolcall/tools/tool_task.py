"""One run of a tool's function, as data: what an executor's worker gets, and what it returns.

A worker may be a thread, which gets and returns the values themselves, or another process. For
that one, what cannot be pickled becomes an error that names it, on the side where it arises.
"""

from __future__ import annotations

import pickle
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.errors import Absent, CallError, NotRun
from ..core.interrupts import attempt, class_name
from .captured_prints import Prints, context_of, stream_proxies
from .invoke import error_text, invoke, is_kind, iterator_items, traceback_text
from .json_structure import structure_of
from .object_types import Kinds, leaf_kind, registered_kind
from .running_tool import InputRequired, OutcomeUnknown, described
from .tool import Tool
from .worker_code import check_code, dumps, sent_code

_ITERATORS = (Iterator, AsyncIterator)


@dataclass(frozen=True, slots=True)
class ToolTask:
    """A function and what it is called with."""

    of: Tool
    function: Callable[..., Any]
    """The tool's function, or how it goes on after a round of input."""
    first: tuple[Any, ...]
    """The arguments by position, such as the instance that a method works on."""
    arguments: Mapping[str, Any]
    kinds: Kinds
    """The types of object that the session knows: an iterator of such a type is an object."""
    objects: Sequence[Any] = ()
    """The objects among the arguments. They come back with the result: a tool may change them."""
    context: Context = field(default_factory=copy_context)
    """Where a thread runs it, so that it may report its progress."""

    @property
    def tool(self) -> str:
        """The tool's name."""
        return self.of.name

    def result(self) -> tuple[Any, str]:
        """Return what the function returns, and how it describes that.

        The items of an iterator are read where its code runs.
        A tool may hold a session of its own: what is absent there is the tool's failure.
        """
        return _result(self.function, self.first, self.arguments, self.kinds)

    def __reduce__(self) -> tuple[type[SentTask], tuple[Any, ...]]:
        sent = self.sent()
        return SentTask, (sent.tool, sent.pickled, sent.version, sent.code)

    def sent(self) -> SentTask:
        """Return the task as another process gets it. Raises NotRun where it has no pickle."""
        origin, version = self.of.origin, self.of.version()
        code = sent_code(origin.function, origin.owner, version) if origin and version else ()
        return SentTask(self.tool, self._pickled(), *code)

    def _pickled(self) -> bytes:
        """Return the pickled call. Raises NotRun, which names what has no pickle."""
        iterators = {cls: kind for cls, kind in self.kinds.items() if issubclass(cls, _ITERATORS)}
        # One pickle of all: the objects are the same ones as among the arguments.
        call = self.function, self.first, self.arguments, iterators, self.objects
        pickled, raised = attempt(dumps, call)
        if pickled is not None:
            return pickled
        raise NotRun(f"not run: {self._unpicklable_part() or f'{self.tool}: {raised}'}")

    def _unpicklable_part(self) -> str:
        """Return which part of the call has no pickle, and what to do."""
        if attempt(dumps, self.function)[0] is None:
            return (
                f"the tool {self.tool} cannot be pickled for a worker process; define its function "
                "at the top level of a module or cell, or run it without an executor"
            )
        instances = [("its instance", value) for value in self.first]
        for name, value in [*instances, *self.arguments.items()]:
            if attempt(dumps, value)[0] is None:
                kind = class_name(type(value))
                return (
                    f"{self.tool}: {name}, a {kind}, cannot be pickled for a worker process; "
                    "run the tool on threads, or without an executor"
                )
        return ""


def _result(
    function: Callable[..., object],
    first: tuple[object, ...],
    arguments: Mapping[str, object],
    kinds: Kinds,
) -> tuple[object, str]:
    try:
        result, description = described(lambda: invoke(function, first, arguments))
        cls = type(result)
        # A file yields lines, but reading them here would empty it for the person.
        is_read = is_kind(cls, *_ITERATORS) and not hasattr(cls, "readline")
        if is_read and registered_kind(cls, kinds) is None:
            return iterator_items(result), description
        return result, description
    except Absent as error:
        raise CallError(f"Absent: {error}") from error


@dataclass(frozen=True, slots=True)
class SentTask:
    """A task that was sent to another process, which unpickles it only when it runs it."""

    tool: str
    pickled: bytes
    version: str = ""
    """The version of the tool in the kernel; "" where it is not compared."""
    code: bytes = b""
    """The pickled SentCode of the tool."""


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """How a task ended in a worker."""

    tool: str
    result: Any = None
    first: tuple[Any, ...] = ()
    """The arguments by position, after the run."""
    objects: Sequence[Any] = ()
    """The objects among the arguments, after the run."""
    description: str = ""
    """What the tool told of its result by `describe_result`."""
    error: BaseException | None = None
    """What the tool raised: InputRequired, OutcomeUnknown, KeyboardInterrupt, else a CallError; or
    NotRun."""
    where: str = ""
    """Where the tool's code raised an error, for the person."""
    prints: str = ""
    """What it printed in another process."""
    interrupted: bool = False
    """Whether the kernel was interrupted just as the task ended."""
    worker: str = ""
    """The worker of a cluster that ran it, such as `tcp://127.0.0.1:40123 (dask)`."""

    def __reduce__(self) -> tuple[type[SentEnd], tuple[str, bytes, str]]:
        sent = self.sent()
        return SentEnd, (sent.tool, sent.pickled, sent.prints)

    def result_kind(self) -> str | None:
        """Return the type of a result that is one object; "" for plain data, None for others."""
        objects = structure_of(self.result, lambda value: None, leaf_kind).objects
        if not objects:
            return ""
        return objects[0].kind if objects[0].value is self.result else None

    def sent(self) -> SentEnd:
        """Return the end as another process gets it."""
        ended = self.result, self.first, self.objects, self.description, self.error, self.where
        pickled, raised = attempt(dumps, ended)
        if pickled is None:
            # The tool ran: this is no failure, after which a model would repeat the call.
            error = None if self.error is None else CallError(error_text(self.error))
            text = None if error else _unpicklable_result(self.result, raised)
            pickled = pickle.dumps((text, (), (), "", error, self.where))
        return SentEnd(self.tool, pickled, self.prints)


def _unpicklable_result(result: object, raised: str) -> str:
    """Return the text that stands for a result which has no pickle."""
    is_argument = attempt(dumps, result)[0] is not None
    what = f"a {class_name(type(result))}, which"
    what = "a result; an argument that it changed" if is_argument else what
    return (
        f"{what} cannot be pickled ({raised}), so it stayed in the worker process. Run the tool on "
        "threads, or return data."
    )


@dataclass(frozen=True, slots=True)
class SentEnd:
    """The end of a task that came from another process, which the kernel unpickles."""

    tool: str
    pickled: bytes
    prints: str

    def load(self) -> TaskEnd:
        """Return the end; a text stands for a result that this process cannot unpickle."""
        ended, raised = attempt(pickle.loads, self.pickled)
        if ended is None:
            text = f"a result that the worker sent and the kernel cannot unpickle ({raised})"
            return TaskEnd(self.tool, text, prints=self.prints)
        result, first, objects, description, error, where = ended
        return TaskEnd(self.tool, result, first, objects, description, error, where, self.prints)


def run_task(task: ToolTask | SentTask) -> TaskEnd:
    """Run a task in a worker. Everything that the tool raises is in the end that it returns."""
    if isinstance(task, ToolTask):
        # The kernel holds the streams of its own process while it waits.
        call: Call = task.function, task.first, task.arguments, task.kinds, task.objects
        return task.context.run(_end_of, task.tool, call)
    try:
        check_code(task.version, task.code)
        call = pickle.loads(task.pickled)
    except NotRun as error:
        return TaskEnd(task.tool, error=error)
    except BaseException as error:
        text = (
            f"not run: the worker cannot unpickle the call of {task.tool} "
            f"({error_text(error)}); define the tool, and what it takes, in a module that the "
            "worker imports"
        )
        return TaskEnd(task.tool, error=NotRun(text))
    printed = Prints()
    run = context_of(printed).run
    with stream_proxies():
        end = run(_end_of, task.tool, call)
    return replace(end, prints=printed.text())


Call = tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, Any], Kinds, Sequence[Any]]
"""A function, its arguments by position and by name, the types, and the objects among these."""


def _end_of(tool: str, call: Call) -> TaskEnd:
    function, first, arguments, kinds, objects = call
    result, description, where = None, "", ""
    error: BaseException | None = None
    try:
        result, description = _result(function, first, arguments, kinds)
    except InputRequired as required:
        error = required
    except KeyboardInterrupt:
        error = KeyboardInterrupt()
    except OutcomeUnknown as unknown:
        error = OutcomeUnknown(attempt(str, unknown)[0] or "")
    # Whatever else a tool raises, also SystemExit, is the call's failure and not the worker's.
    except BaseException as raised:
        error, where = CallError(error_text(raised)), traceback_text(raised)
    return TaskEnd(tool, result, first, objects, description, error, where)
