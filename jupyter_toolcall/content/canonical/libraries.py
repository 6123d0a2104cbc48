"""What arrays and tables are made of, told in one order.

No library is imported: its classes are known by name. An array that is laid out otherwise in
memory, and a table whose columns are, is the same value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from .python import Digesting, Parts


def of_library(cls: type) -> Parts | None:
    """Return what tells the parts of the arrays or tables of a class; None for any other class."""
    for base in cls.__mro__:
        root = base.__module__.partition(".")[0]
        found = _KNOWN.get(f"{root}.{base.__name__}") if root in _ROOTS else None
        if found is not None:
            return found
    return None


def _array(value: Any, digests: Digesting) -> Iterator[bytes]:
    yield digests.of([value.dtype.str, repr(value.dtype), list(value.shape)])
    # What a class of its own adds, such as a unit.
    yield digests.of(getattr(value, "__dict__", None) or {})
    try:
        yield hashlib.sha256(memoryview(value.ravel().view("u1"))).digest()
    # Its items are no bytes: they are objects, or texts of any length.
    except (TypeError, ValueError):
        yield digests.of(value.tolist())


def _masked(value: Any, digests: Digesting) -> Iterator[bytes]:
    filled = value.filled(value.fill_value).tolist()
    return map(digests.of, (value.dtype.str, filled, value.mask.tolist()))


def _frame(value: Any, digests: Digesting) -> Iterator[bytes]:
    more = {name: getattr(value, name, None) for name in value._metadata}
    for part in (value.columns, value.index, dict(value.attrs), more):
        yield digests.of(part)
    for n in range(value.shape[1]):
        yield digests.of(value.iloc[:, n].array)


def _series(value: Any, digests: Digesting) -> Iterator[bytes]:
    return map(digests.of, (value.name, value.index, value.array, dict(value.attrs)))


def _levels(value: Any, digests: Digesting) -> Iterator[bytes]:
    levels = (value.get_level_values(n).array for n in range(value.nlevels))
    return map(digests.of, (list(value.names), *levels))


def _range(value: Any, digests: Digesting) -> Iterator[bytes]:
    return map(digests.of, (value.name, value.start, value.stop, value.step))


def _index(value: Any, digests: Digesting) -> Iterator[bytes]:
    return map(digests.of, (value.name, value.array))


def _categories(value: Any, digests: Digesting) -> Iterator[bytes]:
    return map(digests.of, (value.codes, value.categories, value.ordered))


def _times(value: Any, digests: Digesting) -> Iterator[bytes]:
    return map(digests.of, (str(value.dtype), value.asi8))


def _column(value: Any, digests: Digesting) -> Iterator[bytes]:
    plain = value.dtype.kind in "biufc" and not value.isna().any()
    items = value.to_numpy() if plain else value.to_numpy(dtype=object).tolist()
    return map(digests.of, (str(value.dtype), items))


_KNOWN: dict[str, Parts] = {
    "numpy.MaskedArray": _masked,
    "numpy.ndarray": _array,
    "pandas.DataFrame": _frame,
    "pandas.Series": _series,
    "pandas.MultiIndex": _levels,
    "pandas.RangeIndex": _range,
    "pandas.Index": _index,
    "pandas.Categorical": _categories,
    "pandas.DatetimeArray": _times,
    "pandas.TimedeltaArray": _times,
    "pandas.PeriodArray": _times,
    "pandas.ExtensionArray": _column,
}
_ROOTS = {name.partition(".")[0] for name in _KNOWN}
