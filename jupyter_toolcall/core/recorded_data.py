"""Recorded data are copied where they enter the record, and wherever they are read.

Tools, models, policies, hooks and programs read the fields of records. Each gets a copy of its own,
so nothing that it does with it changes what is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

Record = TypeVar("Record", bound=type)
_UNCHANGING = frozenset((str, int, float, bool, type(None)))


class RecordedMapping(Mapping[str, Any]):
    """A mapping that never changes: what is read from it is a copy."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def __getitem__(self, key: str) -> Any:
        return copied(self._data[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __contains__(self, key: object) -> bool:
        return key in self._data

    def __repr__(self) -> str:
        return repr(dict(self._data))

    def updated(self, changes: Mapping[str, Any]) -> RecordedMapping:
        """Return a view of these data with changes."""
        return RecordedMapping({**self._data, **copied(changes)})


def copied(data: Any) -> Any:
    """Return a copy of JSON data, of plain dicts and lists; what is no JSON stays the same object.

    `copy.deepcopy` takes five times as long.
    """
    kind = type(data)
    if kind in _UNCHANGING:
        return data
    if kind is dict:
        return {
            key: item if type(item) in _UNCHANGING else copied(item) for key, item in data.items()
        }
    if kind is list:
        return [item if type(item) in _UNCHANGING else copied(item) for item in data]
    if isinstance(data, RecordedMapping):
        return data
    if isinstance(data, Mapping):
        return {key: copied(item) for key, item in data.items()}
    if isinstance(data, list):
        return [copied(item) for item in data]
    # A named tuple is a record, and stays one.
    return tuple(map(copied, data)) if kind is tuple else data


class RecordedField:
    """A field of a record that is copied when it is set, and each time that it is read."""

    def __init__(self, slot: Any) -> None:
        self.uncopied: Callable[[Any], Any] = slot.__get__
        self._set = slot.__set__

    def __get__(self, record: Any, owner: type | None = None) -> Any:
        return self if record is None else copied(self.uncopied(record))

    def __set__(self, record: Any, value: Any) -> None:
        self._set(record, copied(value))


def recorded(*names: str) -> Callable[[Record], Record]:
    """Return a decorator of a dataclass with slots, whose fields of these names are copied."""

    def mark(cls: Record) -> Record:
        for name in names:
            setattr(cls, name, RecordedField(vars(cls)[name]))
        return cls

    return mark
