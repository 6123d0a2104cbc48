"""The classes of tables of pandas, polars and pyarrow, recognized without importing an engine.

`sources/table_sharing.py` decides which cells of a table a model is sent. Any other text that a
model gets of a value with a table in it has the class alone (`cell_free_text`).
"""

from __future__ import annotations

import gc
import sys
import types
from abc import ABCMeta
from collections.abc import Iterator, Mapping
from typing import Any

from ..core.interrupts import attempt, class_name

ENGINES: Mapping[str, str] = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "Table"}
"""The class of each engine's tables."""
_WITH_CELLS: Mapping[str, frozenset[str]] = {
    "pandas": frozenset({"DataFrame", "Series"}),
    "polars": frozenset({"DataFrame", "LazyFrame", "Series"}),
    "pyarrow": frozenset({"Table", "RecordBatch", "ChunkedArray", "Array"}),
}
"""The classes of each engine whose `repr` quotes cells."""
MOST_PARTS = 100_000
"""Parts of a value that are searched for a table; a larger value counts as one that has a table."""
_CODE = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType)


class _TableClass(ABCMeta):
    """Counts the tables of each engine as subclasses, and imports no engine for it."""

    def __subclasscheck__(cls, subclass: type) -> bool:
        bases = getattr(subclass, "__mro__", ())
        return any(ENGINES.get(_engine(base)) == base.__name__ for base in bases)

    def __instancecheck__(cls, instance: object) -> bool:
        return issubclass(type(instance), cls)


class AnyTable(metaclass=_TableClass):
    """A table of pandas, polars or pyarrow."""


def _engine(cls: type) -> str:
    return cls.__module__.partition(".")[0]


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
    if sys.modules.keys().isdisjoint(ENGINES):
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
    shape: Any = attempt(getattr, value, "shape", ())[0]
    is_table = isinstance(shape, tuple) and len(shape) == 2
    return f"<{name} of {shape[0]:,} rows and {shape[1]:,} columns>" if is_table else f"<{name}>"
