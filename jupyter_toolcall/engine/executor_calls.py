"""A call on an executor: submitted, waited for, cancelled where it has not begun.

A call that is submitted twice could take effect twice, so nothing here submits again. If a worker
is lost, the outcome of its call is unknown; recovery runs an idempotent call once more.
"""

from __future__ import annotations

from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import suppress
from typing import Any

from ..core.errors import NotRun
from ..core.interrupts import Hold, interruptible
from ..core.recorded_data import replace
from ..tools.executors import never_runs, worker_of
from ..tools.invoke import TICK, error_text
from ..tools.running_tool import NotBegun, OutcomeUnknown
from ..tools.tool_task import SentEnd, TaskEnd, ToolTask, run_task
from ..tools.worker_code import missing_package


class StillRunning(OutcomeUnknown):
    """The kernel was interrupted while a worker runs a call that must not run twice."""


def run_on_executor(executor: Executor, task: ToolTask, repeatable: bool) -> TaskEnd:
    """Run a task on an executor, wait for it, and return how it ended.

    `repeatable` says whether the call may run again after an interrupt.

    Raises:
        NotRun: the executor takes no call or the call has no pickle.
        OutcomeUnknown: the worker was lost. StillRunning: it runs after an interrupt.
        KeyboardInterrupt: the call was interrupted, and may run again or may have begun.
        NotBegun: it was interrupted, and did not begin.
    """
    interrupted = False
    # An interrupt must not come between submitting the task and being able to cancel it.
    with Hold():
        future = submit(executor, task)
        try:
            interruptible(_wait, future)
        except KeyboardInterrupt:
            if future.cancel():
                raise (NotBegun if never_runs(future, executor) else KeyboardInterrupt) from None
            if repeatable and not future.done():
                raise
            if not future.done():
                at = worker_of(future) or "its executor"
                text = f"you stopped waiting for it, and it may still run on {at}"
                raise StillRunning(text) from None
            interrupted = True
        end = end_of(future, task)
        return replace(end, interrupted=True) if interrupted else end


def submit(executor: Executor, task: ToolTask) -> Future[Any]:
    """Submit a task. Raises NotRun where the executor takes no call."""
    try:
        return executor.submit(run_task, task)
    except BrokenExecutor as error:
        text = str(error) or "one of its workers was killed"
        reason = f"the executor is broken ({text})"
    except ConnectionError as error:
        raise NotRun(f"not run: {error}") from None
    except RuntimeError as error:
        # A closed pool of the standard library raises this.
        reason = f"the executor takes no calls ({error})"
    raise NotRun(f"not run: {reason}; give the session a new one with executor=")


def _wait(future: Future[object]) -> None:
    # On Windows a wait without a timeout cannot be interrupted.
    while not future.done():
        with suppress(TimeoutError, CancelledError):
            future.exception(timeout=TICK)


def end_of(future: Future[Any], task: ToolTask) -> TaskEnd:
    """Return how a task ended, from a future that is done. Raises NotRun and OutcomeUnknown."""
    try:
        end = future.result()
    except (NotRun, OutcomeUnknown):
        raise
    except CancelledError:
        raise NotRun(
            "not run: the executor was closed before the call began; give the session a new "
            "one with executor="
        ) from None
    except BrokenExecutor:
        raise OutcomeUnknown(f"the worker that ran {task.tool} was killed") from None
    except BaseException as error:
        # A task raises nothing, so this comes from the executor, and the tool may have run.
        if missing := missing_package(error):
            raise NotRun(f"not run: {missing}") from None
        at = worker_of(future) or "its executor"
        raise OutcomeUnknown(f"{at} lost the call: {error_text(error)}") from None
    ended: TaskEnd = end.load() if isinstance(end, SentEnd) else end
    worker = worker_of(future)
    return replace(ended, worker=worker) if worker else ended
