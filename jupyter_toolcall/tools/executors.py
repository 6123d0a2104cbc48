"""Executors: where the calls of some tools run instead of the kernel's main thread.

Any `concurrent.futures.Executor` will do, and a client of Dask or of ipyparallel. Some have names:
`threads`, `processes`, `dask` (a cluster of this kernel) and `dask:ADDRESS` (of a scheduler).
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable
from concurrent import futures
from concurrent.futures import BrokenExecutor, Executor, Future
from functools import partial
from typing import Any, Protocol, TypeAlias

from ..core.errors import UsageError
from ..core.text import nearest
from .dask_executor import (
    DaskCall,
    DaskExecutor,
    check_installed,
    dask_at,
    dask_executor,
    local_dask,
)


class DaskClient(Protocol):
    """A `distributed.Client`."""

    def get_executor(self, **options: Any) -> object:
        """Return its executor."""


class EngineClient(Protocol):
    """An `ipyparallel.Client`."""

    def load_balanced_view(self, targets: object = None) -> object:
        """Return a view of its engines."""


AnyExecutor: TypeAlias = Executor | DaskClient | EngineClient | str
"""What a person gives as an executor; a text is a name."""
NAMES = ("threads", "processes", "dask")
AT = "dask:"
"""The beginning of a name with the address of a scheduler."""


class KernelPool(Executor):
    """A pool of this kernel, created at first use, and again after a worker was killed."""

    def __init__(self, create: Callable[[], Executor]) -> None:
        self._create = create
        self.pool: Executor | None = None
        """The pool, once it is created."""
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def submit(
        self, function: Callable[..., object], /, *args: object, **named: object
    ) -> Future[Any]:
        try:
            return self.connect().submit(function, *args, **named)
        except BrokenExecutor:
            self.pool = None
            return self.connect().submit(function, *args, **named)

    @property
    def client(self) -> Any:
        """The client of its cluster; None where it is no Dask pool, or is not connected yet."""
        return getattr(self.pool, "client", None)

    def connect(self) -> Executor:
        """Return the pool, created now if there is none. Raises what `create` raises."""
        self.pool = self.pool or self._create()
        return self.pool

    def for_functions(self) -> Executor:
        """Return what runs any function on this pool; it is this one where it does so itself."""
        pool = self.connect()
        return pool.for_functions() if isinstance(pool, DaskExecutor) else self

    def forget(self) -> None:
        """Start over: a forked child has none of the threads that serve its parent's pool."""
        self.pool = None

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if self.pool is not None:
            self.pool.shutdown(wait, cancel_futures=cancel_futures)
        self.forget()


def never_runs(cancelled: Future[object], executor: Executor) -> bool:
    """Return whether it is certain that a call whose future was cancelled does not run.

    The standard library's pools mark a call that runs, so its future cannot be cancelled. Of an
    executor of another kind nobody knows that.
    """
    pool = executor.pool if isinstance(executor, KernelPool) else executor
    marking = (futures.ThreadPoolExecutor, futures.ProcessPoolExecutor, CallThreads, EngineExecutor)
    return isinstance(cancelled, DaskCall) or isinstance(pool, marking)


def _end(future: Future[object], result: Callable[[], object]) -> None:
    """End a future with what a function returns or raises."""
    try:
        future.set_result(result())
    except BaseException as error:
        future.set_exception(error)


class CallThreads(Executor):
    """Runs each call in a thread of its own.

    A call that goes on after an interrupt takes no other one's thread, and does not keep the
    process from ending.
    """

    def submit(
        self, function: Callable[..., object], /, *args: object, **named: object
    ) -> Future[Any]:
        future: Future[Any] = Future()

        def run() -> None:
            if future.set_running_or_notify_cancel():
                _end(future, partial(function, *args, **named))

        threading.Thread(target=run, name="toolcall-call", daemon=True).start()
        return future


_POOLS: dict[str, KernelPool] = {
    "threads": KernelPool(futures.ThreadPoolExecutor),
    # A front end interrupts the kernel's whole process group. A worker that waits would die of it.
    "processes": KernelPool(
        partial(
            futures.ProcessPoolExecutor,
            initializer=partial(signal.signal, signal.SIGINT, signal.SIG_IGN),
        )
    ),
    "dask": KernelPool(local_dask),
}
"""The pools of this kernel by name, and those of the schedulers that it is connected to."""


def is_executor(value: object) -> bool:
    """Return whether a value is an executor, or a client of a cluster."""
    return _executor(value) is not None


def executor_named(
    value: object, option: str, names: Iterable[str] = NAMES, *, connect: bool = True
) -> Executor:
    """Return an executor: `value` itself, that of a client, or the one of that name.

    Without `connect`, the connection to a scheduler at an address is made at the first call.
    Raises UsageError, which begins with `option`, for anything else, and where no scheduler
    answers.
    """
    if isinstance(value, str):
        return _pool_named(value, option, names, connect)
    executor = _executor(value)
    if executor is None:
        raise UsageError(
            f"{option}: {value!r:.60} is no executor; give a concurrent.futures.Executor, a client "
            "of Dask or ipyparallel, 'threads', 'processes', 'dask' or 'dask:ADDRESS'"
        )
    return executor


def _pool_named(name: str, option: str, names: Iterable[str], connect: bool) -> KernelPool:
    address = name.removeprefix(AT) if name.startswith(AT) else ""
    if name not in _POOLS and not address:
        raise UsageError(
            f"{option}: no executor {name!r:.60}; give threads, processes, dask or "
            f"dask:ADDRESS.{nearest(name, names)}"
        )
    if address or name == "dask":
        check_installed(option)
    pool = _POOLS.get(name) or KernelPool(partial(dask_at, address))
    if address and connect:
        try:
            pool.connect()
        except ConnectionError as error:
            raise UsageError(f"{option}: {error}") from None
    _POOLS[name] = pool
    return pool


def _executor(value: object) -> Executor | None:
    """Return the executor that a value is, or that a client has."""
    module = type(value).__module__.partition(".")[0]
    if module == "distributed":
        return dask_executor(value)
    if module == "ipyparallel":
        view = value.load_balanced_view() if hasattr(value, "load_balanced_view") else value
        executor = getattr(view, "executor", view)
        return EngineExecutor(executor) if isinstance(executor, Executor) else None
    return value if isinstance(value, Executor) else None


def function_executor(executor: Executor) -> Executor:
    """Return the executor by which any function is submitted, and not only a tool's call.

    On Dask a function may start twice, where its worker is lost. Raises what connecting raises.
    """
    if isinstance(executor, KernelPool | DaskExecutor):
        return executor.for_functions()
    return executor


def worker_of(future: Future[Any]) -> str:
    """Return the worker of a cluster that runs or ran a call; "" where it is not known."""
    if isinstance(future, DaskCall):
        return f"{future.worker} (dask)" if future.worker else ""
    engine = future.on_engine.engine_id if isinstance(future, EngineCall) else None
    return "" if engine is None else f"engine {engine} (ipyparallel)"


class EngineCall(Future[Any]):
    """A call on an engine, which cannot be cancelled.

    A future of ipyparallel can be cancelled while an engine runs its call, and it may be done
    before it can be marked as running.
    """

    def __init__(self, on_engine: Any) -> None:
        super().__init__()
        self.on_engine = on_engine
        self.set_running_or_notify_cancel()
        on_engine.add_done_callback(lambda ended: _end(self, ended.result))


class EngineExecutor(Executor):
    """Runs calls on the engines of ipyparallel."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(
        self, function: Callable[..., object], /, *args: object, **named: object
    ) -> Future[Any]:
        return EngineCall(self._executor.submit(function, *args, **named))
