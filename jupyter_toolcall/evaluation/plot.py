"""The plot of an evaluation, as SVG: a row for each scheme and model, a column of bars for each
figure. It has a background of its own, so that it is read in light and in dark pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..core.text import shortened_text, visible_text
from .comparison import Run
from .run_table import CALLS, COST, INPUT, SOLVED, TIME, TURNS, Figure

LABEL, COLUMN, BAR, ROW, HEAD = 290, 150, 84, 26, 64
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
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.scheme, run.model), []).append(run)
    width, height = LABEL + COLUMN * len(FIGURES) + 16, HEAD + ROW * len(groups) + 16
    summary = f"{len(runs):,} runs; a bar is the mean of a run, Solved is the share of all"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="Schemes and models compared">',
        f"<style>{STYLE}</style>",
        f'<rect class="bg" width="{width}" height="{height}"/>',
        _text(16, 22, summary, "m l"),
        *(_text(16, HEAD + ROW * row + 17, _name(*key), "t") for row, key in enumerate(groups)),
    ]
    for column, figure in enumerate(FIGURES):
        parts += _column(figure, LABEL + COLUMN * column, list(groups.values()))
    return "\n".join([*parts, "</svg>\n"])


def _name(scheme: str, model: str) -> str:
    return shortened_text(visible_text(f"{scheme}, {model}"), 38)


def _column(figure: Figure, left: int, groups: Sequence[Sequence[Run]]) -> list[str]:
    values = [figure.value(group) for group in groups]
    most = 1.0 if figure is SOLVED else max((v for v in values if v), default=1.0)
    kind = "s" if figure is SOLVED else "b"
    parts = [_text(left, HEAD - 14, figure.title, "t h")]
    for row, value in enumerate(values):
        top = HEAD + ROW * row
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
