"""Calls on a Dask cluster. Each one starts once, whatever happens to its workers.

Dask starts a task again where its worker is lost, and has no setting against it. So a worker
claims a call at the scheduler before it runs it, by a lock that is never released there. A second
start does not get the lock and runs nothing. The kernel claims a call that it cancels, or that
did not end well: where it gets the lock, the call never began and never will.

https://distributed.dask.org/en/stable/resilience.html
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import pickle
import socket
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from ..core.errors import NotRun, UsageError
from .invoke import error_text
from .remote_values import (
    KeptResult,
    RemoteValue,
    Stay,
    pickled_result,
    run_with_values,
    without_unchanged_arguments,
)
from .running_tool import OutcomeUnknown
from .worker_code import missing_package

LOCAL_PORT = "127.0.0.1:0"
"""Where a cluster of this computer serves its pages: at any free port."""
TIMEOUT = 10
"""Seconds that a scheduler has to answer."""
POLL = 1.0
"""Seconds between two looks at whether the worker of a call is lost."""
RESTART = 10
"""Seconds in which a cluster that has lost its last worker may start another one."""
NOTE = 0.5
"""Seconds in which it arrives which worker has begun a call."""
LOOKS = 5
"""How often the scheduler is asked for it in that time."""
CLAIMS = 1_000
"""Ended calls whose claims stay at the scheduler. A worker that the scheduler has lost may still
start one."""
STAY = 10_000_000
"""Bytes of a pickled result from which that of a read-only tool stays on its worker."""


def check_installed(option: str) -> None:
    """Raise UsageError where Dask is not installed."""
    if importlib.util.find_spec("distributed") is None:
        raise UsageError(f"{option}: distributed is missing: pip install distributed")


def local_dask() -> DaskExecutor:
    """Start a cluster of this computer: one process for each processor, with one thread."""
    from distributed import LocalCluster

    # A front end interrupts the kernel's whole process group. A worker would die of it.
    ignore = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    # What becomes of a call whose worker is lost is said at the call.
    quiet = {"silence_logs": logging.CRITICAL, "dashboard_address": LOCAL_PORT}
    return DaskExecutor(_client(LocalCluster(threads_per_worker=1, preload=[ignore], **quiet)))


def dask_at(address: str) -> DaskExecutor:
    """Connect to the scheduler at an address. Raises ConnectionError, with what to do."""
    try:
        at = urlsplit(address if "://" in address else f"tcp://{address}")
        # A client that cannot connect is slow to give up, and to be collected.
        socket.create_connection((at.hostname or "", at.port or 8786), TIMEOUT).close()
        return DaskExecutor(_client(address))
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
    raise ConnectionError(
        f"no Dask scheduler answers at {address:.200} ({reason:.120}; timeout {TIMEOUT} s); start "
        "it with `dask scheduler`, or give the address that it prints"
    )


def _client(of: object) -> object:
    from distributed import Client

    # The client that a person's own collections use by default stays as it is.
    return Client(of, timeout=TIMEOUT, set_as_default=False)


def dask_executor(value: object) -> DaskExecutor | None:
    """Return the executor for a client of Dask, or for its `get_executor()`; None for others."""
    from distributed import Client
    from distributed.cfexecutor import ClientExecutor

    if isinstance(value, ClientExecutor):
        # Where a task may run is the user's choice; how often it may start is not.
        options = {key: option for key, option in value._kwargs.items() if key not in FIXED}
        return DaskExecutor(value._client, options)
    return DaskExecutor(value) if isinstance(value, Client) else None


FIXED: Mapping[str, Any] = {"pure": False, "retries": 0}


class DaskCall(Future[Any]):
    """A call on a cluster. It is cancelled only where it has not begun."""

    def __init__(self, name: str, tool: str, executor: DaskExecutor) -> None:
        super().__init__()
        self.name, self.tool, self._executor = name, tool, executor
        self.cancelled_reason = "its task was cancelled, or its scheduler is lost"
        self.worker = ""
        """The address of the worker that began it first."""
        self.looks_without_worker = 0
        """How often in a row the cluster had no worker at all."""
        self.claim = ""
        """The claim of the worker whose end it has, or of the kernel, if it never begins."""

    def cancel(self) -> bool:
        """Cancel the call unless a worker has begun it; return whether it never will."""
        if self.done():
            return self.cancelled()
        return self._executor.claim(self) and super().cancel()

    def end(self, end: Any, error: BaseException | None = None) -> None:
        """Set its result, or what the kernel raises for it, if nothing has ended it before."""
        with suppress(InvalidStateError):
            self.set_exception(error) if error else self.set_result(end)

    def lose(self, reason: str = "") -> None:
        """Let its outcome be unknown: it began, and its worker is lost."""
        by = f"the worker {self.worker} that ran" if self.worker else "the worker that ran"
        self.end(None, OutcomeUnknown(reason or f"{by} {self.tool} was lost"))


class DaskExecutor(Executor):
    """Runs calls on the cluster of a `distributed.Client`.

    Arguments:
        client: the client.
        options: what `Client.submit` takes besides, such as `workers` and `resources`.
        stay: the bytes of a pickled result from which that of a read-only tool stays on its worker.
    """

    def __init__(
        self, client: Any, options: Mapping[str, Any] | None = None, stay: float = STAY
    ) -> None:
        self.stay = stay
        self.client, self._options = client, {**(options or {}), **FIXED}
        self._calls: dict[str, tuple[DaskCall, Any]] = {}
        self._claims: deque[str] = deque()
        self._topic = f"jupyter-toolcall-{client.id}"
        self._looked = 0.0
        """When the starts were read last, by the clock of the client's loop."""
        self._had_workers = False

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        """Submit `function(task)`, of a ToolTask.

        Raises NotRun where it has no pickle, BrokenExecutor where the client is closed.
        """
        (task,) = args
        remote = [value for value in task.objects if type(value) is RemoteValue]
        stay = (self.stay, self.client.id) if task.of.read_only else None
        return self.submit_sent(function, task.sent(), remote, stay)

    def submit_sent(
        self,
        function: Callable[..., Any],
        sent_task: Any,
        remote: Sequence[RemoteValue] = (),
        stay: Stay | None = None,
    ) -> DaskCall:
        """Submit `function(sent_task)`, of a SentTask that takes these values from the cluster."""
        if self.client.status != "running":
            raise BrokenExecutor("its Dask client is closed, or has lost its scheduler")
        name = f"{sent_task.tool}-{uuid4().hex}"
        call = DaskCall(name, sent_task.tool, self)
        sent = pickle.dumps(_Claimed(function, sent_task, name, self._topic, stay))
        passed = [{value.key: value.content for value in remote}, *(v.future for v in remote)]
        # A worker that cannot unpickle its task dies. So the task is to unpickle the call.
        run = (run_with_values, sent, *passed) if remote else (pickle.loads, sent)
        with warnings.catch_warnings():
            # Dask advises on a large argument what the caller of a tool cannot do.
            warnings.filterwarnings("ignore", "Sending large graph")
            submitted = self.client.submit(*run, key=name, **self._options)
        if remote:
            call.cancelled_reason = "a value that it takes was lost with its worker; call it again"
        self._calls[name] = call, submitted
        self.client.loop.add_callback(self._follow, call, submitted)
        return call

    def for_functions(self) -> Executor:
        """Return an executor of any function; Dask starts one again where its worker is lost."""
        executor: Executor = self.client.get_executor(**{**self._options, **FIXED})
        return executor

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Do nothing: the cluster is the user's, or ends with the kernel."""

    # -- how a call ends, in the client's thread --------------------------------------------------

    async def _follow(self, call: DaskCall, submitted: Any) -> None:
        """Wait for a call and set its end."""
        ending = asyncio.ensure_future(submitted._result(raiseit=False))
        try:
            while not (await asyncio.wait([ending], timeout=POLL))[0]:
                if submitted.status == "pending":
                    await self._check_worker(call)
                # Of a worker that is lost while it sends a result, nothing may come any more.
                if call.done():
                    ending.cancel()
                    await submitted.cancel()
                    return
            result = ending.result()
            if submitted.status == "finished" and isinstance(result, ClaimedEnd):
                await self._accept(call, result)
            elif submitted.status == "cancelled":
                await self._fail(call, call.cancelled_reason)
            else:
                await self._fail(call, missing_package(result[1]) or error_text(result[1]))
        except Exception as error:
            call.lose(f"Dask lost the call: {error_text(error)}")
        finally:
            self._calls.pop(call.name, None)
            await self._forget_old_claims(call)

    async def _accept(self, call: DaskCall, result: ClaimedEnd) -> None:
        self._had_workers = True
        if result.end is None:
            await self._wait_for_start(call)
            call.lose()
        else:
            call.worker, call.claim = result.worker, result.claim
            call.end(self._with_remote(result.end, result.kept) if result.kept else result.end)

    def _with_remote(self, end: Any, kept: KeptResult) -> object:
        """Return an end whose result stays on its worker."""
        from distributed import Future

        # The worker has registered this client's interest, which ends with this future.
        future: Any = Future(kept.key, self.client)
        self.client.futures[kept.key].finish(type=bytes)
        cls = pickle.loads(kept.pickled_class)
        remote = RemoteValue(kept.key, cls, kept.kind, kept.content, self.client, future)
        return replace(end.load(), result=remote)

    async def _fail(self, call: DaskCall, reason: str) -> None:
        """Fail a call that did not end by itself, as not run if it never began."""
        if call.done() or call.claim:
            return
        if self.client.status == "running":
            call.claim = await claimed(self.client.scheduler, call.name)
        if call.claim:
            call.end(None, NotRun(f"not run: {reason}"))
        else:
            await self._wait_for_start(call)
            call.lose(f"it may have run: {reason}")

    async def _forget_old_claims(self, call: DaskCall) -> None:
        self._claims += [call.claim] if call.claim else []
        while len(self._claims) > CLAIMS:
            with suppress(Exception):
                await self.client.scheduler.multi_lock_release(id=self._claims.popleft())

    async def _check_worker(self, call: DaskCall) -> None:
        """End a call whose worker is lost. One that has not begun goes to another worker."""
        workers: Any = None
        # One look serves all calls that wait.
        if not call.worker and asyncio.get_running_loop().time() - self._looked >= POLL:
            await self._note_starts()
        with suppress(OSError):
            named = [call.worker] if call.worker else None
            workers = await self.client.scheduler.ncores(workers=named)
        if workers == {} and call.worker:
            call.lose()
        elif workers == {} and self._had_workers:
            call.looks_without_worker += 1
            if call.looks_without_worker * POLL >= RESTART:
                await self._fail(
                    call,
                    "all workers of the cluster are lost; give the call to a cluster that has some",
                )
        elif workers:
            self._had_workers, call.looks_without_worker = True, 0

    async def _wait_for_start(self, call: DaskCall) -> None:
        """Wait a moment for the worker's name, of a call that one has begun."""
        for _ in range(LOOKS):
            if call.worker or self.client.status != "running":
                return
            await asyncio.sleep(NOTE / LOOKS)
            await self._note_starts()

    async def _note_starts(self) -> None:
        """Note which worker began each call first.

        The scheduler is asked: if it sent each start by itself, an end that follows within
        milliseconds would wait for its next message.
        """
        self._looked = asyncio.get_running_loop().time()
        with suppress(OSError):
            for _, event in await self.client.scheduler.events(topic=self._topic):
                call, _submitted = self._calls.get(event["call"], (None, None))
                if call is not None:
                    call.worker = call.worker or event["worker"]

    def claim(self, call: DaskCall) -> bool:
        """Claim a call in the kernel, so that it never begins; return False where it has begun."""

        async def claim() -> bool:
            call.claim = await claimed(self.client.scheduler, call.name)
            if call.claim:
                return True
            await self._wait_for_start(call)
            return False

        try:
            unbegun: bool = self.client.sync(claim, callback_timeout=TIMEOUT)
        # A scheduler that does not answer says nothing.
        except Exception:
            return False
        if unbegun and call.name in self._calls:
            self._calls[call.name][1].cancel()
        return unbegun


# -- what runs in a worker -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClaimedEnd:
    """How a task ended on a worker; without an `end` it was begun before, and did not run."""

    worker: str
    end: Any
    claim: str = ""
    kept: KeptResult | None = None
    """Where its result stays on the worker."""


class _Claimed:
    """A call of `run_claimed` that runs where it is unpickled, and becomes its ClaimedEnd."""

    def __init__(self, *arguments: object) -> None:
        self.arguments = arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return run_claimed, self.arguments


async def claimed(scheduler: Any, call: str) -> str:
    """Claim a call at its scheduler; return the id of the claim, "" where there is one already."""
    claim = f"{call}-{uuid4().hex}"
    won = await scheduler.multi_lock_acquire(locks=[call], id=claim, timeout=0, num_locks=1)
    return claim if won else ""


_NOTES: set[asyncio.Future[Any]] = set()
"""What this worker sends just now: a loop has no reference to its tasks."""


def run_claimed(
    function: Callable[[Any], object], task: object, call: str, topic: str, stay: Stay | None
) -> ClaimedEnd:
    """Run a task in a worker, if it is the first one to begin it."""
    from distributed import get_worker
    from distributed.utils import sync

    worker = get_worker()
    address = str(worker.address)

    async def begin() -> str:
        # The kernel can look up where the call runs. Nothing waits for that.
        start = worker.scheduler.log_event(topic=topic, msg={"call": call, "worker": address})
        note = asyncio.ensure_future(start)
        _NOTES.add(note)
        note.add_done_callback(_NOTES.discard)
        return await claimed(worker.scheduler, call)

    claim = sync(worker.loop, begin)
    if not claim:
        return ClaimedEnd(address, None)
    end = without_unchanged_arguments(function(task))
    sent = end.sent()
    is_large = stay is not None and len(sent.pickled) >= stay[0]
    if stay is None or not is_large or (kept := pickled_result(end, stay[0])) is None:
        return ClaimedEnd(address, sent, claim)
    result, pickled = kept

    async def keep() -> None:
        worker.update_data({result.key: pickled})
        sizes = {result.key: result.size}
        await worker.scheduler.update_data(
            who_has={result.key: [address]}, nbytes=sizes, client=stay[1]
        )

    sync(worker.loop, keep)
    return ClaimedEnd(address, replace(end, result=None).sent(), claim, result)
