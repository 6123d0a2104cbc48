"""Records and the data in them never change: a record freezes its dicts and lists.

Tools, policies and programs get copies (`copied`), since not every library takes a subclass of
dict and list. Models and hooks read the frozen data, which raise TypeError on any change.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, ClassVar, NoReturn, TypeAlias, TypeVar

import msgspec
from msgspec.structs import force_setattr

JsonObject: TypeAlias = Mapping[str, Any]
"""JSON data by name, such as arguments, a schema, or the meta of an entry."""
JsonDict: TypeAlias = dict[str, Any]
"""The same as a dict of its owner, who may change it."""
T = TypeVar("T")
Class = TypeVar("Class", bound=type)
_UNCHANGING = frozenset((str, int, float, bool, type(None)))


def _refused(data: object, *arguments: object, **changes: object) -> NoReturn:
    raise TypeError("recorded data do not change; change a copy of them: copy.deepcopy(data)")


class FrozenDict(dict[str, Any]):
    """A dict that never changes. A copy of it, a deep one and a pickled one are plain dicts."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refused

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def __deepcopy__(self, memo: object) -> object:
        return copied(self)


class FrozenList(list[Any]):
    """A list that never changes. A copy of it, a deep one and a pickled one are plain lists."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = insert = _refused
    pop = remove = reverse = sort = _refused

    def __reduce__(self) -> Any:
        return list, (list(self),)

    def __deepcopy__(self, memo: object) -> object:
        return copied(self)


NOTHING = FrozenDict()
_FROZEN = _UNCHANGING | {FrozenDict, FrozenList}
_DICTS = (dict, FrozenDict)
_LISTS = (list, FrozenList)


def frozen(data: Any) -> Any:
    """Return JSON data as they are recorded; what is no JSON stays the same object."""
    kind = type(data)
    if kind in _UNCHANGING or kind is FrozenDict or kind is FrozenList:
        return data
    # Nearly all data are plain: an abstract class takes ten times as long to ask.
    if kind is dict or (isinstance(data, Mapping) and not isinstance(data, LazyDict)):
        if not data:
            return NOTHING
        return FrozenDict(
            {key: item if type(item) in _UNCHANGING else frozen(item) for key, item in data.items()}
        )
    if isinstance(data, list):
        return FrozenList(map(frozen, data))
    # A named tuple is a record, and stays one.
    return tuple(map(frozen, data)) if kind is tuple else data


def copied(data: Any) -> Any:
    """Return a copy of JSON data, of plain dicts and lists; what is no JSON stays the same object.

    `copy.deepcopy` takes five times as long.
    """
    kind = type(data)
    if kind in _UNCHANGING:
        return data
    if kind in _DICTS or isinstance(data, Mapping):
        return {
            key: item if type(item) in _UNCHANGING else copied(item) for key, item in data.items()
        }
    if kind in _LISTS or isinstance(data, list):
        return [item if type(item) in _UNCHANGING else copied(item) for item in data]
    return tuple(map(copied, data)) if kind is tuple else data


class Record(msgspec.Struct, frozen=True, gc=False):
    """Base class of what never changes: its fields hold data and records alone.

    Making a record takes a fifth of the time of a frozen dataclass. `gc=False` is safe, since it
    is a tree: nothing in it leads back to it.
    """


class DataRecord(Record, frozen=True):
    """Base class of records with fields that may hold dicts and lists, which are frozen."""

    data_fields: ClassVar[tuple[str, ...]] = ()
    """The names of these fields."""

    def __post_init__(self) -> None:
        for name in self.data_fields:
            value = getattr(self, name)
            if type(value) not in _FROZEN:
                force_setattr(self, name, frozen(value))


def replace(record: T, /, **changes: object) -> T:
    """Return a record, or an instance of a dataclass, with other values of some fields."""
    if isinstance(record, msgspec.Struct):
        return msgspec.structs.replace(record, **changes)
    copy = getattr(record, "__replace__", partial(dataclasses.replace, record))  # type: ignore[type-var]
    changed: T = copy(**changes)
    return changed


class LazyDict(Mapping[str, Any]):
    """Recorded data that are computed when they are first read."""

    def __init__(self, compute: Callable[[], Mapping[str, object]]) -> None:
        self._compute = compute

    @cached_property
    def _data(self) -> FrozenDict:
        data: FrozenDict = frozen(self._compute())
        return data

    def __getitem__(self, key: str) -> object:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return repr(self._data)


def recorded(*names: str, copies: str = "") -> Callable[[Class], Class]:
    """Return a decorator of a dataclass with slots, which freezes the fields of these names.

    Programs read a copy of the field `copies`.
    """

    def mark(cls: Class) -> Class:
        for name in filter(None, (*names, copies)):
            slot = vars(cls)[name]
            # Reading a slot by its own method costs a sixth of a function of Python.
            read = CopyOf(slot.__get__) if name == copies else slot.__get__
            setattr(cls, name, property(read, _freezing(slot.__set__)))
        return cls

    return mark


class CopyOf:
    """Reads a copy of recorded data: plain dicts and lists, those of lazy data too."""

    def __init__(self, read: Callable[[Any], object]) -> None:
        self.read = read

    def __call__(self, record: object) -> Any:
        """Return a copy of the data of a record."""
        return copied(self.read(record))


def _freezing(set_slot: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    return lambda record, value: set_slot(record, frozen(value))
