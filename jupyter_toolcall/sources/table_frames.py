"""Tables of pandas, polars and pyarrow as frames of narwhals, and their cells as JSON.

No other file imports narwhals; this one does when the first table is read.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from ..core.errors import CallError, DefinitionError
from ..core.text import nearest, visible_text
from ..tools.table_classes import AnyTable

Kind = Literal["number", "text", "bool", "date", "other"]
"""What an expression may do with a column."""
LONGEST_CELL = 200
"""Characters of a text in a cell that a model is sent."""
MOST_NAMES = 50
"""Columns that an error lists."""


def require_narwhals() -> None:
    """Raise DefinitionError, which says what to install, where narwhals is missing."""
    try:
        missing = find_spec("narwhals") is None
    except ValueError:
        missing = True
    if missing:
        raise DefinitionError(
            "the toolset tables needs narwhals: pip install 'jupyter-toolcall[tables]'"
        )


def narwhals() -> Any:
    """Return the module narwhals, imported at first use."""
    return import_module("narwhals")


def frame_of_table(table: Any) -> Any:
    """Return a table as a frame of narwhals. Raises CallError for what is none."""
    if not isinstance(table, AnyTable):
        raise CallError(f"a {type(table).__name__} is no table of pandas, polars or pyarrow")
    try:
        frame = narwhals().from_native(table, eager_only=True)
        names = frame.columns
    except Exception as error:
        raise CallError(f"the table cannot be read: {_first_line(error)}") from None
    if not all(isinstance(name, str) for name in names):
        raise CallError("the table has column names that are no texts; rename them first")
    return frame


def table_of(frame: Any) -> AnyTable:
    """Return a frame as a table of its engine."""
    table: AnyTable = frame.to_native()
    return table


def engine_of(frame: Any) -> str:
    """Return the engine of a frame: `pandas`, `polars` or `pyarrow`."""
    return str(frame.implementation.value)


def _first_line(error: BaseException) -> str:
    return visible_text((str(error).splitlines() or [type(error).__name__])[0])


# -- columns ---------------------------------------------------------------------------------


def kind_of_column(dtype: Any) -> Kind:
    """Return what an expression may do with a column of a type of narwhals."""
    nw = narwhals()
    if dtype.is_numeric():
        return "number"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    if dtype in (nw.Date, nw.Datetime):
        return "date"
    return "bool" if dtype == nw.Boolean else "other"


def nan_as_null(frame: Any, names: Sequence[str] | None = None) -> Any:
    """Return a frame in which NaN is null, as in pandas: polars and pyarrow tell them apart.

    Arguments:
        names: the columns; all of them if left out.
    """
    if engine_of(frame) == "pandas":
        return frame
    nw, chosen = narwhals(), frame.columns if names is None else names
    floats = [nw.col(name) for name in chosen if frame.schema[name].is_float()]
    return frame.with_columns(*[nw.when(~each.is_nan()).then(each) for each in floats])


def type_text(dtype: Any) -> str:
    """Return the name of a column's type as a model reads it: `Int64`, `Datetime`."""
    return type(dtype).__name__ if not isinstance(dtype, type) else dtype.__name__


def check_columns(frame: Any, names: Iterable[str]) -> list[str]:
    """Return the names. Raises CallError, with the nearest and all columns, for an unknown one."""
    names = list(dict.fromkeys(names))
    for name in names:
        if name not in frame.columns:
            raise unknown_column(name, frame.columns)
    return names


def unknown_column(name: str, columns: Sequence[str]) -> CallError:
    """Return the error for a column that a table does not have."""
    listed = ", ".join(columns[:MOST_NAMES])
    unlisted = len(columns) - MOST_NAMES
    listed += f" and {unlisted} more" if unlisted > 0 else ""
    hint = nearest(name, columns)
    return CallError(f"there is no column {visible_text(name, 80)!r}.{hint} Columns: {listed}")


def check_new_column(name: str) -> str:
    """Return the name of a new column. Raises CallError for one that is not legible."""
    if not name.strip() or len(name) > 200 or not name.isprintable():
        raise CallError("a column's name is a printable text of 1 to 200 characters")
    return name


# -- cells as JSON -----------------------------------------------------------------------------


def json_rows(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of a frame as JSON data."""
    return [
        {name: json_cell(value) for name, value in row.items()} for row in frame.rows(named=True)
    ]


def json_cell(value: Any) -> Any:
    """Return a cell as JSON data: dates as ISO texts, missing values as None."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if value is None or value != value:
        return None
    match value:
        case bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case str():
            return value if len(value) <= LONGEST_CELL else _shortened(value)
        case datetime.date() | datetime.time():
            return value.isoformat()
        case datetime.timedelta() | decimal.Decimal():
            return str(value)
        case bytes():
            return f"{len(value):,} bytes"
    text = str(value)
    return None if text in ("<NA>", "NaT") else _shortened(text)


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_CELL:
        return text
    return f"{text[:LONGEST_CELL]}… ({len(text):,} characters)"
