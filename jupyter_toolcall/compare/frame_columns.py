"""Frames of pandas, Polars and PyArrow as columns: names, types, cells, and where two differ.

The libraries compare columns as a whole, which is a hundred times faster than cell by cell.
None of them is loaded here: a value of one has loaded its own.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

from ..core.interrupts import attempt
from ..core.text import unique_names
from .cells import EXACT, NUMBER, alike, cell_text, is_nothing, reads_alike

NUMBER_TEXT = f"^(?P<number>{NUMBER})$"
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

    def empty(self, column: Any) -> int:
        """Return how many cells of a column are empty."""
        return int(_empty_in_polars(column).sum())

    def type(self, column: Any) -> str:
        return str(column.dtype)

    def is_slow(self, column: Any) -> bool:
        """Return whether the cells of a column are compared one by one."""
        return self.type(column).startswith(self.slow)

    def unlike(self, a: Any, b: Any) -> Unlike:
        """Return where two columns differ, whatever is in them."""
        slow = self.is_slow(a) or self.is_slow(b)
        changes = None if slow else attempt(self.compared, a, b)[0]
        converted = self.type(a) != self.type(b)
        return changes or _one_by_one(self.cells(a), self.cells(b), converted)

    def texts_first(self, a: Any, b: Any) -> tuple[Any, Any] | None:
        """Return a column of texts and one of numbers or bools, in this order; None for others."""
        for pair in ((a, b), (b, a)):
            if self.is_text(pair[0]) and self.is_number(pair[1]):
                return pair
        return None

    def is_text(self, column: Any) -> bool:
        """Return whether the library stores a column as texts."""
        return self.type(column) in ("str", "string", "String", "large_string")

    def is_number(self, column: Any) -> bool:
        """Return whether a column has numbers, or bools."""
        return self.type(column).lower().startswith(("int", "uint", "float", "double", "bool"))

    def compared(self, a: Any, b: Any) -> Unlike:
        """Return where two columns differ. Raises for columns of no common kind."""
        raise NotImplementedError


def _one_by_one(a: Sequence[Any], b: Sequence[Any], converted: bool) -> Unlike:
    same = reads_alike if converted else alike
    rows = [n for n, (x, y) in enumerate(zip(a, b, strict=True)) if x is not y and not same(x, y)]
    empty = [(is_nothing(a[n]), is_nothing(b[n])) for n in rows]
    return Unlike(rows[:FIRST], len(rows), empty.count((True, False)), empty.count((False, True)))


def step(low: float, high: float) -> float | None:
    """Return by how much all numbers went up, from the least and the most; None for various."""
    same = high - low <= 1e-9 * max(1.0, abs(low))
    return low if same and low else None


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

    def empty(self, column: Any) -> int:
        return int(column.isna().sum())

    def compared(self, a: Any, b: Any) -> Unlike:
        empty = a.isna().to_numpy(), b.isna().to_numpy()
        flags = sys.modules["pandas"].Series((a.array != b.array) & ~(empty[0] & empty[1]))
        flags = flags.fillna(True).to_numpy(dtype=bool)
        if (pair := self.texts_first(a, b)) is not None:
            flags &= ~_texts_read_alike_in_pandas(*pair)
        rows = flags.nonzero()[0]
        x, y = empty[0][rows], empty[1][rows]
        by = None
        if len(rows) == len(a) > 0 and a.dtype.kind in "iuf" and b.dtype.kind in "iuf":
            numbers = [each.to_numpy(dtype=float, na_value=float("nan")) for each in (a, b)]
            steps = numbers[1] - numbers[0]
            by = step(float(steps.min()), float(steps.max()))
        filled, emptied = int((x & ~y).sum()), int((y & ~x).sum())
        return Unlike(rows[:FIRST].tolist(), len(rows), filled, emptied, by)


def _texts_read_alike_in_pandas(texts: Any, numbers: Any) -> Any:
    """Return where a text is that of the number, or of the bool, beside it."""
    shown = numbers.astype("string")
    if str(numbers.dtype).startswith("bool"):
        same = texts.str.lower().array == shown.str.lower().array
        return sys.modules["pandas"].Series(same).fillna(False).to_numpy(dtype=bool)
    read = texts.astype(object).str.extract(NUMBER_TEXT, expand=False)
    same = sys.modules["pandas"].Series(read.array == shown.array).fillna(False)
    read, values = (
        each.to_numpy(dtype=float, na_value=float("nan")) for each in (read.astype(float), numbers)
    )
    return same.to_numpy(dtype=bool) | ((read == values) & (abs(values) < EXACT))


class PolarsFrame(Frame):
    """A frame of Polars."""

    slow = ("Object",)

    def compared(self, a: Any, b: Any) -> Unlike:
        pair = self.texts_first(a, b)
        flags = a.ne_missing(b) if pair is None else ~_texts_read_alike_in_polars(*pair)
        rows = flags.arg_true()
        x, y = a.gather(rows), b.gather(rows)
        empty = [_empty_in_polars(each) for each in (x, y)]
        by = None
        if len(rows) == len(a) > 0 and a.dtype.is_numeric() and b.dtype.is_numeric():
            double = sys.modules["polars"].Float64
            steps = y.cast(double) - x.cast(double)
            by = None if steps.null_count() else step(steps.min(), steps.max())
        filled, emptied = int((empty[0] & ~empty[1]).sum()), int((empty[1] & ~empty[0]).sum())
        return Unlike(rows.head(FIRST).to_list(), len(rows), filled, emptied, by)


def _texts_read_alike_in_polars(texts: Any, numbers: Any) -> Any:
    """Return where a text is that of the number, or of the bool, beside it, or both are empty."""
    polars = sys.modules["polars"]
    empty = texts.is_null() & _empty_in_polars(numbers)
    shown = numbers.cast(polars.String)
    if numbers.dtype == polars.Boolean:
        return empty | (texts.str.to_lowercase() == shown).fill_null(False)
    read, values = texts.str.extract(NUMBER_TEXT, 1), numbers.cast(polars.Float64)
    same = (read == shown) | ((read.cast(polars.Float64) == values) & (values.abs() < EXACT))
    return empty | same.fill_null(False)


def _empty_in_polars(column: Any) -> Any:
    empty = column.is_null()
    return empty | column.is_nan().fill_null(True) if column.dtype.is_float() else empty


class ArrowFrame(Frame):
    """A table of PyArrow."""

    @property
    def names(self) -> list[str]:
        return unique_names(map(cell_text, self.value.column_names))

    def take(self, rows: Sequence[int], keys: Sequence[Any] | None = None) -> ArrowFrame:
        return ArrowFrame(self.value.take([*rows]), keys)

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

    def compared(self, a: Any, b: Any) -> Unlike:
        do: Any = import_module("pyarrow.compute")
        empty = [do.is_null(each, nan_is_null=True) for each in (a, b)]
        nulls = do.xor(do.is_null(a), do.is_null(b))
        both_nan = do.and_(
            *(do.and_not(*each) for each in zip(empty, map(do.is_null, (a, b)), strict=True))
        )
        pair = self.texts_first(a, b)
        differs = do.not_equal(a, b) if pair is None else _texts_differ_in_arrow(*pair)
        flags = do.and_not(do.or_(do.fill_null(differs, False), nulls), both_nan)
        changed = do.sum(flags).as_py() or 0
        by = None
        if changed == len(a) > 0 and not any(do.any(each).as_py() for each in empty):
            by = _step_in_arrow(a, b)
        filled, emptied = (
            do.sum(do.and_(flags, do.and_not(x, y))).as_py() or 0 for x, y in (empty, empty[::-1])
        )
        rows = do.indices_nonzero(flags)[:FIRST].to_pylist()
        return Unlike(rows, changed, filled, emptied, by)


def _texts_differ_in_arrow(texts: Any, numbers: Any) -> Any:
    """Return where a text is not that of the number, or of the bool, beside it."""
    do: Any = import_module("pyarrow.compute")
    shown = do.cast(numbers, texts.type)
    if str(numbers.type) == "bool":
        return do.not_equal(do.utf8_lower(texts), shown)
    read = do.struct_field(do.extract_regex(texts, NUMBER_TEXT), [0])
    values = do.cast(numbers, "float64", safe=False)
    same = do.and_(do.equal(do.cast(read, "float64"), values), do.less(do.abs(values), EXACT))
    return do.not_(do.or_(do.fill_null(do.equal(read, shown), False), do.fill_null(same, False)))


def _step_in_arrow(a: Any, b: Any) -> float | None:
    do: Any = import_module("pyarrow.compute")
    kinds = sys.modules["pyarrow"].types
    if not all(kinds.is_integer(each.type) or kinds.is_floating(each.type) for each in (a, b)):
        return None
    # A whole number beyond 2 ** 53 loses digits, which is no reason to say nothing.
    numbers = [do.cast(each, "float64", safe=False) for each in (a, b)]
    ends = do.min_max(do.subtract(numbers[1], numbers[0])).as_py()
    return step(ends["min"], ends["max"])


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
