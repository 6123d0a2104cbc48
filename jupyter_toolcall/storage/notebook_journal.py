"""The part of a journal that a cell keeps in its notebook; `notebook_files` reads it again."""

from __future__ import annotations

from typing import Any

from ..core.branches import is_prompt
from ..core.events import Asked, Opened, Replied, to_json
from ..core.journal import Journal
from ..core.journal_entries import VERSION, Entry


def journal_part(journal: Journal, head: str, since: str | None) -> dict[str, Any]:
    """Return the entries that a cell added, without the ids that follow from them.

    `events` is a list of [index of the parent in this list, event, meta]; -1 is `parent`.
    In a bundle each of them is a JSON text. Times are left out: two equal runs leave equal parts.
    Where that opened the session, or changed it, `opened` is [its own parent, event]. `version`
    is that of the journal's format, not of the rows beside it.
    """
    entries = _entries_of_cell(journal, head, since)
    index = {entry.id: n for n, entry in enumerate(entries)}
    events, texts = list[list[Any]](), dict[str, Any]()
    for entry in entries:
        row = [index.get(entry.parent or "", -1), to_json(entry.event)]
        meta = {key: value for key, value in entry.meta.items() if key not in ("at", "ms")}
        events.append([*row, meta] if meta else row)
        keys = [*entry.event.offered.values()] if isinstance(entry.event, Replied) else []
        keys += [entry.meta["code"]] if "code" in entry.meta else []
        texts |= {key: journal.texts[key] for key in keys if key in journal.texts}
    part: dict[str, Any] = {"version": VERSION, "parent": since, "head": head}
    part |= {"events": events, "texts": texts}
    if since and isinstance(opened := journal[since].event, Opened):
        part["opened"] = [journal[since].parent, to_json(opened)]
    return part


def _entries_of_cell(journal: Journal, head: str, since: str | None) -> list[Entry]:
    """Return the entries of a cell, on all branches; later prompts belong to later cells."""
    path = journal.path(head, after=since)
    first = next((n for n, entry in enumerate(path) if isinstance(entry.event, Asked)), 0)
    entries = [*path[: first + 1]]
    included, on_path = {entry.id for entry in entries[-1:]}, {entry.id for entry in path}
    for entry in journal:
        if entry.parent in included and (entry.id in on_path or not is_prompt(entry)):
            included.add(entry.id)
            entries.append(entry)
    return entries
