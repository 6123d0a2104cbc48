"""The structure of a value as JSON: its containers, its records, and the objects that it holds.

Objects may be at any depth in lists, tuples, sets, dicts, dataclasses and pydantic models. The
structure has None where an object was, so that its name can be written there.
"""

from __future__ import annotations

import dataclasses
from array import array
from collections import Counter, UserList, deque
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Set, ValuesView
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

from pydantic import BaseModel, RootModel
from pydantic_core import to_jsonable_python

from ..core.interrupts import attempt, class_name
from ..core.text import own_text
from .value_digests import SCALARS

MOST_OBJECTS = 50
"""Objects of one result that get names; the others are counted."""
SMALL_ARRAY = 100
"""Items of the longest array that is plain data."""
BYTES_SHOWN = 60
"""Characters of bytes that are shown beside their size."""

Path = tuple[str | int, ...]
"""The keys, and the positions in lists, that lead from a result's JSON to an object."""
Access = tuple[str | int | None, ...]
"""How Python takes each step of a path: an attribute by its name, an item of an iterator, a set or
the values of a dict by its position, None for `value[step]`, or "" where no single step leads."""
NameKind = Callable[[Any], str | None]
"""Returns the type of a value that is an object; None for one that may be plain data."""
_LEFT_OUT = object()
_PLAIN: frozenset[type] = frozenset(cls for cls in SCALARS if cls is not bytes)


LONGEST_RANGE = 10_000
"""Items of the longest range that is plain data."""
_LISTED = (
    *(list, tuple, set, frozenset, deque, UserList, array),
    *(range, KeysView, ValuesView, ItemsView),
)


def is_listed(value: object) -> bool:
    """Return whether JSON has a value as the list of its items."""
    return isinstance(value, _LISTED) and not (type(value) is range and len(value) > LONGEST_RANGE)


class IteratorItems(list[Any]):
    """The items of an iterator that was read to its end; Python cannot take one by its position."""


@dataclass(frozen=True, slots=True)
class HeldObject:
    """An object that a value holds, the name of its type, and its path in the value."""

    value: Any
    kind: str
    path: Path
    access: Access


@dataclass(slots=True)
class Structure:
    """A value without its objects, which `plain_data` can convert to JSON.

    An object is replaced by None. `unnamed` counts, by type, the objects beyond the first
    MOST_OBJECTS: a list has no item for them.
    """

    value: Any = None
    objects: list[HeldObject] = field(default_factory=list)
    unnamed: Counter[str] = field(default_factory=Counter)


def structure_of(
    value: object, object_kind: NameKind, leaf_kind: NameKind, *, texts_name_objects: bool = False
) -> Structure:
    """Return the structure of a value.

    Arguments:
        object_kind: returns the type of a value that is an object; None looks into the value.
        leaf_kind: returns the type of a value that is no container and has no JSON.
        texts_name_objects: `object_kind` is called with texts too.
    """
    reading = _Reading(object_kind, leaf_kind, _PLAIN - {str} if texts_name_objects else _PLAIN)
    reading.structure.value = reading.part(value, (), ())
    return reading.structure


def without_objects(value: object) -> Any:
    """Return a value with plain values in place of bytes and of scalars of libraries."""
    return structure_of(value, lambda value: None, lambda value: None).value


@dataclass
class _Reading:
    """Reads one value. A part that is JSON already and holds no object stays the same object."""

    object_kind: NameKind
    leaf_kind: NameKind
    plain: frozenset[type] = _PLAIN
    """The types whose values are returned as they are."""
    structure: Structure = field(default_factory=Structure)

    def part(self, value: object, path: Path, access: Access) -> Any:
        if type(value) in self.plain:
            return value
        kind = self.object_kind(value)
        if kind is None:
            if isinstance(value, (bytes, bytearray, memoryview)):
                return bytes_text(value)
            if (scalar := library_scalar(value)) is not NOT_A_SCALAR:
                return scalar
            if isinstance(value, Mapping):
                return self._mapping(value, path, access)
            if isinstance(value, BaseModel) or _is_record(value):
                return self._record(value, path, access)
            if is_listed(value):
                return self._items(value, path, access)
            kind = self.leaf_kind(value)
        return value if kind is None else self._object(HeldObject(value, kind, path, access))

    def _object(self, held: HeldObject) -> object:
        if len(self.structure.objects) < MOST_OBJECTS:
            self.structure.objects.append(held)
            return None
        self.structure.unnamed[held.kind] += 1
        return _LEFT_OUT

    def _items(self, value: Any, path: Path, access: Access) -> object:
        unordered = isinstance(value, (Set, ValuesView, IteratorItems))
        # pydantic converts no views.
        value = value if isinstance(value, (list, tuple, set, frozenset)) else [*value]
        if self.plain.issuperset(map(type, value)):
            return value
        items = [
            self.part(item, (*path, n), (*access, n if unordered else None))
            for n, item in enumerate(value)
        ]
        if all(new is item for new, item in zip(items, value, strict=True)):
            return value
        return [item for item in items if item is not _LEFT_OUT]

    def _mapping(self, value: Mapping[Any, object], path: Path, access: Access) -> object:
        value = value if isinstance(value, dict) else dict(value)
        if self.plain.issuperset(map(type, value.values())) and {*map(type, value)} <= {str}:
            return value
        keys = json_keys(value)
        parts = [
            (text, self.part(item, (*path, text), (*access, None if type(key) is str else n)), item)
            for n, (text, (key, item)) in enumerate(zip(keys, value.items(), strict=True))
        ]
        return _changed(value, parts)

    def _record(self, value: object, path: Path, access: Access) -> object:
        if isinstance(value, RootModel) and not self._is_object(value.root):
            return self._root(value, path, access)
        parts = [
            (key, self.part(item, (*path, key), (*access, name)), item)
            for key, name, item in _fields(value)
        ]
        return _changed(value, parts)

    def _is_object(self, value: object) -> bool:
        has_parts = isinstance(value, (Mapping, BaseModel)) or is_listed(value) or _is_record(value)
        return bool(self.object_kind(value) or (not has_parts and self.leaf_kind(value)))

    def _root(self, value: RootModel[Any], path: Path, access: Access) -> object:
        """Read a model that JSON has as its root alone: only Python takes a step to that."""
        first, at = len(self.structure.objects), len(path)
        part = self.part(value.root, path, access)
        for n, held in enumerate(self.structure.objects[first:], first):
            steps = (*held.access[:at], "", *held.access[at + 1 :])
            self.structure.objects[n] = replace(held, access=steps)
        return value if part is value.root else part


def _changed(value: object, parts: list[tuple[str, Any, Any]]) -> object:
    """Return the parts of a container by their keys; the container itself where none changed."""
    same_keys = not isinstance(value, Mapping) or [key for key, _, _ in parts] == [*value]
    if same_keys and not isinstance(value, tuple) and all(new is item for _, new, item in parts):
        return value
    return {key: None if new is _LEFT_OUT else new for key, new, _ in parts}


def json_keys(value: Mapping[Any, object]) -> list[str]:
    """Return the keys of a dict as JSON has them, each once: of 1 and "1", 1 says its type."""
    texts = [_key(key) for key in value]
    counts, keys = Counter(texts), {key for key in value if type(key) is str}
    for n, (key, text) in enumerate(zip(value, texts, strict=True)):
        if type(key) is not str and (counts[text] > 1 or text in keys):
            number, unique = 1, f"{text} ({class_name(type(key))})"
            while unique in keys:
                number += 1
                unique = f"{text} ({class_name(type(key))} {number})"
            texts[n] = unique
            keys.add(unique)
    return texts


def _key(key: object) -> str:
    """Return a key as it is written in JSON."""
    if type(key) is str:
        return key
    scalar = library_scalar(key)
    key = key if scalar is NOT_A_SCALAR or isinstance(scalar, list) else scalar
    written, _ = attempt(to_jsonable_python, {key: None})
    return next(iter(written)) if written else own_text(key)[:200]


def _is_record(value: object) -> bool:
    is_dataclass = dataclasses.is_dataclass(value) and not isinstance(value, type)
    return is_dataclass or (isinstance(value, tuple) and hasattr(type(value), "_fields"))


def _fields(value: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield the fields of a record: the key in JSON, the attribute, and the value."""
    if isinstance(value, tuple):
        fields: Any = type(value)
        yield from zip(fields._fields, fields._fields, value, strict=True)
        return
    if not isinstance(value, BaseModel):
        for record_field in dataclasses.fields(value):
            yield record_field.name, record_field.name, getattr(value, record_field.name)
        return
    for name, info in type(value).model_fields.items():
        if not info.exclude:
            yield info.serialization_alias or name, name, getattr(value, name)
    for name, item in (value.model_extra or {}).items():
        yield name, name, item


# -- scalars of libraries -------------------------------------------------------------------

NOT_A_SCALAR = object()


def bytes_text(value: bytes | bytearray | memoryview) -> str:
    """Return bytes as a short text: how many they are, and their beginning."""
    size = memoryview(value).nbytes
    beginning = repr(bytes(value[:BYTES_SHOWN]))
    shown = beginning if len(beginning) <= BYTES_SHOWN else f"{beginning[:BYTES_SHOWN]}…"
    return f"{size:,} byte{'' if size == 1 else 's'}: {shown}"


def library_scalar(value: object) -> object:
    """Return a scalar, or a small array or index, of a table library as plain values.

    A missing value is None. NOT_A_SCALAR for any other value.
    """
    for cls in type(value).__mro__:
        if read := _LIBRARIES.get(cls.__module__.partition(".")[0]):
            return read(value, cls)
    return NOT_A_SCALAR


def _pandas_scalar(value: Any, cls: type) -> object:
    match cls.__name__:
        case "NaTType" | "NAType":
            return None
        case "Timestamp" | "Timedelta":
            return value.isoformat()
        case "Period" | "Interval":
            return str(value)
    is_array = any(base.__name__ in ("Index", "ExtensionArray") for base in cls.__mro__)
    return _plain_items(value) if is_array else NOT_A_SCALAR


def _plain_items(value: Any) -> Any:
    """Return the items of a small array of Python values, where each of them is plain."""
    if value.size > SMALL_ARRAY:
        return NOT_A_SCALAR
    items = without_objects(value.tolist())
    return items if all(map(_is_plain, items)) else NOT_A_SCALAR


def _is_plain(item: Any) -> bool:
    is_list = isinstance(item, (list, tuple))
    return all(map(_is_plain, item)) if is_list else isinstance(item, (*_PLAIN, date, timedelta))


def _numpy_scalar(value: Any, cls: type) -> object:
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    # What another package derives from an array means more than its numbers.
    if not kind or type(value).__name__ != cls.__name__ or cls.__name__ == "MaskedArray":
        return NOT_A_SCALAR
    if kind == "O" and cls.__name__ == "ndarray":
        return _plain_items(value)
    if kind not in "biufcUSMm" or getattr(value, "size", SMALL_ARRAY + 1) > SMALL_ARRAY:
        return NOT_A_SCALAR
    if kind in "Mm":
        return _times(value)
    plain = value.tolist()
    return bytes_text(plain) if isinstance(plain, bytes) else without_objects(plain)


def _times(value: Any) -> object:
    """Return times as texts, since their resolution may be finer than Python's; NaT is None."""
    if getattr(value, "shape", ()):
        return [_times(item) for item in value]
    text = str(value)
    if text == "NaT":
        return None
    return text if value.dtype.kind == "M" else value.astype("timedelta64[us]").item()


def _arrow_scalar(value: Any, cls: type) -> object:
    return without_objects(value.as_py()) if hasattr(cls, "as_py") else NOT_A_SCALAR


_LIBRARIES: Mapping[str, Callable[[Any, type], Any]] = {
    "pandas": _pandas_scalar,
    "numpy": _numpy_scalar,
    "pyarrow": _arrow_scalar,
}
