"""Arguments as code by their JSON Schema alone: objects by name, classes by their titles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..tools.references import fits
from .code import Code, call, joined
from .values import written

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
    lent: Callable[[str], Code],
    named: Named = no_class,
) -> Callable[[str], Code]:
    """Return a function from an argument's name to its code."""
    defs, properties = schema.get("$defs", {}), schema.get("properties", {})

    def code(key: str) -> Code:
        return _code(properties.get(key, {}), arguments[key])

    def _code(part: Any, value: Any) -> Code:
        part = part if isinstance(part, Mapping) else {}
        name = str(part.get("$ref", "")).rpartition("/")[2]
        if name:
            return _of_class(named(name), defs.get(name, {}), value)
        for branch in _branches(part, value):
            return _code(branch, value)
        return _plain(part, value)

    def _of_class(cls: Code | None, part: Any, value: Any) -> Code:
        if cls is None or not isinstance(part, Mapping):
            return _code(part, value)
        if "enum" in part or "const" in part:
            return call(cls, [written(value)])
        if isinstance(value, dict) and "properties" in part:
            known = part["properties"]
            fields = {key: _code(known.get(key, {}), item) for key, item in value.items()}
            return call(cls, named=fields)
        return _code(part, value)

    def _plain(part: Mapping[str, Any], value: Any) -> Code:
        match value:
            case str() if fits(part, value):
                return lent(value)
            case list():
                first = list(part.get("prefixItems", ()))
                rest = part.get("items", {})
                kinds = [*first, *[rest] * max(0, len(value) - len(first))]
                return joined("[", (_code(k, v) for k, v in zip(kinds, value, strict=False)), "]")
            case dict():
                known, more = part.get("properties", {}), part.get("additionalProperties", {})
                pairs = ((key, _code(known.get(key, more), item)) for key, item in value.items())
                return joined("{", (Code(f"{k!r}: {c.text}", c.needs) for k, c in pairs), "}")
        return written(value)

    def _branches(part: Mapping[str, Any], value: Any) -> Iterator[Any]:
        for key in ("anyOf", "oneOf", "allOf"):
            yield from (branch for branch in part.get(key, ()) if _takes(branch, value))

    def _takes(branch: Any, value: Any) -> bool:
        if not isinstance(branch, Mapping):
            return False
        whole = defs.get(str(branch.get("$ref", "")).rpartition("/")[2], branch)
        if "pattern" in whole and isinstance(value, str):
            return fits(whole, value)
        if "enum" in whole:
            return value in whole["enum"]
        kind = whole.get("type")
        return kind is None or isinstance(value, _TYPES.get(kind, (object,)))

    return code
