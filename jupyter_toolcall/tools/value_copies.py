"""Whether a value can change, a private copy of it, and the value as JSON data and as text."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import enum
import io
import json
import math
import numbers
import os
import pickle
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, overload

from pydantic_core import to_jsonable_python

from ..core.digests import encode
from ..core.interrupts import attempt, class_name
from ..core.text import own_text, shortened_text
from .json_structure import without_objects
from .table_classes import cell_free_text, library_elsewhere, may_quote_cells, plan_text
from .value_digests import NEW_OBJECT, SCALARS, deeply, is_local

SHORTENED = 2_000
"""Characters of a text that is too long to be recorded, or to be sent."""
LONGEST = 1_000_000
"""Characters of one result's JSON; of a longer one only the beginning is recorded."""


def is_frozen(value: object) -> bool:
    """Return whether a value cannot change, so that it needs no copy.

    A class whose values never change has a method `__content__`, which returns their content.
    """
    cls = type(value)
    return cls in SCALARS or bool(attempt(_is_frozen, value, cls)[0])


def _is_frozen(value: Any, cls: Any) -> bool:
    # A column can be assigned to a DataFrame of Dask.
    is_query = library_elsewhere(value) in ("duckdb", "ibis")
    if is_query or issubclass(cls, enum.Enum) or hasattr(cls, "__content__"):
        return True
    if cls in (tuple, frozenset):
        return all(map(is_frozen, value))
    if not dataclasses.is_dataclass(cls) or not value.__dataclass_params__.frozen:
        return False
    # Besides its fields it may have items, slots of a base, and other attributes.
    make, arguments, state, items, pairs = (*object.__reduce_ex__(value, 5), *(None,) * 5)[:5]
    if make is not NEW_OBJECT or len(arguments) != 1 or items or pairs:
        return False
    parts = state if isinstance(state, (tuple, list)) else (state,)
    return all(
        all(map(is_frozen, part.values())) if type(part) is dict else is_frozen(part)
        for part in parts
    )


def private(value: Any, read_only: bool = False) -> tuple[Any, bool]:
    """Return a copy of a value that nobody else holds, and whether all of it could be copied.

    What cannot be pickled, such as a lock, is shared with the copy; so are classes, functions and
    modules. A value that is such a thing itself is returned as it is. A `read_only` copy of an
    array or a table shares its memory too, and who writes to that gets an error.
    """
    if is_frozen(value):
        return value, True
    if read_only and type(value).__module__.partition(".")[0] in _TABULAR:
        copied, raised = attempt(_copied, value, read_only=True)
        if not raised:
            return copied, True
    # Pickling calls methods of the value's class, which may raise anything.
    copied, raised = attempt(_copied, value)
    if raised == "RecursionError":
        copied, raised = attempt(deeply, _copied, value)
    if not raised:
        return copied, copied is not value or _is_named(value)
    copied, raised = attempt(_copied, value, tolerant=True)
    return (value if raised else copied), False


_TABULAR = frozenset({"numpy", "pandas", "polars", "pyarrow"})
"""The libraries whose arrays and tables hold their data in memory that can be shared."""


def _is_named(value: Any) -> bool:
    """Return whether a value is what its name leads to, such as a function or pandas.NaT."""
    return (
        issubclass(type(value), _SHARED_CLASSES) or type(attempt(value.__reduce_ex__, 5)[0]) is str
    )


class _Copier(pickle.Pickler):
    """Pickles a value, except for what its copy shares with it.

    A `tolerant` one shares also what cannot be pickled. Of a class that is installed this is the
    whole value: a copy of an event loop over the same sockets would be neither of the two.
    """

    def __init__(self, tolerant: bool) -> None:
        self.data, self.shared = io.BytesIO(), list[Any]()
        self.buffers = list[pickle.PickleBuffer]()
        super().__init__(self.data, 5, buffer_callback=self.buffers.append)
        self.tolerant = tolerant

    def reducer_override(self, value: Any) -> Any:
        if value is _shared_part:
            return NotImplemented
        cls = type(value)
        if issubclass(cls, _SHARED_CLASSES):
            return self._share(value)
        if cls.__module__ == "numpy" and _is_unwritable(value):
            # A view of memory that was shared: what is recorded of it can be written to in copies.
            return value.copy().__reduce_ex__(5)
        is_own = is_local(cls.__module__)
        if is_own and _refuses_copies(value, cls):
            if self.tolerant:
                return self._share(value)
            raise TypeError(f"{cls.__name__} can't be copied")
        if getattr(getattr(cls, "__dataclass_params__", None), "frozen", False):
            return _reduced_frozen(value)
        if not self.tolerant:
            return _reduced_figure(value, cls)
        if is_own:
            reduced, raised = attempt(value.__reduce_ex__, 5)
            return self._share(value) if raised else reduced
        return self._share(value) if attempt(_Copier(False).dump, value)[1] else NotImplemented

    def _share(self, value: Any) -> tuple[Callable[[int], Any], tuple[int]]:
        self.shared.append(value)
        return _shared_part, (len(self.shared) - 1,)


def _is_unwritable(value: Any) -> bool:
    return hasattr(value, "flags") and hasattr(value, "copy") and not value.flags.writeable


def _refuses_copies(value: Any, cls: Any) -> bool:
    """Return whether a class of the notebook says itself that there is only one of its value."""
    method = getattr(cls, "__deepcopy__", None)
    is_own = is_local(getattr(method, "__module__", None) or "")
    return is_own and bool(attempt(copy.deepcopy, value)[1])


def _reduced_frozen(value: Any) -> Any:
    """Reduce a frozen dataclass, whose slots of a base pickle itself could not set."""
    reduced = value.__reduce_ex__(5)
    has_slots = type(reduced) is tuple and reduced[0] is NEW_OBJECT and type(reduced[2]) is tuple
    return (*reduced[:5], _set_attributes) if has_slots else reduced


def _reduced_figure(value: Any, cls: type) -> Any:
    """Reduce a figure without its place in pyplot, which would show its copy beside it."""
    figures: Any = sys.modules.get("matplotlib.figure")
    if figures is None or not issubclass(cls, figures.Figure):
        return NotImplemented
    reduced = value.__reduce_ex__(5)
    reduced[2].pop("_restore_to_pylab", None)
    return reduced


def _set_attributes(value: Any, state: tuple[Any, ...]) -> None:
    for part in state:
        for name, attribute in (part or {}).items():
            object.__setattr__(value, name, attribute)


_SHARED_CLASSES = (type, FunctionType, ModuleType)


def _shared_part(number: int) -> Any:
    """Stand for a part that a value and its copy share; replaced while the copy is made."""
    raise RuntimeError(f"the shared part {number} is found only while a copy is made")


class _CopyReader(pickle.Unpickler):
    def __init__(self, copier: _Copier, read_only: bool) -> None:
        # Any other copy owns its memory: a tool may write to it.
        buffers = (
            b.raw().toreadonly() if read_only else bytearray(b.raw()) for b in copier.buffers
        )
        super().__init__(io.BytesIO(copier.data.getvalue()), buffers=buffers)
        self._shared = copier.shared

    def find_class(self, module: str, name: str) -> Any:
        if name == _shared_part.__name__ and module == __name__:
            return self._shared.__getitem__
        return super().find_class(module, name)


def _copied(value: Any, tolerant: bool = False, read_only: bool = False) -> Any:
    copier = _Copier(tolerant)
    copier.dump(value)
    return _CopyReader(copier, read_only).load()


def plain_data(value: object) -> Any:
    """Return a value as JSON data; a value that has no JSON is described in words, and cut.

    A number that is missing (NaN) is null. Bytes are told by their size and their beginning; so
    are texts, where all of it is too long to be recorded.
    """
    if value is None or type(value) is bool or (type(value) is int and abs(value) < 2**63):
        return value
    if type(value) is str and value.isascii() and len(value) < LONGEST // 8:
        return value
    converted = attempt(_jsonable, value, True)[0]
    if converted is None:
        return described_for_model(value, 2000)
    data, text = converted
    if len(text) > LONGEST:
        data = short_texts(data)
        text = encode(data)
    if len(text) > LONGEST:
        return f"{text[:LONGEST]}… ({len(text):,} characters in all; the rest is left out)"
    return data


def uncut_data(value: object) -> Any:
    """Return a value as JSON data, however long; without JSON it is described in words."""
    read = attempt(_jsonable, value)[0]
    return described_for_model(value, 2000) if read is None else read[0]


def short_texts(data: Any) -> Any:
    """Return JSON data in which each very long text is its beginning and its size."""
    match data:
        case str():
            return cut(data, SHORTENED)
        case list():
            return [short_texts(item) for item in data]
        case dict():
            return {key: short_texts(item) for key, item in data.items()}
    return data


def _jsonable(value: object, nan_is_null: bool = False) -> tuple[Any, str]:
    """Return a value as JSON data, and as JSON text. Raises what its own methods raise."""
    plain = to_jsonable_python(without_objects(value), fallback=_plain)
    data = well_formed(plain)
    # Encoding raises here, and not when the journal is written.
    text = encode(data)
    if nan_is_null and '"NaN"' in text:
        data = well_formed(_without_nan(plain))
        text = encode(data)
    return data, text


def _without_nan(data: Any) -> Any:
    """Return data in which a number that is missing is None, as in a column of pandas."""
    match data:
        case float():
            return None if math.isnan(data) else data
        case list():
            return [_without_nan(item) for item in data]
        case dict():
            return {key: _without_nan(item) for key, item in data.items()}
    return data


def _plain(value: Any) -> Any:
    """A number of another library is a number; anything else is described."""
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        return value.item()
    match value:
        case numbers.Integral():
            return int(value)
        case numbers.Real():
            return float(value)
        case os.PathLike():
            return os.fspath(value)
    return described_for_model(value, 200)


@overload
def well_formed(data: str) -> str: ...
@overload
def well_formed(data: Any) -> Any: ...
def well_formed(data: Any) -> Any:
    """Return a text, or JSON data, that UTF-8 can hold: half of a character becomes U+FFFD."""
    match data:
        case str():
            # A subclass of str may have methods of its own.
            data = str.__str__(data)
            if data.isascii():
                return data
            return data.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case float() if not math.isfinite(data):
            return {"inf": "Infinity", "-inf": "-Infinity"}.get(str(data), "NaN")
        case list() | dict():
            # A round trip in C is several times faster than a call for each value.
            with contextlib.suppress(TypeError, ValueError):
                text = encode(data)
                # Only an escape can stand for half of a character.
                if "\\ud" not in text:
                    return json.loads(text)
            if isinstance(data, list):
                return [well_formed(item) for item in data]
            return {well_formed(key): well_formed(item) for key, item in data.items()}
    return data


def cut(text: str, limit: int) -> str:
    """Return a text; of a longer one its beginning, and how long it is."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"


def described_for_model(value: object, limit: int) -> str:
    """Return what a model is told of a value without JSON: `own_text`, if that quotes no table."""
    text, raised = _text(value, own_text)
    # Walking through a value calls methods of classes that are not ours.
    if not raised and attempt(may_quote_cells, value) != (False, ""):
        text = cell_free_text(value)
    return shortened_text(text, limit)


def describe(value: object, limit: int) -> str:
    """Return a value's `repr`, cut, or what it raised."""
    return shortened_text(_text(value, repr)[0], limit)


def _text(value: object, read: Callable[[object], str]) -> tuple[str, str]:
    """Return what a value shows as a text, and the name of what it raised."""
    shown, raised = attempt(lambda: plan_text(value) or read(value))
    name = class_name(type(value))
    return well_formed(f"<{name} whose repr raises {raised}>" if shown is None else shown), raised
