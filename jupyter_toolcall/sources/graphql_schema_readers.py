"""Reading a GraphQL schema: from an introspection result, with the query for one, and from SDL.

Of graphql-core, which only SDL needs, the parser and the rules for SDL are used, not the
executable schema: that would cost several times as much, and its classes differ between versions.
"""

from __future__ import annotations

import functools
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ..core.errors import DefinitionError
from .graphql_schema import BUILT_IN, Argument, Field, Kind, Ref, Schema, Type, check_schema

Send = Callable[[str, Mapping[str, Any]], Any]
"""Sends a query with its variables; returns its data."""
_DIRECTIVES = ("directives", "appliedDirectives")
"""Where servers that go beyond the standard list the directives of a field."""
_TOKEN = re.compile(
    r'[\s,]*("""(?:[^"\\]|\\.|"(?!""))*"""|"(?:[^"\\]|\\.)*"|-?\d[\w.+-]*|[A-Za-z_]\w*|[\[\]{}:]|$)',
    re.DOTALL,
)
_WORDS = {"true": True, "false": False, "null": None}
Part = TypeVar("Part")


def ask_introspection(send: Send) -> Mapping[str, Any]:
    """Return a server's introspection result, with the directives where it lists them."""
    result: Mapping[str, Any] = send(_query(""), {})
    fields = (result.get("__type") or {}).get("fields") or ()
    names = [each["name"] for each in fields]
    for name in _DIRECTIVES:
        if name in names:
            with_directives: Mapping[str, Any] = send(
                _query(f"{name} {{ name args {{ name value }} }}"), {}
            )
            return with_directives
    return result


def _query(directives: str) -> str:
    ref = "name kind"
    for _ in range(7):
        ref = f"name kind ofType {{ {ref} }}"
    argument = f"name description defaultValue type {{ {ref} }} {directives}"
    return (
        '{ __type(name: "__InputValue") { fields { name } } __schema { queryType { name } '
        "mutationType { name } subscriptionType { name } types { kind name description "
        f"fields(includeDeprecated: true) {{ name description isDeprecated type {{ {ref} }} "
        f"args {{ {argument} }} {directives} }} inputFields {{ {argument} }} "
        "enumValues(includeDeprecated: true) { name } possibleTypes { name } } } }"
    )


def read_introspection(data: Mapping[str, Any]) -> Schema:
    """Return the schema of an introspection result, with or without its wrappers.

    Raises DefinitionError, which names the place that cannot be read.
    """
    data = data.get("data") or data
    data = data.get("__schema") or data
    if not isinstance(data.get("types"), list):
        raise DefinitionError(
            "this is no introspection result: it has no __schema with types; give what a server "
            "answers to an introspection query"
        )
    try:
        types = {name: Type(name, "SCALAR") for name in BUILT_IN}
        types |= {t.name: t for t in _parts(data, "types", _type) if str(t.name)[:2] != "__"}
        roots = [(data.get(f"{op}Type") or {}).get("name") or "" for op in _OPERATIONS]
    except _Unreadable as error:
        raise DefinitionError(f"the introspection result cannot be read at {error}") from None
    except AttributeError:
        raise DefinitionError("the introspection result cannot be read at its root types") from None
    return check_schema(Schema(types, *roots))


_OPERATIONS = ("query", "mutation", "subscription")


class _Unreadable(ValueError):
    """A part of an introspection result cannot be read; its text is the place."""


def _parts(raw: Any, key: str, read: Callable[[Any], Part]) -> tuple[Part, ...]:
    """Return the parts that a list holds. Raises _Unreadable, with the place of the part."""
    parts: list[Part] = []
    for item in raw.get(key) or ():
        try:
            parts.append(read(item))
        except (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError) as e:
            name = item.get("name") if isinstance(item, Mapping) else None
            inner = f".{e}" if isinstance(e, _Unreadable) else ""
            raise _Unreadable(f"{key}.{name or len(parts)}{inner}") from None
    return tuple(parts)


def _type(raw: Mapping[str, Any]) -> Type:
    return Type(
        raw["name"],
        raw["kind"],
        raw.get("description") or "",
        {each.name: each for each in _parts(raw, "fields", _field)},
        _parts(raw, "inputFields", _argument),
        _parts(raw, "enumValues", _name),
        _parts(raw, "possibleTypes", _name),
    )


def _name(raw: Mapping[str, Any]) -> str:
    name: str = raw["name"]
    return name


def _field(raw: Mapping[str, Any]) -> Field:
    return Field(
        raw["name"],
        _ref(raw["type"]),
        raw.get("description") or "",
        _parts(raw, "args", _argument) if raw.get("args") else (),
        raw.get("isDeprecated") or False,
        _expected(raw),
    )


def _argument(raw: Mapping[str, Any]) -> Argument:
    return Argument(
        raw["name"],
        _ref(raw["type"]),
        raw.get("description") or "",
        raw.get("defaultValue"),
        raw.get("isDeprecated") or False,
        _expected(raw),
    )


def _ref(raw: Mapping[str, Any]) -> Ref:
    required = raw["kind"] == "NON_NULL"
    if required:
        raw = raw["ofType"]
    if raw["kind"] == "LIST":
        item = _ref(raw["ofType"])
        return Ref(item.name, required, item)
    return _named(raw["name"], required)


@functools.lru_cache(4096)
def _named(name: str, required: bool) -> Ref:
    """A schema names few types, and each of them often."""
    return Ref(name, required)


def _expected(raw: Mapping[str, Any]) -> str:
    """Return what `@expectedType` says, "" where it is not there."""
    if "directives" in raw or "appliedDirectives" in raw:
        for each in raw.get("directives") or raw.get("appliedDirectives") or ():
            if each["name"] == "expectedType":
                return str(read_literal(each["args"][0]["value"]))
    return ""


# -- SDL ------------------------------------------------------------------------------

_SDL_KINDS: dict[str, Kind] = {
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
    except ImportError:
        raise DefinitionError(
            "reading SDL needs graphql-core: pip install 'jupyter-toolcall[graphql]'"
        ) from None
    try:
        # Without locations a large schema is parsed in half the time.
        document = graphql.parse(text, no_location=True)
    except (graphql.GraphQLError, RecursionError) as error:
        raise DefinitionError(_sdl_error([error])) from None
    if _sdl_faults(document):
        raise DefinitionError(_sdl_error(_sdl_faults(graphql.parse(text))))
    return check_schema(_Document(document, graphql.print_ast).schema())


def _sdl_faults(document: Any) -> Sequence[Any]:
    """Return what is wrong with a document, as graphql-core's `validate_sdl` does.

    No rule looks at names and descriptions by themselves, which are half of a document.
    """
    from graphql.language import ParallelVisitor, visit
    from graphql.language.ast import QUERY_DOCUMENT_KEYS
    from graphql.validation.specified_rules import specified_sdl_rules
    from graphql.validation.validation_context import SDLValidationContext

    errors: list[Any] = []
    context = SDLValidationContext(document, None, errors.append)
    skipped = ("name", "description")
    keys = {
        kind: tuple(key for key in keys if key not in skipped)
        for kind, keys in QUERY_DOCUMENT_KEYS.items()
    }
    visit(document, ParallelVisitor([rule(context) for rule in specified_sdl_rules]), keys)
    return errors


def _sdl_error(errors: Sequence[Any]) -> str:
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
            if kind in _SDL_KINDS:
                self.nodes.setdefault(node.name.value, []).append(node)
            elif kind == "schema":
                roots = node.operation_types or ()
                self.roots |= {each.operation.value: each.type.name.value for each in roots}
        self.implementers: dict[str, list[str]] = {}
        """The objects that implement each interface, in the order of the document."""
        for name, nodes in self.nodes.items():
            if _kind(nodes[0]) == "object_type":
                for each in dict.fromkeys(_names(nodes, "interfaces")):
                    self.implementers.setdefault(each, []).append(name)

    def schema(self) -> Schema:
        types = {name: Type(name, "SCALAR") for name in BUILT_IN}
        types |= {name: self.type(name, nodes) for name, nodes in self.nodes.items()}
        # The usual names are roots only where there are such types.
        query, *others = self.roots.values()
        return Schema(types, query, *(name if name in types else "" for name in others))

    def type(self, name: str, nodes: list[Any]) -> Type:
        kind = _SDL_KINDS[_kind(nodes[0])]
        is_input = kind == "INPUT_OBJECT"
        fields = _sdl_members(nodes, "fields")
        return Type(
            name,
            kind,
            next(filter(None, map(_doc, nodes)), ""),
            {} if is_input else {node.name.value: self.field(node) for node in fields},
            tuple(map(self.argument, fields)) if is_input else (),
            tuple(_names(nodes, "values")),
            (*_names(nodes, "types"), *self.implementers.get(name, ())),
        )

    def field(self, node: Any) -> Field:
        arguments = tuple(map(self.argument, node.arguments or ()))
        return Field(
            node.name.value, _sdl_ref(node.type), _doc(node), arguments, *_directives(node)
        )

    def argument(self, node: Any) -> Argument:
        default = None if node.default_value is None else self.printed(node.default_value)
        return Argument(
            node.name.value, _sdl_ref(node.type), _doc(node), default, *_directives(node)
        )


def _kind(node: Any) -> str:
    kind: str = node.kind
    return kind.removesuffix("_definition").removesuffix("_extension")


def _sdl_members(nodes: list[Any], key: str) -> list[Any]:
    return [member for node in nodes for member in getattr(node, key, None) or ()]


def _names(nodes: list[Any], key: str) -> Iterator[str]:
    return (member.name.value for member in _sdl_members(nodes, key))


def _doc(node: Any) -> str:
    description = getattr(node, "description", None)
    return description.value if description is not None else ""


def _directives(node: Any) -> tuple[bool, str]:
    """Return whether it is deprecated, and what `@expectedType` says."""
    if not node.directives:
        return False, ""
    arguments = {each.name.value: each.arguments or () for each in node.directives}
    expected = [getattr(each.value, "value", "") for each in arguments.get("expectedType", ())]
    return "deprecated" in arguments, str(expected[0]) if expected else ""


def _sdl_ref(node: Any) -> Ref:
    required = node.kind == "non_null_type"
    if required:
        node = node.type
    if node.kind == "list_type":
        item = _sdl_ref(node.type)
        return Ref(item.name, required, item)
    return _named(node.name.value, required)


# -- literals -------------------------------------------------------------------------


def read_literal(text: str) -> Any:
    """Return the value of a GraphQL literal as JSON data; a value of an enum is a text.

    Raises ValueError for what is no literal.
    """
    if not isinstance(text, str):
        raise ValueError(f"{text!r:.60} is no text of a literal")
    tokens = _tokens(text)
    try:
        value = _value(next(tokens), tokens)
    except RecursionError:
        raise ValueError(f"{text!r:.60} is nested too deep") from None
    if next(tokens):
        raise ValueError(f"{text!r:.60} is no literal")
    return value


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while match := _TOKEN.match(text, at):
        yield match[1]
        if not match[1]:
            raise ValueError(f"{text!r:.60} ends too soon")
        at = match.end()
    raise ValueError(f"{text!r:.60} is no literal")


def _value(token: str, tokens: Iterator[str]) -> Any:
    if token == "[":
        return list(_items(tokens))
    if token == "{":
        return dict(_members(tokens))
    if token.startswith('"""'):
        return textwrap.dedent(token[3:-3]).strip("\n")
    if token.startswith('"'):
        return json.loads(token)
    if token[:1] in tuple("-0123456789"):
        number = json.loads(token)
        if not math.isfinite(number):
            raise ValueError(f"{token:.60} is no number of JSON: it is too large")
        return number
    if not token.isidentifier():
        raise ValueError(f"{token!r:.60} is no value")
    return _WORDS.get(token, token)


def _items(tokens: Iterator[str]) -> Iterator[Any]:
    while (token := next(tokens)) != "]":
        yield _value(token, tokens)


def _members(tokens: Iterator[str]) -> Iterator[tuple[str, Any]]:
    while (name := next(tokens)) != "}":
        if not name.isidentifier() or next(tokens) != ":":
            raise ValueError(f"{name!r:.60} is no name with a value")
        yield name, _value(next(tokens), tokens)
