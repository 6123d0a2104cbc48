"""Arguments as code by their JSON Schema alone: objects by name, classes by their titles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .code import Code, call, joined
from .values import quoted, written

Named = Callable[[str], Code | None]
"""From the name of a class to the code that names it; None where it is not known."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def no_class(name: str) -> None:
    """No class is known."""


def by_schema(
    schema: Mapping[str, Any],
    arguments: Mapping[str, Any],
    objects: Mapping[str, str],
    lent: Callable[[str], Code],
    named: Named = no_class,
) -> dict[str, Code]:
    """Return arguments as code; `objects` are the places in them that name objects."""
    defs = schema.get("$defs", {})

    def _code(part: Any, value: Any, place: str) -> Code:
        if place in objects:
            return lent(objects[place])
        part = part if isinstance(part, Mapping) else {}
        name = str(part.get("$ref", "")).rpartition("/")[2]
        if name:
            return _of_class(named(name), defs.get(name, {}), value, place)
        for branch in _branches(part, value):
            return _code(branch, value, place)
        return _plain(part, value, place)

    def _of_class(cls: Code | None, part: Any, value: Any, place: str) -> Code:
        if cls is None or not isinstance(part, Mapping):
            return _code(part, value, place)
        if "enum" in part or "const" in part:
            return call(cls, [written(value)])
        if isinstance(value, dict) and "properties" in part:
            return call(cls, named=_fields(part, value, f"{place}."))
        return _code(part, value, place)

    def _fields(part: Mapping[str, Any], value: Mapping[str, Any], at: str) -> dict[str, Code]:
        known, more = part.get("properties", {}), part.get("additionalProperties", {})
        return {key: _code(known.get(key, more), each, at + key) for key, each in value.items()}

    def _plain(part: Mapping[str, Any], value: Any, place: str) -> Code:
        match value:
            case list():
                first = list(part.get("prefixItems", ()))
                rest = part.get("items", {})
                kinds = [*first, *[rest] * max(0, len(value) - len(first))]
                pairs = enumerate(zip(kinds, value, strict=False))
                return joined("[", (_code(k, v, f"{place}.{n}") for n, (k, v) in pairs), "]")
            case dict():
                fields = _fields(part, value, f"{place}.").items()
                return joined(
                    "{", (Code(f"{quoted(k)}: {c.text}", c.needs) for k, c in fields), "}"
                )
        return written(value)

    def _branches(part: Mapping[str, Any], value: Any) -> Iterator[Any]:
        for key in ("anyOf", "oneOf", "allOf"):
            yield from (branch for branch in part.get(key, ()) if _takes(branch, value))

    def _takes(branch: Any, value: Any) -> bool:
        if not isinstance(branch, Mapping):
            return False
        whole = defs.get(str(branch.get("$ref", "")).rpartition("/")[2], branch)
        if "enum" in whole:
            return value in whole["enum"]
        kind = whole.get("type")
        return kind is None or isinstance(value, _TYPES.get(kind, (object,)))

    return _fields(schema, arguments, "")
