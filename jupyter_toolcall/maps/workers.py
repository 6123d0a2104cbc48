"""Whole sessions on the workers of an executor that share this user's data directory.

A worker writes its session's journal itself, so a worker that is killed loses nothing: another one
continues from the journal. Nothing but a summary comes back. What workers are sent is pickled, so
use workers of your own only.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import pickle
import secrets
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from ..core.errors import UsageError
from ..core.interrupts import Hold, attempt, interruptible
from ..storage.file_system import DISK, append
from ..storage.journal_file import journals_folder
from ..storage.signatures import signer
from ..tools.executors import function_executor
from ..tools.invoke import TICK
from ..tools.toolbox import Toolbox
from .mapped_session import (
    JournalFolder,
    MappedPrompt,
    SessionSetup,
    SessionSummary,
    continue_session,
    error_line,
)

Item = TypeVar("Item")
ANSWERS = 60.0
"""Seconds in which a worker has to answer the probe."""
LOSSES = 3
"""How many workers may be lost with one session before it is given up."""
WORKERS = 32
"""How many workers an executor is taken to have that does not say."""
ONE_SESSION = threading.Lock()
"""Held by the session that runs: tools may print, and a worker of a cluster may have threads."""
VERSION = str(importlib.import_module("jupyter_toolcall").__version__)


class NoWorkers(Exception):
    """The workers of an executor cannot write journals: the sessions run in the kernel.

    Its argument is whether they are threads of this process; else they do not share its files.
    """


class Refused(Exception):
    """An executor takes no more calls."""


@dataclass(frozen=True, slots=True)
class SentSetup:
    """Where a worker finds the pickled setup, and the digest that it has to have."""

    folder: JournalFolder
    name: str
    digest: str

    @property
    def path(self) -> Path:
        return self.folder.path / self.name

    @property
    def stop_path(self) -> Path:
        """The file that tells workers to stop after their current step."""
        return self.path.with_suffix(".stop")


@dataclass(frozen=True, slots=True)
class Probe:
    """What a worker says of itself."""

    process: tuple[str, int]
    """The machine, and the process on it."""
    version: str
    shares: bool
    """Whether it reads the data directory, with the key in it."""
    problem: str = ""
    """Why it cannot load what it was sent."""


def probe(sent: SentSetup, sealed: str) -> Probe:
    """Return what a worker is, and whether it can continue sessions; it runs on the worker."""
    seal = signer(journals_folder())
    shares = sent.path.exists() and seal is not None and seal(sent.digest) == sealed
    problem = ""
    if shares:
        try:
            setup = _received(sent)
            _ = setup.tools, setup.replies
        except Exception as error:
            problem = error_line(error)
    return Probe(this_process(), VERSION, shares, problem)


def this_process() -> tuple[str, int]:
    """Return the machine, and the process on it."""
    return socket.gethostname(), os.getpid()


def run_sent(sent: SentSetup, prompt: MappedPrompt) -> SessionSummary:
    """Continue a session in a worker; it runs there."""
    try:
        setup = _received(sent)
    except Exception as error:
        return SessionSummary("failed", error=error_line(error))
    with ONE_SESSION:
        return continue_session(setup, prompt, sent.stop_path.exists)


@functools.lru_cache(maxsize=2)
def _received(sent: SentSetup) -> SessionSetup:
    data = sent.path.read_bytes()
    if hashlib.sha256(data).hexdigest() != sent.digest:
        raise UsageError(f"{sent.path} is not what the kernel wrote")
    setup: SessionSetup = pickle.loads(data)
    return setup


def pickled_setup(setup: SessionSetup) -> bytes:
    """Return what workers are sent. Raises UsageError, which names the part that has no pickle."""
    toolbox: Any = setup.toolbox
    if isinstance(toolbox, Toolbox):
        # The tools themselves hold functions of ours; their sources are what has a pickle.
        toolbox = functools.partial(Toolbox, *toolbox.sources, types=toolbox.types)
    demand_pickles({"toolbox": toolbox, "model": setup.model, **setup.options}, _remedy)
    return pickle.dumps(SessionSetup(toolbox, setup.model, setup.options, setup.folder))


def _remedy(name: str) -> str:
    is_made, place = name in ("toolbox", "model"), "at the top level of a module or a cell"
    function = f"give a function without parameters that returns the {name}, defined"
    return f"{function if is_made else 'define what it holds'} {place}"


def demand_pickles(parts: Mapping[str, object], remedy: Callable[[str], str]) -> None:
    """Raise UsageError, which names the part and what to do, where one has no pickle."""
    for name, value in parts.items():
        pickled, raised = attempt(pickle.dumps, value)
        if pickled is None:
            problem = f"{name} cannot be pickled for a worker process ({raised})"
            raise UsageError(f"{problem}; {remedy(name)}")


# -- the kernel's side -----------------------------------------------------------------------


@dataclass
class CallsOnWorkers(Generic[Item]):
    """Calls on the workers of an executor, at most `window` at once.

    Iterating yields each item with the future of its call, once that has ended. That of a call
    which the executor did not take raises Refused.
    """

    submit: Callable[[Item], Future[Any]]
    window: int
    due: deque[Item]
    """The items that are not submitted yet; what is added meanwhile is submitted too."""
    running: dict[Future[Any], Item] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[Item, Future[Any]]]:
        # Waiting for the futures themselves would look at all of them each time.
        ended: SimpleQueue[Future[Any]] = SimpleQueue()
        while self.due or self.running:
            while self.due and len(self.running) < self.window:
                item = self.due.popleft()
                try:
                    future = self.submit(item)
                except (BrokenExecutor, RuntimeError) as error:
                    future = Future()
                    future.set_exception(Refused(error_line(error)))
                self.running[future] = item
                future.add_done_callback(ended.put)
            try:
                future = interruptible(ended.get, True, TICK)
            except Empty:
                continue
            yield self.running.pop(future), future


def continue_on_workers(
    executor: Executor,
    window: int,
    setup: SessionSetup,
    prompts: Iterable[MappedPrompt],
    report: Callable[[MappedPrompt, SessionSummary], None],
) -> str:
    """Continue sessions on an executor; return why some did not run, "" where all did.

    Raises NoWorkers where its workers are threads of this process, or do not share the data
    directory: then nothing ran. Raises UsageError where they cannot run sessions, and
    KeyboardInterrupt once the sessions that are under way have stopped.
    """
    submits, sent = function_executor(executor), _send(setup)
    try:
        _demand_shared(submits, sent)
        calls = CallsOnWorkers[MappedPrompt](
            lambda prompt: submits.submit(run_sent, sent, prompt), window, deque(prompts)
        )
        with Hold():
            try:
                return _report_all(calls, report)
            except KeyboardInterrupt:
                DISK.open(sent.stop_path).close()
                _report_stopped(calls.running, report)
                raise
    finally:
        for path in (sent.path, sent.stop_path):
            attempt(path.unlink)


def _send(setup: SessionSetup) -> SentSetup:
    data, folder = pickled_setup(setup), setup.folder
    folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"setup-{secrets.token_hex(6)}.pickle"
    with closing(DISK.open(folder.path / name)) as file:
        append(file, data)
        file.sync()
    return SentSetup(folder, name, hashlib.sha256(data).hexdigest())


def _demand_shared(executor: Executor, sent: SentSetup) -> None:
    """Ask a worker what it is. Raises UsageError where it cannot run sessions, NoWorkers."""
    seal = signer(journals_folder())
    sealed = seal(sent.digest) if seal is not None else ""
    try:
        future = executor.submit(probe, sent, sealed)
    except (BrokenExecutor, RuntimeError) as error:
        raise UsageError(f"executor: it takes no work ({error}); create a new one") from None
    try:
        answer: Probe = future.result(timeout=ANSWERS)
    except TimeoutError:
        future.cancel()
        raise UsageError(f"executor: no worker answered within {ANSWERS:.0f} s") from None
    except Exception as error:
        raise UsageError(
            f"executor: a worker cannot run sessions ({error_line(error)}); it needs "
            f"jupyter-toolcall {VERSION}"
        ) from None
    if answer.version != VERSION:
        raise UsageError(
            f"executor: a worker has jupyter-toolcall {answer.version}, and this kernel "
            f"{VERSION}; install the same version there"
        )
    if answer.problem:
        raise UsageError(
            f"executor: a worker cannot load the toolbox or the model ({answer.problem}); "
            "define them in a module that the workers import, or start the workers after "
            "the cell that defines them"
        )
    are_threads = answer.process == this_process()
    if are_threads or not answer.shares:
        raise NoWorkers(are_threads)


def _report_all(
    calls: CallsOnWorkers[MappedPrompt], report: Callable[[MappedPrompt, SessionSummary], None]
) -> str:
    """Report each session that ended; one whose worker was lost is submitted again."""
    losses, refusal = dict[int, list[str]](), ""
    for prompt, future in calls:
        lost = losses.setdefault(prompt.index, [])
        try:
            report(prompt, future.result())
            continue
        except Refused as error:
            calls.due.clear()
            refusal = (
                f"The executor takes no more sessions ({error}). Create a new one, "
                "and map again: the sessions continue."
            )
        # What a session raises is in its summary, so this comes from the executor.
        except BaseException as error:
            lost.append(f"its worker was lost: {error_line(error)}")
        if len(lost) >= LOSSES:
            report(prompt, SessionSummary("failed", error=lost[-1]))
        elif lost and refusal:
            report(prompt, SessionSummary("interrupted", error=lost[-1]))
        elif not refusal:
            calls.due.appendleft(prompt)
    return refusal


def _report_stopped(
    running: Mapping[Future[Any], MappedPrompt],
    report: Callable[[MappedPrompt, SessionSummary], None],
) -> None:
    """Report the sessions on workers, which stop after their current step."""
    for future in running:
        future.cancel()
    waiting = dict(running)
    with suppress(KeyboardInterrupt):
        while waiting:
            for future in interruptible(wait, waiting, TICK).done:
                prompt = waiting.pop(future)
                if not future.cancelled() and future.exception() is None:
                    report(prompt, future.result())


def window_of(executor: Executor, jobs: int | None) -> int:
    """Return how much is submitted to an executor at once: `jobs`, or two for each worker."""
    count = getattr(executor, "_max_workers", None)
    return jobs or 2 * (count if isinstance(count, int) else WORKERS)
