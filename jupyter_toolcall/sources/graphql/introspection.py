"""Reading a schema from an introspection result, and the query that asks for one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...errors import DefinitionError
from .literals import read as literal
from .schema import BUILT_IN, Argument, Field, Ref, Schema, Type, sound

Send = Callable[[str, Mapping[str, Any]], Any]
"""Sends a query with its variables; returns its data."""
_BAD = (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError)
_DIRECTIVES = ("directives", "appliedDirectives")
"""Where servers that go beyond the standard tell of the directives of a field."""


def asked(send: Send) -> Mapping[str, Any]:
    """Return what a server says of its schema, with the directives where it tells of them."""
    found: Mapping[str, Any] = send(_query(""), {})
    told = found.get("__type") or {}
    known = [each["name"] for each in told.get("fields") or ()]
    for name in _DIRECTIVES:
        if name in known:
            more: Mapping[str, Any] = send(_query(f"{name} {{ name args {{ name value }} }}"), {})
            return more
    return found


def _query(directives: str) -> str:
    ref = "name kind"
    for _ in range(7):
        ref = f"name kind ofType {{ {ref} }}"
    given = f"name description defaultValue type {{ {ref} }} {directives}"
    return (
        '{ __type(name: "__InputValue") { fields { name } } __schema { queryType { name } '
        "mutationType { name } subscriptionType { name } types { kind name description "
        f"fields(includeDeprecated: true) {{ name description isDeprecated type {{ {ref} }} "
        f"args {{ {given} }} {directives} }} inputFields {{ {given} }} "
        "enumValues(includeDeprecated: true) { name } possibleTypes { name } } } }"
    )


def schema_from(data: Mapping[str, Any]) -> Schema:
    """Return the schema of an introspection result, with or without its wrappers.

    Raises DefinitionError, which names the place that is broken.
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
        types |= {raw["name"]: _type(raw) for raw in data["types"] if raw["name"][:2] != "__"}
        roots = [(data.get(f"{op}Type") or {}).get("name") or "" for op in _OPERATIONS]
    except _BAD:
        raise DefinitionError(_blame(data)) from None
    return sound(Schema(types, *roots))


_OPERATIONS = ("query", "mutation", "subscription")


def _type(raw: Mapping[str, Any]) -> Type:
    fields = raw.get("fields")
    return Type(
        raw["name"],
        raw["kind"],
        raw.get("description") or "",
        {each["name"]: _field(each) for each in fields} if fields else {},
        _arguments(raw.get("inputFields")),
        tuple([each["name"] for each in raw.get("enumValues") or ()]),
        tuple([each["name"] for each in raw.get("possibleTypes") or ()]),
    )


def _field(raw: Mapping[str, Any]) -> Field:
    return Field(
        raw["name"],
        _ref(raw["type"]),
        raw.get("description") or "",
        _arguments(raw.get("args")),
        raw.get("isDeprecated") or False,
        _expected(raw) if _tells(raw) else "",
    )


def _tells(raw: Mapping[str, Any]) -> bool:
    return "directives" in raw or "appliedDirectives" in raw


def _arguments(raws: Any) -> tuple[Argument, ...]:
    return tuple([_argument(raw) for raw in raws]) if raws else ()


def _argument(raw: Mapping[str, Any]) -> Argument:
    return Argument(
        raw["name"],
        _ref(raw["type"]),
        raw.get("description") or "",
        raw.get("defaultValue"),
        raw.get("isDeprecated") or False,
        _expected(raw) if _tells(raw) else "",
    )


def _ref(raw: Mapping[str, Any]) -> Ref:
    kind = raw["kind"]
    if kind == "NON_NULL":
        return _bare(raw["ofType"], True)
    return _bare(raw, False)


def _bare(raw: Mapping[str, Any], required: bool) -> Ref:
    if raw["kind"] == "LIST":
        item = _ref(raw["ofType"])
        return Ref(item.name, required, item)
    return _named(raw["name"], required)


@functools.lru_cache(4096)
def _named(name: str, required: bool) -> Ref:
    """A schema names few types, and each of them often."""
    return Ref(name, required)


def _expected(raw: Mapping[str, Any]) -> str:
    applied = raw.get("directives") or raw.get("appliedDirectives")
    for each in applied or ():
        if each["name"] == "expectedType":
            return str(literal(each["args"][0]["value"]))
    return ""


# -- what is wrong, and where ---------------------------------------------------------


def _blame(data: Mapping[str, Any]) -> str:
    """Return the first place that cannot be read: slow, and only where something is wrong."""
    for index, raw in enumerate(data["types"]):
        name = raw.get("name") if isinstance(raw, Mapping) else None
        place = f"types.{name or index}"
        if not _reads(_type, raw):
            parts = {"fields": _field, "inputFields": _argument}
            inner = next(
                (found for key, reader in parts.items() if (found := _inside(raw, key, reader))), ""
            )
            return f"the introspection result cannot be read at {place}{inner}"
    return "the introspection result cannot be read at its root types"


def _inside(raw: Any, key: str, reader: Callable[[Any], object]) -> str:
    parts: Iterable[Any] = (raw.get(key) or ()) if isinstance(raw, Mapping) else ()
    for index, part in enumerate(parts):
        if not _reads(reader, part):
            named = part.get("name") if isinstance(part, Mapping) else None
            return f".{key}.{named or index}" + _inside(part, "args", _argument)
    return ""


def _reads(reader: Callable[[Any], object], raw: Any) -> bool:
    try:
        reader(raw)
    except _BAD:
        return False
    return True
