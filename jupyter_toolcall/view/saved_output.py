"""What a cell leaves in its notebook: MIME data, a picture and text, in one bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.branches import is_prompt
from ..core.events import Asked, Opened, Replied, to_json
from ..core.journal import Journal
from ..core.journal_entries import VERSION as JOURNAL_VERSION
from ..core.journal_entries import Entry
from ..core.json_data import changed_fields, json_texts, sendable_data
from ..core.recorded_data import JsonDict, replace
from ..engine.cursor import Cursor
from ..storage.notebook_files import MIME
from .contract import VERSION, Rows
from .graph import PAGES, with_graph
from .svg import svg
from .text_summary import session_text


def mime_bundle(cursor: Cursor, rows: Rows, since: str | None) -> JsonDict:
    """Return the MIME bundle of a session; `since` is the entry before the cell's own.

    Each row and each entry is a JSON text: JupyterLab copies all of an output's data several
    times, and a text costs it nothing.
    """
    kept = filter(None, (row.saved() for row in rows.extensions))
    rows = with_graph(replace(rows, extensions=tuple(kept)), PAGES)
    context = cursor.context
    part = journal_part(context.journal, cursor.head, since)
    journal = sendable_data({**part, "events": ()}) | {"events": json_texts(part["events"])}
    # The journal's part has no secrets, and has to keep its digests.
    # Python alone reads the journal: it has no marks for a browser.
    # Secrets are looked for in plain data; most sessions have none, and each row is encoded once.
    has_secrets = bool(context.secrets.values)
    tables = row_texts(
        context.secrets.hide(sendable_data(rows)) if has_secrets else changed_fields(rows)
    )
    saved = {"rows": tables, "journal": journal, "version": VERSION}
    shown = {"image/svg+xml": svg(rows), "text/plain": session_text(rows)}
    return {MIME: saved, **context.secrets.hide(shown)}


def row_texts(tables: Mapping[str, Sequence[object]]) -> dict[str, list[str]]:
    """Return tables with each row as a JSON text."""
    return {name: json_texts(table) for name, table in tables.items()}


def journal_part(journal: Journal, head: str, since: str | None) -> JsonDict:
    """Return the entries that a cell added, without the ids that follow from them; `notebook_files`
    reads them again.

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
    part: JsonDict = {"version": JOURNAL_VERSION, "parent": since, "head": head}
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
