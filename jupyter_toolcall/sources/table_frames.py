"""Tables of pandas, polars and pyarrow as columns: by name, as Arrow arrays for SQL, and taken row
by row.

SQL computes positions and new columns; the library of a table takes the rows, so that types,
index, subclass and attributes stay. What SQL does not have is refused by name, never cast.
"""

from __future__ import annotations

import datetime
import decimal
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal, TypeAlias, cast

from ..core.errors import CallError
from ..core.interrupts import attempt
from ..core.text import nearest, unique_names, visible_text
from ..tools.table_classes import AnyTable, library_elsewhere
from ..tools.value_copies import cut

Kind = Literal["number", "text", "bool", "date", "other"]
"""What a tool may do with a column."""
LONGEST_CELL = 200
"""Characters of a text in a cell that a model is sent."""
MOST_DIGITS = 28
"""Digits of a decimal: with 10 more, sums and other scales have room in the 38 of SQL."""
MOST_NAMES = 50
"""Columns that an error lists."""
ROWS_ELSEWHERE = (
    "those of the table are elsewhere: compute what you need with tables_sql, and see the result "
    "with tables_head"
)


def arrow() -> Any:
    """Return the module pyarrow, imported at first use."""
    return import_module("pyarrow")


def numpy() -> Any:
    """Return the module numpy, imported at first use."""
    return import_module("numpy")


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column, or a level of the index of a pandas table."""

    name: str
    """Its name for the model and in SQL: a text that no other column of the table has."""
    label: Any
    """Its name as the library has it."""
    series: Any
    """Its values as the library has them."""
    place: Literal["column", "index", "numbers"] = "column"
    """`numbers`: an index of pandas that only numbers the rows, also after some were left out."""

    @property
    def dtype_text(self) -> str:
        """The type as the library writes it."""
        text = str(getattr(self.series, "dtype", None) or self.series.type)
        # The categories of an Enum are values.
        return visible_text("Enum" if text.startswith("Enum") else text, 80)


@dataclass(frozen=True)
class Frame:
    """A table as columns. Withheld ones follow their rows, and take part in nothing else."""

    engine: Engine
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
        raise unknown_column(name, self.names)

    def chosen(self, names: Iterable[str]) -> list[Column]:
        """Return columns by their names, each once. Raises CallError for an unknown one."""
        return [self.column(name) for name in dict.fromkeys(names)]

    def array(self, column: Column) -> Any:
        """Return a column as an Arrow array for SQL, in which NaN is null.

        Raises CallError, in one line, for a type that SQL does not have.
        """
        if column not in self._arrays:
            try:
                self._arrays[column] = _for_sql(self.engine.to_arrow(column.series))
            except Exception as error:
                is_refused = isinstance(error, _NoSQLType)
                reason = str(error) if is_refused else "its values are of several types"
                raise CallError(
                    f"{column.name} cannot be used: {reason} ({column.dtype_text}). "
                    "Select other columns, or let a tool of your own convert it"
                ) from None
        return self._arrays[column]

    def kind(self, column: Column) -> Kind:
        """Return what a tool may do with a column."""
        return kind_of(self.array(column).type)

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
        return column.dtype_text if array is None else arrow_type_text(array.type)

    def cells(self, column: Column, rows: Any) -> list[Any]:
        """Return cells of a column as JSON data."""
        is_slice = isinstance(rows, slice)
        part = column.series[rows] if is_slice else self.rows_of(column, rows).series
        values = part.to_pylist() if hasattr(part, "to_pylist") else part.to_list()
        return [json_cell(value) for value in values]

    def json_rows(self, rows: Any) -> list[dict[str, Any]]:
        """Return rows as JSON data, without what is withheld."""
        columns = self.columns
        names = [column.name for column in columns]
        cells = [self.cells(column, rows) for column in columns]
        return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]

    # -- new tables ------------------------------------------------------------------------------

    def rows_of(self, column: Column, rows: Any) -> Column:
        """Return rows of a column by their positions; null for a position that is null."""
        return replace(column, series=self.engine.take(column.series, positions_of(rows)))

    def take(self, rows: Any) -> AnyTable:
        """Return a table of rows by their positions."""
        positions = positions_of(rows)
        # A call that keeps all rows gives back the same content, which counts as equal.
        if numpy().array_equal(positions.to_numpy(), numpy().arange(len(self))):
            return self.build(self.all_columns)
        return self.build([self.rows_of(column, positions) for column in self.all_columns])

    def new_column(self, name: str, array: Any, like: Column | None = None) -> Column:
        """Return a column of this library from an Arrow array.

        With `like` it gets the type of that column, if nothing is lost. Raises CallError for a
        name that is not legible, or withheld.
        """
        series = self.engine.from_arrow(array)
        if like is not None:
            # Each library raises errors of its own.
            typed = attempt(self.engine.cast, series, like.series)[0]
            again = attempt(self.engine.cast, typed, series)[0]
            series = typed if again is not None and again.equals(series) else series
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
        table: AnyTable = self.engine.build([*columns], self.table)
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
    engine = next(ENGINES[base] for base in bases if base in ENGINES)
    columns = engine.columns(table)
    names = unique_names([column.name for column in columns])
    columns = [replace(c, name=name) for c, name in zip(columns, names, strict=True)]
    frame = Frame(engine, table, tuple(columns), withhold=withhold)
    if not withhold:
        return frame
    if any(_names_withheld_rows(column, withhold) for column in columns):
        raise CallError("the table has rows that are named as a withheld column")
    # As after a pivot: values are names of columns.
    if is_withheld(tuple(getattr(getattr(table, "columns", None), "names", ())), withhold):
        raise CallError("the names of the columns are values of a withheld column")
    hidden = [c for c in columns if is_withheld(c.label, withhold) or _has_field(frame, c)]
    return replace(frame, withheld=tuple(hidden))


def positions_of(rows: Any) -> Any:
    """Return positions of rows as one Arrow array; Arrow would read one in chunks item by item."""
    if isinstance(rows, arrow().ChunkedArray):
        rows = rows.combine_chunks()
    return rows if isinstance(rows, arrow().Array) else arrow().array(rows, "int64")


def unknown_column(name: str, columns: Sequence[str]) -> CallError:
    """Return the error for a column that a table does not have."""
    listed = ", ".join(columns[:MOST_NAMES])
    unlisted = len(columns) - MOST_NAMES
    listed += f" and {unlisted} more" if unlisted > 0 else ""
    hint = nearest(name, columns)
    return CallError(f"there is no column {visible_text(name, 80)!r}.{hint} Columns: {listed}")


# -- what is withheld ---------------------------------------------------------------------------


def is_withheld(name: Any, withhold: Sequence[str]) -> bool:
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
        has_field = _type_has_field(frame.engine.to_arrow(column.series).type, frame.withhold)
        # A named tuple has fields, which Arrow reads as a list.
        return has_field or any(hasattr(kind, "_fields") for kind in kinds)
    except Exception:
        # Periods, intervals and complex numbers have no fields.
        return bool(re.match("object|struct|list|array", column.dtype_text, re.IGNORECASE))


def _type_has_field(type_: Any, withhold: Sequence[str]) -> bool:
    types = arrow().types
    if types.is_dictionary(type_):
        return _type_has_field(type_.value_type, withhold)
    if isinstance(type_, arrow().BaseExtensionType):
        return _type_has_field(type_.storage_type, withhold)
    fields = [type_.field(number) for number in range(type_.num_fields)]
    is_record = types.is_struct(type_) or types.is_union(type_)
    # The keys of a map are data, and may be any.
    return types.is_map(type_) or any(
        (is_record and is_withheld(part.name, withhold)) or _type_has_field(part.type, withhold)
        for part in fields
    )


# -- Arrow ----------------------------------------------------------------------------------------


class _NoSQLType(Exception):
    """A column has a type that SQL does not have; the text says which."""


def _for_sql(array: Any) -> Any:
    """Return an Arrow array as DuckDB reads it exactly. Raises _NoSQLType where it cannot."""
    pa = arrow()
    types, type_ = pa.types, array.type
    if types.is_dictionary(type_):
        # DuckDB reads a dictionary as an enum, whose order and functions are not those of texts.
        return _for_sql(array.cast(type_.value_type))
    if types.is_floating(type_):
        return nan_as_null(array.cast(pa.float32()) if types.is_float16(type_) else array)
    if types.is_timestamp(type_):
        return _exact(array, pa.timestamp("us", type_.tz))
    if types.is_duration(type_):
        return _exact(array, pa.duration("us"))
    if types.is_time(type_):
        return _exact(array, pa.time64("us"))
    if types.is_date64(type_):
        return _exact(array, pa.date32())
    if types.is_decimal(type_):
        return _narrow_decimals(array)
    unknown = types.is_interval(type_) or types.is_union(type_) or types.is_run_end_encoded(type_)
    if unknown or isinstance(type_, pa.BaseExtensionType):
        raise _NoSQLType("SQL has no such type")
    return array


def nan_as_null(array: Any) -> Any:
    """Return an array of floats with null in place of NaN; any other array as it is."""
    if not arrow().types.is_floating(array.type):
        return array
    compute = import_module("pyarrow.compute")
    is_nan = compute.is_nan(array)
    if not compute.any(is_nan).as_py():
        return array
    return compute.if_else(is_nan, arrow().scalar(None, array.type), array)


def _narrow_decimals(array: Any) -> Any:
    """Return decimals with the digits that they have: SQL rounds where two types have no room."""
    ends = import_module("pyarrow.compute").min_max(array).as_py()
    whole = max((abs(end).adjusted() + 1 for end in ends.values() if end), default=1)
    scale = array.type.scale
    digits = max(whole, 1) + scale
    if digits > MOST_DIGITS:
        raise _NoSQLType(f"SQL computes exactly with decimals of up to {MOST_DIGITS} digits")
    return array.cast(arrow().decimal128(digits, scale))


def _exact(array: Any, type_: Any) -> Any:
    """Return an array of another type. Raises _NoSQLType where a value would change."""
    try:
        return array.cast(type_)
    except (arrow().ArrowInvalid, arrow().ArrowNotImplementedError):
        raise _NoSQLType("it has times finer than a microsecond, or out of its range") from None


def kind_of(type_: Any) -> Kind:
    """Return what a tool may do with a column of an Arrow type."""
    types = arrow().types
    if types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_):
        return "number"
    if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
        return "text"
    if types.is_date(type_) or types.is_timestamp(type_):
        return "date"
    return "bool" if types.is_boolean(type_) else "other"


def arrow_type_text(type_: Any) -> str:
    """Return the name of an Arrow type as a model reads it."""
    types = arrow().types
    if kind_of(type_) == "text":
        return "String"
    if types.is_decimal(type_):
        return "Decimal"
    if types.is_timestamp(type_):
        return f"Datetime({type_.tz})" if type_.tz else "Datetime"
    names = {"float": "Float32", "double": "Float64", "bool": "Boolean"}
    names |= {"date32[day]": "Date", "duration[us]": "Duration", "time64[us]": "Time"}
    text = str(type_)
    capital = re.sub("^Uint", "UInt", text[:1].upper() + text[1:])
    return names.get(text) or visible_text(capital, 80)


# -- the three libraries ------------------------------------------------------------------------


class _Pandas:
    """What frames need of a library of tables. A series is a column as the library has it."""

    name = "pandas"

    def columns(self, table: Any) -> list[Column]:
        """Return the levels of an index, and the columns."""
        index = table.index
        is_plain = index.nlevels == 1 and index.name is None and index.dtype.kind in "iu"
        columns = list[Column]()
        for number, label in enumerate(index.names):
            unnamed = "index" if index.nlevels == 1 else f"level_{number}"
            name = unnamed if label is None else str(label)
            series = index.get_level_values(number).to_series(index=range(len(table)))
            columns.append(Column(name, label, series, "numbers" if is_plain else "index"))
        for number, label in enumerate(table.columns):
            parts = label if isinstance(label, tuple) else (label,)
            name = ".".join(str(part) for part in parts if str(part)) or "column"
            series = table.iloc[:, number].reset_index(drop=True)
            columns.append(Column(name, label, series))
        return columns

    def to_arrow(self, series: Any) -> Any:
        """Return a series as an Arrow array. Raises for values that have no Arrow type."""
        dtype, pa = series.dtype, arrow()
        if str(dtype).startswith(("period", "interval", "Sparse", "complex")):
            raise _NoSQLType("SQL has no such type")
        if str(dtype) == "object":
            pandas = import_module("pandas")
            inferred = pandas.api.types.infer_dtype(series, skipna=True)
            kinds = {type(value) for value in series.dropna()}
            families = (list, tuple, numpy().ndarray), (dict,)
            is_nested = any(all(issubclass(k, family) for k in kinds) for family in families)
            is_mixed = inferred.startswith("mixed") and not is_nested
            # Dates beside datetimes are dates to pandas, and Arrow would drop the time of day.
            if is_mixed or (inferred == "date" and len(kinds) > 1):
                what = "objects" if len(kinds) == 1 else "of several types"
                raise _NoSQLType(f"its values are {what}")
            if inferred in ("datetime", "timedelta"):
                # Arrow alone would drop nanoseconds.
                read = pandas.to_datetime if inferred == "datetime" else pandas.to_timedelta
                series = read(series)
        array = pa.array(series, from_pandas=True)
        return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])

    def from_arrow(self, array: Any) -> Any:
        """Return an Arrow array as a series."""
        pandas, pa = import_module("pandas"), arrow()
        if pa.types.is_date(array.type):
            # pandas has no type of dates: a date is midnight.
            array = array.cast(pa.timestamp("us"))
        if array.null_count and re.fullmatch(r"u?int\d+|bool", name := str(array.type)):
            return pandas.Series(pandas.array(array.to_pylist(), dtype=_nullable(name)))
        if pa.types.is_nested(array.type):
            # pandas would read integers beside nulls as floats.
            return pandas.Series(array.to_pylist(), dtype=object)
        return array.to_pandas()

    def cast(self, series: Any, other: Any) -> Any:
        """Return a series with the type of another one. Raises where a value has no such type."""
        return series.astype(other.dtype)

    def codes(self, series: Any) -> Any:
        """Return the codes by which ordered categories are sorted; None for other types."""
        if not getattr(series.dtype, "ordered", False):
            return None
        codes = series.cat.codes.to_numpy()
        return arrow().array(codes, mask=codes < 0)

    def take(self, series: Any, rows: Any) -> Any:
        """Return rows of a series by an Arrow array of positions; null where these are null."""
        if not rows.null_count:
            return series.take(rows.to_numpy()).reset_index(drop=True)
        # An integer of numpy has no missing value, and would become a float.
        if isinstance(series.dtype, numpy().dtype) and series.dtype.kind in "iub":
            series = series.astype(_nullable(series.dtype.name))
        if str(series.dtype).startswith("Sparse"):
            series = series.astype(object)
        return series.reindex(rows.fill_null(-1).to_numpy()).reset_index(drop=True)

    def build(self, columns: list[Column], origin: Any) -> Any:
        """Return a table of columns, of the class of another one and with its attributes."""
        pandas = import_module("pandas")
        data = [column for column in columns if column.place == "column"]
        levels = [column for column in columns if column.place != "column"]
        series = {n: column.series for n, column in enumerate(data)}
        frame = pandas.DataFrame(series, copy=False)
        depth = origin.columns.nlevels
        labels = [_label(column.label, depth) for column in data]
        frame.columns = pandas.Index(labels, tupleize_cols=depth > 1)
        if labels == [*origin.columns]:
            frame.columns = origin.columns
        elif depth > 1:
            frame.columns = frame.columns.set_names(origin.columns.names)
        index = [level.series.rename(level.label) for level in levels]
        if len(index) > 1:
            frame.index = pandas.MultiIndex.from_arrays(index)
        elif index and not (
            levels[0].place == "numbers"
            and numpy().array_equal(index[0], numpy().arange(len(index[0])))
        ):
            frame.index = pandas.Index(index[0])
        return origin._constructor(frame).__finalize__(origin)


def _nullable(name: str) -> str:
    """Return the type of pandas that has missing values, such as `UInt8` for `uint8`."""
    return "boolean" if name == "bool" else name.replace("uint", "UInt").replace("int", "Int")


def _label(label: Any, depth: int) -> Any:
    """Return a label of a column for a table whose columns have levels."""
    return label if depth == 1 or isinstance(label, tuple) else (label, *[""] * (depth - 1))


class _Polars:
    name = "polars"

    def columns(self, table: Any) -> list[Column]:
        return [Column(series.name, series.name, series) for series in table.get_columns()]

    def to_arrow(self, series: Any) -> Any:
        if str(series.dtype).startswith(("Int128", "UInt128", "Object")):
            raise _NoSQLType("SQL has no such type")
        return arrow().chunked_array([series.to_arrow()])

    def from_arrow(self, array: Any) -> Any:
        return import_module("polars").Series(values=array)

    def cast(self, series: Any, other: Any) -> Any:
        return series.cast(other.dtype)

    def codes(self, series: Any) -> Any:
        return series.to_physical().to_arrow() if str(series.dtype).startswith("Enum") else None

    def take(self, series: Any, rows: Any) -> Any:
        polars = import_module("polars")
        if not len(series):
            return polars.Series(series.name, [None] * len(rows), dtype=series.dtype)
        return series.gather(polars.Series(rows))

    def build(self, columns: list[Column], origin: Any) -> Any:
        polars = import_module("polars")
        frame = polars.DataFrame([column.series.alias(column.name) for column in columns])
        return frame if type(origin) is polars.DataFrame else type(origin)(frame)


class _Arrow:
    name = "pyarrow"

    def columns(self, table: Any) -> list[Column]:
        names = table.column_names
        return [Column(name, name, array) for name, array in zip(names, table.columns, strict=True)]

    def to_arrow(self, series: Any) -> Any:
        return series

    def from_arrow(self, array: Any) -> Any:
        return array

    def cast(self, series: Any, other: Any) -> Any:
        return series.cast(other.type)

    def codes(self, series: Any) -> Any:
        return None

    def take(self, series: Any, rows: Any) -> Any:
        types = arrow().types
        if types.is_string_view(series.type) or types.is_binary_view(series.type):
            # Arrow takes no rows of views yet.
            is_text = types.is_string_view(series.type)
            plain = series.cast(arrow().large_string() if is_text else arrow().large_binary())
            return plain.take(rows).cast(series.type)
        try:
            return series.take(rows)
        except arrow().ArrowNotImplementedError:
            cells = [None if row is None else series[row].as_py() for row in rows.to_pylist()]
            return arrow().chunked_array([arrow().array(cells, series.type)])

    def build(self, columns: list[Column], origin: Any) -> Any:
        fields_before = {field.name: field for field in origin.schema}
        fields = [
            fields_before[c.name].with_type(c.series.type).with_nullable(True)
            if c.name in fields_before
            else arrow().field(c.label, c.series.type)
            for c in columns
        ]
        schema = arrow().schema(fields, metadata=origin.schema.metadata)
        return arrow().Table.from_arrays([column.series for column in columns], schema=schema)


Engine: TypeAlias = _Pandas | _Polars | _Arrow
ENGINES: Mapping[str, Engine] = {"pandas": _Pandas(), "polars": _Polars(), "pyarrow": _Arrow()}


# -- cells as JSON -----------------------------------------------------------------------------


def json_cell(value: Any) -> Any:
    """Return a cell as JSON data: dates as ISO texts, missing values as None."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None if value != value else str(value)
        case str():
            return cut(value, LONGEST_CELL)
        case datetime.date() | datetime.time():
            return None if value != value else value.isoformat()
        case datetime.timedelta() | decimal.Decimal():
            return None if value != value else str(value)
        case bytes():
            return f"{len(value):,} bytes"
    text = str(value)
    return None if text in ("<NA>", "NaT") else cut(text, LONGEST_CELL)
