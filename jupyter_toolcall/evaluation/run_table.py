"""The table of runs, and their plot: a row for each scheme and model.

Below the table stands what was not solved, by its reason. The plot is SVG with a background of its
own, so that it is read in light and in dark pages: a column of bars for each figure.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeVar

from ..core.text import aligned_lines, visible_text
from .request_tokens import Tokens, sum_tokens
from .task_runs import Run

HEAD = """\
Calls (the scheme's own too), turns, requests and input tokens are those of a mean run; cached is
the share of the input that a prompt cache serves. A figure after ~ is an estimate from the request
as JSON (about 10 % off for tools in English), with a cache that forgets nothing. By reference:
always an estimate, for models such as Claude that read a tool where it was first shown."""
COLUMNS: tuple[str, ...] = ("solved", "calls", "turns", "requests")
COLUMNS += ("input tokens", "cached", "by reference", "cached")
COSTS = ("cost", "time")
Key = TypeVar("Key", bound=Hashable)


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
    by_name = ("task", "scheme", "model") if each else ("scheme", "model")
    all_runs = list(runs)
    groups = _grouped(all_runs, lambda run: tuple(getattr(run, name) for name in by_name))
    failed = (run for run in all_runs if not run.solved)
    reasons = _grouped(failed, lambda run: " ".join(run.reason.split())[:300])
    rows: list[tuple[str, ...]] = [(*by_name, *columns)]
    rows += [(*key, *_figures(group))[: len(rows[0])] for key, group in groups.items()]
    aligned = aligned_lines(rows, texts=range(len(by_name)))
    lines = [_not_solved(reason, group) for reason, group in reasons.items()]
    return "\n".join([*([HEAD, ""] if head else []), *aligned, *([""] if lines else []), *lines])


def _grouped(runs: Iterable[Run], key: Callable[[Run], Key]) -> dict[Key, list[Run]]:
    groups: dict[Key, list[Run]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    return groups


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


# -- the plot -----------------------------------------------------------------------------------

LABEL, COLUMN, BAR, ROW, TOP = 290, 150, 84, 26, 64
"""Widths of the labels, of a column and of its longest bar; heights of a row and of the head."""
STYLE = """\
.bg{fill:#fff}.t{fill:#1f2328}.m{fill:#59636e}.b{fill:#2f6fb7}.s{fill:#2e7d4f}.r{fill:#e6e9ed}
@media(prefers-color-scheme:dark){.bg{fill:#15181c}.t{fill:#e6e9ed}.m{fill:#9aa4af}
.b{fill:#6ea8e6}.s{fill:#63c08a}.r{fill:#2a3038}}
text{font:13px system-ui,sans-serif;font-variant-numeric:tabular-nums}.h{font-weight:600}
.l{font-size:12px}"""


FIGURES = (SOLVED, CALLS, TURNS, INPUT, COST, TIME)


def plot(runs: Sequence[Run]) -> str:
    """Return the figures of a mean run of each scheme and model as an SVG."""
    groups = _grouped(runs, lambda run: f"{run.scheme}, {run.model}")
    width, height = LABEL + COLUMN * len(FIGURES) + 16, TOP + ROW * len(groups) + 16
    summary = f"{len(runs):,} runs; a bar is the mean of a run, Solved is the share of all"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="Schemes and models compared">',
        f"<style>{STYLE}</style>",
        f'<rect class="bg" width="{width}" height="{height}"/>',
        _text(16, 22, summary, "m l"),
        *(_text(16, TOP + ROW * row + 17, _label(name), "t") for row, name in enumerate(groups)),
    ]
    for column, figure in enumerate(FIGURES):
        parts += _column(figure, LABEL + COLUMN * column, list(groups.values()))
    return "\n".join([*parts, "</svg>\n"])


def _label(name: str) -> str:
    return visible_text(name, 38)


def _column(figure: Figure, left: int, groups: Sequence[Sequence[Run]]) -> list[str]:
    values = [figure.value(group) for group in groups]
    most = 1.0 if figure is SOLVED else max((v for v in values if v), default=1.0)
    kind = "s" if figure is SOLVED else "b"
    parts = [_text(left, TOP - 14, figure.title, "t h")]
    for row, value in enumerate(values):
        top = TOP + ROW * row
        if value is None:
            parts.append(_text(left, top + 17, "not known", "m l"))
            continue
        length = round(BAR * value / most, 1)
        parts.append(f'<rect class="r" x="{left}" y="{top + 6}" width="{BAR}" height="14" rx="2"/>')
        if length:
            bar = f'width="{length}" height="14" rx="2"'
            parts.append(f'<rect class="{kind}" x="{left}" y="{top + 6}" {bar}/>')
        parts.append(_text(left + BAR + 6, top + 17, figure.text(value), "t l"))
    return parts


def _text(x: int, y: int, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>'
