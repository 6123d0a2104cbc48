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
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

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

ANSWERS = 60.0
"""Seconds in which a worker has to answer the probe."""
LOSSES = 3
"""How many workers may be lost with one session before it is given up."""
WORKERS = 32
"""How many workers an executor is taken to have that does not say."""
PARTS = ("toolbox", "model")
ONE_SESSION = threading.Lock()
"""Held by the session that runs: tools may print, and a worker of a cluster may have threads."""
VERSION = str(importlib.import_module("jupyter_toolcall").__version__)


class NoWorkers(Exception):
    """The workers of an executor cannot write journals: the sessions run in the kernel."""

    def __init__(self, are_threads: bool) -> None:
        super().__init__()
        self.are_threads = are_threads
        """Whether they are threads of this process; else they do not share its files."""


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
    parts: Mapping[str, Any] = {"toolbox": toolbox, "model": setup.model, **setup.options}
    for name, value in parts.items():
        pickled, raised = attempt(pickle.dumps, value)
        if pickled is None:
            raise UsageError(_unpicklable(name, raised))
    return pickle.dumps(SessionSetup(toolbox, setup.model, setup.options, setup.folder))


def _unpicklable(name: str, raised: str) -> str:
    remedy = (
        f"give a function without parameters that returns the {name}, defined at the top level of "
        "a module or a cell"
        if name in PARTS
        else "define what it holds at the top level of a module or a cell"
    )
    return f"{name} cannot be pickled for a worker process ({raised}); {remedy}"


# -- the kernel's side -----------------------------------------------------------------------


@dataclass
class Workers:
    """Continues sessions on an executor.

    Args:
        executor: where they run.
        window: how many sessions are submitted at once.
    """

    executor: Executor
    window: int
    setup: SessionSetup

    @cached_property
    def submits(self) -> Executor:
        """What takes functions for the executor's workers."""
        return function_executor(self.executor)

    def run(
        self,
        prompts: Iterable[MappedPrompt],
        report: Callable[[MappedPrompt, SessionSummary], None],
    ) -> str:
        """Continue sessions; return why some did not run, "" where all did.

        Raises NoWorkers where they are threads of this process, or do not share the data
        directory: then nothing ran. Raises UsageError where they cannot run sessions, and
        KeyboardInterrupt once the sessions that are under way have stopped.
        """
        sent = self._send()
        try:
            self._demand_shared(sent)
            with Hold() as hold:
                return _Submitted(self, sent, report).run(iter(prompts), hold)
        finally:
            for path in (sent.path, sent.stop_path):
                with suppress(OSError):
                    path.unlink(missing_ok=True)

    def _send(self) -> SentSetup:
        data = pickled_setup(self.setup)
        folder = self.setup.folder
        folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = f"setup-{secrets.token_hex(6)}.pickle"
        with closing(DISK.open(folder.path / name)) as file:
            append(file, data)
            file.sync()
        return SentSetup(folder, name, hashlib.sha256(data).hexdigest())

    def _demand_shared(self, sent: SentSetup) -> None:
        """Ask a worker what it is. Raises UsageError where it cannot run sessions, NoWorkers."""
        seal = signer(journals_folder())
        sealed = seal(sent.digest) if seal is not None else ""
        try:
            future = self.submits.submit(probe, sent, sealed)
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


class _Submitted:
    """The sessions that are on workers now."""

    def __init__(
        self,
        workers: Workers,
        sent: SentSetup,
        report: Callable[[MappedPrompt, SessionSummary], None],
    ) -> None:
        self.workers, self.sent, self.report = workers, sent, report
        self.futures: dict[Future[SessionSummary], MappedPrompt] = {}
        # Waiting for the futures themselves would look at all of them each time.
        self.ended: SimpleQueue[Future[SessionSummary]] = SimpleQueue()
        self.lost: dict[int, int] = {}
        self.refusal = ""

    def run(self, prompts: Any, hold: Hold) -> str:
        unsent = True
        try:
            while unsent or self.futures:
                while unsent and len(self.futures) < self.workers.window:
                    hold.deliver()
                    prompt = next(prompts, None)
                    unsent = prompt is not None and self._submit(prompt)
                if self.futures:
                    with suppress(Empty):
                        unsent = self._take(interruptible(self.ended.get, True, TICK)) and unsent
        except KeyboardInterrupt:
            self._stop()
            raise
        return self.refusal

    def _submit(self, prompt: MappedPrompt) -> bool:
        """Submit a session; return whether the executor takes more."""
        try:
            future = self.workers.submits.submit(run_sent, self.sent, prompt)
        except (BrokenExecutor, RuntimeError) as error:
            self.refusal = (
                f"The executor takes no more sessions ({error_line(error)}). Create a new one, "
                "and map again: the sessions continue."
            )
            return False
        self.futures[future] = prompt
        future.add_done_callback(self.ended.put)
        return True

    def _take(self, future: Future[SessionSummary]) -> bool:
        """Report a session that ended; one whose worker was lost is submitted again."""
        prompt = self.futures.pop(future)
        try:
            summary = future.result()
        # What a session raises is in its summary, so this comes from the executor.
        except BaseException as error:
            losses = self.lost[prompt.index] = self.lost.get(prompt.index, 0) + 1
            if losses < LOSSES and not self.refusal:
                return self._submit(prompt) or self._report_lost(prompt, error)
            return self._report_lost(prompt, error)
        self.report(prompt, summary)
        return True

    def _report_lost(self, prompt: MappedPrompt, error: BaseException) -> bool:
        why = f"its worker was lost: {error_line(error)}"
        given_up = self.lost.get(prompt.index, 0) >= LOSSES
        self.report(prompt, SessionSummary("failed" if given_up else "interrupted", error=why))
        return not self.refusal

    def _stop(self) -> None:
        """Let sessions on workers stop after their current step, and report them."""
        DISK.open(self.sent.stop_path).close()
        for future in self.futures:
            future.cancel()
        waiting = dict(self.futures)
        with suppress(KeyboardInterrupt):
            while waiting:
                for future in interruptible(wait, waiting, TICK).done:
                    prompt = waiting.pop(future)
                    if not future.cancelled() and future.exception() is None:
                        self.report(prompt, future.result())


def window_of(executor: Executor, jobs: int | None) -> int:
    """Return how much is submitted to an executor at once: `jobs`, or two for each worker."""
    count = getattr(executor, "_max_workers", None)
    return jobs or 2 * (count if isinstance(count, int) else WORKERS)
