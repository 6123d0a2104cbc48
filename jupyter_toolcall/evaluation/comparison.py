"""Runs of tasks in schemes and models, their tokens, and the table of them.

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from ..core.errors import ToolcallError, UsageError
from ..core.state import AskModel
from ..core.text import progress_bar
from ..models import anthropic_requests
from ..models.named import model_named
from ..schemes import scheme_named
from ..schemes.messages import Model, Reply, Request
from ..schemes.scheme import Scheme
from ..session.session import Session
from .ideal_model import Ideal
from .tasks import Task

Schemes = Sequence[str | Scheme]
Models = Sequence[str | Model]
Exchange = tuple[Request, Reply | None]
Planned = tuple[str | Scheme, str | Model, Task, int]
"""A scheme, a model, a task, and the number of the attempt."""
SCHEMES = ("select", "current", "flat", "native")
"""`native` is `native(flat)`: every tool stands in the text."""
IDEAL = "ideal"
OFFLINE = (IDEAL, "scripted:", "recorded:")
MAX_TURNS = 50
HEAD = """\
Calls (the scheme's own too), turns, requests and input tokens are those of a mean run; cached is
the share of the input that a prompt cache serves. A figure after ~ is an estimate from the request
as JSON (about 10 % off for tools in English), with a cache that forgets nothing. By reference:
always an estimate, for models such as Claude that read a tool where it was first shown."""
COLUMNS: tuple[str, ...] = ("scheme", "model", "solved", "calls", "turns", "requests")
COLUMNS += ("input tokens", "cached", "by reference", "cached")
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


def compare(
    tasks: Sequence[Task],
    schemes: Schemes = SCHEMES,
    models: Models = (IDEAL,),
    *,
    attempts: int = 1,
    approve: str = "",
    max_turns: int = MAX_TURNS,
) -> Iterator[Run]:
    """Run each task in each scheme and model, and yield each run.

    `approve` is "all" or "read-only"; it can be left out where no model of a provider
    takes part, and is "all" then. Raises UsageError before anything runs; after that
    whatever goes wrong is in the runs.
    """
    _check_models(tasks, schemes, models, approve)
    combined = list(product(schemes, models, tasks, range(1, attempts + 1)))
    if not combined:
        raise UsageError("there is nothing to run: give a task, a scheme, a model, an attempt")
    # What is wrong is said here, before the first run is asked for.
    return _runs(combined, approve or "all", max_turns)


def _runs(combined: Sequence[Planned], approve: str, max_turns: int) -> Iterator[Run]:
    with progress_bar(len(combined), "eval", "run", leave=False) as progress:
        for planned in combined:
            yield _run(planned, approve, max_turns)
            progress.update()


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


def _session(planned: Planned, asked: list[Exchange], approve: str, max_turns: int) -> Session:
    """Return the session of a run; its requests and replies are added to `asked`."""
    scheme, model, task, _ = planned
    named = Ideal(task.course) if model == IDEAL else model_named(model)
    assert named is not None
    answering: Model = named

    def noting(request: Request) -> Reply | None:
        asked.append((request, None))
        asked[-1] = request, answering(request)
        return asked[-1][1]

    return Session(
        task.toolbox,
        noting,
        scheme=scheme_named(scheme),
        inputs=task.inputs,
        outputs=task.outputs,
        system=task.system,
        approve=approve,
        max_turns=max_turns,
    )


def _run(planned: Planned, approve: str, max_turns: int) -> Run:
    """Return one run; a failure of a model, a tool or a check is in it."""
    scheme, model, task, attempt = planned
    asked: list[Exchange] = []
    session: Session | None = None
    try:
        session = _session(planned, asked, approve, max_turns)
        reason = _shortfall(task, session.tell(task.prompt), max_turns)
    except ToolcallError as error:
        reason = str(error)
    # A model and a check are other people's functions: what they raise ends this run alone.
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    counted, by_reference = _counted(asked)
    return Run(
        task.name,
        scheme if isinstance(scheme, str) else scheme.name,
        _label(model),
        attempt,
        solved=not reason,
        reason=reason,
        calls=len(session.state.order) if session else 0,
        turns=session.state.turns if session else 0,
        requests=len(asked),
        tokens=counted,
        estimated=any(reply is None or reply.usage is None for _, reply in asked),
        by_reference=by_reference,
    )


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


def _label(model: str | Model) -> str:
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
    return _sum(counted), _sum(_estimated(as_sent(requests, by_reference=True)))


def _estimated(requests: Iterable[str]) -> list[Tokens]:
    texts = list(requests)
    return [Tokens(tokens(t), cached) for t, cached in zip(texts, served(texts), strict=True)]


def _sum(each: Sequence[Tokens]) -> Tokens:
    return Tokens(sum(one.input for one in each), sum(one.cached for one in each))


# -- the table ----------------------------------------------------------------------------


def table(runs: Iterable[Run], *, each: bool = False, head: bool = True) -> str:
    """Return a table with a row for each scheme and model; with `each` one for each task too.

    What was not solved stands below it, with the reason; `head` explains the figures.
    """
    groups: dict[tuple[str, ...], list[Run]] = {}
    lines = []
    for run in runs:
        key = (run.task, run.scheme, run.model) if each else (run.scheme, run.model)
        groups.setdefault(key, []).append(run)
        if not run.solved:
            which = f"{run.task}, {run.scheme}, {run.model}"
            attempt = f", attempt {run.attempt}" if run.attempt > 1 else ""
            lines.append(f"not solved: {which}{attempt}: {' '.join(run.reason.split())[:300]}")
    rows: list[tuple[str, ...]] = [("task", *COLUMNS) if each else COLUMNS]
    rows += [(*key, *_figures(group)) for key, group in groups.items()]
    names = rows[0].index("solved")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    # Names stand to the left, figures to the right.
    aligned = [
        "  ".join(
            cell.ljust(width) if index < names else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([*([HEAD, ""] if head else []), *aligned, *([""] if lines else []), *lines])


def _figures(runs: Sequence[Run]) -> tuple[str, ...]:
    counted, referred = _sum([r.tokens for r in runs]), _sum([r.by_reference for r in runs])
    about = "~" if any(run.estimated for run in runs) else ""
    return (
        f"{sum(run.solved for run in runs)}/{len(runs)}",
        _mean(sum(run.calls for run in runs), len(runs)),
        _mean(sum(run.turns for run in runs), len(runs)),
        _mean(sum(run.requests for run in runs), len(runs)),
        f"{about}{_mean(counted.input, len(runs), 0)}",
        f"{about}{_cached_share(counted)}",
        f"~{_mean(referred.input, len(runs), 0)}",
        f"~{_cached_share(referred)}",
    )


def _mean(total: int, count: int, digits: int = 1) -> str:
    return f"{total / count:,.{0 if total % count == 0 else digits}f}"


def _cached_share(counted: Tokens) -> str:
    return f"{counted.cached / counted.input:.0%}" if counted.input else "-"
