"""Reading a schema from SDL, through graphql-core's parser: the one file that knows it.

Only the parser and the rules for SDL are used, not the executable schema: that would cost
several times as much, and its classes differ between the library's versions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...errors import DefinitionError
from .literals import read as literal
from .schema import BUILT_IN, Argument, Field, Kind, Ref, Schema, Type, sound

_KINDS: dict[str, Kind] = {
    "scalar_type": "SCALAR",
    "object_type": "OBJECT",
    "interface_type": "INTERFACE",
    "union_type": "UNION",
    "enum_type": "ENUM",
    "input_object_type": "INPUT_OBJECT",
}


def schema_from(text: str) -> Schema:
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
        raise DefinitionError(_said(error)) from None
    wrong = validate_sdl(document)
    if wrong:
        raise DefinitionError(_said(wrong[0], len(wrong) - 1))
    return sound(_Reading(graphql.print_ast, document.definitions).schema())


def _said(error: Any, more: int = 0) -> str:
    places = getattr(error, "locations", None) or ()
    where = f", line {places[0].line}" if places else ""
    rest = f" (and {more} more)" if more else ""
    return f"the schema{where}: {getattr(error, 'message', error)}{rest}"


class _Reading:
    """One document: its definitions by name, each with what extends it."""

    def __init__(self, printed: Any, definitions: Iterable[Any]) -> None:
        self.printed = printed
        self.roots = {"query": "Query", "mutation": "Mutation", "subscription": "Subscription"}
        self.parts: dict[str, list[Any]] = {}
        for node in definitions:
            kind = node.kind.removesuffix("_definition").removesuffix("_extension")
            if kind in _KINDS:
                self.parts.setdefault(node.name.value, []).append(node)
            elif kind == "schema":
                self.roots |= {
                    each.operation.value: each.type.name.value
                    for each in node.operation_types or ()
                }

    def schema(self) -> Schema:
        """Return all that was defined. Types that are not there are no roots."""
        types = {name: Type(name, "SCALAR") for name in BUILT_IN}
        types |= {name: self.type(name, nodes) for name, nodes in self.parts.items()}
        query, *others = self.roots.values()
        return Schema(types, query, *(name if name in types else "" for name in others))

    def type(self, name: str, nodes: list[Any]) -> Type:
        first = nodes[0].kind.removesuffix("_definition").removesuffix("_extension")
        kind = _KINDS[first]
        fields = list(_all(nodes, "fields"))
        return Type(
            name,
            kind,
            next((_doc(node) for node in nodes if _doc(node)), ""),
            {} if kind == "INPUT_OBJECT" else {f.name: f for f in map(self.field, fields)},
            tuple(map(self.argument, fields)) if kind == "INPUT_OBJECT" else (),
            tuple(node.name.value for node in _all(nodes, "values")),
            tuple(self.possible(name, kind, nodes)),
        )

    def possible(self, name: str, kind: Kind, nodes: list[Any]) -> Iterator[str]:
        """Yield the members of a union, and the objects that implement an interface."""
        yield from (node.name.value for node in _all(nodes, "types"))
        for other, parts in self.parts.items() if kind == "INTERFACE" else ():
            taken = (node.name.value for node in _all(parts, "interfaces"))
            if name in taken and "object_type" in parts[0].kind:
                yield other

    def field(self, node: Any) -> Field:
        return Field(
            node.name.value,
            _ref(node.type),
            _doc(node),
            tuple(map(self.argument, node.arguments or ())),
            _directive(node, "deprecated") is not None,
            self.expected(node),
        )

    def argument(self, node: Any) -> Argument:
        default = node.default_value
        return Argument(
            node.name.value,
            _ref(node.type),
            _doc(node),
            None if default is None else self.printed(default),
            _directive(node, "deprecated") is not None,
            self.expected(node),
        )

    def expected(self, node: Any) -> str:
        found = _directive(node, "expectedType")
        given = (found.arguments or ()) if found is not None else ()
        return str(literal(self.printed(given[0].value))) if given else ""


def _all(nodes: list[Any], key: str) -> Iterator[Any]:
    for node in nodes:
        yield from getattr(node, key, None) or ()


def _doc(node: Any) -> str:
    said = getattr(node, "description", None)
    return said.value if said is not None else ""


def _directive(node: Any, name: str) -> Any:
    return next((d for d in node.directives or () if d.name.value == name), None)


def _ref(node: Any) -> Ref:
    if node.kind == "non_null_type":
        return _ref(node.type)._replace(required=True)
    if node.kind == "list_type":
        item = _ref(node.type)
        return Ref(item.name, False, item)
    return Ref(node.name.value)
