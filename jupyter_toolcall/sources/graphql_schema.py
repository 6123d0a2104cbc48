"""A GraphQL schema, as far as tools need it, and what its conventions mean by an id.

`graphql_schema_readers` makes it. There are only frozen records and pure functions here; what a
schema has hundreds of is a named tuple.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ..core.errors import DefinitionError
from ..core.text import nearest

Kind = Literal["SCALAR", "OBJECT", "INTERFACE", "UNION", "ENUM", "INPUT_OBJECT"]
BUILT_IN = ("String", "Int", "Float", "Boolean", "ID")
LEAVES = ("SCALAR", "ENUM")


class Ref(NamedTuple):
    """The type of a field or an argument: `name` is the innermost, `item` a list's."""

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
    """The type whose id it takes, from `@expectedType`."""

    @property
    def required(self) -> bool:
        return self.type.required and self.default is None


class Field(NamedTuple):
    """A field of an object, with its arguments."""

    name: str
    type: Ref
    doc: str = ""
    arguments: tuple[Argument, ...] = ()
    deprecated: bool = False
    expected: str = ""
    """The type whose id it returns, from `@expectedType`."""


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

    def objects(self) -> Iterator[Type]:
        """Yield the types that become kinds of objects."""
        yield from (each for each in self.types.values() if self.is_object(each.name))

    def is_object(self, name: str) -> bool:
        """Return whether there is a type of this name, and it is a kind of object."""
        each = self.types.get(name)
        roots = (self.query, self.mutation, self.subscription)
        return each is not None and each.kind == "OBJECT" and name[0] != "_" and name not in roots

    def concrete(self, name: str) -> tuple[str, ...]:
        """Return the kinds of object that a type stands for, () where it is plain data."""
        each = self.types[name]
        return (name,) if each.kind == "OBJECT" else each.possible

    def kinds_of_id(self, scalar: str, expected: str) -> tuple[str, ...]:
        """Return the kinds of object whose id a scalar is, () where it is plain data.

        There are two conventions: a scalar `XID` that is the type of the field `id` of X, and
        `ID` with `@expectedType`.
        """
        if not expected and (scalar in BUILT_IN or not scalar.endswith("ID")):
            return ()
        name = expected or scalar[:-2]
        each = self.types.get(name)
        if each is None or each.kind in LEAVES:
            return ()
        own_id = each.fields.get("id")
        return self.concrete(name) if expected or (own_id and own_id.type.name == scalar) else ()

    def loader(self, kind: str) -> Loader | None:
        """Return how an object of a kind is found by its id; None where the server has no way."""
        if "id" not in self.types[kind].fields:
            return None
        fields = self.types[self.query].fields
        if f"load{kind}FromID" in fields:
            return Loader(f"load{kind}FromID")
        node = fields.get("node")
        if node is None or [a.name for a in node.arguments if a.required] != ["id"]:
            return None
        return Loader("node", kind) if kind in self.concrete(node.type.name) else None


class Loader(NamedTuple):
    """How an object is found again by its id: a Query field, and the type to narrow it to."""

    field: str
    on: str = ""


def check_schema(schema: Schema) -> Schema:
    """Return a schema in which every name is a GraphQL name, and every type is there.

    Raises DefinitionError, with the place: names become text of queries, so that a name
    with braces in it would be a query of the server's choice.
    """
    types = schema.types
    for where, name, type_name in _declarations(schema):
        if not (isinstance(name, str) and name.isascii() and name.isidentifier()):
            at = ".".join(where) or "types"
            raise DefinitionError(f"{at}: {name!r:.60} is no name; letters, digits and _ alone")
        if type_name not in types:
            at = ".".join((*where, name))
            guess = nearest(str(type_name), types)
            raise DefinitionError(f"{at}: there is no type {type_name!r:.60}.{guess}")
    if schema.query not in types:
        raise DefinitionError("the schema has no Query type, so there is nothing to call")
    for root in filter(None, (schema.query, schema.mutation, schema.subscription)):
        if root not in types or types[root].kind != "OBJECT":
            raise DefinitionError(f"the schema's root type {root!r} is no object type of it")
    return schema


def _declarations(schema: Schema) -> Iterator[tuple[tuple[str, ...], object, str]]:
    """Yield (place, name, its type) for each name that a schema declares.

    A name in an introspection result may be anything.
    """
    for name in schema.types:
        yield (), name, name
    for declared in schema.types.values():
        where = (declared.name,)
        for value in declared.values:
            yield where, value, declared.name
        for other in declared.possible:
            yield (), declared.name, other
        for argument in declared.inputs:
            yield where, argument.name, argument.type.name
        for of in declared.fields.values():
            yield where, of.name, of.type.name
            for argument in of.arguments:
                yield (declared.name, of.name), argument.name, argument.type.name
