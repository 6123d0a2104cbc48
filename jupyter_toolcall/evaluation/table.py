"""Runs as a table in plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from .running import Run, Tokens

HEAD = """\
Calls (the scheme's own too), turns, requests and input tokens are those of a mean run; cached is
the share of the input that a prompt cache serves. A figure after ~ is an estimate from the request
as JSON (about 10 % off for tools in English), with a cache that forgets nothing. By reference:
always an estimate, for models such as Claude that read a tool where it was first shown."""
COLUMNS = (
    *("scheme", "model", "solved", "calls", "turns", "requests", "input tokens", "cached"),
    *("by reference", "cached"),
)
_Key = Callable[[Run], tuple[str, ...]]


def table(runs: Iterable[Run], *, each: bool = False, head: bool = True) -> str:
    """Return a table with a row for each scheme and model; with `each` one for each task too.

    What was not solved stands below it, with the reason; `head` says what the figures are.
    """
    done = list(runs)
    rows = _rows(done, _of_task if each else _of_scheme)
    columns = ("task", *COLUMNS) if each else COLUMNS
    said = [HEAD, ""] if head else []
    return "\n".join([*said, *_aligned([columns, *rows]), *_reasons(done)])


def _of_scheme(run: Run) -> tuple[str, ...]:
    return run.scheme, run.model


def _of_task(run: Run) -> tuple[str, ...]:
    return run.task, run.scheme, run.model


def _rows(runs: Sequence[Run], key: _Key) -> list[tuple[str, ...]]:
    """Groups keep the order in which they were first met."""
    met = list(dict.fromkeys(map(key, runs)))
    together = groupby(sorted(runs, key=lambda run: met.index(key(run))), key)
    return [(*named, *_figures(list(group))) for named, group in together]


def _figures(runs: Sequence[Run]) -> tuple[str, ...]:
    counted = [run.tokens for run in runs]
    referred = [run.by_reference for run in runs]
    about = "~" if any(run.estimated for run in runs) else ""
    return (
        f"{sum(run.solved for run in runs)}/{len(runs)}",
        _mean([run.calls for run in runs]),
        _mean([run.turns for run in runs]),
        _mean([run.requests for run in runs]),
        f"{about}{_mean([each.input for each in counted], 0)}",
        f"{about}{_share(counted)}",
        f"~{_mean([each.input for each in referred], 0)}",
        f"~{_share(referred)}",
    )


def _mean(numbers: Sequence[int], digits: int = 1) -> str:
    mean = sum(numbers) / len(numbers)
    return f"{mean:,.{0 if mean == int(mean) else digits}f}"


def _share(counted: Sequence[Tokens]) -> str:
    whole = sum(each.input for each in counted)
    return f"{sum(each.cached for each in counted) / whole:.0%}" if whole else "-"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Names stand to the left, figures to the right."""
    names = list(rows[0]).index("solved")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < names else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _reasons(runs: Sequence[Run]) -> list[str]:
    lines = [
        f"not solved: {run.task}, {run.scheme}, {run.model}"
        f"{f', attempt {run.attempt}' if run.attempt > 1 else ''}: {_one_line(run.reason)}"
        for run in runs
        if not run.solved
    ]
    return ["", *lines] if lines else []


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]
