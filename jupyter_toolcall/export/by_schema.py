"""Arguments as code by their JSON Schema alone: objects by name, classes by their titles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
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
    wording = _Wording(schema.get("$defs", {}), objects, lent, named)
    return wording.fields(schema, arguments, "")


@dataclass(frozen=True, slots=True)
class _Wording:
    """How the values of one call are written; a place is their way, such as `order.0.item`."""

    defs: Mapping[str, Any]
    objects: Mapping[str, str]
    lent: Callable[[str], Code]
    named: Named

    def fields(self, part: Any, value: Mapping[str, Any], at: str) -> dict[str, Code]:
        known, more = part.get("properties", {}), part.get("additionalProperties", {})
        return {key: self._code(known.get(key, more), v, at + key) for key, v in value.items()}

    def _code(self, part: Any, value: Any, place: str) -> Code:
        if place in self.objects:
            return self.lent(self.objects[place])
        part = part if isinstance(part, Mapping) else {}
        if name := _reference(part):
            return self._of_class(self.named(name), self.defs.get(name, {}), value, place)
        for branch in self._branches(part, value):
            return self._code(branch, value, place)
        return self._plain(part, value, place)

    def _of_class(self, cls: Code | None, part: Any, value: Any, place: str) -> Code:
        if cls is None or not isinstance(part, Mapping):
            return self._code(part, value, place)
        if "enum" in part or "const" in part:
            return call(cls, [written(value)])
        if isinstance(value, dict) and "properties" in part:
            return call(cls, named=self.fields(part, value, f"{place}."))
        return self._code(part, value, place)

    def _plain(self, part: Mapping[str, Any], value: Any, place: str) -> Code:
        match value:
            case list():
                kinds = zip(_kinds(part, len(value)), value, strict=False)
                items = (self._code(k, v, f"{place}.{n}") for n, (k, v) in enumerate(kinds))
                return joined("[", items, "]")
            case dict():
                fields = self.fields(part, value, f"{place}.").items()
                pairs = (Code(f"{quoted(key)}: {code.text}", code.needs) for key, code in fields)
                return joined("{", pairs, "}")
        return written(value)

    def _branches(self, part: Mapping[str, Any], value: Any) -> Iterator[Any]:
        for key in ("anyOf", "oneOf", "allOf"):
            yield from (branch for branch in part.get(key, ()) if self._takes(branch, value))

    def _takes(self, branch: Any, value: Any) -> bool:
        if not isinstance(branch, Mapping):
            return False
        whole = self.defs.get(_reference(branch), branch)
        if "enum" in whole:
            return value in whole["enum"]
        kind = whole.get("type")
        return kind is None or isinstance(value, _TYPES.get(kind, (object,)))


def _reference(part: Mapping[str, Any]) -> str:
    """Return the name of the definition that a part refers to, "" for none."""
    return str(part.get("$ref", "")).rpartition("/")[2]


def _kinds(part: Mapping[str, Any], count: int) -> list[Any]:
    """Return the schemas of a list's items, one an item."""
    first = list(part.get("prefixItems", ()))
    return [*first, *[part.get("items", {})] * max(0, count - len(first))]
