"""A table as columns that a call may name; withheld columns follow their rows and do nothing else.

SQL computes positions and new columns; the library of a table takes the rows, so that types,
index, subclass and attributes stay.
"""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from operator import methodcaller
from typing import Any, cast

from ..core.errors import CallError
from ..core.interrupts import attempt
from ..core.text import nearest, unique_names, visible_text
from ..tools.plain_data import cut
from ..tools.table_classes import AnyTable, library_elsewhere
from .table_libraries import (
    LIBRARIES,
    Column,
    Kind,
    Library,
    NoSQLType,
    arrow,
    for_sql,
    kind_of,
    numpy,
    type_text,
)

LONGEST_CELL = 200
"""Characters of a text in a cell that a model is sent."""
MOST_NAMES = 50
"""Columns that an error lists."""
ROWS_ELSEWHERE = (
    "those of the table are elsewhere: compute what you need with tables_sql, and see the result "
    "with tables_head"
)


@dataclass(frozen=True)
class Frame:
    """A table as columns. Withheld ones follow their rows, and take part in nothing else."""

    library: Library
    table: Any
    all_columns: tuple[Column, ...]
    withheld: tuple[Column, ...] = ()
    withhold: tuple[str, ...] = ()
    """Names of columns and fields whose values are never sent."""
    elsewhere: Any = None
    """The table itself, if its rows are elsewhere; then this frame has its columns, and no rows."""
    _arrays: dict[Column, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return int(self.table.shape[0])

    @property
    def columns(self) -> list[Column]:
        """The columns that a call may name: the levels of an index first."""
        return [c for c in self.all_columns if c not in self.withheld and c.place != "numbers"]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def column(self, name: str) -> Column:
        """Return a column by its name. Raises CallError, with the nearest and all columns."""
        for column in self.columns:
            if column.name == name:
                return column
        if any(column.name == name for column in self.withheld) or is_withheld(name, self.withhold):
            raise CallError(f"{visible_text(name, 80)} is withheld: a call cannot use it")
        raise _unknown_column(name, self.names)

    def chosen(self, names: Iterable[str]) -> list[Column]:
        """Return columns by their names, each once. Raises CallError for an unknown one."""
        return [self.column(name) for name in dict.fromkeys(names)]

    def array(self, column: Column) -> Any:
        """Return a column as an Arrow array for SQL, in which NaN is null.

        Raises CallError, in one line, for a type that SQL does not have.
        """
        if column not in self._arrays:
            try:
                self._arrays[column] = for_sql(self.library.to_arrow(column.series))
            except Exception as error:
                reason = error if isinstance(error, NoSQLType) else "SQL has no such type"
                raise CallError(
                    f"{column.name} cannot be used: {reason} ({column.dtype_text}). "
                    "Select other columns, or let a tool of your own convert it"
                ) from None
        return self._arrays[column]

    def kind(self, column: Column) -> Kind:
        """Return what a tool may do with a column."""
        return kind_of(self.array(column).type)

    def order(self, column: Column) -> Any:
        """Return the codes by which ordered categories are sorted; None for other types."""
        if not column.dtype_text.startswith(("category", "Enum", "dictionary")):
            return None
        array = self.library.to_arrow(column.series).unify_dictionaries()
        codes = [chunk.indices for chunk in array.chunks]
        is_ordered = array.type.ordered
        return arrow().chunked_array(codes, array.type.index_type) if is_ordered else None

    def valid(self, column: Column) -> Any:
        """Return for each row whether its cell is not missing, as numpy has it."""
        if (array := attempt(self.array, column)[0]) is not None:
            return array.is_valid().to_numpy()
        cells = self.cells(column, slice(None))
        return numpy().asarray([cell is not None for cell in cells], bool)

    def missing(self, column: Column) -> int:
        """Return how many cells of a column are missing."""
        return len(self) - int(self.valid(column).sum())

    def type_text(self, column: Column) -> str:
        """Return the type of a column as a model reads it: `Int64`, `Datetime`."""
        array = attempt(self.array, column)[0]
        return column.dtype_text if array is None else type_text(array.type)

    def cells(self, column: Column, rows: object) -> list[Any]:
        """Return cells of a column as JSON data."""
        is_slice = isinstance(rows, slice)
        part = column.series[rows] if is_slice else self.rows_of(column, rows).series
        values = part.to_pylist() if hasattr(part, "to_pylist") else part.to_list()
        return [json_cell(value) for value in values]

    def json_rows(self, rows: object) -> list[dict[str, Any]]:
        """Return rows as JSON data, without what is withheld."""
        names = self.names
        cells = [self.cells(column, rows) for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]

    # -- new tables ------------------------------------------------------------------------------

    def rows_of(self, column: Column, rows: object) -> Column:
        """Return rows of a column by their positions; null for a position that is null."""
        return replace(column, series=self.library.take(column.series, _positions(rows)))

    def take(self, rows: object) -> AnyTable:
        """Return a table of rows by their positions."""
        positions = _positions(rows)
        # A call that keeps all rows gives back the same content, which counts as equal.
        if numpy().array_equal(positions.to_numpy(), numpy().arange(len(self))):
            return self.build(self.all_columns)
        return self.build([self.rows_of(column, positions) for column in self.all_columns])

    def new_column(self, name: str, array: object, like: Column | None = None) -> Column:
        """Return a column of this library from an Arrow array.

        With `like` it gets the type of that column, if nothing is lost. Raises CallError for a
        name that is not legible, or withheld.
        """
        series = self.library.from_arrow(array)
        if like is not None:
            # Each library raises errors of its own.
            typed = attempt(self.library.cast, series, like.series)[0]
            restored = attempt(self.library.cast, typed, series)[0]
            series = typed if restored is not None and restored.equals(series) else series
        return Column(self.check_new(name), name, series)

    def with_columns(self, *new: Column) -> AnyTable:
        """Return a table with more columns, or with others in place of those of their names."""
        by_name = {column.name: column for column in new}
        columns = list[Column]()
        for old in self.all_columns:
            replaced = by_name.pop(old.name, None) if old.place == "column" else None
            columns.append(old if replaced is None else replace(old, series=replaced.series))
            if old.place == "index" and old.name in by_name:
                raise CallError(f"{old.name} is the index of the table; choose another name")
        return self.build([*columns, *by_name.values()])

    def build(self, columns: Sequence[Column]) -> AnyTable:
        """Return a table of columns. Raises CallError where two would have one name."""
        names = Counter(column.name for column in columns if column.place != "numbers")
        twice = [name for name, count in names.items() if count > 1]
        if twice:
            raise CallError(f"two columns would be named {twice[0]!r}; rename one first")
        table: AnyTable = self.library.build([*columns], self.table)
        return table

    def check_new(self, name: str) -> str:
        """Return the name of a new column. Raises CallError for one that is not legible."""
        if not name.strip() or len(name) > 200 or not name.isprintable():
            raise CallError("a column's name is a printable text of 1 to 200 characters")
        if is_withheld(name, self.withhold):
            raise CallError(f"{name} is withheld: a new column needs another name")
        return name


def frame_of_table(table: Any, withhold: tuple[str, ...] = ()) -> Frame:
    """Return a table as a frame. Raises CallError for what is none.

    Arguments:
        table: a table of pandas, polars or pyarrow, or a frame, which is returned.
        withhold: names of columns that a call cannot use. A column of structs or records that
            has a field of such a name is withheld as a whole.
    """
    is_frame = isinstance(table, Frame)
    if library_elsewhere(table.elsewhere if is_frame else table):
        raise CallError(f"this needs all rows here; {ROWS_ELSEWHERE}")
    if is_frame:
        return cast(Frame, table)
    if not isinstance(table, AnyTable):
        raise CallError(f"a {type(table).__name__} is no table of pandas, polars or pyarrow")
    bases = [base.__module__.partition(".")[0] for base in type(table).__mro__]
    library = next(LIBRARIES[base] for base in bases if base in LIBRARIES)
    columns = library.columns(table)
    # A level of the index gives way to a column of its name.
    by_right = sorted(columns, key=lambda column: column.place != "column")
    names = dict(zip(by_right, unique_names([c.name for c in by_right]), strict=True))
    columns = [replace(column, name=names[column]) for column in columns]
    frame = Frame(library, table, tuple(columns), withhold=withhold)
    if not withhold:
        return frame
    if any(_names_withheld_rows(column, withhold) for column in columns):
        raise CallError("the table has rows that are named as a withheld column")
    # As after a pivot: values are names of columns.
    if is_withheld(tuple(getattr(getattr(table, "columns", None), "names", ())), withhold):
        raise CallError("the names of the columns are values of a withheld column")
    hidden = [c for c in columns if is_withheld(c.label, withhold) or _has_field(frame, c)]
    return replace(frame, withheld=tuple(hidden))


def _positions(rows: object) -> Any:
    """Return positions of rows as one Arrow array; Arrow would read one in chunks item by item."""
    if isinstance(rows, arrow().ChunkedArray):
        rows = rows.combine_chunks()
    return rows if isinstance(rows, arrow().Array) else arrow().array(rows, "int64")


def _unknown_column(name: str, columns: Sequence[str]) -> CallError:
    """Return the error for a column that a table does not have."""
    listed = ", ".join(columns[:MOST_NAMES])
    unlisted = len(columns) - MOST_NAMES
    listed += f" and {unlisted} more" if unlisted > 0 else ""
    hint = nearest(name, columns)
    return CallError(f"there is no column {visible_text(name, 80)!r}.{hint} Columns: {listed}")


# -- what is withheld ---------------------------------------------------------------------------


def is_withheld(name: object, withhold: Sequence[str]) -> bool:
    """Return whether a column is withheld; one of several levels is, if a level is."""
    parts = name if isinstance(name, tuple) else (name,)
    names = {other.strip().casefold() for other in withhold}
    return any(str(part).strip().casefold() in names for part in parts)


def _names_withheld_rows(column: Column, withhold: Sequence[str]) -> bool:
    """Return whether an index names a row as a withheld column is named, as in `df.T`."""
    is_hidden = is_withheld(column.label, withhold)
    if column.place != "index" or is_hidden or column.series.dtype.kind in "iufbmM":
        return False
    return any(is_withheld(label, withhold) for label in column.series.unique())


def _has_field(frame: Frame, column: Column) -> bool:
    """Return whether cells may have a withheld field: what cannot be read may have any."""
    # Numbers and times of pandas have no fields: a long column is not converted to find that out.
    if getattr(getattr(column.series, "dtype", None), "kind", "O") in "biufcmM":
        return False
    is_object = column.dtype_text == "object"
    if is_object and not len(frame):
        # The rows may be elsewhere.
        return True
    kinds = {type(value) for value in column.series} if is_object else set()
    try:
        has_field = _type_has_field(frame.library.to_arrow(column.series).type, frame.withhold)
        # A named tuple has fields, which Arrow reads as a list.
        return has_field or any(hasattr(kind, "_fields") for kind in kinds)
    except Exception:
        # Periods, intervals and complex numbers have no fields.
        return bool(re.match("object|struct|list|array", column.dtype_text, re.IGNORECASE))


def _type_has_field(type_: Any, withhold: Sequence[str]) -> bool:
    types = arrow().types
    fields = [type_.field(number) for number in range(type_.num_fields)]
    is_record = types.is_struct(type_) or types.is_union(type_)
    # What a dictionary and an extension type hold is no field of theirs.
    inner = [getattr(type_, name, None) for name in ("value_type", "storage_type")]
    inner += [part.type for part in fields]
    # The keys of a map are data, and may be any.
    return (
        types.is_map(type_)
        or any(is_record and is_withheld(part.name, withhold) for part in fields)
        or any(part is not None and _type_has_field(part, withhold) for part in inner)
    )


def quoted(name: str) -> str:
    """Return a name as SQL has it, whatever its characters."""
    return '"' + name.replace('"', '""') + '"'


# -- tables whose rows are elsewhere ------------------------------------------------------------

MOST_HERE = 20_000
"""Rows that a look or a plot takes from elsewhere."""
HUGE = ("HUGEINT", "UHUGEINT")
"""Integers that Arrow does not have: DuckDB would round the sums that it hands over."""


def first_rows(table: Any, count: int) -> object:
    """Return the first rows of a table whose rows are elsewhere, as a table in this kernel.

    For 0 rows nothing is computed.
    """
    match library_elsewhere(table):
        case "duckdb":
            types = zip(map(quoted, table.columns), map(str, table.types), strict=True)
            cells = (f"{n}::BIGINT AS {n}" if type_ in HUGE else n for n, type_ in types)
            return table.project(", ".join(cells)).limit(count).to_arrow_table()
        case "ibis":
            schema = table.schema().to_pyarrow()
            return table.limit(count).to_pyarrow() if count else schema.empty_table()
    parts = list[Any]()
    for number in range(table.npartitions):
        if missing := count - sum(map(len, parts)):
            head, meta = methodcaller("head", missing), table._meta
            parts.append(table.get_partition(number).map_partitions(head, meta=meta).compute())
    return import_module("pandas").concat(parts or [table._meta])


def columns_of(table: object, withhold: tuple[str, ...] = ()) -> Frame:
    """Return a table as a frame; one whose rows are elsewhere as its columns, without rows."""
    if library_elsewhere(table) is None:
        return table if isinstance(table, Frame) else frame_of_table(table, withhold)
    return replace(frame_of_table(first_rows(table, 0), withhold), elsewhere=table)


def rows_to_show(table: object, most: int = MOST_HERE + 1) -> Frame:
    """Return a table as a frame, also one whose rows are elsewhere: its first rows.

    Raises CallError where it has more than MOST_HERE rows, unless fewer are asked for.
    """
    frame = columns_of(table)
    if frame.elsewhere is None:
        return frame
    rows = frame_of_table(first_rows(frame.elsewhere, most), frame.withhold)
    if len(rows) > MOST_HERE:
        raise CallError(f"this takes at most {MOST_HERE:,} rows; {ROWS_ELSEWHERE}")
    return rows


# -- cells as JSON -----------------------------------------------------------------------------


def json_cell(value: object) -> Any:
    """Return a cell as JSON data: dates as ISO texts, missing values as None."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    match value:
        case None | bool() | int():
            return value
        case bytes():
            return f"{len(value):,} bytes"
        case float() if math.isfinite(value):
            return value
        case datetime.date() | datetime.time() if value == value:
            return value.isoformat()
    # What is not equal to itself is NaN, NaT, or a decimal of that kind.
    text = str(value)
    is_missing = not isinstance(value, str) and text in ("nan", "NaN", "NaT", "<NA>")
    return None if is_missing else cut(text, LONGEST_CELL)
