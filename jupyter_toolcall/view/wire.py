"""Rows as they travel: JSON-ready data in which what has its default, or is known, is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.json_data import (
    changed_fields,
    field_defaults,
    sendable_data,
)
from ..engine.hooks import ExtensionRow
from .contract import Delta, Notice, Whole
from .contract_rows import CallRow, ObjectRow, SessionRow

Growing = SessionRow | CallRow | ObjectRow | ExtensionRow
"""The rows that are sent again as they change."""
_GROWING = ("session", "calls", "objects", "extensions")


@dataclass
class UpdateEncoder:
    """What a panel was sent, so that it is sent only what is new."""

    _known: dict[tuple[str, str], Growing] = field(default_factory=dict)
    """By table and id."""

    def packed(self, notice: Notice) -> Any:
        """Return a notice as JSON-ready data, and take it as sent."""
        match notice:
            case Whole(rows):
                self._known = {
                    (table, row.id): row for table in _GROWING for row in getattr(rows, table)
                }
            case Delta(rows):
                for each in rows.drop:
                    self._known.pop((each.table, each.id), None)
                tables = {
                    table: self._changes(table, new)
                    for table in _GROWING
                    if (new := getattr(rows, table))
                }
                others = changed_fields(
                    replace(rows, session=(), calls=(), objects=(), extensions=())
                )
                changes = {table: changes for table, changes in tables.items() if changes}
                return sendable_data({**changed_fields(notice), "rows": {**changes, **others}})
        return sendable_data(notice)

    def _changes(self, table: str, rows: Iterable[Growing]) -> list[dict[str, Any]]:
        """Return the fields of rows that are not known yet; of known rows what changed."""
        changes = []
        for row in {row.id: row for row in rows}.values():
            name = (table, row.id)
            known, self._known[name] = self._known.get(name), row
            new = changed_fields(row) if known is None else _changed(known, row)
            changes += [new] if len(new) > 1 else []
        return changes


# The standard library packs in C; a call in Python for each value takes most of the time.


def _changed(known: Growing, row: Growing) -> dict[str, Any]:
    """Return the id of a row, and the fields that are not as they were sent."""
    changed = {"id": row.id}
    for name, _ in field_defaults(type(row)):
        old, new = getattr(known, name), getattr(row, name)
        # In JSON, unlike here, 1 is not true; and the arguments of a call may hold either.
        if old is not new and (old != new or (isinstance(new, Mapping) and repr(old) != repr(new))):
            changed[name] = new
    return changed
