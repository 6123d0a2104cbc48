"""Tables as columns: names, types, cells, and where two differ.

The libraries compare columns as a whole, which is a hundred times faster than cell by cell: each
says where two columns differ, and numpy counts. Without numpy, for tables of plain Python, and
where a library cannot compare two columns, they are compared cell by cell. No library of tables is
loaded here: a value of one has loaded its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from operator import itemgetter
from typing import Any, ClassVar

from ..core.interrupts import attempt
from ..core.text import unique_names
from .cells import PLAIN, alike, cell_text, is_nothing, reads_alike
from .differences import ColumnChange

NUMERIC = ("int", "uint", "float", "double", "decimal")
"""How the names of types of numbers begin."""
FIRST = 60
"""So many rows in which two columns differ are named."""


Unlike = tuple[Sequence[int], ColumnChange]
"""Where two columns differ: the first rows, and the counts of cells by what changed in them."""


@dataclass(frozen=True)
class Frame:
    """A table; columns and rows go by their positions."""

    value: Any
    slow: ClassVar[tuple[str, ...]] = ()
    """Types (the beginnings of their names) whose cells are compared one by one."""
    ordered: ClassVar[bool] = False
    """Whether a row is what it is by its position, as in an array."""

    @property
    def names(self) -> list[str]:
        return unique_names(map(cell_text, self.value.columns))

    @property
    def height(self) -> int:
        return len(self.value)

    @property
    def shape(self) -> tuple[int, int]:
        return self.height, len(self.names)

    @property
    def labels(self) -> Any:
        """What the rows are called, by position: their places from 0 where they have no labels."""
        return range(self.height)

    def row_name(self, row: int) -> str:
        """Return what a row is called wherever it is shown: its label, as `.loc` takes it."""
        return cell_text(self.labels[row])

    def take(self, rows: Sequence[int]) -> Any:
        return replace(self, value=self.value[rows])

    def column(self, number: int) -> Any:
        return self.value.to_series(number)

    def cells(self, column: Any) -> list[Any]:
        return [*column.to_list()]

    def cell(self, column: Any, row: int) -> Any:
        return column[row]

    def empties(self, column: Any) -> Any:
        """Return which cells of a column are empty, as a column of bools."""
        empty = column.is_null()
        return empty | column.is_nan().fill_null(True) if column.dtype.is_float() else empty

    def empty(self, column: object) -> int:
        """Return how many cells of a column are empty."""
        return int(self.empties(column).sum())

    def type(self, column: Any) -> str:
        return str(column.dtype)

    def is_slow(self, column: object) -> bool:
        """Return whether the cells of a column are compared one by one."""
        return self.type(column).startswith(self.slow)

    def converted(self, a: object, b: object) -> bool:
        """Return whether only one of two columns is stored as texts: cells may read alike."""
        texts = ("str", "string", "String", "large_string")
        return (self.type(a) in texts) != (self.type(b) in texts)

    def compared(self, a: Any, b: Any) -> Unlike:
        """Return where two columns differ. Raises for columns of no common kind."""
        # Without it Polars panics, and prints where.
        import_module("numpy")
        rows = self.differs(a, b).nonzero()[0]
        x, y = (self.empties(column).to_numpy()[rows] for column in (a, b))
        numeric = all(self.type(c).lower().startswith(NUMERIC) for c in (a, b))
        by = None
        if numeric and len(rows) == len(a) > 0:
            by = step(self.numbers(a), self.numbers(b))
        filled, emptied = int((x & ~y).sum()), int((y & ~x).sum())
        return rows[:FIRST].tolist(), ColumnChange("", len(rows), filled, emptied, by)

    def differs(self, a: Any, b: Any) -> Any:
        """Return in which rows two columns differ, as an array. Raises for no common kind."""
        return a.ne_missing(b).to_numpy()

    def numbers(self, column: Any) -> Any:
        """Return a column of numbers as an array of floats, NaN for empty cells."""
        return column.cast(sys.modules["polars"].Float64).to_numpy()


def unlike(one: Frame, a: object, other: Frame, b: object) -> Unlike:
    """Return where a column of one table and a column of another differ, whatever is in them."""
    same = type(one) is type(other)
    types = (one.type(a), other.type(b)) if same and one.type(a) != other.type(b) else ("", "")
    is_slow = not same or one.is_slow(a) or one.is_slow(b) or one.converted(a, b)
    changes = None if is_slow else attempt(one.compared, a, b)[0]
    alike_cells = reads_alike if any(types) else alike
    rows, change = changes or _one_by_one(one.cells(a), other.cells(b), alike_cells)
    return rows, replace(change, types=types)


def _one_by_one(
    a: Sequence[object], b: Sequence[object], same: Callable[[Any, Any], bool]
) -> Unlike:
    rows = [n for n, (x, y) in enumerate(zip(a, b, strict=True)) if x is not y and not same(x, y)]
    empty = [(is_nothing(a[n]), is_nothing(b[n])) for n in rows]
    counts = empty.count((True, False)), empty.count((False, True))
    return rows[:FIRST], ColumnChange("", len(rows), *counts)


def step(a: Any, b: Any) -> float | None:
    """Return by how much all numbers of an array went up to those of another; None for various."""
    steps = b.astype(float) - a.astype(float)
    low, high = float(steps.min()), float(steps.max())
    return low if high - low <= 1e-9 * max(1.0, abs(low)) and low else None


class PandasFrame(Frame):
    """A frame of pandas, whose rows have labels."""

    slow = ("object", "category")

    @property
    def labels(self) -> Any:
        return self.value.index

    def take(self, rows: Sequence[int]) -> PandasFrame:
        return PandasFrame(self.value.iloc[rows])

    def column(self, number: int) -> Any:
        return self.value.iloc[:, number]

    def cell(self, column: Any, row: int) -> Any:
        return column.iloc[row]

    def empties(self, column: Any) -> Any:
        return column.isna()

    def differs(self, a: Any, b: Any) -> Any:
        differing = sys.modules["pandas"].Series(a.array != b.array).fillna(True)
        both_empty = a.isna().to_numpy() & b.isna().to_numpy()
        return differing.to_numpy(dtype=bool) & ~both_empty

    def numbers(self, column: Any) -> Any:
        return column.to_numpy(dtype=float, na_value=float("nan"))


class PolarsFrame(Frame):
    """A frame of Polars."""

    slow = ("Object",)


class ArrowFrame(Frame):
    """A table of PyArrow."""

    @property
    def names(self) -> list[str]:
        return unique_names(map(cell_text, self.value.column_names))

    def take(self, rows: Sequence[int]) -> ArrowFrame:
        return ArrowFrame(self.value.take(sys.modules["pyarrow"].array([*rows], "int64")))

    def column(self, number: int) -> Any:
        return self.value.column(number)

    def cell(self, column: Any, row: int) -> Any:
        return column[row].as_py()

    def empty(self, column: Any) -> int:
        return int(column.null_count)

    def cells(self, column: Any) -> list[Any]:
        return [*column.to_pylist()]

    def type(self, column: Any) -> str:
        return str(column.type)

    def empties(self, column: object) -> Any:
        return import_module("pyarrow.compute").is_null(column, nan_is_null=True)

    def differs(self, a: object, b: object) -> Any:
        do: Any = import_module("pyarrow.compute")
        both_empty = do.and_(self.empties(a), self.empties(b))
        # NaN is not like null, which no cell has.
        alike = do.and_(both_empty, do.equal(do.is_null(a), do.is_null(b)))
        return do.and_not(do.fill_null(do.not_equal(a, b), True), alike).to_numpy()

    def numbers(self, column: object) -> Any:
        # A whole number beyond 2 ** 53 loses digits, which is no reason to say nothing.
        compute: Any = import_module("pyarrow.compute")
        return compute.cast(column, "float64", safe=False).to_numpy()


@dataclass(frozen=True)
class PlainFrame(Frame):
    """A table of plain Python; `value` are its rows, and `read` reads the cell of each column."""

    read: Mapping[Any, Callable[[Any], Any]] = field(default_factory=dict)
    slow = ("",)

    @property
    def names(self) -> list[str]:
        return unique_names(map(cell_text, self.read))

    def take(self, rows: Sequence[int]) -> PlainFrame:
        return replace(self, value=[self.value[row] for row in rows])

    def column(self, number: int) -> Any:
        return [*map([*self.read.values()][number], self.value)]

    def cells(self, column: Any) -> list[Any]:
        return [*column]

    def type(self, column: object) -> str:
        return ""


class OrderedFrame(PlainFrame):
    """A small array, or a long list."""

    ordered = True


def frame_of(value: object) -> Frame | None:
    """Return a table; a single column is a table of one. None for other values."""
    pandas, polars, pyarrow = map(sys.modules.get, ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series)):
        return PandasFrame(value.to_frame() if isinstance(value, pandas.Series) else value)
    if polars is not None and isinstance(value, (polars.DataFrame, polars.Series)):
        return PolarsFrame(value.to_frame() if isinstance(value, polars.Series) else value)
    if pyarrow is not None and isinstance(value, pyarrow.Table):
        return ArrowFrame(value)
    if pyarrow is not None and isinstance(value, pyarrow.RecordBatch):
        return ArrowFrame(pyarrow.Table.from_batches([value]))
    if pyarrow is not None and isinstance(value, (pyarrow.Array, pyarrow.ChunkedArray)):
        return ArrowFrame(pyarrow.table({"": value}))
    return _plain_frame(value)


LONG, SMALL = 5_000, 1_000
"""Items of a list from which on it is a table, and elements of an array up to which it is one."""


def _plain_frame(value: Any) -> PlainFrame | None:
    if _is_columns(value):
        rows = range(len(next(iter(value.values()))))
        return PlainFrame(rows, {name: column.__getitem__ for name, column in value.items()})
    if _is_records(value):
        keys = dict.fromkeys(key for row in value[:LONG] for key in row)
        return PlainFrame(value, {key: partial(_field, key) for key in keys})
    if isinstance(value, (list, tuple)) and len(value) > LONG:
        return OrderedFrame(value, {"value": _itself})
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray) or value.dtype.names:
        return None
    if value.ndim not in (1, 2) or value.size > SMALL:
        return None
    columns = {n: itemgetter(n) for n in range(value.shape[1])} if value.ndim == 2 else {0: _itself}
    return OrderedFrame(value.tolist(), columns)


def _is_records(value: object) -> bool:
    """Return whether a value is a list of dictionaries with texts as keys."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    texts = (all(type(key) is str for key in row) for row in value[:LONG])
    return all(isinstance(row, dict) for row in value) and all(texts)


def _is_columns(value: object) -> bool:
    """Return whether a value is columns by name: lists of one length, that hold plain values."""
    columns = [*value.values()] if isinstance(value, dict) else []
    if not all(isinstance(column, (list, tuple)) and len(column) > 1 for column in columns):
        return False
    several = len(columns) > 1 and len({len(column) for column in columns}) == 1
    plain = all(type(cell) in PLAIN for column in columns for cell in column[:LONG])
    return several and plain


class _Missing:
    """What stands where a record has no such key."""

    def __repr__(self) -> str:
        return "–"


_NONE = _Missing()


def _field(key: str, row: Mapping[str, object]) -> object:
    return row.get(key, _NONE)


def _itself(cell: object) -> object:
    return cell
