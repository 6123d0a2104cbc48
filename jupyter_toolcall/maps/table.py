"""The sessions of a map as a table, in text and in HTML, and their errors grouped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from ..core.interface_text import t
from ..core.text import aligned_lines, printable, shortened_text
from .mapped_session import STATUSES

if TYPE_CHECKING:
    from .session_map import MappedSession, SessionMap

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


def ordered(sessions: SessionMap) -> list[int]:
    """Return the numbers of the sessions, those first that wait or failed."""
    rank = {status: number for number, status in enumerate(STATUSES)}
    return sorted(range(len(sessions)), key=lambda i: (rank[sessions.summaries[i].status], i))


def counts_text(sessions: SessionMap) -> str:
    """Return how many sessions there are, and how they stand."""
    parts = [f"{count:,} {status}" for status, count in sessions.counts.items()]
    count = f"{len(sessions):,} session{'' if len(sessions) == 1 else 's'}"
    return f"{count}: {', '.join(parts)}" if parts else count


def cells(session: MappedSession) -> tuple[str, ...]:
    """Return what the columns show of a session."""
    row = session.summary
    note = row.error or (t("waits for: %1", ", ".join(row.waits_for)) if row.waits_for else "")
    prompt = shortened_text(printable(" ".join(session.prompt.split())), PROMPT)
    numbers = (f"{number:,}" for number in (row.calls, row.turns, row.tokens))
    return (str(session.index), prompt, row.status, *numbers, note or ", ".join(row.saved))


def map_text(sessions: SessionMap) -> str:
    """Return the table as plain text: the first rows, the errors, and the note."""
    rows = [COLUMNS, *(cells(sessions[index]) for index in ordered(sessions)[:ROWS])]
    lines = [counts_text(sessions), "", *aligned_lines(rows, TEXTS)]
    return "\n".join([*lines, *_below(sessions, len(sessions) - ROWS)])


def _below(sessions: SessionMap, more: int) -> list[str]:
    lines = [f"and {more:,} more"] if more > 0 else []
    if sessions.errors:
        lines += ["", *(f"{count:,} × {error}" for error, count in sessions.errors.items())]
    return [*lines, *(["", sessions.note] if sessions.note else [])]


def map_html(sessions: SessionMap) -> str:
    """Return the table as HTML, as a notebook keeps it."""
    head = "".join(f"<th>{escape(name)}</th>" for name in COLUMNS)
    rows = "".join(_html_row(cells(sessions[index])) for index in ordered(sessions)[:ROWS])
    below = "".join(f"<div>{escape(line)}</div>" for line in _below(sessions, len(sessions) - ROWS))
    return (
        f'<div class="toolcall-map">{STYLE}<div>{escape(counts_text(sessions))}</div>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{below}</div>"
    )


def _html_row(row: Sequence[str]) -> str:
    data = (
        f"<td>{escape(cell)}</td>" if index in TEXTS else f'<td class="n">{escape(cell)}</td>'
        for index, cell in enumerate(row)
    )
    return f"<tr>{''.join(data)}</tr>"
