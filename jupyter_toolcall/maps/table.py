"""The sessions of a map as a table, in text and in HTML, and their errors grouped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from ..core.interface_text import t
from ..core.text import aligned_lines, printable, shortened_text
from .mapped_session import STATUSES, MappedPrompt, SessionSummary, Status

ROWS = 20
"""Rows that a table without a panel has."""
PROMPT = 48
"""Characters of a prompt in a row."""
COLUMNS = ("", "prompt", "status", "calls", "turns", "tokens", "note")
TEXTS = (1, 2, 6)
"""The columns that hold texts; the others hold figures."""
STYLE = (
    "<style>.toolcall-map td,.toolcall-map th{text-align:left!important;vertical-align:top;"
    "white-space:normal}.toolcall-map .n{text-align:right!important;white-space:nowrap}"
    ".toolcall-map td{overflow-wrap:break-word;max-width:40em}</style>"
)


Summaries = Sequence[SessionSummary]
"""Those of all sessions of a map, in the order of its prompts."""
Prompts = Sequence[MappedPrompt]


def counts(summaries: Summaries) -> Mapping[Status, int]:
    """Return how many sessions have each status, in the order of the table."""
    counted = Counter(row.status for row in summaries)
    return {status: counted[status] for status in STATUSES if counted[status]}


def errors(summaries: Summaries) -> Mapping[str, int]:
    """Return how many sessions failed with each error, the most frequent first."""
    return dict(Counter(row.error for row in summaries if row.error).most_common())


def ordered(summaries: Summaries) -> list[int]:
    """Return the numbers of the sessions, those first that wait or failed."""
    return sorted(range(len(summaries)), key=lambda i: STATUSES.index(summaries[i].status))


def cells(index: int, prompt: str, row: SessionSummary) -> tuple[str, ...]:
    """Return what the columns show of a session."""
    note = row.error or (t("waits for: %1", ", ".join(row.waits_for)) if row.waits_for else "")
    prompt = shortened_text(printable(" ".join(prompt.split())), PROMPT)
    numbers = (f"{number:,}" for number in (row.calls, row.turns, row.tokens))
    return (str(index), prompt, row.status, *numbers, note or ", ".join(row.saved))


def map_text(summaries: Summaries, prompts: Prompts, note: str) -> str:
    """Return the table as plain text: the first rows, the errors, and the note."""
    lines = aligned_lines([COLUMNS, *_rows(summaries, prompts)], TEXTS)
    return "\n".join([_counts_text(summaries), "", *lines, *_below(summaries, note)])


def _rows(summaries: Summaries, prompts: Prompts) -> list[tuple[str, ...]]:
    return [cells(n, prompts[n].text, summaries[n]) for n in ordered(summaries)[:ROWS]]


def _counts_text(summaries: Summaries) -> str:
    """Return how many sessions there are, and how they stand."""
    parts = [f"{count:,} {status}" for status, count in counts(summaries).items()]
    count = f"{len(summaries):,} session{'' if len(summaries) == 1 else 's'}"
    return f"{count}: {', '.join(parts)}" if parts else count


def _below(summaries: Summaries, note: str) -> list[str]:
    hidden_count, failed = len(summaries) - ROWS, errors(summaries)
    lines = [f"and {hidden_count:,} more"] if hidden_count > 0 else []
    if failed:
        lines += ["", *(f"{count:,} × {error}" for error, count in failed.items())]
    return [*lines, *(["", note] if note else [])]


def map_html(summaries: Summaries, prompts: Prompts, note: str) -> str:
    """Return the table as HTML, as a notebook keeps it."""
    head = "".join(f"<th>{escape(name)}</th>" for name in COLUMNS)
    rows = "".join(map(_html_row, _rows(summaries, prompts)))
    below = "".join(f"<div>{escape(line)}</div>" for line in _below(summaries, note))
    return (
        f'<div class="toolcall-map">{STYLE}<div>{escape(_counts_text(summaries))}</div>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{below}</div>"
    )


def _html_row(row: Sequence[str]) -> str:
    data = (
        f"<td>{escape(cell)}</td>" if index in TEXTS else f'<td class="n">{escape(cell)}</td>'
        for index, cell in enumerate(row)
    )
    return f"<tr>{''.join(data)}</tr>"
