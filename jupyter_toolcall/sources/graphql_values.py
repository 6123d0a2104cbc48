"""The arguments of a GraphQL field, and what a server returned, checked against the schema.

The check goes by the GraphQL schema itself, not by JSON Schema: a schema has hundreds of
fields and a session calls a few, so nothing is made for a field before it is looked at.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from ..core.errors import CallError
from ..core.state import NAME, kind_in
from ..core.text import nearest, visible_text
from ..tools.arguments import unknown_argument
from ..tools.object_references import NAME_OR_TEXT, pattern, receiver_schema
from . import graphql_schema as gql
from .graphql_queries import EnumValue, InputFields, Pairs, Value, json_value
from .graphql_schema import BUILT_IN, AnyType, Argument, Arguments, Schema

Resolve = Callable[[str, tuple[str, ...]], Value]
"""From an object's name, and the kinds that fit, to its value. Raises CallError."""
_TYPES = {"String": "string", "Int": "integer", "Float": "number", "Boolean": "boolean"}
LONGEST = 60
"""Characters of a value that an error shows."""
_NUMBER = re.compile(r"\s*-?\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?\s*")


def offered(arguments: Arguments) -> Arguments:
    """Return the arguments that are shown: what is deprecated only where it is required."""
    return {
        name: argument
        for name, argument in arguments.items()
        if argument.deprecation_reason is None or gql.must_be_given(argument)
    }


# -- the JSON Schema ------------------------------------------------------------------


def parameters(schema: Schema, arguments: Arguments, receiver: str, kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a field's arguments; input objects are `$defs` of it.

    `receiver` is the argument that names the object of type `kind`, "" for a root field.
    """
    result = _object_schema(schema, arguments)
    if receiver:
        result["properties"] = {receiver: receiver_schema(kind, (kind,)), **result["properties"]}
    inputs: dict[str, Any] = {}
    ahead = [gql.name_of(argument.type) for argument in arguments.values()]
    while ahead:
        name = ahead.pop()
        fields = gql.input_fields(schema.types[name])
        if fields is not None and name not in inputs:
            doc = schema.types[name].description
            described = {"description": doc} if doc else {}
            inputs[name] = {**described, **_object_schema(schema, offered(fields))}
            ahead += [gql.name_of(field.type) for field in fields.values()]
    return {**result, "$defs": inputs} if inputs else result


def _object_schema(schema: Schema, arguments: Arguments) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: _property(schema, part) for name, part in arguments.items()},
        "required": [name for name, argument in arguments.items() if gql.must_be_given(argument)],
        "additionalProperties": False,
    }


def _property(schema: Schema, argument: Argument) -> dict[str, Any]:
    expected, default = gql.expected_type(argument), gql.default_of(argument)
    result = _type_schema(schema, argument.type, expected)
    kinds = schema.kinds_of_id(gql.name_of(argument.type), expected)
    doc = argument.description or (f"A {' or '.join(kinds[:4])}, by name." if kinds else "")
    if gql.name_of(argument.type) == "ID" and not kinds:
        doc = f"{doc} An object that has an id is given by its name.".lstrip()
    if doc:
        result["description"] = doc
    if default is not None:
        result["default"] = gql.read_literal(default)
    return result


def _type_schema(schema: Schema, ref: AnyType, expected: str) -> dict[str, Any]:
    item, name = gql.item_type(ref), gql.name_of(ref)
    if item is not None:
        return {"type": "array", "items": _type_schema(schema, item, expected)}
    if kinds := schema.kinds_of_id(name, expected):
        return {"type": "string", "pattern": pattern(kinds)}
    if values := gql.enum_values(schema.types[name]):
        return {"type": "string", "enum": list(values)}
    if gql.input_fields(schema.types[name]) is not None:
        return {"$ref": f"#/$defs/{name}"}
    if name == "ID":
        # Any object that has an id may stand there, of hundreds of types.
        return {"type": "string", "pattern": NAME_OR_TEXT}
    # Of a scalar of the server's own only the server knows what JSON it takes.
    return {"type": _TYPES[name]} if name in _TYPES else {"title": name}


# -- the arguments of a call ----------------------------------------------------------


class _Misfit(ValueError):
    """A value does not fit; its text is what would."""


class ArgumentReader:
    """Reads the arguments of one call; `errors` are by place what does not fit."""

    def __init__(self, schema: Schema, resolve: Resolve) -> None:
        self.schema, self.resolve = schema, resolve
        self.errors: dict[str, str] = {}

    def pairs(self, arguments: Arguments, values: Mapping[str, Any], where: str = "") -> Pairs:
        """Return arguments as they stand in a query, in the schema's order.

        What is null is left out where something else would stand there.
        """
        pairs = []
        for name, argument in arguments.items():
            value, at = values.get(name), f"{where}{name}"
            nothing = gql.default_of(argument) is not None or gql.is_required(argument.type)
            try:
                if value is None and gql.must_be_given(argument):
                    raise _Misfit(f"is missing; its type is {gql.name_of(argument.type)}")
                if name in values and not (value is None and nothing):
                    expected = gql.expected_type(argument)
                    pairs.append((name, self.value(argument.type, expected, value, at)))
            except _Misfit as misfit:
                self.errors.setdefault(at, str(misfit))
        names = list(arguments)
        for name in values:
            if name not in names:
                self.errors[f"{where}{name}"] = unknown_argument(name, names)
        return tuple(pairs)

    def value(self, ref: AnyType, expected: str, value: Any, where: str) -> Value:
        """Return one value as it stands in a query. Raises _Misfit."""
        if value is None:
            if gql.is_required(ref):
                raise _Misfit("must not be null")
            return None
        item, name = gql.item_type(ref), gql.name_of(ref)
        if item is not None:
            return self.items(item, expected, value, where)
        if kinds := self.schema.kinds_of_id(name, expected):
            return self.object(kinds, value)
        if values := gql.enum_values(self.schema.types[name]):
            return _enum_value(values, value)
        fields = gql.input_fields(self.schema.types[name])
        if fields is not None:
            if not isinstance(value, dict):
                raise _Misfit(f"must be an object with fields, not {value!r:.60}")
            return InputFields(self.pairs(fields, value, f"{where}."))
        if name == "ID" and isinstance(value, str) and NAME.fullmatch(value):
            return self.id_of(value)
        self.check_plain(value, name)
        if name not in BUILT_IN:
            return json_value(value, str(ref))
        spelled = name in ("Int", "Float") and isinstance(value, str) and _NUMBER.fullmatch(value)
        return _scalar(name, float(value) if spelled else value)

    def id_of(self, text: str) -> Value:
        """Return the object, or the id, that a text in the form of a name stands for.

        An id of the server may have that form too. Raises _Misfit for an object without an id.
        """
        kind = kind_in(text)
        if kind in self.schema.objects and "id" in self.schema.types[kind].fields:
            return self.object((kind,), text)
        value = self.value_of(text)
        if value is None:
            return text
        if type(value) in (str, int):
            return value
        raise _Misfit(f"{text} has no id, since a {kind} has none; name another object, or an id")

    def value_of(self, name: str) -> Any:
        """Return the value of an object of any type, None where there is no such object."""
        try:
            return self.resolve(name, ())
        except CallError:
            return None

    def check_plain(self, value: Any, type_name: str) -> None:
        """Raise _Misfit where plain data is taken, and a text in it is the name of an object."""
        match value:
            case str() if NAME.fullmatch(value) and kind_in(value) in self.schema.objects:
                if self.value_of(value) is not None:
                    raise _Misfit(
                        f"{value} is an object, and a {type_name} is taken here; give what one of "
                        "its tools returns"
                    )
            case list():
                for item in value:
                    self.check_plain(item, type_name)
            case dict():
                for item in value.values():
                    self.check_plain(item, type_name)

    def items(self, item: AnyType, expected: str, value: Any, where: str) -> Value:
        """Return a list as it stands in a query. Raises _Misfit."""
        if not isinstance(value, list):
            raise _Misfit(f"must be a list, not {value!r:.60}")
        items = []
        for index, element in enumerate(value):
            try:
                items.append(self.value(item, expected, element, f"{where}.{index}"))
            except _Misfit as misfit:
                self.errors.setdefault(f"{where}.{index}", str(misfit))
        return tuple(items)

    def object(self, kinds: tuple[str, ...], value: Any) -> Value:
        """Return the object that a name stands for. Raises _Misfit."""
        if not isinstance(value, str) or not NAME.fullmatch(value):
            named = " or ".join(kinds[:6])
            raise _Misfit(f"must be the name of a {named}, such as {kinds[0]}#1, not {value!r:.60}")
        try:
            return self.resolve(value, kinds)
        except CallError as error:
            raise _Misfit(str(error)) from None


def _enum_value(values: tuple[str, ...], value: Any) -> EnumValue:
    if isinstance(value, str) and value in values:
        return EnumValue(value)
    guess = nearest(value, values) if isinstance(value, str) else ""
    shown = ", ".join(values[:12]) + (", …" if len(values) > 12 else "")
    raise _Misfit(f"must be one of {shown}, not {value!r:.60}.{guess}".rstrip("."))


def _scalar(name: str, value: Any) -> Value:
    """Return a value of a built-in scalar. Raises _Misfit."""
    match name, value:
        case ("String" | "ID", str()) | ("Boolean", bool()):
            return value
        case _, bool():
            pass
        case "Int" | "ID", int():
            return value
        case "Int", float() if value.is_integer():
            return int(value)
        case "Float", int() | float() if abs(value) <= sys.float_info.max:
            return value
    kind = {"Int": "a whole number", "Float": "a number", "Boolean": "true or false"}
    raise _Misfit(f"must be {kind.get(name, 'a text')}, not {value!r:.60}")


# -- what a server returned -----------------------------------------------------------


def check_result(
    schema: Schema,
    ref: AnyType,
    data: Any,
    field: str,
    nulls: bool = False,
    names: tuple[str, ...] = (),
) -> None:
    """Raise CallError, in one line, unless data fits a type (GraphQL specification, 6.4.3).

    A scalar of the server's own may be any JSON. Objects are only checked for null, and
    for lists where the type has lists.

    Arguments:
        field: the field that returned the data, as `Type.field`.
        nulls: whether null may stand anywhere, since errors beside the data say why.
        names: the fields of an object, or of each in a list, that are checked too.
    """
    if misfit := _misfit(schema, ref, data, nulls, names):
        path, part, declared = misfit
        values = gql.enum_values(schema.types[gql.name_of(declared)])
        choices = f" ({', '.join(values[:12])}{', …' if len(values) > 12 else ''})"
        answered = visible_text(json.dumps(part, ensure_ascii=False), LONGEST)
        raise CallError(
            f"{field}{path}: the server answered {answered}, and the schema says {declared}"
            + (choices if values else "")
        )


Place = tuple[str, Any, AnyType]
"""The path to a part of the data, such as `[1]`, the part, and the type that it does not fit."""


def _misfit(
    schema: Schema, ref: AnyType, data: Any, nulls: bool, names: tuple[str, ...]
) -> Place | None:
    """Return the first part of data that does not fit a type; None if all of it fits."""
    if data is None:
        return ("", data, ref) if gql.is_required(ref) and not nulls else None
    inner, declared = gql.item_type(ref), schema.types[gql.name_of(ref)]
    if inner is None and not names:
        return None if _fits(declared, data) else ("", data, ref)
    if not isinstance(data, list if inner else dict):
        return "", data, ref
    whole: Any = data
    parts: list[tuple[str, Any, Any, tuple[str, ...]]]
    if inner is None:
        parts = [(f".{n}", declared.fields[n].type, whole.get(n), ()) for n in names]
    else:
        parts = [(f"[{index}]", inner, item, names) for index, item in enumerate(whole)]
    for step, type_, part, part_names in parts:
        if misfit := _misfit(schema, type_, part, nulls, part_names):
            path, *remaining = misfit
            return f"{step}{path}", *remaining
    return None


def _fits(declared: Any, data: Any) -> bool:
    """Return whether data that is not null fits a type that is no list."""
    if values := gql.enum_values(declared):
        return isinstance(data, str) and data in values
    if not gql.is_leaf(declared):
        return not isinstance(data, list)
    try:
        return declared.name not in BUILT_IN or _scalar(declared.name, data) is not None
    except _Misfit:
        return False
