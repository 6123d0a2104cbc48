"""Running tasks in schemes and models. What goes wrong in a run is a line of its result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from ..errors import ToolcallError, UsageError
from ..models.named import model_named
from ..progress import bar
from ..request import Model, Reply, Request
from ..schemes import Scheme, scheme_named
from ..session import Session
from ..state.steps import AskModel
from .counting import as_sent, served, tokens
from .ideal import Ideal
from .tasks import Task

SCHEMES = ("select", "current", "flat", "native")
"""`native` is `native(flat)`: every tool stands in the text."""
IDEAL = "ideal"
OFFLINE = (IDEAL, "scripted:", "recorded:")
MAX_TURNS = 50


@dataclass(frozen=True, slots=True)
class Tokens:
    """Input tokens of a run, and those of them that a prompt cache serves."""

    input: int = 0
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one attempt at one task; `reason` says why it is not solved."""

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


class Heard:
    """A model, and all that it was asked: each request, with the reply where one came."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.turns: list[tuple[Request, Reply | None]] = []

    def __call__(self, request: Request) -> Reply | None:
        self.turns.append((request, None))
        reply = self.model(request)
        self.turns[-1] = request, reply
        return reply


def compare(
    tasks: Sequence[Task],
    schemes: Sequence[str | Scheme] = SCHEMES,
    models: Sequence[str | Model] = (IDEAL,),
    *,
    attempts: int = 1,
    approve: str = "",
    max_turns: int = MAX_TURNS,
) -> Iterator[Run]:
    """Run each task in each scheme and model, and yield what came of it.

    `approve` is "all" or "read-only"; it can be left out where no model of a provider
    takes part, and is "all" then. Raises UsageError before anything runs; after that
    whatever goes wrong is in the runs.
    """
    rule = _approval(models, approve)
    _all_there(tasks, schemes, models)
    combined = list(product(schemes, models, tasks, range(1, attempts + 1)))
    if not combined:
        raise UsageError("there is nothing to run: give a task, a scheme, a model, an attempt")
    return _each(combined, rule, max_turns)


def _each(
    combined: Sequence[tuple[str | Scheme, str | Model, Task, int]], rule: str, max_turns: int
) -> Iterator[Run]:
    with bar(len(combined), "eval", "run") as shown:
        for scheme, model, task, attempt in combined:
            yield attempted(task, scheme, model, attempt, rule, max_turns)
            shown.update()


def _approval(models: Sequence[str | Model], approve: str) -> str:
    """A model of a provider may ask for anything, and nobody is there to look at it."""
    met = [_label(model) for model in models if not _is_offline(model)]
    if met and not approve:
        raise UsageError(
            f"what {met[0]} asks for would run without waiting for you: say --approve all to "
            "allow that, or --approve read-only"
        )
    if approve not in ("", "all", "read-only"):
        raise UsageError(f"approve={approve!r}: nobody is there to ask; give all or read-only")
    return approve or "all"


def _is_offline(model: str | Model) -> bool:
    """A model that is a function of the caller's is taken for offline, a provider's is not."""
    name = _label(model)
    return name.startswith(OFFLINE) or (not isinstance(model, str) and ":" not in name)


def _all_there(
    tasks: Sequence[Task], schemes: Sequence[str | Scheme], models: Sequence[str | Model]
) -> None:
    names = [scheme_named(scheme).name for scheme in schemes]
    for model in models:
        if model != IDEAL:
            model_named(model)
    spoken = [name for name in names if name.startswith("native(") and IDEAL in models]
    if any(name != "native(flat)" for name in spoken):
        raise UsageError(
            f"the model {IDEAL} cannot speak {spoken[0]}; give native, or other models"
        )
    bare = [task.name for task in tasks if not task.plan and IDEAL in models]
    if bare:
        raise UsageError(
            f"task {bare[0]!r} has no plan, and the model {IDEAL} goes by it: give plan=[...], "
            "or other models"
        )


def attempted(
    task: Task,
    scheme: str | Scheme,
    model: str | Model = IDEAL,
    attempt: int = 1,
    approve: str = "all",
    max_turns: int = MAX_TURNS,
) -> Run:
    """Return what came of one attempt; a failure of a model, a tool or a check is in it."""
    heard = Heard(_model(model, task))
    session: Session | None = None
    try:
        session = Session(
            task.toolbox,
            heard,
            scheme=scheme_named(scheme),
            inputs=task.inputs,
            outputs=task.outputs,
            system=task.system,
            approve=approve,
            max_turns=max_turns,
        )
        reason = shortfall(task, session.tell(task.prompt), max_turns)
    except ToolcallError as error:
        reason = str(error)
    # A model and a check are other people's functions: what they raise ends this run alone.
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    return _run(task, scheme, model, attempt, reason, session, heard)


def _model(model: str | Model, task: Task) -> Model:
    made = Ideal(task.course) if model == IDEAL else model_named(model)
    assert made is not None
    return made


def shortfall(task: Task, session: Session, max_turns: int = MAX_TURNS) -> str:
    """Return why a session did not solve its task, "" where it did. The check may raise."""
    if session.pending:
        return f"{session.pending[0].tool} waits for a person, and there is none"
    if isinstance(session.cursor.due, AskModel):
        over = session.state.turns >= max_turns
        return f"it is not through after {max_turns} turns" if over else "the model did not reply"
    missing = [name for name in task.outputs if name not in session.outputs]
    if missing:
        return f"{', '.join(missing)} was not saved{_first_failure(session)}"
    return "" if task.accepts(session.outputs, session.text) else "its check says no"


def _first_failure(session: Session) -> str:
    failed = (f"; {call.tool}: {call.error}" for call in session.calls if call.error)
    return next(failed, "")


def _run(
    task: Task,
    scheme: str | Scheme,
    model: str | Model,
    attempt: int,
    reason: str,
    session: Session | None,
    heard: Heard,
) -> Run:
    counted, by_reference = _counted(heard)
    return Run(
        task.name,
        scheme if isinstance(scheme, str) else scheme.name,
        _label(model),
        attempt,
        solved=not reason,
        reason=reason,
        calls=len(session.state.order) if session else 0,
        turns=session.state.turns if session else 0,
        requests=len(heard.turns),
        tokens=counted,
        estimated=any(reply is None or reply.usage is None for _, reply in heard.turns),
        by_reference=by_reference,
    )


def _label(model: str | Model) -> str:
    named = getattr(model, "name", None) or getattr(model, "__name__", None)
    return model if isinstance(model, str) else str(named or type(model).__name__)


def _counted(heard: Heard) -> tuple[Tokens, Tokens]:
    """Return the tokens as a provider counted them, or else as estimated; and by reference."""
    requests = [request for request, _ in heard.turns]
    estimates = _estimated(list(as_sent(requests)))
    said = [
        Tokens(reply.usage.input, reply.usage.cached) if reply and reply.usage else estimate
        for (_, reply), estimate in zip(heard.turns, estimates, strict=True)
    ]
    return _sum(said), _sum(_estimated(list(as_sent(requests, by_reference=True))))


def _estimated(texts: Sequence[str]) -> list[Tokens]:
    return [Tokens(tokens(t), cached) for t, cached in zip(texts, served(texts), strict=True)]


def _sum(each: Sequence[Tokens]) -> Tokens:
    return Tokens(sum(one.input for one in each), sum(one.cached for one in each))
