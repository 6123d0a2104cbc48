"""Rows as they travel: JSON-ready data in which what has its default, or is known, is left out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .contract import CallRow, Delta, ExtensionRow, Notice, ObjectRow, SessionRow, Whole

_DEFAULTS: dict[type, tuple[tuple[str, Any], ...]] = {}
ALWAYS = ("id", "type", "version", "number", "rows", "journal")
Growing = SessionRow | CallRow | ObjectRow | ExtensionRow
"""The rows that are sent again as they change."""
_GROWING = ("session", "calls", "objects", "extensions")


@dataclass
class Wire:
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
                others = _fields(replace(rows, session=(), calls=(), objects=(), extensions=()))
                changes = {table: changes for table, changes in tables.items() if changes}
                return packed({**_fields(notice), "rows": {**changes, **others}})
        return packed(notice)

    def _changes(self, table: str, rows: Iterable[Growing]) -> list[dict[str, Any]]:
        """Return the fields of rows that are not known yet; of known rows what changed."""
        changes = []
        for row in {row.id: row for row in rows}.values():
            name = (table, row.id)
            known, self._known[name] = self._known.get(name), row
            new = _fields(row) if known is None else _changed(known, row)
            changes += [new] if len(new) > 1 else []
        return changes


def sendable(text: str) -> str:
    """Return a text as Jupyter can send it: half of a character is U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def packed(value: Any) -> Any:
    """Return a row, a notice or a part of one as JSON-ready data that Jupyter can send."""
    text = _ENCODER.encode(value)
    # Only an escape can stand for half of a character: most rows have none.
    return json.loads(sendable(_READABLE.encode(value)) if "\\ud" in text else text)


def json_data(value: Any) -> Any:
    """Return dataclasses, mappings and lists as JSON-ready data, with every text as it is."""
    return json.loads(_ENCODER.encode(value))


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that have not their defaults, or the items of a mapping.

    Raises TypeError for what is neither.
    """
    if isinstance(value, Mapping):
        return dict(value)
    return {
        name: item
        for name, default in _DEFAULTS.get(type(value)) or _defaults(type(value))
        if (item := getattr(value, name)) is not default and item != default
    }


# The standard library packs in C; a call in Python for each value takes most of the time.
_ENCODER = json.JSONEncoder(default=_fields, check_circular=False)
_READABLE = json.JSONEncoder(default=_fields, check_circular=False, ensure_ascii=False)


def _changed(known: Growing, row: Growing) -> dict[str, Any]:
    """Return the id of a row, and the fields that are not as they were sent."""
    changed = {"id": row.id}
    for name, _ in _defaults(type(row)):
        old, new = getattr(known, name), getattr(row, name)
        # In JSON, unlike here, 1 is not true; and the arguments of a call may hold either.
        if old is not new and (old != new or (isinstance(new, Mapping) and repr(old) != repr(new))):
            changed[name] = new
    return changed


def _defaults(cls: Any) -> tuple[tuple[str, Any], ...]:
    """Return the names and the defaults of a dataclass's fields. Raises TypeError for others."""
    if cls not in _DEFAULTS:
        defaults = {each.name: each.default for each in dataclasses.fields(cls)}
        for each in dataclasses.fields(cls):
            if each.default_factory is not dataclasses.MISSING:
                defaults[each.name] = each.default_factory()
        # No field has this default: it is always sent.
        always = {name: dataclasses.MISSING for name in ALWAYS if name in defaults}
        _DEFAULTS[cls] = tuple({**defaults, **always}.items())
    return _DEFAULTS[cls]
