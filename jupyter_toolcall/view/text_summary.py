"""A session as plain text: its state, its chain of objects, its steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..core.digests import readable_json
from ..core.text import printable, visible_text
from .contract import Rows
from .contract_rows import CallRow, ObjectRow, SessionRow

LINES = 12
MARKS = {"succeeded": "✓", "failed": "✗", "rejected": "∅", "answered": "☺", "unknown": "?"}


def main_chain(rows: Rows) -> tuple[str, ...]:
    """Return the names on the main line of the newest object, from its beginning."""
    objects = {row.id: row for row in rows.objects if not row.branch}
    calls = {row.id: row for row in rows.calls}
    made = [row for row in objects.values() if row.role == "made"]
    saved = [row for row in made if row.saved]
    here = max(saved or made, key=lambda row: row.step, default=None)
    names: list[str] = []
    seen: set[str] = set()
    while here is not None and here.id not in seen:
        seen.add(here.id)
        names.insert(0, here.name)
        call = calls.get(here.call)
        uses = call.uses if call else ()
        here = objects.get(next((use.object for use in uses if use.receiver), ""))
    return tuple(names)


def session_text(rows: Rows) -> str:
    """Return a session as plain text: its state, its chain, its steps."""
    line = printable(" → ".join(main_chain(rows)))
    names: dict[str, list[str]] = {}
    for row in rows.objects:
        if row.role == "made":
            names.setdefault(row.call, []).append(row.name)
    steps = (f"  {_step(row, names)}" for row in rows.calls if not row.branch)
    said = [visible_text(row.text, 2_000) for row in rows.session if row.text]
    chained = [line] if line else []
    return "\n".join([summary_line(rows), *chained, *steps, *_notes(rows), *said])


def _step(row: CallRow, names: Mapping[str, Sequence[str]]) -> str:
    line = f"{MARKS.get(row.status, '…')} {row.step} {row.tool}({row.what})"
    line += ": outcome unknown" * (row.status == "unknown")
    if row.id in names and not row.error:
        line += f" → {', '.join(names[row.id])}"
    elif row.error or row.result not in ("", "ok"):
        line += f": {row.error or row.result}"
    line += " (from memory)" * row.memory + " (may be stale)" * row.stale
    return visible_text(line + " (outdated)" * bool(row.outdated))


def _notes(rows: Rows) -> Iterator[str]:
    """Yield what is to be known of objects, why something is outdated, or asked about again."""
    for row in rows.objects:
        if row.note and not row.branch:
            yield visible_text(f"  {row.name}: {row.note}")
    for call in rows.calls:
        if not call.branch:
            why = [f"outdated: {call.outdated}"] if call.outdated else []
            asked = [call.why] if call.again or call.status == "unknown" else []
            said = (*call.notes, *why, *asked)
            yield from (visible_text(f"  {call.step} {call.tool}: {each}") for each in said)


def summary_line(rows: Rows, room: int = 200) -> str:
    """Return one line: how the session ended, with how much, and, where there is room, into what
    a call was changed."""
    session = next(iter(rows.session), SessionRow())
    parts = [session.says or "Session", _calls([row for row in rows.calls if not row.branch])]
    shown_branches = [row for row in rows.branches if not row.hidden]
    if len(shown_branches) > 1:
        parts.append(f"{len(shown_branches)} branches")
    if session.remembered:
        parts.append(f"{session.ran} ran, {session.remembered} from memory")
    parts += [f"saved {row.name} as {row.saved}" for row in _saved(rows)]
    edited = [row for row in rows.calls if row.edited and not row.branch]
    told = _line([*parts, *(_edit(row) for row in edited)])
    return (
        told
        if len(told) <= room
        else _line([*parts, *(f"call {row.step} edited" for row in edited)])
    )


def _calls(calls: Sequence[CallRow]) -> str:
    """Return how many calls there are, and how many of them failed on the way."""
    failed = len([row for row in calls if row.status == "failed"])
    counted = f"{len(calls)} call{'' if len(calls) == 1 else 's'}"
    return f"{counted}, {failed} failed" if failed else counted


def _line(parts: Iterable[str]) -> str:
    return " · ".join(visible_text(part, 80) for part in parts)


def _edit(row: CallRow) -> str:
    """Return which call a person edited, and where one value took another's place, which."""
    asked = row.asked or {}
    changed = [key for key in asked if key in row.arguments and row.arguments[key] != asked[key]]
    told = [
        f": {key} {readable_json(row.arguments[key])} for {readable_json(asked[key])}"
        for key in changed
    ]
    return f"call {row.step} edited{told[0] if len(told) == 1 else ''}"


def _saved(rows: Rows) -> Iterable[ObjectRow]:
    return (row for row in rows.objects if row.saved and not row.branch)


def _invitations(rows: Rows) -> Iterator[str]:
    """Yield what running the cell is good for, where the session waits for a person."""
    yield from filter(None, (row.invitation() for row in rows.extensions))
    if any(row.yours is not None for row in rows.session):
        yield "Run the cell: you are the model, and its tools are forms."


def last_lines(rows: Rows) -> list[str]:
    """Return the last steps in words, where no call made or used an object; or what was said.

    Where there is nothing yet, and a person's turn, it says what running the cell is good for.
    """
    steps = [_step(row, {}) for row in rows.calls if not row.branch]
    said = [line for row in rows.session for line in row.text.splitlines()]
    lines = steps or said or [*_invitations(rows)]
    return [visible_text(line, 95) for line in lines[-LINES:]]
