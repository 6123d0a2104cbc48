"""The table of runs: a row for each scheme and model, and what was not solved, by its reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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


def table(
    runs: Iterable[Run], *, each: bool = False, head: bool = True, costs: bool = False
) -> str:
    """Return a table with a row for each scheme and model; with `each` one for each task too.

    What was not solved stands below it, with the reason; `head` explains the figures, `costs`
    adds what a mean run costs (US dollars) and how long it takes (s).
    """
    columns, more = (*COLUMNS, *COSTS) if costs else COLUMNS, len(COSTS) if costs else 0
    groups: dict[tuple[str, ...], list[Run]] = {}
    reasons: dict[str, list[Run]] = {}
    for run in runs:
        key = (run.task, run.scheme, run.model) if each else (run.scheme, run.model)
        groups.setdefault(key, []).append(run)
        if not run.solved:
            reasons.setdefault(" ".join(run.reason.split())[:300], []).append(run)
    rows: list[tuple[str, ...]] = [("task", *columns) if each else columns]
    rows += [
        (*key, *_figures(group), *_cost_figures(group)[:more]) for key, group in groups.items()
    ]
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


def _cost_figures(runs: Sequence[Run]) -> tuple[str, ...]:
    dollars = mean_dollars(runs)
    price = "-" if dollars is None else f"${dollars:.4f}"
    return price, duration(sum(run.seconds for run in runs) / len(runs))


def mean_dollars(runs: Sequence[Run]) -> float | None:
    """Return what a mean run costs; None where a run's cost is not known."""
    prices = [run.dollars for run in runs if run.dollars is not None]
    return sum(prices) / len(prices) if len(prices) == len(runs) else None


def duration(seconds: float) -> str:
    """Return a time as it is read: `12.3 s`, or `45 ms` where it is short."""
    return f"{seconds:,.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def _figures(runs: Sequence[Run]) -> tuple[str, ...]:
    counted, referred = (
        sum_tokens([r.tokens for r in runs]),
        sum_tokens([r.by_reference for r in runs]),
    )
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
