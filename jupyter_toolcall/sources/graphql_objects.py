"""An object of a GraphQL server: the path of the query that leads to it, and nothing else.

A path holds no client, no address and no header. It never changes, so it is compared and
copied as one value; its `key` is a digest of the whole path, made from that of the path
before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..core.digests import digest_text, encode
from ..core.text import printable

Value = Any
"""What stands in an argument: plain data, a tuple, or one of the records below."""
Pairs = tuple[tuple[str, Value], ...]
"""Arguments, or the fields of an input object, by name."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
FIRST_STEPS, LAST_STEPS, MAX_ARGUMENT = 3, 5, 60
"""How many steps of a path are shown, and characters of one argument."""


@dataclass(frozen=True, slots=True)
class EnumValue:
    """The value of an enum."""

    name: str


@dataclass(frozen=True, slots=True)
class InputFields:
    """The fields of an input object."""

    pairs: Pairs


@dataclass(frozen=True, slots=True)
class JsonVariable:
    """A value of a scalar of the server's own that has no literal; it goes as a variable."""

    type: str
    text: str


def json_value(data: Any, type_name: str) -> Value:
    """Return JSON data of a scalar of the server's own: as it is, or as a variable."""
    return JsonVariable(type_name, encode(data)) if isinstance(data, (dict, list)) else data


class Step(NamedTuple):
    """One field on the way: its arguments, an item of its list, a type to narrow it to."""

    field: str
    arguments: Pairs = ()
    item: tuple[int, ...] = ()
    on: str = ""
    by_id: bool = False
    """Whether it finds an object by its id, which is its one argument."""


class ObjectPath:
    """The way to an object. Each type of a schema is a class below this one."""

    __slots__ = ("__weakref__", "before", "key", "step")
    before: ObjectPath | None
    step: Step
    key: str

    def __init__(self, before: ObjectPath | None, step: Step) -> None:
        whole = (step.field, InputFields(step.arguments), step.item, step.on)
        text = written(whole, lambda path: path.key, lambda value: value.text)
        put = object.__setattr__
        put(self, "before", before)
        put(self, "step", step)
        put(self, "key", digest_text("path", before.key if before else "", text))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{self} never changes: a call makes a new object")

    def __content__(self) -> str:
        """What it is, as content: whatever leads along one path is equal."""
        return self.key

    def __str__(self) -> str:
        shown = [_shown(step) for step in steps(self)]
        left_out = len(shown) - FIRST_STEPS - LAST_STEPS
        if left_out > 1:
            shown = [*shown[:FIRST_STEPS], f"…{left_out} more…", *shown[-LAST_STEPS:]]
        return ".".join(shown)

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"text/plain": printable(str(self))}


def steps(path: ObjectPath | None) -> list[Step]:
    """Return the steps that lead to an object, the first one first."""
    path_steps = []
    while path is not None:
        path_steps.append(path.step)
        path = path.before
    return path_steps[::-1]


def objects_in(value: Value) -> Iterator[ObjectPath]:
    """Yield the objects that stand in an argument, at any depth."""
    match value:
        case ObjectPath():
            yield value
        case InputFields(pairs):
            for _, item in pairs:
                yield from objects_in(item)
        case tuple():
            for item in value:
                yield from objects_in(item)


def written(
    value: Value, name: Callable[[ObjectPath], str], variable: Callable[[JsonVariable], str]
) -> str:
    """Return a value as GraphQL writes it; `name` writes objects, and `variable` variables."""
    match value:
        case ObjectPath():
            return name(value)
        case JsonVariable():
            return variable(value)
        case EnumValue(word):
            return word
        case InputFields(pairs):
            inner = (f"{key}: {written(item, name, variable)}" for key, item in pairs)
            return "{" + ", ".join(inner) + "}"
        case tuple():
            return "[" + ", ".join(written(item, name, variable) for item in value) + "]"
    return _ENCODER.encode(value)


def query(
    operation: str, way: Iterable[Step], selection: str, ids: Mapping[ObjectPath, str]
) -> tuple[str, dict[str, Any]]:
    """Return the text and the variables of a request; `ids` are those of the objects in it."""
    variables: list[JsonVariable] = []

    def variable(value: JsonVariable) -> str:
        variables.append(value)
        return f"$v{len(variables)}"

    def name(path: ObjectPath) -> str:
        return _ENCODER.encode(ids[path])

    opened, closed = "", 0
    for step in way:
        given = ", ".join(f"{key}: {written(v, name, variable)}" for key, v in step.arguments)
        opened += f" {{ {step.field}" + (f"({given})" if given else "")
        opened += f" {{ ... on {step.on}" if step.on else ""
        closed += 2 if step.on else 1
    declared = ", ".join(f"$v{n}: {value.type}" for n, value in enumerate(variables, 1))
    head = f"{operation}({declared})" if declared else operation.removeprefix("query")
    text = f"{head}{opened}{f' {selection}' if selection else ''}{' }' * closed}".strip()
    return text, {f"v{n}": json.loads(value.text) for n, value in enumerate(variables, 1)}


# -- as a person reads it -------------------------------------------------------------


def _shown(step: Step) -> str:
    texts: list[str] = []
    for name, value in step.arguments:
        text = written(value, _short_path, lambda variable: variable.text)
        text = text if len(text) <= MAX_ARGUMENT else f"{text[: MAX_ARGUMENT - 1]}…"
        texts.append(f"{name}: {text}" if texts else text)
    index = "".join(f"[{at}]" for at in step.item)
    return _short_name(step) + (f"({', '.join(texts)})" if texts else "") + index


def _short_name(step: Step) -> str:
    """An object that was found by its id is shown by its type and that."""
    if not step.by_id:
        return step.field
    return step.on or step.field.removeprefix("load").removesuffix("FromID")


def _short_path(path: ObjectPath) -> str:
    """An object in an argument is shown by its fields alone: it has a row of its own."""
    names = [_short_name(step) for step in steps(path)]
    return ".".join(names if len(names) <= 3 else [names[0], "…", names[-1]])
