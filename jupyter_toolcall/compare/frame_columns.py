"""Frames of pandas, Polars and PyArrow as columns: names, types, cells, and where two differ.

The libraries compare columns as a whole, which is a hundred times faster than cell by cell: each
says where two columns differ, and numpy counts. Without numpy, and where a library cannot compare
two columns, they are compared cell by cell. No library of tables is loaded here: a value of one
has loaded its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

from ..core.interrupts import attempt
from ..core.text import unique_names
from .cells import alike, cell_text, is_nothing, reads_alike

NUMERIC = ("int", "uint", "float", "double", "decimal")
"""How the names of types of numbers begin."""
FIRST = 60
"""So many rows in which two columns differ are named."""


@dataclass(frozen=True, slots=True)
class Unlike:
    """Where two columns differ: the first rows, and the counts of cells by what changed in them."""

    rows: Sequence[int] = ()
    changed: int = 0
    filled: int = 0
    emptied: int = 0
    by: float | None = None


@dataclass(frozen=True)
class Frame:
    """A frame of some library; columns and rows go by their positions."""

    value: Any
    keys: Sequence[Any] | None = None
    """What the rows are called; None for their labels, or numbers."""
    slow: ClassVar[tuple[str, ...]] = ()
    """Types (the beginnings of their names) whose cells are compared one by one."""

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
    def numbered(self) -> bool:
        """Whether rows have numbers alone."""
        return True

    def label(self, row: int) -> str:
        return cell_text(self.keys[row] if self.keys is not None else row)

    def take(self, rows: Sequence[int], keys: Sequence[Any] | None = None) -> Any:
        return type(self)(self.value[rows], keys)

    def column(self, number: int) -> Any:
        return self.value.to_series(number)

    def cells(self, column: Any) -> list[Any]:
        cells: list[Any] = column.to_list()
        return cells

    def cell(self, column: Any, row: int) -> Any:
        return column[row]

    def empties(self, column: Any) -> Any:
        """Return which cells of a column are empty, as a column of bools."""
        empty = column.is_null()
        return empty | column.is_nan().fill_null(True) if column.dtype.is_float() else empty

    def empty(self, column: Any) -> int:
        """Return how many cells of a column are empty."""
        return int(self.empties(column).sum())

    def type(self, column: Any) -> str:
        return str(column.dtype)

    def is_slow(self, column: Any) -> bool:
        """Return whether the cells of a column are compared one by one."""
        return self.type(column).startswith(self.slow)

    def converted(self, a: Any, b: Any) -> bool:
        """Return whether only one of two columns is stored as texts: cells may read alike."""
        texts = ("str", "string", "String", "large_string")
        return (self.type(a) in texts) != (self.type(b) in texts)

    def unlike(self, a: Any, b: Any) -> Unlike:
        """Return where two columns differ, whatever is in them."""
        slow = self.is_slow(a) or self.is_slow(b) or self.converted(a, b)
        changes = None if slow else attempt(self._compared, a, b)[0]
        same = reads_alike if self.type(a) != self.type(b) else alike
        return changes or _one_by_one(self.cells(a), self.cells(b), same)

    def _compared(self, a: Any, b: Any) -> Unlike:
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
        return Unlike(rows[:FIRST].tolist(), len(rows), filled, emptied, by)

    def differs(self, a: Any, b: Any) -> Any:
        """Return in which rows two columns differ, as an array. Raises for no common kind."""
        return a.ne_missing(b).to_numpy()

    def numbers(self, column: Any) -> Any:
        """Return a column of numbers as an array of floats, NaN for empty cells."""
        return column.cast(sys.modules["polars"].Float64).to_numpy()


def _one_by_one(a: Sequence[Any], b: Sequence[Any], same: Callable[[Any, Any], bool]) -> Unlike:
    rows = [n for n, (x, y) in enumerate(zip(a, b, strict=True)) if x is not y and not same(x, y)]
    empty = [(is_nothing(a[n]), is_nothing(b[n])) for n in rows]
    return Unlike(rows[:FIRST], len(rows), empty.count((True, False)), empty.count((False, True)))


def step(a: Any, b: Any) -> float | None:
    """Return by how much all numbers of an array went up to those of another; None for various."""
    steps = b.astype(float) - a.astype(float)
    low, high = float(steps.min()), float(steps.max())
    return low if high - low <= 1e-9 * max(1.0, abs(low)) and low else None


class PandasFrame(Frame):
    """A frame of pandas, whose rows have labels."""

    slow = ("object", "category")

    @property
    def numbered(self) -> bool:
        index = self.value.index
        is_range = isinstance(index, sys.modules["pandas"].RangeIndex)
        return is_range and (index.start, index.step) == (0, 1)

    def label(self, row: int) -> str:
        return cell_text(self.value.index[row] if self.keys is None else self.keys[row])

    def take(self, rows: Sequence[int], keys: Sequence[Any] | None = None) -> PandasFrame:
        return PandasFrame(self.value.iloc[rows], keys)

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

    def take(self, rows: Sequence[int], keys: Sequence[Any] | None = None) -> ArrowFrame:
        return ArrowFrame(self.value.take(sys.modules["pyarrow"].array([*rows], "int64")), keys)

    def column(self, number: int) -> Any:
        return self.value.column(number)

    def cell(self, column: Any, row: int) -> Any:
        return column[row].as_py()

    def empty(self, column: Any) -> int:
        return int(column.null_count)

    def cells(self, column: Any) -> list[Any]:
        cells: list[Any] = column.to_pylist()
        return cells

    def type(self, column: Any) -> str:
        return str(column.type)

    def empties(self, column: Any) -> Any:
        return import_module("pyarrow.compute").is_null(column, nan_is_null=True)

    def differs(self, a: Any, b: Any) -> Any:
        do: Any = import_module("pyarrow.compute")
        both_empty = do.and_(self.empties(a), self.empties(b))
        # NaN is not like null, which no cell has.
        alike = do.and_(both_empty, do.equal(do.is_null(a), do.is_null(b)))
        return do.and_not(do.fill_null(do.not_equal(a, b), True), alike).to_numpy()

    def numbers(self, column: Any) -> Any:
        # A whole number beyond 2 ** 53 loses digits, which is no reason to say nothing.
        compute: Any = import_module("pyarrow.compute")
        return compute.cast(column, "float64", safe=False).to_numpy()


def frame_of(value: Any) -> Frame | None:
    """Return a frame, or a single column as a frame of one; None for other values."""
    pandas, polars, pyarrow = map(sys.modules.get, ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series)):
        return PandasFrame(value.to_frame() if isinstance(value, pandas.Series) else value)
    if polars is not None and isinstance(value, (polars.DataFrame, polars.Series)):
        return PolarsFrame(value.to_frame() if isinstance(value, polars.Series) else value)
    if pyarrow is None:
        return None
    if isinstance(value, pyarrow.Table):
        return ArrowFrame(value)
    if isinstance(value, pyarrow.RecordBatch):
        return ArrowFrame(pyarrow.Table.from_batches([value]))
    if isinstance(value, (pyarrow.Array, pyarrow.ChunkedArray)):
        return ArrowFrame(pyarrow.table({"": value}))
    return None
