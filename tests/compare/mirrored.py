"""Comparisons and differences as they are seen from the other side."""

from __future__ import annotations

from dataclasses import replace

from jupyter_toolcall.compare.alignment import CallPair, Comparison, ObjectPair
from jupyter_toolcall.compare.differences import (
    Arrays,
    Cell,
    ColumnChange,
    Difference,
    Field,
    Fields,
    Images,
    Line,
    Numbers,
    Others,
    Tables,
    Texts,
)


def _mirrored_cell(cell: Cell) -> Cell:
    return Cell(cell.rows[::-1], cell.column, cell.right, cell.left, cell.at[::-1])


def _mirrored_column(column: ColumnChange) -> ColumnChange:
    by = None if column.by is None else -column.by
    types = column.types[::-1]
    return replace(column, filled=column.emptied, emptied=column.filled, by=by, types=types)


def mirrored(difference: Difference) -> Difference:
    """Return a difference as it is seen from the other side."""
    match difference:
        case Numbers(left, right):
            return Numbers(right, left)
        case Texts(lines, changed):
            return Texts(tuple(Line(e.right, e.left, e.at[::-1]) for e in lines), changed)
        case Tables():
            return replace(
                difference,
                left=difference.right,
                right=difference.left,
                cells=tuple(map(_mirrored_cell, difference.cells)),
                columns=difference.columns[::-1],
                rows=difference.rows[::-1],
                alone=difference.alone[::-1],
                by_column=tuple(map(_mirrored_column, difference.by_column)),
            )
        case Arrays(left, right, types, by=by, ranges=ranges):
            mirrored_by = None if by is None else -by
            shapes = replace(difference, left=right, right=left, types=types[::-1])
            return replace(shapes, by=mirrored_by, ranges=ranges[::-1])
        case Images(left, right):
            return replace(difference, left=right, right=left)
        case Fields(fields, more, same):
            parts = tuple(Field(e.name, mirrored(e.difference)) for e in fields)
            return Fields(parts, more, same)
        case Others(left, right):
            return Others(right, left)
    return difference


def mirrored_comparison(compared: Comparison) -> Comparison:
    """Return a comparison as it is seen from the other side."""
    return Comparison(
        compared.right,
        compared.left,
        tuple(_mirrored_call(pair) for pair in compared.calls),
        tuple(_mirrored_object(pair) for pair in compared.inputs),
        mirrored(compared.text),
    )


def _mirrored_call(pair: CallPair) -> CallPair:
    changes = tuple(replace(each, difference=mirrored(each.difference)) for each in pair.changes)
    objects = tuple(map(_mirrored_object, pair.objects))
    cached = pair.cached[1], pair.cached[0]
    return CallPair(pair.right, pair.left, pair.shared, changes, objects, cached)


def _mirrored_object(pair: ObjectPair) -> ObjectPair:
    return ObjectPair(pair.right, pair.left, pair.kind, mirrored(pair.difference))
