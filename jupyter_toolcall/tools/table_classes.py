"""The classes of tables, recognized without importing a library of them.

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
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

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
