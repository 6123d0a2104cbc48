"""The classes of tables of pandas, polars and pyarrow, known without importing an engine.

What a model is sent of a table is decided in `sources/table_sharing.py`. Wherever another text of a
value goes to a model, a value that holds a table is told by its class alone (`cell_free_text`).
"""

from __future__ import annotations

import gc
import sys
import types
from abc import ABCMeta
from collections.abc import Mapping
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
"""Parts of a value that are looked at for a table; a larger value may hold one."""
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
    """Return whether the `repr` of a value may quote cells: it is, or leads to, a table."""
    if sys.modules.keys().isdisjoint(ENGINES) or type(value).__repr__ is object.__repr__:
        return False
    waiting, seen = [value], {id(value)}
    while waiting and len(seen) <= MOST_PARTS:
        part = waiting.pop()
        if has_cells(part):
            return True
        # An array of objects does not tell the garbage collector what it holds.
        held = getattr(part, "flat", ()) if type(part).__module__ == "numpy" else ()
        for each in (*gc.get_referents(part), *held):
            if id(each) not in seen and not isinstance(each, _CODE):
                seen.add(id(each))
                waiting.append(each)
    return bool(waiting)


def cell_free_text(value: object) -> str:
    """Return what a model is told of a value whose `repr` may quote cells."""
    name = class_name(type(value))
    if not has_cells(value):
        return f"<{name}, not shown: it may hold a table>"
    shape: Any = attempt(getattr, value, "shape", ())[0]
    is_table = isinstance(shape, tuple) and len(shape) == 2
    return f"<{name} of {shape[0]:,} rows and {shape[1]:,} columns>" if is_table else f"<{name}>"
