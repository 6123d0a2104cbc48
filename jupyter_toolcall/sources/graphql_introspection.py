"""Reading a schema from an introspection result, and the query that asks for one.

It needs no library: defaults and directives hold literals of GraphQL, and `read_literal`
reads them.
"""

from __future__ import annotations

import functools
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from ..core.errors import DefinitionError
from .graphql_schema import BUILT_IN, Argument, Field, Ref, Schema, Type, check_schema

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
    for each in raw.get(key) or ():
        try:
            parts.append(read(each))
        except (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError) as e:
            name = each.get("name") if isinstance(each, Mapping) else None
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
