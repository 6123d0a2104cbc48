"""Runs of tasks in schemes and models, and their tokens.

No provider publishes the tokenizer of its newest models, and each writes tools into the
prompt in words of its own, so what is counted here is the request as the JSON that the
Messages API takes. On requests with tools in English the rule stays within 10 % of four
published vocabularies (cl100k_base, o200k_base, those of Claude 2 and of DeepSeek), and
within 16 % on a bare list of names; other languages may be 30 % off. Four characters a
token, the usual rule of thumb, is up to 18 % off on the former, and 43 % on tables of
numbers. What it is good for is comparing schemes: there most of the error is on both sides.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any

from ..core.errors import ModelError, ToolcallError, UsageError
from ..core.state import AskModel
from ..core.text import progress_bar
from ..maps.workers import demand_pickles
from ..models import anthropic_requests
from ..models.named import model_named
from ..models.prices import cost
from ..schemes import scheme_named
from ..schemes.messages import Model, Reply, Request, server_digest
from ..schemes.scheme import Scheme
from ..session.session import Session
from ..tools.executors import executor_named
from .ideal_model import Ideal
from .parallel_runs import is_in_this_process, once_executor, runs_on_workers, runs_together
from .results_folder import ResultsFolder, run_key, task_digest
from .tasks import Task

Schemes = Sequence[str | Scheme]
Models = Sequence[str | Model]
Exchange = tuple[Request, Reply | None]
SCHEMES = ("select", "current", "flat", "native")
"""`native` is `native(flat)`: every tool stands in the text."""
IDEAL = "ideal"
OFFLINE = (IDEAL, "scripted:", "recorded:")
MAX_TURNS = 50
REMEDY = "name a file of tasks, and schemes and models by their names"
_PIECE = re.compile(r"[A-Z]?[a-z]{1,10}|[A-Z]{1,3}|\d{1,3}|[^\w\s]{1,3}|[^\W\d_a-zA-Z]|\n+")
"""A word of camelCase, some capitals, three digits, up to three signs in a row."""
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=dict)
_REFERRING, _PLAIN = "claude-sonnet-5", "claude-3"
"""A model that takes tools by reference, and one that does not."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Input tokens of a run, and those of them that a prompt cache serves."""

    input: int = 0
    cached: int = 0


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


def compare(
    tasks: Sequence[Task],
    schemes: Schemes = SCHEMES,
    models: Models = (IDEAL,),
    *,
    attempts: int = 1,
    approve: str = "",
    max_turns: int = MAX_TURNS,
    jobs: int | None = None,
    executor: Executor | str | None = None,
    results: ResultsFolder | None = None,
) -> Iterator[Run]:
    """Run each task in each scheme and model, and yield each run.

    Args:
        tasks: What is to be done, each a `Task`.
        schemes: The schemes, as for `Session`.
        models: The models, as for `Session`; "ideal" follows each task's plan.
        attempts: How often each task is run.
        approve: "all" or "read-only". It may be left out where no model is a provider's.
        max_turns: The most replies of a run.
        jobs: How many runs execute at the same time: their requests overlap, their tools run one
            after the other.
        executor: Where whole runs execute.
        results: A folder of runs; those that are in it are not run again.

    Raises:
        UsageError: An argument is wrong. After the first run, each error is in its run.
    """
    _check_models(tasks, schemes, models, approve)
    if jobs is not None and jobs < 1:
        raise UsageError(f"jobs={jobs}: how many runs are under way at once, at least 1")
    settings = approve or "all", max_turns
    every = product(schemes, models, tasks, range(1, attempts + 1))
    # A digest reads the inputs, so each task gets one, and only where it is looked up.
    digests = {} if results is None else {id(task): task_digest(task) for task in tasks}
    # So does a server's, since an address is read from the environment.
    servers = {id(model): _server(model) for model in models} if digests else {}
    planned = [
        PlannedRun(*parts, *settings, digests.get(id(parts[2]), ""), servers.get(id(parts[1]), ""))
        for parts in every
    ]
    if not planned:
        raise UsageError("there is nothing to run: give a task, a scheme, a model, an attempt")
    chosen = None if executor is None else executor_named(executor, "executor")
    chosen = chosen and once_executor(chosen)
    if chosen is not None and is_in_this_process(chosen):
        chosen, jobs = None, jobs or 2 * getattr(chosen, "_max_workers", 2)
    if chosen is not None:
        parts: dict[str, Any] = {f"the scheme {_label(scheme)}": scheme for scheme in schemes}
        parts |= {f"the model {_label(model)}": model for model in models}
        parts |= {f"task {task.name!r}": task for task in tasks}
        demand_pickles(parts, lambda name: REMEDY)
    # What is wrong is said here, before the first run is asked for.
    return _runs(planned, jobs, chosen, results)


def _runs(
    planned: Sequence[PlannedRun],
    jobs: int | None,
    executor: Executor | None,
    results: ResultsFolder | None,
) -> Iterator[Run]:
    """Yield the runs that are recorded, and then the others as they end."""
    recorded = {} if results is None else results.runs
    with progress_bar(len(planned), "eval", "run", leave=False) as progress:
        due = []
        for attempt in planned:
            if recorded and (data := recorded.get(attempt.key)) is not None:
                progress.update()
                yield run_of(data)
            else:
                due.append(attempt)

        def keep(attempt: PlannedRun, run: Run) -> Run:
            if results is not None and not run.lost:
                results.add(attempt.key, asdict(run))
            progress.update()
            return run

        yield from _new_runs(due, jobs, executor, keep)


def _new_runs(
    due: Sequence[PlannedRun],
    jobs: int | None,
    executor: Executor | None,
    keep: Callable[[PlannedRun, Run], Run],
) -> Iterator[Run]:
    """Yield runs; each is kept when it ends."""
    if executor is not None:
        arguments = [(attempt,) for attempt in due]
        for (attempt,), run in runs_on_workers(executor, run_planned, arguments, jobs, _lost_run):
            yield keep(attempt, run)
    elif jobs is None or jobs == 1:
        for attempt in due:
            yield keep(attempt, run_planned(attempt))
    else:
        begun = (BegunRun(attempt) for attempt in due)
        yield from runs_together(begun, jobs, lambda attempt, run: keep(attempt.planned, run))


def _lost_run(arguments: tuple[PlannedRun], reason: str) -> Run:
    """Return the run of a worker that was lost. It is not repeated: it may have had effects."""
    return replace(BegunRun(arguments[0]).ended(None, ModelError(reason)), lost=True)


def run_of(data: Mapping[str, Any]) -> Run:
    """Return a run from its JSON."""
    tokens = {name: Tokens(**data[name]) for name in ("tokens", "by_reference")}
    return Run(**{**data, **tokens})


def _check_models(tasks: Sequence[Task], schemes: Schemes, models: Models, approve: str) -> None:
    """Raise UsageError for what cannot run, and for what would run unasked."""
    for model in models:
        name = _label(model)
        # A model that is a function of the caller's is taken for offline.
        offline = name.startswith(OFFLINE) or (not isinstance(model, str) and ":" not in name)
        if not offline and not approve:
            raise UsageError(
                f"what {name} asks for would run without waiting for you: say --approve all to "
                "allow that, or --approve read-only"
            )
    if approve not in ("", "all", "read-only"):
        raise UsageError(f"approve={approve!r}: nobody is there to ask; give all or read-only")
    names = [scheme_named(scheme).name for scheme in schemes]
    for model in models:
        if model != IDEAL:
            model_named(model)
    for name in names if IDEAL in models else ():
        if name.startswith("native(") and name != "native(flat)":
            raise UsageError(f"the model {IDEAL} cannot speak {name}; give native, or other models")
    for task in tasks if IDEAL in models else ():
        if not task.plan:
            raise UsageError(
                f"task {task.name!r} has no plan, and the model {IDEAL} goes by it: give "
                "plan=[...], or other models"
            )


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One attempt at one task, as it is sent to a worker."""

    scheme: str | Scheme
    model: str | Model
    task: Task
    attempt: int
    approve: str
    max_turns: int
    task_digest: str = ""
    """The digest of the task where runs are kept."""
    server: str = ""
    """That of the address of the model's server."""

    @property
    def key(self) -> str:
        """Its key in a folder of results."""
        scheme = self.scheme if isinstance(self.scheme, str) else self.scheme.name
        model, settings = _label(self.model) + self.server, (self.approve, self.max_turns)
        return run_key(self.task_digest, scheme, model, self.attempt, settings)


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
        # A model and a check are other people's functions: what they raise ends this run alone.
        except Exception as raised:
            reason = f"{type(raised).__name__}: {raised}"
        counted, by_reference = _counted(self.asked)
        scheme, model = planned.scheme, _label(planned.model)
        return Run(
            planned.task.name,
            scheme if isinstance(scheme, str) else scheme.name,
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
    except Exception as error:
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


def _server(model: str | Model) -> str:
    return "" if model == IDEAL else server_digest(model_named(model))


def _label(model: str | Model | Scheme) -> str:
    named = getattr(model, "name", None) or getattr(model, "__name__", None)
    return model if isinstance(model, str) else str(named or type(model).__name__)


# -- tokens, and what a prompt cache would serve of them ----------------------------------


def tokens(text: str) -> int:
    """Return about how many tokens a text has."""
    return len(_PIECE.findall(text))


def served(texts: Sequence[str]) -> list[int]:
    """Return, for each request, the tokens that it begins with as an earlier one did.

    This is what a cache serves that forgets nothing and knows every prefix.
    """
    longest = (
        max((_common_prefix(text, earlier) for earlier in texts[:index]), default=0)
        for index, text in enumerate(texts)
    )
    return [tokens(text[:length]) for text, length in zip(texts, longest, strict=True)]


def _common_prefix(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike: a binary search, for long texts."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def as_sent(requests: Iterable[Request], *, by_reference: bool = False) -> Iterator[str]:
    """Yield each request as a model reads it: tools, system, messages, as providers cache them.

    Most models get the tools of the turn, as they are described now. By reference every
    tool is declared once and kept; one that is selected later is read where it was
    selected, so that nothing before it changes.
    """
    model = anthropic_requests.target(_REFERRING if by_reference else _PLAIN, 1, None, True)
    for request in requests:
        sent = request if by_reference else replace(request, first=(), news="")
        body = anthropic_requests.body(sent, model)
        declared = {tool["name"]: tool for tool in body.get("tools", ())}
        shown = [tool for tool in declared.values() if "defer_loading" not in tool]
        turns = (_resolved(turn, declared) for turn in body["messages"])
        tools = (_JSON.encode(_resolved(tool, declared)) for tool in shown)
        yield "\n".join([*tools, request.system, *map(_JSON.encode, turns)])


def _resolved(part: Any, declared: Mapping[str, dict[str, Any]]) -> Any:
    """Return a part of a message with tools instead of references, and without cache marks."""
    match part:
        case {"type": "tool_reference", "tool_name": name}:
            return {key: item for key, item in declared[name].items() if key != "defer_loading"}
        case dict():
            return {k: _resolved(v, declared) for k, v in part.items() if k != "cache_control"}
        case list():
            return [_resolved(item, declared) for item in part]
    return part


def _counted(asked: Sequence[Exchange]) -> tuple[Tokens, Tokens]:
    """Return the tokens as a provider counted them, or else as estimated; and by reference."""
    requests = [request for request, _ in asked]
    counted = [
        Tokens(reply.usage.input, reply.usage.cached) if reply and reply.usage else estimate
        for (_, reply), estimate in zip(asked, _estimated(as_sent(requests)), strict=True)
    ]
    return sum_tokens(counted), sum_tokens(_estimated(as_sent(requests, by_reference=True)))


def _estimated(requests: Iterable[str]) -> list[Tokens]:
    texts = list(requests)
    return [Tokens(tokens(t), cached) for t, cached in zip(texts, served(texts), strict=True)]


def sum_tokens(counts: Sequence[Tokens]) -> Tokens:
    """Return the tokens of several runs or requests together."""
    return Tokens(sum(one.input for one in counts), sum(one.cached for one in counts))
