"""What a cell leaves in its notebook: MIME data, a picture and text, in one bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core.branches import is_prompt
from ..core.events import Asked, Opened, Replied, to_json
from ..core.journal_entries import VERSION, Entry
from ..core.json_data import json_texts, sendable_data
from ..engine.cursor import Cursor
from ..storage.notebook_files import MIME
from .contract import VERSION as ROWS_VERSION
from .contract import Rows
from .graph import with_graph
from .svg import svg
from .text_summary import session_text

LIVE = "application/vnd.jupyter-toolcall.live+json"


def mime_bundle(cursor: Cursor, rows: Rows, since: str | None) -> dict[str, Any]:
    """Return the MIME bundle of a session; `since` is the entry before the cell's own.

    Each row and each entry is a JSON text: JupyterLab copies all of an output's data several
    times, and a text costs it nothing.
    """
    kept = filter(None, (row.saved() for row in rows.extensions))
    rows = with_graph(replace(rows, extensions=tuple(kept)))
    journal, hide = sendable_data(journal_part(cursor, since)), cursor.context.hide
    journal["events"] = json_texts(journal["events"])
    # The journal's part has no secrets, and has to keep its digests.
    # Python alone reads the journal: it has no marks for a browser.
    tables = row_texts(hide(sendable_data(rows)))
    saved = {"rows": tables, "journal": journal, "version": ROWS_VERSION}
    return {MIME: saved, "image/svg+xml": hide(svg(rows)), "text/plain": hide(session_text(rows))}


def row_texts(tables: Mapping[str, Sequence[Any]]) -> dict[str, list[str]]:
    """Return tables of JSON-ready rows with each row as a JSON text."""
    return {name: json_texts(table) for name, table in tables.items()}


def journal_part(cursor: Cursor, since: str | None) -> dict[str, Any]:
    """Return the entries that a cell added, without the ids that follow from them.

    `events` is a list of [index of the parent in this list, event, meta]; -1 is `parent`.
    In a bundle each of them is a JSON text.
    Where that opened the session, or changed it, `opened` is [its own parent, event]. `version`
    is that of the journal's format, not of the rows beside it.
    """
    journal, entries = cursor.context.journal, _entries_of_cell(cursor, since)
    index = {entry.id: n for n, entry in enumerate(entries)}
    events, texts = list[list[Any]](), dict[str, Any]()
    for entry in entries:
        row = [index.get(entry.parent or "", -1), to_json(entry.event)]
        events.append([*row, dict(entry.meta)] if entry.meta else row)
        keys = [*entry.event.offered.values()] if isinstance(entry.event, Replied) else []
        keys += [entry.meta["code"]] if "code" in entry.meta else []
        texts |= {key: journal.texts[key] for key in keys if key in journal.texts}
    part: dict[str, Any] = {"version": VERSION, "parent": since, "head": cursor.head}
    part |= {"events": events, "texts": texts}
    if since and isinstance(opened := journal[since].event, Opened):
        part["opened"] = [journal[since].parent, to_json(opened)]
    return part


def _entries_of_cell(cursor: Cursor, since: str | None) -> list[Entry]:
    """Return the entries of a cell, on all branches, in order; later prompts are later cells'."""
    journal = cursor.context.journal
    path = journal.path(cursor.head, after=since)
    first = next((n for n, entry in enumerate(path) if isinstance(entry.event, Asked)), 0)
    entries = [*path[: first + 1]]
    known, on_path = {entry.id for entry in entries[-1:]}, {entry.id for entry in path}
    for entry in journal:
        if entry.parent in known and (entry.id in on_path or not is_prompt(entry)):
            known.add(entry.id)
            entries.append(entry)
    return entries
