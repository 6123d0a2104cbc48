"""Data as JSON that a browser and every JSON parser can read."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

from msgspec import structs

from .digests import json_line
from .interface_text import on_wire
from .recorded_data import JsonDict, Record

MARK = "$json"
"""The only key of a mark, which stands for the JSON text under it: {"$json": "1.0"} is 1.0.
`labextension/src/view/exact.ts` reads and writes marks too."""
_LARGEST = (1 << 53) - 1
"""The largest integer that JavaScript tells from its neighbors."""

_DEFAULTS: dict[type, tuple[tuple[str, Any], ...]] = {}

ALWAYS = ("id", "type", "version", "number", "rows", "journal")


def sendable(text: str) -> str:
    """Return a text as Jupyter can send it: half of a character is U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def sendable_data(value: object) -> Any:
    """Return a row, a notice or a part of one as JSON-ready data that Jupyter can send."""
    text = _ENCODER.encode(value)
    # Only an escape can stand for half of a character: most rows have none.
    return json.loads(sendable(_READABLE.encode(value)) if "\\ud" in text else text)


def no_constant(name: str) -> NoReturn:
    """Raise ValueError for NaN and Infinity, which `json` would read: for `parse_constant`."""
    raise ValueError(f"{name} is not JSON")


def unique_keys(pairs: list[tuple[str, Any]]) -> JsonDict:
    """Return a JSON object from its pairs. Raises ValueError for a key that is there twice."""
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {repeated!r:.60} is twice in one object; give it once")
    return data


def json_data(value: object) -> Any:
    """Return dataclasses, mappings and lists as JSON-ready data, with every text as it is."""
    return json.loads(_PLAIN.encode(value))


def mapped(
    data: object, kind: type, change: Callable[..., object], *, keys: bool = False
) -> object:
    """Return JSON data with what `change` returns in place of each part of a kind, such as `str`.

    With `keys` the keys of objects are such parts too.
    """
    if isinstance(data, kind):
        return change(data)
    match data:
        case dict() | Mapping():
            items = ((key, mapped(part, kind, change, keys=keys)) for key, part in data.items())
            return {mapped(key, kind, change) if keys else key: part for key, part in items}
        case list():
            return [mapped(part, kind, change, keys=keys) for part in data]
        case tuple():
            return tuple(mapped(part, kind, change, keys=keys) for part in data)
    return data


def nested(data: object, keys: bool = False) -> Iterator[Any]:
    """Yield JSON data and all that is in it, from the outside in; with `keys` also the keys."""
    yield data
    if isinstance(data, Mapping):
        yield from data if keys else ()
        data = data.values()
    elif not isinstance(data, (list, tuple)):
        return
    for part in data:
        yield from nested(part, keys)


def exact_data(value: object) -> object:
    """Return JSON data in a form that a browser reads without changing it.

    JavaScript rounds large integers, reads 1.0 as 1 and -0.0 as 0, and Jupyter sends no half of
    a character: such a part is a mark, its JSON text under the key `$json`. So is a mapping that
    looks like a mark.
    """
    match value:
        case bool() | None:
            return value
        case int():
            return value if abs(value) <= _LARGEST else _mark(value)
        case float():
            return _mark(value) if value.is_integer() or not math.isfinite(value) else value
        case str():
            return value if sendable(value) == value else _mark(value)
        case Mapping():
            if _is_mark(value) or any(sendable(key) != key for key in value):
                return _mark(dict(value))
            return {key: exact_data(part) for key, part in value.items()}
        case list() | tuple():
            return [exact_data(part) for part in value]
    return value


def from_exact(data: object) -> object:
    """Return the JSON data that `exact_data`, or a panel, wrote.

    Raises ValueError for a mark whose text is no JSON.
    """
    match data:
        case dict() if _is_mark(data):
            return json.loads(data[MARK])
        case dict():
            return {key: from_exact(part) for key, part in data.items()}
        case list():
            return [from_exact(part) for part in data]
    return data


def _mark(value: object) -> dict[str, str]:
    return {MARK: json.dumps(value, default=dict)}


def _is_mark(data: Mapping[str, object]) -> bool:
    return len(data) == 1 and isinstance(data.get(MARK), str)


def changed_fields(value: object, write: Callable[[Any], object] | None = None) -> JsonDict:
    """Return the fields of a dataclass that have not their defaults, or the items of a mapping.

    Each is as `write` returns it: as a panel gets it, if it is not named.

    Raises TypeError for what is neither.
    """
    if isinstance(value, Mapping):
        return dict(value)
    return {
        name: (write or wire_value)(item)
        for name, default in _DEFAULTS.get(type(value)) or field_defaults(type(value))
        if (item := getattr(value, name)) is not default and item != default
    }


def wire_value(item: object) -> object:
    """Return the value of a row's field as a panel gets it; a mapping holds JSON data by name."""
    if isinstance(item, Mapping):
        return {name: exact_data(part) for name, part in item.items()}
    return on_wire(item)


_PLAIN = json.JSONEncoder(default=partial(changed_fields, write=on_wire), check_circular=False)

_ENCODER = json.JSONEncoder(default=changed_fields, check_circular=False)

_READABLE = json.JSONEncoder(default=changed_fields, check_circular=False, ensure_ascii=False)

_compact = json_line(ensure_ascii=False, allow_nan=True, default=changed_fields)


def json_texts(items: Iterable[object]) -> list[str]:
    """Return each of some rows as a JSON text without spaces that Jupyter can send."""
    return [sendable(_compact(item)) for item in items]


def parsed_texts(items: Iterable[object]) -> list[Any]:
    """Return each item as the data that it is the JSON text of; an item that is none as it is."""
    return [_parsed(item) for item in items]


def _parsed(item: object) -> object:
    if isinstance(item, str):
        with suppress(ValueError, RecursionError):
            return json.loads(item)
    return item


def field_defaults(cls: Any) -> tuple[tuple[str, object], ...]:
    """Return the names and the defaults of the fields of a dataclass, or of a record.

    Raises TypeError for other classes.
    """
    if cls not in _DEFAULTS:
        is_record = issubclass(cls, Record)
        fields: Any = structs.fields(cls) if is_record else dataclasses.fields(cls)
        defaults = {field.name: field.default for field in fields}
        for field in () if is_record else fields:
            if field.default_factory is not dataclasses.MISSING:
                defaults[field.name] = field.default_factory()
        # No field has this default: it is always sent.
        always = {name: dataclasses.MISSING for name in ALWAYS if name in defaults}
        _DEFAULTS[cls] = tuple({**defaults, **always}.items())
    return _DEFAULTS[cls]


def at_path(value: object, path: tuple[str, ...]) -> Any:
    """Return what a path leads to; None where it leads to nothing."""
    for step in path:
        match value:
            case Mapping() if step in value:
                value = value[step]
            case list() if step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            case _:
                return None
    return value


def replaced_at(value: object, path: tuple[str, ...], part: object) -> Any:
    """Return a value with another part where a path leads to."""
    if not path:
        return part
    first, remaining = path[0], path[1:]
    match value:
        case Mapping() if first in value:
            return {**value, first: replaced_at(value[first], remaining, part)}
        case list() if first.isdecimal() and int(first) < len(value):
            at = int(first)
            return [*value[:at], replaced_at(value[at], remaining, part), *value[at + 1 :]]
    return value
