"""Reading a schema from SDL, through graphql-core's parser: the one file that imports it.

Only the parser and the rules for SDL are used, not the executable schema: that would cost
several times as much, and its classes differ between the library's versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core.errors import DefinitionError
from .graphql_schema import BUILT_IN, Argument, Field, Kind, Ref, Schema, Type, check_schema

_KINDS: dict[str, Kind] = {
    "scalar_type": "SCALAR",
    "object_type": "OBJECT",
    "interface_type": "INTERFACE",
    "union_type": "UNION",
    "enum_type": "ENUM",
    "input_object_type": "INPUT_OBJECT",
}


def read_sdl(text: str) -> Schema:
    """Return the schema that SDL describes.

    Raises DefinitionError, which names the line, and where graphql-core is not installed.
    """
    try:
        import graphql
        from graphql.validation.validate import validate_sdl
    except ImportError:
        raise DefinitionError(
            "reading SDL needs graphql-core: pip install 'jupyter-toolcall[graphql]'"
        ) from None
    try:
        document = graphql.parse(text)
    except (graphql.GraphQLError, RecursionError) as error:
        raise DefinitionError(_mistake([error])) from None
    if errors := validate_sdl(document):
        raise DefinitionError(_mistake(errors))
    return check_schema(_Document(document, graphql.print_ast).schema())


def _mistake(errors: Sequence[Any]) -> str:
    first = errors[0]
    locations = getattr(first, "locations", None)
    where = f", line {locations[0].line}" if locations else ""
    others = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"the schema{where}: {getattr(first, 'message', first)}{others}"


class _Document:
    """The types of a document by name, each with what extends it."""

    def __init__(self, document: Any, printed: Callable[[Any], str]) -> None:
        self.printed = printed
        self.roots = {"query": "Query", "mutation": "Mutation", "subscription": "Subscription"}
        self.nodes: dict[str, list[Any]] = {}
        for node in document.definitions:
            kind = _kind(node)
            if kind in _KINDS:
                self.nodes.setdefault(node.name.value, []).append(node)
            elif kind == "schema":
                roots = node.operation_types or ()
                self.roots |= {each.operation.value: each.type.name.value for each in roots}

    def schema(self) -> Schema:
        types = {name: Type(name, "SCALAR") for name in BUILT_IN}
        types |= {name: self.type(name, nodes) for name, nodes in self.nodes.items()}
        # The usual names are roots only where there are such types.
        query, *others = self.roots.values()
        return Schema(types, query, *(name if name in types else "" for name in others))

    def type(self, name: str, nodes: list[Any]) -> Type:
        kind = _KINDS[_kind(nodes[0])]
        is_input = kind == "INPUT_OBJECT"
        fields = _members(nodes, "fields")
        return Type(
            name,
            kind,
            next(filter(None, map(_doc, nodes)), ""),
            {} if is_input else {node.name.value: self.field(node) for node in fields},
            tuple(map(self.argument, fields)) if is_input else (),
            tuple(node.name.value for node in _members(nodes, "values")),
            tuple(self.possible(name, kind, nodes)),
        )

    def possible(self, name: str, kind: Kind, nodes: list[Any]) -> Iterator[str]:
        """Yield the members of a union, and the objects that implement an interface."""
        yield from (node.name.value for node in _members(nodes, "types"))
        for other, parts in self.nodes.items() if kind == "INTERFACE" else ():
            names = (node.name.value for node in _members(parts, "interfaces"))
            if name in names and _kind(parts[0]) == "object_type":
                yield other

    def field(self, node: Any) -> Field:
        arguments = tuple(map(self.argument, node.arguments or ()))
        deprecated, expected = _directives(node)
        return Field(node.name.value, _ref(node.type), _doc(node), arguments, deprecated, expected)

    def argument(self, node: Any) -> Argument:
        default = None if node.default_value is None else self.printed(node.default_value)
        deprecated, expected = _directives(node)
        return Argument(node.name.value, _ref(node.type), _doc(node), default, deprecated, expected)


def _kind(node: Any) -> str:
    kind: str = node.kind
    return kind.removesuffix("_definition").removesuffix("_extension")


def _members(nodes: list[Any], key: str) -> list[Any]:
    return [member for node in nodes for member in getattr(node, key, None) or ()]


def _doc(node: Any) -> str:
    description = getattr(node, "description", None)
    return description.value if description is not None else ""


def _directives(node: Any) -> tuple[bool, str]:
    """Return whether it is deprecated, and what `@expectedType` says."""
    arguments = {each.name.value: each.arguments or () for each in node.directives or ()}
    expected = [getattr(each.value, "value", "") for each in arguments.get("expectedType", ())]
    return "deprecated" in arguments, str(expected[0]) if expected else ""


def _ref(node: Any) -> Ref:
    if node.kind == "non_null_type":
        return _ref(node.type)._replace(required=True)
    if node.kind == "list_type":
        item = _ref(node.type)
        return Ref(item.name, False, item)
    return Ref(node.name.value)
