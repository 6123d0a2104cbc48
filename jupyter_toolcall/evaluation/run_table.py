"""The table of runs: a row for each scheme and model, and what was not solved, by its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..core.text import aligned_lines
from .comparison import Run, Tokens, sum_tokens

HEAD = """\
Calls (the scheme's own too), turns, requests and input tokens are those of a mean run; cached is
the share of the input that a prompt cache serves. A figure after ~ is an estimate from the request
as JSON (about 10 % off for tools in English), with a cache that forgets nothing. By reference:
always an estimate, for models such as Claude that read a tool where it was first shown."""
COLUMNS: tuple[str, ...] = ("scheme", "model", "solved", "calls", "turns", "requests")
COLUMNS += ("input tokens", "cached", "by reference", "cached")
COSTS = ("cost", "time")


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a group of runs: its title, its value (None: not known), and that as text."""

    title: str
    value: Callable[[Sequence[Run]], float | None]
    text: Callable[[float], str]

    def __call__(self, runs: Sequence[Run]) -> str:
        """Return its text for a group of runs."""
        value = self.value(runs)
        return "-" if value is None else self.text(value)


def _mean(value: Callable[[Run], float]) -> Callable[[Sequence[Run]], float]:
    return lambda runs: sum(map(value, runs)) / len(runs)


def _mean_dollars(runs: Sequence[Run]) -> float | None:
    prices = [run.dollars for run in runs if run.dollars is not None]
    return sum(prices) / len(prices) if len(prices) == len(runs) else None


def _count(value: float) -> str:
    return f"{value:,.{0 if value.is_integer() else 1}f}"


def _duration(seconds: float) -> str:
    return f"{seconds:,.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


SOLVED = Figure("Solved", _mean(lambda run: float(run.solved)), lambda value: f"{value:.0%}")
CALLS = Figure("Calls", _mean(lambda run: run.calls), _count)
TURNS = Figure("Turns", _mean(lambda run: run.turns), _count)
REQUESTS = Figure("Requests", _mean(lambda run: run.requests), _count)
INPUT = Figure("Input tokens", _mean(lambda run: run.tokens.input), lambda value: f"{value:,.0f}")
REFERRED = Figure("By reference", _mean(lambda run: run.by_reference.input), INPUT.text)
COST = Figure("Cost", _mean_dollars, lambda value: f"${value:.4f}")
TIME = Figure("Time", _mean(lambda run: run.seconds), _duration)


def table(
    runs: Iterable[Run], *, each: bool = False, head: bool = True, costs: bool = False
) -> str:
    """Return a table with a row for each scheme and model; with `each` one for each task too.

    What was not solved stands below it, with the reason; `head` explains the figures, `costs`
    adds what a mean run costs (US dollars) and how long it takes (s).
    """
    columns = (*COLUMNS, *COSTS) if costs else COLUMNS
    groups: dict[tuple[str, ...], list[Run]] = {}
    reasons: dict[str, list[Run]] = {}
    for run in runs:
        key = (run.task, run.scheme, run.model) if each else (run.scheme, run.model)
        groups.setdefault(key, []).append(run)
        if not run.solved:
            reasons.setdefault(" ".join(run.reason.split())[:300], []).append(run)
    rows: list[tuple[str, ...]] = [("task", *columns) if each else columns]
    rows += [(*key, *_figures(group))[: len(rows[0])] for key, group in groups.items()]
    aligned = aligned_lines(rows, texts=range(rows[0].index("solved")))
    lines = [_not_solved(reason, group) for reason, group in reasons.items()]
    return "\n".join([*([HEAD, ""] if head else []), *aligned, *([""] if lines else []), *lines])


def _not_solved(reason: str, runs: Sequence[Run]) -> str:
    """Return a line on the runs that failed for one reason, which names the first of them."""
    first = runs[0]
    which = f"{first.task}, {first.scheme}, {first.model}"
    which += f", attempt {first.attempt}" if first.attempt > 1 else ""
    if len(runs) == 1:
        return f"not solved: {which}: {reason}"
    return f"not solved: {len(runs):,} × {reason} (first: {which})"


def _figures(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the cells of a row behind its names, those of the costs last."""
    about = "~" if any(run.estimated for run in runs) else ""
    cached = f"{about}{_cached_share([run.tokens for run in runs])}"
    referred_cached = f"~{_cached_share([run.by_reference for run in runs])}"
    tokens = f"{about}{INPUT(runs)}", cached, f"~{REFERRED(runs)}", referred_cached
    counts = CALLS(runs), TURNS(runs), REQUESTS(runs)
    solved = f"{sum(run.solved for run in runs)}/{len(runs)}"
    return solved, *counts, *tokens, COST(runs), TIME(runs)


def _cached_share(counts: Sequence[Tokens]) -> str:
    counted = sum_tokens(counts)
    return f"{counted.cached / counted.input:.0%}" if counted.input else "-"
