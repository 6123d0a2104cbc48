"""A session as plain text: its state, its chain of objects, its steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core.digests import readable_json
from ..core.text import printable, visible_text
from .contract import Rows
from .contract_rows import CallRow, SessionRow

LINES = 12
MOST_EDITED = 4
"""Edited calls that are told one by one."""
MARKS = {"succeeded": "✓", "failed": "✗", "rejected": "∅", "answered": "☺", "unknown": "?"}


def main_chain(rows: Rows) -> tuple[str, ...]:
    """Return the names on the main line of the newest object, from its beginning."""
    objects = {row.id: row for row in rows.objects if not row.branch}
    calls = {row.id: row for row in rows.calls}
    made = [row for row in objects.values() if row.role == "made"]
    row = max([row for row in made if row.saved] or made, key=lambda row: row.step, default=None)
    chain: dict[str, str] = {}
    while row is not None and row.id not in chain:
        chain[row.id] = row.name
        call = calls.get(row.call)
        used = [objects[use.object] for use in call.uses if use.object in objects] if call else []
        before = call.before if call else ""
        # What a call made goes before an input, such as an oven that many things go into.
        row = max(used, key=lambda row: (row.step > 0, row.id == before, row.step), default=None)
    return (*reversed(chain.values()),)


def session_text(rows: Rows) -> str:
    """Return a session as plain text: its state, its chain, its steps, and notes on them."""
    calls = [row for row in rows.calls if not row.branch]
    made: dict[str, list[str]] = {}
    for row in rows.objects:
        if row.role == "made":
            made.setdefault(row.call, []).append(row.name)
    lines = [summary_line(rows)]
    if chain := printable(" → ".join(main_chain(rows))):
        lines.append(chain)
    lines += [f"  {_step(row, made)}" for row in calls]
    notes = [f"  {row.name}: {row.note}" for row in rows.objects if row.note and not row.branch]
    for call in calls:
        outdated = [f"outdated: {call.outdated}"] if call.outdated else []
        asked = [call.why] if call.again else []
        warned = [f"warning: {w.text} {w.action}" for w in (call.warning,) if w]
        asked += [f"asks: {question.message}" for question in call.questions]
        all_notes = (*warned, *call.notes, *outdated, *asked)
        notes += [f"  {call.step} {call.tool}: {note}" for note in all_notes]
    lines += [visible_text(note) for note in notes]
    lines += [visible_text(row.text, 2_000) for row in rows.session if row.text]
    return "\n".join(lines)


def _step(row: CallRow, made: Mapping[str, Sequence[str]]) -> str:
    line = f"{MARKS.get(row.status, '…')} {row.step} {row.tool}({row.what})"
    if row.id in made and not row.error:
        line += f" → {', '.join(made[row.id])}"
    elif row.error or row.result:
        line += f": {row.error or row.result}"
    marks = " (cached)" * row.memory + (f" ({row.warning.kind})" if row.warning else "")
    return visible_text(line) + visible_text(marks + " (outdated)" * bool(row.outdated))


def summary_line(rows: Rows, room: int = 200) -> str:
    """Return one line: how the session ended, with how much, and, where there is room, into what
    a call was changed."""
    session = next(iter(rows.session), SessionRow())
    calls = [row for row in rows.calls if not row.branch]
    failed = len([row for row in calls if row.status == "failed"])
    count = f"{len(calls)} call{'' if len(calls) == 1 else 's'}"
    parts = [session.says or "Session", f"{count}, {failed} failed" if failed else count]
    unchanged = session.ending[1:]
    branches = len([row for row in rows.branches if not row.hidden])
    if branches > 1:
        parts.append(f"{branches} branches")
    if session.remembered:
        parts.append(f"{session.ran} ran, {session.remembered} cached")
    saved = [row for row in rows.objects if row.saved and not row.branch]
    shown_rows = [row for row in saved if not (unchanged and row.role == "input")]
    parts += [f"saved {row.name} as {row.saved}" for row in shown_rows]
    parts += unchanged
    edited = [row for row in calls if row.edited]
    if len(edited) > MOST_EDITED:
        parts, edited = [*parts, f"{len(edited)} calls edited"], []
    short = [*parts, *(f"call {row.step} edited" for row in edited)]
    long = [*parts, *(f"call {row.step} edited{_change(row)}" for row in edited)]
    line = " · ".join([visible_text(part, 120) for part in long])
    return line if len(line) <= room else " · ".join([visible_text(part, 120) for part in short])


def _change(row: CallRow) -> str:
    """Return what a person edited, where one value took another's place; else ""."""
    asked, now = row.asked or {}, row.arguments
    changed = [key for key in asked if key in now and now[key] != asked[key]]
    if len(changed) != 1:
        return ""
    key = changed[0]
    return f": {key} {readable_json(now[key])} for {readable_json(asked[key])}"


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
