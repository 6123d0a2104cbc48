"""Runs of an evaluation that overlap: in the kernel, where requests to models do, or whole runs on
the workers of an executor. It knows no tasks: what runs, and what comes of it, is passed in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from ..core.errors import NotRun, UsageError
from ..maps.mapped_session import error_line
from ..maps.workers import ANSWERS, ONE_SESSION, CallsOnWorkers, Refused, this_process, window_of
from ..session.session import Session
from ..session.sessions_together import SessionsTogether
from ..tools.dask_executor import DaskExecutor
from ..tools.executors import KernelPool
from ..tools.running_tool import OutcomeUnknown
from ..tools.tool_task import SentTask, run_task
from ..tools.worker_code import dumps


class Attempt(Protocol):
    """A run that has not begun."""

    def open(self) -> Session:
        """Return its session, with its prompt recorded."""

    def ended(self, session: Session | None, error: BaseException | None) -> Any:
        """Return its result."""


A = TypeVar("A", bound=Attempt)


def runs_together(attempts: Iterable[A], jobs: int, keep: Callable[[A, Any], Any]) -> Iterator[Any]:
    """Run attempts, of which at most `jobs` are under way at once, and yield what is kept of them.

    `keep` gets each with its result when it ends. Raises KeyboardInterrupt once all that has
    ended is yielded.
    """
    ended: list[Any] = []
    stopped: KeyboardInterrupt | None = None

    @contextmanager
    def opened(begun: A) -> Iterator[Session]:
        yield begun.open()

    def on_end(begun: A, session: Session | None, error: BaseException | None) -> None:
        if not isinstance(error, KeyboardInterrupt):
            ended.append(keep(begun, begun.ended(session, error)))

    try:
        SessionsTogether(opened, on_end, jobs).run(attempts)
    except KeyboardInterrupt as error:
        stopped = error
    yield from ended
    if stopped is not None:
        raise stopped


def is_in_this_process(executor: Executor) -> bool:
    """Return whether an executor's workers are threads of this process. Raises UsageError."""
    try:
        process = executor.submit(this_process).result(timeout=ANSWERS)
    except TimeoutError:
        raise UsageError(f"executor: no worker answered within {ANSWERS:.0f} s") from None
    except Exception as error:
        raise UsageError(f"executor: a worker cannot run tasks ({error_line(error)})") from None
    return bool(process == this_process())


class _OnceCall(Future[Any]):
    """A function on a Dask cluster, which no other worker starts again."""

    def __init__(self, call: Future[Any]) -> None:
        super().__init__()
        self._call = call
        call.add_done_callback(self._end)

    def cancel(self) -> bool:
        """Cancel it unless a worker has begun it; return whether it never will."""
        return self._call.cancel()

    def _end(self, call: Future[Any]) -> None:
        if call.cancelled():
            super().cancel()
        elif (error := call.exception()) is not None:
            self.set_exception(error)
        else:
            end = call.result().load()
            self.set_exception(end.error) if end.error else self.set_result(end.result)


class _OnceExecutor(Executor):
    """Runs functions on a Dask cluster, each one once: a future of a lost worker raises
    OutcomeUnknown. Dask's own executor starts one again.
    """

    def __init__(self, executor: DaskExecutor) -> None:
        self._executor = executor

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        call = function, args, named, dict[type, str](), ()
        sent = SentTask(function.__name__, dumps(call))
        return _OnceCall(self._executor.submit_sent(run_task, sent))


def once_executor(executor: Executor) -> Executor:
    """Return an executor of any function that starts each one once, also on Dask."""
    pool: Executor | None = executor
    if isinstance(executor, KernelPool):
        executor.connect()
        pool = executor.pool
    return _OnceExecutor(pool) if isinstance(pool, DaskExecutor) else executor


def evaluation_run(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function in a worker, whose other threads run no session meanwhile."""
    with ONE_SESSION:
        return function(*arguments)


def runs_on_workers(
    executor: Executor,
    function: Callable[..., Any],
    arguments: Iterable[tuple[Any, ...]],
    jobs: int | None,
    lost: Callable[[tuple[Any, ...], str], Any],
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield arguments with what the function returned for them on a worker.

    What a lost worker ran is not repeated, since it may have had effects: `lost` returns its
    result. Raises KeyboardInterrupt at once; what has not begun is cancelled.
    """
    calls = CallsOnWorkers[tuple[Any, ...]](
        lambda planned: executor.submit(evaluation_run, function, *planned),
        window_of(executor, jobs),
        deque(arguments),
    )
    try:
        for planned, future in calls:
            match future.exception():
                case None:
                    yield planned, future.result()
                case Refused() as refused:
                    yield planned, lost(planned, f"the executor takes no runs: {refused}")
                case NotRun() | OutcomeUnknown() as unknown:
                    yield planned, lost(planned, str(unknown))
                case error:
                    yield planned, lost(planned, f"its worker was lost: {error_line(error)}")
    finally:
        for future in calls.running:
            future.cancel()
