"""What a function takes: its JSON Schema, and the check of what a model gives.

The check is small and our own, since a schema has hundreds of functions and a session
calls a few: nothing is made for a function before it is looked at.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...errors import CallError
from ...tools import nearest
from ...tools.references import NAME, kind_in, pattern
from . import literals
from .paths import Fields, Value, Word, json_value
from .schema import BUILT_IN, Argument, Ref, Schema, meant

ObjectNamed = Callable[[str, tuple[str, ...]], Value]
"""From an object's name, and the kinds that fit, to its value. Raises CallError."""
_TYPES = {"String": "string", "Int": "integer", "Float": "number", "Boolean": "boolean"}
_NUMBER = re.compile(r"\s*-?\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?\s*")
_ANY_ID = 20
"""A bare `ID` takes an object's name where no more kinds than these have ids."""


class Wrong(ValueError):
    """An argument does not fit: where, and what is allowed."""

    def __init__(self, place: str, said: str) -> None:
        super().__init__(place, said)
        self.place, self.said = place, said


class Lazy(Mapping[str, Any]):
    """A mapping that is made when it is first looked at."""

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], dict[str, Any]]) -> None:
        self._make = make
        self._made: dict[str, Any] | None = None

    def _whole(self) -> dict[str, Any]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def __getitem__(self, key: str) -> Any:
        return self._whole()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())

    def __repr__(self) -> str:
        return repr(self._whole())


# -- what a model is told -------------------------------------------------------------


def parameters(schema: Schema, taken: Iterable[Argument], receiver: str, kind: str) -> Any:
    """Return the JSON Schema of a function's arguments; input objects are `$defs` of it."""
    known = tuple(taken)
    properties: dict[str, Any] = {}
    if receiver:
        said = f"The {kind} to work on. If left out: the newest {kind}."
        properties[receiver] = {"type": "string", "pattern": pattern((kind,)), "description": said}
    properties |= {each.name: _property(schema, each) for each in known}
    defs = {name: _input(schema, name) for name in _inputs(schema, known)}
    return {
        "type": "object",
        "properties": properties,
        "required": [each.name for each in known if each.required],
        "additionalProperties": False,
        **({"$defs": defs} if defs else {}),
    }


def _property(schema: Schema, argument: Argument) -> dict[str, Any]:
    made = _told(schema, argument.type, argument.expected)
    said = argument.doc or _fallback(schema, argument)
    more: dict[str, Any] = {"description": said} if said else {}
    if argument.default is not None:
        # A default that cannot be read is the server's all the same; it is not told.
        with contextlib.suppress(ValueError):
            more["default"] = literals.read(argument.default)
    return {**made, **more}


def _fallback(schema: Schema, argument: Argument) -> str:
    kinds = meant(schema, argument.type.name, argument.expected)
    return f"A {' or '.join(kinds[:4])}, by name." if kinds else ""


def _told(schema: Schema, ref: Ref, expected: str) -> dict[str, Any]:
    if ref.item is not None:
        return {"type": "array", "items": _told(schema, ref.item, expected)}
    kinds = meant(schema, ref.name, expected)
    if kinds:
        return {"type": "string", "pattern": pattern(kinds)}
    known = schema.types[ref.name]
    match known.kind:
        case "ENUM":
            return {"type": "string", "enum": list(known.values)}
        case "INPUT_OBJECT":
            return {"$ref": f"#/$defs/{ref.name}"}
    if ref.name == "ID":
        named = with_ids(schema)
        text = {"type": "string"}
        return {"anyOf": [{**text, "pattern": pattern(named)}, text]} if named else text
    # Of a scalar of the server's own only the server knows what JSON it takes.
    return {"type": _TYPES[ref.name]} if ref.name in _TYPES else {"title": ref.name}


def with_ids(schema: Schema) -> tuple[str, ...]:
    """Return the kinds whose objects a bare `ID` may name, () where there are too many."""
    named = [each.name for each in schema.objects() if "id" in each.fields]
    return tuple(named) if len(named) <= _ANY_ID else ()


def _input(schema: Schema, name: str) -> dict[str, Any]:
    known = schema.types[name]
    fields = offered(known.inputs)
    return {
        "type": "object",
        **({"description": known.doc} if known.doc else {}),
        "properties": {each.name: _property(schema, each) for each in fields},
        "required": [each.name for each in fields if each.required],
        "additionalProperties": False,
    }


def _inputs(schema: Schema, taken: Iterable[Argument]) -> dict[str, None]:
    """Return the names of the input objects that arguments need, one within another too."""
    found: dict[str, None] = {}
    ahead = [each.type.name for each in taken]
    while ahead:
        known = schema.types[ahead.pop()]
        if known.kind == "INPUT_OBJECT" and known.name not in found:
            found[known.name] = None
            ahead += [each.type.name for each in known.inputs]
    return found


def offered(arguments: Iterable[Argument]) -> tuple[Argument, ...]:
    """Return the arguments that are told: what is deprecated is only where it is needed."""
    return tuple(each for each in arguments if each.required or not each.deprecated)


# -- what a model gives ---------------------------------------------------------------


def checked(
    schema: Schema,
    taken: tuple[Argument, ...],
    given: Mapping[str, Any],
    named: ObjectNamed,
    place: str = "",
) -> tuple[tuple[str, Value], ...]:
    """Return arguments as they stand in a query, in the schema's order.

    What is null is left out where something else would stand there. Raises Wrong.
    """
    known = {each.name: each for each in taken}
    for name in given:
        if name not in known:
            there = f"there {'is' if len(known) == 1 else 'are'} {', '.join(known) or 'none'}"
            said = f"there is no such argument; {there}.{nearest(name, known)}".rstrip(".")
            raise Wrong(f"{place}{name}", said)
    pairs = []
    for name, each in known.items():
        value = given.get(name)
        if value is None and each.required:
            raise Wrong(f"{place}{name}", f"is missing; its type is {each.type.name}")
        absent = name not in given or (value is None and (each.default is not None or each.type[1]))
        if not absent:
            fits = _fitting(schema, each.type, each.expected, value, f"{place}{name}", named)
            pairs.append((name, fits))
    return tuple(pairs)


def _fitting(
    schema: Schema, ref: Ref, expected: str, value: Any, place: str, named: ObjectNamed
) -> Value:
    if value is None:
        if ref.required:
            raise Wrong(place, "must not be null")
        return None
    if ref.item is not None:
        if not isinstance(value, list):
            raise Wrong(place, f"must be a list, not {value!r:.60}")
        item = ref.item
        return tuple(
            _fitting(schema, item, expected, each, f"{place}.{at}", named)
            for at, each in enumerate(value)
        )
    kinds = meant(schema, ref.name, expected)
    if kinds:
        return _object(kinds, value, place, named)
    known = schema.types[ref.name]
    match known.kind:
        case "ENUM":
            return _word(known.values, value, place)
        case "INPUT_OBJECT":
            if not isinstance(value, dict):
                raise Wrong(place, f"must be an object with fields, not {value!r:.60}")
            return Fields(checked(schema, known.inputs, value, named, f"{place}."))
    if ref.name in BUILT_IN:
        return _scalar(schema, ref.name, value, place, named)
    return json_value(value, str(ref))


def _object(kinds: tuple[str, ...], value: Any, place: str, named: ObjectNamed) -> Value:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise Wrong(
            place,
            f"must be the name of a {' or '.join(kinds[:6])}, such as {kinds[0]}#1, "
            f"not {value!r:.60}",
        )
    return _resolved(kinds, value, place, named)


def _resolved(kinds: tuple[str, ...], value: str, place: str, named: ObjectNamed) -> Value:
    try:
        return named(value, kinds)
    except CallError as error:
        raise Wrong(place, str(error)) from None


def _word(values: tuple[str, ...], value: Any, place: str) -> Word:
    if isinstance(value, str) and value in values:
        return Word(value)
    near = nearest(value, values) if isinstance(value, str) else ""
    shown = ", ".join(values[:12]) + (", …" if len(values) > 12 else "")
    raise Wrong(place, f"must be one of {shown}, not {value!r:.60}.{near}".rstrip("."))


def _scalar(schema: Schema, name: str, value: Any, place: str, named: ObjectNamed) -> Value:
    match name, value:
        case "String", str():
            return value
        case "ID", str():
            kinds = with_ids(schema)
            is_name = NAME.fullmatch(value) and kind_in(value) in kinds
            return _resolved(kinds, value, place, named) if is_name else value
        case "Boolean", bool():
            return value
        case _, bool():
            pass
        case (("Int" | "ID"), int()):
            return value
        case "Float", int() | float() if _is_finite(value):
            return value
        case "Int", float() if value.is_integer():
            return int(value)
        case "Int" | "Float", str() if _NUMBER.fullmatch(value):
            number = float(value)
            if name == "Float" and _is_finite(number):
                return number
            if name == "Int" and number.is_integer():
                return int(number)
    kind = {"Int": "a whole number", "Float": "a number", "Boolean": "true or false"}
    raise Wrong(place, f"must be {kind.get(name, 'a text')}, not {value!r:.60}")


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False
