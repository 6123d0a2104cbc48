"""A session as plain text: its state and its steps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..compare.branch_totals import BranchTotals
from ..core.digests import readable_json
from ..core.text import count_text, first_line, visible_text
from .contract import Rows
from .contract_rows import CallRow, SessionRow

LINES, TITLE = 12, 60
"""Of the last steps, and characters of a prompt in a title."""
MOST_EDITED = 4
"""Calls decided on otherwise that are told one by one."""
MARKS = {"succeeded": "✓", "failed": "✗", "rejected": "∅", "answered": "☺", "unknown": "?"}


def session_text(rows: Rows) -> str:
    """Return a session as plain text: its state, its steps, and notes on them."""
    calls = [row for row in rows.calls if not row.branch]
    names_by_call: dict[str, list[str]] = {}
    for row in rows.objects:
        if row.role == "made":
            names_by_call.setdefault(row.call, []).append(row.name)
    lines = [summary_line(rows), *(f"  {_step(row, names_by_call)}" for row in calls)]
    notes = [f"  {row.name}: {row.note}" for row in rows.objects if row.note and not row.branch]
    for call in calls:
        texts = [f"warning: {warned.text} {warned.action}"] if (warned := call.warning) else []
        texts += [*call.notes, f"outdated: {call.outdated}" * bool(call.outdated)]
        texts += [call.why * call.again, *(f"asks: {q.message}" for q in call.questions)]
        notes += [f"  {call.step} {call.tool}: {text}" for text in texts if text]
    lines += [visible_text(note) for note in notes]
    lines += [visible_text(row.text, 2_000) for row in rows.session if row.text]
    return "\n".join(lines)


def _step(row: CallRow, names_by_call: Mapping[str, Sequence[str]]) -> str:
    line = f"{MARKS.get(row.status, '…')} {row.step} {row.tool}({row.what})"
    if row.id in names_by_call and not row.error:
        line += f" → {', '.join(names_by_call[row.id])}"
    elif row.error or row.result:
        line += f": {row.error or row.result}"
    marks = " (cached)" * row.memory + (f" ({row.warning.kind})" if row.warning else "")
    return visible_text(line) + visible_text(marks + " (outdated)" * bool(row.outdated))


def title_line(rows: Rows) -> str:
    """Return the first prompt, else the session's name, with the inputs by the names that they have
    in the notebook, and how many calls and branches there are:
    `Clean orders. · 12 calls, 2 branches`."""
    names = [row.text for row in rows.messages if row.role == "user"]
    names += [row.name for row in rows.session]
    text = next(filter(None, names), "")
    for row in (row for row in rows.objects if row.role == "input" and row.name and row.label):
        text = row.label.join(re.split(rf"{re.escape(row.name)}\b", text))
    name = visible_text(first_line(text, TITLE))
    branches = sum(not row.hidden for row in rows.branches)
    calls = count_text(sum(not row.branch for row in rows.calls), "call")
    return f"{name} · " * bool(name) + calls + f", {branches} branches" * (branches > 1)


def summary_line(rows: Rows) -> str:
    """Return one line: how the session ended, with how much, and what a person changed."""
    session = next(iter(rows.session), SessionRow())
    calls = [row for row in rows.calls if not row.branch]
    failed = sum(row.status == "failed" for row in calls)
    branches = sum(not row.hidden for row in rows.branches)
    unchanged = session.ending[1:]
    decided = [row for row in calls if row.edited or row.status in ("answered", "rejected")]
    saved = [row for row in rows.objects if row.saved and not row.branch]
    parts = [
        session.says or "Session",
        count_text(len(calls), "call") + f", {failed} failed" * bool(failed),
        f"{branches} branches" * (branches > 1),
        str(BranchTotals(session.ran, session.remembered, session.inherited))
        * bool(session.remembered + session.inherited),
        *(f"saved {r.name} as {r.saved}" for r in saved if not (unchanged and r.role == "input")),
        *unchanged,
        f"{len(decided)} calls edited, answered or rejected" * (len(decided) > MOST_EDITED),
    ]

    if len(decided) <= MOST_EDITED:
        words = ("edited" + _change(row) if row.edited else row.status for row in decided)
        parts += [f"call {row.step} {word}" for row, word in zip(decided, words, strict=True)]
    return " · ".join(visible_text(text, 120) for text in parts if text)


def _change(row: CallRow) -> str:
    """Return what a person edited, where values took the place of others; else ""."""
    asked, now = row.asked or {}, row.arguments
    changed = [key for key in asked if key in now and now[key] != asked[key]]
    texts = (f"{key} {readable_json(now[key])} for {readable_json(asked[key])}" for key in changed)
    return f": {', '.join(texts)}" * bool(changed)


def last_lines(rows: Rows) -> list[str]:
    """Return the last steps in words, where no call made or used an object; or the last reply.

    Where there is nothing yet, and a person's turn, it says what running the cell is good for.
    """
    steps = [_step(row, {}) for row in rows.calls if not row.branch]
    reply = [line for row in rows.session for line in row.text.splitlines()]
    invitations = [*filter(None, (row.invitation() for row in rows.extensions))]
    if any(row.yours is not None for row in rows.session):
        invitations.append("Run the cell: you are the model, and its tools are forms.")
    return [visible_text(line, 95) for line in (steps or reply or invitations)[-LINES:]]
