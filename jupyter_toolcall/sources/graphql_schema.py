"""A GraphQL schema, read by graphql-core from SDL or an introspection result, and its conventions.

What a service adds to SDL without declaring it is accepted: directives, scalars of its own, and
types that are only extended. Of graphql-core's own checks only the rules for SDL are used.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from ..core.errors import DefinitionError
from ..core.recorded_data import JsonObject

try:
    import graphql
except ImportError:
    graphql = None  # type: ignore[assignment]

BUILT_IN = ("String", "Int", "Float", "Boolean", "ID")
_OPERATIONS = ("query", "mutation", "subscription")
Argument: TypeAlias = "graphql.GraphQLArgument | graphql.GraphQLInputField"
Arguments: TypeAlias = Mapping[str, "Argument"]
Element: TypeAlias = "Argument | graphql.GraphQLField"
AnyType: TypeAlias = "graphql.GraphQLType"


def demand_graphql() -> None:
    """Raise DefinitionError where graphql-core is not installed."""
    if graphql is None:
        raise DefinitionError("from_graphql needs graphql-core: pip install graphql-core")


# -- types and arguments ------------------------------------------------------------------


def named_type(ref: AnyType) -> Any:
    """Return the innermost type."""
    return graphql.get_named_type(ref)


def name_of(ref: AnyType) -> str:
    """Return the name of the innermost type."""
    return str(named_type(ref).name)


def is_required(ref: AnyType) -> bool:
    """Return whether a type has no null."""
    return isinstance(ref, graphql.GraphQLNonNull)


def item_type(ref: AnyType) -> AnyType | None:
    """Return the type of a list's items, None for what is no list."""
    nullable = ref.of_type if isinstance(ref, graphql.GraphQLNonNull) else ref
    return nullable.of_type if isinstance(nullable, graphql.GraphQLList) else None


def is_leaf(named_type: AnyType) -> bool:
    """Return whether a type is a scalar or an enum."""
    return graphql.is_leaf_type(named_type)


def enum_values(named_type: AnyType) -> tuple[str, ...]:
    """Return the values of an enum, () for any other type."""
    return tuple(named_type.values) if isinstance(named_type, graphql.GraphQLEnumType) else ()


def input_fields(named_type: AnyType) -> Arguments | None:
    """Return the fields of an input object, None for any other type."""
    return named_type.fields if isinstance(named_type, graphql.GraphQLInputObjectType) else None


def default_of(argument: Argument) -> str | None:
    """Return the literal of an argument's default, None without one."""
    if "default" in argument.extensions:
        return str(argument.extensions["default"])
    node = argument.ast_node and argument.ast_node.default_value
    return graphql.print_ast(node) if node else None


def must_be_given(argument: Argument) -> bool:
    """Return whether an argument has no default, and may not be null."""
    return is_required(argument.type) and default_of(argument) is None


def expected_type(element: Element) -> str:
    """Return the type whose id an argument takes, or a field returns: `@expectedType`, or ""."""
    for directive in element.ast_node.directives or () if element.ast_node else ():
        if directive.name.value == "expectedType" and directive.arguments:
            return str(getattr(directive.arguments[0].value, "value", ""))
    return str(element.extensions.get("expectedType", ""))


def read_literal(text: Any) -> object:
    """Return the value of a GraphQL literal as JSON data; a value of an enum is a text.

    Raises ValueError for what is no literal, and for a number that JSON does not have.
    """
    try:
        value = graphql.value_from_ast_untyped(graphql.parse_const_value(text + ""))
        json.dumps(value, allow_nan=False)
    except (graphql.GraphQLError, RecursionError, TypeError, ValueError):
        raise ValueError(f"{text!r:.60} is no literal") from None
    return value


# -- a schema -----------------------------------------------------------------------------


class Loader(NamedTuple):
    """How an object is found again by its id: a Query field, and the type to narrow it to."""

    field: str
    on: str = ""


@dataclass(frozen=True)
class Schema:
    """The types by name, and the names of those that requests begin at, "" for none."""

    built: graphql.GraphQLSchema
    names: tuple[str, ...]
    """The names of the types, as they are declared one after the other."""

    def __post_init__(self) -> None:
        """Raise DefinitionError for a schema whose requests have nowhere to begin."""
        if self.built.query_type is None:
            raise DefinitionError("the schema has no Query type, so there is nothing to call")
        for root in (getattr(self.built, f"{operation}_type") for operation in _OPERATIONS):
            if root is not None and not isinstance(root, graphql.GraphQLObjectType):
                raise DefinitionError(
                    f"the root type {str(root)!r} of the schema is no object type"
                )

    @property
    def types(self) -> Mapping[str, Any]:
        """The types by name."""
        return self.built.type_map

    @functools.cached_property
    def query(self) -> str:
        """The root of queries."""
        return str(self.built.query_type)

    @functools.cached_property
    def mutation(self) -> str:
        """The root of mutations."""
        return str(self.built.mutation_type or "")

    @functools.cached_property
    def objects(self) -> Mapping[str, graphql.GraphQLObjectType]:
        """The types that become kinds of objects."""
        roots = (self.query, self.mutation, str(self.built.subscription_type))
        return {
            name: self.types[name]
            for name in self.names
            if isinstance(self.types.get(name), graphql.GraphQLObjectType)
            and name[0] != "_"
            and name not in roots
        }

    def concrete(self, name: str) -> tuple[str, ...]:
        """Return the kinds of object that a type stands for, () where it is plain data.

        A root is none: at GitHub, it is a Node like others.
        """
        kind = self.types[name]
        if not graphql.is_abstract_type(kind):
            return (name,) if name in self.objects else ()
        names = {possible.name for possible in self.built.get_possible_types(kind)}
        return tuple(name for name in self.objects if name in names)

    def kinds_of_id(self, scalar: str, expected: str) -> tuple[str, ...]:
        """Return the kinds of object whose id a scalar is, () where it is plain data.

        There are two conventions: a scalar `XID` that is the type of the field `id` of X, and
        `ID` with `@expectedType`.
        """
        if not expected and (scalar in BUILT_IN or not scalar.endswith("ID")):
            return ()
        name = expected or scalar[:-2]
        if name not in self.types or is_leaf(self.types[name]):
            return ()
        own_id = getattr(self.types[name], "fields", {}).get("id")
        is_its_id = own_id is not None and name_of(own_id.type) == scalar
        return self.concrete(name) if expected or is_its_id else ()

    def loader(self, kind: str) -> Loader | None:
        """Return how an object of a kind is found by its id; None where the server has no way."""
        if "id" not in self.types[kind].fields:
            return None
        fields = self.types[self.query].fields
        if f"load{kind}FromID" in fields:
            return Loader(f"load{kind}FromID")
        node = fields.get("node")
        if node is None or [n for n, a in node.args.items() if must_be_given(a)] != ["id"]:
            return None
        return Loader("node", kind) if kind in self.concrete(name_of(node.type)) else None


# -- an introspection result --------------------------------------------------------------


def introspection_query(directives: str) -> str:
    """Return the query for a schema; `directives` is the field that lists them, "" for none."""
    query = graphql.get_introspection_query()
    listed = '__type(name: "__InputValue") { fields { name } } '
    query = query.replace("__schema", f"{listed}__schema", 1)
    applied = f" {directives} {{ name args {{ name value }} }}" if directives else ""
    for part in ("fields(includeDeprecated: true) {", "defaultValue"):
        query = query.replace(part, part + applied)
    return query


def read_introspection(source: JsonObject) -> Schema:
    """Return the schema of an introspection result, with or without its wrappers.

    Raises DefinitionError, which names the place that cannot be read.
    """
    data = source.get("data") or source
    data = data.get("__schema") or data
    if not isinstance(data.get("types"), list):
        raise DefinitionError(
            "this is no introspection result: it has no __schema with types; give what a server "
            "answers to an introspection query"
        )
    try:
        # The types of introspection itself differ between servers, and nothing leads to them.
        types = [raw for raw in data["types"] if not str(raw["name"]).startswith("__")]
        roots = {key: part for key, part in data.items() if key.endswith("Type")}
        data = _readable({"types": types, **roots}, "")
        built = graphql.build_client_schema({"__schema": data}, assume_valid=True)
        _keep_extensions(built, data)
    except RecursionError:
        raise DefinitionError("the introspection result is nested too deep") from None
    except (graphql.GraphQLError, TypeError, ValueError, AttributeError, KeyError) as error:
        reason = " ".join(str(error).split())[:300]
        raise DefinitionError(f"the introspection result cannot be read: {reason}") from None
    return Schema(built, tuple(raw["name"] for raw in data["types"]))


def _readable(raw: object, where: str) -> Any:
    """Return a part of an introspection result without defaults that are no literals.

    Raises ValueError for what is no name: one with braces would be a query of the server's choice.
    """
    if isinstance(raw, list):
        return [_readable(item, where) for item in raw]
    if not isinstance(raw, dict):
        return raw
    name = raw.get("name", "_")
    is_name = isinstance(name, str) and re.fullmatch(r"(?a)[^\W\d]\w*", name)
    if not is_name and not (name is None and raw.get("kind") in ("LIST", "NON_NULL")):
        place = where.strip(".") or "types"
        raise ValueError(f"{place}: {name!r:.60} is no name; letters, digits and _ alone")
    place = f"{where}.{name}" if "name" in raw else where
    result = {key: _readable(part, place) for key, part in raw.items()}
    if result.get("defaultValue") is not None:
        with contextlib.suppress(ValueError):
            read_literal(result["defaultValue"])
            return result
        del result["defaultValue"]
    return result


def _keep_extensions(built: graphql.GraphQLSchema, data: JsonObject) -> None:
    """Keep of each field and argument what graphql-core drops, or has in other forms."""
    for raw in data["types"]:
        members = getattr(built.type_map.get(raw["name"]), "fields", {})
        for part in (*(raw.get("fields") or ()), *(raw.get("inputFields") or ())):
            member = members[part["name"]]
            _keep(member, part)
            for argument in part.get("args") or ():
                _keep(member.args[argument["name"]], argument)


def _keep(element: Element, raw: JsonObject) -> None:
    if raw.get("defaultValue") is not None:
        element.extensions["default"] = raw["defaultValue"]
    if raw.get("isDeprecated"):
        element.deprecation_reason = element.deprecation_reason or "No longer supported"
    for directive in raw.get("directives") or raw.get("appliedDirectives") or ():
        if directive["name"] == "expectedType":
            element.extensions["expectedType"] = read_literal(directive["args"][0]["value"])


# -- SDL ----------------------------------------------------------------------------------

_SERVICE_SCALAR = re.compile(
    # AppSync, federation, The Graph, Neo4j, Data Connect, Grafbase, and what all services have
    r"AWS[A-Z]\w*|_\w+|\w+__\w+|FieldSet|JSON(Object|String)?|Json|UUID|Upload|UR[IL]|Void|Any"
    r"|(Local)?(Date|Date[Tt]ime|Time)|Instant|Timestamp|Duration|Big(Int|Float|Decimal)|Decimal"
    r"|Long|Int8|Int64|Bytes|Cursor|Vector|Email|PhoneNumber|IPAddress"
    # Postgres (Hasura, PostGraphile)
    r"|bigint|bpchar|bytea|cidr|citext|date|(date|int[48]|num|ts|tstz)range|float[48]|geography"
    r"|geometry|hstore|inet|int[248]|interval|jsonb?|jsonpath|lquery|ltree|ltxtquery|macaddr8?"
    r"|money|name|numeric|oid|point|polygon|smallint|time|timetz|timestamp|timestamptz|tsquery"
    r"|tsvector|uuid|varbit|vector|xml"
)
"""The scalars that services have without declaring them."""


def read_sdl(text: str) -> Schema:
    """Return the schema that SDL describes. Raises DefinitionError, which names the line."""
    try:
        # Without locations a large schema is parsed in half the time.
        document = _with_extended(graphql.parse(text, no_location=True))
        errors, scalars = _faults(document)
        if errors:
            raise _sdl_error(*_faults(_with_extended(graphql.parse(text)))[0])
        added = (
            graphql.ScalarTypeDefinitionNode(name=graphql.NameNode(value=name)) for name in scalars
        )
        nodes = (*document.definitions, *added)
        whole = graphql.DocumentNode(definitions=nodes)
        built = graphql.build_ast_schema(whole, assume_valid=True, assume_valid_sdl=True)
    except (graphql.GraphQLError, RecursionError, TypeError) as error:
        raise _sdl_error(error) from None
    names = (node.name.value for node in nodes if isinstance(node, graphql.TypeDefinitionNode))
    return Schema(built, tuple(names))


def _sdl_error(first: Any, *others: Any) -> DefinitionError:
    line = f", line {first.locations[0].line}" if getattr(first, "locations", None) else ""
    message = " ".join(str(getattr(first, "message", first)).split())
    return DefinitionError(
        f"the schema{line}: {message}" + (f" (and {len(others)} more)" if others else "")
    )


def _with_extended(document: graphql.DocumentNode) -> graphql.DocumentNode:
    """Return a document in which the first extension of a type that is not declared declares it."""
    types = {
        node.name.value
        for node in document.definitions
        if isinstance(node, graphql.TypeDefinitionNode)
    }
    nodes = []
    for node in document.definitions:
        if isinstance(node, graphql.TypeExtensionNode) and node.name.value not in types:
            types.add(node.name.value)
            declaring = getattr(graphql, type(node).__name__.replace("Extension", "Definition"))
            node = declaring(**{key: getattr(node, key) for key in node.keys})
        nodes.append(node)
    return graphql.DocumentNode(definitions=tuple(nodes))


def _faults(document: graphql.DocumentNode) -> tuple[list[graphql.GraphQLError], dict[str, None]]:
    """Return what is wrong with a document, and the scalars of services that it does not declare.

    The rules are those of graphql-core's `validate_sdl` but for directives. No rule looks at names
    and descriptions by themselves, which are half of a document.
    """
    from graphql.language.ast import QUERY_DOCUMENT_KEYS
    from graphql.validation.specified_rules import specified_sdl_rules
    from graphql.validation.validation_context import SDLValidationContext

    errors: list[graphql.GraphQLError] = []
    context = SDLValidationContext(document, None, errors.append)
    rules = [rule(context) for rule in specified_sdl_rules if "Directives" not in rule.__name__]
    keys = {
        kind: tuple(key for key in keys if key not in ("name", "description"))
        for kind, keys in QUERY_DOCUMENT_KEYS.items()
    }
    graphql.visit(document, graphql.ParallelVisitor(rules), keys)
    members = [m for node in document.definitions for m in getattr(node, "fields", None) or ()]
    by_name = {id(member.name): member for member in members} if errors else {}
    scalars: dict[str, None] = {}

    def is_accepted(error: graphql.GraphQLError) -> bool:
        nodes: list[Any] = list(error.nodes or ())
        first = nodes[0]
        if first.kind == "named_type" and _SERVICE_SCALAR.fullmatch(first.name.value):
            scalars.setdefault(first.name.value)
            return True
        # GitHub's own schema declares a field twice, with two descriptions.
        doubles = [by_name.get(id(node)) for node in nodes]
        return None not in doubles and len(set(map(_signature, doubles))) == 1

    return [error for error in errors if not is_accepted(error)], scalars


def _signature(member: object) -> tuple[str, ...]:
    arguments = getattr(member, "arguments", None) or ()
    return tuple(graphql.print_ast(part.type) for part in (member, *arguments))
