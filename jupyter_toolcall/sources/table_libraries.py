"""The libraries of tables: pandas, polars and pyarrow. Each gives the columns of a table, a column
as an Arrow array for SQL and back, rows by their positions, and a table of columns.

What SQL does not have is refused by name, never cast.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, TypeAlias

from ..core.text import visible_text

Kind = Literal["number", "text", "bool", "date", "other"]
"""What a tool may do with a column."""
MOST_DIGITS = 28
"""Digits of a decimal: with 10 more, sums and other scales have room in the 38 of SQL."""


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


class Pandas:
    """What frames need of a library of tables. A series is a column as the library has it."""

    name = "pandas"

    def columns(self, table: Any) -> list[Column]:
        """Return the levels of an index, and the columns."""
        index = table.index
        is_plain = index.nlevels == 1 and index.name is None and index.dtype.kind in "iu"
        columns = list[Column]()
        for number, label in enumerate(index.names):
            # What only numbers the rows takes no name: a column may be named index.
            unnamed = "" if is_plain else "index" if index.nlevels == 1 else f"level_{number}"
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
        pa = arrow()
        if str(series.dtype) == "object":
            pandas = import_module("pandas")
            inferred = pandas.api.types.infer_dtype(series, skipna=True)
            kinds = {type(value) for value in series.dropna()}
            families = (list, tuple, numpy().ndarray), (dict,)
            is_nested = any(all(issubclass(k, family) for k in kinds) for family in families)
            is_mixed = inferred.startswith("mixed") and not is_nested
            # Dates beside datetimes are dates to pandas, and Arrow would drop the time of day.
            if is_mixed or (inferred == "date" and len(kinds) > 1):
                what = "objects" if len(kinds) == 1 else "of several types"
                raise NoSQLType(f"its values are {what}")
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
        frame = pandas.DataFrame({n: column.series for n, column in enumerate(data)}, copy=False)
        depth = origin.columns.nlevels
        labels = [_label(column.label, depth) for column in data]
        frame.columns = pandas.Index(labels, tupleize_cols=False)
        if labels == [*origin.columns]:
            frame.columns = origin.columns
        elif depth > 1:
            frame.columns = pandas.MultiIndex.from_tuples(labels, names=origin.columns.names)
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


def _label(label: object, depth: int) -> Any:
    """Return a label of a column for a table whose columns have levels."""
    return label if depth == 1 or isinstance(label, tuple) else (label, *[""] * (depth - 1))


class Polars:
    """See Pandas."""

    name = "polars"

    def columns(self, table: Any) -> list[Column]:
        return [Column(series.name, series.name, series) for series in table.get_columns()]

    def to_arrow(self, series: Any) -> Any:
        if str(series.dtype).startswith("Object"):
            raise NoSQLType("SQL has no such type")
        return arrow().chunked_array([series.to_arrow()])

    def from_arrow(self, array: object) -> Any:
        return import_module("polars").Series(values=array)

    def cast(self, series: Any, other: Any) -> Any:
        return series.cast(other.dtype)

    def take(self, series: Any, rows: Any) -> Any:
        polars = import_module("polars")
        if not len(series):
            return polars.Series(series.name, [None] * len(rows), dtype=series.dtype)
        return series.gather(polars.Series(rows))

    def build(self, columns: list[Column], origin: Any) -> Any:
        polars = import_module("polars")
        frame = polars.DataFrame([column.series.alias(column.name) for column in columns])
        return frame if type(origin) is polars.DataFrame else type(origin)(frame)


class Arrow:
    """See Pandas."""

    name = "pyarrow"

    def columns(self, table: Any) -> list[Column]:
        names = table.column_names
        return [Column(name, name, array) for name, array in zip(names, table.columns, strict=True)]

    def to_arrow(self, series: object) -> Any:
        return series

    def from_arrow(self, array: object) -> Any:
        return array

    def cast(self, series: Any, other: Any) -> Any:
        return series.cast(other.type)

    def take(self, series: Any, rows: Any) -> Any:
        try:
            return series.take(rows)
        except arrow().ArrowNotImplementedError:
            # Arrow takes no rows of views, unions and the like.
            cells = [None if row is None else series[row].as_py() for row in rows.to_pylist()]
            return arrow().chunked_array([arrow().array(cells, series.type)])

    def build(self, columns: list[Column], origin: Any) -> Any:
        before = {field.name: field for field in origin.schema}
        fields = [
            before[c.name].with_type(c.series.type).with_nullable(True)
            if c.name in before
            else arrow().field(c.label, c.series.type)
            for c in columns
        ]
        schema = arrow().schema(fields, metadata=origin.schema.metadata)
        return arrow().Table.from_arrays([column.series for column in columns], schema=schema)


Library: TypeAlias = Pandas | Polars | Arrow
LIBRARIES: Mapping[str, Library] = {"pandas": Pandas(), "polars": Polars(), "pyarrow": Arrow()}


# -- Arrow arrays for SQL -----------------------------------------------------------------------


class NoSQLType(Exception):
    """A column has a type that SQL does not have; the text says which."""


def for_sql(array: Any) -> Any:
    """Return an Arrow array as DuckDB reads it exactly. Raises NoSQLType where it cannot."""
    pa = arrow()
    types, type_ = pa.types, array.type
    if types.is_dictionary(type_):
        # DuckDB reads a dictionary as an enum, whose order and functions are not those of texts.
        return for_sql(array.cast(type_.value_type))
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
        raise NoSQLType("SQL has no such type")
    return array


def nan_as_null(array: Any) -> Any:
    """Return an array of floats with null in place of NaN; any other array as it is."""
    if not arrow().types.is_floating(array.type):
        return array
    compute = import_module("pyarrow.compute")
    return compute.if_else(compute.is_nan(array), arrow().scalar(None, array.type), array)


def _narrow_decimals(array: Any) -> Any:
    """Return decimals with the digits that they have: SQL rounds where two types have no room."""
    ends = import_module("pyarrow.compute").min_max(array).as_py()
    whole = max((abs(end).adjusted() + 1 for end in ends.values() if end), default=1)
    digits = max(whole, 1) + array.type.scale
    if digits > MOST_DIGITS:
        raise NoSQLType(f"SQL computes exactly with decimals of up to {MOST_DIGITS} digits")
    return array.cast(arrow().decimal128(digits, array.type.scale))


def _exact(array: Any, type_: Any) -> Any:
    """Return an array of another type. Raises NoSQLType where a value would change."""
    try:
        return array.cast(type_)
    except (arrow().ArrowInvalid, arrow().ArrowNotImplementedError):
        raise NoSQLType("it has times finer than a microsecond, or out of its range") from None


def kind_of(type_: object) -> Kind:
    """Return what a tool may do with a column of an Arrow type."""
    types = arrow().types
    if types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_):
        return "number"
    if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
        return "text"
    if types.is_date(type_) or types.is_timestamp(type_):
        return "date"
    return "bool" if types.is_boolean(type_) else "other"


def zone_of(type_: Any) -> str:
    """Return the time zone of an Arrow type; "" for one without."""
    return str(type_.tz or "") if arrow().types.is_timestamp(type_) else ""


def type_text(type_: Any) -> str:
    """Return the name of an Arrow type as a model reads it."""
    if kind_of(type_) == "text":
        return "String"
    if arrow().types.is_decimal(type_):
        return "Decimal"
    if arrow().types.is_timestamp(type_):
        return f"Datetime({type_.tz})" if type_.tz else "Datetime"
    names = {"float": "Float32", "double": "Float64", "bool": "Boolean"}
    names |= {"date32[day]": "Date", "duration[us]": "Duration", "time64[us]": "Time"}
    text = str(type_)
    capital = re.sub("^Uint", "UInt", text[:1].upper() + text[1:])
    return names.get(text) or visible_text(capital, 80)
