"""Rows as they travel: JSON-ready data in which what has its default, or is known, is left out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .contract import CallRow, Delta, Notice, ObjectRow, Rows, SessionRow, Whole

_DEFAULTS: dict[type, tuple[tuple[str, Any], ...]] = {}
ALWAYS = ("id", "type", "version", "number", "rows", "journal")
_SCALARS = frozenset({int, float, bool, type(None)})
Growing = SessionRow | CallRow | ObjectRow
"""The rows that are told again as they come to more."""
_GROWING = ("session", "calls", "objects")


@dataclass
class Wire:
    """What a panel was told, so that it is told only what is new."""

    _known: dict[tuple[str, str], Growing] = field(default_factory=dict)
    """By table and id."""

    def packed(self, notice: Notice) -> Any:
        """Return a notice as JSON-ready data, and take it as told."""
        match notice:
            case Whole(rows):
                self._known = {
                    (table, row.id): row for table in _GROWING for row in getattr(rows, table)
                }
            case Delta(rows):
                rest = packed(replace(notice, rows=replace(rows, session=(), calls=(), objects=())))
                return {**rest, "rows": {**self._news(rows), **rest["rows"]}}
        return packed(notice)

    def _news(self, rows: Rows) -> dict[str, Any]:
        for each in rows.drop:
            self._known.pop((each.table, each.id), None)
        tables = {table: self._new_in(table, getattr(rows, table)) for table in _GROWING}
        return {table: news for table, news in tables.items() if news}

    def _new_in(self, table: str, rows: Iterable[Growing]) -> list[Any]:
        found = []
        for row in {row.id: row for row in rows}.values():
            name = (table, row.id)
            known, self._known[name] = self._known.get(name), row
            new = packed(row) if known is None else _changed(known, row)
            found += [new] if len(new) > 1 else []
        return found


def sendable(text: str) -> str:
    """Return a text as Jupyter can send it: half of a character is U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def packed(value: Any, say: Callable[[str], str] = sendable) -> Any:
    """Return a row, a notice or a part of one as JSON-ready data, its texts as `say` has them."""
    cls = type(value)
    if cls is str:
        return say(value)
    if cls in _SCALARS:
        return value
    if cls in _DEFAULTS or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        return {
            name: packed(item, say)
            for name, default in _defaults(cls)
            if ((item := getattr(value, name)) is not default and item != default) or name in ALWAYS
        }
    if isinstance(value, (dict, Mapping)):
        return {say(str(key)): packed(item, say) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [packed(item, say) for item in value]
    return value


def _changed(known: Growing, row: Growing) -> dict[str, Any]:
    """Return the id of a row, and what is otherwise than it was told."""
    pairs = ((name, getattr(known, name), getattr(row, name)) for name, _ in _defaults(type(row)))
    return {"id": row.id} | {name: packed(new) for name, old, new in pairs if not _same(old, new)}


def _same(old: Any, new: Any) -> bool:
    """In JSON, unlike here, 1 is not true; and the arguments of a call may hold either."""
    return old is new or (
        bool(old == new) and (not isinstance(new, (dict, Mapping)) or repr(old) == repr(new))
    )


def _defaults(cls: type) -> tuple[tuple[str, Any], ...]:
    if cls not in _DEFAULTS:
        _DEFAULTS[cls] = tuple((f.name, _default(f)) for f in dataclasses.fields(cls))
    return _DEFAULTS[cls]


def _default(field: Any) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default
