"""A session as plain text: how it ended, its calls with notes on them, and its last reply."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ..core.digests import readable_json
from ..core.text import indented, shortened_text, visible_text
from .contract import Rows
from .contract_rows import CallRow, SessionRow

REPLY = 2_000
"""Characters of the last reply."""
MARKS = {"succeeded": "✓", "failed": "✗", "rejected": "∅", "answered": "☺", "unknown": "?"}


def session_text(rows: Rows) -> str:
    """Return a session as plain text.

    Where there is nothing yet, it says what running the cell is good for.
    """
    objects = [row for row in rows.objects if not row.branch]
    made = defaultdict[str, list[str]](list)
    for row in objects:
        if row.role == "made":
            made[row.call].append(row.name)
    lines = list[str]()
    for call in [row for row in rows.calls if not row.branch]:
        lines.append(f"  {_step(call, made[call.id])}")
        lines += [f"    {visible_text(note)}" for note in _notes(call)]
    lines += [visible_text(f"  {row.name}: {row.note}") for row in objects if row.note]
    lines += [indented(shortened_text(row.text, REPLY)) for row in rows.session if row.text]
    if not lines:
        lines += filter(None, (row.invitation() for row in rows.extensions))
        if any(row.yours is not None for row in rows.session):
            lines.append("Run the cell: you are the model, and its tools are forms.")
    return "\n".join([summary_line(rows), *lines])


def _step(row: CallRow, made: list[str]) -> str:
    line = f"{MARKS.get(row.status, '…')} {row.step} {row.tool}({row.what})"
    if made and not row.error:
        line += f" → {', '.join(made)}"
    elif row.error or row.result not in ("", "ok"):
        line += f": {row.error or row.result}"
    marks = " (cached)" * row.memory + (f" ({row.warning.kind})" if row.warning else "")
    return visible_text(line) + visible_text(marks + " (outdated)" * bool(row.outdated))


def _notes(call: CallRow) -> Iterator[str]:
    """Yield what there is to know of a call beside its result."""
    if call.warning:
        yield f"warning: {call.warning.text} {call.warning.action}"
    yield from call.notes
    if call.outdated:
        yield f"outdated: {call.outdated}"
    if call.again:
        yield call.why
    yield from (f"asks: {question.message}" for question in call.questions)


def summary_line(rows: Rows) -> str:
    """Return one line: how the session ended, with how much, and what was edited."""
    session = next(iter(rows.session), SessionRow())
    calls = [row for row in rows.calls if not row.branch]
    failed = len([row for row in calls if row.status == "failed"])
    count = f"{len(calls)} call{'' if len(calls) == 1 else 's'}"
    parts = [session.says or "Session", f"{count}, {failed} failed" if failed else count]
    branches = len([row for row in rows.branches if not row.hidden])
    if branches > 1:
        parts.append(f"{branches} branches")
    if session.remembered:
        parts.append(f"{session.ran} ran, {session.remembered} cached")
    # Where an input was saved unchanged after failed calls, the ending says so.
    unchanged = session.ending[1:]
    saved = [row for row in rows.objects if row.saved and not row.branch]
    shown = [row for row in saved if not (unchanged and row.role == "input")]
    parts += [f"saved {row.name} as {row.saved}" for row in shown]
    parts += [*unchanged, *(_edit(row) for row in calls if row.edited)]
    return " · ".join([visible_text(part, 120) for part in parts])


def _edit(row: CallRow) -> str:
    """Return what a person edited: `call 4 edited: shape "SLICES" for "STICKS"`."""
    asked, now = row.asked or {}, row.arguments
    changes = [
        f"{key} {readable_json(now[key])} for {readable_json(asked[key])}"
        for key in asked
        if key in now and now[key] != asked[key]
    ]
    return f"call {row.step} edited{': ' if changes else ''}{', '.join(changes)}"
