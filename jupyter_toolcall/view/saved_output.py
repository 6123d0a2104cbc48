"""What a cell leaves in its notebook: MIME data, a picture and text, in one bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.json_data import changed_fields, json_texts, sendable_data
from ..core.recorded_data import replace
from ..engine.cursor import Cursor
from ..storage.notebook_files import MIME
from ..storage.notebook_journal import journal_part
from .contract import VERSION, Rows
from .graph import with_graph
from .svg import svg
from .text_summary import session_text


def mime_bundle(cursor: Cursor, rows: Rows, since: str | None) -> dict[str, Any]:
    """Return the MIME bundle of a session; `since` is the entry before the cell's own.

    Each row and each entry is a JSON text: JupyterLab copies all of an output's data several
    times, and a text costs it nothing.
    """
    kept = filter(None, (row.saved() for row in rows.extensions))
    rows = with_graph(replace(rows, extensions=tuple(kept)))
    context = cursor.context
    part = journal_part(context.journal, cursor.head, since)
    journal = sendable_data({**part, "events": ()}) | {"events": json_texts(part["events"])}
    # The journal's part has no secrets, and has to keep its digests.
    # Python alone reads the journal: it has no marks for a browser.
    # Secrets are looked for in plain data; most sessions have none, and each row is encoded once.
    has_secrets = bool(context.secrets.values)
    tables = row_texts(context.hide(sendable_data(rows)) if has_secrets else changed_fields(rows))
    saved = {"rows": tables, "journal": journal, "version": VERSION}
    shown = {"image/svg+xml": svg(rows), "text/plain": session_text(rows)}
    return {MIME: saved, **context.hide(shown)}


def row_texts(tables: Mapping[str, Sequence[Any]]) -> dict[str, list[str]]:
    """Return tables of JSON-ready rows with each row as a JSON text."""
    return {name: json_texts(table) for name, table in tables.items()}
