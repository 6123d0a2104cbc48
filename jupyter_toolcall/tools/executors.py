"""Executors: where the calls of some tools run instead of the kernel's main thread.

Any `concurrent.futures.Executor` will do; two have names, `threads` and `processes`.
"""

from __future__ import annotations

import concurrent.futures
import os
import signal
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

from ..core.errors import UsageError
from ..core.text import nearest

NAMES = ("threads", "processes")


class KernelPool(Executor):
    """A pool of this kernel, created at first use, and again after a worker was killed."""

    def __init__(self, create: Callable[[], Executor]) -> None:
        self._create = create
        self._pool: Executor | None = None

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        self._pool = self._pool or self._create()
        try:
            return self._pool.submit(function, *args, **named)
        except BrokenExecutor:
            self._pool = self._create()
            return self._pool.submit(function, *args, **named)

    def forget(self) -> None:
        """Start over: a forked child has none of the threads that serve its parent's pool."""
        self._pool = None

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait, cancel_futures=cancel_futures)
        self._pool = None


class CallThreads(Executor):
    """Runs each call in a thread of its own.

    A call that goes on after an interrupt takes no other one's thread, and does not keep the
    process from ending.
    """

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(function(*args, **named))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, name="toolcall-call", daemon=True).start()
        return future


def _processes() -> Executor:
    # A front end interrupts the kernel's whole process group. A worker that waits would die of it.
    return concurrent.futures.ProcessPoolExecutor(initializer=_ignore_interrupts)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


_POOLS: Mapping[str, KernelPool] = {
    "threads": KernelPool(concurrent.futures.ThreadPoolExecutor),
    "processes": KernelPool(_processes),
}


if hasattr(os, "register_at_fork"):
    for _pool in _POOLS.values():
        os.register_at_fork(after_in_child=_pool.forget)


def is_executor(value: object) -> bool:
    """Return whether a value is an executor."""
    return isinstance(value, Executor)


def executor_named(value: Any, option: str, known: Iterable[str] = NAMES) -> Executor:
    """Return an executor: `value` itself, or the one of that name.

    Raises UsageError, which begins with `option`, for anything else.
    """
    if isinstance(value, Executor):
        return value
    if isinstance(value, str) and value in _POOLS:
        return _POOLS[value]
    if isinstance(value, str):
        hint = nearest(value, known)
        raise UsageError(f"{option}: no executor {value!r:.60}; give threads or processes.{hint}")
    # Clients of Dask and of ipyparallel have a method that returns their executor.
    method = next((each for each in ("get_executor", "executor") if hasattr(value, each)), "")
    remedy = f"write NAME.{method}()" if method else "give a concurrent.futures.Executor"
    raise UsageError(f"{option}: {value!r:.60} is no executor; {remedy}, 'threads' or 'processes'")
