"""What a call would change, as a person reads it: a sentence, and the rows and cells themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..compare.comparison_rows import change_parts
from ..compare.differences import (
    CHANGED,
    SHOWN,
    ColumnChange,
    Difference,
    Same,
    Tables,
    Unknown,
    in_a_line,
    shape_text,
    with_sample,
)
from ..compare.values import difference
from ..core.interface_text import joined, t, tn
from ..tools.value_display import Shows
from ..view.contract import Previewed
from ..view.previews import SMALL, preview

ROOM = replace(SMALL, columns=8, rows=8, cell=24)
"""How much of a new value is shown."""


def with_change(notice: Previewed, before: object, value: object, shows: Shows) -> Previewed:
    """Return a notice with what a call would make of the value `before`, which is None where its
    result has no object of the same type before it."""
    drawn = preview(value, shows, ROOM)
    if before is None:
        says = t("gives %1", drawn.caption) if drawn.caption else ""
        return replace(notice, says=says, object=drawn)
    change = difference(before, value)
    parts = tuple(change_parts(change, before, value))
    shows_itself = any(part.cells or part.lines or part.images or part.right for part in parts)
    # Of a new table, or a new column, there is no old cell to show beside it.
    is_new = isinstance(change, Tables) and (bool(change.columns[1]) or change.unrelated)
    shown = replace(notice, says=change_sentence(change), parts=parts)
    return shown if shows_itself and not is_new else replace(shown, object=drawn)


def change_sentence(change: Difference) -> str:
    """Return what a call would change: `removes 5 rows`."""
    match change:
        case Same():
            return t("changes nothing")
        case Unknown(why):
            return why
        case Tables(groups=name) if name:
            rows = change.right[0], change.left[0]
            return t("makes %1 rows of %2, one for each %3", *rows, name)
        case Tables(unrelated=True):
            return t("makes a new table, %1", shape_text(change.right))
        case Tables():
            return with_sample(joined("; ", _table_changes(change)), change)
    return in_a_line(change, CHANGED)


def _table_changes(change: Tables) -> Iterator[str]:
    removed, added = change.alone
    if removed:
        yield tn("removes %1 row", "removes %1 rows", removed)
    if added:
        yield tn("adds %1 row", "adds %1 rows", added)
    removed_columns, added_columns = (", ".join(names[:SHOWN]) for names in change.columns)
    if removed_columns:
        yield t("removes %1", removed_columns)
    if added_columns:
        yield t("adds %1", added_columns)
    for column in change.by_column[:SHOWN]:
        yield from _column_changes(column)
    if "rows" in change.moved:
        yield t("puts the rows in another order")
    if "columns" in change.moved:
        yield t("puts the columns in another order")


def _column_changes(column: ColumnChange) -> Iterator[str]:
    other = column.changed - column.filled - column.emptied
    if column.filled:
        yield tn("fills %1 cell of %2", "fills %1 cells of %2", column.filled, column.name)
    if column.emptied:
        yield tn("empties %1 cell of %2", "empties %1 cells of %2", column.emptied, column.name)
    if other:
        yield tn("changes %1 cell of %2", "changes %1 cells of %2", other, column.name)
    if any(column.types):
        yield t("turns %1 into %2", column.name, column.types[1])
