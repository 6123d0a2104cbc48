"""Calling a tool's function: a sync one directly, an async one on an event loop of our own.

The loop's thread starts when the first async tool runs. An interrupt cancels the task of an async
tool.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
import os
import re
import threading
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import AsyncGeneratorType, GeneratorType
from typing import Any, TypeVar

from ..core.errors import CallError
from ..core.interrupts import Hold, attempt, class_name, interruptible
from ..core.text import shortened_text, without_addresses
from .json_structure import IteratorItems
from .plain_data import described_for_model, well_formed
from .running_tool import cancel_with_call

T = TypeVar("T")
OWN = __package__.partition(".")[0]
"""The package whose own frames no traceback begins with."""
FRAMES = 6
"""Frames of a traceback, from the tool's own on."""
CELL = re.compile(r'File "[^"\n]*(?:ipykernel_\d+/|<ipython-input-)[^"\n]*"')
TICK = 0.05
"""Seconds until an interrupt of the main thread is noticed while it waits. On Windows a wait
without a timeout cannot be interrupted."""
PATIENCE = 1.0
"""Seconds that a loop has to answer after an interrupt, before a new loop replaces it."""


def invoke(function: Callable[..., Any], first: tuple[Any, ...], values: Mapping[str, Any]) -> Any:
    """Return what a function returns, awaited if it is async. Raises what the function raises."""
    result = function(*first, **values)
    # Only its type is read: attributes may do anything, and so may a metaclass.
    cls = type(result)
    is_async = is_kind(cls, Awaitable) or (cls is GeneratorType and inspect.isawaitable(result))
    return _await(result) if is_async else result


def is_kind(cls: type, *kinds: type) -> bool:
    """Return whether a class is one of these kinds; a class whose metaclass raises is none."""
    try:
        return issubclass(cls, kinds)
    except Exception:
        return False


def error_text(error: BaseException) -> str:
    """Return the text of an error for the model."""
    # `isinstance` would ask the exception for its `__class__`.
    if issubclass(type(error), CallError):
        return str(error)
    lines = [_error_line(error), *itertools.islice(_inner_lines(error), MEMBERS)]
    return well_formed("\n".join(lines)[:4_000])


def traceback_text(error: BaseException) -> str:
    """Return where the code of a tool raised an error, for the person; "" where it did not.

    A cell of a notebook has no path: that of its file is another one in each kernel.
    """
    is_ours = issubclass(type(error), CallError)
    return "" if is_ours else attempt(_traceback_text, error)[0] or ""


def _traceback_text(error: BaseException) -> str:
    step = error.__traceback__
    while step and str(step.tb_frame.f_globals.get("__name__")).startswith(OWN):
        step = step.tb_next
    frames = "".join(traceback.format_tb(step, FRAMES))
    return f"Traceback (most recent call last):\n{CELL.sub('Cell', frames)}" if frames else ""


def _error_line(error: BaseException) -> str:
    text, failed = attempt(message_text, error)
    text = "(its message cannot be read)" if failed or text is None else without_addresses(text)
    return "\n".join((f"{class_name(type(error))}: {text}", *_notes(error)))


def _notes(error: BaseException) -> Iterator[str]:
    """Yield the notes that were added to an error: what to do about it often stands there."""
    notes = attempt(getattr, error, "__notes__", ())[0]
    if type(notes) is list:
        yield from (without_addresses(note) for note in notes if type(note) is str)


def _inner_lines(
    error: BaseException, indent: str = "", outer: tuple[int, ...] = ()
) -> Iterator[str]:
    """Yield a line for what an error was raised from, and for each error of a group."""
    outer = (*outer, id(error))
    # As Python shows them: `from None` says that there is none.
    cause = _inside(error, BaseException, "__cause__")
    is_shown = not _inside(error, BaseException, "__suppress_context__")
    context = _inside(error, BaseException, "__context__") if is_shown else None
    inner = [("caused by ", cause), ("while handling ", context)]
    if issubclass(type(error), BaseExceptionGroup):
        members = _inside(error, BaseExceptionGroup, "exceptions")
        inner += [("- ", member) for member in members]
    for mark, part in inner:
        if part is not None and id(part) not in outer:
            text = _error_line(part)
            # A cause with the same text tells nothing new; what is inside of it may.
            if not mark.startswith("-") and text == _error_line(error):
                yield from _inner_lines(part, indent, outer)
                continue
            yield f"{indent}{mark}{shortened_text(' '.join(text.split()), 400)}"
            yield from _inner_lines(part, f"{indent}  ", outer)


def _inside(error: BaseException, cls: type, name: str) -> Any:
    # A subclass may have a property of that name.
    return vars(cls)[name].__get__(error)


def message_text(error: BaseException) -> str:
    """Return an exception's message, also where its `__str__` returns a text of another class."""
    return str.__str__(str(error))


def run_validator(
    name: str,
    validator: Callable[..., object],
    arguments: Mapping[str, object],
    hidden_text: Callable[[BaseException], str] | None = None,
) -> None:
    """Have the `check` of a tool judge the arguments of a call.

    Args:
        name: The tool's name.
        validator: The check.
        arguments: The values that the tool's function would get; it may change them.
        hidden_text: Returns what may be read of an error whose message may not; None: all may.

    Raises:
        CallError: What is wrong with the arguments, or with the check.
    """
    try:
        returned = interruptible(validator, **arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if hidden_text is not None:
            raise CallError(f"{name}: {hidden_text(error)}") from None
        is_verdict = issubclass(type(error), (ValueError, AssertionError, CallError))
        message = (attempt(message_text, error)[0] or "").strip() if is_verdict else ""
        text = well_formed(message)[:2_000] or f"its check raised {error_text(error)}"
        # `isinstance` would ask the exception for its `__class__`.
        fields = getattr(error, "fields", {}) if issubclass(type(error), CallError) else {}
        raise CallError(f"{name}: {text}", fields) from None
    if returned is not None and returned is not True:
        kind = class_name(type(returned))
        shown = "False" if returned is False else f"a value of type {kind}"
        raise CallError(
            f"{name}: its check returned {shown}, so the call did not run; a check raises "
            "ValueError with what is wrong, or returns None or True"
        )


MEMBERS = 20
"""Errors of a group that the model reads, a line each."""
SHORT_ITERATOR = 1_000
"""Items of an iterator that are read."""


def iterator_items(iterator: Any) -> object:
    """Return the items of an iterator as a list, where there are few.

    Of a longer one, and of one that raises, a text says what it is. What a generator raises is
    raised, since its body is the tool's own code.
    """
    is_async = issubclass(type(iterator), AsyncIterator)
    items = IteratorItems()
    what = f"{class_name(type(iterator))}, which can be read only once"
    try:
        if is_async:
            _await(_read_async(iterator, items))
        else:
            items.extend(itertools.islice(iterator, SHORT_ITERATOR + 1))
    except Exception as error:
        if type(iterator) in (GeneratorType, AsyncGeneratorType):
            raise
        return f"{what}, and raised {class_name(type(error))} after {len(items):,} items"
    if len(items) <= SHORT_ITERATOR:
        return items
    shown = described_for_model(items[:10], 500)
    return (
        f"{what}, and has more than {SHORT_ITERATOR:,} items; the first are {shown}. "
        "The tool has to return a list."
    )


async def _read_async(iterator: Any, items: list[Any]) -> None:
    async for item in iterator:
        items.append(item)
        if len(items) > SHORT_ITERATOR:
            return


@dataclass
class _End:
    """How a task ended, kept here since a task that cancels itself loses its result."""

    reached: threading.Event = field(default_factory=threading.Event)
    result: Any = None
    error: BaseException | None = None


def _await(task: Awaitable[object]) -> object:
    return run_on(LoopThread.ready(), task)


def run_on(
    worker: LoopThread, task: Awaitable[T], meanwhile: Callable[[], object] = lambda: None
) -> T:
    """Return the result of a task that runs on a loop. Raises what it raises.

    An interrupt cancels it. `meanwhile` is called again and again in this thread, and at the end.
    """
    end = _End()
    # An interrupt must not come between starting the task and being able to cancel it.
    with Hold():
        future = asyncio.run_coroutine_threadsafe(_settle(task, end), worker.loop)
        cancel_with_call(future)
        try:
            interruptible(_wait, end, future, worker, meanwhile)
        except KeyboardInterrupt:
            worker.interrupted = True
            future.cancel()
            raise
    if end.error is not None:
        raise end.error
    result: T = end.result
    return result


def _wait(
    end: _End, future: Future[None], worker: LoopThread, meanwhile: Callable[[], object]
) -> None:
    """Wait until a task has ended. Raises CallError if it never will."""
    while not end.reached.wait(TICK):
        meanwhile()
        if (future.done() or not worker.thread.is_alive()) and not end.reached.is_set():
            raise CallError("the tool's task or event loop was closed before the tool returned")
    meanwhile()


async def _settle(task: Awaitable[Any], end: _End) -> None:
    """Record how a task ends; what it raises must not end the loop's thread."""
    try:
        end.result = await task
    except BaseException as error:
        end.error = error
    finally:
        end.reached.set()


class LoopThread:
    """An event loop and the thread that runs it."""

    current: LoopThread | None = None
    """The one of async tools."""
    _choosing = threading.Lock()

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.retired = False
        self.interrupted = False
        """Whether its last task was interrupted, and may still block the loop."""
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    @classmethod
    def ready(cls) -> LoopThread:
        """Return the worker of this process; a new one if that no longer answers."""
        # Calls that run together, each in a thread, share one loop.
        with cls._choosing:
            if cls.current is None or not cls.current._answers():
                before, cls.current = cls.current, cls("toolcall-async")
                if before is not None:
                    before._retire()
            return cls.current

    @classmethod
    def forget(cls) -> None:
        """Start with a new worker: a forked child has no threads."""
        cls.current, cls._choosing = None, threading.Lock()

    def _run(self) -> None:
        """Run the loop until it is closed: a tool may stop it, and tasks may raise SystemExit."""
        while not (self.retired or self.loop.is_closed()):
            try:
                self.loop.run_forever()
            # A task raised it, and asyncio passes it on; the loop can still run.
            except (SystemExit, KeyboardInterrupt):
                continue
            # The loop cannot run any more.
            except BaseException:
                break
        self.loop.close()

    def _retire(self) -> None:
        """Stop the loop when it answers again and its tasks have ended."""
        # It may be closed already.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(lambda: self.loop.create_task(self._leave()))

    async def _leave(self) -> None:
        # Tools of other threads may run here too.
        if others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)
        self.retired = True
        self.loop.stop()

    def _answers(self) -> bool:
        if not self.thread.is_alive() or self.loop.is_closed():
            return False
        if not self.interrupted:
            return True
        answered = threading.Event()
        self.loop.call_soon_threadsafe(answered.set)
        self.interrupted = not answered.wait(PATIENCE)
        return not self.interrupted


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LoopThread.forget)
