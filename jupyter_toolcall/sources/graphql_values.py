"""The arguments of a GraphQL field, and what a server returned, checked against the schema.

A type becomes a JSON Schema, which a model reads, or which checks a value. A schema has hundreds of
fields and a session calls a few, so nothing is made for a field before it is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from sys import float_info
from typing import Any

from ..core.errors import CallError
from ..core.json_data import nested
from ..core.recorded_data import JsonDict
from ..core.state import NAME, kind_in
from ..core.text import visible_text
from ..tools.object_references import NAME_OR_TEXT, pattern, receiver_schema
from . import graphql_schema as gql
from .definition_schema import ArgumentChecker, schema_validator
from .graphql_queries import Sent, Value
from .graphql_schema import AnyType, Argument, Arguments, Schema

Resolve = Callable[[str, tuple[str, ...]], Value]
"""From an object's name, and the kinds that fit, to its value. Raises CallError."""
_TYPES = {"String": "string", "Int": "integer", "Float": "number", "Boolean": "boolean"}
_INT = {"minimum": -(2**31), "maximum": 2**31 - 1}
_CHECKED: Mapping[str, Any] = {
    **{name: {"type": [kind]} for name, kind in _TYPES.items()},
    "Float": {"type": ["number"], "minimum": -float_info.max, "maximum": float_info.max},
    "ID": {"type": ["string", "integer"]},
}
"""What values of the built-in scalars have to be."""
_CHECKED_ARGUMENTS = {**_CHECKED, "Int": {**_CHECKED["Int"], **_INT}}
"""The same for arguments: a server refuses a larger Int, and what it returned is kept."""
_NOT_NULL = ["array", "boolean", "number", "object", "string"]
LONGEST = 60
"""Characters of a value that an error shows."""


def offered(arguments: Arguments) -> Arguments:
    """Return the arguments that are shown: what is deprecated only where it is required."""
    return {
        name: argument
        for name, argument in arguments.items()
        if argument.deprecation_reason is None or gql.must_be_given(argument)
    }


# -- the JSON Schemas -----------------------------------------------------------------


def parameters(schema: Schema, arguments: Arguments, receiver: str, kind: str) -> JsonDict:
    """Return the JSON Schema of a field's arguments, as a model reads it.

    `receiver` is the argument that names the object of type `kind`, "" for a root field.
    """
    result = _with_inputs(schema, arguments, _property)
    if receiver:
        result["properties"] = {receiver: receiver_schema(kind, (kind,)), **result["properties"]}
    return result


def argument_checker(title: str, schema: Schema, arguments: Arguments) -> ArgumentChecker:
    """Return what checks a field's arguments; the names of objects are texts for it."""

    def part_schema(schema: Schema, argument: Argument) -> JsonDict:
        # In place of null, the default is sent.
        is_optional = gql.default_of(argument) is not None
        return _checked_type(schema, argument.type, is_optional, scalars=_CHECKED_ARGUMENTS)

    checked = _with_inputs(schema, arguments, part_schema)
    for inputs in checked.get("$defs", {}).values():
        # Whether it may be null, the place says that refers to it.
        inputs["type"] = ["object", "null"]
    return ArgumentChecker(title, checked)


def _with_inputs(
    schema: Schema, arguments: Arguments, part_schema: Callable[[Schema, Argument], JsonDict]
) -> JsonDict:
    """Return the JSON Schema of arguments; the input objects in them are `$defs` of it."""

    def fields_schema(arguments: Arguments) -> JsonDict:
        required = [name for name, part in arguments.items() if gql.must_be_given(part)]
        properties = {name: part_schema(schema, part) for name, part in arguments.items()}
        fields = {"properties": properties, "required": required, "additionalProperties": False}
        return {"type": "object", **fields}

    result, inputs = fields_schema(arguments), dict[str, Any]()
    ahead = [gql.name_of(argument.type) for argument in arguments.values()]
    while ahead:
        name = ahead.pop()
        fields = gql.input_fields(schema.types[name])
        if fields is not None and name not in inputs:
            doc = schema.types[name].description
            limit = {"minProperties": 1, "maxProperties": 1} if schema.types[name].is_one_of else {}
            described = {**limit, "description": doc} if doc else limit
            inputs[name] = {**described, **fields_schema(offered(fields))}
            ahead += [gql.name_of(field.type) for field in fields.values()]
    return {**result, "$defs": inputs} if inputs else result


def _property(schema: Schema, argument: Argument) -> JsonDict:
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


def _type_schema(schema: Schema, ref: AnyType, expected: str) -> JsonDict:
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
    limits = _INT if name == "Int" else {}
    return {"type": _TYPES[name], **limits} if name in _TYPES else {"title": name}


def _checked_type(
    schema: Schema,
    ref: AnyType,
    may_be_null: bool = False,
    nulls: bool = False,
    names: tuple[str, ...] = (),
    scalars: Mapping[str, Any] = _CHECKED,
) -> JsonDict:
    """Return the JSON Schema that checks a value of a type.

    `may_be_null`: whatever the type says. For `nulls` and `names` see `check_result`.
    """
    item, named = gql.item_type(ref), gql.named_type(ref)
    result: JsonDict = {"type": ["object"]}
    if item is not None:
        items = _checked_type(schema, item, False, nulls, names, scalars)
        result = {"type": ["array"], "items": items}
    elif values := gql.enum_values(named):
        result = {"type": ["string"], "enum": [*values, None]}
    elif gql.input_fields(named) is not None:
        result["$ref"] = f"#/$defs/{named.name}"
    elif gql.is_leaf(named):
        result = scalars.get(named.name, {"type": _NOT_NULL})
    elif names:
        parts = {name: named.fields[name].type for name in names}
        checked = {name: _checked_type(schema, parts[name], nulls=nulls) for name in names}
        required = [name for name in names if gql.is_required(parts[name]) and not nulls]
        result |= {"properties": checked, "required": required}
    null = ["null"] * (may_be_null or nulls or not gql.is_required(ref))
    return {**result, "type": [*result["type"], *null]}


# -- the arguments of a call ----------------------------------------------------------


class ArgumentReader:
    """Puts objects in the place of their names, in arguments that fit; `errors` are by place."""

    def __init__(self, schema: Schema, resolve: Resolve) -> None:
        self.schema, self.resolve = schema, resolve
        self.errors: dict[str, str] = {}

    def read(self, arguments: Arguments, values: Mapping[str, object], where: str = "") -> Sent:
        """Return arguments as they stand in a query, in the schema's order.

        What is null is left out where something else would stand there.
        """
        read = []
        for name, argument in arguments.items():
            value, default = values.get(name), gql.default_of(argument)
            if value is not None or (name in values and default is None):
                expected, at = gql.expected_type(argument), f"{where}{name}"
                read.append((name, argument.type, self.value(argument.type, expected, value, at)))
        return tuple(read)

    def value(self, ref: AnyType, expected: str, value: Any, where: str) -> Value:
        """Return one value as it stands in a query."""
        item, named = gql.item_type(ref), gql.named_type(ref)
        if value is None:
            return None
        if item is not None:
            parts = enumerate(value)
            return [self.value(item, expected, part, f"{where}.{n}") for n, part in parts]
        if (fields := gql.input_fields(named)) is not None:
            return {key: part for key, _, part in self.read(fields, value, f"{where}.")}
        try:
            if kinds := self.schema.kinds_of_id(named.name, expected):
                return self.object(kinds, value)
            if named.name == "ID" and isinstance(value, str) and NAME.fullmatch(value):
                return self.id_of(value)
            self.check_plain(value, named.name)
        except CallError as error:
            self.errors[where] = str(error)
        return int(value) if named.name == "Int" else value

    def object(self, kinds: tuple[str, ...], value: Any) -> Value:
        """Return the object that a name stands for. Raises CallError."""
        if not isinstance(value, str) or not NAME.fullmatch(value):
            named = " or ".join(kinds[:6])
            example = f"such as {kinds[0]}#1, not {value!r:.60}"
            raise CallError(f"must be the name of a {named}, {example}")
        return self.resolve(value, kinds)

    def id_of(self, text: str) -> Value:
        """Return the object, or the id, that a text in the form of a name stands for.

        An id of the server may have that form too. Raises CallError for an object without an id.
        """
        kind = kind_in(text)
        if kind in self.schema.objects and "id" in self.schema.types[kind].fields:
            return self.resolve(text, (kind,))
        value = self.value_of(text)
        if value is None:
            return text
        if type(value) in (str, int):
            return value
        raise CallError(f"{text} has no id, since a {kind} has none; name another object, or an id")

    def value_of(self, name: str) -> Any:
        """Return the value of an object of any type, None where there is no such object."""
        try:
            return self.resolve(name, ())
        except CallError:
            return None

    def check_plain(self, value: Any, type_name: str) -> None:
        """Raise CallError where plain data is taken, and a text in it is the name of an object."""
        for text in nested(value):
            is_name = isinstance(text, str) and NAME.fullmatch(text) is not None
            if is_name and kind_in(text) in self.schema.objects and self.value_of(text) is not None:
                raise CallError(
                    f"{text} is an object, and a {type_name} is taken here; give what one of "
                    "its tools returns"
                )


# -- what a server returned -----------------------------------------------------------


def check_result(
    schema: Schema,
    ref: AnyType,
    data: object,
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
    checked = _checked_type(schema, ref, nulls=nulls, names=names)
    for error in schema_validator(checked).iter_errors(data):
        steps, part, path, declared = [*error.instance_path], error.instance, "", ref
        if error.kind.name == "required":
            steps, part = [*steps, error.kind.as_dict()["property"]], None
        for step in steps:
            item = gql.item_type(declared)
            path += f".{step}" if item is None else f"[{step}]"
            declared = item or gql.named_type(declared).fields[step].type
        values = gql.enum_values(gql.named_type(declared))
        choices = f" ({', '.join(values[:12])}{', …' if len(values) > 12 else ''})"
        answered = visible_text(json.dumps(part, ensure_ascii=False), LONGEST)
        raise CallError(
            f"{field}{path}: the server answered {answered}, and the schema says {declared}"
            + (choices if values else "")
        )
