"""One run of a task, and runs that overlap: in the kernel, where requests to models do, or whole
runs on the workers of an executor.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.errors import ModelError, NotRun, ToolcallError, UsageError
from ..core.state import AskModel
from ..maps.mapped_session import error_line
from ..maps.workers import ANSWERS, ONE_SESSION, CallsOnWorkers, Refused, this_process, window_of
from ..models.named import model_named
from ..models.prices import cost
from ..schemes import scheme_named
from ..schemes.messages import Model, Reply, Request
from ..schemes.scheme import Scheme
from ..session.session import Session
from ..session.sessions_together import SessionsTogether
from ..tools.dask_executor import DaskExecutor
from ..tools.executors import KernelPool
from ..tools.running_tool import OutcomeUnknown
from ..tools.tool_task import SentTask, run_task
from ..tools.worker_code import dumps
from .ideal_model import Ideal
from .request_tokens import Exchange, Tokens, counted_tokens
from .tasks import Task

IDEAL = "ideal"


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt at one task and its result; `reason` says why it is not solved."""

    task: str
    scheme: str
    model: str
    attempt: int
    solved: bool
    reason: str
    calls: int
    turns: int
    requests: int
    tokens: Tokens
    estimated: bool
    """Whether a provider has not counted all of the tokens."""
    by_reference: Tokens
    """The same, estimated for a model that takes tools by reference."""
    dollars: float | None = None
    """What its requests cost; None where the model has no known price."""
    seconds: float = 0.0
    """How long it took, from its opening to its end."""
    lost: bool = False
    """Whether the worker that ran it was lost: it is run again where results are kept."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One attempt at one task, as it is sent to a worker."""

    scheme: str | Scheme
    model: str | Model
    task: Task
    attempt: int
    approve: str
    max_turns: int


@dataclass
class BegunRun:
    """A run under way, and what its model was asked."""

    planned: PlannedRun
    asked: list[Exchange] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def open(self) -> Session:
        """Return its session, with its prompt recorded. Raises ToolcallError."""
        self.began = time.monotonic()
        planned, task, asked = self.planned, self.planned.task, self.asked
        named = Ideal(task.course) if planned.model == IDEAL else model_named(planned.model)
        assert named is not None
        answering: Model = named

        def noting(request: Request) -> Reply | None:
            asked.append((request, None))
            asked[-1] = request, answering(request)
            return asked[-1][1]

        session = Session(
            task.toolbox,
            noting,
            scheme=scheme_named(planned.scheme),
            inputs=task.inputs,
            outputs=task.outputs,
            system=task.system,
            approve=planned.approve,
            max_turns=planned.max_turns,
        )
        return session.ask(task.prompt)

    def ended(self, session: Session | None, error: BaseException | None) -> Run:
        """Return the run; a failure of a model, a tool or a check is in it."""
        planned = self.planned
        seconds = time.monotonic() - self.began
        try:
            if error is not None or session is None:
                raise error or ModelError("it did not begin")
            reason = _shortfall(planned.task, session, planned.max_turns)
        except ToolcallError as raised:
            reason = str(raised)
        except KeyboardInterrupt:
            raise
        # A model and a check are other people's functions: what they raise ends this run alone.
        except BaseException as raised:
            reason = f"{type(raised).__name__}: {raised}"
        counted, by_reference = counted_tokens(self.asked)
        model = label(planned.model)
        return Run(
            planned.task.name,
            label(planned.scheme),
            model,
            planned.attempt,
            solved=not reason,
            reason=reason,
            calls=len(session.state.order) if session else 0,
            turns=session.state.turns if session else 0,
            requests=len(self.asked),
            tokens=counted,
            estimated=any(reply is None or reply.usage is None for _, reply in self.asked),
            by_reference=by_reference,
            dollars=_dollars(model, self.asked),
            seconds=round(seconds, 6),
        )


def run_planned(planned: PlannedRun) -> Run:
    """Return one run, in the kernel or in a worker."""
    begun = BegunRun(planned)
    session: Session | None = None
    try:
        session = begun.open()
        return begun.ended(session.run(), None)
    except BaseException as error:
        return begun.ended(session, error)


def _dollars(model: str, asked: Sequence[Exchange]) -> float | None:
    """Return what a run cost, None where that is not known."""
    costs = [cost(model, reply.usage) for _, reply in asked if reply is not None]
    dollars = [spent.dollars for spent in costs if spent is not None]
    return sum(dollars) if dollars and len(dollars) == len(costs) else None


def _shortfall(task: Task, session: Session, max_turns: int) -> str:
    """Return why a session did not solve its task, "" where it did. The check may raise."""
    if session.pending:
        return f"{session.pending[0].tool} waits for a person, and there is none"
    if isinstance(session.cursor.next_step, AskModel):
        over = session.state.turns >= max_turns
        return f"it is not through after {max_turns} turns" if over else "the model did not reply"
    missing = [name for name in task.outputs if name not in session.outputs]
    if missing:
        failed = [f"; {call.tool}: {call.error}" for call in session.calls if call.error]
        return f"{', '.join(missing)} was not saved{''.join(failed[:1])}"
    return "" if task.accepts(session.outputs, session.text) else "its check says no"


def label(model: str | Model | Scheme) -> str:
    """Return the name of a model or a scheme in a table of runs."""
    named = getattr(model, "name", None) or getattr(model, "__name__", None)
    return model if isinstance(model, str) else str(named or type(model).__name__)


# -- runs that overlap ---------------------------------------------------------------------


def runs_together(
    planned: Iterable[PlannedRun], jobs: int, keep: Callable[[PlannedRun, Run], Run]
) -> Iterator[Run]:
    """Run in the kernel, at most `jobs` at once, and yield what is kept of each.

    `keep` gets each with its result when it ends. Raises KeyboardInterrupt once all that has
    ended is yielded.
    """
    ended: list[Run] = []

    @contextmanager
    def opened(begun: BegunRun) -> Iterator[Session]:
        yield begun.open()

    def on_end(begun: BegunRun, session: Session | None, error: BaseException | None) -> None:
        if not isinstance(error, KeyboardInterrupt):
            ended.append(keep(begun.planned, begun.ended(session, error)))

    try:
        SessionsTogether(opened, on_end, jobs).run(map(BegunRun, planned))
    finally:
        yield from ended


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

    def __init__(self, call: Future[object]) -> None:
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

    def submit(
        self, function: Callable[..., object], /, *args: object, **named: object
    ) -> Future[Any]:
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


def evaluation_run(planned: PlannedRun) -> Run:
    """Return one run in a worker, whose other threads run no session meanwhile."""
    with ONE_SESSION:
        return run_planned(planned)


def runs_on_workers(
    executor: Executor, planned: Iterable[PlannedRun], jobs: int | None
) -> Iterator[tuple[PlannedRun, Run]]:
    """Yield runs that an executor's workers ran.

    What a lost worker ran is not repeated, since it may have had effects. Raises
    KeyboardInterrupt at once; what has not begun is cancelled.
    """
    calls = CallsOnWorkers[PlannedRun](
        lambda attempt: executor.submit(evaluation_run, attempt),
        window_of(executor, jobs),
        deque(planned),
    )
    try:
        for attempt, future in calls:
            match future.exception():
                case None:
                    yield attempt, future.result()
                case Refused() as refused:
                    yield attempt, _lost_run(attempt, f"the executor takes no runs: {refused}")
                case NotRun() | OutcomeUnknown() as unknown:
                    yield attempt, _lost_run(attempt, str(unknown))
                case error:
                    yield attempt, _lost_run(attempt, f"its worker was lost: {error_line(error)}")
    finally:
        for future in calls.running:
            future.cancel()


def _lost_run(planned: PlannedRun, reason: str) -> Run:
    return replace(BegunRun(planned).ended(None, ModelError(reason)), lost=True)
