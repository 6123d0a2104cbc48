"""The classes of tables, recognized without importing a library of them, and their content.

The rows of a table of pandas, polars or pyarrow are in this kernel. A table of DuckDB, Ibis or Dask
is a query that has not run: only what shows or sends its rows may compute them.

`sources/table_sharing.py` decides which cells of a table a model is sent. Any other text that a
model gets of a value with a table in it has the class alone (`cell_free_text`).
"""

from __future__ import annotations

import gc
import sys
import types
from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from ..core.digests import hash_bytes
from ..core.interrupts import attempt, class_name

ENGINES: Mapping[str, str] = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "Table"}
"""The class of each engine's tables."""
ELSEWHERE: Mapping[str, str] = {"duckdb": "DuckDBPyRelation", "ibis": "Table", "dask": "DataFrame"}
"""The class of tables of each library whose rows are elsewhere."""
_TABLES = {**ENGINES, **ELSEWHERE}
_WITH_CELLS: Mapping[str, frozenset[str]] = {
    "pandas": frozenset({"DataFrame", "Series"}),
    "polars": frozenset({"DataFrame", "LazyFrame", "Series"}),
    "pyarrow": frozenset({"Table", "RecordBatch", "ChunkedArray", "Array"}),
    **{library: frozenset({name}) for library, name in ELSEWHERE.items()},
}
"""The classes of each library whose `repr` quotes cells."""
MOST_PARTS = 100_000
"""Parts of a value that are searched for a table; a larger value counts as one that has a table."""
_CODE = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType)


class AnyTable(ABC):  # noqa: B024
    """A table of pandas, polars or pyarrow, or one of DuckDB, Ibis or Dask."""

    @classmethod
    def __subclasshook__(cls, subclass: type) -> bool:
        """Recognize a class by its name and its library, which is not imported for it."""
        return _library(subclass, _TABLES) is not None


def _engine(cls: type) -> str:
    return cls.__module__.partition(".")[0]


def _library(cls: type, tables: Mapping[str, str]) -> str | None:
    """Return the library of a class of tables; None for any other class."""
    bases = getattr(cls, "__mro__", ())
    return next((_engine(b) for b in bases if tables.get(_engine(b)) == b.__name__), None)


def library_elsewhere(value: object) -> str | None:
    """Return the library of a table whose rows are elsewhere; None for any other value."""
    return _library(type(value), ELSEWHERE)


def plan_text(value: Any) -> str | None:
    """Return the query that a table elsewhere is, if its own text may be its rows; else None."""
    match library_elsewhere(value):
        case "duckdb":
            return str(value.sql_query())
        case "ibis":
            return str(import_module("ibis.expr.format").pretty(value.op()))
    return None


def shape_of(value: object) -> object:
    """Return the shape of a value; None where it has none, or would count rows elsewhere."""
    return None if library_elsewhere(value) else getattr(value, "shape", None)


def has_cells(value: object) -> bool:
    """Return whether a value is a table, or a column of one."""
    return any(base.__name__ in _WITH_CELLS.get(_engine(base), ()) for base in type(value).__mro__)


def may_quote_cells(value: object) -> bool:
    """Return whether the text of a value may quote cells: it is a table, or refers to one."""
    return not has_no_text(type(value)) and next(parts_with_cells(value), None) is not None


def has_no_text(cls: Any) -> bool:
    """Return whether the values of a class have no other text than their address in memory."""
    return cls.__repr__ is object.__repr__ and cls.__str__ is object.__str__


def parts_with_cells(value: object) -> Iterator[object]:
    """Yield the tables and columns that a value refers to; itself where it has too many parts."""
    if sys.modules.keys().isdisjoint(_TABLES):
        return
    waiting, seen = [value], {id(value)}
    while waiting and len(seen) <= MOST_PARTS:
        part = waiting.pop()
        if has_cells(part):
            yield part
            continue
        # The garbage collector does not know the items of a numpy array of objects.
        items = getattr(part, "flat", ()) if type(part).__module__ == "numpy" else ()
        for inner in (*gc.get_referents(part), *items):
            if id(inner) not in seen and not isinstance(inner, _CODE):
                seen.add(id(inner))
                waiting.append(inner)
    if waiting:
        yield value


def cell_free_text(value: object) -> str:
    """Return the text that a model gets in place of a `repr` that may quote cells."""
    name = class_name(type(value))
    if not has_cells(value):
        return f"<{name}, not shown: it may hold a table>"
    shape: Any = attempt(shape_of, value)[0]
    is_table = isinstance(shape, tuple) and len(shape) == 2
    return f"<{name} of {shape[0]:,} rows and {shape[1]:,} columns>" if is_table else f"<{name}>"


# -- the content of arrays and tables -------------------------------------------------------

Parts = Callable[[Any], Iterable[Any]]
"""From a value to its parts, in an order that is always the same. Raises what reading it raises."""


def _array(value: Any) -> Iterator[object]:
    yield value.dtype.str, repr(value.dtype), dict(value.dtype.metadata or ()), [*value.shape]
    # The attributes that a subclass adds, such as a unit.
    yield getattr(value, "__dict__", None) or {}
    try:
        yield hash_bytes(memoryview(value.ravel().view("u1")))
    # Its items are objects, or texts of any length.
    except (TypeError, ValueError):
        yield value.tolist()


def _frame(value: Any) -> Iterator[object]:
    metadata = {name: getattr(value, name, None) for name in value._metadata}
    yield from (value.columns, value.index, dict(value.attrs), metadata)
    yield bool(value.flags.allows_duplicate_labels)
    yield [value.iloc[:, n].array for n in range(value.shape[1])]


def _series(value: Any) -> Iterable[object]:
    flags = bool(value.flags.allows_duplicate_labels)
    metadata = {name: getattr(value, name, None) for name in value._metadata}
    return value.name, value.index, value.array, dict(value.attrs), metadata, flags


def _index(value: Any) -> Iterable[object]:
    if value.nlevels > 1:
        return [*value.names], [value.get_level_values(n).array for n in range(value.nlevels)]
    return value.name, value.array, str(getattr(value, "freq", None))


def _column(value: Any) -> Iterable[object]:
    plain = value.dtype.kind in "biufc" and not value.isna().any()
    return str(value.dtype), value.to_numpy() if plain else value.to_numpy(dtype=object).tolist()


def _texts(value: Any) -> Iterable[object]:
    """A column of texts: which are missing, how long the others are, and all of them in a row.

    These are the same from Arrow, which has them at hand, as from Python's texts.
    """
    missing = value.isna()
    numpy, present = sys.modules["numpy"], value[~missing] if missing.any() else value
    if type(value).__name__ == "ArrowStringArray":
        chunk = present.__arrow_array__().combine_chunks()
        _, offsets, data = chunk.buffers()
        width = "<i8" if "large" in str(chunk.type) else "<i4"
        ends = numpy.frombuffer(offsets, width)[chunk.offset :][: len(chunk) + 1]
        lengths = numpy.diff(ends).astype("<i8")
        joined = memoryview(data or b"")[ends[0] : ends[-1]] if len(lengths) else memoryview(b"")
    else:
        items = [text.encode("utf-8", "surrogatepass") for text in present.to_numpy(object)]
        lengths = numpy.fromiter(map(len, items), "<i8", len(items))
        joined = memoryview(b"".join(items))
    return str(value.dtype), missing, lengths, hash_bytes(joined)


def _source(backend: Any) -> Iterable[str]:
    """Return which database a backend of Ibis reads. Raises TypeError for one in memory."""
    source = str(backend.db_identity)
    if source == str(type(backend)) or ":memory:" in source:
        raise TypeError("a database in memory has no name")
    return (source,)


def _arrow(value: Any) -> Iterator[object]:
    """A table of Arrow is its rows, in however many pieces of whatever memory they lie."""
    arrow = sys.modules["pyarrow"]
    is_table = hasattr(value, "schema")
    table = value if is_table else arrow.table([value], [""])
    yield [type(column) for column in value.columns] if is_table else [type(value)]
    stream = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(stream, table.schema) as writer:
        writer.write(table.take(arrow.array(range(len(table)))).combine_chunks())
    yield stream.getvalue().to_pybytes()


def _polars(value: Any) -> Iterator[object]:
    """A table of polars is its rows: new ones have no marks of what was computed of them."""
    is_table = hasattr(value, "get_columns")
    order = None if is_table else sys.modules["polars"].int_range(len(value), eager=True)
    yield value.get_columns() if is_table else value.gather(order).__getstate__()


_TIMES: Parts = lambda value: (str(value.dtype), value.asi8)  # noqa: E731
TABLE_PARTS: Mapping[str, Parts] = {
    "ibis.BaseBackend": _source,
    "numpy.MaskedArray": lambda v: (v.data, v.mask, v.fill_value),
    "numpy.ndarray": _array,
    # Which file it is a map of is no content: its copy is none.
    "numpy.memmap": lambda value: _array(value.view(sys.modules["numpy"].ndarray)),
    "pandas.DataFrame": _frame,
    "pandas.Series": _series,
    "pandas.Index": _index,
    "pandas.Categorical": lambda v: (v.codes, v.categories, v.ordered),
    **{f"pandas.{name}Array": _TIMES for name in ("Datetime", "Timedelta", "Period")},
    "pandas.BaseStringArray": _texts,
    "pandas.NumpyExtensionArray": lambda v: (v.to_numpy(),),
    "pandas.ExtensionArray": _column,
    **{f"polars.{name}": _polars for name in ("DataFrame", "Series")},
    **{f"pyarrow.{name}": _arrow for name in ("Table", "RecordBatch", "ChunkedArray", "Array")},
}
"""What reads the content of the values of a class: their pickle tells how they lie in memory."""
