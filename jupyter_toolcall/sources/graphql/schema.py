"""A GraphQL schema, as far as tools need it, and what its conventions mean by an id.

Both readers make it, from SDL and from an introspection result. Only frozen records and
pure functions live here; what is made by the hundred is a named tuple.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ...errors import DefinitionError
from ...tools import nearest

Kind = Literal["SCALAR", "OBJECT", "INTERFACE", "UNION", "ENUM", "INPUT_OBJECT"]
BUILT_IN = ("String", "Int", "Float", "Boolean", "ID")
LEAVES = ("SCALAR", "ENUM")


class Ref(NamedTuple):
    """A type as a field or an argument has it: `name` is the innermost, `item` a list's."""

    name: str
    required: bool = False
    item: Ref | None = None

    def __str__(self) -> str:
        inner = f"[{self.item}]" if self.item is not None else self.name
        return inner + "!" if self.required else inner


class Argument(NamedTuple):
    """An argument, or a field of an input object; `default` is the text of its literal."""

    name: str
    type: Ref
    doc: str = ""
    default: str | None = None
    deprecated: bool = False
    expected: str = ""
    """The type whose id it takes, where `@expectedType` says so."""

    @property
    def required(self) -> bool:
        return self.type.required and self.default is None


class Field(NamedTuple):
    """A field of an object, with what it takes."""

    name: str
    type: Ref
    doc: str = ""
    arguments: tuple[Argument, ...] = ()
    deprecated: bool = False
    expected: str = ""
    """The type whose id it returns, where `@expectedType` says so."""


@dataclass(frozen=True, slots=True)
class Type:
    """A type of the schema; what it does not have is empty."""

    name: str
    kind: Kind
    doc: str = ""
    fields: Mapping[str, Field] = field(default_factory=dict)
    inputs: tuple[Argument, ...] = ()
    values: tuple[str, ...] = ()
    possible: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """The types by name, and the names of those that requests begin at."""

    types: Mapping[str, Type]
    query: str
    mutation: str = ""
    subscription: str = ""

    @property
    def roots(self) -> tuple[str, str, str]:
        return self.query, self.mutation, self.subscription

    def objects(self) -> Iterator[Type]:
        """Yield the types that become kinds of objects."""
        for each in self.types.values():
            if each.kind == "OBJECT" and each.name[0] != "_" and each.name not in self.roots:
                yield each


class Loader(NamedTuple):
    """How an object is found again by its id: a Query field, and the type to narrow it to."""

    field: str
    on: str = ""


def concrete(schema: Schema, name: str) -> tuple[str, ...]:
    """Return the kinds of object that a type stands for, () where it is plain data."""
    known = schema.types[name]
    return (name,) if known.kind == "OBJECT" else known.possible


def meant(schema: Schema, scalar: str, expected: str) -> tuple[str, ...]:
    """Return the kinds of object whose id a scalar is, () where it is plain data.

    Two conventions are read: a scalar `XID` of its own, and `ID` with `@expectedType`.
    """
    if not expected and (scalar in BUILT_IN or not scalar.endswith("ID")):
        return ()
    name = expected or scalar[:-2]
    known = schema.types.get(name)
    return concrete(schema, name) if known and known.kind not in LEAVES else ()


def loader(schema: Schema, kind: str) -> Loader | None:
    """Return how an object of a kind is found by its id; None where the server has no way."""
    if "id" not in schema.types[kind].fields:
        return None
    fields = schema.types[schema.query].fields
    if f"load{kind}FromID" in fields:
        return Loader(f"load{kind}FromID")
    node = fields.get("node")
    by_id = node is not None and [a.name for a in node.arguments if a.required] == ["id"]
    if node is not None and by_id and kind in concrete(schema, node.type.name):
        return Loader("node", kind)
    return None


def sound(schema: Schema) -> Schema:
    """Return a schema in which every name is one, and known.

    Raises DefinitionError, with the place: names become text of queries, and no server
    that keeps to the standard has others.
    """
    types = schema.types
    if not all(map(_is_name, _all_names(schema))):
        place, name = next(found for found in _names(schema) if not _is_name(found[1]))
        raise DefinitionError(f"{place}: {name!r:.60} is no name; letters, digits and _ alone")
    if schema.query not in types:
        raise DefinitionError("the schema has no Query type, so there is nothing to call")
    for root in filter(None, schema.roots):
        if root not in types or types[root].kind != "OBJECT":
            raise DefinitionError(f"the schema's root type {root!r} is no object type of it")
    for place, name in _named(schema):
        if name not in types:
            known = nearest(str(name), types)
            raise DefinitionError(f"{place}: there is no type {name!r:.60}.{known}")
    return schema


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name.isascii() and name.isidentifier()


def _all_names(schema: Schema) -> list[object]:
    """Return every name that a schema gives; places are looked for only where one is wrong."""
    found: list[object] = [*schema.types]
    for each in schema.types.values():
        found += each.fields
        found += each.values
        found += [argument.name for argument in each.inputs]
        for known in each.fields.values():
            if known.arguments:
                found += [argument.name for argument in known.arguments]
    return found


def _names(schema: Schema) -> Iterator[tuple[str, object]]:
    """Yield (place, name) for each name that a schema gives."""
    for name, each in schema.types.items():
        yield "types", name
        for field_name, known in each.fields.items():
            yield name, field_name
            for argument in known.arguments:
                yield f"{name}.{field_name}", argument.name
        for argument in each.inputs:
            yield name, argument.name
        for value in each.values:
            yield name, value


def _named(schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield (place, type name) for each type that is named and not known."""
    types = schema.types
    for each in types.values():
        for name in each.possible:
            if name not in types:
                yield each.name, name
        for argument in each.inputs:
            if argument.type.name not in types:
                yield f"{each.name}.{argument.name}", argument.type.name
        for known in each.fields.values():
            if known.type.name not in types:
                yield f"{each.name}.{known.name}", known.type.name
            for argument in known.arguments:
                if argument.type.name not in types:
                    yield f"{each.name}.{known.name}({argument.name}:)", argument.type.name
